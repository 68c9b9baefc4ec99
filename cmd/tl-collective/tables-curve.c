/* SPDX-License-Identifier: MIT */
/*
 * The bandwidth reached for each size of message, and the groups judged by it:
 * the reference has neither.
 */
#include "cmd/tl-collective/tables.h"

#include <math.h>
#include <stdlib.h>

#define NETWORK_SHARE 0.6 /* of the best bus bandwidth for this size */
#define WAIT_SHARE 0.2    /* of the time in collectives; less is even */

/* ---- bandwidth ---- */

/* Collectives of one class, group size and message. */
struct point {
	uint32_t class;
	int64_t n, bytes;
	VEC(double) latency_ns, bus;
	double best;
};

typedef VEC(struct point) point_vec;

struct curve {
	point_vec points;
	struct intern *keys;
};

static struct point *
point_of(const struct job *j, struct curve *k, const struct coll *c)
{
	const struct sig *s = &j->sigs.v[c->sig];
	int64_t key[3] = { c->class, s->n, sig_full_bytes(s) };
	uint32_t id;

	if (!s->has_n || key[2] < 0 || c->latency_ns <= 0 ||
	    !isfinite(coll_bus_bw(j, c)))
		return NULL;
	id = intern_put(k->keys, (struct str){ (const char *)key, sizeof key });
	if (id == k->points.n)
		vec_push(&k->points,
		    ((struct point){
			.class = c->class, .n = s->n, .bytes = key[2] }));
	return &k->points.v[id];
}

static void
curve_make(const struct job *j, struct curve *k)
{
	k->keys = intern_create();
	for (size_t i = 0; i < j->colls.n; i++) {
		const struct coll *c = &j->colls.v[i];
		struct point *p;

		if (!coll_counts(j, c) || (p = point_of(j, k, c)) == NULL)
			continue;
		vec_push(&p->latency_ns, (double)c->latency_ns);
		vec_push(&p->bus, coll_bus_bw(j, c));
	}
	for (size_t i = 0; i < k->points.n; i++) {
		struct point *p = &k->points.v[i];

		sort_doubles(p->latency_ns.v, p->latency_ns.n);
		sort_doubles(p->bus.v, p->bus.n);
		p->best = p->bus.n > 0 ? p->bus.v[p->bus.n - 1] : NAN;
	}
}

static int
by_size(const void *pa, const void *pb)
{
	const struct point *a = pa, *b = pb;

	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

static const struct column bandwidth_columns[] = {
	TEXT("class", NULL),
	INT("group_size", "Group size"),
	BYTES("full_bytes", "Full msg size (MB)"),
	COUNTS("count", NULL),
	REAL_US("latency_ns_p50", "comm_latency_p50"),
	REAL_US("latency_ns_p95", "comm_latency_p95"),
	REAL_US("latency_ns_p99", "comm_latency_p99"),
	REAL("bus_gib_per_s_p50", "bus bw (GB/s)_p50"),
	REAL("bus_gib_per_s_best", "bus bw (GB/s)_best"),
	PCT("pct_of_best", NULL),
};

static void
fill_bandwidth(struct job *j, struct table *t)
{
	struct curve k = { 0 };

	curve_make(j, &k);
	if (k.points.n > 0)
		qsort(k.points.v, k.points.n, sizeof *k.points.v, by_size);
	for (size_t i = 0; i < k.points.n; i++) {
		const struct point *p = &k.points.v[i];
		double p50 = quantile_sorted(p->bus.v, p->bus.n, 0.5);
		const double *v = p->latency_ns.v;
		size_t n = p->latency_ns.n;
		struct cell *row = table_row(t);

		row[0] = cell_text(str_of(class_words[p->class]));
		row[1] = cell_int(p->n);
		row[2] = cell_int(p->bytes);
		row[3] = cell_int((int64_t)n);
		row[4] = cell_real(quantile_sorted(v, n, 0.5));
		row[5] = cell_real(quantile_sorted(v, n, 0.95));
		row[6] = cell_real(quantile_sorted(v, n, 0.99));
		row[7] = cell_real(p50);
		row[8] = cell_real(p->best);
		row[9] = cell_real(100 * p50 / p->best);
	}
}

const struct table_def table_bandwidth = {
	.name = "nccl_bandwidth",
	COLUMNS(bandwidth_columns),
	.fill = fill_bandwidth,
};

/* ---- nccl_groups ---- */

static const struct column group_columns[] = {
	TEXT("group", "Process Group Name"),
	TEXT("desc", NULL),
	TEXT("ranks", NULL),
	COUNTS("collectives", NULL),
	{ "incomplete", NULL, COL_INT, UNIT_COUNT, COL_MINOR, 0 },
	{ "matched_by", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 },
	{ "latency_ns_sum", NULL, COL_INT, UNIT_NS, COL_SHARE, 0 },
	{ "wait_ns_sum", NULL, COL_REAL, UNIT_NS, 0, 0 },
	PCT("pct_wait", NULL),
	{ "latency_ns_p50", NULL, COL_REAL, UNIT_NS, COL_MINOR, 0 },
	{ "latency_ns_p95", NULL, COL_REAL, UNIT_NS, COL_MINOR, 0 },
	{ "latency_ns_p99", NULL, COL_REAL, UNIT_NS, COL_MINOR, 0 },
	{ "start_skew_ns_p50", NULL, COL_REAL, UNIT_NS, 0, 0 },
	{ "start_skew_ns_p95", NULL, COL_REAL, UNIT_NS, COL_MINOR, 0 },
	{ "start_skew_ns_p99", NULL, COL_REAL, UNIT_NS, COL_MINOR, 0 },
	{ "bus_gib_per_s_p50", NULL, COL_REAL, UNIT_NONE, COL_MINOR, 0 },
	PCT("pct_of_best", NULL),
	INT("late_rank", NULL),
	PCT("pct_late", NULL),
	{ "late_ns_p50", NULL, COL_REAL, UNIT_NS, COL_MINOR, 0 },
	TEXT("verdict", NULL),
	TEXT("says", NULL),
};

typedef VEC(double) double_vec;

struct group_sum {
	int64_t ncolls, nincomplete, latency_ns;
	double wait_ns;
	double_vec latency, skew, bus, share;
	const struct lateness *worst;
	enum verdict verdict;
};

static void
add_coll(const struct job *j, struct curve *k, struct group_sum *g,
    const struct coll *c)
{
	const struct point *p;

	if (!coll_counts(j, c)) {
		g->nincomplete++;
		return;
	}
	g->ncolls++;
	g->latency_ns += c->latency_ns;
	g->wait_ns += (double)c->wait_sum_ns / (double)c->n;
	vec_push(&g->latency, (double)c->latency_ns);
	vec_push(&g->skew, (double)c->skew_start_ns);
	if ((p = point_of(j, k, c)) != NULL) {
		vec_push(&g->bus, coll_bus_bw(j, c));
		vec_push(&g->share, coll_bus_bw(j, c) / p->best);
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
judge(struct group_sum *g)
{
	if (is_late(g))
		g->verdict = g->worst->verdict;
	else if (g->share.n > 0 &&
	    quantile_sorted(g->share.v, g->share.n, 0.5) < NETWORK_SHARE)
		g->verdict = VERDICT_NETWORK;
}

/* The host event or the op that took the time. */
static void
say_where(const struct lateness *w, struct buf *b)
{
	bool is_op = w->verdict == VERDICT_THROTTLED && w->op.len > 0;
	struct str where = is_op         ? w->op
	    : w->verdict == VERDICT_HOST ? w->host
					 : (struct str){ NULL, 0 };

	if (where.len == 0)
		return;
	buf_puts(b, is_op ? ", most in " : ", in ");
	buf_put(b, where.p, where.len);
	if (is_op && w->shape.len > 0) {
		buf_putc(b, ' ');
		buf_put(b, w->shape.p, w->shape.len);
	}
}

static void
say(const struct job *j, const struct group_sum *g, struct buf *b)
{
	const struct lateness *w = g->worst;

	b->len = 0;
	if (g->verdict == VERDICT_NETWORK) {
		buf_printf(b,
		    "network at %.0f %% of the best seen for these "
		    "sizes",
		    100 * quantile_sorted(g->share.v, g->share.n, 0.5));
	} else if (is_late(g)) {
		static const char *const why[VERDICT_COUNT] = {
			[VERDICT_NONE] = "",
			[VERDICT_THROTTLED] = ": the same work takes longer",
			[VERDICT_IMBALANCE] = ": it has other work to do",
			[VERDICT_HOST] = ": its GPU waits for the host",
			[VERDICT_ELSEWHERE] =
			    ": it is in collectives of other groups",
			[VERDICT_NETWORK] = "",
		};

		buf_printf(b,
		    "rank %" PRId64 " late by %.3f ms in %.0f %% of %" PRIu64
		    " collectives%s",
		    j->ranks.v[w->pos].rank,
		    quantile_sorted(w->lates.v, w->lates.n, 0.5) / 1e6,
		    100 * (double)w->nlate / (double)w->ncolls, w->ncolls,
		    why[w->verdict]);
		say_where(w, b);
	} else if (g->ncolls > 0) {
		buf_puts(b, "ranks arrive together");
	} else {
		buf_puts(b, "no complete collective");
	}
}

static void
group_row(const struct job *j, struct table *t, const struct pgroup *g,
    struct group_sum *s, struct buf *b)
{
	double total = s->wait_ns + (double)s->latency_ns;
	const struct lateness *w = s->worst;
	struct str ranks, says;
	struct cell *row;
	size_t n = 0;

	b->len = 0;
	put_ranges(b, g->members.v, g->members.n);
	ranks = table_text(t, buf_str(b));
	say(j, s, b);
	says = table_text(t, buf_str(b));
	row = table_row(t);
	row[n++] = cell_text(g->label);
	row[n++] = cell_str(g->desc);
	row[n++] = g->has_members ? cell_text(ranks) : cell_none();
	row[n++] = cell_int(s->ncolls);
	row[n++] = cell_int(s->nincomplete);
	row[n++] = cell_text(g->by_seq ? STR("seq")
		: g->was_aligned       ? STR("alignment")
				       : STR("order"));
	row[n++] = cell_int(s->latency_ns);
	row[n++] = cell_real(s->wait_ns);
	row[n++] = cell_real(100 * s->wait_ns / total);
	row[n++] = cell_quantile(s->latency.v, s->latency.n, 0.5);
	row[n++] = cell_quantile(s->latency.v, s->latency.n, 0.95);
	row[n++] = cell_quantile(s->latency.v, s->latency.n, 0.99);
	row[n++] = cell_quantile(s->skew.v, s->skew.n, 0.5);
	row[n++] = cell_quantile(s->skew.v, s->skew.n, 0.95);
	row[n++] = cell_quantile(s->skew.v, s->skew.n, 0.99);
	row[n++] = cell_quantile(s->bus.v, s->bus.n, 0.5);
	row[n++] = s->share.n > 0
	    ? cell_real(100 * quantile_sorted(s->share.v, s->share.n, 0.5))
	    : cell_none();
	row[n++] = cell_num(w != NULL, w ? j->ranks.v[w->pos].rank : 0);
	row[n++] = w ? cell_real(100 * (double)w->nlate / (double)w->ncolls)
		     : cell_none();
	row[n++] = w ? cell_quantile(w->lates.v, w->lates.n, 0.5) : cell_none();
	row[n++] = cell_text(str_of(verdict_words[s->verdict]));
	row[n++] = cell_text(says);
}

static void
fill_groups(struct job *j, struct table *t)
{
	struct group_sum *sums = xcalloc(j->groups.n + 1, sizeof *sums);
	struct causes c = { 0 };
	struct curve k = { 0 };
	struct buf b = { 0 };

	curve_make(j, &k);
	causes_find(j, &c);
	for (size_t i = 0; i < j->colls.n; i++)
		add_coll(j, &k, &sums[j->colls.v[i].group], &j->colls.v[i]);
	for (size_t i = 0; i < c.list.n; i++) {
		const struct lateness *l = &c.list.v[i];
		const struct lateness **w = &sums[l->group].worst;

		if (l->nlate > 0 && (*w == NULL || l->late_ns > (*w)->late_ns))
			*w = l;
	}
	for (size_t g = 0; g < j->groups.n; g++) {
		struct group_sum *s = &sums[g];

		sort_doubles(s->latency.v, s->latency.n);
		sort_doubles(s->skew.v, s->skew.n);
		sort_doubles(s->bus.v, s->bus.n);
		sort_doubles(s->share.v, s->share.n);
		judge(s);
		group_row(j, t, &j->groups.v[g], s, &b);
	}
	free(sums);
	buf_free(&b);
}

const struct table_def table_groups = {
	.name = "nccl_groups",
	COLUMNS(group_columns),
	.fill = fill_groups,
};
