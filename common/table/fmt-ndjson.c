/* SPDX-License-Identifier: MIT */
/*
 * NDJSON, the form in which tables travel between our programs:
 *
 *	{"table":"t","columns":[{"id":"time_ns","label":"time ms",
 *	    "type":"int","unit":"ns","label_div":1000000.0}, ...]}  (one line)
 *	{"time_ns":1225310, ...}	(each row has every key; null: empty)
 *	{"end":{"rows":1}}
 *
 * Keys are always ids, and values in the column's unit; the schema has label
 * and label_div (absent: 1). It also has hints for layout: "folded":true,
 * "better":"less" or "more" for differences, and "ours":true for columns that
 * TraceLens lacks.
 */
#include "json/json.h"

#include "table/view.h"

/* Writes JSON on one line: a raw newline in it is white space. */
static void
put_json(struct buf *out, struct str s)
{
	size_t from = 0, n;
	uint32_t cp;

	if (s.len == 0)
		buf_puts(out, "null");
	for (size_t i = 0; i < s.len; i += n) {
		n = utf8_next(s.p + i, s.len - i, &cp);
		if (LIKELY(cp >= ' ' && cp != UTF8_BAD))
			continue;
		buf_put(out, s.p + from, i - from);
		from = i + n;
		buf_puts(out, cp == UTF8_BAD ? "\xef\xbf\xbd" : " ");
	}
	buf_put(out, s.p + from, s.len - from);
}

static void
put_cell(struct buf *out, struct view *v, const struct cell *c,
    const struct column *col)
{
	switch (c->type) {
	case CELL_NONE: buf_puts(out, "null"); break;
	case CELL_TEXT:
		if (col->type == COL_JSON)
			put_json(out, c->text);
		else
			json_put_string(out, c->text);
		break;
	case CELL_BOOL: buf_puts(out, c->yes ? "true" : "false"); break;
	case CELL_INT:
	case CELL_REAL: value_put(out, v, c, col, false); break;
	}
}

const char *const col_type_words[] = { [COL_TEXT] = "text",
	[COL_INT] = "int",
	[COL_REAL] = "real",
	[COL_BOOL] = "bool",
	[COL_JSON] = "json",
	NULL };
const char *const col_unit_words[] = { [UNIT_NONE] = "",
	[UNIT_NS] = "ns",
	[UNIT_BYTES] = "bytes",
	[UNIT_PERCENT] = "percent",
	[UNIT_COUNT] = "count",
	NULL };

static void
put_column(struct buf *out, const struct column *col)
{
	char div[NUM_DOUBLE_MAX];

	buf_puts(out, "{\"id\":");
	json_put_string(out, str_of(col->id));
	buf_puts(out, ",\"label\":");
	json_put_string(out, value_head(col, true));
	buf_printf(
	    out, ",\"type\":\"%s\",\"unit\":", col_type_words[col->type]);
	if (col->unit == UNIT_NONE)
		buf_puts(out, "null");
	else
		json_put_string(out, str_of(col_unit_words[col->unit]));
	if (value_div(col, true) != 1) {
		buf_puts(out, ",\"label_div\":");
		buf_put(out, div, num_put_double(div, value_div(col, true)));
	}
	if (col->flags & COL_FOLDED)
		buf_puts(out, ",\"folded\":true");
	if (col->flags & COL_OURS)
		buf_puts(out, ",\"ours\":true");
	if (col->flags & COL_WRAPPED)
		buf_puts(out, ",\"wrapped\":true");
	if (col->flags & (COL_BETTER_LESS | COL_BETTER_MORE))
		buf_printf(out, ",\"better\":\"%s\"",
		    col->flags & COL_BETTER_LESS ? "less" : "more");
	buf_puts(out, "}");
}

static void
put_schema(struct buf *out, const struct view *v)
{
	buf_puts(out, "{\"table\":");
	json_put_string(out, str_of(v->table->name));
	buf_puts(out, ",\"columns\":[");
	for (size_t i = 0; i < v->ncolumns; i++) {
		if (i > 0)
			buf_puts(out, ",");
		put_column(out, v->columns[i]);
	}
	buf_puts(out, "]}\n");
}

static void
put_row(struct buf *out, struct view *v, size_t row)
{
	const struct cell *cells = view_row(v, row);

	for (size_t i = 0; i < v->ncolumns; i++) {
		buf_putc(out, i == 0 ? '{' : ',');
		json_put_string(out, str_of(v->columns[i]->id));
		buf_putc(out, ':');
		put_cell(out, v, &cells[v->slots[i]], v->columns[i]);
	}
	buf_puts(out, v->ncolumns == 0 ? "{}\n" : "}\n");
}

void
fmt_ndjson_head(struct out *out, struct view *v)
{
	v->line.len = 0;
	put_schema(&v->line, v);
	out_str(out, buf_str(&v->line));
}

void
fmt_ndjson_row(struct out *out, struct view *v, size_t row)
{
	v->line.len = 0;
	put_row(&v->line, v, row);
	out_str(out, buf_str(&v->line));
}

void
fmt_ndjson_foot(struct out *out, const struct view *v, size_t nrows)
{
	if (v->header)
		out_printf(out, "{\"end\":{\"rows\":%zu}}\n", nrows);
}
