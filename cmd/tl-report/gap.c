/* SPDX-License-Identifier: MIT */
/* The longest gap of the GPU, and what the host did in it. */
#include "trace/idle.h"

#include "cmd/tl-report/figures.h"

struct search {
	struct figures *f;
	struct idle *idle;
	struct spans busy; /* of the source being read */
};

/* The first of equals. */
static struct span
longest_gap(const struct spans *busy)
{
	struct span gap = { 0, 0 };

	for (size_t i = 1; i < busy->n; i++)
		if (busy->v[i].start - busy->v[i - 1].end > gap.end - gap.start)
			gap = (struct span){ busy->v[i - 1].end,
				busy->v[i].start };
	return gap;
}

static void
finish_source(struct search *g, const struct dict *dict)
{
	struct figures *f = g->f;
	struct span gap;
	int64_t ns;

	spans_normalise(&g->busy);
	idle_explain(g->idle, &g->busy);
	gap = longest_gap(&g->busy);
	if (gap.end - gap.start > f->gap_ns) {
		f->gap_ns = gap.end - gap.start;
		f->gap_cause = figures_text(
		    f, idle_cause(g->idle, gap.start, gap.end, &ns));
	}
	g->busy.n = 0;
	idle_clear(g->idle, dict);
}

static void
take_event(struct search *g, const struct event *ev, bool is_chosen)
{
	int64_t end;

	if (event_is(ev, KINDS_HOST))
		idle_host(g->idle, ev);
	if (!event_is(ev, KINDS_GPU) || !is_chosen ||
	    (ev->shape->has & HAS_TS) == 0 ||
	    !num_add(ev->ts_ns, ev->dur_ns, &end))
		return;
	idle_gpu(g->idle, ev);
	spans_add(&g->busy, ev->ts_ns, end);
}

/* Clocks of several sources are never compared. */
static void
read_tree(struct search *g, struct select *sel, const char *path)
{
	struct dict *dict = dict_create();
	struct stream_in *in =
	    stream_open(path, dict, select_want(sel, WANT_TREE));
	uint32_t src = UINT32_MAX;
	enum item item;

	idle_clear(g->idle, dict);
	stream_only(in, select_kinds(sel, KINDS_GPU | KINDS_HOST));
	select_start(sel, in);
	while ((item = stream_next(in)) != ITEM_END) {
		bool is_chosen = select_item(sel, in, item);

		if (item != ITEM_EVENT)
			continue;
		if (in->ev.src != src)
			finish_source(g, dict);
		src = in->ev.src;
		take_event(g, &in->ev, is_chosen);
	}
	finish_source(g, dict);
	stream_close(in);
	dict_destroy(dict);
}

void
gap_find(struct figures *f)
{
	struct settings *s = f->set;
	struct search g = { .f = f, .idle = idle_new() };

	if (share_of(f->all.idle_ns, f->all.total_ns) >= IDLE_BOUND)
		for (size_t i = 0; i < s->trees.v.n; i++)
			read_tree(&g, &s->select, s->trees.v.v[i]);
	spans_free(&g.busy);
	idle_free(g.idle);
}
