/* SPDX-License-Identifier: MIT */
/* Bytes from each rank to each, from the split sizes of all_to_allv. */
#include "cmd/tl-collective/tables.h"

#include <stdlib.h>

struct pair {
	int64_t src, dst, bytes, count;
	double mean_bytes;
};

/* clang-format off */
static const struct field fields[] = {
	OWN(INT("src_rank", NULL), struct pair, src),
	OWN(INT("dst_rank", NULL), struct pair, dst),
	OWN(COLUMN("sent_bytes_total", "total_sent_MB", COL_INT, UNIT_BYTES, COL_SHARE, MB), struct pair, bytes),
	OWN(REAL_BYTES("sent_bytes_mean", "avg_sent_MB"), struct pair, mean_bytes),
	OWN(COUNTS("count", NULL), struct pair, count),
};
/* clang-format on */

static int
by_ranks(const void *pa, const void *pb)
{
	const struct pair *a = pa, *b = pb;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return a->dst < b->dst ? -1 : a->dst > b->dst;
}

struct heat {
	VEC(struct pair) list;
	struct map index;
	int_vec splits;
	uint64_t nbad;
};

static void
add_record(struct heat *h, const struct job *j, const struct rec *r)
{
	const struct sig *s = rec_sig(j, r);
	const struct pgroup *g = &j->groups.v[s->group];
	bool is_cut;

	if (s->in_split.p == NULL ||
	    !list_ints(s->in_split, &h->splits, &is_cut) || is_cut ||
	    (int64_t)h->splits.n != s->n || s->elem_bytes == 0 ||
	    (g->listed.n > 0 && g->listed.n != h->splits.n)) {
		h->nbad++;
		return;
	}
	for (size_t i = 0; i < h->splits.n; i++) {
		int64_t dst = g->listed.n > 0 ? g->listed.v[i] : (int64_t)i;
		int64_t src = rec_rank(j, r), bytes;
		bool is_new;
		uint64_t *at = map_put(
		    &h->index, (uint64_t)src << 32 | (uint32_t)dst, &is_new);

		if (is_new) {
			*at = h->list.n;
			vec_push(
			    &h->list, ((struct pair){ src, dst, 0, 0, 0 }));
		}
		if (__builtin_mul_overflow(
			h->splits.v[i], s->elem_bytes, &bytes) ||
		    !num_add(
			h->list.v[*at].bytes, bytes, &h->list.v[*at].bytes))
			h->list.v[*at].bytes = INT64_MAX;
		h->list.v[*at].count++;
	}
}

static void
fill(struct sheet_rows *s, struct job *j)
{
	struct heat h = { 0 };

	for (size_t i = 0; i < j->parts.n; i++)
		for (size_t k = 0; k < j->parts.v[i].nrecs; k++) {
			const struct rec *r = &j->parts.v[i].recs[k];

			if (rec_sig(j, r)->class == CLASS_ALLTOALLV)
				add_record(&h, j, r);
		}
	if (h.nbad > 0)
		report(MSG_SPLITS_UNKNOWN, h.nbad);
	stable_sort(h.list.v, h.list.n, sizeof *h.list.v, by_ranks);
	for (size_t i = 0; i < h.list.n; i++) {
		struct pair *p = &h.list.v[i];

		p->mean_bytes = (double)p->bytes / (double)p->count;
		put_row(s, &(struct row){ .own = p });
	}
	vec_free(&h.list);
	vec_free(&h.splits);
	map_free(&h.index);
}

const struct table_def table_heatmap = {
	.name = "nccl_all2allv_heatmap",
	.is_about = coll_is_all2allv,
	FIELDS(fields),
	.fill = fill,
};
