/* SPDX-License-Identifier: MIT */
/* Fields of protobuf messages, written: see put.h. */
#include "proto/put.h"

#include "proto/pull.h"

static void
put_key(struct buf *b, uint32_t field, enum proto_type type)
{
	buf_varint(b, (uint64_t)field << 3 | type);
}

void
proto_put_number(struct buf *b, uint32_t field, uint64_t v)
{
	put_key(b, field, PROTO_VARINT);
	buf_varint(b, v);
}

void
proto_put_fixed64(struct buf *b, uint32_t field, uint64_t v)
{
	put_key(b, field, PROTO_FIXED64);
	for (int i = 0; i < 8; i++)
		buf_putc(b, (char)(v >> 8 * i & 0xff));
}

void
proto_put_double(struct buf *b, uint32_t field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	proto_put_fixed64(b, field, bits);
}

void
proto_put_bytes(struct buf *b, uint32_t field, struct str s)
{
	put_key(b, field, PROTO_BYTES);
	buf_varint(b, s.len);
	buf_put(b, s.p, s.len);
}

/* Most messages are short: one byte is kept for the length. */
size_t
proto_begin(struct buf *b, uint32_t field)
{
	put_key(b, field, PROTO_BYTES);
	buf_putc(b, 0);
	return b->len;
}

void
proto_end(struct buf *b, size_t message)
{
	size_t len = b->len - message;
	unsigned char text[VARINT_MAX];
	size_t n = (size_t)(varint_put(text, len) - text);

	buf_room(b, n - 1);
	memmove(b->p + message + n - 1, b->p + message, len);
	memcpy(b->p + message - 1, text, n);
	b->len += n - 1;
}
