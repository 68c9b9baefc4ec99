/* SPDX-License-Identifier: MIT */
/*
 * Reading: a stack of the open modules over a tree stream.
 *
 * Two arrays hold intervals of GPU work, and an open module knows where its
 * part of each begins. In one stands all work below it: when the module is
 * closed its part becomes its union, in place, which is all that the module
 * above needs. In the other stands the work that is below no further module;
 * the parts of modules that were closed are gone from it, so what is left
 * behind a module's beginning is its own.
 */
#include "cmd/tl-modules/modules.h"

#define ANNOTATION KIND_BIT(KIND_ANNOTATION)

struct open_module {
	uint32_t depth;
	uint32_t number; /* in modules.list, from 1 */
	size_t first_all, first_own;
};

struct gatherer {
	struct modules *m;
	uint32_t source;
	size_t first; /* of its modules */
	VEC(struct open_module) stack;
	struct spans all, own;
	struct spans busy, outside; /* of the source */
	VEC(uint8_t) names;         /* by name: 1 a module's, 2 another */
	struct backward *backward;  /* with --bwd */
	struct flop_counter *flops; /* with --flops */
	bool is_begun;
};

static struct whole *
whole_of(struct gatherer *g)
{
	while (g->m->wholes.n <= g->source)
		vec_push(&g->m->wholes, (struct whole){ 0 });
	return &g->m->wholes.v[g->source];
}

/* ---- closing ---- */

static void
close_top(struct gatherer *g)
{
	const struct open_module *top = &g->stack.v[--g->stack.n];
	struct module *mod = &g->m->list.v[top->number - 1];

	mod->is_asked |= g->all.n > top->first_all;
	if (mod->is_asked) {
		whole_of(g)->nasked++;
		if (mod->up > 0) {
			g->m->list.v[mod->up - 1].has_below = true;
			g->m->list.v[mod->up - 1].is_asked = true;
		}
	}
	mod->gpu_ns = spans_unite(&g->all, top->first_all);
	mod->self_ns = spans_unite(&g->own, top->first_own);
	g->own.n = top->first_own;
	if (g->stack.n == 0)
		g->all.n = 0;
	else
		g->m->list.v[mod->up - 1].kernels += mod->kernels;
}

static void
close_down_to(struct gatherer *g, uint32_t depth)
{
	if (g->flops != NULL)
		flops_close(g->flops, depth);
	if (g->backward != NULL)
		backward_close(g->backward, depth);
	while (g->stack.n > 0 && g->stack.v[g->stack.n - 1].depth >= depth)
		close_top(g);
}

/* The source, or a part of it, is over. */
static void
close_source(struct gatherer *g)
{
	struct whole *w;

	if (!g->is_begun)
		return;
	w = whole_of(g);
	close_down_to(g, 0);
	spans_normalise(&g->busy);
	spans_normalise(&g->outside);
	w->busy_ns = spans_total(&g->busy);
	w->outside_ns = spans_total(&g->outside);
	if (g->flops != NULL)
		flops_outside(g->flops, &w->outside);
	if (g->backward != NULL)
		backward_finish(g->backward, g->m, g->first);
	spans_free(&g->busy);
	spans_free(&g->outside);
	g->is_begun = false;
}

static void
begin_source(struct gatherer *g, uint32_t source)
{
	if (g->is_begun && g->source == source)
		return;
	if (g->is_begun)
		close_source(g);
	g->source = source;
	g->first = g->m->list.n;
	g->is_begun = true;
}

/* ---- events ---- */

static bool
is_module(struct gatherer *g, const struct event *ev)
{
	uint8_t *known;

	if (ev->name == INTERN_NONE)
		return false;
	while (g->names.n <= ev->name)
		vec_push(&g->names, 0);
	known = &g->names.v[ev->name];
	if (*known == 0)
		*known =
		    str_starts(dict_get(g->m->dict, ev->name), STR("nn.Module"))
		    ? 1
		    : 2;
	return *known == 1;
}

/*
 * What was not asked for, and has nothing below that was, is not there: a
 * stream that was filtered before does not have it either.
 */
static void
open_module(struct gatherer *g, const struct event *ev, bool is_chosen)
{
	uint32_t up = g->stack.n > 0 ? g->stack.v[g->stack.n - 1].number : 0;

	if (g->m->list.n >= UINT32_MAX - 1)
		die("more than %u calls of modules", UINT32_MAX - 1);
	g->m->any_inst |= ev->uid.inst != 0;
	vec_push(&g->m->list,
	    ((struct module){
		.uid = ev->uid,
		.source = g->source,
		.name = ev->name,
		.up = up,
		.is_asked = is_chosen,
		.ts_ns = ev->ts_ns,
		.dur_ns = ev->dur_ns,
		.bwd_ns = NO_TIME,
	    }));
	vec_push(&g->stack,
	    ((struct open_module){
		.depth = ev->depth,
		.number = (uint32_t)g->m->list.n,
		.first_all = g->all.n,
		.first_own = g->own.n,
	    }));
	whole_of(g)->nmodules++;
	if (g->flops != NULL)
		flops_module(g->flops, ev, (uint32_t)g->m->list.n);
}

static void
take_host_event(struct gatherer *g, const struct event *ev, bool is_chosen)
{
	/* what is no part of the tree is above nothing */
	if ((ev->shape->has & HAS_DEPTH) == 0)
		return;
	close_down_to(g, ev->depth);
	if (ev->shape->kind == KIND_PYTHON) {
		whole_of(g)->nframes++;
		if (is_module(g, ev))
			open_module(g, ev, is_chosen);
	} else if (ev->shape->kind == KIND_OP && g->flops != NULL) {
		flops_op(g->flops, ev);
	}
	if (g->backward != NULL)
		backward_host(g->backward, ev,
		    g->stack.n > 0 ? g->stack.v[g->stack.n - 1].number : 0);
}

/* Where it counts. */
static void
add_work(struct gatherer *g, const struct event *ev, int64_t end)
{
	struct span s = { ev->ts_ns, end };
	bool is_kernel = ev->shape->kind == KIND_KERNEL;

	spans_add(&g->busy, s.start, s.end);
	if (g->backward != NULL && (ev->flags & EV_UNLINKED) == 0)
		backward_gpu(g->backward, ev, end);
	if (g->flops != NULL && (ev->flags & EV_UNLINKED) == 0)
		flops_work(g->flops, ev, end);
	if (g->stack.n == 0 || (ev->flags & EV_UNLINKED) != 0) {
		spans_add(&g->outside, s.start, s.end);
		whole_of(g)->outside_kernels += is_kernel;
		return;
	}
	vec_push(&g->all, s);
	vec_push(&g->own, s);
	g->m->list.v[g->stack.v[g->stack.n - 1].number - 1].kernels +=
	    is_kernel;
}

static void
take_gpu_event(struct gatherer *g, const struct event *ev,
    struct sink_source *o, bool chosen)
{
	int64_t end;

	if ((ev->flags & EV_UNLINKED) != 0 || (ev->shape->has & HAS_DEPTH) == 0)
		close_down_to(g, 0);
	else
		close_down_to(g, ev->depth);
	if (!sink_source_takes(o, ev, chosen, &end))
		return;
	o->nchosen++;
	add_work(g, ev, end);
}

/* ---- files ---- */

static void
take_item(struct gatherer *g, const struct settings *set, struct stream_in *in,
    enum item item, bool is_chosen)
{
	struct sink_source *o;

	if (item == ITEM_SOURCE) {
		(void)sink_sources_source(
		    &g->m->sources, &set->select, &in->source);
	} else if (item == ITEM_EVENT) {
		o = sink_sources_of(&g->m->sources, in->ev.src);
		begin_source(g, o->no);
		if (event_is(&in->ev, KINDS_GPU))
			take_gpu_event(g, &in->ev, o, is_chosen);
		else if (event_is(&in->ev, KINDS_HOST | KIND_BIT(KIND_PYTHON)))
			take_host_event(g, &in->ev, is_chosen);
		else if (g->flops != NULL && event_is(&in->ev, ANNOTATION))
			flops_annotation(g->flops, &in->ev);
	} else {
		close_down_to(g, 0);
		if (g->flops != NULL && item == ITEM_SECTION &&
		    in->section == SECTION_PROLOGUE)
			flops_prologue(g->flops);
	}
}

void
modules_read_file(struct modules *m, struct settings *set, const char *path)
{
	struct stream_in *in = stream_open(path, m->dict,
	    set->pseudo_ops ? WANT_PSEUDO
			    : select_want(&set->select, WANT_TREE));
	struct gatherer g = { .m = m };
	enum item item;

	if (set->bwd)
		g.backward = backward_create();
	if (set->flops)
		g.flops = flops_create(m, m->models);
	stream_only(in,
	    select_kinds(&set->select, KINDS_GPU) | KINDS_HOST |
		KIND_BIT(KIND_PYTHON) | (set->flops ? ANNOTATION : 0));
	select_start(&set->select, in);
	sink_sources_file(&m->sources, path);
	while ((item = stream_next(in)) != ITEM_END) {
		bool is_chosen = select_item(&set->select, in, item);

		take_item(&g, set, in, item, is_chosen);
	}
	close_source(&g);
	while (m->wholes.n < m->sources.list.n)
		vec_push(&m->wholes, (struct whole){ 0 });
	m->nevents += in->nevents;
	stream_close(in);
	backward_destroy(g.backward);
	flops_destroy(g.flops);
	vec_free(&g.stack);
	spans_free(&g.all);
	spans_free(&g.own);
	vec_free(&g.names);
}

void
modules_free(struct modules *m)
{
	vec_free(&m->list);
	vec_free(&m->wholes);
	vec_free(&m->flops);
	vec_free(&m->no_model);
	models_destroy(m->models);
	sink_sources_free(&m->sources);
}
