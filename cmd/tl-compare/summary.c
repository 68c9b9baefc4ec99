/* SPDX-License-Identifier: MIT */
/*
 * Tables over all sheets. summary: per sheet and variant, totals of the first
 * measure and numbers of rows; of the timeline, each line. changes: the rows
 * that differ, of the first sheet whose rows add up.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/tl-compare/compare.h"

/* 146 years; beyond, it is no time. */
#define TIME_MAX 4.6e18

enum {
	S_SHEET,
	S_WHAT,
	S_VARIANT,
	S_BASELINE,
	S_VALUE,
	S_DIFF,
	S_PERCENT,
	S_BOTH,
	S_ONLY_BASELINE,
	S_ONLY_VARIANT,
	S_REPEATED,
	NSUMMARY,
};

/* clang-format off */
static const struct column summary_columns[NSUMMARY] = {
	[S_SHEET] = { "sheet", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	[S_WHAT] = { "what", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	[S_VARIANT] = { "variant", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	[S_BASELINE] = { "before_ns", "before (ms)", COL_INT, UNIT_NS, 0, 1e6 },
	[S_VALUE] = { "after_ns", "after (ms)", COL_INT, UNIT_NS, 0, 1e6 },
	[S_DIFF] = { "diff_ns", "diff (ms)", COL_INT, UNIT_NS, COL_BETTER_LESS, 1e6 },
	[S_PERCENT] = { "diff_pct", "diff (%)", COL_REAL, UNIT_PERCENT, COL_BETTER_LESS, 0 },
	[S_BOTH] = { "both", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[S_ONLY_BASELINE] = { "only_before", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[S_ONLY_VARIANT] = { "only_after", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[S_REPEATED] = { "repeated", NULL, COL_INT, UNIT_NONE, COL_DETAIL, 0 },
};

enum {
	C_NAME,
	C_VARIANT,
	C_BASELINE,
	C_VALUE,
	C_DIFF,
	C_PERCENT,
	C_SHARE,
	C_COUNT_BASELINE,
	C_COUNT,
	NCHANGES,
};

static const struct column change_columns[NCHANGES] = {
	[C_NAME] = { "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	[C_VARIANT] = { "variant", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	[C_BASELINE] = { "before_ns", "before (ms)", COL_INT, UNIT_NS, 0, 1e6 },
	[C_VALUE] = { "after_ns", "after (ms)", COL_INT, UNIT_NS, 0, 1e6 },
	[C_DIFF] = { "diff_ns", "diff (ms)", COL_INT, UNIT_NS, COL_BETTER_LESS, 1e6 },
	[C_PERCENT] = { "diff_pct", "diff (%)", COL_REAL, UNIT_PERCENT, COL_BETTER_LESS, 0 },
	[C_SHARE] = { "pct_of_before", "of all before (%)", COL_REAL, UNIT_PERCENT, COL_BETTER_LESS, 0 },
	[C_COUNT_BASELINE] = { "count_before", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[C_COUNT] = { "count_after", NULL, COL_INT, UNIT_NONE, 0, 0 },
};
/* clang-format on */

/* ---- values ---- */

/* A time to the nearest ns; false: none. */
static bool
time_ns(const struct joined *j, size_t row, size_t report, int64_t *ns)
{
	struct val v = join_measure(j, row, report, 0);
	double t =
	    v.type == VAL_NUMBER ? v.number * j->plan->rule->measure_ns : NAN;

	*ns = 0;
	if (!(t > -TIME_MAX && t < TIME_MAX))
		return false;
	*ns = llround(t);
	return true;
}

static int64_t
add(int64_t a, int64_t b)
{
	int64_t sum;

	if (!num_add(a, b, &sum))
		die("times add up to more than 292 years");
	return sum;
}

static int64_t
total_ns(const struct joined *j, size_t report)
{
	int64_t sum = 0, ns;

	for (size_t row = 0; row < j->nrows; row++)
		if (time_ns(j, row, report, &ns))
			sum = add(sum, ns);
	return sum;
}

/* The four columns from here. */
static void
fill_values(struct cell *row, int64_t before, int64_t after)
{
	row[0] = cell_int(before);
	row[1] = cell_int(after);
	row[2] = cell_int(add(after, -before));
	row[3] = percent_of((double)(after - before), (double)before);
}

/* The first key, and the source: "busy_time, rank 1". */
static struct cell
row_name(struct table *t, const struct joined *j, size_t row)
{
	struct cell name = cell_of(join_key(j, row, 0));
	struct buf b = { 0 };

	if (name.type != CELL_TEXT || j->nown_keys == j->keys.n)
		return name;
	buf_put(&b, name.text.p, name.text.len);
	for (size_t k = j->nown_keys; k < j->keys.n; k++) {
		struct cell c = cell_of(join_key(j, row, k));

		buf_printf(&b, ", %.*s ", STR_ARGS(j->keys.v[k]));
		if (c.type == CELL_INT)
			buf_printf(&b, "%" PRId64, c.i);
		else if (c.type == CELL_TEXT)
			buf_put(&b, c.text.p, c.text.len);
	}
	name = cell_text(table_text(t, buf_str(&b)));
	buf_free(&b);
	return name;
}

/* ---- summary ---- */

static void
put_totals(struct table *t, const struct joined *j, size_t variant)
{
	struct cell *row = table_row(t);
	int64_t both = 0, only_baseline = 0, only_variant = 0;

	for (size_t i = 0; i < j->nrows; i++) {
		bool a = join_row(j, i, 0) != NO_ROW;
		bool b = join_row(j, i, variant) != NO_ROW;

		both += a && b;
		only_baseline += a && !b;
		only_variant += !a && b;
	}
	row[S_SHEET] = cell_text(str_of(j->plan->sheet));
	row[S_WHAT] = cell_text(STR("total"));
	row[S_VARIANT] = cell_text(j->reports->list.v[variant].tag);
	fill_values(row + S_BASELINE, total_ns(j, 0), total_ns(j, variant));
	row[S_BOTH] = cell_int(both);
	row[S_ONLY_BASELINE] = cell_int(only_baseline);
	row[S_ONLY_VARIANT] = cell_int(only_variant);
	row[S_REPEATED] = cell_int((int64_t)j->nrepeated);
}

/* Lines of a timeline overlap: no total. */
static void
put_lines(struct table *t, const struct joined *j, size_t variant)
{
	for (size_t i = 0; i < j->nrows; i++) {
		int64_t before, after;
		bool has_before = time_ns(j, i, 0, &before);
		bool has_after = time_ns(j, i, variant, &after);
		struct cell *row = table_row(t);

		row[S_SHEET] = cell_text(str_of(j->plan->sheet));
		row[S_WHAT] = row_name(t, j, i);
		row[S_VARIANT] = cell_text(j->reports->list.v[variant].tag);
		if (has_before && has_after)
			fill_values(row + S_BASELINE, before, after);
		else if (has_before)
			row[S_BASELINE] = cell_int(before);
		else if (has_after)
			row[S_VALUE] = cell_int(after);
	}
}

static void
put_summary(const struct joined *list, size_t n, const struct plans *plans,
    const struct reports *reports, struct sink *sink)
{
	struct table *t =
	    sink_table(sink, "summary", summary_columns, NSUMMARY);
	struct buf left = { 0 };

	table_note(t, "baseline: %.*s (%s)", STR_ARGS(reports->list.v[0].tag),
	    reports->list.v[0].path);
	for (size_t i = 0; i < plans->left_out.n; i++)
		buf_printf(&left, "%s%.*s", i > 0 ? ", " : "",
		    STR_ARGS(plans->left_out.v[i]));
	if (left.len > 0)
		table_note(t, "not compared: %.*s", STR_ARGS(left));
	for (size_t i = 0; i < n; i++)
		for (size_t r = 1; r < list[i].n; r++) {
			if (list[i].plan->rule->keeps_keys_order)
				put_lines(t, &list[i], r);
			else
				put_totals(t, &list[i], r);
		}
	sink_put(sink, t);
	buf_free(&left);
}

/* ---- changes ---- */

struct change {
	size_t row, variant;
	int64_t diff_ns;
};

static int
by_size(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	int64_t dx = llabs(x->diff_ns), dy = llabs(y->diff_ns);

	if (dx != dy)
		return dx < dy ? 1 : -1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (x->variant > y->variant) - (x->variant < y->variant);
}

/* Ops, else kernels, else ops by arguments. */
static const struct joined *
main_sheet(const struct joined *list, size_t n)
{
	static const char *const groups[] = { "ops_summary", "kernel_summary",
		"ops_all" };

	for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
		for (size_t i = 0; i < n; i++)
			if (strcmp(list[i].plan->rule->group, groups[g]) == 0)
				return &list[i];
	return NULL;
}

/* A row of one side counts in full. */
static void
put_change(
    struct table *t, const struct joined *j, const struct change *c, double all)
{
	size_t count = j->measures.n - 1;
	struct cell *row = table_row(t);
	int64_t before, after;

	row[C_NAME] = row_name(t, j, c->row);
	row[C_VARIANT] = cell_text(j->reports->list.v[c->variant].tag);
	if (time_ns(j, c->row, 0, &before))
		row[C_BASELINE] = cell_int(before);
	if (time_ns(j, c->row, c->variant, &after))
		row[C_VALUE] = cell_int(after);
	row[C_DIFF] = cell_int(c->diff_ns);
	row[C_PERCENT] = percent_of((double)c->diff_ns, (double)before);
	row[C_SHARE] = percent_of((double)c->diff_ns, all);
	row[C_COUNT_BASELINE] = cell_of(join_measure(j, c->row, 0, count));
	row[C_COUNT] = cell_of(join_measure(j, c->row, c->variant, count));
}

static void
put_changes(const struct joined *j, struct sink *sink)
{
	struct table *t = sink_table(sink, "changes", change_columns, NCHANGES);
	VEC(struct change) list = { 0 };
	double all = (double)total_ns(j, 0);

	for (size_t row = 0; row < j->nrows; row++)
		for (size_t r = 1; r < j->n; r++) {
			int64_t before, after;

			(void)time_ns(j, row, 0, &before);
			(void)time_ns(j, row, r, &after);
			if (after != before)
				vec_push(&list,
				    ((struct change){
					row, r, add(after, -before) }));
		}
	if (list.n > 0)
		qsort(list.v, list.n, sizeof *list.v, by_size);
	table_note(t, "of sheet %s: %.*s", j->plan->sheet,
	    STR_ARGS(j->measures.v[0].label));
	for (size_t i = 0; i < list.n && sink_wants(sink); i++)
		put_change(t, j, &list.v[i], all);
	sink_put(sink, t);
	vec_free(&list);
}

void
summary_put(const struct joined *list, size_t n, const struct plans *plans,
    const struct reports *reports, struct sink *sink)
{
	const struct joined *j = main_sheet(list, n);

	put_summary(list, n, plans, reports, sink);
	if (j != NULL)
		put_changes(j, sink);
}
