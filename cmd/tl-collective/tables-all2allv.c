/* SPDX-License-Identifier: MIT */
/* all_to_allv: ranks send and get different amounts. */
#include "cmd/tl-collective/collective.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MB 1048576.0
#define NRANK_COLUMNS 8

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

static void
rank_columns(const struct job *j, struct columns *c)
{
	static const struct column of_rank[NRANK_COLUMNS] = {
		{ "ts_ns", "ts", COL_INT, UNIT_NS, COL_POSITION, 1e3 },
		{ "dur_ns", "dur", COL_INT, UNIT_NS, 0, 1e3 },
		{ "in_nelems", "In msg nelems", COL_INT, UNIT_NONE, 0, 0 },
		{ "out_nelems", "Out msg nelems", COL_INT, UNIT_NONE, 0, 0 },
		{ "in_bytes", "In msg size (MB)", COL_INT, UNIT_BYTES, 0, MB },
		{ "out_bytes", "Out msg size (MB)", COL_INT, UNIT_BYTES, 0,
		    MB },
		{ "in_split", "In split size", COL_TEXT, UNIT_NONE, 0, 0 },
		{ "out_split", "Out split size", COL_TEXT, UNIT_NONE, 0, 0 },
	};
	char id[96], label[96];
	size_t at;

	for (size_t r = 0; r < j->ranks.n; r++)
		for (size_t i = 0; i < NRANK_COLUMNS; i++) {
			snprintf(id, sizeof id, "rank_%" PRId64 "_%s",
			    j->ranks.v[r].rank, of_rank[i].id);
			snprintf(label, sizeof label, "rank_%" PRId64 "_%s",
			    j->ranks.v[r].rank, of_rank[i].label);
			at = columns_add(c, id, label, of_rank[i].type,
			    of_rank[i].unit, of_rank[i].label_div);
			c->list.v[at].flags = of_rank[i].flags;
		}
	for (size_t r = 0; r < j->ranks.n; r++)
		for (int end = 0; end < 2; end++) {
			snprintf(id, sizeof id, "rank_%" PRId64 "_%s_skew_ns",
			    j->ranks.v[r].rank, end ? "end" : "start");
			snprintf(label, sizeof label,
			    "rank_%" PRId64 "_skew in %s time",
			    j->ranks.v[r].rank, end ? "end" : "start");
			columns_add(c, id, label, COL_INT, UNIT_NS, 1e3);
		}
}

static void
put_columns(const struct job *j, struct columns *c)
{
	columns_add(c, "collective_id", NULL, COL_TEXT, 0, 0);
	columns_add(c, "group", "Process Group Name", COL_TEXT, 0, 0);
	columns_add(c, "group_ranks", "Process Group Ranks", COL_TEXT, 0, 0);
	columns_add(c, "collective", "Collective name", COL_TEXT, 0, 0);
	columns_add(c, "group_size", "Group size", COL_INT, 0, 0);
	columns_add(c, "dtype", NULL, COL_TEXT, 0, 0);
	columns_add(c, "gpu_stream", "stream", COL_TEXT, 0, 0);
	columns_add(c, "bytes", "total data communicated (MB)", COL_INT,
	    UNIT_BYTES, MB);
	columns_add(c, "nelems", "total nelems communicated", COL_INT, 0, 0);
	columns_add(c, "wall_ns", "wall_time (us)", COL_INT, UNIT_NS, 1e3);
	columns_add(
	    c, "dur_ns_max", "max_rank_dur (us)", COL_INT, UNIT_NS, 1e3);
	columns_add(
	    c, "dur_ns_min", "min_rank_dur (us)", COL_INT, UNIT_NS, 1e3);
	columns_add(
	    c, "dur_ns_mean", "avg_rank_dur (us)", COL_REAL, UNIT_NS, 1e3);
	columns_add(c, "gib_per_s", "throughput (GB/s)", COL_REAL, 0, 0);
	columns_add(c, "rank_gib_per_s_max", "max_rank_throughput (GB/s)",
	    COL_REAL, 0, 0);
	columns_add(c, "rank_gib_per_s_min", "min_rank_throughput (GB/s)",
	    COL_REAL, 0, 0);
	columns_add(c, "size_imbalance", NULL, COL_REAL, 0, 0);
	columns_add(
	    c, "start_skew_ns", "skew in start time", COL_INT, UNIT_NS, 1e3);
	columns_add(
	    c, "end_skew_ns", "skew in end time", COL_INT, UNIT_NS, 1e3);
	if (is_wide(j))
		rank_columns(j, c);
	if (j->has_nodes)
		columns_add(c, "node_span", NULL, COL_TEXT, 0, 0);
}

static void
put_rank(const struct job *j, const struct rec *r, struct cell *row)
{
	const struct sig *s = rec_sig(j, r);

	row[0] = cell_int(r->start_ns - j->parts.v[r->part].shift_ns);
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
	if (j->has_nodes)
		row[n++] = node_span(j, &j->groups.v[c->group]);
}

void
print_all2allv(struct job *j, struct table_dest *d)
{
	struct columns cols = { 0 };
	a2av_vec list = { 0 };
	struct table *t;

	gather_all(j, &list);
	if (list.n > 0)
		qsort(list.v, list.n, sizeof *list.v, by_bytes);
	put_columns(j, &cols);
	t = table_create("nccl_all2allv", cols.list.v, cols.list.n);
	for (size_t i = 0; i < list.n; i++)
		put_row(j, t, &list.v[i]);
	vec_free(&list);
	table_print(t, d);
	table_destroy(t);
}

/* ---- nccl_all2allv_ranks ---- */

static const struct column long_columns[] = {
	{ "collective_id", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "rank", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "ts_ns", "ts", COL_INT, UNIT_NS, COL_POSITION, 1e3 },
	{ "dur_ns", "dur", COL_INT, UNIT_NS, 0, 1e3 },
	{ "in_nelems", "In msg nelems", COL_INT, UNIT_NONE, 0, 0 },
	{ "out_nelems", "Out msg nelems", COL_INT, UNIT_NONE, 0, 0 },
	{ "in_bytes", "In msg size (MB)", COL_INT, UNIT_BYTES, 0, MB },
	{ "out_bytes", "Out msg size (MB)", COL_INT, UNIT_BYTES, 0, MB },
	{ "in_split", "In split size", COL_TEXT, UNIT_NONE, 0, 0 },
	{ "out_split", "Out split size", COL_TEXT, UNIT_NONE, 0, 0 },
	{ "start_skew_ns", "skew in start time", COL_INT, UNIT_NS, 0, 1e3 },
	{ "end_skew_ns", "skew in end time", COL_INT, UNIT_NS, 0, 1e3 },
};

void
print_all2allv_ranks(struct job *j, struct table_dest *d)
{
	struct table *t = table_create("nccl_all2allv_ranks", long_columns,
	    sizeof long_columns / sizeof *long_columns);
	a2av_vec list = { 0 };

	table_stream(t, d);
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
	table_print(t, d);
	table_destroy(t);
}

/* ---- nccl_summary_all2allv ---- */

struct alike {
	const struct coll *first;
	int64_t wall_ns, count;
	VEC(double) bytes, wall, rate, imbalance, dur, start, end;
};

static void
agg_columns(const struct settings *set, struct columns *c, const char *id,
    const char *label, double div, bool is_fixed)
{
	char a[96], b[96];

	for (size_t i = 0; i < (is_fixed ? 2 : set->aggs.n); i++) {
		static const char *const fixed[] = { "mean", "max" };
		const char *word = is_fixed ? fixed[i] : set->aggs.v[i].word;
		bool is_count = !is_fixed &&
		    (set->aggs.v[i].kind == AGG_COUNT ||
			set->aggs.v[i].kind == AGG_NUNIQUE);

		snprintf(a, sizeof a, "%s_%s", id, word);
		snprintf(b, sizeof b, "%s_%s", label, word);
		columns_add(c, a, b, COL_REAL, 0, is_count ? 0 : div);
	}
}

static void
summary_columns(const struct job *j, struct columns *c)
{
	const struct settings *set = j->set;

	columns_add(c, "group", "Process Group Name", COL_TEXT, 0, 0);
	columns_add(c, "dtype", NULL, COL_TEXT, 0, 0);
	agg_columns(set, c, "bytes", "total data communicated (MB)", MB, false);
	agg_columns(set, c, "wall_ns", "wall_time (us)", 1e3, false);
	columns_add(
	    c, "wall_ns_total", "Total wall_time (us)", COL_INT, UNIT_NS, 1e3);
	agg_columns(set, c, "gib_per_s", "throughput (GB/s)", 0, false);
	agg_columns(set, c, "size_imbalance", "size_imbalance", 0, true);
	agg_columns(set, c, "dur_ns_max", "max_rank_dur (us)", 1e3, true);
	agg_columns(set, c, "start_skew_ns", "skew in start time", 1e3, true);
	agg_columns(set, c, "end_skew_ns", "skew in end time", 1e3, true);
	columns_add(c, "count", NULL, COL_INT, UNIT_COUNT, 0);
	columns_add(c, "group_ranks", "Process Group Ranks", COL_TEXT, 0, 0);
	columns_add(c, "collective", "Collective name", COL_TEXT, 0, 0);
	columns_add(c, "group_size", "Group size", COL_INT, 0, 0);
	columns_add(
	    c, "wall_ns_sum", "Total wall_time (ms)", COL_INT, UNIT_NS, 1e6);
	if (j->has_nodes)
		columns_add(c, "node_span", NULL, COL_TEXT, 0, 0);
}

static size_t
put_aggs(const struct job *j, struct cell *row, const double *v, size_t n,
    bool is_fixed)
{
	static const struct agg fixed[] = { { AGG_MEAN, 0, NULL },
		{ AGG_MAX, 0, NULL } };
	const struct agg *aggs = is_fixed ? fixed : j->set->aggs.v;
	size_t naggs = is_fixed ? 2 : j->set->aggs.n;

	for (size_t i = 0; i < naggs; i++)
		row[i] = cell_real(agg_of(&aggs[i], v, n));
	return naggs;
}

static void
summary_row(const struct job *j, struct table *t, const struct alike *a)
{
	const struct sig *s = &j->sigs.v[a->first->sig];
	struct cell *row = table_row(t);
	size_t n = 0;

	row[n++] = cell_text(j->groups.v[a->first->group].pg);
	row[n++] = cell_str(s->dtype);
	n += put_aggs(j, row + n, a->bytes.v, a->bytes.n, false);
	n += put_aggs(j, row + n, a->wall.v, a->wall.n, false);
	row[n++] = cell_int(a->wall_ns);
	n += put_aggs(j, row + n, a->rate.v, a->rate.n, false);
	n += put_aggs(j, row + n, a->imbalance.v, a->imbalance.n, true);
	n += put_aggs(j, row + n, a->dur.v, a->dur.n, true);
	n += put_aggs(j, row + n, a->start.v, a->start.n, true);
	n += put_aggs(j, row + n, a->end.v, a->end.n, true);
	row[n++] = cell_int(a->count);
	row[n++] = cell_str(s->ranks);
	row[n++] = cell_str(s->name);
	row[n++] = cell_num(s->has_n, s->n);
	row[n++] = cell_int(a->wall_ns);
	if (j->has_nodes)
		row[n++] = node_span(j, &j->groups.v[a->first->group]);
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

void
print_summary_all2allv(struct job *j, struct table_dest *d)
{
	struct columns cols = { 0 };
	struct intern *keys = intern_create();
	a2av_vec list = { 0 };
	VEC(struct alike) sums = { 0 };
	struct buf b = { 0 };
	struct table *t;

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
	summary_columns(j, &cols);
	t = table_create("nccl_summary_all2allv", cols.list.v, cols.list.n);
	for (size_t i = 0; i < sums.n; i++)
		summary_row(j, t, &sums.v[i]);
	intern_destroy(keys);
	buf_free(&b);
	table_print(t, d);
	table_destroy(t);
}
