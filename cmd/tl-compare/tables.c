/* SPDX-License-Identifier: MIT */
/* Joined sheets as tables: one, or three a variant. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/tl-compare/compare.h"

/* Below, doubles hold integers exactly. */
#define INT_EXACT 9e15

/* ---- values ---- */

struct cell
cell_of(struct val v)
{
	int64_t i;

	switch (v.type) {
	case VAL_NUMBER:
		if (v.number >= -INT_EXACT && v.number <= INT_EXACT &&
		    v.number == (double)(int64_t)v.number)
			return cell_int((int64_t)v.number);
		return cell_real(v.number);
	case VAL_BIG:
		if (num_i64(v.text, &i))
			return cell_int(i);
		return cell_text(v.text);
	case VAL_TEXT: return cell_text(v.text);
	case VAL_BOOL: return cell_bool(v.yes);
	case VAL_NONE: break;
	}
	return cell_none();
}

struct cell
percent_of(double diff, double base)
{
	return base == 0 ? cell_none() : cell_real(diff / base * 100);
}

struct cell
cell_number(double v)
{
	return cell_of((struct val){ .type = VAL_NUMBER, .number = v });
}

/* ---- columns ---- */

enum what {
	A_KEY,
	A_DIFF,
	A_PERCENT,
	A_COPY,
};

/* The origin of a column's cells. */
struct source {
	enum what what;
	size_t report;
	size_t index; /* of the key, measure or column */
};

/* A sheet's tables and the current one. */
struct making {
	const struct joined *j;
	struct sink *sink;
	struct arena *arena;
	bool *shown; /* per report */
	VEC(struct source) sources;
	VEC(struct column) columns;
	struct intern *ids;
	VEC(uint32_t) order;
};

static bool
is_in(const char *list, struct str label)
{
	struct str word;

	while (str_next(&list, '|', &word))
		if (str_eq(label, word))
			return true;
	return false;
}

/* Columns few people look at. */
static bool
is_folded(struct str column)
{
	const char *ends = sheets_folded;
	struct str end;

	while (str_next(&ends, '|', &end))
		if (str_ends(column, end))
			return true;
	return false;
}

/* Equal labels get numbers. */
static const char *
id_of(struct making *m, struct str label)
{
	size_t before = m->ids->list.n, len;
	struct buf b = { 0 };
	const char *id;

	spelling_id(&b, label);
	len = b.len;
	(void)intern_put(m->ids, buf_str(&b));
	for (unsigned i = 2; m->ids->list.n == before; i++) {
		b.len = len;
		buf_printf(&b, "_%u", i);
		(void)intern_put(m->ids, buf_str(&b));
	}
	id = arena_str(m->arena, buf_str(&b)).p;
	buf_free(&b);
	return id;
}

static void PRINTF_LIKE(4, 5) add_column(struct making *m, struct source from,
    struct column look, const char *fmt, ...)
{
	struct buf label = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&label, fmt, ap);
	va_end(ap);
	look.type = COL_REAL;
	look.label = arena_str(m->arena, buf_str(&label)).p;
	look.id = id_of(m, buf_str(&label));
	vec_push(&m->sources, from);
	vec_push(&m->columns, look);
	buf_free(&label);
}

static void
add_keys(struct making *m)
{
	for (size_t k = 0; k < m->j->keys.n; k++) {
		struct str key = m->j->keys.v[k];
		struct column look = {
			.flags = str_ends(key, STR("ame")) ? COL_NAME : 0
		};

		add_column(m, (struct source){ A_KEY, 0, k }, look, "%.*s",
		    STR_ARGS(key));
	}
}

static void
add_diff(struct making *m, size_t report, size_t measure)
{
	const struct measure *of = &m->j->measures.v[measure];
	struct str tag = m->j->reports->list.v[report].tag;
	struct column look = { .flags = of->better };

	add_column(m, (struct source){ A_DIFF, report, measure }, look,
	    "%.*s__%.*s_diff", STR_ARGS(of->label), STR_ARGS(tag));
	/* shares get bars; a count's change has none */
	look.unit = of->better != 0 ? UNIT_PERCENT : UNIT_NONE;
	add_column(m, (struct source){ A_PERCENT, report, measure }, look,
	    "%.*s__%.*s_pct", STR_ARGS(of->label), STR_ARGS(tag));
}

static void
add_diffs(struct making *m)
{
	const struct joined *j = m->j;

	for (size_t i = 0; i < j->measures.n; i++)
		for (size_t r = 1; r < j->n; r++)
			if (m->shown[0] && m->shown[r] &&
			    j->measure_columns[i] != NO_COLUMN &&
			    j->measure_columns[r * j->measures.n + i] !=
				NO_COLUMN)
				add_diff(m, r, i);
}

static bool
is_dropped(const struct joined *j, size_t report, struct str column)
{
	for (size_t k = 0; k < j->keys.n; k++)
		if (str_eq(column, j->keys.v[k]))
			return true;
	return is_in(j->plan->rule->drop, column) ||
	    (report > 0 && is_in(j->plan->rule->drop_variant, column));
}

static bool
is_measure(const struct joined *j, struct str column)
{
	for (size_t i = 0; i < j->measures.n; i++)
		if (str_eq(column, j->measures.v[i].label))
			return true;
	return false;
}

static void
add_copies(struct making *m, size_t report)
{
	const struct joined *j = m->j;
	const struct data *d = j->data[report];

	for (size_t i = 0; i < d->columns.n; i++) {
		struct str name = d->columns.v[i];
		struct column look = {
			.flags = (is_folded(name) ? m->sink->folded : 0) |
			    (is_measure(j, name) ? 0 : m->sink->other)
		};

		if (!is_dropped(j, report, name))
			add_column(m, (struct source){ A_COPY, report, i },
			    look, "%.*s::%.*s",
			    STR_ARGS(j->reports->list.v[report].tag),
			    STR_ARGS(name));
	}
}

/* ---- cells ---- */

static struct cell
diff_cell(const struct making *m, size_t row, const struct source *from)
{
	struct val a = join_measure(m->j, row, 0, from->index);
	struct val b = join_measure(m->j, row, from->report, from->index);

	if (a.type == VAL_NONE || b.type == VAL_NONE)
		return cell_none();
	if (from->what == A_PERCENT)
		return percent_of(b.number - a.number, a.number);
	return cell_number(b.number - a.number);
}

static struct cell
make_cell(const struct making *m, size_t row, const struct source *from)
{
	switch (from->what) {
	case A_KEY: return cell_of(join_key(m->j, row, from->index));
	case A_COPY:
		return cell_of(join_cell(m->j, row, from->report, from->index));
	case A_DIFF:
	case A_PERCENT: break;
	}
	return diff_cell(m, row, from);
}

/* A column with a text is of type text. */
static void
find_types(struct making *m)
{
	for (size_t c = 0; c < m->columns.n; c++)
		for (size_t i = 0; i < m->order.n; i++)
			if (make_cell(m, m->order.v[i], &m->sources.v[c])
				.type == CELL_TEXT) {
				m->columns.v[c].type = COL_TEXT;
				break;
			}
}

/* ---- one table ---- */

static void
put_table(struct making *m, const char *name)
{
	struct table *t;

	m->ids = intern_create();
	m->sources.n = m->columns.n = 0;
	add_keys(m);
	add_diffs(m);
	for (size_t r = 0; r < m->j->n; r++)
		if (m->shown[r])
			add_copies(m, r);
	find_types(m);
	t = sink_table(m->sink, name, m->columns.v, m->columns.n);
	for (size_t i = 0; i < m->order.n && sink_wants(m->sink); i++) {
		struct cell *row = table_row(t);

		for (size_t c = 0; c < m->sources.n; c++)
			row[c] = make_cell(m, m->order.v[i], &m->sources.v[c]);
	}
	sink_put(m->sink, t);
	intern_destroy(m->ids);
}

/* ---- three tables a variant ---- */

struct part {
	const char *name, *small;
	bool has_baseline, has_variant;
};

static const struct part parts[] = {
	{ "intersect", "both", true, true },
	{ "only_baseline", "only_base", true, false },
	{ "only_variant", "only_var", false, true },
};

#define NPARTS (sizeof parts / sizeof *parts)

/* UTF-16 units, roughly. */
static size_t
name_units(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80 ? 1 : 0;
	return n;
}

/* Names that a sheet cannot have are shortened in workbooks. */
static void
put_name(
    struct making *m, const struct part *part, size_t variant, struct buf *b)
{
	struct str tag = m->j->reports->list.v[variant].tag;

	buf_printf(
	    b, "%s_%s_%.*s", m->j->plan->base, part->name, STR_ARGS(tag));
	if (m->sink->short_names && name_units(buf_str(b)) > SHEET_NAME_MAX) {
		b->len = 0;
		buf_printf(b, "%s_%s_%.*s", m->j->plan->small, part->small,
		    STR_ARGS(tag));
	}
	buf_putc(b, '\0');
}

static void
put_part(struct making *m, const struct part *part, size_t variant)
{
	const struct joined *j = m->j;
	struct buf name = { 0 };

	m->order.n = 0;
	for (size_t row = 0; row < j->nrows; row++)
		if ((join_row(j, row, 0) != NO_ROW) == part->has_baseline &&
		    (join_row(j, row, variant) != NO_ROW) == part->has_variant)
			vec_push(&m->order, (uint32_t)row);
	if (!part->has_baseline)
		join_sort(j, m->order.v, m->order.n, variant);
	m->shown[0] = part->has_baseline;
	m->shown[variant] = part->has_variant;
	put_name(m, part, variant, &name);
	put_table(m, name.p);
	m->shown[variant] = false;
	buf_free(&name);
}

void
tables_put(const struct joined *j, struct sink *sink)
{
	struct making m = { .j = j, .sink = sink, .arena = arena_create() };

	m.shown = xcalloc(j->n, sizeof *m.shown);
	if (j->plan->rule->is_split) {
		for (size_t r = 1; r < j->n; r++)
			for (size_t p = 0; p < NPARTS; p++)
				put_part(&m, &parts[p], r);
	} else {
		for (size_t r = 0; r < j->n; r++)
			m.shown[r] = true;
		for (size_t row = 0; row < j->nrows; row++)
			vec_push(&m.order, (uint32_t)row);
		put_table(&m, j->plan->base);
	}
	free(m.shown);
	vec_free(&m.sources);
	vec_free(&m.columns);
	vec_free(&m.order);
	arena_destroy(m.arena);
}
