/* SPDX-License-Identifier: MIT */
/*
 * tl-report: where the time went, in one command. It sums and compares the
 * tables of the programs that it runs.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stream/run.h"
#include "stream/stream.h"
#include "trace/cause.h"

#include "cmd/tl-report/check.h"
#include "cmd/tl-report/figures.h"

/* Who gets an option: one or several. */
enum {
	FOR_PROGRAM = 1,                       /* shifted by its number */
	FOR_SHEETS = FOR_PROGRAM << NPROGRAMS, /* needs -d, -o or --html */
	FOR_SHORT = FOR_SHEETS << 1,           /* only with --short */
	FOR_NUMBER = FOR_SHORT << 1,           /* its argument is a number */
};

#define T FOR_PROGRAM << TIMELINE
#define O FOR_PROGRAM << OPS
#define K FOR_PROGRAM << KERNELS
#define F FOR_PROGRAM << ROOFLINE
#define C FOR_PROGRAM << COLLECTIVE
#define R FOR_PROGRAM << RANKS
/* Those that tell causes of idle time. */
#define Y                                                                      \
	FOR_PROGRAM << IDLE | FOR_PROGRAM << STEPS | FOR_PROGRAM << CRITICAL | \
	    FOR_PROGRAM << LAUNCH | FOR_PROGRAM << COLLECTIVE
#define H FOR_SHEETS
#define B FOR_SHORT
#define N FOR_NUMBER
/* The member of settings that the option sets. */
#define AT(member) offsetof(struct settings, member)
#define NOWHERE SIZE_MAX
/* Options of the selection, for all programs. */
#define SELECT(word, name, arg, help)                              \
	{                                                          \
		{ OPT_SELECT_##word, name, arg, help }, 0, NOWHERE \
	}

/* Options of the report alone have a case in own_option(). */
static const struct row {
	struct opt opt; /* ch 0: no short form */
	unsigned who;
	size_t at;
} rows[] = {
	/* clang-format off */
	{ { 0, "align-clocks", NULL, "correct offset and drift of each rank's clock" }, R, NOWHERE },
	{ { 0, "annotations", "FILE", "more names of serving iterations, see tl-tree(1)" }, 0, AT(annotations) },
	{ { 0, "arch", "NAME", "the GPU: auto, a name or a JSON file" }, F, NOWHERE },
	{ { 0, "bins", "N", "bins of short_kernel_histogram" }, K | B, NOWHERE },
	{ { 0, "by", "module|annotation|phase|step|thread", "op time grouped by this" }, O, AT(by) },
	{ { 0, "call-stack", NULL, "add where the program called each op" }, F | H, AT(call_stack) },
	{ { 0, "capture", "DIR|FILE", "traces of graph captures: the ops inside replays" }, 0, AT(capture) },
	{ { 0, "categories", "FILE", "categories of rocprofv3's kernels, see tl-kernels(1)" }, K, AT(categories) },
	{ { 0, "causes", "FILE", "your own rules for causes of idle time, see tl-idle(1)" }, Y, AT(causes) },
	{ { 0, "check", NULL, "check that ops have all GPU work whose launch is known" }, 0, AT(check) },
	{ { 0, "comm-pattern", "RE", "kernels like RE are collectives too" }, T | O | K | F | C, NOWHERE },
	{ { 0, "critical-path", NULL, "of several ranks: add what a slow host loses the job" }, 0, AT(critical) },
	{ { 'd', "dir", "DIR", "write each sheet as CSV into DIR" }, 0, AT(dir) },
	{ { 0, "dtype", "TYPE,...", "type of the tensors of ops that have none, see tl-roofline(1)" }, F, NOWHERE },
	{ { 0, "events", NULL, "with -o FILE.sqlite: add all events" }, 0, AT(events) },
	{ { 0, "fail-over", "TIME|PERCENT", "with --vs: exit 4 if slower by more than this" }, 0, AT(fail_over) },
	{ { 0, "first-occurrence", NULL, "add when each op first ran" }, O | H, NOWHERE },
	{ { 0, "format", "csv|ndjson", "format of -d's files; ndjson without -d: all tables on stdout" }, 0, NOWHERE },
	{ { 0, "genesis", "DIR", "report a simulation: its steady state and whole run" }, 0, AT(genesis) },
	{ { 0, "gpus-per-node", "N", "GPUs per node, of several ranks" }, R, NOWHERE },
	{ { 0, "html", "FILE", "write one page for a browser" }, 0, AT(page) },
	{ { 0, "inductor-cache", "DIR", "torch.compile's wrapper files" }, F, NOWHERE },
	{ { 0, "kernels", NULL, "add kernel_summary (rocprofv3: kernel_details)" }, H, AT(kernels) },
	{ { 0, "launch", NULL, "add sheets of launches: cost, host layers, queues, graphs" }, H, AT(launch) },
	{ { 0, "link", "FILE|NAME", "judge bandwidth by this link; repeatable" }, R, NOWHERE },
	{ { 0, "linked-only", NULL, "only GPU work with a launch; no verdict" }, T | O | F, AT(linked_only) },
	{ { 0, "match", "[PHASE,...|approx]", "with --vs: only iterations that did the same work" }, 0, NOWHERE },
	{ { 0, "micro-idle", "TIME", "split idle time: gaps below TIME, and longer ones" }, T | H, NOWHERE },
	{ { 0, "models", "FILE", "add or replace op models, see tl-models(5)" }, O | K | F, NOWHERE },
	{ { 0, "modules", NULL, "add the sheets of nn.Modules" }, H, AT(modules) },
	{ { 0, "names", "A,B", "with --vs: names for the two traces" }, 0, AT(names) },
	{ { 0, "no-collective", NULL, "skip the sheets of collectives" }, 0, AT(no_collective) },
	{ { 0, "num-kernels", NULL, "split ops by number of kernels" }, O | F | H, NOWHERE },
	{ { 'o', "output", "FILE", "write FILE: .xlsx, .html, .md, .json or .sqlite" }, 0, NOWHERE },
	{ { 0, "overlap", NULL, "split ops by overlapping GPU work" }, O | F | H, NOWHERE },
	{ { 0, "parent-module", NULL, "split ops by type of nn.Module" }, O | H, AT(parent_module) },
	{ { 0, "phase-method", "METHOD", "how to tell phases, see tl-ops(1)" }, O | K | H, NOWHERE },
	{ { 0, "phase-threshold", "N", "guessed phases: more rows than N are a prompt" }, O | K | H | N, NOWHERE },
	{ { 0, "pseudo-ops", NULL, "split ops that hide several steps" }, O | K | F, NOWHERE },
	{ { 0, "recompute", NULL, "separate recomputed work" }, O | F | H, AT(recompute) },
	{ { 0, "roof", "peak|achievable", "peak: data sheet; achievable: measured" }, F, NOWHERE },
	{ { 0, "short", "TIME", "add sheets of kernels shorter than TIME (10us)" }, K | H, AT(shorts) },
	{ { 0, "sort", "time|count|mean|name", "order of the screen's lists" }, 0, NOWHERE },
	{ { 0, "steady-gap", "TIME", "with --genesis: a gap of TIME ends the warm-up (1s)" }, 0, NOWHERE },
	{ { 0, "steady-window", "TIME", "with --genesis: else the last TIME is steady" }, 0, NOWHERE },
	{ { 0, "title", "TEXT", "title of the page" }, 0, AT(title) },
	{ { 0, "top", "N", "N rows in the screen's lists and in long sheets" }, N, AT(top) },
	{ { 0, "top-kernels", "N", "N rows in sheets of kernels" }, H | N, AT(top_kernels) },
	{ { 0, "top-ops", "N", "N rows in sheets of ops" }, H | N, AT(top_ops) },
	{ { 0, "top-roofline", "N", "N rows in sheets of the roofline" }, H | N, AT(top_roofline) },
	{ { 0, "vs", "TRACE", "compare with this later trace; repeatable" }, 0, NOWHERE },
	{ { 0, "vs-capture", "DIR|FILE", "--capture of the --vs trace" }, 0, AT(vs_capture) },
	{ { 0, "width", "N", "width of the screen" }, N, AT(width) },
	SELECT(ANNOTATION, "annotation", "NAME[#N]", "only inside annotations like NAME, or the Nth of them"),
	SELECT(BY_GPU_TIME, "by-gpu-time", NULL, "select GPU work by its own start, not its launch's"),
	SELECT(DEV, "dev", "DEV,...", "only on these devices: 0,2-3"),
	SELECT(FROM, "from", "TIME", "only from TIME after the first event"),
	{ { OPT_HINT, "gpu", NULL, "--arch names the GPU, --dev selects one" }, 0, NOWHERE },
	{ { OPT_HINT, "name", NULL, "tl-ops and tl-kernels have one" }, 0, NOWHERE },
	SELECT(GPU_STREAM, "gpu-stream", "STREAM,...", "only on these GPU streams: 7,20"),
	SELECT(PHASE, "phase", "PHASE,...", "only in these phases: prefill,mixed"),
	SELECT(RANK, "rank", "RANK,...", "only these ranks: 0,4-7"),
	SELECT(STEP, "step", "STEP,...", "only in these steps: 3-7, last, slowest"),
	SELECT(TO, "to", "TIME", "only up to TIME after the first event"),
	/* clang-format on */
};
#define NROWS (sizeof rows / sizeof *rows)

#undef T
#undef O
#undef K
#undef F
#undef C
#undef R
#undef Y
#undef H
#undef B
#undef N

static const struct about about = {
	.purpose = "where did the time go, and what is the bottleneck",
	.synopsis = "[OPTIONS] [TRACE...]",
	.example = "tl-report trace.json.gz -o report.xlsx",
};

/* A trace, or those of a folder. */
static void
add_traces(struct args *to, const char *path)
{
	path_vec found = { 0 };

	stream_paths(&found, path, false);
	for (size_t i = 0; i < found.n; i++)
		if (!run_is_among(
			(const char *const *)to->v.v, to->v.n, found.v[i]))
			args_add(to, found.v[i]);
	vec_free(&found);
}

/* The ending chooses the format. */
static void
take_output(struct settings *s, const char *path)
{
	static const struct {
		const char *end;
		size_t at;
	} forms[] = { { ".xlsx", AT(book) }, { ".html", AT(page) },
		{ ".md", AT(markdown) }, { ".json", AT(json) },
		{ ".sqlite", AT(database) } };

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (str_ends(str_of(path), str_of(forms[i].end))) {
			char *at = (char *)s + forms[i].at;

			*(const char **)(void *)at = path;
			return;
		}
	if (str_ends(str_of(path), STR(".csv")))
		die_usage(
		    "option '--output': CSV is one file per table: use -d DIR");
	die_usage("option '--output' needs a name that ends in .xlsx, .html, "
		  ".md, .json or .sqlite, not '%s'",
	    path);
}

static void
take(struct settings *s, const struct row *r, const struct optparse *op)
{
	const char *word = op->arg != NULL
	    ? text("--%s=%s", r->opt.name, op->arg)
	    : text("--%s", r->opt.name);
	static const char *const formats[] = { "csv", "ndjson", NULL };
	static const char *const orders[] = { "time", "count", "mean", "name",
		NULL };
	char *at = (char *)s + (r->at != NOWHERE ? r->at : 0);

	for (unsigned i = 0; i < NPROGRAMS; i++)
		if ((r->who & (unsigned)FOR_PROGRAM << i) != 0)
			args_add(&s->options[i], word);
	if (select_opt(&s->select, op, r->opt.ch))
		args_add(&s->chosen, word);
	if ((r->who & FOR_SHEETS) != 0)
		s->of_sheets = r->opt.name;
	if ((r->who & FOR_SHORT) != 0)
		s->of_short = r->opt.name;
	if ((r->who & FOR_PROGRAM << RANKS) != 0)
		s->of_ranks = r->opt.name;
	if ((r->who & FOR_NUMBER) != 0)
		(void)opt_int(op, r->at == AT(width), 999999999);
	if (r->at == AT(names))
		opt_pair(op, s->sides);
	if (r->at == AT(shorts) || (r->at != NOWHERE && op->arg == NULL))
		*(bool *)at = true;
	else if (r->at != NOWHERE)
		*(const char **)(void *)at = op->arg;
	if (strcmp(r->opt.name, "steady-gap") == 0)
		s->steady_gap_ns = opt_time(op);
	if (strcmp(r->opt.name, "steady-window") == 0)
		s->steady_window_ns = opt_time(op);
	if (strcmp(r->opt.name, "format") == 0) {
		s->is_ndjson = opt_word(op, formats) == 1;
		s->is_csv = !s->is_ndjson;
	}
	if (strcmp(r->opt.name, "sort") == 0)
		s->order = (enum list_order)opt_word(op, orders);
	if (strcmp(r->opt.name, "match") == 0)
		s->match = word;
	if (strcmp(r->opt.name, "vs") == 0)
		add_traces(&s->vs, op->arg);
	if (strcmp(r->opt.name, "output") == 0)
		take_output(s, op->arg);
}

/* An option without effect is an error. */
static void
check_uses(const struct settings *s)
{
	const struct args *const sides[] = { &s->traces, &s->vs };
	size_t nstdin = 0;

	if (s->is_csv && s->dir == NULL)
		die_usage("option '--format': CSV is one file per table: use "
			  "-d DIR");
	if (s->of_short != NULL && !s->shorts)
		die_usage("option '--%s' needs --short", s->of_short);
	if (s->linked_only && s->critical)
		die_usage("option '--critical-path' is about all GPU work: not "
			  "with --linked-only");
	if (s->title != NULL && s->page == NULL)
		die_usage("option '--title' needs --html");
	if (s->events && s->database == NULL)
		die_usage("option '--events' needs -o FILE.sqlite");
	if (s->width != NULL && s->has_sheets)
		die_usage("option '--width' is for the screen: not with -d, -o "
			  "or --html");
	if (s->of_sheets != NULL && !s->has_sheets)
		die_usage(
		    "option '--%s' adds sheets: it needs -d, -o or --html",
		    s->of_sheets);
	if (s->critical && s->no_collective && !s->has_sheets)
		die_usage("option '--critical-path' says on the screen what "
			  "ranks lose: not with --no-collective");
	if (s->genesis == NULL &&
	    (s->steady_gap_ns > 0 || s->steady_window_ns > 0))
		die_usage("options '--steady-gap' and '--steady-window' need "
			  "--genesis");
	if (s->genesis != NULL &&
	    (s->select.has_from || s->select.has_to ||
		s->select.annotations.n > 0 || select_asks_steps(&s->select)))
		die_usage("options '--from', '--to', '--step' and "
			  "'--annotation' contradict --genesis, which finds "
			  "the steady state");
	for (size_t k = 0; k < 2; k++) {
		if (sides[k]->v.n > 1 && !s->no_collective)
			select_refuse_slowest(&s->select);
		for (size_t i = 0; i < sides[k]->v.n; i++)
			nstdin += strcmp(sides[k]->v.v[i], "-") == 0;
	}
	if (nstdin > 1)
		die_usage("only one trace can be standard input");
}

/*
 * The shell expands "a*.json --vs b*.json" so that only one b follows --vs and
 * the others would join the first side. So one trace may follow, or several
 * precede.
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
				die_usage("'%s' after --vs: which side is it? "
					  "Repeat --vs for the other side, or "
					  "pass a folder; for this side put it "
					  "before --vs or after '--'",
				    words[behind]);
	}
}

static void
check_versus(const struct settings *s)
{
	const struct {
		const char *name, *arg;
	} of_vs[] = { { "names", s->names }, { "vs-capture", s->vs_capture },
		{ "fail-over", s->fail_over }, { "match", s->match } };

	for (size_t i = 0; i < sizeof of_vs / sizeof *of_vs; i++)
		if (of_vs[i].arg != NULL && s->vs.v.n == 0)
			die_usage("option '--%s' needs --vs", of_vs[i].name);
	if (s->match != NULL && (s->traces.v.n > 1 || s->vs.v.n > 1))
		die_usage("option '--match' compares one trace with one");
	if (s->match != NULL && select_asks_steps(&s->select))
		die_usage("options '--match' and '--step' exclude each other");
}

/* A terminal, /dev/null or a file or pipe without bytes. */
static bool
is_stdin_empty(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	struct stat st;

	if (fstat(STDIN_FILENO, &st) != 0 || S_ISCHR(st.st_mode))
		return true;
	if (S_ISREG(st.st_mode))
		return st.st_size == 0;
	return poll(&in, 1, -1) > 0 && (in.revents & POLLIN) == 0;
}

/* A bad file ends the program here, not each that gets it. */
static void
check_causes(const struct settings *s)
{
	struct causes *c;

	if (s->causes == NULL)
		return;
	c = causes_create();
	causes_load(c, s->causes);
	causes_destroy(c);
}

static void
read_options(struct settings *s, int argc, char *argv[])
{
	static struct opt options[NROWS + 1];
	struct optparse op;
	int ch;

	for (size_t i = 0; i < NROWS; i++) {
		options[i] = rows[i].opt;
		if (options[i].ch == 0)
			options[i].ch = OPT_LONG + (int)i;
	}
	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		for (size_t i = 0; i < NROWS; i++)
			if (options[i].ch == ch)
				take(s, &rows[i], &op);
	/* as TraceLens: its ops have it only with modules */
	if (s->parent_module && s->call_stack)
		args_add(&s->options[OPS], "--call-stack");
	check_behind_vs(argv + op.ind);
	for (int i = op.ind; i < argc; i++)
		add_traces(&s->traces, argv[i]);
	if (s->genesis != NULL && (s->traces.v.n > 0 || s->vs.v.n > 0))
		die_usage("option '--genesis' takes no further trace");
	if (s->genesis != NULL)
		genesis_open(s);
	if (s->traces.v.n == 0) {
		if (s->vs.v.n > 0 && is_stdin_empty())
			die_usage("option '--vs' needs a trace to compare "
				  "with: tl-report BEFORE --vs AFTER");
		args_add(&s->traces, "-");
	}
	check_causes(s);
	s->is_whole = s->book != NULL || s->page != NULL ||
	    s->markdown != NULL || s->database != NULL || s->json != NULL;
	s->has_sheets = s->dir != NULL || s->is_whole || s->is_ndjson;
	check_uses(s);
	check_versus(s);
}

/* Checked here, before a child reads standard input. */
static void
check_inputs(const struct settings *s)
{
	for (size_t i = 0; i < s->traces.v.n; i++)
		in_check_stdin(s->traces.v.v[i]);
	for (size_t i = 0; i < s->vs.v.n; i++)
		in_check_stdin(s->vs.v.v[i]);
}

static void
check_programs(const struct settings *s)
{
	const struct {
		bool is_needed;
		const char *program, *why;
	} all[] = {
		{ true, "tl-tree", "every report needs it" },
		{ true, "tl-timeline", "every report needs it" },
		{ s->book != NULL, "tl-xlsx",
		    "no workbook (-d DIR writes CSV)" },
		{ s->page != NULL, "tl-html", "no page" },
		{ s->database != NULL, "tl-sql", "no database" },
		{ s->vs.v.n > 0, "tl-diff", "no comparison" },
		{ s->capture != NULL || s->vs_capture != NULL, "tl-graft",
		    "no captures" },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].is_needed && !have(all[i].program))
			die("%s is not installed: %s", all[i].program,
			    all[i].why);
}

static char *
folder_within(const char *folder, const char *name)
{
	char *path = xstrdup(text("%s/%s", folder, name));

	if (mkdir(path, 0700) != 0)
		die_errno("%s", path);
	return path;
}

static void
make_temporary(struct settings *s)
{
	s->tmp = temporary(text("%s/tl-report.XXXXXX", io_tmpdir()));
	if (s->tmp == NULL)
		die("%s: %s: no place for temporary files (TMPDIR)",
		    io_tmpdir(), strerror(errno));
	s->tables = folder_within(s->tmp, "n");
	if (s->vs.v.n > 0)
		s->other = versus_other(s, folder_within(s->tmp, "vs"));
}

/* Runs the analyses once, then writes each output. */
static void
answer(struct settings *s, struct jobs *j)
{
	bool is_whole = s->dir == NULL || s->is_whole;
	bool is_typed = is_whole || s->is_ndjson || s->is_several ||
	    s->vs.v.n > 0 || s->genesis != NULL || s->check;
	struct figures f = { .set = s }, other = { .set = s->other };

	if (s->vs.v.n > 0)
		versus_compare(s, j);
	if (s->match != NULL)
		matched_choose(s, j);
	if (s->genesis != NULL)
		genesis_begin(s, j);
	analyse(s, j, is_typed ? "ndjson" : "csv", is_whole);
	figures_read(&f, j, is_whole);
	if (s->other != NULL && is_whole) {
		figures_read(&other, j, true);
		f.other = &other;
	}
	if (s->check)
		s->checks = checks_make(s);
	if (s->critical && !s->has_sheets) /* the screen has one sentence */
		s->of_ranks = "critical-path";
	if (s->of_ranks != NULL && !s->is_several && s->traces.v.n == 1)
		report(MSG_ONE_RANK, s->of_ranks);
	if (!s->has_sheets) {
		clean_up(); /* the reader may end the program (SIGPIPE) */
		screen_print(&f, NULL);
	} else {
		summary_write(&f, is_whole);
		sheets_cut(s);
		if (s->other != NULL) {
			sheets_cut(s->other);
			versus_join(s, j);
		}
		if (s->genesis != NULL)
			genesis_join(s);
	}
	if (s->book != NULL) {
		screen_print(&f, front_path(s));
		book_write(s, j);
	}
	if (s->database != NULL)
		database_write(s, j);
	if (s->page != NULL)
		page_write(s, j, f.title);
	if (s->markdown != NULL)
		markdown_write(s);
	if (s->json != NULL)
		json_write(s);
	if (s->dir != NULL)
		dir_write(s);
	else if (s->is_ndjson)
		tables_write(s);
	if (f.other != NULL)
		figures_free(&other);
	figures_free(&f);
}

int
main(int argc, char *argv[])
{
	struct settings s = { .sides = {
				  STR_INIT("before"), STR_INIT("after") } };
	struct jobs j = { .set = &s };

	read_options(&s, argc, argv);
	check_inputs(&s);
	check_programs(&s);
	clean_up_at_exit();
	make_temporary(&s);
	trees_make(&s, &j);
	if (s.dir != NULL)
		dir_make(&s);
	answer(&s, &j);
	versus_note_gate(&s, &j);
	leave(j.status);
}
