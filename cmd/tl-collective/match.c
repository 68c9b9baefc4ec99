/* SPDX-License-Identifier: MIT */
/*
 * Matches collectives over the ranks of a group: by Seq if all records have
 * one, by order if all ranks did the same, by instruction, else by alignment.
 */
#include "cmd/tl-collective/job.h"

#include <stdlib.h>

/* Records of one group, by rank and time. */
struct members {
	struct rec **recs; /* of all groups */
	size_t *starts;    /* of each group */
};

/* Range of one rank in a group. */
struct stretch {
	struct rec **v;
	size_t n;
};
typedef VEC(struct stretch) stretch_vec;

static void
gather(const struct job *j, struct members *m)
{
	size_t *fill;

	m->recs = xmalloc(j->nrecs * sizeof *m->recs + 1);
	m->starts = xcalloc(j->groups.n + 1, sizeof *m->starts);
	for (size_t i = 0; i < j->parts.n; i++)
		for (size_t k = 0; k < j->parts.v[i].nrecs; k++)
			m->starts[rec_sig(j, &j->parts.v[i].recs[k])->group +
			    1]++;
	for (size_t g = 0; g < j->groups.n; g++)
		m->starts[g + 1] += m->starts[g];
	fill = xmalloc((j->groups.n + 1) * sizeof *fill);
	memcpy(fill, m->starts, (j->groups.n + 1) * sizeof *fill);
	for (size_t i = 0; i < j->parts.n; i++)
		for (size_t k = 0; k < j->parts.v[i].nrecs; k++) {
			struct rec *r = &j->parts.v[i].recs[k];

			m->recs[fill[rec_sig(j, r)->group]++] = r;
		}
	free(fill);
}

static void
stretches(const struct job *j, struct rec **v, size_t n, stretch_vec *out)
{
	out->n = 0;
	for (size_t i = 0; i < n;) {
		size_t k = i;

		while (k < n && rec_pos(j, v[k]) == rec_pos(j, v[i]))
			k++;
		vec_push(out, ((struct stretch){ v + i, k - i }));
		i = k;
	}
}

/* ---- by number ---- */

/* Numbers may repeat (coalesced calls): then the repetition counts, too. */
struct numbered {
	int64_t key; /* seq << 24 | repetition */
	struct rec *rec;
};

static int
by_key(const void *pa, const void *pb)
{
	const struct numbered *a = pa, *b = pb;

	return a->key < b->key ? -1 : a->key > b->key;
}

typedef VEC(struct numbered) numbered_vec;

static int64_t
seq_of(const struct job *j, const struct rec *r)
{
	(void)j;
	return r->seq;
}

static int64_t
match_of(const struct job *j, const struct rec *r)
{
	return rec_sig(j, r)->match;
}

static void
number_stretch(const struct job *j, const struct stretch *s,
    int64_t (*of)(const struct job *j, const struct rec *r), numbered_vec *out)
{
	int64_t last = -1, again = 0;

	out->n = 0;
	for (size_t i = 0; i < s->n; i++)
		vec_push(
		    out, ((struct numbered){ of(j, s->v[i]) << 24, s->v[i] }));
	stable_sort(out->v, out->n, sizeof *out->v, by_key);
	for (size_t i = 0; i < out->n; i++) {
		again = out->v[i].key == last ? again + 1 : 0;
		last = out->v[i].key;
		out->v[i].key += again & 0xffffff;
	}
}

/* Gives each record the index of its collective; returns their number. */
static size_t
match_by_seq(const struct job *j, const stretch_vec *ranks)
{
	numbered_vec list = { 0 };
	int_vec keys = { 0 };
	size_t nfirst = ranks->v[0].n, n = 0;

	for (size_t i = 0; i < ranks->n; i++) {
		number_stretch(j, &ranks->v[i], seq_of, &list);
		for (size_t k = 0; k < list.n; k++) /* most equal the first */
			if (i == 0 || k >= nfirst || keys.v[k] != list.v[k].key)
				vec_push(&keys, list.v[k].key);
	}
	sort_i64(keys.v, keys.n);
	for (size_t i = 0; i < keys.n; i++)
		if (i == 0 || keys.v[i] != keys.v[n - 1])
			keys.v[n++] = keys.v[i];
	for (size_t i = 0; i < ranks->n; i++) {
		size_t at = 0;

		number_stretch(j, &ranks->v[i], seq_of, &list);
		for (size_t k = 0; k < list.n; k++) {
			while (keys.v[at] < list.v[k].key)
				at++;
			list.v[k].rec->seq = (uint32_t)at;
		}
	}
	vec_free(&keys);
	vec_free(&list);
	return n;
}

static bool
all_have_seq(struct rec **v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i]->seq == 0)
			return false;
	return true;
}

/* ---- by order ---- */

static bool
same_sequences(const struct job *j, const stretch_vec *ranks)
{
	const struct stretch *a = &ranks->v[0];

	for (size_t i = 1; i < ranks->n; i++) {
		const struct stretch *b = &ranks->v[i];

		if (a->n != b->n)
			return false;
		for (size_t k = 0; k < a->n; k++)
			if (rec_sig(j, a->v[k])->match !=
			    rec_sig(j, b->v[k])->match)
				return false;
	}
	return true;
}

static size_t
match_by_order(const stretch_vec *ranks)
{
	for (size_t i = 0; i < ranks->n; i++)
		for (size_t k = 0; k < ranks->v[i].n; k++)
			ranks->v[i].v[k]->seq = (uint32_t)k;
	return ranks->v[0].n;
}

/*
 * XLA's collectives may be on several GPU streams: if all ranks ran the same
 * instructions equally often, runs are matched one by one. False: they did not.
 */
static bool
match_by_instruction(const struct job *j, const stretch_vec *ranks)
{
	numbered_vec first = { 0 }, list = { 0 };
	bool is_same = rec_sig(j, ranks->v[0].v[0])->instruction.p != NULL;

	number_stretch(j, &ranks->v[0], match_of, &first);
	for (size_t k = 0; k < ranks->v[0].n; k++)
		ranks->v[0].v[k]->seq = (uint32_t)k;
	for (size_t i = 1; i < ranks->n && is_same; i++) {
		number_stretch(j, &ranks->v[i], match_of, &list);
		is_same = list.n == first.n;
		for (size_t k = 0; k < list.n && is_same; k++) {
			is_same = list.v[k].key == first.v[k].key;
			list.v[k].rec->seq = first.v[k].rec->seq;
		}
	}
	vec_free(&first);
	vec_free(&list);
	return is_same;
}

/* ---- by alignment ---- */

static void
items_of(const struct job *j, const struct stretch *s, struct align_item *out)
{
	for (size_t i = 0; i < s->n; i++)
		out[i] = (struct align_item){ rec_sig(j, s->v[i])->match,
			rec_end(s->v[i]) };
}

/*
 * Aligns each rank with the longest. What that lacks goes before the next one
 * that both have: extras[i] is how many precede base i.
 */
static size_t
match_by_alignment(const struct job *j, const stretch_vec *ranks)
{
	size_t longest = 0, n, index = 0;
	struct align_item *base, *seq;
	uint32_t *extras, *place;
	int64_t *of;

	for (size_t i = 1; i < ranks->n; i++)
		if (ranks->v[i].n > ranks->v[longest].n)
			longest = i;
	n = ranks->v[longest].n;
	base = xmalloc((n + 1) * sizeof *base);
	seq = xmalloc((n + 1) * sizeof *seq);
	of = xmalloc((n + 1) * sizeof *of);
	extras = xcalloc(n + 1, sizeof *extras);
	place = xcalloc(n + 1, sizeof *place);
	items_of(j, &ranks->v[longest], base);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < ranks->n; i++) {
			const struct stretch *s = &ranks->v[i];
			uint32_t run = 0;
			size_t next = 0;

			items_of(j, s, seq);
			align_sequences(base, n, seq, s->n, of);
			for (size_t k = 0; k < s->n; k++) {
				run = of[k] < 0 ? run + 1 : 0;
				if (of[k] >= 0)
					next = (size_t)of[k] + 1;
				if (pass == 0 && run > extras[next])
					extras[next] = run;
				if (pass == 1)
					s->v[k]->seq = of[k] >= 0
					    ? place[of[k]]
					    : (next > 0 ? place[next - 1] + 1
							: 0) +
						run - 1;
			}
		}
		for (size_t i = 0; i < n && pass == 0; i++) {
			index += extras[i];
			place[i] = (uint32_t)index++;
		}
	}
	index += extras[n];
	free(base);
	free(seq);
	free(of);
	free(extras);
	free(place);
	return index;
}

/* ---- collectives ---- */

static size_t
match_group(const struct job *j, struct pgroup *g, struct rec **v, size_t n)
{
	stretch_vec ranks = { 0 };
	size_t ncolls;

	stretches(j, v, n, &ranks);
	if (all_have_seq(v, n)) {
		g->by_seq = true;
		ncolls = match_by_seq(j, &ranks);
	} else if (same_sequences(j, &ranks)) {
		ncolls = match_by_order(&ranks);
	} else if (match_by_instruction(j, &ranks)) {
		g->by_instruction = true;
		ncolls = ranks.v[0].n;
	} else {
		g->was_aligned = true;
		ncolls = match_by_alignment(j, &ranks);
	}
	vec_free(&ranks);
	return ncolls;
}

/* Replaces rec->seq, the index in the group, by the collective's number. */
static void
make_colls(struct job *j, struct members *m)
{
	uint32_t at = 0;

	for (size_t g = 0; g < j->groups.n; g++) {
		size_t first = j->groups.v[g].first_coll;

		for (size_t i = m->starts[g]; i < m->starts[g + 1]; i++) {
			m->recs[i]->seq += (uint32_t)first;
			j->colls.v[m->recs[i]->seq].n++;
		}
	}
	for (size_t i = 0; i < j->colls.n; i++) {
		j->colls.v[i].first = at;
		at += j->colls.v[i].n;
		j->colls.v[i].n = 0;
	}
	j->members = xmalloc(j->nrecs * sizeof *j->members + 1);
	for (size_t i = 0; i < j->nrecs; i++) {
		struct coll *c = &j->colls.v[m->recs[i]->seq];

		j->members[c->first + c->n++] = m->recs[i];
	}
}

static int
by_id(const void *pa, const void *pb)
{
	const struct rec *const *a = pa, *const *b = pb;

	return (*a)->id < (*b)->id ? -1 : (*a)->id > (*b)->id;
}

static void
order_colls(struct job *j)
{
	uint8_t *seen = xcalloc(j->colls.n + 1, 1);
	VEC(struct rec *) v = { 0 };

	for (size_t i = 0; i < j->parts.n; i++) {
		struct part *p = &j->parts.v[i];

		v.n = 0;
		for (size_t k = 0; k < p->nrecs; k++)
			if (!seen[p->recs[k].seq])
				vec_push(&v, &p->recs[k]);
		if (v.n == 0)
			continue;
		qsort(v.v, v.n, sizeof *v.v, by_id);
		for (size_t k = 0; k < v.n; k++)
			if (!seen[v.v[k]->seq]) {
				seen[v.v[k]->seq] = 1;
				vec_push(&j->order, v.v[k]->seq);
			}
	}
	vec_free(&v);
	free(seen);
}

/* Makes collectives from indices of records and their number per group. */
static void
build(struct job *j, struct members *m)
{
	j->colls.n = j->order.n = 0;
	free(j->members);
	for (size_t g = 0; g < j->groups.n; g++) {
		struct pgroup *group = &j->groups.v[g];

		group->first_coll = j->colls.n;
		if (j->colls.n + group->ncolls >= COLL_NONE)
			die("too many collectives");
		for (size_t i = 0; i < group->ncolls; i++)
			vec_push(&j->colls,
			    ((struct coll){
				.group = (uint32_t)g, .index = (uint32_t)i }));
	}
	make_colls(j, m);
	order_colls(j);
	free(m->recs);
	free(m->starts);
}

void
match_all(struct job *j)
{
	struct members m;

	gather(j, &m);
	for (size_t g = 0; g < j->groups.n; g++)
		j->groups.v[g].ncolls = match_group(j, &j->groups.v[g],
		    m.recs + m.starts[g], m.starts[g + 1] - m.starts[g]);
	build(j, &m);
}

/* ---- matching again ---- */

void
match_get(const struct job *j, size_t group, place_vec *out)
{
	size_t first = j->groups.v[group].first_coll;
	struct members m;

	gather(j, &m);
	out->n = 0;
	for (size_t i = m.starts[group]; i < m.starts[group + 1]; i++)
		vec_push(out,
		    ((struct match_place){ rec_pos(j, m.recs[i]),
			(int64_t)m.recs[i]->seq - (int64_t)first }));
	free(m.recs);
	free(m.starts);
}

static int
by_index(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/* Closes gaps in the indices. */
static size_t
rank_indices(const place_vec *places, int64_t *of)
{
	size_t n = 0;

	for (size_t i = 0; i < places->n; i++)
		of[i] = places->v[i].index;
	sort_i64(of, places->n);
	for (size_t i = 0; i < places->n; i++)
		if (n == 0 || of[i] != of[n - 1])
			of[n++] = of[i];
	return n;
}

void
match_set(struct job *j, size_t group, const place_vec *places)
{
	int64_t *of = xmalloc((places->n + 1) * sizeof *of);
	size_t n = rank_indices(places, of), k = 0;
	struct members m;

	gather(j, &m);
	for (size_t g = 0; g < j->groups.n; g++)
		for (size_t i = m.starts[g]; i < m.starts[g + 1]; i++)
			m.recs[i]->seq -= (uint32_t)j->groups.v[g].first_coll;
	for (size_t i = m.starts[group]; i < m.starts[group + 1]; i++, k++) {
		const int64_t *at =
		    bsearch(&places->v[k].index, of, n, sizeof *of, by_index);

		m.recs[i]->seq = (uint32_t)(at - of);
	}
	j->groups.v[group].ncolls = n;
	build(j, &m);
	free(of);
}
