/* SPDX-License-Identifier: MIT */
/* Makes records of a source's path, slack and what-if. */
#include "cmd/tl-critical/critical.h"

#include <stdlib.h>

#include "trace/laws.h"

/* ---- an event as a record ---- */

/* Name and uid of an event. */
struct called {
	uint32_t name;
	struct uid uid;
};

static struct called
called(struct program *g, struct place p)
{
	struct called c = { INTERN_NONE, { 0, UID_NONE } };

	if (p.host != NULL)
		c = (struct called){ p.host->name, p.host->uid };
	else if (p.gpu != NULL)
		c = (struct called){ p.gpu->name, p.gpu->uid };
	g->any_inst |= c.uid.inst != 0 && c.uid.inst != UID_NONE;
	return c;
}

/* A GPU stream without a name is shown by number. */
static uint32_t
thread_of(struct program *g, uint32_t track, const struct host_gpu *k)
{
	struct dict *dict = g->sink.dict;
	uint32_t name = names_of(g->sink.names, track).thread;
	struct str text;
	struct buf b = { 0 };

	if (k == NULL || k->gpu_stream.type == KEY_NONE ||
	    name == INTERN_NONE ||
	    !str_eq(dict_get(dict, name), STR("Unknown")))
		return name;
	buf_puts(&b, "stream ");
	if (k->gpu_stream.type == KEY_INT) {
		buf_printf(&b, "%" PRId64, k->gpu_stream.n);
	} else {
		text = dict_get(dict, (uint32_t)k->gpu_stream.n);
		buf_put(&b, text.p, text.len);
	}
	name = intern_put(dict->text, buf_str(&b));
	buf_free(&b);
	return name;
}

/* r: of the event, or for none. */
static struct critical_record
record_of(struct program *g, enum what what, uint32_t number,
    const struct recording *r)
{
	const struct place p = place_of(g, number);
	const struct host *h = &r->host;
	struct called it = called(g, p);
	uint32_t event = HOST_NONE;
	struct critical_record c = {
		.rec = { .source = r->source },
		.what = (uint8_t)what,
		.uid = it.uid,
		.kind = INTERN_NONE,
		.bound = INTERN_NONE,
		.name = it.name,
		.op = INTERN_NONE,
		.module = INTERN_NONE,
		.thread = INTERN_NONE,
		.label = INTERN_NONE,
		.chain = INTERN_NONE,
	};
	if (p.host != NULL) {
		c.rec.uid = it.uid;
		c.rec.track = h->threads.v[p.host->thread].track;
		c.rec.ts_ns = p.host->start_ns;
		c.thread = thread_of(g, c.rec.track, NULL);
		event = number - r->first;
	} else if (p.gpu != NULL) {
		c.rec.uid = it.uid;
		c.rec.track = p.gpu->cat;
		c.rec.ts_ns = p.gpu->start_ns;
		c.thread = thread_of(g, c.rec.track, p.gpu);
		event = p.gpu->launch;
	}
	if (g->with_above) {
		c.op = host_above(h, event, false);
		c.module = host_above(h, event, true);
	}
	return c;
}

struct critical_record *
critical_add(struct program *g, enum what what, uint32_t number)
{
	const struct place p = place_of(g, number);
	struct critical_record c =
	    record_of(g, what, number, p.r != NULL ? p.r : g->all.v[0]);

	return memcpy(sink_add(&g->sink), &c, sizeof c);
}

/* ---- words ---- */

/* Whether it is GPU work whose launch was before the window or, its correlation
 * being less than that of all calls, before the recording. */
static bool
is_queued_before(const struct program *g, uint32_t number)
{
	const struct place p = place_of(g, number);

	return p.gpu != NULL &&
	    (p.gpu->launch != HOST_NONE ||
		(p.r->host.first_corr != INT64_MAX &&
		    p.gpu->corr.type == KEY_INT &&
		    p.gpu->corr.n < p.r->host.first_corr));
}

/* What GPU or host do during an edge that has an owner. */
static inline unsigned
bound_of(
    const struct program *g, enum edge_kind kind, uint32_t to, struct place p)
{
	enum cause cause = CAUSE_BETWEEN_OPS;

	switch (kind) {
	case EDGE_PEER:
	case EDGE_KERNEL:
		if (p.gpu != NULL)
			return BOUND_BUCKET + p.gpu->tag;
		break;
	case EDGE_LAUNCH: cause = CAUSE_LAUNCH_LATENCY; break;
	case EDGE_SOURCE:
		cause = is_queued_before(g, event_of_node(to))
		    ? CAUSE_QUEUED_BEFORE
		    : CAUSE_NONE;
		break;
	default:
		if (p.host != NULL && p.host->cause != CAUSE_ANNOTATED)
			cause = p.host->cause;
	}
	return cause;
}

/* The word for an edge's residual. */
static unsigned
label_of(enum edge_kind kind, int64_t residual_ns)
{
	if (residual_ns >= STALL_NS)
		return BOUND_LABEL + LABEL_STALL;
	return BOUND_LABEL +
	    (kind == EDGE_QUEUE || kind == EDGE_DEPEND ? LABEL_GAP
						       : LABEL_LATENCY);
}

/* The event that was late and so owns a residual. */
static uint32_t
late_one(const struct edge *e)
{
	return e->to != GRAPH_SINK ? event_of_node(e->to) : e->owner;
}

/* ---- time on paths ---- */

enum { BEFORE, AFTER, LEAST, NPATHS };

/* Paths and the time on each: of each event, then of each edge, if no event
 * takes its time, and its residual. */
struct times {
	struct program *g;
	edge_list paths[NPATHS];
	int64_t *ns[NPATHS]; /* NULL: not asked for */
	int64_t sum_ns;      /* of what went to rows, before */
	/* of each recording, kind of edge and bound: record of its row + 1 */
	uint32_t *rows;
};

static inline size_t
place_of_edge(const struct graph *g, uint32_t edge, const struct edge *e)
{
	return e->owner != 0 && (e->kind == EDGE_HOST || e->kind == EDGE_KERNEL)
	    ? e->owner
	    : g->nnodes / 2 + 2 * (size_t)edge;
}

static inline size_t
place_of_rest(const struct graph *g, uint32_t edge)
{
	return g->nnodes / 2 + 2 * (size_t)edge + 1;
}

static void
add_time(int64_t *ns, const struct graph *g, const struct scale *scale,
    uint32_t edge)
{
	const struct edge e = edge_of(g, edge);

	ns[place_of_edge(g, edge, &e)] +=
	    scale != NULL ? edge_scaled(scale, &e) : e.least_ns;
	if (scale == NULL || !scale->no_residuals)
		ns[place_of_rest(g, edge)] += edge_residual(g, edge, &e);
}

/* Adds up the time on a path. scale NULL: as measured. */
static void
add_path(struct times *t, const struct scale *scale, int which)
{
	const struct graph *g = &t->g->graph;
	const edge_list *path = &t->paths[which];
	const size_t nlinks = scale == NULL ? g->nnodes : 0;
	const struct link *links = g->links.v;
	const int64_t *at = g->today.at;
	int64_t *ns = xcalloc(g->nnodes / 2 + 2 * graph_nedges(g), sizeof *ns);

	for (size_t i = 0; i < path->n; i++) {
		const uint32_t n = path->v[i];

		/* most edges, without the detour */
		if (n < nlinks && has_own_time(&links[n]))
			ns[links[n].owner] += at[n] - at[links[n].from];
		else
			add_time(ns, g, scale, n);
	}
	t->ns[which] = ns;
}

/* The record of the row that an event's time goes to. */
static uint32_t
find_row(struct program *g, uint32_t number, const struct recording *r,
    enum edge_kind kind, unsigned bound)
{
	struct critical_record c = record_of(g, IS_PATH, number, r);
	const struct critical_record *all, *row;
	bool is_new;

	c.kind = g->words[kind];
	c.bound = g->bounds[bound];
	row = sink_fold(&g->paths, &g->sink, &c, NULL, &is_new);
	all = sink_record(&g->sink, 0);
	return (uint32_t)(row - all);
}

/* The same, shared by events. */
static inline struct critical_record *
row_of(struct times *t, uint32_t number, const struct recording *r,
    enum edge_kind kind, unsigned bound)
{
	struct program *g = t->g;
	uint32_t *known =
	    &t->rows[(r->number * EDGE_KINDS + kind) * BOUNDS + bound];
	uint32_t row = *known;

	if (row == 0) {
		row = find_row(g, number, r, kind, bound) + 1;
		*known = g->by_words ? row : 0;
	}
	return sink_record(&g->sink, row - 1);
}

static inline int64_t
take_time(int64_t *ns, size_t place)
{
	int64_t v = ns[place];

	ns[place] = 0;
	return v;
}

static void
add_cases_to_row(struct times *t, size_t place, struct critical_record *c,
    unsigned bound, uint32_t source)
{
	struct program *g = t->g;
	int64_t ns = take_time(t->ns[AFTER], place);

	stat_add(&c->after_ns, ns);
	stat_add(&c->least_ns, take_time(t->ns[LEAST], place));
	if (g->what_if.n > 0)
		gain_add(&g->gain, g->bounds[bound], source, ns);
}

static void
set_longest(
    struct program *g, struct critical_record *c, int64_t ns, struct place p)
{
	struct called it = called(g, p);

	c->longest_ns = ns;
	c->name = it.name;
	c->uid = it.uid;
}

/* Moves the time at a place, of an event, to its row. */
static inline __attribute__((always_inline)) void
add_to_row(struct times *t, size_t place, uint32_t number, enum edge_kind kind,
    unsigned bound, struct place p)
{
	struct program *g = t->g;
	struct critical_record *c = row_of(t, number, p.r, kind, bound);
	int64_t ns = take_time(t->ns[BEFORE], place);

	stat_add(&t->sum_ns, ns);
	stat_add(&c->ns, ns);
	c->count += ns > 0;
	if (ns > c->longest_ns)
		set_longest(g, c, ns, p);
	if (t->ns[AFTER] != NULL)
		add_cases_to_row(t, place, c, bound, p.r->source);
	if (p.host != NULL)
		g->any_inst |= p.host->uid.inst != 0;
	else if (p.gpu != NULL)
		g->any_inst |= p.gpu->uid.inst != 0;
}

/* The recording that takes an edge's time, though none of its events does. */
static const struct recording *
recording_of_edge(const struct program *g, const struct edge *e)
{
	const struct recording *to = place_of(g, event_of_node(e->to)).r;
	const struct recording *from = place_of(g, event_of_node(e->from)).r;

	return to != NULL ? to : from != NULL ? from : g->all.v[0];
}

static void
add_edge_to_rows(struct times *t, uint32_t edge, const int64_t *ns)
{
	struct program *g = t->g;
	const struct edge e = edge_of(&g->graph, edge);
	const size_t rest = place_of_rest(&g->graph, edge);
	size_t place = place_of_edge(&g->graph, edge, &e);
	struct place p = place_of(g, e.owner);
	unsigned bound = bound_of(g, e.kind, e.to, p);

	if (p.r == NULL)
		p.r = recording_of_edge(g, &e);
	if (ns[place] != 0)
		add_to_row(t, place, e.owner, e.kind, bound, p);
	if (ns[rest] == 0)
		return;
	p = place_of(g, late_one(&e));
	if (p.r == NULL)
		p.r = recording_of_edge(g, &e);
	add_to_row(t, rest, late_one(&e), e.kind,
	    label_of(e.kind, edge_residual(&g->graph, edge, &e)), p);
}

/* Moves the time of a path, and of what is on it that of the others. */
static void
add_rows(struct times *t, int which)
{
	struct program *g = t->g;
	const edge_list *path = &t->paths[which];
	const struct link *links = g->graph.links.v;
	const int64_t *ns = t->ns[which];

	for (size_t i = 0; i < path->n; i++) {
		const uint32_t n = path->v[i];

		/* most edges, without the detour */
		if (n < g->graph.nnodes && has_own_time(&links[n])) {
			const uint32_t number = links[n].owner;

			if (ns[number] != 0) {
				const struct place p = place_of(g, number);

				add_to_row(t, number, number, EDGE_HOST,
				    bound_of(g, EDGE_HOST, n, p), p);
			}
			continue;
		}
		add_edge_to_rows(t, n, ns);
	}
}

/* Length of the window afterwards. */
static int64_t
add_case(struct times *t, const struct scale *scale, int which)
{
	const struct graph *g = &t->g->graph;
	struct solution s = { NULL, NULL };
	int64_t ns;

	graph_solve(g, scale, &s);
	solution_path(g, &s, &t->paths[which]);
	add_path(t, scale, which);
	ns = s.at[GRAPH_SINK] - g->window.start;
	solution_free(&s);
	return ns;
}

/* Whether an event's time on a path is scaled; a launch's latency never is. */
static bool
is_scaled(const struct graph *g, const edge_list *path, const uint32_t *of)
{
	for (size_t i = 0; i < path->n; i++) {
		const struct edge e = edge_of(g, path->v[i]);

		if (of[e.owner] != 0 &&
		    (e.kind == EDGE_HOST || e.kind == EDGE_KERNEL ||
			e.kind == EDGE_BLOCK))
			return true;
	}
	return false;
}

static void
add_cases(struct times *t)
{
	struct program *g = t->g;
	VEC(int64_t) factors = { 0 };
	uint32_t *of = xcalloc(g->graph.nnodes / 2, sizeof(uint32_t));
	struct critical_record *c;
	int64_t after, least;

	vec_push(&factors, SCALE_UNIT);
	for (size_t i = 0; i < g->what_if.n; i++)
		vec_push(&factors, g->what_if.v[i].factor);
	scale_find(g, of);
	after =
	    add_case(t, &(struct scale){ of, factors.v, false, true }, AFTER);
	least =
	    add_case(t, &(struct scale){ of, factors.v, true, true }, LEAST);
	c = critical_add(g, IS_TOTAL, 0);
	c->bound = intern_put(g->sink.dict->text, STR("total"));
	c->ns = g->graph.window.end - g->graph.window.start;
	c->after_ns = after;
	c->least_ns = least;
	g->gain.before_ns = c->ns;
	g->gain.after_ns = after;
	g->gain.is_on_path = is_scaled(&g->graph, &t->paths[BEFORE], of);
	vec_free(&factors);
	free(of);
}

static void
add_paths(struct program *g, const edge_list *path)
{
	const struct span *window = &g->graph.window;
	struct times t = { .g = g, .paths[BEFORE] = *path };

	add_path(&t, NULL, BEFORE);
	if (g->what_if.n > 0 || g->no_gaps)
		add_cases(&t);
	t.rows = xcalloc(g->all.n * EDGE_KINDS * BOUNDS, sizeof *t.rows);
	for (int i = 0; i < NPATHS && t.ns[i] != NULL; i++)
		add_rows(&t, i);
	/* the pieces of the path add up to the window */
	law_sum("critical_path", &(struct law_part){ "the path", t.sum_ns }, 1,
	    (struct law_part){ "the window", window->end - window->start });
	for (int i = 0; i < NPATHS; i++)
		free(t.ns[i]);
	vec_free(&t.paths[AFTER]);
	vec_free(&t.paths[LEAST]);
	free(t.rows);
	sink_fold_clear(&g->paths);
}

/* ---- the path, event by event ---- */

/* Whether an edge continues the event of the last row. */
static bool
is_more(const struct program *g, const struct critical_record *c,
    const struct edge *e, int64_t residual_ns)
{
	return e->kind == EDGE_HOST && e->owner != 0 && residual_ns == 0 &&
	    c->label == INTERN_NONE && c->kind == g->words[EDGE_HOST] &&
	    c->number == e->owner;
}

static void
add_events(struct program *g, const edge_list *path)
{
	struct critical_record *c = NULL;

	for (size_t i = 0; i < path->n; i++) {
		const struct edge e = edge_of(&g->graph, path->v[i]);
		int64_t residual_ns = edge_residual(&g->graph, path->v[i], &e);

		if (e.least_ns + residual_ns == 0 &&
		    (e.kind == EDGE_HOST || e.kind == EDGE_PEER))
			continue;
		if (c != NULL && is_more(g, c, &e, residual_ns)) {
			c->ns += e.least_ns;
			continue;
		}
		c = critical_add(
		    g, IS_EVENT, e.owner != 0 ? e.owner : late_one(&e));
		c->number = e.owner;
		c->kind = g->words[e.kind];
		c->bound =
		    g->bounds[bound_of(g, e.kind, e.to, place_of(g, e.owner))];
		c->rec.ts_ns = g->graph.today.at[e.from];
		c->ns = e.least_ns + residual_ns;
		c->residual_ns = residual_ns;
		c->is_inferred = e.is_inferred;
		if (residual_ns > 0)
			c->label = g->bounds[label_of(e.kind, residual_ns)];
	}
}

/* ---- all ---- */

/* Adds what the printed tables show of a graph. */
static void
add_records(struct program *g)
{
	edge_list path = { 0 };

	graph_ready(&g->graph,
	    (g->with_paths && (g->what_if.n > 0 || g->no_gaps)) ||
		g->with_slack || (g->is_job && g->with_ranks));
	g->npaths++;
	g->ncircular += g->graph.ncircular;
	for (size_t i = 0; i < EDGE_KINDS; i++)
		g->nnegative += g->graph.nnegative[i];
	solution_path(&g->graph, &g->graph.today, &path);
	if (g->with_overlay)
		overlay_take(g, &path);
	if (g->with_paths)
		add_paths(g, &path);
	if (g->with_events)
		add_events(g, &path);
	if (g->with_slack)
		slack_records(g, &path);
	if (g->is_job && g->with_ranks)
		costs_records(g, &path);
	vec_free(&path);
}

/* Adds the note on where steps come from. */
static void
note_steps(struct program *g, const struct recording *r)
{
	g->inferred |= steps_inferred_from(&r->steps);
	if (g->runs_of == INTERN_NONE)
		g->runs_of = steps_module(&r->steps, &r->host);
}

void
critical_records(struct program *g)
{
	struct recording *r = g->recording;

	host_ready(&r->host);
	if (!window_find(
		r, &g->asked, sink_sources_label(&g->sink.sources, r->source)))
		return;
	note_steps(g, r);
	graph_start(&g->graph, r->window);
	build(&g->graph, r);
	add_records(g);
}

/* All ranks in one graph, with a window that spans theirs. */
void
critical_job(struct program *g)
{
	struct span window = { INT64_MAX, INT64_MIN };
	size_t n = 0;

	ranks_join(g);
	for (size_t i = 0; i < g->all.n; i++) {
		struct recording *r = g->all.v[i];
		const char *path =
		    sink_sources_label(&g->sink.sources, r->source);

		if (!window_find(r, &g->asked, path)) {
			r->window = (struct span){ INT64_MAX, INT64_MIN };
			continue;
		}
		n++;
		note_steps(g, r);
		window.start = r->window.start < window.start ? r->window.start
							      : window.start;
		window.end =
		    r->window.end > window.end ? r->window.end : window.end;
	}
	if (n == 0)
		return;
	graph_start(&g->graph, window);
	for (size_t i = 0; i < g->all.n; i++) {
		g->all.v[i]->window.start = window.start;
		build(&g->graph, g->all.v[i]);
	}
	ranks_build(g);
	add_records(g);
}
