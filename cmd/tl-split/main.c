/* SPDX-License-Identifier: MIT */
/*
 * tl-split: streams to parts, by rank, step, annotation or time.
 *
 * The inverse of tl-merge, and a filter with many outputs: it goes once through
 * its inputs, each event goes to the parts that it belongs to, and what is in
 * none of them goes to the rest. So the parts analyse to the sums of the whole.
 */
#include "cmd/tl-split/split.h"

/* Events that are dealt out together: parts come in turn, so not too few. */
#define HELD_MIN 65536

enum {
	OPT_ANNOTATION = OPT_LONG,
	OPT_BY,
	OPT_BY_GPU_TIME,
	OPT_EVERY,
};

static const struct opt options[] = {
	{ OPT_ANNOTATION, "annotation", "NAME",
	    "a part for each annotation like NAME" },
	{ OPT_BY, "by", "rank|step", "a part for each rank or step" },
	{ OPT_BY_GPU_TIME, "by-gpu-time", NULL,
	    "GPU work by its own start, not its launch's" },
	{ 'd', "dir", "DIR", "where the parts go" },
	{ OPT_EVERY, "every", "TIME", "a part for each TIME" },
	{ 'v', "verbose", NULL, "a summary on standard error" },
	{ 'z', "zstd", "[LEVEL]", "compress the parts with zstd" },
	OPT_END,
};

static const struct about about = {
	"streams to parts: by rank, step, annotation or time",
	"-d DIR --by rank|step | --annotation NAME | --every TIME [FILE...]",
	"tl-split --by step -d steps t.tl",
};

/* ---- the prologue ---- */

/* It is whole, so that the source's windows are known; each has its part. */
static void
deal_prologue(struct split *s)
{
	struct current *now = &s->now;

	if (now->is_cut || s->set->by == BY_RANK)
		return;
	now->is_cut = true;
	cut_ready(&s->cut, &now->prologue);
	for (size_t i = 0; i < now->prologue.tree.nodes.n; i++) {
		struct event ev;

		hold_event(&now->prologue, i, &ev);
		if (!is_dealt_out(&ev))
			continue;
		cut_parts(&s->cut, ev.ts_ns, &s->keys);
		for (size_t k = 0; k < s->keys.n; k++)
			part_begin(s, part_get(s, &s->keys.v[k]));
		if (s->keys.n == 0)
			part_begin(s, part_get(s, NULL));
	}
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
	now->metas.n = 0;
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
		now->prologue = (struct hold){ .tree.st = s->st };
		now->trees = (struct hold){ .tree.st = s->st, .is_all = true };
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

/* When it happened, for its parts; false: in none of them. */
static bool
when(const struct split *s, const struct event *ev, int64_t *t)
{
	const struct forest_node *launch;

	*t = ev->ts_ns;
	if (!event_is(ev, KINDS_GPU) || s->set->by_gpu_time)
		return (ev->shape->has & HAS_TS) != 0;
	launch = launch_of(&s->now, ev);
	if (launch != NULL)
		*t = launch->ts_ns;
	return launch != NULL;
}

static void
deal_out(struct split *s, const struct event *ev)
{
	uint32_t no = (uint32_t)s->now.trees.tree.nodes.n - 1;
	int64_t t;

	s->keys.n = 0;
	if (when(s, ev, &t))
		cut_parts(&s->cut, t, &s->keys);
	for (size_t i = 0; i < s->keys.n; i++)
		part_take(s, part_get(s, &s->keys.v[i]), no);
	if (s->keys.n == 0) {
		part_take(s, part_get(s, NULL), no);
		s->nrest++;
	}
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
		case ITEM_SOURCE: take_source(s, &in->source); break;
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

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	static const char *const words[] = { "rank", "step", NULL };

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
	case 'v': set->verbose = true; break;
	default: (void)stream_dest_opt(&set->dest, op, ch); break;
	}
}

int
main(int argc, char *argv[])
{
	static char *const standard_input[] = { (char *)"-", NULL };
	struct settings set = { 0 };
	struct split s = { .set = &set, .cut.set = &set };
	char *const *files;
	struct optparse op;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	if (set.dir == NULL || set.by == BY_NOTHING)
		die_usage("it needs -d DIR and what to split by");
	if (set.by == BY_RANK && set.by_gpu_time)
		die_usage("option '--by-gpu-time': --by rank asks no times");
	files = op.ind < argc ? argv + op.ind : standard_input;
	stream_check_files(files);
	io_make_folder(set.dir);

	s.st = dict_create();
	for (; *files != NULL; files++)
		split_input(&s, *files);
	if (s.parts.n == (s.rest != NULL))
		die_nothing(MSG_NO_PARTS,
		    set.by == BY_STEP ? "step" : "such annotation");
	if (set.verbose)
		note("%zu parts, %" PRIu64 " events in none of them",
		    s.parts.n - (s.rest != NULL), s.nrest);
	parts_finish(&s);
	cut_free(&s.cut);
	vec_free(&s.now.metas);
	dict_destroy(s.st);
	return exit_status();
}
