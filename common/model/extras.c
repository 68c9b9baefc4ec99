/* SPDX-License-Identifier: MIT */
/* Input of models: an op, its further arguments, its category. */
#include "model/facts.h"

struct model_op
model_op_of(const struct dict *st, uint32_t name, struct op_args args)
{
	return (struct model_op){
		.name = dict_get(st, name),
		.dims = dict_get(st, args.dims),
		.types = dict_get(st, args.types),
		.strides = dict_get(st, args.strides),
		.concrete = dict_get(st, args.concrete),
		.hlo = dict_get(st, args.hlo),
	};
}

uint32_t
extra_text(struct dict *st, const struct value *v)
{
	struct buf b = { 0 };
	uint32_t id;

	switch (v->type) {
	case VAL_STR:
	case VAL_JSON:
	case VAL_NUM: return v->id;
	case VAL_STRX:
	case VAL_JSONX: return intern_put(st->text, v->s);
	case VAL_TRUE: return intern_put(st->text, STR("true"));
	case VAL_FALSE: return intern_put(st->text, STR("false"));
	case VAL_INT: buf_printf(&b, "%" PRId64, v->i); break;
	case VAL_UINT: buf_printf(&b, "%" PRIu64, v->u); break;
	case VAL_DEC: {
		char text[NUM_DEC_MAX];

		buf_put(&b, text, num_put_dec(text, v->dec));
		break;
	}
	default: return INTERN_NONE;
	}
	id = intern_put(st->text, buf_str(&b));
	buf_free(&b);
	return id;
}

void
extras_take(extra_vec *list, struct dict *st, const struct model *m,
    const struct event *ev)
{
	for (size_t i = 0; i < m->args.n; i++) {
		struct value v;
		struct str key = m->args.v[i];

		if (!event_arg(st, ev, key, &v))
			continue;
		vec_push(list,
		    ((struct extra){
			.key = intern_put(st->text, key),
			.text = extra_text(st, &v),
		    }));
	}
}

bool
extras_find(const struct extra *list, size_t n, const struct dict *st,
    struct str key, struct str *text)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i].text == INTERN_NONE ||
		    !str_eq(dict_get(st, list[i].key), key))
			continue;
		*text = dict_get(st, list[i].text);
		return true;
	}
	return false;
}

/* Each is looked up once. */
uint32_t
category_number(struct map *known, struct models *ms, struct dict *st,
    uint32_t name, uint32_t first_kernel)
{
	bool is_new;
	uint64_t *slot =
	    map_put(known, (uint64_t)name << 32 | first_kernel, &is_new);

	if (is_new)
		*slot = intern_put(st->text,
		    model_category(
			ms, dict_get(st, name), dict_get(st, first_kernel)));
	return (uint32_t)*slot;
}
