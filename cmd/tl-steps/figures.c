/* SPDX-License-Identifier: MIT */
/* What happened in the windows of a source: on the GPU, and while it waited. */
#include "cmd/tl-steps/steps.h"

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

/* The time of normalised spans within a window. */
static int64_t
covered(const struct spans *s, const struct step_window *w)
{
	int64_t ns = 0;
	size_t at;

	bisect(at, s->n, mid, s->v[mid].end <= w->start_ns);
	for (; at < s->n && s->v[at].start < w->end_ns; at++)
		ns += earlier(s->v[at].end, w->end_ns) -
		    later(s->v[at].start, w->start_ns);
	return ns;
}

/* From the first step or GPU event to the last: all times are in it. */
static struct span
window_of(const struct program *g)
{
	const struct host *h = &g->host;
	struct span s = { INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < g->steps.list.n; i++) {
		s.start = earlier(s.start, g->steps.list.v[i].start_ns);
		s.end = later(s.end, g->steps.list.v[i].end_ns);
	}
	for (size_t i = 0; i < h->gpus.n; i++) {
		s.start = earlier(s.start, h->gpus.v[i].start_ns);
		s.end = later(s.end, h->gpus.v[i].end_ns);
	}
	return s;
}

/* ---- the GPU by the clock ---- */

static void
find_busy(struct program *g)
{
	const struct host *h = &g->host;
	struct spans of[BUCKET_COUNT] = { 0 };
	struct spans busy = { 0 }, comm = { 0 }, copy = { 0 }, rest = { 0 };

	for (size_t i = 0; i < h->gpus.n; i++)
		spans_add(&of[h->gpus.v[i].tag], h->gpus.v[i].start_ns,
		    h->gpus.v[i].end_ns);
	for (int b = 0; b < BUCKET_COUNT; b++)
		spans_normalise(&of[b]);
	spans_subtract(&comm, &of[BUCKET_COMM], &of[BUCKET_COMPUTE]);
	spans_union(&rest, &of[BUCKET_COMPUTE], &of[BUCKET_COMM]);
	spans_subtract(&copy, &of[BUCKET_MEMCPY], &rest);
	spans_union(&busy, &rest, &of[BUCKET_MEMCPY]);
	for (size_t i = 0; i < g->rows.n; i++) {
		const struct step_window *w = &g->steps.list.v[i];
		struct step_record *r = &g->rows.v[i].r;

		r->busy_ns = covered(&busy, w);
		r->idle_ns = r->wall_ns - r->busy_ns;
		r->exposed_comm_ns = covered(&comm, w);
		r->exposed_copy_ns = covered(&copy, w);
		r->parts[PART_COMM] = r->exposed_comm_ns;
		r->parts[PART_COPY] = r->exposed_copy_ns;
		r->parts[PART_COMPUTE] =
		    r->busy_ns - r->exposed_comm_ns - r->exposed_copy_ns;
	}
	for (int b = 0; b < BUCKET_COUNT; b++)
		spans_free(&of[b]);
	spans_free(&busy);
	spans_free(&comm);
	spans_free(&copy);
	spans_free(&rest);
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

	if (a->window != b->window)
		return a->window < b->window ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

static void
add_work(struct step_record *r, const struct host_gpu *k)
{
	int64_t from = k->start_ns;

	if (!r->has_work)
		r->done_ns = from;
	r->has_work = true;
	r->nkernels += k->kind == KIND_KERNEL;
	from = later(from, r->done_ns);
	if (k->end_ns > from)
		r->busy_launched_ns += k->end_ns - from;
	r->done_ns = later(r->done_ns, k->end_ns);
}

static void
find_work(struct program *g)
{
	const struct host *h = &g->host;
	int64_t nunlinked = 0, noutside = 0;
	VEC(struct lead) leads = { 0 };

	for (size_t i = 0; i < h->gpus.n; i++) {
		const struct host_gpu *k = &h->gpus.v[i];
		uint32_t w;
		int64_t end;

		if (k->launch == HOST_NONE) {
			nunlinked++;
			continue;
		}
		w = steps_window_of(&g->steps, h, k->launch);
		if (w == HOST_NONE) {
			noutside++;
			continue;
		}
		add_work(&g->rows.v[w].r, k);
		end = h->events.v[k->launch].end_ns;
		vec_push(&leads,
		    ((struct lead){
			w, k->start_ns > end ? k->start_ns - end : 0 }));
	}
	stable_sort(leads.v, leads.n, sizeof *leads.v, by_window);
	for (size_t i = 0, n; i < leads.n; i += n) {
		uint32_t w = leads.v[i].window;

		for (n = 1; i + n < leads.n && leads.v[i + n].window == w;)
			n++;
		g->rows.v[w].r.lead_ns = leads.v[i + n / 2].ns;
	}
	vec_free(&leads);
	for (size_t i = 0; i < g->rows.n; i++) {
		struct step_record *r = &g->rows.v[i].r;

		if (r->has_work)
			r->drain_ns =
			    later(0, r->done_ns - g->steps.list.v[i].end_ns);
		r->nunlinked = nunlinked;
		r->noutside = noutside;
	}
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

/* Data loading on the thread that has the steps, hidden or not. */
static void
find_data(struct program *g, const struct step_process *p)
{
	const struct host *h = &g->host;
	const struct host_thread *t;
	struct spans data = { 0 };

	if (h->threads.n == 0)
		return;
	t = &h->threads.v[p->thread];
	for (uint32_t i = t->first; i < t->first + t->n; i++)
		if (h->events.v[i].cause == CAUSE_DATA)
			spans_add(&data, h->events.v[i].start_ns,
			    h->events.v[i].end_ns);
	spans_normalise(&data);
	for (uint32_t i = p->first; i < p->first + p->n; i++)
		g->rows.v[i].r.data_ns = covered(&data, &g->steps.list.v[i]);
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

/* The part of a gap within a window. */
static void
add_gap(struct program *g, struct step_row *row, const struct step_window *w,
    const struct gap *gap)
{
	int64_t from = later(gap->start_ns, w->start_ns);
	int64_t to = earlier(gap->end_ns, w->end_ns);
	int64_t sums[CAUSE_COUNT] = { 0 };

	for (uint32_t i = gap->first; i < gap->first + gap->n; i++) {
		const struct gap_piece *p = &g->gaps.pieces.v[i];
		int64_t ns = earlier(p->end_ns, to) - later(p->start_ns, from);

		if (ns <= 0)
			continue;
		sums[p->cause] += ns;
		if (ns > row->longest_ns[p->cause]) {
			row->longest_ns[p->cause] = ns;
			row->r.longest[p->cause] = p->event != HOST_NONE
			    ? g->host.events.v[p->event].name
			    : INTERN_NONE;
		}
	}
	for (size_t c = 0; c < CAUSE_COUNT; c++)
		row->r.parts[c] += sums[c];
	if (to - from > row->r.gap_ns) {
		row->r.gap_ns = to - from;
		set_cause(g, &row->r.gap_cause, largest(sums, CAUSE_COUNT));
	}
}

static void
find_gaps(struct program *g, struct span window)
{
	VEC(uint32_t) all = { 0 };

	for (uint32_t i = 0; i < g->host.gpus.n; i++)
		vec_push(&all, i);
	gaps_find(&g->gaps, &g->host, all.v, all.n, &window);
	vec_free(&all);
	for (size_t i = 0; i < g->rows.n; i++) {
		const struct step_window *w = &g->steps.list.v[i];
		struct step_row *row = &g->rows.v[i];
		size_t at;
		uint8_t most;

		bisect(at, g->gaps.list.n, mid,
		    g->gaps.list.v[mid].end_ns <= w->start_ns);
		for (; at < g->gaps.list.n &&
		     g->gaps.list.v[at].start_ns < w->end_ns;
		     at++)
			add_gap(g, row, w, &g->gaps.list.v[at]);
		most = largest(row->r.parts, CAUSE_COUNT);
		row->r.idle_cause_ns = row->r.parts[most];
		if (row->r.idle_cause_ns > 0)
			set_cause(g, &row->r.idle_cause, most);
	}
}

void
figures_find(struct program *g)
{
	struct span window;

	find_launches(g);
	for (size_t i = 0; i < g->steps.processes.n; i++)
		find_data(g, &g->steps.processes.v[i]);
	if (g->host.gpus.n == 0)
		return;
	window = window_of(g);
	find_busy(g);
	find_work(g);
	find_gaps(g, window);
}
