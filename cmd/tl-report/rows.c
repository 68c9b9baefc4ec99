/* SPDX-License-Identifier: MIT */
/* Tables of NDJSON: a row at a time, by its columns' ids; and copied. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/tl-report/figures.h"

/* ---- rows ---- */

struct reading {
	line_fn *take;
	void *ctx;
	struct arena *text;
	struct head head; /* a copy: it is borrowed */
};

static void
begin(void *ctx, const struct head *head)
{
	struct reading *g = ctx;
	struct head_column *columns =
	    arena_alloc(g->text, (head->ncolumns + 1) * sizeof *columns);

	for (size_t i = 0; i < head->ncolumns; i++) {
		columns[i] = head->columns[i];
		columns[i].id = arena_str(g->text, head->columns[i].id);
		columns[i].label = arena_str(g->text, head->columns[i].label);
	}
	g->head = *head;
	g->head.name = arena_str(g->text, head->name);
	g->head.columns = columns;
}

static void
row(void *ctx, const struct val *cells)
{
	struct reading *g = ctx;

	g->take(g->ctx, &(struct line){ &g->head, cells });
}

static void
end(void *ctx)
{
	(void)ctx;
}

static void
read_into(const struct table_sink *sink, const char *path)
{
	struct reader r = { .in = in_open(path), .sink = sink };

	if (!ndjson_read(&r))
		die("%s: line %" PRIu64 ": %s", path, r.line, r.error.p);
	in_close(r.in);
	reader_free(&r);
}

bool
table_each(const char *path, line_fn *take, void *ctx)
{
	struct reading g = { .take = take, .ctx = ctx };
	struct table_sink sink = { begin, row, end, &g };

	if (!is_there(path))
		return false;
	g.text = arena_create();
	read_into(&sink, path);
	arena_destroy(g.text);
	return true;
}

/* ---- cells ---- */

const struct val *
line_cell(const struct line *l, const char *id)
{
	static const struct val none = { .type = VAL_NONE };

	for (size_t i = 0; i < l->head->ncolumns; i++)
		if (str_eq(l->head->columns[i].id, str_of(id)))
			return &l->cells[i];
	return &none;
}

struct str
line_text(const struct line *l, const char *id)
{
	const struct val *v = line_cell(l, id);

	if (v->type == VAL_TEXT || v->type == VAL_BIG)
		return v->text;
	if (v->type == VAL_NUMBER)
		return str_of(text("%" PRId64, (int64_t)v->number));
	return STR("");
}

double
line_real(const struct line *l, const char *id)
{
	const struct val *v = line_cell(l, id);

	return v->type == VAL_NUMBER ? v->number : 0;
}

static bool
int_of(const struct val *v, int64_t *n)
{
	if (v->type == VAL_BIG)
		return num_i64(v->text, n);
	if (v->type != VAL_NUMBER || v->number >= 9e18 || v->number <= -9e18)
		return false;
	*n = (int64_t)(v->number + (v->number < 0 ? -0.5 : 0.5));
	return true;
}

int64_t
line_int(const struct line *l, const char *id)
{
	int64_t n;

	return int_of(line_cell(l, id), &n) ? n : 0;
}

bool
line_lacks(const struct line *l, const char *id)
{
	return line_cell(l, id)->type == VAL_NONE;
}

/* ---- copies ---- */

struct copy {
	struct reading in;
	struct table_dest *dest;
	struct table *table;
	struct column *columns;
	int64_t left;     /* rows */
	const char *word; /* of the first column, which is ours; or NULL */
};

static void
begin_copy(void *ctx, const struct head *head)
{
	struct copy *c = ctx;

	size_t lead = c->word != NULL;

	if (c->table != NULL) {
		if (head->ncolumns != c->in.head.ncolumns)
			die("%.*s: two tables of one name differ in columns",
			    (int)head->name.len, head->name.p);
		return;
	}
	begin(&c->in, head);
	c->columns = xcalloc(head->ncolumns + 1, sizeof *c->columns);
	if (c->word != NULL)
		c->columns[0] = (struct column){ "window", NULL, COL_TEXT,
			UNIT_NONE, 0, 0 };
	for (size_t i = 0; i < head->ncolumns; i++) {
		const struct head_column *from = &c->in.head.columns[i];

		c->columns[lead + i] =
		    (struct column){ from->id.p, from->label.p, from->type,
			    from->unit, from->flags, from->label_div };
	}
	c->table =
	    table_create(c->in.head.name.p, c->columns, lead + head->ncolumns);
	table_stream(c->table, c->dest);
}

/* Counts are whole, unless they are means. */
static struct cell
cell_of(const struct val *v, const struct column *c)
{
	bool is_whole = c->type == COL_INT || c->unit == UNIT_COUNT;
	int64_t n;

	switch (v->type) {
	case VAL_NONE: return cell_none();
	case VAL_BOOL: return cell_bool(v->yes);
	case VAL_TEXT: return cell_text(v->text);
	case VAL_BIG: return int_of(v, &n) ? cell_int(n) : cell_text(v->text);
	case VAL_NUMBER: break;
	}
	if (is_whole && int_of(v, &n) && (double)n == v->number)
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
	for (size_t i = 0; i < c->in.head.ncolumns; i++) {
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

	c.in.text = arena_create();
	read_into(&sink, from);
	table_print(c.table, to);
	table_destroy(c.table);
	arena_destroy(c.in.text);
	free(c.columns);
}

void
table_join(const struct table_part *parts, size_t n, const char *to)
{
	struct table_dest dest = { .path = to, .format = FMT_NDJSON };
	struct copy c = { .dest = &dest, .left = INT64_MAX };
	struct table_sink sink = { begin_copy, copy_row, end, &c };

	c.in.text = arena_create();
	for (size_t i = 0; i < n; i++) {
		c.word = parts[i].word;
		if (is_there(parts[i].path))
			read_into(&sink, parts[i].path);
	}
	table_print(c.table, &dest);
	table_dest_finish(&dest);
	table_destroy(c.table);
	arena_destroy(c.in.text);
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
