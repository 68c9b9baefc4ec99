/* SPDX-License-Identifier: MIT */
/*
 * What the host did while the GPU was idle. A gap of the GPU ends with a piece
 * of work; the thread that launched it is the one that let the GPU wait. What
 * this thread was in for longest, from the gap's begin to the end of that
 * launch, by the innermost of its events, is the gap's cause.
 *
 *	GPU     ####______________####
 *	thread    [ step              ]
 *	             [ load   ]  [launch]   cause: load
 *
 * Memory: 48 bytes a host event, 24 a piece of GPU work, until a source ends.
 */
#include "cmd/tl-collective/collective.h"

#include <stdlib.h>

struct range { /* an event, or the stretch in which it is the innermost */
	int64_t start, end;
	uint32_t track, name;
};
typedef VEC(struct range) range_vec;

struct launch {
	int64_t end;
	uint32_t track;
};

struct begun {
	int64_t start;
	uint64_t corr;
};

struct gap {
	int64_t start, end, ns;
	uint32_t name;
};

struct op {
	uint32_t name, shape;
};

struct hosts {
	const struct strings *st;
	uint32_t dims; /* the text "Input Dims" */
	range_vec events, inner;
	VEC(struct launch) launches;
	VEC(struct begun) begun;
	VEC(struct gap) gaps;
	VEC(struct op) ops;
	struct map launch_of, op_of;
	VEC(int64_t) sums; /* by name, zero between uses */
	VEC(uint32_t) touched;
};

static uint64_t
key_bits(struct key k)
{
	return (uint64_t)k.n << 2 | k.type;
}

struct hosts *
hosts_new(const struct strings *st)
{
	struct hosts *h = xcalloc(1, sizeof *h);

	h->st = st;
	h->dims = intern_put(st->text, STR("Input Dims"));
	return h;
}

void
hosts_clear(struct hosts *h)
{
	h->events.n = h->inner.n = h->launches.n = h->begun.n = 0;
	h->gaps.n = h->ops.n = 0;
	map_free(&h->launch_of);
	map_free(&h->op_of);
}

void
hosts_free(struct hosts *h)
{
	hosts_clear(h);
	vec_free(&h->events);
	vec_free(&h->inner);
	vec_free(&h->launches);
	vec_free(&h->begun);
	vec_free(&h->gaps);
	vec_free(&h->ops);
	vec_free(&h->sums);
	vec_free(&h->touched);
	free(h);
}

/* ---- events ---- */

static void
take_op(struct hosts *h, const struct event *ev)
{
	struct op op = { ev->name, INTERN_NONE };
	struct entries it = entries_of(h->st, ev);
	bool is_new;
	uint64_t *slot = map_put(&h->op_of, key_bits(ev->ext), &is_new);

	if (!is_new)
		return;
	while (entries_next(&it))
		if (it.entry->key == h->dims && it.entry->group == GROUP_ARGS &&
		    it.val.type == VAL_JSON) {
			op.shape = it.val.id;
			break;
		}
	*slot = h->ops.n;
	vec_push(&h->ops, op);
}

void
hosts_event(struct hosts *h, const struct event *ev)
{
	int64_t end;

	if ((ev->shape->has & HAS_DUR) == 0 || ev->name == INTERN_NONE ||
	    !num_add(ev->ts_ns, ev->dur_ns, &end))
		return;
	vec_push(&h->events,
	    ((struct range){ ev->ts_ns, end, ev->track, ev->name }));
	if (event_is(ev, KINDS_LAUNCH) && ev->corr.type != KEY_NONE) {
		*map_put(&h->launch_of, key_bits(ev->corr), NULL) =
		    h->launches.n;
		vec_push(&h->launches, ((struct launch){ end, ev->track }));
	}
	if (ev->shape->kind == KIND_OP && ev->ext.type != KEY_NONE)
		take_op(h, ev);
}

void
hosts_gpu(struct hosts *h, const struct event *ev)
{
	if (ev->corr.type != KEY_NONE)
		vec_push(&h->begun,
		    ((struct begun){ ev->ts_ns, key_bits(ev->corr) }));
}

bool
hosts_op(const struct hosts *h, struct key ext, uint32_t *name, uint32_t *shape)
{
	const uint64_t *at =
	    ext.type != KEY_NONE ? map_get(&h->op_of, key_bits(ext)) : NULL;

	if (at == NULL)
		return false;
	*name = h->ops.v[*at].name;
	*shape = h->ops.v[*at].shape;
	return true;
}

/* ---- innermost events ---- */

static int
by_track(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

/* From *at on, of the innermost of the open events. */
static void
put_inner(struct hosts *h, const struct range *of, int64_t *at, int64_t to)
{
	if (to <= *at)
		return;
	vec_push(&h->inner, ((struct range){ *at, to, of->track, of->name }));
	*at = to;
}

/* Most traces have them so. */
static bool
is_sorted(const range_vec *v)
{
	for (size_t i = 1; i < v->n; i++)
		if (by_track(&v->v[i - 1], &v->v[i]) > 0)
			return false;
	return true;
}

static void
find_inner(struct hosts *h)
{
	range_vec open = { 0 };
	int64_t at = INT64_MIN;

	if (!is_sorted(&h->events))
		qsort(h->events.v, h->events.n, sizeof *h->events.v, by_track);
	for (size_t i = 0; i <= h->events.n; i++) {
		const struct range *e =
		    i < h->events.n ? &h->events.v[i] : NULL;

		while (open.n > 0) {
			struct range top = open.v[open.n - 1];
			bool ends = e == NULL || e->track != top.track ||
			    top.end <= e->start;

			put_inner(h, &top, &at, ends ? top.end : e->start);
			if (!ends)
				break;
			open.n--;
		}
		if (e == NULL)
			break;
		if (open.n == 0 || e->start > at)
			at = e->start;
		vec_push(&open, *e);
	}
	vec_free(&open);
}

/* ---- gaps ---- */

static void
add_sum(struct hosts *h, uint32_t name, int64_t ns)
{
	if (h->sums.v[name] == 0)
		vec_push(&h->touched, name);
	h->sums.v[name] += ns;
}

/* The name with the largest sum; all are zero again. */
static uint32_t
take_largest(struct hosts *h, int64_t *ns)
{
	uint32_t best = INTERN_NONE;

	*ns = 0;
	for (size_t i = 0; i < h->touched.n; i++) {
		uint32_t name = h->touched.v[i];

		if (h->sums.v[name] > *ns) {
			*ns = h->sums.v[name];
			best = name;
		}
		h->sums.v[name] = 0;
	}
	h->touched.n = 0;
	return best;
}

static void
explain(struct hosts *h, struct gap *g, const struct launch *l)
{
	int64_t to = l->end < g->end ? l->end : g->end, covered = 0;
	size_t lo = 0, hi = h->inner.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct range *r = &h->inner.v[mid];

		if (r->track < l->track ||
		    (r->track == l->track && r->end <= g->start))
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < h->inner.n && h->inner.v[lo].track == l->track &&
	     h->inner.v[lo].start < to;
	     lo++) {
		const struct range *r = &h->inner.v[lo];
		int64_t a = r->start > g->start ? r->start : g->start;
		int64_t b = r->end < to ? r->end : to;

		if (b > a) {
			add_sum(h, r->name, b - a);
			covered += b - a;
		}
	}
	g->name = take_largest(h, &g->ns);
	if (to - g->start - covered >
	    g->ns) { /* in nothing that was recorded */
		g->name = INTERN_NONE;
		g->ns = 0;
	}
}

static int
by_begin(const void *pa, const void *pb)
{
	const struct begun *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->corr < b->corr ? -1 : a->corr > b->corr;
}

void
hosts_explain(struct hosts *h, const struct spans *gpu)
{
	size_t at = 0;

	find_inner(h);
	while (h->sums.n < h->st->text->list.n)
		vec_push(&h->sums, 0);
	if (h->begun.n > 0)
		qsort(h->begun.v, h->begun.n, sizeof *h->begun.v, by_begin);
	for (size_t i = 1; i < gpu->n; i++) {
		struct gap g = { gpu->v[i - 1].end, gpu->v[i].start, 0,
			INTERN_NONE };
		const uint64_t *launch;

		while (at < h->begun.n && h->begun.v[at].start < g.end)
			at++;
		if (at == h->begun.n || h->begun.v[at].start != g.end)
			continue;
		launch = map_get(&h->launch_of, h->begun.v[at].corr);
		if (launch == NULL || h->launches.v[*launch].end <= g.start)
			continue;
		explain(h, &g, &h->launches.v[*launch]);
		if (g.name != INTERN_NONE)
			vec_push(&h->gaps, g);
	}
}

uint32_t
hosts_cause(struct hosts *h, int64_t from, int64_t to, int64_t *ns)
{
	size_t lo = 0, hi = h->gaps.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (h->gaps.v[mid].start < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < h->gaps.n && h->gaps.v[lo].end <= to; lo++)
		add_sum(h, h->gaps.v[lo].name, h->gaps.v[lo].ns);
	return take_largest(h, ns);
}
