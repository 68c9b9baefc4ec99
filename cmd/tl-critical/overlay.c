/* SPDX-License-Identifier: MIT */
/* Writes the inputs again as a stream in which the path is marked and drawn. */
#include "cmd/tl-critical/critical.h"

#include <stdlib.h>

#include "stream/maker.h"

/* uid.inst of arrow ends, which no event uses */
#define ARROW_START 0x800000
#define ARROW_END 0x800001
/* Arrows between sources have numbers from here on, which tl-export does not
 * move by source, and which JavaScript still can tell apart. */
#define JOB_ARROWS INT64_C(9000000000000000)

/* ---- what is on the path ---- */

/* Adds the end of an arrow at a node to the overlay of its source. */
static void
add_arrow_end(const struct program *g, struct overlay *to, uint32_t node,
    struct arrow_end a)
{
	uint32_t number = event_of_node(node);
	struct place p = place_of(g, number);
	struct span at;

	if (p.host != NULL) {
		a.uid = p.host->uid;
		a.track = p.r->host.threads.v[p.host->thread].track;
		at = (struct span){ p.host->start_ns, p.host->end_ns };
	} else {
		a.uid = p.gpu->uid;
		a.track = p.gpu->cat;
		at = (struct span){ p.gpu->start_ns, p.gpu->end_ns };
	}
	if (p.r->unmoved.n > 0)
		at = p.r->unmoved.v[number - p.r->first];
	/* viewers bind an arrow to the slice that contains its end */
	a.ns = node == node_of_start(number) || at.start == at.end ? at.start
								   : at.end - 1;
	vec_push(&to[p.r->number].ends, a);
}

/* Marks the event that takes an edge's time. */
static void
mark(const struct program *g, struct overlay *to, uint32_t number)
{
	struct place p = place_of(g, number);

	if (p.host != NULL)
		map_put(&to[p.r->number].marked, uid_hash(p.host->uid), NULL);
	if (p.gpu != NULL)
		map_put(&to[p.r->number].marked, uid_hash(p.gpu->uid), NULL);
}

static bool
is_of_event(const struct program *g, uint32_t node)
{
	return place_of(g, event_of_node(node)).r != NULL;
}

/*
 * Arrows lead from event to event: two edges by way of a point in time, at
 * which all ranks have come to a collective, are one.
 */
void
overlay_take(struct program *g, const edge_list *path)
{
	size_t first = g->overlays.n;
	struct arrow_end a = { 0 };
	uint32_t from = GRAPH_SOURCE;
	struct overlay *to;

	for (size_t i = 0; i < g->all.n; i++)
		vec_push(&g->overlays,
		    ((struct overlay){ .source = g->all.v[i]->source }));
	to = &g->overlays.v[first];
	for (size_t i = 0; i < path->n; i++) {
		const struct edge e = edge_of(&g->graph, path->v[i]);

		mark(g, to, e.owner);
		if (is_of_event(g, e.from)) {
			from = e.from;
			a.weight_ns = 0;
		}
		a.weight_ns += edge_weight(&g->graph, path->v[i], &e);
		if (from == GRAPH_SOURCE || e.kind == EDGE_HOST ||
		    !is_of_event(g, e.to) ||
		    event_of_node(from) == event_of_node(e.to))
			continue;
		a.arrow = ++g->narrows + (g->is_job ? JOB_ARROWS : 0);
		a.kind = e.kind;
		a.is_start = true;
		add_arrow_end(g, to, from, a);
		a.is_start = false;
		add_arrow_end(g, to, e.to, a);
	}
}

/* ---- writing ---- */

struct overlayer {
	struct program *g;
	struct stream_out *out;
	struct numbering nb;
	struct maker maker;
	const char *path;
	enum section section;
	uint32_t src; /* the current source */
};

static struct overlay *
overlay_of(const struct overlayer *w)
{
	for (size_t i = 0; i < w->g->overlays.n; i++) {
		struct overlay *o = &w->g->overlays.v[i];
		const struct sink_source *s =
		    &w->g->sink.sources.list.v[o->source];

		if (s->path == w->path && s->src == w->src)
			return o;
	}
	return NULL;
}

static void
write_event(struct overlayer *w, struct event *ev)
{
	numbering_event(&w->nb, ev);
	stream_write(w->out, ev);
}

/* The same with "critical": 1. */
static void
write_marked(struct overlayer *w, const struct event *ev)
{
	struct entries it = entries_of(w->nb.dict, ev);

	maker_begin_like(&w->maker, ev);
	while (entries_next(&it))
		maker_entry(&w->maker, it.entry, &it.val);
	maker_int(&w->maker, STR("critical"), 1, ROLE_NONE);
	write_event(w, maker_end(&w->maker, ev->uid));
}

static void
top_entry(struct overlayer *w, struct str key, const struct value *v)
{
	const struct entry e = { .key = intern_put(w->nb.dict->text, key),
		.type = (uint8_t)v->type,
		.group = GROUP_TOP };

	maker_entry(&w->maker, &e, v);
}

static void
write_arrow_end(struct overlayer *w, const struct arrow_end *at)
{
	const struct value id = { .type = VAL_INT, .i = at->arrow };
	const struct value bp = { .type = VAL_STR,
		.id = intern_put(w->nb.dict->text, STR("e")),
		.s = STR("e") };
	struct event *ev;

	maker_begin_phase(&w->maker, KIND_FLOW, STR("critical_path"),
	    at->is_start ? 's' : 'f');
	maker_name(&w->maker, STR("critical_path"));
	maker_start(&w->maker, at->ns);
	if (at->is_start) {
		maker_str(&w->maker, STR("type"), str_of(edge_words[at->kind]));
		maker_int(
		    &w->maker, STR("weight_ns"), at->weight_ns, ROLE_NONE);
	}
	top_entry(w, STR("id"), &id);
	if (!at->is_start)
		top_entry(w, STR("bp"), &bp);
	ev = maker_end(&w->maker,
	    (struct uid){ at->uid.id, at->is_start ? ARROW_START : ARROW_END });
	ev->track = at->track;
	ev->src = w->src;
	ev->flags |= EV_SYNTHETIC;
	event_set_fields(
	    w->nb.dict, ev, ev->shape->has | HAS_TRACK | HAS_FLAGS | HAS_INST);
	write_event(w, ev);
}

/* The flow events, after the events of a source. */
static void
write_arrows(struct overlayer *w)
{
	const struct overlay *o = overlay_of(w);

	if (o == NULL || w->section == SECTION_NONE ||
	    w->section == SECTION_PROLOGUE)
		return;
	if (w->section != SECTION_TAIL)
		stream_write_section(w->out, SECTION_TAIL);
	for (size_t i = 0; i < o->ends.n; i++)
		write_arrow_end(w, &o->ends.v[i]);
}

static void
take_event(struct overlayer *w, struct event *ev)
{
	const struct overlay *o;

	w->src = ev->src;
	o = overlay_of(w);
	if (o != NULL && map_get(&o->marked, uid_hash(ev->uid)) != NULL)
		write_marked(w, ev);
	else
		write_event(w, ev);
}

static void
take_section(struct overlayer *w, enum section section)
{
	if (section == SECTION_PROLOGUE)
		write_arrows(w);
	w->section = section;
	stream_write_section(w->out, section);
}

static void
write_input(struct overlayer *w)
{
	const struct stream_dest dest = { .path = w->g->sink.dest.path };
	struct stream_in *in =
	    stream_open(w->path, w->nb.dict, w->g->sink.want);
	enum item item;

	if (w->out == NULL)
		w->out = stream_create(&dest, w->nb.dict, in, in->marks, false);
	numbering_input(&w->nb);
	w->section = SECTION_NONE;
	while ((item = stream_next(in)) != ITEM_END) {
		if (item == ITEM_EVENT) {
			take_event(w, &in->ev);
		} else if (item == ITEM_SECTION) {
			take_section(w, in->section);
		} else if (item == ITEM_SOURCE) {
			w->src = in->source.src;
			in->source.src =
			    numbering_source(&w->nb, in->source.src);
			stream_write_source(w->out, &in->source);
		} else {
			in->meta.src = numbering_source(&w->nb, in->meta.src);
			stream_write_meta(w->out, &in->meta);
		}
	}
	write_arrows(w);
	stream_close(in);
}

void
overlay_write(struct program *g)
{
	struct overlayer w = { .g = g, .nb = { .dict = g->sink.dict } };

	w.maker.st = g->sink.dict;
	for (size_t i = 0; i < g->sink.sources.list.n; i++) {
		const char *path = g->sink.sources.list.v[i].path;

		if (path == w.path)
			continue;
		w.path = path;
		write_input(&w);
	}
	stream_finish(w.out);
	maker_free(&w.maker);
	vec_free(&w.nb.tracks);
}
