/* SPDX-License-Identifier: MIT */
/* all_to_allv: ranks send and get different amounts. */
#include "cmd/tl-collective/tables.h"

#include <math.h>
#include <stdlib.h>

#define NRANK_COLUMNS 8 /* in each row; and two for skews */

struct a2av {
	const struct coll *c;
	int64_t bytes, nelems; /* -1: not known */
	int64_t wall_ns, max_ns, min_ns, skew_start_ns, skew_end_ns;
	int64_t start, end;
	double avg_ns, gib_per_s, max_gib_per_s, min_gib_per_s, imbalance;
};

static double
rate(int64_t bytes, int64_t ns)
{
	return bytes >= 0 && ns > 0
	    ? (double)bytes / 1073741824.0 / ((double)ns * 1e-9)
	    : NAN;
}

static void
add_rank(struct a2av *a, const struct rec *r, const struct sig *s)
{
	int64_t bytes = sig_in_bytes(s);
	double own = bytes > 0 ? rate(bytes, r->dur_ns) : NAN;

	a->start = r->start_ns < a->start ? r->start_ns : a->start;
	a->end = rec_end(r) > a->end ? rec_end(r) : a->end;
	a->max_ns = r->dur_ns > a->max_ns ? r->dur_ns : a->max_ns;
	a->min_ns = r->dur_ns < a->min_ns ? r->dur_ns : a->min_ns;
	a->avg_ns += (double)r->dur_ns;
	if (s->has_in)
		a->nelems = (a->nelems < 0 ? 0 : a->nelems) + s->in;
	if (bytes >= 0) {
		a->bytes = (a->bytes < 0 ? 0 : a->bytes) + bytes;
		if ((double)bytes > a->imbalance)
			a->imbalance = (double)bytes;
	}
	if (isfinite(own)) {
		a->max_gib_per_s =
		    isfinite(a->max_gib_per_s) && a->max_gib_per_s > own
		    ? a->max_gib_per_s
		    : own;
		a->min_gib_per_s =
		    isfinite(a->min_gib_per_s) && a->min_gib_per_s < own
		    ? a->min_gib_per_s
		    : own;
	}
}

static struct a2av
measure(const struct job *j, const struct coll *c)
{
	struct a2av a = { .c = c,
		.bytes = -1,
		.nelems = -1,
		.start = INT64_MAX,
		.end = INT64_MIN,
		.min_ns = INT64_MAX,
		.max_gib_per_s = NAN,
		.min_gib_per_s = NAN };

	for (uint32_t m = 0; m < c->n; m++) {
		const struct rec *r = j->members[c->first + m];

		add_rank(&a, r, rec_sig(j, r));
	}
	a.wall_ns = a.end - a.start;
	a.avg_ns /= (double)c->n;
	a.gib_per_s = rate(a.bytes, a.wall_ns);
	a.imbalance =
	    a.bytes > 0 ? a.imbalance / ((double)a.bytes / (double)c->n) : NAN;
	a.skew_start_ns = c->skew_start_ns;
	a.skew_end_ns = c->skew_end_ns;
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

		if (c->class == CLASS_ALLTOALLV)
			vec_push(out, measure(j, c));
	}
}

/* ---- nccl_all2allv ---- */

static const struct column columns[] = {
	TEXT("collective_id", NULL),
	TEXT("group", "Process Group Name"),
	TEXT("group_ranks", "Process Group Ranks"),
	TEXT("collective", "Collective name"),
	INT("group_size", "Group size"),
	TEXT("dtype", NULL),
	TEXT("gpu_stream", "stream"),
	BYTES("bytes", "total data communicated (MB)"),
	INT("nelems", "total nelems communicated"),
	US("wall_ns", "wall_time (us)"),
	US("dur_ns_max", "max_rank_dur (us)"),
	US("dur_ns_min", "min_rank_dur (us)"),
	REAL_US("dur_ns_mean", "avg_rank_dur (us)"),
	REAL("gib_per_s", "throughput (GB/s)"),
	REAL("rank_gib_per_s_max", "max_rank_throughput (GB/s)"),
	REAL("rank_gib_per_s_min", "min_rank_throughput (GB/s)"),
	REAL("size_imbalance", NULL),
	US("start_skew_ns", "skew in start time"),
	US("end_skew_ns", "skew in end time"),
};

static const struct column long_columns[] = {
	TEXT("collective_id", NULL),
	INT("rank", NULL),
	{ "ts_ns", "ts", COL_INT, UNIT_NS, COL_POSITION, 1e3 },
	US("dur_ns", "dur"),
	INT("in_nelems", "In msg nelems"),
	INT("out_nelems", "Out msg nelems"),
	BYTES("in_bytes", "In msg size (MB)"),
	BYTES("out_bytes", "Out msg size (MB)"),
	TEXT("in_split", "In split size"),
	TEXT("out_split", "Out split size"),
	US("start_skew_ns", "skew in start time"),
	US("end_skew_ns", "skew in end time"),
};

static void
more_columns(const struct job *j, struct columns *c)
{
	if (!is_wide(j))
		return;
	columns_of_ranks(c, j, long_columns + 2, NRANK_COLUMNS);
	columns_of_ranks(c, j, long_columns + 2 + NRANK_COLUMNS, 2);
}

static void
put_rank(const struct job *j, const struct rec *r, struct cell *row)
{
	const struct sig *s = rec_sig(j, r);

	row[0] = cell_start(j, r);
	row[1] = cell_int(r->dur_ns);
	row[2] = cell_num(s->has_in, s->in);
	row[3] = cell_num(s->has_out, s->out);
	row[4] = cell_bytes(sig_in_bytes(s));
	row[5] = cell_bytes(sig_out_bytes(s));
	row[6] = cell_str(s->in_split);
	row[7] = cell_str(s->out_split);
}

static void
put_row(const struct job *j, struct table *t, const struct a2av *a)
{
	const struct coll *c = a->c;
	const struct sig *s = &j->sigs.v[c->sig];
	struct cell id = id_cell(j, c, t);
	struct cell *row = table_row(t);
	size_t n = 0;

	row[n++] = id;
	row[n++] = cell_text(j->groups.v[c->group].pg);
	row[n++] = cell_str(s->ranks);
	row[n++] = cell_str(s->name);
	row[n++] = cell_num(s->has_n, s->n);
	row[n++] = cell_str(s->dtype);
	row[n++] = cell_str(s->gpu_stream);
	row[n++] = cell_bytes(a->bytes);
	row[n++] = cell_bytes(a->nelems);
	row[n++] = cell_int(a->wall_ns);
	row[n++] = cell_int(a->max_ns);
	row[n++] = cell_int(a->min_ns);
	row[n++] = cell_real(a->avg_ns);
	row[n++] = cell_real(a->gib_per_s);
	row[n++] = cell_real(a->max_gib_per_s);
	row[n++] = cell_real(a->min_gib_per_s);
	row[n++] = cell_real(a->imbalance);
	row[n++] = cell_int(a->skew_start_ns);
	row[n++] = cell_int(a->skew_end_ns);
	for (uint32_t m = 0; m < c->n && is_wide(j); m++) {
		const struct rec *r = j->members[c->first + m];
		uint32_t pos = rec_pos(j, r);
		struct cell *skews =
		    row + n + NRANK_COLUMNS * j->ranks.n + 2 * pos;

		put_rank(j, r, row + n + NRANK_COLUMNS * pos);
		skews[0] = cell_int(r->start_ns - a->start);
		skews[1] = cell_int(a->end - rec_end(r));
	}
	if (is_wide(j))
		n += (NRANK_COLUMNS + 2) * j->ranks.n;
	put_node_span(row + n, j, c->group);
}

static void
fill(struct job *j, struct table *t)
{
	a2av_vec list = { 0 };

	gather_all(j, &list);
	if (list.n > 0)
		qsort(list.v, list.n, sizeof *list.v, by_bytes);
	for (size_t i = 0; i < list.n; i++)
		put_row(j, t, &list.v[i]);
	vec_free(&list);
}

const struct table_def table_all2allv = {
	.name = "nccl_all2allv",
	.is_wanted = has_all2allv,
	COLUMNS(columns),
	.more = more_columns,
	.nodes = WITH_NODE_SPAN,
	.fill = fill,
};

/* ---- nccl_all2allv_ranks ---- */

static bool
is_long(const struct job *j)
{
	return has_all2allv(j) && !is_wide(j);
}

static void
fill_ranks(struct job *j, struct table *t)
{
	a2av_vec list = { 0 };

	gather_all(j, &list);
	for (size_t i = 0; i < list.n; i++) {
		const struct coll *c = list.v[i].c;
		struct cell id = id_cell(j, c, t);

		for (uint32_t m = 0; m < c->n; m++) {
			const struct rec *r = j->members[c->first + m];
			struct cell *row = table_row(t);

			row[0] = id;
			row[1] = cell_int(rec_rank(j, r));
			put_rank(j, r, row + 2);
			row[10] = cell_int(r->start_ns - list.v[i].start);
			row[11] = cell_int(list.v[i].end - rec_end(r));
		}
	}
	vec_free(&list);
}

const struct table_def table_all2allv_ranks = {
	.name = "nccl_all2allv_ranks",
	.is_wanted = is_long,
	COLUMNS(long_columns),
	.is_streamed = true,
	.fill = fill_ranks,
};

/* ---- nccl_summary_all2allv ---- */

struct alike {
	const struct coll *first;
	int64_t wall_ns, count;
	VEC(double) bytes, wall, rate, imbalance, dur, start, end;
};

static const struct column summary_columns[] = {
	TEXT("group", "Process Group Name"),
	TEXT("dtype", NULL),
};
static const struct column summary_totals[] = {
	COUNTS("count", NULL),
	TEXT("group_ranks", "Process Group Ranks"),
	TEXT("collective", "Collective name"),
	INT("group_size", "Group size"),
	{ "wall_ns_sum", "Total wall_time (ms)", COL_INT, UNIT_NS, 0, 1e6 },
};
static const struct column wall_total =
    US("wall_ns_total", "Total wall_time (us)");
/* With the statistics that were asked for, and with these two. */
static const struct column metrics[] = {
	{ "bytes", "total data communicated (MB)", COL_REAL, UNIT_BYTES, 0,
	    MB },
	REAL_US("wall_ns", "wall_time (us)"),
	REAL("gib_per_s", "throughput (GB/s)"),
	REAL("size_imbalance", NULL),
	REAL_US("dur_ns_max", "max_rank_dur (us)"),
	REAL_US("start_skew_ns", "skew in start time"),
	REAL_US("end_skew_ns", "skew in end time"),
};
static const struct agg mean_max[] = { { AGG_MEAN, 0, "mean" },
	{ AGG_QUANTILE, 1, "max" } };

static void
more_summary(const struct job *j, struct columns *c)
{
	const struct settings *set = j->set;

	for (size_t i = 0; i < 7; i++) {
		bool is_asked = i < 3;

		if (i == 2)
			columns_put(c, &wall_total, 1);
		columns_of_aggs(c, &metrics[i],
		    is_asked ? set->aggs.v : mean_max,
		    is_asked ? set->aggs.n : 2);
	}
	columns_put(c, summary_totals, 5);
}

static void
summary_row(const struct job *j, struct table *t, const struct alike *a)
{
	const struct sig *s = &j->sigs.v[a->first->sig];
	const struct agg *aggs = j->set->aggs.v;
	size_t naggs = j->set->aggs.n;
	struct cell *row = table_row(t);
	size_t n = 0;

	row[n++] = cell_text(j->groups.v[a->first->group].pg);
	row[n++] = cell_str(s->dtype);
	n += put_aggs(row + n, aggs, naggs, a->bytes.v, a->bytes.n);
	n += put_aggs(row + n, aggs, naggs, a->wall.v, a->wall.n);
	row[n++] = cell_int(a->wall_ns);
	n += put_aggs(row + n, aggs, naggs, a->rate.v, a->rate.n);
	n += put_aggs(row + n, mean_max, 2, a->imbalance.v, a->imbalance.n);
	n += put_aggs(row + n, mean_max, 2, a->dur.v, a->dur.n);
	n += put_aggs(row + n, mean_max, 2, a->start.v, a->start.n);
	n += put_aggs(row + n, mean_max, 2, a->end.v, a->end.n);
	row[n++] = cell_int(a->count);
	row[n++] = cell_str(s->ranks);
	row[n++] = cell_str(s->name);
	row[n++] = cell_num(s->has_n, s->n);
	row[n++] = cell_int(a->wall_ns);
	put_node_span(row + n, j, a->first->group);
}

static int
by_wall(const void *pa, const void *pb)
{
	const struct alike *a = pa, *b = pb;

	if (a->wall_ns != b->wall_ns)
		return a->wall_ns > b->wall_ns ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

static void
add_alike(struct alike *to, const struct a2av *a)
{
	to->count++;
	to->wall_ns += a->wall_ns;
	if (a->bytes >= 0)
		vec_push(&to->bytes, (double)a->bytes);
	vec_push(&to->wall, (double)a->wall_ns);
	if (isfinite(a->gib_per_s))
		vec_push(&to->rate, a->gib_per_s);
	if (isfinite(a->imbalance))
		vec_push(&to->imbalance, a->imbalance);
	vec_push(&to->dur, (double)a->max_ns);
	vec_push(&to->start, (double)a->skew_start_ns);
	vec_push(&to->end, (double)a->skew_end_ns);
}

static void
fill_summary(struct job *j, struct table *t)
{
	struct intern *keys = intern_create();
	a2av_vec list = { 0 };
	VEC(struct alike) sums = { 0 };
	struct buf b = { 0 };

	gather_all(j, &list);
	for (size_t i = 0; i < list.n; i++) {
		const struct coll *c = list.v[i].c;
		const struct sig *s = &j->sigs.v[c->sig];
		uint32_t key;

		if (!coll_counts(j, c))
			continue;
		b.len = 0;
		buf_printf(&b, "%.*s/", (int)s->dtype.len, s->dtype.p);
		buf_put(&b, j->groups.v[c->group].pg.p,
		    j->groups.v[c->group].pg.len);
		key = intern_put(keys, buf_str(&b));
		if (key == sums.n)
			vec_push(&sums, ((struct alike){ .first = c }));
		add_alike(&sums.v[key], &list.v[i]);
	}
	if (sums.n > 0)
		qsort(sums.v, sums.n, sizeof *sums.v, by_wall);
	for (size_t i = 0; i < sums.n; i++)
		summary_row(j, t, &sums.v[i]);
	intern_destroy(keys);
	buf_free(&b);
}

const struct table_def table_summary_all2allv = {
	.name = "nccl_summary_all2allv",
	.is_wanted = has_all2allv,
	COLUMNS(summary_columns),
	.more = more_summary,
	.nodes = WITH_NODE_SPAN,
	.fill = fill_summary,
};
