/* SPDX-License-Identifier: MIT */
/* Encoded numbers, and look-ups among an event's values. */
#include "tests/unit/tap.h"

#include "stream/wire.h"

/* One at each border of lengths, cut everywhere, with and without room. */
static void
varints(void)
{
	unsigned char bytes[32];
	bool all_back = true, none_cut = true;

	for (unsigned bit = 0; bit < 64; bit++)
		for (int more = -1; more <= 1; more++) {
			uint64_t v = (UINT64_C(1) << bit) + (uint64_t)more, got;
			const unsigned char *p = bytes;
			size_t n;

			memset(bytes, 0xff, sizeof bytes);
			n = (size_t)(varint_put(bytes, v) - bytes);
			all_back &= varint_get(&p, bytes + n, &got) &&
			    got == v && p == bytes + n;
			p = bytes;
			all_back &=
			    varint_get(&p, bytes + sizeof bytes, &got) &&
			    got == v && p == bytes + n;
			for (size_t cut = 0; cut < n; cut++) {
				p = bytes;
				none_cut &= !varint_get(&p, bytes + cut, &got);
			}
		}
	ok(all_back, "numbers of all lengths come back");
	ok(none_cut, "none is read that is cut off");
}

static void
add(struct dict *st, struct shape *s, struct buf *vals, const char *key,
    enum group group, struct value v)
{
	s->entries[s->nentries++] =
	    (struct entry){ .key = intern_put(st->text, str_of(key)),
		    .type = (uint8_t)v.type,
		    .group = (uint8_t)group };
	value_encode(vals, &v);
}

static struct value
json(struct dict *st, const char *text)
{
	return (struct value){ .type = VAL_JSON,
		.id = intern_put(st->text, str_of(text)) };
}

static void
lists(void)
{
	struct dict *st = dict_create();
	struct entry entries[8];
	struct shape s = { .cat = INTERN_NONE, .entries = entries };
	struct value v[OP_LISTS],
	    text = { .type = VAL_STRX, .s = STR("[[9]]") },
	    number = { .type = VAL_DEC, .dec = { 15, -1 } };
	struct buf vals = { 0 };
	struct event ev = { 0 };

	ev.shape_id = dict_shape(st, &s);
	ev.shape = st->shapes.v[ev.shape_id];
	ok(!event_lists(st, &ev, v), "an event without arguments has none");
	add(st, &s, &vals, "Sequence number", GROUP_ARGS, number);
	add(st, &s, &vals, "Input type", GROUP_ARGS, json(st, "[\"int\"]"));
	add(st, &s, &vals, "note", GROUP_ARGS, text);
	add(st, &s, &vals, "Input Dims", GROUP_DUP, json(st, "[[1]]"));
	add(st, &s, &vals, "Input Dims", GROUP_ARGS, json(st, "[[2]]"));
	add(st, &s, &vals, "Input Strides", GROUP_ARGS, text);
	ev.shape_id = dict_shape(st, &s);
	ev.shape = st->shapes.v[ev.shape_id];
	ev.vals = (const unsigned char *)vals.p;
	ev.vals_len = vals.len;
	ok(event_lists(st, &ev, v), "lists among other arguments");
	ok(str_eq(v[LIST_DIMS].s, STR("[[2]]")),
	    "not an earlier value of a repeated key");
	ok(str_eq(v[LIST_TYPES].s, STR("[\"int\"]")), "another list");
	ok(v[LIST_STRIDES].type == VAL_NULL, "a text is no list");
	ok(v[LIST_CONCRETE].type == VAL_NULL, "one that isn't there");
	buf_free(&vals);
	dict_destroy(st);
}

int
main(void)
{
	varints();
	lists();
	done_testing();
}
