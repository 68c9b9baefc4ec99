/* SPDX-License-Identifier: MIT */
/* varint: numbers as our streams and protobuf write them, LEB128 of at most 10
 * bytes or little-endian. */
#ifndef TL_BASE_VARINT_H
#define TL_BASE_VARINT_H

#include "base/base.h"

#define VARINT_MAX 10

static inline uint32_t
get_u32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	    (uint32_t)p[3] << 24;
}

static inline uint64_t
get_u64(const unsigned char *p)
{
	return get_u32(p) | (uint64_t)get_u32(p + 4) << 32;
}

static inline unsigned char *
varint_put(unsigned char *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (unsigned char)(v | 0x80);
		v >>= 7;
	}
	*p++ = (unsigned char)v;
	return p;
}

static inline uint64_t
zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t
unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

bool varint_get_slow(
    const unsigned char **p, const unsigned char *end, uint64_t *v) USE_RESULT;

static inline bool USE_RESULT
varint_get(const unsigned char **p, const unsigned char *end, uint64_t *v)
{
	const unsigned char *q = *p;
	uint64_t u;
	bool is_good;

	if (LIKELY(q < end && *q < 0x80)) {
		*v = *q;
		*p = q + 1;
		return true;
	}
	if (LIKELY(end - q >= 2 && q[1] < 0x80)) {
		*v = (q[0] & 0x7f) | (unsigned)q[1] << 7;
		*p = q + 2;
		return true;
	}
	if (LIKELY(end - q >= 3 && q[2] < 0x80)) {
		*v = (q[0] & 0x7f) | (q[1] & 0x7fu) << 7 | (unsigned)q[2] << 14;
		*p = q + 3;
		return true;
	}
	/* not p and v themselves, so that these can be registers */
	is_good = varint_get_slow(&q, end, &u);
	*p = q;
	*v = u;
	return is_good;
}

struct varint {
	const unsigned char *next; /* the byte after it; NULL: invalid */
	uint64_t v;
};
struct varint varint_long(const unsigned char *p);

/*
 * The same if VARINT_MAX bytes can be read, wherever the number ends; the
 * variables can be registers.
 */
static inline bool USE_RESULT
varint_get_roomy(const unsigned char **p, uint64_t *v)
{
	const unsigned char *q = *p;
	struct varint l;

	if (LIKELY(q[0] < 0x80)) {
		*v = q[0];
		*p = q + 1;
		return true;
	}
	if (LIKELY(q[1] < 0x80)) {
		*v = (q[0] & 0x7f) | (unsigned)q[1] << 7;
		*p = q + 2;
		return true;
	}
	if (LIKELY(q[2] < 0x80)) {
		*v = (q[0] & 0x7f) | (q[1] & 0x7fu) << 7 | (unsigned)q[2] << 14;
		*p = q + 3;
		return true;
	}
	l = varint_long(q);
	*p = l.next;
	*v = l.v;
	return l.next != NULL;
}

static inline void
buf_varint(struct buf *b, uint64_t v)
{
	buf_room(b, VARINT_MAX);
	b->len = (size_t)(varint_put((unsigned char *)b->p + b->len, v) -
	    (unsigned char *)b->p);
}

#endif
