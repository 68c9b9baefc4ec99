/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "trace/host-inside.h"
#include "trace/process.h"
#include "trace/step.h"

#define KINDS_NESTED                                                      \
	(KINDS_HOST | KIND_BIT(KIND_PYTHON) | KIND_BIT(KIND_ANNOTATION) | \
	    KIND_BIT(KIND_OVERHEAD))

#define FEW_RUNS 8 /* up to here a merge sort is as fast */

/* ---- reading ---- */

void
host_start(struct host *h, const struct dict *dict, struct causes *causes)
{
	h->dict = dict;
	h->causes = causes;
	h->events.n = h->gpus.n = h->threads.n = h->notes.n = 0;
	h->profiler.n = h->annotations.n = h->may_wait.n = h->steps.n = 0;
	h->ascents.n = 0;
	h->first_corr = INT64_MAX;
	h->whole = (struct span){ INT64_MAX, INT64_MIN };
	h->track = UINT32_MAX;
	map_free(&h->thread_of);
	map_free(&h->ids);
	map_free(&h->step_numbers);
	map_free(&h->calls);
	map_free(&h->first_of);
	map_free(&h->median_of);
	h->self_ends.n = h->nruns = 0;
	free(h->busy);
	h->busy = NULL;
	h->blocking.n = 0;
	h->has_begun = h->by_corr = h->has_time = h->knows_blocking = false;
}

static uint64_t
corr_bits(struct key corr)
{
	return (uint64_t)corr.n << 2 | corr.type;
}

/* A different thread than that of the previous event. */
static void
set_thread(struct host *h, uint32_t track)
{
	const struct track *t = &h->dict->tracks.v[track];
	bool is_new;
	uint64_t *slot;

	h->track = track;
	h->is_nowhere = track_is_nowhere(t);
	if (h->is_nowhere)
		return;
	slot = map_put(&h->thread_of, dict_thread(h->dict, track), &is_new);
	if (is_new) {
		*slot = h->threads.n;
		vec_push(&h->threads,
		    ((struct host_thread){ .track = dict_thread(h->dict, track),
			.note_ns = INT64_MAX }));
	}
	h->nruns++;
	h->thread = (uint32_t)*slot;
}

static inline void
widen(struct span *whole, int64_t start_ns, int64_t end_ns)
{
	whole->start = start_ns < whole->start ? start_ns : whole->start;
	whole->end = end_ns > whole->end ? end_ns : whole->end;
}

static void
add_gpu(struct host *h, const struct event *ev, int64_t end)
{
	/* of a grafted call: the id of the graph's */
	struct uid launch = { .id = ev->launch.id };
	uint32_t no = (uint32_t)h->gpus.n;

	vec_push(&h->gpus,
	    ((struct host_gpu){
		.start_ns = ev->ts_ns,
		.end_ns = end,
		.uid = ev->uid,
		.dev = ev->dev,
		.gpu_stream = ev->gpu_stream,
		.corr = ev->corr,
		.name = ev->name,
		.cat = ev->track,
		.launch = HOST_NONE,
		.awaits = HOST_NONE,
		.no = no,
		.launch_id = uid_hash(launch),
		.kind = ev->shape->kind,
		.has_launch = (ev->shape->has & HAS_LAUNCH) != 0 &&
		    (ev->flags & EV_UNLINKED) == 0,
	    }));
}

static int
by_time(int64_t start_a, int64_t end_a, struct uid a, int64_t start_b,
    int64_t end_b, struct uid b)
{
	if (start_a != start_b)
		return start_a < start_b ? -1 : 1;
	if (end_a != end_b)
		return end_a > end_b ? -1 : 1;
	return uid_cmp(a, b);
}

static int
event_order(const void *x, const void *y)
{
	const struct host_event *a = x, *b = y;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start_ns == b->start_ns && a->end_ns == b->end_ns &&
	    a->is_hlo != b->is_hlo)
		return a->is_hlo ? -1 : 1;
	return by_time(
	    a->start_ns, a->end_ns, a->uid, b->start_ns, b->end_ns, b->uid);
}

/* Whether an ascent ended before the last event: nearly always it is the next
 * of its thread to begin. */
static inline void
check_order(struct host *h)
{
	const struct host_event *e = &h->events.v[h->events.n - 1];

	if (h->events.n > 1 &&
	    UNLIKELY(
		e[-1].start_ns >= e->start_ns || e[-1].thread != e->thread) &&
	    event_order(e - 1, e) > 0)
		vec_push(&h->ascents, h->events.n - 1);
}

/* A thread's next annotation, and when it begins. */
static void
set_note(struct host *h, struct host_thread *t, uint32_t note)
{
	t->note = note;
	t->note_ns = note < t->note_end ? h->notes.v[note].start_ns : INT64_MAX;
}

/*
 * The prologue has the annotations of all threads. Each goes before the event
 * of its thread that begins next, so that sorting moves few events.
 */
static void
begin(struct host *h)
{
	h->has_begun = true;
	stable_sort(h->notes.v, h->notes.n, sizeof *h->notes.v, event_order);
	for (uint32_t i = 0; i < h->notes.n; i++) {
		struct host_thread *t = &h->threads.v[h->notes.v[i].thread];

		if (t->note_end == 0)
			t->note = i;
		t->note_end = i + 1;
		set_note(h, t, t->note);
	}
}

/* Not inline, as it is rare. */
static __attribute__((noinline)) void
add_notes(struct host *h, struct host_thread *t, int64_t until_ns)
{
	while (t->note < t->note_end && t->note_ns <= until_ns) {
		vec_push(&h->events, h->notes.v[t->note]);
		check_order(h);
		set_note(h, t, t->note + 1);
	}
}

/* Marks are rare: set apart, which takes half the time. */
static inline void
set_event(struct host_event *to, const struct host *h,
    const struct event_head *e, const struct shape *shape, int64_t end)
{
	*to = (struct host_event){ .start_ns = e->ts_ns,
		.end_ns = end,
		.uid = e->uid,
		.name = e->name,
		.thread = h->thread,
		.up = HOST_NONE,
		.kind = shape->kind };
	if (UNLIKELY(shape->is_hlo))
		to->is_hlo = true;
	if (UNLIKELY((e->flags & (EV_STEP | EV_SLOWEST)) != 0)) {
		to->is_step = (e->flags & EV_STEP) != 0;
		to->is_slowest = (e->flags & EV_SLOWEST) != 0;
	}
}

/* Counts an event of the current thread. */
static inline struct host_thread *
count(struct host *h, const struct event_head *e, const struct shape *shape)
{
	const unsigned rest = KIND_BIT(KIND_PYTHON) | KIND_BIT(KIND_OVERHEAD);
	struct host_thread *t = &h->threads.v[h->thread];

	t->n++;
	t->nevents += (rest >> shape->kind & 1) ^ 1;
	if ((KIND_BIT(shape->kind) & KINDS_LAUNCH) != 0 && e->has_corr &&
	    e->corr < h->first_corr)
		h->first_corr = e->corr;
	return t;
}

/* Adds an event of the current thread, after its annotations. */
static inline void
add_head(struct host *h, const struct event_head *e, const struct shape *shape,
    int64_t end)
{
	struct host_thread *t = count(h, e, shape);

	if (UNLIKELY(t->note_ns <= e->ts_ns))
		add_notes(h, t, e->ts_ns);
	set_event(vec_add(&h->events), h, e, shape, end);
	check_order(h);
}

static void
add_host(struct host *h, const struct event *ev, int64_t end)
{
	const struct event_head head = event_head_of(ev);
	int64_t number;

	if (ev->shape->kind == KIND_ANNOTATION &&
	    step_of_args(h->dict, ev, &number))
		*map_put(&h->step_numbers, uid_hash(ev->uid), NULL) =
		    (uint64_t)number;
	if (h->by_corr && event_is(ev, KINDS_LAUNCH) &&
	    ev->corr.type != KEY_NONE)
		*map_put(&h->calls, corr_bits(ev->corr), NULL) =
		    uid_hash(ev->uid);
	if (!h->has_begun && ev->shape->kind == KIND_ANNOTATION) {
		(void)count(h, &head, ev->shape);
		set_event(vec_add(&h->notes), h, &head, ev->shape, end);
		return;
	}
	if (!h->has_begun)
		begin(h);
	add_head(h, &head, ev->shape, end);
}

static void
add_step(struct host *h, const struct event *ev, int64_t end)
{
	struct host_step step = { .start_ns = ev->ts_ns,
		.end_ns = end,
		.said = step_inferred_of(h->dict, ev),
		.track = dict_thread(h->dict, ev->track),
		.is_slowest = (ev->flags & EV_SLOWEST) != 0 };

	if ((ev->flags & EV_STEP) != 0 &&
	    step_of_args(h->dict, ev, &step.number))
		vec_push(&h->steps, step);
}

void
host_add(struct host *h, const struct event *ev)
{
	bool is_gpu = event_is(ev, KINDS_GPU);
	int64_t end;

	if (!event_is(ev, KINDS_GPU | KINDS_NESTED) ||
	    !host_counts(
		ev->shape->has, ev->flags, ev->ts_ns, ev->dur_ns, &end))
		return;
	if (UNLIKELY(ev->shape->is_inferred)) {
		add_step(h, ev, end);
		return;
	}
	if (!is_gpu && ev->track != h->track)
		set_thread(h, ev->track);
	if (!is_gpu && h->is_nowhere)
		return;
	widen(&h->whole, ev->ts_ns, end);
	if (is_gpu)
		add_gpu(h, ev, end);
	else
		add_host(h, ev, end);
}

void
host_add_heads(struct host *h, const struct event_head *v, size_t n)
{
	struct shape *const *shapes = h->dict->shapes.v;
	struct span whole = h->whole;

	if (!h->has_begun)
		begin(h);
	for (size_t i = 0; i < n; i++) {
		const struct event_head *e = &v[i];
		const struct shape *shape = shapes[e->shape];
		int64_t end;

		if (!host_counts(
			shape->has, e->flags, e->ts_ns, e->dur_ns, &end))
			continue;
		if (UNLIKELY(e->track != h->track))
			set_thread(h, e->track);
		if (UNLIKELY(h->is_nowhere))
			continue;
		widen(&whole, e->ts_ns, end);
		add_head(h, e, shape, end);
	}
	h->whole = whole;
}

/* ---- order ---- */

/* Many runs are merged in one pass. */
static void
sort_by_thread(struct host *h)
{
	struct host_event *sorted = xmalloc(h->events.n * sizeof *sorted + 1);

	for (size_t i = 0; i < h->threads.n; i++)
		h->threads.v[i].n = 0;
	for (size_t i = 0; i < h->events.n; i++) {
		const struct host_event *e = &h->events.v[i];
		struct host_thread *t = &h->threads.v[e->thread];

		sorted[t->first + t->n++] = *e;
	}
	vec_release(h->events.v);
	h->events.v = sorted;
	h->events.cap = h->events.n;
}

/* moved: the ascents are no more where they were. */
static void
sort_events(struct host *h, bool moved)
{
	uint32_t first = 0;

	for (size_t i = 0; i < h->threads.n; i++) {
		h->threads.v[i].first = first;
		first += h->threads.v[i].n;
	}
	if (h->ascents.n == 0)
		return;
	vec_push(&h->ascents, h->events.n);
	if (h->nruns > FEW_RUNS && h->ascents.n > FEW_RUNS) {
		sort_by_thread(h);
		moved = true;
	}
	if (moved)
		stable_sort(
		    h->events.v, h->events.n, sizeof *h->events.v, event_order);
	else
		stable_merge(h->events.v, sizeof *h->events.v, event_order,
		    h->ascents.v, h->ascents.n);
}

static int
gpu_order(const void *x, const void *y)
{
	const struct host_gpu *a = x, *b = y;

	return by_time(
	    a->start_ns, a->end_ns, a->uid, b->start_ns, b->end_ns, b->uid);
}

/* Frames of a GPU stream's row do not belong to the host. Whether any were
 * there. */
static bool
drop(struct host *h)
{
	struct map rows = { 0 };
	bool any = false;
	size_t kept = 0;

	for (size_t i = 0; i < h->gpus.n; i++)
		map_put(&rows, dict_thread(h->dict, h->gpus.v[i].cat), NULL);
	for (size_t i = 0; i < h->threads.n; i++)
		any |= map_get(&rows, h->threads.v[i].track) != NULL;
	for (size_t i = 0; any && i < h->events.n; i++) {
		const struct host_event *e = &h->events.v[i];
		struct host_thread *t = &h->threads.v[e->thread];

		if (e->kind == KIND_PYTHON && map_get(&rows, t->track) != NULL)
			t->n--;
		else
			h->events.v[kept++] = *e;
	}
	if (any)
		h->events.n = kept;
	map_free(&rows);
	return any;
}

/* The calls that launched, by id or, by_corr, by correlation. */
static void
link_gpus(struct host *h)
{
	for (size_t i = 0; i < h->gpus.n; i++) {
		struct host_gpu *g = &h->gpus.v[i];
		const uint64_t *id = map_get(&h->calls, corr_bits(g->corr));

		if (h->by_corr) {
			g->has_launch = id != NULL;
			g->launch_id = id != NULL ? *id : 0;
		}
		if (g->has_launch)
			*map_put(&h->ids, g->launch_id, NULL) = HOST_NONE;
	}
	for (size_t i = 0, n = h->ids.n > 0 ? h->events.n : 0; i < n; i++) {
		const struct host_event *e = &h->events.v[i];
		uint64_t *at =
		    is_call(e) ? map_get(&h->ids, uid_hash(e->uid)) : NULL;

		if (at != NULL)
			*at = i;
	}
	for (size_t i = 0; i < h->gpus.n; i++) {
		struct host_gpu *g = &h->gpus.v[i];
		struct host_event *e;

		if (g->has_launch)
			g->launch = (uint32_t)*map_get(&h->ids, g->launch_id);
		if (g->launch == HOST_NONE)
			continue;
		e = &h->events.v[g->launch];
		e->ngpu++;
		h->threads.v[e->thread].nlaunched++;
	}
	map_free(&h->ids);
	map_free(&h->calls);
}

/* ---- threads ---- */

static int
key_order(const struct dict *st, struct key a, struct key b)
{
	char x[24], y[24];
	struct str s = { x, 0 }, t = { y, 0 };

	if (a.type == KEY_STR)
		s = dict_get(st, (uint32_t)a.n);
	else
		s.len = (size_t)snprintf(x, sizeof x, "%" PRId64, a.n);
	if (b.type == KEY_STR)
		t = dict_get(st, (uint32_t)b.n);
	else
		t.len = (size_t)snprintf(y, sizeof y, "%" PRId64, b.n);
	return str_cmp(s, t);
}

/* A thread, and texts for ties. */
struct asked {
	struct host_thread thread;
	const struct dict *dict;
};

static int
asked_order(const void *x, const void *y)
{
	const struct host_thread *a = &((const struct asked *)x)->thread;
	const struct host_thread *b = &((const struct asked *)y)->thread;
	const struct dict *st = ((const struct asked *)x)->dict;
	const struct track *s = &st->tracks.v[a->track];
	const struct track *t = &st->tracks.v[b->track];
	int order;

	if (a->nlaunched != b->nlaunched)
		return a->nlaunched > b->nlaunched ? -1 : 1;
	if (a->nevents != b->nevents)
		return a->nevents > b->nevents ? -1 : 1;
	order = key_order(st, s->pid, t->pid);
	return order != 0 ? order : key_order(st, s->tid, t->tid);
}

/* Threads that launch most first; events get the new numbers later. */
static void
order_threads(struct host *h)
{
	VEC(struct asked) all = { 0 };

	for (size_t i = 0; i < h->threads.n; i++)
		vec_push(&all, ((struct asked){ h->threads.v[i], h->dict }));
	stable_sort(all.v, all.n, sizeof *all.v, asked_order);
	for (size_t i = 0; i < all.n; i++) {
		h->threads.v[i] = all.v[i].thread;
		*map_get(&h->thread_of, h->threads.v[i].track) = i;
	}
	vec_free(&all);
}

void
host_ready(struct host *h)
{
	int64_t span;

	/* from here on durations are differences of times */
	if (h->whole.start <= h->whole.end &&
	    __builtin_sub_overflow(h->whole.end, h->whole.start, &span))
		die("events span more than 292 years");
	if (!h->has_begun)
		begin(h);
	for (size_t i = 0; i < h->threads.n; i++)
		add_notes(h, &h->threads.v[i], INT64_MAX);
	sort_events(h, drop(h));
	stable_sort(h->gpus.v, h->gpus.n, sizeof *h->gpus.v, gpu_order);
	link_gpus(h);
	order_threads(h);
	host_nest(h);
	host_free_above(h);
	h->above = xcalloc(1, sizeof *h->above);
}

void
host_free(struct host *h)
{
	vec_free(&h->events);
	vec_free(&h->notes);
	vec_free(&h->ascents);
	vec_free(&h->gpus);
	vec_free(&h->threads);
	vec_free(&h->profiler);
	vec_free(&h->annotations);
	vec_free(&h->steps);
	vec_free(&h->may_wait);
	vec_free(&h->selfs);
	vec_free(&h->self_ends);
	free(h->busy);
	h->busy = NULL;
	vec_free(&h->blocking);
	map_free(&h->median_of);
	host_free_above(h);
	map_free(&h->first_of);
	map_free(&h->thread_of);
	map_free(&h->ids);
	map_free(&h->step_numbers);
	map_free(&h->calls);
}
