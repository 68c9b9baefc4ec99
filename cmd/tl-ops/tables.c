/* SPDX-License-Identifier: MIT */
/*
 * Tables: which there are, and their columns. A column is an entry of fields[]
 * here and a case of cell_of() in rows.c.
 */
#include "cmd/tl-ops/plan.h"

#define US 1e3 /* labels are in us */
#define NS UNIT_NS
#define DIRECT "total_direct_kernel_time"
#define SUBTREE "total_subtree_kernel_time"

/* clang-format off */
static const struct column fields[F_FIELDS] = {
	[F_RANK] = { "rank", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_SRC] = { "src", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_NAME] = { "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	[F_OVERLAP_NAMES] = { "overlapping_kernel_names", NULL, COL_JSON, UNIT_NONE, 0, 0 },
	[F_CATEGORY] = { "op_category", "op category", COL_TEXT, UNIT_NONE, COL_MINOR, 0 },
	[F_PARENT_MODULE] = { "parent_module", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 },
	[F_PROCESS] = { "process_name", NULL, COL_TEXT, UNIT_NONE, COL_DETAIL, 0 },
	[F_LABEL] = { "process_label", NULL, COL_TEXT, UNIT_NONE, COL_DETAIL, 0 },
	[F_THREAD] = { "thread_name", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 },
	[F_DIMS] = { "input_dims", "Input Dims", COL_JSON, UNIT_NONE, 0, 0 },
	[F_TYPES] = { "input_types", "Input type", COL_JSON, UNIT_NONE, COL_MINOR, 0 },
	[F_STRIDES] = { "input_strides", "Input Strides", COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
	[F_CONCRETE] = { "concrete_inputs", "Concrete Inputs", COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
	[F_NUM_KERNELS] = { "num_kernels", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	[F_MODULE] = { "module", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	[F_ANNOTATION] = { "annotation", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	[F_STEP] = { "step", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_RECOMPUTE] = { "is_recompute", NULL, COL_BOOL, UNIT_NONE, 0, 0 },
	[F_COUNT] = { "count", "Count", COL_INT, UNIT_COUNT, 0, 0 },
	[F_OP_COUNT] = { "operation_count", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	[F_FIRST] = { "first_occurrence_ns", "first_occurrence_time", COL_INT, NS, COL_POSITION, US },
	[F_LAUNCHING] = { "launching_count", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	[F_DIRECT] = { "direct_ns", DIRECT "_ms", COL_INT, NS, 0, 1e6 },
	[F_DIRECT_SUM] = { "direct_ns_sum", DIRECT "_sum", COL_INT, NS, 0, US },
	[F_SUBTREE_SUM] = { "subtree_ns_sum", SUBTREE "_sum", COL_INT, NS, COL_MINOR, US },
	[F_SUBTREE_MEAN_ALL] = { "subtree_ns_mean", SUBTREE "_mean", COL_REAL, NS, 0, US },
	[F_DIRECT_MS] = { "direct_ms_sum", DIRECT "_ms", COL_REAL, UNIT_NONE, COL_DETAIL, 0 },
	[F_SUBTREE_MS] = { "subtree_ms_sum", SUBTREE "_ms", COL_REAL, UNIT_NONE, COL_DETAIL, 0 },
	[F_CATEGORIES] = { "categories", "Categories", COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
	[F_STACK_FIRST] = { "call_stack", "call_stack_first", COL_JSON, UNIT_NONE, 0, 0 },
	[F_DIRECT_MEAN] = { "direct_ns_mean", DIRECT "_mean", COL_REAL, NS, 0, US },
	[F_SUBTREE_MEAN] = { "subtree_ns_mean", SUBTREE "_mean", COL_REAL, NS, COL_DETAIL, US },
	[F_DIRECT_MEDIAN] = { "direct_ns_median", DIRECT "_median", COL_REAL, NS, COL_DETAIL, US },
	[F_SUBTREE_MEDIAN] = { "subtree_ns_median", SUBTREE "_median", COL_REAL, NS, COL_DETAIL, US },
	[F_DIRECT_STD] = { "direct_ns_std", DIRECT "_std", COL_REAL, NS, COL_DETAIL, US },
	[F_SUBTREE_STD] = { "subtree_ns_std", SUBTREE "_std", COL_REAL, NS, COL_DETAIL, US },
	[F_DIRECT_MIN] = { "direct_ns_min", DIRECT "_min", COL_INT, NS, COL_DETAIL, US },
	[F_SUBTREE_MIN] = { "subtree_ns_min", SUBTREE "_min", COL_INT, NS, COL_DETAIL, US },
	[F_DIRECT_MAX] = { "direct_ns_max", DIRECT "_max", COL_INT, NS, COL_DETAIL, US },
	[F_SUBTREE_MAX] = { "subtree_ns_max", SUBTREE "_max", COL_INT, NS, COL_DETAIL, US },
	[F_EX_UID] = { "ex_uid", "ex_UID", COL_INT, UNIT_NONE, COL_MINOR, 0 },
	[F_STACK] = { "call_stack", NULL, COL_JSON, UNIT_NONE, 0, 0 },
	[F_DETAILS] = { "kernel_details_summary", NULL, COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
	[F_TRUNC] = { "trunc_kernel_details", NULL, COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
	[F_OVERLAP] = { "overlapping_kernels_details_summary", NULL, COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
	[F_OVERLAP_TRUNC] = { "trunc_overlapping_kernels_details", NULL, COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
	[F_PCT_MEAN] = { "overlap_pct_mean", NULL, COL_REAL, UNIT_NONE, 0, 0 },
	[F_PCT_MEDIAN] = { "overlap_pct_median", NULL, COL_REAL, UNIT_NONE, COL_DETAIL, 0 },
	[F_PCT_STD] = { "overlap_pct_std", NULL, COL_REAL, UNIT_NONE, COL_DETAIL, 0 },
	[F_PCT_MIN] = { "overlap_pct_min", NULL, COL_REAL, UNIT_NONE, COL_DETAIL, 0 },
	[F_PCT_MAX] = { "overlap_pct_max", NULL, COL_REAL, UNIT_NONE, COL_DETAIL, 0 },
	[F_SELF] = { "cpu_self_ns", NULL, COL_INT, NS, 0, 0 },
	[F_TOTAL] = { "cpu_total_ns", NULL, COL_INT, NS, 0, 0 },
	[F_TOTAL_MEAN] = { "cpu_total_ns_mean", NULL, COL_REAL, NS, COL_MINOR, 0 },
	[F_SHARE_BUSY] = { "pct_of_busy", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
	[F_SHARE_SELF] = { "pct_of_self", NULL, COL_REAL, UNIT_PERCENT, COL_SHARE, 0 },
	[F_SHARE] = { "pct_of_direct", "Percentage (%)", COL_REAL, UNIT_PERCENT, COL_SHARE, 0 },
	[F_CUMULATIVE] = { "cumulative_pct", "Cumulative Percentage (%)", COL_REAL, UNIT_PERCENT, COL_MINOR, 0 },
};
/* clang-format on */

/* Keys of each grouping, then figures of each table; F_FIELDS ends a list. */
static const enum field keys[BY_COUNT][10] = {
	[BY_CATEGORY] = { F_CATEGORY, F_FIELDS },
	[BY_NAME] = { F_NAME, F_FIELDS },
	[BY_ARGS] = { F_NAME, F_CATEGORY, F_PROCESS, F_LABEL, F_THREAD, F_DIMS,
	    F_TYPES, F_STRIDES, F_CONCRETE, F_FIELDS },
	[BY_MODULE] = { F_MODULE, F_FIELDS },
	[BY_ANNOTATION] = { F_ANNOTATION, F_FIELDS },
	[BY_STEP] = { F_STEP, F_FIELDS },
	[BY_THREAD] = { F_PROCESS, F_LABEL, F_THREAD, F_FIELDS },
};
static const enum field category_figures[] = { F_COUNT, F_DIRECT, F_SHARE,
	F_CUMULATIVE, F_FIELDS };
static const enum field name_figures[] = { F_DIRECT_SUM, F_SUBTREE_SUM,
	F_DIRECT_MS, F_SUBTREE_MS, F_COUNT, F_CATEGORIES, F_SHARE, F_CUMULATIVE,
	F_FIELDS };
static const enum field args_figures[] = { F_DIRECT_MEAN, F_SUBTREE_MEAN,
	F_DIRECT_MEDIAN, F_SUBTREE_MEDIAN, F_DIRECT_STD, F_SUBTREE_STD,
	F_DIRECT_MIN, F_SUBTREE_MIN, F_DIRECT_MAX, F_SUBTREE_MAX, F_DIRECT_SUM,
	F_SUBTREE_SUM, F_EX_UID, F_DETAILS, F_TRUNC, F_FIELDS };
static const enum field overlap_figures[] = { F_OVERLAP, F_OVERLAP_TRUNC,
	F_PCT_MEAN, F_PCT_MEDIAN, F_PCT_STD, F_PCT_MIN, F_PCT_MAX, F_FIELDS };
static const enum field share_figures[] = { F_SHARE, F_CUMULATIVE, F_FIELDS };
static const enum field plain_figures[] = { F_COUNT, F_DIRECT_SUM, F_SHARE,
	F_CUMULATIVE, F_FIELDS };
static const enum field all_figures[] = { F_COUNT, F_LAUNCHING, F_SUBTREE_SUM,
	F_SUBTREE_MEAN_ALL, F_DIRECT_SUM, F_SHARE_BUSY, F_FIELDS };
static const enum field cpu_figures[] = { F_COUNT, F_SELF, F_TOTAL,
	F_TOTAL_MEAN, F_SUBTREE_SUM, F_SHARE_SELF, F_CUMULATIVE, F_FIELDS };

/* ---- tables ---- */

static const struct kind_of_table tables[] = {
	{ "ops_summary_by_category", BY_CATEGORY, OF_LAUNCHERS,
	    category_figures },
	{ "ops_summary", BY_NAME, OF_LAUNCHERS, name_figures },
	{ "ops_unique_args", BY_ARGS, OF_LAUNCHERS, args_figures },
	{ "ops_unique_args_kl_overlap", BY_ARGS, OF_OVERLAP, args_figures },
	{ "ops_by_module", BY_MODULE, OF_LAUNCHERS, plain_figures },
	{ "ops_by_annotation", BY_ANNOTATION, OF_LAUNCHERS, plain_figures },
	{ "ops_by_step", BY_STEP, OF_LAUNCHERS, plain_figures },
	{ "ops_by_thread", BY_THREAD, OF_LAUNCHERS, plain_figures },
	{ "all_ops", BY_COUNT, OF_ALL_OPS, all_figures },
	{ "cpu_ops_by_category", BY_CATEGORY, OF_CPU, cpu_figures },
	{ "cpu_ops", BY_NAME, OF_CPU, cpu_figures },
	{ "cpu_ops_unique_args", BY_ARGS, OF_CPU, cpu_figures },
	{ "cpu_ops_by_module", BY_MODULE, OF_CPU, cpu_figures },
	{ "cpu_ops_by_annotation", BY_ANNOTATION, OF_CPU, cpu_figures },
	{ "cpu_ops_by_step", BY_STEP, OF_CPU, cpu_figures },
	{ "cpu_ops_by_thread", BY_THREAD, OF_CPU, cpu_figures },
};
#define NTABLES (sizeof tables / sizeof *tables)

static void
add_field(struct plan *p, enum field f)
{
	p->fields[p->n] = f;
	p->columns[p->n++] = fields[f];
}

static void
add_fields(struct plan *p, const enum field *list)
{
	for (; *list != F_FIELDS; list++)
		add_field(p, *list);
}

/* The words that say what an op is end here: where it is comes next. */
static enum field
last_name(enum by by)
{
	return by == BY_NAME ? F_NAME : F_CATEGORY;
}

static void
add_keys(struct plan *p, const struct settings *set)
{
	for (const enum field *f = keys[p->how.by]; *f != F_FIELDS; f++) {
		add_field(p, *f);
		if (*f == F_NAME && p->how.with_overlap)
			add_field(p, F_OVERLAP_NAMES);
		if (p->how.with_module && *f == last_name(p->how.by))
			add_field(p, F_PARENT_MODULE);
	}
	if (p->how.with_num_kernels)
		add_field(p, F_NUM_KERNELS);
	if (p->how.with_recompute)
		add_field(p, F_RECOMPUTE);
	if (p->kind->figures == args_figures) {
		add_field(p, F_OP_COUNT);
		if (set->first_occurrence)
			add_field(p, F_FIRST);
	}
}

/* Where the reference has the stack: behind what came first of a group. */
static void
add_figures(struct plan *p, const enum field *list, const struct settings *set)
{
	bool with = set->call_stack && p->how.by <= BY_ARGS;

	for (; *list != F_FIELDS; list++) {
		add_field(p, *list);
		if (with && *list == F_EX_UID)
			add_field(p, F_STACK);
		else if (with && list != args_figures &&
		    (*list == F_CATEGORIES ||
			(list[0] == F_COUNT && list[1] == F_DIRECT)))
			add_field(p, F_STACK_FIRST);
	}
}

static void
make_plan(struct plan *p, const struct kind_of_table *kind,
    const struct settings *set, enum sink_lead lead)
{
	bool is_args;

	*p = (struct plan){ .kind = kind };
	p->how.by = kind->by != BY_COUNT ? kind->by : set->by;
	is_args = p->how.by == BY_ARGS;
	p->how.with_overlap = kind->about == OF_OVERLAP;
	p->how.with_recompute = set->recompute;
	p->how.with_num_kernels = is_args && set->num_kernels;
	p->how.with_module = set->parent_module && p->how.by <= BY_ARGS;
	p->how.all_ops = kind->about == OF_ALL_OPS || kind->about == OF_CPU;
	p->how.only_ops = kind->about == OF_CPU;
	if (lead == SINK_LEAD_RANK)
		add_field(p, F_RANK);
	if (lead == SINK_LEAD_SRC)
		add_field(p, F_SRC);
	add_keys(p, set);
	add_figures(p, kind->figures, set);
	if (kind->about == OF_OVERLAP)
		add_fields(p, overlap_figures);
	if (kind->figures == args_figures)
		add_fields(p, share_figures);
}

/* ---- which ones are printed ---- */

const char *const by_words[] = {
	[BY_CATEGORY] = "category",
	[BY_NAME] = "name",
	[BY_ARGS] = "args",
	[BY_MODULE] = "module",
	[BY_ANNOTATION] = "annotation",
	[BY_STEP] = "step",
	[BY_THREAD] = "thread",
	[BY_COUNT] = NULL,
};

/* A table by name also says what is to be read for it. */
void
tables_choose(struct settings *set)
{
	if (set->table == NULL)
		return;
	for (size_t i = 0; i < NTABLES; i++) {
		const struct kind_of_table *k = &tables[i];

		if (strcmp(set->table, k->name) != 0)
			continue;
		if (k->by != BY_COUNT)
			set->by = k->by;
		set->overlap = set->overlap || k->about == OF_OVERLAP;
		set->all_ops = set->all_ops || k->about >= OF_ALL_OPS;
		if (k->about == OF_CPU)
			set->clock = CLOCK_CPU;
		return;
	}
	die_usage("there is no table '%s': --list-tables says which there are",
	    set->table);
}

/* The one table of a standard output. */
static const struct kind_of_table *
one_table(const struct settings *set)
{
	enum about_table about = OF_LAUNCHERS;

	if (set->clock == CLOCK_CPU)
		about = OF_CPU;
	else if (set->all_ops)
		about = OF_ALL_OPS;
	else if (set->overlap && set->by == BY_ARGS)
		about = OF_OVERLAP;
	for (size_t i = 0;; i++)
		if (tables[i].about == about &&
		    (tables[i].by == BY_COUNT || tables[i].by == set->by))
			return &tables[i];
}

/* In a folder: those of the reference, and what else was asked for. */
static bool
is_printed(const struct settings *set, const struct kind_of_table *k)
{
	if (set->table != NULL)
		return strcmp(set->table, k->name) == 0;
	if (set->dest.dir == NULL)
		return k == one_table(set);
	switch (k->about) {
	case OF_OVERLAP: return set->overlap;
	case OF_ALL_OPS: return set->all_ops;
	case OF_CPU:
		return set->clock == CLOCK_CPU &&
		    (k->by <= BY_ARGS || k->by == BY_THREAD ||
			k->by == set->by);
	case OF_LAUNCHERS: break;
	}
	return k->by <= BY_ARGS || k->by == set->by;
}

/* Of a trace without GPU work, what the GPU did is no table. */
static bool
is_idle(const struct settings *set, const struct ops *g,
    const struct kind_of_table *k)
{
	if (set->clock != CLOCK_CPU || set->dest.dir == NULL ||
	    k->about == OF_CPU)
		return false;
	for (size_t i = 0; i < g->sources.list.n; i++)
		if (g->sources.list.v[i].ngpu > 0)
			return false;
	return true;
}

void
tables_check(struct settings *set)
{
	struct plan p;

	for (size_t i = 0; i < NTABLES; i++) {
		if (!is_printed(set, &tables[i]))
			continue;
		/* either may lead, once it is known how many sources */
		make_plan(&p, &tables[i], set, SINK_LEAD_RANK);
		add_field(&p, F_SRC);
		table_dest_check(&set->dest, tables[i].name, p.columns, p.n);
	}
}

void
tables_print(struct settings *set, struct ops *g)
{
	enum sink_lead lead = sink_sources_lead(&g->sources);
	struct plan p;

	for (size_t i = 0; i < NTABLES; i++) {
		if (!is_printed(set, &tables[i]) || is_idle(set, g, &tables[i]))
			continue;
		make_plan(&p, &tables[i], set, lead);
		column_of_uids(p.columns, p.n, "ex_uid", g->any_inst);
		rows_print(&set->dest, g, &p);
	}
	table_dest_finish(&set->dest);
}
