/* SPDX-License-Identifier: MIT */
/* The summary tables of workbook and page. */
#include <stdlib.h>

#include "table/table.h"

#include "cmd/tl-report/figures.h"

static void
print(const struct figures *f, struct table *t, const char *name)
{
	struct table_dest dest = { .path = table_path(f->set, name, "ndjson"),
		.format = FMT_NDJSON };

	table_print(t, &dest);
	table_dest_finish(&dest);
	table_destroy(t);
}

/* ---- the summary ---- */

enum {
	S_PART,
	S_NAME,
	S_NOTE,
	S_TIME,
	S_PERCENT,
	S_COUNT,
	S_UIDS,
	S_BEFORE,
	S_AFTER
};

static struct cell *
put(struct table *t, const char *part, struct str name)
{
	struct cell *row = table_row(t);

	row[S_PART] = cell_text(str_of(part));
	row[S_NAME] = cell_text(name);
	return row;
}

static struct cell *
put_span(struct table *t, const struct rank *all, const char *name, int64_t ns)
{
	struct cell *row = put(t, "timeline", str_of(name));

	row[S_TIME] = cell_int(ns);
	row[S_PERCENT] = cell_real(share_of(ns, all->total_ns));
	return row;
}

static struct cell
count_cell(double n)
{
	return n == (double)(int64_t)n ? cell_int((int64_t)n) : cell_real(n);
}

/* time_ns is the difference, percent relative to before. */
static void
put_changes(struct figures *f, struct table *t)
{
	for (size_t i = 0; i < f->changes.n; i++) {
		const struct change *c = &f->changes.v[i];
		struct cell *row = put(t, "change", c->name);

		row[S_TIME] = cell_int(c->after_ns - c->before_ns);
		if (c->before_ns > 0)
			row[S_PERCENT] = cell_real(
			    share_of(c->after_ns - c->before_ns, c->before_ns));
		row[S_COUNT] = count_cell(c->count[1]);
		row[S_BEFORE] = cell_int(c->before_ns);
		row[S_AFTER] = cell_int(c->after_ns);
	}
}

/* A sentence, after "before: " in a comparison. */
static struct str
of_side(const struct figures *f, struct table *t, struct str says)
{
	struct buf b = { 0 };

	put_side(f, &b);
	buf_put(&b, says.p, says.len);
	says = table_text(t, buf_str(&b));
	buf_free(&b);
	return says;
}

/* Of one side; its verdict names it. */
static void
put_verdict(const struct figures *f, struct table *t)
{
	if (f->late.len > 0)
		put(t, "late", of_side(f, t, f->late));
	put(t, "verdict", f->verdict);
	for (size_t i = 0; i < f->phases.n; i++)
		put(t, "phase", f->phases.v[i].phase)[S_NOTE] =
		    cell_text(of_side(f, t, f->phases.v[i].says));
	if (f->imbalance.says.len > 0)
		put(t, "ranks", of_side(f, t, f->imbalance.says));
	if (f->mfu.says.len > 0)
		put(t, "mfu", of_side(f, t, f->mfu.says));
}

static void
put_gains(const struct figures *f, struct table *t)
{
	for (size_t i = 0; f->is_judged && i < f->ngains; i++) {
		struct cell *row =
		    put(t, "recoverable", of_side(f, t, f->gains[i].what));

		row[S_NOTE] = cell_text(f->gains[i].action);
		row[S_TIME] = cell_int(f->gains[i].ns);
		row[S_PERCENT] = cell_real(f->gains[i].percent);
		if (f->gains[i].uids.len > 0)
			row[S_UIDS] = cell_text(f->gains[i].uids);
	}
}

static void
put_sentences(struct figures *f, struct table *t)
{
	put(t, "trace", f->title);
	if (f->set->steady != NULL)
		put(t, "window", str_of(f->set->steady));
	for (size_t i = 0; i < f->sentences.n; i++)
		put(t, "diff", f->sentences.v[i]);
	put_changes(f, t);
	for (const struct figures *side = f; side != NULL; side = side->other)
		put_verdict(side, t);
	for (const struct figures *side = f; side != NULL; side = side->other)
		put_gains(side, t);
}

/* Host: the parts of the busiest thread, and all threads. */
static void
put_threads(struct figures *f, struct table *t)
{
	for (size_t i = 0; i < f->threads.n; i++) {
		const struct thread *th = &f->threads.v[i];
		const struct rank whole = { .total_ns = th->total_ns };
		struct cell *row;

		if (i == 0) {
			put_span(t, &whole, "ops", th->op_ns);
			put_span(t, &whole, "other host work",
			    th->busy_ns - th->op_ns);
			put_span(t, &whole, "idle", th->total_ns - th->busy_ns);
			put_span(t, &whole, "total", th->total_ns);
		}
		row = put(t, "thread", th->label);
		row[S_TIME] = cell_int(th->busy_ns);
		row[S_PERCENT] = cell_real(share_of(th->busy_ns, th->total_ns));
	}
}

/* Busy time of each GPU or process. */
static void
put_each(struct table *t, const struct rank *all, const char *part,
    const rank_vec *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct cell *row = put(t, part, list->v[i].label);

		row[S_TIME] = cell_int(list->v[i].busy_ns);
		row[S_PERCENT] =
		    cell_real(share_of(list->v[i].busy_ns, all->total_ns));
	}
}

/* The mean of several ranks: a sum of their times exists nowhere. */
static int64_t
mean_of(const struct figures *f, int64_t ns)
{
	return ns / (int64_t)(f->ranks.n > 1 ? f->ranks.n : 1);
}

/* The window of the figures below. */
static void
put_window(const struct figures *f, struct table *t)
{
	struct cell *row = put(t, "window", f->window_words);
	struct str side = side_of(f);

	if (side.len > 0)
		row[S_NOTE] = cell_text(side);
}

/* What the GPU did; in a comparison both sides, in percent of the first. */
static void
put_timeline(struct figures *f, struct table *t)
{
	const struct rank *all = &f->window;
	const struct figures *other = f->other;
	bool has_two = other != NULL && !other->set->is_host;
	bool of_kernels = window_is_of_kernels(f);
	bool after_of_kernels =
	    has_two ? window_is_of_kernels(other) : of_kernels;
	const struct rank *after = has_two ? &other->window : all;
	const struct {
		const char *name;
		int64_t ns, after_ns;
		bool is_before, is_after; /* the side has it */
	} spans[] = {
		{ "kernels", all->compute_ns, after->compute_ns, of_kernels,
		    after_of_kernels },
		{ "computation", all->compute_ns, after->compute_ns,
		    !of_kernels, !after_of_kernels },
		{ "exposed communication", all->comm_ns, after->comm_ns,
		    !of_kernels, !after_of_kernels },
		{ "exposed copies", all->copy_ns, after->copy_ns, true, true },
		{ word_of_idle(f), all->idle_ns, after->idle_ns, true, true },
		{ "total", all->total_ns, after->total_ns, true, true },
	};
	size_t n = f->ranks.n > 1 ? f->ranks.n : 1;

	if (f->set->steady == NULL) /* that is named already */
		put_window(f, t);
	if (has_two)
		put_window(other, t);
	for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
		struct cell *row;

		if (!spans[i].is_before && !spans[i].is_after)
			continue;
		row = put(t, "timeline", str_of(spans[i].name));
		if (spans[i].is_before) {
			row[S_TIME] = cell_int(mean_of(f, spans[i].ns));
			row[S_PERCENT] =
			    cell_real(share_of(spans[i].ns, all->total_ns));
		}
		if (has_two)
			row[S_BEFORE] = row[S_TIME];
		if (has_two && spans[i].is_after)
			row[S_AFTER] =
			    cell_int(mean_of(other, spans[i].after_ns));
		if (n > 1)
			row[S_NOTE] = cell_text(str_of(text("mean of %zu %s", n,
			    f->by_src ? "traces" : "ranks")));
	}
	put_each(t, all, "gpu", &f->gpus);
	put_each(t, all, "process", &f->processes);
}

/* A row of a list; in a comparison with its time in its side's column, too. */
static struct cell *
put_listed(const struct figures *f, struct table *t, const char *part,
    const struct tally *of)
{
	struct cell *row = put(t, part, of->name);

	row[S_TIME] = cell_int(of->ns);
	if (side_of(f).len > 0)
		row[f->set->side > 0 ? S_AFTER : S_BEFORE] = row[S_TIME];
	return row;
}

/* The largest, with attributes and share. */
static void
put_top(const struct figures *f, struct table *t, const char *part,
    const struct tallies *of, size_t most)
{
	const struct tally *best[CAUSE_COUNT];
	size_t n = tallies_first(of, best, most, f->set->order);
	int64_t sum = tallies_sum(of);

	for (size_t i = 0; i < n; i++) {
		struct cell *row = put_listed(f, t, part, best[i]);

		row[S_NOTE] = cell_text(best[i]->what);
		row[S_PERCENT] = cell_real(share_of(best[i]->ns, sum));
		row[S_COUNT] = cell_int(best[i]->count);
	}
}

static void
put_lists(const struct figures *f, struct table *t)
{
	const struct tally *best[TOP_LOSSES];
	size_t n;

	for (size_t i = 0; f->any_late && f->groups.n > 1 && i < f->groups.n &&
	     i < TOP_GROUPS;
	     i++)
		put(t, "group", f->groups.v[i].name)[S_NOTE] =
		    cell_text(of_side(f, t, f->groups.v[i].says));
	put_top(f, t, "idle", &f->causes, CAUSE_COUNT);
	put_top(f, t, f->has_op_table || f->set->is_host ? "op" : "kernel",
	    &f->ops, TOP_OPS_SHOWN);
	n = tallies_best(&f->losses, best, TOP_LOSSES);
	for (size_t i = 0; i < n && best[i]->ns > 0; i++) {
		struct cell *row = put_listed(f, t, "roofline", best[i]);
		struct buf b = { 0 };

		buf_printf(&b, "%.*s bound, %.*s", (int)best[i]->what.len,
		    best[i]->what.p, (int)f->roof.len, f->roof.p);
		row[S_NOTE] = cell_text(table_text(t, buf_str(&b)));
		row[S_PERCENT] = cell_real(
		    share_of(best[i]->of_ns - best[i]->ns, best[i]->of_ns));
		buf_free(&b);
	}
}

static void
write_summary(struct figures *f)
{
	static const struct column columns[] = {
		{ "part", NULL, COL_TEXT, UNIT_NONE, COL_WRAPPED, 0 },
		{ "name", NULL, COL_TEXT, UNIT_NONE, COL_WRAPPED, 0 },
		{ "note", NULL, COL_TEXT, UNIT_NONE, COL_WRAPPED, 0 },
		{ "time_ns", "time ms", COL_INT, UNIT_NS, 0, 1e6 },
		{ "percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
		{ "count", NULL, COL_INT, UNIT_COUNT, 0, 0 },
		{ "uids", NULL, COL_JSON, UNIT_NONE, 0, 0 },
		/* of a comparison */
		{ "before_ns", "before ms", COL_INT, UNIT_NS, 0, 1e6 },
		{ "after_ns", "after ms", COL_INT, UNIT_NS, 0, 1e6 },
	};
	size_t n = sizeof columns / sizeof *columns;
	struct table *t =
	    table_create("summary", columns, f->other != NULL ? n : n - 2);

	for (const struct figures *side = f; side != NULL; side = side->other)
		if (side->health.len > 0)
			put(t, "health", of_side(side, t, side->health));
	for (const struct figures *side = f; side != NULL; side = side->other)
		for (size_t i = 0; i < side->notes.n; i++)
			put(t, "note", of_side(side, t, side->notes.v[i]));
	put_sentences(f, t);
	if (f->set->is_host)
		put_threads(f, t);
	else
		put_timeline(f, t);
	for (const struct figures *side = f; side != NULL; side = side->other)
		put_lists(side, t);
	for (const struct figures *side = f; side != NULL; side = side->other)
		for (size_t i = 0; i < side->warnings.n; i++)
			put(t, "warning", side->warnings.v[i]);
	print(f, t, "summary");
}

/* ---- categories of all ranks ---- */

static void
write_categories(struct figures *f)
{
	static const struct column columns[] = {
		{ "op_category", "op category", COL_TEXT, UNIT_NONE, 0, 0 },
		{ "time_ns", "time ms", COL_INT, UNIT_NS, 0, 1e6 },
		{ "percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
	};
	size_t n = f->categories.list.n;
	const struct tally **best = xcalloc(n + 1, sizeof *best);
	struct table *t = table_create(
	    "category_share", columns, sizeof columns / sizeof *columns);
	int64_t sum = 0;

	n = tallies_best(&f->categories, best, n);
	for (size_t i = 0; i < n; i++)
		sum += best[i]->ns;
	for (size_t i = 0; i < n; i++) {
		struct cell *row = table_row(t);

		row[0] = cell_text(best[i]->name);
		row[1] = cell_int(best[i]->ns);
		row[2] = cell_real(share_of(best[i]->ns, sum));
	}
	print(f, t, "category_share");
	free(best);
}

/* ---- ranks side by side ---- */

/* Windows of the verdict have times only: the first columns. */
static void
write_ranks(
    struct figures *f, const char *name, const rank_vec *ranks, bool is_window)
{
	static const struct column by_rank[] = {
		{ "rank", NULL, COL_INT, UNIT_NONE, 0, 0 },
		{ "total_ns", "total_time ms", COL_INT, UNIT_NS, 0, 1e6 },
		{ "computation_ns", "computation_time ms", COL_INT, UNIT_NS, 0,
		    1e6 },
		{ "exposed_comm_ns", "exposed_comm_time ms", COL_INT, UNIT_NS,
		    0, 1e6 },
		{ "exposed_memcpy_ns", "exposed_memcpy_time ms", COL_INT,
		    UNIT_NS, 0, 1e6 },
		{ "idle_ns", "idle_time ms", COL_INT, UNIT_NS, 0, 1e6 },
		{ "pct_computation", "computation (%)", COL_REAL, UNIT_PERCENT,
		    0, 0 },
		{ "pct_exposed_comm", "exposed_comm (%)", COL_REAL,
		    UNIT_PERCENT, 0, 0 },
		{ "pct_exposed_memcpy", "exposed_memcpy (%)", COL_REAL,
		    UNIT_PERCENT, 0, 0 },
		{ "pct_idle", "idle (%)", COL_REAL, UNIT_PERCENT, 0, 0 },
		{ "busy_ns", "busy_time ms", COL_INT, UNIT_NS, 0, 1e6 },
		{ "comm_ns", "total_comm_time ms", COL_INT, UNIT_NS, 0, 1e6 },
		{ "memcpy_ns", "total_memcpy_time ms", COL_INT, UNIT_NS, 0,
		    1e6 },
		{ "wait_ns", "wait_time ms", COL_INT, UNIT_NS, 0, 1e6 },
		{ "times_last", NULL, COL_INT, UNIT_COUNT, 0, 0 },
		{ "late_ns", "late ms", COL_INT, UNIT_NS, 0, 1e6 },
		{ "late_cause", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	};
	enum { NTIMES = 10, NCOLUMNS = sizeof by_rank / sizeof *by_rank };
	struct column columns[NCOLUMNS];
	struct table *t;

	memcpy(columns, by_rank, sizeof columns);
	if (f->by_src)
		columns[0].id = "src";
	t = table_create(name, columns, is_window ? NTIMES : NCOLUMNS);
	for (size_t i = 0; i < ranks->n; i++) {
		const struct rank *r = &ranks->v[i];
		const int64_t parts[] = { r->compute_ns, r->comm_ns, r->copy_ns,
			r->idle_ns };
		struct cell *row = table_row(t);
		int64_t number;

		if (num_i64(r->label, &number))
			row[0] = cell_int(number);
		row[1] = cell_int(r->total_ns);
		for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
			row[2 + k] = cell_int(parts[k]);
			row[6 + k] = cell_real(share_of(parts[k], r->total_ns));
		}
		if (is_window)
			continue;
		row[10] = cell_int(r->busy_ns);
		row[11] = cell_int(r->all_comm_ns);
		row[12] = cell_int(r->all_copy_ns);
		if (r->has_wait) {
			row[13] = cell_int(r->wait_ns);
			row[14] = cell_int(r->times_last);
		}
		if (r->verdict.len > 0) {
			row[15] = cell_int(r->late_ns);
			row[16] = cell_text(r->verdict);
		}
	}
	print(f, t, name);
}

/* ---- roofs ---- */

#define NROOFS 3

static int
compare(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

/* The chart's range: ratios of all ops, and both sides of each bend. */
static void
ends_around(struct figures *f, double bend)
{
	if (bend / 2 < f->least_per_byte)
		f->least_per_byte = bend / 2;
	if (bend * 2 > f->most_per_byte)
		f->most_per_byte = bend * 2;
}

/* Roofs of the specs with most time, at their ends and bends. */
static void
write_roofs(struct figures *f)
{
	const struct tally *best[NROOFS];
	size_t n = tallies_best(&f->specs, best, NROOFS);
	struct column columns[1 + NROOFS] = { { "flop_per_byte", "FLOPS/Byte",
	    COL_REAL, UNIT_NONE, 0, 0 } };
	double x[NROOFS + 2];
	struct table *t;

	if (n == 0 || !(f->tb_per_s > 0))
		return;
	for (size_t i = 0; i < n; i++) {
		struct buf label = { 0 };

		buf_put(&label, best[i]->name.p, best[i]->name.len);
		buf_puts(&label, " roof");
		columns[1 + i] =
		    (struct column){ figures_text(f, best[i]->name).p,
			    figures_text(f, buf_str(&label)).p, COL_REAL,
			    UNIT_NONE, 0, 0 };
		buf_free(&label);
		x[2 + i] = best[i]->real / f->tb_per_s;
		ends_around(f, x[2 + i]);
	}
	x[0] = f->least_per_byte;
	x[1] = f->most_per_byte;
	qsort(x, n + 2, sizeof *x, compare);
	t = table_create("roofs", columns, 1 + n);
	for (size_t i = 0; i < n + 2; i++) {
		struct cell *row = table_row(t);

		row[0] = cell_real(x[i]);
		for (size_t k = 0; k < n; k++) {
			double slope = x[i] * f->tb_per_s;

			row[1 + k] = cell_real(
			    slope < best[k]->real ? slope : best[k]->real);
		}
	}
	print(f, t, "roofs");
}

void
summary_write(struct figures *f, bool is_whole)
{
	if (f->set->is_several)
		write_ranks(f, "gpu_timeline_by_rank", &f->ranks, false);
	if (!is_whole)
		return;
	if (f->set->is_several)
		write_ranks(f, "window_by_rank", &f->bars, true);
	write_summary(f);
	if (f->set->is_several || f->set->genesis != NULL)
		write_categories(f);
	write_roofs(f);
}
