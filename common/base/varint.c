/* SPDX-License-Identifier: MIT */
/* Numbers of more than three bytes: see varint.h. */
#include "base/varint.h"

static bool
varint_bytewise(const unsigned char **p, const unsigned char *end, uint64_t *v)
{
	const unsigned char *q = *p;
	uint64_t r = 0;

	*v = 0;
	for (unsigned shift = 0; shift < 64 && q < end; shift += 7) {
		unsigned char c = *q++;

		if (shift == 63 && c > 1)
			return false;
		r |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80) {
			*v = r;
			*p = q;
			return true;
		}
	}
	return false;
}

/* Joins eight times 7 bits of a word whose bytes' upper bits are 0. */
static inline uint64_t
squeeze(uint64_t w)
{
	w = (w & UINT64_C(0x7f007f007f007f00)) >> 1 |
	    (w & UINT64_C(0x007f007f007f007f));
	w = (w & UINT64_C(0x3fff00003fff0000)) >> 2 |
	    (w & UINT64_C(0x00003fff00003fff));
	return w >> 32 << 28 | (w & 0xfffffff);
}

bool
varint_get_slow(const unsigned char **p, const unsigned char *end, uint64_t *v)
{
	const uint64_t tops = UINT64_C(0x8080808080808080);
	const unsigned char *q = *p;
	uint64_t w, stops;

	if (UNLIKELY(end - q < 8))
		return varint_bytewise(p, end, v);
	w = get_u64(q);
	stops = ~w & tops;
	if (LIKELY(stops != 0)) {
		*p += (__builtin_ctzll(stops) + 1) / 8;
		*v = squeeze(w & (stops ^ (stops - 1)) & ~tops);
		return true;
	}
	if (end - q < 10 || (q[8] >= 0x80 && q[9] > 1))
		return varint_bytewise(p, end, v);
	*v = squeeze(w & ~tops) | (uint64_t)(q[8] & 0x7f) << 56;
	if (q[8] >= 0x80)
		*v |= (uint64_t)q[9] << 63;
	*p += q[8] >= 0x80 ? 10 : 9;
	return true;
}

struct varint
varint_long(const unsigned char *p)
{
	struct varint l = { .next = p };

	if (!varint_get_slow(&l.next, p + VARINT_MAX, &l.v))
		l.next = NULL;
	return l;
}
