/* SPDX-License-Identifier: MIT */
/* tl-diff: figures that contradict each other end it. */
#include "cmd/tl-diff/judge.h"
#include "tests/unit/child.h"
#include "tests/unit/tap.h"

/*
 * Two runs a side, of 2 events: 100 ns of compute before, 131 after. Of these
 * 10 are of one side, 7 unknown, 4 of first steps. Communication takes 9 ns.
 * The means are 50, 66 (rounded) and 5 and 5.
 */
static struct settings set = { .by = BY_OP };
static struct change rows[] = {
	{ .kernels = { 3, 3 },
	    .ns = { 100, 131 },
	    .unit_ns = { 50, 66 },
	    .diff_ns = 16,
	    .judged_ns = 5,
	    .unknown_ns = 7 },
	{ .key = { .family = FAMILY_COMM },
	    .kernels = { 1, 1 },
	    .ns = { 9, 9 },
	    .unit_ns = { 5, 5 } },
};
/* A step of 20 and one of 30 ns: compute, one idle part; twice as long. */
static struct term terms[] = {
	{ .part = TERM_STEP, .twice_ns = { 40, 60 } },
	{ .part = TERM_BUSY, .twice_ns = { 30, 44 } },
	{ .part = TERM_OPENED, .twice_ns = { 1, 2 } },
	{ .part = PART_COMPUTE, .twice_ns = { 30, 44 } },
	{ .part = 0, .twice_ns = { 10, 16 } },
	{ .part = 0, .is_named = true, .twice_ns = { 9, 16 } },
};
static struct step_group group = { .first = 0, .end = 6 };
/* Compute by rank; not all of the second's is in steps. */
static struct rank_change ranks[] = {
	{ .run_ns = { 60, 71 }, .steps_ns = { 40, 60 }, .out_ns = { 20, 11 } },
	{ .run_ns = { 40, 60 }, .steps_ns = { 35, 50 } },
};
static struct changes c;

static void
start(void)
{
	c = (struct changes){ .set = &set };
	c.rows.v = rows;
	c.rows.n = 2;
	c.clock.terms.v = terms;
	c.clock.terms.n = 6;
	c.clock.groups.v = &group;
	c.clock.groups.n = 1;
	c.ranks.list.v = ranks;
	c.ranks.list.n = 2;
	for (int s = 0; s < NSIDES; s++) {
		c.unit[s].nevents = 4;
		c.unit[s].run_ns = rows[0].ns[s] + rows[1].ns[s];
		c.family[FAMILY_COMPUTE].ns[s] = rows[0].unit_ns[s];
		c.family[FAMILY_COMM].ns[s] = rows[1].unit_ns[s];
	}
	c.family[FAMILY_COMPUTE].judged_ns = 5;
	c.family[FAMILY_COMPUTE].unknown_ns = 7;
	c.family[FAMILY_COMPUTE].within_ns = 4;
}

static void
kept(void)
{
	changes_keep_laws(&c);
}

/* Two GPU events of 4 and 6 ns below a root, each in a row; one in no tree. */
static struct node nodes[] = {
	{ .parent = NONE, .behind = 3, .first_gpu = 0 },
	{ .dur = 4, .behind = 2, .first_gpu = 0 },
	{ .dur = 6, .behind = 3, .first_gpu = 1 },
	{ .dur = 9, .parent = NONE, .behind = 4, .first_gpu = 2 },
};
static struct gpu gpus[] = { { .node = 1 }, { .node = 2 }, { .node = 3 } };
static struct diff_row events[] = { { .gpu = 1 }, { .gpu = 2 } };
static uint32_t root = 0;
static struct side tree, none;
static struct diff d = { .side = { &tree, &none } };

static void
events_kept(void)
{
	stats_keep_laws(&d);
}

static void
below(void)
{
	tree.nodes.v = nodes;
	tree.nodes.n = 4;
	tree.gpus.v = gpus;
	tree.gpus.n = 3;
	tree.roots.v = &root;
	tree.roots.n = 1;
	d.stats.v = events;
	d.stats.n = 2;
	is_int(child_run(events_kept).status, 0, "each event in a row");
	events[1].gpu = 1;
	ok(strstr(child_run(events_kept).err,
	       "diff_stats: GPU time in rows 8 is not that below roots 10") !=
		NULL,
	    "one twice, another in none");
	events[1].gpu = 2;
	d.stats.n = 1;
	ok(strstr(child_run(events_kept).err,
	       "diff_stats: rows 1 is not GPU events below roots 2") != NULL,
	    "an event in no row");
}

/* The error if a figure is off by so much; restores the figure. */
static const char *
broken(int64_t *figure, int64_t by)
{
	static struct child end;

	*figure += by;
	end = child_run(kept);
	*figure -= by;
	return end.status == EXIT_NO_ANSWER ? end.err : "";
}

#define BREAKS(figure, by, says)                                             \
	ok(strstr(broken(&(figure), by), says) != NULL &&                    \
		strstr(broken(&(figure), by), ": a defect of this") != NULL, \
	    #figure)

int
main(void)
{
	int64_t lost = 4;

	start();
	is_int(child_run(kept).status, 0, "figures that agree");
	BREAKS(rows[0].ns[1], -1,
	    "diff_ops_summary: GPU time in rows 139 is not that of the runs "
	    "140");
	BREAKS(c.unit[0].run_ns, 1,
	    "GPU time in rows 109 is not that of the runs 110");
	c.unit[1].nevents = (uint64_t)lost + 1;
	ok(strstr(child_run(kept).err,
	       "GPU events in rows 4 is not those of the runs 5") != NULL,
	    "an event in no row");
	c.unit[1].nevents = (uint64_t)lost;
	BREAKS(rows[0].judged_ns, 1,
	    "beyond noise in rows and together 6 is not beyond noise 5");
	BREAKS(c.family[FAMILY_COMPUTE].rest_ns, 3,
	    "beyond noise in rows and together 8 is not beyond noise 5");
	BREAKS(c.family[FAMILY_COMPUTE].within_ns, -4,
	    "judged, unknown and within noise 12 is not the rows' difference "
	    "16");
	BREAKS(c.family[FAMILY_COMPUTE].first.rest_ns, 2,
	    "beyond noise in rows and together 7 is not beyond noise 5");
	BREAKS(
	    c.family[FAMILY_COMPUTE].unknown_ns, 2, "within noise 18 is not");
	is_str(broken(&c.family[FAMILY_COMPUTE].ns[1], 2), "",
	    "means are rounded");
	BREAKS(c.family[FAMILY_COMPUTE].ns[1], 3,
	    "less that of the totals 3 is more than what rounding makes 2");
	BREAKS(c.family[FAMILY_COMM].ns[0], -3, "totals 3 is more than");
	BREAKS(terms[4].twice_ns[1], 1,
	    "diff_steps: twice the parts 61 is not twice the step 60");
	BREAKS(terms[1].twice_ns[0], 2,
	    "twice the GPU work 30 is not twice gpu_busy 32");
	is_str(broken(&terms[5].twice_ns[0], 2), "",
	    "what a part was spent in is no part");
	BREAKS(ranks[1].run_ns[0], 1,
	    "diff_ranks: compute of ranks 101 is not compute in rows 100");
	BREAKS(ranks[0].steps_ns[1], 1,
	    "diff_ranks: compute in steps 72 is more than compute of the rank "
	    "71");
	BREAKS(ranks[0].out_ns[0], 2, "compute in steps 62 is more than");
	is_str(broken(&ranks[1].steps_ns[0], 5), "", "all in steps");
	below();
	set.by = BY_KERNEL;
	BREAKS(rows[0].ns[1], -1, "table diff_kernels: GPU time");
	done_testing();
}
