/* SPDX-License-Identifier: MIT */
/* Writes the inputs again as a stream in which the path is marked and drawn. */
#include "cmd/tl-critical/critical.h"

#include <stdlib.h>

#include "stream/maker.h"

/* uid.inst of arrow ends, which no event uses */
#define ARROW_START 0x800000
#define ARROW_END 0x800001

/* ---- what is on the path ---- */

static struct arrow_end
end_of(const struct program *g, uint32_t node)
{
	struct place p = place_of(g, event_of_node(node));
	bool is_start = node == node_of_start(event_of_node(node));
	struct arrow_end a;
	int64_t start_ns;

	if (p.host != NULL) {
		a = (struct arrow_end){ p.host->uid,
			p.r->host.threads.v[p.host->thread].track,
			p.host->end_ns };
		start_ns = p.host->start_ns;
	} else {
		a = (struct arrow_end){ p.gpu->uid, p.gpu->cat, p.gpu->end_ns };
		start_ns = p.gpu->start_ns;
	}
	/* viewers bind an arrow to the slice that contains its end */
	a.ns = is_start || a.ns == start_ns ? start_ns : a.ns - 1;
	return a;
}

void
overlay_take(struct program *g, const edge_list *path)
{
	struct overlay *o = vec_add(&g->overlays);

	*o = (struct overlay){ .source = g->recording->source };
	for (size_t i = 0; i < path->n; i++) {
		const struct edge e = edge_of(&g->graph, path->v[i]);
		struct place p = place_of(g, e.owner);

		if (p.host != NULL)
			map_put(&o->marked, uid_hash(p.host->uid), NULL);
		if (p.gpu != NULL)
			map_put(&o->marked, uid_hash(p.gpu->uid), NULL);
		if (e.kind == EDGE_HOST || e.from == GRAPH_SOURCE ||
		    e.to == GRAPH_SINK ||
		    event_of_node(e.from) == event_of_node(e.to))
			continue;
		vec_push(&o->arrows,
		    ((struct arrow){ end_of(g, e.from), end_of(g, e.to),
			edge_weight(&g->graph, path->v[i], &e), e.kind }));
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
	int64_t narrows;
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
write_arrow_end(struct overlayer *w, const struct arrow *a, bool is_start)
{
	const struct arrow_end *at = is_start ? &a->from : &a->to;
	const struct value id = { .type = VAL_INT, .i = w->narrows };
	const struct value bp = { .type = VAL_STR,
		.id = intern_put(w->nb.dict->text, STR("e")),
		.s = STR("e") };
	struct event *ev;

	maker_begin_phase(
	    &w->maker, KIND_FLOW, STR("critical_path"), is_start ? 's' : 'f');
	maker_name(&w->maker, STR("critical_path"));
	maker_start(&w->maker, at->ns);
	if (is_start) {
		maker_str(&w->maker, STR("type"), str_of(edge_words[a->kind]));
		maker_int(&w->maker, STR("weight_ns"), a->weight_ns, ROLE_NONE);
	}
	top_entry(w, STR("id"), &id);
	if (!is_start)
		top_entry(w, STR("bp"), &bp);
	ev = maker_end(&w->maker,
	    (struct uid){ at->uid.id, is_start ? ARROW_START : ARROW_END });
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
	for (size_t i = 0; i < o->arrows.n; i++) {
		w->narrows++;
		write_arrow_end(w, &o->arrows.v[i], true);
		write_arrow_end(w, &o->arrows.v[i], false);
	}
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
