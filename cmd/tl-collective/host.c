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
 * What is looked up by a number is kept in lists: profilers give numbers out in
 * ascending order, so that these mostly need no sorting.
 *
 * Memory: 72 bytes a host event, 24 more a launch or an op, 16 a piece of GPU
 * work, until a source ends.
 */
#include "cmd/tl-collective/collective.h"

#include <stdlib.h>

struct range { /* an event, or the stretch in which it is the innermost */
	int64_t start, end;
	uint32_t track, name;
};
typedef VEC(struct range) range_vec;

struct launch {
	uint64_t corr;
	int64_t end;
	uint32_t track, no; /* no: in the order of the trace */
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
	uint64_t ext;
	uint32_t name, shape;
	uint32_t no; /* in the order of the trace */
};

/* Where an op's "Input Dims" stand among the entries of its shape. */
enum { DIMS_UNKNOWN, DIMS_NONE, DIMS_AT };

struct hosts {
	const struct strings *st;
	VEC(uint32_t) dims; /* by shape: DIMS_ or number of that entry */
	range_vec events, gathered, inner;
	VEC(struct launch) launches;
	VEC(struct begun) begun;
	VEC(struct gap) gaps;
	VEC(struct op) ops;
	bool is_sorted;    /* launches and ops are */
	size_t next_op;    /* behind the last one asked for */
	VEC(int64_t) sums; /* by name, zero between uses */
	VEC(uint32_t) touched;
};

static uint64_t
key_bits(struct key k)
{
	return (uint64_t)k.n << 2 | k.type;
}

struct hosts *
hosts_new(void)
{
	return xcalloc(1, sizeof(struct hosts));
}

void
hosts_clear(struct hosts *h, const struct strings *st)
{
	h->st = st;
	h->events.n = h->inner.n = h->launches.n = h->begun.n = 0;
	h->gaps.n = h->ops.n = h->dims.n = 0;
	h->is_sorted = false;
}

void
hosts_free(struct hosts *h)
{
	vec_free(&h->dims);
	vec_free(&h->events);
	vec_free(&h->gathered);
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

static uint32_t
find_dims(const struct hosts *h, const struct shape *s)
{
	for (uint32_t i = 0; i < s->nentries; i++)
		if (s->entries[i].group == GROUP_ARGS &&
		    str_eq(strings_get(h->st, s->entries[i].key),
			STR("Input Dims")))
			return DIMS_AT + i;
	return DIMS_NONE;
}

static uint32_t
shape_of_op(struct hosts *h, const struct event *ev)
{
	struct entries it = entries_of(h->st, ev);
	uint32_t at;

	while (h->dims.n <= ev->shape_id)
		vec_push(&h->dims, DIMS_UNKNOWN);
	at = h->dims.v[ev->shape_id];
	if (at == DIMS_UNKNOWN)
		at = h->dims.v[ev->shape_id] = find_dims(h, ev->shape);
	if (at < DIMS_AT)
		return INTERN_NONE;
	do {
		if (!entries_next(&it))
			return INTERN_NONE;
	} while (at-- > DIMS_AT);
	return it.val.type == VAL_JSON ? it.val.id : INTERN_NONE;
}

void
hosts_event(struct hosts *h, const struct event *ev)
{
	uint32_t thread = strings_thread(h->st, ev->track);
	int64_t end;

	if ((ev->shape->has & HAS_DUR) == 0 || ev->name == INTERN_NONE ||
	    !num_add(ev->ts_ns, ev->dur_ns, &end))
		return;
	vec_push(
	    &h->events, ((struct range){ ev->ts_ns, end, thread, ev->name }));
	if (event_is(ev, KINDS_LAUNCH) && ev->corr.type != KEY_NONE)
		vec_push(&h->launches,
		    ((struct launch){ key_bits(ev->corr), end, thread,
			(uint32_t)h->launches.n }));
	if (ev->shape->kind == KIND_OP && ev->ext.type != KEY_NONE)
		vec_push(&h->ops,
		    ((struct op){ key_bits(ev->ext), ev->name,
			shape_of_op(h, ev), (uint32_t)h->ops.n }));
}

void
hosts_gpu(struct hosts *h, const struct event *ev)
{
	if (ev->corr.type != KEY_NONE)
		vec_push(&h->begun,
		    ((struct begun){ ev->ts_ns, key_bits(ev->corr) }));
}

/* ---- numbers ---- */

/* The last launch of a correlation counts. */
static int
by_corr(const void *pa, const void *pb)
{
	const struct launch *a = pa, *b = pb;

	if (a->corr != b->corr)
		return a->corr < b->corr ? -1 : 1;
	return a->no > b->no ? -1 : a->no < b->no;
}

/* The first op of an external id counts. */
static int
by_ext(const void *pa, const void *pb)
{
	const struct op *a = pa, *b = pb;

	if (a->ext != b->ext)
		return a->ext < b->ext ? -1 : 1;
	return a->no < b->no ? -1 : a->no > b->no;
}

static void
sort_numbers(struct hosts *h)
{
	if (h->is_sorted)
		return;
	h->is_sorted = true;
	h->next_op = 0;
	order(h->launches.v, h->launches.n, sizeof *h->launches.v, by_corr);
	order(h->ops.v, h->ops.n, sizeof *h->ops.v, by_ext);
}

static const struct launch *
launch_of(const struct hosts *h, uint64_t corr)
{
	size_t lo = 0, hi = h->launches.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (h->launches.v[mid].corr < corr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < h->launches.n && h->launches.v[lo].corr == corr
	    ? &h->launches.v[lo]
	    : NULL;
}

bool
hosts_op(struct hosts *h, struct key ext, uint32_t *name, uint32_t *shape)
{
	uint64_t bits = key_bits(ext);
	size_t i;

	if (ext.type == KEY_NONE)
		return false;
	sort_numbers(h);
	if (h->next_op > 0 && h->ops.v[h->next_op - 1].ext >= bits)
		h->next_op = 0;
	for (i = h->next_op; i < h->ops.n && h->ops.v[i].ext < bits; i++)
		;
	h->next_op = i;
	if (i == h->ops.n || h->ops.v[i].ext != bits)
		return false;
	*name = h->ops.v[i].name;
	*shape = h->ops.v[i].shape;
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

/* Of each track together, in the order they came in; mostly that of time. */
static void
gather_tracks(struct hosts *h)
{
	size_t ntracks = h->st->tracks.n, at = 0;
	size_t *next = xcalloc(ntracks + 1, sizeof *next);
	const range_vec *events = &h->events;

	vec_reserve(&h->gathered, events->n);
	h->gathered.n = events->n;
	for (size_t i = 0; i < events->n; i++)
		next[events->v[i].track]++;
	for (size_t t = 0; t < ntracks; t++) {
		size_t n = next[t];

		next[t] = at;
		at += n;
	}
	for (size_t i = 0; i < events->n; i++)
		h->gathered.v[next[events->v[i].track]++] = events->v[i];
	free(next);
}

static void
find_inner(struct hosts *h)
{
	range_vec open = { 0 };
	int64_t at = INT64_MIN;

	gather_tracks(h);
	order(h->gathered.v, h->gathered.n, sizeof *h->gathered.v, by_track);
	for (size_t i = 0; i <= h->gathered.n; i++) {
		const struct range *e =
		    i < h->gathered.n ? &h->gathered.v[i] : NULL;

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
	sort_numbers(h);
	order(h->begun.v, h->begun.n, sizeof *h->begun.v, by_begin);
	for (size_t i = 1; i < gpu->n; i++) {
		struct gap g = { gpu->v[i - 1].end, gpu->v[i].start, 0,
			INTERN_NONE };
		const struct launch *launch;

		while (at < h->begun.n && h->begun.v[at].start < g.end)
			at++;
		if (at == h->begun.n || h->begun.v[at].start != g.end)
			continue;
		launch = launch_of(h, h->begun.v[at].corr);
		if (launch == NULL || launch->end <= g.start)
			continue;
		explain(h, &g, launch);
		if (g.name != INTERN_NONE)
			vec_push(&h->gaps, g);
	}
}

struct str
hosts_cause(struct hosts *h, int64_t from, int64_t to, int64_t *ns)
{
	size_t lo = 0, hi = h->gaps.n;
	uint32_t name;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (h->gaps.v[mid].start < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < h->gaps.n && h->gaps.v[lo].end <= to; lo++)
		add_sum(h, h->gaps.v[lo].name, h->gaps.v[lo].ns);
	name = take_largest(h, ns);
	return name != INTERN_NONE ? strings_get(h->st, name)
				   : (struct str){ NULL, 0 };
}
