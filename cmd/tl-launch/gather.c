/* SPDX-License-Identifier: MIT */
/*
 * Launch calls, the GPU work of each, and the op around each.
 *
 * In a tree GPU work is directly below its launch. Only work whose call has no
 * place in the tree comes separately, in the tail.
 */
#include "cmd/tl-launch/launch.h"

/* ---- reading ---- */

static void
begin_source(struct program *g)
{
	gather_end(g);
	g->has_source = true;
	g->source = g->sink.source;
	g->calls.n = g->ops.n = g->open.n = g->works.n = 0;
	g->ranges.n = 0;
	g->span = (struct span){ INT64_MAX, INT64_MIN };
	map_free(&g->chosen);
	if (g->with_host)
		host_start(&g->host, g->sink.dict, g->causes);
}

/* Durations are differences of times, which must not overflow. */
static void
widen(struct program *g, int64_t start, int64_t end)
{
	struct span *s = &g->span;
	int64_t ns;

	s->start = start < s->start ? start : s->start;
	s->end = end > s->end ? end : s->end;
	if (__builtin_sub_overflow(s->end, s->start, &ns))
		die("events span more than 292 years");
}

/*
 * Closes ops that do not contain a host event. Depths alone do not tell, as
 * frames are not read; but an event lies within those above it.
 */
static void
close_before(struct program *g, const struct event *ev)
{
	uint32_t thread = dict_thread(g->sink.dict, ev->track);

	while (g->open.n > 0) {
		const struct open_op *o = &g->open.v[g->open.n - 1];

		if (o->depth < ev->depth && o->thread == thread &&
		    span_within(ev->ts_ns, ev->dur_ns, o->ts_ns, o->dur_ns))
			return;
		g->open.n--;
	}
}

static void
open_op(struct program *g, const struct event *ev)
{
	vec_push(&g->open,
	    ((struct open_op){
		.depth = ev->depth,
		.thread = dict_thread(g->sink.dict, ev->track),
		.place = (uint32_t)g->ops.n,
		.ts_ns = ev->ts_ns,
		.dur_ns = ev->dur_ns,
	    }));
	vec_push(&g->ops, ((struct call_op){ ev->ts_ns, ev->name, false }));
}

/* Skips ops that tl-graft added below a graph launch: they took no time
 * here. */
static void
add_host(struct program *g, const struct event *ev)
{
	const unsigned timed = HAS_TS | HAS_DUR;
	int64_t end;

	if (ev->ngpu == 0 || (ev->flags & EV_SYNTHETIC) != 0 ||
	    (ev->shape->has & timed) != timed ||
	    !num_add(ev->ts_ns, ev->dur_ns, &end))
		return;
	widen(g, ev->ts_ns, end);
	close_before(g, ev);
	if (ev->shape->kind == KIND_OP)
		open_op(g, ev);
	else
		vec_push(&g->calls,
		    ((struct call){ ev->uid, ev->ts_ns, ev->dur_ns, ev->name,
			ev->track,
			g->open.n > 0 ? g->open.v[g->open.n - 1].place
				      : CALL_NONE }));
}

static void
add_gpu(struct program *g, const struct event *ev, bool is_chosen)
{
	const struct call *last =
	    g->calls.n > 0 ? &g->calls.v[g->calls.n - 1] : NULL;
	/* a grafted call has the id of the graph's launch */
	struct uid launch = { .id = ev->launch.id };
	int64_t end;

	if (!sink_takes_gpu(&g->sink, ev, is_chosen, &end))
		return;
	if (g->with_copies && ev->shape->kind != KIND_KERNEL)
		copy_event(g, ev, end);
	if ((ev->shape->has & HAS_LAUNCH) == 0 ||
	    (ev->flags & EV_UNLINKED) != 0)
		return;
	widen(g, ev->ts_ns, end);
	if (g->with_host)
		map_put(&g->chosen, uid_hash(ev->uid), NULL);
	vec_push(&g->works,
	    ((struct launched){
		.call = last != NULL && uid_same(last->uid, launch)
		    ? (uint32_t)(g->calls.n - 1)
		    : CALL_NONE,
		.name = ev->name,
		.is_kernel = ev->shape->kind == KIND_KERNEL,
		.start_ns = ev->ts_ns,
		.end_ns = end,
		.uid = ev->uid,
		.launch = launch,
		.dev = ev->dev,
		.gpu_stream = ev->gpu_stream,
		.step = select_step_key(&g->sink.select),
		.phase = g->by_phase ? select_phase(&g->sink.select)
				     : (struct key){ 0, KEY_NONE },
	    }));
}

/* Adds any API call, launching or not. */
static void
add_call(struct program *g, const struct event *ev)
{
	const unsigned timed = HAS_TS | HAS_DUR;
	struct launch_record *r;

	if (!event_is(ev, KINDS_LAUNCH) || (ev->flags & EV_SYNTHETIC) != 0 ||
	    (ev->shape->has & timed) != timed)
		return;
	r = launch_add(g, IS_CALL);
	g->ncalls++;
	r->rec.uid = ev->uid;
	r->rec.track = ev->track;
	r->rec.ts_ns = ev->ts_ns;
	r->name = (ev->shape->has & HAS_NAME) != 0
	    ? ev->name
	    : intern_put(g->sink.dict->text, STR(""));
	r->pid = g->sink.dict->tracks.v[ev->track].pid;
	r->gpu_stream = ev->gpu_stream;
	r->api_ns = ev->dur_ns;
}

/* Keeps the event for cost.c. */
static void
keep(struct program *g, const struct event *ev)
{
	size_t n = g->host.gpus.n;

	host_add(&g->host, ev);
	if (g->host.gpus.n > n)
		g->host.gpus.v[n].tag =
		    (uint8_t)bucket_of_event(&g->sink.rules, g->sink.dict, ev);
}

void
gather_event(struct program *g, const struct event *ev, bool is_chosen)
{
	if (!g->has_source || g->source != g->sink.source)
		begin_source(g);
	g->any_inst |= ev->uid.inst != 0;
	if (g->with_calls && is_chosen)
		add_call(g, ev);
	if (g->with_ranges && ev->shape->kind == KIND_ANNOTATION &&
	    !ev->shape->is_inferred) /* a recorded range */
		range_event(g, ev);
	if (event_is(ev, KINDS_HOST))
		add_host(g, ev);
	else if (event_is(ev, KINDS_GPU))
		add_gpu(g, ev, is_chosen);
	if (g->with_host)
		keep(g, ev);
}

/* ---- records ---- */

/* Finds the calls of work in the tail. */
static void
find_calls(struct program *g)
{
	struct map calls = { 0 };
	size_t kept = 0, known = 0;

	for (size_t i = 0; i < g->works.n; i++) {
		struct launched w = g->works.v[i];
		const uint64_t *at;

		if (w.call == CALL_NONE) {
			for (; known < g->calls.n; known++)
				*map_put(&calls,
				    uid_hash(g->calls.v[known].uid), NULL) =
				    known;
			at = map_get(&calls, uid_hash(w.launch));
			if (at == NULL)
				continue;
			w.call = (uint32_t)*at;
		}
		g->works.v[kept++] = w;
	}
	g->works.n = kept;
	map_free(&calls);
}

static int
by_call(const void *x, const void *y)
{
	const struct launched *a = x, *b = y;

	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return uid_cmp(a->uid, b->uid);
}

struct launch_record *
launch_add(struct program *g, enum what what)
{
	struct launch_record *r = sink_add(&g->sink);

	r->what = (uint8_t)what;
	r->rec.source = g->source;
	r->name = r->op = r->kernel = r->size = INTERN_NONE;
	r->op_delay_ns = r->start_delay_ns = SINK_NONE;
	return r;
}

static void
set_op(struct program *g, struct launch_record *r, const struct call *c,
    const struct launched *first)
{
	struct call_op *o;

	if (c->op == CALL_NONE)
		return;
	o = &g->ops.v[c->op];
	r->op = o->name;
	if (o->has_launched)
		return;
	o->has_launched = true;
	r->op_delay_ns = c->ts_ns - o->ts_ns;
	r->start_delay_ns = first->start_ns - c->ts_ns;
}

/* A launch record of a call and its n GPU events, sorted by time. */
static struct launch_record *
add_record(struct program *g, enum what what, const struct call *c,
    const struct launched *w, size_t n)
{
	struct launch_record *r = launch_add(g, what);
	int64_t call_end = num_add_max(c->ts_ns, c->dur_ns), end = w->start_ns;

	r->rec.uid = c->uid;
	r->rec.track = c->track;
	r->rec.ts_ns = c->ts_ns;
	r->name = c->name;
	r->kernel = w->name;
	r->kernel_uid = w->uid;
	r->pid = g->sink.dict->tracks.v[c->track].pid;
	r->tid = g->sink.dict->tracks.v[c->track].tid;
	r->dev = w->dev;
	r->gpu_stream = w->gpu_stream;
	r->step = w->step;
	r->phase = w->phase;
	r->api_ns = c->dur_ns;
	r->queue_ns = w->start_ns > call_end ? w->start_ns - call_end : 0;
	r->ngpu = (int64_t)n;
	for (size_t i = 0; i < n; i++) {
		int64_t from = w[i].start_ns > end ? w[i].start_ns : end;

		if (w[i].end_ns > from)
			r->kernel_ns += w[i].end_ns - from;
		end = w[i].end_ns > end ? w[i].end_ns : end;
	}
	r->total_ns = r->api_ns;
	stat_add(&r->total_ns, r->queue_ns);
	stat_add(&r->total_ns, r->kernel_ns);
	return r;
}

static void
add_launch(
    struct program *g, const struct call *c, const struct launched *w, size_t n)
{
	g->nlaunches++;
	set_op(g, add_record(g, IS_LAUNCH, c, w, n), c, w);
	for (size_t i = 0; i < n && n > 1; i++)
		(void)add_record(g, IS_PAIR, c, &w[i], 1);
}

void
gather_end(struct program *g)
{
	if (!g->has_source)
		return;
	g->has_source = false;
	find_calls(g);
	stable_sort(g->works.v, g->works.n, sizeof *g->works.v, by_call);
	for (size_t i = 0, n; i < g->works.n; i += n) {
		const struct launched *w = &g->works.v[i];

		for (n = 1; i + n < g->works.n && w[n].call == w->call;)
			n++;
		add_launch(g, &g->calls.v[w->call], w, n);
	}
	ranges_find(g);
	if (g->with_queues)
		queues_find(g);
	copies_end(g);
	if (g->with_host)
		cost_find(g);
}

void
gather_free(struct program *g)
{
	vec_free(&g->calls);
	vec_free(&g->ops);
	vec_free(&g->open);
	vec_free(&g->works);
	map_free(&g->chosen);
	vec_free(&g->changes);
	vec_free(&g->ranges);
	vec_free(&g->queues);
	vec_free(&g->stretches);
	vec_free(&g->costs);
	host_free(&g->host);
	causes_destroy(g->causes);
}
