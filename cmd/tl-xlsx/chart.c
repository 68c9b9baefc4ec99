/* SPDX-License-Identifier: MIT */
/* Native charts over the cells of sheets. */
#include <math.h>

#include "cmd/tl-xlsx/workbook.h"

/* A bar or a slice each: more can't be told apart. */
#define CATEGORIES_MAX 20
#define STACKS_MAX 64 /* in a chart that grows with them */
/* Cells that a chart's picture covers, a gap included. */
#define CHART_COLUMNS 10
#define CHART_WIDTH 9.0 /* of such a column, in characters: 68 pixels */
#define CHART_GAP 2     /* rows */
/* Pixels of a chart; and of one with bars: around them, and of each. */
#define HEIGHT_DEFAULT 288.0
#define HEIGHT_LEAST 432.0
#define HEIGHT_AROUND 150.0
#define HEIGHT_BAR 18.0
/* A logarithmic axis shows so many decades, the highest ones. */
#define DECADES_MAX 9

/* ---- options ---- */

/* Up to the next sep; false if there is none, and then it is the rest. */
static bool
cut(struct str *rest, char sep, struct str *part)
{
	const char *p = memchr(rest->p, sep, rest->len);
	size_t n = p != NULL ? (size_t)(p - rest->p) : rest->len;

	*part = (struct str){ rest->p, n };
	rest->p += p != NULL ? n + 1 : n;
	rest->len -= p != NULL ? n + 1 : n;
	return p != NULL;
}

static void
take_data(struct chart_data *d, const char *option, struct str rest)
{
	struct str y;
	bool more = true;

	d->text = rest.p;
	if (!cut(&rest, ':', &d->sheet) || !cut(&rest, ':', &d->x) ||
	    d->sheet.len == 0 || d->x.len == 0 || rest.len == 0)
		die_usage("option '%s' needs %sSHEET:X:Y[,Y...], not '%s'",
		    option, strcmp(option, "--chart") == 0 ? "KIND:" : "",
		    d->text);
	while (more) {
		more = cut(&rest, ',', &y);
		if (y.len == 0)
			die_usage("option '%s': an empty column in '%s'",
			    option, d->text);
		vec_push(&d->y, y);
	}
}

void
charts_opt_chart(struct charts *c, const char *arg)
{
	static const char *const words[] = { [CHART_BAR] = "bar",
		[CHART_PIE] = "pie",
		[CHART_SCATTER] = "scatter",
		[CHART_STACKED] = "stacked" };
	struct chart_spec *spec;
	struct str rest = str_of(arg), kind;
	size_t i = 0;

	(void)cut(&rest, ':', &kind);
	while (
	    i < sizeof words / sizeof *words && !str_eq(kind, str_of(words[i])))
		i++;
	if (i == sizeof words / sizeof *words)
		die_usage("option '--chart' needs bar, stacked, pie or scatter "
			  "first, "
			  "not '%.*s'",
		    (int)kind.len, kind.p);
	spec = vec_add(&c->list);
	*spec = (struct chart_spec){ .kind = (enum chart_kind)i };
	take_data(&spec->data, "--chart", rest);
	if (spec->kind == CHART_PIE && spec->data.y.n > 1)
		die_usage("option '--chart': a pie has one column of values, "
			  "not %zu",
		    spec->data.y.n);
}

static struct chart_spec *
last(struct charts *c, const char *option, bool scatter)
{
	struct chart_spec *s;

	if (c->list.n == 0)
		die_usage("option '%s' stands behind its --chart", option);
	s = &c->list.v[c->list.n - 1];
	if (scatter && s->kind != CHART_SCATTER)
		die_usage("option '%s' needs a chart of kind scatter", option);
	return s;
}

void
charts_opt_line(struct charts *c, const char *arg)
{
	struct chart_data d = { 0 };

	take_data(&d, "--line", str_of(arg));
	vec_push(&last(c, "--line", true)->lines, d);
}

void
charts_opt_log(struct charts *c, const char *arg)
{
	struct chart_spec *s = last(c, "--log", true);

	if (strcmp(arg, "x") != 0 && strcmp(arg, "y") != 0 &&
	    strcmp(arg, "xy") != 0)
		die_usage("option '--log' needs x, y or xy, not '%s'", arg);
	s->log_x |= strchr(arg, 'x') != NULL;
	s->log_y |= strchr(arg, 'y') != NULL;
}

void
charts_opt_title(struct charts *c, const char *arg)
{
	last(c, "--title", false)->title = arg;
}

/* ---- data ---- */

static struct sheet *
find_sheet(const struct book *b, const struct chart_data *d)
{
	struct sheet *s = book_find(b, d->sheet);

	if (s == NULL)
		die_usage("chart '%s': there is no sheet '%.*s'", d->text,
		    (int)d->sheet.len, d->sheet.p);
	return s;
}

static size_t
find_column(const struct sheet *s, const struct chart_data *d, struct str name)
{
	for (size_t i = 0; i < s->ncolumns; i++)
		if (str_eq(s->columns[i].id, name))
			return i;
	for (size_t i = 0; i < s->ncolumns; i++)
		if (str_eq(s->columns[i].label, name))
			return i;
	die_usage("chart '%s': sheet '%s' has no column '%.*s'", d->text,
	    s->name, (int)name.len, name.p);
}

static const char *
head_of(struct book *b, const struct sheet *s, size_t column)
{
	const struct book_column *c = &s->columns[column];
	size_t width;

	return book_text(b, b->labels ? c->label : c->id, &width);
}

static size_t
rows_max(const struct chart_spec *spec)
{
	switch (spec->kind) {
	case CHART_BAR:
	case CHART_PIE: return CATEGORIES_MAX;
	case CHART_STACKED: return STACKS_MAX;
	case CHART_SCATTER: break;
	}
	return XLSX_ROWS;
}

/* The last row that is drawn. */
static lxw_row_t
last_row(const struct chart_spec *spec, const struct sheet *s)
{
	size_t n = s->nrows - 1;

	return (lxw_row_t)(n > rows_max(spec) ? rows_max(spec) : n);
}

static lxw_chart_series *
add_series(lxw_chart *chart, const struct chart_spec *spec,
    const struct sheet *s, size_t x, size_t y)
{
	lxw_chart_series *series = chart_add_series(chart, NULL, NULL);
	lxw_row_t end = last_row(spec, s);

	if (series == NULL)
		die("out of memory");
	chart_series_set_categories(
	    series, s->name, 1, (lxw_col_t)x, end, (lxw_col_t)x);
	chart_series_set_values(
	    series, s->name, 1, (lxw_col_t)y, end, (lxw_col_t)y);
	chart_series_set_name_range(series, s->name, 0, (lxw_col_t)y);
	return series;
}

static void
add_points(struct book *b, lxw_chart *chart, const struct chart_spec *spec)
{
	const struct sheet *s = find_sheet(b, &spec->data);
	size_t x = find_column(s, &spec->data, spec->data.x);

	for (size_t i = 0; i < spec->data.y.n; i++) {
		size_t y = find_column(s, &spec->data, spec->data.y.v[i]);
		lxw_chart_series *series = add_series(chart, spec, s, x, y);

		if (spec->kind == CHART_STACKED) {
			static const lxw_color_t colours[] = { 0x3b76b5,
				0xd9822b, 0x8f6bb3, 0xd4d4d4 };
			lxw_chart_fill fill = { .color = colours[i % 4] };

			chart_series_set_fill(series, &fill);
		} else if (spec->kind == CHART_PIE) {
			chart_series_set_labels(series);
			chart_series_set_labels_options(
			    series, LXW_FALSE, LXW_FALSE, LXW_FALSE);
			chart_series_set_labels_percentage(series);
		} else if (spec->kind == CHART_SCATTER) {
			lxw_chart_fill fill = { .color = 0x3b76b5,
				.transparency = 40 };
			lxw_chart_line edge = { .color = 0xffffff,
				.width = 0.25F };

			chart_series_set_marker_type(
			    series, LXW_CHART_MARKER_CIRCLE);
			chart_series_set_marker_size(series, 5);
			if (i == 0)
				chart_series_set_marker_fill(series, &fill);
			chart_series_set_marker_line(series, &edge);
		}
	}
}

static void
add_lines(struct book *b, lxw_chart *chart, const struct chart_spec *spec)
{
	static const lxw_color_t colours[] = { 0x7f7f7f, 0xd9822b, 0x548235 };
	size_t n = 0;

	for (size_t k = 0; k < spec->lines.n; k++) {
		const struct chart_data *d = &spec->lines.v[k];
		const struct sheet *s = find_sheet(b, d);
		size_t x = find_column(s, d, d->x);

		if (s->nrows < 2) {
			warn("chart '%s': sheet '%s' has no rows", d->text,
			    s->name);
			continue;
		}
		for (size_t i = 0; i < d->y.n; i++) {
			lxw_chart_series *series = add_series(
			    chart, spec, s, x, find_column(s, d, d->y.v[i]));
			lxw_chart_line line = { .color = colours[n++ % 3],
				.width = 1.5F };

			chart_series_set_line(series, &line);
			chart_series_set_marker_type(
			    series, LXW_CHART_MARKER_NONE);
		}
	}
}

/* ---- looks ---- */

/* The least and the most positive value; false: there is none. */
static bool
widen(const struct book_column *c, double *least, double *most)
{
	if (c->least_positive > 0 && c->least_positive < *least)
		*least = c->least_positive;
	if (c->most > *most)
		*most = c->most;
	return *most > 0 && *least <= *most;
}

/*
 * Whole decades around all that is drawn. Without bounds the axes of some
 * programs begin at 1, and what is below is not drawn at all.
 */
static void
set_log(struct book *b, lxw_chart_axis *axis, const struct chart_spec *spec,
    bool is_x)
{
	double least = INFINITY, most = 0;
	bool any = false;

	for (size_t k = 0; k <= spec->lines.n; k++) {
		const struct chart_data *d =
		    k == 0 ? &spec->data : &spec->lines.v[k - 1];
		const struct sheet *s = find_sheet(b, d);

		if (is_x)
			any = widen(&s->columns[find_column(s, d, d->x)],
			    &least, &most);
		for (size_t i = 0; !is_x && i < d->y.n; i++)
			any = widen(&s->columns[find_column(s, d, d->y.v[i])],
			    &least, &most);
	}
	chart_axis_set_log_base(axis, 10);
	if (!any)
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
set_axes(struct book *b, lxw_chart *chart, const struct chart_spec *spec,
    const struct sheet *s)
{
	size_t x = find_column(s, &spec->data, spec->data.x);
	size_t y = find_column(s, &spec->data, spec->data.y.v[0]);

	if (spec->kind == CHART_PIE)
		return;
	/* the library calls the horizontal axis of bars x */
	lxw_chart_line grid = { .color = 0xd9d9d9, .width = 0.5F };
	bool is_bar = spec->kind == CHART_BAR || spec->kind == CHART_STACKED;
	lxw_chart_axis *x_axis = is_bar ? chart->y_axis : chart->x_axis;
	lxw_chart_axis *y_axis = is_bar ? chart->x_axis : chart->y_axis;

	chart_axis_set_name(x_axis, head_of(b, s, x));
	if (spec->data.y.n == 1)
		chart_axis_set_name(y_axis, head_of(b, s, y));
	if (spec->log_x)
		set_log(b, x_axis, spec, true);
	if (spec->log_y)
		set_log(b, y_axis, spec, false);
	if (is_bar) { /* first row on top, numbers at the bottom */
		chart_axis_set_reverse(x_axis);
		chart_axis_set_crossing_max(x_axis);
	}
	if (spec->kind == CHART_SCATTER)
		chart_axis_major_gridlines_set_visible(x_axis, LXW_TRUE);
	chart_axis_major_gridlines_set_line(x_axis, &grid);
	chart_axis_major_gridlines_set_line(y_axis, &grid);
	chart_legend_set_position(chart, LXW_CHART_LEGEND_BOTTOM);
	if (spec->kind == CHART_BAR && spec->data.y.n == 1)
		chart_legend_set_position(chart, LXW_CHART_LEGEND_NONE);
}

static void
set_title(struct book *b, lxw_chart *chart, const struct chart_spec *spec,
    const struct sheet *s)
{
	lxw_chart_font font = { .size = 12, .bold = LXW_TRUE };
	size_t n = s->nrows - 1, width;
	struct buf title = { 0 };

	if (spec->title != NULL) {
		buf_puts(&title, spec->title);
	} else {
		size_t y = find_column(s, &spec->data, spec->data.y.v[0]);
		size_t x = find_column(s, &spec->data, spec->data.x);

		buf_puts(&title, head_of(b, s, y));
		buf_puts(&title, " by ");
		buf_puts(&title, head_of(b, s, x));
	}
	if (n > rows_max(spec))
		buf_printf(&title, " (first %zu of %zu)", rows_max(spec), n);
	chart_title_set_name(chart, book_text(b, buf_str(&title), &width));
	chart_title_set_name_font(chart, &font);
	buf_free(&title);
}

/* Bars need room each; the rest is drawn to one size. */
static double
height_of(const struct chart_spec *spec, const struct sheet *s)
{
	double bars = HEIGHT_AROUND + HEIGHT_BAR * (double)last_row(spec, s);

	if (spec->kind != CHART_STACKED || bars < HEIGHT_LEAST)
		return HEIGHT_LEAST;
	return bars;
}

/* Beside the table, or on a sheet without one side by side. */
static void
place(struct sheet *at, lxw_chart *chart, double height)
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

static void
add_chart(struct book *b, const struct chart_spec *spec, struct sheet *at)
{
	static const uint8_t types[] = { [CHART_BAR] = LXW_CHART_BAR,
		[CHART_PIE] = LXW_CHART_PIE,
		[CHART_SCATTER] = LXW_CHART_SCATTER,
		[CHART_STACKED] = LXW_CHART_BAR_STACKED };
	struct sheet *s = find_sheet(b, &spec->data);
	lxw_chart *chart;

	(void)find_column(s, &spec->data, spec->data.x);
	if (s->nrows < 2) {
		warn("chart '%s': sheet '%s' has no rows", spec->data.text,
		    s->name);
		return;
	}
	chart = workbook_add_chart(b->wb, types[spec->kind]);
	if (chart == NULL)
		die("out of memory");
	add_points(b, chart, spec);
	add_lines(b, chart, spec);
	set_axes(b, chart, spec, s);
	set_title(b, chart, spec, s);
	place(at != NULL ? at : s, chart, height_of(spec, s));
}

void
charts_add(struct book *b, struct charts *c)
{
	struct sheet *at = NULL;

	if (c->sheet != NULL)
		at = book_find(b, str_of(c->sheet));
	if (c->sheet != NULL && at == NULL && c->list.n > 0) {
		at = book_sheet(b, str_of(c->sheet), "");
		book_check(worksheet_set_column(
			       at->ws, 0, 2 * CHART_COLUMNS, CHART_WIDTH, NULL),
		    "a width");
		worksheet_gridlines(at->ws, LXW_HIDE_ALL_GRIDLINES);
	}
	for (size_t i = 0; i < c->list.n; i++)
		add_chart(b, &c->list.v[i], at);
}

void
charts_free(struct charts *c)
{
	for (size_t i = 0; i < c->list.n; i++) {
		struct chart_spec *s = &c->list.v[i];

		for (size_t k = 0; k < s->lines.n; k++)
			vec_free(&s->lines.v[k].y);
		vec_free(&s->lines);
		vec_free(&s->data.y);
	}
	vec_free(&c->list);
}
