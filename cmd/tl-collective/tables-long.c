/* SPDX-License-Identifier: MIT */
/* Each collective on each rank, and what those that do the same come to. */
#include "cmd/tl-collective/tables.h"

#include <math.h>
#include <stdlib.h>

static const struct field long_fields[] = {
	ID,
	COLL(INT("index_in_group", NULL), index),
	RANK,
	SIGNATURE,
	IN_NELEMS,
	IN_BYTES,
	OUT_NELEMS,
	OUT_BYTES,
	IN_SPLIT,
	OUT_SPLIT,
	GPU_STREAM,
	START,
	DURATION,
	WAIT(OURS("wait_ns", COL_INT, UNIT_NS, 1e3)),
};

static int
by_id(const void *pa, const void *pb)
{
	const struct rec *const *a = pa, *const *b = pb;

	return (*a)->id < (*b)->id ? -1 : (*a)->id > (*b)->id;
}

static void
fill_long(struct sheet_rows *s, struct job *j)
{
	VEC(struct rec *) v = { 0 };

	for (size_t i = 0; i < j->parts.n; i++) {
		v.n = 0;
		for (size_t k = 0; k < j->parts.v[i].nrecs; k++)
			vec_push(&v, &j->parts.v[i].recs[k]);
		stable_sort(v.v, v.n, sizeof *v.v, by_id);
		for (size_t k = 0; k < v.n; k++) {
			struct row row = row_of_rec(j, v.v[k]);

			put_row(s, &row);
		}
	}
	vec_free(&v);
}

const struct table_def table_long = {
	.name = "nccl_long",
	FIELDS(long_fields),
	.nodes = WITH_NODE,
	.is_streamed = true,
	.fill = fill_long,
};

/* ---- summary ---- */

struct sum {
	const struct rec *first;
	int64_t count, sum_ns, min_ns, max_ns;
	double mean, std, squares; /* Welford's */
};

/* The group's name as this rank has it. */
/* clang-format off */
static const struct field summary_fields[] = {
	RANK,
	SIG(TEXT("group", "Process Group Name"), pg),
	GROUP_RANKS,
	NAME,
	GROUP_SIZE,
	DTYPE,
	IN_NELEMS,
	OUT_NELEMS,
	IN_SPLIT,
	OUT_SPLIT,
	GPU_STREAM,
	SIG(BYTES("in_bytes", "In msg size (MB)_first"), in_bytes),
	SIG(BYTES("out_bytes", "Out msg size (MB)_first"), out_bytes),
	OWN(COLUMN("dur_ns_sum", "dur_sum", COL_INT, UNIT_NS, COL_SHARE, 1e3), struct sum, sum_ns),
	OWN(REAL_US("dur_ns_mean", "dur_mean"), struct sum, mean),
	OWN(REAL_US("dur_ns_std", "dur_std"), struct sum, std),
	OWN(US("dur_ns_min", "dur_min"), struct sum, min_ns),
	OWN(US("dur_ns_max", "dur_max"), struct sum, max_ns),
	OWN(COUNTS("count", "operation_count"), struct sum, count),
};
/* clang-format on */

static void
add_dur(struct sum *s, int64_t dur)
{
	double delta = (double)dur - s->mean;

	s->count++;
	if (!num_add(s->sum_ns, dur, &s->sum_ns))
		s->sum_ns = INT64_MAX;
	s->min_ns = dur < s->min_ns ? dur : s->min_ns;
	s->max_ns = dur > s->max_ns ? dur : s->max_ns;
	s->mean += delta / (double)s->count;
	s->squares += delta * ((double)dur - s->mean);
}

static int
by_total(const void *pa, const void *pb)
{
	const struct sum *a = pa, *b = pb;

	return a->sum_ns > b->sum_ns ? -1 : a->sum_ns < b->sum_ns;
}

static void
fill_sums(struct sheet_rows *s, struct job *j)
{
	VEC(struct sum) sums = { 0 };
	struct map index = { 0 };

	for (size_t i = 0; i < j->parts.n; i++) {
		const struct part *p = &j->parts.v[i];

		for (size_t k = 0; k < p->nrecs; k++) {
			const struct rec *r = &p->recs[k];
			bool is_new;
			uint64_t *at = map_put(&index,
			    (uint64_t)p->pos << 32 | rec_sig(j, r)->key,
			    &is_new);

			if (is_new) {
				*at = sums.n;
				vec_push(&sums,
				    ((struct sum){ .first = r,
					.min_ns = INT64_MAX,
					.max_ns = INT64_MIN }));
			}
			add_dur(&sums.v[*at], r->dur_ns);
		}
	}
	stable_sort(sums.v, sums.n, sizeof *sums.v, by_total);
	for (size_t i = 0; i < sums.n; i++) {
		struct sum *m = &sums.v[i];
		struct row row = row_of_rec(j, m->first);

		m->mean = (double)m->sum_ns / (double)m->count;
		m->std = sqrt(m->squares / (double)(m->count - 1));
		row.own = m;
		put_row(s, &row);
	}
	map_free(&index);
	vec_free(&sums);
}

const struct table_def table_summary_long = {
	.name = "nccl_summary_long",
	FIELDS(summary_fields),
	.nodes = WITH_NODE,
	.fill = fill_sums,
};

/* One file's, as a report of it has it: without nodes. */
const struct table_def table_coll_analysis = {
	.name = "coll_analysis",
	.is_single = true,
	FIELDS(summary_fields),
	.fill = fill_sums,
};
