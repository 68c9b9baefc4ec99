/* SPDX-License-Identifier: MIT */
/* Makes records of a source's path, slack and what-if. */
#include "cmd/tl-critical/critical.h"

#include <stdlib.h>

#include "trace/laws.h"
#include "json/json.h"

#define CHAIN_ENDS 3 /* events shown at either end of a chain */

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

static struct critical_record
record_of(struct program *g, enum what what, uint32_t number)
{
	const struct place p = place_of(g, number);
	const struct recording *r = p.r != NULL ? p.r : g->all.v[0];
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
	struct critical_record c = record_of(g, what, number);

	return memcpy(sink_add(&g->sink), &c, sizeof c);
}

/* ---- words ---- */

/* Whether it is GPU work with a launch, which was before the window then. */
static bool
is_launched(const struct program *g, uint32_t number)
{
	const struct place p = place_of(g, number);

	return p.gpu != NULL && p.gpu->launch != HOST_NONE;
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
		cause = is_launched(g, event_of_node(to)) ? CAUSE_QUEUED_BEFORE
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

/* Time of an event on each path, or of a binding edge's residual. */
struct share {
	uint32_t edge; /* an edge of the residual */
	bool is_rest;
	int64_t ns[NPATHS];
};

struct shares {
	VEC(struct share) list;
	uint32_t *of; /* of each event, edge and residual: index + 1 */
};

static inline void
add_share(struct shares *s, size_t place, uint32_t edge, bool is_rest,
    int64_t ns, int path)
{
	uint32_t *at = &s->of[place];

	if (ns == 0)
		return;
	if (*at == 0) {
		vec_push(&s->list, ((struct share){ edge, is_rest, { 0 } }));
		*at = (uint32_t)s->list.n;
	}
	s->list.v[*at - 1].ns[path] += ns;
}

static void
add_edge(struct shares *s, const struct graph *g, const struct scale *scale,
    uint32_t edge, int which)
{
	const struct edge e = edge_of(g, edge);
	size_t place = g->nnodes / 2 + 2 * (size_t)edge;
	bool is_of_event =
	    e.owner != 0 && (e.kind == EDGE_HOST || e.kind == EDGE_KERNEL);
	int64_t ns = scale != NULL ? edge_scaled(scale, &e) : e.least_ns;
	int64_t rest_ns = scale != NULL && scale->no_residuals
	    ? 0
	    : edge_residual(g, edge, &e);

	add_share(s, is_of_event ? e.owner : place, edge, false, ns, which);
	add_share(s, place + 1, edge, true, rest_ns, which);
}

/* scale NULL: as measured. */
static void
add_path(struct shares *s, const struct graph *g, const struct scale *scale,
    const edge_list *path, int which)
{
	const size_t nlinks = scale == NULL ? g->nnodes : 0;
	const struct link *links = g->links.v;
	const int64_t *at = g->today.at;

	for (size_t i = 0; i < path->n; i++) {
		const uint32_t n = path->v[i];

		/* most edges, without the detour */
		if (n < nlinks && has_own_time(&links[n]))
			add_share(s, links[n].owner, n, false,
			    at[n] - at[links[n].from], which);
		else
			add_edge(s, g, scale, n, which);
	}
}

/*
 * The record of the row that an event's time goes to, shared by events. rows:
 * of each recording, kind of edge and bound: index of its record + 1.
 */
static struct critical_record *
row_of(struct program *g, uint32_t *rows, uint32_t number,
    const struct recording *r, unsigned kind, unsigned bound)
{
	uint32_t *row =
	    &rows[((size_t)r->number * EDGE_KINDS + kind) * BOUNDS + bound];
	struct critical_record c, *known;
	bool is_new;

	if (*row > 0)
		return sink_record(&g->sink, *row - 1);
	c = record_of(g, IS_PATH, number);
	c.kind = g->words[kind];
	c.bound = g->bounds[bound];
	known = sink_fold(&g->paths, &g->sink, &c, NULL, &is_new);
	if (g->by_words)
		*row = (uint32_t)(known -
			   (struct critical_record *)sink_record(&g->sink, 0)) +
		    1;
	return known;
}

/* The event that a share is of, and its words. */
struct subject {
	struct place p;
	uint32_t number;
	enum edge_kind kind;
	unsigned bound;
};

static inline struct subject
subject_of(const struct program *g, const struct share *s)
{
	const struct graph *graph = &g->graph;
	struct subject of = { .kind = EDGE_HOST };
	struct edge e;

	/* most shares, without the detour */
	if (!s->is_rest && s->edge < graph->nnodes &&
	    has_own_time(&graph->links.v[s->edge])) {
		of.number = graph->links.v[s->edge].owner;
		of.p = place_of(g, of.number);
		of.bound = bound_of(g, EDGE_HOST, 0, of.p);
		return of;
	}
	e = edge_of(graph, s->edge);
	of.kind = e.kind;
	of.number = s->is_rest ? late_one(&e) : e.owner;
	of.p = place_of(g, of.number);
	of.bound = s->is_rest
	    ? label_of(of.kind, edge_residual(graph, s->edge, &e))
	    : bound_of(g, of.kind, e.to, of.p);
	return of;
}

static void
add_record_of_share(struct program *g, uint32_t *rows, const struct share *s)
{
	const struct subject of = subject_of(g, s);
	const struct recording *r = of.p.r != NULL ? of.p.r : g->all.v[0];
	struct critical_record *c =
	    row_of(g, rows, of.number, r, of.kind, of.bound);

	stat_add(&c->ns, s->ns[BEFORE]);
	stat_add(&c->after_ns, s->ns[AFTER]);
	stat_add(&c->least_ns, s->ns[LEAST]);
	if (g->what_if.n > 0)
		gain_add(
		    &g->gain, g->bounds[of.bound], r->source, s->ns[AFTER]);
	c->count += s->ns[BEFORE] > 0;
	if (of.p.host != NULL)
		g->any_inst |= of.p.host->uid.inst != 0;
	else if (of.p.gpu != NULL)
		g->any_inst |= of.p.gpu->uid.inst != 0;
	if (s->ns[BEFORE] > c->longest_ns) {
		struct called it = called(g, of.p);

		c->longest_ns = s->ns[BEFORE];
		c->name = it.name;
		c->uid = it.uid;
	}
}

/* Length of the window afterwards. */
static int64_t
add_case(struct program *g, struct shares *shares, const struct scale *scale,
    int which)
{
	struct solution s = { NULL, NULL };
	edge_list path = { 0 };
	int64_t ns;

	graph_solve(&g->graph, scale, &s);
	solution_path(&g->graph, &s, &path);
	add_path(shares, &g->graph, scale, &path, which);
	ns = s.at[GRAPH_SINK] - g->graph.window.start;
	vec_free(&path);
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
add_cases(struct program *g, struct shares *shares, const edge_list *path)
{
	VEC(int64_t) factors = { 0 };
	uint32_t *of = xcalloc(g->graph.nnodes / 2, sizeof(uint32_t));
	struct critical_record *c;
	int64_t after, least;

	vec_push(&factors, SCALE_UNIT);
	for (size_t i = 0; i < g->what_if.n; i++)
		vec_push(&factors, g->what_if.v[i].factor);
	scale_find(g, of);
	after = add_case(
	    g, shares, &(struct scale){ of, factors.v, false, true }, AFTER);
	least = add_case(
	    g, shares, &(struct scale){ of, factors.v, true, true }, LEAST);
	c = critical_add(g, IS_TOTAL, 0);
	c->bound = intern_put(g->sink.dict->text, STR("total"));
	c->ns = g->graph.window.end - g->graph.window.start;
	c->after_ns = after;
	c->least_ns = least;
	g->gain.before_ns = c->ns;
	g->gain.after_ns = after;
	g->gain.is_on_path = is_scaled(&g->graph, path, of);
	vec_free(&factors);
	free(of);
}

/* The pieces of the path add up to the window. */
static void
keep_law(const struct shares *shares, const struct span *window)
{
	struct law_part path = { "the path", 0 };

	for (size_t i = 0; i < shares->list.n; i++)
		stat_add(&path.ns, shares->list.v[i].ns[BEFORE]);
	law_sum("critical_path", &path, 1,
	    (struct law_part){ "the window", window->end - window->start });
}

static void
add_paths(struct program *g, const edge_list *path)
{
	struct shares shares = { .of = xcalloc(g->graph.nnodes / 2 +
					 2 * graph_nedges(&g->graph),
				     sizeof *shares.of) };
	uint32_t *rows;

	vec_reserve(&shares.list, path->n);
	add_path(&shares, &g->graph, NULL, path, BEFORE);
	keep_law(&shares, &g->graph.window);
	if (g->what_if.n > 0 || g->no_gaps)
		add_cases(g, &shares, path);
	rows = xcalloc(g->all.n * EDGE_KINDS * BOUNDS, sizeof *rows);
	for (size_t i = 0; i < shares.list.n; i++)
		add_record_of_share(g, rows, &shares.list.v[i]);
	free(rows);
	sink_fold_clear(&g->paths);
	vec_free(&shares.list);
	free(shares.of);
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
		if (residual_ns > 0)
			c->label = g->bounds[label_of(e.kind, residual_ns)];
	}
}

static uint32_t
name_of(const struct program *g, uint32_t number)
{
	const struct place p = place_of(g, number);

	return p.host != NULL ? p.host->name : p.gpu->name;
}

/* The path leaves a rank through a collective that others wait for. */
uint32_t
critical_chain(struct program *g, const edge_list *path, size_t i)
{
	const struct dict *dict = g->sink.dict;
	VEC(uint32_t) list = { 0 };
	struct buf text = { 0 };
	uint32_t id, last = 0;
	bool is_over = false;

	for (; i < path->n && !is_over; i++) {
		const struct edge e = edge_of(&g->graph, path->v[i]);

		if (e.owner == 0 || e.owner == last)
			continue;
		last = e.owner;
		vec_push(&list, name_of(g, last));
		is_over = e.kind == EDGE_PEER;
	}
	for (size_t k = 0; k < list.n; k++) {
		bool is_cut = k > 0 && k + CHAIN_ENDS < list.n;

		if (is_cut && k > 1)
			continue;
		buf_putc(&text, k == 0 ? '[' : ',');
		json_put_string(
		    &text, is_cut ? STR("...") : dict_get(dict, list.v[k]));
	}
	buf_putc(&text, ']');
	id = intern_put(dict->text, buf_str(&text));
	vec_free(&list);
	buf_free(&text);
	return id;
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
