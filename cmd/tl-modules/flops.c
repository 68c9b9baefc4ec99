/* SPDX-License-Identifier: MIT */
/*
 * FLOPs by module. From a module down: an op with a model stands for all that
 * is below it, any other hands on what its ops have; one with GPU work, no
 * model and no such op below is told by name. Work below an op with a model is
 * what the FLOPs are about, its share of the module's time says how much of it
 * they explain.
 *
 * A stack of the open modules and of the ops below them; whether an op's model
 * answers is known when it is closed, as some read the names of its kernels.
 */
#include <stdlib.h>

#include "cmd/tl-modules/modules.h"
#include "model/facts.h"

/* An open module, or an op below one. */
struct frame {
	uint32_t depth;
	uint32_t module; /* its number, from 1; 0: an op */
	uint32_t name;
	const struct model *model;
	struct op_args args;
	size_t first_extra, first_work, first_known, first_none;
	int64_t start_ns, end_ns;
	struct flops sum; /* of what was closed below */
	bool has_op;      /* with GPU work below */
	bool has_module;  /* below */
};

struct gpu_span {
	struct span span;
	struct uid uid;
	uint32_t name;
};

struct flop_counter {
	struct modules *m;
	struct models *models;
	struct notes notes;
	extra_vec extras;
	VEC(struct frame) stack;
	VEC(struct gpu_span) works; /* below the outermost frame */
	struct spans known;         /* below ops with a model, likewise */
};

struct flop_counter *
flops_create(struct modules *m, struct models *models)
{
	struct flop_counter *f = xcalloc(1, sizeof *f);

	f->m = m;
	f->models = models;
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
	free(f);
}

void
flops_annotation(struct flop_counter *f, const struct event *ev)
{
	notes_add(&f->notes, f->models, f->m->strings, ev);
}

void
flops_prologue(struct flop_counter *f)
{
	notes_clear(&f->notes);
}

/* ---- opening ---- */

static struct frame *
push(struct flop_counter *f, const struct event *ev)
{
	struct frame *fr = vec_add(&f->stack);

	*fr = (struct frame){
		.depth = ev->depth,
		.name = ev->name,
		.first_extra = f->extras.n,
		.first_work = f->works.n,
		.first_known = f->known.n,
		.first_none = f->m->no_model.n,
		.start_ns = ev->ts_ns,
	};
	return fr;
}

void
flops_module(struct flop_counter *f, const struct event *ev, uint32_t number)
{
	push(f, ev)->module = number;
}

/* Outside of modules no one asks. */
void
flops_op(struct flop_counter *f, const struct event *ev)
{
	struct frame *fr;

	if (f->stack.n == 0 || ev->ngpu == 0)
		return;
	fr = push(f, ev);
	if (!num_add(ev->ts_ns, ev->dur_ns, &fr->end_ns))
		fr->end_ns = INT64_MAX;
	if (ev->name != INTERN_NONE)
		fr->model =
		    model_find(f->models, strings_get(f->m->strings, ev->name));
	if (fr->model == NULL)
		return;
	fr->args = args_of_event(f->m->strings, ev);
	extras_take(&f->extras, f->m->strings, fr->model, ev);
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

	return extras_find(
	    f->extras.v + first, f->extras.n - first, f->m->strings, key, text);
}

static int
by_time(const void *x, const void *y)
{
	const struct gpu_span *a = x, *b = y;

	if (a->span.start != b->span.start)
		return a->span.start < b->span.start ? -1 : 1;
	return uid_cmp(a->uid, b->uid);
}

/* The names of all kernels of the frame on top, in the order of time. */
static struct str *
kernel_names(struct flop_counter *f, const struct frame *fr)
{
	struct gpu_span *v = f->works.v + fr->first_work;
	size_t n = f->works.n - fr->first_work;
	struct str *names = xmalloc(n * sizeof *names);

	qsort(v, n, sizeof *v, by_time);
	for (size_t i = 0; i < n; i++)
		names[i] = strings_get(f->m->strings, v[i].name);
	return names;
}

static const struct model_result *
result_of(struct flop_counter *f, const struct frame *fr)
{
	const struct strings *st = f->m->strings;
	struct model_op op = {
		.name = strings_get(st, fr->name),
		.dims = strings_get(st, fr->args.dims),
		.types = strings_get(st, fr->args.types),
		.strides = strings_get(st, fr->args.strides),
		.concrete = strings_get(st, fr->args.concrete),
		.arg = extra_arg,
		.ctx = f,
	};
	const struct model_result *r;
	struct str *names = NULL;

	if (fr->model->reads & MODEL_READS_KERNELS) {
		names = kernel_names(f, fr);
		op.kernels = names;
		op.nkernels = f->works.n - fr->first_work;
	}
	if (fr->model->reads & MODEL_READS_ANNOTATION)
		op.annotation =
		    notes_around(&f->notes, st, fr->start_ns, fr->end_ns);
	r = model_eval(f->models, fr->model, &op, MODEL_FWD);
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

/*
 * A model that the reference lacks stands for an op only where none below it
 * has one, as in tl-roofline.
 */
static void
close_op(struct flop_counter *f, struct frame *fr)
{
	const struct model_result *r = NULL;

	if (fr->model != NULL && !(fr->model->is_extra && fr->sum.nops > 0))
		r = result_of(f, fr);
	if (r != NULL) {
		fr->sum = (struct flops){
			.flops = r->flops,
			.bytes = isnan(r->bytes) ? 0 : r->bytes,
			.nops = 1,
		};
		f->known.n = fr->first_known;
		if (!fr->has_module) /* whose names stay */
			f->m->no_model.n = fr->first_none;
		for (size_t i = fr->first_work; i < f->works.n; i++)
			vec_push(&f->known, f->works.v[i].span);
	} else if (!fr->has_op) {
		vec_push(&f->m->no_model, fr->name);
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

static void
close_top(struct flop_counter *f)
{
	struct frame fr = f->stack.v[f->stack.n - 1];

	if (fr.module > 0)
		close_module(f, &fr);
	else if (f->works.n > fr.first_work)
		close_op(f, &fr);
	f->extras.n = fr.first_extra;
	if (--f->stack.n == 0) {
		f->works.n = f->known.n = 0;
		return;
	}
	add(&f->stack.v[f->stack.n - 1].sum, &fr.sum);
	f->stack.v[f->stack.n - 1].has_op |= fr.has_op;
	f->stack.v[f->stack.n - 1].has_module |= fr.module > 0 || fr.has_module;
}

void
flops_close(struct flop_counter *f, uint32_t depth)
{
	while (f->stack.n > 0 && f->stack.v[f->stack.n - 1].depth >= depth)
		close_top(f);
}
