/* SPDX-License-Identifier: MIT */
/*
 * tl-fold: stacks and their times, for flame graphs. A sink over a tree: the
 * open frames are a stack, each knows its place among all stacks so far, and
 * time is added there. With --diff the second tree's times are added beside the
 * first's.
 */
#include <stdlib.h>

#include "cmd/tl-fold/fold.h"
#include "trace/process.h"
#include "trace/stat.h"

enum {
	OPT_CLOCK = OPT_LONG,
	OPT_FRAMES,
	OPT_LINKED_ONLY,
	OPT_NO_KERNELS,
	OPT_SHORT,
	OPT_DIFF
};

enum clock {
	CLOCK_GPU,
	CLOCK_CPU,
};

struct settings {
	enum clock clock;
	uint32_t frames; /* kinds that are frames */
	bool only_modules;
	bool linked_only, no_kernels, verbose, is_diff;
	path_vec paths[NSIDES]; /* -B and -A */
	struct select select;
	struct output output;
};

struct folder {
	const struct settings *set;
	struct dict *dict;
	struct sources sources;
	int side; /* the one being read */
	struct frames frames;
	struct merged tree; /* the sources' trees below the root */
	uint32_t no_launch, no_frame;
	uint64_t nevents[NSIDES], nhost, nframes;
	uint64_t npython[NSIDES]; /* Python frames */
};

static const struct opt options[] = {
	{ 'A', "after", "FILE",
	    "with --diff: a file or folder of the side after" },
	{ 'B', "before", "FILE",
	    "with --diff: a file or folder of the side before" },
	{ OPT_CLOCK, "clock", "gpu|cpu", "fold GPU time, or host time (cpu)" },
	{ OPT_DIFF, "diff", NULL,
	    "two files: each stack's time in the first and the second" },
	{ OPT_FRAMES, "frames", "all|modules|ops|python",
	    "which frames the stacks have" },
	{ OPT_LINKED_ONLY, "linked-only", NULL,
	    "count only GPU work whose launch is in the trace" },
	{ OPT_NO_KERNELS, "no-kernels", NULL, "end stacks at the launch" },
	{ 'o', "output", "FILE", "write to FILE, complete or not at all" },
	OPT_SELECT,
	OPT_SELECT_HINT,
	{ OPT_SHORT, "short", "[N]",
	    "short names, without arguments and folders; at most N "
	    "characters" },
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"folded stacks with times, for flame graphs",
	"[OPTIONS] [FILE...]",
	"tl-fold trace.json.gz | flamegraph.pl > gpu.svg",
};

#define FRAMES_MODULES 3 /* index in frames_words */
static const char *const clock_words[] = { "gpu", "cpu", NULL };
#define PYTHON KIND_BIT(KIND_PYTHON)
static const char *const frames_words[] = { "all", "ops", "python", "modules",
	NULL };
static const uint32_t frames_kinds[] = { KINDS_HOST | PYTHON, KINDS_HOST,
	PYTHON, PYTHON };

/* ---- frames ---- */

/*
 * A launch says no more than its kernel: API calls are frames only when their
 * own time counts.
 */
static bool
is_frame(struct folder *f, const struct event *ev)
{
	const struct settings *set = f->set;

	if (set->only_modules)
		return event_is_module(f->dict, ev);
	if (set->clock == CLOCK_GPU &&
	    (ev->ngpu == 0 || event_is(ev, KINDS_LAUNCH)))
		return false;
	return event_is(ev, set->frames);
}

static struct sink_sources *
origins_of(struct folder *f)
{
	return &f->sources.side[f->side];
}

/* The node of the innermost frame, or of the source. */
static uint32_t
node_above(struct folder *f, const struct event *ev)
{
	if (f->tree.open.n > 0)
		return merged_top(&f->tree, 0);
	return merged_child(&f->tree, 0,
	    sources_number(
		&f->sources, f->side, sink_sources_of(origins_of(f), ev->src)));
}

static void
open_frame(struct folder *f, const struct event *ev, bool is_chosen)
{
	enum frame_type type = FRAME_OP;
	uint32_t node;

	if (f->set->only_modules)
		type = FRAME_MODULE;
	else if (ev->shape->kind == KIND_PYTHON)
		type = FRAME_PYTHON;
	f->nframes++;
	f->npython[f->side] += type != FRAME_OP;
	node = merged_child(&f->tree, node_above(f, ev),
	    frame_of(&f->frames, f->dict, ev->name, type));
	merged_open(&f->tree, node, ev->depth,
	    f->set->clock == CLOCK_CPU && is_chosen ? ev->dur_ns
						    : MERGED_UNTIMED,
	    f->side);
}

/* ---- events ---- */

static void
take_gpu_event(struct folder *f, const struct event *ev, bool is_chosen)
{
	struct sink_source *o = sink_sources_of(origins_of(f), ev->src);
	bool is_linked = (ev->flags & EV_UNLINKED) == 0;
	uint32_t node;

	merged_close(&f->tree, event_is_owned(ev) ? ev->depth : 0);
	if (ev->flags & EV_DUPLICATE) {
		o->nduplicates++;
		return;
	}
	o->ngpu++;
	o->nunlinked += !is_linked;
	o->nuntimed += (ev->shape->has & HAS_TS) == 0;
	if (!is_chosen || (!is_linked && f->set->linked_only))
		return;
	o->nchosen++;
	if (f->set->clock == CLOCK_CPU)
		return;
	o->work_ns = num_add_max(o->work_ns, ev->dur_ns);
	node = node_above(f, ev);
	if (!event_is_owned(ev))
		node = merged_child(&f->tree, node, f->no_launch);
	else if (f->tree.open.n == 0 && f->set->no_kernels)
		node = merged_child(&f->tree, node, f->no_frame);
	if (!f->set->no_kernels)
		node = merged_child(&f->tree, node,
		    frame_of(&f->frames, f->dict, ev->name, FRAME_GPU));
	stat_add(&f->tree.nodes.v[node].ns[f->side], ev->dur_ns);
}

static void
take_event(struct folder *f, const struct event *ev, bool is_chosen)
{
	if (event_is(ev, KINDS_GPU)) {
		take_gpu_event(f, ev, is_chosen);
		return;
	}
	/* not in the tree */
	if ((ev->shape->has & HAS_DEPTH) == 0 ||
	    !event_is(ev, KINDS_HOST | PYTHON))
		return;
	merged_close(&f->tree, ev->depth);
	f->nhost++;
	if (is_frame(f, ev))
		open_frame(f, ev, is_chosen);
}

static void
read_file(struct folder *f, struct settings *set, const char *path)
{
	struct stream_in *in =
	    stream_open(path, f->dict, select_want(&set->select, WANT_TREE));
	enum item item;

	stream_only(
	    in, select_kinds(&set->select, KINDS_GPU) | KINDS_HOST | PYTHON);
	select_start(&set->select, in, (uint32_t)origins_of(f)->list.n);
	sink_sources_file(origins_of(f), path);
	while ((item = stream_next(in)) != ITEM_END) {
		bool is_chosen = select_item(&set->select, in, item);

		if (item == ITEM_EVENT) {
			take_event(f, &in->ev, is_chosen);
			continue;
		}
		merged_close(&f->tree, 0);
		if (item == ITEM_SOURCE)
			(void)sink_sources_source(
			    origins_of(f), &set->select, &in->source);
	}
	merged_close(&f->tree, 0);
	f->nevents[f->side] += in->nevents;
	stream_close(in);
}

/* ---- what is missing ---- */

static bool
has_time(const struct folder *f)
{
	for (size_t i = 0; i < f->tree.nodes.n; i++)
		if (f->tree.nodes.v[i].ns[0] > 0 ||
		    f->tree.nodes.v[i].ns[1] > 0)
			return true;
	return false;
}

static void
check_gpu(const struct folder *f, int side)
{
	const struct sink_sources *origins = &f->sources.side[side];
	const struct sink_source sum = sink_sources_sum(origins);
	const char *path = origins->path;

	sink_sources_check_gpu(origins, f->nevents[side]);
	if (sum.nchosen == 0 && f->set->linked_only &&
	    sum.nunlinked == sum.ngpu)
		die_nothing(MSG_NO_LINKED_GPU_EVENTS, path, sum.ngpu);
	if (sum.nchosen == 0)
		die_nothing(MSG_NO_MATCH, path, sum.ngpu,
		    select_there(&f->set->select));
	if (!has_time(f))
		die_nothing(MSG_NO_DURATION, path);
}

static void
check_answer(const struct folder *f)
{
	const struct settings *set = f->set;
	const char *path = f->sources.side[0].path;

	for (int side = 0; side < set->output.nsides; side++) {
		sink_sources_check(&f->sources.side[side]);
		if (set->clock == CLOCK_GPU)
			check_gpu(f, side);
	}
	if (f->nframes == 0 && set->frames == PYTHON) {
		if (set->only_modules)
			die_nothing(MSG_NO_MODULE_FRAMES, path);
		die_nothing(MSG_NO_PYTHON_FRAMES, path);
	}
	if (!has_time(f))
		die_nothing(
		    MSG_NO_HOST_TIME, path, f->nevents[0] + f->nevents[1]);
}

/* Says so if only one side has Python frames: then no stacks are equal. */
static void
tell_sides(const struct folder *f)
{
	for (int s = 0; s < f->set->output.nsides; s++)
		if (f->npython[s] == 0 && f->npython[1 - s] > 0)
			note("%s: no Python frames, which the other side has: "
			     "--frames ops folds both alike",
			    f->sources.side[s].path);
}

static void
summarise(const struct folder *f, const struct output *o)
{
	if (o->nsides > 1)
		note("%" PRIu64 " stacks, %" PRId64 " and %" PRId64
		     " ns in all",
		    o->nlines, o->sum_ns[0], o->sum_ns[1]);
	else
		note("%" PRIu64 " stacks, %" PRId64 " ns in all", o->nlines,
		    o->sum_ns[0]);
	note_cost("%" PRIu64 " events", f->nevents[0] + f->nevents[1]);
}

/* ---- options ---- */

static void
take_option(
    struct settings *set, struct folder *f, const struct optparse *op, int ch)
{
	int word;

	switch (ch) {
	case 'A': stream_paths(&set->paths[1], op->arg, false); break;
	case 'B': stream_paths(&set->paths[0], op->arg, false); break;
	case OPT_CLOCK:
		set->clock = (enum clock)opt_word(op, clock_words);
		break;
	case OPT_DIFF: set->is_diff = f->frames.is_plain = true; break;
	case OPT_FRAMES:
		word = opt_word(op, frames_words);
		set->frames = frames_kinds[word];
		set->only_modules = word == FRAMES_MODULES;
		break;
	case OPT_LINKED_ONLY: set->linked_only = true; break;
	case OPT_NO_KERNELS: set->no_kernels = true; break;
	case OPT_SHORT:
		f->frames.is_short = true;
		if (op->arg != NULL)
			f->frames.width = (size_t)opt_int(op, 1, 100000);
		break;
	case 'o': set->output.path = op->arg; break;
	case 'v': set->verbose = true; break;
	default: (void)select_opt(&set->select, op, ch); break;
	}
}

static void
check_settings(struct settings *set)
{
	uint32_t kinds =
	    set->clock == CLOCK_GPU ? KINDS_GPU : KINDS_HOST | PYTHON;

	if (set->clock == CLOCK_CPU && (set->no_kernels || set->linked_only))
		die_usage("option '--%s' needs --clock gpu",
		    set->no_kernels ? "no-kernels" : "linked-only");
	if (set->select.kinds != 0 && (set->select.kinds & kinds) == 0)
		die_usage("option '--kind' needs %s",
		    set->clock == CLOCK_GPU
			? "kernel, memcpy or memset: what the GPU worked on"
			: "op, runtime, driver or python with --clock cpu");
	set->select.late_ranks = true;
	set->output.nsides = set->is_diff ? NSIDES : 1;
	set->output.is_gpu = set->clock == CLOCK_GPU;
}

/* Assigns files to sides: with --diff two operands, or -B and -A. */
static void
take_operands(path_vec paths[NSIDES], bool is_diff, const struct optparse *op)
{
	bool has_paths = paths[0].n > 0 || paths[1].n > 0;
	int n = op->argc - op->ind;
	size_t nstdin = 0;

	if (has_paths && !is_diff)
		die_usage("options '-B' and '-A' need --diff");
	if (has_paths && n > 0)
		die_usage("pass two files, or -B and -A");
	if (has_paths && (paths[0].n == 0 || paths[1].n == 0))
		die_usage("option '--%s' is missing",
		    paths[0].n == 0 ? "before" : "after");
	if (is_diff && !has_paths && n != NSIDES)
		die_usage("option '--diff' needs two files, before and after");
	for (int i = 0; i < n; i++)
		if (is_diff)
			stream_paths(&paths[i], op->argv[op->ind + i], false);
		else
			vec_push(&paths[0], xstrdup(op->argv[op->ind + i]));
	if (!is_diff && n == 0)
		vec_push(&paths[0], xstrdup("-"));
	for (int side = 0; side < NSIDES && is_diff; side++)
		for (size_t i = 0; i < paths[side].n; i++)
			nstdin += strcmp(paths[side].v[i], "-") == 0;
	if (nstdin > 1)
		die_usage("only one trace can be standard input");
}

static void
read_all(struct folder *f, struct settings *set)
{
	for (f->side = 0; f->side < NSIDES; f->side++)
		for (size_t i = 0; i < set->paths[f->side].n; i++)
			read_file(f, set, set->paths[f->side].v[i]);
	select_end(&set->select);
}

static void
free_paths(struct settings *set)
{
	for (int side = 0; side < NSIDES; side++) {
		for (size_t i = 0; i < set->paths[side].n; i++)
			free(set->paths[side].v[i]);
		vec_free(&set->paths[side]);
	}
}

int
main(int argc, char *argv[])
{
	struct settings set = { .frames = frames_kinds[0] };
	struct folder f = { .set = &set };
	struct optparse op;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &f, &op, ch);
	check_settings(&set);
	if (!set.is_diff)
		stream_unite(&op);
	take_operands(set.paths, set.is_diff, &op);

	f.dict = dict_create();
	merged_start(&f.tree);
	f.no_launch = intern_put(f.dict->text, STR("[no launch]"));
	f.no_frame = intern_put(f.dict->text, STR("[no frame]"));
	read_all(&f, &set);
	check_answer(&f);
	output_write(&set.output, &f.tree, f.dict, &f.sources);
	tell_sides(&f);
	if (set.verbose)
		summarise(&f, &set.output);
	sources_free(&f.sources);
	frames_free(&f.frames);
	merged_free(&f.tree);
	dict_destroy(f.dict);
	select_free(&set.select);
	free_paths(&set);
	return exit_status();
}
