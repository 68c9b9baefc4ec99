/* SPDX-License-Identifier: MIT */
/* Dealing out: sources and events of an input go to their parts. */
#include <stdlib.h>

#include "cmd/tl-split/split.h"
#include "trace/tree.h"

/* Events dealt out together: parts take turns, so not too few. */
#define HELD_MIN 65536

/* ---- the prologue ---- */

static void
note_one(struct part *p, uint32_t no, bool is_own)
{
	vec_push(&p->notes, ((struct hold_pick){ no, is_own }));
	p->is_due |= is_own;
}

/* To each part with these keys. */
static void
note_all(struct split *s, uint32_t no, bool is_own)
{
	for (size_t k = 0; k < s->keys.n; k++)
		note_one(part_get(s, &s->keys.v[k]), no, is_own);
}

/* Whether an event of the prologue belongs to parts, as names do not. */
static bool
is_dealt_out(const struct event *ev)
{
	return (ev->shape->has & HAS_TS) != 0 && ev->shape->kind != KIND_META &&
	    (ev->flags & EV_STUB) == 0;
}

/*
 * An annotation belongs to the part in which it starts, and is context for
 * others that it reaches into, and for the rest.
 */
static void
deal_note(struct split *s, uint32_t no, const struct event *ev)
{
	bool is_annotation = ev->shape->kind == KIND_ANNOTATION;
	struct when first = { ev->ts_ns,
		is_annotation ? split_process(s, ev->track) : NULL };
	int64_t last = ev->ts_ns;

	if (ev->shape->kind == KIND_META)
		vec_push(&s->now.names, ((struct hold_pick){ no, false }));
	if (!is_dealt_out(ev))
		return;
	if (ev->dur_ns > 0)
		last = num_add_max(ev->ts_ns, ev->dur_ns - 1);
	if (is_annotation) {
		cut_reached(s, &first, last, &s->keys);
		note_all(s, no, false);
	}
	if (by_iterations(s->set))
		iterations_take(s, ev, &first, &s->keys);
	else
		cut_parts(s, &first, &s->keys);
	note_all(s, no, true);
	if (!by_iterations(s->set) && (is_annotation || s->keys.n == 0))
		note_one(part_get(s, NULL), no, s->keys.n == 0);
}

/* No time is in an empty iteration: its parts only get its annotation. */
static void
note_empty_iterations(struct split *s)
{
	for (size_t i = 0; i < s->its.roots.n; i++) {
		const struct root *root = &s->its.roots.v[i];
		const struct step_window *w =
		    &s->cut.steps.list.v[root->window];

		if (w->start_ns < w->end_ns)
			continue;
		for (uint32_t k = 0; k < root->nparts; k++)
			note_one(part_get(s, &root->parts[k]), w->marker, true);
	}
}

/* Deals out annotations once the source's windows are known. */
static void
deal_notes(struct split *s)
{
	struct current *now = &s->now;

	if (by_iterations(s->set)) {
		if (s->cut.steps.inferred > 0) {
			char *label = source_label(&now->source, s->in->name);

			report(MSG_ITERATIONS_INFERRED, label,
			    s->cut.steps.list.n,
			    step_from_reason(s->cut.steps.from));
			free(label);
		}
		iterations_ready(s);
		note_empty_iterations(s);
	}
	/* annotations first: their copies on the GPU follow them */
	for (int rest = 0; rest < 2; rest++)
		for (uint32_t i = 0; i < now->prologue.tree.nodes.n; i++) {
			struct event ev;

			hold_event(&now->prologue, i, &ev);
			if ((ev.shape->kind != KIND_ANNOTATION) == rest)
				deal_note(s, i, &ev);
		}
	for (size_t i = 0; i < s->parts.n; i++)
		if (s->parts.v[i]->is_due)
			part_begin(s, s->parts.v[i]);
}

/* At the end of the prologue; if it has no iterations, the tree may have. */
static void
deal_prologue(struct split *s)
{
	struct current *now = &s->now;

	if (now->is_cut || s->set->by == BY_RANK)
		return;
	now->is_cut = true;
	cut_ready(&s->cut, &now->prologue);
	now->waits = by_iterations(s->set) && s->cut.steps.list.n == 0;
	if (!now->waits)
		deal_notes(s);
}

/* ---- whose an event is ---- */

static const struct forest_node *
launch_of(const struct current *now, const struct event *ev, uint32_t no)
{
	const struct forest_node *v = now->trees.tree.nodes.v;

	if ((ev->shape->has & HAS_LAUNCH) == 0)
		return NULL;
	while ((no = v[no].up) != FOREST_NONE)
		if (v[no].id == ev->launch.id && v[no].inst == ev->launch.inst)
			return &v[no];
	return NULL;
}

/* Kinds that belong to a process; rows of GPUs and the like do not. */
#define KINDS_OF_PROCESS (KINDS_HOST | KIND_BIT(KIND_PYTHON))

/* When and where an event happened; false: it is in no part. */
static bool
find_when(const struct split *s, const struct event *ev, uint32_t no,
    struct when *when)
{
	const struct forest_node *launch;

	when->ns = ev->ts_ns;
	when->pid =
	    event_is(ev, KINDS_OF_PROCESS) ? split_process(s, ev->track) : NULL;
	if (!event_is(ev, KINDS_GPU) || s->set->by_gpu_time)
		return (ev->shape->has & HAS_TS) != 0;
	launch = launch_of(&s->now, ev, no);
	if (launch == NULL)
		return false;
	when->ns = launch->ts_ns;
	when->pid = split_process(s, launch->track);
	return true;
}

/* Deals out an event of the trees at hand. */
static void
deal_out(struct split *s, const struct event *ev, uint32_t no)
{
	struct when when;
	bool has_when = find_when(s, ev, no, &when);

	s->keys.n = 0;
	if (by_iterations(s->set))
		iterations_take(s, ev, has_when ? &when : NULL, &s->keys);
	else if (has_when)
		cut_parts(s, &when, &s->keys);
	for (size_t i = 0; i < s->keys.n; i++)
		part_take(s, part_get(s, &s->keys.v[i]), no);
	if (s->keys.n > 0)
		return;
	s->nrest++;
	if (!by_iterations(s->set))
		part_take(s, part_get(s, NULL), no);
}

/* At the end of a tree in which iterations are inferred. */
static void
deal_tree(struct split *s)
{
	struct hold *trees = &s->now.trees;

	if (!s->now.waits)
		return;
	s->now.waits = false;
	(void)period_find(&s->cut.steps, &trees->tree);
	deal_notes(s);
	for (uint32_t i = 0; i < trees->tree.nodes.n; i++) {
		struct event ev;

		hold_event(trees, i, &ev);
		if ((ev.flags & EV_STUB) == 0)
			deal_out(s, &ev, i);
	}
}

/* ---- sources ---- */

static void
end_source(struct split *s)
{
	struct current *now = &s->now;

	if (!now->is_begun)
		return;
	deal_prologue(s);
	deal_tree(s);
	parts_end_source(s);
	now->is_begun = now->waits = false;
	now->metas.n = now->names.n = 0;
	hold_free(&now->prologue);
	hold_free(&now->trees);
	arena_destroy(now->mem);
}

static void
take_source(struct split *s, const struct source *source)
{
	struct current *now = &s->now;

	if (now->is_begun && now->src != source->src)
		end_source(s);
	if (!now->is_begun) {
		now->is_begun = true;
		now->is_cut = false;
		now->no++;
		now->src = source->src;
		now->mem = arena_create();
		now->prologue =
		    (struct hold){ .tree.st = s->st, .is_bare = true };
		now->trees = (struct hold){
			.tree.st = s->st, .is_all = true, .is_bare = true
		};
	}
	now->source = source_keep(now->mem, source);
	if (!now->is_cut)
		cut_clear(&s->cut, &now->source);
}

static void
take_meta(struct split *s, const struct meta *m)
{
	struct current *now = &s->now;
	struct meta kept = *m;

	if (!now->is_begun)
		return;
	kept.fact = fact_keep(now->mem, &m->fact);
	parts_meta(s, &kept);
	vec_push(&now->metas, kept);
}

static void
take_section(struct split *s, enum section section)
{
	struct current *now = &s->now;

	/* the first section may come before or after its source */
	if (section == SECTION_PROLOGUE && now->section != SECTION_NONE)
		end_source(s);
	deal_tree(s);
	parts_flush(s);
	now->section = section;
}

/* ---- events ---- */

static void
pass_rank(struct split *s, const struct event *ev)
{
	const struct fact *f = source_fact(&s->now.source, "rank");

	if (f == NULL || f->val.type != VAL_INT)
		die("%s has no rank",
		    source_label(&s->now.source, s->in->name));
	part_pass(s, part_get(s, &f->val.i), ev);
}

static void
take_event(struct split *s, const struct event *ev)
{
	struct current *now = &s->now;

	if (!now->is_begun || ev->src != now->src)
		die("%s: event %" PRIu64 " is not of the source before it",
		    s->in->name, ev->uid.id);
	if (s->set->by == BY_RANK) {
		pass_rank(s, ev);
		return;
	}
	if (now->section == SECTION_PROLOGUE) {
		hold_wait(&now->prologue, ev);
		return;
	}
	deal_prologue(s);
	if (ev->depth == 0 && !now->trees.may_be && !now->waits &&
	    now->trees.tree.nodes.n >= HELD_MIN)
		parts_flush(s);
	hold_add(&now->trees, s->in, ev, false);
	if ((ev->flags & EV_STUB) == 0 && !now->waits)
		deal_out(s, ev, (uint32_t)now->trees.tree.nodes.n - 1);
}

/* ---- streams ---- */

static void
split_tree(struct split *s, struct stream_in *in)
{
	enum item item;

	while ((item = stream_next(in)) != ITEM_END) {
		switch (item) {
		case ITEM_EVENT: take_event(s, &in->ev); break;
		case ITEM_SOURCE:
			iteration_formats_of(&in->source);
			take_source(s, &in->source);
			break;
		case ITEM_META: take_meta(s, &in->meta); break;
		case ITEM_SECTION: take_section(s, in->section); break;
		case ITEM_END: break;
		}
	}
}

/* ---- a trace that is no tree yet ---- */

struct visited {
	struct split *split;
	struct store *store;
};

static void
enter(struct split *s, enum section section)
{
	while (s->now.section < section)
		take_section(s, s->now.section + 1);
}

/* Only launches need their ids. */
static void
take_held(void *arg, uint32_t i, uint32_t depth, enum section section)
{
	const struct visited *held = arg;
	struct event ev;

	enter(held->split, section);
	if (store_is(held->store, i, KINDS_LAUNCH))
		store_event(held->store, i, &ev);
	else
		store_event_bare(held->store, i, &ev);
	ev.depth = depth;
	take_event(held->split, &ev);
}

/* Splits what tl-tree would make of it, without another stream. */
static void
split_trace(struct split *s, struct stream_in *in)
{
	struct tree_maker make = { 0 };
	struct visited held = { s, store_create(s->st) };
	const unsigned marks = in->marks;
	const struct meta *metas;
	size_t nmetas;

	stream_refuse_edited(in);
	s->in_marks |= MARK_LINKED | MARK_TREE;
	while (store_read(held.store, in)) {
		tree_make(held.store, marks, &make);
		take_section(s, SECTION_PROLOGUE);
		take_source(s, store_source(held.store));
		metas = store_metas(held.store, &nmetas);
		for (size_t i = 0; i < nmetas; i++)
			take_meta(s, &metas[i]);
		tree_visit(held.store, take_held, &held);
		enter(s, SECTION_TAIL);
		/* its events are freed when the next source begins */
		end_source(s);
	}
	tree_report(&make, in->name);
	store_destroy(held.store);
}

void
split_input(struct split *s, const char *path)
{
	struct stream_in *in = stream_open(path, s->st, WANT_STREAM);

	s->in = in;
	s->now.section = SECTION_NONE;
	s->in_marks = in->marks;
	if ((in->marks & MARK_TREE) != 0)
		split_tree(s, in);
	else
		split_trace(s, in);
	end_source(s);
	s->marks |= in->marks | s->in_marks;
	stream_close(in);
}
