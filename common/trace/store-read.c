/* SPDX-License-Identifier: MIT */
/* Reading one source of a stream into a store. */
#include "trace/phase.h"
#include "trace/store-inside.h"

#include <stdlib.h>

/* Which links and flags of the stream are kept, and which are reset. */
static void
set_mode(struct store *s, unsigned marks)
{
	s->was_tree = (marks & MARK_TREE) != 0 && !s->is_anew;
	s->keeps_links =
	    (marks & (MARK_TREE | MARK_LINKED)) != 0 && !s->is_anew;
	s->flags_kept = UINT16_MAX;
	if (!s->was_tree)
		s->flags_kept &= ~(unsigned)(EV_DISCARDED | EV_RECOMPUTE |
		    EV_STEP | EV_SLOWEST);
	if (!s->keeps_links)
		s->flags_kept &= ~(unsigned)(EV_UNLINKED | EV_DUPLICATE);
}

/* Begins with a source's first item; each source comes in one piece. */
static void
begin_source(struct store *s, struct stream_in *in, uint32_t src)
{
	for (size_t i = 0; i < s->done.n; i++)
		if (s->done.v[i] == src)
			die("%s: source %" PRIu32
			    " is not in one piece: other sources' events "
			    "stand between",
			    in->name, src);
	vec_push(&s->done, src);
	store_clear(s);
	arena_reset(s->mem, 0);
	s->metas.n = 0;
	s->source = (struct source){ .src = src };
	set_mode(s, in->marks);
}

static bool
src_of(const struct stream_in *in, enum item item, uint32_t *src)
{
	switch (item) {
	case ITEM_EVENT: *src = in->ev.src; return true;
	case ITEM_SOURCE: *src = in->source.src; return true;
	case ITEM_META: *src = in->meta.src; return true;
	default: return false;
	}
}

/* As store_was_shown(). */
static bool
is_shown(const struct store *s, const struct event *ev)
{
	return event_is(ev, s->shown) && ev->shape->ph == 'X' &&
	    !ev->shape->is_hlo;
}

/* Added by tl-tree, with inferred steps that are no longer marked. */
static bool
is_put_in_anew(const struct store *s, const struct event *ev)
{
	if (LIKELY(!ev->shape->is_hlo && !ev->shape->is_inferred))
		return false;
	return s->is_anew ||
	    (ev->shape->is_inferred && (ev->flags & EV_STEP) == 0);
}

static void
take(struct store *s, struct stream_in *in, enum item item)
{
	switch (item) {
	case ITEM_EVENT:
		if ((in->ev.shape->ph == 'X' &&
			event_is(&in->ev, s->left_out)) ||
		    is_put_in_anew(s, &in->ev))
			break;
		in->ev.flags &= s->flags_kept;
		store_add(s, &in->ev);
		if (is_shown(s, &in->ev))
			s->show(s->show_arg, &in->ev);
		break;
	case ITEM_SOURCE:
		iteration_formats_of(&in->source);
		s->source = source_keep(s->mem, &in->source);
		break;
	case ITEM_META:
		vec_push(&s->metas, in->meta);
		s->metas.v[s->metas.n - 1].fact =
		    fact_keep(s->mem, &in->meta.fact);
		break;
	case ITEM_SECTION:
		s->section = in->section;
		s->stack.n = 0;
		break;
	default: break;
	}
}

/* ---- when all events are read ---- */

struct by_uid {
	uint32_t id, inst, item;
};

static int
compare_uids(const void *x, const void *y)
{
	const struct by_uid *a = x, *b = y;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->inst != b->inst)
		return a->inst < b->inst ? -1 : 1;
	return a->item < b->item ? -1 : 1;
}

/* All of them; free with big_free() and *cap. */
static struct by_uid *
sorted_uids(const struct store *s, size_t *cap)
{
	size_t n = s->items.n;
	struct by_uid *v;
	bool is_sorted = true;

	*cap = 0;
	v = big_grow(NULL, cap, (n + 1) * sizeof *v);
	for (uint32_t i = 0; i < n; i++) {
		struct uid uid = item_uid(s, i);

		v[i] = (struct by_uid){ (uint32_t)uid.id, uid.inst, i };
		is_sorted &= i == 0 || compare_uids(&v[i - 1], &v[i]) < 0;
	}
	if (!is_sorted)
		qsort(v, n, sizeof *v, compare_uids);
	return v;
}

/* The item of a uid (id, and instance in the upper half), or STORE_NONE. */
static uint32_t
find_uid(const struct by_uid *v, size_t n, uint64_t uid)
{
	struct by_uid want = { (uint32_t)uid, (uint32_t)(uid >> 32), 0 };
	size_t at;

	bisect(at, n, mid, compare_uids(&v[mid], &want) < 0);
	return at < n && v[at].id == want.id && v[at].inst == want.inst
	    ? v[at].item
	    : STORE_NONE;
}

/* Re-adds events whose order differs from that of their file. */
static void
reorder(struct store *s)
{
	struct store old = *s;
	size_t n = s->items.n, cap;
	struct by_uid *v = sorted_uids(s, &cap);

	s->items.v = NULL;
	s->items.n = s->items.bytes = 0;
	s->groups.v = NULL;
	s->groups.n = s->groups.cap = 0;
	s->vals.p = NULL;
	s->vals.len = s->vals.bytes = 0;
	s->insts = s->fwd = s->bwd = (struct map){ 0 };
	store_clear(s);
	for (size_t k = 0; k < n; k++) {
		uint32_t i = v[k].item;
		const struct held *it = &old.items.v[i];
		struct event ev;

		item_event(&old, i, &ev);
		if (it->state & IN_OWNED)
			ev.launch.id = it->parent;
		if (it->state & IN_FWD)
			ev.fwd.id = *map_get(&old.fwd, i);
		if (it->state & IN_BWD)
			ev.bwd.id = *map_get(&old.bwd, i);
		store_add(s, &ev);
	}
	s->is_unordered = false;
	big_free(old.items.v, old.items.bytes);
	vec_free(&old.groups);
	big_free(old.vals.p, old.vals.bytes);
	map_free(&old.insts);
	map_free(&old.fwd);
	map_free(&old.bwd);
	big_free(v, cap);
}

/* Maps ids of forward and backward ops to items; missing ones give no link. */
static void
resolve_map(
    struct store *s, struct map *m, uint8_t state, const struct by_uid *v)
{
	for (size_t k = 0; k < m->cap; k++) {
		uint32_t to;

		if (!m->used[k])
			continue;
		to = find_uid(v, s->items.n, m->vals[k]);
		m->vals[k] = to;
		if (to == STORE_NONE)
			s->items.v[m->keys[k]].state &= (uint8_t)~state;
	}
}

/* Maps ids of launches to items: only calls that can launch own GPU work. */
static void
resolve_launches(struct store *s, const struct by_uid *v)
{
	for (uint32_t i = 0; i < s->items.n; i++) {
		struct held *it = &s->items.v[i];

		if (!s->was_tree && (it->state & IN_OWNED))
			it->parent = find_uid(v, s->items.n, it->parent);
		if ((it->state & IN_OWNED) == 0)
			continue;
		if (!item_is(it, KINDS_GPU) || it->parent == STORE_NONE ||
		    !item_is(&s->items.v[it->parent], KINDS_NESTED)) {
			it->state &= (uint8_t)~IN_OWNED;
			it->parent = STORE_NONE;
		}
	}
}

/* One of the same key goes; val NULL: that is all. */
static void
set_fact(struct store *s, const char *key, const struct value *val)
{
	size_t n = s->source.nfacts, kept = 0;
	struct fact *facts = arena_alloc(s->mem, (n + 1) * sizeof *facts);

	for (size_t i = 0; i < n; i++)
		if (!str_eq(s->source.facts[i].key, str_of(key)))
			facts[kept++] = s->source.facts[i];
	if (val != NULL)
		facts[kept++] =
		    (struct fact){ .key = str_of(key), .val = *val };
	s->source.facts = facts;
	s->source.nfacts = kept;
}

void
store_count_fact(struct store *s, const char *key, uint64_t n)
{
	const struct value count = { .type = VAL_INT, .i = (int64_t)n };

	set_fact(s, key, n > 0 ? &count : NULL);
}

/*
 * When the source begins, for what counts from there (--from): the fact
 * "first". Names of processes and threads count only where nothing else has a
 * time, as theirs is no time of the recording.
 */
static void
tell_first(struct store *s)
{
	int64_t first = INT64_MAX, first_name = INT64_MAX;

	for (size_t i = 0; i < s->items.n; i++) {
		const struct held *it = &s->items.v[i];
		int64_t *least = it->kind == KIND_META ? &first_name : &first;

		if ((it->state & IN_TIME) != 0 && it->ts_ns < *least)
			*least = it->ts_ns;
	}
	if (first == INT64_MAX)
		first = first_name;
	if (first == INT64_MAX || source_fact(&s->source, "first") != NULL)
		return;
	set_fact(s, "first", &(struct value){ .type = VAL_INT, .i = first });
}

/* After reading: order and links. */
static void
settle(struct store *s)
{
	struct by_uid *v;
	size_t cap;

	s->is_shuffled = s->is_unordered && !s->was_tree;
	if (s->is_shuffled)
		reorder(s);
	tell_first(s);
	if (iteration_formats_text().len > 0)
		set_fact(s, ITERATION_FORMATS_FACT,
		    &(struct value){
			.type = VAL_JSONX, .s = iteration_formats_text() });
	s->is_built = s->was_tree;
	if (!s->keeps_links)
		return;
	v = sorted_uids(s, &cap);
	resolve_map(s, &s->fwd, IN_FWD, v);
	resolve_map(s, &s->bwd, IN_BWD, v);
	resolve_launches(s, v);
	big_free(v, cap);
	if (!s->was_tree)
		chain_gpu(s);
}

/* Lists of each launch's GPU events, in the order of the file. */
void
chain_gpu(struct store *s)
{
	struct held *v = s->items.v;

	for (uint32_t i = (uint32_t)s->items.n; i-- > 0;) {
		if ((v[i].state & IN_OWNED) == 0)
			continue;
		v[i].gpu = v[v[i].parent].gpu;
		v[v[i].parent].gpu = i;
	}
}

static size_t limit;

void
store_limit(size_t mem)
{
	limit = mem;
	page_start(mem);
}

size_t
store_limited(void)
{
	return limit;
}

void
store_anew(struct store *s)
{
	s->is_anew = true;
}

void
store_leave_out(struct store *s, uint32_t kinds)
{
	s->left_out = kinds;
}

void
store_show(struct store *s, uint32_t kinds, store_shown *fn, void *arg)
{
	s->shown = kinds;
	s->show = fn;
	s->show_arg = arg;
}

bool
store_read(struct store *s, struct stream_in *in)
{
	bool has_source = false;
	uint32_t src;

	for (;;) {
		enum item item = s->has_pending ? s->pending : stream_next(in);

		s->has_pending = false;
		if (item == ITEM_END) {
			/* repeated calls return the same */
			s->has_pending = true;
			s->pending = item;
			break;
		}
		if (src_of(in, item, &src) &&
		    (!has_source || src != s->source.src)) {
			if (has_source) {
				s->has_pending = true;
				s->pending = item;
				break;
			}
			begin_source(s, in, src);
			has_source = true;
		}
		if (has_source)
			take(s, in, item);
	}
	if (has_source) {
		settle(s);
		store_note_peak(s);
	}
	return has_source;
}
