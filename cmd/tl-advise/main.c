/* SPDX-License-Identifier: MIT */
/*
 * tl-advise: what to do first, and what it would save. Rules, which are data,
 * turn a report's tables into findings, ranked by gain; tl-report makes the
 * tables of a trace.
 */
#include <stdlib.h>
#include <unistd.h>

#include "table/catalogue.h"
#include "trace/select.h"

#include "cmd/tl-advise/advise.h"

enum {
	OPT_ARCH = OPT_LONG,
	OPT_CAPTURE,
	OPT_CAUSES,
	OPT_DTYPE,
	OPT_LIST_RULES,
	OPT_LIST_TABLES,
	OPT_MARKDOWN,
	OPT_MODELS,
	OPT_ROOF,
	OPT_RULES,
	OPT_TABLE_NAME,
	OPT_TEXT,
	OPT_VS,
};

static const struct opt options[] = {
	/* clang-format off */
	{ OPT_SELECT_ANNOTATION, "annotation", "NAME[#N]", "only inside annotations like NAME, or the Nth of them" },
	{ OPT_ARCH, "arch", "NAME", "the GPU: auto, a name or a JSON file" },
	{ OPT_HINT, "gpu", NULL, "--arch names the GPU, --dev selects one" },
	{ OPT_HINT, "by", NULL, "tl-ops and tl-kernels have one" },
	{ OPT_SELECT_BY_GPU_TIME, "by-gpu-time", NULL, "select GPU work by its own start, not its launch's" },
	{ OPT_CAPTURE, "capture", "DIR|FILE", "traces of graph captures: the ops inside replays" },
	{ OPT_CAUSES, "causes", "FILE", "your own rules for causes of idle time, see tl-idle(1)" },
	{ OPT_SELECT_DEV, "dev", "DEV,...", "only on these devices: 0,2-3" },
	{ OPT_DTYPE, "dtype", "TYPE,...", "type of the tensors of ops that have none" },
	{ OPT_SELECT_FROM, "from", "TIME", "only from TIME after the first event" },
	{ OPT_SELECT_GPU_STREAM, "gpu-stream", "STREAM,...", "only on these GPU streams: 7,20" },
	{ OPT_LIST_RULES, "list-rules", NULL, "list the rules" },
	{ OPT_LIST_TABLES, "list-tables", NULL, "list the tables" },
	{ OPT_MARKDOWN, "markdown", NULL, "write Markdown, with marks for programs" },
	{ OPT_MODELS, "models", "FILE", "add or replace op models, see tl-models(5)" },
	{ OPT_SELECT_PHASE, "phase", "PHASE,...", "only in these phases: prefill,mixed" },
	{ OPT_SELECT_RANK, "rank", "RANK,...", "only these ranks: 0,4-7" },
	{ OPT_ROOF, "roof", "peak|achievable", "peak: data sheet; achievable: measured" },
	{ OPT_RULES, "rules", "FILE", "your own rules, tried first; repeatable" },
	{ OPT_SELECT_STEP, "step", "STEP,...", "only in these steps: 3-7, last, slowest" },
	{ OPT_TABLE_NAME, "table", "NAME", "print this table (advice)" },
	OPT_TABLE,
	{ OPT_TEXT, "text", NULL, "write sentences, as on a terminal" },
	{ OPT_SELECT_TO, "to", "TIME", "only up to TIME after the first event" },
	{ OPT_VS, "vs", "TRACE", "compare with this trace; repeatable" },
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	OPT_END,
	/* clang-format on */
};

static const struct about about = {
	"what to do first, and what it would save",
	"[OPTIONS] [TRACE... | TABLES...]",
	"tl-advise trace.json.gz",
};

struct settings {
	struct table_dest dest;
	const char *table;
	bool text, markdown, list_rules, list_tables, verbose;
	VEC(char *) rules;
	struct input input;
	struct arena *mem;
};

/* An option of tl-report. */
static void
pass_on(struct settings *set, const struct optparse *op, int ch)
{
	const char *name = op->name;

	while (*name == '-')
		name++;
	for (const struct opt *o = options; o->name != NULL; o++)
		if (o->ch == ch)
			name = o->name;
	vec_push(&set->input.words,
	    op->arg != NULL ? arena_printf(set->mem, "--%s=%s", name, op->arg)
			    : arena_printf(set->mem, "--%s", name));
}

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	static const char *const roofs[] = { "peak", "achievable", NULL };

	switch (ch) {
	case OPT_LIST_RULES: set->list_rules = true; break;
	case OPT_LIST_TABLES: set->list_tables = true; break;
	case OPT_MARKDOWN: set->markdown = true; break;
	case OPT_RULES:
		vec_push(&set->rules, (char *)(uintptr_t)op->arg);
		break;
	case OPT_TABLE_NAME: set->table = op->arg; break;
	case OPT_TEXT: set->text = true; break;
	case 'v': set->verbose = true; break;
	default:
		if (table_dest_opt(&set->dest, op, ch))
			return;
		if (ch == OPT_ROOF)
			(void)opt_word(op, roofs);
		pass_on(set, op, ch);
	}
}

/* Sentences on a terminal without other choice. */
static bool
is_text(const struct settings *set)
{
	const struct table_dest *d = &set->dest;

	return set->text ||
	    (d->format == FMT_AUTO && d->path == NULL && d->dir == NULL &&
		d->columns == NULL && d->sort == NULL && d->top == 0 &&
		!d->labels && !d->no_header && set->table == NULL &&
		isatty(STDOUT_FILENO));
}

static void
check(struct settings *set)
{
	struct table_dest *d = &set->dest;

	if ((set->text || set->markdown) &&
	    (d->format != FMT_AUTO || d->dir != NULL || d->columns != NULL ||
		d->sort != NULL || d->top != 0 || d->labels || d->no_header ||
		set->table != NULL))
		die_usage("options '--text' and '--markdown' write a report, "
			  "no table");
	if (set->text && set->markdown)
		die_usage("options '--text' and '--markdown' exclude each "
			  "other");
	advice_check(d, set->table);
}

static void
put_report(const struct advice *a, const struct settings *set)
{
	struct out *out = out_open(set->dest.path);

	if (set->markdown)
		advice_markdown(a, out);
	else
		advice_text(a, out, table_line_width(&set->dest, out));
	out_finish(out);
}

static void
list_rules(const struct rules *r)
{
	struct out *out = out_open(NULL);

	for (size_t i = 0; i < r->list.n; i++)
		out_printf(out, "%.*s\t%.*s\t%.*s\n",
		    (int)r->list.v[i].name.len, r->list.v[i].name.p,
		    (int)r->list.v[i].table.len, r->list.v[i].table.p,
		    (int)r->list.v[i].action.len, r->list.v[i].action.p);
	out_finish(out);
}

static void
advise(struct settings *set, struct advice *a, char *const *paths, size_t n)
{
	static char *const standard[] = { (char *)(uintptr_t) "-", NULL };
	struct table_sink sink;
	struct facts_reading *r = facts_start(a, &sink);

	if (n == 0) {
		in_check_stdin("-");
		paths = standard;
	}
	input_read(&set->input, paths, n > 0 ? n : 1, r, &sink);
	facts_finish(r, strcmp(paths[0], "-") == 0 ? "stdin" : paths[0]);
	if (set->markdown || is_text(set))
		put_report(a, set);
	else
		advice_print(a, &set->dest, set->table);
	if (set->verbose)
		note_cost("%zu findings of %zu rules", a->findings.n,
		    a->rules.list.n);
}

int
main(int argc, char *argv[])
{
	struct settings set = { 0 };
	struct advice a = { 0 };
	struct optparse op;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	set.mem = arena_create();
	a.mem = arena_create();
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	stream_unite(&op);
	check(&set);
	if (set.list_tables) {
		sheets_list("tl-advise");
		return EXIT_DONE;
	}
	a.budgets.text = a.mem;
	rules_load(&a.rules, set.rules.v, set.rules.n);
	if (set.list_rules)
		list_rules(&a.rules);
	else
		advise(&set, &a, argv + op.ind, (size_t)(op.argc - op.ind));
	advice_free(&a);
	vec_free(&set.rules);
	vec_free(&set.input.words);
	arena_destroy(set.mem);
	return exit_status();
}
