/* SPDX-License-Identifier: MIT */
/*
 * Judges the job by who or what costs most over all groups. Its sentences use
 * the figures of the table of groups.
 */
#include "cmd/tl-collective/verdict.h"

#include <math.h>
#include <stdlib.h>

#define GROUPS_NAMED 4 /* per sentence */

/* The rank that waits longest for late ranks: costs are shares of its steps. */
static size_t
who_waits(const struct job *j, const struct findings *f)
{
	size_t most = 0;

	for (size_t r = 1; r < j->ranks.n; r++)
		if (f->late.wait_ns[r] > f->late.wait_ns[most])
			most = r;
	return most;
}

double
finding_step(const struct job *j, size_t rank, int64_t cost_ns, struct buf *b)
{
	int64_t step_ns = 0;
	uint64_t nsteps = 0;
	double pct;

	for (size_t i = j->ranks.v[rank].part;
	     i < j->parts.n && j->parts.v[i].pos == rank; i++) {
		step_ns = num_add_max(step_ns, j->parts.v[i].step_ns);
		nsteps += j->parts.v[i].nsteps;
	}
	if (step_ns <= 0)
		return NAN;
	pct = 100 * (double)cost_ns / (double)step_ns;
	buf_printf(b, ", %.1f %% of ", pct);
	if (nsteps > 0)
		buf_printf(
		    b, "%" PRIu64 " step%s", nsteps, nsteps == 1 ? "" : "s");
	else
		buf_puts(b, "the recording");
	buf_printf(b, " on rank %" PRId64, j->ranks.v[rank].rank);
	return pct;
}

/*
 * The job's gain at most if each rank came with the next one wherever it is
 * last. NONE: none of its groups is judged.
 */
static void
find_gains(const struct job *j, struct findings *f)
{
	f->gain_ns = xmalloc((j->ranks.n + 1) * sizeof *f->gain_ns);
	for (size_t r = 0; r < j->ranks.n; r++)
		f->gain_ns[r] = NONE;
	for (size_t i = 0; i < f->late.list.n; i++) {
		const struct lateness *l = &f->late.list.v[i];
		int64_t *ns = &f->gain_ns[l->pos];

		if (l->is_judged)
			*ns = num_add_max(*ns == NONE ? 0 : *ns, l->behind_ns);
	}
}

/* A late rank, over all groups in which it costs something. */
struct culprit {
	uint32_t pos;
	int64_t cost_ns, u_ns;
	uint64_t nlate, ncolls;
	size_t ngroups;
	struct values lates; /* each, in ns */
	const struct lateness *worst;
};

static void
add_culprit(struct culprit *c, const struct lateness *l)
{
	if (l->share_ns == 0)
		return;
	c->cost_ns = num_add_max(c->cost_ns, l->cost_ns);
	c->u_ns = num_add_max(c->u_ns, l->u_ns);
	c->nlate += l->nlate;
	c->ncolls += l->ncolls;
	c->ngroups++;
	for (size_t i = 0; i < l->lates.n; i++)
		value_add(&c->lates, l->lates.v[i]);
}

struct finding
finding_bare(enum verdict verdict)
{
	return (struct finding){ .verdict = verdict,
		.rank = NONE,
		.cost_ns = NONE,
		.gain_ns = NONE,
		.pct_step = NAN };
}

void
finding_add(struct job *j, struct findings *f, struct finding it, struct buf *b)
{
	it.word = str_of(verdict_words[it.verdict]);
	it.text = arena_str(j->mem, buf_str(b));
	vec_push(&f->list, it);
	b->len = 0;
}

static void
put_groups_of(const struct job *j, const struct findings *f,
    const struct culprit *c, struct buf *b)
{
	size_t n = 0;

	if (j->groups.n == 1)
		return;
	buf_puts(b, c->ngroups == 1 ? " of group " : " of groups ");
	for (size_t i = 0; i < f->groups.n; i++) {
		uint32_t group = (uint32_t)(f->groups.v[i].group - j->groups.v);
		size_t at;

		bisect(at, f->late.list.n, mid,
		    f->late.list.v[mid].group < group ||
			(f->late.list.v[mid].group == group &&
			    f->late.list.v[mid].pos < c->pos));
		if (at == f->late.list.n || f->late.list.v[at].group != group ||
		    f->late.list.v[at].pos != c->pos ||
		    f->late.list.v[at].share_ns == 0)
			continue;
		if (n++ == GROUPS_NAMED) {
			buf_printf(
			    b, " and %zu more", c->ngroups - GROUPS_NAMED);
			return;
		}
		buf_puts(b, n > 1 ? ", " : "");
		buf_put(b, j->groups.v[group].label.p,
		    j->groups.v[group].label.len);
	}
}

static void
find_rank(struct job *j, struct findings *f, struct culprit *c, struct buf *b)
{
	struct finding it = { .verdict = c->worst->verdict,
		.rank = j->ranks.v[c->pos].rank,
		.cost_ns = c->cost_ns,
		.gain_ns = f->gain_ns[c->pos] };

	buf_printf(b,
	    "rank %" PRId64
	    " arrives late. Its part of the median rank's exposed waiting is ",
	    it.rank);
	put_time(b, c->cost_ns);
	if (j->set->align_clocks) {
		buf_puts(b, " +- ");
		put_time(b, c->u_ns);
	}
	it.pct_step = finding_step(j, who_waits(j, f), c->cost_ns, b);
	buf_puts(b, ". If it came on time, the job would end at most ");
	put_time(b, it.gain_ns);
	buf_puts(b, " earlier, if nothing else holds it up");
	/* of one lag of a host that runs ahead, every collective has the
	 * whole */
	if (it.verdict == VERDICT_HOST)
		buf_puts(b,
		    ". The gain is far less if one lag of its host lasts over "
		    "collectives: tl-critical --job says how much");
	buf_printf(b,
	    ". It is late by %.3f ms (median) in %" PRIu64 " of %" PRIu64
	    " collectives",
	    values_stat(&c->lates, 0.5) / 1e6, c->nlate, c->ncolls);
	put_groups_of(j, f, c, b);
	lateness_say_cause(j, c->worst, b);
	finding_add(j, f, it, b);
}

/* A rank that is late because it waits in another group is no culprit. */
static void
find_ranks(struct job *j, struct findings *f, struct buf *b)
{
	struct culprit *all = xcalloc(j->ranks.n + 1, sizeof *all);

	for (size_t i = 0; i < f->late.list.n; i++)
		add_culprit(&all[f->late.list.v[i].pos], &f->late.list.v[i]);
	for (size_t g = 0; g < f->groups.n; g++) {
		const struct group_sum *s = &f->groups.v[g];
		struct culprit *c =
		    s->worst != NULL ? &all[s->worst->pos] : NULL;

		if (c == NULL || !group_is_late(s) ||
		    s->worst->verdict == VERDICT_ELSEWHERE)
			continue;
		if (c->worst == NULL || s->worst->cost_ns > c->worst->cost_ns)
			c->worst = s->worst;
	}
	for (size_t r = 0; r < j->ranks.n; r++) {
		all[r].pos = (uint32_t)r;
		if (all[r].worst != NULL && all[r].cost_ns > 0)
			find_rank(j, f, &all[r], b);
	}
	for (size_t r = 0; r < j->ranks.n; r++)
		vec_free(&all[r].lates);
	free(all);
}

static void
find_network(
    struct job *j, struct findings *f, const struct group_sum *g, struct buf *b)
{
	struct finding it = { .verdict = g->verdict,
		.rank = NONE,
		.cost_ns = g->cost_ns,
		.gain_ns = NONE };
	const struct coll *c = &j->colls.v[g->group->first_coll];

	if (j->groups.n > 1) {
		buf_puts(b, "group ");
		buf_put(b, g->group->label.p, g->group->label.len);
		buf_puts(b, ": ");
	}
	buf_put(b, g->says.p, g->says.len);
	buf_puts(b, ": +");
	put_time(b, g->cost_ns);
	it.pct_step =
	    finding_step(j, rec_pos(j, j->members[c->first]), g->cost_ns, b);
	finding_add(j, f, it, b);
}

static void
find_nothing(struct job *j, struct findings *f, struct buf *b)
{
	size_t n = 0, nunjudged = 0;
	double wait = 0, all = 0;

	for (size_t g = 0; g < f->groups.n; g++) {
		const struct group_sum *s = &f->groups.v[g];

		n += s->ncolls > 0;
		nunjudged += s->verdict == VERDICT_UNJUDGED ||
		    (s->verdict == VERDICT_UNSTABLE &&
			s->group->clocks != CLOCKS_AGREE);
		wait += s->wait_ns;
		all += s->wait_ns + (double)s->latency_ns;
	}
	if (nunjudged > 0) {
		buf_printf(b,
		    "who is late is not judged in %zu of %zu process groups: "
		    "clocks are off, or not known well enough",
		    nunjudged, f->groups.n);
		finding_add(j, f, finding_bare(VERDICT_UNJUDGED), b);
	}
	if (f->list.n > 0)
		return;
	if (n == 0)
		buf_puts(b, "no complete collective");
	else
		buf_printf(b,
		    "ranks arrive together in %zu of %zu process group%s; "
		    "waiting is %.1f %% of the time in collectives",
		    n, f->groups.n, f->groups.n == 1 ? "" : "s",
		    all > 0 ? 100 * wait / all : 0);
	finding_add(j, f, finding_bare(VERDICT_NONE), b);
}

static int
by_cost_of_job(const void *pa, const void *pb)
{
	const struct finding *a = pa, *b = pb;

	return a->cost_ns > b->cost_ns ? -1 : a->cost_ns < b->cost_ns;
}

const struct findings *
findings_of(struct job *j)
{
	struct findings *f = j->found;
	struct buf b = { 0 };

	if (f != NULL)
		return f;
	f = j->found = xcalloc(1, sizeof *f);
	stragglers_find(j, &f->late);
	episodes_find(j, &f->episodes);
	groups_judge(j, f);
	find_gains(j, f);
	find_ranks(j, f, &b);
	for (size_t g = 0; g < f->groups.n; g++)
		if (f->groups.v[g].verdict == VERDICT_NETWORK)
			find_network(j, f, &f->groups.v[g], &b);
	unstable_find(j, f, &b);
	find_nothing(j, f, &b);
	stable_sort(f->list.v, f->list.n, sizeof *f->list.v, by_cost_of_job);
	buf_free(&b);
	return f;
}
