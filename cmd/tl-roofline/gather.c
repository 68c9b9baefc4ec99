/* SPDX-License-Identifier: MIT */
/* Reading: a root's subtree becomes nodes (host) and works (GPU). */
#include <stdlib.h>

#include "cmd/tl-roofline/roof.h"

/* ---- the open subtree ---- */

static void
close_subtree(struct roof_state *g)
{
	if (g->nodes.n > 0) {
		subtree_judge(g);
		subtree_keep(g);
		collect_subtree(g);
	}
	g->nodes.n = g->open.n = g->above.n = g->extras.n = 0;
	g->first_work = (uint32_t)g->works.n;
}

static struct node *
top_of(struct roof_state *g)
{
	return g->open.n > 0 ? &g->nodes.v[g->open.v[g->open.n - 1]] : NULL;
}

static void
close_top(struct roof_state *g)
{
	struct node *n = top_of(g);

	n->end = (uint32_t)g->nodes.n;
	n->nwork = (uint32_t)g->works.n - n->work;
	g->open.n--;
}

static void
close_down_to(struct roof_state *g, uint32_t depth)
{
	while (g->open.n > 0 && top_of(g)->depth >= depth)
		close_top(g);
	if (g->open.n == 0)
		close_subtree(g);
}

/*
 * Closes what is not above a host event. Depth alone cannot tell, as some
 * frames are not read; but an event lies within those above it.
 */
static void
close_before(struct roof_state *g, const struct event *ev)
{
	uint32_t thread = dict_thread(g->sink.dict, ev->track);

	close_down_to(g, ev->depth);
	while (g->open.n > 0) {
		const struct node *n = top_of(g);

		if (dict_thread(g->sink.dict, n->track) == thread &&
		    span_within(ev->ts_ns, ev->dur_ns, n->ts_ns, n->dur_ns))
			return;
		close_top(g);
	}
	close_subtree(g);
}

/* ---- ops ---- */

static void
open_node(struct roof_state *g, const struct event *ev)
{
	struct node *n;
	bool is_op = ev->shape->kind == KIND_OP;
	uint32_t at = (uint32_t)g->nodes.n, name = ev->name;

	if (at >= NO_INDEX - 1)
		die("too many events below one root");
	n = vec_add(&g->nodes);
	*n = (struct node){
		.uid = ev->uid,
		.fwd = ev->fwd,
		.bwd = ev->bwd,
		.number = ++g->number,
		.name = name,
		.track = ev->track,
		.flags = ev->flags,
		.depth = ev->depth,
		.up = g->open.n > 0 ? g->open.v[g->open.n - 1] : NO_INDEX,
		.work = (uint32_t)g->works.n,
		.first_own = NO_INDEX,
		.kind = ev->shape->kind,
		.ts_ns = ev->ts_ns,
		.dur_ns = ev->dur_ns,
		.args = NO_OP_ARGS,
		.nmain = -1,
	};
	if (is_op && (ev->ngpu > 0 || event_has_hlo(ev)))
		n->args = args_of_event(g->sink.dict, ev);
	if (is_op)
		n->model = subtree_model(
		    g, model_number(g->models, g->sink.dict, name, &n->args));
	if ((ev->shape->has & HAS_FWD) == 0)
		n->fwd.inst = UID_NONE;
	if ((ev->shape->has & HAS_BWD) == 0)
		n->bwd.inst = UID_NONE;
	if (n->model != NULL && n->args.dims == INTERN_NONE)
		n->args = args_of_event(g->sink.dict, ev);
	n->extra = (uint32_t)g->extras.n;
	if (n->model != NULL)
		extras_take(&g->extras, g->sink.dict, n->model, ev);
	n->nextra = (uint32_t)g->extras.n - n->extra;
	if (ev->shape->kind == KIND_OP)
		g->sink.sources.list.v[g->sink.source].nops++;
	vec_push(&g->open, at);
}

/* ---- GPU work ---- */

/* A copy between host and GPU: by its name, peer copies are not. */
static bool
is_over_link(const struct roof_state *g, const struct event *ev)
{
	enum copy_way way = ev->shape->kind == KIND_MEMCPY
	    ? copy_way(dict_get(g->sink.dict, ev->name))
	    : COPY_OTHER;

	return way == COPY_H2D || way == COPY_D2H;
}

/* Whether GPU work counts. */
static bool
counts(struct roof_state *g, const struct event *ev, bool is_chosen)
{
	struct sink_source *o = sink_sources_of(&g->sink.sources, ev->src);
	int64_t end;

	if (!sink_source_takes(o, ev, is_chosen, &end))
		return false;
	o->nchosen++;
	if (!event_is_owned(ev))
		return g->overlap && !g->sink.linked_only;
	return true;
}

static void
take_work(struct roof_state *g, const struct event *ev, bool is_chosen)
{
	bool is_comm =
	    bucket_of_event(&g->sink.rules, g->sink.dict, ev) == BUCKET_COMM;
	uint32_t top = NO_INDEX;
	bool is_counted;

	close_down_to(g, ev->depth);
	if (g->open.n > 0 && uid_same(top_of(g)->uid, ev->parent))
		top = g->open.v[g->open.n - 1];
	is_counted = counts(g, ev, is_chosen);
	if (g->mfu.is_asked)
		mfu_work(g, ev, top != NO_INDEX ? &g->nodes.v[top] : NULL,
		    is_comm, is_counted && top != NO_INDEX);
	if (!is_counted)
		return;
	if (g->works.n >= NO_INDEX - 1)
		die("too many GPU events");
	vec_push(&g->works,
	    ((struct work){
		.uid = ev->uid,
		.launch = top == NO_INDEX ? 0 : g->nodes.v[top].uid.id,
		.name = ev->name,
		.source = g->sink.source,
		.dev = ev->dev,
		.gpu_stream = ev->gpu_stream,
		.ts_ns = ev->ts_ns,
		.dur_ns = ev->dur_ns,
		.is_comm = is_comm,
		.is_over_link = is_over_link(g, ev),
	    }));
	if (g->open.n > 0)
		vec_push(&g->above, top);
	else
		g->first_work = (uint32_t)g->works.n;
}

/* ---- hooks ---- */

void
roof_take(struct sink *s, const struct stream_in *in, bool is_chosen)
{
	struct roof_state *g = (struct roof_state *)s;
	const struct event *ev = &in->ev;
	unsigned kind = ev->shape->kind;

	phases_event(&g->phases, s->dict, ev, s->source);
	if (g->mfu.is_asked)
		mfu_event(g, ev);
	if (event_is(ev, KINDS_GPU)) {
		take_work(g, ev, is_chosen);
	} else if (kind == KIND_ANNOTATION) {
		if (g->notes_of != s->source)
			notes_clear(&g->notes);
		g->notes_of = s->source;
		notes_add(&g->notes, g->models, s->dict, ev);
	} else if (kind == KIND_OP ||
	    (ev->ngpu > 0 &&
		(event_is(ev, KINDS_LAUNCH) || kind == KIND_PYTHON))) {
		close_before(g, ev);
		open_node(g, ev);
	}
}

void
roof_flush(struct sink *s)
{
	close_down_to((struct roof_state *)s, 0);
}

/* Uses the trace's GPU, unless --arch named one. */
void
roof_source(struct sink *s, const struct source *src)
{
	struct roof_state *g = (struct roof_state *)s;
	const struct fact *f = source_fact(src, "devices");
	struct buf name = { 0 };

	if (f == NULL || f->val.s.len == 0)
		return;
	device_name(f->val.s, &name);
	if (g->is_traced && g->device != INTERN_NONE &&
	    !str_eq(dict_get(s->dict, g->device), buf_str(&name)))
		die("%s: another GPU than before: --arch-from-trace takes one "
		    "kind",
		    s->sources.path);
	if (g->arch == NULL) {
		g->arch = arch_load(g->models, g->arch_name, f->val.s);
		g->device = intern_put(s->dict->text, buf_str(&name));
	}
	buf_free(&name);
}
