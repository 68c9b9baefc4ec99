/* SPDX-License-Identifier: MIT */
/* One sheet: cells and formats. */
#include "cmd/tl-xlsx/workbook.h"

/* Characters. The next cell hides the rest of wider texts. */
#define WIDTH_MIN 8
#define WIDTH_MAX 60
#define LINES_MAX 12 /* Excel shows 409 points of a row: 27 lines */
/* Characters of a header under the filter's arrow. */
#define WIDTH_ARROW 3

/* ---- header ---- */

/* The format of a column's unit is the same in all rows. */
static void
choose_formats(struct book *b, struct book_column *c)
{
	static const struct {
		enum book_format whole, real;
	} formats[] = { [UNIT_NONE] = { BOOK_GENERAL, BOOK_GENERAL },
		[UNIT_NS] = { BOOK_GROUPED, BOOK_MILLI },
		[UNIT_BYTES] = { BOOK_GROUPED, BOOK_MILLI },
		[UNIT_COUNT] = { BOOK_GROUPED, BOOK_MILLI },
		[UNIT_PERCENT] = { BOOK_CENTI, BOOK_CENTI } };
	enum book_format whole = formats[c->unit].whole;

	if (c->div != 1 || c->type == COL_REAL)
		whole = formats[c->unit].real;
	else if (c->type == COL_INT && c->unit == UNIT_NONE)
		whole = BOOK_WHOLE;
	c->whole = b->formats[whole];
	c->real = b->formats[formats[c->unit].real];
	c->text = c->flags & COL_WRAPPED ? b->formats[BOOK_WRAPPED] : NULL;
}

void
sheet_begin(struct book *b, struct book_sheet *s)
{
	for (size_t i = 0; i < s->ncolumns; i++) {
		struct book_column *c = &s->columns[i];
		size_t width;
		const char *text =
		    book_text(b, b->labels ? c->label : c->id, &width);

		choose_formats(b, c);
		c->chars = width + WIDTH_ARROW;
		book_check(
		    worksheet_write_string(s->ws, 0, (lxw_col_t)i,
			*text != '\0' ? text : " ", b->formats[BOOK_HEAD]),
		    "a header");
	}
	s->nrows = 1;
	rows_letters(s);
}

/* ---- cells ---- */

static void
write_number(struct book_sheet *s, size_t i, double v)
{
	struct book_column *c = &s->columns[i];
	bool is_whole;

	if (v - v != 0)
		return; /* no figure */
	if (c->div != 1)
		v /= c->div;
	is_whole = v >= -9e15 && v <= 9e15 && v == (double)(int64_t)v;
	c->has_fraction |= !is_whole;
	c->least = v < c->least ? v : c->least;
	c->most = v > c->most ? v : c->most;
	if (v > 0 && (c->least_positive == 0 || v < c->least_positive))
		c->least_positive = v;
	row_number(s, i, v, is_whole ? c->whole : c->real);
}

/* Lines break at words, so they hold fewer characters. */
#define WIDTH_LINE (WIDTH_MAX - 4)

static void
wrap(struct book_sheet *s, size_t width)
{
	size_t lines =
	    width <= WIDTH_MAX ? 1 : (width + WIDTH_LINE - 1) / WIDTH_LINE;

	lines = lines > LINES_MAX ? LINES_MAX : lines;
	s->row.lines = lines > s->row.lines ? lines : s->row.lines;
}

static void
write_text(struct book *b, struct book_sheet *s, size_t i, struct str text)
{
	struct book_column *c = &s->columns[i];
	size_t width;

	(void)book_text(b, text, &width);
	c->chars = width > c->chars ? width : c->chars;
	if (c->text != NULL)
		wrap(s, width);
	if (b->text.len > 1) /* NUL-terminated */
		row_text(s, i, (struct str){ b->text.p, b->text.len - 1 });
}

/*
 * An integer no double holds stays text, unless its unit is converted anyway.
 */
static void
write_big(struct book *b, struct book_sheet *s, size_t i, struct str text)
{
	double v;

	if (s->columns[i].div != 1 && num_double(text, &v)) {
		write_number(s, i, v);
		return;
	}
	b->nbig++;
	write_text(b, s, i, text);
}

void
sheet_row(struct book *b, struct book_sheet *s, const struct val *cells)
{
	row_begin(s);
	for (size_t i = 0; i < s->ncolumns; i++) {
		const struct val *v = &cells[s->columns[i].from];

		switch (v->type) {
		case VAL_NONE: break;
		case VAL_TEXT: write_text(b, s, i, v->text); break;
		case VAL_BIG: write_big(b, s, i, v->text); break;
		case VAL_NUMBER: write_number(s, i, v->number); break;
		case VAL_BOOL: row_bool(s, i, v->yes); break;
		}
	}
	row_end(s);
}

/* ---- looks ---- */

/* Characters of the widest number in its format. */
static size_t
number_chars(const struct book *b, const struct book_column *c)
{
	double v = -c->least > c->most ? -c->least : c->most;
	const lxw_format *f = c->has_fraction ? c->real : c->whole;
	size_t n = 1 + (c->least < 0);

	for (; v >= 10 && n < 20; v /= 10)
		n++;
	if (f == b->formats[BOOK_GENERAL])
		return c->has_fraction || n > 12 ? 12 : n;
	if (f == b->formats[BOOK_CENTI])
		return n + 3;
	if (f == b->formats[BOOK_WHOLE])
		return n;
	return n + n / 3 + (f == b->formats[BOOK_MILLI] ? 4 : 0);
}

static bool
is_folded(const struct book_sheet *s, size_t i)
{
	return i < s->ncolumns && s->columns[i].flags & COL_FOLDED;
}

/* Folded neighbours are a group, with a button after the last. */
static void
set_width(struct book *b, struct book_sheet *s, size_t i)
{
	const struct book_column *c = &s->columns[i];
	size_t n = number_chars(b, c) + 1;
	lxw_row_col_options look = {
		.hidden = is_folded(s, i),
		.level = is_folded(s, i),
		.collapsed = i > 0 && is_folded(s, i - 1) && !is_folded(s, i),
	};

	n = c->chars > n ? c->chars : n;
	n = n < WIDTH_MIN ? WIDTH_MIN : n > WIDTH_MAX ? WIDTH_MAX : n;
	book_check(worksheet_set_column_opt(s->ws, (lxw_col_t)i, (lxw_col_t)i,
		       (double)n, NULL, &look),
	    "a width");
}

/* The button of a group at the last column. */
static void
close_group(struct book_sheet *s)
{
	lxw_row_col_options look = { .collapsed = LXW_TRUE };

	if (is_folded(s, s->ncolumns - 1) && s->ncolumns < XLSX_COLUMNS)
		book_check(
		    worksheet_set_column_opt(s->ws, (lxw_col_t)s->ncolumns,
			(lxw_col_t)s->ncolumns, LXW_DEF_COL_WIDTH, NULL, &look),
		    "a group");
}

/* Bars of shares, from 0 to 100. */
static lxw_conditional_format
bar(void)
{
	return (lxw_conditional_format){
		.type = LXW_CONDITIONAL_DATA_BAR,
		.min_rule_type = LXW_CONDITIONAL_RULE_TYPE_NUMBER,
		.max_rule_type = LXW_CONDITIONAL_RULE_TYPE_NUMBER,
		.max_value = 100,
		.bar_color = 0x9dc3e6,
		.bar_solid = LXW_TRUE,
		.data_bar_2010 = LXW_TRUE,
	};
}

/*
 * Differences: white at zero, full colour at the largest; percentages beyond
 * 100 look alike, or a new op would leave the rest white.
 */
static lxw_conditional_format
scale(const struct book_column *c, double most)
{
	bool less = c->flags & COL_BETTER_LESS;
	const lxw_color_t good = 0x63be7b, bad = 0xf8696b;

	if (c->unit == UNIT_PERCENT && most > 100)
		most = 100;
	return (lxw_conditional_format){
		.type = LXW_CONDITIONAL_3_COLOR_SCALE,
		.min_rule_type = LXW_CONDITIONAL_RULE_TYPE_NUMBER,
		.mid_rule_type = LXW_CONDITIONAL_RULE_TYPE_NUMBER,
		.max_rule_type = LXW_CONDITIONAL_RULE_TYPE_NUMBER,
		.min_value = -most,
		.max_value = most,
		.min_color = less ? good : bad,
		.mid_color = 0xffffff,
		.max_color = less ? bad : good,
	};
}

static void
add_colours(struct book_sheet *s, size_t i)
{
	const struct book_column *c = &s->columns[i];
	double most = -c->least > c->most ? -c->least : c->most;
	bool differs = (c->flags & (COL_BETTER_LESS | COL_BETTER_MORE)) != 0;
	lxw_conditional_format f = differs ? scale(c, most) : bar();

	if (s->nrows <= 1 || (differs ? most == 0 : c->unit != UNIT_PERCENT))
		return;
	book_check(worksheet_conditional_format_range(s->ws, 1, (lxw_col_t)i,
		       (lxw_row_t)(s->nrows - 1), (lxw_col_t)i, &f),
	    "colours");
}

void
sheet_end(struct book *b, struct book_sheet *s)
{
	if (s->ncolumns == 0)
		return;
	for (size_t i = 0; i < s->ncolumns; i++) {
		set_width(b, s, i);
		add_colours(s, i);
	}
	close_group(s);
	worksheet_freeze_panes(s->ws, 1, 0);
	/* printed as wide as the table, the header on each page */
	worksheet_set_landscape(s->ws);
	worksheet_fit_to_pages(s->ws, 1, 0);
	book_check(worksheet_repeat_rows(s->ws, 0, 0), "a repeated header");
	book_check(worksheet_autofilter(s->ws, 0, 0, (lxw_row_t)(s->nrows - 1),
		       (lxw_col_t)(s->ncolumns - 1)),
	    "a filter");
}
