/* SPDX-License-Identifier: MIT */
/* Trees in memory: positions, and the effect of changes. */
#include "tests/unit/trace_help.h"
#include "trace/forest.h"

#define OP KIND_OP
#define RT KIND_RUNTIME
#define KE KIND_KERNEL

/*
 * Numbers of the nodes: a 0 [ b 1 [ launch 2 [ k1 3 ] ] c 4 ], d 5 [ launch 6
 * [ k2 7 k3 8 ] ]. Their ids are those of the rows.
 */
static const struct row rows[] = {
	R(OP, "a", 1, 0, 100),
	R(OP, "b", 1, 10, 50),
	RX(RT, "cudaLaunchKernel", 1, 20, 30, .corr = 1),
	RX(KE, "k1", 9, 120, 130, .corr = 1),
	R(OP, "c", 1, 60, 70),
	R(OP, "d", 1, 200, 300),
	RX(RT, "cudaLaunchKernel", 1, 210, 220, .corr = 2),
	RX(KE, "k2", 9, 310, 320, .corr = 2),
	RX(KE, "k3", 9, 330, 340, .corr = 2),
};

struct reading {
	struct store *s;
	struct forest f;
};

static void
add(void *arg, uint32_t i, uint32_t depth, enum section section)
{
	struct reading *r = arg;
	struct event ev;

	if (section != SECTION_TREE)
		return;
	store_event(r->s, i, &ev);
	ev.depth = depth;
	forest_add(&r->f, &ev, "test");
}

/* All ids in the order of the trees, each with its depth. */
static void
is_forest(const struct forest *f, const char *want, const char *what)
{
	struct buf b = { 0 };

	for (uint32_t r = f->first_root; r != FOREST_NONE;
	     r = f->nodes.v[r].next)
		for (uint32_t i = r; i != FOREST_NONE; i = forest_next(f, i, r))
			buf_printf(&b, "%s%" PRIu64 "@%" PRIu32,
			    b.len > 0 ? " " : "", f->nodes.v[i].id,
			    forest_depth(f, i));
	buf_putc(&b, '\0');
	is_str(b.p, want, "%s", what);
	buf_free(&b);
}

static void
test_looking(struct forest *f)
{
	struct event ev;

	is_forest(f, "0@0 1@1 2@2 3@3 4@1 5@0 6@1 7@2 8@2", "as it was read");
	ok(forest_behind(f, 1) == 4 && forest_behind(f, 0) == 5 &&
		forest_behind(f, 3) == 4 && forest_behind(f, 6) == 9,
	    "the next one that is not below");
	ok(forest_first_gpu(f, 0) == 0 && forest_first_gpu(f, 4) == 1 &&
		forest_first_gpu(f, 8) == 2 && f->gpus.n == 3,
	    "GPU events are a range");
	ok(forest_find(f, (struct uid){ 7, 0 }) == 7 &&
		forest_find(f, (struct uid){ 99, 0 }) == FOREST_NONE,
	    "by uid");
	forest_event(f, 3, &ev);
	ok(ev.uid.id == 3 && ev.launch.id == 2 && ev.ts_ns == 120000 &&
		str_eq(forest_name(f, 3), STR("k1")),
	    "an event");
}

static void
test_changing(struct forest *f)
{
	uint32_t made = forest_copy(f, f, 4);

	forest_put_above(f, made, 1);
	is_forest(f, "0@0 4@1 1@2 2@3 3@4 4@1 5@0 6@1 7@2 8@2",
	    "a new node above another");
	forest_unhook(f, 7);
	forest_hang(f, 7, 2);
	is_forest(f, "0@0 4@1 1@2 2@3 3@4 7@4 4@1 5@0 6@1 8@2",
	    "the first one moves elsewhere");
	forest_unhook(f, 8);
	is_forest(
	    f, "0@0 4@1 1@2 2@3 3@4 7@4 4@1 5@0 6@1", "the last one goes");
	forest_unhook(f, 5);
	is_forest(f, "0@0 4@1 1@2 2@3 3@4 7@4 4@1", "a root goes");
	forest_hang(f, 5, FOREST_NONE);
	is_forest(f, "0@0 4@1 1@2 2@3 3@4 7@4 4@1 5@0 6@1", "and comes back");
}

int
main(void)
{
	struct tree_stats tree;
	struct link_stats link;
	struct reading r = { 0 };

	r.s =
	    tree_of(rows, NROWS(rows), &(struct tree_opts){ 0 }, &tree, &link);
	forest_start(&r.f, names);
	tree_visit(r.s, add, &r);
	test_looking(&r.f);
	test_changing(&r.f);
	forest_clear(&r.f);
	is_forest(&r.f, "", "empty again");
	forest_free(&r.f);
	store_destroy(r.s);
	dict_destroy(names);
	done_testing();
}
