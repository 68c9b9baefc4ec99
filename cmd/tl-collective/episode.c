/* SPDX-License-Identifier: MIT */
#include "cmd/tl-collective/episode.h"

#include <math.h>
#include <stdlib.h>

#include "cmd/tl-collective/slow.h"
#include "cmd/tl-collective/verdict.h"

/* Collectives of one group, type and size, in order. */
struct stratum {
	VEC(uint32_t) colls;
	double usual;   /* logarithm */
	double like_ns; /* usual latency in other groups */
};

struct strata {
	VEC(struct stratum) list;
	struct intern *keys;
	int64_t *ns; /* scratch, as large as the largest stratum */
};

/* All ranks leave it together, so its latency is the least duration. */
static bool
is_measured(const struct job *j, const struct coll *c)
{
	return coll_counts(j, c) && coll_is_sync(j, c) && c->n > 1;
}

static void
collect(const struct job *j, struct strata *s)
{
	size_t most = 0;

	s->keys = intern_create();
	for (uint32_t i = 0; i < j->colls.n; i++) {
		const struct coll *c = &j->colls.v[i];
		uint32_t key[] = { c->group, j->sigs.v[c->sig].alike }, id;

		if (!is_measured(j, c))
			continue;
		id = intern_put(
		    s->keys, (struct str){ (const char *)key, sizeof key });
		if (id == s->list.n)
			vec_push(&s->list,
			    ((struct stratum){ .usual = NAN, .like_ns = NAN }));
		vec_push(&s->list.v[id].colls, i);
		if (s->list.v[id].colls.n > most)
			most = s->list.v[id].colls.n;
	}
	s->ns = xcalloc(most + 1, sizeof *s->ns);
}

static size_t
latencies(const struct job *j, struct strata *s, const struct stratum *t)
{
	for (size_t i = 0; i < t->colls.n; i++)
		s->ns[i] = j->colls.v[t->colls.v[i]].latency_ns;
	return t->colls.n;
}

/* For each stratum the median of those of other groups, of two or more. */
static void
compare_groups(const struct job *j, struct strata *s)
{
	struct intern *keys = intern_create();
	VEC(struct values) alike = { 0 };
	uint32_t *of = xcalloc(s->list.n + 1, sizeof *of);

	for (size_t i = 0; i < s->list.n; i++) {
		struct stratum *t = &s->list.v[i];
		const struct sig *g = &j->sigs.v[j->colls.v[t->colls.v[0]].sig];
		int64_t key[] = { g->alike, g->n };

		of[i] = intern_put(
		    keys, (struct str){ (const char *)key, sizeof key });
		if (of[i] == alike.n)
			vec_push(&alike, ((struct values){ 0 }));
		if (t->colls.n < SLOW_LEAST)
			continue;
		t->usual = slow_usual(s->ns, latencies(j, s, t));
		value_add(&alike.v[of[i]], t->usual);
	}
	for (size_t i = 0; i < s->list.n; i++)
		if (alike.v[of[i]].n > 2)
			s->list.v[i].like_ns =
			    exp(values_stat(&alike.v[of[i]], 0.5));
	for (size_t i = 0; i < alike.n; i++)
		free(alike.v[i].v);
	vec_free(&alike);
	free(of);
	intern_destroy(keys);
}

/* Exposed time of the rank that waited least. NONE: unknown. */
static int64_t
exposed_of(const struct job *j, const struct coll *c)
{
	for (uint32_t m = 0; m < c->n; m++) {
		const struct rec *r = j->members[c->first + m];

		if (r->dur_ns == c->latency_ns)
			return rec_exposed(j, r);
	}
	return NONE;
}

/* Mean share of collectives during which the GPU computed. */
struct overlap {
	double sum;
	size_t n;
};

static void
add_overlap(struct overlap *o, const struct coll *c, int64_t exposed_ns)
{
	if (exposed_ns == NONE || c->latency_ns <= 0)
		return;
	o->sum += 100 * (1 - (double)exposed_ns / (double)c->latency_ns);
	o->n++;
}

static double
overlap_of(const struct overlap *o)
{
	return o->n > 0 ? o->sum / (double)o->n : NAN;
}

static int64_t
job_start(const struct job *j)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < j->parts.n; i++)
		if (j->parts.v[i].nrecs > 0 &&
		    j->parts.v[i].recs[0].start_ns < first)
			first = j->parts.v[i].recs[0].start_ns;
	return first;
}

/* Saturates, as times of a hostile trace may be far apart. */
static int64_t
ns_between(int64_t from, int64_t to)
{
	int64_t ns;

	return __builtin_sub_overflow(to, from, &ns) ? INT64_MAX : ns;
}

static int64_t
ns_of(double ns)
{
	return ns < 0x1p62 ? (int64_t)ns : INT64_MAX;
}

/* Adds a slow collective, from the last start on: what precedes is waiting. */
static void
add_slow(const struct job *j, struct episode *e, const struct coll *c,
    int64_t exposed_ns, int64_t start_ns)
{
	int64_t over = c->latency_ns - ns_of(e->usual_ns);
	int64_t from = ns_between(start_ns, coll_last(j, c)->start_ns);
	int64_t to = ns_between(start_ns, c->end_ns);

	if (e->first == NULL)
		e->first = c;
	e->last = c;
	e->from_ns = from < e->from_ns ? from : e->from_ns;
	e->to_ns = to > e->to_ns ? to : e->to_ns;
	e->cost_ns = num_add_max(e->cost_ns,
	    exposed_ns == NONE || exposed_ns > over ? over : exposed_ns);
}

static void
put_episode(struct job *j, episode_vec *out, const struct slowness *slow,
    const struct stratum *t, size_t run, struct episode e, int64_t start_ns)
{
	const struct slow_run *r = &slow->runs.v[run];
	struct overlap in = { 0 }, usual = { 0 };

	for (size_t i = 0; i < t->colls.n; i++) {
		const struct coll *c = &j->colls.v[t->colls.v[i]];
		int64_t exposed = exposed_of(j, c);

		if (slow->run_of.v[i] == run + 1)
			add_slow(j, &e, c, exposed, start_ns);
		if (slow->run_of.v[i] == run + 1)
			add_overlap(&in, c, exposed);
		else if (slow->run_of.v[i] == 0)
			add_overlap(&usual, c, exposed);
	}
	e.kind = r->is_scattered ? STR("scattered") : STR("episode");
	e.nslow = (int64_t)r->n;
	e.last_index = e.last->index;
	e.sum_ns = r->ns;
	e.mean_ns = r->ns / (double)r->n;
	e.ratio = e.mean_ns / e.usual_ns;
	e.excess_ns = ns_of(r->excess_ns);
	if (e.cost_ns > e.excess_ns)
		e.cost_ns = e.excess_ns;
	e.pct_excess = 100 * r->excess_ns / slow->total_ns;
	e.overlap_slow = overlap_of(&in);
	e.overlap_usual = overlap_of(&usual);
	vec_push(out, e);
}

static void
find_in(struct job *j, struct strata *s, size_t at, struct slowness *slow,
    int64_t start_ns, episode_vec *out)
{
	const struct stratum *t = &s->list.v[at];
	size_t n = latencies(j, s, t);
	struct values v = { 0 };
	struct episode e = { .stratum = (uint32_t)at,
		.group = &j->groups.v[j->colls.v[t->colls.v[0]].group],
		.ncolls = (int64_t)n,
		.from_ns = INT64_MAX,
		.to_ns = INT64_MIN };

	slow_find(slow, s->ns, n, t->like_ns);
	if (slow->runs.n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		value_add(&v, (double)s->ns[i]);
	e.usual_ns = slow->usual_ns;
	e.p50_ns = values_stat(&v, 0.5);
	e.p95_ns = values_stat(&v, 0.95);
	e.spread = e.p95_ns / e.p50_ns;
	e.nodes = group_nodes(j, e.group);
	for (size_t r = 0; r < slow->runs.n; r++)
		put_episode(j, out, slow, t, r, e, start_ns);
	free(v.v);
}

static int
by_group(const void *pa, const void *pb)
{
	const struct episode *a = pa, *b = pb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->stratum != b->stratum)
		return a->stratum < b->stratum ? -1 : 1;
	return a->from_ns < b->from_ns ? -1 : a->from_ns > b->from_ns;
}

void
episodes_find(struct job *j, episode_vec *out)
{
	struct strata s = { 0 };
	struct slowness slow = { 0 };
	int64_t start_ns = job_start(j);

	collect(j, &s);
	compare_groups(j, &s);
	for (size_t i = 0; i < s.list.n; i++)
		find_in(j, &s, i, &slow, start_ns, out);
	stable_sort(out->v, out->n, sizeof *out->v, by_group);
	for (size_t i = 0; i < s.list.n; i++)
		vec_free(&s.list.v[i].colls);
	slow_free(&slow);
	vec_free(&s.list);
	intern_destroy(s.keys);
	free(s.ns);
}

/* ---- nccl_episodes ---- */

/* clang-format off */
#define NS(id, m) OWN(COLUMN(id, NULL, COL_INT, UNIT_NS, 0, 0), struct episode, m)
#define REAL_NS(id, m) OWN(COLUMN(id, NULL, COL_REAL, UNIT_NS, 0, 0), struct episode, m)
static const struct field episode_fields[] = {
	LABEL,
	DESC,
	OWN(TEXT("nodes", NULL), struct episode, nodes),
	NAME,
	DTYPE,
	IN_NELEMS,
	FULL_BYTES,
	OWN(TEXT("kind", NULL), struct episode, kind),
	OWN(COUNTS("collectives", NULL), struct episode, ncolls),
	OWN(COUNTS("slow", NULL), struct episode, nslow),
	COLL(MINOR("first_index", COL_INT, UNIT_NONE), index),
	OWN(MINOR("last_index", COL_INT, UNIT_NONE), struct episode, last_index),
	NS("from_ns", from_ns),
	NS("to_ns", to_ns),
	REAL_NS("usual_ns", usual_ns),
	REAL_NS("slow_ns_mean", mean_ns),
	OWN(REAL("ratio", NULL), struct episode, ratio),
	NS("excess_ns", excess_ns),
	OWN(PCT("pct_excess", NULL), struct episode, pct_excess),
	NS("cost_ns", cost_ns),
	OWN(MINOR("latency_ns_p50", COL_REAL, UNIT_NS), struct episode, p50_ns),
	OWN(MINOR("latency_ns_p95", COL_REAL, UNIT_NS), struct episode, p95_ns),
	OWN(MINOR("p95_to_p50", COL_REAL, UNIT_NONE), struct episode, spread),
	OWN(MINOR("pct_overlap_slow", COL_REAL, UNIT_PERCENT), struct episode, overlap_slow),
	OWN(MINOR("pct_overlap_usual", COL_REAL, UNIT_PERCENT), struct episode, overlap_usual),
};
/* clang-format on */

static int
by_cost(const void *pa, const void *pb)
{
	const struct episode *const *a = pa, *const *b = pb;

	if ((*a)->excess_ns != (*b)->excess_ns)
		return (*a)->excess_ns > (*b)->excess_ns ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

static void
fill_episodes(struct sheet_rows *s, struct job *j)
{
	const struct findings *f = findings_of(j);
	VEC(struct episode *) list = { 0 };

	for (size_t i = 0; i < f->episodes.n; i++)
		vec_push(&list, &f->episodes.v[i]);
	stable_sort(list.v, list.n, sizeof *list.v, by_cost);
	for (size_t i = 0; i < list.n; i++) {
		struct row r = row_of_coll(j, list.v[i]->first, list.v[i]);

		put_row(s, &r);
	}
	vec_free(&list);
}

const struct table_def table_episodes = {
	.name = "nccl_episodes",
	FIELDS(episode_fields),
	.fill = fill_episodes,
};
