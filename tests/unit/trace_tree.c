/* SPDX-License-Identifier: MIT */
/* Nesting, the order of a tree, and what it counts and marks. */
#include "tests/unit/trace_help.h"

#define OP KIND_OP
#define PY KIND_PYTHON
#define RT KIND_RUNTIME
#define KE KIND_KERNEL
#define WRAP "autograd::engine::evaluate_function: AddmmBackward0"

static const struct tree_opts plain;

#define TREE(rows, want, what) is_tree(rows, NROWS(rows), plain, want, what)

/* The worked example A of the description of the format. */
static void
test_example(void)
{
	static const struct row rows[] = {
		R(PY, "nn.Module: Net_0", 1, 0, 1000),
		R(PY, "nn.Module: Linear_3", 1, 10, 310),
		RX(OP, "aten::linear", 1, 20, 220, .seq = 7),
		RX(OP, "aten::addmm", 1, 30, 130, .seq = 7),
		RX(RT, "hipLaunchKernel", 1, 40, 45, .corr = 1),
		RX(KE, "k", 9, 60, 70, .corr = 1),
		RX(OP, WRAP, 2, 2000, 2300, .seq = 7),
		RX(OP, "AddmmBackward0", 2, 2010, 2210, .seq = 7),
	};
	struct tree_stats tree;
	struct link_stats link;
	struct store *s = tree_of(rows, NROWS(rows), &plain, &tree, &link);
	struct event ev;

	is_str(tree_text(s), "0(1(2(3(4(5))))) 6(7)", "A: the tree");
	is_uint(tree.in_tree, 8, "A: all are in it");
	is_uint(tree.roots, 2, "A: roots");
	ev = event_at(s, 0);
	is_uint(ev.ndesc, 5, "A: descendants");
	is_uint(ev.ngpu, 1, "A: GPU events below");
	ok((ev.shape->has & HAS_PARENT) == 0, "A: a root has no parent");
	ev = event_at(s, 5);
	is_uint(ev.parent.id, 4, "A: the kernel's parent");
	is_uint(ev.launch.id, 4, "A: the kernel's launch");
	ok((ev.shape->has & HAS_NDESC) == 0, "A: nothing below a kernel");
	ev = event_at(s, 6);
	ok((ev.shape->has & HAS_FWD) != 0, "A: the wrapper has a link");
	is_uint(ev.fwd.id, 3, "A: to the latest forward op");
	is_uint(event_at(s, 3).bwd.id, 6, "A: and back");
	store_destroy(s);
}

static void
test_bleed(void)
{
	static const struct row small[] = {
		R(OP, "p", 1, 100, 150),
		R(OP, "a", 1, 110, 120),
		R(RT, "launch", 1, 119.5, 124.5),
	};
	static const struct row whole[] = {
		R(OP, "p", 1, 100, 150),
		R(OP, "a", 1, 110, 120),
		RX(RT, "launch", 1, 119, 124, .corr = 1),
		RX(KE, "k", 9, 200, 210, .corr = 1),
	};
	static const struct row root[] = {
		R(OP, "a", 1, 110, 120),
		R(RT, "launch", 1, 119.5, 124.5),
	};
	static const struct row twice[] = {
		R(OP, "p", 1, 100, 120.5),
		R(OP, "a", 1, 110, 120),
		R(RT, "launch", 1, 119.6, 124.5),
	};
	static const struct tree_opts clip = { .clip = true };
	struct tree_stats tree;
	struct link_stats link;
	struct store *s;

	TREE(small, "0(1 2)", "B: 0.5 us over the end is a sibling");
	TREE(whole, "0(1) | 2(3)", "B: 1 us is discarded, with its kernel");
	TREE(root, "0 1", "B: a root is popped, too");
	TREE(twice, "0(1) 2", "both are popped that it bleeds over");
	s = tree_of(whole, NROWS(whole), &plain, &tree, &link);
	is_uint(event_at(s, 2).flags, EV_DISCARDED, "the mark");
	is_uint(tree.discarded[RT], 1, "and the count");
	is_uint(event_at(s, 2).ngpu, 1, "a discarded launch has its kernel");
	is_uint(event_at(s, 3).parent.id, 2, "which knows it");
	store_destroy(s);
	s = tree_of(whole, NROWS(whole), &clip, &tree, &link);
	is_str(tree_text(s), "0(1(2(3)))", "clip: it stays below");
	is_int(event_at(s, 2).dur_ns, 1000, "clip: cut at the end above");
	is_uint(tree.clipped, 1, "clip: counted");
	store_destroy(s);
}

static void
test_order(void)
{
	static const struct row equal[] = {
		R(OP, "child", 1, 100, 150),
		R(OP, "parent", 1, 100, 180),
	};
	static const struct row same[] = {
		R(OP, "a", 1, 100, 150),
		R(OP, "b", 1, 100, 150),
	};
	static const struct row zero[] = {
		R(OP, "p", 1, 100, 150),
		R(OP, "z", 1, 110, 110),
		R(OP, "q", 1, 110, 120),
		R(OP, "at the end", 1, 150, 150),
	};
	static const struct row threads[] = {
		R(OP, "late", 1, 50, 60),
		R(OP, "early", 2, 10, 100),
		R(OP, "below", 2, 20, 30),
		R(OP, "same start, longer", 3, 50, 70),
		R(OP, "first", 1, 5, 6),
		RX(OP, "no time", 1, 0, 0, .no_ts = true),
	};

	TREE(equal, "1(0)", "C: the longer one is the parent");
	TREE(same, "0(1)", "as long: the first one is");
	TREE(zero, "0(2(1)) 3", "no duration: inside what starts there");
	TREE(threads, "4 1(2) 3 0 | 5", "roots by start, then the longer");
}

static void
test_frames(void)
{
	static const struct row crossing[] = {
		R(OP, "op", 1, 0, 100),
		R(PY, "f", 1, 50, 150),
		R(OP, "below", 1, 60, 70),
	};
	static const struct row bleeds[] = {
		R(PY, "f", 1, 0, 100),
		R(PY, "g", 1, 10, 50.5),
		R(OP, "op", 1, 20, 50.8),
		R(OP, "below", 1, 30, 40),
	};
	static const struct row keeps[] = {
		R(OP, "op", 1, 0, 100),
		R(PY, "f", 1, 99.5, 110),
		R(OP, "below", 1, 99.6, 99.7),
	};
	static const struct row recompute[] = {
		R(PY, "torch/utils/checkpoint.py(1): recompute_fn", 1, 0, 100),
		R(OP, "op", 1, 10, 90),
		RX(RT, "launch", 1, 20, 30, .corr = 1),
		R(OP, "other", 1, 200, 300),
		RX(KE, "k", 9, 400, 500, .corr = 1),
	};
	static const struct tree_opts none = { .no_python = true };
	struct tree_stats tree;
	struct link_stats link;
	struct store *s;

	TREE(crossing, "0(2) | 1", "a frame that crosses an op is discarded");
	TREE(bleeds, "0(1 2(3))", "an op leaves a frame that ends before it");
	TREE(keeps, "0(2) | 1", "a frame pops no op that has more below");
	is_tree(bleeds, NROWS(bleeds), none, "2(3) | 0 1", "without frames");
	s = tree_of(recompute, NROWS(recompute), &plain, &tree, &link);
	is_str(tree_text(s), "0(1(2(4))) 3", "recompute: the tree");
	for (uint32_t i = 0; i < 5; i++)
		is_uint(event_at(s, i).flags, i == 3 ? 0 : EV_RECOMPUTE,
		    "recompute: mark of %u", i);
	is_uint(tree.regions, 1, "recompute: frames");
	is_uint(tree.recompute, 4, "recompute: marked");
	store_destroy(s);
	s = tree_of(recompute, NROWS(recompute), &none, &tree, &link);
	is_uint(event_at(s, 1).flags, 0, "recompute: no frames, no marks");
	store_destroy(s);
}

static void
test_sections(void)
{
	static const struct row rows[] = {
		RX(KIND_INSTANT, "i", 1, 5, 5, .ph = 'i'),
		R(KIND_ANNOTATION, "ProfilerStep#3", 1, 0, 100),
		R(OP, "op", 1, 10, 90),
		RX(RT, "cudaLaunchKernel", 1, 20, 30, .corr = 1),
		RX(KE, "second", 9, 60, 70, .corr = 1),
		R(OP, "below the launch", 1, 21, 22),
		RX(KE, "first", 9, 50, 55, .corr = 1),
		RX(KE, "unlinked", 9, 1, 2, .corr = 5),
		RX(KIND_META, "process_name", 1, 0, 0, .ph = 'M'),
		R(KIND_GPU_ANNOTATION, "ProfilerStep#3", 9, 50, 70),
	};
	struct tree_stats tree;
	struct link_stats link;
	struct store *s = tree_of(rows, NROWS(rows), &plain, &tree, &link);

	is_str(tree_text(s), "1 8 92(3(5 4 6)) | 0 7",
	    "prologue, tree with GPU work last and as in the file, tail");
	is_uint(event_at(s, 7).flags, EV_UNLINKED, "no launch: marked");
	is_uint(link.linked, 2, "linked");
	is_uint(link.unlinked, 1, "unlinked");
	is_uint(event_at(s, 2).ndesc, 4, "below an op");
	is_uint(event_at(s, 2).ngpu, 2, "of these on the GPU");
	store_destroy(s);
}

/* ---- properties ---- */

static uint64_t seed = 88172645463325252u;

static uint32_t
draw(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % n;
}

#define NRANDOM 120

static void
draw_rows(struct row rows[NRANDOM])
{
	static const enum kind kinds[] = { OP, OP, PY, PY, RT, KE, KIND_INSTANT,
		KIND_ANNOTATION };

	for (int i = 0; i < NRANDOM; i++) {
		struct row *r = &rows[i];

		*r = (struct row){ .kind = kinds[draw(8)], .name = "x" };
		if (r->kind == RT)
			r->name = "cudaLaunchKernel";
		r->tid = 1 + (int)draw(2);
		r->start = draw(400) / 4.0;
		r->end = r->start + draw(draw(3) == 0 ? 300 : 30) / 4.0;
		if (r->kind == RT || r->kind == KE)
			r->corr = 1 + draw(20);
		if (r->kind == KIND_INSTANT)
			r->ph = 'i';
	}
}

static void
count_visit(void *arg, uint32_t i, uint32_t depth, enum section section)
{
	(void)depth;
	(void)section;
	((unsigned *)arg)[i]++;
}

/* The nearest op or launch above, or STORE_NONE. */
static uint32_t
op_above(const struct store *s, uint32_t i)
{
	do
		i = s->items.v[i].parent;
	while (i != STORE_NONE && s->items.v[i].kind == KIND_PYTHON);
	return i;
}

static bool
is_inside(const struct store *s, uint32_t i)
{
	const struct held *it = &s->items.v[i];
	const struct held *up;

	if (it->parent == STORE_NONE || item_is(it, KINDS_GPU))
		return true;
	up = &s->items.v[it->parent];
	return up->ts_ns <= it->ts_ns && item_end(it) <= item_end(up);
}

static void
test_properties(void)
{
	static const struct tree_opts none = { .no_python = true };
	int displaced = 0, lost = 0, outside = 0, counts = 0;

	for (int round = 0; round < 300; round++) {
		struct row rows[NRANDOM];
		unsigned seen[NRANDOM] = { 0 };
		uint64_t below = 0, roots = 0;
		struct tree_stats tree;
		struct link_stats link;
		struct store *with, *without;

		draw_rows(rows);
		with = tree_of(rows, NRANDOM, &plain, &tree, &link);
		without = tree_of(rows, NRANDOM, &none, &tree, &link);
		tree_visit(with, count_visit, seen);
		for (uint32_t i = 0; i < NRANDOM; i++) {
			const struct held *it = &with->items.v[i];

			lost += seen[i] != 1;
			outside += !is_inside(with, i);
			if (item_is(it, KINDS_HOST))
				displaced +=
				    op_above(with, i) != op_above(without, i) ||
				    (it->flags & EV_DISCARDED) !=
					(without->items.v[i].flags &
					    EV_DISCARDED);
			if (!(it->state & IN_TREE))
				continue;
			if (it->parent == STORE_NONE)
				below += it->ndesc + 1;
			roots++;
		}
		for (uint32_t i = 0; i < NRANDOM; i++)
			roots += (with->items.v[i].state & IN_OWNED) &&
			    (with->items.v[with->items.v[i].parent].state &
				IN_TREE);
		counts += below != roots;
		store_destroy(with);
		store_destroy(without);
	}
	is_int(lost, 0, "each event comes out exactly once");
	is_int(displaced, 0, "frames displace no op and discard none");
	is_int(outside, 0, "children lie within their parents");
	is_int(counts, 0, "the roots' counts are all that is in the tree");
}

int
main(void)
{
	test_example();
	test_bleed();
	test_order();
	test_frames();
	test_sections();
	test_properties();
	dict_destroy(names);
	done_testing();
}
