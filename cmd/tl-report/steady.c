/* SPDX-License-Identifier: MIT */
/*
 * The steady state after a long warm-up: what follows the largest gap between
 * dispatches, or the last seconds, whichever is busier.
 */
#include <stdio.h>

#include "stream/stream.h"
#include "table/table.h"
#include "trace/span.h"

#include "cmd/tl-report/figures.h"

#define NCANDIDATES 2

struct candidate {
	const char *method;
	int64_t gap_ns, last_ns; /* its minimum gap, or its length; or 0 */
	int64_t from_ns, window_ns, busy_ns, ndispatches;
};

/* ---- dispatches ---- */

static int
by_start(const void *x, const void *y)
{
	const struct span *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

/* Selected dispatches in order; returns the source's first event. */
static int64_t
read_dispatches(const char *tree, struct select *sel, struct spans *all)
{
	struct stream_in *in =
	    stream_open(tree, NULL, select_want(sel, WANT_STREAM));
	int64_t first_ns = 0, end_ns;
	enum item item;

	in->is_told = true; /* tl-tree has reported it */
	stream_only(in, select_kinds(sel, KIND_BIT(KIND_KERNEL)));
	select_start(sel, in, 0);
	while ((item = stream_next(in)) != ITEM_END) {
		bool is_chosen = select_item(sel, in, item);

		if (item == ITEM_SOURCE)
			(void)source_int(&in->source, "first", &first_ns);
		else if (is_chosen && in->ev.shape->kind == KIND_KERNEL &&
		    in->ev.dur_ns >= 0 && (in->ev.shape->has & HAS_TS) != 0 &&
		    num_add(in->ev.ts_ns, in->ev.dur_ns, &end_ns))
			vec_push(all, ((struct span){ in->ev.ts_ns, end_ns }));
	}
	stream_close(in);
	stable_sort(all->v, all->n, sizeof *all->v, by_start);
	return first_ns;
}

/* ---- candidates ---- */

/* The time so much earlier, but not before the first dispatch. */
static int64_t
before(const struct spans *all, int64_t end_ns, int64_t ns)
{
	int64_t from_ns;

	if (__builtin_sub_overflow(end_ns, ns, &from_ns) ||
	    from_ns < all->v[0].start)
		return all->v[0].start;
	return from_ns;
}

static void
look_at(const struct spans *all, struct candidate *c)
{
	struct spans work = { 0 };
	int64_t start = 0, end = INT64_MIN;

	for (size_t i = 0; i < all->n; i++) {
		const struct span *d = &all->v[i];

		if (d->start < c->from_ns)
			continue;
		if (c->ndispatches++ == 0)
			start = d->start;
		end = d->end > end ? d->end : end;
		spans_add(&work, d->start, d->end);
	}
	if (c->ndispatches > 0 &&
	    __builtin_sub_overflow(end, start, &c->window_ns))
		die("the dispatches span more than 292 years");
	c->busy_ns = spans_total(&work);
	spans_free(&work);
}

static struct candidate
last(const struct spans *all, int64_t end_ns, int64_t ns)
{
	return (struct candidate){
		.method = text("last_%.1fs", (double)ns / 1e9),
		.last_ns = ns,
		.from_ns = before(all, end_ns, ns),
	};
}

/* From the dispatch after the largest gap; else the last seconds. */
static struct candidate
after_gap(const struct spans *all, int64_t gap_ns, int64_t last_ns)
{
	const struct span *newest = &all->v[all->n - 1];
	int64_t most = 0;
	size_t at = 0;

	if (all->n < 2)
		return (struct candidate){ .method = "single_dispatch",
			.from_ns = newest->start };
	for (size_t i = 1; i < all->n; i++) {
		int64_t ns;

		if (!__builtin_sub_overflow(
			all->v[i].start, all->v[i - 1].end, &ns) &&
		    (at == 0 || ns > most)) {
			most = ns;
			at = i;
		}
	}
	if (most < gap_ns)
		return last(all, newest->end, last_ns);
	return (struct candidate){ .method = text("after_max_gap_%.1fms",
				       (double)most / 1e6),
		.gap_ns = most,
		.from_ns = all->v[at].start };
}

static struct candidate
at_end(const struct spans *all, int64_t last_ns)
{
	int64_t end = all->v[0].end;

	for (size_t i = 1; i < all->n; i++)
		end = all->v[i].end > end ? all->v[i].end : end;
	return last(all, end, last_ns);
}

static double
share(const struct candidate *c)
{
	return share_of(c->busy_ns, c->window_ns > 0 ? c->window_ns : 1);
}

/* ---- the table ---- */

static void
write_table(const struct settings *s, const struct candidate *list,
    size_t chosen, int64_t first_ns)
{
	static const struct column columns[] = {
		{ "method", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
		{ "is_chosen", NULL, COL_BOOL, UNIT_NONE, 0, 0 },
		{ "from_ns", "from ms", COL_INT, UNIT_NS, 0, 1e6 },
		{ "dispatches", NULL, COL_INT, UNIT_COUNT, 0, 0 },
		{ "window_ns", "window ms", COL_INT, UNIT_NS, 0, 1e6 },
		{ "busy_ns", "busy ms", COL_INT, UNIT_NS, 0, 1e6 },
		{ "busy_percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
	};
	struct table_dest dest = { .path =
				       table_path(s, "steady_state", "ndjson"),
		.format = FMT_NDJSON };
	struct table *t = table_create(
	    "steady_state", columns, sizeof columns / sizeof *columns);

	for (size_t i = 0; i < NCANDIDATES; i++) {
		struct cell *row = table_row(t);

		row[0] = cell_text(str_of(list[i].method));
		row[1] = cell_bool(i == chosen);
		row[2] = cell_int(list[i].from_ns - first_ns);
		row[3] = cell_int(list[i].ndispatches);
		row[4] = cell_int(list[i].window_ns);
		row[5] = cell_int(list[i].busy_ns);
		row[6] = cell_real(share(&list[i]));
	}
	table_print(t, &dest);
	table_dest_finish(&dest);
	table_destroy(t);
}

static void
put_sentence(struct buf *b, const struct candidate *c, int64_t n)
{
	buf_puts(b, "Steady state");
	if (c->gap_ns > 0) {
		buf_puts(b, ", after the longest gap, ");
		put_time(b, c->gap_ns);
	} else if (c->last_ns > 0) {
		buf_puts(b, ", the last ");
		put_time(b, c->last_ns);
	}
	buf_printf(b, ": %" PRId64 " of %" PRId64 " dispatch%s in ",
	    c->ndispatches, n, n == 1 ? "" : "es");
	put_time(b, c->window_ns);
	buf_puts(b, ", ");
	put_share(b, c->busy_ns, c->window_ns);
	buf_puts(b, " busy.");
}

void
steady_find(struct settings *s, int64_t gap_ns, int64_t last_ns)
{
	struct spans all = { 0 };
	int64_t first_ns = read_dispatches(s->trees.v.v[0], &s->select, &all);
	struct candidate list[NCANDIDATES];
	const struct candidate *best;
	struct buf b = { 0 };

	if (all.n == 0)
		return;
	list[0] = after_gap(&all, gap_ns, last_ns);
	list[1] = at_end(&all, last_ns);
	for (size_t i = 0; i < NCANDIDATES; i++)
		look_at(&all, &list[i]);
	best = &list[share(&list[1]) > share(&list[0])];
	if (best->ndispatches == 0)
		best = &list[1];
	write_table(s, list, (size_t)(best - list), first_ns);
	s->steady_from = text("--from=%" PRId64 "ns", best->from_ns - first_ns);
	put_sentence(&b, best, (int64_t)all.n);
	s->steady = text("%.*s", (int)b.len, b.p);
	buf_free(&b);
	spans_free(&all);
}
