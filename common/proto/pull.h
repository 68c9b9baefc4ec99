/* SPDX-License-Identifier: MIT */
/*
 * proto: the fields of a protobuf message, one after another, in wire format.
 * Nothing here knows a schema; the caller knows the fields.
 *
 * A struct proto is a cursor over a window of bytes, as struct json is: nothing
 * here reads input, prints or exits. A function returns PROTO_OK, or PROTO_MORE
 * when the window ends before the field does (more may come: eof is unset), or
 * PROTO_BAD with error and at set. PROTO_MORE leaves the cursor where it was;
 * the caller sets p and end to the larger window and calls again. PROTO_BAD is
 * final.
 *
 *	proto_start(&m, bytes, len);
 *	while ((status = proto_next(&m)) == PROTO_OK)
 *		if (m.field == 2 && m.type == PROTO_BYTES)
 *			name = m.bytes;
 *
 * proto_next() needs all bytes of a field in the window. For larger fields,
 * proto_head() reads only key and length.
 */
#ifndef TL_PROTO_PULL_H
#define TL_PROTO_PULL_H

#include "base/varint.h"

/* Nesting limit, as in protobuf's own readers. */
#define PROTO_MAX_DEPTH 100
/* Largest field, likewise. */
#define PROTO_MAX_LEN ((UINT64_C(1) << 31) - 1)

enum proto_status {
	PROTO_END = 0, /* the message has ended */
	PROTO_OK,
	PROTO_MORE,
	PROTO_BAD,
};

/* Wire types. Groups are refused. */
enum proto_type {
	PROTO_VARINT = 0,
	PROTO_FIXED64 = 1,
	PROTO_BYTES = 2, /* string, bytes, message, packed numbers */
	PROTO_FIXED32 = 5,
};

/* Wire type and field number form the key, in one varint. */
#define PROTO_TAG(field, type) ((field) << 3 | (type))

struct proto {
	const unsigned char *p, *end; /* the window from the cursor on */
	bool eof;                     /* nothing follows end */
	/* the field just read */
	uint32_t field;
	enum proto_type type;
	uint64_t u;       /* a number, zero-extended; BYTES: their length */
	struct str bytes; /* BYTES, after proto_next() or proto_content() */
	/* after PROTO_BAD: what is wrong, and at which byte of the field */
	const char *error;
	uint64_t at; /* start of the field, in bytes from the start */
	/* private */
	uint64_t offset; /* of p, from the start */
	unsigned depth;
	uint64_t ends[PROTO_MAX_DEPTH + 1]; /* of the messages entered */
};

/* Over len bytes, the whole outermost message (eof set). */
void proto_start(struct proto *m, const void *bytes, size_t len);
/* The same over a window at the start of a message; it may grow. */
void proto_start_window(struct proto *m);

/* The next field of the message, whole. */
enum proto_status proto_next(struct proto *m) USE_RESULT;
/*
 * Reads the key and length of the next field only. The bytes of a BYTES field
 * are then read by proto_content(), skipped by proto_skip() or entered by
 * proto_enter(): then its fields follow, and PROTO_END at its end leads back
 * out.
 */
enum proto_status proto_head(struct proto *m) USE_RESULT;
enum proto_status proto_content(struct proto *m) USE_RESULT;
/* Before PROTO_MORE it also skips what the window has of them. */
enum proto_status proto_skip(struct proto *m) USE_RESULT;
enum proto_status proto_enter(struct proto *m) USE_RESULT;

/* ---- a message that is whole in memory ---- */

/*
 * Its fields, as in struct proto, with two differences: a number leaves bytes
 * unchanged, and u is 0 for BYTES. So text in place of a number reads as a
 * missing number, never as the text's length.
 *
 *	struct fields m = fields_of(message);
 *	while (fields_next(&m))
 *		...
 *	if (m.error != NULL) ...
 */
struct fields {
	const unsigned char *p, *end;
	uint32_t field;
	uint8_t type; /* enum proto_type */
	uint64_t u;
	struct str bytes;
	const char *error;
};

static inline struct fields
fields_of(struct str message)
{
	const unsigned char *p = (const unsigned char *)message.p;

	/* p may be NULL if empty, and NULL + 0 is undefined */
	return (struct fields){ .p = p,
		.end = message.len > 0 ? p + message.len : p };
}

bool fields_next_odd(struct fields *m) USE_RESULT;

/* Any field. A copy of m keeps it in registers. */
static inline bool
fields_next_long(struct fields *m)
{
	struct fields copy = *m;
	bool is_good = fields_next_odd(&copy);

	*m = copy;
	return is_good;
}

/* Always inline, so that a loop's variables stay in registers. */
static inline __attribute__((always_inline)) bool USE_RESULT
fields_next(struct fields *m)
{
	const unsigned char *p = m->p, *end = m->end;
	uint32_t key;

	if (p == end)
		return false;
	key = *p++;
	if (UNLIKELY(key >= 0x80 && p < end))
		key = (key & 0x7f) | (uint32_t)*p++ << 7;
	m->field = key >> 3;
	m->type = (uint8_t)(key & 7);
	if (UNLIKELY(key - 8 >= (0x80 << 7) - 8 ||
		(m->type != PROTO_VARINT && m->type != PROTO_BYTES) ||
		!varint_get(&p, end, &m->u)))
		return fields_next_long(m);
	if (m->type == PROTO_BYTES) {
		if (UNLIKELY(
			m->u > (uint64_t)(end - p) || m->u > PROTO_MAX_LEN))
			return fields_next_long(m);
		m->bytes = (struct str){ (const char *)p, (size_t)m->u };
		p += m->u;
		m->u = 0;
	}
	m->p = p;
	return true;
}

/*
 * For a caller who knows from the one-byte tag at m->p that a number or bytes
 * follow, with at least VARINT_MAX readable bytes after the message. Skips the
 * field quickly, or returns false and leaves it to fields_next().
 */
static inline __attribute__((always_inline)) bool USE_RESULT
fields_usual(struct fields *m, uint64_t *number)
{
	const unsigned char *p = m->p + 1;
	uint64_t u;

	if (UNLIKELY(!varint_get_roomy(&p, &u) || p > m->end))
		return false;
	*number = u;
	m->p = p;
	return true;
}

static inline __attribute__((always_inline)) bool USE_RESULT
fields_usual_bytes(struct fields *m, struct str *bytes)
{
	const unsigned char *p = m->p + 1;
	uint64_t len;

	if (UNLIKELY(!varint_get_roomy(&p, &len) || p > m->end ||
		len > (uint64_t)(m->end - p)))
		return false;
	*bytes = (struct str){ (const char *)p, (size_t)len };
	m->p = p + len;
	return true;
}

/*
 * The numbers of a repeated field of that type, written one by one or packed
 * into BYTES:
 *
 *	struct proto_numbers it = proto_numbers(&m, PROTO_VARINT);
 *	while (proto_number(&it, &u))
 *		...
 *	if (it.is_bad) ...
 */
struct proto_numbers {
	const unsigned char *p, *end;
	enum proto_type type;
	bool is_bad; /* they don't end with the field, or its type is wrong */
	/* private */
	bool is_single;
	uint64_t single;
};

struct proto_numbers proto_numbers(
    const struct fields *m, enum proto_type type);
bool proto_number(struct proto_numbers *it, uint64_t *u) USE_RESULT;

static inline double
proto_double(uint64_t fixed64)
{
	double d;

	memcpy(&d, &fixed64, sizeof d);
	return d;
}

static inline float
proto_float(uint64_t fixed32)
{
	uint32_t bits = (uint32_t)fixed32;
	float f;

	memcpy(&f, &bits, sizeof f);
	return f;
}

#endif
