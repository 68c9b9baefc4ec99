/* SPDX-License-Identifier: MIT */
/* Joins the recordings of a job's ranks: one clock, and collectives. */
#include "cmd/tl-critical/critical.h"

#include <math.h>
#include <stdlib.h>

#include "trace/collective.h"

/* ---- collectives from tl-collective ---- */

/* A rank's part in a collective, in its file's time and on the job's clock. */
struct member {
	int64_t rank, start_ns, dur_ns;
	int64_t job_ns; /* start on the job's clock */
	double drift;   /* of the rank's clock; NAN: unknown */
	int64_t island; /* set of ranks that are compared, or -1 */
	uint32_t id;    /* equal for the members of a collective */
	uint32_t recording, gpu;
};

typedef VEC(struct member) member_list;

struct asked {
	member_list *to;
	struct intern *ids;
};

/* Collectives whose ranks leave together; others do not make ranks wait. */
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

/* Ties by rank, then device. */
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

/* End of the run of members of one collective. */
static size_t
end_of_run(const struct ranks *k, size_t i)
{
	size_t end = i + 1;

	while (end < k->members.n && k->members.v[end].id == k->members.v[i].id)
		end++;
	return end;
}

/*
 * Maps a recording's time to the job's: exact at one collective, from there on
 * drifting.
 */
struct clock {
	int64_t move_ns, at_ns; /* offset, and where it is exact */
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

static void
keep_times(struct recording *r)
{
	const struct host *h = &r->host;

	for (size_t i = 0; i < h->events.n; i++)
		vec_push(&r->unmoved,
		    ((struct span){
			h->events.v[i].start_ns, h->events.v[i].end_ns }));
	for (size_t i = 0; i < h->gpus.n; i++)
		vec_push(&r->unmoved,
		    ((struct span){
			h->gpus.v[i].start_ns, h->gpus.v[i].end_ns }));
}

static bool
is_collective(const struct host_gpu *k)
{
	return k->tag == BUCKET_COMM && k->kind == KIND_KERNEL;
}

/* Number of GPUs with collectives in a process; each is a rank. */
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
 * Puts a process's collectives, their GPU events and its recording on the job's
 * clock, whose zero is 0. False: the collectives do not match.
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

/* Time of the transfer once all ranks have come. */
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

/* Warns of ranks that tl-collective could not put on the job's clock. False:
 * there are some. */
static bool
tell_clocks(const struct member *v, size_t n, bool has_warned)
{
	int64_t last = 0, told = INT64_MIN;
	bool are_apart = false;

	for (size_t i = 0; i < n; i++) {
		are_apart |= v[i].rank != v[0].rank &&
		    clocks_are_apart(!isnan(v[0].drift), v[0].island,
			!isnan(v[i].drift), v[i].island);
		last = v[i].island > last ? v[i].island : last;
		if (isnan(v[i].drift) && v[i].rank != told)
			report(MSG_RANK_NO_CLOCK, told = v[i].rank);
	}
	collective_islands(last, has_warned);
	return !are_apart;
}

static int
by_rank(const void *x, const void *y)
{
	const struct recording *const *a = x, *const *b = y;

	return ((*a)->rank > (*b)->rank) - ((*a)->rank < (*b)->rank);
}

/* The path must not depend on the order of the inputs. */
static void
sort_ranks(struct program *g)
{
	for (size_t i = 0; i < g->all.n; i++) {
		struct recording *r = g->all.v[i];

		r->rank = g->sink.sources.list.v[r->source].rank;
	}
	stable_sort(g->all.v, g->all.n, sizeof *g->all.v, by_rank);
	for (uint32_t i = 0; i < g->all.n; i++)
		g->all.v[i]->number = i;
}

void
ranks_join(struct program *g)
{
	struct ranks *k = g->ranks = xcalloc(1, sizeof *k);
	member_list all = { 0 };
	/* without ranks in files, ranks are numbered by order */
	bool is_told = sink_sources_lead(&g->sink.sources) != SINK_LEAD_SRC;
	int64_t rank = 0, zero = 0;
	bool has_warned;

	if (is_told)
		sort_ranks(g);
	has_warned = ask_collective(g, &all);
	stable_sort(all.v, all.n, sizeof *all.v, by_rank_and_time);
	g->has_clocks = tell_clocks(all.v, all.n, has_warned);
	/* the first rank's first collective keeps its time */
	if (all.n > 0 &&
	    __builtin_sub_overflow(all.v[0].job_ns, all.v[0].start_ns, &zero))
		die("times of the job span more than 292 years");
	for (uint32_t i = 0; i < g->all.n; i++) {
		struct recording *r = g->all.v[i];
		const struct sink_source *s =
		    &g->sink.sources.list.v[r->source];
		int64_t n = count_devices(&r->host);
		size_t from, to;

		if (g->with_overlay)
			keep_times(r);
		n = n > 0 ? n : 1;
		if (is_told && n == 1)
			rank = s->rank;
		bisect(from, all.n, mid, all.v[mid].rank < rank);
		bisect(to, all.n, mid, all.v[mid].rank < num_add_max(rank, n));
		rank = num_add_max(rank, n);
		g->nranks = num_add_max(g->nranks, n);
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

/* Adds an event for each collective: all its ranks have come. */
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
