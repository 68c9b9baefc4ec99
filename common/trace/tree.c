/* SPDX-License-Identifier: MIT */
/*
 * The order of a tree stream. The host events of a thread lie in pre-order, so
 * a tree is a piece of that order; roots of all threads are merged by (start,
 * longer first, id), and GPU events follow the last host event below their
 * launch.
 */
#include "trace/link.h"
#include "trace/store-inside.h"

struct visit {
	struct store *s;
	tree_visitor *fn;
	void *arg;
	u32_vec stack; /* open host events */
	/* the next root of each thread: a heap, the first one on top */
	u32_vec heap;
	uint32_t *next; /* by thread: place of its root */
};

/* ---- the tree ---- */

static void
visit_gpu(
    struct visit *v, uint32_t launch, uint32_t depth, enum section section)
{
	const struct held *items = v->s->items.v;

	for (uint32_t g = items[launch].gpu; g != STORE_NONE; g = items[g].gpu)
		v->fn(v->arg, g, depth, section);
}

static inline void
close_top(struct visit *v)
{
	uint32_t i = v->stack.v[--v->stack.n];

	visit_gpu(v, i, (uint32_t)v->stack.n + 1, SECTION_TREE);
}

static void
visit_subtree(struct visit *v, uint32_t from, uint32_t to)
{
	const struct store *s = v->s;

	for (uint32_t pos = from; pos < to; pos++) {
		uint32_t i = s->order.v[pos];
		uint32_t parent = s->items.v[i].parent;

		while (v->stack.n > 0 && v->stack.v[v->stack.n - 1] != parent)
			close_top(v);
		if (pos + 8 < to)
			__builtin_prefetch(&s->items.v[s->order.v[pos + 8]]);
		v->fn(v->arg, i, (uint32_t)v->stack.n, SECTION_TREE);
		vec_push(&v->stack, i);
	}
	while (v->stack.n > 0)
		close_top(v);
}

/* Past the end of the tree whose root is at pos. */
static uint32_t
behind(const struct store *s, uint32_t pos)
{
	const struct held *root = &s->items.v[s->order.v[pos]];

	return pos + 1 + root->ndesc - root->ngpu;
}

static bool
root_before(const struct visit *v, uint32_t a, uint32_t b)
{
	const uint32_t *order = v->s->order.v;

	return item_before(v->s->items.v, order[v->next[a]], order[v->next[b]]);
}

static void
sift_down(struct visit *v, size_t at)
{
	uint32_t *heap = v->heap.v;
	size_t n = v->heap.n;

	for (;;) {
		size_t kid = 2 * at + 1;
		uint32_t swap;

		if (kid >= n)
			return;
		if (kid + 1 < n && root_before(v, heap[kid + 1], heap[kid]))
			kid++;
		if (!root_before(v, heap[kid], heap[at]))
			return;
		swap = heap[at];
		heap[at] = heap[kid];
		heap[kid] = swap;
		at = kid;
	}
}

static void
visit_trees(struct visit *v)
{
	const struct store *s = v->s;
	size_t nthreads = s->threads.n;

	v->next = xmalloc((nthreads + 1) * sizeof *v->next);
	for (uint32_t t = 0; t < nthreads; t++) {
		v->next[t] = s->starts.v[t];
		if (s->starts.v[t] < s->starts.v[t + 1])
			vec_push(&v->heap, t);
	}
	for (size_t at = v->heap.n / 2; at-- > 0;)
		sift_down(v, at);
	while (v->heap.n > 0) {
		uint32_t t = v->heap.v[0], from = v->next[t];

		v->next[t] = behind(s, from);
		visit_subtree(v, from, v->next[t]);
		if (v->next[t] == s->starts.v[t + 1])
			v->heap.v[0] = v->heap.v[--v->heap.n];
		sift_down(v, 0);
	}
	vec_release(v->next);
	vec_free(&v->heap);
	vec_free(&v->stack);
}

/* ---- before and after it ---- */

static void
visit_prologue(struct visit *v)
{
	const struct store *s = v->s;

	for (uint32_t i = 0; i < s->items.n; i++)
		if (item_is(&s->items.v[i], KINDS_PROLOGUE))
			v->fn(v->arg, i, 0, SECTION_PROLOGUE);
}

/* Events outside the tree; GPU events of a launch there are below it. */
static void
visit_tail(struct visit *v)
{
	const struct store *s = v->s;

	for (uint32_t i = 0; i < s->items.n; i++) {
		const struct held *it = &s->items.v[i];
		bool is_gpu = item_is(it, KINDS_GPU);

		if ((it->state & (IN_TREE | IN_OWNED)) != 0 ||
		    item_is(it, KINDS_PROLOGUE))
			continue;
		v->fn(v->arg, i, 0, SECTION_TAIL);
		if (!is_gpu)
			visit_gpu(v, i, 1, SECTION_TAIL);
	}
}

/* A tree that was read: keeps its order. */
static void
visit_as_read(struct visit *v)
{
	const struct store *s = v->s;

	for (uint32_t i = 0; i < s->items.n; i++) {
		const struct held *it = &s->items.v[i];

		while (
		    v->stack.n > 0 && v->stack.v[v->stack.n - 1] != it->parent)
			v->stack.n--;
		v->fn(v->arg, i, (uint32_t)v->stack.n,
		    (it->state & IN_TREE) != 0        ? SECTION_TREE
			: item_is(it, KINDS_PROLOGUE) ? SECTION_PROLOGUE
						      : SECTION_TAIL);
		vec_push(&v->stack, i);
	}
	vec_free(&v->stack);
}

void
tree_visit(struct store *s, tree_visitor *fn, void *arg)
{
	struct visit v = { .s = s, .fn = fn, .arg = arg };

	if (s->was_tree) {
		visit_as_read(&v);
		return;
	}
	visit_prologue(&v);
	visit_trees(&v);
	visit_tail(&v);
}

/* ---- writing ---- */

struct writer {
	struct store *s;
	struct stream_out *out;
	enum section section;
	bool is_ndjson;
	struct event ev;
};

/* Facts and metadata to a stream. */
static void
store_write_head(const struct store *s, struct stream_out *out)
{
	stream_write_source(out, &s->source);
	for (size_t i = 0; i < s->metas.n; i++)
		stream_write_meta(out, &s->metas.v[i]);
}

static void
enter(struct writer *w, enum section section)
{
	while (w->section < section)
		stream_write_section(w->out, ++w->section);
}

static void
write_one(void *arg, uint32_t i, uint32_t depth, enum section section)
{
	struct writer *w = arg;
	struct event *ev = &w->ev;

	if (UNLIKELY(section != w->section))
		enter(w, section);
	if (w->is_ndjson)
		store_event(w->s, i, ev);
	else
		store_event_fast(w->s, i, ev);
	ev->depth = depth;
	stream_write(w->out, ev);
}

void
tree_write(struct store *s, struct stream_out *out, bool is_ndjson)
{
	struct writer w = { .s = s, .out = out, .is_ndjson = is_ndjson };

	enter(&w, SECTION_PROLOGUE);
	store_write_head(s, out);
	tree_visit(s, write_one, &w);
	enter(&w, SECTION_TAIL);
}

void
link_write(struct store *s, struct stream_out *out, bool is_ndjson)
{
	struct writer w = { .s = s, .out = out, .is_ndjson = is_ndjson };

	store_write_head(s, out);
	for (uint32_t i = 0; i < s->items.n; i++)
		write_one(&w, i, 0, SECTION_NONE);
}

void
link_pass_on(struct stream_in *in, struct stream_out *out)
{
	enum item item;

	while ((item = stream_next(in)) != ITEM_END)
		stream_pass_on(out, in, item);
	stream_mark(out, in->marks);
}

/* ---- all of it ---- */

void
tree_make(struct store *s, unsigned marks, struct tree_maker *m)
{
	bool has_tree = (marks & MARK_TREE) != 0 && !m->is_anew;
	bool has_links =
	    (marks & (MARK_LINKED | MARK_TREE)) != 0 && !m->is_anew;

	if (has_links)
		store_count_links(s, &m->link);
	else
		store_link(s, m->by, &m->link);
	if (!has_tree)
		tree_build(s, &m->opts, &m->tree);
	if (!has_links)
		store_link_backward(s, &m->link);
}

void
tree_report(const struct tree_maker *m, const char *name)
{
	uint64_t discarded = tree_discarded(&m->tree);

	link_report(&m->link, name);
	if (discarded > 0)
		report(MSG_OVERLAPS, name, discarded);
	if (m->tree.not_inferred > 0)
		report(MSG_STEPS_NOT_INFERRED, name, m->tree.not_inferred);
	if (m->tree.steps_aside > 0)
		report(
		    MSG_STEPS_ASIDE, name, m->tree.steps_aside, m->tree.steps);
}
