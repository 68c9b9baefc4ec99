/* SPDX-License-Identifier: MIT */
/* Decides from the solved clocks which groups can be judged. */
#include "cmd/tl-collective/clock.h"

#include <math.h>
#include <stdlib.h>

#include "trace/collective.h"

#define OFF_NS 50000.0        /* less may be the way collectives end, */
#define OFF_PROVEN_NS 10000.0 /* unless causality proves it, */
#define OFF_U 4.0             /* or the uncertainty */
#define ISLANDS_NAMED 8

/* ---- time ---- */

int64_t
clock_true(const struct rank_info *i, int64_t ns)
{
	if (i->u_ns == NONE)
		return ns;
	if (__builtin_sub_overflow(ns, i->offset_ns, &ns))
		die("the clock of rank %" PRId64 " is out of range", i->rank);
	return clock_steady(ns, i->middle_ns, i->drift);
}

/* A duration is no time and stays. */
static void
take_out(struct job *j)
{
	for (size_t i = 0; i < j->parts.n; i++) {
		struct part *p = &j->parts.v[i];
		const struct rank_info *of = &j->ranks.v[p->pos];

		if (of->drift != 0)
			p->own_ns = xmalloc((p->nrecs + 1) * sizeof *p->own_ns);
		for (size_t k = 0; k < p->nrecs; k++) {
			struct rec *r = &p->recs[k];

			if (of->drift != 0)
				p->own_ns[k] = r->start_ns - p->shift_ns;
			r->start_ns = clock_true(of, r->start_ns);
		}
		p->shift_ns -= of->offset_ns;
	}
}

/* ---- clocks that are off ---- */

/* How far a clock is off, at most, within the job. */
static double
offset_most(const struct rank_info *i)
{
	return fabs((double)i->offset_ns) +
	    fabs(i->drift) * (double)i->span_ns / 2;
}

double
clock_u_ns(const struct rank_info *i)
{
	return hypot((double)i->u_ns, i->u_drift * (double)i->span_ns / 2);
}

static bool
is_off(const struct rank_info *i, double least_ns)
{
	return i->u_ns != NONE &&
	    offset_most(i) > fmax(least_ns, OFF_U * clock_u_ns(i));
}

/* Whether nothing compares two of the clocks. */
static bool
are_apart(const struct rank_info *a, const struct rank_info *b)
{
	return clocks_are_apart(
	    a->u_ns != NONE, a->island, b->u_ns != NONE, b->island);
}

static enum agreement
compare_clocks(const struct job *j, uint32_t pa, uint32_t pb)
{
	const struct rank_info *a = &j->ranks.v[pa], *b = &j->ranks.v[pb];
	struct rank_info between;

	if (a->clock == b->clock)
		return CLOCKS_AGREE;
	if (are_apart(a, b))
		return CLOCKS_UNKNOWN;
	between = (struct rank_info){
		.offset_ns = whole_ns(ends_between(a->offset_ns, b->offset_ns)),
		.drift = a->drift - b->drift,
		.u_drift = hypot(a->u_drift, b->u_drift),
		.span_ns = a->span_ns,
		.u_ns = whole_ns(hypot((double)a->u_ns, (double)b->u_ns)),
	};
	return j->set->align_clocks || !is_off(&between, OFF_NS) ? CLOCKS_AGREE
								 : CLOCKS_OFF;
}

/* Whether all are so close together that no two need comparing. */
static bool
are_near(const struct job *j, const uint32_t *pos, size_t n)
{
	double low = INFINITY, high = -INFINITY, half = 0;
	double slow = INFINITY, fast = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		const struct rank_info *a = &j->ranks.v[pos[i]];

		if (are_apart(a, &j->ranks.v[pos[0]]))
			return false;
		low = fmin(low, (double)a->offset_ns);
		high = fmax(high, (double)a->offset_ns);
		slow = fmin(slow, a->drift);
		fast = fmax(fast, a->drift);
		half = (double)a->span_ns / 2;
	}
	return j->set->align_clocks ||
	    (high - low) + (fast - slow) * half <= OFF_NS;
}

/* Off precedes unknown. */
static enum agreement
clocks_of_ranks(const struct job *j, const uint32_t *pos, size_t n)
{
	enum agreement all = CLOCKS_AGREE;

	if (n == 0 || are_near(j, pos, n))
		return CLOCKS_AGREE;
	for (size_t a = 0; a < n && all != CLOCKS_OFF; a++)
		for (size_t b = a + 1; b < n && all != CLOCKS_OFF; b++) {
			enum agreement two = compare_clocks(j, pos[a], pos[b]);

			all = two != CLOCKS_AGREE ? two : all;
		}
	return all;
}

static void
judge_groups(struct job *j, const struct causality *c)
{
	uint32_t *seen = xcalloc(j->ranks.n + 1, sizeof *seen);
	VEC(uint32_t) pos = { 0 };

	for (size_t g = 0; g < j->groups.n; g++) {
		struct pgroup *group = &j->groups.v[g];

		pos.n = 0;
		for (size_t i = 0; i < group->ncolls; i++) {
			const struct coll *of =
			    &j->colls.v[group->first_coll + i];

			for (uint32_t m = 0; m < of->n; m++) {
				uint32_t at =
				    rec_pos(j, j->members[of->first + m]);

				if (seen[at] != g + 1)
					vec_push(&pos, at);
				seen[at] = (uint32_t)g + 1;
			}
		}
		group->clocks = (uint8_t)clocks_of_ranks(j, pos.v, pos.n);
		if (causality_is_broken(c->of[g].n, c->of[g].nafter))
			group->clocks = CLOCKS_BROKEN;
		else if (!j->set->align_clocks &&
		    causality_is_broken(c->of[g].n, c->of[g].nbefore))
			group->clocks = CLOCKS_OFF;
	}
	vec_free(&pos);
	free(seen);
}

/*
 * The last rank's start is compared with the others': errors of both clocks
 * count, and so does an offset that is not subtracted.
 */
int64_t
coll_u_ns(const struct job *j, const struct coll *c)
{
	uint32_t last = rec_pos(j, coll_last(j, c));
	const struct rank_info *a = &j->ranks.v[last];
	double square = 0, offset = 0, n = c->n - 1;

	for (uint32_t m = 0; m < c->n; m++) {
		const struct rec *r = j->members[c->first + m];
		uint32_t pos = rec_pos(j, r);
		const struct rank_info *b = &j->ranks.v[pos];
		double at, slow;

		if (b->clock == a->clock)
			continue;
		if (are_apart(a, b))
			return NONE;
		at = ends_between(r->start_ns, a->middle_ns);
		slow = a->u_drift * a->u_drift + b->u_drift * b->u_drift;
		square += (double)a->u_ns * (double)a->u_ns +
		    (double)b->u_ns * (double)b->u_ns + slow * at * at;
		offset += ends_between(a->offset_ns, b->offset_ns) +
		    (a->drift - b->drift) * at;
	}
	if (c->n < 2)
		return 0;
	offset = j->set->align_clocks ? 0 : offset / n;
	return (int64_t)fmin(
	    ceil(sqrt(square / n + offset * offset)), (double)INT64_MAX / 2);
}

/* ---- messages ---- */

static void
tell_off(const struct job *j)
{
	size_t worst = 0, n = 0;
	struct buf which = { 0 }, ms = { 0 };

	for (size_t r = 0; r < j->ranks.n; r++) {
		const struct rank_info *i = &j->ranks.v[r];

		if (!i->is_off)
			continue;
		n++;
		if (!j->ranks.v[worst].is_off ||
		    offset_most(i) > offset_most(&j->ranks.v[worst]))
			worst = r;
	}
	if (n > 0) {
		const struct rank_info *w = &j->ranks.v[worst];

		put_off(&which, j);
		buf_printf(&ms, "%.3f ms", (double)w->offset_ns / 1e6);
		if (w->drift != 0)
			buf_printf(&ms, " and %.3g ppm", w->drift * 1e6);
		report(
		    MSG_CLOCKS_OFF, n, buf_str(&which), w->rank, buf_str(&ms));
	}
	buf_free(&which);
	buf_free(&ms);
}

static bool
any_is_off(const struct job *j)
{
	for (size_t r = 0; r < j->ranks.n; r++)
		if (j->ranks.v[r].is_off)
			return true;
	return false;
}

static void
tell_hosts(const struct job *j)
{
	const struct rank_info *worst = NULL;
	struct buf ms = { 0 };

	for (size_t r = 0; r < j->ranks.n; r++) {
		const struct rank_info *i = &j->ranks.v[r];

		if (i->from_host_ns != 0 &&
		    (worst == NULL ||
			fabs((double)i->from_host_ns) >
			    fabs((double)worst->from_host_ns)))
			worst = i;
	}
	if (worst == NULL)
		return;
	buf_printf(&ms, "%.3f ms", (double)worst->from_host_ns / 1e6);
	report(MSG_CLOCK_FROM_HOST, worst->rank, buf_str(&ms), worst->host);
	buf_free(&ms);
}

/* Each island has its own zero. */
static void
tell_islands(const struct job *j)
{
	struct buf list = { 0 };
	int_vec of = { 0 };
	size_t n = 0;

	for (size_t r = 0; r < j->ranks.n; r++)
		if (j->ranks.v[r].island != NONE &&
		    (size_t)j->ranks.v[r].island >= n)
			n = (size_t)j->ranks.v[r].island + 1;

	for (size_t i = 0; i < n && i < ISLANDS_NAMED; i++) {
		of.n = 0;
		for (size_t r = 0; r < j->ranks.n; r++)
			if (j->ranks.v[r].island == (int64_t)i)
				vec_push(&of, j->ranks.v[r].rank);
		buf_puts(&list, i > 0 ? "; " : "");
		put_members(&list, of.v, of.n);
	}
	if (n > ISLANDS_NAMED)
		buf_printf(&list, "; ... %zu more", n - ISLANDS_NAMED);
	if (n > 1)
		report(MSG_CLOCK_ISLANDS, n, buf_str(&list));
	vec_free(&of);
	buf_free(&list);
}

void
clocks_tell_untold(const struct job *j)
{
	const struct pgroup *first = NULL;
	size_t n = 0;

	for (size_t g = 0; g < j->groups.n; g++)
		if (j->groups.v[g].clocks == CLOCKS_UNKNOWN && n++ == 0)
			first = &j->groups.v[g];
	if (n > 0)
		report(MSG_CLOCKS_UNTOLD, n, j->groups.n, first->label);
}

static void
tell_broken(const struct job *j, const struct causality *c)
{
	if (causality_is_broken(c->nworst, c->nworst_broken)) {
		const struct coll *of = &j->colls.v[c->worst];
		const struct sig *s = &j->sigs.v[of->sig];

		report(MSG_CLOCKS_BROKEN, c->nworst_broken, c->nworst,
		    s->name.p != NULL ? s->name : s->kernel,
		    j->groups.v[of->group].label);
	} else if (!j->set->align_clocks && !any_is_off(j) && c->nbefore > 0) {
		report(MSG_CLOCKS_UNPROVEN, c->nbefore, c->n);
	}
}

/* ---- all ---- */

/* All GPUs of a process have the first one's clock. */
static void
take_clocks(struct job *j, const struct solved_clock *of)
{
	for (size_t r = 0; r < j->ranks.n; r++) {
		struct rank_info *i = &j->ranks.v[r];
		const struct solved_clock *s = &of[i->clock];

		i->u_ns = i->island = i->residual_ns = i->middle_ns = NONE;
		i->offset_ns = i->from_host_ns = 0;
		i->drift = 0;
		i->nclock = s->nties;
		if (s->island == CLOCK_ISLAND_NONE)
			continue;
		i->offset_ns = s->offset_ns;
		i->u_ns = whole_ns(ceil(s->u_ns));
		i->drift = s->drift;
		i->u_drift = s->u_drift;
		i->middle_ns = s->middle_ns;
		i->span_ns = s->span_ns;
		i->residual_ns = whole_ns(s->residual_ns);
		i->from_host_ns = s->from_host_ns;
		i->island = s->island;
	}
}

static void
solve(struct job *j)
{
	struct solved_clock *of = xcalloc(j->ranks.n + 1, sizeof *of);
	uint32_t *nranks = xcalloc(j->ranks.n + 1, sizeof *nranks);
	uint32_t *hosts = xcalloc(j->ranks.n + 1, sizeof *hosts);
	struct strata strata = { 0 };

	for (size_t r = 0; r < j->ranks.n; r++) {
		struct str host = j->ranks.v[r].host;

		nranks[j->ranks.v[r].clock]++;
		hosts[r] =
		    host.len > 0 ? intern_put(j->keys, host) : CLOCK_HOST_NONE;
	}
	strata_make(j, &strata);
	solve_clocks(&(struct solve_job){ .nclocks = j->ranks.n,
			 .nstrata = strata.n,
			 .strata = strata.v,
			 .nranks = nranks,
			 .hosts = hosts },
	    of);
	take_clocks(j, of);
	strata_free(&strata);
	free(nranks);
	free(hosts);
	free(of);
}

void
clocks_solve(struct job *j, struct causality *c)
{
	solve(j);
	causality_find(j, c);
}

void
clocks_align(struct job *j)
{
	struct causality c;
	bool is_proven;

	clocks_solve(j, &c);
	shifts_find(j, &c);
	is_proven = c.nbefore > 0;
	for (size_t r = 0; r < j->ranks.n; r++)
		j->ranks.v[r].is_off =
		    is_off(&j->ranks.v[r], is_proven ? OFF_PROVEN_NS : OFF_NS);
	clocks_find_alike(j);
	judge_groups(j, &c);
	if (j->set->align_clocks) {
		take_out(j);
	} else {
		tell_off(j);
		tell_hosts(j);
	}
	tell_broken(j, &c);
	tell_islands(j);
	free(c.of);
}
