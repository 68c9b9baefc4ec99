/* SPDX-License-Identifier: MIT */
/*
 * What launching costs the host.
 *
 * A launch is late if its call began after the GPU ran dry: its work ends a gap
 * (trace/gap.h). A run is a series of late launches of one thread, close
 * together, whose work is shorter than the launch interval: there the host is
 * the limit.
 */
#include "cmd/tl-launch/cost.h"

#define RUN_LAUNCHES 20  /* minimum of late launches */
#define RUN_INTERVALS 10 /* maximum from one late launch to the next */

/* ---- layers ---- */

/* A thread at rest is between ops; one that waits for the backward pass
 * waits. */
static enum cause
layer_of(const struct host_event *e)
{
	if (e->cause == CAUSE_NOTHING || e->cause == CAUSE_ANNOTATED)
		return CAUSE_BETWEEN_OPS;
	if (e->cause == CAUSE_AUTOGRAD && e->kind == KIND_PYTHON)
		return CAUSE_WAIT;
	return e->cause;
}

/* Sums what a thread did from one launch to another, both calls included. */
static void
add_layers(const struct finder *f, const struct launch *first,
    const struct launch *last, struct layers *to)
{
	const struct host *h = f->h;
	const struct host_thread *t = &h->threads.v[call_of(f, first)->thread];
	int64_t from = call_of(f, first)->start_ns;
	int64_t end = call_of(f, last)->end_ns, rest = end - from;

	struct host_parts p = host_parts_of(h, t, from, end);

	while (host_parts_next(&p)) {
		if (p.event == HOST_NONE)
			continue;
		stat_add(&to->ns[layer_of(&h->events.v[p.event])],
		    p.end_ns - p.start_ns);
		rest -= p.end_ns - p.start_ns;
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

/* Whether a late launch is close enough to the one before to be in its run. */
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
	interval_ns = launches_interval(f->h, v, n);
	if (launches_work(v, n) >= interval_ns)
		return;
	window = (struct span){ call_of(f, v)->start_ns,
		call_of(f, &v[n - 1])->end_ns };
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = v[i].first; k < v[i].first + v[i].n; k++)
			if (gpu_of(f, k)->end_ns > window.end)
				window.end = gpu_of(f, k)->end_ns;
	add_layers(f, v, &v[n - 1], to);
	graph_add(f, "run", (struct key){ 0, KEY_NONE }, v, n, window);
}

static void
find_runs(struct finder *f, struct layers *to)
{
	const struct launch *first = NULL, *last = NULL;
	size_t nlate = 0;

	for (size_t i = 0; i < f->launches.list.n; i++) {
		const struct launch *l = &f->launches.list.v[i];

		if (!l->is_starved)
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

/* The launches of a step. */
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

	for (size_t i = 0; i < f->launches.list.n; i++) {
		uint32_t window = steps_window_of(
		    &f->steps, f->h, f->launches.list.v[i].event);

		if (window != STEPS_NONE &&
		    f->steps.list.v[window].what == STEP_IS_STEP)
			vec_push(&list,
			    ((struct in_step){
				window, f->launches.list.v[i] }));
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

	r->rec.uid = call_of(f, &f->launches.list.v[0])->uid;
	r->ngpu = f->cost.pace.ngpu;
	r->more = (uint32_t)f->g->costs.n;
	vec_push(&f->g->costs, f->cost);
}

static void
look(struct finder *f)
{
	struct layers all = { 0 }, runs = { 0 };
	const struct launch *v = f->launches.list.v;
	size_t n = f->launches.list.n, first = 0;

	f->cost.pace.nlaunches = (int64_t)n;
	f->cost.pace.ngpu = (int64_t)f->launches.gpus.n;
	f->cost.pace.interval_ns = launches_interval(f->h, v, n);
	f->cost.pace.work_ns = launches_work(v, n);
	launches_starve(&f->launches, f->h, &f->gaps);
	f->cost.nlate = (int64_t)f->launches.nstarved;
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
	VEC(uint32_t) gpus = { 0 }, chosen = { 0 };

	host_ready(&g->host);
	steps_find(&f.steps, &g->host, NULL, 0);
	g->sink.select.inferred |= steps_inferred_from(&f.steps);
	for (uint32_t i = 0; i < g->host.gpus.n; i++) {
		uint64_t hash = uid_hash(g->host.gpus.v[i].uid);

		vec_push(&gpus, i);
		if (map_get(&g->chosen, hash) != NULL)
			vec_push(&chosen, i);
	}
	account_find(
	    &f.account, &f.gaps, &g->host, gpus.v, gpus.n, &f.steps, NULL);
	launches_find(&f.launches, f.h, chosen.v, chosen.n);
	if (f.launches.list.n > 0)
		look(&f);
	vec_free(&gpus);
	vec_free(&chosen);
	gaps_free(&f.gaps);
	steps_free(&f.steps);
	launches_free(&f.launches);
}
