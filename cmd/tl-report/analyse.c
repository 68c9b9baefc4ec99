/* SPDX-License-Identifier: MIT */
/* The analyses, which run in parallel. */
#include "cmd/tl-report/figures.h"

static const char *const programs[] = {
	[TIMELINE] = "tl-timeline",
	[OPS] = "tl-ops",
	[KERNELS] = "tl-kernels",
	[ROOFLINE] = "tl-roofline",
	[COLLECTIVE] = "tl-collective",
	[IDLE] = "tl-idle",
	[STEPS] = "tl-steps",
	[CRITICAL] = "tl-critical",
	[LAUNCH] = "tl-launch",
};

/* The timeline first, as others wait for it; then the slowest programs. */
static const struct {
	const char *program;
	unsigned char urgency;
} urgent[] = {
	{ "tl-timeline", 5 },
	{ "tl-idle", 4 },
	{ "tl-critical", 4 },
	{ "tl-roofline", 3 },
	{ "tl-steps", 2 },
	{ "tl-health", 1 },
};

static unsigned char
urgency_of(const char *program)
{
	for (size_t i = 0; i < sizeof urgent / sizeof *urgent; i++)
		if (strcmp(urgent[i].program, program) == 0)
			return urgent[i].urgency;
	return 0;
}

struct analyses {
	struct settings *set;
	struct jobs *jobs;
	const char *format;
	bool cuts;      /* --top counts */
	bool is_joined; /* only tables that a report has of both sides */
};

/* Runs a program over all trees, for the folder; NULL if not installed. */
static struct job *
start_program(const struct analyses *a, const char *program, const char *format,
    const struct args *options, const char *top)
{
	const struct settings *s = a->set;
	/* without the timeline there is no report */
	struct job how = {
		.urgency = urgency_of(program),
		.is_side =
		    s->side > 0 || strcmp(program, programs[TIMELINE]) != 0,
		.sides = (unsigned char)(1u << s->side),
		.may_be_empty = s->side > 0 ||
		    strcmp(program, programs[IDLE]) == 0 ||
		    strcmp(program, programs[STEPS]) == 0 ||
		    strcmp(program, programs[CRITICAL]) == 0 ||
		    strcmp(program, programs[LAUNCH]) == 0,
	};
	struct args argv = { 0 };

	if (!have(program))
		return NULL;
	args_add(&argv, program);
	args_add(&argv, "--format");
	args_add(&argv, format);
	args_add(&argv, "-d");
	args_add(&argv, s->tables);
	if (options != NULL)
		args_all(&argv, options);
	args_all(&argv, &s->chosen);
	if (a->cuts && top != NULL)
		args_add(&argv, text("--top=%s", top));
	args_add(&argv, "--");
	args_all(&argv, &s->trees);
	return job_start(a->jobs, &argv, &how);
}

/* Adds one of our options, or NULL, then the user's for this program. */
static struct job *
start(const struct analyses *a, enum program p, const char *format,
    const char *option, const char *top)
{
	struct args options = { 0 };
	struct job *job;

	if (option != NULL)
		args_add(&options, option);
	args_all(&options, &a->set->options[p]);
	job = start_program(a, programs[p], format, &options, top);
	vec_free(&options.v);
	return job;
}

static const char *
top_of(const struct settings *s, const char *top)
{
	return top != NULL ? top : s->top;
}

/* One rank has only durations of collectives; but JAX's GPUs are ranks. */
static void
start_collective(const struct analyses *a)
{
	const struct settings *s = a->set;
	bool is_pair =
	    s->is_several && s->other != NULL && s->other->is_several;
	struct args options = { 0 };

	if (!s->is_several && !s->is_xla)
		args_add(&options, "--table=coll_analysis");
	args_all(&options, &s->options[COLLECTIVE]);
	for (size_t i = 0; i < s->others.v.n && is_pair; i++)
		args_add(&options, text("--vs=%s", s->others.v.v[i]));
	if (s->is_several)
		args_all(&options, &s->options[RANKS]);
	(void)start_program(a, programs[COLLECTIVE], a->format, &options, NULL);
	vec_free(&options.v);
}

/* A timeline that separates recomputed work replaces the plain one. */
static void
start_recompute(const struct analyses *a)
{
	struct args argv = { 0 };

	args_add(&argv, programs[TIMELINE]);
	args_add(&argv, "--format=csv");
	args_add(&argv, "--labels");
	args_add(&argv, "-o");
	args_add(&argv, table_path(a->set, "gpu_timeline", "csv"));
	args_all(&argv, &a->set->options[TIMELINE]);
	args_add(&argv, "--by=recompute");
	args_add(&argv, "--columns=type,time_ns,percent,is_recompute");
	args_all(&argv, &a->set->chosen);
	args_add(&argv, "--");
	args_all(&argv, &a->set->trees);
	(void)job_start(a->jobs, &argv, &(struct job){ 0 });
}

/* Without ops, screen and page list kernels by name. */
static void
start_kernels(const struct analyses *a)
{
	const struct settings *s = a->set;

	if (sheets_need(s, programs[KERNELS]))
		(void)start(
		    a, KERNELS, a->format, NULL, top_of(s, s->top_kernels));
	if ((s->has_gpus && s->is_rocprof) || s->has_processes)
		(void)start(a, KERNELS, a->format, "--table=kernels_by_pid",
		    top_of(s, s->top_kernels));
	if (!a->cuts && !s->has_ops) {
		struct args options = { 0 };

		args_add(&options, "--table=kernels_by_name");
		if (s->linked_only)
			args_add(&options, "--linked-only");
		args_all(&options, &s->options[KERNELS]);
		(void)start_program(
		    a, programs[KERNELS], a->format, &options, NULL);
		vec_free(&options.v);
	}
}

static void
start_modules(const struct analyses *a)
{
	struct args folded = { 0 };

	args_add(&folded, "--fold");
	(void)start_program(a, "tl-modules", a->format, NULL, NULL);
	(void)start_program(a, "tl-modules", a->format, &folded, NULL);
	vec_free(&folded.v);
}

/* Without GPU work: what the host did. */
static void
analyse_host(const struct analyses *a)
{
	const struct settings *s = a->set;
	struct args ops = { 0 }, clock = { 0 };

	args_add(&clock, "--clock=cpu");
	args_all(&ops, &clock);
	if (s->modules)
		args_add(&ops, "--by=module");
	args_all(&ops, &s->options[OPS]);
	(void)start_program(a, programs[TIMELINE], "ndjson", &clock, NULL);
	if (s->has_ops)
		(void)start_program(
		    a, programs[OPS], a->format, &ops, top_of(s, s->top_ops));
	vec_free(&ops.v);
	vec_free(&clock.v);
}

static void
take_timeline(void *ctx, const struct line *l)
{
	struct settings *s = ctx;
	struct str type = line_text(l, "type");
	int64_t ns = line_int(l, "time_ns");

	s->communicates |= str_eq(type, STR("total_comm_time")) && ns > 0;
	if (str_eq(type, STR("total_time"))) {
		time_add(&s->gpu_ns, ns);
		time_add(&s->idle_ns, ns);
	} else if (str_eq(type, STR("busy_time"))) {
		time_add(&s->idle_ns, -ns);
	}
}

/*
 * Why the GPU is idle in the window of the steps. If these are not contiguous:
 * before each selected event, as other work may run between them. A page has
 * room for gaps of at least 0.1 % of idle time.
 */
static void
start_idle(const struct analyses *a)
{
	const struct settings *s = a->set;
	struct args options = { 0 };

	if (!s->is_apart)
		args_add(&options, "--steps");
	args_add(&options, "--by=class,cause,call");
	args_add(&options,
	    s->has_sheets ? text("--min-gap=%" PRId64 "ns", s->idle_ns / 1000)
			  : "--min-gap=1000000s");
	args_all(&options, &s->options[IDLE]);
	(void)start_program(a, programs[IDLE], a->format, &options, NULL);
	vec_free(&options.v);
}

/*
 * tl-steps selects only by step and rank, so it runs for the whole trace or for
 * matching iterations.
 */
static void
start_steps(const struct analyses *a)
{
	if (a->set->chosen.v.n == (a->set->match != NULL ? 1 : 0))
		(void)start(a, STEPS, a->format, NULL, NULL);
}

/*
 * What the GPU's work could return, which limits the gains of its ops: the path
 * if it took no time.
 */
static void
start_what_if(const struct analyses *a)
{
	struct args options = { 0 };

	if (a->is_joined || !sheet_is_wanted(a->set, "what_if"))
		return;
	args_add(&options, "--table=what_if");
	args_add(&options, "--what-if=gpu:*=0");
	args_all(&options, &a->set->options[CRITICAL]);
	(void)start_program(a, programs[CRITICAL], a->format, &options, NULL);
	vec_free(&options.v);
}

/*
 * The path of a part of the trace is only found if asked for, as tl-critical
 * takes fewer selections. Its other tables have an event a row. Without a
 * launch the path is of the GPU alone: bounds say little, kernels and GPU
 * streams are what is known.
 */
static void
start_critical(const struct analyses *a)
{
	const struct settings *s = a->set;
	struct args ranks = { 0 }, path = { 0 };

	if (!sheet_is_wanted(s, "critical_path") ||
	    (!s->critical && s->chosen.v.n > 0))
		return;
	args_add(&path, "--table=critical_path");
	if (!s->has_linked)
		args_add(&path, "--by=bound,kind,name,thread");
	args_all(&path, &s->options[CRITICAL]);
	if (s->has_sheets)
		(void)start_program(
		    a, programs[CRITICAL], a->format, &path, NULL);
	vec_free(&path.v);
	args_add(&ranks, "--table=critical_ranks");
	args_add(&ranks, "--job");
	args_all(&ranks, &s->options[CRITICAL]);
	if (s->critical && s->is_several && s->communicates &&
	    !s->no_collective && !a->is_joined)
		(void)start_program(
		    a, programs[CRITICAL], a->format, &ranks, NULL);
	vec_free(&ranks.v);
}

/* Health of the whole recording. */
static void
start_health(const struct analyses *a)
{
	const struct job how = { .urgency = urgency_of("tl-health"),
		.is_side = true,
		.sides = (unsigned char)(1u << a->set->side),
		.is_verdict = true };
	struct args argv = { 0 };

	/* tl-health does not select */
	if (!have("tl-health") || a->set->select.ranks.ranges.n > 0)
		return;
	args_add(&argv, "tl-health");
	args_add(&argv, "--quiet");
	args_add(&argv, "--format");
	args_add(&argv, a->format);
	args_add(&argv, "-d");
	args_add(&argv, a->set->tables);
	args_add(&argv, "--");
	args_all(&argv, &a->set->trees);
	(void)job_start(a->jobs, &argv, &how);
}

/* The timeline split up. */
static void
start_parts(const struct analyses *a)
{
	const struct settings *s = a->set;

	/* a process of JAX drives all GPUs of its host */
	if (s->is_xla)
		(void)start(a, TIMELINE, "ndjson", "--by=dev", NULL);
	if (s->has_gpus)
		(void)start(a, TIMELINE, "ndjson",
		    "--table=gpu_timeline_by_agent", NULL);
	if (s->has_processes)
		(void)start(a, TIMELINE, "ndjson", "--by=pid", NULL);
}

/* What the timeline says is worth it. */
static void
start_rest(const struct analyses *a)
{
	const struct settings *s = a->set;

	if (sheets_need(s, programs[LAUNCH]))
		(void)start(a, LAUNCH, a->format,
		    text("--table=%s", sheets_wanted(s, programs[LAUNCH])),
		    NULL);
	if (s->dir != NULL && s->recompute && !s->is_several)
		start_recompute(a);
	if (s->communicates && !s->no_collective &&
	    (s->has_calls || s->is_several))
		start_collective(a);
}

/*
 * The timeline comes first: it says whether there are collectives and idle
 * time.
 */
static void
analyse_gpu(const struct analyses *a)
{
	struct settings *s = a->set;
	const char *stats = versus_by_op(s)
	    ? text("--diff=%s", table_path(s, "diff_stats", "ndjson"))
	    : NULL;
	struct job *timeline;

	if (s->has_ops)
		(void)start(
		    a, ROOFLINE, a->format, stats, top_of(s, s->top_roofline));
	if (s->has_ops && !a->is_joined)
		(void)start(a, OPS, a->format, NULL, top_of(s, s->top_ops));
	if (!a->is_joined)
		start_kernels(a);
	timeline = start(a, TIMELINE, "ndjson", NULL, NULL);
	if (!a->is_joined)
		start_parts(a);
	if (s->modules)
		start_modules(a);
	start_health(a);
	job_wait_for(a->jobs, timeline);
	table_each(table_path(s, "gpu_timeline", "ndjson"), take_timeline, s);
	/* these are about all GPU work */
	if (!s->linked_only) {
		start_idle(a);
		start_steps(a);
		start_what_if(a);
		start_critical(a);
	}
	if (!a->is_joined)
		start_rest(a);
}

static void
analyse_side(
    struct settings *s, struct jobs *j, const char *format, bool is_joined)
{
	const struct analyses a = { s, j, format, strcmp(format, "csv") == 0,
		is_joined };

	if (!s->is_host)
		analyse_gpu(&a);
	else if (!is_joined)
		analyse_host(&a);
}

/* Programs that are not installed become warnings on the screen. */
static void
note_missing(const struct settings *s, struct jobs *j)
{
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		if (!(i == COLLECTIVE && s->no_collective) &&
		    !((i == CRITICAL || i == LAUNCH) &&
			!sheets_need(s, programs[i])) &&
		    !have(programs[i]))
			records_missing(j, programs[i]);
	if (s->modules && !have("tl-modules"))
		records_missing(j, "tl-modules");
	if (!s->is_host && !have("tl-health"))
		records_missing(j, "tl-health");
	if (!s->is_host && !have("tl-advise"))
		records_missing(j, "tl-advise");
}

/* If a selection has gaps, its timeline includes the time in them. */
static bool
is_advised(const struct settings *s)
{
	return !s->is_host && !s->is_apart && !select_is_apart(&s->select) &&
	    /* no timeline: no GPU event has a time */
	    is_there(table_path(s, "gpu_timeline", "ndjson"));
}

void
analyse(struct settings *s, struct jobs *j, const char *format, bool is_whole)
{
	analyse_side(s, j, format, false);
	if (s->other != NULL)
		analyse_side(s->other, j, format, !is_whole);
	note_missing(s, j);
	if (strcmp(format, "ndjson") == 0 && have("tl-advise")) {
		job_wait(j);
		if (is_advised(s))
			advice_start(s, j, format);
		if (s->other != NULL && is_whole && is_advised(s->other))
			advice_start(s->other, j, format);
	}
	job_finish(j, s->dir != NULL);
	if (s->is_host)
		report(MSG_HOST_ONLY, traces_name(s));
}
