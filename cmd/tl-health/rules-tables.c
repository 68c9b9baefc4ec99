/* SPDX-License-Identifier: MIT */
/* Judges rules about tables, which their programs print from the tree. */
#include "cmd/tl-health/rules.h"
#include "reader/reader.h"

#include <math.h>

#define NO_COLUMN SIZE_MAX

/* Indices of a test's column and of the one it compares with. */
struct places {
	size_t column, other;
};

/* A rule whose table is being read. */
struct judged {
	const struct site_rule *rule;
	struct outcome *out;
	VEC(struct places) where;
	struct places require;
	uint64_t nrows, nempty;
	bool is_here; /* the current table is its own */
};

/* One run of a program, for all rules that ask the same. */
struct run {
	const struct site_rules *rules;
	const char *name; /* name of the trace */
	struct arena *mem;
	VEC(struct judged) list;
	VEC(struct head_column) columns; /* copies */
};

bool
rule_holds(const struct rule_test *t, double value, double than)
{
	switch (t->op) {
	case RULE_LE: return value <= than;
	case RULE_GE: return value >= than;
	case RULE_LESS: return value < than;
	case RULE_MORE: return value > than;
	case RULE_UNLIKE: return value < than || value > than;
	default: return !(value < than || value > than);
	}
}

static void
put_number(struct buf *b, double v)
{
	char text[NUM_DOUBLE_MAX];
	size_t n = num_put_double(text, v);

	if (n > 2 && memcmp(text + n - 2, ".0", 2) == 0)
		n -= 2;
	buf_put(b, text, n);
}

void
rule_put_broken(
    struct buf *b, const struct rule_test *t, double value, double than)
{
	buf_printf(b, "%.*s ", (int)t->column.len, t->column.p);
	put_number(b, value);
	buf_printf(b, " is not %s ", rule_op_words[t->op]);
	put_number(b, than);
	if (t->other.len > 0)
		buf_printf(b, " (%.*s)", (int)t->source.len, t->source.p);
}

/* ---- columns ---- */

static size_t
find_column(const struct run *g, struct str id)
{
	for (size_t i = 0; i < g->columns.n; i++)
		if (str_eq(g->columns.v[i].id, id))
			return i;
	return NO_COLUMN;
}

static size_t
need_column(
    const struct run *g, const struct judged *j, size_t line, struct str id)
{
	size_t at = find_column(g, id);
	struct buf b = { 0 };

	if (at != NO_COLUMN)
		return at;
	for (size_t i = 0; i < g->columns.n; i++)
		buf_printf(&b, "%s%.*s", i > 0 ? ", " : "",
		    (int)g->columns.v[i].id.len, g->columns.v[i].id.p);
	rule_die(g->rules, line, "table %s has no column '%.*s'; it has %.*s",
	    j->rule->sheet->name, (int)id.len, id.p, (int)b.len, b.p);
}

static bool
is_figure(const struct head_column *c)
{
	return c->type == COL_INT || c->type == COL_REAL;
}

static struct places
need_places(
    const struct run *g, const struct judged *j, const struct rule_test *t)
{
	struct places p = { need_column(g, j, t->line, t->column), NO_COLUMN };
	const struct head_column *c = &g->columns.v[p.column];

	if (t->other.len > 0)
		p.other = need_column(g, j, t->line, t->other);
	if ((t->like.len == 0 && !is_figure(c)) ||
	    (p.other != NO_COLUMN && !is_figure(&g->columns.v[p.other])))
		rule_die(g->rules, t->line, "'%.*s' compares a text",
		    (int)t->source.len, t->source.p);
	if (t->is_time && t->like.len == 0 && c->unit != UNIT_NS)
		rule_die(g->rules, t->line, "column '%.*s' is no time",
		    (int)t->column.len, t->column.p);
	return p;
}

static void
begin_table(void *ctx, const struct head *head)
{
	struct run *g = ctx;

	g->columns.n = 0;
	for (size_t i = 0; i < head->ncolumns; i++) {
		struct head_column c = head->columns[i];

		c.id = arena_str(g->mem, c.id);
		vec_push(&g->columns, c);
	}
	for (size_t i = 0; i < g->list.n; i++) {
		struct judged *j = &g->list.v[i];
		const struct site_rule *rule = j->rule;

		j->is_here = str_eq(head->name, str_of(rule->sheet->name));
		if (!j->is_here)
			continue;
		j->where.n = 0;
		for (size_t k = 0; k < rule->where.n; k++)
			vec_push(
			    &j->where, need_places(g, j, &rule->where.v[k]));
		j->require = need_places(g, j, &rule->require);
	}
}

/* ---- rows ---- */

static double
number_of(const struct val *v)
{
	double n;

	if (v->type == VAL_NUMBER)
		return v->number;
	return v->type == VAL_BIG && num_double(v->text, &n) ? n : NAN;
}

static void
put_cell(struct buf *b, const struct val *v)
{
	if (v->type == VAL_NUMBER)
		put_number(b, v->number);
	else if (v->type == VAL_BOOL)
		buf_puts(b, v->yes ? "true" : "false");
	else if (v->type != VAL_NONE)
		text_visible(v->text, b);
}

/* The right side of a test; NAN: an empty cell. */
static double
than_of(
    const struct rule_test *t, const struct places *p, const struct val *cells)
{
	return p->other == NO_COLUMN ? t->number
				     : t->number * number_of(&cells[p->other]);
}

static bool
is_like(const struct rule_test *t, const struct val *v)
{
	struct buf b = { 0 };
	bool is;

	if (v->type == VAL_TEXT)
		return str_glob(t->like, v->text);
	put_cell(&b, v);
	is = str_glob(t->like, buf_str(&b));
	buf_free(&b);
	return is;
}

static bool
is_asked(
    const struct rule_test *t, const struct places *p, const struct val *cells)
{
	const struct val *v = &cells[p->column];
	double n = number_of(v), than = than_of(t, p, cells);

	if (v->type == VAL_NONE)
		return false;
	if (t->like.len > 0 && !(t->has_number && !isnan(n)))
		return is_like(t, v) == (t->op == RULE_LIKE);
	return !isnan(n) && !isnan(than) && rule_holds(t, n, than);
}

/* Names the row by its first cell. */
static void
put_row(const struct run *g, struct buf *b, const struct val *cells)
{
	for (size_t i = 0; i < g->columns.n; i++)
		if (cells[i].type != VAL_NONE) {
			buf_printf(b, "%.*s ", (int)g->columns.v[i].id.len,
			    g->columns.v[i].id.p);
			put_cell(b, &cells[i]);
			buf_puts(b, ": ");
			return;
		}
}

static struct str
uid_of_row(const struct run *g, const struct val *cells)
{
	struct buf b = { 0 };
	struct str uid;

	for (size_t i = 0; i < g->columns.n && b.len == 0; i++)
		if (str_eq(g->columns.v[i].id, STR("uid")) ||
		    str_ends(g->columns.v[i].id, STR("_uid")))
			put_cell(&b, &cells[i]);
	uid = arena_str(g->mem, buf_str(&b));
	buf_free(&b);
	return uid;
}

static void
judge_row(struct run *g, struct judged *j, const struct val *cells)
{
	const struct rule_test *t = &j->rule->require;
	double n = number_of(&cells[j->require.column]);
	double than = than_of(t, &j->require, cells);
	struct outcome *out = j->out;
	struct buf b = { 0 };

	for (size_t i = 0; i < j->where.n; i++)
		if (!is_asked(&j->rule->where.v[i], &j->where.v[i], cells))
			return;
	j->nrows++;
	if (!isnan(n) && !isnan(than) && rule_holds(t, n, than))
		return;
	put_row(g, &b, cells);
	if (isnan(n) || isnan(than)) {
		const struct str empty = isnan(n) ? t->column : t->other;

		buf_printf(&b, "no %.*s", (int)empty.len, empty.p);
		if (j->nempty++ == 0 && out->result == RULE_PASSED)
			out->why = arena_str(g->mem, buf_str(&b));
	} else {
		rule_put_broken(&b, t, n, than);
		if (out->n++ == 0) {
			out->why = arena_str(g->mem, buf_str(&b));
			out->uid = uid_of_row(g, cells);
		}
		out->result = RULE_BROKEN;
	}
	buf_free(&b);
}

static void
take_row(void *ctx, const struct val *cells)
{
	struct run *g = ctx;

	for (size_t i = 0; i < g->list.n; i++)
		if (g->list.v[i].is_here)
			judge_row(g, &g->list.v[i], cells);
}

static void
end_table(void *ctx)
{
	(void)ctx;
}

/* ---- the program ---- */

static void
settle(struct run *g, struct judged *j, int status, struct str wrong)
{
	const struct sheet *s = j->rule->sheet;

	if (status == EXIT_USAGE)
		rule_die(g->rules, j->rule->line, "%s: %.*s", s->program,
		    (int)wrong.len, wrong.p);
	if (j->out->result == RULE_BROKEN || (j->nrows > 0 && j->nempty == 0))
		return;
	j->out->result = RULE_UNJUDGED;
	if (j->nempty > 0)
		return;
	j->out->why = status == EXIT_NOTHING
	    ? wrong
	    : str_of(arena_printf(g->mem, "no such row in table %s", s->name));
}

static void
run_program(struct run *g, int tree)
{
	const struct site_rule *rule = g->list.v[0].rule;
	const struct table_sink sink = { begin_table, take_row, end_table, g };
	struct str wrong;
	int status = table_ask(&(struct asked){ .program = rule->sheet->program,
				   .words = rule->words.v,
				   .nwords = rule->words.n,
				   .tree = tree,
				   .name = g->name },
	    &sink, g->mem, &wrong);

	for (size_t i = 0; i < g->list.n; i++)
		settle(g, &g->list.v[i], status, wrong);
}

/* ---- rules that share a run ---- */

static bool
asks_same(const struct site_rule *a, const struct site_rule *b)
{
	if (b->sheet != a->sheet || a->words.n != b->words.n)
		return false;
	for (size_t i = 0; i < a->words.n; i++)
		if (strcmp(a->words.v[i], b->words.v[i]) != 0)
			return false;
	return true;
}

void
rules_judge_tables(const struct site_rules *r, struct outcome *out, int tree,
    const char *name, struct arena *mem)
{
	bool *done = xcalloc(r->list.n + 1, sizeof *done);

	for (size_t i = 0; i < r->list.n; i++) {
		struct run g = { .rules = r, .name = name, .mem = mem };

		if (done[i] || r->list.v[i].sheet == NULL)
			continue;
		for (size_t k = i; k < r->list.n; k++) {
			if (done[k] || !asks_same(&r->list.v[i], &r->list.v[k]))
				continue;
			done[k] = true;
			vec_push(&g.list,
			    ((struct judged){
				.rule = &r->list.v[k], .out = &out[k] }));
		}
		run_program(&g, tree);
		for (size_t k = 0; k < g.list.n; k++)
			vec_free(&g.list.v[k].where);
		vec_free(&g.list);
		vec_free(&g.columns);
	}
	vec_release(done);
}
