/* SPDX-License-Identifier: MIT */
/*
 * tl-steps: how long each step took, and on what. A sink that keeps a source
 * whole (trace/host.h), finds its steps at the end (trace/steps.h), and makes a
 * record of each and of the time between them.
 */
#include "cmd/tl-steps/steps.h"

#define OPT_CAUSES (OPT_LONG + 0)

static const struct opt options[] = {
	{ OPT_SELECT_ANNOTATION, "annotation", "GLOB",
	    "annotations like GLOB are the steps" },
	{ OPT_CAUSES, "causes", "FILE",
	    "more rules: names of calls and their cause" },
	OPT_BUCKET,
	OPT_SINK_LIST_ROW,
	{ OPT_SELECT_RANK, "rank", "RANK,...", "only these ranks: 0,4-7" },
	{ OPT_SELECT_STEP, "step", "STEP,...",
	    "only these steps: 3-7, last, slowest" },
	OPT_SINK_TABLE_ROW,
	OPT_SELECT_HINT,
	OPT_TABLE,
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"how long each step took, on the clock and on the GPU",
	"[OPTIONS] [FILE...]",
	"tl-steps trace.json.gz",
};

/* ---- columns ---- */

#define AT(field) offsetof(struct step_record, field)
#define NONE UNIT_NONE
#define NS UNIT_NS
#define COUNT UNIT_COUNT
#define MINOR COL_MINOR

enum {
	M_TIME,
	M_WALL,
	M_GPU_WALL,
	M_GPU,
	M_TOOK,
	M_TOKEN,
	M_BATCH,
	M_TOKENS,
	M_COMPUTE,
};
static const struct sink_measure measures[] = {
	[M_TIME] = { AT(time_ns), NULL, false },
	[M_WALL] = { AT(wall_ns), NULL, false },
	[M_GPU_WALL] = { AT(gpu_wall_ns), NULL, false },
	[M_GPU] = { AT(busy_launched_ns), NULL, false },
	[M_TOOK] = { AT(took_ns), NULL, false },
	[M_TOKEN] = { AT(token_ns), NULL, false },
	[M_BATCH] = { AT(batch), NULL, false },
	[M_TOKENS] = { AT(tokens), NULL, false },
	[M_COMPUTE] = { AT(compute_ns), NULL, false },
};

/* From the iteration's annotation. */
#define FIELD(id, field)                                                       \
	{                                                                      \
		{ id, NULL, COL_INT, COUNT, COL_DETAIL, 0 }, SINK_CELL, false, \
		    C_FIELD + offsetof(struct iteration, field), 0             \
	}

/* clang-format off */
static const struct sink_column columns[] = {
	{ { "pid", NULL, COL_INT, NONE, MINOR, 0 }, SINK_KEY, true, AT(pid), 0 },
	{ { "what", NULL, COL_TEXT, NONE, MINOR, 0 }, SINK_TEXT, false, AT(word), 0 },
	{ { "step", NULL, COL_INT, NONE, 0, 0 }, SINK_INT, false, AT(step), 0 },
	{ { "name", NULL, COL_TEXT, NONE, COL_NAME | MINOR, 0 }, SINK_TEXT, false, AT(name), 0 },
	{ { "ts_ns", NULL, COL_INT, NS, COL_POSITION | MINOR, 0 }, SINK_INT, false, AT(rec.ts_ns), 0 },
	{ { "wall_ns", NULL, COL_INT, NS, COL_SHARE, 0 }, SINK_INT, false, AT(wall_ns), 0 },
	{ { "gpu_wall_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(gpu_wall_ns), 0 },
	{ { "busy_launched_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_INT, false, AT(busy_launched_ns), 0 },
	{ { "busy_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(busy_ns), 0 },
	{ { "idle_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(idle_ns), 0 },
	{ { "idle_cause", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, false, AT(idle_cause), 0 },
	{ { "idle_cause_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(idle_cause_ns), 0 },
	{ { "exposed_comm_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(exposed_comm_ns), 0 },
	{ { "exposed_copy_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_INT, false, AT(exposed_copy_ns), 0 },
	{ { "overlap_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_INT, false, AT(overlap_ns), 0 },
	{ { "drain_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_INT, false, AT(drain_ns), 0 },
	{ { "lead_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_INT, false, AT(lead_ns), 0 },
	{ { "gap_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_INT, false, AT(gap_ns), 0 },
	{ { "gap_cause", NULL, COL_TEXT, NONE, MINOR, 0 }, SINK_TEXT, false, AT(gap_cause), 0 },
	{ { "data_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(data_ns), 0 },
	{ { "kernels", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_INT, false, AT(nkernels), 0 },
	{ { "launches", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_INT, false, AT(nlaunches), 0 },
	{ { "phase", NULL, COL_TEXT, NONE, MINOR, 0 }, SINK_TEXT, true, AT(phase), 0 },
	{ { "batch", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_INT, false, AT(batch), 0 },
	{ { "tokens", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_INT, false, AT(tokens), 0 },
	FIELD("batch_size", batch_size),
	FIELD("context_requests", context_requests),
	FIELD("generation_requests", generation_requests),
	FIELD("context_sum", context_sum),
	FIELD("generation_sum", generation_sum),
	FIELD("c_sq", c_sq), FIELD("c_sk", c_sk),
	FIELD("c_sqsq", c_sqsq), FIELD("c_sqsk", c_sqsk),
	FIELD("g_sq", g_sq), FIELD("g_sk", g_sk),
	FIELD("g_sqsq", g_sqsq), FIELD("g_sqsk", g_sqsk),
	FIELD("padded_batch", padded), FIELD("spec_tokens", spec),
	FIELD("p_requests", p), FIELD("d_requests", d), FIELD("two_batch_overlap", overlap),
	{ { "context_lengths", NULL, COL_TEXT, NONE, COL_DETAIL, 0 }, SINK_TEXT, false, AT(ctx), 0 },
	{ { "format", NULL, COL_TEXT, NONE, COL_DETAIL, 0 }, SINK_TEXT, false, AT(format), 0 },
	{ { "flags", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, false, AT(flags), 0 },
	{ { "is_inferred", NULL, COL_BOOL, NONE, MINOR, 0 }, SINK_BOOL, false, AT(is_inferred), 0 },
	{ { "uid", NULL, COL_INT, NONE, MINOR, 0 }, SINK_CELL, false, C_UID, 0 },
	{ { "steps", NULL, COL_INT, COUNT, 0, 0 }, SINK_CELL, false, C_COUNT, 0 },
	{ { "step_time", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, false, AT(time_is), 0 },
	{ { "reason", NULL, COL_TEXT, NONE, MINOR | COL_WRAPPED, 0 }, SINK_TEXT, false, AT(reason), 0 },
	{ { "time_ns_median", NULL, COL_REAL, NS, 0, 0 }, SINK_MEDIAN, false, M_TIME, 0 },
	{ { "time_ns_p95", NULL, COL_REAL, NS, 0, 0 }, SINK_CELL, false, C_P95, 0 },
	{ { "time_ns_p99", NULL, COL_REAL, NS, 0, 0 }, SINK_CELL, false, C_P99, 0 },
	{ { "time_ns_min", NULL, COL_INT, NS, MINOR, 0 }, SINK_MIN, false, M_TIME, 0 },
	{ { "time_ns_max", NULL, COL_INT, NS, 0, 0 }, SINK_MAX, false, M_TIME, 0 },
	{ { "spread_percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_CELL, false, C_SPREAD, 0 },
	{ { "slowest", NULL, COL_INT, NONE, 0, 0 }, SINK_CELL, false, C_SLOWEST, 0 },
	{ { "slowest_by", NULL, COL_TEXT, NONE, 0, 0 }, SINK_CELL, false, C_SLOW_PART, 0 },
	{ { "slowest_by_ns", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, C_SLOW_NS, 0 },
	{ { "median_step_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, C_SLOW_MEDIAN, 0 },
	{ { "median_of", NULL, COL_TEXT, NONE, MINOR, 0 }, SINK_CELL, false, C_SLOW_OF, 0 },
	{ { "slowest_in", NULL, COL_TEXT, NONE, COL_NAME | MINOR, 0 }, SINK_CELL, false, C_SLOW_IN, 0 },
	{ { "wall_ns_median", NULL, COL_REAL, NS, MINOR, 0 }, SINK_CELL, false, C_WALL_MEDIAN, 0 },
	{ { "gpu_wall_ns_median", NULL, COL_REAL, NS, MINOR, 0 }, SINK_MEDIAN, false, M_GPU_WALL, 0 },
	{ { "drain_ns_first", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, C_DRAIN_FIRST, 0 },
	{ { "drain_ns_last", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, C_DRAIN_LAST, 0 },
	{ { "window_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_SUM, false, M_WALL, 0 },
	{ { "between_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, C_BETWEEN, 0 },
	{ { "unlinked_count", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_INT, false, AT(nunlinked), 0 },
	{ { "outside_count", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_INT, false, AT(noutside), 0 },
	{ { "repeat_calls", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_INT, false, AT(nrepeat), 0 },
	{ { "cause", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, false, AT(idle_cause), 0 },
	{ { "call", NULL, COL_TEXT, NONE, COL_NAME, 0 }, SINK_TEXT, false, AT(call), 0 },
	{ { "op", NULL, COL_TEXT, NONE, COL_NAME, 0 }, SINK_TEXT, false, AT(op), 0 },
	{ { "module", NULL, COL_TEXT, NONE, COL_NAME, 0 }, SINK_TEXT, false, AT(module), 0 },
	{ { "time_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(idle_cause_ns), 0 },
	{ { "median_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(median_ns), 0 },
	{ { "more_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(more_ns), 0 },
	{ { "median_step", NULL, COL_INT, NONE, MINOR, 0 }, SINK_INT, false, AT(median_step), 0 },
	{ { "call_uid", NULL, COL_INT, NONE, MINOR, 0 }, SINK_CELL, false, C_CALL_UID, 0 },
	{ { "iterations", NULL, COL_INT, COUNT, 0, 0 }, SINK_COUNT, false, 0, 0 },
	{ { "requests_mean", NULL, COL_REAL, COUNT, 0, 0 }, SINK_CELL, false, C_REQUESTS, 0 },
	{ { "tokens_sum", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_CELL, false, C_TOKENS, 0 },
	{ { "tokens_per_s", NULL, COL_REAL, NONE, 0, 0 }, SINK_CELL, false, C_TOKENS_PER_S, 0 },
	{ { "token_ns_median", NULL, COL_REAL, NS, MINOR, 0 }, SINK_MEDIAN, false, M_TOKEN, 0 },
	{ { "took_ns_median", NULL, COL_REAL, NS, 0, 0 }, SINK_MEDIAN, false, M_TOOK, 0 },
	{ { "took_ns_p95", NULL, COL_REAL, NS, 0, 0 }, SINK_P95, false, M_TOOK, 0 },
	{ { "took_ns_p99", NULL, COL_REAL, NS, MINOR, 0 }, SINK_P99, false, M_TOOK, 0 },
	{ { "wall_ns_sum", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, C_WALL, 0 },
	{ { "gpu_ns_sum", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, C_GPU, 0 },
	{ { "pct_of_gpu", NULL, COL_REAL, UNIT_PERCENT, COL_SHARE, 0 }, SINK_SHARE, false, M_GPU, 0 },
	{ { "busy_ns_sum", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, C_BUSY, 0 },
	{ { "exposed_comm_ns_sum", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, C_COMM, 0 },
	{ { "exposed_copy_ns_sum", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, C_COPY, 0 },
	{ { "idle_ns_sum", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, C_IDLE, 0 },
	{ { "pct_idle_of_wall", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_CELL, false, C_PCT_IDLE, 0 },
	{ { "pct_missing", NULL, COL_REAL, UNIT_PERCENT, MINOR, 0 }, SINK_CELL, false, C_PCT_MISSING, 0 },
	{ { "idle_by", NULL, COL_TEXT, NONE, MINOR, 0 }, SINK_CELL, false, C_IDLE_CAUSE, 0 },
	{ { "idle_by_ns", NULL, COL_INT, NS, MINOR, 0 }, SINK_CELL, false, C_IDLE_CAUSE_NS, 0 },
	{ { "kernels_mean", NULL, COL_REAL, COUNT, MINOR, 0 }, SINK_CELL, false, C_KERNELS, 0 },
	{ { "launches_mean", NULL, COL_REAL, COUNT, 0, 0 }, SINK_CELL, false, C_LAUNCHES, 0 },
	{ { "pct_starved", NULL, COL_REAL, UNIT_PERCENT, MINOR, 0 }, SINK_CELL, false, C_STARVED, 0 },
	{ { "pct_graph", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_CELL, false, C_GRAPH, 0 },
	{ { "bound", NULL, COL_TEXT, NONE, 0, 0 }, SINK_CELL, false, C_BOUND, 0 },
	{ { "bound_recorded", NULL, COL_TEXT, NONE, MINOR, 0 }, SINK_CELL, false, C_BOUND_RECORDED, 0 },
	{ { "group", NULL, COL_INT, NONE, MINOR, 0 }, SINK_INT, true, AT(group), 0 },
	{ { "iteration", NULL, COL_INT, NONE, 0, 0 }, SINK_INT, true, AT(iteration), 0 },
	{ { "ranks", NULL, COL_INT, COUNT, 0, 0 }, SINK_COUNT, false, 0, 0 },
	{ { "requests_min", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_MIN, false, M_BATCH, 0 },
	{ { "requests_max", NULL, COL_INT, COUNT, MINOR, 0 }, SINK_MAX, false, M_BATCH, 0 },
	{ { "tokens_min", NULL, COL_INT, COUNT, 0, 0 }, SINK_MIN, false, M_TOKENS, 0 },
	{ { "tokens_max", NULL, COL_INT, COUNT, 0, 0 }, SINK_MAX, false, M_TOKENS, 0 },
	{ { "gpu_ns_min", NULL, COL_INT, NS, MINOR, 0 }, SINK_MIN, false, M_GPU, 0 },
	{ { "gpu_ns_max", NULL, COL_INT, NS, MINOR, 0 }, SINK_MAX, false, M_GPU, 0 },
	{ { "compute_ns_min", NULL, COL_INT, NS, 0, 0 }, SINK_MIN, false, M_COMPUTE, 0 },
	{ { "compute_ns_mean", NULL, COL_REAL, NS, MINOR, 0 }, SINK_MEAN, false, M_COMPUTE, 0 },
	{ { "compute_ns_max", NULL, COL_INT, NS, 0, 0 }, SINK_MAX, false, M_COMPUTE, 0 },
	{ { "imbalance_percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_CELL, false, C_IMBALANCE, 0 },
	{ { "slowest_rank", NULL, COL_INT, NONE, 0, 0 }, SINK_CELL, false, C_SLOWEST_RANK, 0 },
	SINK_COLUMNS_END,
};
/* clang-format on */

enum { OF_STEPS, OF_SUMMARY, OF_SLOW, OF_PHASES, OF_RANKS };

static struct sink_table tables[] = {
	[OF_STEPS] = { .name = "steps",
	    .columns =
		"step,what,name,pid,ts_ns,wall_ns,gpu_wall_ns,"
		"busy_launched_ns,busy_ns,idle_ns,idle_cause,"
		"idle_cause_ns,exposed_comm_ns,exposed_copy_ns,overlap_ns,"
		"drain_ns,lead_ns,gap_ns,gap_cause,data_ns,kernels,"
		"launches,phase,batch,tokens,+tokens_per_s,"
		"batch_size,context_requests,generation_requests,"
		"context_sum,generation_sum,c_sq,c_sk,c_sqsq,c_sqsk,"
		"g_sq,g_sk,g_sqsq,g_sqsk,padded_batch,spec_tokens,"
		"p_requests,d_requests,two_batch_overlap,"
		"context_lengths,format,flags,is_inferred,uid",
	    .order = SINK_AS_ADDED,
	    .is_single = true },
	[OF_SUMMARY] = { .name = "steps_summary",
	    .keys = "pid",
	    .columns = "steps,step_time,time_ns_median,time_ns_p95,"
		       "time_ns_p99,time_ns_min,time_ns_max,spread_percent,"
		       "slowest,slowest_by,slowest_by_ns,median_step_ns,"
		       "median_of,slowest_in,wall_ns_median,gpu_wall_ns_median,"
		       "drain_ns_first,drain_ns_last,window_ns,between_ns,"
		       "unlinked_count,outside_count,repeat_calls,reason",
	    .order = SINK_AS_ADDED },
	[OF_SLOW] = { .name = "steps_slow",
	    .columns =
		"step,pid,cause,call,op,module,time_ns,median_ns,more_ns,"
		"median_step,median_of,call_uid",
	    .order = SINK_AS_ADDED,
	    .is_single = true },
	[OF_PHASES] = { .name = "phase_summary",
	    .keys = "pid,phase",
	    .columns =
		"iterations,requests_mean,tokens_sum,tokens_per_s,"
		"token_ns_median,took_ns_median,took_ns_p95,"
		"took_ns_p99,wall_ns_sum,gpu_ns_sum,pct_of_gpu,"
		"busy_ns_sum,exposed_comm_ns_sum,exposed_copy_ns_sum,"
		"idle_ns_sum,pct_idle_of_wall,pct_missing,idle_by,idle_by_ns,"
		"kernels_mean,launches_mean,pct_starved,pct_graph,"
		"bound,bound_recorded",
	    .measure = M_GPU,
	    .ties = "pid,phase" },
	[OF_RANKS] = { .name = "phase_ranks",
	    .keys = "group,iteration,phase",
	    .columns = "ranks,requests_min,requests_max,tokens_min,tokens_max,"
		       "gpu_ns_min,gpu_ns_max,compute_ns_min,compute_ns_mean,"
		       "compute_ns_max,imbalance_percent,slowest_rank",
	    .order = SINK_AS_ADDED,
	    .is_joined = true },
};

static bool
is_member(const struct sink *s, const struct sink_plan *p, const void *record)
{
	const struct step_record *r = record;

	(void)s;
	switch (p->table - tables) {
	case OF_PHASES: return r->is_iteration;
	case OF_RANKS: return r->group != SINK_NONE;
	case OF_SLOW: return r->what == RECORD_IS_SLOW;
	default: return r->what < RECORD_IS_SLOW;
	}
}

/* Tables about iterations are not written to a folder without any. */
static bool
has_rows(const struct sink *s, const struct sink_table *t)
{
	const struct program *g = (const struct program *)s;

	if (s->table != NULL)
		return true;
	switch (t - tables) {
	case OF_PHASES: return g->has_iterations;
	case OF_RANKS: return g->ngroups > 0;
	default: return true;
	}
}

static bool
is_asked(const struct sink *s, const struct sink_table *t)
{
	return s->dest.dir != NULL || t == &tables[OF_STEPS];
}

/* ---- cells ---- */

static const char *
why_none_slow(const struct program *g)
{
	if (select_asks_steps(&g->asked))
		return "with --step no step is compared with the median one";
	if (!g->has_steps)
		return "no steps in the trace";
	if (!g->has_gpu)
		return "no GPU events in the trace";
	return g->has_gpu_time
	    ? "the host only enqueues, so the step time is gpu_wall: no step "
	      "is compared with the median one"
	    : "no step took longer than the median one";
}

/* Where no note is seen, as a message, if that table is asked for. */
static void
explain_none_slow(const struct program *g, struct table *t)
{
	const char *why = why_none_slow(g);

	table_note(t, "%s", why);
	if (g->sink.table != NULL && !table_has_notes(&g->sink.dest))
		report(MSG_NO_SLOW_STEPS, g->sink.sources.path, why);
}

static void
add_notes(struct sink *s, const struct sink_plan *p, struct table *t)
{
	const struct program *g = (const struct program *)s;

	if (p->table == &tables[OF_RANKS] && g->ngroups == 0)
		table_note(t,
		    "annotations do not tell which iterations of the sources "
		    "correspond");
	if (p->table == &tables[OF_PHASES] && !g->has_iterations)
		table_note(t, "no serving iterations: no phases");
	if (p->table == &tables[OF_SLOW] && !g->has_slow)
		explain_none_slow(g, t);
	if (g->inferred != 0)
		note_inferred(t, g->inferred);
	if (g->runs_of != INTERN_NONE)
		note_runs(t, dict_get(g->sink.dict, g->runs_of));
}

#define FIELD_AT(field) offsetof(struct iteration, field)

/* Whether the annotation has the field at this place. */
static bool
is_told(const struct iteration *it, size_t at)
{
	if (at < FIELD_AT(context_sum))
		return it->has_requests || it->phase == PHASE_GENERIC;
	if (at <= FIELD_AT(c_sq) || at == FIELD_AT(g_sq))
		return it->has_load;
	return it->has_sqsk || at > FIELD_AT(g_sqsk);
}

static struct cell
field_cell(const struct step_record *r, size_t at)
{
	int64_t v;

	if (!r->is_iteration || !is_told(&r->it, at))
		return cell_none();
	memcpy(&v, (const char *)&r->it + at, sizeof v);
	return v >= 0 ? cell_int(v) : cell_none();
}

static struct cell
cell(const struct sink_row *row, unsigned number)
{
	const struct step_record *r = row->first;

	if (number >= C_FIELD)
		return field_cell(r, number - C_FIELD);
	switch (number) {
	case C_UID:
		return r->has_uid && r->what == STEP_IS_STEP
		    ? cell_uid(row->table, r->rec.uid)
		    : cell_none();
	case C_CALL_UID:
		return r->has_uid ? cell_uid(row->table, r->rec.uid)
				  : cell_none();
	case C_SLOW_OF:
		return r->what == RECORD_IS_SLOW
		    ? cell_text(str_of(slow_median_word(r->is_of_fast)))
		    : summary_cell(row, number);
	case C_SLOWEST_RANK:
	case C_IMBALANCE: return ranks_cell(row, number);
	default:
		return number > C_PHASES ? phase_cell(row, number)
					 : summary_cell(row, number);
	}
}

/* ---- reading ---- */

static void
end_source(struct program *g)
{
	if (!g->has_source)
		return;
	g->has_source = false;
	steps_records(g);
}

static void
begin_source(struct program *g)
{
	if (g->has_source && g->source == g->sink.source)
		return;
	end_source(g);
	g->has_source = true;
	g->source = g->sink.source;
	host_start(&g->host, g->sink.dict, g->causes);
}

static void
take(struct sink *s, const struct stream_in *in, bool is_chosen)
{
	struct program *g = (struct program *)s;
	size_t n;
	int64_t end;

	begin_source(g);
	g->any_inst |= in->ev.uid.inst != 0;
	n = g->host.gpus.n;
	host_add(&g->host, &in->ev);
	/* counted, for messages */
	(void)!sink_takes_gpu(s, &in->ev, is_chosen, &end);
	if (g->host.gpus.n > n)
		g->host.gpus.v[n].tag =
		    (uint8_t)bucket_of_event(&s->rules, s->dict, &in->ev);
}

static void
take_heads(struct sink *s, const struct event_head *v, size_t n)
{
	struct program *g = (struct program *)s;

	begin_source(g);
	for (size_t i = 0; i < n; i++)
		g->any_inst |= v[i].uid.inst != 0;
	host_add_heads(&g->host, v, n);
}

static void
start(struct sink *s)
{
	struct program *g = (struct program *)s;

	g->causes = causes_create();
	if (g->causes_file != NULL)
		causes_load(g->causes, g->causes_file);
}

static void
finish(struct sink *s)
{
	end_source((struct program *)s);
	ranks_match((struct program *)s);
	select_end(&((struct program *)s)->asked);
	sink_sources_check(&s->sources);
}

static void
explain_empty(struct sink *s)
{
	const struct program *g = (const struct program *)s;

	if (g->asked.annotations.n == 0 && !select_asks_steps(&g->asked))
		sink_check_gpu(s);
	die_nothing(MSG_NO_STEP_MATCHES, s->sources.path);
}

static void
free_all(struct sink *s)
{
	struct program *g = (struct program *)s;

	host_free(&g->host);
	parts_free(&g->parts);
	steps_free(&g->steps);
	vec_free(&g->paces);
	causes_destroy(g->causes);
	vec_free(&g->rows);
	select_free(&g->asked);
}

/* ---- options ---- */

/* Uids of grafted events are text. */
static void
planned(struct sink *s, struct sink_plan *p)
{
	bool any_inst = ((struct program *)s)->any_inst;

	column_of_uids(p->columns.v, p->columns.n, "uid", any_inst);
	column_of_uids(p->columns.v, p->columns.n, "call_uid", any_inst);
}

static bool
take_option(struct sink *s, const struct optparse *op, int ch)
{
	struct program *g = (struct program *)s;

	switch (ch) {
	case OPT_CAUSES: g->causes_file = op->arg; return true;
	case OPT_SELECT_ANNOTATION:
	case OPT_SELECT_STEP: return select_opt(&g->asked, op, ch);
	default: return false;
	}
}

static void
check_settings(struct sink *s)
{
	struct program *g = (struct program *)s;

	g->shows_slow = sink_asked(s, &tables[OF_SLOW]);
	g->shows_summary = sink_asked(s, &tables[OF_SUMMARY]);
	s->kinds = KINDS_GPU | KINDS_HOST | KIND_BIT(KIND_PYTHON) |
	    KIND_BIT(KIND_ANNOTATION) | KIND_BIT(KIND_OVERHEAD);
	s->heads = KINDS_HOST | KIND_BIT(KIND_PYTHON) | KIND_BIT(KIND_OVERHEAD);
}

static const struct sink_def def = {
	.about = &about,
	.options = options,
	.columns = columns,
	.measures = measures,
	.nmeasures = sizeof measures / sizeof *measures,
	.tables = tables,
	.ntables = sizeof tables / sizeof *tables,
	.record_size = sizeof(struct step_record),
	.want = WANT_TREE,
	.option = take_option,
	.check = check_settings,
	.start = start,
	.take = take,
	.heads = take_heads,
	.finish = finish,
	.empty = explain_empty,
	.free = free_all,
	.asked = is_asked,
	.fits = has_rows,
	.member = is_member,
	.planned = planned,
	.notes = add_notes,
	.cell = cell,
};

int
main(int argc, char *argv[])
{
	struct program g = { .sink = { .def = &def }, .runs_of = INTERN_NONE };

	return sink_main(&g.sink, argc, argv);
}
