/* SPDX-License-Identifier: MIT */
/*
 * tl-timeline: where did the GPU time go?
 *
 * A sink: it keeps the interval of each GPU event that is asked for, by slice
 * and bucket, and at the end takes unions and differences of them. What it
 * needs of a stream is little, so events of other kinds are passed over.
 */
#include <stdio.h>

#include "cmd/tl-timeline/timeline.h"

#define OPT_BY (OPT_LONG + 0)
#define OPT_JOIN (OPT_LONG + 1)
#define OPT_LINKED_ONLY (OPT_LONG + 2)
#define OPT_MICRO_IDLE (OPT_LONG + 3)
#define OPT_CLOCK (OPT_LONG + 4)

static const struct opt options[] = {
	{ OPT_BY, "by", "WHAT",
	    "a timeline each: annotation, dev, rank, recompute, src, step" },
	{ OPT_CLOCK, "clock", "CLOCK", "gpu, or cpu: the host's threads" },
	{ OPT_JOIN, "join", NULL, "one timeline of all sources" },
	{ OPT_LINKED_ONLY, "linked-only", NULL,
	    "only GPU work whose launch is in the trace" },
	{ OPT_MICRO_IDLE, "micro-idle", "TIME",
	    "idle time in gaps below TIME, and from it on" },
	OPT_BUCKET,
	OPT_SELECT,
	OPT_TABLE,
	{ 'v', "verbose", NULL, "a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"where did the GPU time go: computation, exposed communication and "
	"copies, idle",
	"[OPTIONS] [FILE...]",
	"tl-decode trace.json.gz | tl-timeline",
};

static const char *const by_words[] = {
	[BY_ANNOTATION - 1] = "annotation",
	[BY_DEV - 1] = "dev",
	[BY_RANK - 1] = "rank",
	[BY_RECOMPUTE - 1] = "recompute",
	[BY_SRC - 1] = "src",
	[BY_STEP - 1] = "step",
	[BY_STEP] = NULL,
};

static const char *const clock_words[] = { "gpu", "cpu", NULL };

/* ---- reading ---- */

static struct key
key_of(struct settings *set, const struct event *ev)
{
	const struct window *win;
	int64_t step;

	switch (set->by) {
	case BY_DEV: return ev->dev;
	case BY_RECOMPUTE:
		return (struct key){ (ev->flags & EV_RECOMPUTE) != 0, KEY_INT };
	case BY_STEP:
		step = select_step(&set->select);
		return step == WALK_NO_STEP ? (struct key){ 0, KEY_NONE }
					    : (struct key){ step, KEY_INT };
	case BY_ANNOTATION:
		win = select_annotation(&set->select);
		return win == NULL || win->name == INTERN_NONE
		    ? (struct key){ 0, KEY_NONE }
		    : (struct key){ win->name, KEY_STR };
	default: return (struct key){ 0, KEY_NONE };
	}
}

static void
take_gpu_event(struct settings *set, struct slices *g,
    const struct stream_in *in, bool is_chosen)
{
	struct sink_source *o = sink_sources_of(&g->sources, in->ev.src);
	const struct event *ev = &in->ev;
	int64_t end;

	if (!sink_source_takes(o, ev, is_chosen, &end))
		return;
	if (set->linked_only && (ev->flags & EV_UNLINKED) != 0) {
		o->nleft_out++;
		return;
	}
	o->nchosen++;
	slice_add(slices_find(g, o, key_of(set, ev)),
	    bucket_of_event(&set->rules, in->dict, ev), ev, end);
}

static void
read_file(struct settings *set, struct slices *g, const char *path)
{
	enum want want = select_want(
	    &set->select, set->by == BY_RECOMPUTE ? WANT_TREE : WANT_LINKED);
	struct stream_in *in = stream_open(path, g->dict, want);
	enum item item;

	stream_only(in, select_kinds(&set->select, KINDS_GPU));
	select_start(&set->select, in);
	sink_sources_file(&g->sources, path);
	while ((item = stream_next(in)) != ITEM_END) {
		bool is_chosen = select_item(&set->select, in, item);

		if (item == ITEM_SOURCE)
			(void)sink_sources_source(
			    &g->sources, &set->select, &in->source);
		else if (item == ITEM_EVENT && event_is(&in->ev, KINDS_GPU))
			take_gpu_event(set, g, in, is_chosen);
	}
	g->nevents += in->nevents;
	stream_close(in);
}

/* ---- what is missing ---- */

/* Sources of other ranks go, once all ranks are known. */
static void
drop_unasked(struct slices *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->list.n; i++) {
		struct slice *slice = &g->list.v[i];

		if (g->sources.list.v[slice->source].is_asked) {
			g->list.v[n++] = *slice;
			continue;
		}
		for (size_t k = 0; k < SET_COUNT; k++)
			spans_free(&slice->sets[k]);
	}
	g->list.n = n;
}

/* Of a source without an answer, where others have one. */
static void
warn_empty(const struct settings *set, const struct sink_source *o)
{
	if (o->ngpu == 0)
		report(MSG_SOURCE_NO_GPU_EVENTS, o->path, o->src);
	else if (set->linked_only && o->nunlinked == o->ngpu)
		report(MSG_SOURCE_NO_LINKED, o->path, o->src, o->nunlinked);
	else
		report(MSG_SOURCE_NO_MATCH, o->path, o->src, o->ngpu);
}

static noreturn void
die_empty(const struct settings *set, const struct slices *g)
{
	const struct sink_source sum = sink_sources_sum(&g->sources);
	const char *path = g->sources.path;

	if (sum.ngpu == 0)
		die_nothing(MSG_NO_GPU_EVENTS, path, g->nevents);
	if (set->linked_only && sum.nunlinked == sum.ngpu)
		die_nothing(MSG_NO_LINKED_GPU_EVENTS, path, sum.nunlinked);
	if (select_by_launch(&set->select) && sum.nunlinked > 0)
		die_nothing(
		    MSG_NO_MATCH_BY_LAUNCH, path, sum.ngpu, sum.nunlinked);
	die_nothing(MSG_NO_MATCH, path, sum.ngpu);
}

/* A source without an answer is a warning; none with one is the end. */
static void
check_sources(const struct settings *set, const struct slices *g)
{
	if (g->list.n == 0) {
		sink_sources_check(&g->sources);
		die_empty(set, g);
	}
	for (size_t i = 0; i < g->sources.list.n; i++) {
		const struct sink_source *o = &g->sources.list.v[i];

		if (o->is_asked && o->nchosen == 0)
			warn_empty(set, o);
	}
}

static void
summarise(const struct slices *g)
{
	sink_sources_note(&g->sources, "counted");
	note_cost("%" PRIu64 " events", g->nevents);
}

/* ---- options ---- */

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	switch (ch) {
	case OPT_BY: set->by = (enum by)(opt_word(op, by_words) + 1); break;
	case OPT_CLOCK: set->of_host = opt_word(op, clock_words) == 1; break;
	case OPT_JOIN: set->join = true; break;
	case OPT_LINKED_ONLY: set->linked_only = true; break;
	case OPT_MICRO_IDLE:
		set->micro_ns = opt_time(op);
		set->has_micro = true;
		break;
	case 'v': set->verbose = true; break;
	default:
		if (!bucket_opt(&set->rules, op, ch) &&
		    !select_opt(&set->select, op, ch))
			(void)table_dest_opt(&set->dest, op, ch);
		break;
	}
}

/* What is about GPU work says nothing of the host's. */
static void
check_host(const struct settings *set)
{
	const char *option = set->by != BY_NOTHING ? "by"
	    : set->join                            ? "join"
	    : set->linked_only                     ? "linked-only"
	    : set->has_micro                       ? "micro-idle"
						   : NULL;

	if (option != NULL)
		die_usage("option '--%s' needs --clock gpu", option);
	host_check(set);
}

static void
check_settings(struct settings *set)
{
	if (set->of_host) {
		set->select.late_ranks = true;
		check_host(set);
		return;
	}
	if (set->join && (set->by == BY_RANK || set->by == BY_SRC))
		die_usage("--join makes one timeline of all sources, --by %s "
			  "one of each",
		    by_words[set->by - 1]);
	select_check_gpu(&set->select);
	set->select.need_windows =
	    set->by == BY_STEP || set->by == BY_ANNOTATION;
	set->select.late_ranks = true;
	rows_check(set);
}

int
main(int argc, char *argv[])
{
	struct settings set = { 0 };
	struct slices g = { 0 };
	struct optparse op;
	const char *path;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	check_settings(&set);

	if (set.of_host) {
		g.nevents = host_timeline(&set, &op);
		if (set.verbose)
			summarise(&g);
		select_free(&set.select);
		bucket_free(&set.rules);
		return exit_status();
	}
	g.dict = dict_create();
	while ((path = opt_file(&op)) != NULL)
		read_file(&set, &g, path);
	drop_unasked(&g);
	check_sources(&set, &g);
	if (set.join)
		slices_join(&g);
	rows_print(&set, &g);
	if (set.verbose)
		summarise(&g);
	slices_free(&g);
	dict_destroy(g.dict);
	select_free(&set.select);
	bucket_free(&set.rules);
	return exit_status();
}
