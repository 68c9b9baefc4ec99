/* SPDX-License-Identifier: MIT */
#include "trace/gap.h"
#include "trace/blocked.h"
#include "trace/steps.h"

/* Upper limits for delays between queued kernels. */
#define LATENCY_NS 100000       /* from a late launch to its start */
#define START_NS GAP_MISSING_NS /* from a launch in time to its start */
#define HANDOVER_MIN_NS 10000   /* between GPU streams */
#define HANDOVER_NS 100000
#define QUEUE_NS GAP_MISSING_NS
#define SYNC_NS 100000       /* a synchronization returns sooner */
#define FIRST_OP_NS 10000000 /* of an op's first call */
#define FIRST_ALLOC_NS 100000000
#define STALL_TIMES 50 /* the median self time of its name */

/* A piece of a thread's time for which other threads are asked what they did:
 * marks pieces until they are complete. */
#define LEFT CAUSE_COUNT

struct finder {
	struct gaps *g;
	struct host *h;
	struct blocked blocked; /* in the gap */
	size_t first;           /* of the pieces of this gap */
};

/* ---- pieces ---- */

static inline void
add_piece(
    struct finder *f, int64_t from, int64_t to, unsigned cause, uint32_t event)
{
	size_t n = f->g->pieces.n;
	struct gap_piece *p = n > f->first ? &f->g->pieces.v[n - 1] : NULL;

	if (from >= to)
		return;
	if (p != NULL && p->event == event && p->cause == cause &&
	    p->end_ns == from) {
		p->end_ns = to;
		return;
	}
	p = vec_add(&f->g->pieces);
	p->start_ns = from;
	p->end_ns = to;
	p->event = event;
	p->cause = (uint8_t)cause;
	p->is_inferred = false;
}

static bool
is_autograd_frame(const struct host *h, const struct host_parts *p)
{
	return p->cause == CAUSE_AUTOGRAD &&
	    h->events.v[p->event].kind == KIND_PYTHON;
}

/* Whether another thread's part says what a thread at rest waits for. */
static bool
takes(const struct host *h, const struct host_thread *t,
    const struct host_parts *p, const struct host_parts *rest)
{
	if (host_is_rest(p))
		return false;
	if (is_autograd_frame(h, p) && rest->event != HOST_NONE)
		return false;
	return t->nlaunched > 0 || rest->cause == CAUSE_WAIT ||
	    rest->cause == CAUSE_SYNC ||
	    (p->cause != CAUSE_SYNC && p->cause != CAUSE_POLL);
}

/* What busy threads from this one on did while thread own was idle. */
static void
ask_others(struct finder *f, uint32_t own, const struct host_busy *busy,
    uint32_t thread, int64_t from, int64_t to, const struct host_parts *rest)
{
	const struct host *h = f->h;
	struct host_parts p;

	thread = host_next_busy(h, busy, thread);
	if (thread == own)
		thread = host_next_busy(h, busy, thread + 1);
	if (thread == HOST_NONE) {
		add_piece(f, from, to, LEFT, rest->event);
		return;
	}
	p = host_parts_of(h, &h->threads.v[thread], from, to);
	while (host_parts_next(&p))
		if (takes(h, &h->threads.v[thread], &p, rest))
			add_piece(f, p.start_ns, p.end_ns, p.cause, p.event);
		else
			ask_others(f, own, busy, thread + 1, p.start_ns,
			    p.end_ns, rest);
}

/* before: no event of the thread from this one on began by then. */
static void
add_host_pieces(struct finder *f, uint32_t thread, uint32_t before,
    int64_t from, int64_t to)
{
	const struct host *h = f->h;
	struct host_parts p;

	if (f->g->without_causes)
		return;
	p = host_parts_before(h, &h->threads.v[thread], before, from, to);
	while (host_parts_next(&p))
		if (host_is_rest(&p) || is_autograd_frame(h, &p)) {
			const struct host_busy busy =
			    host_busy(f->h, p.start_ns, p.end_ns);

			ask_others(
			    f, thread, &busy, 0, p.start_ns, p.end_ns, &p);
		} else {
			add_piece(f, p.start_ns, p.end_ns, p.cause, p.event);
		}
}

/* ---- what a gap consists of ---- */

static enum cause
cause_of_rest(struct finder *f, const struct gap *gap, int64_t from)
{
	const struct host *h = f->h;
	const struct host_gpu *next = &h->gpus.v[gap->next];
	const struct host_gpu *prev =
	    gap->prev != HOST_NONE ? &h->gpus.v[gap->prev] : NULL;
	int64_t end = h->events.v[next->launch].end_ns;
	int64_t length = gap->end_ns - gap->start_ns;

	if (end > gap->start_ns) {
		if (gap->end_ns - from < LATENCY_NS)
			return CAUSE_LAUNCH_LATENCY;
	} else if (gap->end_ns - end < START_NS) {
		return CAUSE_LAUNCH_LATENCY;
	} else if (prev != NULL &&
	    !key_eq(prev->gpu_stream, next->gpu_stream) &&
	    length >= HANDOVER_MIN_NS && length < HANDOVER_NS) {
		return CAUSE_DEPENDENCY;
	} else if (length < QUEUE_NS) {
		return CAUSE_QUEUE_GAP;
	}
	if (prev == NULL)
		return CAUSE_GPU_MISSING;
	/* host and GPU may both wait for work that was not recorded */
	blocked_in(&f->blocked, gap->start_ns, gap->end_ns);
	return blocked_for_half(&f->blocked, from, gap->end_ns)
	    ? CAUSE_GPU_MISSING
	    : CAUSE_LATE_START;
}

/* What rows of the trace say that the next event waited for, if its GPU stream
 * then went on no later than a hand-over takes. */
static uint32_t
awaited_by_row(const struct host *h, const struct gap *gap)
{
	uint32_t awaits = h->gpus.v[gap->next].awaits;

	return awaits != HOST_NONE &&
		gap->end_ns - h->gpus.v[awaits].end_ns < HANDOVER_NS
	    ? awaits
	    : HOST_NONE;
}

static void
add_whole_pieces(struct finder *f, uint32_t thread, const struct gap *gap)
{
	const struct host_thread *t = &f->h->threads.v[thread];

	add_host_pieces(f, thread, t->first + t->n, gap->start_ns, gap->end_ns);
}

static void
explain_launched(struct finder *f, struct gap *gap)
{
	const struct host *h = f->h;
	uint32_t launch = h->gpus.v[gap->next].launch;
	const struct host_event *r = &h->events.v[launch];
	int64_t at = gap->start_ns, to;

	if (r->start_ns > at) {
		to = r->start_ns < gap->end_ns ? r->start_ns : gap->end_ns;
		add_host_pieces(f, r->thread, launch, at, to);
		at = to;
	}
	if (r->end_ns > at) {
		to = r->end_ns < gap->end_ns ? r->end_ns : gap->end_ns;
		add_piece(f, at, to, r->cause, launch);
		at = to;
	}
	if (at < gap->end_ns) {
		enum cause cause = cause_of_rest(f, gap, at);

		add_piece(f, at, gap->end_ns, cause, launch);
		if (cause != CAUSE_DEPENDENCY)
			return;
		gap->awaited = awaited_by_row(h, gap);
		if (gap->awaited != HOST_NONE)
			return;
		gap->awaited = gap->prev;
		f->g->pieces.v[f->g->pieces.n - 1].is_inferred = true;
	}
}

uint32_t
gap_thread(const struct host *h, const struct gap *gap)
{
	const struct host_gpu *next =
	    gap->next != HOST_NONE ? &h->gpus.v[gap->next] : NULL;
	uint32_t launch = next != NULL ? next->launch
	    : gap->prev != HOST_NONE   ? h->gpus.v[gap->prev].launch
				       : HOST_NONE;

	if (!h->has_time)
		return HOST_NONE;
	if (launch != HOST_NONE)
		return h->events.v[launch].thread;
	/* no call was recorded, so the host's activity is no evidence; or the
	 * call came before the recording */
	if (next != NULL &&
	    (h->first_corr == INT64_MAX ||
		(next->corr.type == KEY_INT && next->corr.n < h->first_corr)))
		return HOST_NONE;
	return 0;
}

static void
explain(struct finder *f, struct gap *gap)
{
	const struct host *h = f->h;
	const struct host_gpu *next =
	    gap->next != HOST_NONE ? &h->gpus.v[gap->next] : NULL;
	const struct host_gpu *prev =
	    gap->prev != HOST_NONE ? &h->gpus.v[gap->prev] : NULL;
	uint32_t thread = gap_thread(h, gap);

	if (thread == HOST_NONE)
		add_piece(f, gap->start_ns, gap->end_ns,
		    !h->has_time                     ? CAUSE_NO_HOST
			: h->first_corr == INT64_MAX ? CAUSE_NONE
						     : CAUSE_QUEUED_BEFORE,
		    HOST_NONE);
	else if (next == NULL || next->launch == HOST_NONE)
		add_whole_pieces(f, thread, gap);
	else if (prev != NULL && prev->launch == next->launch &&
	    host_is_graph(h, next->launch))
		add_piece(f, gap->start_ns, gap->end_ns, CAUSE_GRAPH_GAP,
		    next->launch);
	else
		explain_launched(f, gap);
}

/* ---- corrections of pieces ---- */

static bool
is_step(const struct host *h, uint32_t event)
{
	return h->events.v[event].kind == KIND_ANNOTATION &&
	    (h->events.v[event].is_step ||
		steps_is_name(dict_get(h->dict, h->events.v[event].name)));
}

static enum cause
cause_of_left(const struct host *h, const struct gap_piece *p)
{
	if (p->end_ns - p->start_ns >= HOST_LONG_NS &&
	    (p->event == HOST_NONE || is_step(h, p->event)))
		return CAUSE_NONE;
	if (p->event == HOST_NONE ||
	    h->events.v[p->event].cause == CAUSE_ANNOTATED)
		return CAUSE_BETWEEN_OPS;
	return h->events.v[p->event].cause;
}

static bool
is_of_profiler(enum cause c)
{
	return c == CAUSE_BETWEEN_OPS || c == CAUSE_NONE || c == CAUSE_PYTHON ||
	    c == CAUSE_OP || c == CAUSE_WAIT || c == CAUSE_RUNTIME ||
	    c == CAUSE_LAUNCH_CALL || c == CAUSE_LATE_START;
}

/* Cuts out what the profiler's own cost covers. */
static void
cut_profiler(struct finder *f)
{
	const struct host *h = f->h;
	size_t n = f->g->pieces.n - f->first;
	VEC(struct gap_piece) old = { 0 };

	if (h->profiler.n == 0 || n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		vec_push(&old, f->g->pieces.v[f->first + i]);
	f->g->pieces.n = f->first;
	for (size_t i = 0; i < n; i++) {
		const struct gap_piece *p = &old.v[i];
		int64_t at = p->start_ns;
		size_t k;

		bisect(k, h->profiler.n, mid, h->profiler.v[mid].end_ns <= at);
		for (; is_of_profiler(p->cause) && k < h->profiler.n &&
		     h->profiler.v[k].start_ns < p->end_ns;
		     k++) {
			const struct host_segment *o = &h->profiler.v[k];
			int64_t from = o->start_ns > at ? o->start_ns : at;
			int64_t to =
			    o->end_ns < p->end_ns ? o->end_ns : p->end_ns;

			add_piece(f, at, from, p->cause, p->event);
			add_piece(f, from, to, CAUSE_PROFILER, o->event);
			at = to;
		}
		add_piece(f, at, p->end_ns, p->cause, p->event);
		f->g->pieces.v[f->g->pieces.n - 1].is_inferred |=
		    p->is_inferred;
	}
	vec_free(&old);
}

/* Long pieces of events that are usually short: an op's first call loads
 * libraries, others were stalled. */
static void
find_outlier(struct finder *f, struct gap_piece *p)
{
	struct host *h = f->h;
	const struct host_event *e;
	int64_t length = p->end_ns - p->start_ns, median;

	if (p->event == HOST_NONE)
		return;
	e = &h->events.v[p->event];
	/* duration tells that a launch loads code */
	p->is_inferred |= p->cause == CAUSE_MODULE_LOAD && e->ngpu > 0;
	if (p->cause == CAUSE_ALLOC && length >= FIRST_ALLOC_NS) {
		for (uint32_t up = e->up; up != HOST_NONE;
		     up = h->events.v[up].up)
			if (h->events.v[up].kind == KIND_OP &&
			    host_is_first_of_name(h, up)) {
				p->cause = CAUSE_INIT;
				p->is_inferred = true;
				return;
			}
		return;
	}
	if (p->cause != CAUSE_OP && p->cause != CAUSE_AUTOGRAD &&
	    p->cause != CAUSE_OPTIMIZER && p->cause != CAUSE_COMM_HOST &&
	    p->cause != CAUSE_RUNTIME && p->cause != CAUSE_LAUNCH_CALL)
		return;
	if (e->kind == KIND_OP && e->launches_below && length >= FIRST_OP_NS &&
	    host_is_first_of_name(h, p->event)) {
		p->cause = CAUSE_INIT;
		p->is_inferred = true;
		return;
	}
	median = host_median_of_name(f->h, e->name);
	if (median >= 0 && length / STALL_TIMES >= median) {
		p->cause = CAUSE_STALL;
		p->is_inferred = true;
	}
}

/* The largest of its pieces' causes; all of them have a length. */
static void
sum_up(const struct gaps *g, struct gap *gap)
{
	const struct gap_piece *v = g->pieces.v + gap->first;
	int64_t sums[CAUSE_COUNT] = { 0 };
	uint8_t causes[CAUSE_COUNT];
	size_t ncauses = 0;

	for (uint32_t i = 0; i < gap->n; i++) {
		if (sums[v[i].cause] == 0)
			causes[ncauses++] = v[i].cause;
		sums[v[i].cause] += v[i].end_ns - v[i].start_ns;
	}
	gap->cause_ns = 0;
	for (size_t i = 0; i < ncauses; i++)
		if (sums[causes[i]] > gap->cause_ns) {
			gap->cause = causes[i];
			gap->cause_ns = sums[causes[i]];
		}
}

static void
settle(struct finder *f, struct gap *gap)
{
	struct host *h = f->h;

	for (size_t i = f->first, n = f->g->pieces.n; i < n; i++) {
		struct gap_piece *p = &f->g->pieces.v[i];

		if (p->cause == LEFT)
			p->cause = (uint8_t)cause_of_left(h, p);
		else if (p->cause == CAUSE_SYNC &&
		    p->end_ns - p->start_ns > SYNC_NS)
			p->cause = CAUSE_GPU_MISSING;
	}
	cut_profiler(f);
	for (size_t i = f->first, n = f->g->pieces.n; i < n; i++) {
		struct gap_piece *p = &f->g->pieces.v[i];

		if (UNLIKELY(p->end_ns - p->start_ns >= HOST_LONG_NS))
			find_outlier(f, p);
	}
	gap->first = (uint32_t)f->first;
	gap->n = (uint32_t)(f->g->pieces.n - f->first);
	sum_up(f->g, gap);
}

/* ---- the event to blame ---- */

static int
by_event(const void *x, const void *y)
{
	const struct gap_piece *a = x, *b = y;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

uint32_t
gap_culprit(struct gaps *g, const struct host *h, const struct gap *gap)
{
	const struct gap_piece *v, *best = NULL;
	int64_t most = 0;

	if (gap->n == 0)
		return HOST_NONE;
	v = g->pieces.v + gap->first;
	g->room.n = 0;
	for (uint32_t i = 0; i < gap->n; i++)
		if (v[i].cause == gap->cause) {
			vec_push(&g->room, v[i]);
			g->room.v[g->room.n - 1].event =
			    host_culprit(h, v[i].event, v[i].cause);
		}
	if (g->room.n > 1)
		stable_sort(g->room.v, g->room.n, sizeof *g->room.v, by_event);
	for (size_t i = 0, k; i < g->room.n; i = k) {
		const struct gap_piece *first = &g->room.v[i];
		int64_t ns = 0;

		for (k = i; k < g->room.n && g->room.v[k].event == first->event;
		     k++)
			ns += g->room.v[k].end_ns - g->room.v[k].start_ns;
		if (best != NULL &&
		    (ns < most ||
			(ns == most && first->start_ns >= best->start_ns)))
			continue;
		most = ns;
		best = first;
	}
	return best != NULL ? best->event : HOST_NONE;
}

/* ---- what opened it ---- */

/* The call that covers a gap's start and used up the host's lead. */
static uint32_t
find_opener(struct finder *f, const struct gap *gap)
{
	const struct host *h = f->h;
	const struct host_event *r;
	uint32_t launch;

	if (gap->next == HOST_NONE || gap->prev == HOST_NONE)
		return HOST_NONE;
	launch = h->gpus.v[gap->next].launch;
	if (launch == HOST_NONE)
		return HOST_NONE;
	r = &h->events.v[launch];
	if (r->start_ns <= gap->start_ns &&
	    !(cause_blocks(r->cause) && r->end_ns > gap->start_ns))
		return HOST_NONE;
	blocked_in(&f->blocked, gap->start_ns, gap->end_ns);
	return blocked_call_at(&f->blocked, r->thread, gap->start_ns);
}

/* ---- all ---- */

static void
add_gap(
    struct finder *f, int64_t from, int64_t to, uint32_t prev, uint32_t next)
{
	struct gap gap = { .start_ns = from,
		.end_ns = to,
		.prev = prev,
		.next = next,
		.awaited = HOST_NONE };

	if (from >= to || to - from < f->g->min_ns)
		return;
	f->first = f->g->pieces.n;
	explain(f, &gap);
	if (!f->g->without_causes) {
		settle(f, &gap);
		gap.opened_by = find_opener(f, &gap);
	}
	vec_push(&f->g->list, gap);
}

void
gaps_find(struct gaps *g, struct host *h, const uint32_t *gpus, size_t n,
    const struct span *window)
{
	struct finder f = { .g = g, .h = h };
	uint32_t prev = HOST_NONE;  /* the one so far that ends last */
	uint32_t point = HOST_NONE; /* and the last one without duration */
	int64_t end = window != NULL ? window->start : INT64_MAX;

	blocked_start(&f.blocked, h);
	g->list.n = g->pieces.n = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t no = gpus != NULL ? gpus[i] : (uint32_t)i;
		const struct host_gpu *k = &h->gpus.v[no];

		if (k->end_ns <= k->start_ns) {
			/* it splits no gap, but one may begin or end there */
			point = no;
			if (window != NULL || prev != HOST_NONE)
				continue;
		}
		if (k->start_ns > end)
			add_gap(&f, end, k->start_ns, prev, no);
		if (prev == HOST_NONE || k->end_ns > h->gpus.v[prev].end_ns) {
			prev = no;
			end = k->end_ns;
		}
	}
	if (window != NULL && prev != HOST_NONE && window->end > end)
		add_gap(&f, end, window->end, prev, HOST_NONE);
	if (window == NULL && point != HOST_NONE)
		add_gap(&f, end, h->gpus.v[point].start_ns, prev, point);
	blocked_end(&f.blocked);
}

/* The part of a gap in a span; appended to those cut so far. */
static void
cut_gap(struct gaps *to, const struct gaps *from, const struct gap *gap,
    struct span in)
{
	struct gap part = *gap;

	part.start_ns = gap->start_ns > in.start ? gap->start_ns : in.start;
	part.end_ns = gap->end_ns < in.end ? gap->end_ns : in.end;
	if (part.start_ns >= part.end_ns)
		return;
	/* the call that opened it did so earlier */
	if (part.start_ns > gap->start_ns)
		part.opened_by = HOST_NONE;
	part.first = (uint32_t)to->pieces.n;
	for (uint32_t i = gap->first; i < gap->first + gap->n; i++) {
		struct gap_piece p = from->pieces.v[i];

		p.start_ns =
		    p.start_ns > part.start_ns ? p.start_ns : part.start_ns;
		p.end_ns = p.end_ns < part.end_ns ? p.end_ns : part.end_ns;
		if (p.start_ns < p.end_ns)
			vec_push(&to->pieces, p);
	}
	part.n = (uint32_t)(to->pieces.n - part.first);
	sum_up(to, &part);
	vec_push(&to->list, part);
}

void
gaps_cut(struct gaps *g, const struct spans *within)
{
	struct gaps all = *g;
	size_t at = 0;

	*g = (struct gaps){ 0 };
	for (size_t i = 0; i < all.list.n; i++) {
		const struct gap *gap = &all.list.v[i];

		while (at < within->n && within->v[at].end <= gap->start_ns)
			at++;
		for (size_t k = at;
		     k < within->n && within->v[k].start < gap->end_ns; k++)
			cut_gap(g, &all, gap, within->v[k]);
	}
	gaps_free(&all);
}

void
gaps_free(struct gaps *g)
{
	vec_free(&g->list);
	vec_free(&g->pieces);
	vec_free(&g->room);
}
