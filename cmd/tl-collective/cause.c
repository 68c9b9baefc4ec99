/* SPDX-License-Identifier: MIT */
/*
 * Who was late, at what cost, and why. All ranks of a group leave a collective
 * together, so what makes one late for the next happens between that end and
 * its start: in this window its GPU computes, is idle, or is in collectives of
 * other groups. Compared with the mean of the ranks that came in the middle,
 * the differences of these parts add up to that of the windows, and those of
 * ops and host events to that of a part.
 */
#include "cmd/tl-collective/job.h"

#include <math.h>
#include <stdlib.h>

#include "json/json.h"

#define LATE_MIN_NS 10000 /* less is not late */
#define LATE_SHARE 0.05   /* of the latency; less does not matter */
#define NAMED_SHARE 0.25  /* of the difference; less is no cause by itself */
#define EVEN_SHARE 0.4    /* of the differences, left by one ratio for all */

const char *const verdict_words[VERDICT_COUNT] = {
	[VERDICT_NONE] = "none",
	[VERDICT_THROTTLED] = "throttled",
	[VERDICT_IMBALANCE] = "imbalance",
	[VERDICT_HOST] = "host",
	[VERDICT_ELSEWHERE] = "elsewhere",
	[VERDICT_NETWORK] = "network",
	[VERDICT_UNSTABLE] = "unstable",
	[VERDICT_UNJUDGED] = "not judged",
};

/* When a rank began to wait for the last one of the current collective. */
struct arrival {
	int64_t start_ns;
	struct rec *rec;
};

struct finder {
	struct job *j;
	struct stragglers *out;
	struct map rows;      /* by group and rank */
	struct map shares;    /* by row and name, in the row's shares */
	struct arrival *come; /* all ranks of the collective, by start */
	size_t n;
	int64_t u_ns; /* of its lateness; NONE: unknown */
};

static int
by_start(const void *pa, const void *pb)
{
	const struct arrival *a = pa, *b = pb;

	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* A rank in a group; valid until the next call. */
static struct lateness *
row_of(struct finder *f, uint32_t group, const struct rec *r)
{
	uint32_t pos = rec_pos(f->j, r);
	bool is_new;
	uint64_t *at = map_put(&f->rows, (uint64_t)group << 32 | pos, &is_new);

	if (is_new) {
		*at = f->out->list.n;
		vec_push(&f->out->list,
		    ((struct lateness){ .group = group, .pos = pos }));
	}
	return &f->out->list.v[*at];
}

/* ---- cost ---- */

bool
coll_seems_late(const struct coll *c)
{
	return c->late_ns >= LATE_MIN_NS &&
	    (double)c->late_ns >= LATE_SHARE * (double)c->latency_ns;
}

/* Whether starts of its ranks can be compared. */
static bool
is_judged(const struct finder *f, const struct coll *c)
{
	return f->j->groups.v[c->group].clocks == CLOCKS_AGREE &&
	    f->u_ns != NONE;
}

static bool
matters(const struct finder *f, const struct coll *c)
{
	return c->late_ns / 2 >= f->u_ns && coll_seems_late(c);
}

/* Waiting of the median rank, of two the earlier, that its own work does not
 * hide. */
static double
exposed_share(const struct finder *f, int64_t late_ns)
{
	int64_t ns = rec_exposed(f->j, f->come[(f->n - 1) / 2].rec);

	return ns == NONE || ns >= late_ns ? 1
	    : ns <= 0                      ? 0
					   : (double)ns / (double)late_ns;
}

static void
add_cost(struct finder *f, const struct coll *c, const struct rec *r,
    int64_t ns, double exposed)
{
	struct lateness *l = row_of(f, c->group, r);

	l->share_ns = num_add_max(l->share_ns, ns);
	l->cost_ns = num_add_max(l->cost_ns, (int64_t)((double)ns * exposed));
	l->u_ns = num_add_max(l->u_ns, f->u_ns);
}

/*
 * Shares the time from the median start (of a pair: the other's) to the last:
 * each stretch between two starts evenly among the ranks still to come.
 */
static void
share_out(struct finder *f, const struct coll *c)
{
	const struct arrival *v = f->come;
	int64_t high = v[f->n / 2].start_ns, from = v[(f->n - 1) / 2].start_ns;
	int64_t each = 0, odd = 0; /* the last one gets the remainder */
	double exposed;

	if (f->n > 2)
		from += (high - from) / 2;
	exposed = exposed_share(f, v[f->n - 1].start_ns - from);
	for (size_t i = f->n / 2; i < f->n; i++) {
		int64_t n = (int64_t)(f->n - i), ns = v[i].start_ns - from;

		if (ns <= 0)
			continue;
		each += ns / n;
		odd += ns % n;
		from = v[i].start_ns;
		add_cost(
		    f, c, v[i].rec, each + (i + 1 == f->n ? odd : 0), exposed);
	}
}

/* ---- what its time went on ---- */

static struct share *
share_of(struct finder *f, struct lateness *l, uint32_t name)
{
	uint64_t row = (uint64_t)(l - f->out->list.v);
	bool is_new;
	uint64_t *at = map_put(&f->shares, row << 32 | name, &is_new);

	if (is_new) {
		*at = l->shares.n;
		vec_push(&l->shares, ((struct share){ .name = name }));
	}
	return &l->shares.v[*at];
}

static bool
is_idle_name(const struct job *j, const struct part *p, uint64_t name)
{
	return j->spent_on.v[p->name_of[name]].on == SPENT_IDLE;
}

/* Adds the parts of a rank's window; weight 0: of the late rank itself. */
static void
add_window(
    struct finder *f, struct lateness *l, const struct rec *r, double weight)
{
	const struct part *p = &f->j->parts.v[r->part];
	double rest[2] = { (double)r->busy_ns, (double)r->idle_ns };
	size_t n = r->nspent;

	for (size_t i = 0; i < n + 3; i++) {
		const struct spent *s = p->spent + r->spent + i;
		uint32_t name = i < n ? p->name_of[s->name]
		    : i == n          ? NAME_WORK
		    : i == n + 1      ? NAME_IDLE
				      : NAME_ELSEWHERE;
		double ns = i < n ? (double)s->ns
		    : i < n + 2   ? rest[i - n]
				  : (double)r->else_ns;
		struct share *to;

		if (i < n)
			rest[is_idle_name(f->j, p, s->name)] -= ns;
		if (ns == 0)
			continue;
		to = share_of(f, l, name);
		if (weight == 0)
			to->late_ns += ns;
		else
			to->usual_ns += ns * weight;
	}
}

static void
add_parts(struct lateness *l, const struct rec *r, double weight)
{
	l->busy_ns += (double)r->busy_ns * weight;
	l->idle_ns += (double)r->idle_ns * weight;
	l->elsewhere_ns += (double)r->else_ns * weight;
}

/* The work done by most of the others. */
static uint32_t
usual_work(const struct job *j, const struct coll *c, const struct rec *late)
{
	uint32_t best = 0, votes = 0;

	for (uint32_t m = 0; m < c->n; m++) { /* Boyer and Moore's vote */
		const struct rec *r = j->members[c->first + m];

		if (r == late)
			continue;
		if (votes == 0)
			best = r->work;
		votes += r->work == best ? 1 : (uint32_t)-1;
	}
	return best;
}

/* Compares with the ranks between the quartiles of the others, which are sorted
 * by start; of two with the first. */
static void
blame(struct finder *f, const struct coll *c, const struct rec *late)
{
	struct lateness *l = row_of(f, c->group, late);
	size_t others = f->n - 1, first = (others + 2) / 4;
	size_t last = 3 * (others - 1) / 4, nknown = 0;
	int64_t from, to;

	l->nlate++;
	l->late_ns = num_add_max(l->late_ns, c->late_ns);
	vec_push(&l->lates, (double)c->late_ns);
	if (last < first)
		first = last = 0;
	from = f->come[first].start_ns;
	to = f->come[last].start_ns;
	for (size_t i = 0; i < others; i++)
		nknown += f->come[i].rec->busy_ns >= 0 &&
		    f->come[i].start_ns >= from && f->come[i].start_ns <= to;
	if (late->busy_ns < 0 || nknown == 0)
		return;
	l->nknown++;
	l->nsame += usual_work(f->j, c, late) == late->work;
	add_window(f, l, late, 0);
	add_parts(l, late, 1);
	for (size_t i = 0; i < others; i++) {
		const struct arrival *a = &f->come[i];

		if (a->rec->busy_ns < 0 || a->start_ns < from ||
		    a->start_ns > to)
			continue;
		add_window(f, l, a->rec, 1 / (double)nknown);
		add_parts(l, a->rec, -1 / (double)nknown);
	}
}

/* ---- verdicts ---- */

static enum verdict
judge(const struct lateness *l)
{
	if (l->nknown == 0)
		return VERDICT_NONE;
	if (l->busy_ns >= l->idle_ns && l->busy_ns >= l->elsewhere_ns)
		return l->nsame * 2 >= l->nknown ? VERDICT_THROTTLED
						 : VERDICT_IMBALANCE;
	return l->idle_ns >= l->elsewhere_ns ? VERDICT_HOST : VERDICT_ELSEWHERE;
}

static double
more(const struct share *s)
{
	return s->late_ns - s->usual_ns;
}

static int
by_more(const void *pa, const void *pb)
{
	const struct share *a = pa, *b = pb;

	if (more(a) != more(b))
		return more(a) > more(b) ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

bool
share_is_idle(const struct job *j, const struct share *s)
{
	return s->name == NAME_IDLE ||
	    (s->name < NAME_WORK && j->spent_on.v[s->name].on == SPENT_IDLE);
}

/*
 * Whether one ratio explains most of the differences in a part's names, and not
 * that of the first alone.
 */
static bool
is_throughout(const struct job *j, const struct lateness *l, bool is_idle,
    const struct share *first, double ratio)
{
	double beyond = 0, sum = 0, beyond_rest = 0, rest = 0;

	for (size_t i = 0; i < l->shares.n; i++) {
		const struct share *s = &l->shares.v[i];
		double off = fabs(more(s) - (ratio - 1) * s->usual_ns);

		if (s->name == NAME_ELSEWHERE || share_is_idle(j, s) != is_idle)
			continue;
		beyond += off;
		sum += fabs(more(s));
		if (s == first)
			continue;
		beyond_rest += off;
		rest += fabs(more(s));
	}
	return beyond < EVEN_SHARE * sum && beyond_rest < EVEN_SHARE * rest &&
	    rest >= NAMED_SHARE * sum;
}

/* Finds the part that is the verdict, its largest name, and how it is
 * spread. */
static void
settle_part(
    const struct job *j, struct lateness *l, bool is_idle, struct excess *e)
{
	double late = 0, usual = 0;

	e->ratio = NAN;
	for (size_t i = 0; i < l->shares.n; i++) {
		const struct share *s = &l->shares.v[i];

		if (s->name == NAME_ELSEWHERE || share_is_idle(j, s) != is_idle)
			continue;
		late += s->late_ns;
		usual += s->usual_ns;
		if (s->name >= NAME_WORK || more(s) <= 0)
			continue;
		if (e->top == NULL)
			e->top = s;
		e->n++;
	}
	e->more_ns = late - usual;
	if (e->top != NULL && usual > 0 && late > usual &&
	    is_throughout(j, l, is_idle, e->top, late / usual))
		e->ratio = late / usual;
	e->is_named = e->top != NULL &&
	    more(e->top) >=
		NAMED_SHARE * (l->busy_ns + l->idle_ns + l->elsewhere_ns);
}

static void
settle(const struct job *j, struct lateness *l)
{
	stable_sort(l->shares.v, l->shares.n, sizeof *l->shares.v, by_more);
	settle_part(j, l, false, &l->work);
	settle_part(j, l, true, &l->idle);
	l->verdict = j->groups.v[l->group].clocks != CLOCKS_AGREE
	    ? VERDICT_UNJUDGED
	    : judge(l);
	l->word = str_of(verdict_words[l->verdict]);
	l->pct_late = 100 * (double)l->nlate / (double)l->ncolls;
	if (l->nknown == 0) {
		l->busy_ns = l->idle_ns = l->elsewhere_ns = NAN;
		l->nsame = NONE;
	}
}

static int
by_group(const void *pa, const void *pb)
{
	const struct lateness *a = pa, *b = pb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a->pos < b->pos ? -1 : a->pos > b->pos;
}

/* ---- names ---- */

/* [WORD, NAME, DETAIL]; other forms are ops. */
static void
read_name(struct job *j, struct str text, struct spent_name *to)
{
	json_items it = { 0 };

	*to = (struct spent_name){ .on = SPENT_OP };
	if (json_split(&it, j->mem, text) && it.n == 3) {
		while (to->on > SPENT_IDLE &&
		    !str_eq(it.v[0].text, str_of(spent_words[to->on])))
			to->on--;
		to->name = it.v[1].text;
		to->detail = it.v[2].text;
	}
	for (unsigned i = 0; i < CAUSE_COUNT && to->on == SPENT_IDLE; i++)
		if (str_eq(to->name, str_of(cause_words[i])))
			to->is_in_time = cause_groups[i] == GROUP_OF_GPU ||
			    cause_groups[i] == GROUP_OF_MISSING;
	vec_free(&it);
}

static void
read_names(struct job *j)
{
	for (uint32_t i = 0; i < j->names->list.n; i++)
		read_name(j, intern_get(j->names, i), vec_add(&j->spent_on));
}

/* ---- all ---- */

/* Of ranks that came last together, the one that counts as last. */
static void
put_last(struct finder *f, const struct rec *last)
{
	size_t i = f->n - 1;
	struct arrival a;

	while (f->come[i].rec != last)
		i--;
	a = f->come[i];
	f->come[i] = f->come[f->n - 1];
	f->come[f->n - 1] = a;
}

/*
 * By how much the last rank comes after the next; at most what any waits, as
 * ranks may have left a broadcast by then.
 */
static int64_t
behind_next(const struct job *j, const struct coll *c)
{
	int64_t last_ns = coll_last(j, c)->start_ns;
	int64_t least = INT64_MAX, longest = 0;

	for (uint32_t m = 0; m < c->n; m++) {
		const struct rec *r = j->members[c->first + m];
		int64_t wait = coll_wait(j, c, r);

		if (m == c->last)
			continue;
		if (last_ns - r->start_ns < least)
			least = last_ns - r->start_ns;
		longest = wait > longest ? wait : longest;
	}
	return least < longest ? least : longest;
}

static void
take(struct finder *f, const struct coll *c)
{
	struct job *j = f->j;
	struct lateness *l;
	int64_t last_ns = coll_last(j, c)->start_ns;

	f->n = c->n;
	for (uint32_t m = 0; m < c->n; m++) {
		struct rec *r = j->members[c->first + m];

		f->come[m] =
		    (struct arrival){ last_ns - coll_wait(j, c, r), r };
		row_of(f, c->group, r)->ncolls++;
	}
	l = row_of(f, c->group, coll_last(j, c));
	l->nlast++;
	l->caused_ns = num_add_max(l->caused_ns, c->wait_sum_ns);
	f->u_ns = coll_u_ns(j, c);
	if (!is_judged(f, c))
		return;
	/* includes what is too little to be late */
	l->behind_ns = num_add_max(l->behind_ns, behind_next(j, c));
	if (!matters(f, c))
		return;
	for (uint32_t m = 0; m < c->n; m++) {
		const struct rec *r = j->members[c->first + m];
		int64_t *wait = &f->out->wait_ns[rec_pos(j, r)];

		*wait = num_add_max(*wait, coll_wait(j, c, r));
	}
	stable_sort(f->come, f->n, sizeof *f->come, by_start);
	put_last(f, coll_last(j, c));
	share_out(f, c);
	blame(f, c, coll_last(j, c));
}

void
stragglers_find(struct job *j, struct stragglers *out)
{
	struct finder f = { .j = j, .out = out };

	read_names(j);
	f.come = xmalloc((j->ranks.n + 1) * sizeof *f.come);
	out->wait_ns = xcalloc(j->ranks.n + 1, sizeof *out->wait_ns);
	for (size_t i = 0; i < j->colls.n; i++) {
		const struct coll *c = &j->colls.v[i];

		if (coll_counts(j, c) && c->n > 1 && c->class != CLASS_P2P)
			take(&f, c);
	}
	for (size_t i = 0; i < out->list.n; i++)
		settle(j, &out->list.v[i]);
	stable_sort(out->list.v, out->list.n, sizeof *out->list.v, by_group);
	free(f.come);
	map_free(&f.shares);
	map_free(&f.rows);
}
