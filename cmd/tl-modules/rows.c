/* SPDX-License-Identifier: MIT */
/* Tables: a row per call, or with --fold per type and place. */
#include "cmd/tl-modules/modules.h"

/* Columns that an option adds, or that need types with a place. */
enum { ONLY_FLOPS = 1, ONLY_BWD, ONLY_PLACES };

#define NS UNIT_NS
#define PERCENT UNIT_PERCENT
#define US 1e3 /* labels are in us */
#define AT(field) offsetof(struct node, field)

/* clang-format off */
const struct sink_column modules_columns[] = {
	{ { "depth", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_INT, false, AT(level), ONLY_PLACES },
	{ { "module", "Name", COL_TEXT, UNIT_NONE, COL_NAME, 0 }, SINK_TEXT, false, AT(label), 0 },
	{ { "type", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_TEXT, false, AT(type), 0 },
	{ { "instance", NULL, COL_INT, UNIT_NONE, COL_MINOR, 0 }, SINK_INT, false, AT(instance), 0 },
	{ { "uid", "UID", COL_INT, UNIT_NONE, COL_MINOR, 0 }, SINK_UID, false, AT(rec.uid), 0 },
	{ { "parent_uid", "Parent UID", COL_INT, UNIT_NONE, COL_DETAIL, 0 }, SINK_UID, false, AT(parent), 0 },
	{ { "ts_ns", NULL, COL_INT, NS, COL_DETAIL | COL_POSITION, 0 }, SINK_INT, false, AT(ts_ns), 0 },
	{ { "cpu_ns", NULL, COL_INT, NS, COL_DETAIL, 0 }, SINK_INT, false, AT(cpu_ns), 0 },
	{ { "instances", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_INT, false, AT(instances), 0 },
	{ { "count", "Count", COL_INT, UNIT_COUNT, 0, 0 }, SINK_INT, false, AT(calls), 0 },
	{ { "gpu_ns", "GPU Time", COL_INT, NS, 0, US }, SINK_INT, false, AT(sum_ns), 0 },
	{ { "gpu_ns_sum", "GPU Time", COL_INT, NS, 0, US }, SINK_INT, false, AT(sum_ns), 0 },
	{ { "gpu_ns_mean", "GPU Time mean", COL_REAL, NS, 0, US }, SINK_REAL, false, AT(mean_ns), 0 },
	{ { "gpu_ns_min", "GPU Time min", COL_INT, NS, 0, US }, SINK_INT, false, AT(min_ns), 0 },
	{ { "gpu_ns_max", "GPU Time max", COL_INT, NS, 0, US }, SINK_INT, false, AT(max_ns), 0 },
	{ { "self_ns", NULL, COL_INT, NS, COL_MINOR, 0 }, SINK_INT, false, AT(self_ns), 0 },
	{ { "self_ns_sum", NULL, COL_INT, NS, COL_MINOR, 0 }, SINK_INT, false, AT(self_ns), 0 },
	{ { "non_module_ns", "Non-nn.Module GPU Time", COL_INT, NS, COL_MINOR, US }, SINK_INT, false, AT(non_module_ns), 0 },
	{ { "bwd_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(bwd_ns), ONLY_BWD },
	{ { "gflop", "GFLOPS", COL_REAL, UNIT_NONE, 0, 0 }, SINK_REAL, false, AT(gflop), ONLY_FLOPS },
	{ { "tflop_s", "TFLOPS/s", COL_REAL, UNIT_NONE, 0, 0 }, SINK_REAL, false, AT(tflop_s), ONLY_FLOPS },
	{ { "mib", "Data Moved (MB)", COL_REAL, UNIT_NONE, 0, 0 }, SINK_REAL, false, AT(mib), ONLY_FLOPS },
	{ { "tb_s", "TB/s", COL_REAL, UNIT_NONE, 0, 0 }, SINK_REAL, false, AT(tb_s), ONLY_FLOPS },
	{ { "pct_modelled", NULL, COL_REAL, PERCENT, 0, 0 }, SINK_REAL, false, AT(pct_modelled), ONLY_FLOPS },
	{ { "no_model", NULL, COL_JSON, UNIT_NONE, COL_DETAIL, 0 }, SINK_TEXT, false, AT(no_model), ONLY_FLOPS },
	{ { "pct_of_parent", "Pct Parent", COL_REAL, PERCENT, COL_MINOR, 0 }, SINK_REAL, false, AT(pct_parent), ONLY_PLACES },
	{ { "pct_of_root", NULL, COL_REAL, PERCENT, COL_MINOR, 0 }, SINK_REAL, false, AT(pct_root), ONLY_PLACES },
	{ { "pct_of_busy", NULL, COL_REAL, PERCENT, 0, 0 }, SINK_REAL, false, AT(pct_busy), 0 },
	{ { "kernels", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_INT, false, AT(kernels), 0 },
	{ { "path", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_CELL, false, 0, ONLY_PLACES },
	SINK_COLUMNS_END,
};
/* clang-format on */

static const char of_calls[] =
    "depth,module,type,instance,uid,parent_uid,ts_ns,cpu_ns,gpu_ns,self_ns,"
    "non_module_ns,bwd_ns,gflop,tflop_s,mib,tb_s,pct_modelled,no_model,"
    "pct_of_parent,pct_of_root,pct_of_busy,kernels,path";
static const char of_types[] =
    "depth,type,instances,count,gpu_ns_sum,gpu_ns_mean,gpu_ns_min,"
    "gpu_ns_max,self_ns_sum,non_module_ns,bwd_ns,gflop,tflop_s,mib,tb_s,"
    "pct_modelled,no_model,pct_of_parent,pct_of_root,pct_of_busy,kernels,"
    "path";

enum { OF_CALLS, OF_PLACES, OF_TYPES };

#define TABLE(id, list, what)                                       \
	{                                                           \
		.name = id, .columns = list, .order = SINK_BY_TIME, \
		.is_single = true, .about = what                    \
	}

struct sink_table modules_tables[] = {
	TABLE("nn_modules", of_calls, OF_CALLS),
	TABLE("nn_modules_by_type", of_types, OF_PLACES),
	TABLE("nn_module_types", of_types, OF_TYPES),
};
const size_t modules_ntables = sizeof modules_tables / sizeof *modules_tables;

/* Exactly one table is printed. */
bool
modules_asked(const struct sink *s, const struct sink_table *t)
{
	const struct modules *m = (const struct modules *)s;

	return t->about ==
	    (m->by_type       ? OF_TYPES
		    : m->fold ? OF_PLACES
			      : OF_CALLS);
}

bool
modules_wants(const struct sink *s, const struct sink_table *t, unsigned only)
{
	const struct modules *m = (const struct modules *)s;

	switch (only) {
	case ONLY_FLOPS: return m->with_flops;
	case ONLY_BWD: return m->with_bwd;
	default: return t->about != OF_TYPES;
	}
}

/* The path: names from the root down. */
struct cell
modules_cell(const struct sink_row *r, unsigned number)
{
	const struct modules *m = (const struct modules *)r->sink;
	const struct node *node = r->first;
	VEC(uint32_t) above = { 0 };

	(void)number;
	for (;; node = node_at(m, node->up - 1)) {
		vec_push(&above, node->label);
		if (node->up == 0)
			break;
	}
	r->text->len = 0;
	for (size_t i = above.n; i-- > 0;) {
		struct str name = dict_get(r->sink->dict, above.v[i]);

		buf_put(r->text, name.p, name.len);
		if (i > 0)
			buf_putc(r->text, '/');
	}
	vec_free(&above);
	return sink_row_text(r);
}
