/* SPDX-License-Identifier: MIT */
/* Which events are collectives, and the text of their signatures. */
#include "cmd/tl-collective/collective.h"

#include "stream/ndjson.h"
#include "json/json.h"

/* Members of args that make a signature, in the order of its text. */
enum part_no {
	P_PG,
	P_RANKS,
	P_NAME,
	P_N,
	P_DTYPE,
	P_IN,
	P_OUT,
	P_IN_SPLIT,
	P_OUT_SPLIT,
	P_STREAM,
	P_DESC,
	P_SRC,
	P_DST,
	P_SEQ,
	P_COUNT
};

static const struct str arg_names[P_COUNT] = {
	[P_PG] = STR_INIT("Process Group Name"),
	[P_RANKS] = STR_INIT("Process Group Ranks"),
	[P_NAME] = STR_INIT("Collective name"),
	[P_N] = STR_INIT("Group size"),
	[P_DTYPE] = STR_INIT("dtype"),
	[P_IN] = STR_INIT("In msg nelems"),
	[P_OUT] = STR_INIT("Out msg nelems"),
	[P_IN_SPLIT] = STR_INIT("In split size"),
	[P_OUT_SPLIT] = STR_INIT("Out split size"),
	[P_STREAM] = STR_INIT("stream"),
	[P_DESC] = STR_INIT("Process Group Description"),
	[P_SRC] = STR_INIT("Src Rank"),
	[P_DST] = STR_INIT("Dst Rank"),
	[P_SEQ] = STR_INIT("Seq"),
};

bool
recognise(
    struct bucket_rules *rules, const struct dict *st, const struct event *ev)
{
	return ev->shape->kind == KIND_KERNEL &&
	    bucket_of_event(rules, st, ev) == BUCKET_COMM &&
	    (ev->corr.type != KEY_NONE || ev->ext.type != KEY_NONE) &&
	    str_eq(dict_get(st, ev->shape->cat), STR("kernel"));
}

static void
put_value(struct buf *b, const struct value *v)
{
	if (v->type == VAL_STR || v->type == VAL_STRX)
		json_put_string(b, v->s);
	else
		ndjson_put_value(b, v);
}

/* "3>5": point to point works in a sequence of its own. */
static void
put_peers(struct buf *b, const struct value *src, const struct value *dst)
{
	if (src->type != VAL_INT || dst->type != VAL_INT) {
		buf_puts(b, "null");
		return;
	}
	buf_printf(b, "\"%" PRId64 ">%" PRId64 "\"", src->i, dst->i);
}

size_t
recognise_signature(const struct bucket_rules *rules, const struct dict *st,
    const struct event *ev, struct buf *b, uint32_t *seq)
{
	struct value v[P_COUNT] = { { .type = VAL_NULL } };
	struct entries it = entries_of(st, ev);
	struct str name = dict_get(st, ev->name), type;
	size_t of_group = 0;

	while (entries_next(&it)) {
		struct str key = dict_get(st, it.entry->key);

		if (it.entry->group != GROUP_ARGS)
			continue;
		for (size_t i = 0; i < P_COUNT; i++)
			if (str_eq(key, arg_names[i]))
				v[i] = it.val;
	}
	if (v[P_NAME].type == VAL_NULL &&
	    (type = bucket_comm_type(rules, name)).p != NULL)
		v[P_NAME] = (struct value){ .type = VAL_STRX, .s = type };
	*seq = v[P_SEQ].type == VAL_INT && v[P_SEQ].i >= 0 &&
		v[P_SEQ].i < UINT32_MAX - 1
	    ? (uint32_t)v[P_SEQ].i + 1
	    : 0;
	b->len = 0;
	for (size_t i = 0; i <= P_DESC; i++) {
		buf_putc(b, i == 0 ? '[' : ',');
		put_value(b, &v[i]);
		if (i == P_RANKS)
			of_group = b->len;
	}
	buf_putc(b, ',');
	put_peers(b, &v[P_SRC], &v[P_DST]);
	buf_putc(b, ',');
	json_put_string(b, name);
	buf_putc(b, ']');
	return of_group;
}
