/* SPDX-License-Identifier: MIT */
/* Collectives that make ranks wait for each other: each, and equal ones. */
#include "cmd/tl-collective/verdict.h"

#include <math.h>
#include <stdlib.h>

/* ---- nccl_implicit_sync ---- */

struct sync {
	int64_t earliest, last, expected;
	double wait_ns, algo, bus;
	bool is_mismatch;
};

/* clang-format off */
static const struct field sync_fields[] = {
	ID,
	SIGNATURE,
	IN_NELEMS,
	OUT_NELEMS,
	IN_BYTES,
	OUT_BYTES,
	FULL_BYTES,
	COLL(US("latency_ns", "comm_latency"), latency_ns),
	START_SKEW,
	OWN(INT("earliest_rank", "earliest arrival rank"), struct sync, earliest),
	OWN(REAL_US("wait_ns_mean", "avg_wait_time"), struct sync, wait_ns),
	END_SKEW,
	OWN(REAL("algo_gib_per_s", "algo bw (GB/s)"), struct sync, algo),
	OWN(REAL("bus_gib_per_s", "bus bw (GB/s)"), struct sync, bus),
	/* ours */
	OWN(OURS("last_rank", COL_INT, UNIT_NONE, 0), struct sync, last),
	COLL(OURS("late_ns", COL_INT, UNIT_NS, 1e3), late_ns),
	COLL(OURS("ranks_present", COL_INT, UNIT_NONE, 0), n),
	OWN(OURS("ranks_expected", COL_INT, UNIT_NONE, 0), struct sync, expected),
	OWN(OURS("mismatch", COL_BOOL, UNIT_NONE, 0), struct sync, is_mismatch),
};
/* clang-format on */

static const struct field rank_fields[] = {
	START,
	DURATION,
	WAIT(US("wait_ns", "wait_time")),
};

static void
fill_sync(struct sheet_rows *s, struct job *j)
{
	for (size_t i = 0; i < j->order.n; i++) {
		const struct coll *c = &j->colls.v[j->order.v[i]];
		const struct pgroup *g = &j->groups.v[c->group];
		struct sync own = {
			.earliest = rec_rank(j, coll_earliest(j, c)),
			.last = rec_rank(j, coll_last(j, c)),
			.expected =
			    g->members.n > 0 ? (int64_t)g->members.n : NONE,
			.wait_ns = (double)c->wait_sum_ns / (double)c->n,
			.algo = coll_algo_bw(j, c),
			.bus = coll_bus_bw(j, c),
			.is_mismatch = (c->flags & COLL_MISMATCH) != 0,
		};
		struct row row = row_of_coll(j, c, &own);

		if (coll_is_sync(j, c))
			put_row(s, &row);
	}
}

const struct table_def table_sync = {
	.name = "nccl_implicit_sync",
	.by_starts = true,
	FIELDS(sync_fields),
	OF_RANK_FIELDS(rank_fields, 2),
	.with = WITH_NODE_SPAN | WITH_HLO,
	.is_streamed = true,
	.fill = fill_sync,
};

/* ---- nccl_summary_implicit_sync ---- */

enum { M_LATENCY, M_START, M_END, M_ALGO, M_BUS };

/* clang-format off */
static const struct field alike_fields[] = {
	NAME,
	DTYPE,
	IN_NELEMS,
	GROUP,
	GROUP_SIZE,
	FULL_BYTES,
	STATS("latency_ns", "comm_latency", UNIT_NS, 1e3, M_LATENCY),
	STATS("start_skew_ns", "skew in start time", UNIT_NS, 1e3, M_START),
	STATS("end_skew_ns", "skew in end time", UNIT_NS, 1e3, M_END),
	STATS("algo_gib_per_s", "algo bw (GB/s)", UNIT_NONE, 0, M_ALGO),
	STATS("bus_gib_per_s", "bus bw (GB/s)", UNIT_NONE, 0, M_BUS),
	OWN(COUNTS("count", NULL), struct alike, count),
	OWN(COLUMN("latency_ns_total", "Total comm latency (ms)", COL_INT, UNIT_NS, COL_SHARE, 1e6), struct alike, sum_ns),
};
/* clang-format on */

static void
fill_alike(struct sheet_rows *s, struct job *j)
{
	struct alikes all = { 0 };

	for (size_t i = 0; i < j->order.n; i++) {
		const struct coll *c = &j->colls.v[j->order.v[i]];
		struct alike *a;

		if (!coll_is_sync(j, c) || !coll_counts(j, c))
			continue;
		a = alike_of(&all, row_of_coll(j, c, NULL),
		    &j->sigs.v[c->sig].alike, sizeof(uint32_t));
		alike_add(a, c->latency_ns);
		value_add(&a->v[M_LATENCY], (double)c->latency_ns);
		value_add(&a->v[M_START], (double)coll_start_skew(j, c));
		value_add(&a->v[M_END], (double)c->skew_end_ns);
		value_add(&a->v[M_ALGO], coll_algo_bw(j, c));
		value_add(&a->v[M_BUS], coll_bus_bw(j, c));
	}
	put_alikes(s, &all, by_sum);
}

const struct table_def table_summary_sync = {
	.name = "nccl_summary_implicit_sync",
	.by_starts = true,
	FIELDS(alike_fields),
	.fill = fill_alike,
};

/* ---- straggler_summary ---- */

struct waits {
	const struct rank_info *rank;
	int64_t total_ns, nlast, nfirst, ncolls, nown;
	int64_t dur_ns, nall, own_ns; /* of all collectives; of those judged */
	int64_t gain_ns;
	double mean_ns, pct_last, pct_last_own;
};

/* clang-format off */
static const struct field straggler_fields[] = {
	RANK,
	OWN(US("wait_ns_total", "total_wait_time_us"), struct waits, total_ns),
	OWN(REAL_US("wait_ns_mean", "mean_wait_time_us"), struct waits, mean_ns),
	OWN(COUNTS("times_last", "times_arrived_last"), struct waits, nlast),
	OWN(COUNTS("times_first", "times_arrived_first"), struct waits, nfirst),
	OWN(PCT("pct_last", "pct_arrived_last"), struct waits, pct_last),
	OWN(COUNTS("collectives", "num_collectives"), struct waits, ncolls),
	OWN(US("dur_ns_total", "total_nccl_dur_us"), struct waits, dur_ns),
	OWN(COLUMN("participated", "num_participated", COL_INT, UNIT_COUNT, COL_OURS, 0), struct waits, nown),
	OWN(OURS("judged_ns_total", COL_INT, UNIT_NS, 1e3), struct waits, own_ns),
	OWN(COLUMN("collectives_all", NULL, COL_INT, UNIT_COUNT, COL_OURS, 0), struct waits, nall),
	OWN(OURS("gain_ns_high", COL_INT, UNIT_NS, 1e3), struct waits, gain_ns),
	OWN(COLUMN("pct_last_of_own", "pct_arrived_last_of_participated", COL_REAL, UNIT_PERCENT, COL_OURS, 0), struct waits, pct_last_own),
};
/* clang-format on */

static int
by_wait(const void *pa, const void *pb)
{
	const struct waits *a = pa, *b = pb;

	return a->total_ns < b->total_ns ? -1 : a->total_ns > b->total_ns;
}

/* Adds ranks' waiting in complete collectives; returns their number. */
static int64_t
add_waits(const struct job *j, struct waits *w)
{
	int64_t ncolls = 0;

	for (size_t i = 0; i < j->colls.n; i++) {
		const struct coll *c = &j->colls.v[i];

		if (!coll_is_sync(j, c) || !coll_counts(j, c))
			continue;
		ncolls++;
		w[rec_pos(j, coll_last(j, c))].nlast++;
		w[rec_pos(j, coll_earliest(j, c))].nfirst++;
		for (uint32_t m = 0; m < c->n; m++) {
			const struct rec *r = j->members[c->first + m];
			struct waits *own = &w[rec_pos(j, r)];

			own->nown++;
			own->own_ns = num_add_max(own->own_ns, r->dur_ns);
			own->total_ns += coll_wait(j, c, r);
		}
	}
	return ncolls;
}

static void
fill_stragglers(struct sheet_rows *s, struct job *j)
{
	struct waits *w = xcalloc(j->ranks.n + 1, sizeof *w);
	int64_t ncolls;

	for (size_t i = 0; i < j->parts.n; i++) {
		const struct part *p = &j->parts.v[i];

		w[p->pos].nall += (int64_t)p->nrecs;
		for (size_t k = 0; k < p->nrecs; k++)
			w[p->pos].dur_ns += p->recs[k].dur_ns;
	}
	ncolls = add_waits(j, w);
	for (size_t r = 0; r < j->ranks.n; r++) {
		w[r].rank = &j->ranks.v[r];
		w[r].gain_ns = findings_of(j)->gain_ns[r];
	}
	stable_sort(w, j->ranks.n, sizeof *w, by_wait);
	for (size_t r = 0; r < j->ranks.n; r++) {
		double own = (double)w[r].nown;
		struct row row = { .rank = w[r].rank, .own = &w[r] };

		if (w[r].nown == 0)
			continue;
		w[r].ncolls = ncolls;
		w[r].mean_ns = (double)w[r].total_ns / own;
		w[r].pct_last = 100 * (double)w[r].nlast / (double)ncolls;
		w[r].pct_last_own = 100 * (double)w[r].nlast / own;
		put_row(s, &row);
	}
	free(w);
}

const struct table_def table_straggler_summary = {
	.name = "straggler_summary",
	.by_starts = true,
	.is_about = coll_is_sync,
	FIELDS(straggler_fields),
	.with = WITH_NODE_ID,
	.fill = fill_stragglers,
};
