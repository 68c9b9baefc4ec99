/* SPDX-License-Identifier: MIT */
/* Tables: a row a call, or with --fold a row a type in its place. */
#include "cmd/tl-modules/modules.h"

enum field {
	F_DEPTH,
	F_MODULE,
	F_TYPE,
	F_INSTANCE,
	F_UID,
	F_PARENT,
	F_TS,
	F_CPU,
	F_INSTANCES,
	F_CALLS,
	F_GPU,
	F_GPU_SUM,
	F_MEAN,
	F_MIN,
	F_MAX,
	F_SELF,
	F_SELF_SUM,
	F_NON_MODULE,
	F_BWD,
	F_GFLOP,
	F_TFLOPS,
	F_MIB,
	F_TBS,
	F_PCT_MODEL,
	F_NO_MODEL,
	F_PCT_PARENT,
	F_PCT_ROOT,
	F_PCT_BUSY,
	F_KERNELS,
	F_PATH,
};

#define NS UNIT_NS
#define PERCENT UNIT_PERCENT
#define US 1e3 /* labels are in us */
#define AT(field) offsetof(struct node, field)

/* clang-format off */
const struct sink_column modules_columns[] = {
	[F_DEPTH] = { { "depth", NULL, COL_INT, UNIT_NONE, 0, 0 }, SINK_INT, false, AT(level) },
	[F_MODULE] = { { "module", "Name", COL_TEXT, UNIT_NONE, COL_NAME, 0 }, SINK_TEXT, false, AT(label) },
	[F_TYPE] = { { "type", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_TEXT, false, AT(type) },
	[F_INSTANCE] = { { "instance", NULL, COL_INT, UNIT_NONE, COL_MINOR, 0 }, SINK_INT, false, AT(instance) },
	[F_UID] = { { "uid", "UID", COL_INT, UNIT_NONE, COL_MINOR, 0 }, SINK_UID, false, AT(rec.uid) },
	[F_PARENT] = { { "parent_uid", "Parent UID", COL_INT, UNIT_NONE, COL_DETAIL, 0 }, SINK_UID, false, AT(parent) },
	[F_TS] = { { "ts_ns", NULL, COL_INT, NS, COL_DETAIL | COL_POSITION, 0 }, SINK_INT, false, AT(ts_ns) },
	[F_CPU] = { { "cpu_ns", NULL, COL_INT, NS, COL_DETAIL, 0 }, SINK_INT, false, AT(cpu_ns) },
	[F_INSTANCES] = { { "instances", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_INT, false, AT(instances) },
	[F_CALLS] = { { "count", "Count", COL_INT, UNIT_COUNT, 0, 0 }, SINK_INT, false, AT(calls) },
	[F_GPU] = { { "gpu_ns", "GPU Time", COL_INT, NS, 0, US }, SINK_INT, false, AT(sum_ns) },
	[F_GPU_SUM] = { { "gpu_ns_sum", "GPU Time", COL_INT, NS, 0, US }, SINK_INT, false, AT(sum_ns) },
	[F_MEAN] = { { "gpu_ns_mean", "GPU Time mean", COL_REAL, NS, 0, US }, SINK_REAL, false, AT(mean_ns) },
	[F_MIN] = { { "gpu_ns_min", "GPU Time min", COL_INT, NS, 0, US }, SINK_INT, false, AT(min_ns) },
	[F_MAX] = { { "gpu_ns_max", "GPU Time max", COL_INT, NS, 0, US }, SINK_INT, false, AT(max_ns) },
	[F_SELF] = { { "self_ns", NULL, COL_INT, NS, COL_MINOR, 0 }, SINK_INT, false, AT(self_ns) },
	[F_SELF_SUM] = { { "self_ns_sum", NULL, COL_INT, NS, COL_MINOR, 0 }, SINK_INT, false, AT(self_ns) },
	[F_NON_MODULE] = { { "non_module_ns", "Non-nn.Module GPU Time", COL_INT, NS, COL_MINOR, US }, SINK_INT, false, AT(non_module_ns) },
	[F_BWD] = { { "bwd_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(bwd_ns) },
	[F_GFLOP] = { { "gflop", "GFLOPS", COL_REAL, UNIT_NONE, 0, 0 }, SINK_REAL, false, AT(gflop) },
	[F_TFLOPS] = { { "tflop_s", "TFLOPS/s", COL_REAL, UNIT_NONE, 0, 0 }, SINK_REAL, false, AT(tflop_s) },
	[F_MIB] = { { "mib", "Data Moved (MB)", COL_REAL, UNIT_NONE, 0, 0 }, SINK_REAL, false, AT(mib) },
	[F_TBS] = { { "tb_s", "TB/s", COL_REAL, UNIT_NONE, 0, 0 }, SINK_REAL, false, AT(tb_s) },
	[F_PCT_MODEL] = { { "pct_modelled", NULL, COL_REAL, PERCENT, 0, 0 }, SINK_REAL, false, AT(pct_modelled) },
	[F_NO_MODEL] = { { "no_model", NULL, COL_JSON, UNIT_NONE, COL_DETAIL, 0 }, SINK_TEXT, false, AT(no_model) },
	[F_PCT_PARENT] = { { "pct_of_parent", "Pct Parent", COL_REAL, PERCENT, COL_MINOR, 0 }, SINK_REAL, false, AT(pct_parent) },
	[F_PCT_ROOT] = { { "pct_of_root", NULL, COL_REAL, PERCENT, COL_MINOR, 0 }, SINK_REAL, false, AT(pct_root) },
	[F_PCT_BUSY] = { { "pct_of_busy", NULL, COL_REAL, PERCENT, 0, 0 }, SINK_REAL, false, AT(pct_busy) },
	[F_KERNELS] = { { "kernels", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_INT, false, AT(kernels) },
	[F_PATH] = { { "path", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_CELL, false, 0 },
};
/* clang-format on */

static const uint8_t of_calls[] = { F_DEPTH, F_MODULE, F_TYPE, F_INSTANCE,
	F_UID, F_PARENT, F_TS, F_CPU, F_GPU, F_SELF, F_NON_MODULE, F_BWD,
	F_GFLOP, F_TFLOPS, F_MIB, F_TBS, F_PCT_MODEL, F_NO_MODEL, F_PCT_PARENT,
	F_PCT_ROOT, F_PCT_BUSY, F_KERNELS, F_PATH, SINK_END };
static const uint8_t of_types[] = { F_DEPTH, F_TYPE, F_INSTANCES, F_CALLS,
	F_GPU_SUM, F_MEAN, F_MIN, F_MAX, F_SELF_SUM, F_NON_MODULE, F_BWD,
	F_GFLOP, F_TFLOPS, F_MIB, F_TBS, F_PCT_MODEL, F_NO_MODEL, F_PCT_PARENT,
	F_PCT_ROOT, F_PCT_BUSY, F_KERNELS, F_PATH, SINK_END };

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

/* The one table there is. */
bool
modules_asked(const struct sink *s, const struct sink_table *t)
{
	const struct modules *m = (const struct modules *)s;

	return t->about ==
	    (m->by_type       ? OF_TYPES
		    : m->fold ? OF_PLACES
			      : OF_CALLS);
}

/* Whether it was asked for, and means something where types have no place. */
bool
modules_wants(const struct sink *s, const struct sink_table *t, unsigned column)
{
	const struct modules *m = (const struct modules *)s;

	if (column >= F_GFLOP && column <= F_NO_MODEL)
		return m->with_flops;
	switch (column) {
	case F_BWD: return m->with_bwd;
	case F_DEPTH:
	case F_PCT_PARENT:
	case F_PCT_ROOT:
	case F_PATH: return t->about != OF_TYPES;
	default: return true;
	}
}

/* The path: names from the root on. */
struct cell
modules_cell(const struct sink_row *r, unsigned field)
{
	const struct modules *m = (const struct modules *)r->sink;
	const struct node *node = r->first;
	VEC(uint32_t) above = { 0 };

	(void)field;
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
