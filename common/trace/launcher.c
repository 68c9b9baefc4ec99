/* SPDX-License-Identifier: MIT */
/*
 * GPU work by the op that launched it, over a tree stream.
 *
 * A stack holds the open events that matter: ops and launches with GPU work
 * below, frames of modules. GPU events are in one array in tree order: what is
 * below an open event is the array from where it began. A second array has
 * their intervals. When an op closes, its intervals become a union in place, as
 * events above need no more.
 */
#include <stdlib.h>

#include "trace/launcher.h"
#include "trace/process.h"
#include "trace/span.h"
#include "trace/stat.h"
#include "trace/step.h"

enum frame_type {
	FRAME_OP,
	FRAME_EXECUTE, /* an op that owns nothing */
	FRAME_LAUNCH,
	FRAME_MODULE,
};

struct frame {
	enum frame_type type;
	uint32_t depth;
	struct launcher self;
	size_t first_work, first_span;
	size_t ndirect;
	uint64_t op; /* the nearest op from here on up, 0: none */
};

struct launchers_state {
	struct launchers *w;
	struct dict *st;
	struct bucket_rules *rules;
	launcher_fn *tell;
	void *arg;
	VEC(struct frame) stack;
	VEC(struct gpu_work) works, direct;
	VEC(uint32_t) chain; /* modules above the op passed on */
	struct spans spans;
	size_t nops; /* open frames that are not of modules */
	uint64_t number;
	struct key step;
	uint32_t annotation;
	uint32_t execute; /* the name */
};

struct launchers *
launchers_create(
    struct dict *st, struct bucket_rules *rules, launcher_fn *tell, void *arg)
{
	struct launchers *w = xcalloc(1, sizeof *w);
	struct launchers_state *s = xcalloc(1, sizeof *s);

	*s = (struct launchers_state){ .w = w,
		.st = st,
		.rules = rules,
		.tell = tell,
		.arg = arg,
		.annotation = INTERN_NONE,
		.execute = intern_put(st->text, STR("execute")) };
	w->state = s;
	return w;
}

void
launchers_destroy(struct launchers *w)
{
	if (w == NULL)
		return;
	vec_free(&w->state->stack);
	vec_free(&w->state->works);
	vec_free(&w->state->direct);
	vec_free(&w->state->chain);
	spans_free(&w->state->spans);
	vec_release(w->state);
	vec_release(w);
}

void
launchers_at(struct launchers *w, struct key step, uint32_t annotation)
{
	w->state->step = step;
	w->state->annotation = annotation;
}

/* ---- arguments ---- */

/* A hostile stream may have a text here: NDJSON writes lists as texts. */
static uint32_t
text_of_list(struct dict *st, const struct value *v)
{
	struct str s;

	if (v->type != VAL_JSON && v->type != VAL_JSONX)
		return INTERN_NONE;
	s = v->type == VAL_JSON ? dict_get(st, v->id) : v->s;
	if (s.len == 0 || (s.p[0] != '[' && s.p[0] != '{'))
		return INTERN_NONE;
	return v->type == VAL_JSON ? v->id : intern_put(st->text, s);
}

struct op_args
args_of_event(struct dict *st, const struct event *ev)
{
	struct value v[OP_LISTS];

	if (!event_lists(st, ev, v))
		return (struct op_args)NO_OP_ARGS;
	return (struct op_args){
		.dims = text_of_list(st, &v[LIST_DIMS]),
		.types = text_of_list(st, &v[LIST_TYPES]),
		.strides = text_of_list(st, &v[LIST_STRIDES]),
		.concrete = text_of_list(st, &v[LIST_CONCRETE]),
		.hlo = text_of_list(st, &v[LIST_HLO]),
	};
}

/* ---- closing ---- */

static int
by_time(const void *x, const void *y)
{
	const struct gpu_work *a = x, *b = y;

	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return uid_cmp(a->uid, b->uid);
}

static bool
in_order(const struct gpu_work *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (by_time(&v[i - 1], &v[i]) > 0)
			return false;
	return true;
}

/* The busy time of what is sorted by start. */
static int64_t
busy_of(const struct gpu_work *v, size_t n)
{
	int64_t busy = 0, end = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		int64_t from = v[i].ts_ns > end ? v[i].ts_ns : end;
		int64_t to = v[i].ts_ns + v[i].dur_ns;

		if (to <= from)
			continue;
		stat_add(&busy, to - from);
		end = to;
	}
	return busy;
}

static void
gather_direct(struct launchers_state *s, struct frame *f)
{
	struct launcher *o = &f->self;

	s->direct.n = 0;
	for (size_t i = f->first_work; i < s->works.n; i++) {
		const struct gpu_work *g = &s->works.v[i];

		if (g->launcher == o->number &&
		    (s->w->with_comm || g->bucket != BUCKET_COMM))
			vec_push(&s->direct, *g);
	}
	if (!in_order(s->direct.v, s->direct.n))
		qsort(s->direct.v, s->direct.n, sizeof *s->direct.v, by_time);
	o->direct = s->direct.v;
	o->ndirect = s->direct.n;
	o->direct_ns = busy_of(s->direct.v, s->direct.n);
}

/* Whether it is passed on. A launch is its own launcher outside of ops. */
static bool
is_told(const struct launchers_state *s, const struct frame *f)
{
	if (f->type == FRAME_OP || f->type == FRAME_EXECUTE)
		return s->w->all_ops || s->works.n > f->first_work;
	return f->type == FRAME_LAUNCH && f->ndirect > 0;
}

/* The frames of modules above the top of the stack. */
static void
gather_modules(struct launchers_state *s, struct launcher *o)
{
	s->chain.n = 0;
	for (size_t i = s->stack.n; i-- > 0;)
		if (s->stack.v[i].type == FRAME_MODULE)
			vec_push(&s->chain, s->stack.v[i].self.module);
	o->modules = s->chain.v;
	o->nmodules = s->chain.n;
}

static void
close_top(struct launchers_state *s)
{
	struct frame *f = &s->stack.v[s->stack.n - 1];
	struct launcher *o = &f->self;

	if (f->type != FRAME_MODULE)
		s->nops--;
	if (is_told(s, f)) {
		if (f->ndirect > 0)
			gather_direct(s, f);
		o->nbelow = s->works.n - f->first_work;
		o->below = o->nbelow > 0 ? s->works.v + f->first_work : NULL;
		o->subtree_ns =
		    o->nbelow > 0 ? spans_unite(&s->spans, f->first_span) : 0;
		if (s->w->with_modules)
			gather_modules(s, o);
		s->tell(s->arg, o);
	}
	s->stack.n--;
	if (s->nops == 0)
		s->works.n = s->spans.n = 0;
}

static void
close_down_to(struct launchers_state *s, uint32_t depth)
{
	while (s->stack.n > 0 && s->stack.v[s->stack.n - 1].depth >= depth)
		close_top(s);
}

/*
 * Closes what is not above a host event. Depths alone do not tell if some
 * frames were not pushed; but an event lies inside those above it.
 */
static void
close_before(struct launchers_state *s, const struct event *ev)
{
	uint32_t thread = dict_thread(s->st, ev->track);

	close_down_to(s, ev->depth);
	while (s->stack.n > 0) {
		const struct launcher *o = &s->stack.v[s->stack.n - 1].self;

		if (dict_thread(s->st, o->track) == thread &&
		    span_within(ev->ts_ns, ev->dur_ns, o->ts_ns, o->dur_ns))
			return;
		close_top(s);
	}
}

void
launchers_flush(struct launchers *w)
{
	close_down_to(w->state, 0);
}

/* ---- opening ---- */

static const struct frame *
top_of(const struct launchers_state *s)
{
	return s->stack.n > 0 ? &s->stack.v[s->stack.n - 1] : NULL;
}

static void
open_frame(
    struct launchers_state *s, const struct event *ev, enum frame_type type)
{
	const struct frame *up = top_of(s);
	uint64_t op = up != NULL ? up->op : 0;
	uint32_t module = up != NULL ? up->self.module : INTERN_NONE;
	bool is_op = type == FRAME_OP || type == FRAME_EXECUTE;
	struct frame f = {
		.type = type,
		.depth = ev->depth,
		.self = {
			.uid = ev->uid,
			.number = ++s->number,
			.up = op,
			.src = ev->src,
			.track = ev->track,
			.name = ev->name,
			.flags = ev->flags,
			.kind = ev->shape->kind,
			.ts_ns = ev->ts_ns,
			.dur_ns = ev->dur_ns,
			.ext = ev->ext,
			.fwd = ev->fwd,
			.bwd = ev->bwd,
			.args = NO_OP_ARGS,
			.module = type == FRAME_MODULE ? ev->name : module,
			.step = s->step,
			.annotation = s->annotation,
		},
		.first_work = s->works.n,
		.first_span = s->spans.n,
	};

	f.op = is_op ? f.self.number : op;
	if (is_op && (s->w->with_args || event_has_hlo(ev)))
		f.self.args = args_of_event(s->st, ev);
	if (type != FRAME_MODULE)
		s->nops++;
	vec_push(&s->stack, f);
}

/* An op's time counts in the op above it; that of calls is its own. */
static void
add_child_time(struct launchers_state *s, const struct event *ev)
{
	for (size_t i = s->stack.n; i-- > 0;) {
		struct frame *f = &s->stack.v[i];

		if (f->type == FRAME_OP || f->type == FRAME_EXECUTE) {
			stat_add(&f->self.child_ns, ev->dur_ns);
			return;
		}
	}
}

/* ---- GPU work ---- */

/* The nearest op that owns, else the launch. */
static struct frame *
launcher_above(struct launchers_state *s)
{
	struct frame *launch = NULL;

	for (size_t i = s->stack.n; i-- > 0;) {
		struct frame *f = &s->stack.v[i];

		if (f->type == FRAME_OP)
			return f;
		if (f->type == FRAME_LAUNCH && launch == NULL)
			launch = f;
	}
	return launch;
}

/* The nearest event with a time of its own: for a graph's kernel its launch. */
static const struct launcher *
timed_above(const struct launchers_state *s)
{
	size_t i = s->stack.n;

	while (i > 1 && (s->stack.v[i - 1].self.flags & EV_UNTIMED) != 0)
		i--;
	return i > 0 ? &s->stack.v[i - 1].self : NULL;
}

static void
add_work(struct launchers_state *s, const struct event *ev)
{
	const struct frame *top = top_of(s);
	const struct launcher *timed = timed_above(s);
	struct frame *up = launcher_above(s);
	struct gpu_work g = {
		.uid = ev->uid,
		.name = ev->name,
		.track = ev->track,
		.flags = ev->flags,
		.kind = ev->shape->kind,
		.bucket = (uint8_t)bucket_of_event(s->rules, s->st, ev),
		.dev = ev->dev,
		.gpu_stream = ev->gpu_stream,
		.corr = ev->corr,
		.ts_ns = ev->ts_ns,
		.dur_ns = ev->dur_ns,
	};
	int64_t end;

	if (up == NULL || !uid_same(top->self.uid, ev->parent))
		return;
	if (!num_add(ev->ts_ns, ev->dur_ns, &end) ||
	    !num_add(timed->ts_ns, timed->dur_ns, &g.launch_end_ns))
		die("event %" PRIu64 ": its end is out of range", ev->uid.id);
	g.launch_ns = timed->ts_ns;
	g.launcher = up->self.number;
	g.op = top->op;
	g.extra = s->w->extra != NULL ? s->w->extra(s->arg, ev) : 0;
	up->ndirect++;
	vec_push(&s->works, g);
	vec_push(&s->spans, ((struct span){ ev->ts_ns, end }));
}

void
launchers_push(struct launchers *w, const struct event *ev, bool is_chosen)
{
	struct launchers_state *s = w->state;
	unsigned kind = ev->shape->kind;

	if (event_is(ev, KINDS_GPU)) {
		close_down_to(s, ev->depth);
		if (is_chosen && (ev->flags & EV_DUPLICATE) == 0 &&
		    (ev->shape->has & HAS_TS) != 0)
			add_work(s, ev);
		return;
	}
	if (kind == KIND_OP) {
		if (!w->all_ops && ev->ngpu == 0)
			return;
		close_before(s, ev);
		if (w->all_ops && (ev->flags & EV_UNTIMED) == 0)
			add_child_time(s, ev);
		open_frame(
		    s, ev, ev->name == s->execute ? FRAME_EXECUTE : FRAME_OP);
	} else if (event_is(ev, KINDS_LAUNCH)) {
		if (ev->ngpu == 0)
			return;
		close_before(s, ev);
		open_frame(s, ev, FRAME_LAUNCH);
	} else if ((w->all_ops || ev->ngpu > 0) && event_is_module(s->st, ev)) {
		close_before(s, ev);
		open_frame(s, ev, FRAME_MODULE);
	}
}
