/* SPDX-License-Identifier: MIT */
/*
 * A table, and the view of it that is printed: which columns, in which order
 * the rows, and how many.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "table/view.h"

struct table *
table_create(const char *name, const struct column *columns, size_t ncolumns)
{
	struct table *t = xcalloc(1, sizeof *t);

	t->name = name;
	t->columns = columns;
	t->ncolumns = t->nkept = ncolumns;
	t->row = xcalloc(ncolumns + 1, sizeof *t->row);
	t->texts = intern_create();
	t->row_texts = arena_create();
	return t;
}

void
table_destroy(struct table *t)
{
	if (t == NULL)
		return;
	intern_destroy(t->texts);
	arena_destroy(t->row_texts);
	vec_free(&t->cells);
	vec_free(&t->notes);
	free(t->row);
	free(t->slots);
	free(t->live);
	free(t);
}

struct str
table_text(struct table *t, struct str s)
{
	if (s.len == 0)
		return STR("");
	return intern_get(t->texts, intern_put(t->texts, s));
}

struct str
table_row_text(struct table *t, struct str s)
{
	return s.len == 0 ? STR("") : arena_str(t->row_texts, s);
}

static uint32_t
slot_of(const struct table *t, size_t column)
{
	return t->slots == NULL ? (uint32_t)column : t->slots[column];
}

bool
table_keeps(const struct table *t, size_t column)
{
	return slot_of(t, column) != NOT_KEPT;
}

void
table_finish_row(struct table *t)
{
	struct cell *to;

	if (!t->has_row)
		return;
	t->has_row = false;
	if (t->live != NULL) {
		table_live_row(t);
		arena_reset(t->row_texts, 0);
		return;
	}
	if (t->cells.n + t->nkept > t->cells.cap)
		vec_reserve(&t->cells, t->cells.n + t->cells.n / 2 + t->nkept);
	to = t->cells.v + t->cells.n;
	for (size_t i = 0; i < t->ncolumns; i++) {
		uint32_t slot = slot_of(t, i);

		if (slot == NOT_KEPT)
			continue;
		to[slot] = t->row[i];
		if (to[slot].type == CELL_TEXT)
			to[slot].text = table_text(t, to[slot].text);
	}
	t->cells.n += t->nkept;
	arena_reset(t->row_texts, 0);
}

struct cell *
table_row(struct table *t)
{
	table_finish_row(t);
	for (size_t i = 0; i < t->ncolumns; i++)
		t->row[i] = cell_none();
	t->has_row = true;
	t->nrows++;
	return t->row;
}

struct cell *
table_cell(struct table *t, size_t row, size_t column)
{
	table_finish_row(t);
	return &t->cells.v[row * t->nkept + slot_of(t, column)];
}

void
table_note(struct table *t, const char *fmt, ...)
{
	struct buf b = { 0 }, text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	text_visible(buf_str(&text), &b);
	vec_push(&t->notes, table_text(t, buf_str(&b)));
	buf_free(&b);
	buf_free(&text);
}

size_t
table_notes(const struct table *t)
{
	return t->notes.n;
}

struct str
table_note_at(const struct table *t, size_t i)
{
	return t->notes.v[i];
}

/* ---- views: columns ---- */

/* What a column is chosen from, for messages. */
struct choice {
	const char *table;
	const struct column *columns;
	size_t ncolumns;
};

static const struct column *
find_column(const struct choice *from, const char *option, struct str id)
{
	for (size_t i = 0; i < from->ncolumns; i++)
		if (str_eq(str_of(from->columns[i].id), id))
			return &from->columns[i];
	for (size_t i = 0; i < from->ncolumns; i++)
		if (str_eq(str_of(column_short(from->columns[i].id)), id))
			return &from->columns[i];
	columns_refuse(from->table, from->columns, from->ncolumns, option, id);
}

/* A set of columns in the order chosen. */
struct chosen {
	VEC(const struct column *) list;
};

static bool
choose(struct chosen *ch, const struct column *col)
{
	for (size_t i = 0; i < ch->list.n; i++)
		if (ch->list.v[i] == col)
			return false;
	vec_push(&ch->list, col);
	return true;
}

static void
choose_flagged(struct chosen *ch, const struct choice *from, bool details)
{
	for (size_t i = 0; i < from->ncolumns; i++)
		if (((from->columns[i].flags & COL_DETAIL) != 0) == details)
			choose(ch, &from->columns[i]);
}

static int
by_place(const void *a, const void *b)
{
	const struct column *x = *(const struct column *const *)a;
	const struct column *y = *(const struct column *const *)b;

	return (x > y) - (x < y);
}

static void
choose_word(struct chosen *ch, const struct choice *from, struct str word)
{
	if (str_eq(word, STR("+details"))) {
		choose_flagged(ch, from, true);
	} else if (word.len > 0 && word.p[0] == '+') {
		word.p++, word.len--;
		choose(ch, find_column(from, "-c", word));
	} else if (!choose(ch, find_column(from, "-c", word))) {
		die_usage(
		    "-c: column '%.*s' is named twice", (int)word.len, word.p);
	}
}

/*
 * "a,b": these, in this order. "+details", "+x": adds the wide ones, or x. A
 * list that begins with + adds to the usual columns, in the table's order.
 */
static struct chosen
choose_columns(const struct choice *from, const char *spec)
{
	bool adds = spec == NULL || spec[0] == '+';
	struct chosen ch = { 0 };
	struct str word;

	if (adds)
		choose_flagged(&ch, from, false);
	while (str_next(&spec, ',', &word))
		choose_word(&ch, from, word);
	if (adds && ch.list.n > 0)
		qsort(ch.list.v, ch.list.n, sizeof *ch.list.v, by_place);
	return ch;
}

/* The column to sort by, or NULL. */
static const struct column *
sort_column(const struct choice *from, const char *sort, bool *descending)
{
	*descending = false;
	if (sort == NULL)
		return NULL;
	*descending = sort[0] == '-';
	return find_column(from, "--sort", str_of(sort + *descending));
}

void
table_dest_check(const struct table_dest *d, const char *name,
    const struct column *columns, size_t ncolumns)
{
	struct choice from = { name, columns, ncolumns };
	struct chosen ch = choose_columns(&from, d->columns);
	bool descending;

	(void)sort_column(&from, d->sort, &descending);
	vec_free(&ch.list);
	dest_check_path(d);
}

/* ---- views: rows ---- */

struct sort_key {
	const struct cell *cell;
	size_t row;
};

static int
cell_rank(const struct cell *c)
{
	switch (c->type) {
	case CELL_BOOL:
	case CELL_INT:
	case CELL_REAL: return 0;
	case CELL_TEXT: return 1;
	case CELL_NONE: break;
	}
	return 2;
}

/*
 * long double holds every int64_t where it matters, so that integers and reals
 * in one column have a total order.
 */
static long double
cell_number(const struct cell *c)
{
	return c->type == CELL_INT ? (long double)c->i
	    : c->type == CELL_REAL ? (long double)c->real
				   : (long double)c->yes;
}

static int
cell_cmp(const struct cell *a, const struct cell *b)
{
	long double x, y;

	if (a->type == CELL_TEXT)
		return str_cmp(a->text, b->text);
	if (a->type == CELL_INT && b->type == CELL_INT)
		return (a->i > b->i) - (a->i < b->i);
	x = cell_number(a);
	y = cell_number(b);
	return (x > y) - (x < y);
}

/* Empty cells come last in both directions; ties keep the order of rows. */
static int
key_cmp(const struct sort_key *a, const struct sort_key *b, int sign)
{
	int ra = cell_rank(a->cell), rb = cell_rank(b->cell), c = 0;

	if (ra == 2 || rb == 2)
		c = ra - rb;
	else if (ra != rb)
		c = sign * (ra - rb);
	else
		c = sign * cell_cmp(a->cell, b->cell);
	if (c != 0 && ra + rb < 4)
		return c;
	return (a->row > b->row) - (a->row < b->row);
}

static int
key_up(const void *a, const void *b)
{
	return key_cmp(a, b, 1);
}

static int
key_down(const void *a, const void *b)
{
	return key_cmp(a, b, -1);
}

static void
sort_rows(struct view *v, const struct column *col, bool descending)
{
	size_t n = v->table->nrows;
	struct sort_key *keys = xmalloc((n + 1) * sizeof *keys);

	for (size_t i = 0; i < n; i++)
		keys[i] = (struct sort_key){ view_cell(v, i, col), i };
	qsort(keys, n, sizeof *keys, descending ? key_down : key_up);
	for (size_t i = 0; i < n; i++)
		v->rows[i] = keys[i].row;
	free(keys);
}

const struct cell *
view_cell(const struct view *v, size_t row, const struct column *col)
{
	const struct table *t = v->table;
	size_t slot = slot_of(t, (size_t)(col - t->columns));

	return &t->cells.v[v->rows[row] * t->nkept + slot];
}

const struct column *
table_share(const struct table *t)
{
	for (size_t i = 0; i < t->ncolumns; i++)
		if (t->columns[i].flags & COL_SHARE)
			return &t->columns[i];
	return NULL;
}

void
table_keep(struct table *t, const struct table_dest *d)
{
	struct choice from = { t->name, t->columns, t->ncolumns };
	struct chosen ch = choose_columns(&from, d->columns);
	bool descending;
	const struct column *sort = sort_column(&from, d->sort, &descending);
	const struct column *share = table_share(t);

	if (sort != NULL)
		choose(&ch, sort);
	if (share != NULL)
		choose(&ch, share);
	t->slots = xmalloc((t->ncolumns + 1) * sizeof *t->slots);
	for (size_t i = 0; i < t->ncolumns; i++)
		t->slots[i] = NOT_KEPT;
	for (size_t i = 0; i < ch.list.n; i++)
		t->slots[ch.list.v[i] - t->columns] = (uint32_t)i;
	t->nkept = ch.list.n;
	vec_free(&ch.list);
}

void
view_open(struct view *v, const struct table *t, const struct table_dest *d,
    size_t limit)
{
	struct choice from = { t->name, t->columns, t->ncolumns };
	struct chosen ch = choose_columns(&from, d->columns);
	bool descending;
	const struct column *col = sort_column(&from, d->sort, &descending);

	*v = (struct view){ .table = t, .columns = ch.list.v, .sorted = col };
	v->ncolumns = ch.list.n;
	v->slots = xmalloc((ch.list.n + 1) * sizeof *v->slots);
	for (size_t i = 0; i < ch.list.n; i++) {
		size_t at = (size_t)(ch.list.v[i] - t->columns);

		v->slots[i] = t->live != NULL ? (uint32_t)at : slot_of(t, at);
	}
	v->rows = xmalloc((t->nrows + 1) * sizeof *v->rows);
	for (size_t i = 0; i < t->nrows; i++)
		v->rows[i] = i;
	if (col != NULL)
		sort_rows(v, col, descending);
	v->nrows = t->nrows < limit ? t->nrows : limit;
}

void
view_close(struct view *v)
{
	vec_release(v->columns);
	free(v->slots);
	free(v->rows);
	buf_free(&v->line);
}
