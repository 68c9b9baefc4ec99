/* SPDX-License-Identifier: MIT */
/*
 * tl-timeline: where did the GPU time go?
 *
 * A sink that keeps only the interval of each selected GPU event, by slice and
 * bucket; unions and differences are computed at the end.
 */
#include "cmd/tl-timeline/timeline.h"

#define OPT_BY (OPT_LONG + 0)
#define OPT_JOIN (OPT_LONG + 1)
#define OPT_MICRO_IDLE (OPT_LONG + 2)
#define OPT_CLOCK (OPT_LONG + 3)
#define OPT_ALIGN (OPT_LONG + 4)

static const struct opt options[] = {
	{ OPT_ALIGN, "align", "base|collective",
	    "--join: clocks as recorded, or aligned by collectives" },
	{ OPT_BY, "by", "annotation|dev|phase|pid|rank|recompute|src|step",
	    "one timeline per rank, device, step, ..." },
	{ OPT_CLOCK, "clock", "gpu|cpu",
	    "timeline of the GPU, or how long host threads worked" },
	{ OPT_JOIN, "join", NULL, "one timeline for all sources" },
	OPT_SINK_LINKED_ROW,
	OPT_SINK_LIST_ROW,
	{ OPT_MICRO_IDLE, "micro-idle", "TIME",
	    "split idle time: gaps below TIME, and longer ones" },
	OPT_SINK_TABLE_ROW,
	OPT_BUCKET,
	OPT_SINK,
};

static const struct about about = {
	"where did the GPU time go: computation, exposed communication, "
	"exposed copies, idle",
	"[OPTIONS] [FILE...]",
	"tl-timeline trace.json.gz",
};

static const char *const by_words[] = {
	[BY_ANNOTATION - 1] = "annotation",
	[BY_DEV - 1] = "dev",
	[BY_PHASE - 1] = "phase",
	[BY_PID - 1] = "pid",
	[BY_RANK - 1] = "rank",
	[BY_RECOMPUTE - 1] = "recompute",
	[BY_SRC - 1] = "src",
	[BY_STEP - 1] = "step",
	[BY_STEP] = NULL,
};

static const char *const align_words[] = { "base", "collective", NULL };
static const char *const clock_words[] = { "gpu", "cpu", NULL };

/* ---- columns ---- */

#define NONE UNIT_NONE
#define NS UNIT_NS
#define MINOR COL_MINOR
#define AT(field) offsetof(struct row, field)

/* clang-format off */
static const struct sink_column columns[] = {
	{ { "rank", NULL, COL_INT, NONE, 0, 0 }, SINK_INT, false, AT(rank), BY_RANK },
	{ { "annotation", NULL, COL_TEXT, NONE, 0, 0 }, SINK_KEY, false, AT(key), BY_ANNOTATION },
	{ { "dev", NULL, COL_INT, NONE, 0, 0 }, SINK_KEY, false, AT(key), BY_DEV },
	{ { "pid", NULL, COL_TEXT, NONE, MINOR, 0 }, SINK_KEY, false, AT(pid), BY_PID },
	{ { "phase", NULL, COL_TEXT, NONE, 0, 0 }, SINK_KEY, false, AT(key), BY_PHASE },
	{ { "is_recompute", NULL, COL_BOOL, NONE, 0, 0 }, SINK_BOOL, false, AT(is_recompute), BY_RECOMPUTE },
	{ { "step", NULL, COL_INT, NONE, 0, 0 }, SINK_KEY, false, AT(key), BY_STEP },
	{ { "type", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, false, AT(type), 0 },
	{ { "kinds", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, false, AT(type), 0 },
	{ { "time_ns", "time ms", COL_INT, NS, 0, 1e6 }, SINK_INT, false, AT(ns), 0 },
	{ { "mean_ns", "time ms", COL_REAL, NS, 0, 1e6 }, SINK_REAL, false, AT(mean_ns), 0 },
	{ { "thread_name", NULL, COL_TEXT, NONE, COL_NAME, 0 }, SINK_THREAD, false, 0, 0 },
	{ { "process_name", NULL, COL_TEXT, NONE, MINOR, 0 }, SINK_PROCESS, false, 0, 0 },
	{ { "tid", NULL, COL_TEXT, NONE, 0, 0 }, SINK_KEY, false, AT(tid), 0 },
	{ { "count", NULL, COL_INT, UNIT_COUNT, MINOR, 0 }, SINK_INT, false, AT(count), 0 },
	{ { "total_ns", "total_time ms", COL_INT, NS, 0, 1e6 }, SINK_INT, false, AT(total_ns), 0 },
	{ { "busy_ns", "busy_time ms", COL_INT, NS, COL_SHARE, 1e6 }, SINK_INT, false, AT(ns), 0 },
	{ { "percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, SINK_REAL, false, AT(percent), 0 },
	{ { "pct_of_busy", NULL, COL_REAL, UNIT_PERCENT, COL_SHARE, 0 }, SINK_REAL, false, AT(percent), 0 },
	{ { "flags", NULL, COL_TEXT, NONE, 0, 0 }, SINK_TEXT, false, AT(flags), BY_STEP },
	{ { "op_ns", "op_time ms", COL_INT, NS, 0, 1e6 }, SINK_INT, false, AT(host_ns[SET_OP]), 0 },
	{ { "call_ns", "call_time ms", COL_INT, NS, MINOR, 1e6 }, SINK_INT, false, AT(host_ns[SET_CALL]), 0 },
	{ { "python_ns", "python_time ms", COL_INT, NS, MINOR, 1e6 }, SINK_INT, false, AT(host_ns[SET_PYTHON]), 0 },
	{ { "slice_ns", "slice_time ms", COL_INT, NS, MINOR, 1e6 }, SINK_INT, false, AT(host_ns[SET_SLICE]), 0 },
	SINK_COLUMNS_END,
};
/* clang-format on */

static const char gpu_list[] =
    "rank,annotation,dev,pid,phase,is_recompute,step,type,time_ns,percent,"
    "flags";

enum { OF_GPU, OF_AGENT, OF_AVERAGES, OF_PROCESS, OF_KINDS, OF_HOST };

static const struct sink_measure measures[] = { { AT(ns), NULL, false } };

static struct sink_table tables[] = {
	[OF_GPU] = { .name = "gpu_timeline",
	    .columns = gpu_list,
	    .order = SINK_AS_ADDED,
	    .is_single = true },
	[OF_AGENT] = { .name = "gpu_timeline_by_agent",
	    .columns = gpu_list,
	    .order = SINK_AS_ADDED,
	    .is_single = true },
	[OF_AVERAGES] = { .name = "gpu_events_averages",
	    .columns = "type,mean_ns,percent",
	    .order = SINK_AS_ADDED,
	    .is_single = true },
	[OF_PROCESS] = { .name = "gpu_timeline_by_process",
	    .columns = gpu_list,
	    .order = SINK_AS_ADDED,
	    .is_single = true },
	[OF_KINDS] = { .name = "gpu_busy_kinds",
	    .columns = "rank,annotation,dev,pid,phase,is_recompute,step,"
		       "kinds,time_ns,pct_of_busy",
	    .order = SINK_AS_ADDED,
	    .is_single = true },
	[OF_HOST] = { .name = "host_timeline",
	    .columns = "thread_name,process_name,pid,tid,count,total_ns,"
		       "busy_ns,percent,op_ns,call_ns,python_ns,slice_ns",
	    .is_single = true },
};

static bool
is_asked(const struct sink *s, const struct sink_table *t)
{
	return (t == &tables[OF_HOST]) == timeline_of(s)->of_host &&
	    ((t != &tables[OF_AVERAGES] && t != &tables[OF_KINDS]) ||
		s->dest.dir != NULL);
}

/* Timelines by device and by process are tables of their own. */
static bool
fits(const struct sink *s, const struct sink_table *t)
{
	const enum by by = timeline_of(s)->by;

	switch (t - tables) {
	case OF_GPU: return by != BY_DEV && by != BY_PID;
	case OF_AGENT:
	case OF_AVERAGES: return by == BY_DEV;
	case OF_PROCESS: return by == BY_PID;
	default: return true;
	}
}

static bool
is_member(const struct sink *s, const struct sink_plan *p, const void *record)
{
	(void)s;
	return ((const struct row *)record)->of ==
	    (p->table == &tables[OF_AVERAGES]       ? ROW_MEAN
		    : p->table == &tables[OF_KINDS] ? ROW_KINDS
						    : ROW_TIMELINE);
}

/* The only key columns printed are those of --by. */
static bool
wants(const struct sink *s, const struct sink_table *t, unsigned by)
{
	if (t == &tables[OF_HOST])
		return by == BY_PID; /* pid of the thread */
	return timeline_of(s)->by == by &&
	    (by != BY_RANK || sink_sources_lead(&s->sources) != SINK_LEAD_RANK);
}

static void
add_notes(struct sink *s, const struct sink_plan *p, struct table *t)
{
	const struct timeline *g = timeline_of(s);
	uint64_t left_out = sink_sources_sum(&s->sources).nleft_out;

	(void)p;
	if (g->of_host || g->all_rocprof)
		return;
	if (left_out > 0)
		table_note(t,
		    "%" PRIu64 " GPU event%s without a launch %s skipped",
		    left_out, left_out == 1 ? "" : "s",
		    left_out == 1 ? "is" : "are");
	if (g->nlater > 0)
		table_note(t,
		    "%" PRIu64 " GPU event%s that these steps launched ran "
		    "outside them",
		    g->nlater, g->nlater == 1 ? "" : "s");
	if (!s->linked_only && g->nunlinked > 0)
		table_note(t,
		    "%" PRIu64 " of %" PRIu64
		    " GPU events %s no launch in the trace: unlinked_time",
		    g->nunlinked, g->nevents, HAVE(g->nunlinked));
}

/* ---- reading ---- */

struct key
timeline_key(struct timeline *g, const struct event *ev)
{
	uint32_t name;

	switch (g->by) {
	case BY_DEV: return ev->dev;
	case BY_PID:
		/* only in traces of APIs a GPU's track names a process */
		return g->sink.sources.list.v[g->sink.source].is_rocprof
		    ? g->sink.dict->tracks.v[ev->track].pid
		    : (struct key){ 0, KEY_NONE };
	case BY_PHASE: return select_phase(&g->sink.select);
	case BY_RECOMPUTE:
		return (struct key){ (ev->flags & EV_RECOMPUTE) != 0, KEY_INT };
	case BY_ANNOTATION:
		name = select_annotation_name(&g->sink.select);
		return name == INTERN_NONE ? (struct key){ 0, KEY_NONE }
					   : (struct key){ name, KEY_STR };
	default: return (struct key){ 0, KEY_NONE };
	}
}

void
timeline_add(struct timeline *g, struct slice *slice, const struct event *ev,
    struct span s)
{
	enum bucket bucket = bucket_of_event(&g->sink.rules, g->sink.dict, ev);
	unsigned set = SET_COMPUTE;

	if (bucket == BUCKET_COMM)
		set = SET_COMM;
	else if (bucket == BUCKET_MEMCPY)
		set = ev->shape->kind == KIND_MEMCPY ? SET_MEMCPY
						     : SET_COPY_KERNELS;
	else if (bucket == BUCKET_COMPUTE && ev->shape->kind == KIND_MEMSET)
		set = SET_FILLS;
	spans_add(&slice->sets[set], s.start, s.end);
	if (ev->flags & EV_UNLINKED)
		spans_add(&slice->sets[SET_UNLINKED], s.start, s.end);
	if (s.start < slice->first_ns)
		slice->first_ns = s.start;
}

void
timeline_count(struct slice *slice, const struct event *ev)
{
	slice->nevents++;
	slice->nunlinked += (ev->flags & EV_UNLINKED) != 0;
}

/* ---- windows ---- */

/* Finds the event's window of the phase or selection; false: none. */
static bool
find_window(struct timeline *g, int64_t *start_ns)
{
	bool has_window = select_window(&g->sink.select, start_ns);
	const struct step_window *w;

	if (g->by != BY_PHASE)
		return has_window;
	w = select_iteration(&g->sink.select);
	if (w == NULL || w->iteration == STEPS_NONE)
		return false;
	if (!has_window || w->start_ns > *start_ns)
		*start_ns = w->start_ns;
	return true;
}

/* A window spans its work only: time between windows is no idle time. */
static void
widen_window(struct slice *slice, int64_t start_ns, struct span s)
{
	struct spans *windows = &slice->sets[SET_WINDOW];
	struct span *w;
	bool is_new;
	uint64_t *no = map_put(&slice->windows, (uint64_t)start_ns, &is_new);

	if (is_new) {
		*no = windows->n;
		vec_push(windows, s);
	}
	w = &windows->v[*no];
	w->start = s.start < w->start ? s.start : w->start;
	w->end = s.end > w->end ? s.end : w->end;
}

static void
take(struct sink *s, const struct stream_in *in, bool is_chosen)
{
	struct timeline *g = (struct timeline *)s;
	struct slice *slice;
	int64_t end, since;
	bool is_taken;

	if (g->of_host) {
		if (is_chosen)
			host_take(g, &in->ev);
		return;
	}
	is_taken = sink_takes_gpu(s, &in->ev, is_chosen, &end);
	if (!event_is(&in->ev, KINDS_GPU) || (in->ev.shape->has & HAS_TS) == 0)
		return;
	if (g->by == BY_STEP ||
	    (g->of_steps && select_chooses_steps(&s->select))) {
		if (!is_taken)
			end = num_add_max(in->ev.ts_ns, in->ev.dur_ns);
		steps_take(g, &in->ev, is_taken, end);
	} else if (is_taken) {
		slice = slices_find(g, s->source, timeline_key(g, &in->ev));
		if (find_window(g, &since))
			widen_window(
			    slice, since, (struct span){ in->ev.ts_ns, end });
		timeline_add(
		    g, slice, &in->ev, (struct span){ in->ev.ts_ns, end });
		timeline_count(slice, &in->ev);
	}
}

/* ---- when all is read ---- */

/* A source without an answer, where others have one. */
static void
warn_empty(const struct sink *s, const struct sink_source *o)
{
	const char *label = sink_source_label(o);

	if (o->ngpu == 0)
		report(MSG_SOURCE_NO_GPU_EVENTS, label);
	else if (o->nuntimed == o->ngpu)
		report(MSG_SOURCE_NO_TIMED_GPU_EVENTS, label, o->ngpu);
	else if (s->linked_only && o->nunlinked == o->ngpu)
		report(MSG_SOURCE_NO_LINKED, label, o->nunlinked);
	else if (!select_asks_steps(&s->select) ||
	    !select_is_of_steps(&s->select)) /* else select.c has told */
		report(MSG_SOURCE_NO_MATCH, label, o->ngpu);
}

static void
finish(struct sink *s)
{
	struct timeline *g = (struct timeline *)s;

	slices_finish(g);
	if (g->of_host) {
		host_add(g);
		return;
	}
	for (size_t i = 0; i < s->sources.list.n && g->slices.n > 0; i++) {
		const struct sink_source *o = &s->sources.list.v[i];

		if (o->is_asked && o->nchosen == 0)
			warn_empty(s, o);
	}
	for (size_t i = 0; i < g->slices.n; i++)
		figures_add(g, &g->slices.v[i]);
	if (g->by == BY_DEV)
		figures_average(g);
}

static void
explain_empty(struct sink *s)
{
	if (timeline_of(s)->of_host)
		die_nothing(MSG_NO_HOST_TIME, s->sources.path, s->nevents);
	sink_die_empty(s);
}

static void
free_all(struct sink *s)
{
	slices_free((struct timeline *)s);
	join_free((struct timeline *)s);
}

/* ---- options ---- */

static bool
take_option(struct sink *s, const struct optparse *op, int ch)
{
	struct timeline *g = (struct timeline *)s;

	switch (ch) {
	case OPT_ALIGN:
		g->align = (enum align)(ALIGN_BASE + opt_word(op, align_words));
		break;
	case OPT_BY: g->by = (enum by)(opt_word(op, by_words) + 1); break;
	case OPT_CLOCK: g->of_host = opt_word(op, clock_words) == 1; break;
	case OPT_JOIN: g->join = true; break;
	case OPT_MICRO_IDLE:
		g->micro_ns = opt_time(op);
		g->has_micro = true;
		break;
	default: return false;
	}
	return true;
}

/* Options about GPU work contradict --clock cpu. */
static void
check_host(const struct timeline *g)
{
	const char *option = g->by != BY_NOTHING ? "by"
	    : g->join                            ? "join"
	    : g->sink.linked_only                ? "linked-only"
	    : g->has_micro                       ? "micro-idle"
						 : NULL;

	if (option != NULL)
		die_usage("option '--%s' needs --clock gpu", option);
}

/*
 * Whether the window of a timeline is that of the selected steps: nothing else
 * bounds it, and --by does not divide them.
 */
static bool
has_whole_steps(const struct timeline *g)
{
	const struct select *s = &g->sink.select;

	return (g->by == BY_NOTHING || g->by == BY_DEV || g->by == BY_RANK ||
		   g->by == BY_SRC) &&
	    select_asks_steps(s) != (s->annotations.n > 0) && s->phases == 0 &&
	    !s->has_from && !s->has_to;
}

static void
check_settings(struct sink *s)
{
	struct timeline *g = (struct timeline *)s;

	if (s->named != NULL)
		g->of_host = s->named == &tables[OF_HOST];
	if (g->of_host) {
		check_host(g);
		s->kinds = select_kinds(&s->select, KINDS_WORK);
		return;
	}
	if (s->named == &tables[OF_AVERAGES] || s->named == &tables[OF_AGENT])
		g->by = BY_DEV;
	if (s->named == &tables[OF_PROCESS])
		g->by = BY_PID;
	if (g->align != ALIGN_UNSAID && !g->join)
		die_usage("option '--align' needs --join");
	if (g->align == ALIGN_COLLECTIVE && s->reads_stdin)
		die_usage("option '--align' reads each input twice: not from "
			  "standard input");
	if (g->join && (g->by == BY_RANK || g->by == BY_SRC))
		die_usage("--join makes one timeline of all sources, --by %s "
			  "one of each",
		    by_words[g->by - 1]);
	select_check_gpu(&s->select);
	g->of_steps = has_whole_steps(g);
	s->select.late_steps = g->by == BY_STEP || g->of_steps;
	s->select.need_windows =
	    g->by == BY_STEP || g->by == BY_PHASE || g->by == BY_ANNOTATION;
	s->kinds = select_kinds(&s->select, KINDS_GPU);
	if (g->by == BY_RECOMPUTE) {
		/* recomputation shows in Python frames */
		s->want = WANT_TREE;
		s->kinds |= KIND_BIT(KIND_PYTHON);
	}
	s->sources.lead = g->join ? SINK_LEAD_NONE
	    : g->by == BY_SRC     ? SINK_LEAD_SRC
				  : SINK_LEAD_AUTO;
}

static const struct sink_def def = {
	.about = &about,
	.options = options,
	.columns = columns,
	.measures = measures,
	.nmeasures = 1,
	.tables = tables,
	.ntables = sizeof tables / sizeof *tables,
	.record_size = sizeof(struct row),
	.want = WANT_LINKED,
	.option = take_option,
	.source = join_take_source,
	.check = check_settings,
	.take = take,
	.finish = finish,
	.empty = explain_empty,
	.free = free_all,
	.asked = is_asked,
	.fits = fits,
	.wants = wants,
	.member = is_member,
	.notes = add_notes,
};

int
main(int argc, char *argv[])
{
	struct timeline g = { .sink = { .def = &def } };

	return sink_main(&g.sink, argc, argv);
}
