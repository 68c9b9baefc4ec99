/* SPDX-License-Identifier: MIT */
/*
 * zip: the first member, by name, whose content begins as JSON does.
 *
 *	file:	directory -> for each member: header, head --JSON?--> data
 *	pipe:	for each member as it comes: header, head --JSON?--> data,
 *		descriptor, and what follows up to the directory's end
 *
 * A pipe has no directory in front, and a file that was cut off none at all:
 * then the members' own headers must do, in the order of the archive. Deflated
 * members end by themselves, so only a stored one needs its size there.
 */
#include <stdlib.h>

#include "io/in_zip.h"

/* White space before the JSON of a member, at most. */
#define HEAD_MAX 256
/* A local header with its name and extra fields. */
#define HEADER_MAX ((size_t)96 << 10)
#define END_SIZE 22

enum place {
	AT_START,
	AT_ENTRY,  /* take the next member of the directory */
	AT_HEADER, /* a local header comes */
	IN_HEAD,   /* is it JSON? */
	GIVE_HEAD,
	IN_DATA,
	IN_SKIP, /* the data of another member, in a pipe */
	AT_DESCRIPTOR,
	AT_REST, /* behind the member of a pipe */
	AT_END,
};

struct zip {
	enum place place;
	bool has_dir;
	bool is_json;
	bool saw_end;  /* of the directory, in a pipe */
	uint64_t rest; /* bytes from there on */
	struct zip_dir dir;
	size_t next; /* in the directory */
	struct zip_member m;
	uint64_t left; /* packed bytes still to come, or ZIP_UNKNOWN */
	uint64_t npacked, nplain;
	uint32_t crc;
	unsigned char head[HEAD_MAX];
	size_t nhead, head_at;
	const char *problem; /* of a member that can't be read, and where */
	uint64_t problem_at;
	struct zip_inflate inflate;
};

/* ---- the data of a member ---- */

static enum step
fault(const struct in_raw *raw, struct sink *out, const char *why)
{
	return sink_fault(out, raw_offset(raw), why);
}

/*
 * Up to n plain bytes at dst, which moves. STEP_END at the end of the member,
 * STEP_FULL when dst is full.
 */
static enum step
unpack(struct zip *z, struct in_raw *raw, struct sink *out, unsigned char **dst,
    size_t n)
{
	unsigned char *start = *dst;
	const unsigned char *in = raw->p;
	size_t have = (size_t)(raw->end - raw->p);
	enum said said = SAID_MORE;

	if (have > z->left)
		have = (size_t)z->left;
	if (z->m.method == ZIP_STORED) {
		size_t k = have < n ? have : n;

		memcpy(*dst, in, k);
		*dst += k;
		in += k;
	} else {
		said = zip_inflate_some(&z->inflate, &in, have, dst, n);
	}
	ptrdiff_t used = in - raw->p; /* negative: bytes are given back */

	z->npacked += (uint64_t)used;
	if (z->left != ZIP_UNKNOWN)
		z->left -= (uint64_t)used;
	raw->p += used;
	z->crc = zip_crc_add(z->crc, start, (size_t)(*dst - start));
	z->nplain += (uint64_t)(*dst - start);
	if (said == SAID_BAD)
		return fault(raw, out, "zip data are damaged");
	if (said == SAID_END || (z->m.method == ZIP_STORED && z->left == 0))
		return STEP_END;
	if (*dst == start + n)
		return STEP_FULL;
	if (z->left == 0)
		return fault(raw, out,
		    "zip data are damaged: they go on behind the member");
	if (raw->p < raw->end)
		return STEP_FULL;
	if (raw->eof)
		return fault(raw, out, "zip data end too early");
	return STEP_HUNGRY;
}

/* The sums of a member that is whole; then on to what follows. */
static enum step
end_member(struct zip *z, struct in_raw *raw, struct sink *out)
{
	if (z->m.crc != z->crc)
		return fault(raw, out, "zip data are damaged: wrong checksum");
	if (z->m.plain != z->nplain)
		return fault(raw, out, "zip data are damaged: wrong size");
	if (!z->is_json)
		z->place = z->has_dir ? AT_ENTRY : AT_HEADER;
	else
		z->place = z->has_dir ? AT_END : AT_REST;
	return STEP_FULL;
}

/* The last byte was unpacked. */
static enum step
data_end(struct zip *z, struct in_raw *raw, struct sink *out)
{
	if (!z->has_dir && (z->m.flags & ZIP_DESCRIPTOR) != 0) {
		z->place = AT_DESCRIPTOR;
		return STEP_FULL;
	}
	return end_member(z, raw, out);
}

static enum step
skip_data(struct zip *z, struct in_raw *raw, struct sink *out)
{
	unsigned char waste[16384], *p = waste;
	enum step st = unpack(z, raw, out, &p, sizeof waste);

	return st == STEP_END ? data_end(z, raw, out) : st;
}

static enum step
give_data(struct zip *z, struct in_raw *raw, struct sink *out)
{
	enum step st =
	    unpack(z, raw, out, &out->p, (size_t)(out->end - out->p));

	return st == STEP_END ? data_end(z, raw, out) : st;
}

static enum step
give_head(struct zip *z, struct sink *out)
{
	size_t room = (size_t)(out->end - out->p);
	size_t n = z->nhead - z->head_at;

	n = n < room ? n : room;
	memcpy(out->p, z->head + z->head_at, n);
	out->p += n;
	z->head_at += n;
	if (z->head_at == z->nhead)
		z->place = IN_DATA;
	return STEP_FULL;
}

/* Whether the head is that of JSON; -1: nothing but white space so far. */
static int
is_json(const struct zip *z)
{
	size_t i =
	    z->nhead >= 3 && memcmp(z->head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	for (; i < z->nhead; i++)
		if (memchr(" \t\r\n", z->head[i], 4) == NULL)
			return z->head[i] == '{' || z->head[i] == '[';
	return -1;
}

static enum step
look_at_head(struct zip *z, struct in_raw *raw, struct sink *out)
{
	unsigned char *p = z->head + z->nhead;
	enum step st = unpack(z, raw, out, &p, HEAD_MAX - z->nhead);
	int yes;

	z->nhead = (size_t)(p - z->head);
	if (st == STEP_FAULT && z->nhead == 0)
		return st;
	/* three bytes tell a mark, and what is behind it is needed then */
	yes = z->nhead >= 4 || st == STEP_END || st == STEP_FAULT ? is_json(z)
								  : -1;
	if (yes < 0 && (st == STEP_HUNGRY || st == STEP_FULL) &&
	    z->nhead < HEAD_MAX)
		return st;
	z->is_json = yes > 0;
	if (z->is_json) {
		out->fault[0] = '\0'; /* it comes again behind the head */
		z->place = GIVE_HEAD;
		z->head_at = 0;
		return STEP_FULL;
	}
	if (z->has_dir)
		z->place = AT_ENTRY;
	else if (st == STEP_END)
		return data_end(z, raw, out);
	else
		z->place = IN_SKIP;
	return st == STEP_FAULT ? st : STEP_FULL;
}

/* ---- headers ---- */

/* Whether n bytes are at hand; else *st says what to do. */
static bool
have(struct zip *z, struct in_raw *raw, struct sink *out, size_t n,
    enum step *st)
{
	if ((size_t)(raw->end - raw->p) >= n)
		return true;
	(void)z;
	*st =
	    raw->eof ? fault(raw, out, "zip data end too early") : STEP_HUNGRY;
	return false;
}

static void
start_member(struct zip *z)
{
	z->left = z->m.packed;
	if (!z->has_dir && (z->m.flags & ZIP_DESCRIPTOR) != 0 &&
	    z->m.method != ZIP_STORED)
		z->left = ZIP_UNKNOWN;
	z->npacked = z->nplain = 0;
	z->crc = 0;
	z->nhead = 0;
	z->place = IN_HEAD;
	if (z->m.method == ZIP_DEFLATED)
		zip_inflate_start(&z->inflate);
}

/* Why a member can't be read, or NULL. */
static const char *
problem_of(const struct zip_member *m)
{
	if (m->flags & ZIP_ENCRYPTED)
		return "a zip member is encrypted";
	if (m->method != ZIP_STORED && m->method != ZIP_DEFLATED)
		return "a zip member is packed in another way than deflate";
	return NULL;
}

static bool
note_problem(struct zip *z)
{
	const char *problem = problem_of(&z->m);

	if (problem != NULL && z->problem == NULL) {
		z->problem = problem;
		z->problem_at = z->m.at;
	}
	return problem != NULL;
}

static enum step
no_member(struct zip *z, struct in_raw *raw, struct sink *out)
{
	if (z->problem != NULL)
		return sink_fault(out, z->problem_at, z->problem);
	return fault(raw, out, "the zip archive has no member with JSON");
}

static enum step
next_entry(struct zip *z, struct in_raw *raw, struct sink *out)
{
	unsigned char head[ZIP_LOCAL_SIZE];

	if (z->next == z->dir.members.n)
		return no_member(z, raw, out);
	z->m = z->dir.members.v[z->next++];
	if (z->m.plain == 0 || note_problem(z))
		return STEP_FULL;
	if (raw_pread(raw, head, sizeof head, z->m.at) != sizeof head ||
	    memcmp(head, "PK\3\4", 4) != 0)
		return sink_fault(out, z->m.at,
		    "the zip archive is damaged: no member where the "
		    "directory says");
	if (!raw_seek(raw,
		z->m.at + sizeof head + zip_u16(head + 26) +
		    zip_u16(head + 28)))
		return fault(raw, out, "the zip archive can't be read");
	start_member(z);
	return STEP_FULL;
}

/* A local header in the order of the archive. */
static enum step
read_header(struct zip *z, struct in_raw *raw, struct sink *out)
{
	const unsigned char *p = raw->p;
	size_t name, extra;
	enum step st;

	if (!have(z, raw, out, 4, &st))
		return st;
	if (memcmp(p, "PK\1\2", 4) == 0 || memcmp(p, "PK\5\6", 4) == 0 ||
	    memcmp(p, "PK\6\6", 4) == 0)
		return no_member(z, raw, out);
	if (memcmp(p, "PK\3\4", 4) != 0)
		return fault(
		    raw, out, "the zip archive is damaged: expected a member");
	if (!have(z, raw, out, ZIP_LOCAL_SIZE, &st))
		return st;
	name = zip_u16(p + 26);
	extra = zip_u16(p + 28);
	if (name + extra > HEADER_MAX - ZIP_LOCAL_SIZE)
		return fault(raw, out, "a zip member's name is too long");
	if (!have(z, raw, out, ZIP_LOCAL_SIZE + name + extra, &st))
		return st;
	p = raw->p;
	z->m = (struct zip_member){
		.at = raw_offset(raw),
		.packed = zip_u32(p + 18),
		.plain = zip_u32(p + 22),
		.crc = zip_u32(p + 14),
		.method = (uint16_t)zip_u16(p + 8),
		.flags = (uint16_t)zip_u16(p + 6),
	};
	if (!zip_wide(p + ZIP_LOCAL_SIZE + name, extra, &z->m.plain,
		&z->m.packed, NULL))
		return fault(raw, out, "a zip member's header is damaged");
	if (note_problem(z))
		return no_member(z, raw, out);
	if (z->m.method == ZIP_STORED && (z->m.flags & ZIP_DESCRIPTOR) != 0 &&
	    z->m.packed == 0)
		return fault(raw, out,
		    "a stored zip member of unknown size can't be read from a "
		    "pipe");
	raw->p += ZIP_LOCAL_SIZE + name + extra;
	start_member(z);
	return STEP_FULL;
}

/*
 * [PK 7 8] CRC, packed and plain size of 32 or 64 bits: those that are right.
 */
static enum step
read_descriptor(struct zip *z, struct in_raw *raw, struct sink *out)
{
	size_t n = (size_t)(raw->end - raw->p), at;
	const unsigned char *p = raw->p;

	if (n < 24 && !raw->eof)
		return STEP_HUNGRY;
	at = n >= 4 && memcmp(p, "PK\7\10", 4) == 0 ? 4 : 0;
	if (n < at + 12)
		return fault(raw, out, "zip data end too early");
	z->m.crc = zip_u32(p + at);
	z->m.plain = z->nplain;
	if (zip_u32(p + at + 4) == (uint32_t)z->npacked &&
	    zip_u32(p + at + 8) == (uint32_t)z->nplain)
		raw->p += at + 12;
	else if (n >= at + 20 && zip_u64(p + at + 4) == z->npacked &&
	    zip_u64(p + at + 12) == z->nplain)
		raw->p += at + 20;
	else
		return fault(raw, out, "zip data are damaged: wrong size");
	return end_member(z, raw, out);
}

/* Up to the end: there must be the end of a directory. */
static enum step
read_rest(struct zip *z, struct in_raw *raw, struct sink *out)
{
	while (raw->end - raw->p >= 4 && !z->saw_end) {
		const unsigned char *p =
		    memchr(raw->p, 'P', (size_t)(raw->end - raw->p) - 3);

		raw->p = p != NULL ? raw->p + (p - raw->p) : raw->end - 3;
		if (p == NULL)
			break;
		if (memcmp(p, "PK\5\6", 4) == 0)
			z->saw_end = true;
		else
			raw->p++;
	}
	if (z->saw_end) {
		z->rest += (uint64_t)(raw->end - raw->p);
		raw->p = raw->end;
	}
	if (!raw->eof)
		return STEP_HUNGRY;
	if (z->rest < END_SIZE)
		return fault(raw, out,
		    "the zip archive is cut off: it has no directory");
	z->place = AT_END;
	return STEP_FULL;
}

static enum step
start(struct zip *z, struct in_raw *raw, struct sink *out)
{
	const char *error;
	uint64_t where = 0;

	z->place = AT_HEADER;
	if (!raw_can_seek(raw))
		return STEP_FULL;
	error = zip_dir_read(&z->dir, raw, &where);
	if (error != NULL && error[0] != '\0')
		return sink_fault(out, where, error);
	if (error == NULL) {
		z->has_dir = true;
		z->place = AT_ENTRY;
	}
	return STEP_FULL;
}

static enum step
one_step(struct zip *z, struct in_raw *raw, struct sink *out)
{
	switch (z->place) {
	case AT_START: return start(z, raw, out);
	case AT_ENTRY: return next_entry(z, raw, out);
	case AT_HEADER: return read_header(z, raw, out);
	case IN_HEAD: return look_at_head(z, raw, out);
	case GIVE_HEAD: return give_head(z, out);
	case IN_DATA: return give_data(z, raw, out);
	case IN_SKIP: return skip_data(z, raw, out);
	case AT_DESCRIPTOR: return read_descriptor(z, raw, out);
	case AT_REST: return read_rest(z, raw, out);
	case AT_END: break;
	}
	return STEP_END;
}

static void *
zip_create(void)
{
	return xcalloc(1, sizeof(struct zip));
}

static void
zip_destroy(void *state)
{
	struct zip *z = state;

	zip_inflate_stop(&z->inflate);
	zip_dir_free(&z->dir);
	free(z);
}

static enum step
zip_step(void *state, struct in_raw *raw, struct sink *out)
{
	struct zip *z = state;
	enum step st;

	do
		st = one_step(z, raw, out);
	while (st == STEP_FULL && out->p < out->end);
	return st;
}

const struct codec codec_zip = { zip_create, zip_step, zip_destroy };
