/* SPDX-License-Identifier: MIT */
/* diff_ops_summary. */
#include <stdlib.h>

#include "cmd/tl-diff/ops.h"
#include "cmd/tl-diff/summary.h"
#include "trace/stat.h"

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
by_text(const struct dict *st, uint32_t a, uint32_t b)
{
	return a == b ? 0 : str_cmp(dict_get(st, a), dict_get(st, b));
}

/* The largest difference first, then names. */
static int
by_weight(const void *x, const void *y, void *arg)
{
	const struct op_row *a = x, *b = y;
	const struct dict *st = arg;
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
text_cell(const struct dict *st, uint32_t id)
{
	return id == INTERN_NONE ? cell_none() : cell_text(dict_get(st, id));
}

/* What is the same on both sides stands once. */
static void
put_args(struct cell *row, const struct dict *st, const struct op_key *k)
{
	const uint32_t *a = (const uint32_t[]){ k->args[0].dims,
		k->args[0].types, k->args[0].strides, k->args[0].concrete };
	const uint32_t *b = (const uint32_t[]){ k->args[1].dims,
		k->args[1].types, k->args[1].strides, k->args[1].concrete };

	for (size_t i = 0; i < 4; i++) {
		row[2 * i] = text_cell(st, a[i]);
		if (a[i] != b[i])
			row[2 * i + 1] = text_cell(st, b[i]);
	}
}

/* Ops that stand for one another: "before | after". */
static struct cell
name_cell(struct table *t, const struct dict *st, const struct op_row *r)
{
	struct str a = dict_get(st, r->name[0]);
	struct str b = dict_get(st, r->name[1]);
	struct buf both = { 0 };
	struct cell c;

	if (r->key.owner == LAUNCHER_NONE)
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

	row[0] = name_cell(t, o->dict, r);
	row[1] = cell_text(str_of(owner_words[r->key.owner]));
	put_args(&row[2], o->dict, &r->key);
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
		    o->dict);
}

/* ---- sentences ---- */

/* Calls whose arguments differ, and how: of the largest row of them. */
static void
note_args(const struct ops *o, struct table *t)
{
	struct buf b = { 0 };
	uint64_t calls = 0;

	if (o->has_args[0] != o->has_args[1])
		return;
	for (size_t i = 0; i < o->rows.n; i++) {
		const struct op_row *r = &o->rows.v[i];
		const struct op_args *x = &r->key.args[0], *y = &r->key.args[1];

		/* concrete arguments differ from call to call */
		if (r->key.n[0] != r->key.n[1] ||
		    (x->dims == y->dims && x->types == y->types &&
			x->strides == y->strides))
			continue;
		calls += r->calls[0] > r->calls[1] ? r->calls[0] : r->calls[1];
		if (b.len == 0 && x->dims != INTERN_NONE &&
		    y->dims != INTERN_NONE && r->name[0] != INTERN_NONE) {
			text_visible(dict_get(o->dict, r->name[0]), &b);
			buf_putc(&b, ' ');
			text_visible(dict_get(o->dict, x->dims), &b);
			buf_puts(&b, " | ");
			text_visible(dict_get(o->dict, y->dims), &b);
		}
	}
	if (calls > 0)
		table_note(t, "calls with other arguments: %" PRIu64 "%s%.*s",
		    calls, b.len > 0 ? ", as " : "", (int)b.len,
		    b.len > 0 ? b.p : "");
	buf_free(&b);
}

/* What only one side's profiler recorded. */
static void
note_contents(const struct ops *o, struct table *t)
{
	for (int s = 0; s < NSIDES; s++) {
		struct str name = o->set->names[s];

		if (o->has_args[!s] && o->has_ops[s] && !o->has_args[s])
			table_note(t, "%.*s has no arguments of ops",
			    (int)name.len, name.p);
		if (o->set->python && o->has_frames[!s] && !o->has_frames[s])
			table_note(t,
			    "%.*s has no Python frames: without --python the "
			    "trees are compared below them",
			    (int)name.len, name.p);
	}
}

/* Whether most GPU work of a side is in no tree. */
static bool
is_mostly_outside(const struct ops *o, int side)
{
	const struct figures *f = &o->figures;
	int64_t ns = o->tallies[TALLY_UNLINKED].ns[side], all = 0;

	stat_add(&ns, o->tallies[TALLY_OUTSIDE].ns[side]);
	for (size_t i = 0; i < f->rows.n; i++)
		stat_add(&all, f->rows.v[i].ns[side]);
	return ns > all / 2;
}

/* Trees say little of work that mostly is in none. */
static void
note_kernels(const struct ops *o, struct table *t)
{
	bool is[NSIDES] = { is_mostly_outside(o, 0), is_mostly_outside(o, 1) };
	struct str name = o->set->names[is[1]];

	if (!is[0] && !is[1])
		return;
	if (is[0] && is[1])
		name.len = 0;
	table_note(t,
	    "most GPU work%s%.*s is of no op: --by kernel compares kernels "
	    "one by one",
	    name.len > 0 ? " of " : "", (int)name.len, name.p);
}

static void
note_events(const struct ops *o, const struct summary *s, struct table *t)
{
	static const char *const texts[NTALLIES] = {
		[TALLY_ONLY] = "GPU events in calls of one side only",
		[TALLY_UNPAIRED] = "unmatched GPU events",
		[TALLY_RENAMED] = "matched GPU events with different names",
		[TALLY_OUTSIDE] = "GPU events launched outside of ops",
		[TALLY_UNLINKED] = "GPU events without a launch",
	};

	for (int i = 0; i < NTALLIES; i++)
		summary_tally(s, t, &o->tallies[i], texts[i]);
	summary_tally(
	    s, t, &o->streams.moved, "matched GPU events on another stream");
}

/* Empties the buffer for the next. */
static void
note_remarks(struct table *t, const char *what, struct buf *b, const char *hint)
{
	if (b->len > 0)
		table_note(t, "%s: %.*s%s", what, (int)b->len, b->p, hint);
	b->len = 0;
}

void
ops_notes(const struct ops *o, struct table *t)
{
	struct buf b = { 0 };
	struct summary s = { .set = o->set,
		.figures = &o->figures,
		.dict = o->dict,
		.what = "op" };

	for (size_t i = 0; i < o->rows.n; i++)
		if (o->rows.v[i].key.owner != LAUNCHER_NONE)
			vec_push(&s.rows, &o->rows.v[i].figure);
	if (ops_sameness(o) != NULL)
		table_note(t, "%s", ops_sameness(o));
	summary_whole(&s, t);
	summary_rows(&s, t);
	note_events(o, &s, t);
	remarks_names(&o->launches, o->dict, &b);
	note_remarks(
	    t, "launches that differ by API name", &b, "; --equiv maps them");
	remarks_names(&o->calls, o->dict, &b);
	note_remarks(t, "matched calls with different names", &b, "");
	note_args(o, t);
	remarks_order(&o->order, o->dict, &b);
	note_remarks(t, "calls in another order", &b, "");
	for (int i = 0; i < NSIDES; i++)
		remarks_wrappers(
		    &o->wrappers[i], o->dict, o->set->names[i], &b);
	note_remarks(t, "calls around others on one side only", &b, "");
	note_contents(o, t);
	note_kernels(o, t);
	summary_steps(&s, t);
	vec_free(&s.rows);
	buf_free(&b);
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
