/* SPDX-License-Identifier: MIT */
/* Events in memory: what is known of them, and adding one. */
#include "stream/category.h"
#include "trace/link.h"
#include "trace/store-inside.h"

struct store *
store_create(struct dict *st)
{
	struct store *s = xcalloc(1, sizeof *s);

	s->st = st;
	s->mem = arena_create();
	return s;
}

static void
free_threads(struct store *s)
{
	for (size_t i = 0; i < s->threads.n; i++)
		vec_free(&s->threads.v[i].open);
	s->threads.n = 0;
	s->thread_of_track.n = 0;
}

/* Makes room for the next source; keeps what depends on strings only. */
void
store_clear(struct store *s)
{
	free_threads(s);
	s->items.n = s->groups.n = s->vals.len = 0;
	map_free(&s->fwd);
	map_free(&s->bwd);
	map_free(&s->insts);
	s->launches.n = s->gpus.n = s->loose.n = s->notes.n = 0;
	s->order.n = s->starts.n = s->stack.n = 0;
	s->has_wrappers = s->is_unordered = false;
	s->is_nested = s->is_built = false;
	s->section = SECTION_NONE;
}

void
store_destroy(struct store *s)
{
	if (s == NULL)
		return;
	store_clear(s);
	big_release(&s->items);
	vec_free(&s->groups);
	big_free(s->vals.p, s->vals.bytes);
	vec_free(&s->thread_of_track);
	vec_free(&s->threads);
	vec_free(&s->names);
	vec_free(&s->shapes);
	big_release(&s->launches);
	big_release(&s->gpus);
	big_release(&s->loose);
	big_release(&s->notes);
	big_release(&s->order);
	vec_free(&s->starts);
	vec_free(&s->ends);
	vec_free(&s->stack);
	big_release(&s->scratch);
	vec_free(&s->metas);
	vec_free(&s->done);
	buf_free(&s->translated);
	arena_destroy(s->mem);
	vec_release(s);
}

uint32_t
store_count(const struct store *s)
{
	return (uint32_t)s->items.n;
}

struct dict *
store_strings(const struct store *s)
{
	return s->st;
}

const struct source *
store_source(const struct store *s)
{
	return &s->source;
}

const struct meta *
store_metas(const struct store *s, size_t *n)
{
	*n = s->metas.n;
	return s->metas.v;
}

/* What is resident: written to, not just reserved. */
void
store_note_peak(struct store *s)
{
	uint64_t bytes = s->items.n * sizeof *s->items.v + s->vals.len +
	    s->groups.n * sizeof *s->groups.v +
	    (s->launches.n + s->gpus.n) * sizeof *s->gpus.v +
	    (s->order.n + s->scratch.n) * sizeof *s->order.v;

	if (bytes <= s->peak_bytes)
		return;
	s->peak_bytes = bytes;
	s->peak_events = s->items.n;
}

uint64_t
store_peak_bytes(const struct store *s, uint64_t *nevents)
{
	*nevents = s->peak_events;
	return s->peak_bytes;
}

/* ---- properties of names, shapes and tracks ---- */

uint8_t
name_facts_slow(struct store *s, uint32_t name)
{
	struct str text = dict_get(s->st, name);
	unsigned facts = NAME_KNOWN;

	if (name == INTERN_NONE)
		return NAME_KNOWN;
	while (s->names.n <= name)
		vec_push(&s->names, 0);
	if (str_find(text, STR("launch"), true) >= 0)
		facts |= NAME_LAUNCH;
	if (str_starts(text, STR("autograd::engine::evaluate_function:")))
		facts |= NAME_WRAPPER;
	if (str_find(text, STR("torch/utils/checkpoint.py"), false) >= 0 &&
	    str_find(text, STR("recompute_fn"), false) >= 0)
		facts |= NAME_RECOMPUTE;
	if (str_eq(text, STR("cudaGraphLaunch")) ||
	    str_eq(text, STR("hipGraphLaunch")))
		facts |= NAME_GRAPH;
	if (link_launches_nothing(text))
		facts |= NAME_NO_LAUNCH;
	if (str_starts(text, STR("Optimizer.step")))
		facts |= NAME_OPTIMIZER;
	s->names.v[name] = (uint8_t)facts;
	return (uint8_t)facts;
}

static void
learn_shape(struct store *s, const struct shape *shape, struct shape_facts *f)
{
	f->known = true;
	f->is_slice = (KIND_BIT(shape->kind) & KINDS_SLICE) != 0;
	for (uint32_t i = 0; i < shape->nentries; i++) {
		const struct entry *e = &shape->entries[i];
		struct str key = dict_get(s->st, e->key);

		if (e->group != GROUP_ARGS)
			continue;
		if (str_eq(key, STR("Sequence number")))
			f->seq = (uint16_t)(i + 1);
		else if (str_eq(key, STR("Fwd thread id")))
			f->thread = (uint16_t)(i + 1);
	}
}

const struct shape_facts *
shape_facts(struct store *s, uint32_t shape)
{
	while (s->shapes.n <= shape)
		vec_push(&s->shapes, (struct shape_facts){ 0 });
	if (UNLIKELY(!s->shapes.v[shape].known))
		learn_shape(s, s->st->shapes.v[shape], &s->shapes.v[shape]);
	return &s->shapes.v[shape];
}

/* Numbers the (process, thread) of a track, which the dictionary knows. */
static uint32_t
learn_thread(struct store *s, uint32_t track)
{
	uint32_t first = dict_thread(s->st, track), *no;

	while (s->thread_of_track.n <= track) /* first is no later one */
		vec_push(&s->thread_of_track, 0);
	no = s->thread_of_track.v;
	if (no[first] == 0) {
		vec_push(&s->threads, (struct thread){ 0 });
		no[first] = (uint32_t)s->threads.n;
	}
	no[track] = no[first];
	return no[track] - 1;
}

static inline struct thread *
thread_of(struct store *s, uint32_t track)
{
	uint32_t no;

	if (LIKELY(track < s->thread_of_track.n) &&
	    LIKELY(s->thread_of_track.v[track] != 0))
		no = s->thread_of_track.v[track] - 1;
	else
		no = learn_thread(s, track); /* may move the threads */
	return &s->threads.v[no];
}

/* ---- adding ---- */

/*
 * A B waits for its E; the pair is a slice from the one to the other. Replaces
 * what an earlier pairing set.
 */
static void
pair(struct store *s, const struct event *ev, uint32_t i, struct thread *t)
{
	struct held *e = &s->items.v[i], *b;
	enum kind kind;

	if (ev->shape->ph == 'B') {
		if ((e->flags & EV_PAIRED) != 0)
			e->dur_ns = 0;
		e->flags = (uint16_t)((e->flags & ~EV_PAIRED) | EV_UNCLOSED);
		vec_push(&t->open, i);
		return;
	}
	e->flags &= (uint16_t)~EV_PAIRED;
	if (t->open.n == 0) {
		t->nends +=
		    category_kind(dict_get(s->st, ev->shape->cat), &kind) &&
		    (KIND_BIT(kind) & KINDS_UNCLOSED) != 0;
		return;
	}
	b = &s->items.v[t->open.v[--t->open.n]];
	b->flags = (uint16_t)((b->flags & ~EV_UNCLOSED) | EV_PAIRED);
	e->flags |= EV_PAIRED;
	if ((ev->shape->has & HAS_TS) == 0 || (b->state & IN_TIME) == 0 ||
	    e->ts_ns <= b->ts_ns)
		return;
	if (__builtin_sub_overflow(e->ts_ns, b->ts_ns, &b->dur_ns))
		b->dur_ns = INT64_MAX;
}

static void
note_keys(struct store *s, const struct event *ev, uint32_t i)
{
	struct corr c = { ev->corr.n, i, ev->corr.type };

	if (event_is(ev, KINDS_GPU)) {
		if (c.type == KEY_NONE)
			big_push(&s->loose, i);
		else
			big_push(&s->gpus, c);
	} else if (c.type != KEY_NONE) {
		big_push(&s->launches, c);
	}
}

static uint64_t
uid_bits(struct uid uid)
{
	return uid.id | (uint64_t)uid.inst << 32;
}

/*
 * Links that the stream already has: in a tree the place, by depth; otherwise
 * ids, until all events are there.
 */
static void
note_links(struct store *s, const struct event *ev, uint32_t i)
{
	struct held *it = &s->items.v[i];
	unsigned has = ev->shape->has;

	if (s->section == SECTION_TREE)
		it->state |= IN_TREE;
	if (s->was_tree) {
		if (s->stack.n > ev->depth)
			s->stack.n = ev->depth;
		if (s->stack.n > 0)
			it->parent = s->stack.v[s->stack.n - 1];
		vec_push(&s->stack, i);
		it->ndesc = (uint32_t)ev->ndesc;
		it->ngpu = (uint32_t)ev->ngpu;
	} else if (has & HAS_LAUNCH) {
		it->parent = (uint32_t)ev->launch.id;
	}
	if (has & HAS_LAUNCH)
		it->state |= IN_OWNED;
	if (has & HAS_FWD) {
		*map_put(&s->fwd, i, NULL) = uid_bits(ev->fwd);
		it->state |= IN_FWD;
	}
	if (has & HAS_BWD) {
		*map_put(&s->bwd, i, NULL) = uid_bits(ev->bwd);
		it->state |= IN_BWD;
	}
}

static void
put_vals(struct store *s, struct held *it, const struct event *ev)
{
	struct str vals = event_vals(ev, &s->translated);
	uint64_t at;

	if (((s->items.n - 1) % ITEM_GROUP) == 0)
		vec_push(&s->groups, s->vals.len);
	at = s->vals.len - s->groups.v[s->groups.n - 1];
	if (UNLIKELY(at > UINT32_MAX))
		die("event %" PRIu64 ": its arguments are too long",
		    ev->uid.id);
	it->vals = (uint32_t)at;
	if (UNLIKELY(s->vals.bytes - s->vals.len < vals.len))
		s->vals.p =
		    big_grow(s->vals.p, &s->vals.bytes, s->vals.len + vals.len);
	if (vals.len > 0)
		memcpy(s->vals.p + s->vals.len, vals.p, vals.len);
	s->vals.len += vals.len;
}

/* Ids must fit into 32 bits, and so must the number of events. */
static void
check_room(const struct store *s, const struct event *ev)
{
	if (UNLIKELY(ev->uid.id > UINT32_MAX))
		die("event %" PRIu64 ": ids beyond %" PRIu32 " can't be linked",
		    ev->uid.id, UINT32_MAX);
	if (UNLIKELY(s->items.n >= STORE_NONE - 1))
		die("a source of more than %" PRIu32 " events can't be linked",
		    STORE_NONE - 1);
}

void
store_add(struct store *s, const struct event *ev)
{
	uint32_t i = (uint32_t)s->items.n;
	struct thread *t = thread_of(s, ev->track);
	struct held *it;

	check_room(s, ev);
	if (UNLIKELY((s->items.n + 1) * sizeof *it > s->items.bytes))
		big_reserve(&s->items, s->items.n + 1);
	it = &s->items.v[s->items.n++];
	*it = (struct held){
		.ts_ns = ev->ts_ns,
		.dur_ns = ev->dur_ns,
		.shape = ev->shape_id,
		.track = ev->track,
		.name = ev->name,
		.id = (uint32_t)ev->uid.id,
		.parent = STORE_NONE,
		.gpu = STORE_NONE,
		.flags = (uint16_t)(ev->flags & s->flags_kept),
		.kind = ev->shape->kind,
		.state = (uint8_t)((ev->shape->has & HAS_TS ? IN_TIME : 0) |
		    (ev->shape->is_hlo ? IN_HLO : 0)),
	};
	put_vals(s, it, ev);
	if (UNLIKELY(ev->uid.inst != 0)) {
		*map_put(&s->insts, i, NULL) = ev->uid.inst;
		it->state |= IN_INST;
	}
	if (i > 0 && UNLIKELY(it[-1].id >= it->id))
		s->is_unordered = !s->was_tree;
	if (UNLIKELY(s->keeps_links))
		note_links(s, ev, i);
	if (event_is(ev, KINDS_GPU | KINDS_LAUNCH))
		note_keys(s, ev, i);
	if (it->kind == KIND_ANNOTATION)
		big_push(&s->notes, i);
	if (event_is(ev, KINDS_NESTED) && (it->state & IN_TIME)) {
		t->nhost++;
		t->has_frames |= it->kind == KIND_PYTHON;
		if (UNLIKELY(!s->has_wrappers) && it->kind == KIND_OP &&
		    (name_facts(s, ev->name) & NAME_WRAPPER) != 0)
			s->has_wrappers = true;
	}
	if (UNLIKELY(ev->shape->ph == 'B' || ev->shape->ph == 'E') &&
	    !s->was_tree)
		pair(s, ev, i, t);
}
