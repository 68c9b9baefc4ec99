/* SPDX-License-Identifier: MIT */
/*
 * What ran on the GPU between the collectives of a source: its time in other
 * work and when it was idle as spans, and of each kernel when it began.
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

/* The name that the pieces of a cause have for longest; its time in *ns. */
static uint32_t
longest_name(const struct host *h, const struct gap_piece *p, size_t n,
    uint8_t cause, int64_t *ns)
{
	struct map sums = { 0 };
	uint32_t best = INTERN_NONE;

	*ns = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t name = INTERN_NONE;
		uint64_t *sum;

		if (p[i].cause != cause)
			continue;
		if (p[i].event != HOST_NONE)
			name = h->events.v[p[i].event].name;
		sum = map_put(&sums, name, NULL);
		*sum += (uint64_t)(p[i].end_ns - p[i].start_ns);
		if ((int64_t)*sum > *ns) {
			*ns = (int64_t)*sum;
			best = name;
		}
	}
	map_free(&sums);
	return best;
}

/* The largest cause of the record's idle time, and the event that it was. */
static void
find_cause(const struct host *h, const struct gaps *g, struct intern *names,
    struct rec *rec, int64_t from)
{
	const struct gap_piece *p = g->pieces.v;
	int64_t sums[CAUSE_COUNT] = { 0 }, ns;
	uint8_t best = CAUSE_NOTHING;
	struct buf text = { 0 };
	struct str name;
	size_t first, n = 0;

	bisect(first, g->pieces.n, mid, p[mid].start_ns < from);
	for (p += first;
	     first + n < g->pieces.n && p[n].end_ns <= rec->start_ns; n++) {
		sums[p[n].cause] += p[n].end_ns - p[n].start_ns;
		if (sums[p[n].cause] > sums[best])
			best = p[n].cause;
	}
	if (best == CAUSE_NOTHING || best == CAUSE_NO_HOST)
		return;
	name = dict_get(h->dict, longest_name(h, p, n, best, &ns));
	buf_printf(&text, "%s: ", cause_words[best]);
	buf_put(&text, name.p, name.len);
	rec->host = intern_put(names, buf_str(&text));
	rec->host_us =
	    ns / 1000 < UINT32_MAX ? (uint32_t)(ns / 1000) : UINT32_MAX;
	buf_free(&text);
}

static void
fill_one(struct windows *w, struct rec *rec, int64_t from,
    const int64_t *work_sums, const int64_t *idle_sums)
{
	int64_t to = rec->start_ns;

	rec->busy_ns = covered(&w->work, work_sums, to) -
	    covered(&w->work, work_sums, from);
	rec->idle_ns = covered(&w->idle, idle_sums, to) -
	    covered(&w->idle, idle_sums, from);
	rec->work = work_before(w, to) - work_before(w, from);
}

void
windows_fill(struct windows *w, const struct host *h, const struct gaps *gaps,
    struct rec *recs, size_t n, const uint32_t *group_of, size_t ngroups,
    struct intern *names)
{
	int64_t *work_sums, *idle_sums;
	int64_t *last = xcalloc(ngroups + 1, sizeof *last);

	for (size_t i = 0; i < ngroups; i++)
		last[i] = INT64_MIN;
	spans_normalise(&w->work);
	w->idle.n = 0;
	for (size_t i = 0; i < gaps->list.n; i++)
		spans_add(
		    &w->idle, gaps->list.v[i].start_ns, gaps->list.v[i].end_ns);
	work_sums = running_sums(&w->work);
	idle_sums = running_sums(&w->idle);
	stable_sort(w->began.v, w->began.n, sizeof *w->began.v, by_began);
	for (size_t i = 1; i < w->began.n; i++)
		w->began.v[i].hash += w->began.v[i - 1].hash;
	for (size_t i = 0; i < n; i++) {
		struct rec *rec = &recs[i];
		int64_t *from = &last[group_of[rec->sig]];

		if (*from != INT64_MIN) {
			int64_t a =
			    *from < rec->start_ns ? *from : rec->start_ns;

			fill_one(w, rec, a, work_sums, idle_sums);
			if (rec->idle_ns >= HOST_MIN_NS)
				find_cause(h, gaps, names, rec, a);
		}
		if (rec_end(rec) > *from)
			*from = rec_end(rec);
	}
	free(work_sums);
	free(idle_sums);
	free(last);
}

void
exposed_fill(
    const struct spans *compute, const struct rec *recs, size_t n, int64_t *ns)
{
	int64_t *sums = running_sums(compute);

	for (size_t i = 0; i < n; i++)
		ns[i] = recs[i].dur_ns -
		    (covered(compute, sums, rec_end(&recs[i])) -
			covered(compute, sums, recs[i].start_ns));
	free(sums);
}
