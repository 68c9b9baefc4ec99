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

/* One kernel that is no collective. */
struct ran {
	struct key ext;
	int64_t dur_ns;
	uint32_t name, grid;
};

/* What ran: all calls of an op with a shape, or a kernel with its grid. */
struct total {
	uint32_t op;     /* in the strings, or INTERN_NONE */
	uint32_t shape;  /* the op's or the kernel's */
	uint32_t kernel; /* the longest */
	uint64_t count;
	int64_t sum_ns, longest_ns;
};

struct kernels {
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
kernels_clear(struct kernels *k)
{
	k->ran.n = k->totals.n = 0;
	map_free(&k->total_of[0]);
	map_free(&k->total_of[1]);
}

void
kernels_free(struct kernels *k)
{
	kernels_clear(k);
	vec_free(&k->ran);
	vec_free(&k->totals);
	free(k);
}

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

	if (a->ext.type != b->ext.type)
		return a->ext.type < b->ext.type ? -1 : 1;
	if (a->ext.n != b->ext.n)
		return a->ext.n < b->ext.n ? -1 : 1;
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
sum_kernels(struct kernels *k, struct hosts *hosts)
{
	const struct ran *v = k->ran.v;

	order(k->ran.v, k->ran.n, sizeof *k->ran.v, by_ext);
	for (size_t i = 0, end; i < k->ran.n; i = end) {
		uint32_t op, shape;
		bool is_op;

		for (end = i; end < k->ran.n && key_eq(v[end].ext, v[i].ext);
		     end++)
			;
		is_op = end - i <= OP_KERNELS &&
		    hosts_op(hosts, v[i].ext, &op, &shape);
		if (is_op)
			total_of(k, true, op, shape)->count++;
		for (size_t m = i; m < end; m++) {
			struct total *t = is_op
			    ? total_of(k, true, op, shape)
			    : total_of(k, false, v[m].name, v[m].grid);

			add_kernel(t, &v[m]);
			t->count += !is_op;
		}
	}
}

void
kernels_tell(struct kernels *k, struct hosts *hosts, const struct strings *st,
    struct buf *b)
{
	sum_kernels(k, hosts);
	order(k->totals.v, k->totals.n, sizeof *k->totals.v, by_sum);
	b->len = 0;
	buf_putc(b, '[');
	for (size_t i = 0; i < k->totals.n && i < KERNELS_KEPT; i++) {
		const struct total *t = &k->totals.v[i];

		buf_puts(b, i > 0 ? ",[" : "[");
		json_put_string(b, strings_get(st, t->op));
		buf_putc(b, ',');
		json_put_string(b, strings_get(st, t->shape));
		buf_putc(b, ',');
		json_put_string(b, strings_get(st, t->kernel));
		buf_printf(b, ",%" PRIu64 ",%" PRId64 "]", t->count, t->sum_ns);
	}
	buf_putc(b, ']');
}
