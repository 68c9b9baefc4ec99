/* SPDX-License-Identifier: MIT */
/*
 * FLOPs by module, and of ops in no module.
 *
 * From a module down, an op with a model counts for all below it; others pass
 * on the sum of the ops below. An op with GPU work, without a model and without
 * a modelled op below is listed. The share of the module's time in work below
 * modelled ops shows how much of it the FLOPs explain.
 *
 * A stack holds the open modules and ops. Whether an op has a result is known
 * when it is closed, as some models read kernel names.
 */
#include <stdlib.h>

#include "cmd/tl-modules/modules.h"
#include "model/facts.h"
#include "trace/launcher.h"

/* An open module, or an op below one. */
struct frame {
	uint32_t depth;
	uint32_t module; /* its number, from 1; 0: an op */
	uint32_t name;
	const struct model *model;
	struct op_args args;
	size_t first_extra, first_work, first_known, first_none;
	int64_t start_ns;
	struct flops sum; /* of closed ones below */
	uint32_t forward; /* index in linked, from 1; 0: none */
	bool has_op;      /* an op with GPU work */
	bool has_module;  /* a module below */
	bool in_module;   /* or a module itself */
};

/* A forward op with a linked backward op. */
struct linked {
	uint32_t name;
	struct op_args args;
};

struct gpu_span {
	struct span span;
	struct uid uid;
	uint32_t name;
};

struct flop_counter {
	struct modules *m;
	struct notes notes;
	uint32_t notes_of; /* the source */
	extra_vec extras;
	VEC(struct frame) stack;
	VEC(struct gpu_span) works; /* below the outermost frame */
	struct spans known;         /* of these, below ops with a model */
	struct map linked_of;       /* by uid: index in linked, from 1 */
	VEC(struct linked) linked;
	/* of the source: of ops in no module */
	struct flops outside;
	struct spans outside_known;
	VEC(uint32_t) outside_none;
};

struct flop_counter *
flops_create(struct modules *m)
{
	struct flop_counter *f = xcalloc(1, sizeof *f);

	f->m = m;
	return f;
}

void
flops_destroy(struct flop_counter *f)
{
	if (f == NULL)
		return;
	notes_free(&f->notes);
	vec_free(&f->extras);
	vec_free(&f->stack);
	vec_free(&f->works);
	spans_free(&f->known);
	spans_free(&f->outside_known);
	vec_free(&f->outside_none);
	vec_free(&f->linked);
	map_free(&f->linked_of);
	free(f);
}

void
flops_annotation(
    struct flop_counter *f, const struct event *ev, uint32_t source)
{
	if (f->notes_of != source)
		notes_clear(&f->notes);
	f->notes_of = source;
	notes_add(&f->notes, f->m->models, f->m->sink.dict, ev);
}

/* ---- opening ---- */

static struct frame *
push(struct flop_counter *f, const struct event *ev)
{
	bool in_module = f->stack.n > 0 && f->stack.v[f->stack.n - 1].in_module;
	struct frame *fr = vec_add(&f->stack);

	*fr = (struct frame){
		.depth = ev->depth,
		.name = ev->name,
		.first_extra = f->extras.n,
		.first_work = f->works.n,
		.first_known = f->known.n,
		.first_none = in_module ? f->m->no_model.n : f->outside_none.n,
		.start_ns = ev->ts_ns,
		.in_module = in_module,
	};
	return fr;
}

void
flops_module(struct flop_counter *f, const struct event *ev, uint32_t number)
{
	struct frame *fr = push(f, ev);

	fr->module = number;
	fr->in_module = true;
	fr->first_none = f->m->no_model.n;
}

/* Keeps what models of backward ops may read of the forward op. */
static void
keep_linked(struct flop_counter *f, const struct event *ev)
{
	vec_push(&f->linked,
	    ((struct linked){ ev->name, args_of_event(f->m->sink.dict, ev) }));
	*map_put(&f->linked_of, uid_hash(ev->uid), NULL) = f->linked.n;
}

void
flops_op(struct flop_counter *f, const struct event *ev)
{
	static const struct op_args none = NO_OP_ARGS;
	struct dict *st = f->m->sink.dict;
	const uint64_t *forward = NULL;
	struct frame *fr;

	if (ev->shape->has & HAS_BWD)
		keep_linked(f, ev);
	if (ev->ngpu == 0)
		return;
	fr = push(f, ev);
	if (ev->shape->has & HAS_FWD)
		forward = map_get(&f->linked_of, uid_hash(ev->fwd));
	fr->forward = forward != NULL ? (uint32_t)*forward : 0;
	fr->args = event_has_hlo(ev) ? args_of_event(st, ev) : none;
	if (ev->name != INTERN_NONE)
		fr->model = model_find(f->m->models,
		    dict_get(st,
			model_number(f->m->models, st, ev->name, &fr->args)));
	if (fr->model == NULL)
		return;
	fr->args = args_of_event(st, ev);
	extras_take(&f->extras, st, fr->model, ev);
}

void
flops_work(struct flop_counter *f, const struct event *ev, int64_t end_ns)
{
	if (f->stack.n > 0)
		vec_push(&f->works,
		    ((struct gpu_span){
			{ ev->ts_ns, end_ns }, ev->uid, ev->name }));
}

/* ---- what the model says ---- */

static bool
extra_arg(void *ctx, struct str key, struct str *text)
{
	const struct flop_counter *f = ctx;
	size_t first = f->stack.v[f->stack.n - 1].first_extra;

	return extras_find(f->extras.v + first, f->extras.n - first,
	    f->m->sink.dict, key, text);
}

static int
by_time(const void *x, const void *y)
{
	const struct gpu_span *a = x, *b = y;

	if (a->span.start != b->span.start)
		return a->span.start < b->span.start ? -1 : 1;
	return uid_cmp(a->uid, b->uid);
}

/* The names of all kernels of the top frame, in order of time. */
static struct str *
kernel_names(struct flop_counter *f, const struct frame *fr)
{
	struct gpu_span *v = f->works.v + fr->first_work;
	size_t n = f->works.n - fr->first_work;
	struct str *names = xmalloc(n * sizeof *names);

	qsort(v, n, sizeof *v, by_time);
	for (size_t i = 0; i < n; i++)
		names[i] = dict_get(f->m->sink.dict, v[i].name);
	return names;
}

/* The forward op of the top frame, or NULL. */
static const struct linked *
forward_of(const struct flop_counter *f)
{
	for (size_t i = f->stack.n; i-- > 0;)
		if (f->stack.v[i].forward > 0)
			return &f->linked.v[f->stack.v[i].forward - 1];
	return NULL;
}

static const struct model_result *
result_of(struct flop_counter *f, const struct frame *fr)
{
	const struct dict *st = f->m->sink.dict;
	struct model_op op = model_op_of(st, fr->name, fr->args), forward;
	const struct linked *linked;
	const struct model_result *r;
	struct str *names = NULL;

	op.arg = extra_arg;
	op.ctx = f;
	if ((fr->model->reads & MODEL_READS_FORWARD) &&
	    (linked = forward_of(f)) != NULL) {
		forward = model_op_of(st, linked->name, linked->args);
		op.forward = &forward;
	}
	if (fr->model->reads & MODEL_READS_KERNELS) {
		names = kernel_names(f, fr);
		op.kernels = names;
		op.nkernels = f->works.n - fr->first_work;
	}
	if (fr->model->reads & MODEL_READS_ANNOTATION)
		op.annotation = notes_around(&f->notes, st, fr->start_ns);
	r = model_eval(f->m->models, fr->model, &op, MODEL_FWD);
	free(names);
	return r->status == MODEL_OK ? r : NULL;
}

/* ---- closing ---- */

static void
add(struct flops *to, const struct flops *from)
{
	to->flops += from->flops;
	to->bytes += from->bytes;
	to->nops += from->nops;
}

static void
tell_none(struct flop_counter *f, const struct frame *fr)
{
	if (fr->in_module)
		vec_push(&f->m->no_model, fr->name);
	else
		vec_push(&f->outside_none, fr->name);
}

static void
forget_none(struct flop_counter *f, const struct frame *fr)
{
	if (!fr->in_module)
		f->outside_none.n = fr->first_none;
	else if (!fr->has_module) /* whose names are kept */
		f->m->no_model.n = fr->first_none;
}

/*
 * Whether the model may answer. As in tl-roofline, a model that TraceLens lacks
 * answers only if no op below has a model. An op around modules also has their
 * work, which no model can separate.
 */
static bool
may_answer(const struct frame *fr)
{
	return fr->model != NULL &&
	    !(fr->model->is_extra && fr->sum.nops > 0) &&
	    (fr->in_module || !fr->has_module);
}

static void
close_op(struct flop_counter *f, struct frame *fr)
{
	const struct model_result *r = may_answer(fr) ? result_of(f, fr) : NULL;

	if (r != NULL) {
		fr->sum = (struct flops){
			.flops = r->flops,
			.bytes = isnan(r->bytes) ? 0 : r->bytes,
			.nops = 1,
		};
		f->known.n = fr->first_known;
		forget_none(f, fr);
		for (size_t i = fr->first_work; i < f->works.n; i++)
			vec_push(&f->known, f->works.v[i].span);
	} else if (!fr->has_op) {
		tell_none(f, fr);
	}
	fr->has_op = true;
}

static void
close_module(struct flop_counter *f, const struct frame *fr)
{
	struct flops *to;

	while (f->m->flops.n < fr->module)
		vec_push(&f->m->flops, (struct flops){ 0 });
	to = &f->m->flops.v[fr->module - 1];
	*to = fr->sum;
	to->first_none = fr->first_none;
	to->nnone = f->m->no_model.n - fr->first_none;
	to->known_ns = spans_unite(&f->known, fr->first_known);
}

/* Closes the outermost of the ops in no module. */
static void
close_outside(struct flop_counter *f, const struct frame *fr)
{
	add(&f->outside, &fr->sum);
	for (size_t i = 0; i < f->known.n; i++)
		spans_add(
		    &f->outside_known, f->known.v[i].start, f->known.v[i].end);
}

static void
close_top(struct flop_counter *f)
{
	struct frame fr = f->stack.v[f->stack.n - 1], *up;

	if (fr.module > 0)
		close_module(f, &fr);
	else if (f->works.n > fr.first_work)
		close_op(f, &fr);
	f->extras.n = fr.first_extra;
	if (--f->stack.n == 0) {
		if (!fr.in_module)
			close_outside(f, &fr);
		f->works.n = f->known.n = 0;
		return;
	}
	up = &f->stack.v[f->stack.n - 1];
	if (up->in_module || !fr.in_module)
		add(&up->sum, &fr.sum);
	else /* what is in a module does not count outside */
		f->known.n = fr.first_known;
	up->has_op |= fr.has_op;
	up->has_module |= fr.module > 0 || fr.has_module;
}

void
flops_close(struct flop_counter *f, uint32_t depth)
{
	while (f->stack.n > 0 && f->stack.v[f->stack.n - 1].depth >= depth)
		close_top(f);
}

void
flops_outside(struct flop_counter *f, struct flops *to)
{
	spans_normalise(&f->outside_known);
	*to = f->outside;
	to->known_ns = spans_total(&f->outside_known);
	to->first_none = f->m->no_model.n;
	to->nnone = f->outside_none.n;
	for (size_t i = 0; i < f->outside_none.n; i++)
		vec_push(&f->m->no_model, f->outside_none.v[i]);
	f->outside = (struct flops){ 0 };
	f->outside_known.n = f->outside_none.n = f->linked.n = 0;
	map_free(&f->linked_of);
}
