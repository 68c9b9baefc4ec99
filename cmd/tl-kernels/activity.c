/* SPDX-License-Identifier: MIT */
/*
 * Kernel time of each GPU by class, and how much communication overlaps with
 * computation.
 */
#include <stdlib.h>

#include "cmd/tl-kernels/kernels.h"

#define COMM STR("rccl")

/* A class of one GPU's kernels; the first is all computation. */
struct class
{
	uint32_t name;
	int64_t ns, n;
};

struct gpu {
	const struct kernel *first;
	VEC(struct class) classes;
	int64_t compute_ns, comm_ns;
	struct spans compute, comm;
};

/* The columns after rank or source. */
enum { DEV, CLASS, NS, COUNT, OF_COMPUTE, OF_TOTAL, NCOLUMNS };

static int
by_gpu(const void *x, const void *y)
{
	const struct kernel *a = *(const struct kernel *const *)x;
	const struct kernel *b = *(const struct kernel *const *)y;

	if (a->rec.source != b->rec.source)
		return a->rec.source < b->rec.source ? -1 : 1;
	if (a->dev.type != b->dev.type)
		return a->dev.type < b->dev.type ? -1 : 1;
	return (a->dev.n > b->dev.n) - (a->dev.n < b->dev.n);
}

static void
add_kernel(struct kernels *k, struct gpu *g, const struct kernel *one)
{
	uint32_t name = rules_category(&k->sink, &k->activities, one->name);
	bool is_comm = str_eq(dict_get(k->sink.dict, name), COMM);
	size_t i = 0;

	while (i < g->classes.n && g->classes.v[i].name != name)
		i++;
	if (i == g->classes.n)
		vec_push(&g->classes, ((struct class){ name, 0, 0 }));
	g->classes.v[i].n++;
	stat_add(&g->classes.v[i].ns, one->dur_ns);
	stat_add(is_comm ? &g->comm_ns : &g->compute_ns, one->dur_ns);
	spans_add(is_comm ? &g->comm : &g->compute, one->rec.ts_ns,
	    num_add_max(one->rec.ts_ns, one->dur_ns));
}

static void
put(struct table *t, const struct sink *s, const struct sink_plan *p,
    const struct gpu *g, struct str class, int64_t ns, struct cell count)
{
	size_t lead = p->fields.n - NCOLUMNS;
	const struct key dev = g->first->dev;
	struct cell *row = table_row(t);

	if (lead > 0)
		row[0] =
		    sink_lead_cell(s, g->first->rec.source, p->fields.v[0]);
	row += lead;
	if (dev.type != KEY_NONE)
		row[DEV] = dev.type == KEY_STR
		    ? cell_string(s->dict, (uint32_t)dev.n)
		    : cell_int(dev.n);
	row[CLASS] = cell_text(class);
	row[NS] = cell_int(ns);
	row[COUNT] = count;
	row[OF_COMPUTE] = cell_share(ns, (double)g->compute_ns);
	row[OF_TOTAL] =
	    cell_share(ns, (double)g->compute_ns + (double)g->comm_ns);
}

/* The longest class first, then the totals. */
static void
put_gpu(struct table *t, const struct sink *s, const struct sink_plan *p,
    struct gpu *g)
{
	struct spans both = { 0 };
	int64_t overlapped, total = g->compute_ns;

	for (size_t i = 0; i < g->classes.n; i++)
		put(t, s, p, g, dict_get(s->dict, g->classes.v[i].name),
		    g->classes.v[i].ns, cell_int(g->classes.v[i].n));
	spans_normalise(&g->compute);
	spans_normalise(&g->comm);
	spans_intersect(&both, &g->compute, &g->comm);
	overlapped = spans_total(&both);
	stat_add(&total, g->comm_ns);
	put(t, s, p, g, STR("overlapped_comm"), overlapped, cell_none());
	put(t, s, p, g, STR("non_overlapped_comm"),
	    spans_total(&g->comm) - overlapped, cell_none());
	put(t, s, p, g, STR("compute_total"), g->compute_ns, cell_none());
	put(t, s, p, g, STR("total_incl_comm"), total, cell_none());
	spans_free(&both);
	spans_free(&g->compute);
	spans_free(&g->comm);
	g->classes.n = 0;
}

static int
by_time(const void *x, const void *y)
{
	const struct class *a = x, *b = y;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

void
activity_print(struct sink *s, const struct sink_plan *p)
{
	struct kernels *k = (struct kernels *)s;
	struct table *t = table_create(p->name, p->columns.v, p->columns.n);
	VEC(const struct kernel *) all = { 0 };
	struct gpu g = { 0 };

	for (size_t i = 0; i < s->records.n; i++) {
		const struct kernel *one = sink_record(s, i);

		if (one->length == 0)
			vec_push(&all, one);
	}
	stable_sort(all.v, all.n, sizeof(all.v[0]), by_gpu);
	for (size_t i = 0; i < all.n; i++) {
		if (g.classes.n == 0)
			g = (struct gpu){ .first = all.v[i],
				.classes = g.classes };
		add_kernel(k, &g, all.v[i]);
		if (i + 1 < all.n && by_gpu(&all.v[i], &all.v[i + 1]) == 0)
			continue;
		stable_sort(
		    g.classes.v, g.classes.n, sizeof *g.classes.v, by_time);
		put_gpu(t, s, p, &g);
	}
	table_print_summary(t, &s->dest);
	vec_free(&all);
	vec_free(&g.classes);
	table_destroy(t);
}
