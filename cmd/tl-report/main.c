/* SPDX-License-Identifier: MIT */
/*
 * tl-report: what did the time go on, in one command.
 *
 * It computes nothing itself: each figure is that of the program beside it.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "stream/stream.h"
#include "table/table.h"

#include "cmd/tl-report/report.h"

/* Who gets an option; it may be several. */
enum {
	FOR_REPORT = 1,
	FOR_TIMELINE = 2,
	FOR_OPS = 4,
	FOR_KERNELS = 8,
	FOR_ROOFLINE = 16,
	FOR_COLLECTIVE = 32,
	FOR_ALL = 64,     /* it chooses events */
	FOR_SHEETS = 128, /* nothing of it is on the screen */
	FOR_SHORT = 256,  /* only with --short */
	FOR_FRAMES = 512, /* Python frames count in it */
};

static const struct row {
	int ch; /* 0: long form only */
	const char *name, *arg;
	unsigned who;
	const char *help;
} rows[] = {
#define R FOR_REPORT
#define T FOR_TIMELINE
#define O FOR_OPS
#define K FOR_KERNELS
#define F FOR_ROOFLINE
#define C FOR_COLLECTIVE
#define S FOR_ALL
#define H FOR_SHEETS
#define B FOR_SHORT
#define P FOR_FRAMES
	/* clang-format off */
	{ 0, "agg-metrics", "AGG,...", C | H, "of nccl_summary_*: mean, median, p95, ..." },
	{ 0, "align-clocks", NULL, C, "take estimated offsets between ranks' clocks out" },
	{ 0, "arch", "NAME", F, "the GPU: auto, a name or a JSON file" },
	{ 0, "bins", "N", R | K | B, "bins of short_kernel_histogram" },
	{ 0, "by", "WHAT", O | H | P, "a sheet of ops by module, annotation, step or thread" },
	{ 0, "call-stack", NULL, R | F | H | P, "where in the program ops were called from" },
	{ 0, "capture", "DIR|FILE", R, "traces of the captures of graphs that are replayed" },
	{ 0, "comm-pattern", "RE", T | O | K | F | C, "kernels that are collectives, besides nccl and rccl" },
	{ 'd', "dir", "DIR", R, "each sheet as a CSV file into DIR" },
	{ 0, "fail-over", "TIME|PERCENT", R, "--vs: exit with 4 if it is slower by more" },
	{ 0, "first-occurrence", NULL, O | H, "when each op came first" },
	{ 0, "fold", "FILE", R | P, "GPU time by stack into FILE, for flame graphs" },
	{ 0, "gpus-per-node", "N", C, "of several ranks: GPUs of a node" },
	{ 0, "html", "FILE", R | P, "one page, for a browser" },
	{ 0, "inductor-cache", "DIR", F, "where torch.compile left its wrapper files" },
	{ 0, "junit", "FILE", R, "--fail-over: the verdict for a CI system" },
	{ 0, "keep-unowned", NULL, K | B, "short kernels without an op, too" },
	{ 0, "kernels", NULL, R | H, "the sheet kernel_summary, of rocprofv3 kernel_details" },
	{ 0, "linked-only", NULL, T | O | F, "only GPU work whose launch is in the trace" },
	{ 0, "micro-idle", "TIME", T | H, "idle time in gaps below TIME, and from it on" },
	{ 0, "models", "FILE", O | K | F, "add or replace op models, see tl-models(5)" },
	{ 0, "modules", NULL, R | H | P, "the sheets nn_modules_by_type and nn_modules" },
	{ 0, "names", "A,B", R, "--vs: what the two traces are called" },
	{ 0, "no-collective", NULL, R, "no sheets of collectives" },
	{ 0, "no-kernels", NULL, R, "of rocprofv3: no kernel sheets" },
	{ 0, "num-kernels", NULL, O | F | H, "ops apart by the number of their kernels" },
	{ 'o', "output", "FILE", R, "a workbook (.xlsx) or a page (.html), whole or not at all" },
	{ 0, "overlap", NULL, O | F | H, "split ops by overlapping GPU work" },
	{ 0, "parent-module", NULL, R | O | H | P, "ops apart by the type of nn.Module" },
	{ 0, "pseudo-ops", NULL, O | K | F, "take ops apart that hide several steps" },
	{ 0, "recompute", NULL, R | O | F | H | P, "recomputed work apart" },
	{ 0, "roof", "WHICH", F, "peak or achievable" },
	{ 0, "short", "TIME", R | K | H, "sheets about kernels below TIME (10us)" },
	{ 0, "sim", "COMMAND", F | H, "times of GEMMs from this program" },
	{ 0, "title", "TEXT", R, "of the page" },
	{ 0, "top", "N", R | H, "the first N rows of each long sheet of ops and kernels" },
	{ 0, "top-kernels", "N", R | H, "of those of kernels only" },
	{ 0, "top-ops", "N", R | H, "of those of tl-ops only" },
	{ 0, "top-roofline", "N", R | H, "of those of tl-roofline only" },
	{ 0, "vs", "TRACE", R | P, "compare with another trace, as the later one; repeat" },
	{ 0, "vs-capture", "DIR|FILE", R, "--capture of that trace" },
	{ 0, "wide", NULL, C | H, "columns for each of over 16 ranks" },
	{ 0, "width", "N", R, "columns of the screen" },
	{ 0, "world-size", "N", C, "ranks of the job" },
	{ 0, "annotation", "NAME[#N]", S, "in annotations like NAME; only the Nth" },
	{ 0, "by-gpu-time", NULL, S, "GPU work by its own start, not its launch's" },
	{ 0, "dev", "DEV,...", S, "of these devices, as 0,2-3" },
	{ 0, "from", "TIME", S, "from TIME after the source's first event on" },
	{ 0, "gpu-stream", "STREAM,...", S, "of these GPU streams" },
	{ 0, "rank", "RANK,...", S, "of the sources of these ranks" },
	{ 0, "step", "STEP,...", S, "in these steps, as 3-7, first or last" },
	{ 0, "to", "TIME", S, "before TIME after the first event" },
/* clang-format on */
#undef R
#undef T
#undef O
#undef K
#undef F
#undef C
#undef S
#undef H
#undef B
#undef P
};
#define NROWS (sizeof rows / sizeof *rows)

static const struct about about = {
	.purpose = "what did the time go on, and what bounds it",
	.synopsis = "[OPTIONS] [TRACE...]",
	.example = "tl-report trace.json.gz -o report.xlsx",
};

static bool
is(const struct row *r, const char *name)
{
	return strcmp(r->name, name) == 0;
}

/* A trace, or those of a folder. */
static void
add_traces(struct args *to, const char *path)
{
	path_vec found = { 0 };

	stream_paths(&found, path, false);
	for (size_t i = 0; i < found.n; i++)
		args_add(to, found.v[i]);
	vec_free(&found);
}

static bool
ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && strcmp(s + n - m, end) == 0;
}

/* What it is says its name. */
static void
own_output(struct settings *s, const char *path)
{
	if (ends_with(path, ".html"))
		s->page = path;
	else if (ends_with(path, ".xlsx"))
		s->book = path;
	else
		die_usage("option '--output' needs a name that ends in .xlsx "
			  "or .html, not '%s' (-d DIR writes CSV)",
		    path);
}

static void
own_option(struct settings *s, const struct row *r, const struct optparse *op)
{
	const char *arg = op->arg;

	if (strncmp(r->name, "top", 3) == 0)
		(void)opt_int(op, 0, 999999999);
	if (is(r, "call-stack"))
		s->call_stack = true;
	else if (is(r, "capture"))
		s->capture = arg;
	else if (is(r, "dir"))
		s->dir = arg;
	else if (is(r, "fold"))
		s->folded = arg;
	else if (is(r, "html"))
		s->page = arg;
	else if (is(r, "kernels"))
		s->kernels = true;
	else if (is(r, "modules"))
		s->modules = true;
	else if (is(r, "names")) {
		opt_pair(op, (struct str[2]){ { 0 } });
		s->names = arg;
	} else if (is(r, "fail-over"))
		s->fail_over = arg;
	else if (is(r, "junit"))
		s->junit = arg;
	else if (is(r, "vs"))
		add_traces(&s->vs, arg);
	else if (is(r, "vs-capture"))
		s->vs_capture = arg;
	else if (is(r, "no-collective"))
		s->no_collective = true;
	else if (is(r, "no-kernels"))
		s->no_kernels = true;
	else if (is(r, "output"))
		own_output(s, arg);
	else if (is(r, "parent-module"))
		s->parent_module = true;
	else if (is(r, "recompute"))
		s->recompute = true;
	else if (is(r, "short"))
		s->shorts = true;
	else if (is(r, "title"))
		s->title = arg;
	else if (is(r, "top"))
		s->top_ops = s->top_kernels = s->top_roofline = arg;
	else if (is(r, "top-kernels"))
		s->top_kernels = arg;
	else if (is(r, "top-ops"))
		s->top_ops = arg;
	else if (is(r, "top-roofline"))
		s->top_roofline = arg;
	else if (is(r, "width")) {
		(void)opt_int(op, 1, 99999);
		s->width = arg;
	}
}

static void
take(struct settings *s, const struct row *r, const struct optparse *op)
{
	struct {
		unsigned who;
		struct args *args;
	} programs[] = {
		{ FOR_TIMELINE, &s->timeline },
		{ FOR_OPS, &s->ops },
		{ FOR_KERNELS, &s->kern },
		{ FOR_ROOFLINE, &s->roofline },
		{ FOR_COLLECTIVE, &s->collective },
		{ FOR_ALL, &s->chosen },
	};
	const char *word = op->arg != NULL ? text("--%s=%s", r->name, op->arg)
					   : text("--%s", r->name);

	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		if ((r->who & programs[i].who) != 0)
			args_add(programs[i].args, word);
	if ((r->who & FOR_SHEETS) != 0)
		s->of_sheets = r->name;
	if ((r->who & FOR_SHORT) != 0)
		s->of_short = r->name;
	if ((r->who & FOR_FRAMES) != 0)
		s->has_frames = true;
	if ((r->who & (FOR_COLLECTIVE | FOR_TIMELINE)) == FOR_COLLECTIVE)
		s->of_ranks = r->name;
	if (is(r, "comm-pattern"))
		args_add(&s->patterns, word);
	if ((r->who & FOR_REPORT) != 0)
		own_option(s, r, op);
}

/* What would have no effect was meant otherwise. */
static void
check_uses(const struct settings *s)
{
	bool has_sheets = s->dir != NULL || s->book != NULL || s->page != NULL;
	size_t nstdin = 0;

	if (s->of_short != NULL && !s->shorts)
		die_usage("option '--%s' needs --short", s->of_short);
	if (s->title != NULL && s->page == NULL)
		die_usage("option '--title' needs --html");
	if (s->width != NULL && has_sheets)
		die_usage("option '--width' is for the screen, which -d, -o "
			  "and --html leave out");
	if (s->of_sheets != NULL && !has_sheets)
		die_usage("option '--%s' is for sheets: -d, -o or --html "
			  "writes them",
		    s->of_sheets);
	for (size_t i = 0; i < s->traces.v.n; i++)
		nstdin += strcmp(s->traces.v.v[i], "-") == 0;
	for (size_t i = 0; i < s->vs.v.n; i++)
		nstdin += strcmp(s->vs.v.v[i], "-") == 0;
	if (nstdin > 1)
		die_usage("standard input can be one trace only");
}

/*
 * "a*.json --vs b*.json": of what the shell makes of it all but the first b
 * would be traces of the side of a. So one trace may stand behind, and several
 * stand before.
 */
static void
check_behind_vs(char *const *operands)
{
	int n;
	char *const *words = opt_command(&n);

	for (int i = 1; operands[0] != NULL && operands[1] != NULL && i < n;
	     i++) {
		bool is_joined = strncmp(words[i], "--vs=", 5) == 0;
		int behind = i + (is_joined ? 1 : 2);

		if ((!is_joined && strcmp(words[i], "--vs") != 0) ||
		    behind >= n)
			continue;
		for (size_t k = 0; operands[k] != NULL; k++)
			if (operands[k] == words[behind])
				die_usage(
				    "'%s' behind --vs: of which side is it? "
				    "Each trace of the other side has its "
				    "own --vs, or a folder has them; of "
				    "this side several stand before --vs, "
				    "or behind '--'",
				    words[behind]);
	}
}

static void
check_versus(const struct settings *s)
{
	const struct {
		const char *name, *arg;
	} of_vs[] = { { "names", s->names }, { "vs-capture", s->vs_capture },
		{ "fail-over", s->fail_over } };

	for (size_t i = 0; i < sizeof of_vs / sizeof *of_vs; i++)
		if (of_vs[i].arg != NULL && s->vs.v.n == 0)
			die_usage("option '--%s' needs --vs", of_vs[i].name);
	if (s->junit != NULL && s->fail_over == NULL)
		die_usage("option '--junit' needs --fail-over");
}

static void
read_options(struct settings *s, int argc, char *argv[])
{
	static struct opt options[NROWS + 1];
	struct optparse op;
	int ch;

	for (size_t i = 0; i < NROWS; i++)
		options[i] = (struct opt){ rows[i].ch != 0 ? rows[i].ch
							   : OPT_LONG + (int)i,
			rows[i].name, rows[i].arg, rows[i].help };
	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		for (size_t i = 0; i < NROWS; i++)
			if (options[i].ch == ch)
				take(s, &rows[i], &op);
	/* as the reference: its ops have it only where they have modules */
	if (s->parent_module && s->call_stack)
		args_add(&s->ops, "--call-stack");
	check_behind_vs(argv + op.ind);
	for (int i = op.ind; i < argc; i++)
		add_traces(&s->traces, argv[i]);
	if (s->traces.v.n == 0)
		args_add(&s->traces, "-");
	check_uses(s);
	check_versus(s);
}

static void
check_programs(const struct settings *s)
{
	static const char *const needed[] = { "tl-tree", "tl-timeline",
		"tl-cat", "tl-summary" };

	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!have(needed[i]))
			die("%s is not installed, and nothing goes without it",
			    needed[i]);
	if (s->book != NULL && !have("tl-xlsx"))
		die("tl-xlsx is not installed: no workbook (-d DIR writes "
		    "CSV)");
	if (s->page != NULL && !have("tl-html"))
		die("tl-html is not installed: no page");
	if (s->vs.v.n > 0 && !have("tl-diff"))
		die("tl-diff is not installed: no comparison");
	if ((s->capture != NULL || s->vs_capture != NULL) && !have("tl-graft"))
		die("tl-graft is not installed: no captures");
	if (s->folded != NULL && !have("tl-fold"))
		die("tl-fold is not installed: no stacks");
}

static void
make_temporary(struct settings *s)
{
	const char *dir = getenv("TMPDIR");

	dir = dir != NULL && *dir != '\0' ? dir : "/tmp";
	s->tmp = temporary(text("%s/tl-report.XXXXXX", dir));
	if (s->tmp == NULL)
		die("%s: %s: no place for temporary files (TMPDIR)", dir,
		    strerror(errno));
	s->tables = xstrdup(text("%s/n", s->tmp));
	if (mkdir(s->tables, 0700) != 0 ||
	    mkdir(text("%s/diff", s->tables), 0700) != 0 ||
	    mkdir(text("%s/more", s->tables), 0700) != 0)
		die_errno("%s", s->tables);
}

int
main(int argc, char *argv[])
{
	struct settings s = { 0 };
	struct jobs j = { .set = &s };

	read_options(&s, argc, argv);
	check_programs(&s);
	clean_up_at_exit();
	make_temporary(&s);
	trees_make(&s, &j);
	if (s.vs.v.n > 0)
		versus_compare(&s, &j);
	if (s.dir != NULL)
		write_dir(&s, &j);
	if (s.dir == NULL || s.book != NULL || s.page != NULL) {
		analyse(&s, &j, s.tables, "ndjson", false, false);
		summarise(&s, &j, s.book == NULL && s.page == NULL);
		sheets_cut(&s);
	}
	if (s.of_ranks != NULL && !s.is_several && s.traces.v.n == 1)
		report(MSG_ONE_RANK, s.of_ranks);
	if (s.book != NULL)
		write_book(&s, &j);
	if (s.page != NULL)
		write_page(&s, &j);
	leave(j.status);
}
