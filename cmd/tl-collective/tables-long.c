/* SPDX-License-Identifier: MIT */
/* Each collective on each rank, and what those that do the same come to. */
#include "cmd/tl-collective/tables.h"

#include <math.h>
#include <stdlib.h>

static const struct column long_columns[] = {
	TEXT("collective_id", NULL),
	INT("index_in_group", NULL),
	INT("rank", NULL),
	TEXT("group", "Process Group Name"),
	TEXT("group_ranks", "Process Group Ranks"),
	TEXT("collective", "Collective name"),
	INT("group_size", "Group size"),
	TEXT("dtype", NULL),
	INT("in_nelems", "In msg nelems"),
	BYTES("in_bytes", "In msg size (MB)"),
	INT("out_nelems", "Out msg nelems"),
	BYTES("out_bytes", "Out msg size (MB)"),
	TEXT("in_split", "In split size"),
	TEXT("out_split", "Out split size"),
	TEXT("gpu_stream", "stream"),
	{ "ts_ns", "ts", COL_INT, UNIT_NS, COL_POSITION, 1e3 },
	US("dur_ns", "dur"),
};

static void
long_row(struct job *j, struct table *t, const struct rec *r)
{
	const struct sig *s = rec_sig(j, r);
	const struct coll *c = &j->colls.v[r->seq];
	struct cell id = id_cell(j, c, t);
	struct cell *row = table_row(t);
	size_t n = 0;

	row[n++] = id;
	row[n++] = cell_int(c->index);
	row[n++] = cell_int(rec_rank(j, r));
	row[n++] = cell_group(j, s);
	row[n++] = cell_str(s->ranks);
	row[n++] = cell_str(s->name);
	row[n++] = cell_num(s->has_n, s->n);
	row[n++] = cell_str(s->dtype);
	row[n++] = cell_num(s->has_in, s->in);
	row[n++] = cell_bytes(sig_in_bytes(s));
	row[n++] = cell_num(s->has_out, s->out);
	row[n++] = cell_bytes(sig_out_bytes(s));
	row[n++] = cell_str(s->in_split);
	row[n++] = cell_str(s->out_split);
	row[n++] = cell_str(s->gpu_stream);
	row[n++] = cell_start(j, r);
	row[n++] = cell_int(r->dur_ns);
	put_node_id(row + n, j, rec_rank(j, r));
	put_node_span(row + n + 1, j, s->group);
}

static int
by_id(const void *pa, const void *pb)
{
	const struct rec *const *a = pa, *const *b = pb;

	return (*a)->id < (*b)->id ? -1 : (*a)->id > (*b)->id;
}

static void
fill_long(struct job *j, struct table *t)
{
	VEC(struct rec *) v = { 0 };

	for (size_t i = 0; i < j->parts.n; i++) {
		v.n = 0;
		for (size_t k = 0; k < j->parts.v[i].nrecs; k++)
			vec_push(&v, &j->parts.v[i].recs[k]);
		if (v.n > 0)
			qsort(v.v, v.n, sizeof *v.v, by_id);
		for (size_t k = 0; k < v.n; k++)
			long_row(j, t, v.v[k]);
	}
	vec_free(&v);
}

const struct table_def table_long = {
	.name = "nccl_long",
	COLUMNS(long_columns),
	.nodes = WITH_NODE,
	.is_streamed = true,
	.fill = fill_long,
};

/* ---- summary ---- */

static const struct column summary_columns[] = {
	INT("rank", NULL),
	TEXT("group", "Process Group Name"),
	TEXT("group_ranks", "Process Group Ranks"),
	TEXT("collective", "Collective name"),
	INT("group_size", "Group size"),
	TEXT("dtype", NULL),
	INT("in_nelems", "In msg nelems"),
	INT("out_nelems", "Out msg nelems"),
	TEXT("in_split", "In split size"),
	TEXT("out_split", "Out split size"),
	TEXT("gpu_stream", "stream"),
	BYTES("in_bytes", "In msg size (MB)_first"),
	BYTES("out_bytes", "Out msg size (MB)_first"),
	{ "dur_ns_sum", "dur_sum", COL_INT, UNIT_NS, COL_SHARE, 1e3 },
	REAL_US("dur_ns_mean", "dur_mean"),
	REAL_US("dur_ns_std", "dur_std"),
	US("dur_ns_min", "dur_min"),
	US("dur_ns_max", "dur_max"),
	COUNTS("count", "operation_count"),
};

struct sum {
	uint32_t part, sig;
	uint64_t order;
	int64_t count, sum_ns, min_ns, max_ns;
	double mean, squares; /* Welford's */
};

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

	if (a->sum_ns != b->sum_ns)
		return a->sum_ns > b->sum_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void
summary_row(
    const struct job *j, struct table *t, const struct sum *m, bool nodes)
{
	const struct sig *s = &j->sigs.v[m->sig];
	int64_t rank = j->parts.v[m->part].rank;
	struct cell *row = table_row(t);
	size_t n = 0;

	row[n++] = cell_int(rank);
	row[n++] = cell_str(s->pg);
	row[n++] = cell_str(s->ranks);
	row[n++] = cell_str(s->name);
	row[n++] = cell_num(s->has_n, s->n);
	row[n++] = cell_str(s->dtype);
	row[n++] = cell_num(s->has_in, s->in);
	row[n++] = cell_num(s->has_out, s->out);
	row[n++] = cell_str(s->in_split);
	row[n++] = cell_str(s->out_split);
	row[n++] = cell_str(s->gpu_stream);
	row[n++] = cell_bytes(sig_in_bytes(s));
	row[n++] = cell_bytes(sig_out_bytes(s));
	row[n++] = cell_int(m->sum_ns);
	row[n++] = cell_real((double)m->sum_ns / (double)m->count);
	row[n++] = m->count > 1
	    ? cell_real(sqrt(m->squares / (double)(m->count - 1)))
	    : cell_none();
	row[n++] = cell_int(m->min_ns);
	row[n++] = cell_int(m->max_ns);
	row[n++] = cell_int(m->count);
	if (nodes) {
		put_node_id(row + n, j, rank);
		put_node_span(row + n + 1, j, s->group);
	}
}

static void
fill_sums(const struct job *j, struct table *t, bool nodes)
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
				    ((struct sum){ .part = (uint32_t)i,
					.sig = r->sig,
					.order = sums.n,
					.min_ns = INT64_MAX,
					.max_ns = INT64_MIN }));
			}
			add_dur(&sums.v[*at], r->dur_ns);
		}
	}
	if (sums.n > 0)
		qsort(sums.v, sums.n, sizeof *sums.v, by_total);
	for (size_t i = 0; i < sums.n; i++)
		summary_row(j, t, &sums.v[i], nodes);
	map_free(&index);
	vec_free(&sums);
}

static void
fill_summary(struct job *j, struct table *t)
{
	fill_sums(j, t, true);
}

const struct table_def table_summary_long = {
	.name = "nccl_summary_long",
	COLUMNS(summary_columns),
	.nodes = WITH_NODE,
	.fill = fill_summary,
};

/* One file's, as a report of it has it: without nodes. */
static void
fill_analysis(struct job *j, struct table *t)
{
	fill_sums(j, t, false);
}

static bool
is_single(const struct job *j)
{
	return j->ranks.n == 1;
}

const struct table_def table_coll_analysis = {
	.name = "coll_analysis",
	.is_wanted = is_single,
	COLUMNS(summary_columns),
	.fill = fill_analysis,
};
