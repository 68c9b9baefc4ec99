/* SPDX-License-Identifier: MIT */
/* Measures of a collective from its records. */
#include "cmd/tl-collective/job.h"

#include <math.h>
#include <stdlib.h>

#include "trace/laws.h"

/*
 * Number of given ranks that should be in it; missing files are one warning,
 * and collectives go on without them. 0: unknown.
 */
static size_t
expected(const struct job *j, const struct coll *c)
{
	const struct pgroup *g = &j->groups.v[c->group];

	if (g->peers.p != NULL)
		return 2;
	if (g->members.n > 0)
		return g->npresent;
	return j->simplified ? j->ranks.n : 0;
}

/* A single rank tells nothing, unless it is alone in its group. */
static bool
is_lone(const struct job *j, const struct coll *c)
{
	const struct pgroup *g = &j->groups.v[c->group];

	return c->n == 1 && g->members.n != 1 &&
	    !(j->simplified && j->ranks.n == 1);
}

int64_t
coll_wait(const struct job *j, const struct coll *c, const struct rec *r)
{
	int64_t ns = coll_last(j, c)->start_ns - r->start_ns;

	return coll_is_sync(j, c) || ns < r->dur_ns ? ns : r->dur_ns;
}

/* How long the median of the others waits for the last one. */
static int64_t
lateness(const struct job *j, const struct coll *c, int64_t *v)
{
	const struct rec *last = coll_last(j, c);
	size_t n = 0;

	for (uint32_t m = 0; m < c->n; m++) {
		const struct rec *r = j->members[c->first + m];

		if (r != last)
			v[n++] = last->start_ns - coll_wait(j, c, r);
	}
	return n > 0 ? last->start_ns - median_i64(v, n) : 0;
}

static void
measure(const struct job *j, struct coll *c, int64_t *scratch)
{
	struct rec **v = j->members + c->first;
	int64_t min_end = rec_end(v[0]), max_end = min_end;
	int64_t sum = 0;

	c->latency_ns = v[0]->dur_ns;
	c->earliest = c->last = 0;
	for (uint32_t m = 0; m < c->n; m++) {
		int64_t end = rec_end(v[m]);

		/* ties: the highest rank is earliest, the lowest last */
		if (v[m]->start_ns <= v[c->earliest]->start_ns)
			c->earliest = m;
		if (v[m]->start_ns > v[c->last]->start_ns)
			c->last = m;
		if (v[m]->dur_ns < c->latency_ns)
			c->latency_ns = v[m]->dur_ns;
		min_end = end < min_end ? end : min_end;
		max_end = end > max_end ? end : max_end;
	}
	for (uint32_t m = 0; m < c->n; m++)
		sum = num_add_max(sum, coll_wait(j, c, v[m]));
	c->end_ns = max_end;
	c->skew_end_ns = max_end - min_end;
	c->wait_sum_ns = sum;
	c->late_ns = lateness(j, c, scratch);
}

static void
check(const struct job *j, struct coll *c)
{
	struct rec **v = j->members + c->first;
	const struct sig *first = rec_sig(j, v[0]);
	size_t want = expected(j, c);

	c->sig = v[0]->sig;
	c->class = (uint8_t)first->class;
	if ((want > 0 && c->n != want) || is_lone(j, c))
		c->flags |= COLL_INCOMPLETE;
	for (uint32_t m = 1; m < c->n; m++)
		if (rec_sig(j, v[m])->whole != first->whole)
			c->flags |= COLL_MISMATCH;
}

/* Each record is in exactly one collective. */
static void
keep_laws(const struct job *j)
{
	int64_t ns = 0, all_ns = 0;
	size_t n = 0;

	for (size_t i = 0; i < j->colls.n; i++) {
		const struct coll *c = &j->colls.v[i];

		n += c->n;
		for (uint32_t m = 0; m < c->n; m++)
			ns = num_add_max(ns, j->members[c->first + m]->dur_ns);
	}
	for (size_t i = 0; i < j->parts.n; i++)
		for (size_t k = 0; k < j->parts.v[i].nrecs; k++)
			all_ns =
			    num_add_max(all_ns, j->parts.v[i].recs[k].dur_ns);
	law_same("nccl_implicit_sync",
	    (struct law_part){ "ranks in collectives", (int64_t)n },
	    (struct law_part){ "collectives of all ranks", (int64_t)j->nrecs });
	law_same("nccl_implicit_sync", (struct law_part){ "their time", ns },
	    (struct law_part){ "that of all ranks", all_ns });
}

void
sync_check(struct job *j)
{
	for (size_t i = 0; i < j->colls.n; i++)
		check(j, &j->colls.v[i]);
}

void
sync_measure(struct job *j)
{
	size_t most = 1;
	int64_t *scratch;

	sync_check(j);
	clocks_align(j);
	for (size_t i = 0; i < j->colls.n; i++)
		if (j->colls.v[i].n > most)
			most = j->colls.v[i].n;
	scratch = xmalloc(most * sizeof *scratch);
	for (size_t i = 0; i < j->colls.n; i++) {
		struct coll *c = &j->colls.v[i];

		measure(j, c, scratch);
		j->nincomplete += (c->flags & COLL_INCOMPLETE) != 0;
		j->nmismatch += (c->flags & COLL_MISMATCH) != 0;
	}
	free(scratch);
	keep_laws(j);
}

bool
coll_counts(const struct job *j, const struct coll *c)
{
	return (c->flags & COLL_INCOMPLETE) == 0 &&
	    ((c->flags & COLL_MISMATCH) == 0 || j->set->keep_mismatch);
}

bool
coll_is_sync(const struct job *j, const struct coll *c)
{
	enum coll_class class = (enum coll_class)c->class;

	return class_is_sync(class) || (j->simplified && class == CLASS_NONE);
}

bool
coll_is_all2allv(const struct job *j, const struct coll *c)
{
	(void)j;
	return c->class == CLASS_ALLTOALLV;
}

bool
coll_is_hlo(const struct job *j, const struct coll *c)
{
	return j->sigs.v[c->sig].instruction.p != NULL;
}

double
gib_per_s(int64_t bytes, int64_t ns)
{
	return bytes != NONE && ns > 0
	    ? (double)bytes / 1073741824.0 / ((double)ns * 1e-9)
	    : NAN;
}

double
coll_algo_bw(const struct job *j, const struct coll *c)
{
	return gib_per_s(j->sigs.v[c->sig].full_bytes, c->latency_ns);
}

double
coll_bus_bw(const struct job *j, const struct coll *c)
{
	return coll_algo_bw(j, c) * j->sigs.v[c->sig].bus_factor;
}
