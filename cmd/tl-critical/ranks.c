/* SPDX-License-Identifier: MIT */
/* The recordings of all ranks of a job: one clock, collectives, what one costs.
 */
#include "cmd/tl-critical/critical.h"

#include <math.h>
#include <stdlib.h>

#include "trace/collective.h"

/* ---- what tl-collective knows ---- */

/* A collective of one rank, in its file's time, then on the job's clock. */
struct member {
	int64_t rank, start_ns, dur_ns;
	int64_t job_ns; /* where it starts on that */
	double drift;   /* of the rank's; NAN: it is not known */
	int64_t island; /* of those that are compared, or -1 */
	uint32_t id;    /* of those that are one: the same */
	uint32_t recording, gpu;
};

typedef VEC(struct member) member_list;

struct asked {
	member_list *to;
	struct intern *ids;
};

/* Only those whose ranks leave together: one of another type has no wait. */
static void
take_row(void *arg, struct str row)
{
	const struct asked *asked = arg;
	struct member m = { 0 };
	int64_t wait_ns;
	struct str rank = collective_cell(&row), ts = collective_cell(&row);
	struct str dur = collective_cell(&row), wait = collective_cell(&row);
	struct str start = collective_cell(&row), drift = collective_cell(&row);
	struct str island = collective_cell(&row);

	if (!num_i64(rank, &m.rank) || !num_i64(ts, &m.start_ns) ||
	    !num_i64(dur, &m.dur_ns) || !num_i64(start, &m.job_ns))
		die("tl-collective printed a line that is not a row");
	if (!num_double(drift, &m.drift))
		m.drift = NAN;
	if (!num_i64(island, &m.island))
		m.island = -1;
	m.id =
	    num_i64(wait, &wait_ns) ? intern_put(asked->ids, row) : INTERN_NONE;
	vec_push(asked->to, m);
}

static bool
ask_collective(const struct program *g, member_list *to)
{
	bool has_warned;
	struct asked asked = { to, intern_create() };
	VEC(const char *) paths = { 0 };

	for (size_t i = 0; i < g->sink.sources.list.n; i++) {
		const char *path = g->sink.sources.list.v[i].path;

		if (paths.n == 0 || path != paths.v[paths.n - 1])
			vec_push(&paths, path);
	}
	has_warned = collective_rows("nccl_long",
	    "rank,ts_ns,dur_ns,wait_ns,start_ns,drift,island,collective_id",
	    paths.v, paths.n, take_row, &asked);
	vec_free(&paths);
	intern_destroy(asked.ids);
	return has_warned;
}

/* ---- one clock ---- */

static int
by_rank_and_time(const void *x, const void *y)
{
	const struct member *a = x, *b = y;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->dur_ns > b->dur_ns) - (a->dur_ns < b->dur_ns);
}

static int
by_id(const void *x, const void *y)
{
	const struct member *a = x, *b = y;

	return (a->id > b->id) - (a->id < b->id);
}

/* Of equal times those of the first rank or device. */
static int
by_time(const void *x, const void *y)
{
	const struct member *a = x, *b = y;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->dur_ns != b->dur_ns)
		return a->dur_ns < b->dur_ns ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

struct ranks {
	member_list members; /* by id */
};

/* Ends of the run of members that are one collective. */
static size_t
end_of_run(const struct ranks *k, size_t i)
{
	size_t end = i + 1;

	while (end < k->members.n && k->members.v[end].id == k->members.v[i].id)
		end++;
	return end;
}

/*
 * A recording's time to that of the job: at one of its collectives it is known
 * exactly, and from there on it runs fast by drift.
 */
struct clock {
	int64_t move_ns, at_ns; /* what to add; where that is right */
	double drift;
};

static void
move_time(const struct clock *c, int64_t *ns)
{
	*ns = clock_steady(*ns, c->at_ns, c->drift);
	if (!num_add(*ns, c->move_ns, ns))
		die("times of the job span more than 292 years");
}

static void
shift(struct recording *r, const struct clock *c)
{
	struct host *h = &r->host;

	for (size_t i = 0; i < h->events.n; i++) {
		move_time(c, &h->events.v[i].start_ns);
		move_time(c, &h->events.v[i].end_ns);
	}
	for (size_t i = 0; i < h->gpus.n; i++) {
		move_time(c, &h->gpus.v[i].start_ns);
		move_time(c, &h->gpus.v[i].end_ns);
	}
	for (size_t i = 0; i < h->profiler.n; i++) {
		move_time(c, &h->profiler.v[i].start_ns);
		move_time(c, &h->profiler.v[i].end_ns);
	}
	move_time(c, &r->first_ns);
}

static bool
is_collective(const struct host_gpu *k)
{
	return k->tag == BUCKET_COMM && k->kind == KIND_KERNEL;
}

/* On how many GPUs a process has collectives; each is a rank. */
static int64_t
count_devices(const struct host *h)
{
	struct map devices = { 0 };
	int64_t n = 0;

	for (size_t i = 0; i < h->gpus.n; i++) {
		struct key dev = h->gpus.v[i].dev;
		bool is_new = false;

		if (is_collective(&h->gpus.v[i]))
			(void)map_put(
			    &devices, (uint64_t)dev.n << 2 | dev.type, &is_new);
		n += is_new;
	}
	map_free(&devices);
	return n;
}

/*
 * Gives the collectives of a process, those of its ranks, their GPU events and
 * the recording the clock of the job, on which zero is 0; false: they are not
 * the same ones.
 */
static bool
join(struct recording *r, uint32_t recording, struct member *v, size_t n,
    int64_t zero_ns)
{
	member_list own = { 0 };
	bool is_same;

	for (uint32_t i = 0; i < r->host.gpus.n; i++) {
		const struct host_gpu *k = &r->host.gpus.v[i];

		if (is_collective(k))
			vec_push(&own,
			    ((struct member){ .rank = k->dev.n,
				.start_ns = k->start_ns,
				.dur_ns = k->end_ns - k->start_ns,
				.gpu = i }));
	}
	stable_sort(own.v, own.n, sizeof *own.v, by_time);
	stable_sort(v, n, sizeof *v, by_time);
	is_same = own.n == n && n > 0;
	for (size_t i = 0; i < n && is_same; i++) {
		is_same = v[i].dur_ns == own.v[i].dur_ns &&
		    v[i].start_ns - v[0].start_ns ==
			own.v[i].start_ns - own.v[0].start_ns;
		v[i].recording = recording;
		v[i].gpu = own.v[i].gpu;
	}
	if (is_same) {
		struct clock c = { .at_ns = own.v[0].start_ns,
			.drift = isnan(v[0].drift) ? 0 : v[0].drift };

		if (__builtin_sub_overflow(v[0].job_ns, zero_ns, &c.move_ns) ||
		    __builtin_sub_overflow(c.move_ns, c.at_ns, &c.move_ns))
			die("times of the job span more than 292 years");
		shift(r, &c);
	}
	for (size_t i = 0; i < n && is_same; i++) {
		const struct host_gpu *k = &r->host.gpus.v[v[i].gpu];

		v[i].start_ns = k->start_ns;
		v[i].dur_ns = k->end_ns - k->start_ns;
	}
	vec_free(&own);
	return is_same;
}

static int64_t
last_start(const struct member *v, size_t n)
{
	int64_t ns = v[0].start_ns;

	for (size_t i = 1; i < n; i++)
		ns = v[i].start_ns > ns ? v[i].start_ns : ns;
	return ns;
}

/* What the transfer takes when all have come. */
static int64_t
transfer_ns(const struct member *v, size_t n)
{
	int64_t last = last_start(v, n), least = INT64_MAX;

	for (size_t i = 0; i < n; i++) {
		int64_t left = v[i].start_ns + v[i].dur_ns - last;

		least = v[i].dur_ns < least ? v[i].dur_ns : least;
		least = left < least ? left : least;
	}
	return least > 0 ? least : 0;
}

/* Of what tl-collective could not put on the job's clock. */
static void
tell_clocks(const struct member *v, size_t n, bool has_warned)
{
	int64_t last = 0, told = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		last = v[i].island > last ? v[i].island : last;
		if (isnan(v[i].drift) && v[i].rank != told)
			report(MSG_RANK_NO_CLOCK, told = v[i].rank);
	}
	collective_islands(last, has_warned);
}

void
ranks_join(struct program *g)
{
	struct ranks *k = g->ranks = xcalloc(1, sizeof *k);
	member_list all = { 0 };
	/* where files do not tell them ranks are numbered by their order */
	bool is_told = sink_sources_lead(&g->sink.sources) != SINK_LEAD_SRC;
	int64_t rank = 0, zero = 0;
	bool has_warned;

	has_warned = ask_collective(g, &all);
	stable_sort(all.v, all.n, sizeof *all.v, by_rank_and_time);
	tell_clocks(all.v, all.n, has_warned);
	/* the first rank's first collective is where its file has it */
	if (all.n > 0 &&
	    __builtin_sub_overflow(all.v[0].job_ns, all.v[0].start_ns, &zero))
		die("times of the job span more than 292 years");
	for (uint32_t i = 0; i < g->all.n; i++) {
		struct recording *r = g->all.v[i];
		const struct sink_source *s =
		    &g->sink.sources.list.v[r->source];
		int64_t n = count_devices(&r->host);
		size_t from, to;

		n = n > 0 ? n : 1;
		if (is_told && n == 1)
			rank = s->rank;
		bisect(from, all.n, mid, all.v[mid].rank < rank);
		bisect(to, all.n, mid, all.v[mid].rank < num_add_max(rank, n));
		rank = num_add_max(rank, n);
		if ((is_told && !s->has_rank) ||
		    !join(r, i, all.v + from, to - from, zero))
			die("%s: its collectives differ from those that "
			    "tl-collective read: is it a rank of the job?",
			    s->path);
		for (size_t m = from; m < to; m++)
			if (all.v[m].id != INTERN_NONE)
				vec_push(&k->members, all.v[m]);
	}
	vec_free(&all);
	stable_sort(k->members.v, k->members.n, sizeof *k->members.v, by_id);
	for (size_t i = 0, end; i < k->members.n; i = end) {
		int64_t ns;

		end = end_of_run(k, i);
		ns = transfer_ns(&k->members.v[i], end - i);
		for (size_t m = i; m < end && end - i > 1; m++)
			*map_put(
			    &g->all.v[k->members.v[m].recording]->transfers,
			    k->members.v[m].gpu, NULL) = (uint64_t)ns;
	}
}

/* Each collective gets an event of its own: that all of its ranks have come. */
void
ranks_build(struct program *g)
{
	const struct ranks *k = g->ranks;

	for (size_t i = 0, end; i < k->members.n; i = end) {
		int64_t ns = last_start(&k->members.v[i], end_of_run(k, i) - i);
		uint32_t all_there;

		end = end_of_run(k, i);
		if (end - i < 2 || ns < g->graph.window.start ||
		    ns > g->graph.window.end)
			continue;
		all_there = graph_events(&g->graph, 1);
		g->graph.today.at[node_of_start(all_there)] = ns;
		for (size_t m = i; m < end; m++) {
			const struct member *v = &k->members.v[m];
			uint32_t number =
			    number_of_gpu(g->all.v[v->recording], v->gpu);

			graph_edge(&g->graph, EDGE_PEER, node_of_start(number),
			    node_of_start(all_there), 0, 0);
			graph_edge(&g->graph, EDGE_PEER,
			    node_of_start(all_there), node_of_end(number),
			    transfer_ns(&k->members.v[i], end - i), number);
		}
	}
}

void
ranks_free(struct program *g)
{
	if (g->ranks != NULL)
		vec_free(&g->ranks->members);
	free(g->ranks);
}

/* ---- what a rank costs ---- */

#define CANDIDATES 4 /* names that are tried by themselves */

/* Time of the host by name, on each rank. */
struct costs {
	struct program *g;
	struct map known; /* name to key */
	struct map keys;  /* name without addresses to key */
	VEC(int64_t) ns;  /* by key, then by rank */
	size_t nkeys;
	uint32_t *of; /* of each event: its key + 1, or 0 */
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
	for (size_t i = 0; i < g->edges.n; i++) {
		const struct edge *e = &g->edges.v[i];
		const struct recording *r = recording_of(c->g, e->owner);

		if (e->kind != EDGE_HOST || e->is_gone || r == NULL)
			continue;
		c->ns.v[(c->of[e->owner] - 1) * nranks + r->number] +=
		    e->least_ns;
	}
}

static int64_t
median_of(const int64_t *v, size_t n, int64_t *room)
{
	memcpy(room, v, n * sizeof *v);
	sort_i64(room, n);
	return n % 2 == 1 ? room[n / 2] : room[n / 2 - 1] / 2 + room[n / 2] / 2;
}

/* The window without what a rank's events take longer than the median's. */
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

/* Where the path spends most in a key's events; path->n: nowhere. */
static size_t
longest_on(const struct costs *c, const struct recording *r, uint32_t key,
    const edge_list *path)
{
	const struct edge *edges = c->g->graph.edges.v;
	size_t best = path->n;

	for (size_t i = 0; i < path->n; i++) {
		const struct edge *e = &edges[path->v[i]];

		if (e->kind == EDGE_HOST && c->of[e->owner] == key + 1 &&
		    recording_of(c->g, e->owner) == r &&
		    (best == path->n ||
			e->least_ns > edges[path->v[best]].least_ns))
			best = i;
	}
	return best;
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
		factors[k + 1] =
		    (int64_t)((double)median / (double)own * SCALE_UNIT);
		vec_push(&list, ((struct excess){ own - median, k }));
	}
	stable_sort(list.v, list.n, sizeof *list.v, by_excess);
	/* a path that does not go through its host stays as it is */
	loss = is_on_path ? whole - length_with(c, r, factors, INTERN_NONE) : 0;
	for (size_t i = 0; i < list.n && i < CANDIDATES && loss > 0; i++) {
		int64_t ns = whole - length_with(c, r, factors, list.v[i].key);

		if (ns > most) {
			most = ns;
			worst = list.v[i];
		}
	}
	at = most > 0 ? longest_on(c, r, worst.key, path) : path->n;
	rec = critical_add(
	    g, IS_RANK, at < path->n ? g->graph.edges.v[path->v[at]].owner : 0);
	if (at < path->n)
		rec->chain = critical_chain(g, path, at);
	rec->rec.source = r->source;
	rec->loss_ns = loss;
	rec->loss_percent = (double)loss / (double)whole * 100;
	rec->excess_ns = most > 0 ? worst.ns : SINK_NONE;
	rec->least_ns = most > 0 ? most : SINK_NONE;
	vec_free(&list);
	free(factors);
}

void
ranks_records(struct program *g, const edge_list *path)
{
	struct costs c = { .g = g };
	bool *is_on_path = xcalloc(g->all.n + 1, sizeof *is_on_path);
	int64_t *room = xmalloc(g->all.n * sizeof *room + 1);

	c.of = xcalloc(g->graph.nnodes / 2, sizeof *c.of);
	add_costs(&c);
	for (size_t i = 0; i < path->n; i++) {
		const struct edge *e = &g->graph.edges.v[path->v[i]];
		const struct recording *r = recording_of(g, e->owner);

		if (e->kind == EDGE_HOST && r != NULL)
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
