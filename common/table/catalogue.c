/* SPDX-License-Identifier: MIT */
/* The catalogue: an entry per table, in the order of a report. */
#include "table/catalogue.h"

#define US "\302\265s" /* microseconds, as TraceLens writes them */
#define NS_OF_US 1e3
#define NS_OF_MS 1e6
#define CUMULATIVE "Cumulative Percentage (%)"
#define DIRECT "total_direct_kernel_time"
#define KERNEL_TIME "Kernel Time (" US ")"
#define DURATION "Kernel duration (" US ")"
#define ARGS "name|Input type|Input Dims|Input Strides|Concrete Inputs"
#define OVERLAP ARGS "|overlapping_kernel_names"

/* ---- how they are compared ---- */

#define OP_MEASURES "-" DIRECT "_sum|-" DIRECT "_mean|operation_count"
#define UNIFIED_MEASURES \
	"-" KERNEL_TIME "_sum|-" KERNEL_TIME "_mean|operation_count"
#define SUM_MEASURES "-dur_sum|-dur_mean|operation_count"
#define ROOF                                                      \
	.keys = "name",                                           \
	.measures = "-" KERNEL_TIME "_sum|-" KERNEL_TIME          \
		    "_mean|name_count|+TFLOPS/s_mean|+TB/s_mean", \
	.measure_ns = NS_OF_US,                                   \
	.drop_variant = "GFLOPS_first|Data Moved (MB)_first|"     \
			"FLOPS/Byte_first|Input type_first|"      \
			"Input Dims_first|Input Strides_first|"   \
			"Concrete Inputs_first",                  \
	.is_split = true, .has_params = true
#define RULE(name) static const struct sheet_rule name

RULE(timeline) = { .group = "gpu_timeline",
	.keys = "type",
	.measures = "-time ms",
	.measure_ns = NS_OF_MS,
	.keeps_keys_order = true };
RULE(phases) = { .group = "phase_summary",
	.keys = "phase",
	.measures = "-gpu_ns_sum|-took_ns_median|+tokens_per_s|iterations",
	.measure_ns = 1,
	.drop = "pid" };
RULE(summary) = { .group = "ops_summary",
	.keys = "name",
	.measures = "-" DIRECT "_ms|Count",
	.measure_ns = NS_OF_MS,
	.drop = DIRECT "_sum",
	.drop_variant = CUMULATIVE };
RULE(category) = { .group = "category",
	.keys = "op category",
	.measures = "-" DIRECT "_ms|Count",
	.measure_ns = NS_OF_MS,
	.drop_variant = CUMULATIVE };
/* Those of rocprofv3, and older ones. */
RULE(kernels_only) = { .group = "kernel_summary",
	.keys = "name",
	.measures = "-Total Kernel Time (ms)|-Mean Kernel Time (" US ")|Count",
	.measure_ns = NS_OF_MS,
	.drop = "Total Kernel Time (" US ")|Median Kernel Time (" US
		")|Std Kernel Time (" US ")|Min Kernel Time (" US
		")|Max Kernel Time (" US ")|Category",
	.drop_variant = CUMULATIVE };
RULE(busy_kinds) = { .group = "gpu_busy_kinds",
	.keys = "kinds",
	.measures = "-time ms",
	.measure_ns = NS_OF_MS };
RULE(kernels) = { .group = "kernel_summary",
	.keys = "Kernel name",
	.measures = "-" DURATION "_sum|-" DURATION "_mean|" DURATION "_count",
	.measure_ns = NS_OF_US,
	.drop = DURATION "_min|" DURATION "_max|Parent op category",
	.drop_variant = CUMULATIVE,
	.otherwise = &kernels_only };
#define RULE_OF_ARGS(name, by, what)       \
	RULE(name) = { .group = "ops_all", \
		.keys = by,                \
		.measures = what,          \
		.measure_ns = NS_OF_US,    \
		.is_split = true }
RULE_OF_ARGS(args, ARGS, OP_MEASURES);
RULE_OF_ARGS(args_overlap, OVERLAP, OP_MEASURES);
RULE_OF_ARGS(unified, ARGS, UNIFIED_MEASURES);
RULE_OF_ARGS(unified_overlap, OVERLAP, UNIFIED_MEASURES);
RULE(roof) = { .group = "roofline", ROOF };
const struct sheet_rule sheet_rule_params = { .group = "roofline_all", ROOF };
RULE(collective) = { .group = "collective",
	.keys = "Collective name|rank|Process Group Name|Process Group Ranks|"
		"Group size|dtype|In msg nelems|Out msg nelems|In split size|"
		"Out split size",
	.measures = SUM_MEASURES,
	.measure_ns = NS_OF_US,
	.is_split = true };
RULE(latency) = { .group = "collective",
	.keys = "Collective name|Process Group Name|Group size|dtype|"
		"In msg nelems",
	.measures = "-Total comm latency (ms)|-comm_latency_mean|"
		    "-skew in start time_mean|+bus bw (GB/s)_mean|count",
	.measure_ns = NS_OF_MS,
	.is_split = true };
RULE(straggler) = { .group = "collective",
	.keys = "rank",
	.measures = "-total_wait_time_us|-total_nccl_dur_us|num_collectives",
	.measure_ns = NS_OF_US };

const char sheets_folded[] =
    "kernel_names|kernel_names_first|kernel_details_summary|"
    "kernel_details__summarize_kernel_stats|median|std|min|max|UID|UID_first|"
    "process_name|process_name_first|process_label|process_label_first|"
    "thread_name|thread_name_first|Input type_first|Input Dims_first|"
    "Input Strides_first|Concrete Inputs_first";

/* ---- how they are drawn ---- */

#define CATEGORIES(of, value, name)                                    \
	static const struct sheet_chart of = { .figure = "categories", \
		.kind = "bars",                                        \
		.y = value,                                            \
		.x = "op_category",                                    \
		.title = name }

static const struct sheet_chart by_rank = { .figure = "ranks",
	.kind = "stacked",
	.y = "computation_ns,exposed_comm_ns,exposed_memcpy_ns,idle_ns",
	.title = "Time of each rank" };
CATEGORIES(bars_ranks, "time_ns", "GPU time by category");
CATEGORIES(bars_ops, "direct_ns_sum", "GPU time by op category");
CATEGORIES(bars_kernels, "dur_ns_sum", "GPU time by kernel category");
CATEGORIES(bars_host, "cpu_self_ns", "host time by op category");
static const struct sheet_chart bars_phases = { .figure = "phases",
	.kind = "bars",
	.y = "gpu_ns_sum",
	.x = "phase",
	.title = "GPU time by phase" };
static const struct sheet_chart roofline = { .figure = "roofline",
	.kind = "scatter",
	.x = "flop_per_byte",
	.y = "tflop_s_mean",
	.lines = "roofs",
	.title = "Roofline" };

/* ---- what stays on a narrow terminal ---- */

/* Who it is, the time, its share, its bound, how often. */
#define ROOF_FIRST                                                 \
	"lost_ns|roofline_bound|pct_of_family|param_B|name_count|" \
	"operation_count"
static const char first_of_all[] =
    "step|name|op|cause|kind|type|phase|what|module|collective|group|"
    "input_dims|*dims|kernel_ns_sum|direct_ns_sum|time_ns_sum|dur_ns_sum|"
    "*_ns_sum|time_ns|gap_ns|wall_ns|gpu_ns|busy_ns|diff_ns|*diff*|pct_of*|"
    "percent|pct_*|*_percent|lost_ns|*bound|*verdict|count|*_count|"
    "operation_count|kernels|ratio|longest_in|slowest*|forbidden_by";
static const char first_of_roofline[] =
    "name|kernel_ns_sum|input_dims|pct_of_kernel|pct_roofline_mean|" ROOF_FIRST;
static const char first_of_family[] =
    "name|kernel_ns_sum|param_M|param_N|param_K|param_op_shape|"
    "param_num_elems|pct_roofline_mean|" ROOF_FIRST
    "|param_N_Q|param_H_Q|param_N_KV|param_shape*|param_*|input_dims";
static const char first_of_groups[] =
    "group|ranks|verdict|late_rank|cost_ns|wait_ns_sum|pct_wait|pct_late|"
    "latency_ns_sum|desc|collectives|pct_of_best";
static const char first_of_diff[] =
    "name|input_dims|name_after|before_ns|after_ns|diff_ns|ratio|is_noise";
static const char first_of_diff_steps[] =
    "term|call|before_ns|after_ns|diff_ns|pct_of_step_diff|kind|is_noise";
static const char first_of_steps[] =
    "step|what|wall_ns|idle_ns|busy_ns|flags|phase|gpu_wall_ns|idle_cause*|"
    "exposed_comm_ns|data_ns|tokens|batch|gap_ns|kernels|name";
static const char first_of_step_times[] =
    "steps|step_time|time_ns_median|time_ns_max|slowest*|time_ns_p95|"
    "time_ns_p99|spread_percent";
static const char first_of_slow[] =
    "step|cause|more_ns|time_ns|median_ns|call|op|module|median_*";
static const char first_of_phases[] =
    "phase|iterations|took_ns_median|tokens_per_s|bound*|pct_missing|"
    "pct_idle_of_wall|pct_of_gpu|gpu_ns_sum|requests_mean|pct_*|idle_by";
static const char first_of_gaps[] =
    "gap_ns|cause|call|next_name|ts_ns|next_op|prev_name";

/* ---- the tables ---- */

#define BOTH SHEET_BOOK | SHEET_PAGE
/* NAME, TEXT and what else there is */
#define OF(id, ...) .name = id, .text = __VA_ARGS__
#define T(id, who, ...)                             \
	{                                           \
		.program = who, OF(id, __VA_ARGS__) \
	}
#define IN_REPORT(who, ...)                                \
	{                                                  \
		.program = who, .where = BOTH, __VA_ARGS__ \
	}
#define TL_OPS(...) IN_REPORT("tl-ops", .top = TOP_OPS, OF(__VA_ARGS__))
/* of a phase */
#define OPS_IN(...) TL_OPS(__VA_ARGS__, .rule = &summary)
#define KERNELS_IN(...) \
	TL_KERNELS(__VA_ARGS__, .when = SHEET_IF_KERNELS, .rule = &kernels)
#define TL_COLLECTIVE(...) IN_REPORT("tl-collective", OF(__VA_ARGS__))
#define TL_KERNELS(...) IN_REPORT("tl-kernels", OF(__VA_ARGS__))
#define XLA(...) TL_KERNELS(__VA_ARGS__, .when = SHEET_IF_XLA)
#define TL_DIFF(...) IN_REPORT("tl-diff", OF(__VA_ARGS__))
#define TL_MODULES(...) IN_REPORT("tl-modules", OF(__VA_ARGS__))
#define ROOFLINE(...) IN_REPORT("tl-roofline", .top = TOP_ROOFLINE, __VA_ARGS__)
#define TL_ROOFLINE(...) ROOFLINE(OF(__VA_ARGS__))
#define OF_FAMILY                                              \
	.text = "ops with a performance model, by parameters", \
	.first = first_of_family
#define FAMILY(...) ROOFLINE(.rule = &roof, OF_FAMILY, .name = __VA_ARGS__)
/* of JAX, with sheets in TraceLens */
#define THEIRS(...)                                \
	{                                          \
		.where = BOTH, .name = __VA_ARGS__ \
	}

const struct sheet sheets[] = {
	T("summary", "tl-report", "the screen as a table", .where = SHEET_BOOK),
	TL_DIFF("diff_steps", "step time before and after, and what changed it",
	    .first = first_of_diff_steps),
	TL_DIFF("diff_ops_summary",
	    "GPU time by op and arguments, before and after",
	    .first = first_of_diff),
	TL_DIFF("diff_kernels",
	    "GPU time by kernel, before and after (--by kernel)",
	    .first = first_of_diff),
	TL_COLLECTIVE(
	    "nccl_vs", "collectives of two jobs, before and after (--vs)"),
	T("gpu_timeline_by_rank", "tl-report",
	    "the ranks' timelines side by side", .where = BOTH,
	    .chart = &by_rank),
	TL_COLLECTIVE("nccl_verdict", "what costs the job most, in sentences"),
	TL_COLLECTIVE("nccl_groups",
	    "each process group: waiting, network, verdict",
	    .first = first_of_groups),
	TL_COLLECTIVE(
	    "straggler_cause", "late ranks: how often, by how much, why"),
	T("straggler_parts", "tl-collective",
	    "what made ranks late: parts that add up"),
	TL_COLLECTIVE("straggler_summary",
	    "each rank: waiting, times first and last to arrive",
	    .rule = &straggler),
	T("steady_state", "tl-report",
	    "where the steady state begins (--genesis)", .where = BOTH),
	IN_REPORT("tl-health",
	    OF("health",
		"what is wrong with the trace, and which figures it affects")),
	T("checks", "tl-report",
	    "whether ops have all GPU work whose launch is known (--check)",
	    .where = BOTH),
	T("advice", "tl-advise", "what to do first, and the time it saves",
	    .where = SHEET_BOOK),
	T("advice_metrics", "tl-advise", "the figures that findings rest on"),
	T("advice_categories", "tl-advise", "GPU time by category of op"),
	T("advice_ops", "tl-advise",
	    "ops with their arguments, library and distance to the roof"),
	T("gpu_timeline", "tl-timeline", "where the GPU time went",
	    .where = BOTH, .rule = &timeline),
	T("gpu_timeline_by_agent", "tl-timeline",
	    "the timeline of each GPU (--by dev)", .where = BOTH),
	T("gpu_timeline_by_process", "tl-timeline",
	    "the timeline of each process (--by pid)", .where = BOTH),
	T("gpu_events_averages", "tl-timeline",
	    "the mean of those timelines (--by dev)", .where = BOTH,
	    .rule = &timeline),
	T("gpu_busy_kinds", "tl-timeline",
	    "busy time by the kinds of work that run at once", .where = BOTH,
	    .rule = &busy_kinds),
	T("host_timeline", "tl-timeline",
	    "what each host thread did (--clock cpu)", .where = BOTH),
	T("steps", "tl-steps", "each step: wall time, GPU time, idle time",
	    .where = BOTH, .first = first_of_steps),
	T("steps_vs", "tl-report", "the steps of both sides (--vs)",
	    .where = BOTH),
	T("steps_summary", "tl-steps",
	    "step time: median, spread, the slowest step and why",
	    .where = BOTH, .first = first_of_step_times),
	T("steps_slow", "tl-steps",
	    "slow steps: excess over the median step, by cause", .where = BOTH,
	    .first = first_of_slow),
	T("phase_summary", "tl-steps",
	    "serving by phase: tokens/s, iteration time, bottleneck",
	    .where = BOTH, .first = first_of_phases, .chart = &bars_phases,
	    .rule = &phases),
	T("phase_ranks", "tl-steps",
	    "each iteration across ranks: load, compute, the slowest",
	    .where = BOTH),
	T("idle", "tl-idle", "why the GPU was idle: idle time by cause",
	    .where = BOTH),
	T("idle_vs", "tl-report", "idle time by cause, of both sides (--vs)",
	    .where = BOTH),
	T("idle_window", "tl-idle",
	    "time of the window by class, and how work was launched",
	    .where = BOTH),
	T("idle_gaps", "tl-idle", "each gap: its cause and what ended it",
	    .where = BOTH, .first = first_of_gaps),
	T("idle_by_stream", "tl-idle",
	    "each GPU stream: waiting for the host or for a kernel",
	    .where = BOTH),
	T("critical_path", "tl-critical", "critical path: time by bound",
	    .where = BOTH, .when = SHEET_PATH),
	T("critical_path_vs", "tl-report", "critical path of both sides (--vs)",
	    .where = BOTH),
	T("critical_events", "tl-critical",
	    "the critical path, event by event"),
	T("critical_ranks", "tl-critical",
	    "what slower hosts of ranks lose the job (--job)", .where = BOTH,
	    .when = SHEET_IF_CRITICAL),
	T("slack", "tl-critical", "slack: events off the critical path"),
	T("what_if", "tl-critical", "the path before and after --what-if",
	    .where = BOTH, .when = SHEET_IF_LINKED),
	T("launches_by_api", "tl-launch",
	    "launch calls: API time, queue delay, kernel time, outliers",
	    .where = BOTH, .when = SHEET_LAUNCHES),
	T("launches_by_op", "tl-launch",
	    "ops: time to the launch, and from launch to kernel", .where = BOTH,
	    .when = SHEET_LAUNCHES),
	T("launches", "tl-launch", "each launch, the longest call first"),
	T("queue_length", "tl-launch",
	    "each GPU stream: queue length, time full", .where = BOTH,
	    .when = SHEET_IF_LAUNCH),
	T("queue_length_series", "tl-launch", "queue length over time"),
	T("copies", "tl-launch",
	    "copies and fills by kind and size: bytes, time, bandwidth",
	    .where = BOTH, .when = SHEET_LAUNCHES),
	T("launches_by_range", "tl-launch",
	    "GPU work launched in annotations (NVTX ranges)"),
	T("kernels_by_range", "tl-launch",
	    "kernels launched in annotations, by name"),
	T("copy_bandwidth_series", "tl-launch",
	    "bandwidth of each kind of copy over time"),
	T("launch_cost", "tl-launch",
	    "launches, starved launches, break-even kernel length",
	    .where = BOTH, .when = SHEET_IF_LAUNCH),
	T("launch_layers", "tl-launch",
	    "host time between launches by layer: Python, ops, runtime",
	    .where = BOTH, .when = SHEET_IF_LAUNCH),
	T("graph_estimate", "tl-launch", "what a CUDA or HIP graph would save",
	    .where = BOTH, .when = SHEET_IF_LAUNCH),
	T("api_kernel_summary", "tl-launch",
	    "API calls and their kernels: T = A + Q + K (API, queue, kernel)",
	    .where = BOTH, .when = SHEET_IF_ROCPROF),
	T("hip_summary", "tl-launch",
	    "rocprofv3: API calls, count and time (api_summary)", .where = BOTH,
	    .when = SHEET_IF_ROCPROF),
	T("api_summary", "tl-launch",
	    "runtime and driver API calls: count and time", .where = BOTH,
	    .when = SHEET_LAUNCHES),
	T("memory_copy_by_copy_bytes", "tl-launch",
	    "copies by size and direction: bytes, time, bandwidth",
	    .where = BOTH, .when = SHEET_IF_ROCPROF),
	T("replay", "tl-replay", "ops to replay, and what a script lacks"),
	T("replay_compare", "tl-replay",
	    "ops recorded and replayed, and the cause of the gap (--compare)"),
	T("replay_kernels", "tl-replay", "kernels recorded and replayed"),
	TL_OPS("cpu_ops_by_category", "host time by op category (--clock cpu)",
	    .chart = &bars_host),
	TL_OPS("cpu_ops", "host time by op"),
	TL_OPS("cpu_ops_unique_args", "host time by op, thread and arguments"),
	TL_OPS("cpu_ops_by_module", "host time by nn.Module"),
	TL_OPS("cpu_ops_by_annotation", "host time by annotation"),
	TL_OPS("cpu_ops_by_phase", "host time by serving phase"),
	TL_OPS("cpu_ops_by_step", "host time by step"),
	TL_OPS("cpu_ops_by_thread", "host time by thread"),
	TL_OPS("cpu_ops_by_pid", "host time by process"),
	T("ops_summary_by_category", "tl-ops", "GPU time by op category",
	    .where = BOTH, .chart = &bars_ops, .rule = &category,
	    .small = "ops_by_cat"),
	T("ops_summary", "tl-ops", "GPU time by op", .where = BOTH,
	    .rule = &summary),
	OPS_IN("ops_summary_prefill", "... of prefill iterations"),
	OPS_IN("ops_summary_decode", "... of decode iterations"),
	OPS_IN("ops_summary_mixed", "... of mixed iterations"),
	OPS_IN("ops_summary_generic",
	    "... of iterations without a recorded phase"),
	OPS_IN("ops_summary_outside", "... outside iterations"),
	TL_OPS("ops_unique_args",
	    "GPU time by op, thread and arguments, all statistics",
	    .rule = &args, .small = "oua"),
	TL_OPS("ops_unique_args_kl_overlap",
	    "ops_unique_args split by overlapping GPU work (--overlap)",
	    .rule = &args_overlap, .small = "oua_kl"),
	TL_OPS("ops_by_module", "GPU time by innermost nn.Module"),
	TL_OPS("ops_by_annotation", "GPU time by innermost annotation"),
	TL_OPS("ops_by_phase", "GPU time by serving phase"),
	TL_OPS("ops_by_step", "GPU time by step"),
	TL_OPS("ops_by_thread", "GPU time by launching thread"),
	TL_OPS("ops_by_pid", "GPU time by launching process"),
	TL_OPS(
	    "all_ops", "GPU time below each op, launching or not (--all-ops)"),
	T("roofline_by_phase", "tl-roofline",
	    "serving phases: memory-bound, compute-bound, MFU", .where = BOTH),
	T("roofline_by_step", "tl-roofline",
	    "steps: MFU, HFU, memory-bound, compute-bound", .where = BOTH),
	TL_ROOFLINE("unified_perf_summary",
	    "ops: FLOPs, bytes, % of roof, time lost (default)",
	    .first = first_of_roofline, .chart = &roofline, .rule = &unified,
	    .small = "ups"),
	T("diff_verdict", "tl-diff", "what changed, in sentences"),
	T("diff_ranks", "tl-diff",
	    "compute time of each rank, before and after"),
	TL_DIFF("diff_stats",
	    "each GPU event, and where the trees diverge above it"),
	TL_DIFF("diff_stats_unique_args_summary",
	    "GPU events of diff_stats, grouped"),
	TL_DIFF("lca_summary", "points where the trees diverge"),
	T("uid_map", "tl-diff", "matched event ids"),
	TL_ROOFLINE("fusion_chains", "chains of ops that one kernel could do",
	    .when = SHEET_IF_KERNELS),
	TL_ROOFLINE("unified_perf_summary_kl_overlap", NULL,
	    .rule = &unified_overlap, .small = "ups_kl"),
	FAMILY("GEMM"),
	T("GEMM_vs", "tl-report", "GEMMs of both sides (--vs)", .where = BOTH,
	    .first = first_of_roofline),
	FAMILY("SDPA_fwd"),
	FAMILY("SDPA_bwd"),
	FAMILY("CONV_fwd"),
	FAMILY("CONV_bwd"),
	FAMILY("UnaryElementwise", .compared = "un_eltwise"),
	FAMILY("BinaryElementwise", .compared = "bin_eltwise"),
	{ .name = "",
	    .program = "tl-roofline",
	    .where = BOTH | SHEET_FAMILIES,
	    OF_FAMILY,
	    .top = TOP_ROOFLINE },
	TL_KERNELS("kernel_summary",
	    "kernels by op, name and GPU stream (rocprofv3: by name)",
	    .when = SHEET_IF_EITHER, .rule = &kernels),
	KERNELS_IN("kernel_summary_prefill", "... of prefill iterations"),
	KERNELS_IN("kernel_summary_decode", "... of decode iterations"),
	KERNELS_IN("kernel_summary_mixed", "... of mixed iterations"),
	KERNELS_IN("kernel_summary_generic",
	    "... of iterations without a recorded phase"),
	KERNELS_IN("kernel_summary_outside", "... outside iterations"),
	TL_KERNELS("kernel_summary_by_category",
	    "rocprofv3: kernels by category", .when = SHEET_IF_ROCPROF,
	    .chart = &bars_kernels, .rule = &category,
	    .small = "kernels_by_cat"),
	TL_KERNELS("kernel_details", "rocprofv3: each dispatch, longest first",
	    .when = SHEET_IF_KERNELS, .top = TOP_KERNELS),
	T("short_kernel_histogram", "tl-kernels",
	    "durations of short kernels, in --bins",
	    .where = BOTH | SHEET_EMPTY, .when = SHEET_IF_SHORT),
	T("short_kernels_summary", "tl-kernels", "kernels shorter than --short",
	    .where = BOTH | SHEET_EMPTY, .when = SHEET_IF_SHORT,
	    .top = TOP_KERNELS),
	T("kernels_by_name", "tl-kernels", "kernels by name"),
	TL_KERNELS("kernels_by_pid",
	    "kernels of each process on each GPU, where there are several",
	    .top = TOP_KERNELS),
	TL_KERNELS("kernels_by_annotation", "kernels by innermost annotation"),
	TL_KERNELS("kernels_by_phase", "kernels by serving phase"),
	TL_KERNELS("kernels_by_step", "kernels by step"),
	TL_KERNELS("kernels_by_launch_config",
	    "kernels by name, grid, block, registers and memory",
	    .when = SHEET_IF_ROCPROF, .top = TOP_KERNELS),
	TL_KERNELS("category_summary",
	    "rocprofv3: each GPU's kernels by class, overlapped communication",
	    .when = SHEET_IF_ROCPROF),
	TL_KERNELS("xla_top", "kernels of no other class (category_summary)",
	    .when = SHEET_IF_ROCPROF, .top = TOP_KERNELS),
	XLA("kernel_launchers", "JAX: each kernel, with its instruction",
	    .top = TOP_KERNELS),
	XLA("kernel_launchers_summary", "JAX: kernels by name and category",
	    .rule = &summary),
	XLA("kernel_launchers_summary_by_category", "JAX: kernels by category",
	    .chart = &bars_kernels, .rule = &category,
	    .small = "launchers_by_cat"),
	XLA("kernel_launchers_unique_args",
	    "JAX: kernels by name and arguments of their instruction",
	    .rule = &args, .small = "kla"),
	XLA("df_xla_perf", "JAX: each uncategorized kernel",
	    .top = TOP_KERNELS),
	XLA("xla_summary", "JAX: uncategorized kernels by name",
	    .rule = &summary),
	TL_KERNELS("kernels_by_args",
	    "kernels by op and arguments, with TFLOP/s and tiles"),
	TL_KERNELS("kernel_events", "each kernel, with its queue delay"),
	T("kernel_sequences", "tl-kernels",
	    "recurring kernel sequences (--sequences)"),
	TL_COLLECTIVE("coll_analysis",
	    "collectives of one rank: durations, by equal parameters",
	    .rule = &collective),
	TL_COLLECTIVE("nccl_long", "each collective on each rank"),
	TL_COLLECTIVE("nccl_summary_long",
	    "collectives of each rank: durations, by equal parameters",
	    .rule = &collective, .small = "nccl_long"),
	TL_COLLECTIVE("nccl_implicit_sync",
	    "each collective: latency, waiting, skew, bandwidth"),
	TL_COLLECTIVE("nccl_summary_implicit_sync",
	    "collectives by equal parameters: latency, skew, bandwidth",
	    .rule = &latency, .small = "nccl_sync"),
	TL_COLLECTIVE("nccl_all2allv", "each all_to_allv"),
	TL_COLLECTIVE(
	    "nccl_summary_all2allv", "all_to_allv, by process group and dtype"),
	TL_COLLECTIVE(
	    "nccl_all2allv_heatmap", "all_to_allv: bytes from rank to rank"),
	TL_COLLECTIVE("nccl_bandwidth", "bus bandwidth by message size"),
	TL_COLLECTIVE("nccl_episodes",
	    "episodes in which a group's collectives are slow"),
	TL_COLLECTIVE("hlo_collectives",
	    "XLA: each collective: bytes, waiting, exposed time"),
	TL_COLLECTIVE("hlo_bandwidth",
	    "XLA: collectives by type, bytes counted both ways"),
	TL_COLLECTIVE(
	    "hlo_latency", "XLA: each collective's shortest run on any GPU"),
	TL_COLLECTIVE("hlo_sizes", "XLA: shortest runs by buffer size"),
	TL_COLLECTIVE("hlo_rates", "XLA: shortest runs by bandwidth reached"),
	TL_COLLECTIVE("nccl_clocks", "clock offsets between ranks"),
	TL_COLLECTIVE("nccl_missing",
	    "collectives that a rank lacks or records differently"),
	T("nccl_hang", "tl-collective",
	    "flight recorder dumps: which ranks wait for which"),
	TL_MODULES(
	    "nn_modules_by_type", "nn.Modules by type and place (--fold)"),
	TL_MODULES("nn_modules", "each nn.Module, submodules included"),
	TL_MODULES("nn_module_types", "nn.Modules by type"),
	/* figures for charts */
	T("category_share", "tl-report",
	    "GPU time by category: all ranks, or the steady state",
	    .where = SHEET_BOOK, .chart = &bars_ranks),
	T("window_by_rank", "tl-report", "the ranks' bars of the screen",
	    .where = SHEET_BOOK, .chart = &by_rank),
	T("roofs", "tl-report", "the roofs of the roofline chart",
	    .where = SHEET_BOOK),
	T("links", "tl-link", "launches and the GPU work they caused"),
	T("match_report", "tl-match",
	    "matching blocks of iterations, and what they did"),
	T("match_steps", "tl-match",
	    "iterations of matching blocks, side by side"),
	T("op_models", "tl-roofline", "ops by cost per call (--many)"),
	THEIRS("ops_all", .rule = &args),
};
const size_t sheets_n = sizeof sheets / sizeof *sheets;

const struct sheet *
sheet_find(struct str name)
{
	for (size_t i = 0; i < sheets_n; i++)
		if (name.len > 0 && str_eq(name, str_of(sheets[i].name)))
			return &sheets[i];
	return NULL;
}

const struct sheet *
sheet_of(struct str name)
{
	const struct sheet *s = sheet_find(name);

	for (size_t i = 0; s == NULL && i < sheets_n; i++)
		if ((sheets[i].where & SHEET_FAMILIES) != 0)
			return &sheets[i];
	return s;
}

/* The index of the first pattern in a list that matches the id; n: none. */
static unsigned
place_in(const char *list, const char *id, unsigned n)
{
	struct str glob;

	for (unsigned at = 0; str_next(&list, '|', &glob); at++)
		if (str_glob(glob, str_of(id)))
			return at;
	return n;
}

unsigned
sheet_place(const struct sheet *s, const struct column *col)
{
	const char *own = s != NULL ? s->first : NULL;
	unsigned most = SHEET_GOES / 2, at;

	at = own != NULL ? place_in(own, col->id, most)
			 : place_in(first_of_all, col->id, most);
	if (at < most)
		return at;
	if (own != NULL && (at = place_in(first_of_all, col->id, most)) < most)
		return SHEET_GOES + at;
	return col->flags & COL_MINOR ? SHEET_MINOR : SHEET_GOES + most;
}

void
sheets_list(const char *program)
{
	struct out *out = out_open(NULL);

	for (size_t i = 0; i < sheets_n; i++) {
		const struct sheet *s = &sheets[i];

		if (s->text != NULL && strcmp(s->program, program) == 0)
			out_printf(out, "%s\t%s\n", s->name, s->text);
	}
	out_finish(out);
}
