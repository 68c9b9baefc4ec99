/* SPDX-License-Identifier: MIT */
/*
 * Adds ops and frames of XLA to the tree.
 *
 * The GPU work of a thread, in tree order, is a row of leaves. A leaf has a
 * path: the run of its module, scopes, the run of its instruction. It shares
 * the first levels of the path with the leaf before it. Leaves that share a
 * level get one event for it, as low in the tree as encloses them all, and with
 * them what lies between.
 *
 * An added event never cuts through an event of the host. So work below a host
 * event shares no more levels with its neighbours than within itself: further
 * levels are split there.
 *
 * Several instructions of one launch are split below it. GPU work without a
 * launch has its path on its own thread. As with all frames, times of these
 * events only show the order (EV_UNTIMED).
 */
#include "trace/hlo-inside.h"

#include <stdlib.h>

/* Leaves below an event of the host: [first, last). */
struct range {
	uint32_t first, last;
	uint32_t least; /* shared by one of them with the leaf before */
};

/* An event that is open while the new order is built. */
struct open {
	uint32_t item;
	uint32_t host;  /* the nearest host event, itself included */
	uint32_t until; /* the leaf after it */
	int64_t end;
	bool is_put_in;
};

struct put {
	struct store *s;
	struct hlo *h;
	hlo_leaves leaves;        /* of one thread */
	VEC(struct range) ranges; /* by place in order */
	VEC(struct open) stack;
	u32_vec loose;  /* GPU work without launch, by thread and time */
	u32_vec stamps; /* by name: the run of an instruction that has it */
	u32_big order;  /* the new one */
	uint32_t at;    /* the next leaf */
	uint32_t nput;  /* added and open */
	uint32_t frame_shape;
	/* runs, by number from 1 on: of the module, of the instruction */
	uint32_t nruns, module_run, run;
	uint32_t behind; /* after its last leaf that distinguishes runs ... */
	uint64_t call;   /* ... and that leaf's launch */
	/* end of a leaf's group, by level */
	uint32_t asked_leaf, asked_level, asked_end;
};

static uint32_t
levels(const struct hlo_leaf *l)
{
	return l->op != NULL ? l->op->nframes + 1 : 0;
}

/* ---- leaves ---- */

static void
add_leaf(struct put *p, uint32_t gpu, uint32_t launch)
{
	const struct held *v = p->s->items.v;
	struct hlo_leaf l = { .gpu = gpu, .launch = launch, .caller = launch };
	struct event ev;

	item_event(p->s, gpu, &ev);
	l.dev = ev.dev;
	if (launch != STORE_NONE)
		l.call = (uint64_t)launch + 1;
	else if (ev.corr.type != KEY_NONE)
		l.call = key_hash(ev.corr);
	while (l.caller != STORE_NONE && item_is(&v[l.caller], KINDS_LAUNCH))
		l.caller = v[l.caller].parent;
	l.op = hlo_of(p->h, gpu);
	vec_push(&p->leaves, l);
}

/* The leaves launched directly by an event that has ended. */
static void
end_range(struct put *p, uint32_t pos, uint32_t up)
{
	const struct held *v = p->s->items.v;
	uint32_t i = p->s->order.v[pos];

	(void)up;
	for (uint32_t g = v[i].gpu; g != STORE_NONE; g = v[g].gpu)
		add_leaf(p, g, i);
	p->ranges.v[pos].last = (uint32_t)p->leaves.n;
}

static void
begin_range(struct put *p, uint32_t pos, uint32_t up)
{
	(void)up;
	p->ranges.v[pos] =
	    (struct range){ (uint32_t)p->leaves.n, 0, UINT32_MAX };
}

/* Called with an event of a thread, and the one above it, or UINT32_MAX. */
typedef void visit(struct put *p, uint32_t pos, uint32_t up);

/* Calls begin (if set) when each event begins, and end when it ends. */
static void
walk_thread(struct put *p, uint32_t from, uint32_t to, visit *begin, visit *end)
{
	const struct store *s = p->s;
	u32_vec open = { 0 };

	for (uint32_t pos = from; pos <= to; pos++) {
		uint32_t parent =
		    pos < to ? s->items.v[s->order.v[pos]].parent : STORE_NONE;

		while (open.n > 0 && s->order.v[open.v[open.n - 1]] != parent) {
			open.n--;
			end(p, open.v[open.n],
			    open.n > 0 ? open.v[open.n - 1] : UINT32_MAX);
		}
		if (pos == to)
			break;
		if (begin != NULL)
			begin(p, pos,
			    open.n > 0 ? open.v[open.n - 1] : UINT32_MAX);
		vec_push(&open, pos);
	}
	vec_free(&open);
}

/* ---- runs of instructions and modules ---- */

/* Whether a leaf of a run's instruction starts another run. */
static bool
is_again(const struct put *p, const struct hlo_leaf *l)
{
	const struct held *v = p->s->items.v;
	uint32_t name = v[l->gpu].name;

	if (l->caller != STORE_NONE && v[l->caller].name == l->op->name)
		return false; /* the host's own event for the run */
	if (name == l->op->name)
		return true;
	return name < p->stamps.n && p->stamps.v[name] == p->run &&
	    (l->call == 0 || l->call != p->call);
}

static uint32_t
common_frames(const struct hlo_op *a, const struct hlo_op *b)
{
	uint32_t n = 0;

	while (n < a->nframes && n < b->nframes && a->frames[n] == b->frames[n])
		n++;
	return n;
}

/*
 * Leaf i begins a run of an instruction. It also begins a run of the module if
 * this one's run had the instruction in another call, and not in a loop.
 */
static void
begin_run(struct put *p, uint32_t i)
{
	struct hlo_leaf *l = &p->leaves.v[i];
	const struct hlo_leaf *before = i > 0 ? l - 1 : NULL;

	if (before == NULL || before->op == NULL ||
	    before->op->program != l->op->program ||
	    !key_eq(before->dev, l->dev) ||
	    (l->op->run == p->module_run && !l->op->in_loop &&
		(l->call == 0 || l->call != before->call))) {
		p->module_run = ++p->nruns;
		l->shared = 0;
	} else {
		l->shared = common_frames(before->op, l->op);
	}
	l->op->run = p->module_run;
	p->run = ++p->nruns;
	p->behind = i;
}

static void
find_shared(struct put *p)
{
	hlo_graphs_resolve(p->h, p->s, &p->leaves);
	for (uint32_t i = 0; i < p->leaves.n; i++)
		if (p->leaves.v[i].op != NULL)
			p->leaves.v[i].op->has_kernels |=
			    p->s->items.v[p->leaves.v[i].gpu].kind ==
			    KIND_KERNEL;
	for (uint32_t i = 0; i < p->leaves.n; i++) {
		struct hlo_leaf *l = &p->leaves.v[i];
		const struct hlo_leaf *before = i > 0 ? l - 1 : l;
		const struct held *gpu = &p->s->items.v[l->gpu];
		bool counts, is_same;

		l->shared = levels(l);
		if (l->op == NULL)
			continue;
		counts = gpu->kind == KIND_KERNEL || !l->op->has_kernels;
		is_same = before != l && before->op == l->op &&
		    before->caller == l->caller && key_eq(before->dev, l->dev);
		if (!is_same)
			begin_run(p, i);
		else if (counts && is_again(p, l))
			begin_run(p, p->behind); /* with the copies before it */
		if (!counts || gpu->name == INTERN_NONE)
			continue;
		while (p->stamps.n <= gpu->name)
			vec_push(&p->stamps, 0);
		p->stamps.v[gpu->name] = p->run;
		p->behind = i + 1;
		p->call = l->call;
	}
}

/* Events that launch only a run's work belong to its time. */
static void
widen_run(struct put *p, const struct held *it, const struct range *r)
{
	uint32_t no = p->leaves.v[r->first].run;
	struct hlo_run *run;

	if (no == 0 || no != p->leaves.v[r->last - 1].run ||
	    !item_is(it, KINDS_HOST))
		return;
	run = &hlo_runs(p->h)->v[no - 1];
	run->start_ns = it->ts_ns < run->start_ns ? it->ts_ns : run->start_ns;
	run->end_ns = item_end(it) > run->end_ns ? item_end(it) : run->end_ns;
}

/* Work below a host event shares no more with its neighbours than within. */
static void
part(struct put *p, uint32_t pos, uint32_t up)
{
	const struct held *v = p->s->items.v;
	struct range *r = &p->ranges.v[pos];
	uint32_t own = r->last;

	if (r->first == r->last)
		return;
	widen_run(p, &v[p->s->order.v[pos]], r);
	for (uint32_t g = v[p->s->order.v[pos]].gpu; g != STORE_NONE;
	     g = v[g].gpu)
		if (--own > r->first && p->leaves.v[own].shared < r->least)
			r->least = p->leaves.v[own].shared;
	if (p->leaves.v[r->first].shared > r->least)
		p->leaves.v[r->first].shared = r->least;
	if (r->last < p->leaves.n && p->leaves.v[r->last].shared > r->least)
		p->leaves.v[r->last].shared = r->least;
	if (up == UINT32_MAX)
		return;
	if (r->least < p->ranges.v[up].least)
		p->ranges.v[up].least = r->least;
	if (r->first > p->ranges.v[up].first &&
	    p->leaves.v[r->first].shared < p->ranges.v[up].least)
		p->ranges.v[up].least = p->leaves.v[r->first].shared;
}

/* ---- adding events ---- */

/* The leaf after those that share level with this one. */
static uint32_t
group_end(struct put *p, uint32_t leaf, uint32_t level)
{
	uint32_t end = leaf + 1;

	if (p->asked_leaf == leaf && p->asked_level == level)
		return p->asked_end;
	while (end < p->leaves.n && p->leaves.v[end].shared > level)
		end++;
	p->asked_leaf = leaf;
	p->asked_level = level;
	p->asked_end = end;
	return end;
}

static struct open *
top_of(struct put *p)
{
	return p->stack.n > 0 ? &p->stack.v[p->stack.n - 1] : NULL;
}

static void
push(struct put *p, uint32_t item, uint32_t until, bool is_put_in)
{
	const struct open *top = top_of(p);
	struct held *it = &p->s->items.v[item];
	uint32_t host = item;

	if (is_put_in)
		host = top != NULL ? top->host : STORE_NONE;
	it->parent = top != NULL ? top->item : STORE_NONE;
	it->state |= IN_TREE;
	big_push(&p->order, item);
	vec_push(&p->stack,
	    ((struct open){ .item = item,
		.host = host,
		.until = until,
		.end = item_end(it),
		.is_put_in = is_put_in }));
	p->nput += is_put_in;
}

/* Opens the next level of the leaf's path, on this track, at this time. */
static void
put_in(
    struct put *p, uint32_t leaf, uint32_t track, int64_t ts_ns, bool untimed)
{
	struct store *s = p->s;
	const struct hlo_leaf *l = &p->leaves.v[leaf];
	const struct hlo_op *op = l->op;
	bool is_op = p->nput == op->nframes;
	uint32_t until = group_end(p, leaf, p->nput);
	struct uid uid = item_uid(s, l->gpu);
	struct event ev = { .shape_id = is_op ? op->shape : p->frame_shape,
		.track = track,
		.name = is_op ? op->name : op->frames[p->nput],
		.uid = { uid.id, uid.inst + p->nput + 1 },
		.ts_ns = ts_ns,
		.flags = EV_SYNTHETIC | (untimed || !is_op ? EV_UNTIMED : 0),
		.vals = (const unsigned char *)op->vals.p,
		.vals_len = is_op ? op->vals.len : 0 };

	ev.shape = s->st->shapes.v[ev.shape_id];
	store_add(s, &ev);
	push(p, (uint32_t)s->items.n - 1, until, true);
}

static void
pop(struct put *p)
{
	struct open o = p->stack.v[--p->stack.n];
	struct held *it = &p->s->items.v[o.item];
	struct open *top = top_of(p);

	if (o.is_put_in) {
		p->nput--;
		if (__builtin_sub_overflow(o.end, it->ts_ns, &it->dur_ns))
			it->dur_ns = INT64_MAX;
		/* an event without length encloses nothing */
		if (it->dur_ns < 1)
			it->dur_ns = 1;
		o.end = item_end(it);
	}
	if (top != NULL && top->is_put_in && o.end > top->end)
		top->end = o.end;
}

/* Closes added events after their last leaf. */
static void
pop_done(struct put *p, size_t least)
{
	while (p->stack.n > least && top_of(p)->is_put_in &&
	    top_of(p)->until <= p->at)
		pop(p);
}

/* Piece at of n of a launch's time, for events without times of their own. */
static int64_t
piece(const struct held *launch, uint32_t at, uint32_t n)
{
	return launch->ts_ns + launch->dur_ns / n * at +
	    launch->dur_ns % n * at / n;
}

/* Whether the events of all leaves up to last are open. */
static bool
is_open(const struct put *p, uint32_t last)
{
	for (uint32_t i = p->at; i < last; i++)
		if (levels(&p->leaves.v[i]) != p->nput ||
		    (i > p->at && p->leaves.v[i].shared != p->nput))
			return false;
	return true;
}

/* Attaches the leaves from first on where they belong, in order. */
static void
hang_leaves(struct put *p, uint32_t first)
{
	struct held *v = p->s->items.v;

	for (uint32_t i = p->at; i-- > first;) {
		struct held *gpu = &v[p->leaves.v[i].gpu];

		gpu->state |= IN_TREE;
		gpu->gpu = v[gpu->parent].gpu;
		v[gpu->parent].gpu = p->leaves.v[i].gpu;
	}
}

/* Places the leaves of one launch, or one without launch, up to last. */
static void
place_leaves(struct put *p, uint32_t launch, uint32_t last)
{
	struct store *s = p->s;
	bool has_launch = launch != STORE_NONE;
	size_t base = p->stack.n;
	uint32_t first = p->at, n = last - first;

	if (has_launch && is_open(p, last)) {
		p->at = last;
		return;
	}
	if (has_launch)
		s->items.v[launch].gpu = STORE_NONE;
	while (p->at < last) {
		const struct hlo_leaf *l = &p->leaves.v[p->at];
		const struct held it = s->items.v[has_launch ? launch : l->gpu];
		int64_t from = it.ts_ns, to = item_end(&it);

		if (has_launch && it.dur_ns >= n) {
			from = piece(&it, p->at - first, n);
			to = piece(&it, p->at - first + 1, n);
		}
		while (p->nput < levels(l))
			put_in(p, p->at, it.track, from, true);
		s->items.v[l->gpu].parent = launch;
		if (p->stack.n > base) {
			s->items.v[l->gpu].parent = top_of(p)->item;
			if (top_of(p)->end < to)
				top_of(p)->end = to;
		}
		p->at++;
		pop_done(p, base);
	}
	hang_leaves(p, first);
}

static void
close_top(struct put *p)
{
	const struct open *o = top_of(p);

	if (!o->is_put_in && p->s->items.v[o->item].gpu != STORE_NONE)
		place_leaves(p, o->item, o->until);
	pop(p);
	pop_done(p, 0);
}

/*
 * Whether the next added event goes above this host event although only the
 * leaf is below it: a call, or the host's own event of the run, which belongs
 * below the frames.
 */
static bool
is_below(const struct put *p, uint32_t i, const struct hlo_leaf *l)
{
	const struct held *it = &p->s->items.v[i];

	return item_is(it, KINDS_LAUNCH) || it->gpu != STORE_NONE ||
	    (it->name == l->op->name && p->nput < l->op->nframes);
}

/* Places a host event below the events that begin at it. */
static void
place_event(struct put *p, uint32_t pos)
{
	struct store *s = p->s;
	uint32_t i = s->order.v[pos], parent = s->items.v[i].parent;
	struct range r = p->ranges.v[pos];

	while (p->stack.n > 0 && top_of(p)->host != parent)
		close_top(p);
	while (r.first < r.last && p->nput < levels(&p->leaves.v[r.first]) &&
	    group_end(p, r.first, p->nput) +
		    is_below(p, i, &p->leaves.v[r.first]) >
		r.last)
		put_in(p, r.first, s->items.v[i].track, s->items.v[i].ts_ns,
		    false);
	push(p, i, r.last, false);
}

static void
start_row(struct put *p)
{
	p->leaves.n = 0;
	p->at = 0;
	p->asked_leaf = UINT32_MAX;
}

static void
put_in_thread(struct put *p, uint32_t from, uint32_t to)
{
	start_row(p);
	walk_thread(p, from, to, begin_range, end_range);
	find_shared(p);
	hlo_runs_find(p->h, p->s, &p->leaves);
	walk_thread(p, from, to, NULL, part);
	for (uint32_t pos = from; pos < to; pos++)
		place_event(p, pos);
	while (p->stack.n > 0)
		close_top(p);
}

/* ---- GPU work without launch ---- */

static int
by_thread(const void *x, const void *y, void *arg)
{
	const struct store *s = arg;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	uint32_t t = item_thread(s, &s->items.v[a]);
	uint32_t u = item_thread(s, &s->items.v[b]);

	if (t != u)
		return t < u ? -1 : 1;
	return item_before(s->items.v, a, b) ? -1 : a != b;
}

static void
find_loose(struct put *p)
{
	const struct store *s = p->s;

	for (uint32_t i = 0; i < s->items.n; i++)
		if (item_is(&s->items.v[i], KINDS_GPU) &&
		    hlo_of(p->h, i) != NULL &&
		    (s->items.v[i].flags & EV_UNLINKED) != 0 &&
		    (s->items.v[i].state & IN_TIME) != 0)
			vec_push(&p->loose, i);
	if (p->loose.n > 0)
		qsort_r(p->loose.v, p->loose.n, sizeof *p->loose.v, by_thread,
		    p->s);
}

/* GPU work of one thread, from at; returns where the next thread begins. */
static size_t
put_in_loose(struct put *p, size_t at, uint32_t thread)
{
	const struct store *s = p->s;

	start_row(p);
	for (; at < p->loose.n &&
	     item_thread(s, &s->items.v[p->loose.v[at]]) == thread;
	     at++)
		add_leaf(p, p->loose.v[at], STORE_NONE);
	find_shared(p);
	place_leaves(p, STORE_NONE, (uint32_t)p->leaves.n);
	return at;
}

void
hlo_put_in(struct hlo *h, struct store *s)
{
	struct put p = { .s = s, .h = h, .frame_shape = hlo_frame_shape(h) };
	size_t at = 0;

	vec_reserve(&p.ranges, s->order.n + 1);
	find_loose(&p);
	for (uint32_t t = 0; t < s->threads.n; t++) {
		uint32_t from = s->starts.v[t], to = s->starts.v[t + 1];

		s->starts.v[t] = (uint32_t)p.order.n;
		put_in_thread(&p, from, to);
		at = put_in_loose(&p, at, t);
	}
	s->starts.v[s->threads.n] = (uint32_t)p.order.n;
	big_release(&s->order);
	s->order.v = p.order.v;
	s->order.n = p.order.n;
	s->order.bytes = p.order.bytes;
	store_note_peak(s);
	vec_free(&p.leaves);
	vec_free(&p.ranges);
	vec_free(&p.stack);
	vec_free(&p.loose);
	vec_free(&p.stamps);
}
