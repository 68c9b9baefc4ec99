/* SPDX-License-Identifier: MIT */
/*
 * reseal: lines of events that lost header, sources and end (jq) become a
 * stream again. The header says whether it is a tree, and each event of a tree
 * how many are below; so the lines are held in memory and read twice.
 */
#include "cat.h"
#include "stream/ndjson.h"

/* An event of the tree, after the first pass. */
struct below {
	uint64_t ndesc, ngpu;
};

struct reseal {
	const struct settings *set;
	struct dict *dict;
	struct stream_in *from;
	struct sources sources; /* the sources of --from */
	VEC(struct meta) metas;
	struct buf text;         /* all lines, then IN_PAD zeros */
	const char *name;        /* of the input */
	bool is_tree;            /* so far, and after the first pass */
	bool has_sections;       /* the lines have sections */
	VEC(struct below) below; /* by event of the tree, in order */
	VEC(size_t) open;        /* the events above, as indexes into below */
	VEC(struct uid) stack;
	uint32_t src;
	enum section section;
	struct stream_out *out;
	size_t nbelow; /* in the second pass */
};

/* What a pass does with an event. */
typedef void event_fn(struct reseal *r, struct event *ev);
typedef void section_fn(struct reseal *r, enum section section);

static void
read_from(struct reseal *r)
{
	enum item item;

	r->from = stream_open(r->set->from, r->dict, WANT_STREAM);
	stream_only(r->from, 0);
	while ((item = stream_next(r->from)) != ITEM_END) {
		if (item == ITEM_SOURCE) {
			sources_tell(&r->sources, &r->from->source);
		} else if (item == ITEM_META) {
			struct meta m = r->from->meta;

			m.fact = fact_keep(r->sources.mem, &m.fact);
			vec_push(&r->metas, m);
		}
	}
}

static void
read_text(struct reseal *r)
{
	struct in *in = in_open(r->set->files[0]);

	r->name = xstrdup(in->name);
	do {
		buf_put(&r->text, in->p, (size_t)(in->end - in->p));
		in->p = in->end;
		in_release(in);
	} while (in_more(in));
	in_close(in);
	/* editors drop the last newline */
	if (r->text.len > 0 && r->text.p[r->text.len - 1] != '\n')
		buf_putc(&r->text, '\n');
	buf_room(&r->text, IN_PAD);
	memset(r->text.p + r->text.len, 0, IN_PAD);
}

/* The section of an event, if lines lack it: in a tree events have depths. */
static enum section
guess_section(const struct reseal *r, const struct event *ev)
{
	if (ev->src != r->src)
		return ev->shape->has & HAS_DEPTH ? SECTION_TREE
						  : SECTION_PROLOGUE;
	if (r->section == SECTION_TAIL || (ev->shape->has & HAS_DEPTH) == 0)
		return r->section == SECTION_PROLOGUE ||
			r->section == SECTION_NONE
		    ? SECTION_PROLOGUE
		    : SECTION_TAIL;
	/* unlinked and discarded work has no parent and is in the tail */
	if (ev->flags & (EV_UNLINKED | EV_DISCARDED))
		return SECTION_TAIL;
	return SECTION_TREE;
}

static noreturn void
die_line(const struct reseal *r, const struct ndjson_dec *d, uint64_t line,
    size_t at)
{
	die("%s: byte %zu (line %" PRIu64 "): %s", r->name, at + d->at, line,
	    d->error);
}

static void
to_section(struct reseal *r, enum section section, section_fn *fn)
{
	r->section = section;
	if (fn != NULL)
		fn(r, section);
}

static void
one_event(struct reseal *r, struct ndjson_dec *d, uint64_t line,
    event_fn *event, section_fn *section)
{
	struct event *ev = &d->ev;

	if (ev->src >= r->sources.known.n ||
	    !r->sources.known.v[ev->src].is_told)
		die("%s: line %" PRIu64 ": %s has no source %" PRIu32, r->name,
		    line, r->set->from, ev->src);
	if (!r->has_sections && r->is_tree) {
		enum section s = guess_section(r, ev);

		if (s != r->section || ev->src != r->src)
			to_section(r, s, section);
	}
	r->src = ev->src;
	event(r, ev);
}

/* One pass over all lines. */
static void
each_line(struct reseal *r, event_fn *event, section_fn *section)
{
	struct ndjson_dec d;
	const char *p = r->text.p, *end = p + r->text.len;

	ndjson_start(&d, r->dict);
	d.check_tree = false;
	d.section = SECTION_NONE;
	r->section = SECTION_NONE;
	r->src = UINT32_MAX;
	for (uint64_t line = 1; p < end; line++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		/* a header is optional: that of --from is better */
		d.has_header = strncmp(p, "{\"tl\":", 6) != 0;
		switch (ndjson_line(&d, p, (size_t)(nl - p))) {
		case DEC_EVENT: one_event(r, &d, line, event, section); break;
		case DEC_SECTION:
			r->has_sections = true;
			to_section(r, d.section, section);
			break;
		case DEC_BAD: die_line(r, &d, line, (size_t)(p - r->text.p));
		default: break; /* --from has it */
		}
		p = nl + 1;
	}
	ndjson_free(&d);
}

/* ---- first reading ---- */

static void
close_event(struct reseal *r)
{
	size_t i = r->open.v[--r->open.n];

	if (r->open.n > 0) {
		struct below *up = &r->below.v[r->open.v[r->open.n - 1]];

		up->ndesc += r->below.v[i].ndesc;
		up->ngpu += r->below.v[i].ngpu;
	}
}

static void
close_all(struct reseal *r)
{
	while (r->open.n > 0)
		close_event(r);
	r->stack.n = 0;
}

static void
first_event(struct reseal *r, struct event *ev)
{
	const struct uid *up;
	struct below *above;

	if (!r->is_tree || r->section != SECTION_TREE)
		return;
	if (ev->depth > r->open.n) {
		r->is_tree = false;
		return;
	}
	while (r->open.n > ev->depth)
		close_event(r);
	r->stack.n = ev->depth;
	if (ev->depth > 0) {
		up = &r->stack.v[ev->depth - 1];
		if ((ev->shape->has & HAS_PARENT) == 0 ||
		    up->id != ev->parent.id || up->inst != ev->parent.inst) {
			r->is_tree = false;
			return;
		}
		above = &r->below.v[r->open.v[ev->depth - 1]];
		above->ndesc++;
		above->ngpu += event_is(ev, KINDS_GPU);
	}
	vec_push(&r->open, r->below.n);
	vec_push(&r->stack, ev->uid);
	vec_push(&r->below, ((struct below){ 0, 0 }));
}

static void
first_section(struct reseal *r, enum section section)
{
	(void)section;
	close_all(r);
}

/* ---- second reading ---- */

static void
second_event(struct reseal *r, struct event *ev)
{
	if (r->is_tree && r->section == SECTION_TREE) {
		const struct below *b = &r->below.v[r->nbelow++];

		if (ev->shape->has & HAS_NDESC)
			ev->ndesc = b->ndesc;
		if (ev->shape->has & HAS_NGPU)
			ev->ngpu = b->ngpu;
	}
	stream_write(r->out, ev);
}

static void
second_section(struct reseal *r, enum section section)
{
	if (r->is_tree)
		stream_write_section(r->out, section);
}

static void
write_sources(struct reseal *r)
{
	for (uint32_t i = 0; i < r->sources.known.n; i++) {
		const struct known *k = &r->sources.known.v[i];
		struct source s = {
			.src = i,
			.is_final = true,
			.nfacts = k->nfacts,
			.facts = k->facts,
		};

		if (k->is_told)
			stream_write_source(r->out, &s);
	}
	for (size_t i = 0; i < r->metas.n; i++)
		stream_write_meta(r->out, &r->metas.v[i]);
}

void
cat_reseal(const struct settings *set)
{
	struct reseal r = { .set = set, .dict = dict_create() };
	unsigned marks;

	if (strcmp(set->from, "-") == 0 && strcmp(set->files[0], "-") == 0)
		die_usage("--from and the lines cannot both be standard input");
	sources_start(&r.sources, r.dict);
	read_from(&r);
	read_text(&r);
	r.is_tree = (r.from->marks & MARK_TREE) != 0;
	each_line(&r, first_event, first_section);
	close_all(&r);
	marks = r.from->marks | MARK_EDITED;
	if (!r.is_tree)
		marks &= ~(unsigned)MARK_TREE;
	r.out = stream_create(&set->dest, r.dict, r.from, marks, false);
	write_sources(&r);
	each_line(&r, second_event, second_section);
	stream_close(r.from);
	stream_finish(r.out);
}
