/* SPDX-License-Identifier: MIT */
/*
 * What launching costs the host.
 *
 * A launch is late when its call began after the GPU had run dry: when what it
 * launched ends a gap (trace/gap.h). A run is a series of late launches of one
 * thread, close to each other, whose work is shorter than the time from one
 * launch to the next: there the host is the limit.
 */
#include "cmd/tl-launch/cost.h"

#define RUN_LAUNCHES 20  /* late ones, at least */
#define RUN_INTERVALS 10 /* from a late launch to the next one, at most */

/* ---- medians ---- */

int64_t
median_of(ns_list *list)
{
	int64_t v = SINK_NONE;

	if (list->n > 0) {
		sort_i64(list->v, list->n);
		v = list->v[list->n / 2];
	}
	vec_free(list);
	return v;
}

int64_t
median_interval(const struct finder *f, const struct launch *v, size_t n)
{
	ns_list list = { 0 };

	for (size_t i = 1; i < n; i++) {
		const struct host_event *a = call_of(f, &v[i - 1]);
		const struct host_event *b = call_of(f, &v[i]);

		if (a->thread == b->thread)
			vec_push(&list, b->start_ns - a->start_ns);
	}
	return median_of(&list);
}

int64_t
median_work(const struct launch *v, size_t n)
{
	ns_list list = { 0 };

	for (size_t i = 0; i < n; i++)
		vec_push(&list, v[i].work_ns);
	return median_of(&list);
}

/* ---- launches ---- */

static int
by_launch(const void *x, const void *y)
{
	const struct host_gpu *a = *(const struct host_gpu *const *)x;
	const struct host_gpu *b = *(const struct host_gpu *const *)y;

	return (a->launch > b->launch) - (a->launch < b->launch);
}

/* GPU events are in time, so that those of one launch are, too. */
static int64_t
busy_ns(const struct host_gpu *const *v, size_t n)
{
	int64_t end = v[0]->start_ns, ns = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t from = v[i]->start_ns > end ? v[i]->start_ns : end;

		if (v[i]->end_ns > from) {
			ns += v[i]->end_ns - from;
			end = v[i]->end_ns;
		}
	}
	return ns;
}

static void
find_launches(struct finder *f)
{
	const struct host *h = f->h;

	for (size_t i = 0; i < h->gpus.n; i++) {
		const struct host_gpu *k = &h->gpus.v[i];

		if (k->launch != HOST_NONE &&
		    map_get(&f->g->chosen, uid_hash(k->uid)) != NULL)
			vec_push(&f->gpus, k);
	}
	stable_sort(f->gpus.v, f->gpus.n, sizeof *f->gpus.v, by_launch);
	for (size_t i = 0, n; i < f->gpus.n; i += n) {
		const struct host_gpu *const *v = f->gpus.v + i;

		for (n = 1; i + n < f->gpus.n && v[n]->launch == v[0]->launch;)
			n++;
		vec_push(&f->launches,
		    ((struct launch){ v[0]->launch, (uint32_t)i, (uint32_t)n,
			busy_ns(v, n), false }));
	}
}

static void
mark_late(struct finder *f)
{
	for (size_t i = 0; i < f->gaps.list.n; i++) {
		const struct gap *gap = &f->gaps.list.v[i];
		uint32_t event = gap->next != HOST_NONE
		    ? f->h->gpus.v[gap->next].launch
		    : HOST_NONE;
		size_t at;

		if (event == HOST_NONE ||
		    f->h->events.v[event].start_ns <= gap->start_ns)
			continue;
		bisect(
		    at, f->launches.n, mid, f->launches.v[mid].event < event);
		if (at == f->launches.n || f->launches.v[at].event != event)
			continue; /* not chosen */
		f->launches.v[at].is_late = true;
		f->cost.nlate++;
	}
}

/* ---- layers ---- */

/* A thread at rest has no layer, and one that waits for the backward pass of
 * another thread waits. */
static enum cause
layer_of(const struct host_event *e)
{
	if (e->cause == CAUSE_NOTHING || e->cause == CAUSE_ANNOTATED)
		return CAUSE_BETWEEN_OPS;
	if (e->cause == CAUSE_AUTOGRAD && e->kind == KIND_PYTHON)
		return CAUSE_WAIT;
	return e->cause;
}

/* Adds up what a thread did from one launch to another, with their calls. */
static void
add_layers(const struct finder *f, const struct launch *first,
    const struct launch *last, struct layers *to)
{
	const struct host *h = f->h;
	const struct host_thread *t = &h->threads.v[call_of(f, first)->thread];
	int64_t from = call_of(f, first)->start_ns;
	int64_t end = call_of(f, last)->end_ns, rest = end - from;

	for (size_t i = host_segment_at(h, t, from); i < t->nsegs; i++) {
		const struct host_segment *s = &h->segs.v[t->first_seg + i];
		int64_t a = s->start_ns > from ? s->start_ns : from;
		int64_t b = s->end_ns < end ? s->end_ns : end;

		if (a >= b)
			break;
		stat_add(&to->ns[layer_of(&h->events.v[s->event])], b - a);
		rest -= b - a;
	}
	stat_add(&to->ns[CAUSE_BETWEEN_OPS], rest);
	to->nlaunches += last - first + 1;
}

static void
add_layer_records(struct finder *f, const char *over, const struct layers *l)
{
	struct intern *text = f->g->sink.dict->text;
	int64_t sum = 0;

	for (unsigned i = 0; i < CAUSE_COUNT; i++)
		stat_add(&sum, l->ns[i]);
	for (unsigned i = 0; i < CAUSE_COUNT; i++) {
		struct launch_record *r;

		if (l->ns[i] == 0)
			continue;
		r = launch_add(f->g, IS_LAYER);
		r->op = intern_put(text, str_of(over));
		r->name = intern_put(text, str_of(cause_words[i]));
		r->api_ns = l->ns[i];
		r->queue_ns = sum;
		r->real = (double)l->ns[i] / (double)l->nlaunches;
	}
}

/* ---- runs ---- */

static bool
is_same_thread(
    const struct finder *f, const struct launch *a, const struct launch *b)
{
	return call_of(f, a)->thread == call_of(f, b)->thread;
}

/* Whether a late launch follows another one closely. */
static bool
follows(const struct finder *f, const struct launch *a, const struct launch *b)
{
	int64_t most;

	if (!is_same_thread(f, a, b))
		return false;
	if (__builtin_mul_overflow(
		f->cost.pace.interval_ns, RUN_INTERVALS, &most))
		return true;
	return call_of(f, b)->start_ns - call_of(f, a)->start_ns <= most;
}

static void
add_run(struct finder *f, const struct launch *v, size_t n, size_t nlate,
    struct layers *to)
{
	struct span window;
	int64_t interval_ns;

	if (nlate < RUN_LAUNCHES)
		return;
	interval_ns = median_interval(f, v, n);
	if (median_work(v, n) >= interval_ns)
		return;
	window = (struct span){ call_of(f, v)->start_ns,
		call_of(f, &v[n - 1])->end_ns };
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = v[i].first; k < v[i].first + v[i].n; k++)
			if (f->gpus.v[k]->end_ns > window.end)
				window.end = f->gpus.v[k]->end_ns;
	add_layers(f, v, &v[n - 1], to);
	graph_add(f, "run", (struct key){ 0, KEY_NONE }, v, n, window);
}

static void
find_runs(struct finder *f, struct layers *to)
{
	const struct launch *first = NULL, *last = NULL;
	size_t nlate = 0;

	for (size_t i = 0; i < f->launches.n; i++) {
		const struct launch *l = &f->launches.v[i];

		if (!l->is_late)
			continue;
		if (last != NULL && !follows(f, last, l)) {
			add_run(
			    f, first, (size_t)(last - first) + 1, nlate, to);
			last = NULL;
		}
		if (last == NULL) {
			first = l;
			nlate = 0;
		}
		last = l;
		nlate++;
	}
	if (last != NULL)
		add_run(f, first, (size_t)(last - first) + 1, nlate, to);
}

/* ---- steps ---- */

/* Launches by the step that they are in. */
struct in_step {
	uint32_t window;
	struct launch launch;
};

static int
by_step(const void *x, const void *y)
{
	const struct in_step *a = x, *b = y;

	return (a->window > b->window) - (a->window < b->window);
}

static void
add_steps(struct finder *f)
{
	VEC(struct in_step) list = { 0 };
	VEC(struct launch) one = { 0 };

	for (size_t i = 0; i < f->launches.n; i++) {
		uint32_t window =
		    steps_window_of(&f->steps, f->h, f->launches.v[i].event);

		if (window != STEPS_NONE &&
		    f->steps.list.v[window].what == STEP_IS_STEP)
			vec_push(&list,
			    ((struct in_step){ window, f->launches.v[i] }));
	}
	stable_sort(list.v, list.n, sizeof *list.v, by_step);
	for (size_t i = 0; i < list.n; i++) {
		const struct step_window *w =
		    &f->steps.list.v[list.v[i].window];

		vec_push(&one, list.v[i].launch);
		if (i + 1 < list.n && list.v[i + 1].window == list.v[i].window)
			continue;
		graph_add(f, "step", step_key(w, f->g->sink.dict), one.v, one.n,
		    (struct span){ w->start_ns, w->end_ns });
		one.n = 0;
	}
	vec_free(&list);
	vec_free(&one);
}

/* ---- all ---- */

static void
add_cost(struct finder *f)
{
	struct launch_record *r = launch_add(f->g, IS_COST);

	r->rec.uid = call_of(f, &f->launches.v[0])->uid;
	r->ngpu = f->cost.pace.ngpu;
	r->more = (uint32_t)f->g->costs.n;
	vec_push(&f->g->costs, f->cost);
}

static void
look(struct finder *f)
{
	struct layers all = { 0 }, runs = { 0 };
	const struct launch *v = f->launches.v;
	size_t n = f->launches.n, first = 0;

	f->cost.pace.nlaunches = (int64_t)n;
	f->cost.pace.ngpu = (int64_t)f->gpus.n;
	f->cost.pace.interval_ns = median_interval(f, v, n);
	f->cost.pace.work_ns = median_work(v, n);
	mark_late(f);
	graph_terms(f);
	find_runs(f, &runs);
	add_steps(f);
	for (size_t i = 0; i < n; i++)
		if (i + 1 == n || !is_same_thread(f, &v[i], &v[i + 1])) {
			add_layers(f, &v[first], &v[i], &all);
			first = i + 1;
		}
	add_layer_records(f, "all", &all);
	add_layer_records(f, "runs", &runs);
	add_cost(f);
}

void
cost_find(struct program *g)
{
	struct finder f = { .g = g, .h = &g->host };
	VEC(uint32_t) gpus = { 0 };

	host_ready(&g->host);
	steps_find(&f.steps, &g->host, NULL, 0);
	for (uint32_t i = 0; i < g->host.gpus.n; i++)
		vec_push(&gpus, i);
	account_find(&f.account, &f.gaps, &g->host, gpus.v, gpus.n, &f.steps);
	find_launches(&f);
	if (f.launches.n > 0)
		look(&f);
	vec_free(&gpus);
	gaps_free(&f.gaps);
	steps_free(&f.steps);
	vec_free(&f.gpus);
	vec_free(&f.launches);
}
