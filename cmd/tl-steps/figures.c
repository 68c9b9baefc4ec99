/* SPDX-License-Identifier: MIT */
/* Figures of a source's windows: GPU work, idle time, host. */
#include "cmd/tl-steps/steps.h"
#include "trace/laws.h"

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t
earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- the GPU work that was launched in a window ---- */

struct lead {
	uint32_t window;
	int64_t ns;
};

static int
by_window(const void *x, const void *y)
{
	const struct lead *a = x, *b = y;

	return (a->window > b->window) - (a->window < b->window);
}

/* Spans come by start: overlapping time counts once. */
static void
add_span(int64_t *sum_ns, int64_t *done_ns, int64_t start_ns, int64_t end_ns)
{
	int64_t from = later(start_ns, *done_ns);

	if (end_ns > from)
		*sum_ns += end_ns - from;
	*done_ns = later(*done_ns, end_ns);
}

static void
add_work(struct step_record *r, const struct host_gpu *k, bool by_graph)
{
	int64_t step_end_ns = r->rec.ts_ns + r->wall_ns;

	r->has_work = true;
	r->nkernels += k->kind == KIND_KERNEL;
	stat_add(&r->work_ns, k->end_ns - k->start_ns);
	if (by_graph)
		stat_add(&r->graph_ns, k->end_ns - k->start_ns);
	add_span(&r->busy_launched_ns, &r->done_ns, k->start_ns, k->end_ns);
	if (k->tag != BUCKET_COMPUTE)
		return;
	add_span(&r->compute_ns, &r->compute_done_ns, k->start_ns, k->end_ns);
	add_span(&r->own_ns, &r->own_done_ns, later(k->start_ns, r->rec.ts_ns),
	    earlier(k->end_ns, step_end_ns));
}

/* Medians by window. */
static void
set_leads(struct program *g, struct lead *v, size_t nleads)
{
	VEC(int64_t) ns = { 0 };

	stable_sort(v, nleads, sizeof *v, by_window);
	for (size_t i = 0; i < nleads;) {
		uint32_t window = v[i].window;

		for (ns.n = 0; i < nleads && v[i].window == window; i++)
			vec_push(&ns, v[i].ns);
		sort_i64(ns.v, ns.n);
		g->rows.v[window].r.lead_ns = ns.v[ns.n / 2];
	}
	vec_free(&ns);
}

static void
find_work(struct program *g)
{
	const struct host *h = &g->host;
	int64_t nunlinked = 0;
	VEC(int64_t) noutside = { 0 };
	VEC(struct lead) leads = { 0 };

	for (size_t i = 0; i < g->steps.processes.n; i++)
		vec_push(&noutside, 0);
	for (size_t i = 0; i < h->gpus.n; i++) {
		const struct host_gpu *k = &h->gpus.v[i];
		uint32_t w, p;
		int64_t end;

		if (k->launch == HOST_NONE) {
			nunlinked++;
			continue;
		}
		w = steps_window_of(&g->steps, h, k->launch);
		if (w == STEPS_NONE) {
			p = steps_process(
			    &g->steps, host_pid(h, &h->events.v[k->launch]));
			if (p != STEPS_NONE)
				noutside.v[p]++;
			continue;
		}
		add_work(&g->rows.v[w].r, k, host_is_graph(h, k->launch));
		paces_add(&g->paces, w, k->end_ns);
		end = h->events.v[k->launch].end_ns;
		vec_push(&leads,
		    ((struct lead){
			w, k->start_ns > end ? k->start_ns - end : 0 }));
	}
	set_leads(g, leads.v, leads.n);
	vec_free(&leads);
	for (size_t i = 0; i < g->rows.n; i++) {
		struct step_record *r = &g->rows.v[i].r;

		if (r->has_work)
			r->drain_ns =
			    later(0, r->done_ns - g->steps.list.v[i].end_ns);
		/* of several processes, which one launched it is unknown */
		r->nunlinked = noutside.n == 1 ? nunlinked : SINK_NONE;
	}
	for (size_t i = 0; i < noutside.n; i++) {
		const struct step_process *p = &g->steps.processes.v[i];

		for (uint32_t k = p->first; k < p->first + p->n; k++)
			g->rows.v[k].r.noutside = noutside.v[i];
	}
	vec_free(&noutside);
}

static void
find_launches(struct program *g)
{
	const struct host *h = &g->host;

	for (uint32_t i = 0; i < h->events.n; i++) {
		uint32_t w = h->events.v[i].ngpu > 0
		    ? steps_window_of(&g->steps, h, i)
		    : HOST_NONE;

		if (w != HOST_NONE)
			g->rows.v[w].r.nlaunches++;
	}
}

/* ---- the host ---- */

/* Data loading on the steps' thread, hidden by GPU work or not. */
static void
find_data(struct program *g, const struct step_process *p)
{
	const struct host *h = &g->host;
	const struct host_thread *t;
	struct spans data = { 0 };

	if (h->threads.n == 0) {
		for (uint32_t i = p->first; i < p->first + p->n; i++)
			g->rows.v[i].r.data_ns = SINK_NONE;
		return;
	}
	t = &h->threads.v[p->thread];
	for (uint32_t i = t->first; i < t->first + t->n; i++)
		if (h->events.v[i].cause == CAUSE_DATA)
			spans_add(&data, h->events.v[i].start_ns,
			    h->events.v[i].end_ns);
	spans_normalise(&data);
	for (uint32_t i = p->first; i < p->first + p->n; i++)
		g->rows.v[i].r.data_ns = spans_between(&data,
		    g->steps.list.v[i].start_ns, g->steps.list.v[i].end_ns);
	spans_free(&data);
}

/* ---- gaps ---- */

static uint8_t
largest(const int64_t *sums, size_t n)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		if (sums[i] > sums[best])
			best = i;
	return (uint8_t)best;
}

static void
set_cause(struct program *g, uint32_t *word, unsigned cause)
{
	*word = intern_put(g->sink.dict->text, str_of(cause_words[cause]));
}

/* The longest gap of a window, and its largest cause. */
static void
find_gap(struct program *g, struct step_record *r, const struct step_window *w)
{
	const struct gaps *gaps = &g->parts.gaps;
	int64_t sums[PART_COUNT];
	const struct gap *most = NULL;
	size_t at;

	bisect(at, gaps->list.n, mid, gaps->list.v[mid].end_ns <= w->start_ns);
	for (; at < gaps->list.n && gaps->list.v[at].start_ns < w->end_ns;
	     at++) {
		const struct gap *gap = &gaps->list.v[at];
		int64_t ns = earlier(gap->end_ns, w->end_ns) -
		    later(gap->start_ns, w->start_ns);

		if (ns <= r->gap_ns)
			continue;
		r->gap_ns = ns;
		most = gap;
	}
	if (most == NULL)
		return;
	parts_within(&g->parts, later(most->start_ns, w->start_ns),
	    earlier(most->end_ns, w->end_ns), sums);
	set_cause(g, &r->gap_cause, largest(sums, CAUSE_COUNT));
}

/* Communication overlapped by computation or copies. */
static void
find_overlap(struct program *g)
{
	const struct host *h = &g->host;
	struct spans comm = { 0 };

	for (size_t i = 0; i < h->gpus.n; i++)
		if (h->gpus.v[i].tag == BUCKET_COMM)
			spans_add(
			    &comm, h->gpus.v[i].start_ns, h->gpus.v[i].end_ns);
	spans_normalise(&comm);
	for (size_t i = 0; i < g->rows.n; i++) {
		const struct step_window *w = &g->steps.list.v[i];

		g->rows.v[i].r.overlap_ns =
		    spans_between(&comm, w->start_ns, w->end_ns) -
		    g->rows.v[i].r.exposed_comm_ns;
	}
	spans_free(&comm);
}

/* Launches that began in a gap and ended it. */
static void
find_starved(struct program *g)
{
	const struct host *h = &g->host;

	for (size_t i = 0; i < g->parts.gaps.list.n; i++) {
		const struct gap *gap = &g->parts.gaps.list.v[i];
		uint32_t launch = gap->next != HOST_NONE
		    ? h->gpus.v[gap->next].launch
		    : HOST_NONE;
		uint32_t w = launch != HOST_NONE &&
			h->events.v[launch].start_ns > gap->start_ns
		    ? steps_window_of(&g->steps, h, launch)
		    : STEPS_NONE;

		if (w != STEPS_NONE)
			g->rows.v[w].r.nstarved++;
	}
}

/* Wall time by part. */
static void
find_parts(struct program *g)
{
	parts_find(&g->parts, &g->host, &g->steps);
	for (size_t i = 0; i < g->rows.n; i++) {
		const struct step_window *w = &g->steps.list.v[i];
		struct step_record *r = &g->rows.v[i].r;
		uint8_t most;

		parts_within(&g->parts, w->start_ns, w->end_ns, r->parts);
		r->exposed_comm_ns = r->parts[PART_COMM];
		r->exposed_copy_ns = r->parts[PART_COPY];
		r->busy_ns = r->parts[PART_COMPUTE] + r->exposed_comm_ns +
		    r->exposed_copy_ns;
		r->idle_ns = r->wall_ns - r->busy_ns;
		law_most("steps", (struct law_part){ "busy_ns", r->busy_ns },
		    (struct law_part){ "wall_ns", r->wall_ns });
		g->rows.v[i].is_bare = w->what == STEP_IS_STEP && !w->has_gpu;
		find_gap(g, r, w);
		most = largest(r->parts, CAUSE_COUNT);
		r->idle_cause_ns = r->parts[most];
		if (r->idle_cause_ns > 0)
			set_cause(g, &r->idle_cause, most);
	}
}

static bool
has_links(const struct host *h)
{
	for (size_t i = 0; i < h->gpus.n; i++)
		if (h->gpus.v[i].launch != HOST_NONE)
			return true;
	return false;
}

/* Without launches of GPU events, nothing is known of what steps launched. */
static void
forget_launched(struct program *g)
{
	for (size_t i = 0; i < g->rows.n; i++) {
		struct step_record *r = &g->rows.v[i].r;

		r->busy_launched_ns = r->nkernels = r->nlaunches = SINK_NONE;
	}
}

void
figures_find(struct program *g)
{
	find_launches(g);
	for (size_t i = 0; i < g->steps.processes.n; i++)
		find_data(g, &g->steps.processes.v[i]);
	if (g->host.gpus.n == 0)
		return;
	steps_find_gpu(&g->steps, &g->host);
	find_work(g);
	find_parts(g);
	find_starved(g);
	find_overlap(g);
	if (!has_links(&g->host))
		forget_launched(g);
}
