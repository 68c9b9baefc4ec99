/* SPDX-License-Identifier: MIT */
/* diff_ops_summary. */
#include <stdlib.h>

#include "cmd/tl-diff/ops.h"
#include "cmd/tl-diff/summary.h"

const struct column ops_columns[] = {
	{ "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "owner", NULL, COL_TEXT, UNIT_NONE, COL_DETAIL, 0 },
	{ "input_dims", "Input Dims", COL_JSON, UNIT_NONE, 0, 0 },
	{ "input_dims_after", NULL, COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
	{ "input_types", "Input type", COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
	{ "input_types_after", NULL, COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
	{ "input_strides", "Input Strides", COL_JSON, UNIT_NONE, COL_DETAIL,
	    0 },
	{ "input_strides_after", NULL, COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
	{ "concrete_inputs", "Concrete Inputs", COL_JSON, UNIT_NONE, COL_DETAIL,
	    0 },
	{ "concrete_inputs_after", NULL, COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
	{ "count_before", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "count_after", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "kernels_before", NULL, COL_INT, UNIT_COUNT, COL_DETAIL, 0 },
	{ "kernels_after", NULL, COL_INT, UNIT_COUNT, COL_DETAIL, 0 },
	FIGURE_COLUMNS,
};
const size_t ops_ncolumns = sizeof ops_columns / sizeof *ops_columns;

static const char *const owner_words[] = { "op", "launch", "none" };

/* ---- order ---- */

static int
by_text(const struct strings *st, uint32_t a, uint32_t b)
{
	return a == b ? 0 : str_cmp(strings_get(st, a), strings_get(st, b));
}

/* The largest difference first, then names. */
static int
by_weight(const void *x, const void *y, void *arg)
{
	const struct op_row *a = x, *b = y;
	const struct strings *st = arg;
	int order = figure_order(&a->figure, &b->figure);

	for (int s = 0; s < NSIDES && order == 0; s++) {
		const struct op_args *p = &a->key.args[s], *q = &b->key.args[s];

		order = by_text(st, a->name[s], b->name[s]);
		if (order == 0)
			order = by_text(st, p->dims, q->dims);
		if (order == 0)
			order = by_text(st, p->types, q->types);
		if (order == 0)
			order = by_text(st, p->strides, q->strides);
		if (order == 0)
			order = by_text(st, p->concrete, q->concrete);
	}
	if (order == 0)
		order = (a->key.owner > b->key.owner) -
		    (a->key.owner < b->key.owner);
	return order;
}

/* ---- rows ---- */

static struct cell
text_cell(const struct strings *st, uint32_t id)
{
	return id == INTERN_NONE ? cell_none() : cell_text(strings_get(st, id));
}

/* What is the same on both sides stands once. */
static void
put_args(struct cell *row, const struct strings *st, const struct op_key *k)
{
	const uint32_t *a = (const uint32_t[]){ k->args[0].dims,
		k->args[0].types, k->args[0].strides, k->args[0].concrete };
	const uint32_t *b = (const uint32_t[]){ k->args[1].dims,
		k->args[1].types, k->args[1].strides, k->args[1].concrete };

	for (size_t i = 0; i < ARG_CELLS; i++) {
		row[2 * i] = text_cell(st, a[i]);
		if (a[i] != b[i])
			row[2 * i + 1] = text_cell(st, b[i]);
	}
}

/* Ops that stand for one another: "before | after". */
static struct cell
name_cell(struct table *t, const struct strings *st, const struct op_row *r)
{
	struct str a = strings_get(st, r->name[0]);
	struct str b = strings_get(st, r->name[1]);
	struct buf both = { 0 };
	struct cell c;

	if (r->key.owner == OWNER_NONE)
		return cell_text(STR("(no launch)"));
	if (r->key.n[0] == r->key.n[1])
		return text_cell(st, r->name[0]);
	buf_put(&both, a.p, a.len);
	buf_puts(&both, " | ");
	buf_put(&both, b.p, b.len);
	c = cell_text(table_text(t, buf_str(&both)));
	buf_free(&both);
	return c;
}

static void
put_row(struct table *t, const struct ops *o, const struct op_row *r)
{
	struct cell *row = table_row(t);
	const struct figure *f = &r->figure;

	row[0] = name_cell(t, o->strings, r);
	row[1] = cell_text(str_of(owner_words[r->key.owner]));
	put_args(&row[2], o->strings, &r->key);
	for (int s = 0; s < NSIDES; s++) {
		row[10 + s] = figure_count(&o->figures, s, r->calls[s]);
		row[12 + s] = figure_count(&o->figures, s, f->kernels[s]);
	}
	figure_cells(&row[14], f, &o->figures);
}

void
ops_sort(struct ops *o)
{
	if (o->rows.n > 1)
		qsort_r(o->rows.v, o->rows.n, sizeof *o->rows.v, by_weight,
		    o->strings);
	swaps_sort(&o->swaps);
}

/* ---- sentences ---- */

void
ops_notes(const struct ops *o, struct table *t)
{
	struct summary s = { o->set, &o->figures, "op", { 0 } };

	for (size_t i = 0; i < o->rows.n; i++)
		if (o->rows.v[i].key.owner != OWNER_NONE)
			vec_push(&s.rows, &o->rows.v[i].figure);
	if (!o->differs)
		table_note(t, "the traces are identical");
	summary_whole(&s, t);
	summary_rows(&s, t);
	summary_sides(&s, t, o->nonly, o->only_ns,
	    "GPU events where only one side has work");
	summary_sides(&s, t, o->nrenamed, o->renamed_ns,
	    "pairs of GPU events under different names");
	swaps_note(&o->swaps, o->strings, t);
	summary_sides(&s, t, o->noutside, o->outside_ns,
	    "GPU events launched outside of ops");
	summary_sides(
	    &s, t, o->nunlinked, o->unlinked_ns, "GPU events without a launch");
	summary_steps(&s, t);
	vec_free(&s.rows);
}

void
ops_print(struct ops *o, struct table_dest *dest)
{
	struct column *columns =
	    figure_columns(&o->figures, ops_columns, ops_ncolumns);
	struct table *t =
	    table_create("diff_ops_summary", columns, ops_ncolumns);

	ops_sort(o);
	ops_notes(o, t);
	for (size_t i = 0; i < o->rows.n; i++)
		put_row(t, o, &o->rows.v[i]);
	table_print(t, dest);
	table_destroy(t);
	free(columns);
}
