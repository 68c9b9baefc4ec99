/* SPDX-License-Identifier: MIT */
/*
 * stream: to NDJSON or binary, several streams to one. Inputs that are streams
 * are opened before work begins, because the output's header says what all of
 * them are. Raw traces are not: each would be a waiting program. Nor are later
 * inputs with a selection, which come as trees.
 */
#include "cat.h"

struct input {
	const char *path;
	struct stream_in *in; /* NULL: to be opened when its turn comes */
};

struct cat {
	const struct settings *set;
	struct sources sources;
	struct stream_out *out;
	VEC(struct input) inputs;
	VEC(struct prov) prov;
	unsigned marks;
	bool is_first; /* no input so far */
	bool has_sections;
	int64_t left; /* events still to be written */
};

/* Linked or a tree only if all are; other marks if any has them. */
static unsigned
join_marks(const struct cat *c, unsigned marks)
{
	const unsigned all = MARK_LINKED | MARK_TREE;

	if (c->is_first)
		return marks;
	return (c->marks & marks & all) | ((c->marks | marks) & ~all);
}

/* Opens the input now, unless a program in front would have to wait. */
static struct stream_in *
open_early(struct cat *c, const char *path)
{
	struct dict *dict = c->sources.numbers.dict;
	struct in *in;

	if (select_front_is_on(&c->set->select))
		return c->is_first ? select_front_open(&c->set->select, path,
					 dict, WANT_STREAM, 0)
				   : NULL;
	in = in_open(path);
	if (stream_is_one(in) || strcmp(path, "-") == 0)
		return stream_open_in(in, dict, WANT_STREAM);
	in_close(in);
	return NULL;
}

static void
open_input(struct cat *c, const char *path)
{
	struct input input = { path, open_early(c, path) };
	unsigned marks = 0;

	if (select_front_is_on(&c->set->select))
		marks = MARK_LINKED | MARK_TREE;
	if (input.in != NULL) {
		marks = input.in->marks;
		for (size_t i = 0; i < input.in->nprov; i++)
			vec_push(&c->prov, input.in->prov[i]);
	}
	c->marks = join_marks(c, marks);
	c->is_first = false;
	vec_push(&c->inputs, input);
}

static void
open_output(struct cat *c)
{
	struct stream_in all = { .prov = c->prov.v, .nprov = c->prov.n };

	if (is_selective(c->set))
		c->marks = (c->marks & ~(unsigned)MARK_TREE) | MARK_EDITED;
	/* without order no sections; a single stream keeps its own */
	c->has_sections = !is_selective(c->set) &&
	    (c->inputs.n == 1 || (c->marks & MARK_TREE) != 0);
	if (c->set->head != INT64_MAX)
		c->marks |= MARK_EDITED;
	c->out = stream_create(
	    &c->set->dest, c->sources.numbers.dict, &all, c->marks, false);
}

static void
pass_event(struct cat *c, struct stream_in *in)
{
	struct event ev = in->ev;

	if (!is_picked(c->set, &ev))
		return;
	numbering_event(&c->sources.numbers, &ev);
	if (c->set->abs)
		ev.ts_ns = sources_abs(&c->sources, in, &ev);
	stream_write(c->out, &ev);
	c->left--;
}

/* With --abs times count from 0. */
static void
write_source(struct cat *c, struct source *s)
{
	struct known *k = &c->sources.known.v[s->src];

	s->facts = k->facts;
	s->nfacts = k->nfacts;
	if (c->set->abs)
		for (size_t i = 0; i < k->nfacts; i++)
			if (str_eq(k->facts[i].key, STR("base"))) {
				k->facts[i].val.type = VAL_STRX;
				k->facts[i].val.s = STR("0");
			}
	stream_write_source(c->out, s);
}

static void
pass_item(struct cat *c, struct stream_in *in, enum item item)
{
	switch (item) {
	case ITEM_EVENT: pass_event(c, in); break;
	case ITEM_SOURCE: {
		struct source s = in->source;

		sources_tell(&c->sources, &s);
		write_source(c, &s);
		break;
	}
	case ITEM_META: {
		struct meta m = in->meta;

		sources_meta(&c->sources, &m);
		stream_write_meta(c->out, &m);
		break;
	}
	case ITEM_SECTION:
		if (c->has_sections)
			stream_write_section(c->out, in->section);
		break;
	case ITEM_END: break;
	}
}

/* Sources that were not read to the end stay as they are. */
static void
seal_sources(struct cat *c)
{
	for (uint32_t i = 0; i < c->sources.known.n; i++) {
		struct known *k = &c->sources.known.v[i];
		struct source s = { .src = i, .is_final = true };

		if (k->is_told && !k->is_final)
			write_source(c, &s);
		k->is_final = true;
	}
}

static void
pass_input(struct cat *c, struct input *input)
{
	struct stream_in *in = input->in;
	enum item item = ITEM_EVENT;

	if (in == NULL)
		in = select_front_open(&c->set->select, input->path,
		    c->sources.numbers.dict, WANT_STREAM,
		    c->sources.numbers.next);
	stream_only(in, c->set->kinds);
	numbering_input(&c->sources.numbers);
	while (c->left > 0 && (item = stream_next(in)) != ITEM_END)
		pass_item(c, in, item);
	if (item != ITEM_END)
		seal_sources(c);
	else
		stream_mark(
		    c->out, in->marks & ~(unsigned)(MARK_LINKED | MARK_TREE));
	stream_close(in);
}

void
cat_stream(const struct settings *set)
{
	struct cat c = { .set = set, .is_first = true, .left = set->head };

	sources_start(&c.sources, dict_create());
	for (size_t i = 0; set->files[i] != NULL; i++)
		open_input(&c, set->files[i]);
	open_output(&c);
	for (size_t i = 0; i < c.inputs.n; i++)
		if (c.left > 0 || c.inputs.v[i].in != NULL)
			pass_input(&c, &c.inputs.v[i]);
	cat_check_picks(set, c.left);
	stream_finish(c.out);
}
