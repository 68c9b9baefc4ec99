/* SPDX-License-Identifier: MIT */
/* The rows of a sheet that belong together, in all reports. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/tl-compare/compare.h"

/* ---- columns ---- */

static bool
all_have(const struct joined *j, struct str column)
{
	for (size_t r = 0; r < j->n; r++)
		if (j->data[r]->nrows > 0 &&
		    data_column(j->data[r], column) == NO_COLUMN)
			return false;
	return true;
}

/* A key column that one report lacks cannot be a key. */
static void
tell_missing(const struct joined *j, struct str key)
{
	const char *lacks = NULL;
	bool any = false;

	for (size_t r = 0; r < j->n; r++) {
		if (data_column(j->data[r], key) != NO_COLUMN)
			any = true;
		else if (j->data[r]->nrows > 0)
			lacks = j->reports->list.v[r].path;
	}
	if (any && lacks != NULL)
		report(MSG_KEY_MISSING, j->plan->sheet, lacks, key);
}

/* "param: x" columns that all reports have, by name. */
static void
add_params(struct joined *j)
{
	const struct data *first = NULL;
	size_t from = j->keys.n;

	for (size_t r = 0; r < j->n && first == NULL; r++)
		if (j->data[r]->nrows > 0)
			first = j->data[r];
	for (size_t i = 0; first != NULL && i < first->columns.n; i++)
		if (str_starts(first->columns.v[i], STR("param: ")) &&
		    all_have(j, first->columns.v[i]))
			vec_push(&j->keys, first->columns.v[i]);
	if (j->keys.n > from)
		qsort(j->keys.v + from, j->keys.n - from, sizeof *j->keys.v,
		    str_order);
}

static bool
is_key(const struct joined *j, struct str column)
{
	for (size_t k = 0; k < j->keys.n; k++)
		if (str_eq(column, j->keys.v[k]))
			return true;
	return false;
}

/* Rank or GPU, where a report has several. */
static void
add_sources(struct joined *j)
{
	static const struct str columns[] = { STR_INIT("rank"), STR_INIT("src"),
		STR_INIT("gpu_pid") };

	j->nown_keys = j->keys.n;
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		if (all_have(j, columns[i]) && !is_key(j, columns[i]))
			vec_push(&j->keys, columns[i]);
}

static void
add_measure(struct joined *j, struct str label)
{
	struct measure m = { label, 0 };

	if (label.p[0] == '-' || label.p[0] == '+') {
		m.better =
		    label.p[0] == '-' ? COL_BETTER_LESS : COL_BETTER_MORE;
		m.label.p++, m.label.len--;
	}
	vec_push(&j->measures, m);
}

static void
find_columns(struct joined *j)
{
	const struct sheet_rule *rule = j->plan->rule;
	const char *keys = rule->keys, *measures = rule->measures;
	struct str label;

	while (str_next(&keys, '|', &label)) {
		if (all_have(j, label))
			vec_push(&j->keys, label);
		else
			tell_missing(j, label);
	}
	if (rule->has_params)
		add_params(j);
	add_sources(j);
	while (str_next(&measures, '|', &label))
		add_measure(j, label);

	j->key_columns = xcalloc(j->n * j->keys.n, sizeof *j->key_columns);
	j->measure_columns =
	    xcalloc(j->n * j->measures.n, sizeof *j->measure_columns);
	for (size_t r = 0; r < j->n; r++) {
		for (size_t k = 0; k < j->keys.n; k++)
			j->key_columns[r * j->keys.n + k] =
			    data_column(j->data[r], j->keys.v[k]);
		for (size_t m = 0; m < j->measures.n; m++)
			j->measure_columns[r * j->measures.n + m] =
			    data_column(j->data[r], j->measures.v[m].label);
	}
}

/* ---- cells ---- */

struct val
join_cell(const struct joined *j, size_t row, size_t report, size_t column)
{
	uint32_t at = join_row(j, row, report);

	if (at == NO_ROW || column == NO_COLUMN)
		return (struct val){ .type = VAL_NONE };
	return *data_cell(j->data[report], at, column);
}

struct val
join_key(const struct joined *j, size_t row, size_t key)
{
	for (size_t r = 0; r < j->n; r++)
		if (join_row(j, row, r) != NO_ROW)
			return join_cell(
			    j, row, r, j->key_columns[r * j->keys.n + key]);
	return (struct val){ .type = VAL_NONE };
}

struct val
join_measure(const struct joined *j, size_t row, size_t report, size_t measure)
{
	struct val v = join_cell(j, row, report,
	    j->measure_columns[report * j->measures.n + measure]);

	return v.type == VAL_NUMBER ? v : (struct val){ .type = VAL_NONE };
}

/* ---- order ---- */

/* Numbers, then texts, then empty cells. */
static int
val_rank(const struct val *v)
{
	return v->type == VAL_NUMBER ? 0 : v->type == VAL_NONE ? 2 : 1;
}

static int
val_cmp(const struct val *a, const struct val *b)
{
	int ra = val_rank(a), rb = val_rank(b);

	if (ra != rb)
		return ra - rb;
	if (ra == 0)
		return (a->number > b->number) - (a->number < b->number);
	return ra == 1 ? str_cmp(a->text, b->text) : 0;
}

/* Largest first by a report's first measure (NO_ROW: none), then by key. */
struct order {
	const struct joined *j;
	size_t report;
};

static int
in_order(const void *a, const void *b, void *ctx)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct order *o = ctx;
	int c = 0;

	if (o->report != NO_ROW) {
		struct val u = join_measure(o->j, x, o->report, 0);
		struct val v = join_measure(o->j, y, o->report, 0);

		/* largest first, but empty last */
		c = u.type == v.type ? val_cmp(&v, &u) : val_cmp(&u, &v);
	}
	for (size_t k = 0; c == 0 && k < o->j->keys.n; k++) {
		struct val u = join_key(o->j, x, k), v = join_key(o->j, y, k);

		c = val_cmp(&u, &v);
	}
	return c != 0 ? c : (x > y) - (x < y); /* as they were paired */
}

void
join_sort(const struct joined *j, uint32_t *order, size_t n, size_t report)
{
	struct order o = { j, report };

	if (n > 0)
		qsort_r(order, n, sizeof *order, in_order, &o);
}

static void
sort_rows(struct joined *j)
{
	uint32_t *order = xcalloc(j->nrows + 1, sizeof *order);
	uint32_t *rows = xcalloc(j->nrows * j->n + 1, sizeof *rows);

	for (size_t i = 0; i < j->nrows; i++)
		order[i] = (uint32_t)i;
	join_sort(
	    j, order, j->nrows, j->plan->rule->keeps_keys_order ? NO_ROW : 0);
	for (size_t i = 0; i < j->nrows; i++)
		memcpy(rows + i * j->n, j->rows + order[i] * j->n,
		    j->n * sizeof *rows);
	vec_release(j->rows);
	j->rows = rows;
	free(order);
}

/* ---- a sheet ---- */

/* A report whose sheet lacks the key counts as without it. */
static void
read_reports(struct joined *j, struct reports *reports)
{
	static const struct data empty;
	struct str sheet = str_of(j->plan->sheet);
	const char *keys = j->plan->rule->keys;
	struct str key;

	(void)str_next(&keys, '|', &key);
	for (size_t r = 0; r < j->n; r++) {
		struct report *report = &reports->list.v[r];

		j->data[r] = report_read(report, sheet);
		if (!report_has(report, sheet)) {
			report(MSG_SHEET_MISSING, report->path, j->plan->sheet);
		} else if (j->data[r]->nrows > 0 &&
		    data_column(j->data[r], key) == NO_COLUMN) {
			report(MSG_SHEET_NO_KEY, report->path, j->plan->sheet,
			    key);
			j->data[r] = &empty;
		}
	}
}

static void
tell_pairs(const struct joined *j)
{
	if (j->nalike > 0)
		report(MSG_KEYS_REPEATED, j->plan->sheet, j->nalike);
	if (j->nunclear > 0)
		report(MSG_KEYS_UNCLEAR, j->plan->sheet, j->nunclear);
	for (size_t r = 1; r < j->n; r++) {
		size_t row = 0;

		while (row < j->nrows &&
		    (join_row(j, row, 0) == NO_ROW ||
			join_row(j, row, r) == NO_ROW))
			row++;
		if (row == j->nrows && j->data[0]->nrows > 0 &&
		    j->data[r]->nrows > 0)
			report(MSG_ROWS_APART, j->plan->sheet,
			    j->reports->list.v[r].path);
	}
}

bool
join_sheet(struct joined *j, const struct plan *plan, struct reports *reports)
{
	bool any = false;

	*j = (struct joined){
		.plan = plan, .reports = reports, .n = reports->list.n
	};
	j->data = xcalloc(j->n, sizeof *j->data);
	read_reports(j, reports);
	for (size_t r = 0; r < j->n; r++)
		any |= j->data[r]->nrows > 0;
	if (!any) {
		report(MSG_SHEET_EMPTY, plan->sheet);
		join_free(j);
		return false;
	}
	find_columns(j);
	join_pair(j);
	sort_rows(j);
	tell_pairs(j);
	return true;
}

void
join_free(struct joined *j)
{
	free(j->data);
	vec_free(&j->keys);
	vec_free(&j->measures);
	free(j->key_columns);
	free(j->measure_columns);
	free(j->rows);
}
