/* SPDX-License-Identifier: MIT */
/*
 * tl-idle: why did the GPU wait?
 *
 * A sink that keeps a source whole (trace/host.h) and finds its gaps and their
 * causes when it ends (trace/gap.h). Gaps, pieces of gaps and intervals between
 * kernels of a GPU stream become records.
 */
#include "cmd/tl-idle/idle.h"

#define OPT_BY (OPT_LONG + 0)
#define OPT_CAUSES (OPT_LONG + 1)
#define OPT_KERNEL_WAIT (OPT_LONG + 2)
#define OPT_MIN_GAP (OPT_LONG + 3)
#define OPT_NO_PYTHON (OPT_LONG + 4)
#define OPT_STEPS (OPT_LONG + 5)

static const struct opt options[] = {
	{ OPT_BY, "by", "WHAT,...", BY_LINE "\n" BY_REST },
	{ OPT_CAUSES, "causes", "FILE",
	    "more rules: names of calls and their cause" },
	{ OPT_KERNEL_WAIT, "kernel-wait", "TIME",
	    "shorter waits are kernel_wait (30us)" },
	OPT_SINK_LIST_ROW,
	{ OPT_MIN_GAP, "min-gap", "TIME", "omit gaps shorter than TIME" },
	{ OPT_NO_PYTHON, "no-python", NULL, "skip Python frames" },
	{ OPT_STEPS, "steps", NULL,
	    "from the start of the first step to the end of the last" },
	OPT_SINK_TABLE_ROW,
	OPT_SELECT,
	OPT_SELECT_HINT,
	OPT_TABLE,
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"why the GPU was idle: each gap and what the host did",
	"[OPTIONS] [FILE...]",
	"tl-idle trace.json.gz",
};

/* ---- columns ---- */

/* Columns that depend on --by or are printed only if named. */
enum { ONLY_CAUSE = 1, ONLY_DEV, ONLY_GPU_STREAM, ONLY_STACK, ONLY_STEP };

#define AT(field) offsetof(struct idle_record, field)
#define IN_WINDOW(field) C_WINDOW + offsetof(struct idle_window, field)
#define CLASS(id, class)                                                \
	{                                                               \
		{ id, NULL, COL_INT, UNIT_NS, 0, 0 }, SINK_CELL, false, \
		    IN_WINDOW(account.ns[class]), 0                     \
	}
#define NONE UNIT_NONE
#define NS UNIT_NS
#define NAME COL_NAME

enum { M_TIME, M_INFERRED, M_BEHIND };

/* clang-format off */
static const struct sink_column columns[] = {
	{ { "class", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, true, AT(class), 0 },
	{ { "cause", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, true, AT(cause), 0 },
	{ { "call", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, true, AT(name), 0 },
	{ { "op", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, true, AT(op), 0 },
	{ { "module", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, true, AT(module), 0 },
	{ { "thread", NULL, COL_TEXT, NONE, 0, 0 }, SINK_THREAD, true, 0, 0 },
	{ { "step", NULL, COL_INT, NONE, 0, 0 }, SINK_KEY, true, AT(step), 0 },
	{ { "phase", NULL, COL_TEXT, NONE, 0, 0 }, SINK_KEY, true, AT(phase), 0 },
	{ { "opened_by", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, true, AT(opened_by), 0 },
	{ { "dev", NULL, COL_INT, NONE, 0, 0 }, SINK_KEY, true, AT(dev), ONLY_DEV },
	{ { "gpu_stream", NULL, COL_INT, NONE, 0, 0 }, SINK_KEY, true, AT(gpu_stream), ONLY_GPU_STREAM },
	{ { "time_ns", NULL, COL_INT, NS, COL_SHARE, 0 }, SINK_SUM, false, 0, 0 },
	{ { "percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_SHARE, false, 0, 0 },
	{ { "count", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_CELL, false, C_COUNT, 0 },
	{ { "calls", NULL, COL_INT, UNIT_COUNT, COL_MINOR, 0 }, SINK_CELL, false, C_CALLS, 0 },
	{ { "time_ns_median", NULL, COL_REAL, NS, COL_MINOR, 0 }, SINK_CELL, false, C_MEDIAN, 0 },
	{ { "time_ns_max", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, C_MAX, 0 },
	{ { "call_ns_max", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, C_LONGEST_NS, 0 },
	{ { "longest_in", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_CELL, false, C_LONGEST, 0 },
	{ { "longest_uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_CELL, false, C_LONGEST_UID, 0 },
	{ { "inferred_ns", NULL, COL_INT, NS, COL_MINOR, 0 }, SINK_SUM, false, M_INFERRED, 0 },
	{ { "behind_ns", NULL, COL_INT, NS, COL_MINOR, 0 }, SINK_SUM, false, M_BEHIND, 0 },
	{ { "lock_call", NULL, COL_TEXT, NONE, NAME | COL_MINOR, 0 }, SINK_CELL, false, C_LOCK, 0 },
	{ { "longest_stack", NULL, COL_TEXT, NONE, COL_DETAIL, 0 }, SINK_CELL, false, C_STACK, ONLY_STACK },
	{ { "advice", NULL, COL_TEXT, NONE, COL_MINOR | COL_WRAPPED, 0 }, SINK_TEXT, false, AT(advice), ONLY_CAUSE },
	{ { "flags", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, false, AT(flags), ONLY_STEP },
	{ { "ts_ns", NULL, COL_INT, NS, COL_POSITION, 0 }, SINK_CELL, false, C_START, 0 },
	{ { "gap_ns", NULL, COL_INT, NS, COL_SHARE, 0 }, SINK_INT, false, AT(ns), 0 },
	{ { "cause_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, C_CAUSE_NS, 0 },
	{ { "call_uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_CELL, false, C_EVENT_UID, 0 },
	{ { "prev_name", NULL, COL_TEXT, NONE, NAME | COL_MINOR, 0 }, SINK_CELL, false, C_PREV, 0 },
	{ { "next_name", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_CELL, false, C_NEXT, 0 },
	{ { "next_op", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_CELL, false, C_NEXT_OP, 0 },
	{ { "next_module", NULL, COL_TEXT, NONE, NAME | COL_MINOR, 0 }, SINK_CELL, false, C_NEXT_MODULE, 0 },
	{ { "prev_uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_CELL, false, C_PREV_UID, 0 },
	{ { "next_uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_CELL, false, C_NEXT_UID, 0 },
	{ { "awaited_name", NULL, COL_TEXT, NONE, NAME | COL_MINOR, 0 }, SINK_CELL, false, C_AWAITED, 0 },
	{ { "awaited_uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_CELL, false, C_AWAITED_UID, 0 },
	{ { "is_lock", NULL, COL_BOOL, NONE, COL_MINOR, 0 }, SINK_CELL, false, C_IS_LOCK, 0 },
	{ { "is_inferred", NULL, COL_BOOL, NONE, COL_MINOR, 0 }, SINK_BOOL, false, AT(is_inferred), 0 },
	{ { "opened_uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_CELL, false, C_OPENED_UID, 0 },
	{ { "window", NULL, COL_TEXT, NONE, 0, 0 }, SINK_CELL, false, C_FROM, 0 },
	{ { "steps", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_CELL, false, IN_WINDOW(nsteps), 0 },
	{ { "window_ts_ns", NULL, COL_INT, NS, COL_POSITION, 0 }, SINK_CELL, false, IN_WINDOW(account.window.start), 0 },
	{ { "window_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, IN_WINDOW(window_ns), 0 },
	{ { "head_ns", NULL, COL_INT, NS, COL_MINOR, 0 }, SINK_CELL, false, IN_WINDOW(head_ns), 0 },
	{ { "head_cause", NULL, COL_TEXT, NONE, COL_MINOR, 0 }, SINK_CELL, false, C_HEAD_CAUSE, 0 },
	CLASS("gpu_ns", GROUP_OF_GPU),
	CLASS("communication_ns", ACCOUNT_COMM),
	CLASS("copy_ns", ACCOUNT_COPY),
	CLASS("host_ns", GROUP_OF_HOST),
	CLASS("sync_ns", GROUP_OF_SYNC),
	CLASS("data_ns", GROUP_OF_DATA),
	CLASS("compile_ns", GROUP_OF_COMPILE),
	CLASS("start_up_ns", GROUP_OF_START),
	CLASS("allocation_ns", GROUP_OF_ALLOCATION),
	CLASS("missing_ns", GROUP_OF_MISSING),
	{ { "launched", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_CELL, false, IN_WINDOW(nlaunched), 0 },
	{ { "starved", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_CELL, false, IN_WINDOW(nstarved), 0 },
	{ { "launch_interval_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, IN_WINDOW(account.interval_ns), 0 },
	{ { "launch_work_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, IN_WINDOW(account.work_ns), 0 },
	{ { "graph_ns", NULL, COL_INT, NS, COL_MINOR, 0 }, SINK_CELL, false, IN_WINDOW(account.graph_ns), 0 },
	{ { "outside_ns", NULL, COL_INT, NS, COL_MINOR, 0 }, SINK_CELL, false, IN_WINDOW(account.outside_ns), 0 },
	{ { "opened_ns", NULL, COL_INT, NS, COL_MINOR, 0 }, SINK_CELL, false, IN_WINDOW(account.opened_ns), 0 },
	{ { "blocked_in", NULL, COL_TEXT, NONE, NAME | COL_MINOR, 0 }, SINK_CELL, false, C_BLOCKED_IN, 0 },
	{ { "blocked_uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_CELL, false, C_BLOCKED_UID, 0 },
	{ { "waits_by", NULL, COL_TEXT, NONE, NAME | COL_MINOR, 0 }, SINK_CELL, false, C_WAITS_BY, 0 },
	{ { "waits_uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_CELL, false, C_WAITS_UID, 0 },
	{ { "comm_uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_CELL, false, C_COMM_UID, 0 },
	{ { "copy_uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_CELL, false, C_COPY_UID, 0 },
	{ { "steps_all", NULL, COL_INT, UNIT_COUNT, COL_MINOR, 0 }, SINK_CELL, false, IN_WINDOW(nall_steps), 0 },
	{ { "step_processes", NULL, COL_INT, UNIT_COUNT, COL_MINOR, 0 }, SINK_CELL, false, IN_WINDOW(nprocesses), 0 },
	{ { "has_ops", NULL, COL_BOOL, NONE, COL_MINOR, 0 }, SINK_CELL, false, C_HAS_OPS, 0 },
	{ { "has_python", NULL, COL_BOOL, NONE, COL_MINOR, 0 }, SINK_CELL, false, C_HAS_PYTHON, 0 },
	{ { "is_tpu", NULL, COL_BOOL, NONE, COL_MINOR, 0 }, SINK_CELL, false, C_IS_TPU, 0 },
	SINK_COLUMNS_END,
};
/* clang-format on */

static const struct sink_measure measures[] = {
	[M_TIME] = { AT(ns), NULL, false },
	[M_INFERRED] = { AT(inferred_ns), NULL, false },
	[M_BEHIND] = { AT(behind_ns), NULL, false },
};

enum { OF_CAUSES, OF_GAPS, OF_STREAMS, OF_WINDOWS };

static struct sink_table tables[] = {
	[OF_CAUSES] = { .name = "idle",
	    .keys = "cause" /* what --by says */,
	    .columns = "time_ns,percent,count,calls,time_ns_median,call_ns_max,"
		       "longest_in,longest_uid,longest_stack,inferred_ns,"
		       "behind_ns,lock_call,flags,advice" },
	[OF_GAPS] = { .name = "idle_gaps",
	    .columns = "dev,gpu_stream,ts_ns,gap_ns,class,cause,cause_ns,call,"
		       "call_uid,thread,opened_by,opened_uid,prev_name,"
		       "prev_uid,next_name,next_uid,next_op,next_module,step,"
		       "awaited_name,awaited_uid,is_lock,is_inferred",
	    .order = SINK_BY_TIME,
	    .is_single = true },
	[OF_STREAMS] = { .name = "idle_by_stream",
	    .keys = "dev,gpu_stream,cause",
	    .columns = "time_ns,percent,count,time_ns_median,time_ns_max" },
	[OF_WINDOWS] = { .name = "idle_window",
	    .columns = "window,steps,window_ts_ns,window_ns,head_ns,head_cause,"
		       "gpu_ns,communication_ns,copy_ns,host_ns,sync_ns,"
		       "data_ns,compile_ns,start_up_ns,allocation_ns,"
		       "missing_ns,launched,starved,launch_interval_ns,"
		       "launch_work_ns,graph_ns,outside_ns,ts_ns,gap_ns,cause,"
		       "cause_ns,call,"
		       "call_uid,prev_uid,next_uid,opened_ns,opened_by,"
		       "opened_uid,blocked_in,blocked_uid,waits_by,waits_uid,"
		       "comm_uid,copy_uid,steps_all,step_processes,"
		       "has_ops,has_python,is_tpu",
	    .order = SINK_AS_ADDED,
	    .is_single = true },
};

static const struct idle *
idle_of(const struct sink *s)
{
	return (const struct idle *)s;
}

static bool
is_asked(const struct sink *s, const struct sink_table *t)
{
	return t == &tables[OF_CAUSES] ||
	    (s->dest.dir != NULL &&
		(t != &tables[OF_WINDOWS] || idle_of(s)->with_steps));
}

static bool
wants(const struct sink *s, const struct sink_table *t, unsigned only)
{
	if (only == ONLY_STACK)
		return idle_of(s)->with_stack;
	if (only == ONLY_STEP)
		return idle_of(s)->by_step;
	if (t != &tables[OF_GAPS])
		return only != ONLY_CAUSE ||
		    sink_list_has(tables[OF_CAUSES].keys, STR("cause"));
	if (only == ONLY_DEV)
		return idle_of(s)->scope != SCOPE_ALL;
	return idle_of(s)->scope == SCOPE_GPU_STREAM;
}

static const uint8_t what_of[] = {
	[OF_CAUSES] = IS_PIECE,
	[OF_GAPS] = IS_GAP,
	[OF_STREAMS] = IS_INTERVAL,
	[OF_WINDOWS] = IS_WINDOW,
};

static bool
is_member(const struct sink *s, const struct sink_plan *p, const void *record)
{
	const struct idle_record *r = record;

	(void)s;
	return r->what == what_of[p->table - tables];
}

/* Threads of one name share a row. */
static void
look_at_row(struct sink_row *row)
{
	struct idle *g = (struct idle *)row->sink;

	g->longest = row->first;
	g->ncalls = g->longest->ncalls;
	/* the record of a row of pieces usually is the row */
	if (row->group->n == 1 && g->longest->n > 0) {
		stat_of(
		    &g->stats, g->lengths.v + g->longest->first, g->longest->n);
		return;
	}
	g->ncalls = 0;
	g->room.n = 0;
	for (size_t i = 0; i < row->group->n; i++) {
		const struct idle_record *r = sink_row_record(row, i);

		if (r->longest_ns > g->longest->longest_ns)
			g->longest = r;
		g->ncalls += r->ncalls;
		for (size_t k = 0; k < r->n; k++)
			vec_push(&g->room, g->lengths.v[r->first + k]);
	}
	stat_of(&g->stats, g->room.v, g->room.n);
}

/* Adds the note on the window that idle time refers to. */
static void
add_notes(struct sink *s, const struct sink_plan *p, struct table *t)
{
	if (p->table != &tables[OF_CAUSES])
		return;
	if (idle_of(s)->with_steps)
		table_note(t,
		    select_is_of_steps(&s->select)
			? "in the time of the steps asked for"
			: "in the window of the steps, from the first one's "
			  "start");
	else if (s->select.is_of_events)
		table_note(t, "idle time before each GPU event of the %s",
		    select_is_of_steps(&s->select) ? "steps asked for"
						   : "selection");
	else
		table_note(t,
		    "from the first to the last GPU event; --steps: in the "
		    "window of the steps");
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

/* The source precedes its events, whose first one overwrites what it says. */
static void
note_source(struct sink *s, const struct source *src)
{
	struct idle *g = (struct idle *)s;

	g->said_src = src->src;
	g->said_tpu = source_is_tpu(src);
}

static void
begin_source(struct idle *g, uint32_t src)
{
	end_source(g);
	g->advice_of = g->said_tpu && g->said_src == src ? ADVICE_TPU : 0;
	g->has_source = true;
	g->source = g->sink.source;
	host_start(&g->host, g->sink.dict, g->causes);
	waits_start(&g->waits);
	g->steps.n = g->chosen.n = 0;
	g->nbefore = g->sink.records.n;
}

static void
take(struct sink *s, const struct stream_in *in, bool is_chosen)
{
	struct idle *g = (struct idle *)s;
	const struct event *ev = &in->ev;
	bool takes;
	int64_t end;
	size_t n;

	if (!g->has_source || g->source != s->source)
		begin_source(g, ev->src);
	n = g->host.gpus.n;
	host_add(&g->host, ev);
	g->any_inst |= ev->uid.inst != 0;
	waits_take(&g->waits, s->dict, ev);
	takes = sink_takes_gpu(s, ev, is_chosen, &end);
	if (g->host.gpus.n > n) {
		g->host.gpus.v[n].tag =
		    (uint8_t)bucket_of_event(&s->rules, s->dict, ev);
		vec_push(&g->chosen, takes);
		vec_push(&g->steps, select_step_key(&s->select));
	}
}

static void
take_heads(struct sink *s, const struct event_head *v, size_t n)
{
	struct idle *g = (struct idle *)s;

	if (!g->has_source || g->source != s->source)
		begin_source(g, s->dict->tracks.v[v->track].src);
	host_add_heads(&g->host, v, n);
	waits_take_heads(&g->waits, s->dict, v, n);
	for (size_t i = 0; i < n; i++)
		g->any_inst |= v[i].uid.inst != 0;
}

/* Uids of grafted events are texts. */
static void
planned(struct sink *s, struct sink_plan *p)
{
	static const char *const uids[] = { "longest_uid", "call_uid",
		"prev_uid", "next_uid", "opened_uid", "awaited_uid",
		"blocked_uid", "waits_uid", "comm_uid", "copy_uid" };

	for (size_t i = 0; i < sizeof uids / sizeof *uids; i++)
		column_of_uids(p->columns.v, p->columns.n, uids[i],
		    ((struct idle *)s)->any_inst);
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
		for (unsigned k = 0; k < ADVICE_KINDS; k++)
			g->advice[k][i] = intern_put(
			    s->dict->text, str_of(cause_advice(i, k)));
	}
	for (unsigned i = 0; i < ACCOUNT_COUNT; i++)
		g->classes[i] =
		    intern_put(s->dict->text, str_of(account_words[i]));
	for (unsigned i = 0; i < s->ntables; i++)
		g->shows[what_of[i]] = sink_asked(s, &s->tables[i]);
}

/* A GPU stream with one event has no interval: an answer, without rows. */
static void
explain_empty(struct sink *s)
{
	sink_check_gpu(s);
	if (sink_sources_sum(&s->sources).nchosen == 0)
		sink_die_empty(s);
	if (s->named != &tables[OF_STREAMS])
		die_nothing(MSG_NEVER_IDLE, s->sources.path);
}

static void
finish(struct sink *s)
{
	struct idle *g = (struct idle *)s;

	end_source(g);
	sink_sources_check(&s->sources);
	if (g->ngaps == 0 && g->windows.n == 0 &&
	    s->named != &tables[OF_STREAMS]) {
		select_end(&s->select); /* reports what the selection missed,
		                           even if there is no answer */
		explain_empty(s);
	}
}

static void
free_all(struct sink *s)
{
	struct idle *g = (struct idle *)s;

	host_free(&g->host);
	waits_free(&g->waits);
	gaps_free(&g->gaps);
	steps_free(&g->step_list);
	steps_free(&g->iterations);
	spans_free(&g->walls);
	vec_free(&g->asked_steps);
	map_free(&g->locks);
	vec_free(&g->windows);
	vec_free(&g->wholes);
	vec_free(&g->sums);
	vec_free(&g->pieces);
	vec_free(&g->lengths);
	vec_free(&g->room);
	causes_destroy(g->causes);
	vec_free(&g->steps);
	vec_free(&g->chosen);
	stacks_free(&g->stacks);
}

/* ---- options ---- */

static bool
take_option(struct sink *s, const struct optparse *op, int ch)
{
	struct idle *g = (struct idle *)s;

	switch (ch) {
	case OPT_BY:
		tables[OF_CAUSES].keys = sink_opt_keys(op, BY_WORDS);
		return true;
	case OPT_CAUSES: g->causes_file = op->arg; return true;
	case OPT_KERNEL_WAIT: g->kernel_wait_ns = opt_time(op); return true;
	case OPT_MIN_GAP: g->min_gap_ns = opt_time(op); return true;
	case OPT_NO_PYTHON: g->no_python = true; return true;
	case OPT_STEPS: g->with_steps = true; return true;
	default: return false;
	}
}

static void
check_settings(struct sink *s)
{
	struct idle *g = (struct idle *)s;
	const char *by = tables[OF_CAUSES].keys;

	select_check_gpu(&s->select);
	s->select.need_windows = true;
	s->kinds = select_kinds(&s->select, KINDS_GPU) | KINDS_HOST |
	    KIND_BIT(KIND_ANNOTATION) | KIND_BIT(KIND_OVERHEAD) |
	    KIND_BIT(KIND_SYNC);
	s->heads = KINDS_HOST | KIND_BIT(KIND_PYTHON) | KIND_BIT(KIND_OVERHEAD);
	if (!g->no_python)
		s->kinds |= KIND_BIT(KIND_PYTHON);
	g->with_stack = s->dest.columns != NULL &&
	    sink_list_has(s->dest.columns, STR("longest_stack"));
	g->by_step = sink_list_has(by, STR("step"));
	g->by_phase = sink_list_has(by, STR("phase"));
	g->with_above =
	    sink_list_has(by, STR("op")) || sink_list_has(by, STR("module"));
	g->by_words = sink_list_within(by, "class,cause,call,opened_by");
	sink_fold_start(&g->folds[IS_PIECE], s, &tables[OF_CAUSES]);
	sink_fold_start(&g->folds[IS_INTERVAL], s, &tables[OF_STREAMS]);
	if (sink_list_has(by, STR("gpu_stream")))
		g->scope = SCOPE_GPU_STREAM;
	else if (sink_list_has(by, STR("dev")))
		g->scope = SCOPE_DEV;
	/* what another selection leaves of a step is not its time */
	g->in_steps = g->by_step &&
	    (!s->select.is_of_events || select_is_of_steps(&s->select));
	/* selected steps have a window of their own */
	if (s->named == &tables[OF_WINDOWS] ||
	    (g->scope == SCOPE_ALL &&
		(g->in_steps || select_is_of_steps(&s->select))))
		g->with_steps = true;
	if (g->with_steps && g->scope != SCOPE_ALL)
		die_usage("option '--steps' covers all GPU streams: not with "
			  "'--by dev' or '--by gpu_stream'");
}

static const struct sink_def def = {
	.about = &about,
	.options = options,
	.columns = columns,
	.measures = measures,
	.nmeasures = sizeof measures / sizeof *measures,
	.tables = tables,
	.ntables = sizeof tables / sizeof *tables,
	.record_size = sizeof(struct idle_record),
	.want = WANT_TREE,
	.option = take_option,
	.check = check_settings,
	.start = start,
	.source = note_source,
	.take = take,
	.heads = take_heads,
	.finish = finish,
	.empty = explain_empty,
	.free = free_all,
	.asked = is_asked,
	.wants = wants,
	.notes = add_notes,
	.member = is_member,
	.row = look_at_row,
	.planned = planned,
	.cell = idle_cell,
};

int
main(int argc, char *argv[])
{
	struct idle g = { .sink = { .def = &def },
		.kernel_wait_ns = KERNEL_WAIT_NS,
		.marker = INTERN_NONE };

	return sink_main(&g.sink, argc, argv);
}
