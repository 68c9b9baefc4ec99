/* SPDX-License-Identifier: MIT */
/*
 * tl-merge: many streams to one, on one clock.
 *
 * A filter: sources are kept apart and follow one another, and events pass
 * unchanged. Only the base of each source is rewritten, so that times of all
 * are on the first one's clock. A source's facts are final after its events, so
 * one pass is enough.
 *
 * main.c   the command line, and what goes through
 * clock.c  the clocks of sources, and the messages about them
 */
#include <stdlib.h>

#include "cmd/tl-merge/merge.h"

enum {
	OPT_ALIGN = OPT_LONG,
	OPT_SORT,
};

static const struct opt options[] = {
	{ OPT_ALIGN, "align", "base|collective|none",
	    "how to join clocks (base, and check them)" },
	OPT_SELECT,
	OPT_SELECT_OTHERS,
	{ OPT_SORT, "sort", "given|rank", "order of sources (given)" },
	OPT_STREAM_OUT,
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"merge streams of many ranks onto one clock",
	"[OPTIONS] [FILE...]",
	"tl-merge rank*.json.gz | tl-export --to chrome -o all.json.gz",
};

static int
by_rank(const void *pa, const void *pb)
{
	const struct input *a = pa, *b = pb;

	if (a->has_rank != b->has_rank)
		return a->has_rank ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->no < b->no ? -1 : a->no > b->no;
}

/* ---- events ---- */

static bool
is_unasked(const struct merge *m, uint32_t src)
{
	return src < m->unasked.n && m->unasked.v[src];
}

static void
pass_event(struct merge *m, struct event ev, bool is_chosen)
{
	/* names of processes and threads are always kept */
	if (is_unasked(m, ev.src) ||
	    (m->is_selective && !is_chosen && ev.shape->kind != KIND_META))
		return;
	clock_event(m, &ev);
	numbering_event(&m->nb, &ev);
	stream_write(m->out, &ev);
	m->nevents++;
}

static void
pass_waiting(struct merge *m, const struct stream_in *in)
{
	struct stream_in again = *in;

	for (size_t i = 0; i < m->waiting.tree.nodes.n; i++) {
		hold_event(&m->waiting, i, &again.ev);
		pass_event(m, again.ev,
		    select_item(&m->set->select, &again, ITEM_EVENT));
	}
	hold_drop(&m->waiting);
}

static void
take_event(struct merge *m, const struct stream_in *in, bool is_chosen)
{
	if (m->is_selective && m->section == SECTION_PROLOGUE)
		hold_wait(&m->waiting, &in->ev);
	else
		pass_event(m, in->ev, is_chosen);
}

static void
pass_item(struct merge *m, struct stream_in *in, enum item item)
{
	bool is_chosen = select_item(&m->set->select, in, item);
	uint32_t src;

	switch (item) {
	case ITEM_EVENT: take_event(m, in, is_chosen); break;
	case ITEM_SOURCE:
		src = in->source.src;
		while (m->unasked.n <= src)
			vec_push(&m->unasked, false);
		m->unasked.v[src] =
		    !select_source(&m->set->select, &in->source);
		clock_note(m, &in->source, !m->unasked.v[src]);
		if (!m->unasked.v[src])
			clock_source(m, &in->source);
		break;
	case ITEM_META:
		if (!is_unasked(m, in->meta.src)) {
			struct meta meta = in->meta;

			meta.src = numbering_source(&m->nb, meta.src);
			stream_write_meta(m->out, &meta);
		}
		break;
	case ITEM_SECTION:
		pass_waiting(m, in);
		m->section = in->section;
		if (m->has_sections)
			stream_write_section(m->out, in->section);
		break;
	case ITEM_END: break;
	}
}

/* Trees only if the first is one: others then pass through tl-tree. */
static enum want
wanted(const struct merge *m, const struct input *input)
{
	enum want want = select_want(&m->set->select, WANT_STREAM);

	return input->no > 0 && m->has_sections ? WANT_TREE : want;
}

static void
open_output(struct merge *m, const struct stream_in *in)
{
	unsigned marks = in->marks;

	if (m->is_selective)
		marks = (marks & ~(unsigned)MARK_TREE) | MARK_EDITED;
	else if (m->inputs.n > 1 && (marks & MARK_TREE) == 0)
		marks &= ~(unsigned)MARK_LINKED;
	m->has_sections = (marks & MARK_TREE) != 0;
	m->out = stream_create(&m->set->dest, m->st, in, marks, false);
}

static void
pass_input(struct merge *m, const struct input *input)
{
	struct stream_in *in =
	    stream_open(input->path, m->st, wanted(m, input));
	enum item item;

	if (m->out == NULL)
		open_output(m, in);
	m->input = input;
	numbering_input(&m->nb);
	select_start(&m->set->select, in, m->nb.first);
	m->unasked.n = m->drifts.n = 0;
	m->njoined = m->joined.n;
	m->section = SECTION_NONE;
	while ((item = stream_next(in)) != ITEM_END)
		pass_item(m, in, item);
	pass_waiting(m, in);
	stream_mark(m->out, in->marks & ~(unsigned)(MARK_LINKED | MARK_TREE));
	stream_close(in);
}

/* ---- options ---- */

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	/* of enum align, without the first */
	static const char *const aligns[] = { "base", "collective", "none",
		NULL };
	static const char *const orders[] = { "given", "rank", NULL };

	switch (ch) {
	case OPT_ALIGN:
		set->align = (enum align)(opt_word(op, aligns) + 1);
		break;
	case OPT_SORT: set->sort_rank = opt_word(op, orders) == 1; break;
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
	struct settings set = { 0 };
	struct merge m = { .set = &set };
	struct optparse op;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	stream_unite(&op);
	for (int i = op.ind; i < op.argc; i++)
		vec_push(&m.inputs,
		    ((struct input){
			.path = argv[i], .no = (size_t)(i - op.ind) }));
	if (m.inputs.n == 0)
		vec_push(&m.inputs, ((struct input){ .path = "-" }));
	m.is_selective = set.select.is_of_events;
	m.st = m.nb.dict = m.waiting.tree.st = dict_create();
	if (set.sort_rank || (m.inputs.n > 1 && set.align != ALIGN_NONE))
		clock_look(&m);
	if (set.sort_rank)
		qsort(m.inputs.v, m.inputs.n, sizeof *m.inputs.v, by_rank);
	if (set.align == ALIGN_COLLECTIVE)
		clock_offsets(&m);
	for (size_t i = 0; i < m.inputs.n; i++) {
		m.inputs.v[i].no = i;
		pass_input(&m, &m.inputs.v[i]);
	}
	select_end(&set.select);
	/* read before, as the output may replace an input */
	if (set.align == ALIGN_UNSAID)
		joined_check(&m.joined);
	stream_finish(m.out);
	vec_free(&m.joined);
	if (set.verbose)
		note_cost("%zu inputs, %" PRIu32 " sources, %" PRIu64 " events",
		    m.inputs.n, m.nb.next, m.nevents);
	return exit_status();
}
