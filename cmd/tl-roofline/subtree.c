/* SPDX-License-Identifier: MIT */
/*
 * Facts about the nodes below a root: which have a model, own GPU work, or are
 * the only backward op of a forward op.
 */
#include <stdlib.h>

#include "cmd/tl-roofline/roof.h"

#define WRAPPER_UP 5 /* levels from a backward op up to its wrapper */

uint64_t
uid_key(uint32_t source, struct uid u)
{
	return hash_more(hash_u64(u.id), (uint64_t)source << 32 | u.inst);
}

const struct model *
subtree_model(struct roof_state *g, uint32_t name)
{
	static const struct model not_seen;
	const struct model **m;

	if (name == INTERN_NONE)
		return NULL;
	while (g->by_name.n <= name)
		vec_push(&g->by_name, &not_seen);
	m = &g->by_name.v[name];
	if (*m == &not_seen)
		*m = model_find(g->models, dict_get(g->sink.dict, name));
	return *m;
}

uint32_t
subtree_op(const struct roof_state *g, uint32_t node)
{
	while (node != NO_INDEX && g->nodes.v[node].kind != KIND_OP)
		node = g->nodes.v[node].up;
	return node;
}

bool
work_before(const struct work *a, const struct work *b)
{
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns;
	return uid_cmp(a->uid, b->uid) < 0;
}

/* ---- order ---- */

static const struct work *sorting; /* qsort() passes no context */

static int
by_time(const void *x, const void *y)
{
	const struct work *a = &sorting[*(const uint32_t *)x];
	const struct work *b = &sorting[*(const uint32_t *)y];

	if (work_before(a, b))
		return -1;
	return work_before(b, a);
}

void
works_sort(const struct roof_state *g, uint32_t *list, size_t n)
{
	sorting = g->works.v;
	if (n > 1)
		qsort(list, n, sizeof *list, by_time);
}

/* ---- evaluating ---- */

struct extra_of {
	const struct roof_state *g;
	const struct node *n;
};

static bool
extra_arg(void *ctx, struct str key, struct str *text)
{
	const struct extra_of *e = ctx;

	if (extras_find(e->g->extras.v + e->n->extra, e->n->nextra,
		e->g->sink.dict, key, text))
		return true;
	return e->g->inductor != NULL && str_eq(key, STR("inductor_source")) &&
	    inductor_source(
		e->g->inductor, dict_get(e->g->sink.dict, e->n->name), text);
}

/* The names of the kernels below a node, in order of time. */
static struct str *
kernel_names(const struct roof_state *g, const struct node *n)
{
	uint32_t *order = xmalloc((n->nwork + 1) * sizeof *order);
	struct str *names = xmalloc((n->nwork + 1) * sizeof *names);

	for (uint32_t i = 0; i < n->nwork; i++)
		order[i] = n->work + i;
	works_sort(g, order, n->nwork);
	for (uint32_t i = 0; i < n->nwork; i++)
		names[i] = dict_get(g->sink.dict, g->works.v[order[i]].name);
	free(order);
	return names;
}

uint32_t
subtree_forward(const struct roof_state *g, uint32_t i, uint32_t *wrapper)
{
	int up = 0;

	for (; i != NO_INDEX; i = g->nodes.v[i].up) {
		const struct node *n = &g->nodes.v[i];
		const uint64_t *at;

		if (n->kind != KIND_OP)
			continue;
		if (n->fwd.inst != UID_NONE) {
			at = map_get(
			    &g->forward_of, uid_key(g->sink.source, n->fwd));
			*wrapper = i;
			return at != NULL ? (uint32_t)*at : NO_INDEX;
		}
		if (++up > WRAPPER_UP)
			break;
	}
	return NO_INDEX;
}

/* Counts an op with GPU work on which a model failed. */
static void
count_failed(struct roof_state *g, const struct model_result *r, uint32_t name,
    struct op_args args)
{
	bool no_dims = args.dims == INTERN_NONE;
	struct failures *f = r->model->is_builtin && (r->lacks || no_dims)
	    ? &g->lacking
	    : &g->failed;

	g->nown_failed += r->is_own;
	if (f->n++ > 0)
		return;
	f->name = dict_get(g->sink.dict, name);
	f->reason = no_dims ? STR("the trace has no shapes (record_shapes)")
			    : r->reason;
}

/* Counts an op with GPU work that has FLOPs, but neither bytes nor a roof. */
static void
count_untyped(struct roof_state *g, const struct node *n)
{
	if (g->untyped.n++ == 0)
		g->untyped.name = dict_get(g->sink.dict, n->name);
}

/* Whether the result has to wait for the backward op. */
static bool
awaits_backward(const struct node *n)
{
	return (n->model->reads & MODEL_READS_BACKWARD) != 0 &&
	    n->bwd.inst != UID_NONE;
}

/* Evaluates the model of a node's op. */
static const struct model_result *
subtree_eval(struct roof_state *g, uint32_t node, enum model_way way)
{
	struct node *n = &g->nodes.v[node];
	const struct model *m = n->model;
	struct extra_of ctx = { g, n };
	struct model_op op = model_op_of(g->sink.dict, n->name, n->args);
	struct model_op forward;
	const struct model_result *r;
	struct str *names = NULL;
	uint32_t f, wrapper;
	static const struct model_result later = { .status = MODEL_SKIPPED };

	if (awaits_backward(n))
		return &later;
	op.arg = extra_arg;
	op.ctx = &ctx;
	if (m->reads & MODEL_READS_KERNELS) {
		names = kernel_names(g, n);
		op.kernels = names;
		op.nkernels = n->nwork;
	}
	if (m->reads & MODEL_READS_ANNOTATION)
		op.annotation = notes_around(&g->notes, g->sink.dict, n->ts_ns);
	if ((m->reads & MODEL_READS_FORWARD) &&
	    (f = subtree_forward(g, node, &wrapper)) != NO_INDEX) {
		forward = model_op_of(
		    g->sink.dict, g->forwards.v[f].name, g->forwards.v[f].args);
		op.forward = &forward;
	}
	r = model_eval(g->models, m, &op, way);
	free(names);
	if (r->status == MODEL_FAILED && n->nwork > 0)
		count_failed(g, r, n->name, n->args);
	else if (r->status == MODEL_OK && way == MODEL_FWD && n->nwork > 0 &&
	    types_lack(&n->args) && !(r->bytes >= 0))
		count_untyped(g, n);
	return r;
}

const struct model_result *
subtree_eval_whole(struct roof_state *g, uint32_t forward)
{
	struct forward *f = &g->forwards.v[forward];
	struct model_op op = model_op_of(g->sink.dict, f->name, f->args);
	struct model_op back =
	    model_op_of(g->sink.dict, f->back_name, f->back_args);

	if (f->whole != NULL)
		return f->whole;
	if (f->back_name != INTERN_NONE)
		op.backward = &back;
	f->whole =
	    model_eval(g->models, subtree_model(g, f->name), &op, MODEL_FWD);
	if (f->whole->status == MODEL_FAILED)
		count_failed(g, f->whole, f->name, f->args);
	return f->whole;
}

/* ---- what is above each GPU event ---- */

static void
own_work(struct roof_state *g, uint32_t owner, uint32_t w)
{
	struct node *n = &g->nodes.v[owner];

	if (g->works.v[w].is_comm)
		return;
	if (n->first_own == NO_INDEX ||
	    work_before(&g->works.v[w], &g->works.v[n->first_own]))
		n->first_own = w;
}

/* The nearest op that owns its launches, else the launch. */
static uint32_t
owner_of(const struct roof_state *g, uint32_t launch)
{
	for (uint32_t i = launch; i != NO_INDEX; i = g->nodes.v[i].up)
		if (g->nodes.v[i].kind == KIND_OP &&
		    g->nodes.v[i].name != g->execute)
			return i;
	return launch;
}

/*
 * Whether the op owns all GPU work below it. Of models that TraceLens
 * lacks, only those of ops with no model below count.
 */
static bool
is_owner(const struct node *n)
{
	if (n->model->is_alone)
		return n->res->status == MODEL_OK && !n->model_below &&
		    !n->extra_below;
	return !n->model->is_extra && n->res->status != MODEL_NONE;
}

void
subtree_judge(struct roof_state *g)
{
	for (uint32_t w = g->first_work; w < g->works.n; w++) {
		uint32_t at = g->above.v[w - g->first_work];
		uint32_t op = subtree_op(g, at);

		if (at == NO_INDEX)
			continue;
		if (op != NO_INDEX) {
			g->works.v[w].op = g->nodes.v[op].number;
			g->nodes.v[op].is_leaf = true;
		}
		own_work(g, owner_of(g, at), w);
	}
	for (uint32_t i = (uint32_t)g->nodes.n; i-- > 0;) {
		struct node *n = &g->nodes.v[i];

		if (n->model != NULL) {
			types_fill(g, n);
			n->res = subtree_eval(g, i, MODEL_FWD);
			n->is_model = n->nwork > 0 && is_owner(n);
		}
		if (n->up == NO_INDEX)
			continue;
		if (n->is_model || n->model_below)
			g->nodes.v[n->up].model_below = true;
		if ((n->is_model && (n->flags & EV_SYNTHETIC) != 0) ||
		    n->parts_below)
			g->nodes.v[n->up].parts_below = true;
		if (n->extra_below ||
		    (n->nwork > 0 && n->res != NULL &&
			n->res->status != MODEL_NONE))
			g->nodes.v[n->up].extra_below = true;
	}
}

/* ---- forward and backward ---- */

static void
keep_forward(struct roof_state *g, uint32_t i)
{
	struct node *n = &g->nodes.v[i];
	struct forward *f;
	bool is_new;
	uint64_t *at =
	    map_put(&g->forward_of, uid_key(g->sink.source, n->uid), &is_new);

	if (!is_new)
		return;
	*at = g->forwards.n;
	f = vec_add(&g->forwards);
	*f = (struct forward){ .name = n->name,
		.category = INTERN_NONE,
		.back_name = INTERN_NONE,
		.back_args = NO_OP_ARGS,
		.table = TABLE_NONE,
		.stood_for = INTERN_NONE,
		.args = n->args,
		.first_back = g->backs.n };
	for (uint32_t k = i; k < n->end; k++)
		if (g->nodes.v[k].bwd.inst != UID_NONE)
			vec_push(&g->backs, g->nodes.v[k].bwd);
	f->nback = g->backs.n - f->first_back;
	if (n->model == NULL || !n->model->has_backward ||
	    (n->model->is_extra && n->model->backward_category.len == 0))
		return;
	f->res = subtree_eval(g, i, MODEL_BWD);
	f = &g->forwards
		 .v[*map_get(&g->forward_of, uid_key(g->sink.source, n->uid))];
	if (n->model->backward_category.len > 0)
		f->category =
		    intern_put(g->sink.dict->text, n->model->backward_category);
}

/* Keeps the arguments of the first backward op, for models that read them. */
static void
keep_backward(struct roof_state *g, uint32_t wrapper)
{
	const struct node *w = &g->nodes.v[wrapper];
	const uint64_t *at =
	    map_get(&g->forward_of, uid_key(g->sink.source, w->fwd));
	struct forward *f = at != NULL ? &g->forwards.v[*at] : NULL;
	const struct model *m = f != NULL ? subtree_model(g, f->name) : NULL;

	if (m == NULL || (m->reads & MODEL_READS_BACKWARD) == 0 ||
	    f->back_name != INTERN_NONE)
		return;
	for (uint32_t i = wrapper + 1; i < w->end; i++) {
		const struct node *n = &g->nodes.v[i];

		if (n->kind != KIND_OP || n->args.dims == INTERN_NONE)
			continue;
		f->back_name = n->name;
		f->back_args = n->args;
		return;
	}
}

void
subtree_keep(struct roof_state *g)
{
	for (uint32_t i = 0; i < g->nodes.n; i++) {
		const struct node *n = &g->nodes.v[i];

		if (n->fwd.inst != UID_NONE) {
			*map_put(&g->range_of, uid_key(g->sink.source, n->uid),
			    NULL) = g->ranges.n;
			vec_push(
			    &g->ranges, ((struct range){ n->work, n->nwork }));
			keep_backward(g, i);
		}
		if (n->bwd.inst != UID_NONE && n->kind == KIND_OP)
			keep_forward(g, i);
	}
}

/* Counts ops below a wrapper that have its name, and GPU work. */
static int64_t
count_main(struct roof_state *g, uint32_t wrapper)
{
	struct node *w = &g->nodes.v[wrapper];
	struct str name = dict_get(g->sink.dict, w->name);
	ptrdiff_t at = str_find(name, STR(": "), false);

	if (w->nmain >= 0)
		return w->nmain;
	w->nmain = 0;
	if (at < 0)
		return 0;
	name = (struct str){ name.p + at + 2, name.len - (size_t)at - 2 };
	for (uint32_t i = wrapper + 1; i < w->end; i++) {
		const struct node *n = &g->nodes.v[i];

		if (n->kind == KIND_OP && n->nwork > 0 &&
		    str_eq(dict_get(g->sink.dict, n->name), name))
			w->nmain++;
	}
	return w->nmain;
}

uint32_t
subtree_sole(struct roof_state *g, uint32_t node)
{
	uint32_t wrapper = NO_INDEX, f;

	f = subtree_forward(g, g->nodes.v[node].up, &wrapper);
	if (f == NO_INDEX || g->forwards.v[f].category == INTERN_NONE ||
	    g->forwards.v[f].res == NULL ||
	    g->forwards.v[f].res->status != MODEL_OK ||
	    count_main(g, wrapper) != 1)
		return NO_INDEX;
	return f;
}
