/* SPDX-License-Identifier: MIT */
/* Shared by both parts of ndjson-put. Private to this area. */
#ifndef TL_STREAM_NDJSON_PUT_H
#define TL_STREAM_NDJSON_PUT_H

#include "stream/ndjson.h"

#define PUT(b, literal) buf_put(b, literal, sizeof(literal) - 1)

/* From here on doubles, and so jq and awk, do not hold all integers. */
#define FIRST_INEXACT (INT64_C(1) << 53)

/* Integers from here on are tagged strings. */
static inline void
put_uint(struct buf *b, uint64_t v)
{
	bool tag = v >= (uint64_t)FIRST_INEXACT;

	buf_room(b, 24);
	if (tag)
		PUT(b, "\"#");
	b->len += num_put_u64(b->p + b->len, v);
	if (tag)
		buf_putc(b, '"');
}

static inline void
put_int(struct buf *b, int64_t v)
{
	if (LIKELY(v > -FIRST_INEXACT && v < FIRST_INEXACT)) {
		json_put_i64(b, v);
		return;
	}
	PUT(b, "\"#");
	json_put_i64(b, v);
	buf_putc(b, '"');
}

#endif
