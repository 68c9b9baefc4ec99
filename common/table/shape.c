/* SPDX-License-Identifier: MIT */
/*
 * Numbers for people: a column has one unit, that of its largest value, and one
 * number of decimals, so that the eye can compare; only values too small for
 * those have more. Times that a reader adds or compares share a unit as well,
 * columns of far smaller ones aside. Points in time have as many decimals as
 * tell consecutive rows apart.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/view.h"

struct scale {
	double from; /* for largest values from here on */
	double div;
	int decimals; /* -1: depends on the values */
	const char *name;
};

static const struct scale time_scales[] = {
	{ 1e9, 1e9, 3, "s" },
	{ 1e6, 1e6, 3, "ms" },
	{ 1e3, 1e3, 3, "us" },
	{ 0, 1, -1, "ns" },
};

static const struct scale byte_scales[] = {
	{ 0x1p40, 0x1p40, 2, "TiB" },
	{ 0x1p30, 0x1p30, 2, "GiB" },
	{ 0x1p20, 0x1p20, 2, "MiB" },
	{ 0x1p10, 0x1p10, 2, "KiB" },
	{ 0, 1, -1, "B" },
};

/* The range of a column's printed values. */
struct extent {
	double max;
	bool integers; /* integers only, also after label_div */
};

static double
number_of(const struct cell *c)
{
	return c->type == CELL_INT ? (double)c->i
	    : c->type == CELL_REAL ? c->real
				   : 0;
}

static struct extent
extent_of(const struct view *v, const struct column *col, double div)
{
	struct extent e = { 0, true };

	for (size_t row = 0; row < v->nrows; row++) {
		const struct cell *c = view_cell(v, row, col);
		double x = fabs(number_of(c)) / div;

		if (x > e.max)
			e.max = x;
		if (c->type == CELL_REAL || floor(x) != x)
			e.integers = false;
	}
	return e;
}

/* The smallest difference between consecutive rows, or 0. */
static uint64_t
least_step(const struct view *v, const struct column *col)
{
	const struct cell *last = NULL;
	uint64_t least = 0;

	for (size_t row = 0; row < v->nrows; row++) {
		const struct cell *c = view_cell(v, row, col);
		uint64_t step;

		if (c->type != CELL_INT)
			continue;
		if (last != NULL && c->i != last->i) {
			step = c->i > last->i
			    ? (uint64_t)c->i - (uint64_t)last->i
			    : (uint64_t)last->i - (uint64_t)c->i;
			if (least == 0 || step < least)
				least = step;
		}
		last = c;
	}
	return least;
}

/* About five digits for the largest value. */
static int
decimals_for(struct extent e)
{
	if (e.integers)
		return 0;
	if (e.max >= 1e15 || (e.max > 0 && e.max < 1e-6))
		return -1;
	if (e.max >= 1e3 || e.max == 0)
		return 1;
	if (e.max >= 100)
		return 2;
	return e.max >= 1 ? 3 : 3 - (int)floor(log10(e.max));
}

static const struct scale *
scale_of(const struct scale *scale, double max)
{
	while (max < scale->from)
		scale++;
	return scale;
}

static void
scale_to(struct column_shape *s, const struct scale *scale, struct extent e)
{
	s->div = scale->div;
	s->unit = scale->name;
	if (scale->decimals >= 0 && e.max > 0)
		s->decimals = scale->decimals;
}

/* By threes: digits of another unit are whole. */
static void
resolve_steps(struct column_shape *s, uint64_t step)
{
	s->unit_ns = (uint64_t)s->div;
	for (s->digit_ns = s->unit_ns / 1000; s->digit_ns > 1;
	     s->digit_ns /= 1000) {
		if (step == 0 || step >= s->digit_ns)
			break;
		s->decimals += 3;
	}
}

/* ---- units of times ---- */

#define TIME_LEAST 0.1 /* of a unit: three digits */
#define TIME_BRIEF 1e3 /* from so many on one decimal does */

/*
 * What can be added or compared: sums and lone times, or statistics of single
 * ones ("dur_ns_mean", "per_launch_ns"). Points in time are neither.
 */
enum time_group { TIMES_ADDED, TIMES_SINGLE, TIMES_NONE };

static enum time_group
group_of(const struct column *col)
{
	const char *of = strstr(col->id, "_ns_");

	if (col->unit != UNIT_NS || (col->flags & COL_POSITION) != 0)
		return TIMES_NONE;
	if (strncmp(col->id, "per_", 4) == 0)
		return TIMES_SINGLE;
	return of == NULL || strcmp(of, "_ns_sum") == 0 ||
		strcmp(of, "_ns_total") == 0
	    ? TIMES_ADDED
	    : TIMES_SINGLE;
}

/* A column of times that are far shorter than the others has its own unit. */
static void
shape_times(struct column_shape *s, double longest, struct extent e)
{
	const struct scale *scale = scale_of(time_scales, longest);

	if (e.max > 0 && e.max < TIME_LEAST * scale->div)
		scale = scale_of(time_scales, e.max);
	scale_to(s, scale, e);
	if (e.max >= TIME_BRIEF * s->div && s->div > 1 && s->div < 1e9)
		s->decimals = 1;
}

/* All but the units of times. */
static struct column_shape
shape_of(const struct view *v, const struct column *col, struct extent *e)
{
	struct column_shape s = {
		.div = 1, .unit = "", .labels = v->labels, .brief = v->may_drop
	};

	s.right = col->type == COL_INT || col->type == COL_REAL;
	s.div = value_div(col, v->labels);
	*e = extent_of(v, col, s.div);
	s.decimals = decimals_for(*e);
	if (col->unit == UNIT_PERCENT && !e->integers)
		s.decimals = 2;
	if (v->labels)
		return s;
	if (col->unit == UNIT_NS && (col->flags & COL_POSITION) != 0) {
		scale_to(&s, scale_of(time_scales, e->max), *e);
		if (s.div > 1)
			resolve_steps(&s, least_step(v, col));
	} else if (col->unit == UNIT_BYTES)
		scale_to(&s, scale_of(byte_scales, e->max), *e);
	else if (col->unit == UNIT_PERCENT)
		s.unit = "%";
	return s;
}

void
shapes_of(const struct view *v, struct column_shape *shapes)
{
	struct extent *extents = xcalloc(v->ncolumns + 1, sizeof *extents);
	double longest[TIMES_NONE + 1] = { 0 };

	for (size_t i = 0; i < v->ncolumns; i++) {
		double *most = &longest[group_of(v->columns[i])];

		shapes[i] = shape_of(v, v->columns[i], &extents[i]);
		*most = fmax(*most, extents[i].max);
	}
	for (size_t i = 0; i < v->ncolumns && !v->labels; i++) {
		enum time_group group = group_of(v->columns[i]);

		if (group != TIMES_NONE)
			shape_times(&shapes[i], longest[group], extents[i]);
	}
	free(extents);
}

/* An id names its unit; a terminal may use another. */
static void
put_without_unit(const char *id, struct str unit, struct buf *out)
{
	const char *words = id;
	size_t start = out->len;
	struct str word;

	while (str_next(&words, '_', &word)) {
		if (str_eq(word, unit))
			continue;
		if (out->len > start)
			buf_putc(out, '_');
		buf_put(out, word.p, word.len);
	}
	if (out->len == start)
		buf_puts(out, id);
}

/* Shorter heads, which -c also takes. */
const char *
column_short(const char *id)
{
	if (strcmp(id, "operation_count") == 0 || strcmp(id, "name_count") == 0)
		return "count";
	if (strcmp(id, "roofline_bound") == 0)
		return "bound";
	if (strcmp(id, "pct_roofline_mean") == 0)
		return "roof_mean";
	return strncmp(id, "param_", 6) == 0 ? id + 6 : id;
}

void
shape_head(
    const struct column_shape *s, const struct column *col, struct buf *out)
{
	struct str id = str_of(col->id);

	if (s->labels) {
		text_visible(value_head(col, true), out);
		return;
	}
	put_without_unit(s->brief ? column_short(col->id) : col->id,
	    col->unit == UNIT_NS          ? STR("ns")
		: col->unit == UNIT_BYTES ? STR("bytes")
					  : STR("%"),
	    out);
	if (s->unit[0] == '\0' ||
	    (col->unit == UNIT_PERCENT &&
		(str_find(id, STR("pct"), false) >= 0 ||
		    str_find(id, STR("percent"), false) >= 0)))
		return;
	buf_printf(out, " [%s]", s->unit);
}

/*
 * In a unit of larger values a small one would be 0.000 or 0.001: it gets two
 * digits, or as many as it has.
 */
static int
decimals_of(const struct column_shape *s, double v)
{
	int decimals = s->decimals, most = (int)ceil(log10(s->div));

	v = fabs(v) * pow(10, decimals);
	if (v >= 9.5)
		return decimals;
	for (; v > 0 && v < 10 && decimals < most; decimals++)
		v *= 10;
	return decimals;
}

static void
put_real(const struct column_shape *s, double v, struct buf *out)
{
	/* The longest: 309 digits before the point, and the decimals. */
	char text[400], *p = text;
	int n;

	if (s->decimals < 0)
		n = snprintf(text, sizeof text, "%.5g", v);
	else
		n = snprintf(text, sizeof text, "%.*f", decimals_of(s, v), v);
	/* What rounds to zero has no sign. */
	if (p[0] == '-' && strspn(p + 1, "0.") == (size_t)n - 1)
		p++;
	buf_puts(out, p);
}

/* Exact: a double cannot hold ns of a year. */
static void
put_position(const struct column_shape *s, int64_t ns, struct buf *out)
{
	uint64_t n = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	uint64_t per_unit = s->unit_ns / s->digit_ns;

	n = n / s->digit_ns + (n % s->digit_ns * 2 >= s->digit_ns);
	buf_printf(out, "%s%" PRIu64 ".%0*" PRIu64, ns < 0 && n > 0 ? "-" : "",
	    n / per_unit, s->decimals, n % per_unit);
}

void
shape_cell(const struct column_shape *s, const struct column *col,
    const struct cell *c, struct buf *out)
{
	char text[VALUE_MAX];

	switch (c->type) {
	case CELL_NONE: break;
	case CELL_TEXT: text_visible(c->text, out); break;
	case CELL_BOOL: buf_puts(out, c->yes ? "true" : "false"); break;
	case CELL_INT:
		if (s->digit_ns > 0) {
			put_position(s, c->i, out);
			break;
		}
		if (s->decimals == 0) {
			buf_put(
			    out, text, value_number(text, c, col, s->labels));
			break;
		}
		put_real(s, (double)c->i / s->div, out);
		break;
	case CELL_REAL: put_real(s, c->real / s->div, out); break;
	}
}
