/* SPDX-License-Identifier: MIT */
/* Native charts over cells of sheets, by the catalogue. */
#include <math.h>

#include "table/catalogue.h"

#include "cmd/tl-xlsx/workbook.h"

/* Sorted bars: further ones are too small to see. */
#define CATEGORIES_MAX 20
#define BARS_MAX 64 /* in a chart whose height grows with them */
/* Cells under a chart, with a gap. */
#define CHART_COLUMNS 10
#define CHART_WIDTH 9.0 /* of a column, in characters: 68 pixels */
#define CHART_GAP 2     /* rows */
/* Pixels of a chart; around bars, and of each bar. */
#define HEIGHT_DEFAULT 288.0
#define HEIGHT_LEAST 432.0
#define HEIGHT_AROUND 150.0
#define HEIGHT_BAR 18.0
/* Decades of a logarithmic axis, from the top. */
#define DECADES_MAX 9

enum chart_kind {
	CHART_BARS,
	CHART_STACKED,
	CHART_SCATTER, /* both axes logarithmic */
};

/* Columns of one sheet. */
struct series {
	const struct book_sheet *s;
	size_t x;
	VEC(size_t) y;
};

struct chart {
	enum chart_kind kind;
	const char *title;
	struct series points, lines; /* lines.s NULL: none */
};

/* ---- data ---- */

/* By id or label; ncolumns: not found. */
static size_t
find_column(const struct book_sheet *s, struct str name)
{
	for (size_t i = 0; i < s->ncolumns; i++)
		if (str_eq(s->columns[i].id, name) ||
		    str_eq(s->columns[i].label, name))
			return i;
	return s->ncolumns;
}

/* False: columns or rows are missing. */
static bool
find_points(
    struct series *p, const struct book_sheet *s, const struct sheet_chart *c)
{
	bool any = false;

	p->s = s;
	p->x = c->x != NULL ? find_column(s, str_of(c->x)) : 0;
	for (const char *y = c->y, *end; y != NULL;
	     y = *end != '\0' ? end + 1 : NULL) {
		end = strchrnul(y, ',');
		size_t at =
		    find_column(s, (struct str){ y, (size_t)(end - y) });

		if (at == s->ncolumns)
			return false;
		vec_push(&p->y, at);
		any = any || s->columns[at].most > 0;
	}
	return any && p->x < s->ncolumns && s->nrows > 2;
}

/* All columns of the table after the first. */
static void
find_lines(struct series *p, const struct book *b, const char *name)
{
	p->s = name != NULL ? book_find(b, str_of(name)) : NULL;
	if (p->s != NULL && p->s->nrows < 2)
		p->s = NULL;
	for (size_t i = 1; p->s != NULL && i < p->s->ncolumns; i++)
		vec_push(&p->y, i);
}

static enum chart_kind
kind_of(const char *word)
{
	static const char *const words[] = { [CHART_BARS] = "bars",
		[CHART_STACKED] = "stacked",
		[CHART_SCATTER] = "scatter" };
	size_t i = 0;

	while (strcmp(words[i], word) != 0)
		i++;
	return (enum chart_kind)i;
}

static const char *
head_of(struct book *b, const struct series *p, size_t column)
{
	const struct book_column *c = &p->s->columns[column];
	size_t width;

	return book_text(b, b->labels ? c->label : c->id, &width);
}

static size_t
rows_max(const struct chart *c)
{
	return c->kind == CHART_BARS   ? CATEGORIES_MAX
	    : c->kind == CHART_STACKED ? BARS_MAX
				       : XLSX_ROWS;
}

/* The last row that is drawn. */
static lxw_row_t
last_row(const struct chart *c, const struct book_sheet *s)
{
	size_t n = s->nrows - 1;

	return (lxw_row_t)(n > rows_max(c) ? rows_max(c) : n);
}

static lxw_chart_series *
add_series(
    lxw_chart *chart, const struct chart *c, const struct series *p, size_t i)
{
	lxw_chart_series *series = chart_add_series(chart, NULL, NULL);
	lxw_row_t end = last_row(c, p->s);
	lxw_col_t x = (lxw_col_t)p->x, y = (lxw_col_t)p->y.v[i];

	if (series == NULL)
		die("out of memory");
	chart_series_set_categories(series, p->s->name, 1, x, end, x);
	chart_series_set_values(series, p->s->name, 1, y, end, y);
	chart_series_set_name_range(series, p->s->name, 0, y);
	return series;
}

static void
add_points(lxw_chart *chart, const struct chart *c)
{
	static const lxw_color_t colours[] = { 0x3b76b5, 0xd9822b, 0x8f6bb3,
		0xd4d4d4 };

	for (size_t i = 0; i < c->points.y.n; i++) {
		lxw_chart_series *series = add_series(chart, c, &c->points, i);
		lxw_chart_fill fill = { .color = colours[i % 4] };
		lxw_chart_line edge = { .color = 0xffffff, .width = 0.25F };

		if (c->kind != CHART_SCATTER) {
			chart_series_set_fill(series, &fill);
		} else {
			fill.transparency = 40;
			chart_series_set_marker_type(
			    series, LXW_CHART_MARKER_CIRCLE);
			chart_series_set_marker_size(series, 5);
			chart_series_set_marker_fill(series, &fill);
			chart_series_set_marker_line(series, &edge);
		}
	}
}

static void
add_lines(lxw_chart *chart, const struct chart *c)
{
	static const lxw_color_t colours[] = { 0x7f7f7f, 0xd9822b, 0x548235 };

	for (size_t i = 0; i < c->lines.y.n; i++) {
		lxw_chart_series *series = add_series(chart, c, &c->lines, i);
		lxw_chart_line line = { .color = colours[i % 3],
			.width = 1.5F };

		chart_series_set_line(series, &line);
		chart_series_set_marker_type(series, LXW_CHART_MARKER_NONE);
	}
}

/* ---- looks ---- */

/* The smallest and the largest positive value. */
static void
widen(const struct series *p, bool is_x, double *least, double *most)
{
	for (size_t i = 0; p->s != NULL && i < (is_x ? 1 : p->y.n); i++) {
		const struct book_column *c =
		    &p->s->columns[is_x ? p->x : p->y.v[i]];

		if (c->least_positive > 0 && c->least_positive < *least)
			*least = c->least_positive;
		if (c->most > *most)
			*most = c->most;
	}
}

/*
 * Bounds at whole decades around all data. Without bounds the axes of some
 * programs begin at 1 and hide what is below.
 */
static void
set_log(lxw_chart_axis *axis, const struct chart *c, bool is_x)
{
	double least = INFINITY, most = 0;

	widen(&c->points, is_x, &least, &most);
	widen(&c->lines, is_x, &least, &most);
	chart_axis_set_log_base(axis, 10);
	if (!(most > 0 && least <= most))
		return;
	least = floor(log10(least));
	most = ceil(log10(most));
	if (most <= least)
		most = least + 1;
	if (least < most - DECADES_MAX)
		least = most - DECADES_MAX;
	chart_axis_set_min(axis, pow(10, least));
	chart_axis_set_max(axis, pow(10, most));
	chart_axis_set_crossing(axis, pow(10, least));
}

static void
set_axes(struct book *b, lxw_chart *chart, const struct chart *c)
{
	/* the library calls the horizontal axis of bar charts x */
	lxw_chart_line grid = { .color = 0xd9d9d9, .width = 0.5F };
	bool is_bar = c->kind != CHART_SCATTER;
	lxw_chart_axis *x = is_bar ? chart->y_axis : chart->x_axis;
	lxw_chart_axis *y = is_bar ? chart->x_axis : chart->y_axis;

	chart_axis_set_name(x, head_of(b, &c->points, c->points.x));
	if (c->points.y.n == 1)
		chart_axis_set_name(
		    y, head_of(b, &c->points, c->points.y.v[0]));
	if (is_bar) { /* first row on top, numbers at the bottom */
		chart_axis_set_reverse(x);
		chart_axis_set_crossing_max(x);
	} else {
		set_log(x, c, true);
		set_log(y, c, false);
		chart_axis_major_gridlines_set_visible(x, LXW_TRUE);
	}
	chart_axis_major_gridlines_set_line(x, &grid);
	chart_axis_major_gridlines_set_line(y, &grid);
	chart_legend_set_position(chart,
	    c->kind == CHART_BARS ? LXW_CHART_LEGEND_NONE
				  : LXW_CHART_LEGEND_BOTTOM);
}

static void
set_title(struct book *b, lxw_chart *chart, const struct chart *c)
{
	lxw_chart_font font = { .size = 12, .bold = LXW_TRUE };
	size_t n = c->points.s->nrows - 1, width;
	struct buf title = { 0 };

	buf_puts(&title, c->title);
	if (n > rows_max(c))
		buf_printf(&title, " (first %zu of %zu)", rows_max(c), n);
	chart_title_set_name(chart, book_text(b, buf_str(&title), &width));
	chart_title_set_name_font(chart, &font);
	buf_free(&title);
}

/* Grows with bars; other charts have one size. */
static double
height_of(const struct chart *c)
{
	double bars = HEIGHT_AROUND + HEIGHT_BAR * last_row(c, c->points.s);

	if (c->kind == CHART_SCATTER || bars < HEIGHT_LEAST)
		return HEIGHT_LEAST;
	return bars;
}

/* To the right of the table, or side by side on a sheet without one. */
static void
place(struct book_sheet *at, lxw_chart *chart, double height)
{
	lxw_chart_options size = { .x_scale = 1.3 };
	size_t side = at->ncolumns == 0 ? at->ncharts % 2 : 0;
	size_t row = at->charts_end[side];
	size_t column =
	    at->ncolumns == 0 ? side * CHART_COLUMNS : at->ncolumns + 1;

	if (row == 0 && at->ncolumns > 0)
		row = 1;
	if (column >= XLSX_COLUMNS)
		column = 0;
	height = rows_usual_pixels(at, row, height);
	size.y_scale = height / HEIGHT_DEFAULT;
	at->ncharts++;
	at->charts_end[side] = row + (size_t)(height / ROW_PIXELS) + CHART_GAP;
	book_check(worksheet_insert_chart_opt(
		       at->ws, (lxw_row_t)row, (lxw_col_t)column, chart, &size),
	    "a chart");
}

/* ---- which ones ---- */

static void
draw(struct book *b, const struct chart *c, struct book_sheet *at)
{
	static const uint8_t types[] = { [CHART_BARS] = LXW_CHART_BAR,
		[CHART_STACKED] = LXW_CHART_BAR_STACKED,
		[CHART_SCATTER] = LXW_CHART_SCATTER };
	lxw_chart *chart = workbook_add_chart(b->wb, types[c->kind]);

	if (chart == NULL)
		die("out of memory");
	add_points(chart, c);
	add_lines(chart, c);
	set_axes(b, chart, c);
	set_title(b, chart, c);
	place(at, chart, height_of(c));
}

/* The sheet of --chart-sheet, made when needed. */
static struct book_sheet *
sheet_of_all(struct book *b, const char *name)
{
	struct book_sheet *at = book_find(b, str_of(name));

	if (at != NULL)
		return at;
	at = book_sheet(b, str_of(name), "");
	book_check(worksheet_set_column(
		       at->ws, 0, 2 * CHART_COLUMNS, CHART_WIDTH, NULL),
	    "a width");
	worksheet_gridlines(at->ws, LXW_HIDE_ALL_GRIDLINES);
	return at;
}

/* False: the table is missing. */
static bool
add_chart(struct book *b, const struct sheet *e, const char *all)
{
	struct book_sheet *s = book_find(b, str_of(e->name));
	struct chart c = { .title = e->chart->title,
		.kind = kind_of(e->chart->kind) };
	bool found = s != NULL && find_points(&c.points, s, e->chart);

	if (found) {
		find_lines(&c.lines, b, e->chart->lines);
		draw(b, &c, all != NULL ? sheet_of_all(b, all) : s);
	}
	vec_free(&c.points.y);
	vec_free(&c.lines.y);
	return found;
}

static bool
is_of_figure(size_t i, const char *figure)
{
	return sheets[i].chart != NULL &&
	    strcmp(sheets[i].chart->figure, figure) == 0;
}

/* Charts in the order of their first tables, each of its last table. */
void
charts_add(struct book *b, const char *all)
{
	for (size_t i = 0; i < sheets_n; i++) {
		const char *figure;
		bool is_first = sheets[i].chart != NULL, done = false;

		if (!is_first)
			continue;
		figure = sheets[i].chart->figure;
		for (size_t k = 0; k < i; k++)
			is_first = is_first && !is_of_figure(k, figure);
		for (size_t k = sheets_n; is_first && !done && k-- > i;)
			done = is_of_figure(k, figure) &&
			    add_chart(b, &sheets[k], all);
	}
}
