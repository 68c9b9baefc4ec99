/* SPDX-License-Identifier: MIT */
/*
 * gzip, member by member, with ISA-L where it is there, else zlib.
 *
 * As gzip(1): members follow each other without a gap, and zeros up to the
 * end of the file are padding (tapes, tar). Anything else behind a member is
 * a failure: it may be a member whose first bytes were damaged.
 */
#include <stdlib.h>

#ifdef HAVE_ISAL
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

#include "io/in_priv.h"

enum place {
	AT_FIRST, /* before the first member */
	INSIDE,
	BETWEEN, /* behind a member */
	PADDING,
};

struct gzip {
	enum place place;
#ifdef HAVE_ISAL
	struct gzip_head head;
	bool in_head;
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
	gzip_head_start(&g->head);
	g->in_head = true;
}

static void
stop(struct gzip *g)
{
	(void)g;
}

static enum gzip_said
verdict(const struct gzip *g, int rc)
{
	switch (rc) {
	case ISAL_DECOMP_OK:
	case ISAL_END_INPUT:
	case ISAL_OUT_OVERFLOW:
		return g->z.block_state == ISAL_BLOCK_FINISH ? GZIP_ENDS
							     : GZIP_GOES_ON;
	case ISAL_INCORRECT_CHECKSUM: return GZIP_BAD_SUM;
	case ISAL_UNSUPPORTED_METHOD: return GZIP_BAD_METHOD;
	default: return GZIP_BAD_DATA;
	}
}

static enum gzip_said
inflate_some(struct gzip *g, struct in_raw *raw, struct sink *out)
{
	int rc;

	if (g->in_head) {
		enum gzip_said said = gzip_head_read(&g->head, raw);

		if (said != GZIP_ENDS)
			return said;
		g->in_head = false;
	}
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

static void
stop(struct gzip *g)
{
	inflateEnd(&g->z);
}

static enum gzip_said
verdict(const struct gzip *g, int rc)
{
	if (rc == Z_OK || rc == Z_BUF_ERROR)
		return GZIP_GOES_ON;
	if (rc == Z_STREAM_END)
		return GZIP_ENDS;
	if (g->z.msg == NULL)
		return GZIP_BAD_DATA;
	if (strstr(g->z.msg, "check") || strstr(g->z.msg, "crc"))
		return GZIP_BAD_SUM;
	return strstr(g->z.msg, "method") ? GZIP_BAD_METHOD : GZIP_BAD_DATA;
}

static enum gzip_said
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
		    "trailing data behind the last gzip member");
	return raw->eof ? STEP_END : STEP_HUNGRY;
}

/* STEP_FULL: go on with what g->place now says. */
static enum step
begin_member(struct gzip *g, struct in_raw *raw, struct sink *out)
{
	size_t have = (size_t)(raw->end - raw->p);

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
		    "trailing data behind the last gzip member");
	next_member(g);
	g->place = INSIDE;
	return STEP_FULL;
}

static enum step
inflate_member(struct gzip *g, struct in_raw *raw, struct sink *out)
{
	switch (inflate_some(g, raw, out)) {
	case GZIP_GOES_ON: break;
	case GZIP_ENDS: g->place = BETWEEN; return STEP_FULL;
	case GZIP_BAD_SUM:
		return sink_fault(out, raw_offset(raw),
		    "gzip data are damaged: wrong checksum");
	case GZIP_BAD_METHOD:
		return sink_fault(out, raw_offset(raw),
		    "gzip data are packed in an unknown way");
	case GZIP_BAD_DATA:
		return sink_fault(
		    out, raw_offset(raw), "gzip data are damaged");
	}
	if (out->p == out->end || raw->p < raw->end)
		return STEP_FULL;
	if (!raw->eof)
		return STEP_HUNGRY;
	return sink_fault(out, raw_offset(raw), "gzip data end too early");
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
