/* SPDX-License-Identifier: MIT */
/* Reading: each op that launches becomes a call, its GPU work kernels. */
#include <math.h>

#include "cmd/tl-ops/ops.h"
#include "trace/tree.h"
#include "json/json.h"

/* ---- ops ---- */

static void
keep_kernels(struct ops *g, struct call *c, const struct launcher *o)
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

/* Marks works with their nearest op, which is known only now. */
static void
mark_works(struct ops *g, const struct launcher *o)
{
	for (size_t i = 0; i < o->nbelow; i++)
		if (o->below[i].op == o->number)
			g->works.v[o->below[i].extra].op = o->number;
}

#define FRAME_CUT 256 /* bytes of a frame's name, as in TraceLens */

static void
keep_modules(struct ops *g, struct call *c, const struct launcher *o)
{
	struct buf b = { 0 };

	c->parent_module = o->nmodules == 0
	    ? intern_put(g->sink.dict->text, STR("NA"))
	    : name_without_numbers(
		  g->sink.dict, dict_get(g->sink.dict, o->modules[0]));
	buf_putc(&b, '[');
	json_put_string(&b, dict_get(g->sink.dict, o->name));
	for (size_t i = 0; i < o->nmodules; i++) {
		struct str s = dict_get(g->sink.dict, o->modules[i]);
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
	c->call_stack = intern_put(g->sink.dict->text, buf_str(&b));
	buf_free(&b);
}

void
ops_launcher(void *sink, const struct launcher *o)
{
	struct ops *g = sink;
	int64_t dur_ns = (o->flags & EV_UNTIMED) != 0 ? 0 : o->dur_ns;
	struct call *c;

	if (g->overlap)
		mark_works(g, o);
	if (o->kind == KIND_OP)
		g->sink.sources.list.v[g->sink.source].nops++;
	if ((o->ndirect == 0 && !(g->all_ops && o->kind == KIND_OP)) ||
	    !there_glob(
		&g->there, g->names.v, g->names.n, g->sink.dict, o->name))
		return;
	c = sink_add(&g->sink);
	*c = (struct call){
		.rec = { o->uid, g->sink.source, o->track, o->ts_ns },
		.name = o->name,
		.args = o->args,
		.module = o->module,
		.annotation = o->annotation,
		.step = o->step,
		.is_recompute = g->recompute && (o->flags & EV_RECOMPUTE) != 0,
		.is_op = o->kind == KIND_OP,
		.direct_ns = o->direct_ns,
		.subtree_ns = o->subtree_ns,
		.total_ns = dur_ns,
		.self_ns = dur_ns > o->child_ns ? dur_ns - o->child_ns : 0,
		.parent_module = INTERN_NONE,
		.call_stack = INTERN_NONE,
		.overlap = OVERLAP_NONE,
		.mark = phases_mark(&g->phases, g->sink.dict, o),
	};
	if (g->parent_module || g->call_stack)
		keep_modules(g, c, o);
	keep_kernels(g, c, o);
	c->category = category_number(&g->categories, g->models, g->sink.dict,
	    model_number(g->models, g->sink.dict, o->name, &o->args),
	    o->ndirect > 0 ? o->direct[0].name : INTERN_NONE);
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

/* Collectives have no owner, so their time is in no row. */
static void
add_left_out(struct ops *g, struct sink_source *o, const struct event *ev)
{
	if (g->with_comm || !event_is_owned(ev) ||
	    bucket_of_event(&g->sink.rules, g->sink.dict, ev) != BUCKET_COMM)
		return;
	o->ncomm++;
	o->comm_ns += (uint64_t)ev->dur_ns;
}

/* Whether a GPU event counts. */
static bool
take_gpu_event(struct ops *g, const struct event *ev, bool is_chosen)
{
	struct sink_source *o = &g->sink.sources.list.v[g->sink.source];
	int64_t end;

	if (!sink_takes_gpu(&g->sink, ev, is_chosen, &end))
		return false;
	add_left_out(g, o, ev);
	if ((ev->flags & EV_UNLINKED) == 0 && g->all_ops)
		spans_add(busy_of(g, o->no), ev->ts_ns, end);
	if (!g->overlap ||
	    ((ev->flags & EV_UNLINKED) != 0 && g->linked_overlap))
		return true;
	if (g->works.n >= UINT32_MAX)
		die("too many GPU events for --overlap");
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

void
ops_take(struct sink *s, const struct stream_in *in, bool is_chosen)
{
	struct ops *g = (struct ops *)s;
	const struct event *ev = &in->ev;

	phases_event(&g->phases, s->dict, ev, s->source);
	if (event_is(ev, KINDS_GPU)) {
		is_chosen = take_gpu_event(g, ev, is_chosen);
		launchers_push(s->launchers, ev, is_chosen);
	} else if (!event_is(ev, KINDS_PROLOGUE)) {
		if (s->select.need_windows && event_is(ev, KINDS_HOST) &&
		    (g->all_ops || ev->ngpu > 0))
			launchers_at(s->launchers, select_step_key(&s->select),
			    select_annotation_name(&s->select));
		launchers_push(s->launchers, ev, is_chosen);
	}
}

void
ops_start(struct sink *s)
{
	struct ops *g = (struct ops *)s;
	struct launchers *w = s->launchers;

	w->all_ops = g->all_ops;
	w->with_comm = g->with_comm;
	w->with_args =
	    g->by == BY_ARGS || s->dest.dir != NULL || g->phases.may_guess;
	w->with_modules = g->parent_module || g->call_stack;
	w->extra = g->overlap ? work_number : NULL;
}

/* ---- when all is read ---- */

static void
find_overlaps(struct ops *g)
{
	struct overlaps *o =
	    overlaps_find(g->sink.dict, g->works.v, g->works.n);
	VEC(uint32_t) own = { 0 };

	for (size_t i = 0; i < g->sink.records.n; i++) {
		struct call *c = sink_record(&g->sink, i);

		own.n = 0;
		for (size_t k = 0; k < c->nkernels; k++)
			vec_push(&own, g->kernels.v[c->first_kernel + k].work);
		overlaps_of(o, own.v, own.n, &g->sink.overlaps, &c->overlap);
	}
	vec_free(&own);
	overlaps_free(o);
}

static void
set_phases(struct ops *g)
{
	phases_decide(&g->phases, g->sink.dict);
	for (size_t i = 0; i < g->sink.records.n; i++) {
		struct call *c = sink_record(&g->sink, i);
		struct phase_guess guess = phases_of(&g->phases, c->mark);

		g->nphase[guess.phase] += c->nkernels > 0;
		c->phase = g->phases.phase_words[guess.phase];
		c->phase_method = g->phases.method_words[guess.by];
	}
}

/* Without any GPU event, the GPU was not recorded. */
static void
forget_gpu(struct ops *g)
{
	for (size_t i = 0; i < g->sink.records.n; i++) {
		struct call *c = sink_record(&g->sink, i);

		if (g->sink.sources.list.v[c->rec.source].ngpu == 0)
			c->direct_ns = c->subtree_ns = SINK_NONE;
	}
}

void
ops_finish(struct sink *s)
{
	struct ops *g = (struct ops *)s;

	set_phases(g);
	forget_gpu(g);
	if (g->overlap)
		find_overlaps(g);
	(void)busy_of(g, (uint32_t)s->sources.list.n);
	for (size_t i = 0; i < g->busy.n; i++)
		spans_normalise(&g->busy.v[i]);
}

void
ops_free(struct sink *s)
{
	struct ops *g = (struct ops *)s;

	vec_free(&g->kernels);
	vec_free(&g->works);
	vec_free(&g->first_ns);
	vec_free(&g->names);
	there_free(&g->there);
	phases_free(&g->phases);
	rules_free(&g->classes);
	map_free(&g->categories);
	for (size_t i = 0; i < g->busy.n; i++)
		spans_free(&g->busy.v[i]);
	vec_free(&g->busy);
	models_destroy(g->models);
}
