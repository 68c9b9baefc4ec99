/* SPDX-License-Identifier: MIT */
/*
 * tl-critical: what bounds the step, and what would bound it then?
 *
 * A sink that keeps a source whole (trace/host.h) and builds its graph when it
 * ends; see critical.h.
 */
#include "cmd/tl-critical/critical.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define OPT_BY (OPT_LONG + 0)
#define OPT_CAUSES (OPT_LONG + 1)
#define OPT_JOB (OPT_LONG + 6)
#define OPT_GPU (OPT_LONG + 2)
#define OPT_NO_GAPS (OPT_LONG + 3)
#define OPT_OVERLAY (OPT_LONG + 4)
#define OPT_WHAT_IF (OPT_LONG + 5)

#define WHAT_IF_MAX 200
#define BY_WORDS "bound, kind, name, op, module, thread"

static const struct opt options[] = {
	{ OPT_SELECT_ANNOTATION, "annotation", "NAME[#N]",
	    "only inside annotations like NAME, or the Nth of them" },
	OPT_BUCKET,
	{ OPT_BY, "by", "WHAT,...", BY_WORDS },
	{ OPT_CAUSES, "causes", "FILE",
	    "more rules: names of calls and their cause" },
	{ OPT_SELECT_FROM, "from", "TIME",
	    "only from TIME after the first event" },
	{ OPT_GPU, "gpu", NULL,
	    "with --what-if: scale the kernels a host event launches too" },
	{ OPT_JOB, "job", NULL, "inputs are the ranks of one job" },
	OPT_SINK_LIST_ROW,
	{ OPT_NO_GAPS, "no-gaps", NULL,
	    "what if there were no gaps, latencies and stalls" },
	{ OPT_OVERLAY, "overlay", NULL,
	    "write the stream with the path marked and drawn" },
	{ OPT_SELECT_RANK, "rank", "RANK,...", "only these ranks: 0,4-7" },
	{ OPT_SELECT_STEP, "step", "STEP,...",
	    "only in these steps: 3-7, last, slowest" },
	OPT_SINK_TABLE_ROW,
	{ OPT_SELECT_TO, "to", "TIME",
	    "only up to TIME after the first event" },
	OPT_SELECT_HINT,
	OPT_TABLE,
	{ OPT_WHAT_IF, "what-if", "GLOB=FACTOR",
	    "what if events like GLOB took FACTOR times as long" },
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"what bounds the step: critical path, slack and what-if",
	"[OPTIONS] [FILE...]",
	"tl-critical --what-if '*gemm*=0.5' trace.json.gz",
};

/* ---- columns ---- */

/* Cells computed in cell(). */
enum { C_COUNT, C_MAX, C_LONGEST, C_LONGEST_UID, C_CHANGE };

/* Columns that depend on options. */
enum { ONLY_WITH_GAPS = 1 };

enum { M_TIME, M_AFTER, M_LEAST };

#define AT(field) offsetof(struct critical_record, field)
#define NONE UNIT_NONE
#define NS UNIT_NS
#define NAME COL_NAME

static const struct sink_measure measures[] = {
	[M_TIME] = { AT(ns), NULL, false },
	[M_AFTER] = { AT(after_ns), NULL, false },
	[M_LEAST] = { AT(least_ns), NULL, false },
};

/* clang-format off */
static const struct sink_column columns[] = {
	{ { "bound", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, true, AT(bound), 0 },
	{ { "kind", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, true, AT(kind), 0 },
	{ { "name", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, true, AT(name), 0 },
	{ { "op", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, true, AT(op), 0 },
	{ { "module", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_TEXT, true, AT(module), 0 },
	{ { "thread", NULL, COL_TEXT, NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(thread), 0 },
	{ { "uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_UID, false, AT(uid), 0 },
	{ { "ts_ns", NULL, COL_INT, NS, COL_POSITION, 0 }, SINK_INT, false, AT(rec.ts_ns), 0 },
	{ { "time_ns", NULL, COL_INT, NS, COL_SHARE, 0 }, SINK_SUM, false, M_TIME, 0 },
	{ { "percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_SHARE, false, M_TIME, 0 },
	{ { "count", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_CELL, false, C_COUNT, 0 },
	{ { "time_ns_max", NULL, COL_INT, NS, 0, 0 }, SINK_CELL, false, C_MAX, 0 },
	{ { "longest_in", NULL, COL_TEXT, NONE, NAME, 0 }, SINK_CELL, false, C_LONGEST, 0 },
	{ { "longest_uid", NULL, COL_INT, NONE, COL_MINOR, 0 }, SINK_CELL, false, C_LONGEST_UID, 0 },
	{ { "residual_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(residual_ns), 0 },
	{ { "residual", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, false, AT(label), 0 },
	{ { "is_inferred", NULL, COL_BOOL, NONE, COL_MINOR, 0 }, SINK_BOOL, false, AT(is_inferred), 0 },
	{ { "slack_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(slack_ns), 0 },
	{ { "before_ns", NULL, COL_INT, NS, 0, 0 }, SINK_SUM, false, M_TIME, 0 },
	{ { "after_ns", NULL, COL_INT, NS, 0, 0 }, SINK_SUM, false, M_AFTER, ONLY_WITH_GAPS },
	{ { "after_no_gaps_ns", NULL, COL_INT, NS, 0, 0 }, SINK_SUM, false, M_LEAST, 0 },
	{ { "loss_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(loss_ns), 0 },
	{ { "loss_percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_REAL, false, AT(loss_percent), 0 },
	{ { "by_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(least_ns), 0 },
	{ { "excess_ns", NULL, COL_INT, NS, 0, 0 }, SINK_INT, false, AT(excess_ns), 0 },
	{ { "chain", NULL, COL_TEXT, NONE, COL_WRAPPED, 0 }, SINK_TEXT, false, AT(chain), 0 },
	{ { "change", NULL, COL_TEXT, NONE, 0, 0 }, SINK_CELL, false, C_CHANGE, 0 },
	SINK_COLUMNS_END,
};
/* clang-format on */

enum { OF_PATH, OF_EVENTS, OF_SLACK, OF_RANKS, OF_WHAT_IF };

static struct sink_table tables[] = {
	[OF_PATH] = { .name = "critical_path",
	    .keys = "bound,kind" /* or the words of --by */,
	    .columns =
		"time_ns,percent,count,time_ns_max,longest_in,longest_uid",
	    .measure = M_TIME },
	[OF_EVENTS] = { .name = "critical_events",
	    .columns = "ts_ns,kind,bound,name,uid,op,thread,time_ns,"
		       "residual_ns,residual,is_inferred",
	    .order = SINK_AS_ADDED,
	    .is_single = true },
	[OF_SLACK] = { .name = "slack",
	    .columns = "slack_ns,name,uid,op,thread,ts_ns,time_ns",
	    .order = SINK_AS_ADDED,
	    .is_single = true },
	[OF_RANKS] = { .name = "critical_ranks",
	    .columns = "loss_ns,loss_percent,by_ns,name,uid,excess_ns,chain",
	    .order = SINK_AS_ADDED,
	    .is_single = true },
	[OF_WHAT_IF] = { .name = "what_if",
	    .keys = "bound" /* as above */,
	    .columns = "before_ns,after_ns,after_no_gaps_ns,change",
	    .measure = M_AFTER },
};

static const struct program *
program_of(const struct sink *s)
{
	return (const struct program *)s;
}

static bool
is_what_if(const struct sink *s)
{
	return program_of(s)->what_if.n > 0 || program_of(s)->no_gaps;
}

static bool
is_asked(const struct sink *s, const struct sink_table *t)
{
	if (program_of(s)->with_overlay)
		return false;
	if (t == &tables[OF_WHAT_IF])
		return is_what_if(s);
	if (t == &tables[OF_RANKS] && !program_of(s)->is_job)
		return false;
	return s->dest.dir != NULL || (t == &tables[OF_PATH] && !is_what_if(s));
}

static bool
wants(const struct sink *s, const struct sink_table *t, unsigned only)
{
	(void)t;
	(void)only;
	return !program_of(s)->no_gaps;
}

static bool
is_member(const struct sink *s, const struct sink_plan *p, const void *record)
{
	const struct critical_record *r = record;

	(void)s;
	switch (p->table - tables) {
	case OF_PATH: return r->what == IS_PATH && r->ns > 0;
	case OF_EVENTS: return r->what == IS_EVENT;
	case OF_SLACK: return r->what == IS_SLACK;
	case OF_RANKS: return r->what == IS_RANK;
	default: return r->what == IS_PATH || r->what == IS_TOTAL;
	}
}

/* Share of the window; of a job there is one. */
static double
whole(const struct sink *s, const struct sink_plan *p, uint32_t source)
{
	const struct span *w = &program_of(s)->graph.window;

	(void)p;
	(void)source;
	return program_of(s)->is_job ? (double)(w->end - w->start) : NAN;
}

/* Threads of one name share a row. */
static struct critical_record
whole_row(const struct sink_row *row)
{
	struct critical_record all = { 0 };

	for (size_t i = 0; i < row->group->n; i++) {
		const struct critical_record *r = sink_row_record(row, i);
		int64_t count = all.count + r->count;

		if (i == 0 || r->longest_ns > all.longest_ns)
			all = *r;
		all.count = count;
	}
	return all;
}

/* "entered", "left" or "-14.1 %". */
static struct cell
change(const struct sink_row *row)
{
	const int64_t *sums = row->group->sums;
	int64_t before = sums[M_TIME];
	int64_t after =
	    sums[program_of(row->sink)->no_gaps ? M_LEAST : M_AFTER];
	double percent;

	if (before == 0 && after == 0)
		return cell_none();
	if (before == 0)
		return cell_text(STR("entered"));
	if (after == 0)
		return cell_text(STR("left"));
	percent = (double)(after - before) / (double)before * 100;
	row->text->len = 0;
	buf_printf(row->text,
	    percent > -0.05 && percent < 0.05 ? "0.0 %%" : "%+.1f %%", percent);
	return sink_row_text(row);
}

static struct cell
cell(const struct sink_row *row, unsigned number)
{
	switch (number) {
	case C_COUNT: return cell_int(whole_row(row).count);
	case C_MAX: return cell_int(whole_row(row).longest_ns);
	case C_LONGEST:
		return cell_string(row->sink->dict, whole_row(row).name);
	case C_LONGEST_UID: return cell_uid(row->table, whole_row(row).uid);
	default: return change(row);
	}
}

static void
planned(struct sink *s, struct sink_plan *p)
{
	column_of_uids(
	    p->columns.v, p->columns.n, "longest_uid", program_of(s)->any_inst);
}

/* ---- reading ---- */

/* A job keeps all recordings. */
static void
end_source(struct program *g)
{
	if (!g->has_source)
		return;
	g->has_source = false;
	if (g->is_job)
		host_ready(&g->recording->host);
	else
		critical_records(g);
}

static void
begin_source(struct program *g)
{
	end_source(g);
	g->has_source = true;
	if (g->recording == NULL || g->is_job) {
		g->recording = xcalloc(1, sizeof *g->recording);
		g->recording->number = (uint32_t)g->all.n;
		vec_push(&g->all, g->recording);
	}
	g->recording->source = g->sink.source;
	recording_start(g->recording, g->sink.dict, g->causes);
	g->recording->first_ns = g->first_ns;
}

static void
take_source(struct sink *s, const struct source *src)
{
	struct program *g = (struct program *)s;

	if ((g->with_overlay || g->is_job) && s->sources.is_stdin)
		die_usage("options '--job' and '--overlay' read each input "
			  "twice: not from standard input");
	(void)source_int(src, "world_size", &g->world);
	if (!source_int(src, "first", &g->first_ns))
		g->first_ns = 0;
}

static void
take(struct sink *s, const struct stream_in *in, bool is_chosen)
{
	struct program *g = (struct program *)s;
	struct recording *r;
	const struct event *ev = &in->ev;
	size_t n;
	int64_t end;

	if (!g->has_source || g->recording->source != s->source)
		begin_source(g);
	r = g->recording;
	n = r->host.gpus.n;
	host_add(&r->host, ev);
	waits_take(&r->waits, s->dict, ev);
	/* only counts, for messages */
	(void)!sink_takes_gpu(s, ev, is_chosen, &end);
	if (r->host.gpus.n > n)
		r->host.gpus.v[n].tag =
		    (uint8_t)bucket_of_event(&s->rules, s->dict, ev);
}

static void
take_heads(struct sink *s, const struct event_head *v, size_t n)
{
	struct program *g = (struct program *)s;

	if (!g->has_source || g->recording->source != s->source)
		begin_source(g);
	host_add_heads(&g->recording->host, v, n);
	waits_take_heads(&g->recording->waits, s->dict, v, n);
}

static void
intern_list(struct program *g, uint32_t *to, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = intern_put(g->sink.dict->text, str_of(words[i]));
}

static void
intern_words(struct program *g)
{
	static const char *const buckets[BUCKET_COUNT] = {
		[BUCKET_NONE] = "compute",
		[BUCKET_COMPUTE] = "compute",
		[BUCKET_COMM] = "communication",
		[BUCKET_MEMCPY] = "copy",
	};
	static const char *const labels[LABELS] = { "latency", "gap", "stall" };

	intern_list(g, g->words, edge_words, EDGE_KINDS);
	intern_list(g, g->bounds, cause_words, CAUSE_COUNT);
	intern_list(g, g->bounds + BOUND_BUCKET, buckets, BUCKET_COUNT);
	intern_list(g, g->bounds + BOUND_LABEL, labels, LABELS);
}

static void
start(struct sink *s)
{
	struct program *g = (struct program *)s;

	intern_words(g);
	g->causes = causes_create();
	if (g->causes_file != NULL)
		causes_load(g->causes, g->causes_file);
}

static void
finish(struct sink *s)
{
	struct program *g = (struct program *)s;

	end_source(g);
	if (g->is_job && g->all.n > 0)
		critical_job(g);
	select_end(&g->asked);
	sink_sources_check(&s->sources);
	if (g->npaths > 0 && g->with_overlay)
		overlay_write(g);
	for (size_t i = 0; g->npaths > 0 && i < g->what_if.n; i++) {
		const struct what_if *w = &g->what_if.v[i];

		if (!w->is_used)
			report(MSG_NO_SUCH_NAME, s->sources.path, w->glob,
			    there_str(&g->other_names));
		/* to scale all GPU work asks about the host */
		if (w->has_comm && !w->has_other && w->factor < SCALE_UNIT &&
		    !g->is_job)
			report(MSG_WHAT_IF_WAITS, s->sources.path, w->glob);
	}
}

static void
explain_empty(struct sink *s)
{
	if (program_of(s)->npaths > 0) /* --overlay has no records */
		return;
	if (!program_of(s)->asked.is_of_events)
		sink_check_gpu(s);
	die_nothing(MSG_NO_EVENT_MATCHES, s->sources.path,
	    select_there(&program_of(s)->asked));
}

static void
add_notes(struct sink *s, const struct sink_plan *p, struct table *t)
{
	if (p->table == &tables[OF_RANKS])
		costs_note(program_of(s), t);
	if (p->table == &tables[OF_WHAT_IF])
		gain_note(program_of(s), t);
	if (program_of(s)->inferred != 0)
		note_inferred(t, program_of(s)->inferred);
	if (program_of(s)->runs_of != INTERN_NONE)
		note_runs(t, dict_get(s->dict, program_of(s)->runs_of));
}

static void
summary(const struct sink *s)
{
	const struct program *g = program_of(s);

	note("%" PRIu64 " dependencies contradict the times, %" PRIu64
	     " form a cycle: skipped",
	    g->nnegative, g->ncircular);
}

static void
free_all(struct sink *s)
{
	struct program *g = (struct program *)s;

	graph_free(&g->graph);
	for (size_t i = 0; i < g->all.n; i++) {
		recording_free(g->all.v[i]);
		free(g->all.v[i]);
	}
	vec_free(&g->all);
	ranks_free(g);
	causes_destroy(g->causes);
	for (size_t i = 0; i < g->overlays.n; i++) {
		map_free(&g->overlays.v[i].marked);
		vec_free(&g->overlays.v[i].ends);
	}
	vec_free(&g->overlays);
	map_free(&g->gain.by_bound);
	vec_free(&g->what_if);
	vec_free(&g->what_globs);
	there_free(&g->other_names);
	select_free(&g->asked);
}

/* ---- options ---- */

static void
skip(struct str *s, size_t n)
{
	s->p += n;
	s->len -= n;
}

/* GLOB=NUMBER, and no option or file. */
static bool
is_what_if_word(const char *word)
{
	const char *factor = strrchr(word, '=');
	double number;

	return *word != '-' && factor != NULL &&
	    num_double(str_of(factor + 1), &number) && access(word, F_OK) != 0;
}

static void
take_what_if(struct program *g, const char *arg)
{
	struct str text = str_of(arg), factor;
	struct what_if w = { .of_host = true, .of_gpu = true };
	size_t at = text.len;

	while (at > 0 && text.p[at - 1] != '=')
		at--;
	factor = (struct str){ text.p + at, text.len - at };
	w.glob = (struct str){ text.p, at > 0 ? at - 1 : 0 };
	if (str_starts(w.glob, STR("gpu:")))
		w.of_host = false;
	else if (str_starts(w.glob, STR("host:")))
		w.of_gpu = false;
	if (!w.of_host || !w.of_gpu)
		skip(&w.glob, w.of_gpu ? 4 : 5);
	if (w.glob.len == 0 || !num_text_scale(factor, 6, &w.factor) ||
	    w.factor < 0 || w.factor > 1000 * (int64_t)SCALE_UNIT)
		die_usage("option '--what-if' needs GLOB=FACTOR, as "
			  "'*gemm*=0.5', with a factor of 0 to 1000, not '%s'",
		    arg);
	if (g->what_if.n == WHAT_IF_MAX)
		die_usage(
		    "option '--what-if' comes more than %d times", WHAT_IF_MAX);
	vec_push(&g->what_if, w);
	vec_push(&g->what_globs, w.glob);
}

static bool
take_option(struct sink *s, const struct optparse *op, int ch)
{
	struct program *g = (struct program *)s;

	switch (ch) {
	case OPT_BY:
		tables[OF_PATH].keys = tables[OF_WHAT_IF].keys =
		    sink_opt_keys(op, BY_WORDS);
		return true;
	case OPT_CAUSES: g->causes_file = op->arg; return true;
	case OPT_JOB: g->is_job = true; return true;
	case OPT_GPU: g->with_kernels = true; return true;
	case OPT_NO_GAPS: g->no_gaps = true; return true;
	case OPT_OVERLAY: g->with_overlay = true; return true;
	case OPT_WHAT_IF:
		for (const char *arg = op->arg; arg != NULL;
		     arg = opt_more(op, is_what_if_word))
			take_what_if(g, arg);
		return true;
	case OPT_SELECT_ANNOTATION:
	case OPT_SELECT_FROM:
	case OPT_SELECT_STEP:
	case OPT_SELECT_TO: return select_opt(&g->asked, op, ch);
	default: return false;
	}
}

static void
check_settings(struct sink *s)
{
	struct program *g = (struct program *)s;
	const char *by = tables[OF_PATH].keys;

	if (g->is_job)
		select_refuse_slowest(&g->asked);
	if (g->with_kernels && g->what_if.n == 0)
		die_usage("option '--gpu' says what --what-if is about");
	if (g->with_overlay &&
	    (s->table != NULL || s->dest.dir != NULL || is_what_if(s)))
		die_usage("option '--overlay' writes a stream, not a table");
	s->kinds = KINDS_GPU | KINDS_HOST | KIND_BIT(KIND_PYTHON) |
	    KIND_BIT(KIND_ANNOTATION) | KIND_BIT(KIND_OVERHEAD) |
	    KIND_BIT(KIND_SYNC);
	s->heads = KINDS_HOST | KIND_BIT(KIND_PYTHON) | KIND_BIT(KIND_OVERHEAD);
	g->by_words = sink_list_within(by, "bound,kind");
	sink_fold_start(&g->paths, s, &tables[OF_PATH]);
	g->with_paths = sink_asked(s, &tables[OF_PATH]) ||
	    sink_asked(s, &tables[OF_WHAT_IF]);
	g->with_events = sink_asked(s, &tables[OF_EVENTS]);
	g->with_ranks = sink_asked(s, &tables[OF_RANKS]);
	if (s->named == &tables[OF_RANKS] && !g->is_job)
		die_usage("the table critical_ranks needs option '--job'");
	g->with_slack = sink_asked(s, &tables[OF_SLACK]);
	g->with_above = s->dest.dir != NULL || s->named != NULL ||
	    sink_list_has(by, STR("op")) || sink_list_has(by, STR("module"));
}

static const struct sink_def def = {
	.about = &about,
	.options = options,
	.columns = columns,
	.measures = measures,
	.nmeasures = sizeof measures / sizeof *measures,
	.tables = tables,
	.ntables = sizeof tables / sizeof *tables,
	.record_size = sizeof(struct critical_record),
	.want = WANT_TREE,
	.option = take_option,
	.check = check_settings,
	.start = start,
	.take = take,
	.heads = take_heads,
	.source = take_source,
	.finish = finish,
	.empty = explain_empty,
	.summary = summary,
	.free = free_all,
	.asked = is_asked,
	.wants = wants,
	.member = is_member,
	.planned = planned,
	.whole = whole,
	.notes = add_notes,
	.cell = cell,
};

int
main(int argc, char *argv[])
{
	struct program g = { .sink = { .def = &def }, .runs_of = INTERN_NONE };

	return sink_main(&g.sink, argc, argv);
}
