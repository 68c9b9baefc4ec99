/* SPDX-License-Identifier: MIT */
/*
 * tl-split: streams to parts, by rank, step, serving iteration, annotation or
 * time.
 *
 * The inverse of tl-merge, and a filter with many outputs: it goes once through
 * its inputs, each event goes to the parts that it belongs to, and what is in
 * none of them goes to the rest. So the parts analyse to the sums of the whole.
 */
#include "cmd/tl-split/split.h"
#include "trace/phase.h"

/* Events that are dealt out together: parts come in turn, so not too few. */
#define HELD_MIN 65536

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
	{ OPT_PLAN, "plan", NULL,
	    "print what to record for that load; needs no trace" },
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

/* ---- the prologue ---- */

static void
note_one(struct part *p, uint32_t no, bool is_own)
{
	vec_push(&p->notes, ((struct hold_pick){ no, is_own }));
	p->is_due |= is_own;
}

/* To each part with these keys. */
static void
note_all(struct split *s, uint32_t no, bool is_own)
{
	for (size_t k = 0; k < s->keys.n; k++)
		note_one(part_get(s, &s->keys.v[k]), no, is_own);
}

/* Whether an event of the prologue belongs to parts, and is no mere name. */
static bool
is_dealt_out(const struct event *ev)
{
	return (ev->shape->has & HAS_TS) != 0 && ev->shape->kind != KIND_META &&
	    (ev->flags & EV_STUB) == 0;
}

/*
 * An annotation is of the part where it starts, and context to all others that
 * it reaches, and to the rest.
 */
static void
deal_note(struct split *s, uint32_t no, const struct event *ev)
{
	bool is_annotation = ev->shape->kind == KIND_ANNOTATION;
	struct when first = { ev->ts_ns,
		is_annotation ? split_process(s, ev->track) : NULL };
	int64_t last = ev->ts_ns;

	if (ev->shape->kind == KIND_META)
		vec_push(&s->now.names, ((struct hold_pick){ no, false }));
	if (!is_dealt_out(ev))
		return;
	if (ev->dur_ns > 0)
		last = num_add_max(ev->ts_ns, ev->dur_ns - 1);
	if (is_annotation) {
		cut_reached(s, &first, last, &s->keys);
		note_all(s, no, false);
	}
	if (by_iterations(s->set))
		iterations_take(s, ev, &first, &s->keys);
	else
		cut_parts(s, &first, &s->keys);
	note_all(s, no, true);
	if (!by_iterations(s->set) && (is_annotation || s->keys.n == 0))
		note_one(part_get(s, NULL), no, s->keys.n == 0);
}

/* No time is in an iteration without length: its parts have its annotation. */
static void
note_empty_iterations(struct split *s)
{
	for (size_t i = 0; i < s->its.roots.n; i++) {
		const struct root *root = &s->its.roots.v[i];
		const struct step_window *w =
		    &s->cut.steps.list.v[root->window];

		if (w->start_ns < w->end_ns)
			continue;
		for (uint32_t k = 0; k < root->nparts; k++)
			note_one(part_get(s, &root->parts[k]), w->marker, true);
	}
}

/* It is whole, so that the source's windows are known; each has its part. */
static void
deal_prologue(struct split *s)
{
	struct current *now = &s->now;

	if (now->is_cut || s->set->by == BY_RANK)
		return;
	now->is_cut = true;
	cut_ready(&s->cut, &now->prologue);
	if (by_iterations(s->set)) {
		if (s->cut.steps.inferred > 0)
			report(MSG_ITERATIONS_INFERRED, s->in->name, now->src,
			    s->cut.steps.list.n,
			    step_from_reason(s->cut.steps.from));
		iterations_ready(s);
		note_empty_iterations(s);
	}
	/* annotations first: their copies on the GPU go where they are */
	for (int rest = 0; rest < 2; rest++)
		for (uint32_t i = 0; i < now->prologue.tree.nodes.n; i++) {
			struct event ev;

			hold_event(&now->prologue, i, &ev);
			if ((ev.shape->kind != KIND_ANNOTATION) == rest)
				deal_note(s, i, &ev);
		}
	for (size_t i = 0; i < s->parts.n; i++)
		if (s->parts.v[i]->is_due)
			part_begin(s, s->parts.v[i]);
}

/* ---- sources ---- */

static void
end_source(struct split *s)
{
	struct current *now = &s->now;

	if (!now->is_begun)
		return;
	deal_prologue(s);
	parts_end_source(s);
	now->is_begun = false;
	now->metas.n = now->names.n = 0;
	hold_free(&now->prologue);
	hold_free(&now->trees);
	arena_destroy(now->mem);
}

static void
take_source(struct split *s, const struct source *source)
{
	struct current *now = &s->now;

	if (now->is_begun && now->src != source->src)
		end_source(s);
	if (!now->is_begun) {
		now->is_begun = true;
		now->is_cut = false;
		now->no++;
		now->src = source->src;
		now->mem = arena_create();
		now->prologue =
		    (struct hold){ .tree.st = s->st, .is_bare = true };
		now->trees = (struct hold){
			.tree.st = s->st, .is_all = true, .is_bare = true
		};
	}
	now->source = source_keep(now->mem, source);
	if (!now->is_cut)
		cut_clear(&s->cut, &now->source);
}

static void
take_meta(struct split *s, const struct meta *m)
{
	struct current *now = &s->now;
	struct meta kept = *m;

	if (!now->is_begun)
		return;
	kept.fact = fact_keep(now->mem, &m->fact);
	parts_meta(s, &kept);
	vec_push(&now->metas, kept);
}

static void
take_section(struct split *s, enum section section)
{
	struct current *now = &s->now;

	/* the first section may come before or behind its source */
	if (section == SECTION_PROLOGUE && now->section != SECTION_NONE)
		end_source(s);
	parts_flush(s);
	now->section = section;
}

/* ---- events ---- */

static void
pass_rank(struct split *s, const struct event *ev)
{
	const struct fact *f = source_fact(&s->now.source, "rank");

	if (f == NULL || f->val.type != VAL_INT)
		die("%s: source %u has no rank", s->in->name,
		    (unsigned)ev->src);
	part_pass(s, part_get(s, &f->val.i), ev);
}

static const struct forest_node *
launch_of(const struct current *now, const struct event *ev)
{
	if ((ev->shape->has & HAS_LAUNCH) == 0)
		return NULL;
	for (uint32_t d = ev->depth; d-- > 0;) {
		const struct forest_node *it =
		    &now->trees.tree.nodes.v[now->trees.tree.open.v[d]];

		if (it->id == ev->launch.id && it->inst == ev->launch.inst)
			return it;
	}
	return NULL;
}

/* What happens in a process; rows of GPUs and the like are in none. */
#define KINDS_OF_PROCESS (KINDS_HOST | KIND_BIT(KIND_PYTHON))

/* When and where it happened, for its parts; false: in none of them. */
static bool
find_when(const struct split *s, const struct event *ev, struct when *when)
{
	const struct forest_node *launch;

	when->ns = ev->ts_ns;
	when->pid =
	    event_is(ev, KINDS_OF_PROCESS) ? split_process(s, ev->track) : NULL;
	if (!event_is(ev, KINDS_GPU) || s->set->by_gpu_time)
		return (ev->shape->has & HAS_TS) != 0;
	launch = launch_of(&s->now, ev);
	if (launch == NULL)
		return false;
	when->ns = launch->ts_ns;
	when->pid = split_process(s, launch->track);
	return true;
}

static void
deal_out(struct split *s, const struct event *ev)
{
	uint32_t no = (uint32_t)s->now.trees.tree.nodes.n - 1;
	struct when when;
	bool has_when = find_when(s, ev, &when);

	s->keys.n = 0;
	if (by_iterations(s->set))
		iterations_take(s, ev, has_when ? &when : NULL, &s->keys);
	else if (has_when)
		cut_parts(s, &when, &s->keys);
	for (size_t i = 0; i < s->keys.n; i++)
		part_take(s, part_get(s, &s->keys.v[i]), no);
	if (s->keys.n > 0)
		return;
	s->nrest++;
	if (!by_iterations(s->set))
		part_take(s, part_get(s, NULL), no);
}

static void
take_event(struct split *s, const struct event *ev)
{
	struct current *now = &s->now;

	if (!now->is_begun || ev->src != now->src)
		die("%s: event %" PRIu64 " is not of the source before it",
		    s->in->name, ev->uid.id);
	if (s->set->by == BY_RANK) {
		pass_rank(s, ev);
		return;
	}
	if (now->section == SECTION_PROLOGUE) {
		hold_wait(&now->prologue, ev);
		return;
	}
	deal_prologue(s);
	if (ev->depth == 0 && !now->trees.may_be &&
	    now->trees.tree.nodes.n >= HELD_MIN)
		parts_flush(s);
	hold_add(&now->trees, s->in, ev, false);
	if ((ev->flags & EV_STUB) == 0)
		deal_out(s, ev);
}

/* ---- streams ---- */

static void
split_input(struct split *s, const char *path)
{
	struct stream_in *in = stream_open(path, s->st, WANT_TREE);
	enum item item;

	s->in = in;
	s->now.section = SECTION_NONE;
	while ((item = stream_next(in)) != ITEM_END) {
		switch (item) {
		case ITEM_EVENT: take_event(s, &in->ev); break;
		case ITEM_SOURCE:
			iteration_formats_of(&in->source);
			take_source(s, &in->source);
			break;
		case ITEM_META: take_meta(s, &in->meta); break;
		case ITEM_SECTION: take_section(s, in->section); break;
		case ITEM_END: break;
		}
	}
	end_source(s);
	s->marks |= in->marks;
	stream_close(in);
}

/* ---- options ---- */

static void
set_by(struct settings *set, enum by by)
{
	if (set->by != BY_NOTHING)
		die_usage("--by, --annotation and --every exclude each other");
	set->by = by;
}

/* all, N, or A:B without B */
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
		die_nothing(MSG_NO_PARTS, nothing_word(set));
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
	check_settings(&set);
	if (set.plan_only)
		plan_print(&set.plan);
	else
		split_all(&s, op.ind < argc ? argv + op.ind : standard_input);
	return exit_status();
}
