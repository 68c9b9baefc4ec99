/* SPDX-License-Identifier: MIT */
/*
 * What a GPU worked on: spells of work with op and shape. GPU work with one
 * external id belongs to one call of an op; without an op it counts by name and
 * grid. Of concurrent work the first to start has the time, so spells add up to
 * the time of work.
 */
#include "cmd/tl-collective/reduce.h"

#include <stdlib.h>

#include "json/json.h"

/* an op with more kernels holds other work (a graph), which counts by name */
#define OP_KERNELS 16

/* An op; its "Input Dims", or INTERN_NONE. */
struct op {
	struct key ext;
	uint32_t name, shape;
};

/* GPU work of one external id, and its op, if any. */
struct call {
	uint32_t op, shape;
	uint32_t nkernels;
};

struct ran {
	int64_t start_ns, end_ns;
	uint32_t name, grid;
	uint32_t call; /* index of its call, or CALL_NONE */
	uint32_t no;   /* order of arrival */
};
#define CALL_NONE UINT32_MAX

struct kernels {
	const struct dict *st;
	VEC(struct op) ops;
	VEC(struct call) calls;
	struct map call_of; /* by external id */
	VEC(struct ran) ran;
	/* of ops and of kernels, to the number of a name */
	struct map name_of[2];
};

struct kernels *
kernels_new(void)
{
	return xcalloc(1, sizeof(struct kernels));
}

void
kernels_clear(struct kernels *k, const struct dict *st)
{
	k->st = st;
	k->ops.n = k->calls.n = k->ran.n = 0;
	map_free(&k->call_of);
	map_free(&k->name_of[0]);
	map_free(&k->name_of[1]);
}

static uint64_t
ext_bits(struct key ext)
{
	return (uint64_t)ext.n << 2 | ext.type;
}

void
kernels_op(struct kernels *k, const struct event *ev)
{
	struct entries it = entries_of(k->st, ev);
	unsigned dims = ev->shape->lists[LIST_DIMS];

	if ((ev->shape->has & HAS_DUR) == 0 || ev->name == INTERN_NONE ||
	    ev->ext.type == KEY_NONE)
		return;
	for (unsigned i = 0; i < dims; i++)
		if (!entries_next(&it))
			return;
	vec_push(&k->ops,
	    ((struct op){ ev->ext, ev->name,
		dims > 0 && it.val.type == VAL_JSON ? it.val.id
						    : INTERN_NONE }));
}

void
kernels_add(
    struct kernels *k, const struct event *ev, int64_t end_ns, uint32_t grid)
{
	struct ran ran = { ev->ts_ns, end_ns, ev->name, grid, CALL_NONE,
		(uint32_t)k->ran.n };
	uint64_t *slot;
	bool is_new;

	if (ev->ext.type != KEY_NONE) {
		slot = map_put(&k->call_of, ext_bits(ev->ext), &is_new);
		if (is_new) {
			*slot = k->calls.n;
			vec_push(
			    &k->calls, ((struct call){ .op = INTERN_NONE }));
		}
		ran.call = (uint32_t)*slot;
		k->calls.v[*slot].nkernels++;
	}
	vec_push(&k->ran, ran);
}

/* The first of several ops with one external id counts. */
static void
find_ops(struct kernels *k)
{
	for (size_t i = 0; i < k->ops.n; i++) {
		const struct op *op = &k->ops.v[i];
		const uint64_t *at = map_get(&k->call_of, ext_bits(op->ext));

		if (at == NULL || k->calls.v[*at].op != INTERN_NONE)
			continue;
		k->calls.v[*at].op = op->name;
		k->calls.v[*at].shape = op->shape;
	}
}

/* Number of an op with its shape, or of a kernel with its grid. */
static uint32_t
name_of(struct kernels *k, const struct ran *ran, struct intern *names,
    struct buf *b)
{
	const struct call *call =
	    ran->call != CALL_NONE ? &k->calls.v[ran->call] : NULL;
	bool is_op = call != NULL && call->op != INTERN_NONE &&
	    call->nkernels <= OP_KERNELS;
	uint32_t name = is_op ? call->op : ran->name;
	uint32_t shape = is_op ? call->shape : ran->grid;
	bool is_new;
	uint64_t *slot =
	    map_put(&k->name_of[!is_op], (uint64_t)name << 32 | shape, &is_new);

	if (is_new)
		*slot = spent_name(names, b, is_op ? SPENT_OP : SPENT_KERNEL,
		    dict_get(k->st, name), dict_get(k->st, shape));
	return (uint32_t)*slot;
}

static int
by_start(const void *pa, const void *pb)
{
	const struct ran *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->no < b->no ? -1 : a->no > b->no;
}

void
kernels_put(struct kernels *k, struct intern *names, spell_vec *out)
{
	struct buf b = { 0 };

	find_ops(k);
	stable_sort(k->ran.v, k->ran.n, sizeof *k->ran.v, by_start);
	for (size_t i = 0; i < k->ran.n; i++) {
		const struct ran *ran = &k->ran.v[i];
		int64_t from = ran->start_ns;

		if (out->n > 0 && out->v[out->n - 1].end_ns > from)
			from = out->v[out->n - 1].end_ns;
		if (from < ran->end_ns)
			vec_push(out,
			    ((struct spell){ from, ran->end_ns, 0,
				name_of(k, ran, names, &b) }));
	}
	buf_free(&b);
}
