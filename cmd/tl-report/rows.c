/* SPDX-License-Identifier: MIT */
/* Copies NDJSON tables: cut, joined, converted. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/tl-report/figures.h"

struct copy {
	struct head head;
	struct arena *text;
	struct table_dest *dest;
	struct table *table;
	struct column *columns;
	int64_t left;     /* rows */
	const char *word; /* text of the added first column, or NULL */
};

static void
begin_copy(void *ctx, const struct head *head)
{
	struct copy *c = ctx;

	size_t lead = c->word != NULL;

	if (c->table != NULL) {
		if (head->ncolumns != c->head.ncolumns)
			die("%.*s: two tables of one name differ in columns",
			    (int)head->name.len, head->name.p);
		return;
	}
	c->head = head_copy(head, c->text);
	c->columns = xcalloc(head->ncolumns + 1, sizeof *c->columns);
	if (c->word != NULL)
		c->columns[0] = (struct column){ "window", NULL, COL_TEXT,
			UNIT_NONE, 0, 0 };
	for (size_t i = 0; i < head->ncolumns; i++) {
		const struct head_column *from = &c->head.columns[i];

		c->columns[lead + i] =
		    (struct column){ from->id.p, from->label.p, from->type,
			    from->unit, from->flags, from->label_div };
	}
	c->table =
	    table_create(c->head.name.p, c->columns, lead + head->ncolumns);
	table_stream(c->table, c->dest);
}

static void
end(void *ctx)
{
	(void)ctx;
}

/* Counts are integers unless they are means. */
static struct cell
cell_of(const struct val *v, const struct column *c)
{
	bool is_whole = c->type == COL_INT || c->unit == UNIT_COUNT;
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

	if (c->left-- <= 0)
		return;
	to = table_row(c->table);
	if (c->word != NULL)
		*to++ = cell_text(str_of(c->word));
	for (size_t i = 0; i < c->head.ncolumns; i++) {
		to[i] = cell_of(&cells[i], &c->columns[(c->word != NULL) + i]);
		if (to[i].type == CELL_TEXT)
			to[i].text = table_row_text(c->table, to[i].text);
	}
}

void
table_append(const char *from, struct table_dest *to, int64_t top)
{
	struct copy c = { .dest = to, .left = top > 0 ? top : INT64_MAX };
	struct table_sink sink = { begin_copy, copy_row, end, &c };

	c.text = arena_create();
	table_read_all(in_open(from), TABLE_NDJSON, &sink);
	table_print(c.table, to);
	table_destroy(c.table);
	arena_destroy(c.text);
	free(c.columns);
}

void
table_join(const struct table_part *parts, size_t n, const char *to)
{
	struct table_dest dest = { .path = to, .format = FMT_NDJSON };
	struct copy c = { .dest = &dest, .left = INT64_MAX };
	struct table_sink sink = { begin_copy, copy_row, end, &c };

	c.text = arena_create();
	for (size_t i = 0; i < n; i++) {
		c.word = parts[i].word;
		if (is_there(parts[i].path))
			table_read_all(
			    in_open(parts[i].path), TABLE_NDJSON, &sink);
	}
	table_print(c.table, &dest);
	table_dest_finish(&dest);
	table_destroy(c.table);
	arena_destroy(c.text);
	free(c.columns);
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
