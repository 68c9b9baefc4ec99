/* SPDX-License-Identifier: MIT */
/* Tables: which there are, their columns, and which are printed. */
#include "cmd/tl-kernels/kernels.h"

#define US 1e3
#define MS 1e6
#define NS UNIT_NS
#define AT(field) offsetof(struct kernel, field)

const struct sink_measure kernels_measures[] = { { AT(dur_ns), NULL, false } };

/* clang-format off */
const struct sink_column kernels_columns[] = {
	[F_UID] = { { "id", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_INT, true, AT(rec.uid.id) },
	[F_CATEGORY] = { { "op_category", "Parent op category", COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(category) },
	[F_PARENT] = { { "op", "Parent cpu_op", COL_TEXT, UNIT_NONE, COL_NAME, 0 }, SINK_TEXT, true, AT(op) },
	[F_KERNEL] = { { "name", "Kernel name", COL_TEXT, UNIT_NONE, COL_NAME, 0 }, SINK_TEXT, true, AT(name) },
	[F_NAME] = { { "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 }, SINK_TEXT, true, AT(name) },
	[F_CLASS] = { { "category", "Category", COL_TEXT, UNIT_NONE, 0, 0 }, SINK_TEXT, false, AT(class) },
	[F_OP_CLASS] = { { "op_category", "op category", COL_TEXT, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(class) },
	[F_STREAM] = { { "gpu_stream", "Kernel stream", COL_INT, UNIT_NONE, COL_MINOR, 0 }, SINK_KEY, true, AT(gpu_stream) },
	[F_DIMS] = { { "input_dims", "Input dims", COL_JSON, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(args.dims) },
	[F_TYPES] = { { "input_types", "Input type", COL_JSON, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(args.types) },
	[F_STRIDES] = { { "input_strides", "Input strides", COL_JSON, UNIT_NONE, COL_DETAIL, 0 }, SINK_TEXT, true, AT(args.strides) },
	[F_CONCRETE] = { { "concrete_inputs", "Concrete Inputs", COL_JSON, UNIT_NONE, COL_DETAIL, 0 }, SINK_TEXT, true, AT(args.concrete) },
	[F_MODULE] = { { "module", "Parent nn.Module", COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_CELL, false, 0 },
	[F_MODULE_UID] = { { "module_uid", "Parent nn.Module UID", COL_INT, UNIT_NONE, COL_DETAIL, 0 }, SINK_CELL, false, 0 },
	[F_MODULE_KERNELS] = { { "module_kernels", "Parent nn.Module kernel count", COL_INT, UNIT_COUNT, COL_DETAIL, 0 }, SINK_CELL, false, 0 },
	[F_MODULE_BUSY] = { { "module_busy_ns", "Parent nn.Module GPU busy time (µs)", COL_INT, NS, COL_DETAIL, US }, SINK_CELL, false, 0 },
	[F_PCT_MODULE] = { { "pct_of_module", "Percent of Parent nn.Module busy time (%)", COL_REAL, UNIT_PERCENT, COL_DETAIL, 0 }, SINK_CELL, false, 0 },
	[F_GRID] = { { "grid", NULL, COL_JSON, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(grid) },
	[F_BLOCK] = { { "block", NULL, COL_JSON, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(block) },
	[F_COUNT] = { { "count", "Kernel duration (µs)_count", COL_INT, UNIT_COUNT, 0, 0 }, SINK_COUNT, false, 0 },
	[F_SUM] = { { "dur_ns_sum", "Kernel duration (µs)_sum", COL_INT, NS, 0, US }, SINK_SUM, false, 0 },
	SINK_STAT_COLUMNS(F_DUR, "dur_ns", "Kernel duration (µs)", COL_INT, NS, 0, US, 0),
	[F_SHARE] = { { "pct_of_kernels", "Percent of kernels time (%)", COL_REAL, UNIT_PERCENT, COL_SHARE, 0 }, SINK_SHARE, false, 0 },
	[F_SHARE_TOTAL] = { { "pct_of_total", "Percent of total time (%)", COL_REAL, UNIT_PERCENT, COL_MINOR, 0 }, SINK_CELL, false, 0 },
	[F_CUMULATIVE] = { { "cumulative_pct", "Cumulative Percentage (%)", COL_REAL, UNIT_PERCENT, COL_MINOR, 0 }, SINK_CUMULATIVE, false, 0 },
	[F_GFLOP] = { { "gflop", "GFLOPS", COL_REAL, UNIT_NONE, 0, 0 }, SINK_CELL, false, 0 },
	[F_TFLOP_S] = { { "tflop_s_mean", "TFLOPS/s", COL_REAL, UNIT_NONE, 0, 0 }, SINK_CELL, false, 0 },
	[F_TILE] = { { "tile", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_CELL, false, 0 },
	[F_PCT_TILE] = { { "pct_tile", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_CELL, false, 0 },
	[F_PCT_WAVE] = { { "pct_wave", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_CELL, false, 0 },
	[F_PCT_ROOF] = { { "pct_roofline", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_CELL, false, 0 },
	[F_TS] = { { "ts_ns", NULL, COL_INT, NS, COL_MINOR | COL_POSITION, 0 }, SINK_INT, false, AT(rec.ts_ns) },
	[F_DUR] = { { "dur_ns", "Kernel duration (µs)", COL_INT, NS, 0, US }, SINK_INT, false, AT(dur_ns) },
	[F_DELAY] = { { "queue_delay_ns", NULL, COL_INT, NS, COL_MINOR, 0 }, SINK_INT, false, AT(delay_ns) },
	[F_DEV] = { { "dev", NULL, COL_INT, UNIT_NONE, COL_MINOR, 0 }, SINK_KEY, false, AT(dev) },
	[F_CORR] = { { "corr", NULL, COL_INT, UNIT_NONE, COL_MINOR, 0 }, SINK_KEY, false, AT(corr) },
	[F_DISPATCH] = { { "dispatch_id", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_INT, false, AT(dispatch) },
	[F_GRID_X] = { { "grid_x", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_CELL, false, 0 },
	[F_GRID_Y] = { { "grid_y", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_CELL, false, 0 },
	[F_GRID_Z] = { { "grid_z", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_CELL, false, 0 },
	[F_BLOCK_X] = { { "block_x", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_CELL, false, 0 },
	[F_BLOCK_Y] = { { "block_y", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_CELL, false, 0 },
	[F_BLOCK_Z] = { { "block_z", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_CELL, false, 0 },
	[F_AGENT] = { { "agent_id", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_INT, false, AT(agent) },
	[F_TID] = { { "thread_id", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_KEY, false, AT(tid) },
	[F_BIN_START] = { { "bin_start_ns", "bin_start", COL_REAL, NS, 0, US }, SINK_CELL, false, 0 },
	[F_BIN_END] = { { "bin_end_ns", "bin_end", COL_REAL, NS, 0, US }, SINK_CELL, false, 0 },
	[F_BIN_COUNT] = { { "count", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_CELL, false, 0 },
};

/* clang-format on */

static const uint8_t name_list[] = { F_NAME, F_COUNT, F_SUM, F_DUR_MEAN,
	F_DUR_MEDIAN, F_DUR_STD, F_DUR_MIN, F_DUR_MAX, F_SHARE, F_CUMULATIVE,
	SINK_END };
static const uint8_t config_list[] = { F_NAME, F_GRID, F_BLOCK, F_COUNT, F_SUM,
	F_DUR_MEAN, F_DUR_MEDIAN, F_DUR_STD, F_DUR_MIN, F_DUR_MAX, F_SHARE,
	F_CUMULATIVE, SINK_END };
static const uint8_t op_list[] = { F_CATEGORY, F_PARENT, F_KERNEL, F_STREAM,
	F_SUM, F_COUNT, F_DUR_MEAN, F_DUR_MIN, F_DUR_MAX, F_SHARE,
	F_SHARE_TOTAL, SINK_END };
static const uint8_t args_list[] = { F_PARENT, F_CATEGORY, F_DIMS, F_TYPES,
	F_STRIDES, F_CONCRETE, F_KERNEL, F_TILE, F_PCT_TILE, F_PCT_WAVE,
	F_COUNT, F_SUM, F_DUR_MEAN, F_DUR_MEDIAN, F_DUR_STD, F_DUR_MIN,
	F_DUR_MAX, F_GFLOP, F_TFLOP_S, F_PCT_ROOF, F_SHARE, F_CUMULATIVE,
	SINK_END };
static const uint8_t event_list[] = { F_UID, F_NAME, F_PARENT, F_CATEGORY,
	F_DIMS, F_MODULE, F_MODULE_UID, F_MODULE_KERNELS, F_MODULE_BUSY,
	F_PCT_MODULE, F_TS, F_DUR, F_DELAY, F_GRID, F_BLOCK, F_DEV, F_STREAM,
	F_CORR, SINK_END };
static const uint8_t short_list[] = { F_PARENT, F_DIMS, F_STRIDES, F_CONCRETE,
	F_KERNEL, F_SUM, F_COUNT, F_DUR_MEAN, F_SHARE_TOTAL, SINK_END };
static const uint8_t bin_list[] = { F_BIN_START, F_BIN_END, F_BIN_COUNT,
	SINK_END };
static const uint8_t rocprof_name_list[] = { F_NAME, F_COUNT, F_DUR_MEAN,
	F_DUR_MEDIAN, F_DUR_STD, F_DUR_MIN, F_DUR_MAX, F_SHARE, F_CUMULATIVE,
	F_SUM, F_CLASS, SINK_END };
static const uint8_t rocprof_class_list[] = { F_OP_CLASS, F_COUNT, F_SUM,
	F_SHARE, F_CUMULATIVE, SINK_END };
static const uint8_t rocprof_event_list[] = { F_NAME, F_DUR, F_STREAM,
	F_DISPATCH, F_GRID_X, F_GRID_Y, F_GRID_Z, F_BLOCK_X, F_BLOCK_Y,
	F_BLOCK_Z, F_AGENT, F_TID, SINK_END };
static const uint8_t rocprof_short_list[] = { F_NAME, F_COUNT, F_SUM,
	F_DUR_MEAN, F_SHARE, SINK_END };

static const uint8_t name_ties[] = { F_NAME, SINK_END };
static const uint8_t class_ties[] = { F_OP_CLASS, SINK_END };
static const uint8_t op_ties[] = { F_CATEGORY, F_PARENT, F_NAME, SINK_END };
static const uint8_t args_ties[] = { F_PARENT, F_NAME, SINK_END };

/* What the reference calls them where that is not as usual. */
#define SHORT_US "Short Kernel duration (µs) "
#define LABELS(...)                 \
	(const struct sink_label[]) \
	{                           \
		__VA_ARGS__         \
	}
#define COUNT_LABEL .labels = LABELS({ F_COUNT, "Count", 0 }), .nlabels = 1

struct sink_table kernels_tables[KERNELS_NTABLES] = {
	{ .name = "kernels_by_name",
	    .columns = name_list,
	    .by = BY_NAME,
	    .ties = name_ties,
	    COUNT_LABEL },
	{ .name = "kernels_by_launch_config",
	    .columns = config_list,
	    .by = BY_CONFIG,
	    .ties = args_ties,
	    COUNT_LABEL },
	{ .name = "kernel_summary",
	    .columns = op_list,
	    .by = BY_OP,
	    .ties = op_ties,
	    .about = FOR_OPS | IN_FOLDER,
	    .is_summary = true },
	{ .name = "kernels_by_args",
	    .columns = args_list,
	    .by = BY_ARGS,
	    .ties = args_ties },
	{ .name = "kernel_events",
	    .columns = event_list,
	    .by = BY_EVENT,
	    .is_single = true },
	{ .name = "short_kernels_summary",
	    .columns = short_list,
	    .by = BY_NONE,
	    .order = SINK_BY_FEW,
	    .ties = args_ties,
	    .labels = LABELS({ F_SUM, SHORT_US "sum", 0 },
		{ F_COUNT, "Short Kernel count", 0 },
		{ F_DUR_MEAN, SHORT_US "mean", 0 },
		{ F_SHARE_TOTAL, SHORT_US "percent of total time", 0 }),
	    .nlabels = 4,
	    .about = OF_SHORT | FOR_OPS | IN_FOLDER },
	{ .name = "short_kernel_histogram",
	    .columns = bin_list,
	    .by = BY_NONE,
	    .about = IN_FOLDER,
	    .print = histogram_print },
	{ .name = "kernel_summary",
	    .columns = rocprof_name_list,
	    .by = BY_OP,
	    .ties = name_ties,
	    .labels = LABELS({ F_COUNT, "Count", 0 },
		{ F_DUR_MEAN, "Mean Kernel Time (µs)", 0 },
		{ F_DUR_MEDIAN, "Median Kernel Time (µs)", 0 },
		{ F_DUR_STD, "Std Kernel Time (µs)", 0 },
		{ F_DUR_MIN, "Min Kernel Time (µs)", 0 },
		{ F_DUR_MAX, "Max Kernel Time (µs)", 0 },
		{ F_SHARE, "Percentage (%)", 0 },
		{ F_SUM, "Total Kernel Time (ms)", MS }),
	    .nlabels = 8,
	    .about = FOR_ROCPROF | IN_FOLDER,
	    .is_summary = true },
	{ .name = "kernel_summary_by_category",
	    .columns = rocprof_class_list,
	    .by = BY_NONE,
	    .ties = class_ties,
	    .labels = LABELS({ F_COUNT, "Count", 0 },
		{ F_SUM, "total_direct_kernel_time_ms", MS },
		{ F_SHARE, "Percentage (%)", 0 }),
	    .nlabels = 3,
	    .about = FOR_ROCPROF | IN_FOLDER,
	    .is_summary = true },
	{ .name = "kernel_details",
	    .columns = rocprof_event_list,
	    .by = BY_NONE,
	    .labels = LABELS({ F_STREAM, "stream", 0 }),
	    .nlabels = 1,
	    .about = FOR_ROCPROF | IN_FOLDER,
	    .is_single = true },
	{ .name = "short_kernels_summary",
	    .columns = rocprof_short_list,
	    .by = BY_NONE,
	    .ties = name_ties,
	    .labels = LABELS({ F_COUNT, "Short Kernel count", 0 },
		{ F_SUM, SHORT_US "sum", 0 },
		{ F_DUR_MEAN, SHORT_US "mean", 0 },
		{ F_SHARE, SHORT_US "percent of total time", 0 }),
	    .nlabels = 4,
	    .about = OF_SHORT | FOR_ROCPROF | IN_FOLDER },
};

/* In a folder: those of the reference, and what else was asked for. */
bool
kernels_asked(const struct sink *s, const struct sink_table *t)
{
	const struct kernels *k = kernels_of(s);

	if (s->dest.dir != NULL && (t->about & IN_FOLDER) != 0)
		return true;
	return t->by == k->by && (s->dest.dir == NULL || k->by != BY_NAME);
}

void
tables_choose(struct kernels *k)
{
	for (size_t i = 0; i < KERNELS_NTABLES; i++) {
		const uint8_t *c = kernels_tables[i].columns;

		if (!sink_asked(&k->sink, &kernels_tables[i]))
			continue;
		for (; *c != SINK_END; c++) {
			k->with_args = k->with_args || *c == F_DIMS;
			k->with_config = k->with_config || *c == F_GRID;
			k->with_module = k->with_module || *c == F_MODULE;
		}
	}
}

/* Of two tables of one name, which one is it? */
bool
kernels_fits(const struct sink *s, const struct sink_table *t)
{
	return (t->about & (FOR_OPS | FOR_ROCPROF)) == 0 ||
	    ((t->about & FOR_ROCPROF) != 0) == kernels_of(s)->all_rocprof;
}
