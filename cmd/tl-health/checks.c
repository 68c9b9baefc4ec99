/* SPDX-License-Identifier: MIT */
/* The checks: what each is about, and its limits. */
#include "cmd/tl-health/health.h"

#include <math.h>

const char *const severity_words[SEVERITIES] = {
	[SOUND] = "sound",
	[NOTE] = "note",
	[WARNING] = "warning",
	[MISLEADING] = "misleading",
};

#define NEVER INFINITY
#define ANY 1e-9 /* a share: any event at all */
#define GPU_TIME "GPU time"
#define GPU_EVENTS "GPU events"
#define EVENTS "events"
#define WINDOW "the recording"
#define SPAN "the GPU span"
#define LAUNCHES "launches"
#define CALLS "API calls"
/* Figures that need links to find the owner of GPU work. */
#define FIGURES_OWNERS                                                 \
	(FIGURE_OPS | FIGURE_MODULES | FIGURE_ROOFLINE | FIGURE_IDLE | \
	    FIGURE_LAUNCHES)

const struct check_def checks[CHECKS] = {
	[CHECK_TIME_ZERO] = { "time.zero", GPU_EVENTS, 0, ANY,
	    "events start at time 0, hours before all others",
	    "idle time, steps, span", "drop them: tl-filter --from",
	    FIGURE_IDLE | FIGURE_STEPS },
	[CHECK_TIME_HUGE] = { "time.huge", GPU_EVENTS, 0, ANY,
	    "events last longer than a day", "all times",
	    "drop them: tl-filter --to", FIGURES_ALL },
	[CHECK_TIME_NEGATIVE] = { "time.negative", GPU_EVENTS, 0, 5,
	    "durations are negative; they count as 0",
	    "busy time, kernels, ops", "update the profiler",
	    FIGURE_BUSY | FIGURE_KERNELS | FIGURE_OPS },
	[CHECK_TIME_NO_DURATION] = { "time.no_duration", GPU_EVENTS, 10, 50,
	    "GPU events have no duration", "busy time, kernels, ops",
	    "use a profiler that records nanoseconds",
	    FIGURE_BUSY | FIGURE_KERNELS | FIGURE_OPS },
	[CHECK_TIME_JUMP] = { "time.jump", WINDOW, 0, NEVER,
	    "nothing is recorded for most of the time: a clock jumped, or the "
	    "profiler was off",
	    "idle time, span", "look at each part: tl-filter --from, --to",
	    FIGURE_IDLE },
	[CHECK_TIME_BEFORE_LAUNCH] = { "time.before_launch", GPU_EVENTS, 1, 25,
	    "GPU events start before their launch: the clocks of host and GPU "
	    "differ",
	    "launch latency, queue delay, causes of idle time",
	    "compare times of one side only", FIGURE_LAUNCHES | FIGURE_IDLE },
	[CHECK_TIME_OUTSIDE] = { "time.outside", GPU_TIME, 10, NEVER,
	    "GPU events lie outside the profiler's window", "idle time, span",
	    "select steps: --step", FIGURE_IDLE },
	[CHECK_TIME_OVERRUN] = { "time.overrun", GPU_TIME, 1, 20,
	    "GPU events end after the next one of their GPU stream has ended",
	    "kernel times, ops, roofline",
	    "their durations are too long: compare with another run",
	    FIGURE_KERNELS | FIGURE_OPS | FIGURE_ROOFLINE },
	[CHECK_TIME_OVERLAP] = { "time.overlap", GPU_TIME, 10, NEVER,
	    "GPU events overlap the next one of their GPU stream",
	    "kernel times, ops, roofline",
	    "sums of kernel times exceed busy time: use tl-timeline",
	    FIGURE_KERNELS | FIGURE_OPS | FIGURE_ROOFLINE },
	[CHECK_TIME_DOMINANT] = { "time.dominant", GPU_TIME, NEVER, NEVER,
	    "one GPU event takes most of the busy time", "timeline, ops",
	    "look at it: does it wait for a peer, or is its end wrong?",
	    FIGURE_BUSY | FIGURE_OPS },
	[CHECK_TIME_COARSE] = { "time.coarse", "a mean GPU event", 25, NEVER,
	    "times are multiples of 1 us or more",
	    "short kernels, gaps, roofline",
	    "use a profiler that records nanoseconds",
	    FIGURE_KERNELS | FIGURE_IDLE | FIGURE_ROOFLINE },
	[CHECK_TIME_BURST] = { "time.burst", GPU_EVENTS, 5, NEVER,
	    "GPU events of one GPU stream start at the same time",
	    "kernel times, gaps", "compare with another run",
	    FIGURE_KERNELS | FIGURE_IDLE },
	[CHECK_TIME_RANKS] = { "time.ranks", "ranks", 0, NEVER,
	    "ranks have no time in common with the first: their clocks differ, "
	    "or they are of different runs",
	    "skew, waiting, late ranks", "tl-collective --align-clocks",
	    FIGURE_COLLECTIVES },
	[CHECK_LINK_NO_LAUNCH] = { "links.no_launch", GPU_TIME, 5, 50,
	    "GPU events have no launch in the trace",
	    "ops, modules, roofline, causes of idle time",
	    "read tl-kernels and tl-timeline, which count them",
	    FIGURES_OWNERS },
	[CHECK_LINK_NO_WORK] = { "links.no_work", LAUNCHES, 1, 20,
	    "launches have no GPU event: the profiler dropped their work",
	    "busy and idle time, kernels, ops",
	    "enlarge the profiler's buffers, "
	    "record fewer steps",
	    FIGURE_BUSY | FIGURE_IDLE | FIGURE_KERNELS | FIGURE_OPS |
		FIGURE_LAUNCHES },
	[CHECK_LINK_NO_OP] = { "links.no_op", GPU_TIME, NEVER, NEVER,
	    "GPU events are launched outside ops", "ops, modules, roofline",
	    "record the CPU's activities; graft the ops of graphs: tl-graft",
	    FIGURE_OPS | FIGURE_MODULES | FIGURE_ROOFLINE },
	[CHECK_LINK_NO_ID] = { "links.no_id", GPU_TIME, 1, NEVER,
	    "GPU events have no correlation id, or none of their calls is "
	    "proven to have launched them",
	    "ops, modules, roofline, causes of idle time", "", FIGURES_OWNERS },
	[CHECK_LINK_SHARED] = { "links.shared", CALLS, ANY, 20,
	    "calls have the correlation id of an earlier one",
	    "ops, modules, roofline, causes of idle time",
	    "were traces merged? pass each by itself", FIGURES_OWNERS },
	[CHECK_LINK_PROCESSES] = { "links.processes", CALLS, ANY, 20,
	    "calls have the correlation id of another process",
	    "ops, modules, roofline, causes of idle time",
	    "were traces merged? pass each by itself", FIGURES_OWNERS },
	[CHECK_LINK_GRAPHS] = { "links.graphs", "graph replays", ANY, 20,
	    "graph replays have more or fewer GPU events than most of their "
	    "graph",
	    "kernels, steps", "select steps without them",
	    FIGURE_KERNELS | FIGURE_STEPS },
	[CHECK_LINK_BACKWARD] = { "links.backward", "backward ops", NEVER,
	    NEVER, "backward ops have no forward op",
	    "backward columns of tl-ops and tl-roofline", "",
	    FIGURE_OPS | FIGURE_ROOFLINE },
	[CHECK_LINK_FLOWS] = { "links.flows", "flows", NEVER, NEVER,
	    "flows have a start without an end, or an end without a start",
	    "links by flows", "", 0 },
	[CHECK_COVER_BLOCKED] = { "coverage.blocked", SPAN, 10, 25,
	    "the host waits for GPU work that is not recorded",
	    "idle time, steps, verdicts",
	    "record all GPU activities, from before the first launch on",
	    FIGURE_IDLE | FIGURE_STEPS },
	[CHECK_COVER_LATE] = { "coverage.late", SPAN, 10, NEVER,
	    "GPU events start late, and nothing recorded is in the way",
	    "idle time, steps", "record all GPU activities",
	    FIGURE_IDLE | FIGURE_STEPS },
	[CHECK_COVER_BEGIN] = { "coverage.begin", GPU_TIME, 25, NEVER,
	    "GPU events were launched before the recording",
	    "ops, modules, first step", "select later steps: --step",
	    FIGURE_OPS | FIGURE_MODULES | FIGURE_STEPS },
	[CHECK_COVER_END] = { "coverage.end", LAUNCHES, 5, NEVER,
	    "launches at the end have no GPU event: the recording stopped "
	    "first",
	    "last step", "synchronize before the profiler stops",
	    FIGURE_STEPS },
	[CHECK_COVER_STARVED] = { "coverage.starved", "launch time", 5, 50,
	    "in some stretches most launches have no GPU event",
	    "steps, busy and idle time", "enlarge the profiler's buffers",
	    FIGURE_STEPS | FIGURE_BUSY | FIGURE_IDLE },
	[CHECK_COVER_STEPS] = { "coverage.steps", "step time", 1, 50,
	    "steps have no GPU event", "steps, idle time",
	    "select other steps: --step", FIGURE_STEPS | FIGURE_IDLE },
	[CHECK_COVER_LOST] = { "coverage.lost", NULL, 1, NEVER,
	    "the profiler reported lost events", "all tables",
	    "enlarge the profiler's buffers, record fewer steps", FIGURES_ALL },
	[CHECK_COVER_RANKS] = { "coverage.ranks", "ranks", ANY, NEVER,
	    "ranks of the job are missing", "collectives, late ranks",
	    "pass the traces of all ranks", FIGURE_COLLECTIVES },
	[CHECK_COVER_NO_CALLS] = { "coverage.no_calls", NULL, NEVER, NEVER,
	    "no API calls were recorded, only GPU events",
	    "ops, launches, causes of idle time", "record the CPU's activities",
	    FIGURE_OPS | FIGURE_LAUNCHES | FIGURE_IDLE },
	[CHECK_COVER_NO_STEPS] = { "coverage.no_steps", NULL, NEVER, NEVER,
	    "no annotation marks the steps", "steps",
	    "call profiler.step() in the loop", FIGURE_STEPS },
	[CHECK_COVER_UNEVEN] = { "coverage.uneven", "step time", NEVER, NEVER,
	    "some steps have more or fewer GPU events than most",
	    "comparisons of steps", "select steps alike: --step",
	    FIGURE_STEPS },
	[CHECK_CONTENT_NO_OPS] = { "content.no_ops", NULL, NEVER, NEVER,
	    "no op was recorded", "ops, modules, roofline",
	    "record the CPU's activities",
	    FIGURE_OPS | FIGURE_MODULES | FIGURE_ROOFLINE },
	[CHECK_CONTENT_NO_SHAPES] = { "content.no_shapes", "op time", NEVER,
	    NEVER, "GPU work is launched by ops without recorded shapes",
	    "roofline, ops by arguments", "record with record_shapes=True",
	    FIGURE_OPS | FIGURE_ROOFLINE },
	[CHECK_CONTENT_NO_STRIDES] = { "content.no_strides", NULL, NEVER, NEVER,
	    "no op has recorded strides", "ops by arguments, replay",
	    "record with a newer PyTorch and record_shapes=True", FIGURE_OPS },
	[CHECK_CONTENT_NO_TYPES] = { "content.no_types", NULL, NEVER, NEVER,
	    "no op has recorded types", "roofline, ops by arguments",
	    "record with record_shapes=True", FIGURE_ROOFLINE },
	[CHECK_CONTENT_NO_STACKS] = { "content.no_stacks", NULL, NEVER, NEVER,
	    "Python frames and nn.Modules were not recorded",
	    "modules, causes of idle time", "record with with_stack=True",
	    FIGURE_MODULES },
	[CHECK_CONTENT_NO_HLO] = { "content.no_hlo", GPU_TIME, 20, NEVER,
	    "kernels name no HLO instruction", "roofline, modules",
	    "record with the HLO of the module",
	    FIGURE_MODULES | FIGURE_ROOFLINE },
	[CHECK_CONTENT_CUT] = { "content.cut", "ops", NEVER, NEVER,
	    "the profiler truncated ops' arguments", "ops by arguments, replay",
	    "", FIGURE_OPS },
	[CHECK_CONTENT_NAMES] = { "content.names", EVENTS, NEVER, NEVER,
	    "names contain control characters or invalid UTF-8",
	    "tables by name", "", FIGURE_KERNELS | FIGURE_OPS },
	[CHECK_CONTENT_UNKNOWN] = { "content.unknown", EVENTS, NEVER, NEVER,
	    "events have an unknown category", "", "", 0 },
	[CHECK_CONTENT_FEW] = { "content.few", NULL, NEVER, NEVER,
	    "there are fewer than 100 GPU events", "statistics",
	    "record more steps", 0 },
	[CHECK_CONTENT_IDLE] = { "content.idle", SPAN, NEVER, NEVER,
	    "the GPU is idle for much of the time", "", "tl-idle says why", 0 },
	[CHECK_CONTENT_UNSTABLE] = { "content.unstable", GPU_TIME, NEVER, NEVER,
	    "equal kernels take very different times",
	    "means, comparisons of runs",
	    "look at medians; record more steps, fix the clock",
	    FIGURE_KERNELS | FIGURE_OPS },
	[CHECK_CONTENT_NO_MODEL] = { "content.no_model", "op time", NEVER,
	    NEVER, "ops have no performance model", "roofline",
	    "add one: tl-roofline --models", FIGURE_ROOFLINE },
	[CHECK_CONTENT_ABOVE_ROOF] = { "content.above_roof", "op time", ANY,
	    NEVER, "ops exceed the roofline", "roofline",
	    "TF32? name the GPU with --arch", FIGURE_ROOFLINE },
	[CHECK_FILE_CUT] = { "file.cut", NULL, 1, NEVER,
	    "the end of the file is missing", "all tables",
	    "let the profiler finish its export", FIGURES_ALL },
	[CHECK_FILE_LOST] = { "file.lost", NULL, 1, NEVER,
	    "damaged places of the file were skipped", "all tables",
	    "copy or export the trace again", FIGURES_ALL },
	[CHECK_FILE_MENDED] = { "file.mended", NULL, NEVER, NEVER,
	    "damaged characters were replaced", "names", "",
	    FIGURE_KERNELS | FIGURE_OPS },
	[CHECK_FILE_SKIPPED] = { "file.skipped", EVENTS, 0, 10,
	    "events have no usable time, phase or category", "all tables",
	    "see tl-decode's warnings", FIGURES_ALL },
	[CHECK_FILE_ASYNC] = { "file.async", EVENTS, 0, NEVER,
	    "work is asynchronous: no table counts it", "all tables",
	    "see tl-decode's warnings", FIGURES_ALL },
	[CHECK_FILE_TWICE] = { "file.twice", GPU_EVENTS, NEVER, NEVER,
	    "GPU events are recorded twice; each counts once", "", "", 0 },
	[CHECK_FILE_KEYS] = { "file.keys", EVENTS, NEVER, NEVER,
	    "events name a member twice; the last one counts", "arguments", "",
	    FIGURE_OPS },
	[CHECK_FILE_SEVERAL] = { "file.several", NULL, 2, NEVER,
	    "the file holds the windows of several profilers", "all tables",
	    "pass each trace by itself", FIGURES_ALL },
	[CHECK_FILE_EDITED] = { "file.edited", NULL, NEVER, NEVER,
	    "events were removed from the stream", "shares, idle time",
	    "read the whole trace", FIGURE_IDLE },
	[CHECK_FILE_REPAIRED] = { "file.repaired", NULL, NEVER, NEVER,
	    "tl-decode --repair changed events or bytes", "what it names",
	    "decode again without, and compare", 0 },
};

double
percent_of(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : NAN;
}

static enum severity
severity_of(const struct limits *l, double value)
{
	if (value >= l->misleading)
		return MISLEADING;
	return value >= l->warning ? WARNING : NOTE;
}

struct finding *
found(struct health *h, enum check check, const struct tally *t, double share)
{
	const struct limits *l = &h->limits[check];
	struct finding *f;

	if (t->n == 0)
		return NULL;
	f = vec_add(&h->findings);
	*f = (struct finding){
		.check = check,
		.text = str_of(checks[check].text),
		.severity = severity_of(l,
		    checks[check].share_of == NULL ? (double)t->n
			: isnan(share)             ? 0
						   : share),
		.source = h->subject.source,
		.n = t->n,
		.ns = t->ns,
		.share = share,
		.first = t->first,
		.has_uid = t->ns >= 0,
	};
	return f;
}

void
finding_say(struct health *h, struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	f->detail = str_of(arena_vprintf(h->text, fmt, ap));
	va_end(ap);
}

/* ---- --set ---- */

static enum check
check_of(struct str id)
{
	for (int c = 0; c < CHECKS; c++)
		if (str_eq(id, str_of(checks[c].id)))
			return (enum check)c;
	die_usage("option '--set': '%.*s' is no check; --list-checks lists "
		  "them",
	    (int)id.len, id.p);
}

static double
limit_of(struct str word)
{
	double v;

	if (str_eq(word, STR("never")))
		return NEVER;
	if (!num_double(word, &v) || v < 0)
		die_usage("option '--set': '%.*s' is neither a number nor "
			  "'never'",
		    (int)word.len, word.p);
	return v;
}

void
limits_set(struct limits limits[CHECKS], const char *text)
{
	const char *is = strchr(text, '=');
	const char *list = is != NULL ? is + 1 : NULL;
	struct limits *l;
	struct str word;

	if (is == NULL)
		die_usage("option '--set': '%s' is not CHECK=WARNING or "
			  "CHECK=WARNING,MISLEADING",
		    text);
	l = &limits[check_of((struct str){ text, (size_t)(is - text) })];
	(void)str_next(&list, ',', &word);
	l->warning = limit_of(word);
	if (str_next(&list, ',', &word))
		l->misleading = limit_of(word);
	if (list != NULL)
		die_usage(
		    "option '--set': '%s' has more than two limits", text);
}

void
checks_list(void)
{
	struct out *out = out_open(NULL);

	for (int c = 0; c < CHECKS; c++)
		out_printf(out, "%s\t%s\n", checks[c].id, checks[c].text);
	out_finish(out);
}
