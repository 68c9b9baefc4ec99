/* SPDX-License-Identifier: MIT */
/*
 * Lanes: a row of spans per GPU stream, rows of nested spans per thread that
 * launches. If there are too many spans for a page, short ones close together
 * are joined, without a name: at that scale a screen shows the same.
 */
#include <stdlib.h>

#include "cmd/tl-html/lanes.h"

#define SPANS_HELD ((size_t)500000) /* of files already read */
#define GAP_FIRST_NS 200

struct lanes *
lanes_new(struct dict *st, struct names *threads)
{
	struct lanes *l = xcalloc(1, sizeof *l);

	l->keys = intern_create();
	l->origins = origins_new(st);
	l->dict = st;
	l->threads = threads;
	return l;
}

void
lanes_free(struct lanes *l)
{
	for (size_t i = 0; i < l->list.n; i++)
		vec_free(&l->list.v[i].spans);
	vec_free(&l->list);
	vec_free(&l->sources);
	vec_free(&l->launches);
	origins_free(l->origins);
	intern_destroy(l->keys);
	free(l);
}

/* Keys of threads and of GPU streams have different lengths. */
static struct lane *
lane_of(struct lanes *l, const int64_t *key, size_t size)
{
	uint32_t no =
	    intern_put(l->keys, (struct str){ (const char *)key, size });

	if (no == l->list.n)
		vec_push(&l->list, ((struct lane){ 0 }));
	return &l->list.v[no];
}

static struct lane *
gpu_lane(struct lanes *l, const struct event *ev, uint32_t src)
{
	int64_t key[5] = { src, ev->dev.n, ev->dev.type, ev->gpu_stream.n,
		ev->gpu_stream.type };
	struct lane *lane = lane_of(l, key, sizeof key);

	lane->is_gpu = l->has_gpu = true;
	lane->src = src;
	lane->dev = ev->dev;
	lane->gpu_stream = ev->gpu_stream;
	return lane;
}

static struct lane *
host_lane(struct lanes *l, const struct event *ev, uint32_t src)
{
	int64_t key[2] = { src, dict_thread(l->dict, ev->track) };
	struct lane *lane = lane_of(l, key, sizeof key);

	lane->src = src;
	lane->track = ev->track;
	lane->launches = lane->launches || ev->ngpu > 0;
	return lane;
}

/* ---- sources ---- */

struct lane_source *
lanes_source_of(struct lanes *l, uint32_t src)
{
	while (l->sources.n <= src)
		vec_push(&l->sources,
		    ((struct lane_source){ .first_ns = INT64_MAX }));
	return &l->sources.v[src];
}

void
lanes_source(struct lanes *l, uint32_t src, const struct source *s, int side)
{
	struct lane_source *o = lanes_source_of(l, src);
	int64_t epoch;

	o->side = side;
	o->is_tpu = source_is_tpu(s);
	o->has_rank = source_int(s, "rank", &o->rank);
	o->has_base = source_int(s, "base", &o->base_ns);
	if (source_int(s, "epoch", &epoch))
		o->has_base =
		    o->has_base && num_add(o->base_ns, epoch, &o->base_ns);
}

/* ---- spans ---- */

/* Index of its launch, from 1. */
static uint32_t
launch_of(struct lanes *l, const struct event *ev)
{
	struct lane_launch launch;

	if ((ev->shape->has & HAS_DEPTH) == 0 ||
	    l->launches.n == LAUNCHES_MAX ||
	    !origins_of(l->origins, ev, &launch))
		return 0;
	vec_push(&l->launches, launch);
	return (uint32_t)l->launches.n;
}

void
lanes_push(struct lanes *l, const struct event *ev, uint32_t src)
{
	struct stretch s = { .start_ns = ev->ts_ns, .name = ev->name };
	bool in_tree = (ev->shape->has & HAS_DEPTH) != 0;
	struct lane *lane = NULL;

	if ((ev->shape->has & HAS_TS) == 0 ||
	    (ev->flags & (EV_DUPLICATE | EV_UNTIMED)) != 0 ||
	    ev->shape->is_inferred) /* no thread did it */
		return;
	if (in_tree)
		origins_close(l->origins, ev->depth);
	if ((ev->flags & EV_STUB) != 0) {
		;
	} else if (event_is(ev, KINDS_GPU)) {
		lane = gpu_lane(l, ev, src);
		s.launch = launch_of(l, ev) & 0xfffffff;
	} else if (event_is(ev, KINDS_HOST | KIND_BIT(KIND_ANNOTATION))) {
		lane = host_lane(l, ev, src);
	}
	if (in_tree && event_is(ev, KINDS_HOST | KIND_BIT(KIND_PYTHON)))
		origins_open(l->origins, ev,
		    lane == NULL ? NO_LANE : (uint32_t)(lane - l->list.v));
	if (lane == NULL)
		return;
	s.end_ns = num_add_max(ev->ts_ns, ev->dur_ns);
	vec_push(&lane->spans, s);
}

/* By start, then length, then name: the same bytes for the same input. */
static int
compare(const void *pa, const void *pb)
{
	const struct stretch *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

/* Sorts spans, and nests those of a thread. */
static void
arrange(struct lane *lane)
{
	int64_t open[ROWS_MAX];
	size_t nopen = 0, kept = 0;

	if (lane->is_arranged || lane->spans.n == 0)
		return;
	lane->is_arranged = true;
	qsort(lane->spans.v, lane->spans.n, sizeof *lane->spans.v, compare);
	if (lane->is_gpu)
		return;
	for (size_t i = 0; i < lane->spans.n; i++) {
		struct stretch s = lane->spans.v[i];

		while (nopen > 0 && open[nopen - 1] <= s.start_ns)
			nopen--;
		if (nopen == ROWS_MAX)
			continue;
		s.row = nopen & 0xf;
		open[nopen++] = s.end_ns;
		lane->spans.v[kept++] = s;
	}
	lane->spans.n = kept;
}

/* Spans of a lane; those shorter than gap_ns and closer are joined. */
void
lane_walk(const struct lane *lane, int64_t gap_ns, struct sink *sink)
{
	struct stretch held[ROWS_MAX];
	bool is_held[ROWS_MAX] = { false };

	for (size_t i = 0; i < lane->spans.n; i++) {
		const struct stretch *s = &lane->spans.v[i];
		struct stretch *h = &held[s->row];
		bool is_short = s->end_ns - s->start_ns < gap_ns;

		if (is_held[s->row] && is_short &&
		    s->start_ns - h->end_ns < gap_ns) {
			if (s->end_ns > h->end_ns)
				h->end_ns = s->end_ns;
			h->name = INTERN_NONE;
			h->launch = 0;
			continue;
		}
		if (is_held[s->row])
			lane_take(sink, h);
		is_held[s->row] = is_short;
		if (is_short)
			*h = *s;
		else
			lane_take(sink, s);
	}
	for (size_t row = 0; row < ROWS_MAX; row++)
		if (is_held[row])
			lane_take(sink, &held[row]);
}

/* Threads are shown if they launch, or if there is no GPU work. */
bool
lanes_show(const struct lanes *l, const struct lane *lane)
{
	return lane->spans.n > 0 &&
	    (lane->is_gpu || lane->launches || !l->has_gpu);
}

/* The smallest gap that leaves at most so many spans. */
int64_t
lanes_gap(const struct lanes *l, size_t most)
{
	for (int64_t gap_ns = l->gap_ns;;
	     gap_ns = gap_ns == 0 ? GAP_FIRST_NS : gap_ns * 2) {
		struct sink count = { 0 };

		for (size_t i = 0; i < l->list.n; i++)
			if (lanes_show(l, &l->list.v[i]))
				lane_walk(&l->list.v[i], gap_ns, &count);
		if (count.n <= most || gap_ns > INT64_MAX / 4)
			return gap_ns;
	}
}

/* Joined spans come by end; sorts them by start. */
static void
join(struct lane *lane, int64_t gap_ns)
{
	struct sink sink = { .to = lane->spans.v };

	/* writes no further than it has read */
	lane_walk(lane, gap_ns, &sink);
	lane->spans.n = sink.n;
	qsort(lane->spans.v, lane->spans.n, sizeof *lane->spans.v, compare);
}

void
lanes_file_end(struct lanes *l)
{
	size_t n = 0;

	origins_close(l->origins, 0);
	for (size_t i = 0; i < l->list.n; i++) {
		struct lane *lane = &l->list.v[i];

		if (!lanes_show(l, lane))
			vec_free(&lane->spans);
		arrange(lane);
		n += lane->spans.n;
	}
	if (n <= SPANS_HELD)
		return;
	l->gap_ns = lanes_gap(l, SPANS_HELD / 2);
	for (size_t i = 0; i < l->list.n; i++) {
		struct lane *lane = &l->list.v[i];

		join(lane, l->gap_ns);
		lane->spans.v = xrealloc(
		    lane->spans.v, (lane->spans.n + 1) * sizeof *lane->spans.v);
		lane->spans.cap = lane->spans.n + 1;
	}
}
