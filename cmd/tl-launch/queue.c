/* SPDX-License-Identifier: MIT */
/*
 * The queue of each GPU stream: what was launched and has not started. Its
 * length grows when a launch call starts and shrinks when its GPU event does.
 *
 *	calls   [ A ]  [ B ]
 *	GPU            [ A ] [ B ]
 *	length  11111112211110
 *
 * Queues of two processes in one GPU stream are two.
 */
#include "cmd/tl-launch/launch.h"

#include <math.h>

struct point {
	uint32_t queue;
	int32_t change; /* 1 or -1 */
	int64_t ts_ns;
	uint32_t work;
};

/* How long a queue had this length. */
struct stay {
	int64_t length, ns;
};

/* At equal times launches precede starts, so that no length is negative. */
static int
by_queue(const void *x, const void *y)
{
	const struct point *a = x, *b = y;

	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return b->change - a->change;
}

static int
by_length(const void *x, const void *y)
{
	const struct stay *a = x, *b = y;

	return (a->length > b->length) - (a->length < b->length);
}

static struct key
pid_of(const struct program *g, const struct launched *w)
{
	return g->sink.dict->tracks.v[g->calls.v[w->call].track].pid;
}

/* Index of the queue of a GPU event. */
static uint32_t
queue_of(
    const struct program *g, struct intern *queues, const struct launched *w)
{
	const struct key pid = pid_of(g, w);
	const int64_t id[] = { pid.type, pid.n, w->dev.type, w->dev.n,
		w->gpu_stream.type, w->gpu_stream.n };

	return intern_put(queues, (struct str){ (const char *)id, sizeof id });
}

static struct launch_record *
add_record(struct program *g, enum what what, const struct point *p)
{
	const struct launched *w = &g->works.v[p->work];
	const struct call *c = &g->calls.v[w->call];
	struct launch_record *r = launch_add(g, what);

	r->rec.uid = c->uid;
	r->rec.track = c->track;
	r->rec.ts_ns = p->ts_ns;
	r->pid = pid_of(g, w);
	r->dev = w->dev;
	r->gpu_stream = w->gpu_stream;
	return r;
}

/* The length that is not exceeded for this share of the time. */
static int64_t
length_at(const struct stay *v, size_t n, int64_t whole, double share)
{
	int64_t ns = 0;
	size_t i = 0;

	for (; i + 1 < n; i++) {
		ns += v[i].ns;
		if ((double)ns >= (double)whole * share)
			break;
	}
	return v[i].length;
}

/* Figures of a queue from its points, sorted by time. */
static void
add_queue(struct program *g, const struct point *v, size_t n)
{
	struct queue q = { .points = (int64_t)n };
	VEC(struct stay) stays = { 0 };
	long double sum = 0, weighted = 0;
	int64_t length = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t ns = i + 1 < n ? v[i + 1].ts_ns - v[i].ts_ns : 0;

		length += v[i].change;
		q.longest = length > q.longest ? length : q.longest;
		q.full_ns += length >= g->full ? ns : 0;
		q.span_ns += ns;
		sum += (long double)length;
		weighted += (long double)length * (long double)ns;
		vec_push(&stays, ((struct stay){ length, ns }));
		if (g->with_points)
			add_record(g, IS_POINT, &v[i])->ngpu = length;
	}
	stable_sort(stays.v, stays.n, sizeof *stays.v, by_length);
	q.median = length_at(stays.v, n, q.span_ns, 0.5);
	q.p95 = length_at(stays.v, n, q.span_ns, 0.95);
	q.p99 = length_at(stays.v, n, q.span_ns, 0.99);
	q.mean = (double)(sum / (long double)n);
	q.time_mean =
	    q.span_ns > 0 ? (double)(weighted / (long double)q.span_ns) : NAN;
	vec_free(&stays);
	add_record(g, IS_QUEUE, &v[0])->more = (uint32_t)g->queues.n;
	vec_push(&g->queues, q);
}

void
queues_find(struct program *g)
{
	struct intern *queues = intern_create();
	VEC(struct point) points = { 0 };

	for (uint32_t i = 0; i < g->works.n; i++) {
		const struct launched *w = &g->works.v[i];
		int64_t launched = g->calls.v[w->call].ts_ns;
		uint32_t queue = queue_of(g, queues, w);

		vec_push(&points, ((struct point){ queue, 1, launched, i }));
		vec_push(&points,
		    ((struct point){ queue, -1,
			w->start_ns > launched ? w->start_ns : launched, i }));
	}
	stable_sort(points.v, points.n, sizeof *points.v, by_queue);
	for (size_t i = 0, n; i < points.n; i += n) {
		for (n = 1; i + n < points.n &&
		     points.v[i + n].queue == points.v[i].queue;)
			n++;
		add_queue(g, points.v + i, n);
	}
	vec_free(&points);
	intern_destroy(queues);
}
