/* SPDX-License-Identifier: MIT */
/*
 * tl-replay: from an op of a trace to a benchmark that runs.
 *
 * A sink over a tree: it keeps a record of each op that launches GPU work,
 * and writes those that are asked for as a script, or says what they are.
 */
#include "cmd/tl-replay/replay.h"

#define OPT_UID (OPT_LONG + 0)

static const struct opt options[] = {
	{ OPT_UID, "uid", "UID", "the op of this event, whatever its time" },
	OPT_SELECT,
	OPT_TABLE_WITH("the N ops of the most GPU time (10), 0 for all"),
	{ 'v', "verbose", NULL, "a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"ops of a trace as benchmarks that run",
	"[OPTIONS] [FILE...]",
	"tl-replay --top 5 trace.json.gz",
};

static void
explain_empty(struct sink *s)
{
	const char *path = s->sources.path;
	const struct sink_source sum = sink_sources_sum(&s->sources);

	sink_check_gpu(s);
	if (sum.nunlinked == sum.ngpu)
		die_nothing(MSG_NO_LAUNCHES, path, sum.ngpu);
	if (sum.nchosen == 0)
		die_nothing(MSG_NO_MATCH, path, sum.ngpu);
	die_nothing(MSG_NO_OWNED_GPU_EVENTS, path, sum.nchosen);
}

static bool
take_option(struct sink *s, const struct optparse *op, int ch)
{
	struct replay *g = (struct replay *)s;

	switch (ch) {
	case OPT_UID: vec_push(&g->picks, opt_uid(op)); break;
	case OPT_SELECT_NAME: vec_push(&g->names, str_of(op->arg)); break;
	case OPT_TABLE_TOP: g->top = (size_t)opt_int(op, 0, INT32_MAX); break;
	default: return false;
	}
	return true;
}

static void
check_settings(struct sink *s)
{
	select_check_gpu(&s->select);
	s->kinds = KINDS_HOST;
	s->only_owners = true;
	s->dest.top = TABLE_TOP_ALL;
}

static void
free_state(struct sink *s)
{
	struct replay *g = (struct replay *)s;

	vec_free(&g->kernels);
	vec_free(&g->picks);
	vec_free(&g->names);
}

static const struct sink_def def = {
	.about = &about,
	.options = options,
	.columns = replay_columns,
	.measures = replay_measures,
	.nmeasures = M_COUNT,
	.details = { offsetof(struct call, first_kernel),
	    offsetof(struct call, nkernels), 0, replay_kernel },
	.tables = replay_tables,
	.ntables = REPLAY_NTABLES,
	.record_size = sizeof(struct call),
	.want = WANT_TREE,
	.kinds = KINDS_GPU,
	.launcher = replay_launcher,
	.option = take_option,
	.check = check_settings,
	.start = replay_start,
	.take = replay_take,
	.empty = explain_empty,
	.free = free_state,
	.member = replay_member,
	.whole = replay_whole,
	.notes = replay_notes,
	.cell = replay_cell,
};

int
main(int argc, char *argv[])
{
	struct replay g = { .sink = { .def = &def }, .top = 10 };

	return sink_main(&g.sink, argc, argv);
}
