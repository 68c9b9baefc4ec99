/* SPDX-License-Identifier: MIT */
/*
 * GPU time by stacks: a node for each distinct stack of names above GPU work,
 * Python frames and ops alike. Times are sums of durations, so that they add
 * up from the leaves. Of two sides each node has two times, and its width is
 * that of both, so that what only one of them has is seen too. Where a side has
 * several runs its times are their mean.
 *
 * Where no GPU did any work the same is made of the host: then a stack has the
 * time that its last frame spent in no other one.
 */
#include <stdlib.h>

#include "cmd/tl-html/html.h"
#include "trace/plain.h"
#include "trace/stat.h"

/* Nodes below this share of all time are not drawn: less than a pixel. */
#define SHARE_MIN 3000
#define NODES_MAX 40000

struct node {
	uint32_t name, parent, child, next; /* 0: none */
	int64_t ns[2];
};

/* Of the host: a frame that has not ended yet. */
struct frame {
	uint32_t node, depth;
	int side;
	bool is_stub;    /* above what was chosen: it has no time */
	int64_t self_ns; /* of its time what is in no frame below */
};

struct icicle {
	struct dict *dict;
	bool compares, is_host;
	uint32_t run[2], nruns[2]; /* the last one; how many there were */
	VEC(uint32_t) plain; /* by name, 1 + its plain one; 0: not asked yet */
	VEC(struct node) nodes; /* 0 is the root */
	struct map children;    /* parent and name, to a node */
	VEC(uint32_t) open;     /* by depth */
	VEC(struct frame) frames;
};

struct icicle *
icicle_new(struct dict *st, bool compares)
{
	struct icicle *t = xcalloc(1, sizeof *t);

	t->dict = st;
	t->compares = compares;
	vec_push(&t->nodes, ((struct node){ .name = INTERN_NONE }));
	return t;
}

void
icicle_free(struct icicle *t)
{
	vec_free(&t->nodes);
	vec_free(&t->open);
	vec_free(&t->frames);
	vec_free(&t->plain);
	map_free(&t->children);
	free(t);
}

static uint32_t
child_of(struct icicle *t, uint32_t parent, uint32_t name)
{
	uint64_t *place =
	    map_put(&t->children, (uint64_t)parent << 32 | name, NULL);

	if (*place == 0) {
		*place = t->nodes.n;
		vec_push(&t->nodes,
		    ((struct node){ .name = name,
			.parent = parent,
			.next = t->nodes.v[parent].child }));
		t->nodes.v[parent].child = (uint32_t)*place;
	}
	return (uint32_t)*place;
}

static uint32_t
name_of(struct icicle *t, uint32_t name)
{
	if (!t->compares || name == INTERN_NONE)
		return name;
	while (t->plain.n <= name)
		vec_push(&t->plain, 0);
	if (t->plain.v[name] == 0) {
		struct buf b = { 0 };

		name_plain(&b, dict_get(t->dict, name));
		t->plain.v[name] =
		    1 + intern_put(t->dict->text, name_one_launch(buf_str(&b)));
		buf_free(&b);
	}
	return t->plain.v[name] - 1;
}

/* What is of one run stands together. */
static void
count_run(struct icicle *t, uint32_t run, int side)
{
	if (t->nruns[side] == 0 || t->run[side] != run)
		t->nruns[side]++;
	t->run[side] = run;
}

static int64_t
mean(const struct icicle *t, const struct node *n, int side)
{
	if (!t->compares || t->nruns[side] < 2)
		return n->ns[side];
	return (n->ns[side] + t->nruns[side] / 2) / t->nruns[side];
}

/* ---- the host ---- */

/* Those of this depth and deeper; some may be no frames. */
static void
close_frames(struct icicle *t, uint32_t depth)
{
	while (t->frames.n > 0 && t->frames.v[t->frames.n - 1].depth >= depth) {
		const struct frame *top = &t->frames.v[--t->frames.n];

		if (top->self_ns > 0 && !top->is_stub)
			stat_add(
			    &t->nodes.v[top->node].ns[top->side], top->self_ns);
	}
}

/* Time of a frame is not that of the one around it, whatever is between. */
static void
take_from_above(struct icicle *t, int64_t ns)
{
	for (size_t i = t->frames.n; i-- > 0;) {
		if (t->frames.v[i].is_stub)
			continue;
		t->frames.v[i].self_ns -= ns;
		return;
	}
}

static void
push_host(struct icicle *t, const struct event *ev, uint32_t run, int side)
{
	bool is_stub = (ev->flags & EV_STUB) != 0;
	uint32_t parent = 0;

	if ((ev->shape->has & HAS_DEPTH) == 0 ||
	    !event_is(ev, KINDS_HOST | KIND_BIT(KIND_PYTHON)) ||
	    (ev->flags & EV_DUPLICATE) != 0)
		return;
	close_frames(t, ev->depth);
	if (t->frames.n > 0)
		parent = t->frames.v[t->frames.n - 1].node;
	if (!is_stub)
		take_from_above(t, ev->dur_ns);
	count_run(t, run, side);
	vec_push(&t->frames,
	    ((struct frame){
		.node = child_of(t, parent, name_of(t, ev->name)),
		.depth = ev->depth,
		.side = side,
		.is_stub = is_stub,
		.self_ns = ev->dur_ns,
	    }));
}

bool
icicle_has_gpu(const struct icicle *t)
{
	return !t->is_host && t->nruns[0] + t->nruns[1] > 0;
}

void
icicle_count_host(struct icicle *t)
{
	t->is_host = true;
}

bool
icicle_is_host(const struct icicle *t)
{
	return t->is_host;
}

void
icicle_file_end(struct icicle *t)
{
	close_frames(t, 0);
}

/* ---- GPUs ---- */

void
icicle_push(struct icicle *t, const struct event *ev, uint32_t run, int side)
{
	bool is_gpu = event_is(ev, KINDS_GPU);
	bool in_tree = (ev->shape->has & HAS_DEPTH) != 0;
	uint32_t parent = 0, depth = in_tree ? ev->depth : 0, node;

	if (t->is_host) {
		push_host(t, ev, run, side);
		return;
	}
	if ((!is_gpu && (ev->ngpu == 0 || !in_tree)) ||
	    (ev->flags & (EV_DUPLICATE | EV_DISCARDED)) != 0)
		return;
	if (depth > t->open.n) /* its ancestors are not there */
		depth = (uint32_t)t->open.n;
	if (depth > 0)
		parent = t->open.v[depth - 1];
	/* launches are called otherwise by each vendor, and do no more */
	if (t->compares && event_is(ev, KINDS_LAUNCH))
		node = parent;
	else
		node = child_of(t, parent, name_of(t, ev->name));
	if (is_gpu) {
		stat_add(&t->nodes.v[node].ns[side], ev->dur_ns);
		count_run(t, run, side);
		return;
	}
	t->open.n = depth;
	vec_push(&t->open, node);
}

/* Children come after their parents, so one pass from the end adds up. */
static void
add_up(struct icicle *t)
{
	for (size_t i = t->nodes.n; i-- > 1;)
		for (int side = 0; side < 2; side++)
			stat_add(&t->nodes.v[t->nodes.v[i].parent].ns[side],
			    t->nodes.v[i].ns[side]);
}

/* No duration is negative, so that both fit. */
static uint64_t
width(const struct icicle *t, const struct node *n)
{
	return (uint64_t)mean(t, n, 0) + (uint64_t)mean(t, n, 1);
}

static int
compare(const void *pa, const void *pb, void *arg)
{
	const struct icicle *t = arg;
	const struct node *v = t->nodes.v;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	/* the last is drawn first */
	if (width(t, &v[a]) != width(t, &v[b]))
		return width(t, &v[a]) < width(t, &v[b]) ? -1 : 1;
	return a > b ? -1 : a < b;
}

/* Pre-order, the longest first: depth, name, ns, and that of the other. */
void
icicle_put(struct icicle *t, struct names_used *names, struct buf *b)
{
	VEC(uint64_t) todo = { 0 };
	VEC(uint32_t) kids = { 0 };
	size_t n = 0;

	add_up(t);
	buf_puts(b, "[");
	vec_push(&todo, 0);
	while (todo.n > 0 && n < NODES_MAX) {
		uint64_t item = todo.v[--todo.n];
		uint32_t depth = (uint32_t)(item >> 32), i = (uint32_t)item;
		const struct node *node = &t->nodes.v[i];

		buf_printf(b, "%s%u,%u,%" PRId64, n++ > 0 ? "," : "", depth,
		    name_number(names, node->name), mean(t, node, 0));
		if (t->compares)
			buf_printf(b, ",%" PRId64, mean(t, node, 1));
		kids.n = 0;
		for (uint32_t k = node->child; k != 0; k = t->nodes.v[k].next)
			if (width(t, &t->nodes.v[k]) >
			    width(t, &t->nodes.v[0]) / SHARE_MIN)
				vec_push(&kids, k);
		if (kids.n > 0)
			qsort_r(kids.v, kids.n, sizeof *kids.v, compare, t);
		for (size_t k = 0; k < kids.n; k++)
			vec_push(
			    &todo, (uint64_t)(depth + 1) << 32 | kids.v[k]);
	}
	buf_puts(b, "]");
	vec_free(&todo);
	vec_free(&kids);
}
