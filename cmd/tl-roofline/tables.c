/* SPDX-License-Identifier: MIT */
/*
 * Tables: which there are, and their columns. A column is an entry of fields[]
 * here and a case of cell_of() in rows.c.
 */
#include <stdlib.h>

#include "cmd/tl-roofline/plan.h"

#define US 1e3 /* labels are in us */
#define NS UNIT_NS
#define D COL_DETAIL
#define KT "Kernel Time (µs)"

/* A column, and its label in a sheet where that differs. */
struct field_column {
	struct column col;
	const char *sheet_label;
};

/* clang-format off */
static const struct field_column fields[F_PARAM] = {
	[F_RANK] = { { "rank", NULL, COL_INT, UNIT_NONE, 0, 0 }, NULL },
	[F_SRC] = { { "src", NULL, COL_INT, UNIT_NONE, 0, 0 }, NULL },
	[F_NAME] = { { "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 }, NULL },
	[F_OVERLAP_NAMES] = { { "overlapping_kernel_names", NULL, COL_JSON, UNIT_NONE, 0, 0 }, "overlapping_kernel_names_first" },
	[F_CATEGORY] = { { "op_category", "op category", COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, NULL },
	[F_PROCESS] = { { "process_name", NULL, COL_TEXT, UNIT_NONE, D, 0 }, "process_name_first" },
	[F_LABEL] = { { "process_label", NULL, COL_TEXT, UNIT_NONE, D, 0 }, "process_label_first" },
	[F_THREAD] = { { "thread_name", NULL, COL_TEXT, UNIT_NONE, D, 0 }, "thread_name_first" },
	[F_DIMS] = { { "input_dims", "Input Dims", COL_JSON, UNIT_NONE, 0, 0 }, "Input Dims_first" },
	[F_TYPES] = { { "input_types", "Input type", COL_JSON, UNIT_NONE, D, 0 }, "Input type_first" },
	[F_STRIDES] = { { "input_strides", "Input Strides", COL_JSON, UNIT_NONE, D, 0 }, "Input Strides_first" },
	[F_CONCRETE] = { { "concrete_inputs", "Concrete Inputs", COL_JSON, UNIT_NONE, D, 0 }, "Concrete Inputs_first" },
	[F_NUM_KERNELS] = { { "num_kernels", NULL, COL_INT, UNIT_COUNT, 0, 0 }, NULL },
	[F_RECOMPUTE] = { { "is_recompute", NULL, COL_BOOL, UNIT_NONE, 0, 0 }, NULL },
	[F_EX_UID] = { { "ex_uid", "ex_UID", COL_INT, UNIT_NONE, COL_MINOR, 0 }, "UID_first" },
	[F_COUNT] = { { "operation_count", NULL, COL_INT, UNIT_COUNT, COL_MINOR, 0 }, "name_count" },
	[F_HOST_SUM] = { { "host_ns_sum", "total_duration_us", COL_INT, NS, D, US }, NULL },
	[F_HOST_MEAN] = { { "host_ns_mean", "mean_duration_us", COL_REAL, NS, D, US }, NULL },
	[F_HOST_STD] = { { "host_ns_std", "std_duration_us", COL_REAL, NS, D, US }, NULL },
	[F_HOST_MEDIAN] = { { "host_ns_median", "duration_us_median", COL_REAL, NS, D, US }, NULL },
	[F_HOST_MIN] = { { "host_ns_min", "duration_us_min", COL_INT, NS, D, US }, NULL },
	[F_HOST_MAX] = { { "host_ns_max", "duration_us_max", COL_INT, NS, D, US }, NULL },
	[F_GFLOPS] = { { "gflop", "GFLOPS", COL_REAL, UNIT_NONE, 0, 0 }, "GFLOPS_first" },
	[F_MIB] = { { "moved_mib", "Data Moved (MB)", COL_REAL, UNIT_NONE, 0, 0 }, "Data Moved (MB)_first" },
	[F_INTENSITY] = { { "flop_per_byte", "FLOPS/Byte", COL_REAL, UNIT_NONE, 0, 0 }, "FLOPS/Byte_first" },
	[F_SPEC] = { { "compute_spec", "Compute Spec", COL_TEXT, UNIT_NONE, 0, 0 }, NULL },
	[F_BOUND] = { { "roofline_bound", "Roofline Bound", COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, "Roofline Bound_first" },
	[F_TBS_MEAN] = { { "tb_s_mean", "TB/s_mean", COL_REAL, UNIT_NONE, COL_MINOR, 0 }, NULL },
	[F_TBS_MEDIAN] = { { "tb_s_median", "TB/s_median", COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_TBS_STD] = { { "tb_s_std", "TB/s_std", COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_TBS_MIN] = { { "tb_s_min", "TB/s_min", COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_TBS_MAX] = { { "tb_s_max", "TB/s_max", COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_TFLOPS_MEAN] = { { "tflop_s_mean", "TFLOPS/s_mean", COL_REAL, UNIT_NONE, 0, 0 }, NULL },
	[F_TFLOPS_MEDIAN] = { { "tflop_s_median", "TFLOPS/s_median", COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_TFLOPS_STD] = { { "tflop_s_std", "TFLOPS/s_std", COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_TFLOPS_MIN] = { { "tflop_s_min", "TFLOPS/s_min", COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_TFLOPS_MAX] = { { "tflop_s_max", "TFLOPS/s_max", COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_KERNEL_MEAN] = { { "kernel_ns_mean", KT "_mean", COL_REAL, NS, D, US }, NULL },
	[F_KERNEL_MEDIAN] = { { "kernel_ns_median", KT "_median", COL_REAL, NS, D, US }, NULL },
	[F_KERNEL_STD] = { { "kernel_ns_std", KT "_std", COL_REAL, NS, D, US }, NULL },
	[F_KERNEL_MIN] = { { "kernel_ns_min", KT "_min", COL_INT, NS, D, US }, NULL },
	[F_KERNEL_MAX] = { { "kernel_ns_max", KT "_max", COL_INT, NS, D, US }, NULL },
	[F_KERNEL_SUM] = { { "kernel_ns_sum", KT "_sum", COL_INT, NS, 0, US }, NULL },
	[F_DIFF_RATIO] = { { "ratio", "speedup (trace2/trace1)", COL_REAL, UNIT_NONE, 0, 0 }, NULL },
	[F_DIFF] = { { "diff_ns", "delta_us (trace2 - trace1)", COL_INT, NS, COL_BETTER_LESS, US }, NULL },
	[F_DIFF_COUNT] = { { "lca_count_after", "lca_count_trace2", COL_INT, UNIT_COUNT, D, 0 }, NULL },
	[F_DIFF_IDS] = { { "lca_ids", "lca_id", COL_TEXT, UNIT_NONE, D, 0 }, NULL },
	[F_DIFF_NAMES] = { { "lca_names", "lca_name", COL_TEXT, UNIT_NONE, D | COL_NAME, 0 }, NULL },
	[F_DIFF_BEFORE] = { { "lca_before_ns", "lca_total_kernel_time_trace1_us", COL_INT, NS, D, US }, NULL },
	[F_DIFF_AFTER] = { { "lca_after_ns", "lca_total_kernel_time_trace2_us", COL_INT, NS, D, US }, NULL },
	[F_SIM] = { { "sim_ns", "Origami Time (µs)_first", COL_REAL, NS, D, US }, NULL },
	[F_SIM_TFLOPS] = { { "sim_tflop_s", "Origami TFLOPS/s_first", COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_SIM_TBS_MEAN] = { { "sim_tb_s_mean", "Origami TB/s_mean", COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_SIM_TBS_MEDIAN] = { { "sim_tb_s_median", "Origami TB/s_median", COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_SIM_TBS_STD] = { { "sim_tb_s_std", "Origami TB/s_std", COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_SIM_TBS_MIN] = { { "sim_tb_s_min", "Origami TB/s_min", COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_SIM_TBS_MAX] = { { "sim_tb_s_max", "Origami TB/s_max", COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_SIM_PCT_MEAN] = { { "pct_sim_mean", "Pct Origami_mean", COL_REAL, UNIT_PERCENT, D, 0 }, NULL },
	[F_SIM_PCT_MEDIAN] = { { "pct_sim_median", "Pct Origami_median", COL_REAL, UNIT_PERCENT, D, 0 }, NULL },
	[F_SIM_PCT_STD] = { { "pct_sim_std", "Pct Origami_std", COL_REAL, UNIT_PERCENT, D, 0 }, NULL },
	[F_SIM_PCT_MIN] = { { "pct_sim_min", "Pct Origami_min", COL_REAL, UNIT_PERCENT, D, 0 }, NULL },
	[F_SIM_PCT_MAX] = { { "pct_sim_max", "Pct Origami_max", COL_REAL, UNIT_PERCENT, D, 0 }, NULL },
	[F_ROOF] = { { "roof", NULL, COL_TEXT, UNIT_NONE, COL_OURS, 0 }, NULL },
	[F_ROOF_US] = { { "roofline_ns", "Roofline Time (µs)_first", COL_REAL, NS, D, US }, NULL },
	[F_PCT_MEAN] = { { "pct_roofline_mean", "Pct Roofline_mean", COL_REAL, UNIT_PERCENT, 0, 0 }, NULL },
	[F_PCT_MEDIAN] = { { "pct_roofline_median", "Pct Roofline_median", COL_REAL, UNIT_PERCENT, D, 0 }, NULL },
	[F_PCT_STD] = { { "pct_roofline_std", "Pct Roofline_std", COL_REAL, UNIT_PERCENT, D, 0 }, NULL },
	[F_PCT_MIN] = { { "pct_roofline_min", "Pct Roofline_min", COL_REAL, UNIT_PERCENT, D, 0 }, NULL },
	[F_PCT_MAX] = { { "pct_roofline_max", "Pct Roofline_max", COL_REAL, UNIT_PERCENT, D, 0 }, NULL },
	[F_LOST] = { { "lost_ns", NULL, COL_REAL, NS, COL_OURS, 0 }, NULL },
	[F_DETAILS] = { { "kernel_details_summary", NULL, COL_JSON, UNIT_NONE, D, 0 }, "kernel_details__summarize_kernel_stats" },
	[F_TRUNC] = { { "trunc_kernel_details", NULL, COL_JSON, UNIT_NONE, D, 0 }, NULL },
	[F_OVERLAP] = { { "overlapping_kernels_details_summary", NULL, COL_JSON, UNIT_NONE, D, 0 }, "overlapping_kernels_details__summarize_kernel_stats" },
	[F_OVERLAP_TRUNC] = { { "trunc_overlapping_kernels_details", NULL, COL_JSON, UNIT_NONE, D, 0 }, NULL },
	[F_OVER_MEAN] = { { "overlap_pct_mean", NULL, COL_REAL, UNIT_NONE, 0, 0 }, NULL },
	[F_OVER_MEDIAN] = { { "overlap_pct_median", NULL, COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_OVER_STD] = { { "overlap_pct_std", NULL, COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_OVER_MIN] = { { "overlap_pct_min", NULL, COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_OVER_MAX] = { { "overlap_pct_max", NULL, COL_REAL, UNIT_NONE, D, 0 }, NULL },
	[F_PARAMS] = { { "perf_params", NULL, COL_JSON, UNIT_NONE, D, 0 }, NULL },
	[F_HAS_MODEL] = { { "has_perf_model", NULL, COL_BOOL, UNIT_NONE, D, 0 }, NULL },
	[F_REASON] = { { "model_reason", NULL, COL_TEXT, UNIT_NONE, D | COL_OURS, 0 }, NULL },
	[F_ENTRY] = { { "entry_point", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, NULL },
	[F_STACK] = { { "call_stack_full", NULL, COL_JSON, UNIT_NONE, D, 0 }, NULL },
	[F_SHARE] = { { "pct_of_kernel", "Percentage (%)", COL_REAL, UNIT_PERCENT, COL_SHARE, 0 }, NULL },
	[F_CUMULATIVE] = { { "cumulative_pct", "Cumulative Percentage (%)", COL_REAL, UNIT_PERCENT, D, 0 }, NULL },
};
/* clang-format on */

static const enum field unified_keys[] = { F_CATEGORY, F_PROCESS, F_LABEL,
	F_THREAD, F_DIMS, F_TYPES, F_STRIDES, F_CONCRETE, F_FIELDS };
static const enum field unified_figures[] = { F_EX_UID, F_COUNT, F_HOST_SUM,
	F_HOST_MEAN, F_HOST_STD, F_GFLOPS, F_MIB, F_INTENSITY, F_SPEC, F_BOUND,
	F_TBS_MEAN, F_TBS_STD, F_TFLOPS_MEAN, F_TFLOPS_STD, F_KERNEL_MEAN,
	F_KERNEL_STD, F_KERNEL_SUM, F_FIELDS };
static const enum field diff_figures[] = { F_DIFF_RATIO, F_DIFF, F_DIFF_COUNT,
	F_DIFF_IDS, F_DIFF_NAMES, F_DIFF_BEFORE, F_DIFF_AFTER, F_FIELDS };
static const enum field unified_more[] = { F_HOST_MEDIAN, F_HOST_MIN,
	F_HOST_MAX, F_SIM, F_SIM_TFLOPS, F_TBS_MEDIAN, F_TBS_MIN, F_TBS_MAX,
	F_TFLOPS_MEDIAN, F_TFLOPS_MIN, F_TFLOPS_MAX, F_SIM_TBS_MEAN,
	F_SIM_TBS_MEDIAN, F_SIM_TBS_STD, F_SIM_TBS_MIN, F_SIM_TBS_MAX,
	F_SIM_PCT_MEAN, F_SIM_PCT_MEDIAN, F_SIM_PCT_STD, F_SIM_PCT_MIN,
	F_SIM_PCT_MAX, F_ROOF, F_ROOF_US, F_PCT_MEAN, F_PCT_MEDIAN, F_PCT_STD,
	F_PCT_MIN, F_PCT_MAX, F_LOST, F_KERNEL_MEDIAN, F_KERNEL_MIN,
	F_KERNEL_MAX, F_DETAILS, F_TRUNC, F_FIELDS };
static const enum field overlap_figures[] = { F_OVERLAP, F_OVERLAP_TRUNC,
	F_OVER_MEAN, F_OVER_MEDIAN, F_OVER_STD, F_OVER_MIN, F_OVER_MAX,
	F_FIELDS };
static const enum field unified_last[] = { F_PARAMS, F_HAS_MODEL, F_REASON,
	F_FIELDS };
static const enum field stack_figures[] = { F_ENTRY, F_STACK, F_FIELDS };
static const enum field share_figures[] = { F_SHARE, F_CUMULATIVE, F_FIELDS };

static const enum field sheet_figures[] = { F_GFLOPS, F_MIB, F_INTENSITY,
	F_TBS_MEAN, F_TBS_MEDIAN, F_TBS_STD, F_TBS_MIN, F_TBS_MAX,
	F_TFLOPS_MEAN, F_TFLOPS_MEDIAN, F_TFLOPS_STD, F_TFLOPS_MIN,
	F_TFLOPS_MAX, F_PROCESS, F_LABEL, F_THREAD, F_SPEC, F_ROOF, F_ROOF_US,
	F_BOUND, F_PCT_MEAN, F_PCT_MEDIAN, F_PCT_STD, F_PCT_MIN, F_PCT_MAX,
	F_LOST, F_SIM, F_SIM_TFLOPS, F_SIM_TBS_MEAN, F_SIM_TBS_MEDIAN,
	F_SIM_TBS_STD, F_SIM_TBS_MIN, F_SIM_TBS_MAX, F_SIM_PCT_MEAN,
	F_SIM_PCT_MEDIAN, F_SIM_PCT_STD, F_SIM_PCT_MIN, F_SIM_PCT_MAX,
	F_DETAILS, F_TRUNC, F_FIELDS };
static const enum field sheet_last[] = { F_DIMS, F_TYPES, F_STRIDES, F_CONCRETE,
	F_KERNEL_MEAN, F_KERNEL_MEDIAN, F_KERNEL_STD, F_KERNEL_MIN,
	F_KERNEL_MAX, F_KERNEL_SUM, F_COUNT, F_EX_UID, F_REASON, F_FIELDS };

/* ---- tables by number: 0 is the unified one, then three a sheet ---- */

uint32_t
table_of_sheet(const struct models *ms, struct str sheet, enum sheet_way way)
{
	const struct model_sheet *list;
	size_t n = models_sheets(ms, &list);

	for (size_t i = 0; i < n; i++)
		if (str_eq(list[i].name, sheet))
			return 1 + (uint32_t)i * 3 +
			    (list[i].is_single ? SHEET_ALONE : (uint32_t)way);
	return TABLE_NONE;
}

static uint32_t
count_tables(const struct models *ms)
{
	const struct model_sheet *list;

	return 1 + 3 * (uint32_t)models_sheets(ms, &list);
}

/* False: there is no such table. */
static bool
table_name(const struct models *ms, uint32_t table, struct buf *b)
{
	static const char *const ends[] = { "", "_fwd", "_bwd" };
	const struct model_sheet *list;
	uint32_t i = (table - 1) / 3, way = (table - 1) % 3;

	(void)models_sheets(ms, &list);
	b->len = 0;
	if (table == TABLE_UNIFIED) {
		buf_puts(b, "unified_perf_summary");
		return true;
	}
	if (list[i].is_single != (way == SHEET_ALONE))
		return false;
	buf_put(b, list[i].name.p, list[i].name.len);
	buf_puts(b, ends[way]);
	return true;
}

void
tables_list(const struct roof_state *g)
{
	struct out *out = out_open(NULL);
	struct buf name = { 0 };

	for (uint32_t i = 0; i < count_tables(g->models); i++)
		if (table_name(g->models, i, &name))
			out_printf(out, "%.*s\t%s\n", (int)name.len, name.p,
			    i == TABLE_UNIFIED
				? "each GPU event at one op (the default)"
				: "ops with a model, by their parameters");
	out_finish(out);
	buf_free(&name);
}

/* ---- plans ---- */

static void
add_field(struct plan *p, enum field f)
{
	struct column *col = &p->columns[p->n];

	*col = fields[f].col;
	if (p->how.by_params && fields[f].sheet_label != NULL)
		col->label = fields[f].sheet_label;
	/* what a model says: the sheets are about that */
	if (!p->how.by_params && f >= F_GFLOPS && f <= F_SPEC)
		col->flags |= COL_DETAIL;
	p->fields[p->n++] = f;
}

static void
add_fields(struct plan *p, const enum field *list)
{
	for (; *list != F_FIELDS; list++)
		add_field(p, *list);
}

/* What all values of a parameter are. */
static enum col_type
type_with(enum col_type type, const struct model_value *v, bool is_first)
{
	enum col_type t;

	switch (v->type) {
	case MODEL_BOOL: t = COL_BOOL; break;
	case MODEL_INT: t = COL_INT; break;
	case MODEL_REAL: t = COL_REAL; break;
	case MODEL_TEXT: t = COL_TEXT; break;
	default: t = COL_JSON; break;
	}
	if (is_first || t == type)
		return t;
	if ((t == COL_INT && type == COL_REAL) ||
	    (t == COL_REAL && type == COL_INT))
		return COL_REAL;
	return COL_JSON;
}

static void
add_param(
    struct plan *p, size_t first, struct str name, const struct model_value *v)
{
	struct buf id = { 0 }, label = { 0 };
	bool is_null = v->type == MODEL_NULL;
	size_t i;

	for (i = first; i < p->n; i++)
		if (str_eq(p->params[i], name))
			break;
	if (i == PLAN_MAX - 64)
		return;
	if (i < p->n) {
		struct column *col = &p->columns[i];

		/* a label_div of -1: only nulls were seen */
		if (!is_null)
			col->type = type_with(col->type, v, col->label_div < 0);
		if (!is_null)
			col->label_div = 0;
		return;
	}
	buf_printf(&id, "param_%.*s", (int)name.len, name.p);
	buf_putc(&id, '\0');
	buf_printf(&label, "param: %.*s", (int)name.len, name.p);
	buf_putc(&label, '\0');
	p->columns[i] = (struct column){ .id = id.p,
		.label = label.p,
		.type = is_null ? COL_JSON : type_with(COL_JSON, v, true),
		.label_div = is_null ? -1 : 0 };
	p->params[i] = name;
	p->fields[i] = F_PARAM;
	p->n++;
}

/* In the order of their first appearance. */
static void
add_params(struct plan *p, const struct roof_state *g)
{
	struct extent e = calls_of(g, p->how.table);
	size_t first = p->n;
	uint32_t last = NO_INDEX;

	for (size_t i = e.first; i < e.end; i++) {
		const struct call *c = &g->calls.v[i];

		if (c->table != p->how.table || c->res == NULL ||
		    c->res->number == last)
			continue;
		last = c->res->number;
		for (size_t k = 0; k < c->res->nparams; k++) {
			struct model_value v = model_param_at(c->res, k);

			add_param(p, first, model_param_name(c->res, k), &v);
		}
	}
	for (size_t i = first; i < p->n; i++)
		p->columns[i].label_div = 0;
}

static void
plan_unified(struct plan *p, const struct settings *set)
{
	add_fields(p, unified_keys);
	if (set->recompute)
		add_field(p, F_RECOMPUTE);
	add_fields(p, unified_figures);
	if (p->how.with_diff)
		add_fields(p, diff_figures);
	add_fields(p, unified_more);
	if (p->how.with_overlap)
		add_fields(p, overlap_figures);
	add_fields(p, unified_last);
	if (set->call_stack)
		add_fields(p, stack_figures);
	add_fields(p, share_figures);
}

static void
plan_sheet(
    struct plan *p, const struct roof_state *g, const struct settings *set)
{
	add_params(p, g);
	if (set->num_kernels)
		add_field(p, F_NUM_KERNELS);
	if (set->recompute)
		add_field(p, F_RECOMPUTE);
	add_fields(p, sheet_figures);
	if (p->how.with_overlap)
		add_fields(p, overlap_figures);
	add_fields(p, sheet_last);
}

static void
make_plan(struct plan *p, const struct roof_state *g,
    const struct settings *set, uint32_t table, bool with_overlap)
{
	enum sink_lead lead = sink_sources_lead(&g->sources);

	*p = (struct plan){ .how = {
				.table = table,
				.by_params = table != TABLE_UNIFIED,
				.with_overlap = with_overlap,
				.with_diff =
				    set->diff != NULL && table == TABLE_UNIFIED,
				.with_recompute = set->recompute,
				.with_num_kernels =
				    set->num_kernels && table != TABLE_UNIFIED,
			    } };
	if (lead == SINK_LEAD_RANK)
		add_field(p, F_RANK);
	if (lead == SINK_LEAD_SRC)
		add_field(p, F_SRC);
	add_field(p, F_NAME);
	if (with_overlap)
		add_field(p, F_OVERLAP_NAMES);
	if (table == TABLE_UNIFIED)
		plan_unified(p, set);
	else
		plan_sheet(p, g, set);
	column_of_uids(p->columns, p->n, "ex_uid", g->any_inst);
}

/* ---- which ones are printed ---- */

/* The table asked for: its name, that of a sheet, or of a sheet forward. */
static uint32_t
asked_table(const struct roof_state *g, const char *name)
{
	struct buf b = { 0 };
	size_t len = strlen(name);
	uint32_t found = TABLE_NONE;

	if (len > 11 && strcmp(name + len - 11, "_kl_overlap") == 0)
		len -= 11;
	for (uint32_t i = 0; i < count_tables(g->models); i++) {
		if (!table_name(g->models, i, &b))
			continue;
		if (str_eq(buf_str(&b), (struct str){ name, len }))
			found = i;
		else if (found == TABLE_NONE && b.len == len + 4 &&
		    memcmp(b.p, name, len) == 0 && b.p[len] == '_')
			found = i;
	}
	buf_free(&b);
	return found;
}

void
tables_choose(struct roof_state *g, struct settings *set)
{
	size_t len;

	g->wanted = TABLE_NONE;
	if (set->table == NULL) {
		if (set->dest.dir == NULL && !set->has_explain)
			g->wanted = TABLE_UNIFIED;
		return;
	}
	g->wanted = asked_table(g, set->table);
	if (g->wanted == TABLE_NONE)
		die_usage("there is no table '%s': --list-tables says which "
			  "there are",
		    set->table);
	if (set->has_explain)
		g->wanted = TABLE_NONE;
	len = strlen(set->table);
	if (len > 11 && strcmp(set->table + len - 11, "_kl_overlap") == 0)
		set->overlap = true;
}

/* The parameters of sheets are known only when all is read. */
void
tables_check(struct roof_state *g, struct settings *set)
{
	struct plan *p;

	if (set->dest.dir != NULL ||
	    (set->table != NULL && asked_table(g, set->table) != TABLE_UNIFIED))
		return;
	p = xmalloc(sizeof *p);
	make_plan(p, g, set, TABLE_UNIFIED, set->overlap);
	add_field(p, F_RANK);
	add_field(p, F_SRC);
	table_dest_check(&set->dest, "unified_perf_summary", p->columns, p->n);
	free(p);
}

static void
print_table(struct settings *set, struct roof_state *g, uint32_t table,
    bool with_overlap)
{
	struct plan *p = xmalloc(sizeof *p);
	struct buf name = { 0 };

	make_plan(p, g, set, table, with_overlap);
	(void)table_name(g->models, table, &name);
	if (with_overlap)
		buf_puts(&name, "_kl_overlap");
	buf_putc(&name, '\0');
	p->name = (struct str){ name.p, name.len - 1 };
	rows_print(&set->dest, g, p);
	for (size_t i = 0; i < p->n; i++)
		if (p->fields[i] == F_PARAM) {
			vec_release((void *)(uintptr_t)p->columns[i].id);
			vec_release((void *)(uintptr_t)p->columns[i].label);
		}
	buf_free(&name);
	free(p);
}

void
tables_print(struct settings *set, struct roof_state *g)
{
	if (set->dest.dir == NULL || set->table != NULL) {
		print_table(set, g, g->wanted, set->overlap);
		table_dest_finish(&set->dest);
		return;
	}
	for (uint32_t i = 0; i < count_tables(g->models); i++) {
		if (i != TABLE_UNIFIED && calls_of(g, i).end == 0)
			continue;
		print_table(set, g, i, false);
		if (set->overlap)
			print_table(set, g, i, true);
	}
	table_dest_finish(&set->dest);
}
