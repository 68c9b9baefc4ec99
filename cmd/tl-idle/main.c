/* SPDX-License-Identifier: MIT */
/*
 * tl-idle: why did the GPU wait?
 *
 * A sink that keeps a source whole (trace/host.h), finds its gaps and their
 * causes when it ends (trace/gap.h), and makes of each gap, of each piece of
 * one and of each interval between kernels of a GPU stream a record.
 */
#include "cmd/tl-idle/idle.h"

#define OPT_BY (OPT_LONG + 0)
#define OPT_CAUSES (OPT_LONG + 1)
#define OPT_KERNEL_WAIT (OPT_LONG + 2)
#define OPT_MIN_GAP (OPT_LONG + 3)

#define KERNEL_WAIT_NS 30000

static const struct opt options[] = {
	{ OPT_BY, "by", "WHAT,...",
	    "cause, call, op, module, thread, step, opened_by, dev, "
	    "gpu_stream" },
	{ OPT_CAUSES, "causes", "FILE", "more names and what they stand for" },
	{ OPT_KERNEL_WAIT, "kernel-wait", "TIME",
	    "shorter intervals are kernel_wait (30us)" },
	OPT_SINK_LIST_ROW,
	{ OPT_MIN_GAP, "min-gap", "TIME", "no rows for shorter gaps" },
	OPT_SINK_TABLE_ROW,
	OPT_SELECT,
	OPT_TABLE,
	{ 'v', "verbose", NULL, "a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"why the GPU waited: each gap and what the host did meanwhile",
	"[OPTIONS] [FILE...]",
	"tl-idle trace.json.gz",
};

/* ---- columns ---- */

enum field {
	F_CAUSE,
	F_CALL,
	F_OP,
	F_MODULE,
	F_THREAD,
	F_STEP,
	F_OPENED,
	F_DEV,
	F_GPU_STREAM,
	F_NS,
	F_SHARE,
	F_COUNT,
	F_MEDIAN,
	F_MAX,
	F_LONGEST,
	F_LONGEST_UID,
	F_ADVICE,
	F_START,
	F_GAP_NS,
	F_CAUSE_NS,
	F_EVENT_UID,
	F_PREV,
	F_NEXT,
	F_NEXT_OP,
	F_NEXT_MODULE,
	F_PREV_UID,
	F_NEXT_UID,
	F_INFERRED,
	F_OPENED_UID,
};

#define AT(field) offsetof(struct idle_record, field)
#define NONE UNIT_NONE
#define NS UNIT_NS
#define NAME COL_NAME

/* clang-format off */
static const struct sink_column columns[] = {
	[F_CAUSE] = { { "cause", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, true, AT(cause) },
	[F_CALL] = { { "call", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, true, AT(name) },
	[F_OP] = { { "op", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, true, AT(op) },
	[F_MODULE] = { { "module", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, true, AT(module) },
	[F_THREAD] = { { "thread", NULL, COL_TEXT, NONE, 0, 0 }, SINK_THREAD, true, 0 },
	[F_STEP] = { { "step", NULL, COL_INT, NONE, 0, 0 }, SINK_KEY, true, AT(step) },
	[F_OPENED] = { { "opened_by", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, true, AT(opened_by) },
	[F_DEV] = { { "dev", NULL, COL_INT, NONE, 0, 0 }, SINK_KEY, true, AT(dev) },
	[F_GPU_STREAM] = { { "gpu_stream", NULL, COL_INT, NONE, 0, 0 }, SINK_KEY, true, AT(gpu_stream) },
	[F_NS] = { { "time_ns", NULL, COL_INT, NS, COL_SHARE, 0 }, SINK_SUM, false, 0 },
	[F_SHARE] = { { "percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_SHARE, false, 0 },
	[F_COUNT] = { { "count", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_COUNT, false, 0 },
	[F_MEDIAN] = { { "time_ns_median", NULL, COL_REAL, NS, COL_MINOR, 0 }, SINK_MEDIAN, false, 0 },
	[F_MAX] = { { "time_ns_max", NULL, COL_INT, NS, 0, 0 }, SINK_MAX, false, 0 },
	[F_LONGEST] = { { "longest_in", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_CELL, false, 0 },
	[F_LONGEST_UID] = { { "longest_uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_CELL, false, 0 },
	[F_ADVICE] = { { "advice", NULL, COL_TEXT, NONE, COL_MINOR | COL_WRAPPED, 0 }, SINK_TEXT, false, AT(advice) },
	[F_START] = { { "ts_ns", NULL, COL_INT, NS, COL_POSITION, 0 }, SINK_CELL, false, 0 },
	[F_GAP_NS] = { { "gap_ns", NULL, COL_INT, NS, COL_SHARE, 0 }, SINK_INT, false, AT(ns) },
	[F_CAUSE_NS] = { { "cause_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(cause_ns) },
	[F_EVENT_UID] = { { "call_uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_CELL, false, 0 },
	[F_PREV] = { { "prev_name", NULL, COL_TEXT, NONE, NAME | COL_MINOR, 0 }, SINK_TEXT, false, AT(prev) },
	[F_NEXT] = { { "next_name", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, false, AT(next) },
	[F_NEXT_OP] = { { "next_op", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, false, AT(next_op) },
	[F_NEXT_MODULE] = { { "next_module", NULL, COL_TEXT, NONE, NAME | COL_MINOR, 0 }, SINK_TEXT, false, AT(next_module) },
	[F_PREV_UID] = { { "prev_uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_CELL, false, 0 },
	[F_NEXT_UID] = { { "next_uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_CELL, false, 0 },
	[F_INFERRED] = { { "is_inferred", NULL, COL_BOOL, NONE, COL_MINOR, 0 }, SINK_BOOL, false, AT(is_inferred) },
	[F_OPENED_UID] = { { "opened_uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_CELL, false, 0 },
};
/* clang-format on */

static const struct sink_measure measures[] = { { AT(ns), NULL, false } };

static uint8_t idle_keys[10] = { F_CAUSE, SINK_END };
static const uint8_t idle_list[] = { F_NS, F_SHARE, F_COUNT, F_MEDIAN, F_MAX,
	F_LONGEST, F_LONGEST_UID, F_ADVICE, SINK_END };
static const uint8_t gaps_list[] = { F_DEV, F_GPU_STREAM, F_START, F_GAP_NS,
	F_CAUSE, F_CAUSE_NS, F_CALL, F_EVENT_UID, F_THREAD, F_OPENED,
	F_OPENED_UID, F_PREV, F_PREV_UID, F_NEXT, F_NEXT_UID, F_NEXT_OP,
	F_NEXT_MODULE, F_STEP, F_INFERRED, SINK_END };
static const uint8_t streams_keys[] = { F_DEV, F_GPU_STREAM, F_CAUSE,
	SINK_END };
static const uint8_t streams_list[] = { F_NS, F_SHARE, F_COUNT, F_MEDIAN, F_MAX,
	SINK_END };

enum { OF_CAUSES, OF_GAPS, OF_STREAMS };

static struct sink_table tables[] = {
	[OF_CAUSES] = { .name = "idle",
	    .keys = idle_keys,
	    .columns = idle_list },
	[OF_GAPS] = { .name = "idle_gaps",
	    .columns = gaps_list,
	    .order = SINK_BY_TIME,
	    .is_single = true },
	[OF_STREAMS] = { .name = "idle_by_stream",
	    .keys = streams_keys,
	    .columns = streams_list },
};

static const struct {
	const char *word;
	enum field field;
} by_words[] = { { "cause", F_CAUSE }, { "call", F_CALL }, { "op", F_OP },
	{ "module", F_MODULE }, { "thread", F_THREAD }, { "step", F_STEP },
	{ "opened_by", F_OPENED }, { "dev", F_DEV },
	{ "gpu_stream", F_GPU_STREAM } };

static const struct idle *
idle_of(const struct sink *s)
{
	return (const struct idle *)s;
}

static bool
is_asked(const struct sink *s, const struct sink_table *t)
{
	return s->dest.dir != NULL || t == &tables[OF_CAUSES];
}

static bool
wants(const struct sink *s, const struct sink_table *t, unsigned column)
{
	if (t != &tables[OF_GAPS])
		return column != F_ADVICE ||
		    memchr(idle_keys, F_CAUSE, sizeof idle_keys) != NULL;
	if (column == F_DEV)
		return idle_of(s)->scope != SCOPE_ALL;
	return column != F_GPU_STREAM || idle_of(s)->scope == SCOPE_GPU_STREAM;
}

static bool
is_member(const struct sink *s, const struct sink_plan *p, const void *record)
{
	const struct idle_record *r = record;

	if (p->table == &tables[OF_GAPS] && r->ns < idle_of(s)->min_gap_ns)
		return false;
	return r->what ==
	    (p->table == &tables[OF_CAUSES]        ? IS_PIECE
		    : p->table == &tables[OF_GAPS] ? IS_GAP
						   : IS_INTERVAL);
}

static const struct idle_record *
longest(const struct sink_row *row)
{
	const struct idle_record *best = row->first;

	for (size_t i = 0; i < row->group->n; i++) {
		const struct idle_record *r = sink_row_record(row, i);

		if (r->ns > best->ns)
			best = r;
	}
	return best;
}

static struct cell
uid_cell(const struct sink_row *row, bool is_there, struct uid uid)
{
	return is_there ? cell_uid(row->table, uid) : cell_none();
}

static struct cell
cell(const struct sink_row *row, unsigned field)
{
	const struct idle_record *r = row->first, *most;

	switch (field) {
	case F_LONGEST: return cell_string(row->sink->dict, longest(row)->name);
	case F_LONGEST_UID:
		most = longest(row);
		return uid_cell(row, most->has_event, most->rec.uid);
	case F_START: return cell_int(r->rec.ts_ns);
	case F_EVENT_UID: return uid_cell(row, r->has_event, r->rec.uid);
	case F_PREV_UID:
		return uid_cell(row, r->prev != INTERN_NONE, r->prev_uid);
	case F_NEXT_UID: return cell_uid(row->table, r->next_uid);
	default:
		return uid_cell(
		    row, r->opened_by != INTERN_NONE, r->opened_uid);
	}
}

/* ---- reading ---- */

static void
end_source(struct idle *g)
{
	if (!g->has_source)
		return;
	g->has_source = false;
	idle_records(g);
}

static void
begin_source(struct idle *g)
{
	end_source(g);
	g->has_source = true;
	g->source = g->sink.source;
	host_start(&g->host, g->sink.dict, g->causes);
	g->steps.n = g->chosen.n = 0;
	map_free(&g->place);
}

static void
take(struct sink *s, const struct stream_in *in, bool is_chosen)
{
	struct idle *g = (struct idle *)s;
	const struct event *ev = &in->ev;
	int64_t end, step;

	if (!g->has_source || g->source != s->source)
		begin_source(g);
	if (event_is(ev, KINDS_GPU)) {
		bool takes = sink_takes_gpu(s, ev, is_chosen, &end);

		step = select_step(&s->select);
		vec_push(&g->chosen, takes);
		vec_push(&g->steps,
		    step == WALK_NO_STEP ? ((struct key){ 0, KEY_NONE })
					 : ((struct key){ step, KEY_INT }));
		*map_put(&g->place, uid_hash(ev->uid), NULL) = g->steps.n;
	}
	host_add(&g->host, ev);
}

static void
start(struct sink *s)
{
	struct idle *g = (struct idle *)s;

	g->causes = causes_create();
	if (g->causes_file != NULL)
		causes_load(g->causes, g->causes_file);
	for (unsigned i = 0; i < CAUSE_COUNT; i++) {
		g->words[i] = intern_put(s->dict->text, str_of(cause_words[i]));
		g->advice[i] =
		    intern_put(s->dict->text, str_of(cause_advice[i]));
	}
}

static void
explain_empty(struct sink *s)
{
	sink_check_gpu(s);
	if (sink_sources_sum(&s->sources).nchosen == 0)
		sink_die_empty(s);
	die_nothing(MSG_NEVER_IDLE, s->sources.path);
}

static void
finish(struct sink *s)
{
	struct idle *g = (struct idle *)s;

	end_source(g);
	sink_sources_check(&s->sources);
	if (g->ngaps == 0 && s->named != &tables[OF_STREAMS])
		explain_empty(s);
}

static void
free_all(struct sink *s)
{
	struct idle *g = (struct idle *)s;

	host_free(&g->host);
	gaps_free(&g->gaps);
	causes_destroy(g->causes);
	vec_free(&g->steps);
	vec_free(&g->chosen);
	map_free(&g->place);
}

/* ---- options ---- */

static void
take_by(struct idle *g, const struct optparse *op)
{
	const char *list = op->arg;
	struct str word;

	g->nkeys = 0;
	while (str_next(&list, ',', &word)) {
		size_t i = 0;

		while (i < sizeof by_words / sizeof *by_words &&
		    !str_eq(word, str_of(by_words[i].word)))
			i++;
		if (i == sizeof by_words / sizeof *by_words)
			die_usage("option '--by': '%.*s' is none of cause, "
				  "call, op, module, thread, step, opened_by, "
				  "dev, gpu_stream",
			    (int)word.len, word.p);
		if (memchr(g->keys, (int)by_words[i].field, g->nkeys) != NULL)
			die_usage(
			    "option '--by' says %s twice", by_words[i].word);
		if (g->nkeys == sizeof g->keys)
			die_usage("option '--by' says too much");
		g->keys[g->nkeys++] = (uint8_t)by_words[i].field;
	}
}

static bool
take_option(struct sink *s, const struct optparse *op, int ch)
{
	struct idle *g = (struct idle *)s;

	switch (ch) {
	case OPT_BY: take_by(g, op); return true;
	case OPT_CAUSES: g->causes_file = op->arg; return true;
	case OPT_KERNEL_WAIT: g->kernel_wait_ns = opt_time(op); return true;
	case OPT_MIN_GAP: g->min_gap_ns = opt_time(op); return true;
	default: return false;
	}
}

static void
check_settings(struct sink *s)
{
	struct idle *g = (struct idle *)s;

	select_check_gpu(&s->select);
	s->select.need_windows = true;
	s->kinds = select_kinds(&s->select, KINDS_GPU) | KINDS_HOST |
	    KIND_BIT(KIND_PYTHON) | KIND_BIT(KIND_ANNOTATION) |
	    KIND_BIT(KIND_OVERHEAD);
	if (g->nkeys == 0)
		return;
	memcpy(idle_keys, g->keys, g->nkeys);
	idle_keys[g->nkeys] = SINK_END;
	g->with_above = memchr(g->keys, F_OP, g->nkeys) != NULL ||
	    memchr(g->keys, F_MODULE, g->nkeys) != NULL;
	if (memchr(g->keys, F_GPU_STREAM, g->nkeys) != NULL)
		g->scope = SCOPE_GPU_STREAM;
	else if (memchr(g->keys, F_DEV, g->nkeys) != NULL)
		g->scope = SCOPE_DEV;
}

static const struct sink_def def = {
	.about = &about,
	.options = options,
	.columns = columns,
	.measures = measures,
	.nmeasures = 1,
	.tables = tables,
	.ntables = sizeof tables / sizeof *tables,
	.record_size = sizeof(struct idle_record),
	.want = WANT_TREE,
	.option = take_option,
	.check = check_settings,
	.start = start,
	.take = take,
	.finish = finish,
	.empty = explain_empty,
	.free = free_all,
	.asked = is_asked,
	.wants = wants,
	.member = is_member,
	.cell = cell,
};

int
main(int argc, char *argv[])
{
	struct idle g = { .sink = { .def = &def },
		.kernel_wait_ns = KERNEL_WAIT_NS };

	return sink_main(&g.sink, argc, argv);
}
