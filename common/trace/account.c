/* SPDX-License-Identifier: MIT */
#include "trace/account.h"
#include "trace/bucket.h"
#include "trace/launches.h"
#include "trace/laws.h"

const char *const account_words[ACCOUNT_COUNT] = {
	[GROUP_OF_NONE] = "none",
	[GROUP_OF_HOST] = "host",
	[GROUP_OF_GPU] = "gpu",
	[GROUP_OF_SYNC] = "sync",
	[GROUP_OF_ALLOCATION] = "allocation",
	[GROUP_OF_DATA] = "data",
	[GROUP_OF_COMPILE] = "compile",
	[GROUP_OF_START] = "start_up",
	[GROUP_OF_MISSING] = "missing",
	[ACCOUNT_COMM] = "communication",
	[ACCOUNT_COPY] = "copy",
};

/* ---- the window ---- */

/* Starts after it ends: nothing lasts. */
static struct span
span_of_gpus(const struct host *h, const uint32_t *gpus, size_t n)
{
	struct span s = { INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < n; i++) {
		const struct host_gpu *k =
		    &h->gpus.v[gpus != NULL ? gpus[i] : i];

		if (k->end_ns <= k->start_ns)
			continue;
		s.start = k->start_ns < s.start ? k->start_ns : s.start;
		s.end = k->end_ns > s.end ? k->end_ns : s.end;
	}
	return s;
}

/* To all steps. */
static void
widen(struct span *s, const struct steps *steps)
{
	for (size_t i = 0; steps != NULL && i < steps->list.n; i++) {
		const struct step_window *w = &steps->list.v[i];

		s->start = w->start_ns < s->start ? w->start_ns : s->start;
		s->end = w->end_ns > s->end ? w->end_ns : s->end;
	}
}

/* The number of steps is the highest of several processes. */
static void
add_steps(struct account *a, const struct steps *steps)
{
	widen(&a->window, steps);
	for (size_t p = 0; steps != NULL && p < steps->processes.n; p++) {
		const struct step_process *process = &steps->processes.v[p];
		uint64_t n = 0;

		for (uint32_t i = 0; i < process->n; i++)
			n += steps->list.v[process->first + i].what ==
			    STEP_IS_STEP;
		account_add_steps(&a->steps, n);
	}
}

/* ---- GPU work ---- */

/* Those that begin in the window, and in within. */
static void
find_longest(struct account *a, const struct host *h, const uint32_t *gpus,
    size_t n, const struct spans *within)
{
	int64_t longest_ns[BUCKET_COUNT] = { 0 };

	for (size_t b = 0; b < BUCKET_COUNT; b++)
		a->longest[b] = HOST_NONE;
	for (size_t i = 0; i < n; i++) {
		uint32_t gpu = gpus != NULL ? gpus[i] : (uint32_t)i;
		const struct host_gpu *k = &h->gpus.v[gpu];
		int64_t ns = k->end_ns - k->start_ns;

		if (ns > longest_ns[k->tag] && k->start_ns >= a->window.start &&
		    k->start_ns < a->window.end &&
		    (within == NULL ||
			spans_between(within, k->start_ns, k->start_ns + 1) >
			    0)) {
			longest_ns[k->tag] = ns;
			a->longest[k->tag] = gpu;
		}
	}
}

/* Spans are normalised; NULL: all of it. */
static int64_t
time_within(const struct spans *s, const struct spans *within)
{
	int64_t ns = 0;

	if (within == NULL)
		return spans_total(s);
	for (size_t i = 0; i < within->n; i++)
		ns += spans_between(s, within->v[i].start, within->v[i].end);
	return ns;
}

static void
add_work(struct account *a, const struct host *h, const uint32_t *gpus,
    size_t n, const struct spans *within)
{
	struct spans of[BUCKET_COUNT] = { 0 };
	struct spans *compute = &of[BUCKET_COMPUTE];
	struct spans comm = { 0 }, rest = { 0 }, copy = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct host_gpu *k =
		    &h->gpus.v[gpus != NULL ? gpus[i] : i];

		spans_add(&of[k->tag], k->start_ns, k->end_ns);
	}
	for (int b = 0; b < BUCKET_COUNT; b++)
		spans_normalise(&of[b]);
	spans_subtract(&comm, &of[BUCKET_COMM], compute);
	spans_union(&rest, compute, &of[BUCKET_COMM]);
	spans_subtract(&copy, &of[BUCKET_MEMCPY], &rest);
	a->ns[GROUP_OF_GPU] += time_within(compute, within);
	a->ns[ACCOUNT_COMM] += time_within(&comm, within);
	a->ns[ACCOUNT_COPY] += time_within(&copy, within);
	for (int b = 0; b < BUCKET_COUNT; b++)
		spans_free(&of[b]);
	spans_free(&comm);
	spans_free(&rest);
	spans_free(&copy);
}

/* ---- gaps ---- */

static bool
is_comm(const struct host *h, uint32_t gpu)
{
	return gpu != HOST_NONE && h->gpus.v[gpu].tag == BUCKET_COMM;
}

unsigned
account_class_of(
    const struct host *h, const struct gap *gap, const struct gap_piece *p)
{
	if (p->cause == CAUSE_DEPENDENCY &&
	    (is_comm(h, gap->awaited) || is_comm(h, gap->next)))
		return ACCOUNT_COMM;
	return cause_groups[p->cause] != GROUP_OF_NONE ? cause_groups[p->cause]
						       : GROUP_OF_HOST;
}

static bool
is_opened_by_waiting(const struct host *h, const struct gap *gap)
{
	uint32_t opener = gap_opener(gap);
	enum cause by;

	if (opener == HOST_NONE)
		return false;
	by = h->events.v[opener].cause;
	return by == CAUSE_SYNC || by == CAUSE_COPY_BLOCK;
}

static void
add_gaps(struct account *a, const struct gaps *g, const struct host *h)
{
	int64_t longest_ns = 0;

	for (size_t i = a->first; i < g->list.n; i++) {
		const struct gap *gap = &g->list.v[i];
		int64_t recorded_ns = 0;

		for (uint32_t k = gap->first; k < gap->first + gap->n; k++) {
			const struct gap_piece *p = &g->pieces.v[k];
			unsigned class = account_class_of(h, gap, p);
			int64_t ns = p->end_ns - p->start_ns;

			a->ns[class] += ns;
			a->inferred_ns[class] += p->is_inferred ? ns : 0;
			if (class != GROUP_OF_MISSING && class != GROUP_OF_GPU)
				recorded_ns += ns;
		}
		if (recorded_ns > a->largest_ns) {
			a->largest_ns = recorded_ns;
			a->largest = (uint32_t)i;
		}
		if (!is_opened_by_waiting(h, gap))
			continue;
		a->opened_ns += gap->end_ns - gap->start_ns;
		if (gap->end_ns - gap->start_ns > longest_ns) {
			longest_ns = gap->end_ns - gap->start_ns;
			a->opened_by = gap->opened_by;
		}
	}
}

/* ---- work missing from the trace ---- */

/* What made a GPU stream wait since the thread's previous launch. */
static uint32_t
find_wait(const struct host *h, uint32_t launch)
{
	const struct host_event *r = &h->events.v[launch];
	uint32_t first = h->threads.v[r->thread].first;

	for (uint32_t i = launch; i-- > first && h->events.v[i].ngpu == 0;) {
		const struct host_event *e = &h->events.v[i];

		if (is_call(e) &&
		    str_find(dict_get(h->dict, e->name), STR("StreamWaitEvent"),
			false) >= 0)
			return i;
	}
	return HOST_NONE;
}

static void
find_missing(struct account *a, const struct gaps *g, const struct host *h)
{
	const struct gap_piece *longest = NULL;
	/* calls of a head that does not count are no evidence */
	size_t from = a->first == 0 ? 0 : g->list.v[0].n;

	for (size_t i = from; i < g->pieces.n; i++) {
		const struct gap_piece *p = &g->pieces.v[i];

		if (p->cause == CAUSE_GPU_MISSING &&
		    (longest == NULL ||
			p->end_ns - p->start_ns >
			    longest->end_ns - longest->start_ns))
			longest = p;
	}
	if (longest == NULL)
		return;
	a->blocked_in = host_blocked_in(h, longest->start_ns, longest->end_ns);
	if (longest->event != HOST_NONE && h->events.v[longest->event].ngpu > 0)
		a->waits_by = find_wait(h, longest->event);
}

/* ---- launches ---- */

void
account_set_steps(struct account *a, const struct account_steps *steps)
{
	uint64_t n = a->nlaunched;
	uint64_t graphs = steps->most < n ? steps->most : n;
	int64_t gaps, starts;

	a->steps = *steps;
	graphs += graphs == 0;
	a->graph_ns = INT64_MAX;
	if (n == 0)
		return;
	gaps = graph_gaps_ns(a->graph_gap_ns, n - graphs + 1);
	if (__builtin_mul_overflow(a->graph_start_ns, graphs, &starts) ||
	    __builtin_add_overflow(gaps, starts, &a->graph_ns))
		a->graph_ns = INT64_MAX;
}

/* From a launch to the end of its work. */
static struct span
span_of_launch(
    const struct launches *l, const struct launch *v, const struct host *h)
{
	const struct host_event *e = &h->events.v[v->event];
	struct span s = { e->start_ns, e->end_ns };

	for (uint32_t k = v->first; k < v->first + v->n; k++) {
		int64_t end = h->gpus.v[l->gpus.v[k]].end_ns;

		s.end = end > s.end ? end : s.end;
	}
	return s;
}

/*
 * In each step from its first launch to the end of its last work: what a graph
 * of it would replace. Without steps, of all.
 */
static void
find_inside(struct spans *inside, const struct launches *l,
    const struct host *h, const struct steps *steps)
{
	size_t n = steps != NULL ? steps->list.n : 0;
	VEC(struct span) of = { 0 };

	for (size_t i = 0; i <= n; i++)
		vec_push(&of, ((struct span){ INT64_MAX, INT64_MIN }));
	for (size_t i = 0; i < l->list.n; i++) {
		const struct launch *v = &l->list.v[i];
		struct span s = span_of_launch(l, v, h);
		uint32_t w = n > 0 ? steps_window_of(steps, h, v->event) : 0;

		if (w == STEPS_NONE ||
		    (n > 0 && steps->list.v[w].what == STEP_IS_BETWEEN))
			continue;
		if (n > 0 && s.end > steps->list.v[w].end_ns)
			s.end = steps->list.v[w].end_ns;
		of.v[w].start =
		    s.start < of.v[w].start ? s.start : of.v[w].start;
		of.v[w].end = s.end > of.v[w].end ? s.end : of.v[w].end;
	}
	for (size_t i = 0; i <= n; i++)
		if (of.v[i].start < of.v[i].end)
			spans_add(inside, of.v[i].start, of.v[i].end);
	spans_normalise(inside);
	vec_free(&of);
}

static int64_t
host_outside(const struct account *a, const struct gaps *g,
    const struct host *h, const struct spans *inside)
{
	int64_t ns = a->ns[GROUP_OF_HOST];

	for (size_t i = a->first; i < g->list.n; i++) {
		const struct gap *gap = &g->list.v[i];

		for (uint32_t k = gap->first; k < gap->first + gap->n; k++) {
			const struct gap_piece *p = &g->pieces.v[k];

			if (account_class_of(h, gap, p) == GROUP_OF_HOST)
				ns -= spans_between(
				    inside, p->start_ns, p->end_ns);
		}
	}
	return ns;
}

static void
add_launches(struct account *a, const struct gaps *g, const struct host *h,
    const uint32_t *gpus, size_t n, const struct steps *steps)
{
	struct spans inside = { 0 };
	struct launches l = { 0 };
	struct graph_terms terms;

	launches_find(&l, h, gpus, n);
	launches_starve(&l, h, g);
	terms = launches_graph(&l, h, g);
	a->nlaunched = l.gpus.n;
	a->nstarved = l.nstarved;
	a->interval_ns = launches_interval(h, l.list.v, l.list.n);
	a->work_ns = launches_work(l.list.v, l.list.n);
	find_inside(&inside, &l, h, steps);
	a->outside_ns = host_outside(a, g, h, &inside);
	spans_free(&inside);
	a->graph_gap_ns = terms.gap_ns;
	a->graph_start_ns = terms.start_ns;
	account_set_steps(a, &a->steps);
	launches_free(&l);
}

/* ---- all ---- */

/* A head whose cause was not recorded is excluded. */
static bool
has_unrecorded_head(const struct gaps *g)
{
	return g->list.n > 0 && g->list.v[0].prev == HOST_NONE &&
	    cause_groups[g->list.v[0].cause] == GROUP_OF_MISSING;
}

struct span
account_window(struct gaps *room, struct host *h, const struct steps *steps)
{
	struct span w = span_of_gpus(h, NULL, h->gpus.n);
	bool has_work = w.start < w.end;
	size_t n = 0;

	widen(&w, steps);
	if (!has_work)
		return w;
	while (h->gpus.v[n].end_ns <= h->gpus.v[n].start_ns)
		n++;
	/* the head alone, up to the first GPU event's end */
	gaps_find(room, h, NULL, n + 1,
	    &(struct span){ w.start, h->gpus.v[n].end_ns });
	if (has_unrecorded_head(room))
		w.start = room->list.v[0].end_ns;
	return w;
}

static void
find_window(struct account *a, struct gaps *g, struct host *h,
    const uint32_t *gpus, size_t n, const struct steps *steps,
    const struct spans *within)
{
	a->window = span_of_gpus(h, gpus, n);
	add_steps(a, steps);
	if (a->window.start > a->window.end)
		a->window = (struct span){ 0, 0 };
	gaps_find(g, h, gpus, n, &a->window);
	a->window_ns = a->window.end - a->window.start;
	if (within == NULL)
		return;
	gaps_cut(g, within);
	a->window =
	    (struct span){ within->v[0].start, within->v[within->n - 1].end };
	a->window_ns = spans_total(within);
}

static void
keep_law(const struct account *a)
{
	struct law_part classes[ACCOUNT_COUNT];

	for (size_t c = 0; c < ACCOUNT_COUNT; c++)
		classes[c] = (struct law_part){ account_words[c], a->ns[c] };
	law_sum("idle_window", classes, ACCOUNT_COUNT,
	    (struct law_part){ "window", a->window_ns });
}

void
account_find(struct account *a, struct gaps *g, struct host *h,
    const uint32_t *gpus, size_t n, const struct steps *steps,
    const struct spans *within)
{
	const uint32_t *working = within == NULL ? gpus : NULL;
	size_t nworking = within == NULL ? n : h->gpus.n;
	struct span work = span_of_gpus(h, working, nworking);

	*a = (struct account){ .largest = HOST_NONE,
		.opened_by = HOST_NONE,
		.blocked_in = HOST_NONE,
		.waits_by = HOST_NONE };
	find_window(a, g, h, working, nworking, steps, within);
	if (has_unrecorded_head(g) &&
	    (within == NULL || g->list.v[0].end_ns < within->v[0].end)) {
		a->first = 1;
		a->window_ns -= g->list.v[0].end_ns - g->list.v[0].start_ns;
		a->window.start = g->list.v[0].end_ns;
	}
	add_work(a, h, working, nworking, within);
	find_longest(a, h, working, nworking, within);
	add_gaps(a, g, h);
	/* if all GPU events last 0 ns, nothing is known */
	if (work.start < work.end)
		keep_law(a);
	find_missing(a, g, h);
	add_launches(a, g, h, gpus, n, steps);
}
