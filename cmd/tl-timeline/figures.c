/* SPDX-License-Identifier: MIT */
/* The sums of tl-timeline, from sets of intervals. */
#include "cmd/tl-timeline/timeline.h"

static struct span
extent(const struct spans *all)
{
	return all->n > 0
	    ? (struct span){ all->v[0].start, all->v[all->n - 1].end }
	    : (struct span){ 0, 0 };
}

/*
 * Its length; every other figure is a part of it, so when it fits, they do.
 */
static int64_t
whole(struct span s)
{
	int64_t len;

	if (__builtin_sub_overflow(s.end, s.start, &len))
		die("the GPU events span more than 292 years");
	return len;
}

static void
add_gap(struct figures *f, int64_t start, int64_t end, int64_t micro_ns)
{
	if (end <= start)
		return;
	if (end - start < micro_ns)
		f->micro_idle += end - start;
	else
		f->macro_idle += end - start;
}

/* What lies between the intervals, and between them and the window's ends. */
static void
add_gaps(struct figures *f, const struct spans *all, struct span window,
    int64_t micro_ns)
{
	if (all->n == 0) {
		add_gap(f, window.start, window.end, micro_ns);
		return;
	}
	add_gap(f, window.start, all->v[0].start, micro_ns);
	for (size_t i = 1; i < all->n; i++)
		add_gap(f, all->v[i - 1].end, all->v[i].start, micro_ns);
	add_gap(f, all->v[all->n - 1].end, window.end, micro_ns);
}

static void
merge_into(struct spans *to, struct spans *from)
{
	struct spans sum = { 0 };

	if (from->n == 0)
		return;
	spans_normalise(from);
	spans_union(&sum, to, from);
	spans_free(to);
	spans_free(from);
	*to = sum;
}

static void
normalise_all(struct slice *g)
{
	for (size_t i = 0; i < SET_COUNT; i++)
		spans_normalise(&g->sets[i]);
}

static void
free_all(struct slice *g)
{
	for (size_t i = 0; i < SET_COUNT; i++)
		spans_free(&g->sets[i]);
}

void
figures_of(struct figures *f, struct slice *g, int64_t micro_ns)
{
	struct spans *compute = &g->sets[SET_COMPUTE];
	struct spans *comm = &g->sets[SET_COMM];
	struct spans *copies = &g->sets[SET_MEMCPY];
	struct spans all = { 0 }, rest = { 0 }, exposed = { 0 };

	*f = (struct figures){ 0 };
	normalise_all(g);
	merge_into(copies, &g->sets[SET_COPY_KERNELS]);
	spans_union(&rest, compute, comm);
	spans_union(&all, &rest, copies);
	f->total = whole(extent(&all));
	f->busy = spans_total(&all);
	f->idle = f->total - f->busy;
	add_gaps(f, &all, extent(&all), micro_ns);

	f->compute = spans_total(compute);
	f->comm = spans_total(comm);
	f->memcpy = spans_total(copies);
	f->unlinked = spans_total(&g->sets[SET_UNLINKED]);
	spans_subtract(&exposed, comm, compute);
	f->exposed_comm = spans_total(&exposed);
	spans_subtract(&exposed, copies, &rest);
	f->exposed_memcpy = spans_total(&exposed);
	spans_free(&all);
	spans_free(&rest);
	spans_free(&exposed);
	free_all(g);
}

void
figures_of_rocprof(struct figures *f, struct slice *g,
    const struct span *window, int64_t micro_ns)
{
	struct spans *kernels = &g->sets[SET_COMPUTE];
	struct spans *copies = &g->sets[SET_MEMCPY];
	struct spans all = { 0 };
	struct span w;

	*f = (struct figures){ 0 };
	normalise_all(g);
	merge_into(kernels, &g->sets[SET_COMM]);
	merge_into(kernels, &g->sets[SET_COPY_KERNELS]);
	spans_union(&all, kernels, copies);
	(void)whole(extent(&all));
	w = window != NULL ? *window : extent(&all);
	f->total = whole(w);
	f->busy = spans_total(&all);
	f->idle = f->total > f->busy ? f->total - f->busy : 0;
	add_gaps(f, &all, w, micro_ns);
	f->kernel = spans_total(kernels);
	f->memory = spans_total(copies);
	spans_free(&all);
	free_all(g);
}
