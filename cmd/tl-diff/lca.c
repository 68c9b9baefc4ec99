/* SPDX-License-Identifier: MIT */
/* lca_summary: a row for each point at which GPU work was compared. */
#include <stdlib.h>

#include "cmd/tl-diff/tables.h"
#include "trace/stat.h"

const struct column lca_columns[] = {
	RUN_COLUMNS,
	{ "name", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "lca_name", "lowest_common_ancestor_name", COL_TEXT, UNIT_NONE,
	    COL_NAME, 0 },
	{ "lca_id", "lowest_common_ancestor_id", COL_INT, UNIT_NONE, 0, 0 },
	{ "nn_module_stack", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "nn_module_parent", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "input_dims", "Input Dims", COL_JSON, UNIT_NONE, 0, 0 },
	{ "input_types", "Input type", COL_JSON, UNIT_NONE, 0, 0 },
	{ "input_strides", "Input Strides", COL_JSON, UNIT_NONE, 0, 0 },
	{ "concrete_inputs", "Concrete Inputs", COL_JSON, UNIT_NONE, 0, 0 },
	{ "before_ns", "kernel_time_trace1_us", COL_INT, UNIT_NS, 0, 1e3 },
	{ "after_ns", "kernel_time_trace2_us", COL_INT, UNIT_NS, 0, 1e3 },
	{ "kernels_before", "num_kernels_trace1", COL_INT, UNIT_COUNT, 0, 0 },
	{ "kernels_after", "num_kernels_trace2", COL_INT, UNIT_COUNT, 0, 0 },
	{ "kernel_names_before", "kernel_names_trace1", COL_JSON, UNIT_NONE, 0,
	    0 },
	{ "kernel_names_after", "kernel_names_trace2", COL_JSON, UNIT_NONE, 0,
	    0 },
	{ "ratio", "speedup (trace2/trace1)", COL_REAL, UNIT_NONE, 0, 0 },
	{ "diff_ns", "delta_us (trace2 - trace1)", COL_INT, UNIT_NS, 0, 1e3 },
	{ "pct_of_before", "pct_of_trace1_total (%)", COL_REAL, UNIT_PERCENT, 0,
	    0 },
	{ "cumulative_pct", "cumulative_pct_trace1 (%)", COL_REAL, UNIT_PERCENT,
	    0, 0 },
	{ "pct_of_after", "pct_of_trace2_total (%)", COL_REAL, UNIT_PERCENT, 0,
	    0 },
};
const size_t lca_ncolumns = sizeof lca_columns / sizeof *lca_columns;

/* Stats of one point stand together: those of both sides. */
struct point {
	size_t first, n;
	int64_t ns[NSIDES];
	uint64_t kernels[NSIDES];
	uint32_t lca;
};

static int
by_time(const void *x, const void *y)
{
	const struct point *a = x, *b = y;

	if (a->ns[0] != b->ns[0])
		return a->ns[0] > b->ns[0] ? -1 : 1;
	return (a->lca > b->lca) - (a->lca < b->lca);
}

static int
by_text(const void *x, const void *y)
{
	const struct str *a = x, *b = y;

	return str_cmp(*a, *b);
}

static const struct run *
run_of(const struct diff *d, const struct diff_row *s)
{
	return d->side[s->side];
}

/* The ops of the first side, else of the second: sorted, each once. */
static void
put_ops(const struct diff *d, const struct point *p, struct buf *b)
{
	VEC(struct str) names = { 0 };
	int side = p->kernels[0] > 0 ? 0 : 1;

	for (size_t i = p->first; i < p->first + p->n; i++) {
		const struct diff_row *s = &d->stats.v[i];

		if (s->lca == p->lca && s->side == side && s->op != NONE)
			vec_push(&names,
			    strings_get(
				d->strings, run_of(d, s)->nodes.v[s->op].name));
	}
	if (names.n == 0)
		buf_puts(b, "unknown");
	else
		qsort(names.v, names.n, sizeof *names.v, by_text);
	for (size_t i = 0; i < names.n; i++) {
		if (i > 0 && str_eq(names.v[i], names.v[i - 1]))
			continue;
		if (i > 0)
			buf_puts(b, " | ");
		buf_put(b, names.v[i].p, names.v[i].len);
	}
	vec_free(&names);
}

static void
put_kernels(
    const struct diff *d, const struct point *p, int side, struct buf *b)
{
	bool any = false;

	buf_putc(b, '[');
	for (size_t i = p->first; i < p->first + p->n; i++) {
		const struct diff_row *s = &d->stats.v[i];

		if (s->lca != p->lca || s->side != side || s->op == NONE)
			continue;
		if (any)
			buf_putc(b, ',');
		any = true;
		json_string(b,
		    strings_get(
			d->strings, run_of(d, s)->nodes.v[s->gpu].name));
	}
	buf_putc(b, ']');
}

/* The first of the first side, else of the second. */
static const struct diff_row *
speaker(const struct diff *d, const struct point *p)
{
	const struct diff_row *found = NULL;

	for (size_t i = p->first; i < p->first + p->n; i++) {
		const struct diff_row *s = &d->stats.v[i];

		if (s->lca != p->lca || s->op == NONE)
			continue;
		if (s->side == 0)
			return s;
		if (found == NULL)
			found = s;
	}
	return found;
}

/*
 * Points in the order of the merged tree. Work of several one-sided children
 * of one node has that node's number and may stand apart: a point is all of
 * them, and its first and n are a range that holds them.
 */
static void
find_points(const struct diff *d, struct point **points, size_t *n)
{
	VEC(struct point) list = { 0 };
	struct map known = { 0 };

	for (size_t i = 0; i < d->stats.n; i++) {
		const struct diff_row *s = &d->stats.v[i];
		bool is_new;
		uint64_t *slot;
		struct point *p;

		if (s->lca == NONE || s->op == NONE)
			continue;
		slot = map_put(&known, s->lca, &is_new);
		if (is_new) {
			*slot = list.n;
			vec_push(&list,
			    ((struct point){ .first = i, .lca = s->lca }));
		}
		p = &list.v[*slot];
		p->n = i + 1 - p->first;
		p->kernels[s->side]++;
		p->ns[s->side] = s->busy_ns;
	}
	map_free(&known);
	*points = list.v;
	*n = list.n;
}

static double
share(int64_t part, int64_t whole)
{
	return 100 * (double)part / (double)whole;
}

struct totals {
	int64_t ns[NSIDES];
	int64_t so_far;
};

static void
put_row(struct listing *l, const struct diff *d, const struct point *p,
    struct totals *sum)
{
	struct table *t = l->table;
	const struct diff_row *s = speaker(d, p);
	struct cell *row = listing_row(l), args[ARG_CELLS];
	struct buf b = { 0 };

	put_ops(d, p, &b);
	row[0] = cell_text(table_text(t, buf_str(&b)));
	b.len = 0;
	stats_lca_name(d, s, &b);
	row[1] = cell_text(table_text(t, buf_str(&b)));
	row[2] = cell_int(p->lca);
	b.len = 0;
	put_modules(d, s, &b);
	row[3] = cell_text(table_text(t, buf_str(&b)));
	row[4] = cell_text(module_parent(d, s));
	cells_of_args(d->strings, args_of_node(run_of(d, s), s->op), args);
	row[5] = args[0];
	row[6] = args[2];
	row[7] = args[1];
	row[8] = args[3];
	for (int side = 0; side < NSIDES; side++) {
		row[9 + side] = cell_int(p->ns[side]);
		row[11 + side] = cell_int((int64_t)p->kernels[side]);
		b.len = 0;
		put_kernels(d, p, side, &b);
		row[13 + side] = cell_text(table_text(t, buf_str(&b)));
	}
	if (p->ns[0] > 0)
		row[15] = cell_real((double)p->ns[1] / (double)p->ns[0]);
	row[16] = cell_int(p->ns[1] - p->ns[0]);
	stat_add(&sum->so_far, p->ns[0]);
	if (sum->ns[0] > 0) {
		row[17] = cell_real(share(p->ns[0], sum->ns[0]));
		row[18] = cell_real(share(sum->so_far, sum->ns[0]));
	}
	if (sum->ns[1] > 0)
		row[19] = cell_real(share(p->ns[1], sum->ns[1]));
	buf_free(&b);
}

void
lca_list(struct listing *l, const struct diff *d)
{
	struct totals sum = { { 0, 0 }, 0 };
	struct point *points;
	size_t n;

	find_points(d, &points, &n);
	if (n > 0)
		qsort(points, n, sizeof *points, by_time);
	for (size_t i = 0; i < n; i++)
		for (int s = 0; s < NSIDES; s++)
			stat_add(&sum.ns[s], points[i].ns[s]);
	for (size_t i = 0; i < n; i++)
		put_row(l, d, &points[i], &sum);
	free(points);
}
