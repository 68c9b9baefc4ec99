/* SPDX-License-Identifier: MIT */
/*
 * Transformer Engine's linear layers, version 2: an autograd function that
 * launches its matrix product itself. With an input X (rows, in) and weights W
 * (out, in) it computes forward X W', backward the gradients of X from (rows,
 * out) by W, and of W from (out, rows) by X. Each product becomes a pseudo-op,
 * whose operands are those shapes.
 *
 *			weights	input	fp8 flag
 *	_Linear		0	1	4
 *	_LayerNormLinear	3	0	7
 */
#include <stdlib.h>

#include "cmd/tl-graft/graft.h"

struct layer {
	const char *name, *backward;
	const char *forward_mm, *xgrad_mm, *wgrad_mm;
	int weights, input, flag; /* arguments of the forward op */
};

static const struct layer layers[] = {
	{ "_Linear", "_LinearBackward", "_Linear_yfwd_mm",
	    "_LinearBackward_xgrad_mm", "_LinearBackward_wgrad_mm", 0, 1, 4 },
	{ "_LayerNormLinear", "_LayerNormLinearBackward",
	    "_LayerNormLinear_yfwd_mm", "_LayerNormLinearBackward_xgrad_mm",
	    "_LayerNormLinearBackward_wgrad_mm", 3, 0, 7 },
};
#define NLAYERS (sizeof layers / sizeof *layers)
#define GEMMS_MAX 3  /* one more than a layer's two */
#define WRAPPER_UP 5 /* ops from a backward op up to its wrapper */
#define RANK_MAX 8

/* The layer of a name, forward or backward, or NULL. */
static const struct layer *
layer_of(struct str name, bool *is_backward)
{
	for (size_t i = 0; i < NLAYERS; i++) {
		*is_backward = str_eq(name, str_of(layers[i].backward));
		if (*is_backward || str_eq(name, str_of(layers[i].name)))
			return &layers[i];
	}
	return NULL;
}

/* Text i of a list of texts, without its quotes. */
static struct str
text_at(struct str list, int i)
{
	bool in_text = false;
	size_t from = 0;

	for (size_t c = 0; c < list.len; c++) {
		if (in_text && list.p[c] == '\\') {
			c++;
		} else if (list.p[c] == '"') {
			in_text = !in_text;
			if (in_text)
				from = c + 1;
			else if (i-- == 0)
				return (struct str){ list.p + from, c - from };
		}
	}
	return (struct str){ "", 0 };
}

/* The operands of a layer. */
struct operands {
	int64_t rows, in, out;
	struct str x_type, w_type;
};

/* X may have further dimensions in front: rows are their product. */
static bool
read_operands(const struct wood *w, uint32_t forward, const struct layer *l,
    struct operands *o)
{
	struct str dims, types, concrete;
	struct op_args args;
	struct event ev;
	int rank = 0;

	wood_event(w, forward, &ev);
	args = args_of_event(w->st, &ev);
	dims = strings_get(w->st, args.dims);
	types = strings_get(w->st, args.types);
	concrete = strings_get(w->st, args.concrete);
	while (rank < RANK_MAX && pseudo_element(dims, l->input, rank, -1) >= 0)
		rank++;
	o->rows = 1;
	for (int i = 0; i < rank - 1; i++)
		if (__builtin_mul_overflow(o->rows,
			pseudo_element(dims, l->input, i, 0), &o->rows))
			return false;
	o->in = pseudo_element(dims, l->input, rank - 1, -1);
	o->out = pseudo_element(dims, l->weights, 0, -1);
	if (rank < 2 || o->out < 0 ||
	    pseudo_element(dims, l->weights, 1, -1) != o->in)
		return false;
	o->x_type = text_at(types, l->input);
	o->w_type = text_at(types, l->weights);
	if (str_eq(text_at(concrete, l->flag), STR("True")))
		o->x_type = o->w_type = STR("fp8");
	return true;
}

/* ---- kernels ---- */

static ptrdiff_t
find_from(struct str s, ptrdiff_t at, const char *part)
{
	ptrdiff_t found;

	if (at < 0)
		return -1;
	found = str_find(
	    (struct str){ s.p + at, s.len - (size_t)at }, str_of(part), false);
	return found < 0 ? -1 : found + at + (ptrdiff_t)strlen(part);
}

static bool
is_gemm(struct str kernel)
{
	if (str_starts(kernel, STR("nvjet")) ||
	    str_find(kernel, STR("RR_GEMM_"), false) >= 0)
		return true;
	return find_from(kernel,
		   find_from(kernel, find_from(kernel, 0, "C"), "_A"),
		   "_B") >= 0;
}

/* Those below an op in the order of their launches; at most GEMMS_MAX. */
static uint32_t
gemms_below(const struct wood *w, uint32_t op, uint32_t found[GEMMS_MAX])
{
	uint32_t count = 0;

	for (uint32_t i = op; i != NONE && count < GEMMS_MAX;
	     i = wood_next(w, i, op))
		if (w->nodes.v[i].kind == KIND_KERNEL &&
		    is_gemm(wood_name(w, i)))
			found[count++] = i;
	return count;
}

/* ---- putting in ---- */

static void
put_json(struct wood *w, uint32_t i, const char *key, struct buf *b)
{
	struct value v = { .type = VAL_JSON,
		.id = intern_put(w->st->text, buf_str(b)) };

	wood_arg(w, i, key, ROLE_NONE, &v);
	b->len = 0;
}

/* [a0, a1] by [b0, b1] */
static void
put_product(struct pseudos *p, const char *name, uint32_t gpu, uint32_t op,
    const int64_t shape[4], struct str a_type, struct str b_type)
{
	static const char *const keys[] = { "External id", "Pseudo op",
		"Sequence number", NULL };
	uint32_t made = pseudo_isolate(p, name, gpu, op);
	struct buf b = { 0 };

	if (made == NONE)
		return;
	wood_keep_args(p->w, made, keys);
	buf_printf(&b, "[[%" PRId64 ",%" PRId64 "],[%" PRId64 ",%" PRId64 "]]",
	    shape[0], shape[1], shape[2], shape[3]);
	put_json(p->w, made, "Input Dims", &b);
	buf_printf(&b, "[\"%.*s\",\"%.*s\"]", (int)a_type.len, a_type.p,
	    (int)b_type.len, b_type.p);
	put_json(p->w, made, "Input type", &b);
	buf_free(&b);
}

static void
put_forward(struct pseudos *p, const struct layer *l, uint32_t op)
{
	uint32_t gemms[GEMMS_MAX];
	struct operands o;

	if (gemms_below(p->w, op, gemms) == 1 && read_operands(p->w, op, l, &o))
		put_product(p, l->forward_mm, gemms[0], op,
		    (int64_t[]){ o.rows, o.in, o.in, o.out }, o.x_type,
		    o.w_type);
}

static void
put_backward(
    struct pseudos *p, const struct layer *l, uint32_t op, uint32_t forward)
{
	uint32_t gemms[GEMMS_MAX];
	struct operands o;

	if (forward == NONE || gemms_below(p->w, op, gemms) != 2 ||
	    !read_operands(p->w, forward, l, &o))
		return;
	put_product(p, l->xgrad_mm, gemms[0], op,
	    (int64_t[]){ o.rows, o.out, o.out, o.in }, o.x_type, o.w_type);
	put_product(p, l->wgrad_mm, gemms[1], op,
	    (int64_t[]){ o.out, o.rows, o.rows, o.in }, o.x_type, o.x_type);
}

/* ---- which forward op a backward op belongs to ---- */

/* A layer's op. */
struct found {
	const struct layer *layer;
	uint32_t op;
	uint32_t forward; /* of a backward op */
	bool is_backward;
};

typedef VEC(struct found) found_vec;

/* The forward op that the wrapper of a backward op is linked to. */
static uint32_t
linked(const struct wood *w, const struct map *by_uid, const struct found *f)
{
	uint32_t i = w->nodes.v[f->op].up;

	for (int up = 0; i != NONE && up < WRAPPER_UP; i = w->nodes.v[i].up) {
		const struct node *n = &w->nodes.v[i];
		const uint64_t *at;

		if (n->kind != KIND_OP)
			continue;
		up++;
		if (n->links == 0 ||
		    (w->st->shapes.v[n->shape]->has & HAS_FWD) == 0)
			continue;
		at = map_get(by_uid, w->links.v[n->links - 1].fwd.id);
		if (at == NULL ||
		    !str_eq(
			wood_name(w, (uint32_t)*at), str_of(f->layer->name)))
			return NONE;
		return (uint32_t)*at;
	}
	return NONE;
}

static uint32_t
checkpoint_above(const struct wood *w, uint32_t i)
{
	while (i != NONE &&
	    !str_eq(wood_name(w, i), STR("CheckpointFunctionBackward")))
		i = w->nodes.v[i].up;
	return i;
}

/*
 * Below a checkpoint's backward its layers are computed again and then run
 * backward, the last one first. Links between them may be missing.
 */
static void
pair_checkpoint(const struct wood *w, found_vec *all, size_t first, size_t end)
{
	uint32_t top = checkpoint_above(w, all->v[first].op);
	size_t nforward = 0, nbackward = 0, last = first;

	for (size_t i = first; i < end; i++)
		if (all->v[i].is_backward)
			nbackward++;
		else
			nforward++;
	if (top == NONE || nforward != nbackward)
		return;
	for (size_t i = end; i-- > first;) {
		if (all->v[i].is_backward)
			continue;
		while (!all->v[last].is_backward)
			last++;
		all->v[last++].forward = all->v[i].op;
	}
}

static void
find_layers(const struct wood *w, found_vec *all, bool *is_first_version)
{
	for (uint32_t r = w->first_root; r != NONE; r = w->nodes.v[r].next)
		for (uint32_t i = r; i != NONE; i = wood_next(w, i, r)) {
			struct found f = { .op = i, .forward = NONE };

			if (w->nodes.v[i].kind != KIND_OP)
				continue;
			f.layer = layer_of(wood_name(w, i), &f.is_backward);
			if (f.layer != NULL)
				vec_push(all, f);
			*is_first_version |=
			    str_eq(wood_name(w, i), STR("tex_ts::te_gemm_ts"));
		}
}

/* The first version has ops of its own for its products. */
void
pseudo_linears(struct pseudos *p)
{
	struct wood *w = p->w;
	bool is_first_version = false;
	struct map by_uid = { 0 };
	found_vec all = { 0 };

	find_layers(w, &all, &is_first_version);
	for (size_t i = 0; i < all.n; i++)
		if (!all.v[i].is_backward)
			*map_put(&by_uid, w->nodes.v[all.v[i].op].id, NULL) =
			    all.v[i].op;
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].is_backward)
			all.v[i].forward = linked(w, &by_uid, &all.v[i]);
	for (size_t i = 0, end; i < all.n; i = end) {
		uint32_t top = checkpoint_above(w, all.v[i].op);

		for (end = i + 1;
		     end < all.n && checkpoint_above(w, all.v[end].op) == top;)
			end++;
		pair_checkpoint(w, &all, i, end);
	}
	for (size_t i = 0; i < all.n && !is_first_version; i++) {
		if (all.v[i].is_backward)
			put_backward(
			    p, all.v[i].layer, all.v[i].op, all.v[i].forward);
		else
			put_forward(p, all.v[i].layer, all.v[i].op);
	}
	map_free(&by_uid);
	vec_free(&all);
}
