/* SPDX-License-Identifier: MIT */
/* Collectives that make ranks wait for one another: one, and alike ones. */
#include "cmd/tl-collective/tables.h"

#include <math.h>
#include <stdlib.h>

/* ---- nccl_implicit_sync ---- */

static const struct column sync_columns[] = {
	TEXT("collective_id", NULL),
	TEXT("group", "Process Group Name"),
	TEXT("group_ranks", "Process Group Ranks"),
	TEXT("collective", "Collective name"),
	INT("group_size", "Group size"),
	TEXT("dtype", NULL),
	INT("in_nelems", "In msg nelems"),
	INT("out_nelems", "Out msg nelems"),
	BYTES("in_bytes", "In msg size (MB)"),
	BYTES("out_bytes", "Out msg size (MB)"),
	BYTES("full_bytes", "Full msg size (MB)"),
	US("latency_ns", "comm_latency"),
	US("start_skew_ns", "skew in start time"),
	INT("earliest_rank", "earliest arrival rank"),
	REAL_US("wait_ns_mean", "avg_wait_time"),
	US("end_skew_ns", "skew in end time"),
	REAL("algo_gib_per_s", "algo bw (GB/s)"),
	REAL("bus_gib_per_s", "bus bw (GB/s)"),
};
static const struct column sync_more[] = {
	INT("last_rank", NULL),
	US("late_ns", NULL),
	INT("ranks_present", NULL),
	INT("ranks_expected", NULL),
	BOOL("mismatch", NULL),
};
static const struct column rank_columns[] = {
	TEXT("collective_id", NULL),
	INT("rank", NULL),
	{ "ts_ns", "ts", COL_INT, UNIT_NS, COL_POSITION, 1e3 },
	US("dur_ns", "dur"),
	US("wait_ns", "wait_time"),
};

static void
more_sync(const struct job *j, struct columns *c)
{
	if (is_wide(j)) {
		columns_of_ranks(c, j, rank_columns + 2, 2);
		columns_of_ranks(c, j, rank_columns + 4, 1);
	}
	columns_put(c, sync_more, sizeof sync_more / sizeof *sync_more);
}

/* When all were there. */
static int64_t
last_start(const struct job *j, const struct coll *c)
{
	int64_t last = INT64_MIN;

	for (uint32_t m = 0; m < c->n; m++)
		if (j->members[c->first + m]->start_ns > last)
			last = j->members[c->first + m]->start_ns;
	return last;
}

static void
put_ranks(const struct job *j, const struct coll *c, struct cell *row)
{
	int64_t last = last_start(j, c);
	struct cell *waits = row + 2 * j->ranks.n;

	for (uint32_t m = 0; m < c->n; m++) {
		const struct rec *r = j->members[c->first + m];
		uint32_t pos = rec_pos(j, r);

		row[2 * pos] = cell_start(j, r);
		row[2 * pos + 1] = cell_int(r->dur_ns);
		waits[pos] = cell_int(last - r->start_ns);
	}
}

static size_t
put_sig(const struct job *j, const struct sig *s, struct cell *row)
{
	size_t n = 0;

	row[n++] = cell_group(j, s);
	row[n++] = cell_str(s->ranks);
	row[n++] = cell_str(s->name);
	row[n++] = cell_num(s->has_n, s->n);
	row[n++] = cell_str(s->dtype);
	row[n++] = cell_num(s->has_in, s->in);
	row[n++] = cell_num(s->has_out, s->out);
	row[n++] = cell_bytes(sig_in_bytes(s));
	row[n++] = cell_bytes(sig_out_bytes(s));
	return n;
}

static void
sync_row(const struct job *j, struct table *t, const struct coll *c)
{
	const struct sig *s = &j->sigs.v[c->sig];
	const struct pgroup *g = &j->groups.v[c->group];
	struct cell id = id_cell(j, c, t);
	struct cell *row = table_row(t);
	size_t n = 0;

	row[n++] = id;
	n += put_sig(j, s, row + n);
	row[n++] = cell_bytes(sig_full_bytes(s));
	row[n++] = cell_int(c->latency_ns);
	row[n++] = cell_int(c->skew_start_ns);
	row[n++] = cell_int(j->ranks.v[c->earliest].rank);
	row[n++] = cell_real((double)c->wait_sum_ns / (double)c->n);
	row[n++] = cell_int(c->skew_end_ns);
	row[n++] = cell_real(coll_algo_bw(j, c));
	row[n++] = cell_real(coll_bus_bw(j, c));
	if (is_wide(j)) {
		put_ranks(j, c, row + n);
		n += 3 * j->ranks.n;
	}
	row[n++] = cell_int(j->ranks.v[c->last].rank);
	row[n++] = cell_int(c->late_ns);
	row[n++] = cell_int(c->n);
	row[n++] =
	    g->has_members ? cell_int((int64_t)g->members.n) : cell_none();
	row[n++] = cell_bool((c->flags & COLL_MISMATCH) != 0);
	put_node_span(row + n, j, c->group);
}

static void
fill_sync(struct job *j, struct table *t)
{
	for (size_t i = 0; i < j->order.n; i++)
		if (coll_is_sync(j, &j->colls.v[j->order.v[i]]))
			sync_row(j, t, &j->colls.v[j->order.v[i]]);
}

const struct table_def table_sync = {
	.name = "nccl_implicit_sync",
	COLUMNS(sync_columns),
	.more = more_sync,
	.nodes = WITH_NODE_SPAN,
	.is_streamed = true,
	.fill = fill_sync,
};

/* ---- nccl_implicit_sync_ranks ---- */

static bool
is_long(const struct job *j)
{
	return has_sync(j) && !is_wide(j);
}

static void
fill_ranks(struct job *j, struct table *t)
{
	for (size_t i = 0; i < j->order.n; i++) {
		const struct coll *c = &j->colls.v[j->order.v[i]];
		int64_t last = last_start(j, c);
		struct cell id;

		if (!coll_is_sync(j, c))
			continue;
		id = id_cell(j, c, t);
		for (uint32_t m = 0; m < c->n; m++) {
			const struct rec *r = j->members[c->first + m];
			struct cell *row = table_row(t);

			row[0] = id;
			row[1] = cell_int(rec_rank(j, r));
			row[2] = cell_start(j, r);
			row[3] = cell_int(r->dur_ns);
			row[4] = cell_int(last - r->start_ns);
		}
	}
}

const struct table_def table_sync_ranks = {
	.name = "nccl_implicit_sync_ranks",
	.is_wanted = is_long,
	COLUMNS(rank_columns),
	.is_streamed = true,
	.fill = fill_ranks,
};

/* ---- nccl_summary_implicit_sync ---- */

enum { M_LATENCY, M_START, M_END, M_ALGO, M_BUS, M_COUNT };

static const struct column metrics[M_COUNT] = {
	REAL_US("latency_ns", "comm_latency"),
	REAL_US("start_skew_ns", "skew in start time"),
	REAL_US("end_skew_ns", "skew in end time"),
	REAL("algo_gib_per_s", "algo bw (GB/s)"),
	REAL("bus_gib_per_s", "bus bw (GB/s)"),
};

struct alike {
	uint32_t first; /* collective */
	uint64_t order;
	int64_t count, latency_ns;
	VEC(double) v[M_COUNT];
};

typedef VEC(struct alike) alike_vec;

static void
add_alike(const struct job *j, struct alike *a, const struct coll *c)
{
	double bw[2] = { coll_algo_bw(j, c), coll_bus_bw(j, c) };

	a->count++;
	if (!num_add(a->latency_ns, c->latency_ns, &a->latency_ns))
		a->latency_ns = INT64_MAX;
	vec_push(&a->v[M_LATENCY], (double)c->latency_ns);
	vec_push(&a->v[M_START], (double)c->skew_start_ns);
	vec_push(&a->v[M_END], (double)c->skew_end_ns);
	for (size_t i = 0; i < 2; i++)
		if (isfinite(bw[i]))
			vec_push(&a->v[M_ALGO + i], bw[i]);
}

static uint32_t
alike_key(const struct job *j, const struct coll *c, struct intern *keys)
{
	const struct sig *s = &j->sigs.v[c->sig];
	struct buf b = { 0 };
	uint32_t key;

	buf_printf(&b, "%zu:", s->name.len);
	buf_put(&b, s->name.p, s->name.len);
	buf_printf(&b, "%zu:", s->dtype.len);
	buf_put(&b, s->dtype.p, s->dtype.len);
	buf_printf(&b, "%d %" PRId64, s->has_in, s->has_in ? s->in : 0);
	if (j->set->by_group)
		buf_printf(&b, " %" PRIu32, c->group);
	key = intern_put(keys, buf_str(&b));
	buf_free(&b);
	return key;
}

static void
gather_alike(const struct job *j, alike_vec *out)
{
	struct intern *keys = intern_create();

	for (size_t i = 0; i < j->order.n; i++) {
		const struct coll *c = &j->colls.v[j->order.v[i]];
		uint32_t key;

		if (!coll_is_sync(j, c) || !coll_counts(j, c))
			continue;
		key = alike_key(j, c, keys);
		if (key == out->n)
			vec_push(out,
			    ((struct alike){
				.first = j->order.v[i], .order = out->n }));
		add_alike(j, &out->v[key], c);
	}
	intern_destroy(keys);
}

static int
by_latency(const void *pa, const void *pb)
{
	const struct alike *a = pa, *b = pb;

	if (a->latency_ns != b->latency_ns)
		return a->latency_ns > b->latency_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static const struct column alike_columns[] = {
	TEXT("collective", "Collective name"),
	TEXT("dtype", NULL),
	INT("in_nelems", "In msg nelems"),
	TEXT("group", "Process Group Name"),
};
static const struct column alike_ranks =
    TEXT("group_ranks", "Process Group Ranks");
static const struct column alike_sizes[] = {
	INT("group_size", "Group size"),
	BYTES("full_bytes", "Full msg size (MB)"),
};
static const struct column alike_totals[] = {
	COUNTS("count", NULL),
	{ "latency_ns_total", "Total comm latency (ms)", COL_INT, UNIT_NS,
	    COL_SHARE, 1e6 },
};

static void
more_alike(const struct job *j, struct columns *c)
{
	if (j->set->by_group)
		columns_put(c, &alike_ranks, 1);
	columns_put(c, alike_sizes, 2);
	for (size_t m = 0; m < M_COUNT; m++)
		columns_of_aggs(c, &metrics[m], j->set->aggs.v, j->set->aggs.n);
	columns_put(c, alike_totals, 2);
}

static void
alike_row(const struct job *j, struct table *t, const struct alike *a)
{
	const struct coll *c = &j->colls.v[a->first];
	const struct sig *s = &j->sigs.v[c->sig];
	struct cell *row = table_row(t);
	size_t n = 0;

	row[n++] = cell_str(s->name);
	row[n++] = cell_str(s->dtype);
	row[n++] = cell_num(s->has_in, s->in);
	row[n++] = cell_group(j, s);
	if (j->set->by_group)
		row[n++] = cell_str(s->ranks);
	row[n++] = cell_num(s->has_n, s->n);
	row[n++] = cell_bytes(sig_full_bytes(s));
	for (size_t m = 0; m < M_COUNT; m++)
		n += put_aggs(row + n, j->set->aggs.v, j->set->aggs.n,
		    a->v[m].v, a->v[m].n);
	row[n++] = cell_int(a->count);
	row[n++] = cell_int(a->latency_ns);
}

static void
fill_alike(struct job *j, struct table *t)
{
	alike_vec list = { 0 };

	gather_alike(j, &list);
	if (list.n > 0)
		qsort(list.v, list.n, sizeof *list.v, by_latency);
	for (size_t i = 0; i < list.n; i++)
		alike_row(j, t, &list.v[i]);
}

const struct table_def table_summary_sync = {
	.name = "nccl_summary_implicit_sync",
	COLUMNS(alike_columns),
	.more = more_alike,
	.fill = fill_alike,
};

/* ---- straggler_summary ---- */

static const struct column straggler_columns[] = {
	INT("rank", NULL),
	US("wait_ns_total", "total_wait_time_us"),
	REAL_US("wait_ns_mean", "mean_wait_time_us"),
	COUNTS("times_last", "times_arrived_last"),
	COUNTS("times_first", "times_arrived_first"),
	PCT("pct_last", "pct_arrived_last"),
	COUNTS("collectives", "num_collectives"),
	US("dur_ns_total", "total_nccl_dur_us"),
	COUNTS("participated", "num_participated"),
	PCT("pct_last_of_own", "pct_arrived_last_of_participated"),
};

struct waits {
	uint32_t pos;
	int64_t total_ns, nlast, nfirst, nown, dur_ns;
};

static int
by_wait(const void *pa, const void *pb)
{
	const struct waits *a = pa, *b = pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? -1 : 1;
	return a->pos < b->pos ? -1 : a->pos > b->pos;
}

/* Those that are complete; their number. */
static int64_t
add_waits(const struct job *j, struct waits *w)
{
	int64_t ncolls = 0;

	for (size_t i = 0; i < j->colls.n; i++) {
		const struct coll *c = &j->colls.v[i];
		int64_t last = last_start(j, c);

		if (!coll_is_sync(j, c) || !coll_counts(j, c))
			continue;
		ncolls++;
		w[c->last].nlast++;
		w[c->earliest].nfirst++;
		for (uint32_t m = 0; m < c->n; m++) {
			const struct rec *r = j->members[c->first + m];
			struct waits *own = &w[rec_pos(j, r)];

			own->nown++;
			own->total_ns += last - r->start_ns;
		}
	}
	return ncolls;
}

static void
straggler_row(
    const struct job *j, struct table *t, const struct waits *w, int64_t ncolls)
{
	int64_t rank = j->ranks.v[w->pos].rank;
	double own = (double)w->nown;
	struct cell *row = table_row(t);

	row[0] = cell_int(rank);
	row[1] = cell_int(w->total_ns);
	row[2] = cell_real((double)w->total_ns / own);
	row[3] = cell_int(w->nlast);
	row[4] = cell_int(w->nfirst);
	row[5] = cell_real(100 * (double)w->nlast / (double)ncolls);
	row[6] = cell_int(ncolls);
	row[7] = cell_int(w->dur_ns);
	row[8] = cell_int(w->nown);
	row[9] = cell_real(100 * (double)w->nlast / own);
	put_node_id(row + 10, j, rank);
}

static void
fill_stragglers(struct job *j, struct table *t)
{
	struct waits *w = xcalloc(j->ranks.n + 1, sizeof *w);
	int64_t ncolls;

	for (size_t r = 0; r < j->ranks.n; r++)
		w[r].pos = (uint32_t)r;
	for (size_t i = 0; i < j->parts.n; i++)
		for (size_t k = 0; k < j->parts.v[i].nrecs; k++)
			w[j->parts.v[i].pos].dur_ns +=
			    j->parts.v[i].recs[k].dur_ns;
	ncolls = add_waits(j, w);
	qsort(w, j->ranks.n, sizeof *w, by_wait);
	for (size_t r = 0; r < j->ranks.n; r++)
		if (w[r].nown > 0)
			straggler_row(j, t, &w[r], ncolls);
	free(w);
}

const struct table_def table_straggler_summary = {
	.name = "straggler_summary",
	.is_wanted = has_sync,
	COLUMNS(straggler_columns),
	.nodes = WITH_NODE_ID,
	.fill = fill_stragglers,
};
