/* SPDX-License-Identifier: MIT */
/* What each rank's host costs the job. */
#include "cmd/tl-critical/critical.h"

#include <math.h>
#include <stdlib.h>

#include "trace/laws.h"
#include "json/json.h"

#define CANDIDATES 4 /* names whose own loss is computed */
#define CHAIN_ENDS 3 /* events shown at either end of a chain */

/* Host time by name on each rank. */
struct costs {
	struct program *g;
	struct map known; /* name to key */
	struct map keys;  /* name without addresses to key */
	VEC(int64_t) ns;  /* by key, then by rank */
	size_t nkeys;
	uint32_t *of; /* of each event: key + 1, or 0 */
};

/* Addresses differ from rank to rank: "<built-in method x at 0x7f12>". */
static uint32_t
without_address(struct program *g, uint32_t name)
{
	struct str text = dict_get(g->sink.dict, name);
	ptrdiff_t at = str_find(text, STR(" at 0x"), false);

	return at < 0 ? name
		      : intern_put(g->sink.dict->text,
			    (struct str){ text.p, (size_t)at });
}

static uint32_t
key_of(struct costs *c, uint32_t name)
{
	bool is_new, is_first;
	uint64_t *at = map_put(&c->known, name, &is_new);

	if (is_new) {
		uint64_t *key =
		    map_put(&c->keys, without_address(c->g, name), &is_first);

		if (is_first) {
			*key = c->nkeys++;
			for (size_t i = 0; i < c->g->all.n; i++)
				vec_push(&c->ns, 0);
		}
		*at = *key;
	}
	return (uint32_t)*at;
}

static void
add_costs(struct costs *c)
{
	const struct graph *g = &c->g->graph;
	size_t nranks = c->g->all.n;

	for (size_t k = 0; k < nranks; k++) {
		const struct recording *r = c->g->all.v[k];

		for (uint32_t i = 0; i < r->host.events.n; i++)
			c->of[number_of_host(r, i)] =
			    key_of(c, r->host.events.v[i].name) + 1;
	}
	for (uint32_t i = 0; i < graph_nedges(g); i++) {
		const struct edge e = edge_of(g, i);
		const struct recording *r = place_of(c->g, e.owner).r;

		if (e.kind != EDGE_HOST || e.is_gone || r == NULL)
			continue;
		c->ns.v[(c->of[e.owner] - 1) * nranks + r->number] +=
		    e.least_ns;
	}
}

static int64_t
median_of(const int64_t *v, size_t n, int64_t *room)
{
	memcpy(room, v, n * sizeof *v);
	sort_i64(room, n);
	return n % 2 == 1 ? room[n / 2] : room[n / 2 - 1] / 2 + room[n / 2] / 2;
}

/* Length of the window if a rank's events took no more than the median
 * rank's. */
static int64_t
length_with(const struct costs *c, const struct recording *r,
    const int64_t *factors, uint32_t only)
{
	const struct graph *g = &c->g->graph;
	uint32_t *of = xcalloc(g->nnodes / 2, sizeof *of);
	struct solution s = { NULL, NULL };
	int64_t ns;

	for (uint32_t i = 0; i < r->host.events.n; i++) {
		uint32_t number = number_of_host(r, i);

		if (only == INTERN_NONE || c->of[number] == only + 1)
			of[number] = c->of[number];
	}
	graph_solve(g, &(struct scale){ of, factors, false, false }, &s);
	ns = s.at[GRAPH_SINK] - g->window.start;
	solution_free(&s);
	free(of);
	return ns;
}

struct excess {
	int64_t ns;
	uint32_t key;
};

static int
by_excess(const void *x, const void *y)
{
	const struct excess *a = x, *b = y;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->key > b->key) - (a->key < b->key);
}

static uint32_t
name_of(const struct program *g, uint32_t number)
{
	const struct place p = place_of(g, number);

	return p.host != NULL ? p.host->name : p.gpu->name;
}

/* The first and last names of a path, from edge i to where it leaves the rank
 * or ends, as a list. It leaves through a collective that others wait for. */
static uint32_t
chain_of(struct program *g, const edge_list *path, size_t i)
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

/* Where the path spends most in events of a key; path->n: nowhere. */
static size_t
longest_on(const struct costs *c, const struct recording *r, uint32_t key,
    const edge_list *path)
{
	size_t best = path->n;
	int64_t most = 0;

	for (size_t i = 0; i < path->n; i++) {
		const struct edge e = edge_of(&c->g->graph, path->v[i]);

		if (e.kind == EDGE_HOST && c->of[e.owner] == key + 1 &&
		    place_of(c->g, e.owner).r == r &&
		    (best == path->n || e.least_ns > most)) {
			best = i;
			most = e.least_ns;
		}
	}
	return best;
}

/* Rounded up, like the times that it scales. */
static int64_t
factor_up(int64_t ns, int64_t of_ns)
{
	__extension__ __int128 at = (__int128)ns * SCALE_UNIT + of_ns - 1;

	return (int64_t)(at / of_ns);
}

/* Keeps a name's loss within its rank's, and within what it takes longer. */
static void
keep_laws(int64_t by_ns, int64_t loss_ns, int64_t excess_ns)
{
	const struct law_part by = { "by_ns", by_ns };

	law_most("critical_ranks", by, (struct law_part){ "loss_ns", loss_ns });
	law_most(
	    "critical_ranks", by, (struct law_part){ "excess_ns", excess_ns });
}

static void
add_rank(struct costs *c, const struct recording *r, bool is_on_path,
    const edge_list *path, int64_t *room)
{
	struct program *g = c->g;
	const int64_t whole = g->graph.window.end - g->graph.window.start;
	int64_t *factors = xmalloc((c->nkeys + 1) * sizeof *factors);
	VEC(struct excess) list = { 0 };
	struct excess worst = { 0, 0 };
	int64_t loss, most = 0;
	struct critical_record *rec;
	size_t at;

	factors[0] = SCALE_UNIT;
	for (uint32_t k = 0; k < c->nkeys; k++) {
		const int64_t *ns = &c->ns.v[k * g->all.n];
		int64_t own = ns[r->number];
		int64_t median = median_of(ns, g->all.n, room);

		factors[k + 1] = SCALE_UNIT;
		if (own <= median)
			continue;
		factors[k + 1] = factor_up(median, own);
		vec_push(&list, ((struct excess){ own - median, k }));
	}
	stable_sort(list.v, list.n, sizeof *list.v, by_excess);
	/* a host off the path loses nothing; without a clock for all ranks
	 * there is no path */
	loss = is_on_path && g->has_clocks
	    ? whole - length_with(c, r, factors, INTERN_NONE)
	    : 0;
	for (size_t i = 0; i < list.n && i < CANDIDATES && loss > 0; i++) {
		int64_t ns = whole - length_with(c, r, factors, list.v[i].key);

		if (ns > most) {
			most = ns;
			worst = list.v[i];
		}
	}
	at = most > 0 ? longest_on(c, r, worst.key, path) : path->n;
	rec = critical_add(g, IS_RANK,
	    at < path->n ? edge_of(&g->graph, path->v[at]).owner : 0);
	if (at < path->n)
		rec->chain = chain_of(g, path, at);
	rec->rec.source = r->source;
	rec->loss_ns = g->has_clocks ? loss : SINK_NONE;
	rec->loss_percent =
	    g->has_clocks ? (double)loss / (double)whole * 100 : NAN;
	rec->excess_ns = most > 0 ? worst.ns : SINK_NONE;
	rec->least_ns = most > 0 ? most : SINK_NONE;
	if (most > 0)
		keep_laws(most, loss, worst.ns);
	if (g->has_clocks && loss > g->costliest.loss_ns)
		g->costliest = *rec;
	vec_free(&list);
	free(factors);
}

void
costs_records(struct program *g, const edge_list *path)
{
	struct costs c = { .g = g };
	bool *is_on_path = xcalloc(g->all.n + 1, sizeof *is_on_path);
	int64_t *room = xmalloc(g->all.n * sizeof *room + 1);

	c.of = xcalloc(g->graph.nnodes / 2, sizeof *c.of);
	add_costs(&c);
	for (size_t i = 0; i < path->n; i++) {
		const struct edge e = edge_of(&g->graph, path->v[i]);
		const struct recording *r = place_of(g, e.owner).r;

		if (e.kind == EDGE_HOST && r != NULL)
			is_on_path[r->number] = true;
	}
	for (size_t i = 0; i < g->all.n; i++)
		add_rank(&c, g->all.v[i], is_on_path[i], path, room);
	free(is_on_path);
	map_free(&c.known);
	map_free(&c.keys);
	vec_free(&c.ns);
	free(c.of);
	free(room);
}

/* ---- in words ---- */

/*
 * "rank 5's host costs the job 12.400 ms (4.1 % of the window).
 * DataLoader.__next__ costs most: 8.100 ms; all its calls together take
 * 9.300 ms longer than the median (e.g. uid 7)."
 */
void
costs_note(const struct program *g, struct table *t)
{
	const struct critical_record *r = &g->costliest;
	const struct sink_sources *all = &g->sink.sources;
	const struct sink_source *s = &all->list.v[r->rec.source];
	bool by_rank = s->has_rank && sink_sources_lead(all) != SINK_LEAD_SRC;
	char uid[UID_MAX];
	struct buf b = { 0 };

	if (!g->has_clocks) {
		table_note(t,
		    "clocks are not known: what each rank's host costs is not "
		    "judged");
		return;
	}
	if (r->loss_ns == 0) {
		table_note(t,
		    "no rank's host costs the job time: on the critical path "
		    "none is slower than the median rank's");
		return;
	}
	buf_printf(&b, "%s %" PRId64 "'s host costs the job ",
	    by_rank ? "rank" : "source", by_rank ? s->rank : (int64_t)s->no);
	put_time(&b, r->loss_ns);
	buf_printf(&b, " (%.1f %% of the window", r->loss_percent);
	if (g->world > g->nranks)
		buf_printf(&b, ", as %" PRId64 " of %" PRId64 " ranks show it",
		    g->nranks, g->world);
	buf_puts(&b, ").");
	if (r->least_ns != SINK_NONE) {
		buf_putc(&b, ' ');
		if (r->name != INTERN_NONE)
			table_fold_name(
			    dict_get(g->sink.dict, r->name), 60, &b);
		buf_puts(&b, " costs most: ");
		put_time(&b, r->least_ns);
		buf_puts(&b, "; all its calls together take ");
		put_time(&b, r->excess_ns);
		buf_printf(&b, " longer than the median (e.g. uid %.*s).",
		    (int)uid_put(uid, r->uid), uid);
	}
	table_note(t, "%.*s", (int)b.len, b.p);
	buf_free(&b);
}
