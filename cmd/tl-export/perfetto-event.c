/* SPDX-License-Identifier: MIT */
/*
 * What an event says: its name and category by number, arguments as debug
 * annotations, its launch as an arrow, and Chrome's ids in their legacy form.
 */
#include "cmd/tl-export/perfetto.h"

/* Up to here decimals are doubles that print as they were written. */
#define EXACT_MANTISSA INT64_C(1000000000000000)
#define EXACT_EXPONENT 300

/* ---- arguments ---- */

static bool
is_exact(const struct dec *d)
{
	return d->mant > -EXACT_MANTISSA && d->mant < EXACT_MANTISSA &&
	    d->exp10 > -EXACT_EXPONENT && d->exp10 < EXACT_EXPONENT - 16;
}

static void
put_value(struct perfetto *x, const struct value *v)
{
	struct buf *b = &x->b;
	double d;

	x->text.len = 0;
	switch (v->type) {
	case VAL_NULL: return;
	case VAL_FALSE:
	case VAL_TRUE: proto_put_number(b, 2, v->type == VAL_TRUE); return;
	case VAL_INT: proto_put_number(b, 4, (uint64_t)v->i); return;
	case VAL_UINT: proto_put_number(b, 3, v->u); return;
	case VAL_STR:
		proto_put_number(b, 17, name_number(x, NAMES_STRING, v->id));
		return;
	case VAL_STRX: proto_put_bytes(b, 6, v->s); return;
	default: break;
	}
	/* lists, objects, and numbers that are no double: as JSON */
	value_put_json(&x->text, v);
	if (v->type == VAL_DEC && is_exact(&v->dec) &&
	    num_double(buf_str(&x->text), &d))
		proto_put_double(b, 5, d);
	else
		proto_put_bytes(b, 9, buf_str(&x->text));
}

static void
put_annotation(struct perfetto *x, struct str key, const struct value *v)
{
	size_t message = proto_begin(&x->b, 4);

	proto_put_number(
	    &x->b, 1, name_number(x, NAMES_KEY, intern_put(x->st->text, key)));
	put_value(x, v);
	proto_end(&x->b, message);
}

static void
put_int(struct perfetto *x, const char *key, int64_t i)
{
	struct value v = { .type = VAL_INT, .i = i };

	put_annotation(x, str_of(key), &v);
}

static void
put_tree(void *ctx, const char *key, const struct value *v)
{
	put_annotation(ctx, str_of(key), v);
}

/* ---- arrows ---- */

/* Writes the flow ids of a Perfetto trace, a list of decimal strings. */
static void
put_own_flows(struct perfetto *x, struct str list)
{
	for (size_t i = 0; i < list.len;) {
		struct str digits = { list.p + i, 0 };
		uint64_t u;

		while (i < list.len && list.p[i] >= '0' && list.p[i] <= '9')
			i++;
		digits.len = (size_t)(list.p + i - digits.p);
		if (digits.len == 0)
			i++;
		else if (num_u64(digits, &u))
			proto_put_fixed64(&x->b, 47, u);
	}
}

/* The arrow from a launch to its GPU work has the launch's number. */
static void
put_launch(struct perfetto *x, const struct event *ev)
{
	uint64_t source = (uint64_t)x->src << 44;

	if (ev->shape->has & HAS_LAUNCH)
		proto_put_fixed64(&x->b, 48, source + ev->launch.id + 1);
	else if (event_is(ev, KINDS_LAUNCH) &&
	    map_get(&x->launches, ev->uid.id) != NULL)
		proto_put_fixed64(&x->b, 47, source + ev->uid.id + 1);
}

/* ---- ids of Chrome's ---- */

static uint64_t
id_of(const struct value *v)
{
	struct str s = v->s;
	uint64_t id = 0;

	if (v->type == VAL_INT || v->type == VAL_UINT)
		return v->type == VAL_INT ? (uint64_t)v->i : v->u;
	if (num_u64(s, &id))
		return id;
	/* "0x1f", alone or in {"local":"0x1f"} */
	for (size_t i = 0; i + 2 < s.len; i++) {
		if (s.p[i] != '0' || s.p[i + 1] != 'x')
			continue;
		for (i += 2; i < s.len; i++) {
			char c = s.p[i];

			if (c >= '0' && c <= '9')
				id = id << 4 | (unsigned)(c - '0');
			else if ((c | 32) >= 'a' && (c | 32) <= 'f')
				id = id << 4 | (unsigned)((c | 32) - 'a' + 10);
			else
				break;
		}
		return id;
	}
	return hash_same(s);
}

static void
put_legacy_member(struct perfetto *x, struct str key, const struct value *v)
{
	struct buf *b = &x->b;
	bool is_text = v->type == VAL_STR || v->type == VAL_STRX;

	if (str_eq(key, STR("id")))
		proto_put_number(b, 6, id_of(v));
	else if (str_eq(key, STR("id2")))
		proto_put_number(b,
		    str_find(v->s, STR("global"), false) >= 0 ? 11 : 10,
		    id_of(v));
	else if (str_eq(key, STR("bind_id")))
		proto_put_number(b, 8, id_of(v));
	else if (str_eq(key, STR("scope")) && is_text)
		proto_put_bytes(b, 7, v->s);
	else if (str_eq(key, STR("bp")))
		proto_put_number(b, 12, 1);
	else if (str_eq(key, STR("s")) && is_text && v->s.len == 1)
		proto_put_number(b, 14,
		    *v->s.p == 'g'       ? 1
			: *v->s.p == 'p' ? 2
					 : 3);
	else if (str_eq(key, STR("tdur")) && v->type == VAL_INT)
		proto_put_number(b, 4, (uint64_t)v->i);
}

static void
put_legacy(struct perfetto *x, const struct event *ev, unsigned type)
{
	struct entries it = entries_of(x->st, ev);
	size_t message = proto_begin(&x->b, 6);

	if (type == 0)
		proto_put_number(&x->b, 2, ev->shape->ph);
	while (entries_next(&it))
		if (it.entry->group == GROUP_TOP)
			put_legacy_member(
			    x, dict_get(x->st, it.entry->key), &it.val);
	proto_end(&x->b, message);
}

/* ---- the whole ---- */

static void
put_category(struct perfetto *x, uint32_t text)
{
	proto_put_number(&x->b, 3, name_number(x, NAMES_CATEGORY, text));
}

/* An event whose categories do not show its kind gets another one in front. */
static void
put_categories(struct perfetto *x, const struct event *ev)
{
	static const char *const categories[KIND_COUNT] = {
		[KIND_OP] = "cpu_op",
		[KIND_RUNTIME] = "cuda_runtime",
		[KIND_DRIVER] = "cuda_driver",
		[KIND_PYTHON] = "python_function",
		[KIND_ANNOTATION] = "user_annotation",
		[KIND_KERNEL] = "kernel",
		[KIND_MEMCPY] = "gpu_memcpy",
		[KIND_MEMSET] = "gpu_memset",
		[KIND_GPU_ANNOTATION] = "gpu_user_annotation",
		[KIND_SYNC] = "cuda_sync",
		[KIND_GPU_EVENT] = "cuda_event",
		[KIND_OVERHEAD] = "overhead",
		[KIND_SPAN] = "Trace",
		[KIND_MEMORY] = "cpu_instant_event",
	};
	struct str own = dict_get(x->st, ev->shape->cat);
	const char *category = categories[ev->shape->kind];
	enum kind kind;

	if (category != NULL &&
	    (!category_kind(own, &kind) || kind != ev->shape->kind))
		put_category(x, intern_put(x->st->text, str_of(category)));
	if (own.len > 0)
		put_category(x, ev->shape->cat);
}

/* Writes an entry as an annotation, unless other fields have it. */
static void
put_entry(struct perfetto *x, const struct entries *it, bool *has_dev)
{
	static const char *const roles[ROLE_COUNT] = {
		[ROLE_CORR] = "correlation",
		[ROLE_EXT] = "External id",
		[ROLE_DEV] = "device",
		[ROLE_GPU_STREAM] = "stream",
	};
	const struct entry *e = it->entry;
	struct str key = dict_get(x->st, e->key);

	*has_dev |= e->role == ROLE_DEV;
	if (e->group == GROUP_FIELD && roles[e->role] != NULL)
		key = str_of(roles[e->role]);
	else if (e->group != GROUP_ARGS)
		return;
	if (str_eq(key, STR("flow_ids")) && it->val.type == VAL_JSON)
		put_own_flows(x, it->val.s);
	else
		put_annotation(x, key, &it->val);
}

void
put_event(struct perfetto *x, const struct event *ev, unsigned type,
    uint64_t uuid, bool has_tid_arg)
{
	struct entries it = entries_of(x->st, ev);
	size_t message = proto_begin(&x->b, 11);
	bool has_dev = false, has_top = type == 0, has_flows = false;
	const struct track *t = &x->st->tracks.v[ev->track];

	if (type != 0)
		proto_put_number(&x->b, 9, type);
	proto_put_number(&x->b, 11, uuid);
	if (ev->name != INTERN_NONE)
		proto_put_number(
		    &x->b, 10, name_number(x, NAMES_EVENT, ev->name));
	put_categories(x, ev);
	while (entries_next(&it)) {
		has_top |= it.entry->group == GROUP_TOP;
		has_flows |=
		    str_eq(dict_get(x->st, it.entry->key), STR("flow_ids"));
		put_entry(x, &it, &has_dev);
	}
	/* the process stands for the device */
	if (!has_dev && ev->dev.type == KEY_INT)
		put_int(x, "device", ev->dev.n);
	if (has_tid_arg && t->has_tid && t->raw_tid.type == VAL_INT)
		put_int(x, "tid", t->raw_tid.i);
	if (x->set->with_tree)
		tree_members(ev, put_tree, x);
	if (!has_flows)
		put_launch(x, ev);
	if (has_top)
		put_legacy(x, ev, type);
	proto_end(&x->b, message);
}
