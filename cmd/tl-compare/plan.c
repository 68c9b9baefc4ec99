/* SPDX-License-Identifier: MIT */
/* Which sheets are compared, and how: the tables of the spec, and the rest. */
#include <stdlib.h>

#include "cmd/tl-compare/compare.h"

#define US "\302\265s" /* of microseconds, as the reference writes it */
#define TIME "Kernel Time (" US ")"
#define A_US 1e3
#define A_MS 1e6
#define DURATION "Kernel duration (" US ")"

static const char *const none[] = { NULL };
static const char *const name_key[] = { "name", NULL };
static const char *const type_key[] = { "type", NULL };
static const char *const timeline_measures[] = { "time ms", NULL };
static const char *const summary_drop[] = { "total_direct_kernel_time_sum",
	NULL };
static const char *const category_key[] = { "op category", NULL };
static const char *const op_keys[] = { "name", "Input type", "Input Dims",
	"Input Strides", "Concrete Inputs", NULL };
static const char *const overlap_keys[] = { "name", "Input type", "Input Dims",
	"Input Strides", "Concrete Inputs", "overlapping_kernel_names", NULL };
static const char *const unified_measures[] = { TIME "_sum", TIME "_mean",
	"operation_count", NULL };
static const char *const op_measures[] = { "total_direct_kernel_time_sum",
	"total_direct_kernel_time_mean", "operation_count", NULL };
static const char *const roof_measures[] = { TIME "_sum", TIME "_mean",
	"name_count", "TFLOPS/s_mean", "TB/s_mean", NULL };
static const char *const roof_drop[] = { "GFLOPS_first",
	"Data Moved (MB)_first", "FLOPS/Byte_first", "Input type_first",
	"Input Dims_first", "Input Strides_first", "Concrete Inputs_first",
	NULL };
static const char *const cumulative[] = { "Cumulative Percentage (%)", NULL };
static const char *const collective_keys[] = { "Collective name", "rank",
	"Process Group Name", "Process Group Ranks", "Group size", "dtype",
	"In msg nelems", "Out msg nelems", "In split size", "Out split size",
	NULL };
static const char *const duration_measures[] = { "dur_sum", "dur_mean",
	"operation_count", NULL };
static const char *const sync_keys[] = { "Collective name",
	"Process Group Name", "Group size", "dtype", "In msg nelems", NULL };
static const char *const sync_measures[] = { "Total comm latency (ms)",
	"comm_latency_mean", "skew in start time_mean", "bus bw (GB/s)_mean",
	"count", NULL };
static const char *const rank_key[] = { "rank", NULL };
static const char *const straggler_measures[] = { "total_wait_time_us",
	"total_nccl_dur_us", "num_collectives", NULL };
static const char *const category_measures[] = { "total_direct_kernel_time_ms",
	"Count", NULL };

#define OPS(name, short, ...)                                       \
	{                                                           \
		.group = "ops_all", .sheet = name, .base = name,    \
		.small = short, .drop = none, .drop_variant = none, \
		.is_split = true, __VA_ARGS__                       \
	}
#define ROOF(name, out)                                                        \
	{                                                                      \
		.group = "roofline", .sheet = name, .base = out, .small = out, \
		.keys = name_key, .measures = roof_measures,                   \
		.measure_ns = A_US, .drop = none, .drop_variant = roof_drop,   \
		.is_split = true, .has_params = true                           \
	}
#define CATEGORY(name, short)                                      \
	{                                                          \
		.group = "category", .sheet = name, .base = name,  \
		.small = short, .keys = category_key,              \
		.measures = category_measures, .measure_ns = A_MS, \
		.drop = none, .drop_variant = cumulative           \
	}

#define TIMELINE(name)                                                       \
	{                                                                    \
		.group = "gpu_timeline", .sheet = name, .base = name,        \
		.small = name, .keys = type_key,                             \
		.measures = timeline_measures, .measure_ns = A_MS,           \
		.drop = none, .drop_variant = none, .keeps_keys_order = true \
	}
#define SUMMARY(name)                                                \
	{                                                            \
		.group = "ops_summary", .sheet = name, .base = name, \
		.small = name, .keys = name_key,                     \
		.measures = category_measures, .measure_ns = A_MS,   \
		.drop = summary_drop, .drop_variant = cumulative     \
	}

#define COLLECTIVE(name, short, ...)                                \
	{                                                           \
		.group = "collective", .sheet = name, .base = name, \
		.small = short, .drop = none, .drop_variant = none, \
		__VA_ARGS__                                         \
	}

/* In the order of the tables. */
static const struct plan known[] = {
	TIMELINE("gpu_timeline"),
	SUMMARY("ops_summary"),
	{ .group = "kernel_summary",
	    .sheet = "kernel_summary",
	    .base = "kernel_summary",
	    .small = "kernel_summary",
	    .keys = (const char *const[]){ "Kernel name", NULL },
	    .measures = (const char *const[]){ DURATION "_sum",
		DURATION "_mean", DURATION "_count", NULL },
	    .measure_ns = A_US,
	    .drop = (const char *const[]){ DURATION "_min", DURATION "_max",
		"Parent op category", NULL },
	    .drop_variant = cumulative },
	OPS("ops_all", "ops_all", .keys = op_keys, .measures = op_measures,
	    .measure_ns = A_US),
	OPS("ops_unique_args", "oua", .keys = op_keys, .measures = op_measures,
	    .measure_ns = A_US),
	OPS("unified_perf_summary", "ups", .keys = op_keys,
	    .measures = unified_measures, .measure_ns = A_US),
	ROOF("GEMM", "GEMM"),
	ROOF("SDPA_fwd", "SDPA_fwd"),
	ROOF("SDPA_bwd", "SDPA_bwd"),
	ROOF("CONV_fwd", "CONV_fwd"),
	ROOF("CONV_bwd", "CONV_bwd"),
	ROOF("UnaryElementwise", "un_eltwise"),
	ROOF("BinaryElementwise", "bin_eltwise"),
	/* of reports of JAX */
	TIMELINE("gpu_events_averages"),
	SUMMARY("kernel_launchers_summary"),
	SUMMARY("xla_summary"),
	OPS("kernel_launchers_unique_args", "kla", .keys = op_keys,
	    .measures = op_measures, .measure_ns = A_US),
	/* with --overlap */
	OPS("ops_unique_args_kl_overlap", "oua_kl", .keys = overlap_keys,
	    .measures = op_measures, .measure_ns = A_US),
	OPS("unified_perf_summary_kl_overlap", "ups_kl", .keys = overlap_keys,
	    .measures = unified_measures, .measure_ns = A_US),
	CATEGORY("ops_summary_by_category", "ops_by_cat"),
	CATEGORY("kernel_summary_by_category", "kernels_by_cat"),
	CATEGORY("kernel_launchers_summary_by_category", "launchers_by_cat"),
	COLLECTIVE("coll_analysis", "coll_analysis", .keys = collective_keys,
	    .measures = duration_measures, .measure_ns = A_US,
	    .is_split = true),
	COLLECTIVE("nccl_summary_long", "nccl_long", .keys = collective_keys,
	    .measures = duration_measures, .measure_ns = A_US,
	    .is_split = true),
	COLLECTIVE("nccl_summary_implicit_sync", "nccl_sync", .keys = sync_keys,
	    .measures = sync_measures, .measure_ns = A_MS, .is_split = true),
	COLLECTIVE("straggler_summary", "straggler_summary", .keys = rank_key,
	    .measures = straggler_measures, .measure_ns = A_US),
};

/* As rocprof reports and older ones have it. */
static const struct plan legacy_kernels = {
	.group = "kernel_summary",
	.sheet = "kernel_summary",
	.base = "kernel_summary",
	.small = "kernel_summary",
	.keys = name_key,
	.measures = (const char *const[]){ "Total Kernel Time (ms)",
	    "Mean Kernel Time (" US ")", "Count", NULL },
	.measure_ns = A_MS,
	.drop = (const char *const[]){ "Total Kernel Time (" US ")",
	    "Median Kernel Time (" US ")", "Std Kernel Time (" US ")",
	    "Min Kernel Time (" US ")", "Max Kernel Time (" US ")", "Category",
	    NULL },
	.drop_variant = cumulative,
};

static const char *const groups[] = { "gpu_timeline", "ops_summary",
	"kernel_summary", "ops_all", "roofline", "roofline_all", "category",
	"collective", "all" };

/* The words of --sheets, for a message. */
static void
plans_words(struct buf *out)
{
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
		buf_printf(out, "%s%s", i > 0 ? ", " : "", groups[i]);
}

/* ---- what the reports have ---- */

static bool
any_has(const struct reports *reports, struct str sheet)
{
	for (size_t i = 0; i < reports->list.n; i++)
		if (report_has(&reports->list.v[i], sheet))
			return true;
	return false;
}

/* The sheet in the first report that has columns of it. */
static const struct data *
sample(const struct reports *reports, struct str sheet)
{
	const struct data *d = NULL;

	for (size_t i = 0; i < reports->list.n; i++) {
		d = report_read(&reports->list.v[i], sheet);
		if (d->columns.n > 0)
			break;
	}
	return d;
}

static bool
has_params(const struct reports *reports, struct str sheet)
{
	const struct data *d = sample(reports, sheet);
	bool found = false;

	for (size_t i = 0; i < d->columns.n; i++)
		found |= str_starts(d->columns.v[i], STR("param: "));
	return found && data_column(d, STR("name")) != NO_COLUMN;
}

static bool
is_legacy(const struct reports *reports)
{
	const struct data *d = sample(reports, STR("kernel_summary"));

	return d->columns.n > 0 &&
	    data_column(d, STR("Kernel name")) == NO_COLUMN;
}

static const struct plan *
known_plan(struct str sheet)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (str_eq(sheet, str_of(known[i].sheet)))
			return &known[i];
	return NULL;
}

struct str
plans_whole_name(struct str cut)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct str whole = str_of(known[i].sheet);

		if (whole.len > cut.len && str_starts(whole, cut))
			return whole;
	}
	return STR("");
}

static int
by_text(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/*
 * Other sheets of all reports, each once, by name: a folder has no order of its
 * own.
 */
static void
other_sheets(struct plans *p, const struct reports *reports)
{
	struct intern *seen = intern_create();

	for (size_t i = 0; i < reports->list.n; i++) {
		const struct report *r = &reports->list.v[i];

		for (size_t k = 0; k < r->sheets.n; k++) {
			size_t before = seen->list.n;

			(void)intern_put(seen, r->sheets.v[k]);
			if (seen->list.n > before &&
			    known_plan(r->sheets.v[k]) == NULL)
				vec_push(&p->left_out,
				    arena_str(p->arena, r->sheets.v[k]));
		}
	}
	intern_destroy(seen);
	if (p->left_out.n > 0)
		qsort(p->left_out.v, p->left_out.n, sizeof *p->left_out.v,
		    by_text);
}

static void
plan_known(struct plans *p, const struct reports *reports)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		const struct plan *plan = &known[i];

		if (!any_has(reports, str_of(plan->sheet)))
			continue;
		if (strcmp(plan->sheet, "kernel_summary") == 0 &&
		    is_legacy(reports))
			plan = &legacy_kernels;
		vec_push(&p->list, *plan);
	}
}

/* Every other sheet with parameters of ops. */
static void
plan_params(struct plans *p, const struct reports *reports)
{
	static const struct plan like = ROOF(NULL, NULL);
	size_t nleft = 0;

	for (size_t i = 0; i < p->left_out.n; i++) {
		struct str sheet = p->left_out.v[i];
		struct plan plan = like;

		if (!has_params(reports, sheet)) {
			p->left_out.v[nleft++] = sheet;
			continue;
		}
		plan.group = "roofline_all";
		plan.sheet = plan.base = plan.small = sheet.p;
		vec_push(&p->list, plan);
	}
	p->left_out.n = nleft;
}

/* ---- --sheets ---- */

static bool
fits(const struct plan *plan, struct str word)
{
	return str_eq(word, STR("all")) || str_eq(word, str_of(plan->group)) ||
	    (str_eq(word, STR("roofline_all")) &&
		strcmp(plan->group, "roofline") == 0) ||
	    str_eq(word, str_of(plan->sheet)) ||
	    str_eq(word, str_of(plan->base));
}

static bool
is_group(struct str word)
{
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
		if (str_eq(word, str_of(groups[i])))
			return true;
	return false;
}

static void
refuse_word(const struct plans *p, struct str word)
{
	struct buf words = { 0 };

	for (size_t i = 0; i < p->left_out.n; i++)
		if (str_eq(word, p->left_out.v[i]))
			die("sheet %.*s: there is no rule how to compare it",
			    (int)word.len, word.p);
	if (is_group(word))
		die("no report has a sheet of %.*s", (int)word.len, word.p);
	plans_words(&words);
	die_usage("option '--sheets': no report has a sheet '%.*s', nor is it "
		  "one of %.*s",
	    (int)word.len, word.p, (int)words.len, words.p);
}

static void
choose(struct plans *p, const char *sheets)
{
	bool *wanted = xcalloc(p->list.n + 1, sizeof *wanted);
	size_t n = 0;

	for (const char *s = sheets, *end; s != NULL;
	     s = *end != '\0' ? end + 1 : NULL) {
		bool found = false;

		end = strchrnul(s, ',');
		struct str word = { s, (size_t)(end - s) };

		for (size_t i = 0; i < p->list.n; i++) {
			bool fit = fits(&p->list.v[i], word);

			found |= fit;
			wanted[i] |= fit;
		}
		if (!found)
			refuse_word(p, word);
	}
	for (size_t i = 0; i < p->list.n; i++)
		if (wanted[i])
			p->list.v[n++] = p->list.v[i];
	p->list.n = n;
	p->left_out.n = 0; /* nobody asked */
	free(wanted);
}

void
plans_make(struct plans *p, const struct reports *reports, const char *sheets)
{
	*p = (struct plans){ .arena = arena_create() };
	other_sheets(p, reports);
	plan_known(p, reports);
	plan_params(p, reports);
	if (sheets != NULL)
		choose(p, sheets);
	if (p->list.n == 0)
		die("nothing to compare: no report has a sheet that is known");
}

void
plans_free(struct plans *p)
{
	vec_free(&p->list);
	vec_free(&p->left_out);
	arena_destroy(p->arena);
}
