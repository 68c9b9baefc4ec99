/* SPDX-License-Identifier: MIT */
/* The table: a row for each op that is replayed. */
#include <math.h>

#include "cmd/tl-replay/replay.h"
#include "sink/plan.h"

#define D COL_DETAIL
#define AT(field) offsetof(struct run, field)

const struct sink_measure replay_measures[] = {
	[M_GPU] = { AT(gpu_ns), NULL, false },
};

/* clang-format off */
const struct sink_column replay_columns[] = {
	{ { "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 }, SINK_TEXT, true, AT(name), 0 },
	{ { "uid", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_UID, 0 },
	{ { "input_dims", NULL, COL_JSON, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(args.dims), 0 },
	{ { "input_types", NULL, COL_JSON, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(args.types), 0 },
	{ { "input_strides", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_TEXT, true, AT(args.strides), 0 },
	{ { "concrete_inputs", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_TEXT, true, AT(args.concrete), 0 },
	{ { "count", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_COUNT, false, 0, 0 },
	{ { "gpu_ns_mean", NULL, COL_REAL, UNIT_NS, 0, 0 }, SINK_MEAN, false, M_GPU, 0 },
	{ { "gpu_ns_sum", NULL, COL_INT, UNIT_NS, 0, 0 }, SINK_SUM, false, M_GPU, 0 },
	{ { "pct_of_gpu", NULL, COL_REAL, UNIT_PERCENT, COL_SHARE, 0 }, SINK_SHARE, false, M_GPU, 0 },
	{ { "overload", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_CELL, false, C_OVERLOAD, 0 },
	{ { "reason", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_REASON, 0 },
	{ { "kernel_details_summary", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_DETAILS, false, 0, 0 },
	SINK_COLUMNS_END,
};
/* clang-format on */

bool
replay_member(
    const struct sink *s, const struct sink_plan *p, const void *record)
{
	(void)p;
	return !replay_of(s)->is_chosen ||
	    ((const struct run *)record)->op != NO_OP;
}

double
replay_whole(const struct sink *s, const struct sink_plan *p, uint32_t source)
{
	(void)p;
	return source == 0 ? (double)replay_of(s)->gpu_ns : NAN;
}

void
replay_notes(struct sink *s, const struct sink_plan *p, struct table *t)
{
	(void)p;
	note_unlinked(t, &s->sources, "op");
}

struct detail
replay_kernel(const struct sink *s, size_t number)
{
	const struct kernel *k = &replay_of(s)->kernels.v[number];

	return (struct detail){ k->name, k->gpu_stream, k->dur_ns, NAN };
}

struct cell
replay_cell(const struct sink_row *r, unsigned number)
{
	const struct replay *g = replay_of(r->sink);
	const struct run *first = r->first;
	const struct op *op = &g->ops.v[first->op];
	const struct schema *s = op->form.schema;

	switch (number) {
	case C_UID:
		r->text->len = 0;
		uid_text(g, first, r->text);
		return sink_row_text(r);
	case C_OVERLOAD:
		if (s == NULL)
			return cell_none();
		return cell_text(
		    s->overload.len > 0 ? s->overload : STR("default"));
	default:
		return op->missing.len > 0 ? cell_text(op->missing)
					   : cell_none();
	}
}

static void
print(struct sink *s, const struct sink_plan *p)
{
	struct replay *g = (struct replay *)s;
	struct sink_groups gs;

	sink_group_records(s, p, &gs);
	choose_ops(g, &gs);
	sink_groups_free(&gs);
	if (!write_asked(g))
		sink_rows_print(s, p);
}

struct sink_table replay_tables[REPLAY_NTABLES] = {
	{ .name = "replay",
	    .keys = "name,input_dims,input_types,input_strides,"
		    "concrete_inputs",
	    .columns = "uid,count,gpu_ns_mean,gpu_ns_sum,pct_of_gpu,overload,"
		       "reason,kernel_details_summary",
	    .is_joined = true,
	    .print = print },
};
