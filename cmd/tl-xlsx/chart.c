/* SPDX-License-Identifier: MIT */
/* Native charts over the cells of sheets. */
#include "cmd/tl-xlsx/workbook.h"

/* A bar or a slice each: more can't be told apart. */
#define CATEGORIES_MAX 20
/* Cells that a chart's picture covers, a gap included. */
#define CHART_ROWS 24
#define CHART_COLUMNS 10
#define CHART_WIDTH 9.0 /* of such a column, in characters: 68 pixels */

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
		[CHART_SCATTER] = "scatter" };
	struct chart_spec *spec;
	struct str rest = str_of(arg), kind;
	size_t i = 0;

	(void)cut(&rest, ':', &kind);
	while (
	    i < sizeof words / sizeof *words && !str_eq(kind, str_of(words[i])))
		i++;
	if (i == sizeof words / sizeof *words)
		die_usage("option '--chart' needs bar, pie or scatter first, "
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

/* The last row that is drawn. */
static lxw_row_t
last_row(const struct chart_spec *spec, const struct sheet *s)
{
	size_t n = s->nrows - 1;

	if (spec->kind != CHART_SCATTER && n > CATEGORIES_MAX)
		n = CATEGORIES_MAX;
	return (lxw_row_t)n;
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

		if (spec->kind == CHART_PIE) {
			chart_series_set_labels(series);
			chart_series_set_labels_options(
			    series, LXW_FALSE, LXW_FALSE, LXW_FALSE);
			chart_series_set_labels_percentage(series);
		} else if (spec->kind == CHART_SCATTER) {
			chart_series_set_marker_type(
			    series, LXW_CHART_MARKER_CIRCLE);
			chart_series_set_marker_size(series, 6);
		}
	}
}

static void
add_lines(struct book *b, lxw_chart *chart, const struct chart_spec *spec)
{
	lxw_chart_line line = { .color = 0x7f7f7f, .width = 1.5F };

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

			chart_series_set_line(series, &line);
			chart_series_set_marker_type(
			    series, LXW_CHART_MARKER_NONE);
		}
	}
}

/* ---- looks ---- */

static void
set_axes(struct book *b, lxw_chart *chart, const struct chart_spec *spec,
    const struct sheet *s)
{
	size_t x = find_column(s, &spec->data, spec->data.x);
	size_t y = find_column(s, &spec->data, spec->data.y.v[0]);

	if (spec->kind == CHART_PIE)
		return;
	/* the library calls the horizontal axis of bars x */
	lxw_chart_axis *x_axis =
	    spec->kind == CHART_BAR ? chart->y_axis : chart->x_axis;
	lxw_chart_axis *y_axis =
	    spec->kind == CHART_BAR ? chart->x_axis : chart->y_axis;

	chart_axis_set_name(x_axis, head_of(b, s, x));
	if (spec->data.y.n == 1)
		chart_axis_set_name(y_axis, head_of(b, s, y));
	if (spec->log_x)
		chart_axis_set_log_base(x_axis, 10);
	if (spec->log_y)
		chart_axis_set_log_base(y_axis, 10);
	if (spec->kind == CHART_BAR)
		chart_axis_set_reverse(x_axis); /* first row on top */
	if (spec->kind == CHART_BAR && spec->data.y.n == 1)
		chart_legend_set_position(chart, LXW_CHART_LEGEND_NONE);
}

static void
set_title(struct book *b, lxw_chart *chart, const struct chart_spec *spec,
    const struct sheet *s)
{
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
	if (spec->kind != CHART_SCATTER && n > CATEGORIES_MAX)
		buf_printf(&title, " (first %d of %zu)", CATEGORIES_MAX, n);
	chart_title_set_name(chart, book_text(b, buf_str(&title), &width));
	buf_free(&title);
}

/* Beside the table, or in the grid of the sheet of charts. */
static void
place(struct sheet *at, lxw_chart *chart)
{
	lxw_chart_options size = { .x_scale = 1.3, .y_scale = 1.5 };
	size_t row = 1 + at->ncharts * CHART_ROWS, column = at->ncolumns + 1;

	if (at->ncolumns == 0) {
		row = at->ncharts / 2 * CHART_ROWS;
		column = at->ncharts % 2 * CHART_COLUMNS;
	}
	if (column >= XLSX_COLUMNS)
		column = 0;
	at->ncharts++;
	book_check(worksheet_insert_chart_opt(
		       at->ws, (lxw_row_t)row, (lxw_col_t)column, chart, &size),
	    "a chart");
}

static void
add_chart(struct book *b, const struct chart_spec *spec, struct sheet *at)
{
	static const uint8_t types[] = { [CHART_BAR] = LXW_CHART_BAR,
		[CHART_PIE] = LXW_CHART_PIE,
		[CHART_SCATTER] = LXW_CHART_SCATTER };
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
	place(at != NULL ? at : s, chart);
}

void
charts_add(struct book *b, struct charts *c)
{
	struct sheet *at = NULL;

	if (c->sheet != NULL && c->list.n > 0) {
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
