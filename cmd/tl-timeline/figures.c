/* SPDX-License-Identifier: MIT */
/* The sums of gpu_timeline, from sets of intervals. */
#include <math.h>

#include "cmd/tl-timeline/timeline.h"
#include "trace/laws.h"

/* A row; type NULL: omitted. */
struct figure {
	const char *type;
	int64_t ns;
};

struct gaps {
	int64_t micro, macro;
};

static struct span
extent(const struct spans *all)
{
	return all->n > 0
	    ? (struct span){ all->v[0].start, all->v[all->n - 1].end }
	    : (struct span){ 0, 0 };
}

static const char too_long[] = "GPU events or steps span more than 292 years";

/*
 * Every other figure is a part of this length, so one overflow check is enough.
 */
static int64_t
whole(struct span s)
{
	int64_t len;

	if (__builtin_sub_overflow(s.end, s.start, &len))
		die("%s", too_long);
	return len;
}

/* Sums of the gaps between intervals, up to the ends of their windows. */
static struct gaps
gaps_of(const struct spans *all, const struct spans *windows, int64_t micro_ns)
{
	struct gaps gaps = { 0, 0 };
	size_t i = 0;

	for (size_t w = 0; w < windows->n; w++) {
		int64_t start = windows->v[w].start;

		for (bool is_end = false; !is_end;) {
			int64_t end;

			is_end =
			    i == all->n || all->v[i].start >= windows->v[w].end;
			end = is_end ? windows->v[w].end : all->v[i].start;
			if (end > start)
				*(end - start < micro_ns ? &gaps.micro
							 : &gaps.macro) +=
				    end - start;
			if (!is_end)
				start = all->v[i++].end;
		}
	}
	return gaps;
}

/* The total time of a slice: of its steps, else from first start to last
 * end. */
static int64_t
set_window(struct slice *slice, struct span extent)
{
	struct spans *windows = &slice->sets[SET_WINDOW];
	int64_t total = 0;

	(void)whole(extent);
	if (windows->n == 0)
		spans_add(windows, extent.start, extent.end);
	for (size_t i = 0; i < windows->n; i++)
		if (__builtin_add_overflow(total, whole(windows->v[i]), &total))
			die("%s", too_long);
	return total;
}

static void
merge_into(struct spans *to, struct spans *from)
{
	struct spans sum = { 0 };

	if (from->n == 0)
		return;
	spans_union(&sum, to, from);
	spans_free(to);
	spans_free(from);
	*to = sum;
}

static int64_t
difference(const struct spans *a, const struct spans *b)
{
	struct spans rest = { 0 };
	int64_t ns;

	spans_subtract(&rest, a, b);
	ns = spans_total(&rest);
	spans_free(&rest);
	return ns;
}

static bool
is_bare(const struct timeline *g, const struct slice *slice)
{
	return g->by == BY_STEP && slice->key.type == KEY_INT &&
	    !slice->has_gpu;
}

struct row *
figures_row(struct timeline *g, const struct slice *slice, const char *type)
{
	const struct sink_source *o = &g->sink.sources.list.v[slice->source];
	struct row *r = sink_add(&g->sink);

	r->rec.source = slice->source;
	r->key = r->pid = slice->key;
	r->rank = o->has_rank ? o->rank : SINK_NONE;
	r->is_recompute = slice->key.n != 0;
	r->type = intern_put(g->sink.dict->text, str_of(type));
	return r;
}

static void
add_rows(struct timeline *g, const struct slice *slice,
    const struct figure *list, size_t n, int64_t total_ns)
{
	bool bare = is_bare(g, slice);

	for (size_t i = 0; i < n; i++) {
		struct row *r;

		if (list[i].type == NULL)
			continue;
		r = figures_row(g, slice, list[i].type);
		r->flags = INTERN_NONE;
		r->ns = list[i].ns;
		r->percent = (double)list[i].ns / (double)total_ns * 100;
		if (bare)
			r->flags =
			    intern_put(g->sink.dict->text, STR("no-gpu-event"));
	}
}

static void
keep_laws(int64_t busy, int64_t total, const struct gaps *gaps)
{
	const struct law_part whole = { "total_time", total };

	law_most("gpu_timeline", (struct law_part){ "busy_time", busy }, whole);
	if (gaps != NULL)
		law_sum("gpu_timeline",
		    (const struct law_part[]){ { "busy_time", busy },
			{ "micro_idle_time", gaps->micro },
			{ "macro_idle_time", gaps->macro } },
		    3, whole);
}

#define NFIGURES(list) (sizeof(list) / sizeof *(list))

static void
add_kineto(struct timeline *g, struct slice *slice)
{
	struct spans *compute = &slice->sets[SET_COMPUTE];
	const struct spans *comm = &slice->sets[SET_COMM];
	struct spans *copies = &slice->sets[SET_MEMCPY];
	struct spans all = { 0 }, rest = { 0 };
	bool parts = g->has_micro;

	merge_into(compute, &slice->sets[SET_FILLS]);
	merge_into(copies, &slice->sets[SET_COPY_KERNELS]);
	spans_union(&rest, compute, comm);
	spans_union(&all, &rest, copies);

	int64_t total = set_window(slice, extent(&all));
	int64_t busy = spans_total(&all);
	struct gaps gaps = gaps_of(&all, &slice->sets[SET_WINDOW], g->micro_ns);
	const struct figure figures[] = {
		{ "computation_time", spans_total(compute) },
		{ "exposed_comm_time", difference(comm, compute) },
		{ "exposed_memcpy_time", difference(copies, &rest) },
		{ "busy_time", busy },
		{ parts ? NULL : "idle_time", total - busy },
		{ parts ? "micro_idle_time" : NULL, gaps.micro },
		{ parts ? "macro_idle_time" : NULL, gaps.macro },
		{ "total_time", total },
		{ "total_comm_time", spans_total(comm) },
		{ "total_memcpy_time", spans_total(copies) },
		{ g->sink.linked_only ? NULL : "unlinked_time",
		    spans_total(&slice->sets[SET_UNLINKED]) },
	};

	law_sum("gpu_timeline",
	    (const struct law_part[]){ { "computation_time", figures[0].ns },
		{ "exposed_comm_time", figures[1].ns },
		{ "exposed_memcpy_time", figures[2].ns } },
	    3, (struct law_part){ "busy_time", busy });
	keep_laws(busy, total, parts ? &gaps : NULL);
	add_rows(g, slice, figures, NFIGURES(figures), total);
	spans_free(&all);
	spans_free(&rest);
}

/* The same with rocprofv3's buckets. */
static void
add_rocprof(struct timeline *g, struct slice *slice)
{
	const struct sink_source *o = &g->sink.sources.list.v[slice->source];
	struct spans *kernels = &slice->sets[SET_COMPUTE];
	const struct spans *copies = &slice->sets[SET_MEMCPY];
	struct spans all = { 0 };
	bool parts = g->has_micro;
	struct span window;

	merge_into(kernels, &slice->sets[SET_COMM]);
	merge_into(kernels, &slice->sets[SET_COPY_KERNELS]);
	merge_into(kernels, &slice->sets[SET_FILLS]);
	spans_union(&all, kernels, copies);
	(void)whole(extent(&all));
	/* the process's own window, unless only a part of it is selected */
	window = o->has_window &&
		(g->by == BY_NOTHING || g->by == BY_PID || g->by == BY_RANK ||
		    g->by == BY_SRC) &&
		!g->sink.select.has_from && !g->sink.select.has_to
	    ? o->window
	    : extent(&all);

	int64_t total = set_window(slice, window);
	int64_t busy = spans_total(&all);
	struct gaps gaps = gaps_of(&all, &slice->sets[SET_WINDOW], g->micro_ns);
	const struct figure figures[] = {
		{ "total_time", total },
		{ "kernel", spans_total(kernels) },
		{ "memory", spans_total(copies) },
		{ "busy_time", busy },
		{ parts ? NULL : "idle", total > busy ? total - busy : 0 },
		{ parts ? "micro_idle_time" : NULL, gaps.micro },
		{ parts ? "macro_idle_time" : NULL, gaps.macro },
	};

	if (total >= busy)
		keep_laws(busy, total, parts ? &gaps : NULL);
	add_rows(g, slice, figures, NFIGURES(figures), total);
	spans_free(&all);
}

static void
subtract(struct spans *from, const struct spans *what)
{
	struct spans rest = { 0 };

	spans_subtract(&rest, from, what);
	spans_free(from);
	*from = rest;
}

/* From the start of the first work to the end of the last; none: end first. */
static struct span
extent_of_work(const struct slice *slice)
{
	struct span extent = { INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < SET_WINDOW; i++) {
		const struct spans *set = &slice->sets[i];

		if (set->n == 0)
			continue;
		if (set->v[0].start < extent.start)
			extent.start = set->v[0].start;
		if (set->v[set->n - 1].end > extent.end)
			extent.end = set->v[set->n - 1].end;
	}
	return extent;
}

/* Of work outside all steps: what was in their time goes, and that time. */
static void
cut_steps(struct slice *slice)
{
	struct spans *steps = &slice->sets[SET_WINDOW];
	struct span extent = extent_of_work(slice);
	struct spans rest = { 0 };

	for (size_t i = 0; i < SET_WINDOW; i++)
		subtract(&slice->sets[i], steps);
	if (extent.start < extent.end)
		spans_add(&rest, extent.start, extent.end);
	subtract(&rest, steps);
	spans_free(steps);
	*steps = rest;
}

/* Steps without work are not, time outside them is. */
static bool
is_empty(const struct timeline *g, const struct slice *slice)
{
	for (size_t i = 0; i < SET_COUNT; i++)
		if (slice->sets[i].n > 0 &&
		    (i != SET_WINDOW || g->by != BY_STEP ||
			slice->key.type != KEY_NONE))
			return false;
	return true;
}

void
figures_add(struct timeline *g, struct slice *slice)
{
	struct span work;

	for (size_t i = 0; i < SET_COUNT; i++)
		spans_normalise(&slice->sets[i]);
	if (g->by == BY_STEP && slice->key.type == KEY_NONE)
		cut_steps(slice);
	if (is_empty(g, slice))
		return;
	work = extent_of_work(slice);
	if (work.start <= work.end) {
		(void)whole(work); /* then each part of it fits */
		kinds_add(g, slice);
	}
	if (g->sink.sources.list.v[slice->source].is_rocprof)
		add_rocprof(g, slice);
	else
		add_kineto(g, slice);
	for (size_t i = 0; i < SET_COUNT; i++)
		spans_free(&slice->sets[i]);
}

/* ---- averages ---- */

struct mean {
	uint32_t source, type;
	double ns, n;
};

/* Slices of a source are adjacent, their figures in the same order. */
static struct mean *
mean_of(struct mean *list, size_t n, const struct row *r)
{
	for (size_t i = n; i-- > 0 && list[i].source == r->rec.source;)
		if (list[i].type == r->type)
			return &list[i];
	return NULL;
}

void
figures_average(struct timeline *g)
{
	uint32_t whole = intern_put(g->sink.dict->text, STR("total_time"));
	VEC(struct mean) list = { 0 };

	for (size_t i = 0; i < g->sink.records.n; i++) {
		const struct row *r = sink_record(&g->sink, i);
		struct mean *m = mean_of(list.v, list.n, r);

		/* copies of rocprofv3 have no device */
		if (r->of != ROW_TIMELINE || r->key.type == KEY_NONE)
			continue;
		if (m == NULL) {
			m = vec_add(&list);
			*m = (struct mean){ r->rec.source, r->type, 0, 0 };
		}
		m->ns += (double)r->ns;
		m->n++;
	}
	for (size_t i = 0; i < list.n; i++) {
		struct row *r = sink_add(&g->sink);
		const struct mean *total;

		r->rec.source = list.v[i].source;
		r->type = whole;
		total = mean_of(list.v, list.n, r);
		r->of = ROW_MEAN;
		r->type = list.v[i].type;
		r->flags = INTERN_NONE;
		r->mean_ns = list.v[i].ns / list.v[i].n;
		r->percent = total != NULL
		    ? r->mean_ns / (total->ns / total->n) * 100
		    : NAN;
	}
	vec_free(&list);
}
