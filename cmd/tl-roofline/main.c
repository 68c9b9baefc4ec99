/* SPDX-License-Identifier: MIT */
/*
 * tl-roofline: how far are the ops from what the hardware could do?
 *
 * A sink over a tree. Which op a GPU event belongs to is decided when the
 * subtree of its root has been read, so that is what it looks ahead; what it
 * keeps are the GPU events, and the ops that stand in a table.
 */
#include <stdio.h>

#include "cmd/tl-roofline/roof.h"

#define OPT_ARCH (OPT_LONG + 0)
#define OPT_ARGS (OPT_LONG + 1)
#define OPT_CALL_STACK (OPT_LONG + 2)
#define OPT_DIMS (OPT_LONG + 3)
#define OPT_DTYPE (OPT_LONG + 4)
#define OPT_EXPLAIN (OPT_LONG + 5)
#define OPT_LINKED_ONLY (OPT_LONG + 6)
#define OPT_LIST_MODELS (OPT_LONG + 7)
#define OPT_LIST_TABLES (OPT_LONG + 8)
#define OPT_NUM_KERNELS (OPT_LONG + 9)
#define OPT_OP (OPT_LONG + 10)
#define OPT_OVERLAP (OPT_LONG + 11)
#define OPT_RECOMPUTE (OPT_LONG + 12)
#define OPT_ROOF (OPT_LONG + 13)
#define OPT_SIM (OPT_LONG + 14)
#define OPT_STRIDES (OPT_LONG + 15)
#define OPT_TABLE_NAME (OPT_LONG + 16)
#define OPT_PSEUDO (OPT_LONG + 17)
#define OPT_BACKWARD (OPT_LONG + 18)
#define OPT_INDUCTOR (OPT_LONG + 19)
#define OPT_DIFF (OPT_LONG + 20)

static const struct opt options[] = {
	{ OPT_ARCH, "arch", "GPU", "auto, a name or a JSON file" },
	{ OPT_ARGS, "args", "JSON", "of --op: its concrete inputs" },
	{ OPT_BACKWARD, "backward", NULL, "of --op: its backward" },
	{ OPT_CALL_STACK, "call-stack", NULL, "where each op was called" },
	{ OPT_DIFF, "diff", "FILE",
	    "columns of what another trace took: tl-diff's diff_stats" },
	{ OPT_DIMS, "dims", "JSON", "of --op: shapes, as [[8,4],[4,2]]" },
	{ OPT_DTYPE, "dtype", "TYPE,...",
	    "of --op: bf16, or one for each argument" },
	{ OPT_EXPLAIN, "explain", "UID",
	    "how the figures of this op came about" },
	{ OPT_INDUCTOR, "inductor-cache", "DIR",
	    "wrapper files of torch.compile" },
	{ OPT_LINKED_ONLY, "linked-only", NULL,
	    "--overlap: with GPU work that has a launch" },
	{ OPT_LIST_MODELS, "list-models", NULL, "say which ops have a model" },
	{ OPT_LIST_TABLES, "list-tables", NULL, "say which tables there are" },
	{ OPT_NUM_KERNELS, "num-kernels", NULL,
	    "sheets: apart by the number of kernels" },
	{ OPT_OP, "op", "NAME", "one op, without a trace; - reads many" },
	{ OPT_OVERLAP, "overlap", NULL, "split by overlapping GPU work" },
	{ OPT_PSEUDO, "pseudo-ops", NULL,
	    "take ops apart that hide several steps" },
	{ OPT_RECOMPUTE, "recompute", NULL, "recomputed work apart" },
	{ OPT_ROOF, "roof", "ROOF", "peak, or achievable (measured)" },
	{ OPT_SIM, "sim", "COMMAND",
	    "times of GEMMs and attention by this program" },
	{ OPT_STRIDES, "strides", "JSON", "of --op: its strides" },
	{ OPT_TABLE_NAME, "table", "NAME", "the table of this name, as GEMM" },
	OPT_BUCKET,
	OPT_MODELS,
	OPT_SELECT,
	OPT_TABLE,
	{ 'v', "verbose", NULL, "a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"how far are the ops from what the hardware could do",
	"[OPTIONS] [FILE...]",
	"tl-roofline --arch auto --top 20 trace.json.gz",
};

/* ---- what is missing ---- */

static void
check_calls(const struct settings *set, const struct roof_state *g)
{
	const char *path = g->sources.path;
	const struct sink_source sum = sink_sources_sum(&g->sources);

	sink_sources_check(&g->sources);
	if (sum.ngpu == 0)
		die_nothing(MSG_NO_GPU_EVENTS, path, g->nevents);
	if (sum.nchosen == 0)
		die_nothing(MSG_NO_MATCH, path, sum.ngpu);
	if (g->has_calls)
		return;
	if (sum.nunlinked == sum.ngpu)
		die_nothing(MSG_NO_LAUNCHES, path, sum.ngpu);
	if (set->names.n > 0)
		die_nothing(MSG_NO_SUCH_OP, path, sum.nops);
	die_nothing(MSG_NO_OWNED_GPU_EVENTS, path, sum.nchosen);
}

/* A model of the user's that fails is a warning: it is hardly the trace's
 * fault.
 */
static void
warn_failed(const struct roof_state *g)
{
	const struct failures *f = &g->failed, *l = &g->lacking;

	if (l->n > 0)
		report(MSG_MODEL_LACKS, l->n, l->name, l->reason);
	if (f->n > 0)
		report(MSG_MODEL_FAILED, f->n, f->name, f->reason);
	if (g->nown_failed > 0)
		report(MSG_OWN_MODEL_FAILED, g->nown_failed);
}

static void
summarise(const struct roof_state *g)
{
	struct model_stats st = models_stats(g->models);

	sink_sources_note(&g->sources, "asked for");
	note("models: %" PRIu64 " evaluated, %" PRIu64 " remembered",
	    st.evaluated, st.hits);
	note_cost("%zu calls, %" PRIu64 " events", g->calls.n, g->nevents);
}

/* ---- options ---- */

static void
take_option(struct settings *set, struct roof_state *g,
    const struct optparse *op, int ch)
{
	switch (ch) {
	case OPT_ARCH: set->arch = op->arg; break;
	case OPT_ARGS: set->concrete = op->arg; break;
	case OPT_BACKWARD: set->backward = true; break;
	case OPT_CALL_STACK: set->call_stack = true; break;
	case OPT_DIFF: set->diff = op->arg; break;
	case OPT_DIMS: set->dims = op->arg; break;
	case OPT_DTYPE: set->types = op->arg; break;
	case OPT_EXPLAIN:
		set->explain = opt_uid(op);
		set->has_explain = true;
		break;
	case OPT_INDUCTOR:
		if (g->inductor == NULL)
			g->inductor = inductor_create();
		if (inductor_read(g->inductor, op->arg) == 0)
			report(MSG_NO_WRAPPERS, op->arg);
		break;
	case OPT_LINKED_ONLY: set->linked_only = true; break;
	case OPT_LIST_MODELS: set->list_models = true; break;
	case OPT_LIST_TABLES: set->list_tables = true; break;
	case OPT_NUM_KERNELS: set->num_kernels = true; break;
	case OPT_OP: set->op = op->arg; break;
	case OPT_OVERLAP: set->overlap = true; break;
	case OPT_PSEUDO: set->pseudo_ops = true; break;
	case OPT_RECOMPUTE: set->recompute = true; break;
	case OPT_ROOF: set->roof = (enum roof)opt_word(op, roof_words); break;
	case OPT_SIM: set->sim_command = op->arg; break;
	case OPT_STRIDES: set->strides = op->arg; break;
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
check_settings(struct settings *set, struct roof_state *g)
{
	tables_choose(g, set);
	select_check_gpu(&set->select);
	if (set->op == NULL &&
	    (set->dims != NULL || set->types != NULL || set->concrete != NULL ||
		set->strides != NULL || set->backward))
		die_usage("options '--dims', '--dtype', '--strides', '--args' "
			  "and '--backward' need --op");
	if (set->op != NULL && strcmp(set->op, "-") == 0 &&
	    (set->dims != NULL || set->types != NULL || set->concrete != NULL ||
		set->strides != NULL))
		die_usage("with --op - the lines say shapes and types");
	set->select.late_ranks = true;
	set->details = table_dest_details(&set->dest);
	if (strcmp(set->arch, "auto") != 0)
		g->arch =
		    arch_load(g->models, set->arch, (struct str){ "", 0 });
	if (set->op == NULL)
		tables_check(g, set);
}

/* What needs no trace. */
static bool
answer_at_once(struct settings *set, struct roof_state *g)
{
	if (set->list_tables)
		tables_list(g);
	else if (set->list_models)
		models_list(g);
	else if (set->op != NULL && strcmp(set->op, "-") == 0)
		many_ops(g, set);
	else if (set->op != NULL)
		one_op(g, set);
	else
		return false;
	return true;
}

static void
find_overlaps(struct roof_state *g)
{
	struct overlaps *o = overlaps_find(g->strings, g->works.v, g->works.n);

	for (size_t i = 0; i < g->calls.n; i++) {
		struct call *c = &g->calls.v[i];

		overlaps_of(o, g->lists.v + c->first_own, c->nown,
		    &g->overlap_list, &c->overlap);
	}
	overlaps_free(o);
}

static void
read_all(struct roof_state *g, struct settings *set, struct optparse *op)
{
	const char *path;

	g->device = INTERN_NONE;
	g->execute = intern_put(g->strings->text, STR("execute"));
	while ((path = opt_file(op)) != NULL)
		roof_read_file(g, set, path);
	collect_finish(g);
	check_calls(set, g);
	if (set->overlap)
		find_overlaps(g);
}

int
main(int argc, char *argv[])
{
	struct settings set = { .arch = "auto" };
	struct roof_state g = { .set = &set };
	struct optparse op;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	g.models = models_create();
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &g, &op, ch);
	check_settings(&set, &g);
	g.strings = strings_create();
	g.names = names_create(g.strings);
	if (set.diff != NULL)
		g.versus = versus_read(g.strings, set.diff);
	if (set.sim_command != NULL)
		g.sim = sim_start(set.sim_command);
	if (!answer_at_once(&set, &g)) {
		read_all(&g, &set, &op);
		warn_failed(&g);
		if (set.has_explain)
			explain_uid(&g, &set.explain);
		else
			tables_print(&set, &g);
		if (set.verbose)
			summarise(&g);
	}
	sim_finish(g.sim);
	roof_free(&g);
	strings_destroy(g.strings);
	select_free(&set.select);
	bucket_free(&set.rules);
	return exit_status();
}
