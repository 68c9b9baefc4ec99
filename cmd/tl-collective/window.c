/* SPDX-License-Identifier: MIT */
/*
 * What ran on the GPU between the collectives of a source: its time in other
 * work and in collectives as spans, and of each kernel when it began.
 */
#include "cmd/tl-collective/collective.h"

#include <stdlib.h>

#define HOST_MIN_NS 10000 /* of idle time that is worth a cause */

static int
by_began(const void *pa, const void *pb)
{
	const struct began *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->hash < b->hash ? -1 : a->hash > b->hash;
}

/* Time covered before t: sums[i] is that of the spans before number i. */
static int64_t
covered(const struct spans *s, const int64_t *sums, int64_t t)
{
	const struct span *last;
	size_t n;

	bisect(n, s->n, mid, s->v[mid].start < t);
	if (n == 0)
		return 0;
	last = &s->v[n - 1];
	return sums[n - 1] + (last->end < t ? last->end : t) - last->start;
}

static int64_t *
running_sums(const struct spans *s)
{
	int64_t *sums = xcalloc(s->n + 1, sizeof *sums);

	for (size_t i = 0; i < s->n; i++)
		sums[i + 1] = sums[i] + (s->v[i].end - s->v[i].start);
	return sums;
}

/* The sum of the hashes of the kernels that started before t. */
static uint32_t
work_before(const struct windows *w, int64_t t)
{
	size_t n;

	bisect(n, w->began.n, mid, w->began.v[mid].start_ns < t);
	return n > 0 ? w->began.v[n - 1].hash : 0;
}

/* What the host was in for most of the record's idle time. */
static void
find_host(
    struct idle *idle, struct intern *names, struct rec *rec, int64_t from)
{
	int64_t ns;
	struct str name = idle_cause(idle, from, rec->start_ns, &ns);

	if (name.p == NULL)
		return;
	rec->host = intern_put(names, name);
	rec->host_us =
	    ns / 1000 < UINT32_MAX ? (uint32_t)(ns / 1000) : UINT32_MAX;
}

static void
fill_one(struct windows *w, struct rec *rec, int64_t from,
    const int64_t *work_sums, const int64_t *all_sums)
{
	int64_t to = rec->start_ns;

	rec->busy_ns = covered(&w->work, work_sums, to) -
	    covered(&w->work, work_sums, from);
	rec->idle_ns = to - from -
	    (covered(&w->all, all_sums, to) - covered(&w->all, all_sums, from));
	rec->work = work_before(w, to) - work_before(w, from);
}

void
windows_fill(struct windows *w, struct rec *recs, size_t n,
    const uint32_t *group_of, size_t ngroups, struct idle *idle,
    struct intern *names)
{
	int64_t *work_sums, *all_sums;
	int64_t *last = xcalloc(ngroups + 1, sizeof *last);

	for (size_t i = 0; i < ngroups; i++)
		last[i] = INT64_MIN;
	spans_normalise(&w->work);
	spans_normalise(&w->comm);
	spans_union(&w->all, &w->work, &w->comm);
	idle_explain(idle, &w->all);
	work_sums = running_sums(&w->work);
	all_sums = running_sums(&w->all);
	stable_sort(w->began.v, w->began.n, sizeof *w->began.v, by_began);
	for (size_t i = 1; i < w->began.n; i++)
		w->began.v[i].hash += w->began.v[i - 1].hash;
	for (size_t i = 0; i < n; i++) {
		struct rec *rec = &recs[i];
		int64_t *from = &last[group_of[rec->sig]];

		if (*from != INT64_MIN) {
			int64_t a =
			    *from < rec->start_ns ? *from : rec->start_ns;

			fill_one(w, rec, a, work_sums, all_sums);
			if (rec->idle_ns >= HOST_MIN_NS)
				find_host(idle, names, rec, a);
		}
		if (rec_end(rec) > *from)
			*from = rec_end(rec);
	}
	free(work_sums);
	free(all_sums);
	free(last);
}
