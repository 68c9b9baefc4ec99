/* SPDX-License-Identifier: MIT */
/*
 * Before and after: equal collectives of two jobs, by group, and which differ
 * beyond noise.
 */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-collective/tables.h"
#include "trace/noise.h"

#define LEAST_SHARE 0.05 /* of a latency: runs differ by less */

/* Collectives of one group, type and size in both jobs. */
struct versus {
	const struct pgroup *group; /* of the later job, if it has the group */
	const struct sig *sig;
	struct values latency[2], bus[2], skew[2], wait[2];
	int64_t count[2];
	double diff_ns, ratio, bus_ratio;
	double total_ns; /* of all later ones, for the order */
	struct noise_row samples;
	struct noise noise;
	bool is_known, is_beyond;
};

struct versus_rows {
	VEC(struct versus) list;
	size_t nboth, nknown, nbeyond;
};

/* Key of what is equal in both jobs; groups may share a name. */
static void
put_key(const struct pgroup *g, const struct sig *s, struct buf *b)
{
	b->len = 0;
	buf_printf(b, "%.*s;%.*s;%.*s;%.*s;%" PRId64 ";%" PRId64 ";",
	    (int)g->pg.len, g->pg.p, (int)g->peers.len, g->peers.p,
	    (int)s->name.len, s->name.p, (int)s->dtype.len, s->dtype.p, s->in,
	    s->out);
	put_members(b, g->members.v, g->members.n);
}

static void
add_side(const struct job *j, int side, struct intern *keys,
    struct versus_rows *rows)
{
	struct buf key = { 0 };

	for (size_t i = 0; i < j->colls.n; i++) {
		const struct coll *c = &j->colls.v[i];
		const struct pgroup *g = &j->groups.v[c->group];
		const struct sig *s = &j->sigs.v[c->sig];
		struct versus *v;
		uint32_t id;

		if (!coll_counts(j, c))
			continue;
		put_key(g, s, &key);
		id = intern_put(keys, buf_str(&key));
		if (id == rows->list.n)
			vec_push(&rows->list, ((struct versus){ 0 }));
		v = &rows->list.v[id];
		v->group = g;
		v->sig = s;
		v->count[side]++;
		value_add(&v->latency[side], (double)c->latency_ns);
		value_add(&v->bus[side], coll_bus_bw(j, c));
		if (g->clocks != CLOCKS_AGREE)
			continue;
		value_add(&v->skew[side], (double)coll_start_skew(j, c));
		value_add(
		    &v->wait[side], (double)c->wait_sum_ns / (double)c->n);
	}
	buf_free(&key);
}

static void
compare(struct versus_rows *rows)
{
	struct noise_rules rules = { .allowance =
					 noise_allowance(NOISE_RUN, 1, 1),
		.tick_ns = NOISE_TICK_NS,
		.least_share = LEAST_SHARE };
	double *p = xcalloc(rows->list.n + 1, sizeof *p), limit;
	size_t n = 0;

	for (size_t i = 0; i < rows->list.n; i++) {
		struct versus *v = &rows->list.v[i];

		v->samples.scale[0] = v->samples.scale[1] = 1;
		v->samples.nevents = 1;
		for (int k = 0; k < 2; k++)
			noise_add(&v->samples.side[k], v->latency[k].v,
			    v->latency[k].n);
		v->is_known = noise_is_known(&v->samples);
		if (v->is_known)
			noise_pool_add(&rules.pool, &v->samples, &rules);
	}
	noise_pool_end(&rules.pool);
	for (size_t i = 0; i < rows->list.n; i++) {
		struct versus *v = &rows->list.v[i];

		if (v->is_known) {
			noise_test(&v->samples, &rules, &v->noise);
			p[n++] = v->noise.p;
		}
	}
	limit = noise_limit(p, n, NOISE_COMM);
	for (size_t i = 0; i < rows->list.n; i++) {
		struct versus *v = &rows->list.v[i];

		v->is_beyond = v->is_known && v->noise.p <= limit;
		rows->nknown += v->is_known;
		rows->nbeyond += v->is_beyond;
	}
	free(p);
}

/* By cost of the difference; rows of one side last. */
static int
by_worth(const void *pa, const void *pb)
{
	const struct versus *a = pa, *b = pb;
	double x = isnan(a->total_ns) ? -1 : fabs(a->total_ns);
	double y = isnan(b->total_ns) ? -1 : fabs(b->total_ns);

	if (a->is_beyond != b->is_beyond)
		return a->is_beyond ? -1 : 1;
	return x > y ? -1 : x < y;
}

static const struct versus_rows *
versus_of(struct job *j)
{
	struct versus_rows *rows = j->versus;
	struct intern *keys;

	if (rows != NULL)
		return rows;
	rows = j->versus = xcalloc(1, sizeof *rows);
	keys = intern_create();
	add_side(j, 0, keys, rows);
	add_side(j->vs, 1, keys, rows);
	intern_destroy(keys);
	compare(rows);
	for (size_t i = 0; i < rows->list.n; i++) {
		struct versus *v = &rows->list.v[i];
		double before = values_stat(&v->latency[0], STAT_MEAN);
		double after = values_stat(&v->latency[1], STAT_MEAN);

		v->diff_ns = after - before;
		v->ratio = after / before;
		v->bus_ratio =
		    values_stat(&v->bus[1], 0.5) / values_stat(&v->bus[0], 0.5);
		v->total_ns = v->diff_ns * (double)v->count[1];
		rows->nboth += v->count[0] > 0 && v->count[1] > 0;
	}
	if (rows->nboth == 0)
		report(MSG_JOBS_DIFFER, rows->list.n);
	stable_sort(rows->list.v, rows->list.n, sizeof *rows->list.v, by_worth);
	return rows;
}

/* ---- nccl_vs ---- */

static struct cell
cell_beyond(const struct row *r)
{
	const struct versus *v = r->own;

	return v->is_known ? cell_bool(v->is_beyond) : cell_none();
}

/* clang-format off */
#define SIDES(name, unit, m, which, flags) \
	OWN_STAT(COLUMN(name "_before", NULL, COL_REAL, unit, flags, 0), struct versus, m[0], which), \
	OWN_STAT(COLUMN(name "_after", NULL, COL_REAL, unit, flags, 0), struct versus, m[1], which)
static const struct field versus_fields[] = {
	LABEL,
	DESC,
	NAME,
	DTYPE,
	IN_NELEMS,
	FULL_BYTES,
	OWN(COUNTS("count_before", NULL), struct versus, count[0]),
	OWN(COUNTS("count_after", NULL), struct versus, count[1]),
	SIDES("latency_ns_mean", UNIT_NS, latency, STAT_MEAN, 0),
	OWN(COLUMN("latency_ns_diff", NULL, COL_REAL, UNIT_NS, COL_BETTER_LESS, 0), struct versus, diff_ns),
	OWN(REAL("latency_ratio", NULL), struct versus, ratio),
	CELL(BOOL("beyond_noise", NULL), cell_beyond),
	SIDES("bus_gib_per_s_p50", UNIT_NONE, bus, 0.5, 0),
	SIDES("start_skew_ns_p95", UNIT_NS, skew, 0.95, COL_MINOR),
	SIDES("wait_ns_mean", UNIT_NS, wait, STAT_MEAN, COL_MINOR),
};
/* clang-format on */

static void
put_headline(struct table *t, const struct versus_rows *rows)
{
	const struct versus *v = rows->list.v;
	struct buf b = { 0 };

	if (rows->nknown == 0) {
		table_note(t,
		    "noise unknown: no row has two collectives in "
		    "each job");
		return;
	}
	if (rows->nbeyond == 0) {
		table_note(t, "no latency differs beyond noise in %zu rows",
		    rows->nknown);
		return;
	}
	buf_printf(&b, "%.*s in group %.*s", (int)v->sig->name.len,
	    v->sig->name.p, (int)v->group->label.len, v->group->label.p);
	table_note(t,
	    "%zu of %zu rows differ beyond noise, most of all %.*s: %.3f to "
	    "%.3f ms each, %.2fx, %+.3f ms in %" PRId64,
	    rows->nbeyond, rows->nknown, (int)b.len, b.p,
	    values_stat((struct values *)(uintptr_t)&v->latency[0], STAT_MEAN) /
		1e6,
	    values_stat((struct values *)(uintptr_t)&v->latency[1], STAT_MEAN) /
		1e6,
	    v->ratio, v->total_ns / 1e6, v->count[1]);
	buf_free(&b);
}

static void
fill_versus(struct sheet_rows *s, struct job *j)
{
	const struct versus_rows *rows = versus_of(j);

	put_headline(s->table, rows);
	for (size_t i = 0; i < rows->list.n; i++) {
		struct versus *v = &rows->list.v[i];

		put_row(s,
		    &(struct row){
			.group = v->group, .sig = v->sig, .own = v });
	}
}

static bool
has_other(const struct job *j, const struct coll *c)
{
	(void)c;
	return j->vs != NULL;
}

const struct table_def table_versus = {
	.name = "nccl_vs",
	.is_about = has_other,
	FIELDS(versus_fields),
	.fill = fill_versus,
};

/* ---- its gate ---- */

bool
versus_bandwidth(
    struct job *j, const struct pgroup *g, double *pct, struct buf *b)
{
	const struct versus_rows *rows = versus_of(j);
	const struct versus *worst = NULL;

	for (size_t i = 0; i < rows->list.n; i++) {
		const struct versus *v = &rows->list.v[i];

		if (v->group == g && !isnan(v->bus_ratio) && v->is_known &&
		    (worst == NULL || v->is_beyond > worst->is_beyond ||
			(v->is_beyond == worst->is_beyond &&
			    v->bus_ratio < worst->bus_ratio)))
			worst = v;
	}
	if (worst == NULL)
		return false;
	*pct = worst->is_beyond ? 100 * worst->bus_ratio : 100;
	buf_printf(b, "%.*s of %.4g MB at %.4g %% of the bandwidth before%s",
	    (int)worst->sig->name.len, worst->sig->name.p,
	    (double)worst->sig->full_bytes / 1e6, 100 * worst->bus_ratio,
	    worst->is_beyond ? "" : " (within noise)");
	return true;
}
