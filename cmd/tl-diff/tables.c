/* SPDX-License-Identifier: MIT */
/* Which tables exist and are wanted; prints those of what changed. */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-diff/events.h"
#include "cmd/tl-diff/notes.h"
#include "sink/cells.h"

/* Last columns of rows of what changed. */
#define CHANGE_COLUMNS                                                 \
	{ "before_ns", NULL, COL_INT, UNIT_NS, 0, 0 },                 \
	    { "after_ns", NULL, COL_INT, UNIT_NS, 0, 0 },              \
	    { "diff_ns", NULL, COL_INT, UNIT_NS, 0, 0 },               \
	    { "ratio", NULL, COL_REAL, UNIT_NONE, 0, 0 },              \
	    { "pct_of_diff", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },     \
	    { "spread_ns", NULL, COL_INT, UNIT_NS, 0, 0 },             \
	    { "is_noise", NULL, COL_BOOL, UNIT_NONE, 0, 0 },           \
	    { "is_comm", NULL, COL_BOOL, UNIT_NONE, COL_DETAIL, 0 },   \
	{                                                              \
		"first_step_ns", NULL, COL_INT, UNIT_NS, COL_DETAIL, 0 \
	}

static const struct column ops_columns[] = {
	{ "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "launcher", NULL, COL_TEXT, UNIT_NONE, COL_DETAIL, 0 },
	{ "input_dims", "Input Dims", COL_TEXT, UNIT_NONE, 0, 0 },
	{ "input_types", "Input type", COL_TEXT, UNIT_NONE, COL_DETAIL, 0 },
	{ "input_strides", "Input Strides", COL_TEXT, UNIT_NONE, COL_DETAIL,
	    0 },
	{ "concrete_inputs", "Concrete Inputs", COL_TEXT, UNIT_NONE, COL_DETAIL,
	    0 },
	{ "count_before", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "count_after", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "kernels_before", NULL, COL_INT, UNIT_COUNT, COL_DETAIL, 0 },
	{ "kernels_after", NULL, COL_INT, UNIT_COUNT, COL_DETAIL, 0 },
	CHANGE_COLUMNS,
};

static const struct column kernels_columns[] = {
	{ "kind", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "name_after", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "count_before", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "count_after", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "alone_before", NULL, COL_INT, UNIT_COUNT, COL_DETAIL, 0 },
	{ "alone_after", NULL, COL_INT, UNIT_COUNT, COL_DETAIL, 0 },
	{ "first_uid_before", NULL, COL_TEXT, UNIT_NONE, COL_DETAIL, 0 },
	{ "first_uid_after", NULL, COL_TEXT, UNIT_NONE, COL_DETAIL, 0 },
	CHANGE_COLUMNS,
};

static const struct column steps_columns[] = {
	{ "kind", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 },
	{ "term", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "call", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "before_ns", NULL, COL_REAL, UNIT_NS, 0, 0 },
	{ "after_ns", NULL, COL_REAL, UNIT_NS, 0, 0 },
	{ "diff_ns", NULL, COL_REAL, UNIT_NS, 0, 0 },
	{ "pct_of_step_diff", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "spread_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "is_noise", NULL, COL_BOOL, UNIT_NONE, 0, 0 },
	{ "steps_before", NULL, COL_INT, UNIT_COUNT, COL_MINOR, 0 },
	{ "steps_after", NULL, COL_INT, UNIT_COUNT, COL_MINOR, 0 },
	{ "src_before", NULL, COL_INT, UNIT_NONE, COL_MINOR, 0 },
	{ "uid_before", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 },
	{ "src_after", NULL, COL_INT, UNIT_NONE, COL_MINOR, 0 },
	{ "uid_after", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 },
};

static const struct column ranks_columns[] = {
	{ "rank", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "before_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "after_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "diff_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "spread_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "is_noise", NULL, COL_BOOL, UNIT_NONE, 0, 0 },
	{ "judged_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "structure_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "row", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "row_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "steps_before", NULL, COL_INT, UNIT_COUNT, COL_MINOR, 0 },
	{ "steps_after", NULL, COL_INT, UNIT_COUNT, COL_MINOR, 0 },
	{ "first_step_ns", NULL, COL_INT, UNIT_NS, COL_DETAIL, 0 },
};

/* Sentences above a table, as a table of their own. */
static const struct column verdict_columns[] = {
	{ "text", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
};

#define COLUMNS(of) (of), sizeof(of) / sizeof *(of)

#define BY_ANY (1 << BY_OP | 1 << BY_KERNEL)

struct kind_of_table;
typedef void print_fn(const struct changes *c, const struct kind_of_table *k);
static print_fn print_changes, print_steps, print_verdict, print_ranks;

static const struct kind_of_table {
	const char *name;
	unsigned by;                  /* bits of enum what_by */
	const struct column *columns; /* NULL: of events; rows says which */
	size_t ncolumns;
	print_fn *print;
	enum rows_of rows;
} kinds[] = {
	{ "diff_ops_summary", 1 << BY_OP, COLUMNS(ops_columns), print_changes,
	    0 },
	{ "diff_kernels", 1 << BY_KERNEL, COLUMNS(kernels_columns),
	    print_changes, 0 },
	{ "diff_steps", BY_ANY, COLUMNS(steps_columns), print_steps, 0 },
	{ "diff_verdict", BY_ANY, COLUMNS(verdict_columns), print_verdict, 0 },
	{ "diff_ranks", BY_ANY, COLUMNS(ranks_columns), print_ranks, 0 },
	{ "diff_stats", 1 << BY_OP, NULL, 0, NULL, ROWS_EVENTS },
	{ "diff_stats_unique_args_summary", 1 << BY_OP, NULL, 0, NULL,
	    ROWS_ALIKE },
	{ "lca_summary", 1 << BY_OP, NULL, 0, NULL, ROWS_POINTS },
	{ "uid_map", 1 << BY_OP, NULL, 0, NULL, ROWS_NODES },
};
#define NTABLES (sizeof kinds / sizeof *kinds)

/* ---- wanted tables ---- */

static bool
is_wanted(const struct settings *set, const struct kind_of_table *k)
{
	if (set->table != NULL)
		return strcmp(set->table, k->name) == 0;
	if (k->print == print_ranks && !ranks_are_judged(set))
		return false;
	if (set->dest.dir != NULL)
		return (k->by & 1U << set->by) != 0;
	return k == &kinds[set->by == BY_KERNEL];
}

bool
tables_want_steps(const struct settings *set)
{
	for (size_t i = 0; i < NTABLES; i++)
		if (kinds[i].by == BY_ANY && kinds[i].print != print_ranks &&
		    is_wanted(set, &kinds[i]))
			return true;
	return false;
}

static void
check_named(struct settings *set)
{
	const struct kind_of_table *named = NULL;

	for (size_t i = 0; i < NTABLES; i++)
		if (strcmp(set->table, kinds[i].name) == 0)
			named = &kinds[i];
	if (named == NULL)
		table_refuse(
		    str_of(set->table), &kinds[0].name, NTABLES, sizeof *kinds);
	if (set->by == BY_KERNEL && (named->by & 1 << BY_KERNEL) == 0)
		die_usage("table '%s' is not one of --by kernel", set->table);
	if (named->print == print_ranks && !ranks_are_judged(set))
		die_usage("table '%s' needs --pair rank, and --per step with "
			  "--by kernel",
		    set->table);
	if (set->per == PER_STEP && named->columns == NULL)
		die_usage("option '--per': table '%s' is of single events",
		    set->table);
	if (named->by == 1 << BY_KERNEL)
		set->by = BY_KERNEL;
}

void
tables_check(struct settings *set)
{
	struct column columns[ROWS_MAX_COLUMNS];

	if (set->table != NULL)
		check_named(set);
	for (size_t i = 0; i < NTABLES; i++) {
		const struct kind_of_table *k = &kinds[i];

		if (!is_wanted(set, k))
			continue;
		if (k->columns != NULL)
			table_dest_check(
			    &set->dest, k->name, k->columns, k->ncolumns);
		else
			table_dest_check(&set->dest, k->name, columns,
			    rows_columns(k->rows, columns));
	}
}

/* ---- what changed ---- */

/* Count per unit; the mean is no integer where units differ. */
static struct cell
count_cell(const struct changes *c, int side, uint64_t n)
{
	uint64_t units = c->unit[side].n;

	if (units < 2)
		return cell_int((int64_t)n);
	if (n % units == 0)
		return cell_int((int64_t)(n / units));
	return cell_real((double)n / (double)units);
}

struct cell
cell_of_sides(
    struct table *t, const struct dict *st, uint32_t before, uint32_t after)
{
	const uint32_t of[NSIDES] = { before, after };
	struct buf both = { 0 };
	struct cell c;

	if (before == after)
		return cell_string(st, before);
	for (int s = 0; s < NSIDES; s++) {
		struct str x =
		    of[s] != INTERN_NONE ? dict_get(st, of[s]) : STR("(none)");

		buf_puts(&both, s > 0 ? " | " : "");
		buf_put(&both, x.p, x.len);
	}
	c = cell_text(table_row_text(t, buf_str(&both)));
	buf_free(&both);
	return c;
}

/* Renamed ops have both names. */
static struct cell
name_cell(struct table *t, const struct dict *st, const struct change *r)
{
	if (r->key.n[0] == INTERN_NONE)
		return cell_text(STR("(no launch)"));
	return cell_of_sides(t, st, r->name[0],
	    r->key.n[0] == r->key.n[1] ? r->name[0] : r->name[1]);
}

static struct cell *
put_op(struct cell *row, struct table *t, const struct changes *c,
    const struct change *r)
{
	const struct op_args *a = &r->key.args[0], *b = &r->key.args[1];

	row[0] = name_cell(t, c->dict, r);
	row[1] = cell_string(c->dict, r->key.kind);
	row[2] = cell_of_sides(t, c->dict, a->dims, b->dims);
	row[3] = cell_of_sides(t, c->dict, a->types, b->types);
	row[4] = cell_of_sides(t, c->dict, a->strides, b->strides);
	row[5] = cell_of_sides(t, c->dict, a->concrete, b->concrete);
	for (int s = 0; s < NSIDES; s++) {
		row[6 + s] = count_cell(c, s, r->calls[s]);
		row[8 + s] = count_cell(c, s, r->kernels[s]);
	}
	return row + 10;
}

static struct cell *
put_kernel(struct cell *row, struct table *t, const struct changes *c,
    const struct change *r)
{
	row[0] = cell_string(c->dict, r->key.kind);
	row[1] = cell_text(dict_get(c->dict, r->name[0]));
	if (r->key.n[0] != r->key.n[1])
		row[2] = cell_text(dict_get(c->dict, r->name[1]));
	for (int s = 0; s < NSIDES; s++) {
		char text[UID_MAX];
		const struct example *ex = &r->example[s];

		row[3 + s] = count_cell(c, s, r->kernels[s]);
		row[5 + s] = count_cell(c, s, r->alone[s]);
		if (ex->is_set)
			row[7 + s] = cell_text(table_row_text(
			    t, (struct str){ text, uid_put(text, ex->uid) }));
	}
	return row + 9;
}

static void
put_row(struct table *t, const struct changes *c, const struct change *r)
{
	struct cell *row = table_row(t);

	row = c->set->by == BY_OP ? put_op(row, t, c, r)
				  : put_kernel(row, t, c, r);
	row[0] = cell_int(r->unit_ns[0]);
	row[1] = cell_int(r->unit_ns[1]);
	row[2] = cell_int(r->diff_ns);
	if (r->unit_ns[0] > 0)
		row[3] =
		    cell_real((double)r->unit_ns[1] / (double)r->unit_ns[0]);
	if (c->gross_ns > 0)
		row[4] =
		    cell_real(100 * (double)r->diff_ns / (double)c->gross_ns);
	row[7] = cell_bool(r->key.family == FAMILY_COMM);
	if (c->warmup.is_set)
		row[8] = cell_int(r->first_ns);
	if (r->has_verdict) {
		struct noise all = r->noise;

		noise_join(&all, &r->first);
		row[5] = cell_int(llround(noise_spread(&all)));
		row[6] = cell_bool(r->is_noise);
	}
}

/* Mean counts may be no integers. */
static void
print_changes(const struct changes *c, const struct kind_of_table *k)
{
	struct column *columns = xmalloc(k->ncolumns * sizeof *columns);
	bool are_means = c->unit[0].n > 1 || c->unit[1].n > 1;
	struct table *t;

	memcpy(columns, k->columns, k->ncolumns * sizeof *columns);
	for (size_t i = 0; i < k->ncolumns && are_means; i++)
		if (columns[i].unit == UNIT_COUNT)
			columns[i].type = COL_REAL;
	t = table_create(k->name, columns, k->ncolumns);
	changes_notes(c, t, true);
	for (size_t i = 0; i < c->rows.n; i++)
		put_row(t, c, &c->rows.v[i]);
	table_print(t, &c->set->dest);
	table_destroy(t);
	free(columns);
}

static struct cell
half_cell(int64_t twice)
{
	return cell_real((double)twice / 2);
}

static void
put_term(struct table *t, const struct changes *c, const struct step_group *g,
    const struct term *x)
{
	const struct term *step = &c->clock.terms.v[g->first];
	struct cell *row = table_row(t);

	row[0] = cell_string(c->dict, g->kind);
	row[1] = cell_text(str_of(term_word(x)));
	if (x->is_named)
		row[2] = cell_string(c->dict, x->name);
	row[3] = half_cell(x->twice_ns[0]);
	row[4] = half_cell(x->twice_ns[1]);
	row[5] = half_cell(term_twice_diff(x));
	if (term_twice_diff(step) != 0)
		row[6] = cell_real(100 * (double)term_twice_diff(x) /
		    (double)term_twice_diff(step));
	if (x->is_known) {
		row[7] = cell_int(llround(noise_spread(&x->noise)));
		row[8] = cell_bool(x->is_noise);
	}
	for (int s = 0; s < NSIDES; s++) {
		const struct uid *uid = term_uid(x, s);
		char text[UID_MAX];

		row[9 + s] = cell_int((int64_t)g->n[s]);
		if (uid == NULL)
			continue;
		row[11 + 2 * s] = cell_int(x->step[s]->src);
		row[12 + 2 * s] = cell_text(table_row_text(
		    t, (struct str){ text, uid_put(text, *uid) }));
	}
}

static void
print_steps(const struct changes *c, const struct kind_of_table *k)
{
	struct table *t = table_create(k->name, k->columns, k->ncolumns);

	changes_notes(c, t, true);
	for (size_t i = 0; i < c->clock.groups.n; i++) {
		const struct step_group *g = &c->clock.groups.v[i];

		for (uint32_t at = g->first; at < g->end; at++)
			put_term(t, c, g, &c->clock.terms.v[at]);
	}
	table_print(t, &c->set->dest);
	table_destroy(t);
}

static void
print_verdict(const struct changes *c, const struct kind_of_table *k)
{
	struct table *from = table_create("", k->columns, k->ncolumns);
	struct table *t = table_create(k->name, k->columns, k->ncolumns);

	changes_notes(c, from, false);
	for (size_t i = 0; i < table_notes(from); i++)
		table_row(t)[0] = cell_text(table_note_at(from, i));
	table_print(t, &c->set->dest);
	table_destroy(t);
	table_destroy(from);
}

static void
print_ranks(const struct changes *c, const struct kind_of_table *k)
{
	struct table *t = table_create(k->name, k->columns, k->ncolumns);

	changes_notes(c, t, true);
	for (size_t i = 0; i < c->ranks.list.n; i++) {
		const struct rank_change *r = &c->ranks.list.v[i];
		struct cell *row = table_row(t);

		row[0] = cell_int(r->rank);
		row[1] = cell_int(r->unit_ns[0]);
		row[2] = cell_int(r->unit_ns[1]);
		row[3] = cell_int(rank_diff(r));
		for (int s = 0; s < NSIDES; s++)
			row[10 + s] = cell_int((int64_t)r->nsteps[s]);
		if (c->ranks.has_steps)
			row[7] = cell_int(r->structure_ns);
		if (c->warmup.is_set)
			row[12] = cell_int(r->first_ns);
		if (!r->is_known)
			continue;
		row[4] = cell_int(llround(noise_spread(&r->noise)));
		row[5] = cell_bool(rank_diff(r) != 0 && r->judged_ns == 0);
		row[6] = cell_int(r->judged_ns);
		if (r->nrows == 0)
			continue;
		row[8] = cell_of_sides(
		    t, c->dict, r->rows[0].name[0], r->rows[0].name[1]);
		row[9] = cell_int(r->rows[0].ns);
	}
	table_print(t, &c->set->dest);
	table_destroy(t);
}

/* ---- tables of events ---- */

/* A table that grows run by run. */
struct growing {
	struct table *table; /* NULL: not begun */
	struct table_dest *dest, own;
	struct column columns[ROWS_MAX_COLUMNS];
};

struct tables {
	struct settings *set;
	struct growing list[NTABLES];
};

struct tables *
tables_create(struct settings *set)
{
	struct tables *t = xcalloc(1, sizeof *t);

	t->set = set;
	return t;
}

/* In a folder each table has its file; otherwise there is one table. */
static void
begin(struct growing *g, const struct kind_of_table *k, struct settings *set,
    bool several)
{
	size_t n = rows_columns(k->rows, g->columns);

	for (size_t i = 0; i < NRUN_COLUMNS && several; i++)
		g->columns[i].flags &= ~(unsigned)COL_DETAIL;
	g->own = set->dest;
	g->dest = set->dest.dir != NULL ? &g->own : &set->dest;
	g->table = table_create(k->name, g->columns, n);
	table_stream(g->table, g->dest);
}

void
tables_add(struct tables *t, const struct diff *d, bool several)
{
	for (size_t i = 0; i < NTABLES; i++) {
		struct growing *g = &t->list[i];

		if (kinds[i].columns != NULL || !is_wanted(t->set, &kinds[i]))
			continue;
		if (g->table == NULL)
			begin(g, &kinds[i], t->set, several);
		rows_list(g->table, kinds[i].rows, d);
	}
}

void
tables_finish(struct tables *t, const struct changes *c)
{
	for (size_t i = 0; i < NTABLES; i++) {
		struct growing *g = &t->list[i];

		if (g->table != NULL) {
			table_print(g->table, g->dest);
			table_destroy(g->table);
		} else if (kinds[i].print != NULL &&
		    is_wanted(t->set, &kinds[i])) {
			kinds[i].print(c, &kinds[i]);
		}
	}
	table_dest_finish(&t->set->dest);
	free(t);
}
