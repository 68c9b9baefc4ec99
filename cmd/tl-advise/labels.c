/* SPDX-License-Identifier: MIT */
/* CSV tables of tl-report -d: labels become ids, values ns. */
#include <math.h>

#include "cmd/tl-advise/advise.h"

static const struct {
	const char *label, *id;
	double times;
} labels[] = {
	{ "time ms", "time_ns", 1e6 },
	/* unified_perf_summary */
	{ "op category", "op_category", 1 },
	{ "Input Dims", "input_dims", 1 },
	{ "Input type", "input_types", 1 },
	{ "ex_UID", "first_uid", 1 },
	{ "total_duration_us", "host_ns_sum", 1e3 },
	{ "duration_us_max", "host_ns_max", 1e3 },
	{ "FLOPS/Byte", "flop_per_byte", 1 },
	{ "Roofline Bound", "roofline_bound", 1 },
	{ "Kernel Time (µs)_sum", "kernel_ns_sum", 1e3 },
	{ "Kernel Time (µs)_mean", "kernel_ns_mean", 1e3 },
	{ "Kernel Time (µs)_std", "kernel_ns_std", 1e3 },
	{ "Pct Roofline_mean", "pct_roofline_mean", 1 },
	/* ops_summary_by_category */
	{ "Count", "count", 1 },
	{ "total_direct_kernel_time_ms", "direct_ns_sum", 1e6 },
	/* kernel_summary */
	{ "Kernel name", "name", 1 },
	{ "Kernel duration (µs)_sum", "dur_ns_sum", 1e3 },
	{ "Kernel duration (µs)_count", "count", 1 },
	/* kernel_summary of rocprofv3's traces */
	{ "Total Kernel Time (ms)", "dur_ns_sum", 1e6 },
	/* short kernels */
	{ "bin_end", "bin_end_ns", 1e3 },
	{ "Short Kernel duration (µs) sum", "dur_ns_sum", 1e3 },
	{ "Short Kernel count", "count", 1 },
};

struct relabelled {
	const struct table_sink *to;
	struct str name;
	VEC(struct head_column) columns;
	VEC(double) times;
	VEC(struct val) cells;
};

static void
begin(void *ctx, const struct head *head)
{
	struct relabelled *g = ctx;
	struct head out = *head;

	for (size_t i = 0; i < head->ncolumns; i++) {
		struct head_column c = head->columns[i];
		double times = 1;

		for (size_t k = 0; k < sizeof labels / sizeof *labels; k++)
			if (str_eq(c.label, str_of(labels[k].label))) {
				c.id = str_of(labels[k].id);
				times = labels[k].times;
			}
		/* typed tables have text, too: an instance is "8.10" */
		if (str_ends(c.id, STR("uid")))
			c.type = COL_INT;
		vec_push(&g->columns, c);
		vec_push(&g->times, times);
	}
	out.name = g->name;
	out.columns = g->columns.v;
	g->to->begin(g->to->ctx, &out);
}

/* "8.10", an instance, would be read as another number. */
static bool
is_instance(struct str id, struct val v)
{
	return v.type == VAL_NUMBER && str_ends(id, STR("uid")) &&
	    v.number != floor(v.number);
}

/* Names are hostile: "True" is not a bool there. */
static bool
is_name(struct str id)
{
	return str_eq(id, STR("name")) || str_eq(id, STR("call")) ||
	    str_eq(id, STR("text"));
}

static struct val
value_of(struct str id, struct val v, double times)
{
	if (is_name(id))
		return v;
	if (is_instance(id, v))
		v.type = VAL_NONE;
	else if (v.type == VAL_NUMBER)
		v.number *= times;
	else if (v.type == VAL_TEXT &&
	    (str_eq(v.text, STR("True")) || str_eq(v.text, STR("False"))))
		v = (struct val){ .type = VAL_BOOL,
			.yes = str_eq(v.text, STR("True")) };
	return v;
}

static void
row(void *ctx, const struct val *cells)
{
	struct relabelled *g = ctx;

	g->cells.n = 0;
	for (size_t i = 0; i < g->columns.n; i++)
		vec_push(&g->cells,
		    value_of(g->columns.v[i].id, cells[i], g->times.v[i]));
	g->to->row(g->to->ctx, g->cells.v);
}

static void
end(void *ctx)
{
	struct relabelled *g = ctx;

	g->to->end(g->to->ctx);
}

void
labels_read(const char *path, const struct table_sink *to)
{
	struct relabelled g = { .to = to, .name = table_name_of(path) };
	const struct table_sink sink = { begin, row, end, &g };

	table_read_all(in_open(path), TABLE_UNKNOWN, &sink);
	vec_free(&g.columns);
	vec_free(&g.times);
	vec_free(&g.cells);
}
