/* SPDX-License-Identifier: MIT */
/* Reading: each op that launches becomes a call, what it launched kernels. */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-ops/ops.h"
#include "trace/tree.h"
#include "json/json.h"

/* ---- ops ---- */

static uint32_t
category_of(struct ops *g, uint32_t name, uint32_t kernel)
{
	return category_number(
	    &g->categories, g->models, g->strings, name, kernel);
}

static void
keep_kernels(struct ops *g, struct call *c, const struct owner *o)
{
	c->first_kernel = g->kernels.n;
	c->nkernels = (uint32_t)o->ndirect;
	for (size_t i = 0; i < o->ndirect; i++)
		vec_push(&g->kernels,
		    ((struct kernel){
			.name = o->direct[i].name,
			.work = (uint32_t)o->direct[i].extra,
			.gpu_stream = o->direct[i].gpu_stream,
			.ts_ns = o->direct[i].ts_ns,
			.dur_ns = o->direct[i].dur_ns,
		    }));
}

/* Which op is the nearest one is known only now. */
static void
mark_works(struct ops *g, const struct owner *o)
{
	for (size_t i = 0; i < o->nbelow; i++)
		if (o->below[i].op == o->number)
			g->works.v[o->below[i].extra].op = o->number;
}

#define FRAME_CUT 256 /* bytes of a frame's name, as in the reference */

static void
keep_modules(struct ops *g, struct call *c, const struct owner *o)
{
	struct buf b = { 0 };

	c->parent_module = o->nmodules == 0
	    ? intern_put(g->strings->text, STR("NA"))
	    : name_without_numbers(
		  g->strings, strings_get(g->strings, o->modules[0]));
	buf_putc(&b, '[');
	json_put_string(&b, strings_get(g->strings, o->name));
	for (size_t i = 0; i < o->nmodules; i++) {
		struct str s = strings_get(g->strings, o->modules[i]);
		bool is_cut = s.len > FRAME_CUT;

		if (is_cut)
			s.len = FRAME_CUT;
		buf_putc(&b, ',');
		json_put_string(&b, s);
		if (is_cut) {
			b.len--;
			buf_puts(&b, "..\"");
		}
	}
	buf_putc(&b, ']');
	c->call_stack = intern_put(g->strings->text, buf_str(&b));
	buf_free(&b);
}

static void
take_owner(void *arg, const struct owner *o)
{
	struct ops *g = arg;
	const struct settings *set = g->set;
	int64_t dur_ns = (o->flags & EV_UNTIMED) != 0 ? 0 : o->dur_ns;
	struct call *c;

	if (set->overlap)
		mark_works(g, o);
	if (o->kind == KIND_OP)
		g->sources.list.v[g->source].nops++;
	if ((o->ndirect == 0 && !(set->all_ops && o->kind == KIND_OP)) ||
	    !str_glob_any(
		set->names.v, set->names.n, strings_get(g->strings, o->name)))
		return;
	c = vec_add(&g->calls);
	*c = (struct call){
		.uid = o->uid,
		.source = g->source,
		.name = o->name,
		.track = o->track,
		.args = o->args,
		.module = o->module,
		.annotation = o->annotation,
		.step = o->step,
		.is_recompute = (o->flags & EV_RECOMPUTE) != 0,
		.is_op = o->kind == KIND_OP,
		.ts_ns = o->ts_ns,
		.direct_ns = o->direct_ns,
		.subtree_ns = o->subtree_ns,
		.total_ns = dur_ns,
		.self_ns = dur_ns > o->child_ns ? dur_ns - o->child_ns : 0,
		.parent_module = INTERN_NONE,
		.call_stack = INTERN_NONE,
		.overlap = OVERLAP_NONE,
	};
	g->any_inst |= o->uid.inst != 0;
	if (set->parent_module || set->call_stack)
		keep_modules(g, c, o);
	keep_kernels(g, c, o);
	c->category = category_of(
	    g, o->name, o->ndirect > 0 ? o->direct[0].name : INTERN_NONE);
}

/* ---- GPU work ---- */

static uint64_t
work_number(void *arg, const struct event *ev)
{
	const struct ops *g = arg;

	(void)ev;
	return g->works.n - 1;
}

static struct spans *
busy_of(struct ops *g, uint32_t source)
{
	while (g->busy.n <= source)
		vec_push(&g->busy, (struct spans){ 0 });
	return &g->busy.v[source];
}

/* Owners pass over collectives, so that their time is in no row. */
static void
add_left_out(struct ops *g, struct settings *set, struct sink_source *o,
    const struct event *ev)
{
	if (set->with_comm || (ev->flags & EV_UNLINKED) != 0 ||
	    bucket_of_event(&set->rules, g->strings, ev) != BUCKET_COMM)
		return;
	o->ncomm++;
	o->comm_ns += (uint64_t)ev->dur_ns;
}

/* Whether it counts. */
static bool
take_gpu_event(
    struct ops *g, struct settings *set, const struct event *ev, bool is_chosen)
{
	struct sink_source *o = sink_sources_of(&g->sources, ev->src);
	int64_t end;

	if (!sink_source_takes(o, ev, is_chosen, &end))
		return false;
	o->nchosen++;
	add_left_out(g, set, o, ev);
	if ((ev->flags & EV_UNLINKED) == 0 && g->set->all_ops)
		spans_add(busy_of(g, o->no), ev->ts_ns, end);
	if (!g->set->overlap ||
	    ((ev->flags & EV_UNLINKED) != 0 && g->set->linked_only))
		return true;
	if (g->works.n >= UINT32_MAX)
		die("more GPU events than --overlap can hold");
	vec_push(&g->works,
	    ((struct work){
		.uid = ev->uid,
		.name = ev->name,
		.source = o->no,
		.dev = ev->dev,
		.gpu_stream = ev->gpu_stream,
		.ts_ns = ev->ts_ns,
		.dur_ns = ev->dur_ns,
	    }));
	return true;
}

/* ---- files ---- */

static uint32_t
kinds_to_read(const struct settings *set)
{
	uint32_t kinds = select_kinds(&set->select, KINDS_GPU) | KINDS_HOST |
	    KIND_BIT(KIND_META);

	if (set->by == BY_MODULE || set->parent_module || set->call_stack)
		kinds |= KIND_BIT(KIND_PYTHON);
	return kinds;
}

/* Where an op stands among steps and annotations. */
static void
tell_place(struct owners *w, struct settings *set)
{
	const struct window *win = select_annotation(&set->select);

	owners_at(w, select_step(&set->select),
	    win != NULL ? win->name : INTERN_NONE);
}

static struct owners *
start_owners(struct ops *g, struct settings *set)
{
	struct owners *w =
	    owners_create(g->strings, &set->rules, take_owner, g);

	w->all_ops = set->all_ops;
	w->with_comm = set->with_comm;
	w->with_args = set->by == BY_ARGS || set->dest.dir != NULL;
	w->with_modules = set->parent_module || set->call_stack;
	w->extra = set->overlap ? work_number : NULL;
	return w;
}

static void
take_event(struct ops *g, struct settings *set, struct owners *w,
    struct stream_in *in, bool is_chosen)
{
	const struct event *ev = &in->ev;

	if (event_is(ev, KINDS_GPU)) {
		is_chosen = take_gpu_event(g, set, ev, is_chosen);
		owners_push(w, ev, is_chosen);
	} else if (ev->shape->kind == KIND_META) {
		names_push(g->names, ev);
	} else if (!event_is(ev, KINDS_PROLOGUE)) {
		if (set->select.need_windows && event_is(ev, KINDS_HOST) &&
		    (set->all_ops || ev->ngpu > 0))
			tell_place(w, set);
		owners_push(w, ev, is_chosen);
	}
}

void
ops_read_file(struct ops *g, struct settings *set, const char *path)
{
	struct stream_in *in = stream_open(
	    path, g->strings, set->pseudo_ops ? WANT_PSEUDO : WANT_TREE);
	struct owners *w = start_owners(g, set);
	enum item item;

	stream_only(in, kinds_to_read(set));
	select_start(&set->select, in);
	sink_sources_file(&g->sources, path);
	while ((item = stream_next(in)) != ITEM_END) {
		bool is_chosen = select_item(&set->select, in, item);

		if (item == ITEM_EVENT) {
			g->source =
			    sink_sources_of(&g->sources, in->ev.src)->no;
			take_event(g, set, w, in, is_chosen);
			continue;
		}
		owners_flush(w);
		if (item == ITEM_SOURCE)
			(void)sink_sources_source(
			    &g->sources, &set->select, &in->source);
	}
	owners_flush(w);
	owners_destroy(w);
	g->nevents += in->nevents;
	stream_close(in);
}

/* ---- order ---- */

static int
by_time(const void *x, const void *y)
{
	const struct call *a = x, *b = y;

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return uid_cmp(a->uid, b->uid);
}

static void
find_overlaps(struct ops *g)
{
	struct overlaps *o = overlaps_find(g->strings, g->works.v, g->works.n);
	VEC(uint32_t) own = { 0 };

	for (size_t i = 0; i < g->calls.n; i++) {
		struct call *c = &g->calls.v[i];

		own.n = 0;
		for (size_t k = 0; k < c->nkernels; k++)
			vec_push(&own, g->kernels.v[c->first_kernel + k].work);
		overlaps_of(o, own.v, own.n, &g->overlap_list, &c->overlap);
	}
	vec_free(&own);
	overlaps_free(o);
}

/* Calls of sources that are not asked for go. */
void
ops_finish(struct ops *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->calls.n; i++)
		if (g->sources.list.v[g->calls.v[i].source].is_asked)
			g->calls.v[n++] = g->calls.v[i];
	g->calls.n = n;
	if (n > 0)
		qsort(g->calls.v, n, sizeof *g->calls.v, by_time);
	if (g->set->overlap)
		find_overlaps(g);
	(void)busy_of(g, (uint32_t)g->sources.list.n);
	for (size_t i = 0; i < g->busy.n; i++)
		spans_normalise(&g->busy.v[i]);
}

void
ops_free(struct ops *g)
{
	vec_free(&g->calls);
	vec_free(&g->kernels);
	vec_free(&g->works);
	vec_free(&g->overlap_list);
	map_free(&g->categories);
	for (size_t i = 0; i < g->busy.n; i++)
		spans_free(&g->busy.v[i]);
	vec_free(&g->busy);
	sink_sources_free(&g->sources);
	names_destroy(g->names);
	models_destroy(g->models);
}
