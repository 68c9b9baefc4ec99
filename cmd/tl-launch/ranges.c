/* SPDX-License-Identifier: MIT */
/*
 * GPU work launched inside annotations (NVTX and roctx ranges): it belongs to
 * each range of the launching thread in which its call starts. A range is
 * projected from the start of its first GPU event to the end of its last.
 */
#include "cmd/tl-launch/launch.h"

/* The GPU work of a call, or of several. */
struct called {
	uint32_t thread;
	int64_t ts_ns; /* of the call */
	int64_t start_ns, end_ns, n;
	size_t first; /* of a call: its first GPU event */
};

void
range_event(struct program *g, const struct event *ev)
{
	const unsigned timed = HAS_TS | HAS_DUR | HAS_NAME;
	int64_t end;

	if ((ev->shape->has & timed) == timed &&
	    num_add(ev->ts_ns, ev->dur_ns, &end))
		vec_push(&g->ranges,
		    ((struct range){ ev->uid, ev->ts_ns, end, ev->name,
			ev->shape->cat, ev->track }));
}

static int
by_call(const void *x, const void *y)
{
	const struct called *a = x, *b = y;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->ts_ns > b->ts_ns) - (a->ts_ns < b->ts_ns);
}

static void
join(struct called *to, const struct called *w)
{
	if (w->n == 0)
		return;
	if (to->n == 0 || w->start_ns < to->start_ns)
		to->start_ns = w->start_ns;
	if (to->n == 0 || w->end_ns > to->end_ns)
		to->end_ns = w->end_ns;
	to->n += w->n;
}

/*
 * Ranges may cross, so each looks up its calls: in a binary tree, node i sums
 * nodes 2 i and 2 i + 1, and the calls are the leaves from node n on.
 */
typedef VEC(struct called) called_vec;

static void
make_tree(struct program *g, called_vec *tree)
{
	called_vec calls = { 0 };

	for (size_t i = 0; i < g->works.n; i++) {
		const struct launched *l = &g->works.v[i];
		const struct call *c = &g->calls.v[l->call];
		const struct called w = { dict_thread(g->sink.dict, c->track),
			c->ts_ns, l->start_ns, l->end_ns, 1, i };

		if (i > 0 && l[-1].call == l->call)
			join(&calls.v[calls.n - 1], &w);
		else
			vec_push(&calls, w);
	}
	stable_sort(calls.v, calls.n, sizeof *calls.v, by_call);
	for (size_t i = 0; i < calls.n; i++)
		vec_push(tree, ((struct called){ 0 }));
	for (size_t i = 0; i < calls.n; i++)
		vec_push(tree, calls.v[i]);
	for (size_t i = calls.n; i-- > 1;) {
		join(&tree->v[i], &tree->v[2 * i]);
		join(&tree->v[i], &tree->v[2 * i + 1]);
	}
	vec_free(&calls);
}

/* Leaf of a thread's first call at or after a time. */
static size_t
call_from(const called_vec *tree, uint32_t thread, int64_t ns)
{
	size_t n = tree->n / 2, at;
	const struct called *v = tree->v + n,
			    key = { .thread = thread, .ts_ns = ns };

	bisect(at, n, mid, by_call(&v[mid], &key) < 0);
	return n + at;
}

static struct called
work_in(const called_vec *tree, size_t from, size_t to)
{
	struct called sum = { 0 };

	for (; from < to; from /= 2, to /= 2) {
		if (from % 2 == 1)
			join(&sum, &tree->v[from++]);
		if (to % 2 == 1)
			join(&sum, &tree->v[--to]);
	}
	return sum;
}

static struct launch_record *
add_record(struct program *g, enum what what, const struct range *r)
{
	struct launch_record *rec = launch_add(g, what);

	rec->rec.uid = r->uid;
	rec->rec.track = r->track;
	rec->rec.ts_ns = r->start_ns;
	rec->name = r->name;
	rec->op = r->cat;
	return rec;
}

/* Adds each kernel of some calls; seen: the last range that has each name. */
static void
add_kernels(struct program *g, size_t range, const struct called *calls,
    size_t ncalls, struct map *seen)
{
	for (size_t i = 0; i < ncalls; i++)
		for (int64_t k = 0; k < calls[i].n; k++) {
			const struct launched *l =
			    &g->works.v[calls[i].first + (size_t)k];
			struct launch_record *rec;
			uint64_t *last;

			if (!l->is_kernel)
				continue;
			rec =
			    add_record(g, IS_RANGE_KERNEL, &g->ranges.v[range]);
			last = map_put(seen, l->name, NULL);
			rec->ngpu = *last != range + 1;
			*last = range + 1;
			rec->kernel = l->name;
			rec->kernel_ns = l->end_ns - l->start_ns;
		}
}

void
ranges_find(struct program *g)
{
	called_vec tree = { 0 };
	struct map seen = { 0 };

	if (g->ranges.n > 0 && g->works.n > 0)
		make_tree(g, &tree);
	for (size_t i = 0; i < g->ranges.n && tree.n > 0; i++) {
		const struct range *r = &g->ranges.v[i];
		uint32_t thread = dict_thread(g->sink.dict, r->track);
		size_t from = call_from(&tree, thread, r->start_ns);
		size_t to = call_from(&tree, thread, r->end_ns);
		struct called w = work_in(&tree, from, to);
		struct launch_record *rec;

		if (w.n == 0)
			continue;
		if (g->with_range_kernels)
			add_kernels(g, i, &tree.v[from], to - from, &seen);
		rec = add_record(g, IS_RANGE, r);
		rec->ngpu = w.n;
		rec->api_ns = r->end_ns - r->start_ns;
		rec->kernel_ns = w.end_ns - w.start_ns;
	}
	map_free(&seen);
	vec_free(&tree);
}
