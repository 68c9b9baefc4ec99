/* SPDX-License-Identifier: MIT */
/*
 * Reads records of a partial stream; see PARTIAL STREAMS in tl-collective(1).
 */
#include "cmd/tl-collective/reduce.h"

#include "json/json.h"

/* The names of a source precede its records. */
void
partial_names(struct reducer *r, const struct fact *f)
{
	json_items items = { 0 };

	r->name_of.n = 0;
	if (f != NULL && f->val.s.p != NULL &&
	    json_split(&items, r->mem, f->val.s))
		for (size_t i = 0; i < items.n; i++)
			vec_push(
			    &r->name_of, intern_put(r->names, items.v[i].text));
	vec_free(&items);
}

static uint32_t
partial_signature(struct reducer *r, const struct value *v)
{
	bool is_new = true;
	uint64_t *slot = v->type == VAL_JSON
	    ? map_put(&r->sig_of, v->id, &is_new)
	    : &(uint64_t){ 0 };

	if (is_new)
		*slot = reduce_signature(r, v->s, 0);
	return (uint32_t)*slot;
}

/* [name, ns, ...]; another writer's numbers may not be in the source's
 * names. */
static void
take_spent(struct reducer *r, struct rec *rec, struct str text)
{
	spent_vec *out = &r->lanes.v[0].windows.spent;
	json_items it = { 0 };
	int64_t name, ns;

	rec->spent = (uint32_t)out->n;
	if (json_split(&it, r->scratch, text))
		for (size_t i = 0; i + 1 < it.n; i += 2)
			if (num_i64(it.v[i].text, &name) && name >= 0 &&
			    (uint64_t)name < r->name_of.n &&
			    num_i64(it.v[i + 1].text, &ns) && ns >= 0)
				vec_push(out,
				    ((struct spent){ ns, r->name_of.v[name] }));
	rec->nspent = (uint32_t)(out->n - rec->spent);
	arena_reset(r->scratch, 0);
	vec_free(&it);
}

static void
take_member(
    struct reducer *r, struct rec *rec, struct str key, const struct value *v)
{
	if (v->type == VAL_JSON || v->type == VAL_JSONX) {
		if (str_eq(key, STR("sig")))
			rec->sig = partial_signature(r, v);
		else if (str_eq(key, STR("spent")))
			take_spent(r, rec, v->s);
	} else if (v->type != VAL_INT || v->i < 0) {
		return;
	} else if (str_eq(key, STR("seq")) && v->i < UINT32_MAX - 1) {
		rec->seq = (uint32_t)v->i + 1;
	} else if (str_eq(key, STR("busy"))) {
		rec->busy_ns = v->i;
	} else if (str_eq(key, STR("idle"))) {
		rec->idle_ns = v->i;
	} else if (str_eq(key, STR("work"))) {
		rec->work = (uint32_t)v->i;
	} else if (str_eq(key, STR("elsewhere"))) {
		rec->else_ns = v->i;
	} else if (str_eq(key, STR("exposed"))) {
		r->part.exposed = r->exposed.v;
		r->exposed.v[rec->part] = v->i;
	}
}

void
partial_take(struct reducer *r, const struct event *ev)
{
	struct entries it = entries_of(r->st, ev);
	struct rec rec = { .start_ns = ev->ts_ns,
		.dur_ns = ev->dur_ns,
		.busy_ns = -1,
		.idle_ns = -1,
		.id = ev->uid.id,
		.sig = UINT32_MAX,
		.part = (uint32_t)r->exposed.n };

	vec_push(&r->exposed, NONE);
	while (entries_next(&it))
		if (it.entry->group == GROUP_ARGS)
			take_member(
			    r, &rec, dict_get(r->st, it.entry->key), &it.val);
	if (rec.sig == UINT32_MAX)
		die("%s: event %" PRIu64 " is not a record of a partial",
		    r->path, ev->uid.id);
	if (rec.busy_ns < 0 || rec.idle_ns < 0)
		rec.busy_ns = rec.idle_ns = -1;
	if (rec.busy_ns < 0)
		rec.nspent = 0;
	vec_push(&r->lanes.v[0].recs, rec);
}
