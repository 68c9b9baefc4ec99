/* SPDX-License-Identifier: MIT */
#include "trace/account.h"
#include "trace/bucket.h"

/* Where the trace has no graph, nor events that were queued. */
#define GRAPH_GAP_NS 1000
#define GRAPH_LAUNCH_NS 10000

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

static struct span
span_of_gpus(const struct host *h, const uint32_t *gpus, size_t n)
{
	struct span s = { INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < n; i++) {
		const struct host_gpu *k = &h->gpus.v[gpus[i]];

		if (k->end_ns <= k->start_ns)
			continue;
		s.start = k->start_ns < s.start ? k->start_ns : s.start;
		s.end = k->end_ns > s.end ? k->end_ns : s.end;
	}
	return s.start < s.end ? s : (struct span){ 0, 0 };
}

/* The number of steps, of several processes of the one with most. */
static uint64_t
add_steps(struct span *s, const struct steps *steps)
{
	uint64_t most = 0;

	for (size_t p = 0; steps != NULL && p < steps->processes.n; p++) {
		const struct step_process *process = &steps->processes.v[p];
		uint64_t n = 0;

		for (uint32_t i = 0; i < process->n; i++) {
			const struct step_window *w =
			    &steps->list.v[process->first + i];

			n += w->what == STEP_IS_STEP;
			s->start =
			    w->start_ns < s->start ? w->start_ns : s->start;
			s->end = w->end_ns > s->end ? w->end_ns : s->end;
		}
		most = n > most ? n : most;
	}
	return most;
}

/* ---- GPU work ---- */

static void
add_work(
    struct account *a, const struct host *h, const uint32_t *gpus, size_t n)
{
	struct spans of[BUCKET_COUNT] = { 0 };
	struct spans *compute = &of[BUCKET_COMPUTE];
	struct spans comm = { 0 }, rest = { 0 }, copy = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct host_gpu *k = &h->gpus.v[gpus[i]];

		spans_add(&of[k->tag], k->start_ns, k->end_ns);
	}
	for (int b = 0; b < BUCKET_COUNT; b++)
		spans_normalise(&of[b]);
	spans_subtract(&comm, &of[BUCKET_COMM], compute);
	spans_union(&rest, compute, &of[BUCKET_COMM]);
	spans_subtract(&copy, &of[BUCKET_MEMCPY], &rest);
	a->ns[GROUP_OF_GPU] += spans_total(compute);
	a->ns[ACCOUNT_COMM] += spans_total(&comm);
	a->ns[ACCOUNT_COPY] += spans_total(&copy);
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
	    (is_comm(h, gap->prev) || is_comm(h, gap->next)))
		return ACCOUNT_COMM;
	return cause_groups[p->cause] != GROUP_OF_NONE ? cause_groups[p->cause]
						       : GROUP_OF_HOST;
}

static bool
is_opened_by_waiting(const struct host *h, const struct gap *gap)
{
	enum cause by;

	if (gap->opened_by == HOST_NONE ||
	    gap->end_ns - gap->start_ns > HOST_LONG_NS)
		return false;
	by = h->events.v[gap->opened_by].cause;
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

/* ---- what is missing ---- */

/* The call that waits longest, on any thread that launches. */
static uint32_t
find_blocked(const struct host *h, const struct gap_piece *p)
{
	uint32_t found = HOST_NONE;
	int64_t most = 0;

	for (size_t i = 0; i < h->threads.n; i++) {
		const struct host_thread *t = &h->threads.v[i];
		const struct host_segment *v = h->segs.v + t->first_seg;
		size_t at = host_segment_at(h, t, p->start_ns);

		if (t->nlaunched == 0) /* nor do those behind it */
			break;
		for (; at < t->nsegs && v[at].start_ns < p->end_ns; at++) {
			uint8_t cause = h->events.v[v[at].event].cause;
			int64_t from = v[at].start_ns, to = v[at].end_ns;

			from = from > p->start_ns ? from : p->start_ns;
			to = to < p->end_ns ? to : p->end_ns;
			if ((cause == CAUSE_SYNC ||
				cause == CAUSE_COPY_BLOCK) &&
			    to - from > most) {
				most = to - from;
				found = v[at].event;
			}
		}
	}
	return found;
}

/* What made a GPU stream wait since the thread launched before. */
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

	for (size_t i = 0; i < g->pieces.n; i++) {
		const struct gap_piece *p = &g->pieces.v[i];

		if (p->cause == CAUSE_GPU_MISSING &&
		    (longest == NULL ||
			p->end_ns - p->start_ns >
			    longest->end_ns - longest->start_ns))
			longest = p;
	}
	if (longest == NULL)
		return;
	a->blocked_in = find_blocked(h, longest);
	if (longest->event != HOST_NONE && h->events.v[longest->event].ngpu > 0)
		a->waits_by = find_wait(h, longest->event);
}

/* ---- launches ---- */

typedef VEC(int64_t) int_list;

static int64_t
upper_median(int_list *list)
{
	int64_t median = -1;

	if (list->n > 0) {
		sort_i64(list->v, list->n);
		median = list->v[list->n / 2];
	}
	vec_free(list);
	return median;
}

static int64_t
median_interval(const struct host *h)
{
	int_list list = { 0 };

	for (size_t i = 0; i < h->threads.n; i++) {
		const struct host_thread *t = &h->threads.v[i];
		const struct host_event *last = NULL;

		for (uint32_t k = t->first; k < t->first + t->n; k++) {
			const struct host_event *e = &h->events.v[k];

			if (e->ngpu == 0)
				continue;
			if (last != NULL)
				vec_push(&list, e->start_ns - last->start_ns);
			last = e;
		}
	}
	return upper_median(&list);
}

struct work {
	uint32_t launch;
	struct span span;
};

static int
by_launch(const void *x, const void *y)
{
	const struct work *a = x, *b = y;

	return (a->launch > b->launch) - (a->launch < b->launch);
}

/* From the call on until the first event of its work starts. */
static int64_t
start_of(const struct host *h, const struct work *first)
{
	const struct host_event *r = &h->events.v[first->launch];

	return (first->span.start > r->end_ns ? first->span.start : r->end_ns) -
	    r->start_ns;
}

/* Of n of one launch, which come in time, the union. */
static int64_t
length_of(const struct work *v, size_t n)
{
	int64_t end = v[0].span.start, ns = 0;

	for (size_t i = 0; i < n; i++) {
		struct span s = v[i].span;

		s.start = s.start > end ? s.start : end;
		ns += s.end > s.start ? s.end - s.start : 0;
		end = s.end > end ? s.end : end;
	}
	return ns;
}

/* How long work is, and how long a graph takes to start; -1: there is none. */
static void
find_work(struct account *a, const struct host *h, const uint32_t *gpus,
    size_t n, int64_t *graph_start_ns)
{
	VEC(struct work) works = { 0 };
	int_list lengths = { 0 }, starts = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct host_gpu *k = &h->gpus.v[gpus[i]];

		if (k->launch != HOST_NONE)
			vec_push(&works,
			    ((struct work){
				k->launch, { k->start_ns, k->end_ns } }));
	}
	a->nlaunched = works.n;
	stable_sort(works.v, works.n, sizeof *works.v, by_launch);
	for (size_t i = 0, of; i < works.n; i += of) {
		const struct work *v = &works.v[i];

		for (of = 1; i + of < works.n && v[of].launch == v->launch;)
			of++;
		vec_push(&lengths, length_of(v, of));
		if (h->events.v[v->launch].ngpu > 1)
			vec_push(&starts, start_of(h, v));
	}
	vec_free(&works);
	a->work_ns = upper_median(&lengths);
	*graph_start_ns = upper_median(&starts);
}

/* The median length of the pieces of gaps of one cause; -1: there is none. */
static int64_t
median_piece(const struct gaps *g, enum cause cause)
{
	int_list list = { 0 };

	for (size_t i = 0; i < g->pieces.n; i++)
		if (g->pieces.v[i].cause == cause)
			vec_push(&list,
			    g->pieces.v[i].end_ns - g->pieces.v[i].start_ns);
	return upper_median(&list);
}

/* What is between the events of a graph, and its launch. */
static int64_t
graph_terms(const struct account *a, const struct gaps *g, int64_t launch)
{
	int64_t gap = median_piece(g, CAUSE_GRAPH_GAP), ns;

	if (gap < 0)
		gap = median_piece(g, CAUSE_QUEUE_GAP);
	if (gap < 0)
		gap = GRAPH_GAP_NS;
	if (launch < 0)
		launch = GRAPH_LAUNCH_NS;
	if (a->nlaunched == 0 ||
	    __builtin_mul_overflow((int64_t)a->nlaunched - 1, gap, &ns) ||
	    __builtin_add_overflow(ns, launch, &ns))
		return INT64_MAX;
	return ns;
}

static void
add_launches(struct account *a, const struct gaps *g, const struct host *h,
    const uint32_t *gpus, size_t n)
{
	int64_t graph_start_ns;

	for (size_t i = 0; i < g->list.n; i++) {
		const struct gap *gap = &g->list.v[i];
		uint32_t launch = gap->next != HOST_NONE
		    ? h->gpus.v[gap->next].launch
		    : HOST_NONE;

		a->nstarved += launch != HOST_NONE &&
		    h->events.v[launch].start_ns > gap->start_ns;
	}
	a->interval_ns = median_interval(h);
	find_work(a, h, gpus, n, &graph_start_ns);
	a->graph_ns = graph_terms(a, g, graph_start_ns);
}

/* ---- all ---- */

void
account_find(struct account *a, struct gaps *g, struct host *h,
    const uint32_t *gpus, size_t n, const struct steps *steps)
{
	*a = (struct account){ .window = span_of_gpus(h, gpus, n),
		.largest = HOST_NONE,
		.opened_by = HOST_NONE,
		.blocked_in = HOST_NONE,
		.waits_by = HOST_NONE };
	a->nsteps = add_steps(&a->window, steps);
	gaps_find(g, h, gpus, n, &a->window);
	if (g->list.n > 0 && g->list.v[0].prev == HOST_NONE &&
	    cause_groups[g->list.v[0].cause] == GROUP_OF_MISSING) {
		a->first = 1;
		a->window.start = g->list.v[0].end_ns;
	}
	add_work(a, h, gpus, n);
	add_gaps(a, g, h);
	find_missing(a, g, h);
	add_launches(a, g, h, gpus, n);
}
