/* SPDX-License-Identifier: MIT */
/*
 * Reading: a stack of the open modules over a tree stream.
 *
 * Two arrays hold intervals of GPU work, and an open module knows where its
 * part of each begins. The first holds all work below it: when the module is
 * closed, its part becomes its union, in place, which is all that the module
 * above needs. The second holds work in no inner module: parts of closed
 * modules are removed from it, so what follows a module's beginning is its own.
 */
#include "cmd/tl-modules/modules.h"
#include "trace/laws.h"

struct whole *
modules_whole(struct modules *m, uint32_t source)
{
	while (m->wholes.n <= source)
		vec_push(&m->wholes, (struct whole){ 0 });
	return &m->wholes.v[source];
}

/* ---- GPUs ---- */

/* The GPU's number, from 1. */
static uint32_t
gpu_of(struct modules *m, const struct event *ev)
{
	for (uint32_t i = 0; i < m->gpus.n; i++)
		if (key_eq(m->gpus.v[i].dev, ev->dev))
			return i + 1;
	vec_push(&m->gpus, ((struct gpu){ .dev = ev->dev }));
	return (uint32_t)m->gpus.n;
}

static void
add_gpu(struct modules *m, struct open_module *to, uint32_t gpu)
{
	if (gpu == 0)
		return;
	m->whole->is_spread |= to->gpu > 0 && to->gpu != gpu;
	to->gpu = gpu;
}

static void
close_gpus(struct modules *m)
{
	struct whole *w = m->whole;

	for (size_t i = 0; i < m->gpus.n; i++) {
		struct gpu *g = &m->gpus.v[i];

		spans_normalise(&g->busy);
		spans_normalise(&g->outside);
		w->busy_ns = num_add_max(w->busy_ns, spans_total(&g->busy));
		w->outside_ns =
		    num_add_max(w->outside_ns, spans_total(&g->outside));
		spans_free(&g->busy);
		spans_free(&g->outside);
	}
	m->gpus.n = 0;
}

/* ---- closing ---- */

static const char of_modules[] = "nn_modules";

/* Checks: a union is at least its largest part, and at most the sum. */
static void
keep_law(const struct module *mod, int64_t below_ns)
{
	const struct law_part self = { "self_ns", mod->self_ns };
	const struct law_part gpu = { "gpu_ns", mod->gpu_ns };

	law_most(of_modules, self, gpu);
	law_most(of_modules, gpu,
	    (struct law_part){ "self_ns and gpu_ns of modules below",
		num_add_max(mod->self_ns, below_ns) });
}

static void
keep_laws(const struct whole *w)
{
	law_most(of_modules,
	    (struct law_part){ "GPU work outside of modules", w->outside_ns },
	    (struct law_part){ "busy time", w->busy_ns });
	if (!w->is_spread) /* else a union over GPUs is less */
		law_most(of_modules,
		    (struct law_part){ "busy time", w->busy_ns },
		    (struct law_part){ "that in modules and outside",
			num_add_max(w->outside_ns, w->root_ns) });
	law_same(of_modules,
	    (struct law_part){ "kernels in modules and outside",
		(int64_t)(w->root_kernels + w->outside_kernels) },
	    (struct law_part){ "all kernels", (int64_t)w->nkernels });
}

static void
close_top(struct modules *m)
{
	const struct open_module *top = &m->stack.v[--m->stack.n];
	struct module *mod = &m->list.v[top->number - 1];
	struct open_module *above;

	mod->is_asked |= m->all.n > top->first_all;
	if (mod->is_asked) {
		m->whole->nasked++;
		if (mod->up > 0) {
			m->list.v[mod->up - 1].has_below = true;
			m->list.v[mod->up - 1].is_asked = true;
		}
	}
	mod->gpu_ns = spans_unite(&m->all, top->first_all);
	mod->self_ns = spans_unite(&m->own, top->first_own);
	m->own.n = top->first_own;
	keep_law(mod, top->below_ns);
	if (m->stack.n == 0) {
		m->all.n = 0;
		m->whole->root_kernels += mod->kernels;
		m->whole->root_ns = num_add_max(m->whole->root_ns, mod->gpu_ns);
		return;
	}
	m->list.v[mod->up - 1].kernels += mod->kernels;
	above = &m->stack.v[m->stack.n - 1];
	above->below_ns = num_add_max(above->below_ns, mod->gpu_ns);
	add_gpu(m, above, top->gpu);
}

static void
close_down_to(struct modules *m, uint32_t depth)
{
	if (m->flop_counter != NULL)
		flops_close(m->flop_counter, depth);
	if (m->backward != NULL)
		backward_close(m->backward, depth);
	while (m->stack.n > 0 && m->stack.v[m->stack.n - 1].depth >= depth)
		close_top(m);
}

/* At the end of a source, or a part of it. */
void
modules_close_source(struct modules *m)
{
	struct whole *w = m->whole;

	if (w == NULL)
		return;
	close_down_to(m, 0);
	close_gpus(m);
	keep_laws(w);
	if (m->flop_counter != NULL)
		flops_outside(m->flop_counter, &w->outside);
	if (m->backward != NULL)
		backward_finish(m->backward, m, m->first);
	m->whole = NULL;
}

static void
begin_source(struct modules *m, uint32_t source)
{
	if (m->whole != NULL && m->source == source)
		return;
	modules_close_source(m);
	m->source = source;
	m->first = m->list.n;
	m->whole = modules_whole(m, source);
}

/* ---- events ---- */

/*
 * Opens a module. One that was not selected is ignored if no module below it
 * was: a filtered stream does not have it either.
 */
static void
open_module(struct modules *m, const struct event *ev, bool is_chosen)
{
	uint32_t up = m->stack.n > 0 ? m->stack.v[m->stack.n - 1].number : 0;

	if (m->list.n >= UINT32_MAX - 1)
		die("more than %u calls of modules", UINT32_MAX - 1);
	vec_push(&m->list,
	    ((struct module){
		.uid = ev->uid,
		.source = m->source,
		.name = ev->name,
		.up = up,
		.is_asked = is_chosen,
		.ts_ns = ev->ts_ns,
		.dur_ns = ev->dur_ns,
		.bwd_ns = SINK_NONE,
	    }));
	vec_push(&m->stack,
	    ((struct open_module){
		.depth = ev->depth,
		.number = (uint32_t)m->list.n,
		.first_all = m->all.n,
		.first_own = m->own.n,
	    }));
	m->whole->nmodules++;
	if (m->flop_counter != NULL)
		flops_module(m->flop_counter, ev, (uint32_t)m->list.n);
}

static void
take_host_event(struct modules *m, const struct event *ev, bool is_chosen)
{
	/* not in the tree */
	if ((ev->shape->has & HAS_DEPTH) == 0)
		return;
	close_down_to(m, ev->depth);
	if (ev->shape->kind == KIND_PYTHON) {
		m->whole->nframes++;
		if (event_is_module(m->sink.dict, ev))
			open_module(m, ev, is_chosen);
	} else if (ev->shape->kind == KIND_OP && m->flop_counter != NULL) {
		flops_op(m->flop_counter, ev);
	}
	if (m->backward != NULL)
		backward_host(m->backward, ev,
		    m->stack.n > 0 ? m->stack.v[m->stack.n - 1].number : 0);
}

/* Adds GPU work where it counts. */
static void
add_work(struct modules *m, const struct event *ev, int64_t end)
{
	struct span s = { ev->ts_ns, end };
	bool is_kernel = ev->shape->kind == KIND_KERNEL;
	uint32_t number = gpu_of(m, ev);
	struct gpu *gpu = &m->gpus.v[number - 1];
	struct open_module *top;

	spans_add(&gpu->busy, s.start, s.end);
	m->whole->nkernels += is_kernel;
	if (m->backward != NULL && event_is_owned(ev))
		backward_gpu(m->backward, ev, end);
	if (m->flop_counter != NULL && event_is_owned(ev))
		flops_work(m->flop_counter, ev, end);
	if (m->stack.n == 0) {
		spans_add(&gpu->outside, s.start, s.end);
		m->whole->outside_kernels += is_kernel;
		return;
	}
	vec_push(&m->all, s);
	vec_push(&m->own, s);
	top = &m->stack.v[m->stack.n - 1];
	add_gpu(m, top, number);
	m->list.v[top->number - 1].kernels += is_kernel;
}

static void
take_gpu_event(struct modules *m, const struct event *ev, bool chosen)
{
	struct sink_source *o = &m->sink.sources.list.v[m->source];
	int64_t end;

	close_down_to(m, event_is_owned(ev) ? ev->depth : 0);
	if (!sink_source_takes(o, ev, chosen, &end))
		return;
	o->nchosen++;
	add_work(m, ev, end);
}

/* ---- hooks ---- */

void
modules_start(struct sink *s)
{
	struct modules *m = (struct modules *)s;

	if (m->with_bwd)
		m->backward = backward_create();
	if (m->with_flops)
		m->flop_counter = flops_create(m);
}

void
modules_take(struct sink *s, const struct stream_in *in, bool is_chosen)
{
	struct modules *m = (struct modules *)s;
	const struct event *ev = &in->ev;

	begin_source(m, s->source);
	if (event_is(ev, KINDS_GPU))
		take_gpu_event(m, ev, is_chosen);
	else if (ev->shape->kind != KIND_ANNOTATION)
		take_host_event(m, ev, is_chosen);
	else if (m->with_flops)
		flops_annotation(m->flop_counter, ev, s->source);
}

void
modules_flush(struct sink *s)
{
	close_down_to((struct modules *)s, 0);
}
