/* SPDX-License-Identifier: MIT */
/* Tables: names, columns, and which ones are printed. */
#include "cmd/tl-ops/ops.h"

#define US 1e3 /* labels are in us */
#define NS UNIT_NS
#define D COL_DETAIL
#define DIRECT "total_direct_kernel_time"
#define SUBTREE "total_subtree_kernel_time"
#define AT(field) offsetof(struct call, field)

static double
pct_of(const struct sink *s, const void *call)
{
	(void)s;
	return ((const struct call *)call)->overlap.pct;
}

const struct sink_measure ops_measures[] = {
	[M_DIRECT] = { AT(direct_ns), NULL, false },
	[M_SUBTREE] = { AT(subtree_ns), NULL, false },
	[M_SELF] = { AT(self_ns), NULL, false },
	[M_TOTAL] = { AT(total_ns), NULL, false },
	[M_PCT] = { 0, pct_of, false },
};

/* clang-format off */
const struct sink_column ops_columns[] = {
	{ { "kernel_categories", "Kernel categories", COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_CELL, false, C_CLASSES, 0 },
	{ { "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 }, SINK_TEXT, true, AT(name), 0 },
	{ { "overlapping_kernel_names", NULL, COL_JSON, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(overlap.names), ONLY_OVERLAP },
	{ { "op_category", "op category", COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(category), 0 },
	{ { "parent_module", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(parent_module), ONLY_MODULE },
	{ { "pid", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_PID, true, AT(rec.track), 0 },
	{ { "process_name", NULL, COL_TEXT, UNIT_NONE, D, 0 }, SINK_PROCESS, true, 0, 0 },
	{ { "process_label", NULL, COL_TEXT, UNIT_NONE, D, 0 }, SINK_LABEL, true, 0, 0 },
	{ { "thread_name", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_THREAD, true, 0, 0 },
	{ { "input_dims", "Input Dims", COL_JSON, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(args.dims), 0 },
	{ { "input_types", "Input type", COL_JSON, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(args.types), 0 },
	{ { "input_strides", "Input Strides", COL_JSON, UNIT_NONE, D, 0 }, SINK_TEXT, true, AT(args.strides), 0 },
	{ { "concrete_inputs", "Concrete Inputs", COL_JSON, UNIT_NONE, D, 0 }, SINK_TEXT, true, AT(args.concrete), 0 },
	{ { "num_kernels", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_U32, true, AT(nkernels), ONLY_NUM_KERNELS },
	{ { "module", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(module), 0 },
	SINK_PLACE_COLUMNS(AT(annotation), AT(step), AT(phase), AT(phase_method)),
	{ { "is_recompute", NULL, COL_BOOL, UNIT_NONE, 0, 0 }, SINK_BOOL, true, AT(is_recompute), ONLY_RECOMPUTE },
	{ { "count", "Count", COL_INT, UNIT_COUNT, 0, 0 }, SINK_COUNT, false, 0, 0 },
	{ { "operation_count", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_COUNT, false, 0, 0 },
	{ { "first_occurrence_ns", "first_occurrence_time", COL_INT, NS, COL_POSITION, US }, SINK_CELL, false, C_FIRST, ONLY_FIRST },
	{ { "launching_count", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_CELL, false, C_LAUNCHING, 0 },
	{ { "direct_ns_sum", DIRECT "_sum", COL_INT, NS, 0, US }, SINK_SUM, false, M_DIRECT, 0 },
	{ { "subtree_ns_sum", SUBTREE "_sum", COL_INT, NS, COL_MINOR, US }, SINK_SUM, false, M_SUBTREE, 0 },
	{ { "direct_ms_sum", DIRECT "_ms", COL_REAL, UNIT_NONE, D, 0 }, SINK_CELL, false, C_DIRECT_MS, 0 },
	{ { "subtree_ms_sum", SUBTREE "_ms", COL_REAL, UNIT_NONE, D, 0 }, SINK_CELL, false, C_SUBTREE_MS, 0 },
	{ { "categories", "Categories", COL_JSON, UNIT_NONE, D, 0 }, SINK_CELL, false, C_CATEGORIES, 0 },
	SINK_STAT_COLUMNS("direct_ns", DIRECT, COL_INT, NS, 0, US, M_DIRECT, 0),
	SINK_STAT_COLUMNS("subtree_ns", SUBTREE, COL_INT, NS, 0, US, M_SUBTREE, 0),
	{ { "first_uid", "ex_UID", COL_INT, UNIT_NONE, COL_MINOR, 0 }, SINK_UID, false, AT(rec.uid), 0 },
	{ { "call_stack", NULL, COL_JSON, UNIT_NONE, 0, 0 }, SINK_TEXT, false, AT(call_stack), ONLY_STACK },
	{ { "kernel_details_summary", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_DETAILS, false, 0, 0 },
	{ { "trunc_kernel_details", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_DETAILS, false, DETAIL_CUT, 0 },
	{ { "overlapping_kernels_details_summary", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_DETAILS, false, DETAIL_OVERLAP, ONLY_OVERLAP },
	{ { "trunc_overlapping_kernels_details", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_DETAILS, false, DETAIL_OVERLAP | DETAIL_CUT, ONLY_OVERLAP },
	SINK_STAT_COLUMNS("overlap_pct", "overlap_pct", COL_REAL, UNIT_NONE, 0, 0, M_PCT, ONLY_OVERLAP),
	{ { "cpu_self_ns", NULL, COL_INT, NS, 0, 0 }, SINK_SUM, false, M_SELF, 0 },
	{ { "cpu_total_ns", NULL, COL_INT, NS, 0, 0 }, SINK_SUM, false, M_TOTAL, 0 },
	{ { "cpu_total_ns_mean", NULL, COL_REAL, NS, COL_MINOR, 0 }, SINK_MEAN, false, M_TOTAL, 0 },
	{ { "pct_of_busy", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_SHARE, false, M_SUBTREE, 0 },
	{ { "pct_of_self", NULL, COL_REAL, UNIT_PERCENT, COL_SHARE, 0 }, SINK_SHARE, false, M_SELF, 0 },
	{ { "pct_of_direct", "Percentage (%)", COL_REAL, UNIT_PERCENT, COL_SHARE, 0 }, SINK_SHARE, false, M_DIRECT, 0 },
	{ { "cumulative_pct", "Cumulative Percentage (%)", COL_REAL, UNIT_PERCENT, COL_MINOR, 0 }, SINK_CUMULATIVE, false, 0, 0 },
	SINK_COLUMNS_END,
};
/* clang-format on */

/* Keys of each grouping; ops_wants() drops columns that do not apply. */
static const struct grouping {
	const char *keys, *ties;
} groupings[BY_COUNT] = {
	[BY_CATEGORY] = { "op_category,parent_module,is_recompute",
	    "op_category,is_recompute,parent_module" },
	[BY_NAME] = { "name,parent_module,is_recompute",
	    "name,is_recompute,parent_module" },
	[BY_ARGS] = { "name,overlapping_kernel_names,op_category,"
		      "parent_module,process_name,process_label,thread_name,"
		      "input_dims,input_types,input_strides,concrete_inputs,"
		      "num_kernels,is_recompute",
	    NULL },
	[BY_MODULE] = { "module,is_recompute", "module,is_recompute" },
	[BY_ANNOTATION] = { "annotation,is_recompute", NULL },
	[BY_PHASE] = { "phase,is_recompute", NULL },
	[BY_STEP] = { "step,is_recompute", NULL },
	[BY_THREAD] = { "process_name,process_label,thread_name,is_recompute",
	    NULL },
	[BY_PID] = { "pid,process_name,process_label,is_recompute", NULL },
};

/* Figures of several tables. */
static const char args_figures[] =
    "operation_count,first_occurrence_ns,direct_ns_mean,+subtree_ns_mean,"
    "direct_ns_median,subtree_ns_median,direct_ns_std,subtree_ns_std,"
    "direct_ns_min,subtree_ns_min,direct_ns_max,subtree_ns_max,"
    "direct_ns_sum,subtree_ns_sum,first_uid,call_stack,"
    "kernel_details_summary,trunc_kernel_details,"
    "overlapping_kernels_details_summary,trunc_overlapping_kernels_details,"
    "overlap_pct_mean,overlap_pct_median,overlap_pct_std,overlap_pct_min,"
    "overlap_pct_max,pct_of_direct,cumulative_pct";
static const char plain_figures[] =
    "count,direct_ns_sum,pct_of_direct,cumulative_pct";
static const char cpu_figures[] =
    "count,cpu_self_ns,cpu_total_ns,cpu_total_ns_mean,subtree_ns_sum,"
    "pct_of_self,cumulative_pct";

static const struct sink_label category_labels[] = {
	{ "direct_ns_sum", DIRECT "_ms", 1e6 },
	{ "call_stack", "call_stack_first", 0 },
};
static const struct sink_label name_labels[] = {
	{ "call_stack", "call_stack_first", 0 },
};

/* ---- tables ---- */

#define GPU(table, group, figures)                              \
	{                                                       \
		.name = table, .columns = figures, .by = group, \
		.about = OF_LAUNCHERS                           \
	}
#define CPU(table, group)                                           \
	{                                                           \
		.name = table, .columns = cpu_figures, .by = group, \
		.about = OF_CPU, .measure = M_SELF                  \
	}

#define IN_PHASE(table, phase)                                     \
	{                                                          \
		.name = table,                                     \
		.columns = "kernel_categories,name,direct_ns_sum," \
			   "count,direct_ms_sum,pct_of_direct,"    \
			   "cumulative_pct,phase,phase_method",    \
		.ties = "name,phase_method", .by = BY_NAME,        \
		.about = OF_PHASE + (phase), .is_summary = true    \
	}

/* Keys, ties and order follow from by, except those of phases. */
struct sink_table ops_tables[OPS_NTABLES] = {
	{ .name = "ops_summary_by_category",
	    .columns = "count,call_stack,direct_ns_sum,pct_of_direct,"
		       "cumulative_pct",
	    .labels = category_labels,
	    .nlabels = 2,
	    .by = BY_CATEGORY,
	    .is_summary = true },
	{ .name = "ops_summary",
	    .columns = "direct_ns_sum,subtree_ns_sum,direct_ms_sum,"
		       "subtree_ms_sum,count,categories,call_stack,"
		       "pct_of_direct,cumulative_pct",
	    .labels = name_labels,
	    .nlabels = 1,
	    .by = BY_NAME,
	    .is_summary = true },
	GPU("ops_unique_args", BY_ARGS, args_figures),
	{ .name = "ops_unique_args_kl_overlap",
	    .columns = args_figures,
	    .by = BY_ARGS,
	    .about = OF_OVERLAP },
	GPU("ops_by_module", BY_MODULE, plain_figures),
	GPU("ops_by_annotation", BY_ANNOTATION, plain_figures),
	GPU("ops_by_phase", BY_PHASE, plain_figures),
	GPU("ops_by_step", BY_STEP, plain_figures),
	GPU("ops_by_thread", BY_THREAD, plain_figures),
	GPU("ops_by_pid", BY_PID, plain_figures),
	{ .name = "all_ops",
	    .columns = "count,launching_count,subtree_ns_sum,subtree_ns_mean,"
		       "direct_ns_sum,pct_of_busy",
	    .by = BY_COUNT, /* set by --by */
	    .about = OF_ALL_OPS,
	    .measure = M_SUBTREE },
	IN_PHASE("ops_summary_prefill", PHASE_PREFILL),
	IN_PHASE("ops_summary_decode", PHASE_DECODE),
	IN_PHASE("ops_summary_mixed", PHASE_MIXED),
	IN_PHASE("ops_summary_generic", PHASE_GENERIC),
	IN_PHASE("ops_summary_outside", PHASE_OUTSIDE),
	CPU("cpu_ops_by_category", BY_CATEGORY),
	CPU("cpu_ops", BY_NAME),
	CPU("cpu_ops_unique_args", BY_ARGS),
	CPU("cpu_ops_by_module", BY_MODULE),
	CPU("cpu_ops_by_annotation", BY_ANNOTATION),
	CPU("cpu_ops_by_phase", BY_PHASE),
	CPU("cpu_ops_by_step", BY_STEP),
	CPU("cpu_ops_by_thread", BY_THREAD),
	CPU("cpu_ops_by_pid", BY_PID),
};

/* A table's name also tells what to read for it. */
static void
take_named(struct ops *g, const struct sink_table *t)
{
	if (t->by != BY_COUNT)
		g->by = t->by;
	g->overlap = g->overlap || t->about == OF_OVERLAP;
	g->all_ops = g->all_ops || t->about == OF_ALL_OPS || t->about == OF_CPU;
	g->of_cpu = g->of_cpu || t->about == OF_CPU;
}

void
tables_begin(void)
{
	for (size_t i = 0; i < OPS_NTABLES; i++) {
		struct sink_table *t = &ops_tables[i];

		if (ops_phase(t) == PHASE_COUNT && t->by != BY_COUNT)
			t->keys = groupings[t->by].keys;
	}
}

void
tables_choose(struct ops *g)
{
	g->phases.may_guess = g->phases.method < METHOD_COUNT;
	if (g->sink.named != NULL) {
		take_named(g, g->sink.named);
		g->phases.may_guess |= ops_phase(g->sink.named) < PHASE_COUNT;
	}
	for (size_t i = 0; i < OPS_NTABLES; i++) {
		struct sink_table *t = &ops_tables[i];

		if (ops_phase(t) < PHASE_COUNT)
			continue;
		if (t->by == BY_COUNT)
			t->by = g->by;
		t->keys = groupings[t->by].keys;
		t->ties = groupings[t->by].ties;
		t->order = t->by == BY_STEP ? SINK_BY_KEY : SINK_BY_SUM;
	}
}

/* The one table for standard output. */
static bool
is_only_one(const struct ops *g, const struct sink_table *t)
{
	unsigned about = OF_LAUNCHERS;

	if (g->of_cpu)
		about = OF_CPU;
	else if (g->all_ops)
		about = OF_ALL_OPS;
	else if (g->overlap && g->by == BY_ARGS)
		about = OF_OVERLAP;
	return t->about == about && t->by == g->by;
}

/* Into a folder: TraceLens's tables, and others asked for. */
bool
ops_asked(const struct sink *s, const struct sink_table *t)
{
	const struct ops *g = ops_of(s);

	if (s->dest.dir == NULL)
		return is_only_one(g, t);
	if ((t->about == OF_OVERLAP && !g->overlap) ||
	    (t->about == OF_CPU && !g->of_cpu))
		return false;
	if (t->about == OF_ALL_OPS)
		return g->all_ops;
	if (ops_phase(t) < PHASE_COUNT)
		return true;
	return t->by <= BY_ARGS || t->by == g->by ||
	    (t->about == OF_CPU && t->by == BY_THREAD);
}

/* Without GPU work, tables of GPU time are omitted. */
bool
ops_fits(const struct sink *s, const struct sink_table *t)
{
	const struct ops *g = ops_of(s);

	if (ops_phase(t) < PHASE_COUNT && s->table == NULL &&
	    (!(g->phases.any || g->phases.may_guess) ||
		g->nphase[ops_phase(t)] == 0))
		return false;
	if (!g->of_cpu || s->dest.dir == NULL || t->about == OF_CPU)
		return true;
	for (size_t i = 0; i < s->sources.list.n; i++)
		if (s->sources.list.v[i].ngpu > 0)
			return true;
	return false;
}

bool
ops_wants(const struct sink *s, const struct sink_table *t, unsigned only)
{
	const struct ops *g = ops_of(s);

	switch (only) {
	case ONLY_MODULE: return g->parent_module;
	case ONLY_NUM_KERNELS: return g->num_kernels;
	case ONLY_RECOMPUTE: return g->recompute;
	case ONLY_FIRST: return g->first_occurrence;
	case ONLY_STACK: return g->call_stack;
	default: return t->about == OF_OVERLAP;
	}
}
