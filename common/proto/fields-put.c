/* SPDX-License-Identifier: MIT */
/* Fields of protobuf messages, written: see put.h. */
#include "proto/put.h"

#include "proto/pull.h"

#define VARINT_ROOM 10

static size_t
varint(char *p, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (char)(v | 0x80);
	p[n++] = (char)v;
	return n;
}

void
proto_put_varint(struct buf *b, uint64_t v)
{
	buf_room(b, VARINT_ROOM);
	b->len += varint(b->p + b->len, v);
}

static void
put_key(struct buf *b, uint32_t field, enum proto_type type)
{
	proto_put_varint(b, (uint64_t)field << 3 | type);
}

void
proto_put_number(struct buf *b, uint32_t field, uint64_t v)
{
	put_key(b, field, PROTO_VARINT);
	proto_put_varint(b, v);
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
	proto_put_varint(b, s.len);
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
	char text[VARINT_ROOM];
	size_t n = varint(text, len);

	buf_room(b, n - 1);
	memmove(b->p + message + n - 1, b->p + message, len);
	memcpy(b->p + message - 1, text, n);
	b->len += n - 1;
}
