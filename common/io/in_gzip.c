/* SPDX-License-Identifier: MIT */
/*
 * gzip, member by member, with ISA-L if available, else zlib. As in gzip(1),
 * members follow each other without a gap, and zeros up to the end of the file
 * are padding (tapes, tar). Anything else after a member is a failure: it may
 * be a member whose first bytes were damaged.
 */
#include <stdlib.h>

#ifdef HAVE_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

#include "io/in_priv.h"

enum place {
	AT_FIRST, /* before the first member */
	INSIDE,
	BETWEEN, /* after a member */
	PADDING,
};

/* The result for a piece of data. */
enum said {
	GOES_ON,
	ENDS, /* of the header, or the member */
	BAD_DATA,
	BAD_SUM,
	BAD_METHOD,
};

struct gzip {
	enum place place;
#ifdef HAVE_ISAL
	struct inflate_state z;
#else
	z_stream z;
#endif
};

#ifdef HAVE_ISAL

static void
start(struct gzip *g)
{
	isal_inflate_init(&g->z);
}

static void
next_member(struct gzip *g)
{
	isal_inflate_reset(&g->z);
	g->z.crc_flag = ISAL_GZIP_NO_HDR_VER;
}

/*
 * Moves behind a member's header (RFC 1952), once all of it is at hand:
 *
 *	1f 8b 08 FLAGS MTIME(4) XFL OS
 *	[LEN(2) EXTRA] [NAME 00] [COMMENT 00] [CRC16]
 *
 * ISA-L would read headers too, but its 2.30 takes a right CRC16 for wrong.
 */
static enum said
read_head(struct in_raw *raw)
{
	enum { CRC = 2, EXTRA = 4, NAME = 8, COMMENT = 16, UNKNOWN = 0xe0 };
	const unsigned char *p = raw->p;
	size_t have = (size_t)(raw->end - p), n = 10;

	if (have < n)
		return GOES_ON;
	if (p[0] != 0x1f || p[1] != 0x8b)
		return BAD_DATA;
	if (p[2] != 8 || (p[3] & UNKNOWN) != 0)
		return BAD_METHOD;
	if (p[3] & EXTRA)
		n += have < n + 2 ? 2 : 2 + p[n] + ((size_t)p[n + 1] << 8);
	for (unsigned field = NAME; field <= COMMENT; field *= 2)
		if (p[3] & field)
			n += n < have
			    ? strnlen((const char *)p + n, have - n) + 1
			    : 1;
	if (p[3] & CRC) {
		uint32_t crc = n < have ? crc32_gzip_refl(0, p, n) : 0;

		n += 2;
		if (n <= have &&
		    (p[n - 2] != (crc & 0xff) || p[n - 1] != (crc >> 8 & 0xff)))
			return BAD_SUM;
	}
	if (n > have)
		return have == RAW_SIZE ? BAD_DATA : GOES_ON;
	raw->p += n;
	return ENDS;
}

static void
stop(struct gzip *g)
{
	(void)g;
}

static enum said
verdict(const struct gzip *g, int rc)
{
	switch (rc) {
	case ISAL_DECOMP_OK:
	case ISAL_END_INPUT:
	case ISAL_OUT_OVERFLOW:
		return g->z.block_state == ISAL_BLOCK_FINISH ? ENDS : GOES_ON;
	case ISAL_INCORRECT_CHECKSUM: return BAD_SUM;
	case ISAL_UNSUPPORTED_METHOD: return BAD_METHOD;
	default: return BAD_DATA;
	}
}

static enum said
inflate_some(struct gzip *g, struct in_raw *raw, struct sink *out)
{
	int rc;

	g->z.next_in = raw->p;
	g->z.avail_in = (uint32_t)(raw->end - raw->p);
	g->z.next_out = out->p;
	g->z.avail_out = (uint32_t)(out->end - out->p);
	rc = isal_inflate(&g->z);
	raw->p = g->z.next_in;
	out->p = g->z.next_out;
	return verdict(g, rc);
}

#else

static void
start(struct gzip *g)
{
	if (inflateInit2(&g->z, 15 + 16) != Z_OK)
		die("zlib: out of memory");
}

static void
next_member(struct gzip *g)
{
	inflateReset(&g->z);
}

/* zlib reads it itself */
static enum said
read_head(struct in_raw *raw)
{
	(void)raw;
	return ENDS;
}

static void
stop(struct gzip *g)
{
	inflateEnd(&g->z);
}

static enum said
verdict(const struct gzip *g, int rc)
{
	if (rc == Z_OK || rc == Z_BUF_ERROR)
		return GOES_ON;
	if (rc == Z_STREAM_END)
		return ENDS;
	if (g->z.msg == NULL)
		return BAD_DATA;
	if (strstr(g->z.msg, "check") || strstr(g->z.msg, "crc"))
		return BAD_SUM;
	return strstr(g->z.msg, "method") ? BAD_METHOD : BAD_DATA;
}

static enum said
inflate_some(struct gzip *g, struct in_raw *raw, struct sink *out)
{
	int rc;

	g->z.next_in = raw->p;
	g->z.avail_in = (uInt)(raw->end - raw->p);
	g->z.next_out = out->p;
	g->z.avail_out = (uInt)(out->end - out->p);
	rc = inflate(&g->z, Z_NO_FLUSH);
	raw->p = g->z.next_in;
	out->p = g->z.next_out;
	return verdict(g, rc);
}

#endif

static void *
gzip_create(void)
{
	struct gzip *g = xcalloc(1, sizeof *g);

	start(g);
	return g;
}

static void
gzip_destroy(void *state)
{
	stop(state);
	free(state);
}

static enum step
skip_padding(struct in_raw *raw, struct sink *out)
{
	while (raw->p < raw->end && *raw->p == 0)
		raw->p++;
	if (raw->p < raw->end)
		return sink_fault(out, raw_offset(raw),
		    "trailing data after the last gzip member");
	return raw->eof ? STEP_END : STEP_HUNGRY;
}

static enum step
bad_member(struct in_raw *raw, struct sink *out, enum said said)
{
	static const char *const why[] = {
		[GOES_ON] = "gzip data end too early",
		[BAD_SUM] = "gzip data are damaged: wrong checksum",
		[BAD_METHOD] = "gzip data use an unknown compression method",
		[BAD_DATA] = "gzip data are damaged",
	};

	return sink_fault(out, raw_offset(raw), why[said]);
}

/* STEP_FULL: continue as g->place says. */
static enum step
begin_member(struct gzip *g, struct in_raw *raw, struct sink *out)
{
	size_t have = (size_t)(raw->end - raw->p);
	enum said said;

	if (have < 2 && !raw->eof)
		return STEP_HUNGRY;
	if (g->place == BETWEEN && have == 0)
		return STEP_END;
	if (g->place == BETWEEN && raw->p[0] == 0) {
		g->place = PADDING;
		return STEP_FULL;
	}
	if (g->place == BETWEEN &&
	    (raw->p[0] != 0x1f || (have > 1 && raw->p[1] != 0x8b)))
		return sink_fault(out, raw_offset(raw),
		    "trailing data after the last gzip member");
	said = read_head(raw);
	if (said == GOES_ON && !raw->eof)
		return STEP_HUNGRY;
	if (said == GOES_ON)
		raw->p = raw->end;
	if (said != ENDS)
		return bad_member(raw, out, said);
	next_member(g);
	g->place = INSIDE;
	return STEP_FULL;
}

static enum step
inflate_member(struct gzip *g, struct in_raw *raw, struct sink *out)
{
	enum said said = inflate_some(g, raw, out);

	if (said == ENDS)
		g->place = BETWEEN;
	else if (said != GOES_ON)
		return bad_member(raw, out, said);
	if (said == ENDS || out->p == out->end || raw->p < raw->end)
		return STEP_FULL;
	return raw->eof ? bad_member(raw, out, GOES_ON) : STEP_HUNGRY;
}

static enum step
gzip_step(void *state, struct in_raw *raw, struct sink *out)
{
	struct gzip *g = state;
	enum step st;

	do {
		if (g->place == PADDING)
			st = skip_padding(raw, out);
		else if (g->place == INSIDE)
			st = inflate_member(g, raw, out);
		else
			st = begin_member(g, raw, out);
	} while (st == STEP_FULL && out->p < out->end);
	return st;
}

const struct codec codec_gzip = { gzip_create, gzip_step, gzip_destroy };
