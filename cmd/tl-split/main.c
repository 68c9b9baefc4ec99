/* SPDX-License-Identifier: MIT */
/*
 * tl-split: streams to parts, by rank, step, serving iteration, annotation or
 * time; the inverse of tl-merge. It reads its inputs once, and gives each event
 * to its parts, or else to the rest, so that the parts add up to the whole.
 */
#include "cmd/tl-split/split.h"
#include "trace/phase.h"

enum {
	OPT_ANNOTATION = OPT_LONG,
	OPT_BY,
	OPT_BY_GPU_TIME,
	OPT_CONC,
	OPT_EVERY,
	OPT_ITERATIONS,
	OPT_NUM_STEPS,
	OPT_OSL,
	OPT_OSL_RATIO,
	OPT_PLAN,
	OPT_TO,
};

static const struct opt options[] = {
	{ OPT_ANNOTATION, "annotation", "NAME",
	    "one part per annotation like NAME" },
	{ OPT_BY, "by", "rank|step|iteration|phase|steady",
	    "one part for each of these, or steady-state windows" },
	{ OPT_BY_GPU_TIME, "by-gpu-time", NULL,
	    "select GPU work by its own start, not its launch's" },
	{ OPT_CONC, "conc", "N", "concurrent requests at peak load" },
	{ 'd', "dir", "DIR", "write the parts into DIR" },
	{ OPT_EVERY, "every", "TIME", "one part per TIME" },
	{ OPT_ITERATIONS, "iterations", "all|N|A:B",
	    "only these serving iterations, without B; alone: one part" },
	{ OPT_NUM_STEPS, "num-steps", "N",
	    "iterations in a steady window (32)" },
	{ OPT_OSL, "osl", "N", "output tokens per request, at most" },
	{ OPT_OSL_RATIO, "osl-ratio", "R",
	    "fewest output tokens as a fraction of --osl: 0 to 1" },
	{ OPT_HINT, "phase", NULL, "is it --by phase?" },
	{ OPT_PLAN, "plan", NULL,
	    "print what to record for that load; needs no trace" },
	{ OPT_HINT, "rank", NULL, "is it --by rank?" },
	{ OPT_HINT, "step", NULL, "is it --by step?" },
	{ OPT_TO, "to", "chrome", "write parts as Chrome traces, .json.gz" },
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	{ 'z', "zstd", "[LEVEL]", "compress parts with zstd" },
	OPT_END,
};

static const struct about about = {
	"split a stream by rank, step, serving iteration, annotation or time",
	"-d DIR --by WHAT | --iterations RANGE | --annotation NAME | --every "
	"TIME "
	"[FILE...]",
	"tl-split --by step -d steps t.tl",
};

/* ---- options ---- */

static void
set_by(struct settings *set, enum by by)
{
	if (set->by != BY_NOTHING)
		die_usage("--by, --annotation and --every exclude each other");
	set->by = by;
}

/* Parses "all", N, or A:B, where B is exclusive. */
static void
take_range(struct settings *set, const struct optparse *op)
{
	const char *list = op->arg;
	struct str first, last;
	uint64_t from, to = UINT64_MAX;
	bool is_good = true;

	set->has_range = set->has_iterations = true;
	if (strcmp(op->arg, "all") == 0) {
		set->has_range = false;
		return;
	}
	(void)str_next(&list, ':', &first);
	is_good = num_u64(first, &from) && from < SIZE_MAX;
	if (str_next(&list, ':', &last))
		is_good &= num_u64(last, &to) && list == NULL && from < to;
	else
		to = from + 1;
	if (!is_good)
		die_usage("option '--iterations' needs all, an iteration such "
			  "as 3, or a range such as 10:20, not '%s'",
		    op->arg);
	set->first = (size_t)from;
	set->end = (size_t)to;
}

static bool
take_plan(struct window_plan *plan, const struct optparse *op, int ch)
{
	switch (ch) {
	case OPT_CONC: plan->conc = opt_int(op, 1, INT32_MAX); break;
	case OPT_NUM_STEPS: plan->num_steps = opt_int(op, 1, INT32_MAX); break;
	case OPT_OSL:
		plan->osl = opt_double(op, 1, 1e12);
		plan->has_osl = true;
		break;
	case OPT_OSL_RATIO:
		plan->ratio = opt_double(op, 0, 1);
		plan->has_ratio = true;
		break;
	default: return false;
	}
	return true;
}

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	static const char *const words[] = { "rank", "step", "iteration",
		"phase", "steady", NULL };
	static const char *const formats[] = { "chrome", NULL };

	switch (ch) {
	case OPT_ANNOTATION:
		set_by(set, BY_ANNOTATION);
		set->annotation = op->arg;
		break;
	case OPT_BY: set_by(set, (enum by)(opt_word(op, words) + 1)); break;
	case OPT_BY_GPU_TIME: set->by_gpu_time = true; break;
	case 'd': set->dir = op->arg; break;
	case OPT_EVERY:
		set_by(set, BY_TIME);
		set->every_ns = opt_time(op);
		if (set->every_ns <= 0)
			die_usage("option '--every' needs more than nothing");
		break;
	case OPT_ITERATIONS: take_range(set, op); break;
	case OPT_PLAN: set->plan_only = true; break;
	case OPT_TO: set->to_chrome = opt_word(op, formats) == 0; break;
	case 'v': set->verbose = true; break;
	default:
		if (!take_plan(&set->plan, op, ch))
			(void)stream_dest_opt(&set->dest, op, ch);
		break;
	}
}

static void
check_settings(struct settings *set)
{
	double ratio;

	if (set->plan_only) {
		if (!window_ideal(&set->plan, &ratio))
			die_usage("--plan needs --conc, --osl and --osl-ratio");
		return;
	}
	if (set->by == BY_NOTHING && set->has_iterations)
		set->by = BY_RANGE;
	if (set->dir == NULL || set->by == BY_NOTHING)
		die_usage("pass -d DIR and what to split by");
	if (set->by == BY_RANK && set->by_gpu_time)
		die_usage(
		    "option '--by-gpu-time' has no effect with --by rank");
	if (set->has_iterations && !by_iterations(set))
		die_usage("option '--iterations': %s",
		    "try --by iteration, phase or steady");
	if (set->to_chrome && set->dest.zstd)
		die_usage("--to chrome compresses with gzip: leave out --zstd");
}

static const char *
nothing_word(const struct settings *set)
{
	if (by_iterations(set))
		return set->has_range ? "serving iteration in that range"
				      : "serving iteration";
	return set->by == BY_STEP ? "step" : "such annotation";
}

static void
split_all(struct split *s, char *const *files)
{
	const struct settings *set = s->set;

	stream_check_files(files);
	io_make_folder(set->dir);
	if (set->to_chrome)
		export_begin(set->dir);
	s->st = dict_create();
	for (; *files != NULL; files++)
		split_input(s, *files);
	if (s->nbegun == 0)
		die_nothing(
		    MSG_NO_PARTS, nothing_word(set), there_str(&s->cut.there));
	if (set->verbose)
		note("%zu parts, %" PRIu64 " events in none of them", s->nbegun,
		    s->nrest);
	parts_finish(s);
	if (by_iterations(set))
		details_finish(s);
	iterations_free(s);
	cut_free(&s->cut);
	vec_free(&s->now.metas);
	vec_free(&s->now.names);
	dict_destroy(s->st);
}

int
main(int argc, char *argv[])
{
	static char *const standard_input[] = { (char *)"-", NULL };
	struct settings set = { .plan.num_steps = 32 };
	struct split s = { .set = &set, .cut.set = &set };
	struct optparse op;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	stream_unite(&op);
	check_settings(&set);
	if (set.plan_only)
		plan_print(&set.plan);
	else
		split_all(
		    &s, op.ind < op.argc ? argv + op.ind : standard_input);
	return exit_status();
}
