/* SPDX-License-Identifier: MIT */
/*
 * Gates: waiting as a share of a rank's time, bandwidth as a share of the
 * link's, start skew. Each judges each group by the figures of the tables.
 */
#include "cmd/tl-collective/gate.h"

#include <math.h>
#include <stdlib.h>

#include "cmd/tl-collective/tables.h"
#include "table/junit.h"

/* Result of a gate for a group. */
struct judged {
	enum junit_result result;
	double over;     /* larger is worse */
	struct buf text; /* figure, limit and rank; or why there is none */
};

/* A gate over all groups: number of each result, and the worst. */
struct tally {
	size_t n[JUNIT_RESULTS];
	const struct pgroup *group[JUNIT_RESULTS];
	struct judged worst[JUNIT_RESULTS];
};

/* ---- options ---- */

void
gate_opt(gate_vec *gates, const struct optparse *op)
{
	static const char *const leads[] = {
		[GATE_WAIT] = "wait:",
		[GATE_BANDWIDTH] = "bandwidth:",
		[GATE_SKEW] = "skew:",
	};
	struct str s = str_of(op->arg);
	struct gate g = { .text = op->arg };
	bool is_good = false;

	for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) {
		size_t n = strlen(leads[i]);
		struct str rest = { s.p + n, s.len - n };

		if (!str_starts(s, str_of(leads[i])))
			continue;
		g.of = (enum gate_of)i;
		if (g.of == GATE_SKEW)
			is_good = time_parse(rest, &g.ns);
		else if (str_ends(rest, STR("%")) && rest.len-- > 1)
			is_good = num_double(rest, &g.pct) && g.pct >= 0 &&
			    g.pct <= 100;
	}
	if (!is_good)
		die_usage("option '--fail-over' needs wait:5%%, bandwidth:80%% "
			  "or skew:1ms, not '%s'",
		    op->arg);
	vec_push(gates, g);
}

/* ---- one group ---- */

static struct judged
none(enum junit_result result, const char *why)
{
	struct judged d = { .result = result };

	buf_puts(&d.text, why);
	return d;
}

/*
 * How long a rank waited: for the last one; or, if clocks cannot be compared,
 * how much longer than the shortest it was in a collective that all leave
 * together.
 */
static int64_t
wait_of(const struct job *j, const struct coll *c, const struct rec *r,
    bool by_starts)
{
	return by_starts ? coll_wait(j, c, r) : r->dur_ns - c->latency_ns;
}

/* Time of a rank's steps, else of its GPU work. */
static int64_t
time_of(const struct job *j, size_t r)
{
	int64_t ns = 0;

	for (size_t i = j->ranks.v[r].part;
	     i < j->parts.n && j->parts.v[i].pos == r; i++)
		ns = num_add_max(ns, j->parts.v[i].step_ns);
	return ns;
}

static struct judged
judge_wait(struct job *j, const struct gate *gate, const struct pgroup *g)
{
	bool by_starts = g->clocks == CLOCKS_AGREE;
	int64_t *waits = xcalloc(j->ranks.n, sizeof *waits);
	int64_t *caused = xcalloc(j->ranks.n, sizeof *caused);
	struct judged d = { .result = JUNIT_PASSED };
	size_t n = 0, worst = 0, late = 0;
	double most = -1;

	for (size_t i = 0; i < g->ncolls; i++) {
		const struct coll *c = &j->colls.v[g->first_coll + i];

		if (!coll_counts(j, c) || (!by_starts && !coll_is_sync(j, c)))
			continue;
		n++;
		caused[rec_pos(j, coll_last(j, c))] = num_add_max(
		    caused[rec_pos(j, coll_last(j, c))], c->wait_sum_ns);
		for (uint32_t m = 0; m < c->n; m++) {
			const struct rec *r = j->members[c->first + m];
			int64_t *sum = &waits[rec_pos(j, r)];

			*sum = num_add_max(*sum, wait_of(j, c, r, by_starts));
		}
	}
	for (size_t r = 0; r < j->ranks.n && n > 0; r++) {
		double time = (double)time_of(j, r);
		double pct = time > 0 ? 100 * (double)waits[r] / time : 0;

		if (pct > most) {
			most = pct;
			worst = r;
		}
		if (caused[r] > caused[late])
			late = r;
	}
	if (n > 0) {
		d.result = most > gate->pct ? JUNIT_FAILED : JUNIT_PASSED;
		d.over = most;
		buf_printf(&d.text,
		    "rank %" PRId64 " waits %.4g %% of its time, %.3f of %.3f "
		    "ms",
		    j->ranks.v[worst].rank, most, (double)waits[worst] / 1e6,
		    (double)time_of(j, worst) / 1e6);
		if (by_starts)
			buf_printf(&d.text, ", most for rank %" PRId64,
			    j->ranks.v[late].rank);
		else
			buf_puts(&d.text,
			    " (by durations: clocks do not tell who is late)");
		buf_printf(&d.text, "; allowed: %g %%", gate->pct);
	}
	free(caused);
	free(waits);
	return n > 0 ? d
		     : none(by_starts ? JUNIT_SKIPPED : JUNIT_ERROR,
			   by_starts ? "no complete collective"
				     : "clocks do not tell who is late, and "
				       "durations alone cannot");
}

static void
put_ranks(const struct pgroup *g, struct buf *b)
{
	if (g->members.n == 0)
		return;
	buf_puts(b, "ranks ");
	put_members(b, g->members.v, g->members.n);
	buf_puts(b, ": ");
}

/* Bandwidth against the job before. */
static struct judged
judge_versus(struct job *before, const struct gate *gate, struct pgroup *g)
{
	struct judged d = { .result = JUNIT_PASSED };
	double pct;

	if (!versus_bandwidth(before, g, &pct, &d.text))
		return none(JUNIT_ERROR,
		    "no collectives of known size in both jobs, twice in each");
	d.over = -pct;
	if (pct < gate->pct)
		d.result = JUNIT_FAILED;
	buf_printf(&d.text, "; required: %g %%", gate->pct);
	return d;
}

static struct judged
judge_bandwidth(const struct gate *gate, struct pgroup *g)
{
	struct judged d = { .result = JUNIT_PASSED };

	if (g->peers.p != NULL)
		return none(JUNIT_SKIPPED, "sends and receives");
	if (g->link.ring.link == NULL && g->link.all2all.link == NULL)
		return none(JUNIT_ERROR, "its link is unknown: --link");
	if (g->of_link.n == 0)
		return none(JUNIT_SKIPPED,
		    "no large message of known size: small ones are "
		    "latency-bound");
	d.over = -values_stat(&g->of_link, 0.5);
	if (-d.over < gate->pct)
		d.result = JUNIT_FAILED;
	put_ranks(g, &d.text);
	link_say(g, &d.text);
	buf_printf(&d.text, "; required: %g %%", gate->pct);
	return d;
}

/* The rank that was last most often where skew exceeds the limit. */
static struct judged
judge_skew(struct job *j, const struct gate *gate, const struct pgroup *g)
{
	size_t *last = xcalloc(j->ranks.n, sizeof *last);
	struct judged d = { .result = JUNIT_PASSED };
	struct values skews = { 0 };
	size_t worst = 0, nover = 0;
	double p95;

	for (size_t i = 0; i < g->ncolls; i++) {
		const struct coll *c = &j->colls.v[g->first_coll + i];
		int64_t skew = coll_start_skew(j, c);

		if (!coll_counts(j, c))
			continue;
		value_add(&skews, (double)skew);
		if (skew <= gate->ns)
			continue;
		nover++;
		last[rec_pos(j, coll_last(j, c))]++;
	}
	for (size_t r = 1; r < j->ranks.n; r++)
		if (last[r] > last[worst])
			worst = r;
	p95 = d.over = values_stat(&skews, 0.95);
	if (p95 > (double)gate->ns)
		d.result = JUNIT_FAILED;
	buf_printf(&d.text, "start skew p95 %.3f ms", p95 / 1e6);
	if (nover > 0)
		buf_printf(&d.text,
		    ", rank %" PRId64 " last in %zu of %zu above the limit",
		    j->ranks.v[worst].rank, last[worst], nover);
	buf_printf(&d.text, "; allowed: %g ms", (double)gate->ns / 1e6);
	vec_free(&skews);
	free(last);
	if (!isnan(p95) && g->clocks == CLOCKS_AGREE)
		return d;
	buf_free(&d.text);
	return isnan(p95)
	    ? none(JUNIT_SKIPPED, "no complete collective")
	    : none(JUNIT_ERROR, "clocks cannot be compared: --align-clocks");
}

/* ---- all of them ---- */

static struct judged
judge(struct job *before, struct job *j, const struct gate *gate,
    struct pgroup *g)
{
	switch (gate->of) {
	case GATE_WAIT: return judge_wait(j, gate, g);
	case GATE_BANDWIDTH:
		return before != j ? judge_versus(before, gate, g)
				   : judge_bandwidth(gate, g);
	case GATE_SKEW: break;
	}
	return judge_skew(j, gate, g);
}

static void
judge_all(struct job *before, struct job *j, const struct gate *gate,
    struct junit *xml, struct tally *t)
{
	struct buf name = { 0 };

	for (size_t i = 0; i < j->groups.n; i++) {
		struct pgroup *g = &j->groups.v[i];
		struct judged d = judge(before, j, gate, g);
		struct judged *worst = &t->worst[d.result];

		name.len = 0;
		buf_puts(&name, "group ");
		buf_put(&name, g->label.p, g->label.len);
		junit_case(xml, d.result, str_of(gate->text), buf_str(&name),
		    buf_str(&d.text));
		if (t->n[d.result]++ == 0 || d.over > worst->over) {
			struct judged was = *worst;

			*worst = d;
			d = was;
			t->group[worst->result] = g;
		}
		buf_free(&d.text);
	}
	buf_free(&name);
}

static void
tell(const struct job *j, const struct gate *gate, struct tally *t,
    enum junit_result of, bool is_warning)
{
	struct str label = t->n[of] > 0 ? t->group[of]->label : STR("");
	struct str text = buf_str(&t->worst[of].text);

	if (t->n[of] == 0)
		return;
	if (of == JUNIT_FAILED)
		report(MSG_GATE_FAILED, gate->text, t->n[of], j->groups.n,
		    label, text);
	else if (is_warning)
		report(MSG_GATE_UNJUDGED, gate->text, t->n[of], j->groups.n,
		    label, text);
	else
		report(MSG_GATE_SKIPPED, gate->text, t->n[of], j->groups.n,
		    label, text);
}

int
gates_check(struct job *before, struct junit *xml)
{
	struct job *j = before->vs != NULL ? before->vs : before;
	const char *about_nothing = NULL;
	bool has_failed = false;

	for (size_t i = 0; i < j->set->gates.n; i++) {
		const struct gate *gate = &j->set->gates.v[i];
		struct tally t = { 0 };

		judge_all(before, j, gate, xml, &t);
		tell(j, gate, &t, JUNIT_FAILED, false);
		tell(j, gate, &t, JUNIT_ERROR, true);
		tell(j, gate, &t, JUNIT_SKIPPED, false);
		has_failed |= t.n[JUNIT_FAILED] > 0;
		if (t.n[JUNIT_SKIPPED] == j->groups.n)
			about_nothing = gate->text;
		for (int k = 0; k < JUNIT_RESULTS; k++)
			buf_free(&t.worst[k].text);
	}
	junit_finish(xml);
	if (has_failed)
		return EXIT_GATE;
	if (about_nothing != NULL)
		die_nothing(MSG_GATE_NOTHING, about_nothing);
	return exit_status();
}
