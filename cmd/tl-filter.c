/* SPDX-License-Identifier: MIT */
/*
 * tl-filter: passes on the events that are asked for. A filter: order is kept.
 * Selected events of a tree keep those above them, as stubs, so that it stays a
 * tree; facts of the source, names of threads and user annotations stay, too,
 * as other programs need them.
 */
#include "trace/hold.h"
#include "trace/select.h"

struct settings {
	bool is_flat, subtree, verbose;
	bool is_part; /* another program reads further inputs */
	bool has_met;
	int met; /* a file: see select_put_met() */
	uint32_t first_source;
	struct select select;
	struct stream_dest dest;
};

struct filter {
	struct settings *set;
	struct hold hold;
	struct numbering nb;
	struct stream_in *in;
	enum section section;
	bool has_section_due; /* to be written once its source is wanted */
	bool is_left_out;     /* the source written last is skipped */
	VEC(struct fact) facts;
	VEC(bool) unasked; /* by source of this input: --rank excludes it */
	uint64_t nread;
};

enum {
	OPT_FIRST = OPT_LONG + 1,
	OPT_FLAT,
	OPT_MET,
	OPT_SUBTREE,
};

static const struct opt options[] = {
	OPT_SELECT,
	OPT_SELECT_HINT,
	{ OPT_FIRST, "first-source", "N",
	    "one of several inputs: sources count from N on" },
	{ OPT_FLAT, "flat", NULL,
	    "only the selected events, without those above: no tree" },
	{ OPT_MET, "met", "FD",
	    "with --first-source: write into FD which processes are there" },
	OPT_STREAM_OUT,
	{ OPT_SUBTREE, "subtree", NULL,
	    "and everything below a selected event" },
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"keep a selection of a stream's events",
	"[OPTIONS] [FILE...]",
	"tl-filter --step 3-7 --kind kernel t.tl | tl-timeline",
};

/* ---- events ---- */

static bool
is_unasked(const struct filter *f, uint32_t src)
{
	return src < f->unasked.n && f->unasked.v[src];
}

/*
 * Writes the section that has begun, which may be empty without some sources.
 */
static void
tell_section(struct filter *f)
{
	if (!f->has_section_due)
		return;
	f->has_section_due = false;
	if (!f->set->is_flat)
		stream_write_section(f->hold.out, f->section);
}

/* In a flat stream without subtrees an event is on its own. */
static bool
is_alone(const struct settings *set)
{
	return set->is_flat && !set->subtree;
}

static void
take_event(struct filter *f, bool is_chosen)
{
	struct event ev = f->in->ev;

	f->nread++;
	if (is_unasked(f, ev.src))
		return;
	numbering_event(&f->nb, &ev);
	tell_section(f);
	if (f->section == SECTION_PROLOGUE) {
		hold_wait(&f->hold, &ev);
		return;
	}
	if (is_alone(f->set)) {
		if (is_chosen)
			hold_pass(&f->hold, &ev);
		return;
	}
	if (!is_chosen && f->set->subtree && (ev.flags & EV_STUB) == 0)
		is_chosen = hold_is_below(&f->hold, ev.depth);
	hold_add(&f->hold, f->in, &ev, is_chosen);
}

/*
 * Which events of the prologue are in a window is known only after it, when the
 * selection sees them again; source numbers no longer matter then.
 */
static void
judge_prologue(struct filter *f)
{
	struct stream_in again = *f->in;

	for (size_t i = 0; i < f->hold.tree.nodes.n; i++) {
		hold_event(&f->hold, i, &again.ev);
		again.ev.src -= f->nb.first;
		f->hold.tree.nodes.v[i].hold.is_chosen =
		    select_item(&f->set->select, &again, ITEM_EVENT);
	}
}

/* ---- what stands beside the events ---- */

static void
take_section(struct filter *f)
{
	if (f->section == SECTION_PROLOGUE)
		judge_prologue(f);
	hold_flush(&f->hold);
	f->section = f->in->section;
	f->has_section_due = true;
	/* events after the prologue belong to the source before them */
	if (f->section != SECTION_PROLOGUE && !f->is_left_out)
		tell_section(f);
}

/* A recording cut in time no longer has its whole length. */
static void
drop_window(struct filter *f, struct source *s)
{
	const struct select *asked = &f->set->select;

	if (!asked->has_from && !asked->has_to && asked->phases == 0 &&
	    asked->annotations.n == 0 && !select_asks_steps(asked))
		return;
	f->facts.n = 0;
	for (size_t i = 0; i < s->nfacts; i++)
		if (!str_eq(s->facts[i].key, STR("window_start")) &&
		    !str_eq(s->facts[i].key, STR("window_end")))
			vec_push(&f->facts, s->facts[i]);
	s->facts = f->facts.v;
	s->nfacts = f->facts.n;
}

static void
take_source(struct filter *f)
{
	struct source s = f->in->source;
	bool unasked = !select_source(&f->set->select, &s);

	while (f->unasked.n <= s.src)
		vec_push(&f->unasked, false);
	f->unasked.v[s.src] = f->is_left_out = unasked;
	if (unasked)
		return;
	tell_section(f);
	s.src = numbering_source(&f->nb, s.src);
	drop_window(f, &s);
	stream_write_source(f->hold.out, &s);
}

static void
take_meta(struct filter *f)
{
	struct meta m = f->in->meta;

	if (is_unasked(f, m.src))
		return;
	tell_section(f);
	m.src = numbering_source(&f->nb, m.src);
	stream_write_meta(f->hold.out, &m);
}

/* ---- streams ---- */

/*
 * A tree, so that the output's readers know the owners of GPU work. Flat output
 * needs only the links of its GPU work.
 */
static enum want
wanted(const struct settings *set, bool is_only)
{
	uint32_t kinds = set->select.kinds;
	bool has_gpu = kinds == 0 || (kinds & KINDS_GPU) != 0;

	if (!is_alone(set))
		return WANT_TREE;
	return select_want(
	    &set->select, has_gpu || !is_only ? WANT_LINKED : WANT_STREAM);
}

static void
open_input(struct filter *f, const char *path, bool is_only)
{
	const struct select *sel = &f->set->select;

	f->in = stream_open(path, f->hold.tree.st, wanted(f->set, is_only));
	if (is_alone(f->set))
		stream_only(f->in, select_kinds(sel, KINDS_ALL));
	numbering_input(&f->nb);
	select_start(
	    &f->set->select, f->in, f->set->first_source + f->nb.first);
	f->unasked.n = 0;
	f->is_left_out = f->has_section_due = false;
	f->section = SECTION_NONE;
}

/* The first input's marks apply to all: they are opened alike. */
static void
open_output(struct filter *f)
{
	unsigned marks = f->in->marks;

	if (f->set->is_flat) {
		if ((marks & MARK_TREE) != 0)
			marks |= MARK_LINKED;
		marks = (marks & ~(unsigned)MARK_TREE) | MARK_EDITED;
	}
	f->hold.is_bare = !f->set->dest.ndjson;
	f->hold.out =
	    stream_create(&f->set->dest, f->hold.tree.st, f->in, marks, false);
}

static void
pass_input(struct filter *f)
{
	struct stream_in *in = f->in;
	enum item item;

	while ((item = stream_next(in)) != ITEM_END) {
		bool is_chosen = select_item(&f->set->select, in, item);

		switch (item) {
		case ITEM_EVENT: take_event(f, is_chosen); break;
		case ITEM_SOURCE: take_source(f); break;
		case ITEM_META: take_meta(f); break;
		case ITEM_SECTION: take_section(f); break;
		case ITEM_END: break;
		}
	}
	if (f->section == SECTION_PROLOGUE)
		judge_prologue(f);
	hold_flush(&f->hold);
	stream_mark(
	    f->hold.out, in->marks & ~(unsigned)(MARK_LINKED | MARK_TREE));
	stream_close(in);
}

static void
say(const struct filter *f)
{
	note_cost("%" PRIu64 " events, %" PRIu64 " chosen, %" PRIu64
		  " kept as stubs",
	    f->nread, f->hold.nchosen, f->hold.nstubs);
}

static void
filter_files(struct filter *f, char *const *files)
{
	bool is_only = files[1] == NULL;

	for (size_t i = 0; files[i] != NULL; i++) {
		open_input(f, files[i], is_only);
		if (i == 0)
			open_output(f);
		pass_input(f);
	}
	if (f->set->has_met)
		select_put_met(&f->set->select, f->set->met);
	else if (!f->set->is_part)
		select_end(&f->set->select);
	/* an empty stream is an answer, though rarely the one expected */
	if (!f->set->is_part && f->hold.nchosen == 0 && f->nread > 0)
		report(MSG_NONE_PASSED, files[0], f->nread,
		    select_there(&f->set->select));
	stream_finish(f->hold.out);
	hold_free(&f->hold);
}

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	switch (ch) {
	case OPT_FIRST:
		set->first_source = (uint32_t)opt_int(op, 0, INT32_MAX);
		set->is_part = true;
		break;
	case OPT_FLAT: set->is_flat = true; break;
	case OPT_MET:
		set->met = (int)opt_int(op, 0, INT32_MAX);
		set->has_met = true;
		break;
	case OPT_SUBTREE: set->subtree = true; break;
	case 'v': set->verbose = true; break;
	default:
		if (!select_opt(&set->select, op, ch))
			(void)stream_dest_opt(&set->dest, op, ch);
		break;
	}
}

int
main(int argc, char *argv[])
{
	static char *const standard_input[] = { (char *)"-", NULL };
	struct settings set = { 0 };
	struct filter f = { .set = &set };
	char *const *files;
	struct optparse op;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	if (set.has_met && !set.is_part)
		die_usage("option '--met' needs --first-source");
	stream_unite(&op);
	files = op.ind < op.argc ? argv + op.ind : standard_input;
	stream_check_files(files);

	f.hold.tree.st = f.nb.dict = dict_create();
	f.hold.is_flat = set.is_flat;
	set.select.is_of_all = true;
	filter_files(&f, files);
	if (set.verbose)
		say(&f);
	vec_free(&f.unasked);
	vec_free(&f.facts);
	vec_free(&f.nb.tracks);
	select_free(&set.select);
	dict_destroy(f.hold.tree.st);
	return exit_status();
}
