/* SPDX-License-Identifier: MIT */
/* diff_kernels, and the sentences above it. */
#include <stdlib.h>

#include "cmd/tl-diff/kernels.h"
#include "cmd/tl-diff/summary.h"

const struct column kernels_columns[] = {
	{ "kind", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "name_after", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "count_before", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "count_after", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "alone_before", NULL, COL_INT, UNIT_COUNT, COL_DETAIL, 0 },
	{ "alone_after", NULL, COL_INT, UNIT_COUNT, COL_DETAIL, 0 },
	{ "first_uid_before", NULL, COL_TEXT, UNIT_NONE, COL_DETAIL, 0 },
	{ "first_uid_after", NULL, COL_TEXT, UNIT_NONE, COL_DETAIL, 0 },
	FIGURE_COLUMNS,
};
const size_t kernels_ncolumns =
    sizeof kernels_columns / sizeof *kernels_columns;

static int
by_weight(const void *x, const void *y, void *arg)
{
	const struct kernels *k = arg;
	uint32_t p = *(const uint32_t *)x, q = *(const uint32_t *)y;
	const struct kernel_row *a = &k->rows.v[p], *b = &k->rows.v[q];
	int order = figure_order(&k->figures.rows.v[p], &k->figures.rows.v[q]);

	for (int s = 0; s < NSIDES && order == 0; s++)
		order = str_cmp(
		    dict_get(k->st, a->name[s]), dict_get(k->st, b->name[s]));
	if (order == 0)
		order =
		    str_cmp(dict_get(k->st, a->kind), dict_get(k->st, b->kind));
	return order;
}

/* Rows in their order. */
static void
sort_rows(const struct kernels *k, u32s *order)
{
	for (uint32_t i = 0; i < k->rows.n; i++)
		vec_push(order, i);
	if (order->n > 1)
		qsort_r(order->v, order->n, sizeof *order->v, by_weight,
		    (void *)(uintptr_t)k);
}

static struct cell
uid_cell(struct table *t, const struct example *ex)
{
	char text[UID_MAX];

	if (!ex->is_set)
		return cell_none();
	return cell_text(
	    table_text(t, (struct str){ text, uid_put(text, ex->uid) }));
}

static void
put_row(struct table *t, const struct kernels *k, uint32_t at)
{
	const struct kernel_row *r = &k->rows.v[at];
	const struct figure *f = &k->figures.rows.v[at];
	struct cell *row = table_row(t);

	row[0] = cell_text(dict_get(k->st, r->kind));
	row[1] = cell_text(dict_get(k->st, r->name[0]));
	if (r->n[0] != r->n[1])
		row[2] = cell_text(dict_get(k->st, r->name[1]));
	for (int s = 0; s < NSIDES; s++) {
		row[3 + s] = figure_count(&k->figures, s, f->kernels[s]);
		row[5 + s] = figure_count(&k->figures, s, f->alone[s]);
		row[7 + s] = uid_cell(t, &r->example[s]);
	}
	figure_cells(&row[9], f, &k->figures);
}

static void
put_notes(const struct kernels *k, struct table *t, const u32s *order)
{
	struct summary s = { .set = k->set,
		.figures = &k->figures,
		.dict = k->st,
		.what = "kernel" };

	for (size_t i = 0; i < order->n; i++)
		vec_push(&s.rows, &k->figures.rows.v[order->v[i]]);
	summary_whole(&s, t);
	summary_rows(&s, t);
	table_note(t,
	    "%" PRIu64 " of %" PRIu64 " and %" PRIu64
	    " kernel sequences matched",
	    k->npaired, k->nsequences[0], k->nsequences[1]);
	summary_tally(&s, t, &k->alone, "GPU events in unmatched sequences");
	summary_tally(
	    &s, t, &k->unpaired, "unmatched GPU events in matched sequences");
	summary_tally(
	    &s, t, &k->renamed, "matched GPU events with different names");
	summary_tally(
	    &s, t, &k->streams.moved, "matched GPU events on another stream");
	summary_steps(&s, t);
	vec_free(&s.rows);
}

void
kernels_notes(const struct kernels *k, struct table *t)
{
	u32s order = { 0 };

	sort_rows(k, &order);
	put_notes(k, t, &order);
	vec_free(&order);
}

void
kernels_print(const struct kernels *k, struct table_dest *dest)
{
	struct column *columns =
	    figure_columns(&k->figures, kernels_columns, kernels_ncolumns);
	struct table *t =
	    table_create("diff_kernels", columns, kernels_ncolumns);
	u32s order = { 0 };

	sort_rows(k, &order);
	put_notes(k, t, &order);
	for (size_t i = 0; i < order.n; i++)
		put_row(t, k, order.v[i]);
	table_print(t, dest);
	table_destroy(t);
	free(columns);
	vec_free(&order);
}
