/* SPDX-License-Identifier: MIT */
/* diff_ops_summary, and the sentences that stand above it. */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-diff/ops.h"

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
	{ "before_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "after_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "diff_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "ratio", NULL, COL_REAL, UNIT_NONE, 0, 0 },
	{ "pct_of_diff", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "spread_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "is_noise", NULL, COL_BOOL, UNIT_NONE, 0, 0 },
};
const size_t ops_ncolumns = sizeof ops_columns / sizeof *ops_columns;

static const char *const owner_words[] = { "op", "launch", "none" };

/* ---- order ---- */

static int64_t
size_of(int64_t ns)
{
	return ns < 0 ? -ns : ns;
}

static int
by_text(const struct strings *st, uint32_t a, uint32_t b)
{
	return a == b ? 0 : str_cmp(strings_get(st, a), strings_get(st, b));
}

/* What differs, what may differ by chance, what does not. */
static int
rank_of(const struct op_row *r)
{
	if (r->diff_ns == 0)
		return 2;
	return r->is_noise ? 1 : 0;
}

/* The largest difference first, then names. */
static int
by_weight(const void *x, const void *y, void *arg)
{
	const struct op_row *a = x, *b = y;
	const struct strings *st = arg;
	int order = 0;

	if (rank_of(a) != rank_of(b))
		return rank_of(a) < rank_of(b) ? -1 : 1;
	if (size_of(a->diff_ns) != size_of(b->diff_ns))
		return size_of(a->diff_ns) > size_of(b->diff_ns) ? -1 : 1;
	if (a->diff_ns != b->diff_ns)
		return a->diff_ns > b->diff_ns ? -1 : 1;
	for (int s = 0; s < NSIDES; s++)
		if (a->unit_ns[s] != b->unit_ns[s])
			return a->unit_ns[s] > b->unit_ns[s] ? -1 : 1;
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

	row[0] = name_cell(t, o->strings, r);
	row[1] = cell_text(str_of(owner_words[r->key.owner]));
	put_args(&row[2], o->strings, &r->key);
	row[10] = cell_int((int64_t)r->calls[0]);
	row[11] = cell_int((int64_t)r->calls[1]);
	row[12] = cell_int((int64_t)r->kernels[0]);
	row[13] = cell_int((int64_t)r->kernels[1]);
	row[14] = cell_int(r->unit_ns[0]);
	row[15] = cell_int(r->unit_ns[1]);
	row[16] = cell_int(r->diff_ns);
	if (r->unit_ns[0] > 0)
		row[17] =
		    cell_real((double)r->unit_ns[1] / (double)r->unit_ns[0]);
	if (o->gross_ns > 0)
		row[18] =
		    cell_real(100 * (double)r->diff_ns / (double)o->gross_ns);
	if (!isnan(r->spread_ns)) {
		row[19] = cell_int(llround(r->spread_ns));
		row[20] = cell_bool(r->is_noise);
	}
}

void
ops_sort(struct ops *o)
{
	if (o->rows.n > 1)
		qsort_r(o->rows.v, o->rows.n, sizeof *o->rows.v, by_weight,
		    o->strings);
}

void
ops_print(struct ops *o, const struct diff *d, struct table_dest *dest)
{
	struct table *t =
	    table_create("diff_ops_summary", ops_columns, ops_ncolumns);

	ops_sort(o);
	summary_notes(o, d, t);
	for (size_t i = 0; i < o->rows.n; i++)
		put_row(t, o, &o->rows.v[i]);
	table_print(t, dest);
	table_destroy(t);
}
