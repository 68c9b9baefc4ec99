/* SPDX-License-Identifier: MIT */
/* Judges groups by what costs most in them. */
#include "cmd/tl-collective/verdict.h"

#include <math.h>
#include <stdlib.h>

#define NETWORK_PCT 60 /* of the best bus bandwidth for this size */
#define WAIT_SHARE 0.2 /* of the time in collectives; less is even */

/* ---- a group ---- */

static void
add_coll(const struct job *j, struct alikes *curve, struct group_sum *g,
    const struct coll *c)
{
	struct alike *p;

	if (!coll_counts(j, c)) {
		g->nincomplete++;
		return;
	}
	g->ncolls++;
	g->latency_ns = num_add_max(g->latency_ns, c->latency_ns);
	g->wait_ns += (double)c->wait_sum_ns / (double)c->n;
	value_add(&g->latency, (double)c->latency_ns);
	value_add(&g->skew, (double)coll_start_skew(j, c));
	if (g->group->clocks == CLOCKS_AGREE && coll_seems_late(c)) {
		int64_t u_ns = coll_u_ns(j, c);

		if (u_ns != NONE && c->late_ns / 2 < u_ns)
			value_add(&g->unsure, (double)u_ns);
	}
	if ((p = curve_point(j, curve, c)) != NULL) {
		double of_best = coll_bus_bw(j, c) / p->best;

		value_add(&g->bus, coll_bus_bw(j, c));
		value_add(&g->of_best, 100 * of_best);
		g->slow_ns += (double)c->latency_ns * (1 - of_best);
	}
}

/* Whether one rank's lateness is a large part of the time in collectives. */
bool
group_is_late(const struct group_sum *g)
{
	double total = g->wait_ns + (double)g->latency_ns;

	return g->worst != NULL && total > 0 &&
	    (double)g->worst->share_ns >= WAIT_SHARE * total;
}

/* What costs more: a late rank or slow times. */
static bool
is_unstable(const struct group_sum *g)
{
	return g->slow.n > 0 &&
	    (!group_is_late(g) || g->slow.cost_ns > g->worst->cost_ns);
}

/* Whether most lateness may be the clocks', and is a large part of the time. */
static bool
is_unsure(const struct group_sum *g)
{
	double total = g->wait_ns + (double)g->latency_ns;

	return (int64_t)g->unsure.n * 2 > g->ncolls &&
	    g->wait_ns >= WAIT_SHARE * total;
}

/* Waiting first: a late rank is more common, and hides the network. */
static void
judge(struct group_sum *g)
{
	g->cost_ns = NONE;
	if (is_unstable(g)) {
		g->verdict = VERDICT_UNSTABLE;
		g->cost_ns = g->slow.cost_ns;
	} else if (group_is_late(g)) {
		g->verdict = g->worst->verdict;
		g->cost_ns = g->worst->cost_ns;
	} else if (values_stat(&g->of_best, 0.5) < NETWORK_PCT ||
	    link_is_slow(g->group, NETWORK_PCT)) {
		g->verdict = VERDICT_NETWORK;
		g->cost_ns = (int64_t)(link_is_slow(g->group, NETWORK_PCT)
			? (double)g->latency_ns *
			    (1 - values_stat(&g->group->of_link, 0.5) / 100)
			: g->slow_ns);
	} else if (g->ncolls > 0 &&
	    (g->group->clocks != CLOCKS_AGREE || is_unsure(g))) {
		g->verdict = VERDICT_UNJUDGED;
	}
}

/* ---- sentences ---- */

/* The largest of what is spread; shares are of the lateness, not of a call. */
static void
put_largest(struct buf *b, const struct spent_name *n, double pct)
{
	bool is_event = n->on == SPENT_IDLE && n->detail.len > 0;
	struct str name = is_event ? n->detail : n->name;

	buf_puts(b, ", the largest part in ");
	buf_put(b, name.p, name.len);
	buf_printf(b, " (%.0f %% of the lateness)", pct);
}

static void
put_name(struct buf *b, const struct spent_name *n)
{
	struct str what = n->on == SPENT_IDLE ? n->detail : n->name;

	if (n->on == SPENT_IDLE)
		buf_put(b, n->name.p, n->name.len);
	if (n->on == SPENT_IDLE && (what.len == 0 || n->is_in_time))
		return;
	if (n->on == SPENT_IDLE)
		buf_puts(b, ", in ");
	buf_put(b, what.p, what.len);
	if (n->on == SPENT_OP && n->detail.len > 0) {
		buf_putc(b, ' ');
		buf_put(b, n->detail.p, n->detail.len);
	}
}

/* Names the op or host event that took the time, or says that none did. */
static void
put_excess(const struct job *j, const struct lateness *l,
    const struct excess *e, const char *before, const char *what, struct buf *b)
{
	double all = l->busy_ns + l->idle_ns + l->elsewhere_ns;
	double pct = e->top != NULL
	    ? 100 * (e->top->late_ns - e->top->usual_ns) / all
	    : 0;

	if (e->top == NULL)
		return;
	if (e->is_named && !isfinite(e->ratio)) {
		buf_puts(b, before);
		put_name(b, &j->spent_on.v[e->top->name]);
		if (pct < 99.5)
			buf_printf(b, " (%.0f %% of the lateness)", pct);
		return;
	}
	if (isfinite(e->ratio))
		buf_printf(b, ": %.2fx slower throughout", e->ratio);
	else
		buf_printf(b, ": spread over %zu %s", e->n, what);
	put_largest(b, &j->spent_on.v[e->top->name], pct);
}

void
lateness_say_cause(const struct job *j, const struct lateness *l, struct buf *b)
{
	const struct share *top = l->idle.top;

	switch (l->verdict) {
	case VERDICT_THROTTLED:
		buf_puts(b, ": the same work takes longer");
		put_excess(j, l, &l->work, ", most in ", "ops", b);
		break;
	case VERDICT_IMBALANCE: buf_puts(b, ": it has other work to do"); break;
	case VERDICT_HOST:
		buf_puts(b,
		    top != NULL && j->spent_on.v[top->name].is_in_time
			? ": its GPU is idle for longer"
			: ": its GPU waits for the host");
		put_excess(j, l, &l->idle, ": ", "host events", b);
		break;
	case VERDICT_ELSEWHERE:
		buf_puts(b, ": it is in collectives of other groups");
		break;
	default: break;
	}
}

static void
put_lateness(const struct job *j, const struct lateness *l, struct buf *b)
{
	struct values lates = l->lates;

	buf_printf(b,
	    "late by %.3f ms (median) in %.0f %% of %" PRIu64 " collectives",
	    values_stat(&lates, 0.5) / 1e6, l->pct_late, l->ncolls);
	lateness_say_cause(j, l, b);
}

static void
say_unjudged(const struct group_sum *g, struct buf *b)
{
	struct values unsure = g->unsure;

	switch ((enum agreement)g->group->clocks) {
	case CLOCKS_OFF: buf_puts(b, "clocks are off"); break;
	case CLOCKS_UNKNOWN: buf_puts(b, "clocks are not known"); break;
	case CLOCKS_BROKEN:
		buf_puts(b, "ends come before starts on solved clocks");
		break;
	case CLOCKS_AGREE:
		buf_puts(b, "clocks are known to ");
		put_time(b, (int64_t)values_stat(&unsure, 0.5));
		break;
	}
	buf_puts(b, ": who is late is not judged");
}

static void
say(const struct job *j, const struct group_sum *g, struct buf *b)
{
	struct values of_best = g->of_best;

	b->len = 0;
	if (g->verdict == VERDICT_UNSTABLE) {
		unstable_say(&g->slow, b);
	} else if (group_is_late(g)) {
		buf_printf(
		    b, "rank %" PRId64 " ", j->ranks.v[g->worst->pos].rank);
		put_lateness(j, g->worst, b);
	} else if (g->verdict == VERDICT_NETWORK &&
	    link_is_slow(g->group, NETWORK_PCT)) {
		buf_puts(b, "network at ");
		link_say(g->group, b);
	} else if (g->verdict == VERDICT_NETWORK) {
		buf_printf(b,
		    "network at %.0f %% of the best seen for these sizes",
		    values_stat(&of_best, 0.5));
	} else if (g->verdict == VERDICT_UNJUDGED) {
		say_unjudged(g, b);
	} else {
		buf_puts(b,
		    g->ncolls > 0 ? "ranks arrive together"
				  : "no complete collective");
	}
}

/* Its members; if the recording lists none, the ranks in its collectives. */
static void
put_ranks(const struct job *j, const struct pgroup *g, struct buf *b)
{
	bool *is_in = xcalloc(j->ranks.n + 1, sizeof *is_in);
	int_vec found = { 0 };

	for (size_t i = 0; i < g->ncolls && g->members.n == 0; i++) {
		const struct coll *c = &j->colls.v[g->first_coll + i];

		for (uint32_t k = 0; k < c->n; k++)
			is_in[rec_pos(j, j->members[c->first + k])] = true;
	}
	for (size_t i = 0; i < j->ranks.n; i++)
		if (is_in[i])
			vec_push(&found, j->ranks.v[i].rank);
	if (found.n > 0)
		put_ranges(b, found.v, found.n);
	else
		put_ranges(b, g->members.v, g->members.n);
	vec_free(&found);
	free(is_in);
}

static void
settle(struct job *j, struct group_sum *s, struct buf *b)
{
	const struct lateness *w = s->worst;

	s->pct_wait = 100 * s->wait_ns / (s->wait_ns + (double)s->latency_ns);
	s->pct_late = s->late_ns = NAN;
	s->late_rank = NONE;
	if (w != NULL) {
		struct values lates = w->lates;

		s->late_rank = j->ranks.v[w->pos].rank;
		s->pct_late = w->pct_late;
		s->late_ns = values_stat(&lates, 0.5);
	}
	judge(s);
	s->word = str_of(verdict_words[s->verdict]);
	say(j, s, b);
	s->says = arena_str(j->mem, buf_str(b));
	b->len = 0;
	put_ranks(j, s->group, b);
	if (b->len > 0)
		s->ranks = arena_str(j->mem, buf_str(b));
	s->matched_by = s->group->by_seq ? STR("seq")
	    : s->group->by_instruction   ? STR("instruction")
	    : s->group->was_aligned      ? STR("alignment")
					 : STR("order");
}

/* Ranks of groups whose starts cannot be compared well enough. */
static void
tell_judged(const struct job *j, struct findings *f)
{
	bool *is_judged = xcalloc(j->groups.n + 1, sizeof *is_judged);

	for (size_t g = 0; g < f->groups.n; g++)
		is_judged[f->groups.v[g].group - j->groups.v] =
		    f->groups.v[g].verdict != VERDICT_UNJUDGED;
	for (size_t i = 0; i < f->late.list.n; i++) {
		struct lateness *l = &f->late.list.v[i];

		l->is_judged =
		    l->verdict != VERDICT_UNJUDGED && is_judged[l->group];
	}
	free(is_judged);
}

static int
by_cost(const void *pa, const void *pb)
{
	const struct group_sum *a = pa, *b = pb;
	double all_a = a->wait_ns + (double)a->latency_ns;
	double all_b = b->wait_ns + (double)b->latency_ns;

	if (a->cost_ns != b->cost_ns)
		return a->cost_ns > b->cost_ns ? -1 : 1;
	return all_a > all_b ? -1 : all_a < all_b;
}

void
groups_judge(struct job *j, struct findings *f)
{
	struct alikes curve = { 0 };
	struct buf b = { 0 };

	curve_make(j, &curve);
	for (size_t g = 0; g < j->groups.n; g++)
		vec_push(&f->groups,
		    ((struct group_sum){ .group = &j->groups.v[g] }));
	for (size_t i = 0; i < j->colls.n; i++)
		add_coll(j, &curve, &f->groups.v[j->colls.v[i].group],
		    &j->colls.v[i]);
	for (size_t i = 0; i < f->late.list.n; i++) {
		const struct lateness *l = &f->late.list.v[i];
		const struct lateness **w = &f->groups.v[l->group].worst;

		if (l->nlate > 0 &&
		    (*w == NULL || l->share_ns > (*w)->share_ns))
			*w = l;
	}
	for (size_t i = 0; i < f->episodes.n; i++) {
		const struct episode *e = &f->episodes.v[i];

		unstable_add(j, &f->groups.v[e->group - j->groups.v].slow, e);
	}
	for (size_t g = 0; g < f->groups.n; g++)
		settle(j, &f->groups.v[g], &b);
	tell_judged(j, f);
	stable_sort(f->groups.v, f->groups.n, sizeof *f->groups.v, by_cost);
	alikes_free(&curve);
	buf_free(&b);
}
