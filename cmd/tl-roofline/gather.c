/* SPDX-License-Identifier: MIT */
/* Reading: events of a root's subtree become nodes, its GPU events works. */
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
 * Closes what is not above a host event. Depths alone don't tell where frames
 * are left out of what is read, but an event lies in those above it.
 */
static void
close_before(struct roof_state *g, const struct event *ev)
{
	uint32_t thread = strings_thread(g->strings, ev->track);

	close_down_to(g, ev->depth);
	while (g->open.n > 0) {
		const struct node *n = top_of(g);

		if (strings_thread(g->strings, n->track) == thread &&
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
		die("more events below one root than can be held");
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
		.args = { INTERN_NONE, INTERN_NONE, INTERN_NONE, INTERN_NONE },
		.nmain = -1,
		.model = is_op ? subtree_model(g, name) : NULL,
	};
	if ((ev->shape->has & HAS_FWD) == 0)
		n->fwd.inst = UID_NONE;
	if ((ev->shape->has & HAS_BWD) == 0)
		n->bwd.inst = UID_NONE;
	if (is_op && (ev->ngpu > 0 || n->model != NULL))
		n->args = args_of_event(g->strings, ev);
	n->extra = (uint32_t)g->extras.n;
	if (n->model != NULL)
		extras_take(&g->extras, g->strings, n->model, ev);
	n->nextra = (uint32_t)g->extras.n - n->extra;
	if (ev->shape->kind == KIND_OP)
		g->sources.list.v[g->source].nops++;
	vec_push(&g->open, at);
}

/* ---- GPU work ---- */

/* Whether it counts. */
static bool
counts(struct roof_state *g, const struct event *ev, bool is_chosen)
{
	struct sink_source *o = sink_sources_of(&g->sources, ev->src);
	int64_t end;

	if (!sink_source_takes(o, ev, is_chosen, &end))
		return false;
	o->nchosen++;
	if (ev->flags & EV_UNLINKED)
		return g->set->overlap && !g->set->linked_only;
	return true;
}

static void
take_work(struct roof_state *g, struct bucket_rules *rules,
    const struct event *ev, bool is_chosen)
{
	uint32_t top = NO_INDEX;

	close_down_to(g, ev->depth);
	if (!counts(g, ev, is_chosen))
		return;
	if (g->open.n > 0 && uid_same(top_of(g)->uid, ev->launch))
		top = g->open.v[g->open.n - 1];
	if (g->works.n >= NO_INDEX - 1)
		die("more GPU events than can be held");
	vec_push(&g->works,
	    ((struct work){
		.uid = ev->uid,
		.launch = top == NO_INDEX ? 0 : g->nodes.v[top].uid.id,
		.name = ev->name,
		.source = g->source,
		.dev = ev->dev,
		.gpu_stream = ev->gpu_stream,
		.ts_ns = ev->ts_ns,
		.dur_ns = ev->dur_ns,
		.is_comm =
		    bucket_of_event(rules, g->strings, ev) == BUCKET_COMM,
	    }));
	if (g->open.n > 0)
		vec_push(&g->above, top);
	else
		g->first_work = (uint32_t)g->works.n;
}

/* ---- files ---- */

static uint32_t
kinds_to_read(const struct settings *set)
{
	uint32_t kinds = select_kinds(&set->select, KINDS_GPU) | KINDS_HOST |
	    KIND_BIT(KIND_META) | KIND_BIT(KIND_ANNOTATION);

	if (set->call_stack)
		kinds |= KIND_BIT(KIND_PYTHON);
	return kinds;
}

static void
take_event(struct roof_state *g, struct settings *set, struct stream_in *in,
    bool is_chosen)
{
	const struct event *ev = &in->ev;
	unsigned kind = ev->shape->kind;

	if (event_is(ev, KINDS_GPU)) {
		take_work(g, &set->rules, ev, is_chosen);
	} else if (kind == KIND_META) {
		names_push(g->names, ev);
	} else if (kind == KIND_ANNOTATION) {
		notes_add(&g->notes, g->models, g->strings, ev);
	} else if (kind == KIND_OP ||
	    (ev->ngpu > 0 &&
		(event_is(ev, KINDS_LAUNCH) || kind == KIND_PYTHON))) {
		close_before(g, ev);
		open_node(g, ev);
	}
}

/* The GPU of the trace, unless one was named. */
static void
find_arch(struct roof_state *g, const struct source *s)
{
	const struct fact *f = source_fact(s, "devices");
	struct buf name = { 0 };

	if (g->arch != NULL || f == NULL || f->val.s.len == 0 ||
	    strcmp(g->set->arch, "auto") != 0)
		return;
	g->arch = arch_load(g->models, "auto", f->val.s);
	device_name(f->val.s, &name);
	g->device = intern_put(g->strings->text, buf_str(&name));
	buf_free(&name);
}

void
roof_read_file(struct roof_state *g, struct settings *set, const char *path)
{
	struct stream_in *in = stream_open(
	    path, g->strings, set->pseudo_ops ? WANT_PSEUDO : WANT_TREE);
	enum item item;

	stream_only(in, kinds_to_read(set));
	select_start(&set->select, in);
	sink_sources_file(&g->sources, path);
	while ((item = stream_next(in)) != ITEM_END) {
		bool is_chosen = select_item(&set->select, in, item);

		if (item == ITEM_EVENT) {
			g->source =
			    sink_sources_of(&g->sources, in->ev.src)->no;
			take_event(g, set, in, is_chosen);
			continue;
		}
		close_down_to(g, 0);
		if (item == ITEM_SOURCE) {
			(void)sink_sources_source(
			    &g->sources, &set->select, &in->source);
			find_arch(g, &in->source);
		} else if (item == ITEM_SECTION &&
		    in->section == SECTION_PROLOGUE) {
			notes_clear(&g->notes);
		}
	}
	close_down_to(g, 0);
	g->nevents += in->nevents;
	stream_close(in);
}

void
roof_free(struct roof_state *g)
{
	vec_free(&g->by_name);
	vec_free(&g->by_name_known);
	vec_free(&g->works);
	vec_free(&g->calls);
	vec_free(&g->extents);
	vec_free(&g->lists);
	vec_free(&g->forwards);
	vec_free(&g->backs);
	vec_free(&g->ranges);
	vec_free(&g->overlap_list);
	vec_free(&g->params);
	vec_free(&g->nodes);
	vec_free(&g->open);
	vec_free(&g->above);
	vec_free(&g->covered);
	vec_free(&g->extras);
	notes_free(&g->notes);
	map_free(&g->forward_of);
	map_free(&g->range_of);
	map_free(&g->categories);
	sink_sources_free(&g->sources);
	inductor_free(g->inductor);
	versus_free(g->versus);
	names_destroy(g->names);
	models_destroy(g->models);
}
