/* SPDX-License-Identifier: MIT */
/* tl-advise: gains of more than the time of the trace end it. */
#include "cmd/tl-advise/advise.h"
#include "tests/unit/child.h"
#include "tests/unit/tap.h"

static const struct rule gap = { .name = STR_INIT("gap"),
	.section = STR_INIT("system") };
static const struct rule roof = { .name = STR_INIT("roof"),
	.section = STR_INIT("compute") };
static const struct rule fusion = { .name = STR_INIT("chain"),
	.section = STR_INIT("fusion") };

/* Of 1 ms, 0.1 not recorded: gains of 0.4 in a gap and 0.5 of GPU work. */
static struct finding list[] = {
	{ .rule = &roof,
	    .claims = STR_INIT("gpu/1"),
	    .gain_ns = { 400000, 500000, 600000 } },
	{ .rule = &gap,
	    .claims = STR_INIT("host/1"),
	    .gain_ns = { 300000, 400000, 900000 } },
	{ .rule = &gap,
	    .claims = STR_INIT("host"),
	    .overlaps = 2,
	    .gain_ns = { 100000, 300000, 300000 } },
	{ .rule = &fusion, .gain_ns = { 500000, 600000, 2000000 } },
};
static struct advice a;

static void
keep(void)
{
	advice_keep_laws(&a, "in.json");
}

/* What it says at the end, or "". */
static const char *
said(void)
{
	static struct child end;

	end = child_run(keep);
	return end.status == EXIT_NO_ANSWER ? end.err : "";
}

int
main(void)
{
	a.findings.v = list;
	a.findings.n = sizeof list / sizeof *list;
	a.window_ns = a.total_ns = 1000000;
	a.missing_ns = 100000;
	is_str(said(), "", "gains within the window; fusion is another view");
	list[1].gain_ns[HIGH] = 1010001;
	ok(strstr(said(),
	       "in.json: gap would save 1.010 ms of 1.000 ms: its tables or") !=
		NULL,
	    "more than the window");
	list[1].gain_ns[HIGH] = 1010000;
	is_str(said(), "", "but for the seams of kernels");
	list[1].gain_ns[MID] = 410001;
	ok(strstr(said(), "in.json: all findings together would save 910") !=
		NULL,
	    "more than was recorded");
	list[2].overlaps = 0;
	list[1].gain_ns[MID] = 400000;
	ok(strstr(said(), "would save 1.200 ms of 1.000 ms") != NULL,
	    "time that counts twice");
	list[2].confidence = STR("low");
	is_str(said(), "", "but for a guess");
	list[2].confidence = STR("high");
	a.late.rank = STR("3");
	ok(strstr(said(), "would save 1.200 ms of 1.000 ms") != NULL,
	    "of a late rank GPU work is its own as well");
	list[0].gain_ns[MID] = 300000;
	is_str(said(), "", "what is missing is a mean over all");
	list[1].gain_ns[MID] = 410001;
	ok(strstr(said(), "would save 1.010 ms of 1.000 ms") != NULL,
	    "nor more than its window");
	done_testing();
}
