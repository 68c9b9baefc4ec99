/* SPDX-License-Identifier: MIT */
/*
 * GPU time by stack: a node per distinct stack of names above GPU work, Python
 * frames and ops alike. Times are sums of durations and add up from the leaves.
 * With two sides a node has two times, and is as wide as their sum to show what
 * only one side has. Several runs of a side give their mean. The host's tree
 * has, per stack, the time its last frame spent in no other one.
 */
#include <stdlib.h>

#include "cmd/tl-html/html.h"
#include "trace/merged.h"
#include "trace/plain.h"
#include "trace/stat.h"

/* Nodes below 1/SHARE_MIN of all time are less than a pixel. */
#define SHARE_MIN 3000
#define NODES_MAX 40000

struct icicle {
	struct dict *dict;
	bool compares, is_host;
	uint32_t run[2], nruns[2]; /* the last run; number of runs */
	VEC(uint32_t) plain; /* by name: 1 + its plain name; 0: not yet known */
	struct merged tree;
};

struct icicle *
icicle_new(struct dict *st, bool compares, bool is_host)
{
	struct icicle *t = xcalloc(1, sizeof *t);

	t->dict = st;
	t->compares = compares;
	t->is_host = is_host;
	merged_start(&t->tree);
	return t;
}

void
icicle_free(struct icicle *t)
{
	merged_free(&t->tree);
	vec_free(&t->plain);
	free(t);
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

/* The event's node below the innermost open one. */
static uint32_t
child_of(struct icicle *t, const struct event *ev)
{
	return merged_child(
	    &t->tree, merged_top(&t->tree, 0), name_of(t, ev->name));
}

/* Events of a run are contiguous. */
static void
count_run(struct icicle *t, uint32_t run, int side)
{
	if (t->nruns[side] == 0 || t->run[side] != run)
		t->nruns[side]++;
	t->run[side] = run;
}

static int64_t
mean(const struct icicle *t, const struct merged_node *n, int side)
{
	if (!t->compares || t->nruns[side] < 2)
		return n->ns[side];
	return (n->ns[side] + t->nruns[side] / 2) / t->nruns[side];
}

/* ---- the host ---- */

static void
push_host(struct icicle *t, const struct event *ev, uint32_t run, int side)
{
	if ((ev->shape->has & HAS_DEPTH) == 0 ||
	    !event_is(ev, KINDS_HOST | KIND_BIT(KIND_PYTHON)) ||
	    (ev->flags & EV_DUPLICATE) != 0)
		return;
	merged_close(&t->tree, ev->depth);
	count_run(t, run, side);
	/* a stub is not selected: no time */
	merged_open(&t->tree, child_of(t, ev), ev->depth,
	    (ev->flags & EV_STUB) != 0 ? MERGED_UNTIMED : ev->dur_ns, side);
}

bool
icicle_is_empty(const struct icicle *t)
{
	return t->nruns[0] + t->nruns[1] == 0;
}

void
icicle_file_end(struct icicle *t)
{
	merged_close(&t->tree, 0);
}

/* ---- GPUs ---- */

void
icicle_push(struct icicle *t, const struct event *ev, uint32_t run, int side)
{
	bool is_gpu = event_is(ev, KINDS_GPU);
	bool in_tree = (ev->shape->has & HAS_DEPTH) != 0;
	uint32_t node;

	if (t->is_host) {
		push_host(t, ev, run, side);
		return;
	}
	if ((!is_gpu && (ev->ngpu == 0 || !in_tree)) ||
	    (ev->flags & (EV_DUPLICATE | EV_DISCARDED)) != 0)
		return;
	merged_close(&t->tree, in_tree ? ev->depth : 0);
	/* vendors name launches differently, and launches add nothing */
	if (t->compares && event_is(ev, KINDS_LAUNCH))
		return;
	node = child_of(t, ev);
	if (!is_gpu) {
		merged_open(&t->tree, node, ev->depth, MERGED_UNTIMED, side);
		return;
	}
	stat_add(&t->tree.nodes.v[node].ns[side], ev->dur_ns);
	count_run(t, run, side);
}

/* Both fit: no duration is negative. */
static uint64_t
width(const struct icicle *t, const struct merged_node *n)
{
	return (uint64_t)mean(t, n, 0) + (uint64_t)mean(t, n, 1);
}

static int
compare(const void *pa, const void *pb, void *arg)
{
	const struct icicle *t = arg;
	const struct merged_node *v = t->tree.nodes.v;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	/* the last is drawn first */
	if (width(t, &v[a]) != width(t, &v[b]))
		return width(t, &v[a]) < width(t, &v[b]) ? -1 : 1;
	return a > b ? -1 : a < b;
}

typedef VEC(uint32_t) node_vec;

/* The visible children of a node; the last is drawn first. */
static void
add_kids(const struct icicle *t, uint32_t i, node_vec *todo)
{
	const struct merged_node *v = t->tree.nodes.v;
	size_t first = todo->n;

	for (uint32_t k = v[i].kid; k != 0; k = v[k].next)
		if (width(t, &v[k]) > width(t, &v[0]) / SHARE_MIN)
			vec_push(todo, k);
	if (todo->n > first)
		qsort_r(todo->v + first, todo->n - first, sizeof *todo->v,
		    compare, (void *)t);
}

/* Pre-order, the longest first: depth, name, ns, the other side's ns. */
void
icicle_put(struct icicle *t, struct names_used *names, struct buf *b)
{
	node_vec todo = { 0 };
	size_t n = 0;

	buf_puts(b, "[");
	merged_add_up(&t->tree);
	vec_push(&todo, 0);
	while (todo.n > 0 && n < NODES_MAX) {
		uint32_t i = todo.v[--todo.n];
		const struct merged_node *node = &t->tree.nodes.v[i];

		buf_printf(b, "%s%u,%u,%" PRId64, n++ > 0 ? "," : "",
		    node->level, name_number(names, node->name),
		    mean(t, node, 0));
		if (t->compares)
			buf_printf(b, ",%" PRId64, mean(t, node, 1));
		add_kids(t, i, &todo);
	}
	buf_puts(b, "]");
	vec_free(&todo);
}
