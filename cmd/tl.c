/* SPDX-License-Identifier: MIT */
/*
 * tl: the programs by the question that they answer, and one name for all:
 * `tl report x` runs `tl-report x`, `tl help report` opens its page.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/io.h"

/* What a question is answered with: name, then what it says. */
struct command {
	const char *name; /* behind "tl-"; NULL: a heading */
	const char *answer;
};

static const struct command commands[] = {
	{ NULL, "Where did the time go?" },
	{ "report", "everything at once: a screen, workbook, page or CSV" },
	{ "timeline", "GPU time: computation, communication, copies, idle" },
	{ "steps", "how long each step took, which was slow and why" },
	{ "ops", "which ops took the GPU time: by name, shapes, module" },
	{ "kernels", "which kernels took it, the short ones, which to fuse" },
	{ "modules", "which nn.Module took it" },
	{ "fold", "folded stacks for flame graphs" },
	{ NULL, "What limits it, and what would help?" },
	{ "advise", "what to do first, and the time it saves" },
	{ "roofline", "how far ops are from what the hardware can do" },
	{ "critical", "what bounds the step: critical path and what-if" },
	{ "idle", "why the GPU waited: each gap and its cause" },
	{ "launch", "launch latency, queue delay, copies, graph replays" },
	{ "replay", "an op of the trace as a benchmark that runs" },
	{ NULL, "Is it the network, or one late rank?" },
	{ "collective", "all ranks of a job: true network time, late ranks" },
	{ "merge", "traces of many ranks to one, on one clock" },
	{ NULL, "What changed?" },
	{ "diff", "two runs: what became slower, and where" },
	{ "match", "iterations of two serving traces with the same work" },
	{ "compare", "two finished reports: folders or workbooks" },
	{ NULL, "Can the figures be trusted?" },
	{ "health", "what the trace lacks, and which figures that touches" },
	{ NULL, "From a trace to a stream, and to other tools" },
	{ "decode", "a profiler's trace to an event stream" },
	{ "link", "connect launches and GPU work" },
	{ "tree", "put GPU work below what launched it: decode once" },
	{ "filter", "a part: by step, name, kind, device, time" },
	{ "split", "several parts: by rank, step, phase" },
	{ "graft", "add the ops that a trace hides" },
	{ "cat", "NDJSON for jq, TSV for awk; join and check streams" },
	{ "export", "a trace for Perfetto UI or chrome://tracing" },
	{ "sql", "tables and events as an SQLite file" },
	{ "xlsx", "tables to a workbook" },
	{ "html", "tables and trees to a page for a browser" },
};
#define NCOMMANDS (sizeof commands / sizeof *commands)
#define WIDTH 12 /* of a name and the blanks behind it */

/*
 * Where pages may be, from the folder of the program on: installed; in the
 * tree, whose builds are build and folders of it.
 */
static const char *const page_folders[] = { "../share/man", "../../man",
	"../../../man" };

static const struct about about = {
	.purpose =
	    "questions about GPU profiler traces, and the programs that answer "
	    "them",
	.synopsis = "[COMMAND [ARGUMENT...] | help [COMMAND]]",
	.example = "tl report trace.json.gz\ntl help roofline",
};

static const struct opt options[] = {
	OPT_END,
};

/* ---- programs ---- */

/* "roofline" and "tl-roofline" are the same. */
static const char *
short_name(const char *name)
{
	return strncmp(name, "tl-", 3) == 0 ? name + 3 : name;
}

static char *
path_of(const char *name)
{
	char full[64];

	snprintf(full, sizeof full, "tl-%s", name);
	return sys_program(full);
}

/* A library may be missing from a build, and then its programs. */
static bool
is_built(const char *name)
{
	char *path = path_of(name);
	bool yes = access(path, X_OK) == 0;

	free(path);
	return yes;
}

static bool
is_command(const char *name)
{
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (commands[i].name != NULL &&
		    strcmp(commands[i].name, name) == 0)
			return true;
	return false;
}

static noreturn void
refuse(const char *name)
{
	const char *words[NCOMMANDS + 1], **w = words;
	struct buf near = { 0 };

	if (access(name, F_OK) == 0)
		die_usage("'%s' is no command; for a trace: tl report %s", name,
		    name);
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (commands[i].name != NULL)
			*w++ = commands[i].name;
	*w++ = "help";
	suggest_put(&near, str_of(name), words, (size_t)(w - words), "");
	die_usage("unknown command '%s'%.*s", name, (int)near.len, near.p);
}

/* Its own words for what it is given, under its own name. */
static noreturn void
become(const char *name, char *argv[])
{
	char *path = path_of(name);
	char full[64];

	snprintf(full, sizeof full, "tl-%s", name);
	argv[0] = full;
	execvp(path, argv);
	die_errno("%s", full);
}

/* ---- pages ---- */

/* The page of this version: beside the programs. NULL: none. Owned. */
static char *
page_of(const char *name)
{
	bool is_suite = strcmp(name, "tl") == 0;
	const char *sections = is_suite ? "7" : "157";

	for (size_t i = 0; i < sizeof page_folders / sizeof *page_folders; i++)
		for (const char *s = sections; *s != '\0'; s++) {
			struct buf b = { 0 };

			buf_printf(&b, "%s/%s/", sys_bindir(), page_folders[i]);
			if (i == 0)
				buf_printf(&b, "man%c/", *s);
			buf_printf(
			    &b, "%s%s.%c", is_suite ? "" : "tl-", name, *s);
			buf_putc(&b, '\0');
			if (access(b.p, R_OK) == 0)
				return b.p;
			buf_free(&b);
		}
	return NULL;
}

/* The page, or what the program itself says where none can be shown. */
static int
show_page(const char *name)
{
	char *page = page_of(name);
	char *man[] = { (char *)"man", (char *)"-l", page, NULL };
	char *help[] = { NULL, (char *)"--help", NULL };
	pid_t pid = page != NULL ? child_spawn(man, -1, -1) : -1;

	if (pid >= 0 && child_wait(pid) == 0)
		return EXIT_DONE;
	if (is_command(name))
		become(name, help);
	if (page == NULL)
		refuse(name);
	die("%s: man cannot show it", page);
}

/* ---- the list ---- */

static void
put_list(struct out *out)
{
	const char *heading = NULL;

	out_puts(out,
	    "usage: tl COMMAND [ARGUMENT...]\n"
	    "       tl help COMMAND\n\n"
	    "Start with: tl report trace.json.gz\n");
	for (size_t i = 0; i < NCOMMANDS; i++) {
		const struct command *c = &commands[i];

		if (c->name == NULL) {
			heading = c->answer;
			continue;
		}
		if (!is_built(c->name))
			continue;
		if (heading != NULL)
			out_printf(out, "\n%s\n", heading);
		heading = NULL;
		out_printf(out, "  %-*s%s\n", WIDTH, c->name, c->answer);
	}
	out_puts(out,
	    "\n`tl help tl` explains events, selection, tables and exit "
	    "codes;\n`tl help record` how to record a trace.\n");
}

static int
list(void)
{
	struct out *out = out_open(NULL);

	put_list(out);
	out_finish(out);
	return EXIT_DONE;
}

static int
run(int argc, char *argv[])
{
	const char *name = short_name(argv[0]);

	if (strcmp(argv[0], "help") == 0) {
		if (argc > 2)
			die_usage("help takes one command");
		return argc == 1 ? list() : show_page(short_name(argv[1]));
	}
	if (!is_command(name))
		refuse(argv[0]);
	become(name, argv);
}

int
main(int argc, char *argv[])
{
	struct optparse op;
	/* what stands behind a command is for the command */
	bool has_options = argc > 1 && argv[1][0] == '-';

	opt_start(&op, argc, argv, &about, options);
	if (!has_options)
		return argc > 1 ? run(argc - 1, argv + 1) : list();
	while (opt_next(&op) != -1)
		;
	return op.ind < argc ? run(argc - op.ind, argv + op.ind) : list();
}
