/* SPDX-License-Identifier: MIT */
/* Each collective on each rank, and sums over equal ones. */
#include "cmd/tl-collective/tables.h"

#include <stdlib.h>

/* On the island's clock; without one as recorded. */
static struct cell
cell_job_start(const struct row *r)
{
	return cell_int(r->rec->start_ns);
}

static struct cell
cell_drift(const struct row *r)
{
	return r->rank->island != NONE ? cell_real(r->rank->drift)
				       : cell_none();
}

/* clang-format off */
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
	CELL(COLUMN("start_ns", NULL, COL_INT, UNIT_NS, COL_OURS | COL_DETAIL | COL_POSITION, 1e3), cell_job_start),
	CELL(COLUMN("drift", NULL, COL_REAL, UNIT_NONE, COL_OURS | COL_DETAIL, 0), cell_drift),
	RANK_OF(COLUMN("island", NULL, COL_INT, UNIT_NONE, COL_OURS | COL_DETAIL, 0), island),
};
/* clang-format on */

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
	.with = WITH_NODE | WITH_HLO | WITH_EXPOSED,
	.is_streamed = true,
	.fill = fill_long,
};

/* ---- summary ---- */

/* The group's name as this rank records it. */
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
	OWN(COLUMN("dur_ns_sum", "dur_sum", COL_INT, UNIT_NS, COL_SHARE, 1e3), struct alike, sum_ns),
	METRIC("dur_ns_mean", "dur_mean", UNIT_NS, 0, 1e3, 0, STAT_MEAN),
	METRIC("dur_ns_std", "dur_std", UNIT_NS, 0, 1e3, 0, STAT_STD),
	OWN_STAT(US("dur_ns_min", "dur_min"), struct alike, v[0], 0),
	OWN_STAT(US("dur_ns_max", "dur_max"), struct alike, v[0], 1),
	OWN(COUNTS("count", "operation_count"), struct alike, count),
};
/* clang-format on */

static void
fill_sums(struct sheet_rows *s, struct job *j)
{
	struct alikes all = { 0 };

	for (size_t i = 0; i < j->parts.n; i++)
		for (size_t k = 0; k < j->parts.v[i].nrecs; k++) {
			const struct rec *r = &j->parts.v[i].recs[k];
			uint32_t key[] = { rec_pos(j, r), rec_sig(j, r)->key };
			struct alike *a =
			    alike_of(&all, row_of_rec(j, r), key, sizeof key);

			alike_add(a, r->dur_ns);
			value_add(&a->v[0], (double)r->dur_ns);
		}
	put_alikes(s, &all, by_sum);
}

const struct table_def table_summary_long = {
	.name = "nccl_summary_long",
	FIELDS(summary_fields),
	.with = WITH_NODE,
	.fill = fill_sums,
};

static void
fill_one(struct sheet_rows *s, struct job *j)
{
	if (j->ranks.n == 1)
		table_note(s->table,
		    "one rank: can't tell skew from bandwidth; give all ranks");
	fill_sums(s, j);
}

/* The table for one file: without nodes. */
const struct table_def table_coll_analysis = {
	.name = "coll_analysis",
	.is_single = true,
	FIELDS(summary_fields),
	.fill = fill_one,
};
