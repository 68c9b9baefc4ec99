/* SPDX-License-Identifier: MIT */
/* Reading: each kernel becomes a record, and learns its op later. */
#include <stdlib.h>

#include "cmd/tl-kernels/kernels.h"
#include "trace/stat.h"
#include "trace/tree.h"

#define NO_RECORD UINT64_MAX

/* ---- categories ---- */

static uint32_t
category_of(struct kernels *k, uint32_t name, uint32_t kernel)
{
	return category_number(
	    &k->categories, k->models, k->strings, name, kernel);
}

static uint32_t
class_number(struct kernels *k, uint32_t name)
{
	bool is_new;
	uint64_t *slot = map_put(&k->classes, name, &is_new);

	if (is_new)
		*slot = intern_put(k->strings->text,
		    class_of(&k->set->rules, strings_get(k->strings, name)));
	return (uint32_t)*slot;
}

/* Of kernels that a call outside of all ops launched. */
static uint32_t
launch_category(struct kernels *k, uint32_t name)
{
	struct str s = strings_get(k->strings, name);
	bool is_graph = str_find(s, STR("cudagraph"), true) >= 0 ||
	    str_find(s, STR("graphlaunch"), true) >= 0;

	return intern_put(
	    k->strings->text, is_graph ? STR("graph") : STR("runtime"));
}

/* ---- owners ---- */

static void
take_owner(void *arg, const struct owner *o)
{
	struct kernels *k = arg;
	bool is_op = o->kind == KIND_OP;
	uint32_t category = INTERN_NONE;

	for (size_t i = 0; i < o->nbelow; i++) {
		const struct gpu_work *g = &o->below[i];
		struct kernel *one;

		if (g->extra == NO_RECORD ||
		    (is_op ? g->op != o->number
			   : g->op != 0 || g->owner != o->number))
			continue;
		if (category == INTERN_NONE)
			category = is_op
			    ? category_of(k, o->name,
				  o->ndirect > 0 ? o->direct[0].name
						 : INTERN_NONE)
			    : launch_category(k, o->name);
		one = &k->list.v[g->extra];
		one->op = o->name;
		one->has_op = is_op;
		k->extents.v[one->recording].has_ops |= is_op;
		one->category = category;
		one->args = o->args;
		one->nkernels = (uint32_t)o->ndirect;
		one->has_delay = !__builtin_sub_overflow(
		    g->ts_ns, g->launch_end_ns, &one->delay_ns);
	}
}

/* ---- GPU work ---- */

static uint32_t
text_arg(struct kernels *k, const struct value *v)
{
	if (v->type == VAL_JSON)
		return v->id;
	if (v->type == VAL_JSONX)
		return intern_put(k->strings->text, v->s);
	return INTERN_NONE;
}

static void
take_config(struct kernels *k, struct kernel *one, const struct event *ev)
{
	struct entries it = entries_of(k->strings, ev);

	while (entries_next(&it)) {
		struct str key = strings_get(k->strings, it.entry->key);

		if (it.entry->group != GROUP_ARGS)
			continue;
		if (str_eq(key, STR("grid")))
			one->grid = text_arg(k, &it.val);
		else if (str_eq(key, STR("block")))
			one->block = text_arg(k, &it.val);
		else if (it.val.type != VAL_INT)
			continue;
		else if (str_eq(key, STR("dispatch_id")))
			one->dispatch = it.val.i;
		else if (str_eq(key, STR("agent_id")))
			one->agent = it.val.i;
	}
}

static struct extent *
extent_of(struct kernels *k, uint32_t recording)
{
	while (k->extents.n <= recording)
		vec_push(&k->extents,
		    ((struct extent){ INT64_MAX, INT64_MIN, 0, false }));
	return &k->extents.v[recording];
}

static void
add_record(
    struct kernels *k, const struct sink_source *r, const struct event *ev)
{
	struct kernel *one;

	if (k->list.n >= UINT32_MAX - 1)
		die("more kernels than can be told apart");
	one = vec_add(&k->list);
	*one = (struct kernel){
		.uid = ev->uid,
		.recording = r->no,
		.track = ev->track,
		.name = ev->name,
		.class = INTERN_NONE,
		.op = INTERN_NONE,
		.category = INTERN_NONE,
		.args = { INTERN_NONE, INTERN_NONE, INTERN_NONE, INTERN_NONE },
		.grid = INTERN_NONE,
		.block = INTERN_NONE,
		.dev = ev->dev,
		.gpu_stream = ev->gpu_stream,
		.corr = ev->corr,
		.tid = ev->tid,
		.dispatch = -1,
		.agent = -1,
		.ts_ns = ev->ts_ns,
		.dur_ns = ev->dur_ns,
	};
	if (r->is_rocprof)
		one->class = class_number(k, ev->name);
	if (k->set->with_config || r->is_rocprof)
		take_config(k, one, ev);
	if (ev->gpu_stream.type == KEY_STR)
		k->any_text_stream = true;
}

/* Whether it became a record. */
static bool
take_gpu_event(struct kernels *k, const struct event *ev, bool is_chosen)
{
	struct sink_source *r = sink_sources_of(&k->recordings, ev->src);
	struct extent *x = extent_of(k, r->no);
	uint32_t module = 0;
	int64_t end;

	if (!sink_source_takes(r, ev, is_chosen, &end) ||
	    (k->set->linked_only && (ev->flags & EV_UNLINKED) != 0))
		return false;
	x->start = ev->ts_ns < x->start ? ev->ts_ns : x->start;
	x->end = end > x->end ? end : x->end;
	if (k->set->with_module)
		module = modules_work(k, ev);
	if (ev->shape->kind != KIND_KERNEL)
		return false;
	r->nchosen++;
	add_record(k, r, ev);
	k->list.v[k->list.n - 1].module = module;
	return true;
}

/* Only what take_gpu_event() just made a record has one. */
static uint64_t
record_number(void *arg, const struct event *ev)
{
	const struct kernels *k = arg;

	return ev->shape->kind == KIND_KERNEL ? k->list.n - 1 : NO_RECORD;
}

/* ---- files ---- */

static uint32_t
kinds_to_read(const struct settings *set)
{
	uint32_t kinds = select_kinds(&set->select, KINDS_GPU) | KINDS_HOST;

	return set->with_module ? kinds | KIND_BIT(KIND_PYTHON) : kinds;
}

/*
 * Whether a source has ops is told by those that are asked for or own what is,
 * as a stream that was filtered before has no others.
 */
static void
take_event(
    struct kernels *k, struct owners *w, const struct event *ev, bool is_chosen)
{
	struct sink_source *r = sink_sources_of(&k->recordings, ev->src);

	if (event_is(ev, KINDS_GPU)) {
		if (take_gpu_event(k, ev, is_chosen))
			owners_push(w, ev, true);
		else if (is_chosen && ev->shape->kind != KIND_KERNEL)
			/* it may be the first thing that its op launched */
			owners_push(w, ev, true);
	} else if (!event_is(ev, KINDS_PROLOGUE)) {
		if (ev->shape->kind == KIND_OP) {
			r->nops++;
			extent_of(k, r->no)->has_ops |= is_chosen;
		}
		if (k->set->with_module)
			modules_host(k, ev);
		owners_push(w, ev, true);
	}
}

/* The GPU of the trace, unless one was named. */
static void
find_arch(struct kernels *k, const struct source *s)
{
	const struct fact *f = source_fact(s, "devices");

	if (k->arch == NULL && f != NULL && f->val.s.len > 0 &&
	    strcmp(k->set->arch, "auto") == 0)
		k->arch = arch_load(k->models, "auto", f->val.s);
}

void
kernels_read_file(struct kernels *k, struct settings *set, const char *path)
{
	struct stream_in *in = stream_open(
	    path, k->strings, set->pseudo_ops ? WANT_PSEUDO : WANT_TREE);
	struct owners *w =
	    owners_create(k->strings, &set->rules, take_owner, k);
	enum item item;

	w->with_args = set->with_args;
	w->extra = record_number;
	stream_only(in, kinds_to_read(set));
	select_start(&set->select, in);
	sink_sources_file(&k->recordings, path);
	while ((item = stream_next(in)) != ITEM_END) {
		bool is_chosen = select_item(&set->select, in, item);

		if (item == ITEM_EVENT) {
			take_event(k, w, &in->ev, is_chosen);
			continue;
		}
		owners_flush(w);
		modules_close(k, 0);
		if (item == ITEM_SOURCE) {
			(void)sink_sources_source(
			    &k->recordings, &set->select, &in->source);
			find_arch(k, &in->source);
		}
	}
	owners_flush(w);
	modules_close(k, 0);
	owners_destroy(w);
	k->nevents += in->nevents;
	stream_close(in);
}

void
kernels_finish(struct kernels *k)
{
	size_t n = 0;

	for (size_t i = 0; i < k->list.n; i++) {
		struct kernel *one = &k->list.v[i];

		if (!k->recordings.list.v[one->recording].is_asked)
			continue;
		/* calls are no ops: without any op no kernel has one */
		if (!k->extents.v[one->recording].has_ops)
			one->op = INTERN_NONE;
		stat_add(&k->extents.v[one->recording].sum_ns, one->dur_ns);
		k->list.v[n++] = *one;
	}
	k->list.n = n;
	k->all_rocprof = n > 0;
	for (size_t i = 0; i < n && k->all_rocprof; i++)
		k->all_rocprof =
		    k->recordings.list.v[k->list.v[i].recording].is_rocprof;
}

void
kernels_free(struct kernels *k)
{
	vec_free(&k->list);
	vec_free(&k->extents);
	modules_free(k);
	map_free(&k->categories);
	map_free(&k->classes);
	sink_sources_free(&k->recordings);
	models_destroy(k->models);
}
