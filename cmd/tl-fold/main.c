/* SPDX-License-Identifier: MIT */
/*
 * tl-fold: stacks and their times, for flame graphs.
 *
 * A sink over a tree: the open frames are a stack, each of them knows its
 * place among all stacks seen, and time is added there. With --diff the second
 * tree's times are added beside those of the first.
 */
#include <stdlib.h>

#include "cmd/tl-fold/fold.h"
#include "trace/stat.h"

#define OPT_BY (OPT_LONG + 0)
#define OPT_CLOCK (OPT_LONG + 1)
#define OPT_FRAMES (OPT_LONG + 2)
#define OPT_LINKED_ONLY (OPT_LONG + 3)
#define OPT_NO_KERNELS (OPT_LONG + 4)
#define OPT_SHORT (OPT_LONG + 5)
#define OPT_UNIT (OPT_LONG + 6)
#define OPT_DIFF (OPT_LONG + 7)

enum clock {
	CLOCK_GPU,
	CLOCK_CPU,
};

struct settings {
	enum clock clock;
	uint32_t frames; /* kinds that are frames */
	bool only_modules;
	bool has_frames; /* --frames was given */
	bool linked_only, no_kernels, verbose, is_diff;
	path_vec paths[NSIDES]; /* -B and -A */
	struct select select;
	struct output output;
};

/* A host event that is open; one that is no frame is not here. */
struct open_frame {
	uint32_t depth;
	uint32_t stack; /* number */
	bool is_chosen;
	int64_t self_ns; /* CPU time not spent in frames below */
};

struct folder {
	const struct settings *set;
	struct dict *dict;
	struct sources sources;
	int side; /* that is being read */
	struct frames frames;
	struct stacks stacks;
	VEC(struct open_frame) open;
	VEC(uint8_t) modules; /* by name: 1 it is one, 2 it is none */
	uint32_t no_launch, no_frame;
	uint64_t nevents[NSIDES], nhost, nframes;
	uint64_t npython[NSIDES]; /* frames of Python */
	int64_t whole_ns;
};

static const struct opt options[] = {
	{ 'A', "after", "FILE", "of --diff: a file or folder of after" },
	{ 'B', "before", "FILE", "the same of before" },
	{ OPT_BY, "by", "WHAT", "module: frames are nn.Modules only" },
	{ OPT_CLOCK, "clock", "CLOCK", "gpu, or cpu: time on the host" },
	{ OPT_DIFF, "diff", NULL,
	    "of two files: each stack's time in the first and the second" },
	{ OPT_FRAMES, "frames", "WHICH", "all, python or ops" },
	{ OPT_LINKED_ONLY, "linked-only", NULL,
	    "only GPU work whose launch is in the trace" },
	{ OPT_NO_KERNELS, "no-kernels", NULL, "stacks end at what launched" },
	{ 'o', "output", "FILE",
	    "write to FILE, which appears only when whole" },
	OPT_SELECT,
	{ OPT_SHORT, "short", "[N]",
	    "names without arguments and folders; at most N wide" },
	{ OPT_UNIT, "unit", "UNIT", "ns, us or ms" },
	{ 'v', "verbose", NULL, "a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"stacks and their times, for flame graphs",
	"[OPTIONS] [FILE...]",
	"tl-fold trace.json.gz | flamegraph.pl > gpu.svg",
};

static const char *const by_words[] = { "module", "stack", NULL };
static const char *const clock_words[] = { "gpu", "cpu", NULL };
static const char *const unit_words[] = { "ns", "us", "ms", NULL };
static const char *const frames_words[] = { "all", "python", "ops", NULL };
static const uint32_t frames_kinds[] = {
	KINDS_HOST | KIND_BIT(KIND_PYTHON),
	KIND_BIT(KIND_PYTHON),
	KINDS_HOST,
};

/* ---- frames ---- */

static bool
is_module(struct folder *f, const struct event *ev)
{
	uint8_t *known;

	if (ev->shape->kind != KIND_PYTHON || ev->name == INTERN_NONE)
		return false;
	while (f->modules.n <= ev->name)
		vec_push(&f->modules, 0);
	known = &f->modules.v[ev->name];
	if (*known == 0)
		*known =
		    str_starts(dict_get(f->dict, ev->name), STR("nn.Module"))
		    ? 1
		    : 2;
	return *known == 1;
}

/*
 * A launch says nothing that its kernel doesn't: calls of the runtime are
 * frames where their own time counts.
 */
static bool
is_frame(struct folder *f, const struct event *ev)
{
	const struct settings *set = f->set;

	if (set->only_modules)
		return is_module(f, ev);
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

static uint32_t
source_of(struct folder *f, const struct event *ev)
{
	return stacks_source(&f->stacks,
	    sources_number(
		&f->sources, f->side, sink_sources_of(origins_of(f), ev->src)));
}

static void
add_time(struct folder *f, uint32_t stack, int64_t ns)
{
	stat_add(&f->stacks.list.v[stack - 1].sum_ns[f->side], ns);
	stat_add(&f->whole_ns, ns);
}

static void
close_down_to(struct folder *f, uint32_t depth)
{
	while (f->open.n > 0 && f->open.v[f->open.n - 1].depth >= depth) {
		const struct open_frame *top = &f->open.v[--f->open.n];

		if (f->set->clock == CLOCK_CPU && top->is_chosen &&
		    top->self_ns > 0)
			add_time(f, top->stack, top->self_ns);
	}
}

/*
 * The time of a frame that is asked for is not that of the next one above it
 * that is, too. Those between them count nothing, whether they are there or
 * were filtered out.
 */
static void
take_from_above(struct folder *f, int64_t dur_ns)
{
	for (size_t i = f->open.n; i-- > 0;) {
		if (!f->open.v[i].is_chosen)
			continue;
		f->open.v[i].self_ns -= dur_ns;
		return;
	}
}

static void
open_frame(struct folder *f, const struct event *ev, bool is_chosen)
{
	const struct open_frame *top =
	    f->open.n > 0 ? &f->open.v[f->open.n - 1] : NULL;
	uint32_t up = top != NULL ? top->stack : source_of(f, ev);
	enum frame_type type = FRAME_OP;

	if (f->set->only_modules)
		type = FRAME_MODULE;
	else if (ev->shape->kind == KIND_PYTHON)
		type = FRAME_PYTHON;
	if (f->set->clock == CLOCK_CPU && is_chosen)
		take_from_above(f, ev->dur_ns);
	f->nframes++;
	f->npython[f->side] += type != FRAME_OP;
	vec_push(&f->open,
	    ((struct open_frame){
		.depth = ev->depth,
		.stack = stacks_push(&f->stacks, up,
		    frame_of(&f->frames, f->dict, ev->name, type)),
		.is_chosen = is_chosen,
		.self_ns = ev->dur_ns,
	    }));
}

/* ---- events ---- */

static void
take_gpu_event(struct folder *f, const struct event *ev, bool is_chosen)
{
	struct sink_source *o = sink_sources_of(origins_of(f), ev->src);
	uint32_t stack = source_of(f, ev);
	bool is_linked = (ev->flags & EV_UNLINKED) == 0;

	close_down_to(
	    f, is_linked && (ev->shape->has & HAS_DEPTH) ? ev->depth : 0);
	if (ev->flags & EV_DUPLICATE) {
		o->nduplicates++;
		return;
	}
	o->ngpu++;
	o->nunlinked += !is_linked;
	if (!is_chosen || (!is_linked && f->set->linked_only))
		return;
	o->nchosen++;
	if (f->set->clock == CLOCK_CPU)
		return;
	if (!is_linked)
		stack = stacks_push(&f->stacks, stack, f->no_launch);
	else if (f->open.n > 0)
		stack = f->open.v[f->open.n - 1].stack;
	else if (f->set->no_kernels)
		stack = stacks_push(&f->stacks, stack, f->no_frame);
	if (!f->set->no_kernels)
		stack = stacks_push(&f->stacks, stack,
		    frame_of(&f->frames, f->dict, ev->name, FRAME_GPU));
	add_time(f, stack, ev->dur_ns);
}

static void
take_event(struct folder *f, const struct event *ev, bool is_chosen)
{
	if (event_is(ev, KINDS_GPU)) {
		take_gpu_event(f, ev, is_chosen);
		return;
	}
	/* what is no part of the tree is above nothing */
	if ((ev->shape->has & HAS_DEPTH) == 0 ||
	    !event_is(ev, KINDS_HOST | KIND_BIT(KIND_PYTHON)))
		return;
	close_down_to(f, ev->depth);
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

	stream_only(in,
	    select_kinds(&set->select, KINDS_GPU) | KINDS_HOST |
		KIND_BIT(KIND_PYTHON));
	select_start(&set->select, in);
	sink_sources_file(origins_of(f), path);
	while ((item = stream_next(in)) != ITEM_END) {
		bool is_chosen = select_item(&set->select, in, item);

		if (item == ITEM_EVENT) {
			take_event(f, &in->ev, is_chosen);
			continue;
		}
		close_down_to(f, 0);
		if (item == ITEM_SOURCE)
			(void)sink_sources_source(
			    origins_of(f), &set->select, &in->source);
	}
	close_down_to(f, 0);
	f->nevents[f->side] += in->nevents;
	stream_close(in);
}

/* ---- what is missing ---- */

static void
check_gpu(const struct folder *f, int side)
{
	const struct sink_sources *origins = &f->sources.side[side];
	uint64_t ngpu = 0, nunlinked = 0, nchosen = 0;
	const char *path = origins->path;

	for (size_t i = 0; i < origins->list.n; i++) {
		ngpu += origins->list.v[i].ngpu;
		nunlinked += origins->list.v[i].nunlinked;
		nchosen += origins->list.v[i].nchosen;
	}
	if (ngpu == 0)
		die_nothing(MSG_NO_GPU_EVENTS, path, f->nevents[side]);
	if (nchosen == 0 && f->set->linked_only && nunlinked == ngpu)
		die_nothing(MSG_NO_LINKED_GPU_EVENTS, path, ngpu);
	if (nchosen == 0)
		die_nothing(MSG_NO_MATCH, path, ngpu);
	if (f->whole_ns == 0)
		die_nothing(MSG_NO_DURATION, path);
}

static void
check_answer(const struct folder *f)
{
	const struct settings *set = f->set;
	const char *path = f->sources.side[0].path;

	for (int side = 0; side < set->output.nsides; side++) {
		const struct sink_sources *g = &f->sources.side[side];
		bool is_asked = g->list.n == 0;

		for (size_t i = 0; i < g->list.n; i++)
			is_asked = is_asked || g->list.v[i].is_asked;
		if (!is_asked)
			die_nothing(MSG_NO_SUCH_RANK, g->path);
		if (set->clock == CLOCK_GPU)
			check_gpu(f, side);
	}
	if (f->nframes == 0 && set->frames == KIND_BIT(KIND_PYTHON)) {
		if (set->only_modules)
			die_nothing(MSG_NO_MODULE_FRAMES, path);
		die_nothing(MSG_NO_PYTHON_FRAMES, path);
	}
	if (f->whole_ns == 0)
		die_nothing(
		    MSG_NO_HOST_TIME, path, f->nevents[0] + f->nevents[1]);
}

/* Then no stack of one side is one of the other's. */
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
	switch (ch) {
	case 'A': stream_paths(&set->paths[1], op->arg, false); break;
	case 'B': stream_paths(&set->paths[0], op->arg, false); break;
	case OPT_BY: set->only_modules = opt_word(op, by_words) == 0; break;
	case OPT_CLOCK:
		set->clock = (enum clock)opt_word(op, clock_words);
		break;
	case OPT_DIFF: set->is_diff = f->frames.is_plain = true; break;
	case OPT_FRAMES:
		set->frames = frames_kinds[opt_word(op, frames_words)];
		set->has_frames = true;
		break;
	case OPT_LINKED_ONLY: set->linked_only = true; break;
	case OPT_NO_KERNELS: set->no_kernels = true; break;
	case OPT_SHORT:
		f->frames.is_short = true;
		if (op->arg != NULL)
			f->frames.width = (size_t)opt_int(op, 1, 100000);
		break;
	case OPT_UNIT:
		set->output.unit = (enum output_unit)opt_word(op, unit_words);
		break;
	case 'o': set->output.path = op->arg; break;
	case 'v': set->verbose = true; break;
	default: (void)select_opt(&set->select, op, ch); break;
	}
}

static void
check_settings(struct settings *set)
{
	uint32_t kinds = set->clock == CLOCK_GPU
	    ? KINDS_GPU
	    : KINDS_HOST | KIND_BIT(KIND_PYTHON);

	if (set->only_modules && set->has_frames)
		die_usage("options '--by module' and '--frames' say both what "
			  "is a frame");
	if (set->clock == CLOCK_CPU && (set->no_kernels || set->linked_only))
		die_usage("option '--%s' needs --clock gpu",
		    set->no_kernels ? "no-kernels" : "linked-only");
	if (set->select.kinds != 0 && (set->select.kinds & kinds) == 0)
		die_usage("option '--kind' needs %s",
		    set->clock == CLOCK_GPU
			? "kernel, memcpy or memset: what the GPU worked on"
			: "op, runtime, driver or python with --clock cpu");
	if (set->only_modules)
		set->frames = KIND_BIT(KIND_PYTHON);
	set->select.late_ranks = true;
	set->output.nsides = set->is_diff ? NSIDES : 1;
}

static void
read_all(struct folder *f, struct settings *set, const struct optparse *op)
{
	int n = set->is_diff ? 0 : op->argc - op->ind;

	for (f->side = 0; f->side < NSIDES; f->side++)
		for (size_t i = 0; i < set->paths[f->side].n; i++)
			read_file(f, set, set->paths[f->side].v[i]);
	f->side = 0;
	if (n == 0 && !set->is_diff)
		read_file(f, set, "-");
	for (int i = 0; i < n; i++)
		read_file(f, set, op->argv[op->ind + i]);
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
	operands_take(set.paths, set.is_diff, &op);

	f.dict = dict_create();
	f.no_launch = intern_put(f.dict->text, STR("[no launch]"));
	f.no_frame = intern_put(f.dict->text, STR("[no frame]"));
	read_all(&f, &set, &op);
	check_answer(&f);
	output_write(&set.output, &f.stacks, f.dict, &f.sources);
	tell_sides(&f);
	if (set.verbose)
		summarise(&f, &set.output);
	sources_free(&f.sources);
	frames_free(&f.frames);
	stacks_free(&f.stacks);
	vec_free(&f.open);
	vec_free(&f.modules);
	dict_destroy(f.dict);
	select_free(&set.select);
	free_paths(&set);
	return exit_status();
}
