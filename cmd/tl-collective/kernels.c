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

/* An op, and its "Input Dims" or INTERN_NONE. */
struct op {
	struct key ext;
	uint32_t name, shape;
};

/* One kernel that is no collective. */
struct ran {
	struct key ext;
	int64_t dur_ns;
	uint32_t name, grid;
};

/* What ran: all calls of an op with a shape, or a kernel with its grid. */
struct total {
	uint32_t op;     /* in the dictionary, or INTERN_NONE */
	uint32_t shape;  /* the op's or the kernel's */
	uint32_t kernel; /* the longest */
	uint64_t count;
	int64_t sum_ns, longest_ns;
};

struct kernels {
	const struct dict *st;
	VEC(struct op) ops;
	size_t next_op; /* behind the last one asked for */
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
	k->ops.n = k->ran.n = k->totals.n = k->next_op = 0;
	map_free(&k->total_of[0]);
	map_free(&k->total_of[1]);
}

/* ---- ops ---- */

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

static int
cmp_key(struct key a, struct key b)
{
	if (a.type != b.type)
		return a.type < b.type ? -1 : 1;
	return a.n < b.n ? -1 : a.n > b.n;
}

static int
by_op(const void *pa, const void *pb)
{
	const struct op *a = pa, *b = pb;

	return cmp_key(a->ext, b->ext);
}

/* The first op that has this external id; ids are asked in ascending order. */
static const struct op *
find_op(struct kernels *k, struct key ext)
{
	const struct op *op;

	while (
	    k->next_op < k->ops.n && cmp_key(k->ops.v[k->next_op].ext, ext) < 0)
		k->next_op++;
	if (k->next_op == k->ops.n || ext.type == KEY_NONE)
		return NULL;
	op = &k->ops.v[k->next_op];
	return key_eq(op->ext, ext) ? op : NULL;
}

/* ---- kernels ---- */

void
kernels_add(struct kernels *k, const struct event *ev, uint32_t grid)
{
	vec_push(
	    &k->ran, ((struct ran){ ev->ext, ev->dur_ns, ev->name, grid }));
}

static int
by_sum(const void *pa, const void *pb)
{
	const struct total *a = pa, *b = pb;

	if (a->sum_ns != b->sum_ns)
		return a->sum_ns > b->sum_ns ? -1 : 1;
	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	if (a->shape != b->shape)
		return a->shape < b->shape ? -1 : 1;
	return a->kernel < b->kernel ? -1 : a->kernel > b->kernel;
}

static int
by_ext(const void *pa, const void *pb)
{
	const struct ran *a = pa, *b = pb;
	int cmp = cmp_key(a->ext, b->ext);

	if (cmp != 0)
		return cmp;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return a->grid < b->grid ? -1 : a->grid > b->grid;
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
		    ((struct total){ .op = is_op ? name : INTERN_NONE,
			.shape = shape,
			.kernel = name }));
	}
	return &k->totals.v[*slot];
}

static void
add_kernel(struct total *t, const struct ran *ran)
{
	if (!num_add(t->sum_ns, ran->dur_ns, &t->sum_ns))
		t->sum_ns = INT64_MAX;
	if (ran->dur_ns >= t->longest_ns) {
		t->longest_ns = ran->dur_ns;
		t->kernel = ran->name;
	}
}

static void
sum_kernels(struct kernels *k)
{
	const struct ran *v = k->ran.v;

	stable_sort(k->ops.v, k->ops.n, sizeof *k->ops.v, by_op);
	stable_sort(k->ran.v, k->ran.n, sizeof *k->ran.v, by_ext);
	for (size_t i = 0, end; i < k->ran.n; i = end) {
		const struct op *op;

		for (end = i; end < k->ran.n && key_eq(v[end].ext, v[i].ext);
		     end++)
			;
		op = end - i <= OP_KERNELS ? find_op(k, v[i].ext) : NULL;
		if (op != NULL)
			total_of(k, true, op->name, op->shape)->count++;
		for (size_t m = i; m < end; m++) {
			struct total *t = op != NULL
			    ? total_of(k, true, op->name, op->shape)
			    : total_of(k, false, v[m].name, v[m].grid);

			add_kernel(t, &v[m]);
			t->count += op == NULL;
		}
	}
}

void
kernels_put(struct kernels *k, struct buf *b)
{
	const struct dict *st = k->st;

	sum_kernels(k);
	stable_sort(k->totals.v, k->totals.n, sizeof *k->totals.v, by_sum);
	b->len = 0;
	buf_putc(b, '[');
	for (size_t i = 0; i < k->totals.n && i < KERNELS_KEPT; i++) {
		const struct total *t = &k->totals.v[i];

		buf_puts(b, i > 0 ? ",[" : "[");
		json_put_string(b, dict_get(st, t->op));
		buf_putc(b, ',');
		json_put_string(b, dict_get(st, t->shape));
		buf_putc(b, ',');
		json_put_string(b, dict_get(st, t->kernel));
		buf_printf(b, ",%" PRIu64 ",%" PRId64 "]", t->count, t->sum_ns);
	}
	buf_putc(b, ']');
}
