/* SPDX-License-Identifier: MIT */
/* The tables, their columns, and which are printed. */
#include "table/catalogue.h"

#include "cmd/tl-kernels/kernels.h"

#define US 1e3
#define MS 1e6
#define NS UNIT_NS
#define AT(field) offsetof(struct kernel, field)

/* What measures are about. */

const struct sink_measure kernels_measures[KERNELS_NMEASURES] = {
	[M_DUR] = { AT(dur_ns), NULL, false },
	[M_GAP] = { AT(gap_ns), NULL, false },
	[M_LAUNCH] = { AT(launch_ns), NULL, false },
	[M_OP] = { AT(op_ns), NULL, false },
	[M_SAVED] = { AT(saved_ns), NULL, false },
	[M_BYTES] = { AT(spared_bytes), NULL, false },
};
/* Only with --sequences --op, only with --categories. */
enum { ONLY_OP = 1, ONLY_CLASS };

/* clang-format off */
const struct sink_column kernels_columns[] = {
	{ { "id", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_INT, true, AT(rec.uid.id), 0 },
	{ { "pid", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_PID, true, AT(caller), 0 },
	{ { "op_category", "Parent op category", COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(category), 0 },
	{ { "op", "Parent cpu_op", COL_TEXT, UNIT_NONE, COL_NAME, 0 }, SINK_TEXT, true, AT(op), 0 },
	{ { "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 }, SINK_TEXT, true, AT(name), 0 },
	{ { "category", "Category", COL_TEXT, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(class), 0 },
	{ { "kernel_category", "Kernel category", COL_TEXT, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(class), ONLY_CLASS },
	{ { "plain_name", "name", COL_TEXT, UNIT_NONE, COL_NAME, 0 }, SINK_TEXT, true, AT(plain), 0 },
	{ { "hlo_op", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(hlo_op), 0 },
	{ { "hlo_module", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(hlo_module), 0 },
	{ { "program_id", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(program), 0 },
	SINK_PLACE_COLUMNS(AT(annotation), AT(step), AT(phase), AT(phase_method)),
	{ { "gpu_stream", "Kernel stream", COL_INT, UNIT_NONE, COL_MINOR, 0 }, SINK_KEY, true, AT(gpu_stream), 0 },
	{ { "input_dims", "Input dims", COL_JSON, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(args.dims), 0 },
	{ { "input_types", "Input type", COL_JSON, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(args.types), 0 },
	{ { "input_strides", "Input strides", COL_JSON, UNIT_NONE, COL_DETAIL, 0 }, SINK_TEXT, true, AT(args.strides), 0 },
	{ { "concrete_inputs", "Concrete Inputs", COL_JSON, UNIT_NONE, COL_DETAIL, 0 }, SINK_TEXT, true, AT(args.concrete), 0 },
	{ { "module", "Parent nn.Module", COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_CELL, false, C_MODULE, 0 },
	{ { "module_uid", "Parent nn.Module UID", COL_INT, UNIT_NONE, COL_DETAIL, 0 }, SINK_CELL, false, C_MODULE_UID, 0 },
	{ { "module_kernels", "Parent nn.Module kernel count", COL_INT, UNIT_COUNT, COL_DETAIL, 0 }, SINK_CELL, false, C_MODULE_KERNELS, 0 },
	{ { "module_busy_ns", "Parent nn.Module GPU busy time (µs)", COL_INT, NS, COL_DETAIL, US }, SINK_CELL, false, C_MODULE_BUSY, 0 },
	{ { "pct_of_module", "Percent of Parent nn.Module busy time (%)", COL_REAL, UNIT_PERCENT, COL_DETAIL, 0 }, SINK_CELL, false, C_PCT_MODULE, 0 },
	{ { "grid", NULL, COL_JSON, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(grid), 0 },
	{ { "block", NULL, COL_JSON, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(block), 0 },
	{ { "registers", "VGPR", COL_INT, UNIT_COUNT, COL_MINOR, 0 }, SINK_CELL, false, C_RESOURCES + 0, 0 },
	{ { "accum_registers", "AccumVGPR", COL_INT, UNIT_COUNT, COL_MINOR, 0 }, SINK_CELL, false, C_RESOURCES + 1, 0 },
	{ { "scalar_registers", "SGPR", COL_INT, UNIT_COUNT, COL_MINOR, 0 }, SINK_CELL, false, C_RESOURCES + 2, 0 },
	{ { "shared_bytes", "LDS", COL_INT, UNIT_BYTES, COL_MINOR, 0 }, SINK_CELL, false, C_RESOURCES + 3, 0 },
	{ { "scratch_bytes", "Scratch", COL_INT, UNIT_BYTES, COL_MINOR, 0 }, SINK_CELL, false, C_RESOURCES + 4, 0 },
	{ { "resources", NULL, COL_JSON, UNIT_NONE, 0, 0 }, SINK_TEXT, true, AT(resources), 0 },
	{ { "count", "Kernel duration (µs)_count", COL_INT, UNIT_COUNT, 0, 0 }, SINK_COUNT, false, 0, 0 },
	{ { "dur_ns_sum", "Kernel duration (µs)_sum", COL_INT, NS, 0, US }, SINK_SUM, false, 0, 0 },
	SINK_STAT_COLUMNS("dur_ns", "Kernel duration (µs)", COL_INT, NS, 0, US, 0, 0),
	{ { "dur_ns_std_all", "StdDev (ns)", COL_REAL, NS, COL_DETAIL, 0 }, SINK_STD_ALL, false, 0, 0 },
	{ { "pct_of_kernels", "Percent of kernels time (%)", COL_REAL, UNIT_PERCENT, COL_SHARE, 0 }, SINK_SHARE, false, 0, 0 },
	{ { "dur_ns_per_gpu", "time ms per gpu", COL_REAL, NS, 0, MS }, SINK_CELL, false, C_PER_GPU, 0 },
	{ { "pct_of_total", "Percent of total time (%)", COL_REAL, UNIT_PERCENT, COL_MINOR, 0 }, SINK_CELL, false, C_SHARE_TOTAL, 0 },
	{ { "cumulative_pct", "Cumulative Percentage (%)", COL_REAL, UNIT_PERCENT, COL_MINOR, 0 }, SINK_CUMULATIVE, false, 0, 0 },
	{ { "class", "Category", COL_TEXT, UNIT_NONE, 0, 0 }, SINK_CELL, false, 0, 0 },
	{ { "pct_of_compute", "Fraction of compute runtime", COL_REAL, UNIT_PERCENT, COL_SHARE, 100 }, SINK_CELL, false, 0, 0 },
	{ { "pct_of_xla", "Fraction of XLA", COL_REAL, UNIT_PERCENT, COL_SHARE, 100 }, SINK_SHARE, false, 0, 0 },
	{ { "gflop", "GFLOPS", COL_REAL, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_GFLOP, 0 },
	{ { "tflop_s_mean", "TFLOPS/s", COL_REAL, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_TFLOP_S, 0 },
	{ { "moved_mib", "Data Moved (MB)", COL_REAL, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_BYTES, 0 },
	{ { "tb_s_mean", "TB/s", COL_REAL, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_TB_S, 0 },
	{ { "tile", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_TILE, 0 },
	{ { "pct_tile", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_CELL, false, C_PCT_TILE, 0 },
	{ { "pct_wave", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_CELL, false, C_PCT_WAVE, 0 },
	{ { "pct_roofline", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_CELL, false, C_PCT_ROOF, 0 },
	{ { "ts_ns", NULL, COL_INT, NS, COL_MINOR | COL_POSITION, 0 }, SINK_INT, false, AT(rec.ts_ns), 0 },
	{ { "dur_ns", "Kernel duration (µs)", COL_INT, NS, 0, US }, SINK_INT, false, AT(dur_ns), 0 },
	{ { "queue_delay_ns", NULL, COL_INT, NS, COL_MINOR, 0 }, SINK_INT, false, AT(delay_ns), 0 },
	{ { "launch_latency_ns", "GPU_kernel_launch_latency", COL_INT, NS, COL_MINOR, US }, SINK_CELL, false, C_LATENCY, 0 },
	{ { "dev", NULL, COL_INT, UNIT_NONE, COL_MINOR, 0 }, SINK_KEY, true, AT(dev), 0 },
	{ { "corr", NULL, COL_INT, UNIT_NONE, COL_MINOR, 0 }, SINK_KEY, false, AT(corr), 0 },
	{ { "dispatch_id", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_INT, false, AT(dispatch), 0 },
	{ { "grid_x", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_GRID_X, 0 },
	{ { "grid_y", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_GRID_Y, 0 },
	{ { "grid_z", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_GRID_Z, 0 },
	{ { "block_x", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_BLOCK_X, 0 },
	{ { "block_y", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_BLOCK_Y, 0 },
	{ { "block_z", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_BLOCK_Z, 0 },
	{ { "agent_id", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_INT, false, AT(agent), 0 },
	{ { "thread_id", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_KEY, false, AT(tid), 0 },
	{ { "bin_start_ns", "bin_start", COL_REAL, NS, 0, US }, SINK_CELL, false, 0, 0 },
	{ { "bin_end_ns", "bin_end", COL_REAL, NS, 0, US }, SINK_CELL, false, 0, 0 },
	{ { "under", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 }, SINK_TEXT, true, AT(op), ONLY_OP },
	{ { "sequence", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 }, SINK_TEXT, true, AT(name), 0 },
	{ { "length", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_U32, false, AT(length), 0 },
	{ { "saved_ns_sum", NULL, COL_INT, NS, COL_SHARE, 0 }, SINK_SUM, false, M_SAVED, 0 },
	{ { "gap_ns_sum", NULL, COL_INT, NS, 0, 0 }, SINK_SUM, false, M_GAP, 0 },
	{ { "spared_bytes_sum", NULL, COL_INT, UNIT_BYTES, 0, 0 }, SINK_SUM, false, M_BYTES, 0 },
	{ { "spared_ns_sum", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, C_SPARED, 0 },
	{ { "spared_reason", NULL, COL_TEXT, UNIT_NONE, COL_WRAPPED, 0 }, SINK_CELL, false, C_SPARED_REASON, 0 },
	{ { "launch_ns_sum", NULL, COL_INT, NS, 0, 0 }, SINK_SUM, false, M_LAUNCH, 0 },
	{ { "op_ns_sum", NULL, COL_INT, NS, 0, 0 }, SINK_SUM, false, M_OP, ONLY_OP },
	{ { "first_uid", NULL, COL_INT, UNIT_NONE, COL_MINOR, 0 }, SINK_UID, false, AT(rec.uid), 0 },
	SINK_COLUMNS_END,
};

/* clang-format on */

static const char name_ties[] = "name";
static const char args_ties[] = "op,name";

/* TraceLens's labels where they differ from the usual ones. */
#define SHORT_US "Short Kernel duration (µs) "
#define LABELS(...)                 \
	(const struct sink_label[]) \
	{                           \
		__VA_ARGS__         \
	}
#define KERNEL_LABEL \
	.labels = LABELS({ "name", "Kernel name", 0 }), .nlabels = 1
#define COUNT_LABEL .labels = LABELS({ "count", "Count", 0 }), .nlabels = 1

/* JAX's. */
#define DIRECT "total_direct_kernel_time"
#define XLA_OP "hlo_op,hlo_module,program_id"
#define XLA_SUMS "dur_ns_sum,pct_of_kernels,cumulative_pct,dur_ns_per_gpu"
#define OP_CATEGORY                          \
	{                                    \
		"category", "op category", 0 \
	}
#define XLA_ARGS                               \
	{ "input_dims", "Input Dims", 0 },     \
	{                                      \
		"input_types", "Input type", 0 \
	}
#define XLA_LABELS                                             \
	.labels = LABELS(OP_CATEGORY, { "count", "Count", 0 }, \
	    { "dur_ns_sum", DIRECT "_ms", MS },                \
	    { "pct_of_kernels", "Percentage (%)", 0 }),        \
	.nlabels = 4

#define IN_PHASE(table, phase)                                               \
	{                                                                    \
		.name = table,                                               \
		.columns = "kernel_category,op_category,op,name,gpu_stream," \
			   "dur_ns_sum,count,dur_ns_mean,dur_ns_min,"        \
			   "dur_ns_max,pct_of_kernels,phase,phase_method",   \
		.by = BY_NONE, .ties = "op_category,op,name",                \
		.about = OF_PHASE * (1 + (phase)), KERNEL_LABEL,             \
		.is_summary = true                                           \
	}

/* Tables by place: annotation, phase, step. */
#define IN_PLACE(table, key, group, sorted)                                \
	{                                                                  \
		.name = table,                                             \
		.columns = key ",count,dur_ns_sum,dur_ns_mean,"            \
			       "dur_ns_median,dur_ns_std,dur_ns_min,"      \
			       "dur_ns_max,pct_of_kernels,cumulative_pct", \
		.by = (group), .ties = key, COUNT_LABEL, .order = (sorted) \
	}

struct sink_table kernels_tables[KERNELS_NTABLES] = {
	{ .name = "kernels_by_name",
	    .columns = "name,kernel_category,count,dur_ns_sum,dur_ns_mean,"
		       "dur_ns_median,dur_ns_std,dur_ns_min,dur_ns_max,"
		       "pct_of_kernels,cumulative_pct",
	    .by = BY_NAME,
	    .ties = name_ties,
	    COUNT_LABEL },
	{ .name = "kernels_by_pid",
	    .columns = "pid,dev,name,count,dur_ns_sum,dur_ns_mean,dur_ns_min,"
		       "dur_ns_max,pct_of_kernels,cumulative_pct",
	    .by = BY_PID,
	    .ties = name_ties,
	    COUNT_LABEL },
	IN_PLACE(
	    "kernels_by_annotation", "annotation", BY_ANNOTATION, SINK_BY_SUM),
	IN_PLACE("kernels_by_phase", "phase", BY_PHASE, SINK_BY_SUM),
	IN_PLACE("kernels_by_step", "step", BY_STEP, SINK_BY_KEY),
	{ .name = "kernels_by_launch_config",
	    .columns = "name,grid,block,registers,accum_registers,"
		       "scalar_registers,shared_bytes,scratch_bytes,count,"
		       "dur_ns_sum,dur_ns_mean,dur_ns_median,dur_ns_std,"
		       "dur_ns_min,dur_ns_max,dur_ns_std_all,pct_of_kernels,"
		       "cumulative_pct",
	    .by = BY_CONFIG,
	    .ties = args_ties,
	    .labels = LABELS({ "name", "Name", 0 }, { "count", "Instances", 0 },
		{ "dur_ns_sum", "Total Time (ns)", 1 },
		{ "dur_ns_mean", "Avg (ns)", 1 },
		{ "dur_ns_median", "Med (ns)", 1 },
		{ "dur_ns_std", "sample StdDev (ns)", 1 },
		{ "dur_ns_min", "Min (ns)", 1 },
		{ "dur_ns_max", "Max (ns)", 1 },
		{ "pct_of_kernels", "Time %", 0 }),
	    .nlabels = 9 },
	{ .name = "kernel_summary",
	    .columns = "kernel_category,op_category,op,name,gpu_stream,"
		       "dur_ns_sum,count,"
		       "dur_ns_mean,dur_ns_min,dur_ns_max,pct_of_kernels,"
		       "pct_of_total",
	    .by = BY_OP,
	    .ties = "op_category,op,name",
	    .about = FOR_OPS,
	    KERNEL_LABEL,
	    .is_summary = true },
	IN_PHASE("kernel_summary_prefill", PHASE_PREFILL),
	IN_PHASE("kernel_summary_decode", PHASE_DECODE),
	IN_PHASE("kernel_summary_mixed", PHASE_MIXED),
	IN_PHASE("kernel_summary_generic", PHASE_GENERIC),
	IN_PHASE("kernel_summary_outside", PHASE_OUTSIDE),
	{ .name = "kernels_by_args",
	    .columns = "op,op_category,input_dims,input_types,input_strides,"
		       "concrete_inputs,name,tile,pct_tile,pct_wave,count,"
		       "dur_ns_sum,dur_ns_mean,dur_ns_median,dur_ns_std,"
		       "dur_ns_min,dur_ns_max,gflop,tflop_s_mean,"
		       "pct_roofline,pct_of_kernels,cumulative_pct",
	    .by = BY_ARGS,
	    .about = OF_MODELS,
	    KERNEL_LABEL,
	    .ties = args_ties },
	{ .name = "kernel_events",
	    .columns = "id,name,op,op_category,input_dims,module,module_uid,"
		       "module_kernels,module_busy_ns,pct_of_module,ts_ns,"
		       "dur_ns,queue_delay_ns,grid,block,dev,gpu_stream,corr",
	    .by = BY_EVENT,
	    .is_single = true },
	{ .name = "short_kernels_summary",
	    .columns = "op,input_dims,input_strides,concrete_inputs,name,"
		       "dur_ns_sum,count,dur_ns_mean,pct_of_total",
	    .by = BY_NONE,
	    .order = SINK_BY_FEW,
	    .ties = args_ties,
	    .labels = LABELS({ "name", "Kernel name", 0 },
		{ "dur_ns_sum", SHORT_US "sum", 0 },
		{ "count", "Short Kernel count", 0 },
		{ "dur_ns_mean", SHORT_US "mean", 0 },
		{ "pct_of_total", SHORT_US "percent of total time", 0 }),
	    .nlabels = 5,
	    .about = OF_SHORT | FOR_OPS },
	{ .name = "short_kernel_histogram",
	    .columns = "bin_start_ns,bin_end_ns,count",
	    .by = BY_NONE,
	    .labels = LABELS({ "count", "count", 0 }),
	    .nlabels = 1,
	    .print = histogram_print },
	{ .name = "kernel_summary",
	    .columns = "name,count,dur_ns_mean,dur_ns_median,dur_ns_std,"
		       "dur_ns_min,dur_ns_max,pct_of_kernels,cumulative_pct,"
		       "dur_ns_sum,category",
	    .by = BY_OP,
	    .ties = name_ties,
	    .labels = LABELS({ "count", "Count", 0 },
		{ "dur_ns_mean", "Mean Kernel Time (µs)", 0 },
		{ "dur_ns_median", "Median Kernel Time (µs)", 0 },
		{ "dur_ns_std", "Std Kernel Time (µs)", 0 },
		{ "dur_ns_min", "Min Kernel Time (µs)", 0 },
		{ "dur_ns_max", "Max Kernel Time (µs)", 0 },
		{ "pct_of_kernels", "Percentage (%)", 0 },
		{ "dur_ns_sum", "Total Kernel Time (ms)", MS }),
	    .nlabels = 8,
	    .about = FOR_ROCPROF,
	    .is_summary = true },
	{ .name = "kernel_summary_by_category",
	    .columns = "category,count,dur_ns_sum,pct_of_kernels,"
		       "cumulative_pct",
	    .by = BY_CLASS,
	    .ties = "category",
	    .labels = LABELS({ "category", "op category", 0 },
		{ "count", "Count", 0 },
		{ "dur_ns_sum", "total_direct_kernel_time_ms", MS },
		{ "pct_of_kernels", "Percentage (%)", 0 }),
	    .nlabels = 4,
	    .about = FOR_ROCPROF,
	    .is_summary = true },
	{ .name = "kernel_details",
	    .columns = "name,dur_ns,gpu_stream,dispatch_id,grid_x,grid_y,"
		       "grid_z,block_x,block_y,block_z,agent_id,thread_id",
	    .by = BY_NONE,
	    .labels = LABELS({ "gpu_stream", "stream", 0 }),
	    .nlabels = 1,
	    .about = FOR_ROCPROF,
	    .is_single = true },
	{ .name = "short_kernels_summary",
	    .columns = "name,count,dur_ns_sum,dur_ns_mean,pct_of_kernels",
	    .by = BY_NONE,
	    .ties = name_ties,
	    .labels = LABELS({ "count", "Short Kernel count", 0 },
		{ "dur_ns_sum", SHORT_US "sum", 0 },
		{ "dur_ns_mean", SHORT_US "mean", 0 },
		{ "pct_of_kernels", SHORT_US "percent of total time", 0 }),
	    .nlabels = 4,
	    .about = OF_SHORT | FOR_ROCPROF },
	{ .name = "category_summary",
	    .columns = "dev,class,dur_ns_sum,count,pct_of_compute,"
		       "pct_of_kernels",
	    .by = BY_NONE,
	    .labels = LABELS({ "dev", "GPU ID", 0 },
		{ "dur_ns_sum", "Total runtime (ms)", MS },
		{ "count", "Total count", 0 },
		{ "pct_of_kernels", "Fraction of total runtime", 100 }),
	    .nlabels = 4,
	    .print = activity_print },
	{ .name = "xla_top",
	    .columns = "name,dur_ns_sum,count,pct_of_xla",
	    .by = BY_XLA,
	    .ties = name_ties,
	    .labels = LABELS({ "name", "Kernel", 0 },
		{ "dur_ns_sum", "Total time (ms)", MS },
		{ "count", "Count", 0 }),
	    .nlabels = 3 },
	{ .name = "kernel_launchers",
	    .columns = "id,name,category," XLA_OP ",dur_ns,dev,gpu_stream,"
		       "input_dims,input_types,grid,block,registers,"
		       "shared_bytes,ts_ns,launch_latency_ns,corr",
	    .by = BY_NONE,
	    .labels = LABELS(OP_CATEGORY, { "id", "UID", 0 },
		{ "dur_ns", DIRECT, 0 }, XLA_ARGS),
	    .nlabels = 5,
	    .about = FOR_XLA,
	    .is_single = true },
	{ .name = "kernel_launchers_summary",
	    .columns = "name,category,count," XLA_SUMS,
	    .by = BY_NONE,
	    .ties = name_ties,
	    XLA_LABELS,
	    .about = FOR_XLA,
	    .is_summary = true },
	{ .name = "kernel_launchers_summary_by_category",
	    .columns = "category,count," XLA_SUMS,
	    .by = BY_NONE,
	    .ties = "category",
	    XLA_LABELS,
	    .about = FOR_XLA,
	    .is_summary = true },
	{ .name = "kernel_launchers_unique_args",
	    .columns = "name,category,input_dims,input_types,input_strides,"
		       "concrete_inputs,count,dur_ns_mean,dur_ns_median,"
		       "dur_ns_std,dur_ns_min,dur_ns_max,dur_ns_sum,"
		       "first_uid,pct_of_kernels,cumulative_pct",
	    .by = BY_NONE,
	    .ties = name_ties,
	    .labels = LABELS(OP_CATEGORY, XLA_ARGS,
		{ "input_strides", "Input Strides", 0 },
		{ "first_uid", "ex_UID", 0 }, { "count", "operation_count", 0 },
		{ "dur_ns_mean", DIRECT "_mean", 0 },
		{ "dur_ns_median", DIRECT "_median", 0 },
		{ "dur_ns_std", DIRECT "_std", 0 },
		{ "dur_ns_min", DIRECT "_min", 0 },
		{ "dur_ns_max", DIRECT "_max", 0 },
		{ "dur_ns_sum", DIRECT "_sum", 0 },
		{ "pct_of_kernels", "Percentage (%)", 0 }),
	    .nlabels = 13,
	    .about = FOR_XLA },
	{ .name = "df_xla_perf",
	    .columns = "id,name," XLA_OP ",dur_ns,dev,gpu_stream,"
		       "input_dims,input_types,moved_mib,tb_s_mean",
	    .by = BY_NONE,
	    .labels =
		LABELS({ "id", "UID", 0 }, { "dur_ns", DIRECT, 0 }, XLA_ARGS),
	    .nlabels = 4,
	    .about = FOR_XLA | OF_OTHERS | OF_MODELS,
	    .is_single = true },
	{ .name = "xla_summary",
	    .columns = "plain_name,count," XLA_SUMS,
	    .by = BY_NONE,
	    .ties = "plain_name",
	    XLA_LABELS,
	    .about = FOR_XLA | OF_OTHERS,
	    .is_summary = true },
	{ .name = "kernel_sequences",
	    .columns = "under,sequence,length,count,saved_ns_sum,gap_ns_sum,"
		       "spared_bytes_sum,spared_ns_sum,spared_reason,"
		       "launch_ns_sum,dur_ns_sum,op_ns_sum,pct_of_kernels,"
		       "first_uid",
	    .by = BY_SEQUENCE,
	    .measure = M_SAVED,
	    .ties = "sequence",
	    .labels = LABELS({ "count", "count", 0 },
		{ "dur_ns_sum", "kernel time", 0 },
		{ "pct_of_kernels", "of kernel time", 0 }),
	    .nlabels = 3 },
};

/* In a folder: the tables of a report, and those asked for. */
bool
kernels_asked(const struct sink *s, const struct sink_table *t)
{
	const struct kernels *k = kernels_of(s);

	if (s->dest.dir != NULL &&
	    sheet_find(str_of(t->name))->when != SHEET_ALWAYS)
		return true;
	return t->by == k->by && (s->dest.dir == NULL || k->by != BY_NAME);
}

void
tables_choose(struct kernels *k)
{
	k->phases.may_guess = k->phases.method < METHOD_COUNT ||
	    (k->sink.named != NULL &&
		kernels_phase(k->sink.named) < PHASE_COUNT);
	k->with_args = k->phases.may_guess;
	for (size_t i = 0; i < KERNELS_NTABLES; i++) {
		const struct sink_table *t = &kernels_tables[i];

		if (!sink_asked(&k->sink, t))
			continue;
		k->sequences.is_asked |= t->by == BY_SEQUENCE;
		k->has_short |= str_starts(str_of(t->name), STR("short_"));
		k->with_args |= t->by == BY_SEQUENCE ||
		    sink_list_has(t->columns, STR("input_dims"));
		k->with_config |= sink_list_has(t->columns, STR("grid"));
		k->with_module |= sink_list_has(t->columns, STR("module"));
		k->with_step |= t->by == BY_STEP;
		k->with_annotation |= t->by == BY_ANNOTATION;
		k->with_class |= kernels_phase(t) < PHASE_COUNT ||
		    (k->categories_name != NULL &&
			sink_list_has(t->columns, STR("kernel_category")));
	}
}

bool
kernels_wants(const struct sink *s, const struct sink_table *t, unsigned only)
{
	const struct kernels *k = kernels_of(s);

	return only == ONLY_OP
	    ? k->sequences.op != NULL
	    : k->categories_name != NULL || kernels_phase(t) < PHASE_COUNT;
}

/* Which of two tables of one name fits; some are rocprofv3's only. */
bool
kernels_fits(const struct sink *s, const struct sink_table *t)
{
	const struct kernels *k = kernels_of(s);

	if (kernels_phase(t) < PHASE_COUNT)
		return s->table != NULL ||
		    ((k->phases.any || k->phases.may_guess) &&
			k->nphase[kernels_phase(t)] > 0);
	if ((t->about & FOR_XLA) != 0)
		return k->all_xla;
	if ((t->about & (FOR_OPS | FOR_ROCPROF)) != 0)
		return ((t->about & FOR_ROCPROF) != 0) == k->all_rocprof;
	return s->table != NULL || t->by == k->by || k->all_rocprof ||
	    sheet_find(str_of(t->name))->when != SHEET_IF_ROCPROF;
}
