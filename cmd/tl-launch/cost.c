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

/* Adds a part of a thread's time to its layer. */
static void
add_part(const struct finder *f, struct layers *to, const struct host_parts *p)
{
	stat_add(
	    &to->ns[p->event != HOST_NONE ? layer_of(&f->h->events.v[p->event])
					  : CAUSE_BETWEEN_OPS],
	    p->end_ns - p->start_ns);
}

/* What a thread did; while it rests, what the one before it did. */
static void
add_stretch(const struct finder *f, struct layers *to, uint32_t thread,
    uint32_t before, int64_t from, int64_t end)
{
	const struct host *h = f->h;
	struct host_parts p =
	    host_parts_of(h, &h->threads.v[thread], from, end);

	while (host_parts_next(&p)) {
		struct host_parts q;

		if (before == thread || !host_is_rest(&p)) {
			add_part(f, to, &p);
			continue;
		}
		q = host_parts_of(
		    h, &h->threads.v[before], p.start_ns, p.end_ns);
		while (host_parts_next(&q))
			if (host_is_rest(&q))
				add_stretch(f, to, thread, thread, q.start_ns,
				    q.end_ns);
			else
				add_part(f, to, &q);
	}
}

/*
 * Sums what the host did from the first launch to the end of the last, by time:
 * up to each call what its thread did, so that no time counts twice.
 */
static void
add_layers(
    const struct finder *f, const struct launch *v, size_t n, struct layers *to)
{
	int64_t at = call_of(f, v)->start_ns;

	for (size_t i = 0; i < n; i++) {
		const struct host_event *e = call_of(f, &v[i]);
		uint32_t before = call_of(f, &v[i > 0 ? i - 1 : 0])->thread;

		if (e->start_ns > at) {
			add_stretch(f, to, e->thread, before, at, e->start_ns);
			at = e->start_ns;
		}
		if (e->end_ns > at) {
			add_stretch(f, to, e->thread, e->thread, at, e->end_ns);
			at = e->end_ns;
		}
	}
	to->nlaunches += (int64_t)n;
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
	int64_t interval_ns;

	if (nlate < RUN_LAUNCHES)
		return;
	interval_ns = launches_interval(f->h, v, n);
	if (launches_work(v, n) >= interval_ns)
		return;
	add_layers(f, v, n, to);
	graph_add(f, "run", (struct key){ 0, KEY_NONE }, v, n,
	    launches_span(f, v, n));
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

struct in_time {
	int64_t start_ns;
	size_t at; /* in launches.list */
};

static int
by_start(const void *x, const void *y)
{
	const struct in_time *a = x, *b = y;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Launches of all threads, in time. */
static void
add_all_layers(struct finder *f, struct layers *to)
{
	VEC(struct in_time) list = { 0 };
	VEC(struct launch) launches = { 0 };

	for (size_t i = 0; i < f->launches.list.n; i++)
		vec_push(&list,
		    ((struct in_time){
			call_of(f, &f->launches.list.v[i])->start_ns, i }));
	stable_sort(list.v, list.n, sizeof *list.v, by_start);
	for (size_t i = 0; i < list.n; i++)
		vec_push(&launches, f->launches.list.v[list.v[i].at]);
	add_layers(f, launches.v, launches.n, to);
	vec_free(&list);
	vec_free(&launches);
}

static void
look(struct finder *f)
{
	struct layers all = { 0 }, runs = { 0 };
	const struct launch *v = f->launches.list.v;
	size_t n = f->launches.list.n;

	f->cost.pace.nlaunches = (int64_t)n;
	f->cost.pace.ngpu = (int64_t)f->launches.gpus.n;
	f->cost.pace.interval_ns = launches_interval(f->h, v, n);
	f->cost.pace.work_ns = launches_work(v, n);
	launches_starve(&f->launches, f->h, &f->gaps);
	f->cost.nlate = (int64_t)f->launches.nstarved;
	graph_terms(f);
	find_runs(f, &runs);
	add_steps(f);
	add_all_layers(f, &all);
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
