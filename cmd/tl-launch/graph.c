/* SPDX-License-Identifier: MIT */
/*
 * Estimates launches as one graph: busy time, gaps within a graph, and its
 * launch. Time stays in which the host waited for the GPU, loaded data or
 * allocated while none of the work ran, as a graph cannot hold that; so does
 * idle time that nothing recorded explains, and what is before the first launch
 * or after the last of the work.
 */
#include "cmd/tl-launch/cost.h"
#include "json/json.h"

static uint32_t
word(const struct finder *f, const char *text)
{
	return intern_put(f->g->sink.dict->text, str_of(text));
}

void
graph_terms(struct finder *f)
{
	static const char *const gaps[] = { "graph_gap", "queue_gap",
		"assumed" };
	static const char *const starts[] = { "graph_launch", "", "assumed" };
	struct graph_terms t = launches_graph(&f->launches, f->h, &f->gaps);
	struct cost *c = &f->cost;

	c->graph_gap_ns = t.gap_ns;
	c->gap_from = word(f, gaps[t.gap_from]);
	c->graph_launch_ns = t.start_ns;
	c->launch_from = word(f, starts[t.start_from]);
}

/* ---- what a graph can't hold ---- */

/* A name that a graph cannot hold, and its time. */
struct in_way {
	uint32_t name;
	int64_t ns;
};

struct obstacles {
	struct spans of[BLOCKED_COUNT];
	struct map place; /* name to index in the list */
	VEC(struct in_way) list;
};

static enum blocked
blocked_of(enum cause c)
{
	switch (c) {
	case CAUSE_SYNC: return BLOCKED_SYNC;
	case CAUSE_COPY_BLOCK: return BLOCKED_COPY;
	case CAUSE_DATA: return BLOCKED_DATA;
	case CAUSE_ALLOC: return BLOCKED_ALLOC;
	default: return BLOCKED_COUNT;
	}
}

/* The innermost op around an event, or the call itself; HOST_NONE: neither. */
static uint32_t
culprit(const struct host *h, uint32_t event)
{
	uint32_t up = event;

	while (up != HOST_NONE && h->events.v[up].kind != KIND_OP)
		up = h->events.v[up].up;
	return up == HOST_NONE && is_call(&h->events.v[event]) ? event : up;
}

static void
add_in_way(
    struct obstacles *b, const struct host *h, uint32_t event, int64_t ns)
{
	uint32_t by = culprit(h, event), name;
	bool is_new;
	uint64_t *at;

	if (by == HOST_NONE)
		return;
	name = h->events.v[by].name;
	at = map_put(&b->place, name, &is_new);
	if (is_new) {
		*at = b->list.n;
		vec_push(&b->list, ((struct in_way){ name, 0 }));
	}
	stat_add(&b->list.v[*at].ns, ns);
}

static void
add_thread(struct obstacles *b, const struct host *h,
    const struct host_thread *t, struct span window)
{
	struct host_parts p = host_parts_of(h, t, window.start, window.end);

	while (host_parts_next(&p)) {
		enum blocked by = blocked_of(p.cause);

		if (by == BLOCKED_COUNT)
			continue;
		spans_add(&b->of[by], p.start_ns, p.end_ns);
		add_in_way(b, h, p.event, p.end_ns - p.start_ns);
	}
}

/* Longest first; ties by first occurrence. */
static int
by_time(const void *x, const void *y)
{
	const struct in_way *a = x, *b = y;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

static uint32_t
list_names(const struct finder *f, struct obstacles *b)
{
	const struct dict *dict = f->h->dict;
	struct buf text = { 0 };
	uint32_t id = INTERN_NONE;

	stable_sort(b->list.v, b->list.n, sizeof *b->list.v, by_time);
	for (size_t i = 0; i < b->list.n; i++) {
		buf_putc(&text, i == 0 ? '[' : ',');
		json_put_string(&text, dict_get(dict, b->list.v[i].name));
	}
	if (b->list.n > 0) {
		buf_putc(&text, ']');
		id = intern_put(dict->text, buf_str(&text));
	}
	buf_free(&text);
	return id;
}

/* Counts each part of the time once; time in which the GPU worked is busy. */
static void
count_blocked(struct obstacles *b, const struct spans *busy, int64_t *ns)
{
	struct spans taken = { 0 }, rest = { 0 }, all = { 0 };

	spans_union(&taken, busy, &all);
	for (int i = 0; i < BLOCKED_COUNT; i++) {
		struct spans swap;

		spans_normalise(&b->of[i]);
		spans_subtract(&rest, &b->of[i], &taken);
		ns[i] = spans_total(&rest);
		spans_union(&all, &taken, &rest);
		swap = taken;
		taken = all;
		all = swap;
		spans_free(&b->of[i]);
	}
	spans_free(&taken);
	spans_free(&rest);
	spans_free(&all);
}

/* ---- the estimate ---- */

static int64_t
less(int64_t ns, int64_t by)
{
	return ns > by ? ns - by : 0;
}

/* Idle time caused by host work, as in tl-idle's idle_window; adds unexplained
 * idle time to missing. */
static int64_t
host_idle_ns(const struct finder *f, struct span window, struct spans *missing)
{
	const struct gaps *g = &f->gaps;
	int64_t ns = 0;
	size_t i;

	bisect(i, g->list.n, mid, g->list.v[mid].end_ns <= window.start);
	for (; i < g->list.n && g->list.v[i].start_ns < window.end; i++) {
		const struct gap *gap = &g->list.v[i];

		for (uint32_t k = gap->first; k < gap->first + gap->n; k++) {
			const struct gap_piece *p = &g->pieces.v[k];
			unsigned class = account_class_of(f->h, gap, p);
			int64_t from = p->start_ns, to = p->end_ns;

			from = from > window.start ? from : window.start;
			to = to < window.end ? to : window.end;
			if (from >= to)
				continue;
			if (class == GROUP_OF_MISSING)
				spans_add(missing, from, to);
			else if (class == GROUP_OF_HOST &&
			    i >= f->account.first)
				stat_add(&ns, to - from);
		}
	}
	return ns;
}

static void
estimate(const struct finder *f, struct stretch *s)
{
	int64_t idle_ns = s->wall_ns - s->busy_ns;

	s->other_ns = idle_ns - s->host_ns;
	for (int i = 0; i < BLOCKED_OUTSIDE; i++)
		s->other_ns -= s->blocked_ns[i];
	s->gaps_ns =
	    graph_gaps_ns(f->cost.graph_gap_ns, (uint64_t)s->pace.ngpu);
	s->start_ns = f->cost.graph_launch_ns;
	s->graph_ns = less(less(s->wall_ns, s->busy_ns), s->gaps_ns);
	s->graph_ns = less(s->graph_ns, s->start_ns);
	for (int i = 0; i < BLOCKED_COUNT; i++)
		s->graph_ns = less(s->graph_ns, s->blocked_ns[i]);
}

struct span
launches_span(const struct finder *f, const struct launch *v, size_t n)
{
	struct span s = { INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < n; i++) {
		const struct host_event *e = call_of(f, &v[i]);

		s.start = e->start_ns < s.start ? e->start_ns : s.start;
		s.end = e->end_ns > s.end ? e->end_ns : s.end;
		for (uint32_t k = v[i].first; k < v[i].first + v[i].n; k++)
			if (gpu_of(f, k)->end_ns > s.end)
				s.end = gpu_of(f, k)->end_ns;
	}
	return s;
}

void
graph_add(struct finder *f, const char *what, struct key step,
    const struct launch *v, size_t n, struct span window)
{
	const struct host *h = f->h;
	struct stretch s = { .wall_ns = window.end - window.start,
		.pace = { (int64_t)n, 0, launches_interval(f->h, v, n),
		    launches_work(v, n) },
		.last = call_of(f, &v[n - 1])->uid };
	struct obstacles b = { 0 };
	struct spans busy = { 0 }, *outside = &b.of[BLOCKED_OUTSIDE];
	struct span inside = launches_span(f, v, n);
	struct launch_record *r;

	for (size_t i = 0; i < n; i++) {
		uint32_t thread = call_of(f, &v[i])->thread;

		s.pace.ngpu += v[i].n;
		for (uint32_t k = v[i].first; k < v[i].first + v[i].n; k++)
			spans_add(&busy, gpu_of(f, k)->start_ns,
			    gpu_of(f, k)->end_ns);
		if (i == 0 || call_of(f, &v[i - 1])->thread != thread)
			add_thread(&b, h, &h->threads.v[thread], window);
	}
	spans_normalise(&busy);
	s.busy_ns = spans_total(&busy);
	s.host_ns = host_idle_ns(f, window, &b.of[BLOCKED_MISSING]);
	if (inside.start > window.start)
		spans_add(outside, window.start, inside.start);
	if (inside.end < window.end)
		spans_add(outside, inside.end, window.end);
	count_blocked(&b, &busy, s.blocked_ns);
	s.forbids = list_names(f, &b);
	estimate(f, &s);
	r = launch_add(f->g, IS_STRETCH);
	r->name = word(f, what);
	r->step = step;
	r->rec.uid = call_of(f, v)->uid;
	r->rec.track = h->threads.v[call_of(f, v)->thread].track;
	r->rec.ts_ns = window.start;
	r->api_ns = s.graph_ns;
	r->ngpu = s.pace.ngpu;
	r->more = (uint32_t)f->g->stretches.n;
	vec_push(&f->g->stretches, s);
	spans_free(&busy);
	map_free(&b.place);
	vec_free(&b.list);
}
