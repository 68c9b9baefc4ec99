/* SPDX-License-Identifier: MIT */
/* Copies NDJSON tables: cut, joined, converted. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/tl-report/figures.h"

struct copy {
	struct head head; /* of the table that is read */
	struct arena *text;
	struct table_dest *dest;
	struct str name;
	struct table *table;        /* NULL until the first row can come */
	VEC(struct column) columns; /* of all tables */
	VEC(size_t) to;             /* by column of head: in columns */
	int64_t top, left;          /* rows */
	bool is_joined;          /* top is for each word of the first column */
	struct str of;           /* the last one */
	const char *lead, *word; /* an added first column, or NULL */
};

static size_t
column_at(const struct copy *c, struct str id)
{
	size_t i = c->lead != NULL;

	while (i < c->columns.n && !str_eq(str_of(c->columns.v[i].id), id))
		i++;
	return i;
}

/* A column that earlier tables lack comes behind its neighbour. */
static void
add_columns(void *ctx, const struct head *head)
{
	struct copy *c = ctx;
	size_t next = c->lead != NULL;

	if (c->columns.n == 0 && c->lead != NULL)
		vec_push(&c->columns,
		    ((struct column){
			c->lead, NULL, COL_TEXT, UNIT_NONE, 0, 0 }));
	c->head = head_copy(head, c->text);
	c->name = c->name.len > 0 ? c->name : c->head.name;
	for (size_t i = 0; i < c->head.ncolumns; i++) {
		const struct head_column *from = &c->head.columns[i];
		size_t at = column_at(c, from->id);

		if (at == c->columns.n) {
			at = next;
			(void)vec_add(&c->columns);
			memmove(&c->columns.v[at + 1], &c->columns.v[at],
			    (c->columns.n - 1 - at) * sizeof *c->columns.v);
			c->columns.v[at] = (struct column){ from->id.p,
				from->label.p, from->type, from->unit,
				from->flags, from->label_div };
		}
		/* a uid is text where one holds two numbers */
		if (c->columns.v[at].type != from->type)
			c->columns.v[at].type = COL_TEXT;
		next = at + 1;
	}
}

static void
begin_copy(void *ctx, const struct head *head)
{
	struct copy *c = ctx;

	if (c->columns.n == 0)
		add_columns(c, head);
	c->head = head_copy(head, c->text);
	c->to.n = 0;
	for (size_t i = 0; i < c->head.ncolumns; i++) {
		vec_push(&c->to, column_at(c, c->head.columns[i].id));
		if (c->to.v[i] == c->columns.n)
			die("%.*s: two tables of one name differ in columns",
			    (int)head->name.len, head->name.p);
	}
	if (c->table != NULL)
		return;
	c->table = table_create(c->name.p, c->columns.v, c->columns.n);
	table_stream(c->table, c->dest);
}

static void
no_row(void *ctx, const struct val *cells)
{
	(void)ctx;
	(void)cells;
}

static void
end(void *ctx)
{
	(void)ctx;
}

/* As its program writes it: a count is 1, a mean 1.0. */
static struct cell
cell_of(const struct val *v, const struct column *c)
{
	bool is_whole = c->type != COL_REAL || v->is_int;
	int64_t n;

	switch (v->type) {
	case VAL_NONE: return cell_none();
	case VAL_BOOL: return cell_bool(v->yes);
	case VAL_TEXT: return cell_text(v->text);
	case VAL_BIG: return val_int(v, &n) ? cell_int(n) : cell_text(v->text);
	case VAL_NUMBER: break;
	}
	if (is_whole && val_int(v, &n) && (double)n == v->number)
		return cell_int(n);
	return cell_real(v->number);
}

static void
copy_row(void *ctx, const struct val *cells)
{
	struct copy *c = ctx;
	struct cell *to;
	char number[24]; /* with its sign */

	if (c->is_joined && !str_eq(cells[0].text, c->of)) {
		c->of = arena_str(c->text, cells[0].text);
		c->left = c->top;
	}
	if (c->left-- <= 0)
		return;
	to = table_row(c->table);
	if (c->lead != NULL)
		to[0] = cell_text(str_of(c->word));
	for (size_t i = 0; i < c->to.n; i++) {
		struct cell *cell = &to[c->to.v[i]];

		*cell = cell_of(&cells[i], &c->columns.v[c->to.v[i]]);
		if (cell->type == CELL_INT &&
		    c->columns.v[c->to.v[i]].type == COL_TEXT) {
			(void)snprintf(
			    number, sizeof number, "%" PRId64, cell->i);
			*cell = cell_text(str_of(number));
		}
		if (cell->type == CELL_TEXT)
			cell->text = table_row_text(c->table, cell->text);
	}
}

static void
finish_copy(struct copy *c)
{
	table_print(c->table, c->dest);
	table_destroy(c->table);
	arena_destroy(c->text);
	vec_free(&c->columns);
	vec_free(&c->to);
}

void
table_append(const char *from, struct table_dest *to, int64_t top)
{
	struct copy c = { .dest = to, .is_joined = versus_is_joined(from) };
	struct table_sink sink = { begin_copy, copy_row, end, &c };

	c.left = c.top = top > 0 ? top : INT64_MAX;
	c.text = arena_create();
	table_read_all(in_open(from), TABLE_NDJSON, &sink);
	finish_copy(&c);
}

void
table_join(const char *lead, const struct table_part *parts, size_t n,
    const char *name, const char *to)
{
	struct table_dest dest = { .path = to, .format = FMT_NDJSON };
	struct copy c = { .dest = &dest, .left = INT64_MAX, .lead = lead };
	const struct table_sink heads = { add_columns, no_row, end, &c };
	const struct table_sink rows = { begin_copy, copy_row, end, &c };
	const struct table_sink *const passes[] = { &heads, &rows };

	c.text = arena_create();
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < n; i++) {
			c.word = parts[i].word;
			c.name = str_of(name);
			if (is_there(parts[i].path))
				table_read_all(in_open(parts[i].path),
				    TABLE_NDJSON, passes[k]);
		}
	finish_copy(&c);
	table_dest_finish(&dest);
}

void
table_copy(
    const char *from, const char *to, enum table_format format, int64_t top)
{
	struct table_dest dest = {
		.path = to, .format = format, .labels = format == FMT_CSV
	};

	table_append(from, &dest, top);
	table_dest_finish(&dest);
}
