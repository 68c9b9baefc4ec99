/* SPDX-License-Identifier: MIT */
/*
 * Steps of a source without markers: what infer.h asks is gathered from the
 * tree, and each step found becomes an annotation of the thread whose they are.
 */
#include <stdio.h>

#include "stream/maker.h"
#include "trace/infer.h"
#include "trace/step.h"
#include "trace/store-inside.h"

/* Instances of ids from here on are steps: nothing else counts so far. */
#define STEP_INSTANCE (1U << 20)

/* Python frames are not always there: readers skip what they don't need. */
#define KINDS_OF_THREAD \
	(KINDS_HOST | KIND_BIT(KIND_ANNOTATION) | KIND_BIT(KIND_OVERHEAD))

/* What a thread did. */
struct doer {
	uint32_t thread, track;
	struct key pid, tid;
	uint64_t nlaunched, nevents; /* GPU events, and the host's */
	int64_t first_ns;
};

struct gatherer {
	struct store *s;
	struct infer f;
	VEC(struct doer) doers; /* by thread, then by what they do */
	u32_vec notes;          /* annotations of optimizers' steps */
	uint64_t ngpu;
	struct span whole; /* from the first event to the end of the last */
};

static bool
is_optimizer(struct store *s, const struct held *it)
{
	return (name_facts(s, it->name) & NAME_OPTIMIZER) != 0;
}

/* ---- threads ---- */

static void
count_item(struct gatherer *g, uint32_t i)
{
	const struct held *it = &g->s->items.v[i], *launch;
	struct doer *d;

	if (!item_counts(it) || !item_is(it, KINDS_GPU | KINDS_OF_THREAD))
		return;
	if (it->ts_ns < g->whole.start)
		g->whole.start = it->ts_ns;
	if (item_end(it) > g->whole.end)
		g->whole.end = item_end(it);
	if (item_is(it, KINDS_GPU)) {
		g->ngpu++;
		launch = item_launched_by(g->s, it);
		if (launch != NULL)
			g->doers.v[item_thread(g->s, launch)].nlaunched++;
		return;
	}
	if (track_is_nowhere(&g->s->st->tracks.v[it->track]))
		return;
	d = &g->doers.v[item_thread(g->s, it)];
	if (d->first_ns == INT64_MAX) {
		d->track = it->track;
		d->pid = g->s->st->tracks.v[it->track].pid;
		d->tid = g->s->st->tracks.v[it->track].tid;
	}
	d->first_ns = it->ts_ns < d->first_ns ? it->ts_ns : d->first_ns;
	d->nevents += it->kind != KIND_OVERHEAD;
	if (it->kind == KIND_ANNOTATION && is_optimizer(g->s, it))
		vec_push(&g->notes, i);
}

/* Those that launch most first, of equals those that do most. */
static int
doer_order(const void *x, const void *y)
{
	const struct doer *a = x, *b = y;
	int order;

	if (a->nlaunched != b->nlaunched)
		return a->nlaunched > b->nlaunched ? -1 : 1;
	if (a->nevents != b->nevents)
		return a->nevents > b->nevents ? -1 : 1;
	order = key_cmp(a->pid, b->pid);
	return order != 0 ? order : key_cmp(a->tid, b->tid);
}

static void
find_doers(struct gatherer *g)
{
	for (uint32_t t = 0; t < g->s->threads.n; t++)
		vec_push(&g->doers,
		    ((struct doer){ .thread = t, .first_ns = INT64_MAX }));
	for (uint32_t i = 0; i < g->s->items.n; i++)
		count_item(g, i);
	for (size_t t = 0; t < g->doers.n; t++)
		vec_push(&g->f.first_ns, g->doers.v[t].first_ns);
	stable_sort(g->doers.v, g->doers.n, sizeof *g->doers.v, doer_order);
}

/* ---- calls and optimizers ---- */

static void
add_call(
    struct gatherer *g, const struct held *call, uint32_t name, uint64_t id)
{
	vec_push(&g->f.calls,
	    ((struct repeat_event){ call->ts_ns, item_end(call), id, name,
		item_thread(g->s, call) }));
}

static void
add_launches(struct gatherer *g, struct key pid)
{
	const struct store *s = g->s;

	for (uint32_t i = 0; i < s->items.n; i++) {
		const struct held *it = &s->items.v[i];
		const struct held *launch =
		    item_is(it, KINDS_GPU) ? item_launched_by(s, it) : NULL;

		if (launch != NULL &&
		    key_eq(s->st->tracks.v[launch->track].pid, pid))
			add_call(g, launch, it->name, it->id);
	}
}

static void
add_optimizer(struct gatherer *g, const struct held *it)
{
	vec_push(&g->f.optimizers,
	    ((struct infer_optimizer){
		it->ts_ns, item_end(it), item_thread(g->s, it) }));
}

/* Annotations before an event; those before this time are below an op. */
static size_t
add_notes(struct gatherer *g, size_t at, size_t end, const uint32_t *before,
    int64_t ops_until)
{
	const struct held *v = g->s->items.v;

	for (; at < end &&
	     (before == NULL || item_before(v, g->notes.v[at], *before));
	     at++)
		if (v[g->notes.v[at]].ts_ns >= ops_until)
			add_optimizer(g, &v[g->notes.v[at]]);
	return at;
}

/*
 * What of a thread has no op above: an optimizer that hooks of the backward
 * pass call steps once a layer.
 */
static void
add_outermost(struct gatherer *g, uint32_t thread)
{
	struct store *s = g->s;
	int64_t until = INT64_MIN; /* the last end of the ops so far */
	size_t at, end;

	bisect(at, g->notes.n, mid,
	    item_thread(s, &s->items.v[g->notes.v[mid]]) < thread);
	bisect(end, g->notes.n, mid,
	    item_thread(s, &s->items.v[g->notes.v[mid]]) <= thread);
	for (uint32_t p = s->starts.v[thread]; p < s->starts.v[thread + 1];
	     p++) {
		uint32_t i = s->order.v[p];
		const struct held *it = &s->items.v[i];

		if (it->kind != KIND_OP || !item_counts(it))
			continue;
		at = add_notes(g, at, end, &i, until);
		if (it->ts_ns >= until) {
			if (is_optimizer(s, it))
				add_optimizer(g, it);
			if (g->ngpu == 0)
				add_call(g, it, it->name, it->id);
		}
		until = item_end(it) > until ? item_end(it) : until;
	}
	(void)add_notes(g, at, end, NULL, until);
}

/* An annotation, to bring them into order. */
struct note {
	const struct store *s;
	uint32_t item;
};

static int
note_order(const void *x, const void *y)
{
	const struct note *a = x, *b = y;
	const struct held *v = a->s->items.v;
	uint32_t s = item_thread(a->s, &v[a->item]);
	uint32_t t = item_thread(b->s, &v[b->item]);

	if (s != t)
		return s < t ? -1 : 1;
	return item_before(v, a->item, b->item)
	    ? -1
	    : item_before(v, b->item, a->item);
}

static void
sort_notes(struct gatherer *g)
{
	VEC(struct note) notes = { 0 };

	for (size_t i = 0; i < g->notes.n; i++)
		vec_push(&notes, ((struct note){ g->s, g->notes.v[i] }));
	stable_sort(notes.v, notes.n, sizeof *notes.v, note_order);
	for (size_t i = 0; i < notes.n; i++)
		g->notes.v[i] = notes.v[i].item;
	vec_free(&notes);
}

/* Calls of the process that launches most, or more. */
static uint64_t
count_calls(const struct gatherer *g)
{
	uint64_t n = 0;

	for (size_t i = 0; i < g->doers.n; i++)
		if (key_eq(g->doers.v[i].pid, g->doers.v[0].pid))
			n += g->ngpu > 0 ? g->doers.v[i].nlaunched
					 : g->doers.v[i].nevents;
	return n;
}

/*
 * For the process that launches most; nothing if lengths are beyond int64_t, or
 * if it takes more memory than the limit.
 */
static void
gather(struct gatherer *g, uint64_t *ntoo_many)
{
	uint64_t ncalls;
	int64_t length;

	find_doers(g);
	sort_notes(g);
	if (g->doers.n == 0 || g->doers.v[0].first_ns == INT64_MAX ||
	    __builtin_sub_overflow(g->whole.end, g->whole.start, &length))
		return;
	ncalls = count_calls(g);
	if (store_limited() > 0 &&
	    ncalls > store_limited() / INFER_CALL_BYTES) {
		*ntoo_many += ncalls;
		return;
	}
	add_launches(g, g->doers.v[0].pid);
	for (size_t i = 0; i < g->doers.n; i++)
		if (g->doers.v[i].first_ns != INT64_MAX &&
		    key_eq(g->doers.v[i].pid, g->doers.v[0].pid))
			add_outermost(g, g->doers.v[i].thread);
}

/* ---- annotations ---- */

/* The thread with the steps. */
static uint32_t
track_of(const struct gatherer *g)
{
	const struct doer *d = g->doers.v;

	while (d->thread != g->f.thread)
		d++;
	return d->track;
}

/* It has the id of the first that it launched, or of its first op. */
static struct uid
uid_of(const struct gatherer *g, size_t step)
{
	const struct repeat_event *v = g->f.calls.v;
	int64_t start = g->f.steps.v[step].start;
	size_t at;

	bisect(at, g->f.calls.n, mid, v[mid].start_ns < start);
	at -= at == g->f.calls.n;
	return (struct uid){ v[at].order, STEP_INSTANCE + (uint32_t)step };
}

static enum step_from
from_of(const struct gatherer *g)
{
	if (g->f.by_optimizer)
		return STEP_FROM_OPTIMIZER;
	return g->ngpu > 0 ? STEP_FROM_GPU_WORK : STEP_FROM_OPS;
}

static void
put_step(const struct gatherer *g, struct maker *m, uint32_t track, size_t step)
{
	const struct span *w = &g->f.steps.v[step];
	struct store *s = g->s;
	char name[40];
	int64_t dur_ns;
	int n = snprintf(name, sizeof name, "inferred step %zu", step + 1);

	if (__builtin_sub_overflow(w->end, w->start, &dur_ns))
		dur_ns = INT64_MAX;
	maker_begin(m, KIND_ANNOTATION, STR(CATEGORY_INFERRED));
	maker_name(m, (struct str){ name, (size_t)n });
	maker_on_track(m, track);
	maker_start(m, w->start);
	maker_dur(m, dur_ns, EV_SYNTHETIC);
	maker_int(m, STR("step_num"), (int64_t)step + 1, ROLE_NONE);
	maker_int(m, STR("calls"), (int64_t)g->f.length, ROLE_NONE);
	maker_str(m, STR("inferred_from"), str_of(step_from_words[from_of(g)]));
	store_add(s, maker_end(m, uid_of(g, step)));
	s->items.v[s->items.n - 1].flags |= EV_STEP;
}

bool
store_infer_steps(struct store *s, uint64_t *ntoo_many)
{
	struct gatherer g = { .s = s, .whole = { INT64_MAX, INT64_MIN } };
	struct maker m = { .st = s->st };
	uint32_t track;
	bool found;

	gather(&g, ntoo_many);
	found = infer_steps(&g.f);
	track = found ? track_of(&g) : 0;
	for (size_t i = 0; found && i < g.f.steps.n; i++)
		put_step(&g, &m, track, i);
	maker_free(&m);
	infer_free(&g.f);
	vec_free(&g.doers);
	vec_free(&g.notes);
	return found;
}
