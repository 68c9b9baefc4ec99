/* SPDX-License-Identifier: MIT */
/* Tables: which there are, their columns, and which are printed. */
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
	[F_NAME] = { { "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 }, SINK_TEXT, true, AT(name) },
	[F_OVERLAP_NAMES] = { { "overlapping_kernel_names", NULL, COL_JSON, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(overlap.names) },
	[F_CATEGORY] = { { "op_category", "op category", COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(category) },
	[F_PARENT_MODULE] = { { "parent_module", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(parent_module) },
	[F_PROCESS] = { { "process_name", NULL, COL_TEXT, UNIT_NONE, D, 0 }, SINK_PROCESS, true, 0 },
	[F_LABEL] = { { "process_label", NULL, COL_TEXT, UNIT_NONE, D, 0 }, SINK_LABEL, true, 0 },
	[F_THREAD] = { { "thread_name", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_THREAD, true, 0 },
	[F_DIMS] = { { "input_dims", "Input Dims", COL_JSON, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(args.dims) },
	[F_TYPES] = { { "input_types", "Input type", COL_JSON, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(args.types) },
	[F_STRIDES] = { { "input_strides", "Input Strides", COL_JSON, UNIT_NONE, D, 0 }, SINK_TEXT, true, AT(args.strides) },
	[F_CONCRETE] = { { "concrete_inputs", "Concrete Inputs", COL_JSON, UNIT_NONE, D, 0 }, SINK_TEXT, true, AT(args.concrete) },
	[F_NUM_KERNELS] = { { "num_kernels", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_U32, true, AT(nkernels) },
	[F_MODULE] = { { "module", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(module) },
	[F_ANNOTATION] = { { "annotation", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(annotation) },
	[F_STEP] = { { "step", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_INT, true, AT(step) },
	[F_RECOMPUTE] = { { "is_recompute", NULL, COL_BOOL, UNIT_NONE, 0, 0 }, SINK_BOOL, true, AT(is_recompute) },
	[F_COUNT] = { { "count", "Count", COL_INT, UNIT_COUNT, 0, 0 }, SINK_COUNT, false, 0 },
	[F_OP_COUNT] = { { "operation_count", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_COUNT, false, 0 },
	[F_FIRST] = { { "first_occurrence_ns", "first_occurrence_time", COL_INT, NS, COL_POSITION, US }, SINK_CELL, false, 0 },
	[F_LAUNCHING] = { { "launching_count", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_CELL, false, 0 },
	[F_DIRECT_SUM] = { { "direct_ns_sum", DIRECT "_sum", COL_INT, NS, 0, US }, SINK_SUM, false, M_DIRECT },
	[F_SUBTREE_SUM] = { { "subtree_ns_sum", SUBTREE "_sum", COL_INT, NS, COL_MINOR, US }, SINK_SUM, false, M_SUBTREE },
	[F_SUBTREE_MEAN_ALL] = { { "subtree_ns_mean", SUBTREE "_mean", COL_REAL, NS, 0, US }, SINK_MEAN, false, M_SUBTREE },
	[F_DIRECT_MS] = { { "direct_ms_sum", DIRECT "_ms", COL_REAL, UNIT_NONE, D, 0 }, SINK_CELL, false, M_DIRECT },
	[F_SUBTREE_MS] = { { "subtree_ms_sum", SUBTREE "_ms", COL_REAL, UNIT_NONE, D, 0 }, SINK_CELL, false, M_SUBTREE },
	[F_CATEGORIES] = { { "categories", "Categories", COL_JSON, UNIT_NONE, D, 0 }, SINK_CELL, false, 0 },
	SINK_STAT_COLUMNS(F_DIRECT, "direct_ns", DIRECT, COL_INT, NS, 0, US, M_DIRECT),
	SINK_STAT_COLUMNS(F_SUBTREE, "subtree_ns", SUBTREE, COL_INT, NS, D, US, M_SUBTREE),
	[F_FIRST_UID] = { { "first_uid", "ex_UID", COL_INT, UNIT_NONE, COL_MINOR, 0 }, SINK_UID, false, AT(rec.uid) },
	[F_STACK] = { { "call_stack", NULL, COL_JSON, UNIT_NONE, 0, 0 }, SINK_TEXT, false, AT(call_stack) },
	[F_DETAILS] = { { "kernel_details_summary", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_DETAILS, false, 0 },
	[F_TRUNC] = { { "trunc_kernel_details", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_DETAILS, false, DETAIL_CUT },
	[F_OVERLAP] = { { "overlapping_kernels_details_summary", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_DETAILS, false, DETAIL_OVERLAP },
	[F_OVERLAP_TRUNC] = { { "trunc_overlapping_kernels_details", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_DETAILS, false, DETAIL_OVERLAP | DETAIL_CUT },
	SINK_STAT_COLUMNS(F_PCT, "overlap_pct", "overlap_pct", COL_REAL, UNIT_NONE, 0, 0, M_PCT),
	[F_SELF] = { { "cpu_self_ns", NULL, COL_INT, NS, 0, 0 }, SINK_SUM, false, M_SELF },
	[F_TOTAL] = { { "cpu_total_ns", NULL, COL_INT, NS, 0, 0 }, SINK_SUM, false, M_TOTAL },
	[F_TOTAL_MEAN] = { { "cpu_total_ns_mean", NULL, COL_REAL, NS, COL_MINOR, 0 }, SINK_MEAN, false, M_TOTAL },
	[F_SHARE_BUSY] = { { "pct_of_busy", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_SHARE, false, M_SUBTREE },
	[F_SHARE_SELF] = { { "pct_of_self", NULL, COL_REAL, UNIT_PERCENT, COL_SHARE, 0 }, SINK_SHARE, false, M_SELF },
	[F_SHARE] = { { "pct_of_direct", "Percentage (%)", COL_REAL, UNIT_PERCENT, COL_SHARE, 0 }, SINK_SHARE, false, M_DIRECT },
	[F_CUMULATIVE] = { { "cumulative_pct", "Cumulative Percentage (%)", COL_REAL, UNIT_PERCENT, COL_MINOR, 0 }, SINK_CUMULATIVE, false, 0 },
};
/* clang-format on */

/* Keys of each grouping, and its figures; ops_wants() leaves columns out. */
static const uint8_t category_keys[] = { F_CATEGORY, F_PARENT_MODULE,
	F_RECOMPUTE, SINK_END };
static const uint8_t name_keys[] = { F_NAME, F_PARENT_MODULE, F_RECOMPUTE,
	SINK_END };
static const uint8_t args_keys[] = { F_NAME, F_OVERLAP_NAMES, F_CATEGORY,
	F_PARENT_MODULE, F_PROCESS, F_LABEL, F_THREAD, F_DIMS, F_TYPES,
	F_STRIDES, F_CONCRETE, F_NUM_KERNELS, F_RECOMPUTE, SINK_END };
static const uint8_t module_keys[] = { F_MODULE, F_RECOMPUTE, SINK_END };
static const uint8_t annotation_keys[] = { F_ANNOTATION, F_RECOMPUTE,
	SINK_END };
static const uint8_t step_keys[] = { F_STEP, F_RECOMPUTE, SINK_END };
static const uint8_t thread_keys[] = { F_PROCESS, F_LABEL, F_THREAD,
	F_RECOMPUTE, SINK_END };
static const uint8_t category_ties[] = { F_CATEGORY, F_RECOMPUTE,
	F_PARENT_MODULE, SINK_END };
static const uint8_t name_ties[] = { F_NAME, F_RECOMPUTE, F_PARENT_MODULE,
	SINK_END };
static const struct grouping {
	const uint8_t *keys, *ties;
} groupings[BY_COUNT] = {
	[BY_CATEGORY] = { category_keys, category_ties },
	[BY_NAME] = { name_keys, name_ties },
	[BY_ARGS] = { args_keys, NULL },
	[BY_MODULE] = { module_keys, module_keys },
	[BY_ANNOTATION] = { annotation_keys, NULL },
	[BY_STEP] = { step_keys, NULL },
	[BY_THREAD] = { thread_keys, NULL },
};
static const uint8_t category_figures[] = { F_COUNT, F_STACK, F_DIRECT_SUM,
	F_SHARE, F_CUMULATIVE, SINK_END };
static const uint8_t name_figures[] = { F_DIRECT_SUM, F_SUBTREE_SUM,
	F_DIRECT_MS, F_SUBTREE_MS, F_COUNT, F_CATEGORIES, F_STACK, F_SHARE,
	F_CUMULATIVE, SINK_END };
static const uint8_t args_figures[] = { F_OP_COUNT, F_FIRST, F_DIRECT_MEAN,
	F_SUBTREE_MEAN, F_DIRECT_MEDIAN, F_SUBTREE_MEDIAN, F_DIRECT_STD,
	F_SUBTREE_STD, F_DIRECT_MIN, F_SUBTREE_MIN, F_DIRECT_MAX, F_SUBTREE_MAX,
	F_DIRECT_SUM, F_SUBTREE_SUM, F_FIRST_UID, F_STACK, F_DETAILS, F_TRUNC,
	F_OVERLAP, F_OVERLAP_TRUNC, F_PCT_MEAN, F_PCT_MEDIAN, F_PCT_STD,
	F_PCT_MIN, F_PCT_MAX, F_SHARE, F_CUMULATIVE, SINK_END };
static const uint8_t plain_figures[] = { F_COUNT, F_DIRECT_SUM, F_SHARE,
	F_CUMULATIVE, SINK_END };
static const uint8_t all_figures[] = { F_COUNT, F_LAUNCHING, F_SUBTREE_SUM,
	F_SUBTREE_MEAN_ALL, F_DIRECT_SUM, F_SHARE_BUSY, SINK_END };
static const uint8_t cpu_figures[] = { F_COUNT, F_SELF, F_TOTAL, F_TOTAL_MEAN,
	F_SUBTREE_SUM, F_SHARE_SELF, F_CUMULATIVE, SINK_END };

static const struct sink_label category_labels[] = {
	{ F_DIRECT_SUM, DIRECT "_ms", 1e6 },
	{ F_STACK, "call_stack_first", 0 },
};
static const struct sink_label name_labels[] = {
	{ F_STACK, "call_stack_first", 0 },
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

/* Keys, ties and order follow from by. */
struct sink_table ops_tables[OPS_NTABLES] = {
	{ .name = "ops_summary_by_category",
	    .columns = category_figures,
	    .labels = category_labels,
	    .nlabels = 2,
	    .by = BY_CATEGORY,
	    .is_summary = true },
	{ .name = "ops_summary",
	    .columns = name_figures,
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
	GPU("ops_by_step", BY_STEP, plain_figures),
	GPU("ops_by_thread", BY_THREAD, plain_figures),
	{ .name = "all_ops",
	    .columns = all_figures,
	    .by = BY_COUNT, /* what --by says */
	    .about = OF_ALL_OPS,
	    .measure = M_SUBTREE },
	CPU("cpu_ops_by_category", BY_CATEGORY),
	CPU("cpu_ops", BY_NAME),
	CPU("cpu_ops_unique_args", BY_ARGS),
	CPU("cpu_ops_by_module", BY_MODULE),
	CPU("cpu_ops_by_annotation", BY_ANNOTATION),
	CPU("cpu_ops_by_step", BY_STEP),
	CPU("cpu_ops_by_thread", BY_THREAD),
};

/* A table by name also says what is to be read for it. */
static void
take_named(struct ops *g, const struct sink_table *t)
{
	if (t->by != BY_COUNT)
		g->by = t->by;
	g->overlap = g->overlap || t->about == OF_OVERLAP;
	g->all_ops = g->all_ops || t->about >= OF_ALL_OPS;
	g->of_cpu = g->of_cpu || t->about == OF_CPU;
}

void
tables_choose(struct ops *g)
{
	if (g->sink.named != NULL)
		take_named(g, g->sink.named);
	for (size_t i = 0; i < OPS_NTABLES; i++) {
		struct sink_table *t = &ops_tables[i];

		if (t->by == BY_COUNT)
			t->by = g->by;
		t->keys = groupings[t->by].keys;
		t->ties = groupings[t->by].ties;
		t->order = t->by == BY_STEP ? SINK_BY_KEY : SINK_BY_SUM;
	}
}

/* The one table of a standard output. */
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

/* In a folder: those of the reference, and what else was asked for. */
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
	return t->by <= BY_ARGS || t->by == g->by ||
	    (t->about == OF_CPU && t->by == BY_THREAD);
}

/* Of a trace without GPU work, what the GPU did is no table. */
bool
ops_fits(const struct sink *s, const struct sink_table *t)
{
	if (!ops_of(s)->of_cpu || s->dest.dir == NULL || t->about == OF_CPU)
		return true;
	for (size_t i = 0; i < s->sources.list.n; i++)
		if (s->sources.list.v[i].ngpu > 0)
			return true;
	return false;
}

bool
ops_wants(const struct sink *s, const struct sink_table *t, unsigned column)
{
	const struct ops *g = ops_of(s);

	switch (column) {
	case F_PARENT_MODULE: return g->parent_module;
	case F_NUM_KERNELS: return g->num_kernels;
	case F_RECOMPUTE: return g->recompute;
	case F_FIRST: return g->first_occurrence;
	case F_STACK: return g->call_stack;
	case F_OVERLAP_NAMES:
	case F_OVERLAP:
	case F_OVERLAP_TRUNC:
	case F_PCT_MEAN:
	case F_PCT_MEDIAN:
	case F_PCT_STD:
	case F_PCT_MIN:
	case F_PCT_MAX: return t->about == OF_OVERLAP;
	default: return true;
	}
}
