/* SPDX-License-Identifier: MIT */
/*
 * The bandwidth reached for each size of message, and the groups judged by it:
 * the reference has neither.
 */
#include "cmd/tl-collective/tables.h"

#include <math.h>
#include <stdlib.h>

#define NETWORK_PCT 60 /* of the best bus bandwidth for this size */
#define WAIT_SHARE 0.2 /* of the time in collectives; less is even */

/* ---- bandwidth ---- */

/* Of collectives of one class, group size and message. */
enum { M_LATENCY, M_BUS, M_LINK };

static struct alike *
point_of(const struct job *j, struct alikes *curve, const struct coll *c)
{
	const struct sig *s = &j->sigs.v[c->sig];
	const struct link_limit *l = coll_limit(j, c);
	int64_t key[] = { c->class, s->n, s->full_bytes,
		l->link != NULL ? (int64_t)l->gbps : 0 };

	return s->n != NONE && isfinite(coll_bus_bw(j, c))
	    ? alike_of(curve, row_of_coll(j, c, NULL), key, sizeof key)
	    : NULL;
}

static void
curve_make(const struct job *j, struct alikes *curve)
{
	for (size_t i = 0; i < j->colls.n; i++) {
		const struct coll *c = &j->colls.v[i];
		struct alike *p;

		if (!coll_counts(j, c) || (p = point_of(j, curve, c)) == NULL)
			continue;
		alike_add(p, c->latency_ns);
		value_add(&p->v[M_LATENCY], (double)c->latency_ns);
		value_add(&p->v[M_BUS], coll_bus_bw(j, c));
		value_add(&p->v[M_LINK], coll_pct_of_link(j, c));
		p->best = fmax(p->best, coll_bus_bw(j, c));
	}
}

static int
by_size(const void *pa, const void *pb)
{
	const struct sig *a = ((const struct alike *)pa)->row.sig;
	const struct sig *b = ((const struct alike *)pb)->row.sig;

	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return a->full_bytes < b->full_bytes ? -1
					     : a->full_bytes > b->full_bytes;
}

static struct cell
cell_class(const struct row *r)
{
	return cell_text(str_of(class_words[r->sig->class]));
}

static struct cell
cell_of_best(const struct row *r)
{
	struct alike *p = r->own;

	return cell_real(100 * values_stat(&p->v[M_BUS], 0.5) / p->best);
}

static struct cell
cell_link(const struct row *r)
{
	const struct link_limit *l = coll_limit(r->job, r->coll);

	return l->link != NULL ? cell_text(l->link->label) : cell_none();
}

static struct cell
cell_judged_from(const struct row *r)
{
	double bytes = coll_judged_from(r->job, r->coll);

	return bytes < 1e18 ? cell_int((int64_t)ceil(bytes)) : cell_none();
}

/* clang-format off */
static const struct field bandwidth_fields[] = {
	CELL(TEXT("class", NULL), cell_class),
	GROUP_SIZE,
	FULL_BYTES,
	OWN(COUNTS("count", NULL), struct alike, count),
	OWN_STAT(REAL_US("latency_ns_p50", "comm_latency_p50"), struct alike, v[M_LATENCY], 0.5),
	OWN_STAT(REAL_US("latency_ns_p95", "comm_latency_p95"), struct alike, v[M_LATENCY], 0.95),
	OWN_STAT(REAL_US("latency_ns_p99", "comm_latency_p99"), struct alike, v[M_LATENCY], 0.99),
	OWN_STAT(REAL("bus_gib_per_s_p50", "bus bw (GB/s)_p50"), struct alike, v[M_BUS], 0.5),
	OWN(REAL("bus_gib_per_s_best", "bus bw (GB/s)_best"), struct alike, best),
	CELL(PCT("pct_of_best", NULL), cell_of_best),
	CELL(TEXT("link", NULL), cell_link),
	OWN_STAT(PCT("pct_of_link", NULL), struct alike, v[M_LINK], 0.5),
	CELL(MINOR("judged_from_bytes", COL_INT, UNIT_BYTES), cell_judged_from),
};
/* clang-format on */

static void
fill_bandwidth(struct sheet_rows *s, struct job *j)
{
	struct alikes curve = { 0 };

	curve_make(j, &curve);
	put_alikes(s, &curve, by_size);
}

const struct table_def table_bandwidth = {
	.name = "nccl_bandwidth",
	FIELDS(bandwidth_fields),
	.fill = fill_bandwidth,
};

/* ---- nccl_groups ---- */

struct group_sum {
	struct lateness *worst;
	enum verdict verdict;
	int64_t ncolls, nincomplete, latency_ns, late_rank;
	double wait_ns, pct_wait, pct_late, late_ns;
	struct values latency, skew, bus, of_best;
	struct str ranks, matched_by, word, says;
};

static struct cell
cell_group_link(const struct row *r)
{
	const struct link *l = r->group->link.ring.link;

	return l != NULL ? cell_text(l->label) : cell_none();
}

/* clang-format off */
static const struct field group_fields[] = {
	LABEL,
	DESC,
	OWN(TEXT("ranks", NULL), struct group_sum, ranks),
	OWN(COUNTS("collectives", NULL), struct group_sum, ncolls),
	OWN(MINOR("incomplete", COL_INT, UNIT_COUNT), struct group_sum, nincomplete),
	OWN(MINOR("matched_by", COL_TEXT, UNIT_NONE), struct group_sum, matched_by),
	OWN(COLUMN("latency_ns_sum", NULL, COL_INT, UNIT_NS, COL_SHARE, 0), struct group_sum, latency_ns),
	OWN(COLUMN("wait_ns_sum", NULL, COL_REAL, UNIT_NS, 0, 0), struct group_sum, wait_ns),
	OWN(PCT("pct_wait", NULL), struct group_sum, pct_wait),
	OWN_STAT(MINOR("latency_ns_p50", COL_REAL, UNIT_NS), struct group_sum, latency, 0.5),
	OWN_STAT(MINOR("latency_ns_p95", COL_REAL, UNIT_NS), struct group_sum, latency, 0.95),
	OWN_STAT(MINOR("latency_ns_p99", COL_REAL, UNIT_NS), struct group_sum, latency, 0.99),
	OWN_STAT(COLUMN("start_skew_ns_p50", NULL, COL_REAL, UNIT_NS, 0, 0), struct group_sum, skew, 0.5),
	OWN_STAT(MINOR("start_skew_ns_p95", COL_REAL, UNIT_NS), struct group_sum, skew, 0.95),
	OWN_STAT(MINOR("start_skew_ns_p99", COL_REAL, UNIT_NS), struct group_sum, skew, 0.99),
	OWN_STAT(MINOR("bus_gib_per_s_p50", COL_REAL, UNIT_NONE), struct group_sum, bus, 0.5),
	OWN_STAT(PCT("pct_of_best", NULL), struct group_sum, of_best, 0.5),
	CELL(MINOR("link", COL_TEXT, UNIT_NONE), cell_group_link),
	{ .col = PCT("pct_of_link", NULL), MEMBER(group, struct pgroup, of_link), .stat = 0.5 },
	OWN(INT("late_rank", NULL), struct group_sum, late_rank),
	OWN(PCT("pct_late", NULL), struct group_sum, pct_late),
	OWN(MINOR("late_ns_p50", COL_REAL, UNIT_NS), struct group_sum, late_ns),
	OWN(TEXT("verdict", NULL), struct group_sum, word),
	OWN(TEXT("says", NULL), struct group_sum, says),
};
/* clang-format on */

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
	g->latency_ns += c->latency_ns;
	g->wait_ns += (double)c->wait_sum_ns / (double)c->n;
	value_add(&g->latency, (double)c->latency_ns);
	value_add(&g->skew, (double)coll_start_skew(j, c));
	if ((p = point_of(j, curve, c)) != NULL) {
		value_add(&g->bus, coll_bus_bw(j, c));
		value_add(&g->of_best, 100 * coll_bus_bw(j, c) / p->best);
	}
}

/* Whether one rank's lateness is a good part of the time in collectives. */
static bool
is_late(const struct group_sum *g)
{
	double total = g->wait_ns + (double)g->latency_ns;

	return g->worst != NULL && total > 0 &&
	    (double)g->worst->late_ns >= WAIT_SHARE * total;
}

/* Waiting first: a late rank is the more usual, and hides the network. */
static void
judge(struct pgroup *group, struct group_sum *g)
{
	if (is_late(g))
		g->verdict = g->worst->verdict;
	else if (values_stat(&g->of_best, 0.5) < NETWORK_PCT ||
	    link_is_slow(group, NETWORK_PCT))
		g->verdict = VERDICT_NETWORK;
}

/* The cause of its idle time or the op that took the time. */
static void
say_where(const struct lateness *w, struct buf *b)
{
	bool is_idle = w->verdict == VERDICT_HOST;
	bool is_op = w->verdict == VERDICT_THROTTLED && w->op.len > 0;
	struct str where = is_op ? w->op : w->host;

	if (is_idle && w->idle_cause.len > 0) {
		buf_puts(b, ": ");
		buf_put(b, w->idle_cause.p, w->idle_cause.len);
	}
	if (where.len == 0 || (!is_op && (!is_idle || w->is_in_time)))
		return;
	buf_puts(b, is_op ? ", most in " : ", in ");
	buf_put(b, where.p, where.len);
	if (is_op && w->shape.len > 0) {
		buf_putc(b, ' ');
		buf_put(b, w->shape.p, w->shape.len);
	}
}

static void
say(const struct job *j, struct pgroup *group, struct group_sum *g,
    struct buf *b)
{
	const struct lateness *w = g->worst;

	b->len = 0;
	if (g->verdict == VERDICT_NETWORK && link_is_slow(group, NETWORK_PCT)) {
		buf_puts(b, "network at ");
		link_say(group, b);
	} else if (g->verdict == VERDICT_NETWORK) {
		buf_printf(b,
		    "network at %.0f %% of the best seen for these "
		    "sizes",
		    values_stat(&g->of_best, 0.5));
	} else if (is_late(g)) {
		const char *const why[VERDICT_COUNT] = {
			[VERDICT_NONE] = "",
			[VERDICT_THROTTLED] = ": the same work takes longer",
			[VERDICT_IMBALANCE] = ": it has other work to do",
			[VERDICT_HOST] = w->is_in_time
			    ? ": its GPU is idle for longer"
			    : ": its GPU waits for the host",
			[VERDICT_ELSEWHERE] =
			    ": it is in collectives of other groups",
			[VERDICT_NETWORK] = "",
		};

		buf_printf(b,
		    "rank %" PRId64 " late by %.3f ms in %.0f %% of %" PRIu64
		    " collectives%s",
		    j->ranks.v[w->pos].rank, g->late_ns / 1e6, g->pct_late,
		    w->ncolls, why[w->verdict]);
		say_where(w, b);
	} else if (g->ncolls > 0) {
		buf_puts(b, "ranks arrive together");
	} else {
		buf_puts(b, "no complete collective");
	}
}

static void
settle(const struct job *j, struct pgroup *g, struct group_sum *s)
{
	struct lateness *w = s->worst;

	s->pct_wait = 100 * s->wait_ns / (s->wait_ns + (double)s->latency_ns);
	s->pct_late = s->late_ns = NAN;
	s->late_rank = NONE;
	if (w != NULL) {
		s->late_rank = j->ranks.v[w->pos].rank;
		s->pct_late = w->pct_late;
		s->late_ns = values_stat(&w->lates, 0.5);
	}
	judge(g, s);
	s->word = str_of(verdict_words[s->verdict]);
}

static void
put_group(struct sheet_rows *to, struct pgroup *g, struct group_sum *s)
{
	struct buf b = { 0 };

	put_ranges(&b, g->members.v, g->members.n);
	if (g->members.n > 0)
		s->ranks = table_text(to->table, buf_str(&b));
	b.len = 0;
	say(to->job, g, s, &b);
	s->says = table_text(to->table, buf_str(&b));
	s->matched_by = g->by_seq ? STR("seq")
	    : g->by_instruction   ? STR("instruction")
	    : g->was_aligned      ? STR("alignment")
				  : STR("order");
	put_row(to, &(struct row){ .group = g, .own = s });
	buf_free(&b);
}

static void
fill_groups(struct sheet_rows *s, struct job *j)
{
	struct group_sum *sums = xcalloc(j->groups.n + 1, sizeof *sums);
	struct stragglers c = { 0 };
	struct alikes curve = { 0 };

	curve_make(j, &curve);
	stragglers_find(j, &c);
	for (size_t i = 0; i < j->colls.n; i++)
		add_coll(j, &curve, &sums[j->colls.v[i].group], &j->colls.v[i]);
	for (size_t i = 0; i < c.list.n; i++) {
		struct lateness *l = &c.list.v[i];
		struct lateness **w = &sums[l->group].worst;

		if (l->nlate > 0 && (*w == NULL || l->late_ns > (*w)->late_ns))
			*w = l;
	}
	for (size_t g = 0; g < j->groups.n; g++) {
		settle(j, &j->groups.v[g], &sums[g]);
		put_group(s, &j->groups.v[g], &sums[g]);
	}
	free(sums);
}

const struct table_def table_groups = {
	.name = "nccl_groups",
	FIELDS(group_fields),
	.fill = fill_groups,
};
