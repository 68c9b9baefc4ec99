/* SPDX-License-Identifier: MIT */
/*
 * Subtrees as TraceLens prints them. A subtree is a piece of the pre-order. A
 * first pass chooses the events to show, with their depth among themselves; a
 * second, from the end, finds the last of each group of siblings; then they are
 * printed, with a prefix that has one piece per open level.
 */
#include "cmd/tl-tree/tree.h"
#include "trace/span.h"

/* An event to be shown. */
struct shown {
	uint32_t at;
	uint32_t level;
	bool is_last;
	bool is_bwd; /* a backward op after the children of its forward op */
};

/* A shown event whose subtree is not over. */
struct above {
	uint32_t depth; /* in the tree */
	uint32_t level;
	uint32_t bwd; /* index of its backward op, or FOREST_NONE */
};

struct printer {
	const struct view *v;
	struct forest *f;
	struct out *out;
	VEC(struct shown) list;
	VEC(struct above) open[2]; /* of a tree, and of a backward tree in it */
	VEC(bool) later;           /* by level: a sibling follows */
	struct buf prefix;
	VEC(uint32_t) ends; /* by level: length of the prefix there */
	struct spans spans;
	int64_t root_busy;
};

/* ---- which events ---- */

static bool
is_pruned(const struct printer *p, const struct event *ev)
{
	return !p->v->no_prune && ev->ngpu == 0 && !event_is(ev, KINDS_GPU);
}

static bool
is_wanted(const struct printer *p, const struct event *ev, uint32_t level)
{
	return (p->v->kinds == 0 || event_is(ev, p->v->kinds)) &&
	    (p->v->depth == 0 || level < p->v->depth);
}

static void choose_backward(struct printer *p, uint32_t at, uint32_t level);

/* Closes events at this depth and deeper. */
static void
close_above(struct printer *p, bool in_bwd, uint32_t depth)
{
	while (p->open[in_bwd].n > 0) {
		const struct above *top =
		    &p->open[in_bwd].v[p->open[in_bwd].n - 1];

		if (top->depth < depth)
			return;
		p->open[in_bwd].n--;
		if (top->bwd != FOREST_NONE)
			choose_backward(p, top->bwd, top->level + 1);
	}
}

static void
show(struct printer *p, bool in_bwd, uint32_t at, const struct event *ev,
    uint32_t level, bool is_root)
{
	uint32_t bwd = FOREST_NONE;

	vec_push(
	    &p->list, ((struct shown){ at, level, false, in_bwd && is_root }));
	if (!in_bwd && p->v->bwd && (ev->shape->has & HAS_BWD) != 0 &&
	    is_wanted(p, ev, level + 1))
		bwd = forest_find(p->f, ev->bwd);
	vec_push(&p->open[in_bwd], ((struct above){ ev->depth, level, bwd }));
}

/*
 * Chooses the events to show from root on: those above GPU work, the root, and
 * the first level below a backward op.
 */
static void
choose(struct printer *p, uint32_t root, uint32_t first_level, bool in_bwd)
{
	uint32_t behind = forest_behind(p->f, root), at = root;

	while (at < behind) {
		struct event ev;
		uint32_t level;
		bool keep;

		forest_event(p->f, at, &ev);
		ev.depth = forest_depth(p->f, at);
		close_above(p, in_bwd, ev.depth);
		level = first_level + (uint32_t)p->open[in_bwd].n;
		keep = at == root || (in_bwd && p->f->nodes.v[at].up == root);
		if (!keep && is_pruned(p, &ev)) {
			at = forest_behind(p->f, at);
			continue;
		}
		if (at == root || is_wanted(p, &ev, level))
			show(p, in_bwd, at, &ev, level, at == root);
		at++;
	}
	close_above(p, in_bwd, 0);
}

static void
choose_backward(struct printer *p, uint32_t at, uint32_t level)
{
	choose(p, at, level, true);
}

/* From the end: an event is the last if none of its level followed. */
static void
find_last(struct printer *p)
{
	p->later.n = 0;
	for (size_t k = p->list.n; k-- > 0;) {
		struct shown *s = &p->list.v[k];

		while (p->later.n <= (size_t)s->level + 1)
			vec_push(&p->later, false);
		s->is_last = !p->later.v[s->level];
		p->later.v[s->level] = true;
		p->later.v[s->level + 1] = false;
	}
}

/* ---- one line ---- */

/* The busy time of the GPU work at and below an index, and its kernels. */
static int64_t
busy_below(struct printer *p, uint32_t at, uint64_t *kernels)
{
	const struct forest *f = p->f;
	uint32_t behind = forest_behind(f, at);

	p->spans.n = 0;
	*kernels = 0;
	for (size_t g = forest_first_gpu(f, at);
	     g < f->gpus.n && f->gpus.v[g] < behind; g++) {
		const struct forest_node *n = &f->nodes.v[f->gpus.v[g]];

		spans_add(
		    &p->spans, n->ts_ns, num_add_max(n->ts_ns, n->dur_ns));
		*kernels += n->kind == KIND_KERNEL;
	}
	spans_normalise(&p->spans);
	return spans_total(&p->spans);
}

static void
put_gpu_time(struct printer *p, uint32_t at, bool is_root)
{
	uint64_t kernels;
	int64_t busy = busy_below(p, at, &kernels);

	if (is_root)
		p->root_busy = busy;
	out_puts(p->out, ", GPU busy us: ");
	line_us(p->out, busy);
	out_printf(p->out, ", Kernels: %" PRIu64, kernels);
	if (p->root_busy > 0)
		out_printf(p->out, ", Share: %.1f %%",
		    100.0 * (double)busy / (double)p->root_busy);
}

/* The prefix of a level, as long as its events are printed. */
static struct str
prefix_of(struct printer *p, uint32_t level)
{
	while (p->ends.n <= level)
		vec_push(&p->ends, 0);
	p->prefix.len = p->ends.v[level];
	return buf_str(&p->prefix);
}

static void
open_level(struct printer *p, uint32_t level, bool is_last)
{
	buf_puts(&p->prefix, is_last ? "    " : "│   ");
	while (p->ends.n <= (size_t)level + 1)
		vec_push(&p->ends, 0);
	p->ends.v[level + 1] = (uint32_t)p->prefix.len;
}

static void
put_fields(struct printer *p, const struct event *ev)
{
	size_t len = p->prefix.len;

	buf_puts(&p->prefix, "|   ");
	if (line_fields(p->out, p->f->st, ev, p->v, buf_str(&p->prefix))) {
		out_str(p->out, buf_str(&p->prefix));
		out_puts(p->out, "\n");
	}
	p->prefix.len = len;
}

static void
put_line(struct printer *p, const struct shown *s)
{
	const struct dict *st = p->f->st;
	struct event ev;

	forest_event(p->f, s->at, &ev);
	out_str(p->out, prefix_of(p, s->level));
	out_puts(p->out, s->is_last ? "└── " : "├── ");
	if (s->is_bwd) {
		out_puts(p->out, "[BWD] ");
		line_name(p->out, dict_get(st, ev.name), SIZE_MAX);
		out_printf(p->out, " (UID: %" PRIu64 ")", ev.uid.id);
	} else {
		line_event(p->out, st, &ev);
	}
	if (p->v->gpu_time)
		put_gpu_time(p, s->at, s->level == 0);
	out_puts(p->out, "\n");
	open_level(p, s->level, s->is_last);
	if (!s->is_bwd)
		put_fields(p, &ev);
}

static void
print_subtree(struct printer *p, uint32_t root)
{
	p->list.n = 0;
	choose(p, root, 0, false);
	find_last(p);
	for (size_t k = 0; k < p->list.n; k++)
		put_line(p, &p->list.v[k]);
}

/* ---- which roots ---- */

/*
 * Whether a root is asked for by UID, or by a pattern of names that leads to
 * GPU work.
 */
static bool
is_root_asked(const struct printer *p, const char *text, const struct event *ev)
{
	struct uid uid;

	if (view_uid(p->f, text, &uid))
		return uid_same(ev->uid, uid);
	return !is_pruned(p, ev) &&
	    str_glob(str_of(text), dict_get(p->f->st, ev->name));
}

/* Whether a key is the text given on the command line. */
static bool
key_is(const struct printer *p, struct key k, const char *text)
{
	int64_t n;

	if (text == NULL)
		return true;
	if (k.type == KEY_INT)
		return num_i64(str_of(text), &n) && n == k.n;
	return k.type == KEY_STR &&
	    str_eq(dict_get(p->f->st, (uint32_t)k.n), str_of(text));
}

static bool
is_asked(const struct printer *p, const struct event *ev)
{
	const struct view *v = p->v;

	for (size_t i = 0; i < v->roots.n; i++)
		if (is_root_asked(p, v->roots.v[i], ev))
			return true;
	return v->ext != NULL && ev->shape->kind == KIND_OP &&
	    key_is(p, ev->ext, v->ext) && key_is(p, ev->pid, v->pid) &&
	    key_is(p, ev->tid, v->tid);
}

/* All roots, unless some events are asked for. */
static bool
is_start(const struct printer *p, uint32_t at)
{
	struct event ev;

	forest_event(p->f, at, &ev);
	if (p->v->roots.n > 0 || p->v->ext != NULL)
		return is_asked(p, &ev);
	return (ev.shape->has & (HAS_DEPTH | HAS_PARENT)) == HAS_DEPTH &&
	    !is_pruned(p, &ev);
}

uint64_t
print_trees(const struct view *v, struct forest *f, struct out *out)
{
	struct printer p = { .v = v, .f = f, .out = out };
	uint64_t found = 0;

	buf_room(&p.prefix, 64); /* so that an empty prefix is not NULL */
	for (uint32_t at = 0; at < f->nodes.n;) {
		if (!is_start(&p, at)) {
			at++;
			continue;
		}
		print_subtree(&p, at);
		found++;
		at = forest_behind(f, at); /* those below are printed */
	}
	vec_free(&p.list);
	vec_free(&p.open[0]);
	vec_free(&p.open[1]);
	vec_free(&p.later);
	vec_free(&p.ends);
	buf_free(&p.prefix);
	spans_free(&p.spans);
	return found;
}
