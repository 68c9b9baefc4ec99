/* SPDX-License-Identifier: MIT */
/*
 * In which ops and shapes a source computed longest, for the comparison of a
 * slow rank with the others. Kernels with the same external id are of one call
 * of an op; without an op they count by name and grid.
 */
#include "cmd/tl-collective/collective.h"

#include <stdlib.h>

#include "json/json.h"

#define KERNELS_KEPT 48 /* of a source, by their total time */
/* An op of more kernels holds other work (a graph): these count by name. */
#define OP_KERNELS 16

/* An op; its "Input Dims" or INTERN_NONE. */
struct op {
	struct key ext;
	uint32_t name, shape;
};

/* The kernels of one external id, and of which op they are, if of any. */
struct call {
	uint32_t op, shape;
	uint32_t nkernels;
	bool is_counted;
};

/* One kernel that is no collective. */
struct ran {
	int64_t dur_ns;
	uint32_t name, grid;
	uint32_t call; /* or CALL_NONE */
};
#define CALL_NONE UINT32_MAX

/* What ran: all calls of an op with a shape, or a kernel with its grid. */
struct total {
	const struct dict *st;
	/* op or INTERN_NONE, its shape or the kernel's, the longest kernel */
	uint32_t texts[3];
	uint64_t count;
	int64_t sum_ns, longest_ns;
};

struct kernels {
	const struct dict *st;
	VEC(struct op) ops;
	VEC(struct call) calls;
	struct map call_of; /* by external id */
	VEC(struct ran) ran;
	VEC(struct total) totals;
	struct map total_of[2]; /* of ops, of kernels */
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
	k->ops.n = k->calls.n = k->ran.n = k->totals.n = 0;
	map_free(&k->call_of);
	map_free(&k->total_of[0]);
	map_free(&k->total_of[1]);
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
kernels_add(struct kernels *k, const struct event *ev, uint32_t grid)
{
	struct ran ran = { ev->dur_ns, ev->name, grid, CALL_NONE };
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

/* Of several ops with an external id it is the first. */
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

static struct total *
total_of(struct kernels *k, bool is_op, uint32_t name, uint32_t shape)
{
	bool is_new;
	uint64_t *slot = map_put(
	    &k->total_of[!is_op], (uint64_t)name << 32 | shape, &is_new);

	if (is_new) {
		*slot = k->totals.n;
		vec_push(&k->totals,
		    ((struct total){ .st = k->st,
			.texts = {
			    is_op ? name : INTERN_NONE, shape, name } }));
	}
	return &k->totals.v[*slot];
}

static void
add_kernel(struct kernels *k, const struct ran *ran)
{
	struct call *call =
	    ran->call != CALL_NONE ? &k->calls.v[ran->call] : NULL;
	bool is_op = call != NULL && call->op != INTERN_NONE &&
	    call->nkernels <= OP_KERNELS;
	struct total *t = is_op ? total_of(k, true, call->op, call->shape)
				: total_of(k, false, ran->name, ran->grid);

	t->count += !is_op || !call->is_counted;
	if (is_op)
		call->is_counted = true;
	t->sum_ns = num_add_max(t->sum_ns, ran->dur_ns);
	if (ran->dur_ns > t->longest_ns) {
		t->longest_ns = ran->dur_ns;
		t->texts[2] = ran->name;
	}
}

/* Of equal ones the same in all sources: by name. */
static int
by_sum(const void *pa, const void *pb)
{
	const struct total *a = pa, *b = pb;
	int cmp = (a->sum_ns < b->sum_ns) - (a->sum_ns > b->sum_ns);

	for (size_t i = 0; i < 3 && cmp == 0; i++)
		cmp = str_cmp(
		    dict_get(a->st, a->texts[i]), dict_get(b->st, b->texts[i]));
	return cmp;
}

void
kernels_put(struct kernels *k, struct buf *b)
{
	find_ops(k);
	for (size_t i = 0; i < k->ran.n; i++)
		add_kernel(k, &k->ran.v[i]);
	stable_sort(k->totals.v, k->totals.n, sizeof *k->totals.v, by_sum);
	b->len = 0;
	buf_putc(b, '[');
	for (size_t i = 0; i < k->totals.n && i < KERNELS_KEPT; i++) {
		const struct total *t = &k->totals.v[i];

		buf_puts(b, i > 0 ? ",[" : "[");
		for (size_t m = 0; m < 3; m++) {
			json_put_string(b, dict_get(t->st, t->texts[m]));
			buf_putc(b, ',');
		}
		buf_printf(b, "%" PRIu64 ",%" PRId64 "]", t->count, t->sum_ns);
	}
	buf_putc(b, ']');
}
