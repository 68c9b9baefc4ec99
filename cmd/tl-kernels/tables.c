/* SPDX-License-Identifier: MIT */
/*
 * Tables: which there are, and their columns. A column is an entry of fields[]
 * here and a case of cell_of() in rows.c.
 */
#include "cmd/tl-kernels/plan.h"

#define US 1e3
#define NS UNIT_NS

/* clang-format off */
static const struct column fields[F_FIELDS] = {
	[F_RANK] = { "rank", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_SRC] = { "src", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_UID] = { "id", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_CATEGORY] = { "op_category", "Parent op category", COL_TEXT, UNIT_NONE, COL_MINOR, 0 },
	[F_PARENT] = { "op", "Parent cpu_op", COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	[F_KERNEL] = { "name", "Kernel name", COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	[F_NAME] = { "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	[F_CLASS] = { "category", "Category", COL_TEXT, UNIT_NONE, 0, 0 },
	[F_OP_CLASS] = { "op_category", "op category", COL_TEXT, UNIT_NONE, 0, 0 },
	[F_STREAM] = { "gpu_stream", "Kernel stream", COL_INT, UNIT_NONE, COL_MINOR, 0 },
	[F_DIMS] = { "input_dims", "Input dims", COL_JSON, UNIT_NONE, 0, 0 },
	[F_TYPES] = { "input_types", "Input type", COL_JSON, UNIT_NONE, COL_MINOR, 0 },
	[F_STRIDES] = { "input_strides", "Input strides", COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
	[F_CONCRETE] = { "concrete_inputs", "Concrete Inputs", COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
	[F_MODULE] = { "module", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 },
	[F_MODULE_UID] = { "module_uid", "Parent nn.Module UID", COL_INT, UNIT_NONE, COL_DETAIL, 0 },
	[F_MODULE_KERNELS] = { "module_kernels", "Parent nn.Module kernel count", COL_INT, UNIT_COUNT, COL_DETAIL, 0 },
	[F_MODULE_BUSY] = { "module_busy_ns", "Parent nn.Module GPU busy time (µs)", COL_INT, NS, COL_DETAIL, US },
	[F_PCT_MODULE] = { "pct_of_module", "Percent of Parent nn.Module busy time (%)", COL_REAL, UNIT_PERCENT, COL_DETAIL, 0 },
	[F_GRID] = { "grid", NULL, COL_JSON, UNIT_NONE, COL_MINOR, 0 },
	[F_BLOCK] = { "block", NULL, COL_JSON, UNIT_NONE, COL_MINOR, 0 },
	[F_COUNT] = { "count", "Kernel duration (µs)_count", COL_INT, UNIT_COUNT, 0, 0 },
	[F_SUM] = { "dur_ns_sum", "Kernel duration (µs)_sum", COL_INT, NS, 0, US },
	[F_MEAN] = { "dur_ns_mean", "Kernel duration (µs)_mean", COL_REAL, NS, 0, US },
	[F_MEDIAN] = { "dur_ns_median", "Kernel duration (µs)_median", COL_REAL, NS, COL_DETAIL, US },
	[F_STD] = { "dur_ns_std", "Kernel duration (µs)_std", COL_REAL, NS, COL_DETAIL, US },
	[F_MIN] = { "dur_ns_min", "Kernel duration (µs)_min", COL_INT, NS, COL_DETAIL, US },
	[F_MAX] = { "dur_ns_max", "Kernel duration (µs)_max", COL_INT, NS, COL_DETAIL, US },
	[F_SHARE] = { "pct_of_kernels", "Percent of kernels time (%)", COL_REAL, UNIT_PERCENT, COL_SHARE, 0 },
	[F_SHARE_TOTAL] = { "pct_of_total", "Percent of total time (%)", COL_REAL, UNIT_PERCENT, COL_MINOR, 0 },
	[F_CUMULATIVE] = { "cumulative_pct", "Cumulative Percentage (%)", COL_REAL, UNIT_PERCENT, COL_MINOR, 0 },
	[F_GFLOPS] = { "gflops", "GFLOPS", COL_REAL, UNIT_NONE, 0, 0 },
	[F_TFLOPS] = { "tflops_per_s", "TFLOPS/s", COL_REAL, UNIT_NONE, 0, 0 },
	[F_TILE] = { "tile", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	[F_PCT_TILE] = { "pct_tile", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
	[F_PCT_WAVE] = { "pct_wave", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
	[F_PCT_ROOF] = { "pct_roofline", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
	[F_TS] = { "ts_ns", NULL, COL_INT, NS, COL_MINOR | COL_POSITION, 0 },
	[F_DUR] = { "dur_ns", "Kernel duration (µs)", COL_INT, NS, 0, US },
	[F_DELAY] = { "queue_delay_ns", NULL, COL_INT, NS, COL_MINOR, 0 },
	[F_DEV] = { "dev", NULL, COL_INT, UNIT_NONE, COL_MINOR, 0 },
	[F_CORR] = { "corr", NULL, COL_INT, UNIT_NONE, COL_MINOR, 0 },
	[F_DISPATCH] = { "dispatch_id", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_GRID_X] = { "grid_x", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_GRID_Y] = { "grid_y", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_GRID_Z] = { "grid_z", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_BLOCK_X] = { "block_x", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_BLOCK_Y] = { "block_y", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_BLOCK_Z] = { "block_z", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_AGENT] = { "agent_id", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_TID] = { "thread_id", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_BIN_START] = { "bin_start_ns", "bin_start", COL_REAL, NS, 0, US },
	[F_BIN_END] = { "bin_end_ns", "bin_end", COL_REAL, NS, 0, US },
	[F_BIN_COUNT] = { "count", NULL, COL_INT, UNIT_COUNT, 0, 0 },
};

#define SHORT_US "Short Kernel duration (µs) "
#define END { F_FIELDS, NULL }
static const struct figure name_figures[] = {
	{ F_NAME, NULL }, { F_COUNT, "Count" }, { F_SUM, NULL }, { F_MEAN, NULL },
	{ F_MEDIAN, NULL }, { F_STD, NULL }, { F_MIN, NULL }, { F_MAX, NULL },
	{ F_SHARE, NULL }, { F_CUMULATIVE, NULL }, END };
static const struct figure config_figures[] = {
	{ F_NAME, NULL }, { F_GRID, NULL }, { F_BLOCK, NULL }, { F_COUNT, "Count" },
	{ F_SUM, NULL }, { F_MEAN, NULL }, { F_MEDIAN, NULL }, { F_STD, NULL },
	{ F_MIN, NULL }, { F_MAX, NULL }, { F_SHARE, NULL }, { F_CUMULATIVE, NULL }, END };
static const struct figure op_figures[] = {
	{ F_CATEGORY, NULL }, { F_PARENT, NULL }, { F_KERNEL, NULL }, { F_STREAM, NULL },
	{ F_SUM, NULL }, { F_COUNT, NULL }, { F_MEAN, NULL }, { F_MIN, NULL },
	{ F_MAX, NULL }, { F_SHARE, NULL }, { F_SHARE_TOTAL, NULL }, END };
static const struct figure args_figures[] = {
	{ F_PARENT, NULL }, { F_CATEGORY, NULL }, { F_DIMS, NULL }, { F_TYPES, NULL },
	{ F_STRIDES, NULL }, { F_CONCRETE, NULL }, { F_KERNEL, NULL }, { F_TILE, NULL },
	{ F_PCT_TILE, NULL }, { F_PCT_WAVE, NULL },
	{ F_COUNT, NULL }, { F_SUM, NULL }, { F_MEAN, NULL }, { F_MEDIAN, NULL },
	{ F_STD, NULL }, { F_MIN, NULL }, { F_MAX, NULL }, { F_GFLOPS, NULL },
	{ F_TFLOPS, NULL }, { F_PCT_ROOF, NULL }, { F_SHARE, NULL }, { F_CUMULATIVE, NULL }, END };
static const struct figure event_figures[] = {
	{ F_UID, NULL }, { F_NAME, NULL }, { F_PARENT, NULL }, { F_CATEGORY, NULL },
	{ F_DIMS, NULL }, { F_MODULE, "Parent nn.Module" },
	{ F_MODULE_UID, NULL }, { F_MODULE_KERNELS, NULL }, { F_MODULE_BUSY, NULL },
	{ F_PCT_MODULE, NULL }, { F_TS, NULL }, { F_DUR, NULL },
	{ F_DELAY, NULL }, { F_GRID, NULL }, { F_BLOCK, NULL }, { F_DEV, NULL },
	{ F_STREAM, NULL }, { F_CORR, NULL }, END };
static const struct figure short_figures[] = {
	{ F_PARENT, NULL }, { F_DIMS, NULL }, { F_STRIDES, NULL }, { F_CONCRETE, NULL },
	{ F_KERNEL, NULL }, { F_SUM, SHORT_US "sum" }, { F_COUNT, "Short Kernel count" },
	{ F_MEAN, SHORT_US "mean" }, { F_SHARE_TOTAL, SHORT_US "percent of total time" }, END };
static const struct figure bin_figures[] = {
	{ F_BIN_START, NULL }, { F_BIN_END, NULL }, { F_BIN_COUNT, NULL }, END };
static const struct figure rocprof_names[] = {
	{ F_NAME, NULL }, { F_COUNT, "Count" }, { F_MEAN, "Mean Kernel Time (µs)" },
	{ F_MEDIAN, "Median Kernel Time (µs)" }, { F_STD, "Std Kernel Time (µs)" },
	{ F_MIN, "Min Kernel Time (µs)" }, { F_MAX, "Max Kernel Time (µs)" },
	{ F_SHARE, "Percentage (%)" }, { F_CUMULATIVE, NULL },
	{ F_SUM, "Total Kernel Time (ms)" }, { F_CLASS, NULL }, END };
static const struct figure rocprof_classes[] = {
	{ F_OP_CLASS, NULL }, { F_COUNT, "Count" },
	{ F_SUM, "total_direct_kernel_time_ms" }, { F_SHARE, "Percentage (%)" },
	{ F_CUMULATIVE, NULL }, END };
static const struct figure rocprof_events[] = {
	{ F_NAME, NULL }, { F_DUR, NULL }, { F_STREAM, "stream" }, { F_DISPATCH, NULL },
	{ F_GRID_X, NULL }, { F_GRID_Y, NULL }, { F_GRID_Z, NULL }, { F_BLOCK_X, NULL },
	{ F_BLOCK_Y, NULL }, { F_BLOCK_Z, NULL }, { F_AGENT, NULL }, { F_TID, NULL }, END };
static const struct figure rocprof_short[] = {
	{ F_NAME, NULL }, { F_COUNT, "Short Kernel count" }, { F_SUM, SHORT_US "sum" },
	{ F_MEAN, SHORT_US "mean" }, { F_SHARE, SHORT_US "percent of total time" }, END };
/* clang-format on */

static const struct kind_of_table tables[] = {
	{ "kernels_by_name", BY_NAME, OF_ALL, FOR_ANY, name_figures, false,
	    false },
	{ "kernels_by_launch_config", BY_CONFIG, OF_ALL, FOR_ANY,
	    config_figures, false, false },
	{ "kernel_summary", BY_OP, OF_ALL, FOR_OPS, op_figures, true, true },
	{ "kernels_by_args", BY_ARGS, OF_ALL, FOR_ANY, args_figures, false,
	    false },
	{ "kernel_events", BY_EVENT, OF_ALL, FOR_ANY, event_figures, false,
	    false },
	{ "short_kernels_summary", BY_SHORT, OF_SHORT, FOR_OPS, short_figures,
	    true, false },
	{ "short_kernel_histogram", BY_SHORT, OF_HISTOGRAM, FOR_ANY,
	    bin_figures, true, false },
	{ "kernel_summary", BY_NAME, OF_ALL, FOR_ROCPROF, rocprof_names, true,
	    true },
	{ "kernel_summary_by_category", BY_CLASS, OF_ALL, FOR_ROCPROF,
	    rocprof_classes, true, true },
	{ "kernel_details", BY_EVENT, OF_ALL, FOR_ROCPROF, rocprof_events, true,
	    false },
	{ "short_kernels_summary", BY_NAME, OF_SHORT, FOR_ROCPROF,
	    rocprof_short, true, false },
};
#define NTABLES (sizeof tables / sizeof *tables)

static const char *const by_tables[] = {
	[BY_NAME] = "kernels_by_name",
	[BY_CONFIG] = "kernels_by_launch_config",
	[BY_OP] = "kernel_summary",
	[BY_ARGS] = "kernels_by_args",
	[BY_EVENT] = "kernel_events",
};

static void
add_field(struct plan *p, enum field f, const char *label)
{
	struct column *c = &p->columns[p->n];

	*c = fields[f];
	if (label != NULL)
		c->label = label;
	/* where the label says ms, it is ms */
	if (label != NULL && strstr(label, "ms") != NULL && c->unit == NS)
		c->label_div = 1e6;
	p->fields[p->n++] = f;
}

static void
make_plan(struct plan *p, const struct kind_of_table *kind, enum sink_lead lead,
    bool text_stream)
{
	*p = (struct plan){ .kind = kind };
	if (lead == SINK_LEAD_RANK)
		add_field(p, F_RANK, NULL);
	if (lead == SINK_LEAD_SRC)
		add_field(p, F_SRC, NULL);
	for (const struct figure *f = kind->figures; f->field != F_FIELDS;
	     f++) {
		add_field(p, f->field, f->label);
		if (f->field == F_STREAM && text_stream)
			p->columns[p->n - 1].type = COL_TEXT;
	}
}

/* Whether it is asked for, for sources of whatever kind. */
static bool
is_asked(const struct settings *set, const struct kind_of_table *t)
{
	if (set->table != NULL)
		return strcmp(set->table, t->name) == 0;
	if (set->dest.dir != NULL && t->in_dir)
		return true;
	return strcmp(by_tables[set->by], t->name) == 0 &&
	    (set->dest.dir == NULL || set->by != BY_NAME);
}

/* What the tables asked for need to be read. */
void
tables_choose(struct settings *set)
{
	bool any = false;

	for (size_t i = 0; i < NTABLES; i++) {
		const struct kind_of_table *t = &tables[i];

		if (!is_asked(set, t))
			continue;
		any = true;
		for (const struct figure *f = t->figures; f->field != F_FIELDS;
		     f++) {
			set->with_args = set->with_args || f->field == F_DIMS;
			set->with_config =
			    set->with_config || f->field == F_GRID;
			set->with_module =
			    set->with_module || f->field == F_MODULE;
		}
	}
	if (!any)
		die_usage("there is no table '%s': --list-tables says which "
			  "there are",
		    set->table);
}

void
tables_check(struct settings *set)
{
	struct plan p = { 0 };
	const char *name = NULL;

	/* two of one name have columns of either: it is not known which */
	for (size_t i = 0; i < NTABLES; i++) {
		const struct kind_of_table *t = &tables[i];

		if (!is_asked(set, t) || set->dest.dir != NULL)
			continue;
		if (name == NULL) {
			make_plan(&p, t, SINK_LEAD_RANK, false);
			add_field(&p, F_SRC, NULL);
			name = t->name;
			continue;
		}
		for (const struct figure *f = t->figures; f->field != F_FIELDS;
		     f++) {
			bool is_new = p.n <= F_FIELDS;

			for (size_t c = 0; c < p.n; c++)
				is_new = is_new && p.fields[c] != f->field;
			if (is_new)
				add_field(&p, f->field, f->label);
		}
	}
	if (name != NULL)
		table_dest_check(&set->dest, name, p.columns, p.n);
}

/* Of two tables of one name, which one is it? */
static bool
fits(const struct kind_of_table *t, const struct kernels *k)
{
	return t->source == FOR_ANY ||
	    (t->source == FOR_ROCPROF) == k->all_rocprof;
}

void
tables_print(struct settings *set, struct kernels *k)
{
	enum sink_lead lead = sink_sources_lead(&k->recordings);
	struct plan p;
	bool any = false;

	for (size_t i = 0; i < NTABLES; i++) {
		if (!is_asked(set, &tables[i]) || !fits(&tables[i], k))
			continue;
		any = true;
		make_plan(&p, &tables[i], lead, k->any_text_stream);
		column_of_uids(p.columns, p.n, "module_uid", k->any_inst);
		if (tables[i].about == OF_HISTOGRAM)
			histogram_print(&set->dest, k, &p);
		else
			rows_print(&set->dest, k, &p);
	}
	if (!any)
		die("%s: the table %s is one of rocprofv3's sources",
		    k->recordings.path, set->table);
	table_dest_finish(&set->dest);
}
