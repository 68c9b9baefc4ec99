/* SPDX-License-Identifier: MIT */
/*
 * tl-ops: which ops cost the GPU time?
 *
 * A sink over a tree: it keeps a record of each op that launches GPU work,
 * and prints groups of them.
 */
#include <stdio.h>

#include "table/catalogue.h"

#include "cmd/tl-ops/ops.h"

#define OPT_ALL_OPS (OPT_LONG + 0)
#define OPT_BY (OPT_LONG + 1)
#define OPT_CLOCK (OPT_LONG + 2)
#define OPT_FIRST (OPT_LONG + 3)
#define OPT_INCLUDE_COMM (OPT_LONG + 4)
#define OPT_LINKED_ONLY (OPT_LONG + 5)
#define OPT_LIST_TABLES (OPT_LONG + 6)
#define OPT_NUM_KERNELS (OPT_LONG + 7)
#define OPT_OVERLAP (OPT_LONG + 8)
#define OPT_RECOMPUTE (OPT_LONG + 9)
#define OPT_TABLE_NAME (OPT_LONG + 10)
#define OPT_CALL_STACK (OPT_LONG + 11)
#define OPT_PARENT_MODULE (OPT_LONG + 12)
#define OPT_PSEUDO (OPT_LONG + 13)

static const struct opt options[] = {
	{ OPT_ALL_OPS, "all-ops", NULL,
	    "GPU time below each op, whether it launches or not" },
	{ OPT_BY, "by", "WHAT",
	    "annotation, args, category, module, name, step or thread" },
	{ OPT_CALL_STACK, "call-stack", NULL,
	    "by name, category, args: the op and its modules, of the first" },
	{ OPT_CLOCK, "clock", "CLOCK", "gpu, or cpu: time of ops on the host" },
	{ OPT_FIRST, "first-occurrence", NULL,
	    "by args: when each came first" },
	{ OPT_INCLUDE_COMM, "include-comm", NULL,
	    "collectives too belong to their ops" },
	{ OPT_LINKED_ONLY, "linked-only", NULL,
	    "--overlap: with GPU work that has a launch" },
	{ OPT_LIST_TABLES, "list-tables", NULL, "say which tables there are" },
	{ OPT_NUM_KERNELS, "num-kernels", NULL,
	    "by args: apart by the number of kernels" },
	{ OPT_OVERLAP, "overlap", NULL,
	    "by args: split by overlapping GPU work" },
	{ OPT_PARENT_MODULE, "parent-module", NULL,
	    "by name, category, args: apart by the type of nn.Module" },
	{ OPT_PSEUDO, "pseudo-ops", NULL,
	    "ops for the steps that one op hides, see tl-graft" },
	{ OPT_RECOMPUTE, "recompute", NULL, "recomputed work apart" },
	{ OPT_TABLE_NAME, "table", "NAME", "the table of this name" },
	OPT_BUCKET,
	OPT_MODELS,
	OPT_SELECT,
	OPT_TABLE,
	{ 'v', "verbose", NULL, "a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"which ops cost the GPU time",
	"[OPTIONS] [FILE...]",
	"tl-ops --by args --top 20 trace.json.gz",
};

static const char *const clock_words[] = { "gpu", "cpu", NULL };

/* ---- what is missing ---- */

static void
check_calls(const struct settings *set, const struct ops *g)
{
	const char *path = g->sources.path;
	const struct sink_source sum = sink_sources_sum(&g->sources);

	if (g->calls.n > 0)
		return;
	sink_sources_check(&g->sources);
	if (set->all_ops || (sum.ngpu > sum.nunlinked && set->names.n > 0))
		die("%s: no op%s among %" PRIu64 " events", path,
		    set->names.n > 0 ? " of that name" : "", g->nevents);
	if (sum.ngpu == 0)
		die("%s: no GPU event among %" PRIu64 " events", path,
		    g->nevents);
	if (sum.nunlinked == sum.ngpu)
		die("%s: none of %" PRIu64 " GPU events has its launch in the "
		    "trace, so no op owns one: try tl-kernels",
		    path, sum.ngpu);
	if (sum.nchosen == 0)
		die("%s: none of %" PRIu64 " GPU events is asked for", path,
		    sum.ngpu);
	die("%s: all of %" PRIu64 " GPU events asked for are collectives or "
	    "have no launch: try --include-comm",
	    path, sum.nchosen);
}

static void
summarise(const struct ops *g)
{
	sink_sources_note(&g->sources, "asked for");
	note_cost("%zu calls, %" PRIu64 " events", g->calls.n, g->nevents);
}

/* ---- options ---- */

static void
take_option(
    struct settings *set, struct ops *g, const struct optparse *op, int ch)
{
	switch (ch) {
	case OPT_ALL_OPS: set->all_ops = true; break;
	case OPT_BY: set->by = (enum by)opt_word(op, by_words); break;
	case OPT_CALL_STACK: set->call_stack = true; break;
	case OPT_PARENT_MODULE: set->parent_module = true; break;
	case OPT_PSEUDO: set->pseudo_ops = true; break;
	case OPT_CLOCK:
		set->clock = (enum clock)opt_word(op, clock_words);
		break;
	case OPT_FIRST: set->first_occurrence = true; break;
	case OPT_INCLUDE_COMM: set->with_comm = true; break;
	case OPT_LINKED_ONLY: set->linked_only = true; break;
	case OPT_LIST_TABLES: set->list = true; break;
	case OPT_NUM_KERNELS: set->num_kernels = true; break;
	case OPT_OVERLAP: set->overlap = true; break;
	case OPT_RECOMPUTE: set->recompute = true; break;
	case OPT_TABLE_NAME: set->table = op->arg; break;
	case OPT_MODELS_FILE: models_load(g->models, op->arg); break;
	case OPT_SELECT_NAME: vec_push(&set->names, str_of(op->arg)); break;
	case 'v': set->verbose = true; break;
	default:
		if (!bucket_opt(&set->rules, op, ch) &&
		    !select_opt(&set->select, op, ch))
			(void)table_dest_opt(&set->dest, op, ch);
		break;
	}
}

static void
check_settings(struct settings *set)
{
	tables_choose(set);
	select_check_gpu(&set->select);
	if (set->dest.dir == NULL && set->by != BY_ARGS &&
	    (set->overlap || set->num_kernels || set->first_occurrence))
		die_usage("option '--%s' needs --by args",
		    set->overlap           ? "overlap"
			: set->num_kernels ? "num-kernels"
					   : "first-occurrence");
	if (set->dest.dir == NULL && set->by > BY_ARGS &&
	    (set->call_stack || set->parent_module))
		die_usage("option '--%s' needs --by name, category or args",
		    set->call_stack ? "call-stack" : "parent-module");
	if (set->clock == CLOCK_CPU)
		set->all_ops = true;
	set->select.need_windows =
	    set->by == BY_STEP || set->by == BY_ANNOTATION;
	set->select.late_ranks = true;
	set->details = table_dest_details(&set->dest);
	tables_check(set);
}

int
main(int argc, char *argv[])
{
	struct settings set = { .by = BY_NAME };
	struct ops g = { .set = &set };
	struct optparse op;
	const char *path;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	g.models = models_create();
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &g, &op, ch);
	if (set.list) {
		sheets_list("tl-ops");
		models_destroy(g.models);
		return EXIT_DONE;
	}
	check_settings(&set);

	g.strings = strings_create();
	g.names = names_create(g.strings);
	while ((path = opt_file(&op)) != NULL)
		ops_read_file(&g, &set, path);
	ops_finish(&g);
	check_calls(&set, &g);
	tables_print(&set, &g);
	if (set.verbose)
		summarise(&g);
	ops_free(&g);
	strings_destroy(g.strings);
	vec_free(&set.names);
	select_free(&set.select);
	bucket_free(&set.rules);
	return exit_status();
}
