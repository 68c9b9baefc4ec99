/* SPDX-License-Identifier: MIT */
/*
 * Offsets between the ranks' clocks. Ranks leave a collective within a few
 * microseconds of one another, however late one of them came; so what a rank's
 * ends differ from the median of all ends by, in the median over many
 * collectives, is its clock's offset. Where groups overlap only in part the
 * offsets found so far are taken out and it is done again.
 */
#include "cmd/tl-collective/job.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLE 4000 /* collectives, evenly over the job */
#define ROUNDS_MAX 50
#define SETTLED_NS 100
#define OFF_NS 50000.0 /* less is lost in how collectives end */
#define OFF_U 4.0      /* and in the uncertainty */

struct clocks {
	struct job *j;
	VEC(uint32_t) colls;
	int_vec *of; /* what is left of each, by rank */
	int64_t *ends;
};

/* Among GPUs of one process all ends are on one clock. */
static bool
has_clocks(const struct job *j, const struct coll *c)
{
	const struct rank_info *ranks = j->ranks.v;
	uint32_t first = ranks[rec_pos(j, j->members[c->first])].clock;

	for (uint32_t m = 1; m < c->n; m++)
		if (ranks[rec_pos(j, j->members[c->first + m])].clock != first)
			return true;
	return false;
}

static bool
tells_time(const struct job *j, const struct coll *c)
{
	return c->n > 1 && (c->flags & COLL_INCOMPLETE) == 0 &&
	    coll_is_sync(j, c) && has_clocks(j, c);
}

static void
choose(struct clocks *k)
{
	struct job *j = k->j;
	size_t n = 0, step;

	for (size_t i = 0; i < j->colls.n; i++)
		n += tells_time(j, &j->colls.v[i]);
	step = n / SAMPLE + 1;
	n = 0;
	for (size_t i = 0; i < j->colls.n; i++)
		if (tells_time(j, &j->colls.v[i]) && n++ % step == 0)
			vec_push(&k->colls, (uint32_t)i);
}

static void
measure(struct clocks *k)
{
	struct job *j = k->j;

	for (size_t r = 0; r < j->ranks.n; r++)
		k->of[r].n = 0;
	for (size_t i = 0; i < k->colls.n; i++) {
		const struct coll *c = &j->colls.v[k->colls.v[i]];
		int64_t middle;

		for (uint32_t m = 0; m < c->n; m++) {
			const struct rec *r = j->members[c->first + m];

			k->ends[m] =
			    rec_end(r) - j->ranks.v[rec_pos(j, r)].offset_ns;
		}
		middle = median_i64(k->ends, c->n);
		for (uint32_t m = 0; m < c->n; m++) {
			const struct rec *r = j->members[c->first + m];
			const struct rank_info *info =
			    &j->ranks.v[rec_pos(j, r)];

			vec_push(&k->of[info->clock],
			    rec_end(r) - info->offset_ns - middle);
		}
	}
}

/* The largest step taken. */
static int64_t
correct(struct clocks *k)
{
	struct job *j = k->j;
	int64_t most = 0;

	for (size_t r = 0; r < j->ranks.n; r++) {
		int_vec *of = &k->of[r];
		struct rank_info *info = &j->ranks.v[r];
		const struct rank_info *first = &j->ranks.v[info->clock];
		int64_t step;

		if (first != info) {
			info->offset_ns = first->offset_ns;
			info->u_ns = first->u_ns;
			info->nclock = first->nclock;
		}
		if (of->n == 0)
			continue;
		step = median_i64(of->v, of->n);
		info->offset_ns += step;
		for (size_t i = 0; i < of->n; i++)
			of->v[i] = llabs(of->v[i] - step);
		info->u_ns = median_i64(of->v, of->n);
		info->nclock = of->n;
		if (llabs(step) > most)
			most = llabs(step);
	}
	return most;
}

/* Clocks are told against most of them: the lower median is 0. */
static void
centre(struct job *j)
{
	int_vec offsets = { 0 };

	for (size_t r = 0; r < j->ranks.n; r++)
		if (j->ranks.v[r].nclock > 0)
			vec_push(&offsets, j->ranks.v[r].offset_ns);
	sort_i64(offsets.v, offsets.n);
	for (size_t r = 0; r < j->ranks.n; r++)
		if (j->ranks.v[r].nclock > 0)
			j->ranks.v[r].offset_ns -=
			    offsets.v[(offsets.n - 1) / 2];
	vec_free(&offsets);
}

static void
take_out(struct job *j)
{
	for (size_t i = 0; i < j->parts.n; i++) {
		struct part *p = &j->parts.v[i];
		int64_t offset = j->ranks.v[p->pos].offset_ns;

		for (size_t k = 0; k < p->nrecs; k++)
			p->recs[k].start_ns -= offset;
		p->shift_ns -= offset;
	}
}

/* ---- what the offsets mean ---- */

/* How far a clock is off, anywhere within the job. */
static double
offset_most(const struct job *j, const struct rank_info *i)
{
	return fabs((double)i->offset_ns) +
	    fabs(i->drift) * (double)j->span_ns / 2;
}

static bool
is_off(const struct job *j, const struct rank_info *i)
{
	return i->u_ns != NONE &&
	    offset_most(j, i) > fmax(OFF_NS, OFF_U * (double)i->u_ns);
}

static enum agreement
compare_clocks(const struct job *j, uint32_t pa, uint32_t pb)
{
	const struct rank_info *a = &j->ranks.v[pa], *b = &j->ranks.v[pb];
	struct rank_info between = {
		.offset_ns = a->offset_ns - b->offset_ns,
		.drift = a->drift - b->drift,
		.u_ns = (int64_t)hypot((double)a->u_ns, (double)b->u_ns),
	};

	if (a->clock == b->clock)
		return CLOCKS_AGREE;
	if (a->u_ns == NONE || b->u_ns == NONE || a->island != b->island)
		return CLOCKS_UNKNOWN;
	if (j->set->align_clocks || !is_off(j, &between))
		return CLOCKS_AGREE;
	return CLOCKS_OFF;
}

/* What is off is said before what is not known. */
static enum agreement
clocks_of_ranks(const struct job *j, const uint32_t *pos, size_t n)
{
	enum agreement all = CLOCKS_AGREE;

	for (size_t a = 0; a < n && all != CLOCKS_OFF; a++)
		for (size_t b = a + 1; b < n && all != CLOCKS_OFF; b++) {
			enum agreement two = compare_clocks(j, pos[a], pos[b]);

			all = two != CLOCKS_AGREE ? two : all;
		}
	return all;
}

static void
judge_groups(struct job *j)
{
	uint32_t *seen = xcalloc(j->ranks.n + 1, sizeof *seen);
	VEC(uint32_t) pos = { 0 };

	for (size_t g = 0; g < j->groups.n; g++) {
		struct pgroup *group = &j->groups.v[g];

		pos.n = 0;
		for (size_t i = 0; i < group->ncolls; i++) {
			const struct coll *c =
			    &j->colls.v[group->first_coll + i];

			for (uint32_t m = 0; m < c->n; m++) {
				uint32_t at =
				    rec_pos(j, j->members[c->first + m]);

				if (seen[at] != g + 1)
					vec_push(&pos, at);
				seen[at] = (uint32_t)g + 1;
			}
		}
		group->clocks = (uint8_t)clocks_of_ranks(j, pos.v, pos.n);
	}
	vec_free(&pos);
	free(seen);
}

/*
 * The last one's start is set against the others': both clocks are in error,
 * and what is not subtracted is an error too.
 */
int64_t
coll_u_ns(const struct job *j, const struct coll *c)
{
	uint32_t last = rec_pos(j, coll_last(j, c));
	const struct rank_info *a = &j->ranks.v[last];
	double square = 0, offset = 0, n = c->n - 1;

	for (uint32_t m = 0; m < c->n; m++) {
		uint32_t pos = rec_pos(j, j->members[c->first + m]);
		const struct rank_info *b = &j->ranks.v[pos];

		if (b->clock == a->clock)
			continue;
		if (compare_clocks(j, last, pos) == CLOCKS_UNKNOWN)
			return NONE;
		square += (double)a->u_ns * (double)a->u_ns +
		    (double)b->u_ns * (double)b->u_ns;
		offset += (double)(a->offset_ns - b->offset_ns);
	}
	if (c->n < 2)
		return 0;
	offset = j->set->align_clocks ? 0 : offset / n;
	return (int64_t)ceil(sqrt(square / n + offset * offset));
}

static void
tell(const struct job *j)
{
	size_t worst = 0, n = 0;

	for (size_t r = 0; r < j->ranks.n; r++) {
		const struct rank_info *info = &j->ranks.v[r];

		n += info->is_off;
		if (info->is_off &&
		    (!j->ranks.v[worst].is_off ||
			offset_most(j, info) >
			    offset_most(j, &j->ranks.v[worst])))
			worst = r;
	}
	if (n > 0) {
		struct buf ms = { 0 };

		buf_printf(
		    &ms, "%.3f ms", (double)j->ranks.v[worst].offset_ns / 1e6);
		report(MSG_CLOCKS_OFF, n, j->ranks.v[worst].rank, buf_str(&ms));
		buf_free(&ms);
	}
}

static void
settle(struct job *j)
{
	for (size_t r = 0; r < j->ranks.n; r++) {
		struct rank_info *i = &j->ranks.v[r];

		if (i->nclock == 0)
			i->u_ns = i->island = NONE;
		i->is_off = is_off(j, i);
	}
	judge_groups(j);
}

void
clocks_align(struct job *j)
{
	struct clocks k = { .j = j };
	size_t most = 1;

	k.of = xcalloc(j->ranks.n + 1, sizeof *k.of);
	choose(&k);
	for (size_t i = 0; i < k.colls.n; i++)
		if (j->colls.v[k.colls.v[i]].n > most)
			most = j->colls.v[k.colls.v[i]].n;
	k.ends = xmalloc(most * sizeof *k.ends);
	for (int round = 0; round < ROUNDS_MAX && k.colls.n > 0; round++) {
		measure(&k);
		if (correct(&k) < SETTLED_NS)
			break;
	}
	centre(j);
	settle(j);
	if (j->set->align_clocks)
		take_out(j);
	else
		tell(j);
	for (size_t r = 0; r < j->ranks.n; r++)
		vec_free(&k.of[r]);
	vec_free(&k.colls);
	free(k.of);
	free(k.ends);
}
