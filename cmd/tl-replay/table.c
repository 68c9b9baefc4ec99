/* SPDX-License-Identifier: MIT */
/* The table: a row for each op that is replayed. */
#include <math.h>

#include "cmd/tl-replay/replay.h"
#include "sink/plan.h"

#define D COL_DETAIL
#define AT(field) offsetof(struct call, field)

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
	    ((const struct call *)record)->is_chosen;
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

/* As --uid takes it: "12", of several sources "1:12". */
static struct cell
uid_cell(const struct sink_row *r)
{
	const struct sink_record *rec = r->first;
	char text[UID_MAX];

	r->text->len = 0;
	if (r->sink->sources.list.n > 1)
		buf_printf(r->text, "%" PRIu32 ":", rec->source);
	buf_put(r->text, text, uid_put(text, rec->uid));
	return sink_row_text(r);
}

struct cell
replay_cell(const struct sink_row *r, unsigned number)
{
	(void)number;
	return uid_cell(r);
}

/* ---- which ops ---- */

static bool
is_picked(const struct replay *g, const struct call *c)
{
	for (size_t i = 0; i < g->picks.n; i++)
		if (uid_is_picked(&g->picks.v[i], c->rec.source, c->rec.uid))
			return true;
	return false;
}

/* Whether an op is asked for; the first ones are, if none is named. */
static bool
is_asked(const struct replay *g, const struct sink_groups *gs,
    const struct sink_group *gr)
{
	const struct call *c =
	    sink_record(&g->sink, sink_group_member(gs, gr, 0));

	if (!str_glob_any(
		g->names.v, g->names.n, dict_get(g->sink.dict, c->name)))
		return false;
	for (size_t i = 0; i < gr->n && g->picks.n > 0; i++)
		if (is_picked(
			g, sink_record(&g->sink, sink_group_member(gs, gr, i))))
			return true;
	return g->picks.n == 0;
}

static void
choose(struct replay *g, const struct sink_groups *gs)
{
	size_t n = 0;

	for (size_t i = 0; i < gs->list.n; i++) {
		const struct sink_group *gr = &gs->list.v[i];
		bool is_chosen =
		    (g->top == 0 || n < g->top) && is_asked(g, gs, gr);

		n += is_chosen;
		stat_add(&g->gpu_ns, gr->sums[M_GPU]);
		for (size_t k = 0; k < gr->n; k++)
			((struct call *)sink_record(
			     &g->sink, sink_group_member(gs, gr, k)))
			    ->is_chosen = is_chosen;
	}
	g->is_chosen = true;
}

static void
print(struct sink *s, const struct sink_plan *p)
{
	struct replay *g = (struct replay *)s;
	struct sink_groups gs;

	sink_group_records(s, p, &gs);
	choose(g, &gs);
	sink_groups_free(&gs);
	sink_rows_print(s, p);
}

struct sink_table replay_tables[REPLAY_NTABLES] = {
	{ .name = "replay",
	    .keys = "name,input_dims,input_types,input_strides,"
		    "concrete_inputs",
	    .columns = "uid,count,gpu_ns_mean,gpu_ns_sum,pct_of_gpu,"
		       "kernel_details_summary",
	    .is_joined = true,
	    .print = print },
};
