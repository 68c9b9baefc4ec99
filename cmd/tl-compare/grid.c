/* SPDX-License-Identifier: MIT */
/*
 * The XML of one sheet to rows, or that of the texts which sheets share.
 *
 *	<sheetData><row r="1"><c r="B1" t="s"><v>0</v></c></row></sheetData>
 *	<sst><si><t>a</t></si><si><r><t>rich
 *</t></r><r><t>text</t></r></si></sst>
 *
 * A cell has its place, or is the next one. Its type t: s a shared text, str a
 * formula's text, inlineStr <is> with <t>, b, e an error, d a date as text, or
 *a number, which a date mostly is and remains.
 */
#include <stdlib.h>

#include "cmd/tl-compare/workbook.h"

/* Up to here doubles hold integers exactly. */
#define INT_EXACT 9e15

enum cell_kind {
	IS_NUMBER,
	IS_SHARED,
	IS_TEXT, /* str, inlineStr, d */
	IS_BOOL,
	IS_ERROR,
};

struct grid {
	const struct table_sink *sink; /* NULL: shared texts */
	struct book_cells *book;
	struct oddities *odd;
	struct xml_sink events;
	/* open elements */
	bool in_data, in_row, in_cell, in_text, in_phonetic;
	/* the current cell */
	enum cell_kind kind;
	size_t column;
	bool has_value, has_formula;
	struct buf text;
	/* the current row */
	VEC(struct val) cells; /* up to the last one with a value */
	struct arena *row_text;
	size_t next; /* column of a cell without a reference */
	/* the table */
	bool has_head;
	size_t ncolumns;
	uint64_t ncells, nrows;
};

/* ---- texts ---- */

static struct str
trimmed(struct str s)
{
	static const char blanks[] = " \t\r\n";

	while (s.len > 0 && memchr(blanks, s.p[0], 4) != NULL)
		s.p++, s.len--;
	while (s.len > 0 && memchr(blanks, s.p[s.len - 1], 4) != NULL)
		s.len--;
	return s;
}

/* The UTF-16 unit of an _xNNNN_ at i, or -1. */
static int
escape_at(struct str s, size_t i)
{
	char hex[5];

	if (s.p[i] != '_' || s.len - i < 7 || s.p[i + 1] != 'x' ||
	    s.p[i + 6] != '_')
		return -1;
	memcpy(hex, s.p + i + 2, 4);
	hex[4] = '\0';
	return strspn(hex, "0123456789abcdefABCDEF") == 4
	    ? (int)strtol(hex, NULL, 16)
	    : -1;
}

/* The text with its _xNNNN_ resolved. */
static struct str
unescaped(struct arena *a, struct str s)
{
	char *out = arena_alloc(a, s.len + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.len;) {
		int unit = escape_at(s, i), low;
		uint32_t cp = (uint32_t)unit;

		if (unit < 0) {
			out[n++] = s.p[i++];
			continue;
		}
		i += 7;
		low = unit >= 0xd800 && unit < 0xdc00 && i < s.len
		    ? escape_at(s, i)
		    : -1;
		if (low >= 0xdc00 && low < 0xe000) {
			cp = 0x10000 + ((cp - 0xd800) << 10) +
			    ((uint32_t)low - 0xdc00);
			i += 7;
		} else if (unit >= 0xd800 && unit < 0xe000) {
			cp = 0xfffd; /* half a character */
		}
		n += utf8_put(out + n, cp);
	}
	return (struct str){ out, n };
}

/* ---- cells ---- */

/* The column of "XFD1048576", from 0, or GRID_COLUMNS_MAX. */
static size_t
column_of(const char *ref)
{
	size_t n = 0;

	for (; (*ref >= 'A' && *ref <= 'Z') || (*ref >= 'a' && *ref <= 'z');
	     ref++) {
		n = n * 26 + ((size_t)(*ref & 0x1f));
		if (n > GRID_COLUMNS_MAX)
			return GRID_COLUMNS_MAX;
	}
	return n == 0 ? GRID_COLUMNS_MAX : n - 1;
}

static enum cell_kind
kind_of(const char *t)
{
	static const struct {
		const char *word;
		enum cell_kind kind;
	} kinds[] = { { "s", IS_SHARED }, { "str", IS_TEXT },
		{ "inlineStr", IS_TEXT }, { "b", IS_BOOL }, { "e", IS_ERROR },
		{ "d", IS_TEXT } };

	for (size_t i = 0; t != NULL && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(t, kinds[i].word) == 0)
			return kinds[i].kind;
	return IS_NUMBER;
}

static struct val
shared_value(struct grid *g, struct str number)
{
	int64_t i;

	if (!num_i64(trimmed(number), &i) || i < 0 ||
	    (uint64_t)i >= g->book->shared.n) {
		g->odd->nbad_texts++;
		return (struct val){ .type = VAL_NONE };
	}
	return val_of_text(g->book->shared.v[i]);
}

/* Excel writes 1.0E-2, 5., 007: any number is accepted. */
static struct val
number_value(struct grid *g, struct str s)
{
	double v;

	s = trimmed(s);
	if (s.len == 0)
		return (struct val){ .type = VAL_NONE };
	if (num_double(s, &v))
		return (struct val){ .type = VAL_NUMBER, .number = v };
	return (
	    struct val){ .type = VAL_TEXT, .text = arena_str(g->row_text, s) };
}

static struct val
value_of(struct grid *g)
{
	struct str s = buf_str(&g->text);

	if (!g->has_value) {
		g->odd->nunsolved += g->has_formula;
		return (struct val){ .type = VAL_NONE };
	}
	switch (g->kind) {
	case IS_SHARED: return shared_value(g, s);
	case IS_TEXT: return val_of_text(unescaped(g->row_text, s));
	case IS_BOOL:
		s = trimmed(s);
		return (struct val){ .type = VAL_TEXT,
			.text = str_eq(s, STR("1")) || str_eq(s, STR("true"))
			    ? STR("True")
			    : STR("False") };
	case IS_ERROR:
		g->odd->nerrors++;
		return (struct val){ .type = VAL_NONE };
	case IS_NUMBER: break;
	}
	return number_value(g, s);
}

static void
put_cell(struct grid *g)
{
	struct val v = value_of(g);

	if (v.type == VAL_NONE)
		return;
	if (g->has_head && g->column >= g->ncolumns) {
		g->odd->nstray++;
		return;
	}
	while (g->cells.n <= g->column)
		vec_push(&g->cells, (struct val){ .type = VAL_NONE });
	g->cells.v[g->column] = v;
}

static const char *
put_shared(struct grid *g)
{
	if (g->book->shared.n == SHARED_MAX)
		return "too many texts";
	vec_push(
	    &g->book->shared, unescaped(g->book->arena, buf_str(&g->text)));
	return NULL;
}

/* ---- rows ---- */

/* As in a CSV header. */
static struct str
header_text(struct grid *g, const struct val *v)
{
	char text[NUM_DOUBLE_MAX];
	struct str s = { text, 0 };

	if (v->type == VAL_NONE)
		return STR("");
	if (v->type != VAL_NUMBER)
		return v->text;
	s.len = v->number >= -INT_EXACT && v->number <= INT_EXACT &&
		v->number == (double)(int64_t)v->number
	    ? num_put_i64(text, (int64_t)v->number)
	    : num_put_double(text, v->number);
	return arena_str(g->row_text, s);
}

static void
put_head(struct grid *g)
{
	VEC(struct head_column) columns = { 0 };

	for (size_t i = 0; i < g->cells.n; i++) {
		struct str text = header_text(g, &g->cells.v[i]);

		vec_push(&columns,
		    ((struct head_column){ .id = text,
			.label = text,
			.type = COL_TEXT,
			.label_div = 1 }));
	}
	g->has_head = true;
	g->ncolumns = columns.n;
	struct head head = { .columns = columns.v, .ncolumns = columns.n };

	g->sink->begin(g->sink->ctx, &head);
	vec_free(&columns);
}

static const char *
end_row(struct grid *g)
{
	if (g->cells.n == 0)
		return NULL;
	if (!g->has_head) {
		put_head(g);
		return NULL;
	}
	g->ncells += g->ncolumns;
	g->book->ncells += g->ncolumns;
	if (++g->nrows > GRID_ROWS_MAX)
		return "more rows than a sheet can have";
	if (++g->book->nrows > BOOK_ROWS_MAX)
		return "the workbook has too many rows";
	if (g->ncells > GRID_CELLS_MAX)
		return "the sheet has too many cells";
	if (g->book->ncells > BOOK_CELLS_MAX)
		return "the workbook has too many cells";
	while (g->cells.n < g->ncolumns)
		vec_push(&g->cells, (struct val){ .type = VAL_NONE });
	g->sink->row(g->sink->ctx, g->cells.v);
	return NULL;
}

/* ---- events ---- */

static const char *
start_cell(struct grid *g, const char **attributes)
{
	const char *ref = xml_attribute(attributes, "r", false);

	if (g->sink == NULL)
		g->next = 0;
	g->column = ref != NULL ? column_of(ref) : g->next;
	if (g->column >= GRID_COLUMNS_MAX)
		return "a cell outside of any sheet";
	g->next = g->column + 1;
	g->kind = kind_of(xml_attribute(attributes, "t", false));
	g->in_cell = true;
	g->has_value = g->has_formula = false;
	g->text.len = 0;
	return NULL;
}

static const char *
on_start(void *ctx, const char *name, const char **attributes)
{
	struct grid *g = ctx;
	bool is_sheet = g->sink != NULL;

	if (!g->in_data) {
		g->in_data = strcmp(name, is_sheet ? "sheetData" : "sst") == 0;
		g->in_row = g->in_data && !is_sheet;
	} else if (!g->in_row) {
		g->in_row = strcmp(name, "row") == 0;
		g->cells.n = 0;
		g->next = 0;
		arena_reset(g->row_text, 0);
	} else if (!g->in_cell) {
		if (strcmp(name, is_sheet ? "c" : "si") == 0)
			return start_cell(g, attributes);
	} else if (strcmp(name, "v") == 0 || strcmp(name, "t") == 0) {
		g->in_text = !g->in_phonetic;
		g->has_value |= g->in_text;
	} else if (strcmp(name, "f") == 0) {
		g->has_formula = true;
	} else if (strcmp(name, "rPh") == 0) {
		g->in_phonetic = true;
	}
	return NULL;
}

static const char *
on_end(void *ctx, const char *name)
{
	struct grid *g = ctx;
	bool is_sheet = g->sink != NULL;

	if (strcmp(name, "v") == 0 || strcmp(name, "t") == 0) {
		g->in_text = false;
	} else if (strcmp(name, "rPh") == 0) {
		g->in_phonetic = false;
	} else if (g->in_cell && strcmp(name, is_sheet ? "c" : "si") == 0) {
		g->in_cell = g->in_text = g->in_phonetic = false;
		if (!is_sheet)
			return put_shared(g);
		put_cell(g);
	} else if (is_sheet && g->in_row && !g->in_cell &&
	    strcmp(name, "row") == 0) {
		g->in_row = false;
		return end_row(g);
	} else if (!g->in_row && strcmp(name, "sheetData") == 0) {
		g->in_data = false;
	}
	return NULL;
}

static const char *
on_text(void *ctx, const char *p, size_t n)
{
	struct grid *g = ctx;

	if (g->in_text && g->text.len + n > CELL_MAX)
		return "a cell that is too long";
	if (g->in_text)
		buf_put(&g->text, p, n);
	return NULL;
}

struct grid *
grid_create(const struct table_sink *sink, struct book_cells *cells,
    struct oddities *odd)
{
	struct grid *g = xcalloc(1, sizeof *g);

	g->sink = sink;
	g->book = cells;
	g->odd = odd;
	g->row_text = arena_create();
	g->events = (struct xml_sink){ on_start, on_end, on_text, g };
	return g;
}

const struct xml_sink *
grid_sink(const struct grid *g)
{
	return &g->events;
}

void
grid_finish(struct grid *g)
{
	if (!g->has_head)
		put_head(g);
	g->sink->end(g->sink->ctx);
}

void
grid_destroy(struct grid *g)
{
	arena_destroy(g->row_text);
	buf_free(&g->text);
	vec_free(&g->cells);
	free(g);
}
