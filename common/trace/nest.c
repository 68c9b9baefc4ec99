/* SPDX-License-Identifier: MIT */
/*
 * Nesting of host events, thread by thread, in the order (start, longer first,
 * id), with a stack of open events:
 *
 * First ops and launches. An event pops what has ended by its start. If it ends
 * after the top, the two overlap. Less than BLEED_NS is the profiler's
 * rounding: the top is popped. Otherwise the event is discarded or, with clip,
 * cut at the top's end. The remaining top is its parent.
 *
 * Then a second pass over all events inserts Python frames, which never
 * displace an op: an op pops frames that end before it, and ops that are not
 * its parent of the first pass. A frame behaves as an op did, but pops no op
 * that has a later op below it.
 *
 * Last, discarded events leave the order, which then is the trees' pre-order. A
 * pass from its end counts what is below each event.
 */
#include "trace/hlo-inside.h"

#define BLEED_NS 1000
/* Prefetched so many events ahead. */
#define AHEAD 12

struct open {
	int64_t end;
	uint32_t item;
	uint32_t last; /* ops: index of the last descendant so far */
	bool is_frame;
};

struct nesting {
	struct store *s;
	const struct tree_opts *opts;
	struct tree_stats *stats;
	VEC(struct open) stack;
};

/* GPU events of a launch get its marks. */
static uint32_t
count_gpu(struct store *s, uint32_t launch)
{
	struct held *v = s->items.v;
	uint32_t n = 0;

	for (uint32_t g = v[launch].gpu; g != STORE_NONE; g = v[g].gpu) {
		v[g].flags |= v[launch].flags & EV_RECOMPUTE;
		n++;
	}
	return n;
}

/* Counts the GPU events of a launch outside the tree. */
static void
leave_out(struct store *s, uint32_t i)
{
	s->items.v[i].ndesc = s->items.v[i].ngpu = count_gpu(s, i);
}

/* ---- order ---- */

/* Sorts host events into threads; starts has where each begins. */
static void
bucket(struct store *s, bool frames)
{
	const struct held *v = s->items.v;
	uint32_t at = 0, kinds = frames ? KINDS_NESTED : KINDS_HOST;
	uint32_t *next;

	s->starts.n = 0;
	for (size_t t = 0; t < s->threads.n; t++) {
		vec_push(&s->starts, at);
		at += s->threads.v[t].nhost;
	}
	vec_push(&s->starts, at);
	big_reserve(&s->order, (size_t)at + 1);
	s->order.n = at;
	next = xmalloc(s->starts.n * sizeof *next);
	memcpy(next, s->starts.v, s->starts.n * sizeof *next);
	for (uint32_t i = 0; i < s->items.n; i++) {
		if (!item_is(&v[i], kinds))
			continue;
		if (LIKELY((v[i].state & IN_TIME) != 0))
			s->order.v[next[item_thread(s, &v[i])]++] = i;
		else
			leave_out(s, i);
	}
	/* without frames there are gaps: ends by thread */
	vec_reserve(&s->ends, s->threads.n + 1);
	memcpy(s->ends.v, next, s->threads.n * sizeof *next);
	s->ends.n = s->threads.n;
	vec_release(next);
}

static inline void
fetch(const struct store *s, uint32_t pos, uint32_t end)
{
	if (pos + AHEAD < end)
		__builtin_prefetch(&s->items.v[s->order.v[pos + AHEAD]]);
}

/* ---- the stack ---- */

static inline struct open *
top_of(struct nesting *n)
{
	return n->stack.n > 0 ? &n->stack.v[n->stack.n - 1] : NULL;
}

/* Propagates an op's last descendant to its ancestors. */
static inline void
pop(struct nesting *n)
{
	struct open *o = &n->stack.v[--n->stack.n];

	if (o->is_frame)
		return;
	n->s->items.v[o->item].ndesc = o->last;
	if (n->stack.n > 0 && o[-1].last < o->last)
		o[-1].last = o->last;
}

static inline void
pop_ended(struct nesting *n, int64_t ts)
{
	while (n->stack.n > 0 && ts >= top_of(n)->end)
		pop(n);
}

static inline void
push(struct nesting *n, uint32_t i, int64_t end, uint32_t last)
{
	struct held *it = &n->s->items.v[i];
	const struct open *top = top_of(n);

	it->parent = top != NULL ? top->item : STORE_NONE;
	it->state |= IN_TREE;
	vec_push(&n->stack,
	    ((struct open){ end, i, last, it->kind == KIND_PYTHON }));
}

/* Discards an event that overlaps too much; true: cut it, and it stays. */
static bool
clip(struct nesting *n, struct held *it, int64_t *end)
{
	int64_t top_end = top_of(n)->end;

	if (!n->opts->clip) {
		it->flags |= EV_DISCARDED;
		n->stats->discarded[it->kind]++;
		return false;
	}
	if (__builtin_sub_overflow(top_end, it->ts_ns, &it->dur_ns))
		it->dur_ns = INT64_MAX;
	*end = top_end;
	n->stats->clipped++;
	return true;
}

/* Whether the top ends so little after ts that it is rounding. */
static inline bool
is_bleed(const struct open *top, int64_t ts)
{
	return (uint64_t)top->end - (uint64_t)ts < BLEED_NS;
}

/* ---- first pass: ops and launches ---- */

static void
nest_ops(struct nesting *n, uint32_t from, uint32_t to)
{
	struct store *s = n->s;

	n->stack.n = 0;
	for (uint32_t pos = from; pos < to; pos++) {
		uint32_t i = s->order.v[pos];
		struct held *it = &s->items.v[i];
		int64_t end = item_end(it);
		bool stays = true;

		fetch(s, pos, to);
		if (it->kind == KIND_PYTHON)
			continue;
		pop_ended(n, it->ts_ns);
		while (n->stack.n > 0 && end > top_of(n)->end) {
			if (!is_bleed(top_of(n), it->ts_ns)) {
				stays = clip(n, it, &end);
				break;
			}
			pop(n);
		}
		if (stays)
			push(n, i, end, pos);
	}
	while (n->stack.n > 0)
		pop(n);
}

/* ---- second pass: frames in between ---- */

/* Pops to where the op belongs: below its parent of the first pass. */
static void
seek_op(struct nesting *n, const struct held *it, int64_t end)
{
	while (n->stack.n > 0) {
		const struct open *top = top_of(n);

		if (top->is_frame ? top->end >= end : top->item == it->parent)
			return;
		n->stack.n--;
	}
}

/* Pops to where the frame belongs; false: it has no place. */
static bool
seek_frame(struct nesting *n, uint32_t pos, struct held *it, int64_t *end)
{
	while (n->stack.n > 0 && *end > top_of(n)->end) {
		const struct open *top = top_of(n);

		if (!is_bleed(top, it->ts_ns) ||
		    (!top->is_frame && n->s->items.v[top->item].ndesc > pos))
			return clip(n, it, end);
		n->stack.n--;
	}
	return true;
}

static void
insert_frames(struct nesting *n, uint32_t from, uint32_t to)
{
	struct store *s = n->s;

	n->stack.n = 0;
	for (uint32_t pos = from; pos < to; pos++) {
		uint32_t i = s->order.v[pos];
		struct held *it = &s->items.v[i];
		int64_t end = item_end(it);

		fetch(s, pos, to);
		if ((it->flags & EV_DISCARDED) != 0)
			continue;
		while (n->stack.n > 0 && it->ts_ns >= top_of(n)->end)
			n->stack.n--;
		if (it->kind != KIND_PYTHON)
			seek_op(n, it, end);
		else if (!seek_frame(n, pos, it, &end))
			continue;
		push(n, i, end, 0);
	}
}

/* ---- what is below ---- */

/* Keeps only events of the tree in the order; marks are inherited. */
static uint32_t
compact(struct nesting *n, uint32_t from, uint32_t to, uint32_t out)
{
	struct store *s = n->s;
	struct held *v = s->items.v;

	for (uint32_t pos = from; pos < to; pos++) {
		uint32_t i = s->order.v[pos];
		struct held *it = &v[i];

		fetch(s, pos, to);
		if (UNLIKELY((it->flags & EV_DISCARDED) != 0)) {
			leave_out(s, i);
			continue;
		}
		s->order.v[out++] = i;
		it->ndesc = it->ngpu = 0;
		if (it->kind == KIND_PYTHON &&
		    (name_facts(s, it->name) & NAME_RECOMPUTE) != 0) {
			it->flags |= EV_RECOMPUTE;
			n->stats->regions++;
		}
		if (it->parent != STORE_NONE)
			it->flags |= v[it->parent].flags & EV_RECOMPUTE;
		n->stats->recompute += (it->flags & EV_RECOMPUTE) != 0;
	}
	return out;
}

static void
count_up(struct nesting *n, uint32_t from, uint32_t to)
{
	struct store *s = n->s;
	struct held *v = s->items.v;

	for (uint32_t pos = to; pos-- > from;) {
		struct held *it = &v[s->order.v[pos]];

		if (pos >= from + AHEAD)
			__builtin_prefetch(&v[s->order.v[pos - AHEAD]]);
		if (it->gpu != STORE_NONE) {
			uint32_t k = count_gpu(s, s->order.v[pos]);

			it->ngpu += k;
			it->ndesc += k;
			n->stats->in_tree += k;
			if ((it->flags & EV_RECOMPUTE) != 0)
				n->stats->recompute += k;
		}
		if (it->parent != STORE_NONE) {
			v[it->parent].ndesc += it->ndesc + 1;
			v[it->parent].ngpu += it->ngpu;
		} else {
			n->stats->roots++;
		}
	}
}

void
nest(struct store *s, struct hlo *h, const struct tree_opts *opts,
    struct tree_stats *stats)
{
	struct nesting n = { .s = s, .opts = opts, .stats = stats };
	uint32_t out = 0;

	bucket(s, !opts->no_python);
	for (size_t t = 0; t < s->threads.n; t++) {
		uint32_t from = s->starts.v[t], to = s->ends.v[t];

		sort_items(
		    s->items.v, s->order.v + from, to - from, &s->scratch);
		nest_ops(&n, from, to);
		if (s->threads.v[t].has_frames && !opts->no_python)
			insert_frames(&n, from, to);
		s->starts.v[t] = out;
		out = compact(&n, from, to, out);
		if (h == NULL)
			count_up(&n, s->starts.v[t], out);
	}
	store_note_peak(s);
	s->starts.v[s->threads.n] = out;
	s->order.n = out;
	if (h != NULL) {
		hlo_put_in(h, s);
		count_up(&n, 0, (uint32_t)s->order.n);
	}
	stats->in_tree += s->order.n;
	s->is_nested = true;
	big_release(&s->scratch);
	vec_free(&n.stack);
}

uint64_t
tree_discarded(const struct tree_stats *stats)
{
	uint64_t n = 0;

	for (int k = 0; k < KIND_COUNT; k++)
		if ((KINDS_HOST & KIND_BIT(k)) != 0)
			n += stats->discarded[k];
	return n;
}

void
tree_build(
    struct store *s, const struct tree_opts *opts, struct tree_stats *stats)
{
	const uint64_t before = tree_discarded(stats);
	struct hlo *h = hlo_create(s);
	bool has_steps = store_mark_steps(s, stats);

	if (has_steps)
		link_forget_keys(s);
	nest(s, h, opts, stats);
	if (!has_steps && h != NULL) {
		hlo_runs_put(h, s);
		has_steps = store_mark_steps(s, stats);
	}
	if (!has_steps && store_infer_steps(s, &stats->not_inferred))
		(void)store_mark_steps(s, stats);
	link_forget_keys(s);
	hlo_destroy(h);
	store_count_fact(s, "discarded", tree_discarded(stats) - before);
	s->is_built = true;
}
