/* SPDX-License-Identifier: MIT */
/*
 * Who was late, and what it was doing. All ranks of a group leave a collective
 * together, so what makes one of them late for the next happens between that
 * end and its start: in this window the GPU computes, is idle, or is in
 * collectives of other groups. What the late rank has more of than the median
 * of the others is the cause.
 */
#include "cmd/tl-collective/job.h"

#include <math.h>
#include <stdlib.h>

#include "json/json.h"

#define LATE_MIN_NS 10000 /* less is no lateness */
#define LATE_SHARE 0.05   /* of the latency; less does not matter */
#define SLOW_RATIO 1.03

const char *const verdict_words[VERDICT_COUNT] = {
	[VERDICT_NONE] = "none",
	[VERDICT_THROTTLED] = "throttled",
	[VERDICT_IMBALANCE] = "imbalance",
	[VERDICT_HOST] = "host",
	[VERDICT_ELSEWHERE] = "elsewhere",
	[VERDICT_NETWORK] = "network",
	[VERDICT_UNJUDGED] = "not judged",
};

/* ---- one collective ---- */

static bool
matters(const struct coll *c)
{
	return c->n > 1 && c->late_ns >= LATE_MIN_NS &&
	    (double)c->late_ns >= LATE_SHARE * (double)c->latency_ns;
}

static int64_t
busy_of(const struct rec *r, const struct rec *late)
{
	(void)late;
	return r->busy_ns >= 0 ? r->busy_ns : NONE;
}

static int64_t
idle_of(const struct rec *r, const struct rec *late)
{
	(void)late;
	return r->busy_ns >= 0 ? r->idle_ns : NONE;
}

/* For the cause that kept the late one idle for longest. */
static int64_t
host_us_of(const struct rec *r, const struct rec *late)
{
	return r->host == late->host ? r->host_us : 0;
}

/* How much longer than the others it was idle for one cause. */
static void
blame_idle(const struct job *j, struct lateness *l, const struct coll *c,
    const struct rec *late, int64_t *v)
{
	size_t i = 0;

	if (late->host == HOST_NONE)
		return;
	while (i < l->hosts.n && l->hosts.v[i].host != late->host)
		i++;
	if (i == l->hosts.n)
		vec_push(&l->hosts, ((struct host_cause){ late->host, 0 }));
	l->hosts.v[i].us += late->host_us - others_median(j, c, host_us_of, v);
}

/* "CAUSE: EVENT" in its parts; a partial of other programs may lack one. */
static void
split_cause(struct lateness *l)
{
	ptrdiff_t sep = str_find(l->host, STR(": "), false);

	if (sep < 0)
		return;
	l->idle_cause = (struct str){ l->host.p, (size_t)sep };
	l->host.p += sep + 2;
	l->host.len -= (size_t)sep + 2;
	for (unsigned i = 0; i < CAUSE_COUNT; i++)
		if (str_eq(l->idle_cause, str_of(cause_words[i])))
			l->is_in_time = cause_groups[i] == GROUP_OF_GPU ||
			    cause_groups[i] == GROUP_OF_MISSING;
}

static void
settle_idle(const struct job *j, struct lateness *l)
{
	for (size_t i = 0; i < l->hosts.n; i++) {
		const struct host_cause *h = &l->hosts.v[i];

		if (h->us * 1000 > l->host_ns) {
			l->host_ns = h->us * 1000;
			l->host = intern_get(j->hosts, h->host);
		}
	}
	if (l->host.p == NULL)
		l->host_ns = NONE;
	else
		split_cause(l);
}

/* The work that most of the others did. */
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

static void
blame(const struct job *j, struct lateness *l, const struct coll *c, int64_t *v)
{
	const struct rec *late = coll_last(j, c);

	l->nlate++;
	l->late_ns += c->late_ns;
	vec_push(&l->lates, (double)c->late_ns);
	if (late->busy_ns < 0)
		return;
	l->nknown++;
	l->elsewhere_ns += c->late_ns; /* less the two, later */
	l->busy_ns += late->busy_ns - others_median(j, c, busy_of, v);
	l->idle_ns += late->idle_ns - others_median(j, c, idle_of, v);
	blame_idle(j, l, c, late, v);
	l->nsame += usual_work(j, c, late) == late->work;
}

/* ---- kernels: which are slower than on the median rank ---- */

struct kernel_mean {
	/* What is compared: op and shape, without an op kernel and grid. */
	uint32_t what[3];
	uint32_t kernel, pos;
	double mean;
	int64_t sum_ns;
};

typedef VEC(struct kernel_mean) mean_vec;

/* One of [op, shape, kernel, calls, sum in ns]. */
static void
read_kernel(struct str text, uint32_t pos, struct intern *names,
    struct arena *mem, mean_vec *out)
{
	json_items it = { 0 };
	struct kernel_mean m = { .pos = pos };
	int64_t count;

	if (json_split(&it, mem, text) && it.n == 5 &&
	    num_i64(it.v[3].text, &count) && count > 0 &&
	    num_i64(it.v[4].text, &m.sum_ns)) {
		m.kernel = intern_put(names, it.v[2].text);
		m.what[0] = intern_put(names, it.v[0].text);
		m.what[1] = intern_put(names, it.v[1].text);
		m.what[2] = it.v[0].text.len > 0 ? INTERN_NONE : m.kernel;
		m.mean = (double)m.sum_ns / (double)count;
		vec_push(out, m);
	}
	vec_free(&it);
}

static bool
is_same(const struct kernel_mean *a, const struct kernel_mean *b)
{
	return memcmp(a->what, b->what, sizeof a->what) == 0;
}

static int
by_key(const void *pa, const void *pb)
{
	const struct kernel_mean *a = pa, *b = pb;

	for (size_t i = 0; i < 3; i++)
		if (a->what[i] != b->what[i])
			return a->what[i] < b->what[i] ? -1 : 1;
	if (a->mean != b->mean)
		return a->mean < b->mean ? -1 : 1;
	return a->pos < b->pos ? -1 : a->pos > b->pos;
}

/* Against the median rank: time over what it would have been, and the worst. */
struct slowness {
	double took, should, worst_loss, worst_ratio;
	struct kernel_mean worst;
};

static void
compare_kernels(struct job *j, struct slowness *slow, struct intern *names)
{
	struct arena *mem = arena_create();
	json_items items = { 0 };
	mean_vec all = { 0 };

	for (size_t i = 0; i < j->parts.n; i++) {
		const struct part *p = &j->parts.v[i];

		if (json_split(&items, mem, p->kernels))
			for (size_t k = 0; k < items.n; k++)
				read_kernel(
				    items.v[k].text, p->pos, names, mem, &all);
		arena_reset(mem, 0);
	}
	stable_sort(all.v, all.n, sizeof *all.v, by_key);
	for (size_t i = 0, k; i < all.n; i = k) {
		double median;

		for (k = i; k < all.n && is_same(&all.v[k], &all.v[i]); k++)
			;
		median = all.v[i + (k - i - 1) / 2].mean;
		for (size_t m = i; m < k && median > 0 && k - i > 1; m++) {
			struct slowness *s = &slow[all.v[m].pos];
			double ratio = all.v[m].mean / median;
			double took = (double)all.v[m].sum_ns;
			double loss = took - took / ratio;

			s->took += took;
			s->should += took / ratio;
			if (loss > s->worst_loss) {
				s->worst_loss = loss;
				s->worst_ratio = ratio;
				s->worst = all.v[m];
			}
		}
	}
	vec_free(&all);
	vec_free(&items);
	arena_destroy(mem);
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

/* When all is added up. */
static void
settle(const struct job *j, struct lateness *l)
{
	l->elsewhere_ns -= l->busy_ns + l->idle_ns;
	l->verdict = judge(l);
	l->word = str_of(verdict_words[l->verdict]);
	l->pct_late = 100 * (double)l->nlate / (double)l->ncolls;
	settle_idle(j, l);
	if (l->nknown == 0)
		l->busy_ns = l->idle_ns = l->elsewhere_ns = l->nsame = NONE;
}

/* A rank in a group; valid until the next one is asked for. */
static struct lateness *
row_of(struct stragglers *c, struct map *rows, uint32_t group, uint32_t pos)
{
	bool is_new;
	uint64_t *at = map_put(rows, (uint64_t)group << 32 | pos, &is_new);

	if (is_new) {
		*at = c->list.n;
		vec_push(&c->list,
		    ((struct lateness){ .group = group, .pos = pos }));
	}
	return &c->list.v[*at];
}

static int
by_group(const void *pa, const void *pb)
{
	const struct lateness *a = pa, *b = pb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a->pos < b->pos ? -1 : a->pos > b->pos;
}

static struct str
text_of(const struct job *j, const struct intern *names, uint32_t id)
{
	struct str s = intern_get(names, id);

	return s.len > 0 ? arena_str(j->mem, s) : (struct str){ NULL, 0 };
}

void
stragglers_find(struct job *j, struct stragglers *c)
{
	struct slowness *slow = xcalloc(j->ranks.n + 1, sizeof *slow);
	struct intern *names = intern_create();
	int64_t *v = xmalloc((j->ranks.n + 1) * sizeof *v);
	struct map rows = { 0 };

	for (size_t i = 0; i < j->colls.n; i++) {
		const struct coll *k = &j->colls.v[i];
		struct lateness *l;

		if (!coll_counts(j, k) || k->n < 2 || k->class == CLASS_P2P)
			continue;
		for (uint32_t m = 0; m < k->n; m++)
			row_of(c, &rows, k->group,
			    rec_pos(j, j->members[k->first + m]))
			    ->ncolls++;
		l = row_of(c, &rows, k->group, rec_pos(j, coll_last(j, k)));
		l->nlast++;
		l->caused_ns = num_add_max(l->caused_ns, k->wait_sum_ns);
		if (matters(k))
			blame(j, l, k, v);
	}
	stable_sort(c->list.v, c->list.n, sizeof *c->list.v, by_group);
	compare_kernels(j, slow, names);
	for (size_t i = 0; i < c->list.n; i++) {
		struct lateness *l = &c->list.v[i];
		const struct slowness *s = &slow[l->pos];

		l->all_ratio = s->should > 0 ? s->took / s->should : NAN;
		l->kernel_ratio = NAN;
		if (s->worst_ratio > SLOW_RATIO) {
			l->kernel = text_of(j, names, s->worst.kernel);
			l->op = text_of(j, names, s->worst.what[0]);
			l->shape = text_of(j, names, s->worst.what[1]);
			l->kernel_ratio = s->worst_ratio;
		}
		settle(j, l);
	}
	intern_destroy(names);
	free(slow);
	free(v);
	map_free(&rows);
}
