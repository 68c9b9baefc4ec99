/* SPDX-License-Identifier: MIT */
/* Rows of NDJSON, and their cells by column id. */
#include <errno.h>
#include <unistd.h>

#include "reader/lines.h"

struct reading {
	line_fn *take;
	void *ctx;
	struct arena *text;
	struct head head;
};

struct head
head_copy(const struct head *head, struct arena *mem)
{
	struct head_column *columns =
	    arena_alloc(mem, (head->ncolumns + 1) * sizeof *columns);
	struct head copy = *head;

	for (size_t i = 0; i < head->ncolumns; i++) {
		columns[i] = head->columns[i];
		columns[i].id = arena_str(mem, head->columns[i].id);
		columns[i].label = arena_str(mem, head->columns[i].label);
	}
	copy.name = arena_str(mem, head->name);
	copy.columns = columns;
	return copy;
}

static void
begin(void *ctx, const struct head *head)
{
	struct reading *g = ctx;

	g->head = head_copy(head, g->text);
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

bool
table_each(const char *path, line_fn *take, void *ctx)
{
	struct reading g = { .take = take, .ctx = ctx };
	struct table_sink sink = { begin, row, end, &g };

	if (access(path, F_OK) != 0 && errno == ENOENT)
		return false;
	g.text = arena_create();
	table_read_all(in_open(path), TABLE_NDJSON, &sink);
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
	static struct arena *words;
	const struct val *v = line_cell(l, id);

	if (v->type == VAL_TEXT || v->type == VAL_BIG)
		return v->text;
	if (v->type != VAL_NUMBER)
		return STR("");
	words = words != NULL ? words : arena_create();
	return str_of(arena_printf(words, "%" PRId64, (int64_t)v->number));
}

double
line_real(const struct line *l, const char *id)
{
	const struct val *v = line_cell(l, id);

	return v->type == VAL_NUMBER ? v->number : 0;
}

bool
val_int(const struct val *v, int64_t *n)
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

	return val_int(line_cell(l, id), &n) ? n : 0;
}

bool
line_lacks(const struct line *l, const char *id)
{
	return line_cell(l, id)->type == VAL_NONE;
}

bool
line_bool(const struct line *l, const char *id)
{
	const struct val *v = line_cell(l, id);

	return v->type == VAL_BOOL && v->yes;
}
