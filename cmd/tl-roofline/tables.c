/* SPDX-License-Identifier: MIT */
/* Tables: names, columns, and which ones are printed. */
#include "table/catalogue.h"

#include "cmd/tl-roofline/fields.h"
#include "cmd/tl-roofline/fusion.h"

#define US 1e3 /* labels are in us */
#define NS UNIT_NS
#define D COL_DETAIL
#define KT "Kernel Time (µs)"
#define AT(field) offsetof(struct call, field)

/* ---- columns ---- */

static double
pct_of(const struct sink *s, const void *call)
{
	return call_pct(call, call_roof_us((struct roof_state *)s, call));
}

const struct sink_measure roof_measures[] = {
	[M_BUSY] = { AT(busy_ns), NULL, false },
	[M_HOST] = { AT(host_ns), NULL, false },
	[M_TBS] = { 0, call_tbs, false },
	[M_TFLOPS] = { 0, call_tflops, false },
	[M_PCT] = { 0, pct_of, false },
	[M_OVER] = { 0, NULL, true },
};

/* clang-format off */
const struct sink_column roof_columns[] = {
	{ { "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 }, SINK_TEXT, true, AT(name), 0 },
	{ { "step", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_INT, true, AT(step), 0 },
	{ { "phase", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(phase), 0 },
	{ { "modelled_ns_sum", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, C_MODELLED, 0 },
	{ { "compute_bound_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, C_COMPUTE, 0 },
	{ { "memory_bound_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, C_MEMORY, 0 },
	{ { "pct_of_roof", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_CELL, false, C_REACHED, 0 },
	{ { "wall_ns_sum", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, C_WALL, 0 },
	{ { "model_tflop", NULL, COL_REAL, UNIT_NONE, COL_MINOR, 0 }, SINK_CELL, false, C_MODEL_FLOP, 0 },
	{ { "hardware_tflop", NULL, COL_REAL, UNIT_NONE, COL_MINOR, 0 }, SINK_CELL, false, C_HARDWARE_FLOP, 0 },
	{ { "mfu", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_CELL, false, C_MFU, 0 },
	{ { "hfu", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_CELL, false, C_HFU, 0 },
	{ { "peak", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_PEAK, 0 },
	{ { "pct_unmodelled", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_CELL, false, C_UNMODELLED, 0 },
	{ { "tokens_per_s", NULL, COL_REAL, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_TOKENS_S, 0 },
	{ { "mfu_reason", NULL, COL_TEXT, UNIT_NONE, COL_WRAPPED, 0 }, SINK_CELL, false, C_MFU_REASON, 0 },
	{ { "overlapping_kernel_names", NULL, COL_JSON, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(overlap.names), ONLY_OVERLAP },
	{ { "op_category", "op category", COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(category), 0 },
	{ { "process_name", NULL, COL_TEXT, UNIT_NONE, D, 0 }, SINK_PROCESS, true, 0, 0 },
	{ { "process_label", NULL, COL_TEXT, UNIT_NONE, D, 0 }, SINK_LABEL, true, 0, 0 },
	{ { "thread_name", NULL, COL_TEXT, UNIT_NONE, D, 0 }, SINK_THREAD, true, 0, 0 },
	{ { "input_dims", "Input Dims", COL_JSON, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(args.dims), 0 },
	{ { "input_types", "Input type", COL_JSON, UNIT_NONE, D, 0 }, SINK_TEXT, true, AT(args.types), 0 },
	{ { "input_strides", "Input Strides", COL_JSON, UNIT_NONE, D, 0 }, SINK_TEXT, true, AT(args.strides), 0 },
	{ { "concrete_inputs", "Concrete Inputs", COL_JSON, UNIT_NONE, D, 0 }, SINK_TEXT, true, AT(args.concrete), 0 },
	{ { "num_kernels", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_U32, true, AT(nkernels), ONLY_NUM_KERNELS },
	{ { "is_recompute", NULL, COL_BOOL, UNIT_NONE, 0, 0 }, SINK_BOOL, true, AT(is_recompute), ONLY_RECOMPUTE },
	{ { "params", NULL, COL_JSON, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(params), 0 },
	{ { "is_over_link", NULL, COL_BOOL, UNIT_NONE, 0, 0 }, SINK_BOOL, true, AT(is_over_link), 0 },
	{ { "first_uid", "ex_UID", COL_INT, UNIT_NONE, COL_MINOR, 0 }, SINK_UID, false, AT(rec.uid), 0 },
	{ { "operation_count", NULL, COL_INT, UNIT_COUNT, COL_MINOR, 0 }, SINK_COUNT, false, 0, 0 },
	{ { "host_ns_sum", "total_duration_us", COL_INT, NS, D, US }, SINK_CELL, false, C_HOST_SUM, 0 },
	{ { "host_ns_mean", "mean_duration_us", COL_REAL, NS, D, US }, SINK_MEAN, false, M_HOST, 0 },
	{ { "host_ns_std", "std_duration_us", COL_REAL, NS, D, US }, SINK_STD, false, M_HOST, 0 },
	{ { "host_ns_median", "duration_us_median", COL_REAL, NS, D, US }, SINK_MEDIAN, false, M_HOST, 0 },
	{ { "host_ns_min", "duration_us_min", COL_INT, NS, D, US }, SINK_MIN, false, M_HOST, 0 },
	{ { "host_ns_max", "duration_us_max", COL_INT, NS, D, US }, SINK_MAX, false, M_HOST, 0 },
	{ { "gflop", "GFLOPS", COL_REAL, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_GFLOPS, 0 },
	{ { "moved_mib", "Data Moved (MB)", COL_REAL, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_MIB, 0 },
	{ { "flop_per_byte", "FLOPS/Byte", COL_REAL, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_INTENSITY, 0 },
	{ { "compute_spec", "Compute Spec", COL_TEXT, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_SPEC, 0 },
	{ { "roofline_bound", "Roofline Bound", COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_CELL, false, C_BOUND, 0 },
	SINK_STAT_COLUMNS("tb_s", "TB/s", COL_REAL, UNIT_NONE, COL_MINOR, 0, M_TBS, 0),
	SINK_STAT_COLUMNS("tflop_s", "TFLOPS/s", COL_REAL, UNIT_NONE, 0, 0, M_TFLOPS, 0),
	{ { "kernel_ns_sum", KT "_sum", COL_INT, NS, 0, US }, SINK_SUM, false, M_BUSY, 0 },
	SINK_STAT_COLUMNS("kernel_ns", KT, COL_INT, NS, D, US, M_BUSY, 0),
	{ { "ratio", "speedup (trace2/trace1)", COL_REAL, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_DIFF_RATIO, ONLY_DIFF },
	{ { "diff_ns", "delta_us (trace2 - trace1)", COL_INT, NS, COL_BETTER_LESS, US }, SINK_CELL, false, C_DIFF, ONLY_DIFF },
	{ { "lca_count_after", "lca_count_trace2", COL_INT, UNIT_COUNT, D, 0 }, SINK_CELL, false, C_DIFF_COUNT, ONLY_DIFF },
	{ { "lca_ids", "lca_id", COL_TEXT, UNIT_NONE, D, 0 }, SINK_CELL, false, C_DIFF_IDS, ONLY_DIFF },
	{ { "lca_names", "lca_name", COL_TEXT, UNIT_NONE, D | COL_NAME, 0 }, SINK_CELL, false, C_DIFF_NAMES, ONLY_DIFF },
	{ { "lca_before_ns", "lca_total_kernel_time_trace1_us", COL_INT, NS, D, US }, SINK_CELL, false, C_DIFF_BEFORE, ONLY_DIFF },
	{ { "lca_after_ns", "lca_total_kernel_time_trace2_us", COL_INT, NS, D, US }, SINK_CELL, false, C_DIFF_AFTER, ONLY_DIFF },
	{ { "roof", NULL, COL_TEXT, UNIT_NONE, COL_OURS, 0 }, SINK_CELL, false, C_ROOF, 0 },
	{ { "roof_tflop_s", NULL, COL_REAL, UNIT_NONE, D | COL_OURS, 0 }, SINK_CELL, false, C_ROOF_TFLOPS, 0 },
	{ { "roof_tb_s", NULL, COL_REAL, UNIT_NONE, D | COL_OURS, 0 }, SINK_CELL, false, C_ROOF_TBS, 0 },
	{ { "above_roof", NULL, COL_TEXT, UNIT_NONE, COL_MINOR | COL_OURS, 0 }, SINK_CELL, false, C_ABOVE, 0 },
	{ { "roofline_ns", "Roofline Time (µs)_first", COL_REAL, NS, D, US }, SINK_CELL, false, C_ROOF_US, 0 },
	SINK_STAT_COLUMNS("pct_roofline", "Pct Roofline", COL_REAL, UNIT_PERCENT, 0, 0, M_PCT, 0),
	{ { "lost_ns", NULL, COL_REAL, NS, COL_OURS, 0 }, SINK_CELL, false, C_LOST, 0 },
	{ { "kernel_details_summary", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_DETAILS, false, DETAIL_EMPTY, 0 },
	{ { "trunc_kernel_details", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_DETAILS, false, DETAIL_CUT, 0 },
	{ { "overlapping_kernels_details_summary", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_DETAILS, false, DETAIL_OVERLAP | DETAIL_EMPTY, ONLY_OVERLAP },
	{ { "trunc_overlapping_kernels_details", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_DETAILS, false, DETAIL_OVERLAP | DETAIL_CUT, ONLY_OVERLAP },
	SINK_STAT_COLUMNS("overlap_pct", "overlap_pct", COL_REAL, UNIT_NONE, 0, 0, M_OVER, ONLY_OVERLAP),
	{ { "perf_params", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_CELL, false, C_PARAMS, 0 },
	{ { "has_perf_model", NULL, COL_BOOL, UNIT_NONE, D, 0 }, SINK_BOOL, false, AT(has_model), 0 },
	{ { "stands_for", NULL, COL_JSON, UNIT_NONE, D | COL_OURS, 0 }, SINK_TEXT, false, AT(stands_for), 0 },
	{ { "model_reason", NULL, COL_TEXT, UNIT_NONE, D | COL_OURS, 0 }, SINK_CELL, false, C_REASON, 0 },
	{ { "entry_point", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_TEXT, false, AT(entry_point), ONLY_STACK },
	{ { "call_stack_full", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_TEXT, false, AT(stack), ONLY_STACK },
	{ { "pct_of_kernel", "Percentage (%)", COL_REAL, UNIT_PERCENT, COL_SHARE, 0 }, SINK_SHARE, false, M_BUSY, 0 },
	{ { "pct_of_family", NULL, COL_REAL, UNIT_PERCENT, COL_OURS, 0 }, SINK_SHARE, false, M_BUSY, 0 },
	{ { "cumulative_pct", "Cumulative Percentage (%)", COL_REAL, UNIT_PERCENT, D, 0 }, SINK_CUMULATIVE, false, 0, 0 },
	SINK_COLUMNS_END,
};
/* clang-format on */

/* roof_wants() drops columns that do not apply. */
#define UNIFIED_KEYS                                                      \
	"name,overlapping_kernel_names,op_category,process_name,"         \
	"process_label,thread_name,input_dims,input_types,input_strides," \
	"concrete_inputs,is_recompute"
static const char unified_keys[] = UNIFIED_KEYS;
static const char unified_figures[] =
    "first_uid,operation_count,host_ns_sum,host_ns_mean,host_ns_std,+gflop,"
    "+moved_mib,+flop_per_byte,+compute_spec,roofline_bound,tb_s_mean,"
    "tb_s_std,tflop_s_mean,tflop_s_std,kernel_ns_mean,kernel_ns_std,"
    "kernel_ns_sum,ratio,diff_ns,lca_count_after,lca_ids,lca_names,"
    "lca_before_ns,lca_after_ns,host_ns_median,host_ns_min,host_ns_max,"
    "tb_s_median,tb_s_min,tb_s_max,tflop_s_median,tflop_s_min,"
    "tflop_s_max,roof,roof_tflop_s,roof_tb_s,above_roof,roofline_ns,"
    "pct_roofline_mean,pct_roofline_median,pct_roofline_std,pct_roofline_min,"
    "pct_roofline_max,lost_ns,kernel_ns_median,kernel_ns_min,kernel_ns_max,"
    "kernel_details_summary,trunc_kernel_details,"
    "overlapping_kernels_details_summary,trunc_overlapping_kernels_details,"
    "overlap_pct_mean,overlap_pct_median,overlap_pct_std,overlap_pct_min,"
    "overlap_pct_max,perf_params,has_perf_model,model_reason,entry_point,"
    "call_stack_full,pct_of_kernel,cumulative_pct";

/* The parameters of a sheet come between these. */
static const char sheet_keys[] = "name,overlapping_kernel_names";
static const char sheet_figures[] =
    "num_kernels,is_recompute,gflop,moved_mib,flop_per_byte,tb_s_mean,"
    "tb_s_median,tb_s_std,tb_s_min,tb_s_max,tflop_s_mean,tflop_s_median,"
    "tflop_s_std,tflop_s_min,tflop_s_max,process_name,process_label,"
    "thread_name,compute_spec,roof,above_roof,roofline_ns,roofline_bound,"
    "pct_roofline_mean,pct_roofline_median,pct_roofline_std,"
    "pct_roofline_min,pct_roofline_max,lost_ns,"
    "kernel_details_summary,trunc_kernel_details,"
    "overlapping_kernels_details_summary,trunc_overlapping_kernels_details,"
    "overlap_pct_mean,overlap_pct_median,overlap_pct_std,overlap_pct_min,"
    "overlap_pct_max,input_dims,input_types,input_strides,concrete_inputs,"
    "kernel_ns_mean,kernel_ns_median,kernel_ns_std,kernel_ns_min,"
    "kernel_ns_max,kernel_ns_sum,operation_count,first_uid,stands_for,"
    "model_reason,pct_of_family";
static const struct sink_label sheet_labels[] = {
	{ "overlapping_kernel_names", "overlapping_kernel_names_first", 0 },
	{ "process_name", "process_name_first", 0 },
	{ "process_label", "process_label_first", 0 },
	{ "thread_name", "thread_name_first", 0 },
	{ "input_dims", "Input Dims_first", 0 },
	{ "input_types", "Input type_first", 0 },
	{ "input_strides", "Input Strides_first", 0 },
	{ "concrete_inputs", "Concrete Inputs_first", 0 },
	{ "first_uid", "UID_first", 0 },
	{ "operation_count", "name_count", 0 },
	{ "gflop", "GFLOPS_first", 0 },
	{ "moved_mib", "Data Moved (MB)_first", 0 },
	{ "flop_per_byte", "FLOPS/Byte_first", 0 },
	{ "roofline_bound", "Roofline Bound_first", 0 },
	{ "kernel_details_summary", "kernel_details__summarize_kernel_stats",
	    0 },
	{ "overlapping_kernels_details_summary",
	    "overlapping_kernels_details__summarize_kernel_stats", 0 },
};

bool
roof_wants(const struct sink *s, const struct sink_table *t, unsigned only)
{
	const struct roof_state *g = (const struct roof_state *)s;

	switch (only) {
	case ONLY_DIFF: return g->diff != NULL;
	case ONLY_NUM_KERNELS: return g->num_kernels;
	case ONLY_RECOMPUTE: return g->recompute;
	case ONLY_STACK: return g->call_stack;
	default: return t->by != 0;
	}
}

/* ---- parameters ---- */

/* The type that fits all values of a parameter. */
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

/* A sheet with more parameters loses the rest. */
#define PARAMS_MAX 448

/* Joins two texts; they last as long as the program. */
static const char *
lasting(struct roof_state *g, struct str a, struct str b)
{
	char *p = arena_alloc(g->mem, a.len + b.len + 1);

	memcpy(p, a.p, a.len);
	memcpy(p + a.len, b.p, b.len);
	p[a.len + b.len] = '\0';
	return p;
}

static void
add_param(struct roof_state *g, struct sink_plan *p, struct str name,
    const struct model_value *v)
{
	bool is_null = v->type == MODEL_NULL;
	struct column *col;
	size_t i = 0;

	while (i < g->param_names.n && !str_eq(g->param_names.v[i], name))
		i++;
	if (i == PARAMS_MAX)
		return;
	if (i == g->param_names.n) {
		vec_push(&g->param_names, name);
		/* label_div -1: only nulls so far */
		sink_plan_own(p,
		    &(struct column){ .id = lasting(g, STR("param_"), name),
			.label = lasting(g, STR("param: "), name),
			.type = COL_JSON,
			.label_div = -1 },
		    SINK_OWN + (unsigned)i);
	}
	if (is_null)
		return;
	col = &p->columns.v[g->first_param + i];
	col->type = type_with(col->type, v, col->label_div < 0);
	col->label_div = 0;
}

/* Adds parameters in order of appearance. */
static void
add_params(struct roof_state *g, struct sink_plan *p)
{
	struct extent e = calls_of(g, p->table->about);
	uint32_t last = NO_INDEX;

	g->first_param = p->columns.n;
	g->param_names.n = 0;
	for (size_t i = e.first; i < e.end; i++) {
		const struct call *c = call_number(g, i);

		if (c->table != p->table->about || c->res == NULL ||
		    c->res->number == last)
			continue;
		last = c->res->number;
		for (size_t k = 0; k < c->res->nparams; k++) {
			struct model_value v = model_param_at(c->res, k);

			add_param(g, p, model_param_name(c->res, k), &v);
		}
	}
	for (size_t i = g->first_param; i < p->columns.n; i++)
		p->columns.v[i].label_div = 0;
}

/* ---- plans ---- */

void
roof_planned(struct sink *s, struct sink_plan *p)
{
	/* no column: roofline_bound says it */
	if (p->table->keys == unified_keys)
		sink_plan_keys(s, p, UNIFIED_KEYS ",is_over_link");
	if (p->table->keys != sheet_keys)
		return;
	add_params((struct roof_state *)s, p);
	sink_plan_add(s, p, sheet_figures);
	sink_plan_keys(s, p,
	    "name,overlapping_kernel_names,num_kernels,is_recompute,params");
}

/* ---- tables of steps and phases ---- */

#define SUMS                                                             \
	",operation_count,kernel_ns_sum,pct_of_kernel,modelled_ns_sum,"  \
	"compute_bound_ns,memory_bound_ns,pct_of_roof,roof,wall_ns_sum," \
	"model_tflop,hardware_tflop,mfu,hfu,peak,pct_unmodelled,"        \
	"tokens_per_s,mfu_reason"

static const struct sums {
	const char *name, *columns, *text;
} sums[] = {
	{ PHASES_NAME, "phase" SUMS,
	    "serving phases: memory-bound, compute-bound, MFU" },
	{ STEPS_NAME, "step" SUMS,
	    "steps: MFU, HFU, memory-bound, compute-bound" },
};
#define NSUMS (sizeof sums / sizeof *sums)

bool
roof_is_sums(const struct sink_table *t)
{
	return t->about == TABLE_UNIFIED && t->keys == NULL;
}

static const struct sums *
sums_asked(struct str name)
{
	for (size_t i = 0; i < NSUMS; i++)
		if (str_eq(name, str_of(sums[i].name)))
			return &sums[i];
	return NULL;
}

static void
add_sums(struct roof_state *g, const struct sums *of)
{
	g->sink.tables[g->sink.ntables++] = (struct sink_table){
		.name = of->name,
		.columns = of->columns,
		.about = TABLE_UNIFIED,
		.order = strcmp(of->name, STEPS_NAME) == 0 ? SINK_BY_KEY
							   : SINK_BY_SUM,
		.is_summary = true,
	};
}

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

/* NULL: there is no such table. */
static const char *
table_name(struct roof_state *g, uint32_t table)
{
	static const struct str ends[] = { STR_INIT(""), STR_INIT("_fwd"),
		STR_INIT("_bwd") };
	const struct model_sheet *list;
	uint32_t i = (table - 1) / 3, way = (table - 1) % 3;

	if (table == TABLE_UNIFIED)
		return "unified_perf_summary";
	(void)models_sheets(g->models, &list);
	return list[i].is_single == (way == SHEET_ALONE)
	    ? lasting(g, list[i].name, ends[way])
	    : NULL;
}

void
tables_list(struct roof_state *g)
{
	struct out *out = out_open(NULL);

	for (uint32_t i = 0; i < count_tables(g->models); i++) {
		const char *name = table_name(g, i);

		if (name != NULL)
			out_printf(out, "%s\t%s\n", name,
			    sheet_of(str_of(name))->text);
	}
	for (size_t i = 0; i < NSUMS; i++)
		out_printf(out, "%s\t%s\n", sums[i].name, sums[i].text);
	out_printf(
	    out, "%s\tchains of ops that one kernel could do\n", FUSION_NAME);
	out_finish(out);
}

void
tables_there(struct roof_state *g, struct buf *b)
{
	for (uint32_t i = 0; i < count_tables(g->models) && i < 63; i++)
		if ((g->met >> i & 1) != 0)
			buf_printf(b, "%s%s", b->len > 0 ? ", " : "",
			    table_name(g, i));
}

/* ---- which ones are printed ---- */

#define OVERLAP_END "_kl_overlap"

/* The table of --table: its name, a sheet's name, or that of its forward. */
static uint32_t
table_asked(struct roof_state *g, struct str name)
{
	uint32_t found = TABLE_NONE;

	for (uint32_t i = 0; i < count_tables(g->models); i++) {
		const char *s = table_name(g, i);
		bool begins = s != NULL && str_starts(str_of(s), name);

		if (begins &&
		    (s[name.len] == '\0' ||
			(found == TABLE_NONE && s[name.len] == '_' &&
			    strlen(s) == name.len + 4)))
			found = i;
	}
	return found;
}

static void
add_table(struct roof_state *g, uint32_t table, const char *name, bool overlap)
{
	struct sink_table *t = &g->sink.tables[g->sink.ntables++];

	*t = (struct sink_table){
		.name = lasting(
		    g, str_of(name), overlap ? STR(OVERLAP_END) : STR("")),
		.keys = sheet_keys,
		.labels = sheet_labels,
		.nlabels = sizeof sheet_labels / sizeof *sheet_labels,
		.about = table,
		.by = overlap,
		.is_late = true,
	};
	if (table == TABLE_UNIFIED) {
		t->keys = unified_keys;
		t->columns = unified_figures;
		t->nlabels = 0;
		t->is_late = g->sink.dest.dir != NULL;
	}
	if (g->wanted == table && g->overlap == overlap)
		g->sink.table = t->name;
}

/* Expands the name in --table to that of a table. */
void
roof_make_tables(struct sink *s)
{
	struct roof_state *g = (struct roof_state *)s;
	struct str name = str_of(s->table != NULL ? s->table : "");
	const struct str end = STR(OVERLAP_END);
	uint32_t n = count_tables(g->models);
	const struct sums *of_sums;
	bool is_fusion;

	g->wanted = s->dest.dir == NULL ? TABLE_UNIFIED : TABLE_NONE;
	if (name.len > end.len && str_ends(name, end)) {
		name.len -= end.len;
		g->overlap = true;
	}
	of_sums = sums_asked(name);
	is_fusion = str_eq(name, STR(FUSION_NAME));
	if (of_sums != NULL || is_fusion)
		g->wanted = TABLE_UNIFIED;
	else if (name.len > 0) /* none: the sink refuses the name */
		g->wanted = table_asked(g, name);
	s->tables =
	    arena_alloc(g->mem, (2 * n + 2 + NSUMS) * sizeof *s->tables);
	for (uint32_t i = 0; i < n; i++) {
		const char *of = table_name(g, i);

		if (of != NULL)
			add_table(g, i, of, false);
		if (of != NULL && g->overlap)
			add_table(g, i, of, true);
	}
	for (size_t i = 0; i < NSUMS; i++)
		if (of_sums == &sums[i] || s->dest.dir != NULL)
			add_sums(g, &sums[i]);
	if (is_fusion || s->dest.dir != NULL)
		s->tables[s->ntables++] =
		    (struct sink_table){ .name = FUSION_NAME,
			    .about = TABLE_FUSION,
			    .is_late = true,
			    .print = fusion_print };
	if (of_sums != NULL)
		s->table = of_sums->name;
	if (is_fusion)
		s->table = FUSION_NAME;
	g->mfu.is_asked = of_sums != NULL || s->dest.dir != NULL;
	if (!g->has_explain && !g->is_traced)
		return;
	g->wanted = g->is_traced ? TABLE_UNIFIED : TABLE_NONE;
	s->table = g->is_traced ? "arch" : "explain";
	s->tables[s->ntables++] = (struct sink_table){ .name = s->table,
		.about = TABLE_EXPLAIN,
		.is_late = true,
		.print = g->is_traced ? traced_print : explain_print };
}

bool
roof_fits(const struct sink *s, const struct sink_table *t)
{
	const struct roof_state *g = (const struct roof_state *)s;

	if (roof_is_sums(t))
		return s->table != NULL ||
		    (strcmp(t->name, STEPS_NAME) == 0 ? g->mfu.any
						      : g->phases.any);
	return s->table != NULL || t->about == TABLE_UNIFIED ||
	    t->about == TABLE_FUSION || calls_of(g, t->about).end > 0;
}

void
roof_range(
    const struct sink *s, const struct sink_plan *p, size_t *first, size_t *end)
{
	struct extent e =
	    calls_of((const struct roof_state *)s, p->table->about);

	*first = e.first;
	*end = e.end;
}
