/* SPDX-License-Identifier: MIT */
#include "trace/parts.h"

#include "trace/bucket.h"
#include "trace/laws.h"

struct span
parts_whole(const struct host *h, const struct steps *s)
{
	struct span w = { INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < s->list.n; i++) {
		const struct step_window *v = &s->list.v[i];

		w.start = v->start_ns < w.start ? v->start_ns : w.start;
		w.end = v->end_ns > w.end ? v->end_ns : w.end;
	}
	for (size_t i = 0; i < h->gpus.n; i++) {
		const struct host_gpu *k = &h->gpus.v[i];

		w.start = k->start_ns < w.start ? k->start_ns : w.start;
		w.end = k->end_ns > w.end ? k->end_ns : w.end;
	}
	return w;
}

static void
find_busy(struct parts *p, const struct host *h)
{
	struct spans of[BUCKET_COUNT] = { 0 }, rest = { 0 };

	for (size_t i = 0; i < h->gpus.n; i++)
		if (h->gpus.v[i].start_ns < h->gpus.v[i].end_ns)
			spans_add(&of[h->gpus.v[i].tag], h->gpus.v[i].start_ns,
			    h->gpus.v[i].end_ns);
	for (int b = 0; b < BUCKET_COUNT; b++)
		spans_normalise(&of[b]);
	spans_subtract(&p->comm, &of[BUCKET_COMM], &of[BUCKET_COMPUTE]);
	spans_union(&rest, &of[BUCKET_COMPUTE], &of[BUCKET_COMM]);
	spans_subtract(&p->copy, &of[BUCKET_MEMCPY], &rest);
	spans_union(&p->busy, &rest, &of[BUCKET_MEMCPY]);
	for (int b = 0; b < BUCKET_COUNT; b++)
		spans_free(&of[b]);
	spans_free(&rest);
}

void
parts_find(struct parts *p, struct host *h, const struct steps *s)
{
	struct span whole = parts_whole(h, s);

	p->gaps.list.n = p->gaps.pieces.n = 0;
	find_busy(p, h);
	gaps_find(&p->gaps, h, NULL, h->gpus.n, &whole);
}

size_t
parts_piece_at(const struct parts *p, int64_t ns)
{
	size_t at;

	bisect(at, p->gaps.pieces.n, mid, p->gaps.pieces.v[mid].end_ns <= ns);
	return at;
}

static void
keep_law(const int64_t ns[PART_COUNT], int64_t whole_ns)
{
	struct law_part parts[] = { { "idle time by cause", 0 },
		{ "computation", ns[PART_COMPUTE] },
		{ "exposed communication", ns[PART_COMM] },
		{ "exposed copies", ns[PART_COPY] } };

	for (int c = 0; c < CAUSE_COUNT; c++)
		parts[0].ns = num_add_max(parts[0].ns, ns[c]);
	law_sum("steps", parts, sizeof parts / sizeof *parts,
	    (struct law_part){ "the window", whole_ns });
}

void
parts_within(
    const struct parts *p, int64_t from, int64_t to, int64_t ns[PART_COUNT])
{
	memset(ns, 0, PART_COUNT * sizeof *ns);
	ns[PART_COMM] = spans_between(&p->comm, from, to);
	ns[PART_COPY] = spans_between(&p->copy, from, to);
	ns[PART_COMPUTE] =
	    spans_between(&p->busy, from, to) - ns[PART_COMM] - ns[PART_COPY];
	for (size_t i = parts_piece_at(p, from);
	     i < p->gaps.pieces.n && p->gaps.pieces.v[i].start_ns < to; i++) {
		const struct gap_piece *x = &p->gaps.pieces.v[i];

		ns[x->cause] += (x->end_ns < to ? x->end_ns : to) -
		    (x->start_ns > from ? x->start_ns : from);
	}
	if (p->busy.n > 0)
		keep_law(ns, to - from);
}

void
parts_free(struct parts *p)
{
	spans_free(&p->busy);
	spans_free(&p->comm);
	spans_free(&p->copy);
	gaps_free(&p->gaps);
}
