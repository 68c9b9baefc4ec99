/* SPDX-License-Identifier: MIT */
/* Fields of protobuf messages: all forms, all borders, all that is refused. */
#include "tests/unit/tap.h"

#include "proto/pull.h"
#include "proto/put.h"

#define START(m, text) proto_start(m, text, sizeof(text) - 1)

static void
forms(void)
{
	struct proto m;

	START(&m,
	    "\x08\x96\x01"
	    "\x11\x00\x00\x00\x00\x00\x00\xf8\x3f"
	    "\x1a\x02hi"
	    "\x25\x00\x00\x20\x41"
	    "\x28\x05");
	ok(proto_next(&m) == PROTO_OK && m.field == 1 &&
		m.type == PROTO_VARINT && m.u == 150,
	    "a varint");
	ok(proto_next(&m) == PROTO_OK && m.field == 2 &&
		proto_double(m.u) == 1.5,
	    "a double");
	ok(proto_next(&m) == PROTO_OK && m.field == 3 &&
		str_eq(m.bytes, STR("hi")),
	    "bytes");
	ok(proto_next(&m) == PROTO_OK && m.field == 4 &&
		m.type == PROTO_FIXED32 && proto_float(m.u) == 10.0F,
	    "a float");
	ok(proto_next(&m) == PROTO_OK && unzigzag(m.u) == -3,
	    "a zigzag number");
	ok(proto_next(&m) == PROTO_END && proto_next(&m) == PROTO_END,
	    "the end, again and again");
	START(&m, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	ok(proto_next(&m) == PROTO_OK && (int64_t)m.u == -1,
	    "a number of 64 bits");
}

static void
nested(void)
{
	struct proto m;

	START(&m, "\x0a\x06\x12\x02\x08\x07\x08\x08\x08\x09");
	ok(proto_head(&m) == PROTO_OK && m.u == 6 &&
		proto_enter(&m) == PROTO_OK,
	    "into a message");
	ok(proto_head(&m) == PROTO_OK && m.field == 2 &&
		proto_enter(&m) == PROTO_OK && proto_next(&m) == PROTO_OK &&
		m.u == 7 && proto_next(&m) == PROTO_END,
	    "into one in it, and out");
	ok(proto_next(&m) == PROTO_OK && m.u == 8 &&
		proto_next(&m) == PROTO_END && proto_next(&m) == PROTO_OK &&
		m.u == 9 && proto_next(&m) == PROTO_END,
	    "on behind each");
	START(&m, "\x0a\x02zz\x08\x01");
	ok(proto_head(&m) == PROTO_OK && proto_skip(&m) == PROTO_OK &&
		proto_next(&m) == PROTO_OK && m.u == 1,
	    "over one");
}

static void
too_deep(void)
{
	unsigned char text[2 * (PROTO_MAX_DEPTH + 1)];
	enum proto_status status = PROTO_OK;
	struct proto m;
	unsigned n = 0;

	for (unsigned i = 0; i <= PROTO_MAX_DEPTH; i++) {
		text[2 * i] = 0x0a;
		text[2 * i + 1] = (unsigned char)(2 * (PROTO_MAX_DEPTH - i));
	}
	/* begin where lengths take one byte: up to 127 */
	proto_start(&m, text + 2 * (PROTO_MAX_DEPTH - 60), 2 * 61);
	while (proto_head(&m) == PROTO_OK &&
	    (status = proto_enter(&m)) == PROTO_OK)
		n++;
	is_int(n, 61, "messages in messages");
	m.depth = PROTO_MAX_DEPTH;
	ok(proto_enter(&m) == PROTO_BAD, "%s", m.error);
}

/* Refused, with the byte where the field begins. */
static void
refused(const char *bytes, size_t len, uint64_t at, const char *error)
{
	struct fields f = fields_of((struct str){ bytes, len });
	enum proto_status status;
	struct proto m;

	proto_start(&m, bytes, len);
	while ((status = proto_next(&m)) == PROTO_OK)
		continue;
	while (fields_next(&f))
		continue;
	ok(status == PROTO_BAD && m.at == at && strcmp(m.error, error) == 0 &&
		f.error == m.error,
	    "byte %u: %s", (unsigned)at, error);
}
#define REFUSED(bytes, at, error) refused(bytes, sizeof(bytes) - 1, at, error)

static void
bad(void)
{
	struct proto m;

	REFUSED("\x08\x01\x0b", 2, "a group, which is not read");
	REFUSED("\x0c", 0, "a group, which is not read");
	REFUSED("\x0e", 0, "an unknown type of field");
	REFUSED("\x00", 0, "a field's number is out of range");
	REFUSED(
	    "\x80\x80\x80\x80\x20\x01", 0, "a field's number is out of range");
	REFUSED("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 0,
	    "a number of more than 64 bits");
	REFUSED("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 0,
	    "a number of more than 64 bits");
	REFUSED("\x08\x01\x08", 2, "the data end in a field");
	REFUSED("\x08\x80", 0, "the data end in a field");
	REFUSED("\x0d\x01\x02\x03", 0, "the data end in a field");
	REFUSED("\x0a\x03zz", 0, "the data end in a field");
	REFUSED("\x0a\xff\xff\xff\xff\xff\xff\x01zz", 0,
	    "a field of more than 2 GiB");
	START(&m, "\x0a\x03\x0a\x02zzzz");
	ok(proto_head(&m) == PROTO_OK && proto_enter(&m) == PROTO_OK &&
		proto_head(&m) == PROTO_BAD && m.at == 2,
	    "%s", m.error);
	START(&m, "\x0a\x01\x08\x01");
	ok(proto_head(&m) == PROTO_OK && proto_enter(&m) == PROTO_OK &&
		proto_head(&m) == PROTO_BAD,
	    "... a number of it neither");
}

static void
windows(void)
{
	static const unsigned char text[] = "\x08\x96\x01\x12\x03xyz\x18\x01";
	struct proto m = { 0 };
	size_t shown = 0, fields = 0, asked = 0;
	enum proto_status status;

	proto_start_window(&m);
	m.p = m.end = text;
	while ((status = proto_next(&m)) == PROTO_OK || status == PROTO_MORE) {
		fields += status == PROTO_OK;
		if (status == PROTO_OK)
			continue;
		asked++;
		shown += shown < sizeof text - 1;
		m.end = text + shown;
		m.eof = asked > sizeof text - 1;
	}
	ok(status == PROTO_END && fields == 3,
	    "a window that grows byte by byte");
}

static uint64_t
sum(const struct fields *m, enum proto_type type, bool *is_bad)
{
	struct proto_numbers it = proto_numbers(m, type);
	uint64_t u, n = 0;

	while (proto_number(&it, &u))
		n = n * 1000 + u;
	*is_bad = it.is_bad;
	return n;
}

static void
packed(void)
{
	bool is_bad;
	struct fields m =
	    fields_of(STR("\x0a\x04\x01\x96\x01\x03"
			  "\x08\x09"
			  "\x0a\x08\x01\x00\x00\x00\x02\x00\x00\x00"
			  "\x0a\x03\x01\x02\x80"
			  "\x0d\x00\x00\x00\x00"));

	ok(fields_next(&m) && sum(&m, PROTO_VARINT, &is_bad) == 1150003 &&
		!is_bad,
	    "packed numbers");
	ok(fields_next(&m) && sum(&m, PROTO_VARINT, &is_bad) == 9 && !is_bad,
	    "one that is not packed");
	ok(fields_next(&m) && sum(&m, PROTO_FIXED32, &is_bad) == 1002 &&
		!is_bad,
	    "of fixed size");
	ok(sum(&m, PROTO_FIXED64, &is_bad) == 0x200000001 && !is_bad,
	    "... or the other");
	ok(fields_next(&m) && sum(&m, PROTO_VARINT, &is_bad) == 1002 && is_bad,
	    "cut in one");
	ok(fields_next(&m) && sum(&m, PROTO_VARINT, &is_bad) == 0 && is_bad,
	    "of another type");
}

/* Reads back what it wrote, for every size of a length. */
static void
written(void)
{
	static const size_t sizes[] = { 0, 1, 127, 128, 16383, 16384, 70000 };
	bool is_same = true;

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct buf b = { 0 }, text = { 0 };
		size_t outer = proto_begin(&b, 1000), inner;
		struct proto m;

		for (size_t k = 0; k < sizes[i]; k++)
			buf_putc(&text, (char)k);
		inner = proto_begin(&b, 2);
		proto_put_bytes(&b, 3, buf_str(&text));
		proto_end(&b, inner);
		proto_put_number(&b, 4, UINT64_MAX);
		proto_put_double(&b, 5, 1.5);
		proto_end(&b, outer);
		proto_start(&m, b.p, b.len);
		is_same &= proto_head(&m) == PROTO_OK && m.field == 1000 &&
		    proto_enter(&m) == PROTO_OK && proto_head(&m) == PROTO_OK &&
		    m.field == 2 && proto_enter(&m) == PROTO_OK &&
		    proto_next(&m) == PROTO_OK && m.field == 3 &&
		    str_eq(m.bytes, buf_str(&text)) &&
		    proto_next(&m) == PROTO_END && proto_next(&m) == PROTO_OK &&
		    m.u == UINT64_MAX && proto_next(&m) == PROTO_OK &&
		    proto_double(m.u) == 1.5 && proto_next(&m) == PROTO_END &&
		    proto_next(&m) == PROTO_END;
		buf_free(&b);
		buf_free(&text);
	}
	ok(is_same, "messages in messages, written and read");
}

/* A text where a number is due: its length is no number. */
static void
no_number(void)
{
	/* 1: "abc"; with a number of two bytes, 1000: "ab" */
	struct fields f = fields_of(STR("\x0a\x03"
					"abc"
					"\xc2\x3e\x02"
					"ab"));

	ok(fields_next(&f) && f.bytes.len == 3 && f.u == 0, "of a text u is 0");
	ok(fields_next(&f) && f.field == 1000 && f.bytes.len == 2 && f.u == 0,
	    "of a field beyond 15, too");
}

int
main(void)
{
	no_number();
	forms();
	nested();
	too_deep();
	bad();
	windows();
	packed();
	written();
	done_testing();
}
