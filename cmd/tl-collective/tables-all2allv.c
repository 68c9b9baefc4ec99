/* SPDX-License-Identifier: MIT */
/* all_to_allv, in which ranks move different amounts. */
#include "cmd/tl-collective/tables.h"

#include <math.h>
#include <stdlib.h>

/* ---- one ---- */

struct a2av {
	const struct coll *c;
	int64_t bytes, nelems, wall_ns, max_ns, min_ns;
	double mean_ns, gib_per_s, max_gib_per_s, min_gib_per_s, imbalance;
};

static void
add_to(int64_t *sum, int64_t v)
{
	if (v != NONE)
		*sum = (*sum == NONE ? 0 : *sum) + v;
}

static void
add_rank(struct a2av *a, const struct rec *r, const struct sig *s)
{
	double own = s->in_bytes != 0 ? gib_per_s(s->in_bytes, r->dur_ns) : NAN;

	a->max_ns = r->dur_ns > a->max_ns ? r->dur_ns : a->max_ns;
	a->min_ns = r->dur_ns < a->min_ns ? r->dur_ns : a->min_ns;
	a->mean_ns += (double)r->dur_ns;
	add_to(&a->nelems, s->in);
	add_to(&a->bytes, s->in_bytes);
	a->imbalance = fmax(a->imbalance, (double)s->in_bytes);
	a->max_gib_per_s = fmax(a->max_gib_per_s, own);
	a->min_gib_per_s = fmin(a->min_gib_per_s, own);
}

static struct a2av
measure(const struct job *j, const struct coll *c)
{
	struct a2av a = { .c = c,
		.bytes = NONE,
		.nelems = NONE,
		.wall_ns = c->end_ns - coll_earliest(j, c)->start_ns,
		.min_ns = INT64_MAX,
		.max_gib_per_s = NAN,
		.min_gib_per_s = NAN };

	for (uint32_t m = 0; m < c->n; m++) {
		const struct rec *r = j->members[c->first + m];

		add_rank(&a, r, rec_sig(j, r));
	}
	a.mean_ns /= (double)c->n;
	a.gib_per_s = gib_per_s(a.bytes, a.wall_ns);
	a.imbalance =
	    a.bytes > 0 ? a.imbalance / ((double)a.bytes / (double)c->n) : NAN;
	return a;
}

typedef VEC(struct a2av) a2av_vec;

static int
by_bytes(const void *pa, const void *pb)
{
	const struct a2av *a = pa, *b = pb;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->c < b->c ? -1 : a->c > b->c;
}

static void
gather_all(const struct job *j, a2av_vec *out)
{
	for (size_t i = 0; i < j->order.n; i++) {
		const struct coll *c = &j->colls.v[j->order.v[i]];

		if (coll_is_all2allv(j, c))
			vec_push(out, measure(j, c));
	}
}

/* ---- nccl_all2allv ---- */

/* clang-format off */
static const struct field fields[] = {
	ID,
	SIGNATURE,
	GPU_STREAM,
	OWN(BYTES("bytes", "total data communicated (MB)"), struct a2av, bytes),
	OWN(INT("nelems", "total nelems communicated"), struct a2av, nelems),
	OWN(US("wall_ns", "wall_time (us)"), struct a2av, wall_ns),
	OWN(US("dur_ns_max", "max_rank_dur (us)"), struct a2av, max_ns),
	OWN(US("dur_ns_min", "min_rank_dur (us)"), struct a2av, min_ns),
	OWN(REAL_US("dur_ns_mean", "avg_rank_dur (us)"), struct a2av, mean_ns),
	OWN(REAL("gib_per_s", "throughput (GB/s)"), struct a2av, gib_per_s),
	OWN(REAL("rank_gib_per_s_max", "max_rank_throughput (GB/s)"), struct a2av, max_gib_per_s),
	OWN(REAL("rank_gib_per_s_min", "min_rank_throughput (GB/s)"), struct a2av, min_gib_per_s),
	OWN(REAL("size_imbalance", NULL), struct a2av, imbalance),
	START_SKEW,
	END_SKEW,
};
/* clang-format on */

static struct cell
cell_later(const struct row *r)
{
	return cell_int(
	    r->rec->start_ns - coll_earliest(r->job, r->coll)->start_ns);
}

static struct cell
cell_earlier(const struct row *r)
{
	return cell_int(r->coll->end_ns - rec_end(r->rec));
}

static const struct field rank_fields[] = {
	START,
	DURATION,
	IN_NELEMS,
	OUT_NELEMS,
	IN_BYTES,
	OUT_BYTES,
	IN_SPLIT,
	OUT_SPLIT,
	CELL(US("start_skew_ns", "skew in start time"), cell_later),
	CELL(US("end_skew_ns", "skew in end time"), cell_earlier),
};

static void
fill(struct sheet_rows *s, struct job *j)
{
	a2av_vec list = { 0 };

	gather_all(j, &list);
	stable_sort(list.v, list.n, sizeof *list.v, by_bytes);
	for (size_t i = 0; i < list.n; i++) {
		struct row row = row_of_coll(j, list.v[i].c, &list.v[i]);

		put_row(s, &row);
	}
	vec_free(&list);
}

const struct table_def table_all2allv = {
	.name = "nccl_all2allv",
	.by_starts = true,
	.is_about = coll_is_all2allv,
	FIELDS(fields),
	OF_RANK_FIELDS(rank_fields, 8),
	.with = WITH_NODE_SPAN,
	.fill = fill,
};

/* ---- nccl_summary_all2allv ---- */

enum { M_BYTES, M_WALL, M_RATE, M_IMBALANCE, M_DUR, M_START, M_END };

/* clang-format off */
static const struct field summary_fields[] = {
	GROUP,
	DTYPE,
	STATS("bytes", "total data communicated (MB)", UNIT_BYTES, MB, M_BYTES),
	STATS("wall_ns", "wall_time (us)", UNIT_NS, 1e3, M_WALL),
	OWN(US("wall_ns_total", "Total wall_time (us)"), struct alike, sum_ns),
	STATS("gib_per_s", "throughput (GB/s)", UNIT_NONE, 0, M_RATE),
	MEAN_MAX("size_imbalance", "size_imbalance", UNIT_NONE, 0, M_IMBALANCE),
	MEAN_MAX("dur_ns_max", "max_rank_dur (us)", UNIT_NS, 1e3, M_DUR),
	MEAN_MAX("start_skew_ns", "skew in start time", UNIT_NS, 1e3, M_START),
	MEAN_MAX("end_skew_ns", "skew in end time", UNIT_NS, 1e3, M_END),
	OWN(COUNTS("count", NULL), struct alike, count),
	GROUP_RANKS,
	NAME,
	GROUP_SIZE,
	OWN(COLUMN("wall_ns_sum", "Total wall_time (ms)", COL_INT, UNIT_NS, 0, 1e6), struct alike, sum_ns),
};
/* clang-format on */

static void
add_to_summary(struct alikes *all, const struct job *j, const struct a2av *a)
{
	struct alike *to = alike_of(all, row_of_coll(j, a->c, NULL),
	    &j->sigs.v[a->c->sig].alike, sizeof(uint32_t));

	alike_add(to, a->wall_ns);
	value_add(&to->v[M_BYTES], a->bytes != NONE ? (double)a->bytes : NAN);
	value_add(&to->v[M_WALL], (double)a->wall_ns);
	value_add(&to->v[M_RATE], a->gib_per_s);
	value_add(&to->v[M_IMBALANCE], a->imbalance);
	value_add(&to->v[M_DUR], (double)a->max_ns);
	value_add(&to->v[M_START], (double)coll_start_skew(j, a->c));
	value_add(&to->v[M_END], (double)a->c->skew_end_ns);
}

static void
fill_summary(struct sheet_rows *s, struct job *j)
{
	struct alikes all = { 0 };
	a2av_vec list = { 0 };

	gather_all(j, &list);
	for (size_t i = 0; i < list.n; i++)
		if (coll_counts(j, list.v[i].c))
			add_to_summary(&all, j, &list.v[i]);
	put_alikes(s, &all, by_sum);
	vec_free(&list);
}

const struct table_def table_summary_all2allv = {
	.name = "nccl_summary_all2allv",
	.by_starts = true,
	.is_about = coll_is_all2allv,
	FIELDS(summary_fields),
	.with = WITH_NODE_SPAN,
	.fill = fill_summary,
};
