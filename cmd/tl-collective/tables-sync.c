/* SPDX-License-Identifier: MIT */
/* Collectives that make ranks wait for one another: one, and alike ones. */
#include "cmd/tl-collective/collective.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MB 1048576.0

/* ---- nccl_implicit_sync ---- */

static void
sync_columns(const struct job *j, struct columns *c)
{
	char id[64], label[64];
	size_t at;

	columns_add(c, "collective_id", NULL, COL_TEXT, 0, 0);
	columns_add(c, "group", "Process Group Name", COL_TEXT, 0, 0);
	columns_add(c, "group_ranks", "Process Group Ranks", COL_TEXT, 0, 0);
	columns_add(c, "collective", "Collective name", COL_TEXT, 0, 0);
	columns_add(c, "group_size", "Group size", COL_INT, 0, 0);
	columns_add(c, "dtype", NULL, COL_TEXT, 0, 0);
	columns_add(c, "in_nelems", "In msg nelems", COL_INT, 0, 0);
	columns_add(c, "out_nelems", "Out msg nelems", COL_INT, 0, 0);
	columns_add(c, "in_bytes", "In msg size (MB)", COL_INT, UNIT_BYTES, MB);
	columns_add(
	    c, "out_bytes", "Out msg size (MB)", COL_INT, UNIT_BYTES, MB);
	columns_add(
	    c, "full_bytes", "Full msg size (MB)", COL_INT, UNIT_BYTES, MB);
	columns_add(c, "latency_ns", "comm_latency", COL_INT, UNIT_NS, 1e3);
	columns_add(
	    c, "start_skew_ns", "skew in start time", COL_INT, UNIT_NS, 1e3);
	columns_add(c, "earliest_rank", "earliest arrival rank", COL_INT, 0, 0);
	columns_add(c, "wait_ns_mean", "avg_wait_time", COL_REAL, UNIT_NS, 1e3);
	columns_add(
	    c, "end_skew_ns", "skew in end time", COL_INT, UNIT_NS, 1e3);
	columns_add(c, "algo_gib_per_s", "algo bw (GB/s)", COL_REAL, 0, 0);
	columns_add(c, "bus_gib_per_s", "bus bw (GB/s)", COL_REAL, 0, 0);
	for (size_t r = 0; r < j->ranks.n && is_wide(j); r++) {
		snprintf(id, sizeof id, "rank_%" PRId64 "_ts_ns",
		    j->ranks.v[r].rank);
		snprintf(label, sizeof label, "rank_%" PRId64 "_ts",
		    j->ranks.v[r].rank);
		at = columns_add(c, id, label, COL_INT, UNIT_NS, 1e3);
		c->list.v[at].flags = COL_POSITION;
		snprintf(id, sizeof id, "rank_%" PRId64 "_dur_ns",
		    j->ranks.v[r].rank);
		snprintf(label, sizeof label, "rank_%" PRId64 "_dur",
		    j->ranks.v[r].rank);
		columns_add(c, id, label, COL_INT, UNIT_NS, 1e3);
	}
	for (size_t r = 0; r < j->ranks.n && is_wide(j); r++) {
		snprintf(id, sizeof id, "rank_%" PRId64 "_wait_ns",
		    j->ranks.v[r].rank);
		snprintf(label, sizeof label, "rank_%" PRId64 "_wait_time",
		    j->ranks.v[r].rank);
		columns_add(c, id, label, COL_INT, UNIT_NS, 1e3);
	}
	columns_add(c, "last_rank", NULL, COL_INT, 0, 0);
	columns_add(c, "late_ns", NULL, COL_INT, UNIT_NS, 1e3);
	columns_add(c, "ranks_present", NULL, COL_INT, 0, 0);
	columns_add(c, "ranks_expected", NULL, COL_INT, 0, 0);
	columns_add(c, "mismatch", NULL, COL_BOOL, 0, 0);
	if (j->has_nodes)
		columns_add(c, "node_span", NULL, COL_TEXT, 0, 0);
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

		row[2 * pos] =
		    cell_int(r->start_ns - j->parts.v[r->part].shift_ns);
		row[2 * pos + 1] = cell_int(r->dur_ns);
		waits[pos] = cell_int(last - r->start_ns);
	}
}

static size_t
put_sig(const struct job *j, const struct sig *s, struct cell *row)
{
	size_t n = 0;

	row[n++] = s->pg.p != NULL ? cell_text(s->pg)
				   : cell_text(j->groups.v[s->group].pg);
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
	if (j->has_nodes)
		row[n++] = node_span(j, g);
}

void
print_sync(struct job *j, struct table_dest *d)
{
	struct columns cols = { 0 };
	struct table *t;

	sync_columns(j, &cols);
	t = table_create("nccl_implicit_sync", cols.list.v, cols.list.n);
	table_stream(t, d);
	for (size_t i = 0; i < j->order.n; i++)
		if (coll_is_sync(j, &j->colls.v[j->order.v[i]]))
			sync_row(j, t, &j->colls.v[j->order.v[i]]);
	table_print(t, d);
	table_destroy(t);
}

/* ---- nccl_implicit_sync_ranks ---- */

static const struct column rank_columns[] = {
	{ "collective_id", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "rank", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "ts_ns", "ts", COL_INT, UNIT_NS, COL_POSITION, 1e3 },
	{ "dur_ns", "dur", COL_INT, UNIT_NS, 0, 1e3 },
	{ "wait_ns", "wait_time", COL_INT, UNIT_NS, 0, 1e3 },
};

void
print_sync_ranks(struct job *j, struct table_dest *d)
{
	struct table *t = table_create("nccl_implicit_sync_ranks", rank_columns,
	    sizeof rank_columns / sizeof *rank_columns);

	table_stream(t, d);
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
			row[2] = cell_int(
			    r->start_ns - j->parts.v[r->part].shift_ns);
			row[3] = cell_int(r->dur_ns);
			row[4] = cell_int(last - r->start_ns);
		}
	}
	table_print(t, d);
	table_destroy(t);
}

/* ---- nccl_summary_implicit_sync ---- */

enum { M_LATENCY, M_START, M_END, M_ALGO, M_BUS, M_COUNT };

static const struct {
	const char *id, *label;
	bool is_time;
} metrics[M_COUNT] = {
	{ "latency_ns", "comm_latency", true },
	{ "start_skew_ns", "skew in start time", true },
	{ "end_skew_ns", "skew in end time", true },
	{ "algo_gib_per_s", "algo bw (GB/s)", false },
	{ "bus_gib_per_s", "bus bw (GB/s)", false },
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

static void
alike_columns(const struct settings *set, struct columns *c)
{
	char id[96], label[96];

	columns_add(c, "collective", "Collective name", COL_TEXT, 0, 0);
	columns_add(c, "dtype", NULL, COL_TEXT, 0, 0);
	columns_add(c, "in_nelems", "In msg nelems", COL_INT, 0, 0);
	columns_add(c, "group", "Process Group Name", COL_TEXT, 0, 0);
	if (set->by_group)
		columns_add(
		    c, "group_ranks", "Process Group Ranks", COL_TEXT, 0, 0);
	columns_add(c, "group_size", "Group size", COL_INT, 0, 0);
	columns_add(
	    c, "full_bytes", "Full msg size (MB)", COL_INT, UNIT_BYTES, MB);
	for (size_t m = 0; m < M_COUNT; m++)
		for (size_t a = 0; a < set->aggs.n; a++) {
			const struct agg *agg = &set->aggs.v[a];
			bool is_time = metrics[m].is_time &&
			    agg->kind != AGG_COUNT && agg->kind != AGG_NUNIQUE;
			double div = !is_time      ? 0
			    : agg->kind == AGG_VAR ? 1e6
						   : 1e3;

			snprintf(
			    id, sizeof id, "%s_%s", metrics[m].id, agg->word);
			snprintf(label, sizeof label, "%s_%s", metrics[m].label,
			    agg->word);
			columns_add(c, id, label, COL_REAL,
			    is_time && agg->kind != AGG_VAR ? UNIT_NS
							    : UNIT_NONE,
			    div);
		}
	columns_add(c, "count", NULL, COL_INT, UNIT_COUNT, 0);
	columns_add(c, "latency_ns_total", "Total comm latency (ms)", COL_INT,
	    UNIT_NS, 1e6);
	c->list.v[c->list.n - 1].flags = COL_SHARE;
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
	row[n++] =
	    cell_text(s->pg.p != NULL ? s->pg : j->groups.v[c->group].pg);
	if (j->set->by_group)
		row[n++] = cell_str(s->ranks);
	row[n++] = cell_num(s->has_n, s->n);
	row[n++] = cell_bytes(sig_full_bytes(s));
	for (size_t m = 0; m < M_COUNT; m++)
		for (size_t k = 0; k < j->set->aggs.n; k++)
			row[n++] = a->v[m].n > 0 || m < M_ALGO
			    ? cell_real(agg_of(
				  &j->set->aggs.v[k], a->v[m].v, a->v[m].n))
			    : cell_none();
	row[n++] = cell_int(a->count);
	row[n++] = cell_int(a->latency_ns);
}

void
print_summary_sync(struct job *j, struct table_dest *d)
{
	struct columns cols = { 0 };
	alike_vec list = { 0 };
	struct table *t;

	gather_alike(j, &list);
	if (list.n > 0)
		qsort(list.v, list.n, sizeof *list.v, by_latency);
	alike_columns(j->set, &cols);
	t = table_create(
	    "nccl_summary_implicit_sync", cols.list.v, cols.list.n);
	for (size_t i = 0; i < list.n; i++)
		alike_row(j, t, &list.v[i]);
	table_print(t, d);
	table_destroy(t);
}

/* ---- straggler_summary ---- */

static const struct column straggler_columns[] = {
	{ "rank", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "wait_ns_total", "total_wait_time_us", COL_INT, UNIT_NS, 0, 1e3 },
	{ "wait_ns_mean", "mean_wait_time_us", COL_REAL, UNIT_NS, 0, 1e3 },
	{ "times_last", "times_arrived_last", COL_INT, UNIT_COUNT, 0, 0 },
	{ "times_first", "times_arrived_first", COL_INT, UNIT_COUNT, 0, 0 },
	{ "pct_last", "pct_arrived_last", COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "collectives", "num_collectives", COL_INT, UNIT_COUNT, 0, 0 },
	{ "dur_ns_total", "total_nccl_dur_us", COL_INT, UNIT_NS, 0, 1e3 },
	{ "participated", "num_participated", COL_INT, UNIT_COUNT, 0, 0 },
	{ "pct_last_of_own", "pct_arrived_last_of_participated", COL_REAL,
	    UNIT_PERCENT, 0, 0 },
	{ "node_id", NULL, COL_INT, UNIT_NONE, 0, 0 },
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
	if (j->has_nodes)
		row[10] = cell_int(rank / j->gpus_per_node);
}

void
print_straggler_summary(struct job *j, struct table_dest *d)
{
	size_t n = sizeof straggler_columns / sizeof *straggler_columns;
	struct waits *w = xcalloc(j->ranks.n + 1, sizeof *w);
	struct table *t = table_create(
	    "straggler_summary", straggler_columns, j->has_nodes ? n : n - 1);
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
	table_print(t, d);
	table_destroy(t);
}
