/* SPDX-License-Identifier: MIT */
/*
 * Steps of several kinds: training and evaluation, prefill and decode, a
 * warm-up. Their mean is the time of none.
 */
#include "table/table.h"

#include "cmd/tl-report/figures.h"

#define APART 2     /* times as long as the next shorter one: of another kind */
#define KINDS_MAX 3 /* more are a spread */
/* percent of step time and of steps: of less in both nothing is said */
#define TIME_MIN 1
#define STEPS_MIN 10
#define CAUSE_MIN 5   /* percent idle: below, the cause is of no interest */
#define IDLE_APART 20 /* points by which idle shares differ */

struct step_kind {
	const struct step_time *v; /* sorted by time */
	size_t n;
	int64_t all_ns, idle_ns, launched_ns;
	unsigned cause; /* of at least half of much idle time, or NOTHING */
};

struct step_kinds {
	VEC(struct step_time) sorted;
	struct step_kind v[KINDS_MAX];
	size_t n, nsmall; /* small: of too few steps and too little time */
	size_t nless;     /* of those, shorter than any kind */
	size_t nunknown;
	int64_t all_ns;
	bool is_gpu; /* time on the GPU is compared */
};

static int64_t
time_in(const struct line *l, const char *column)
{
	return line_lacks(l, column) ? -1 : line_int(l, column);
}

/* The first inferred step begins with its first launch, not a gap before. */
void
kinds_take(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	int64_t gpu_ns = time_in(l, "gpu_wall_ns");

	if (!str_eq(line_text(l, "what"), STR("step")))
		return;
	vec_push(&f->steps,
	    ((struct step_time){
		.label = figures_text(f, budget_label(l)),
		.wall_ns = line_bool(l, "is_inferred") && gpu_ns < 0
		    ? -1
		    : time_in(l, "wall_ns"),
		.gpu_ns = gpu_ns,
		.launched_ns = line_int(l, "busy_launched_ns"),
		.cause = budget_cause(line_text(l, "idle_cause")),
		.idle_ns = line_int(l, "idle_ns"),
		.cause_ns = line_int(l, "idle_cause_ns"),
	    }));
}

/* ---- which ---- */

static int
by_time(const void *x, const void *y)
{
	const struct step_time *a = x, *b = y;

	return (a->ns > b->ns) - (a->ns < b->ns);
}

/*
 * The cause of at least half of a kind's idle time. Of a step only its largest
 * cause is known.
 */
static unsigned
most_of(const struct step_kind *kind)
{
	int64_t ns[CAUSE_COUNT] = { 0 };
	unsigned most = 0;

	for (size_t i = 0; i < kind->n; i++)
		if (kind->v[i].cause < CAUSE_COUNT)
			time_add(&ns[kind->v[i].cause], kind->v[i].cause_ns);
	for (unsigned c = 1; c < CAUSE_COUNT; c++)
		if (ns[c] > ns[most])
			most = c;
	return ns[most] > 0 && ns[most] >= kind->idle_ns - ns[most] &&
		share_of(kind->idle_ns, kind->all_ns) >= CAUSE_MIN
	    ? most
	    : CAUSE_NOTHING;
}

/* So many steps from there on; false: there are too many kinds. */
static bool
add(struct step_kinds *k, size_t from, size_t n)
{
	struct step_kind kind = { .v = &k->sorted.v[from], .n = n };

	for (size_t i = 0; i < n; i++) {
		time_add(&kind.all_ns, kind.v[i].ns);
		time_add(&kind.idle_ns, kind.v[i].idle_ns);
		time_add(&kind.launched_ns, kind.v[i].launched_ns);
	}
	if (share_of(kind.all_ns, k->all_ns) < TIME_MIN &&
	    share_of((int64_t)n, (int64_t)k->sorted.n) < STEPS_MIN) {
		k->nsmall += n;
		k->nless += k->n == 0 ? n : 0;
		return true;
	}
	if (k->n == KINDS_MAX)
		return false;
	kind.cause = most_of(&kind);
	k->v[k->n++] = kind;
	return true;
}

/*
 * What a step launches or how long the GPU idles in it explains half of the
 * difference. If not, the host waits for work of other steps, as when a queue
 * fills.
 */
static bool
is_explained(const struct step_kind *a, const struct step_kind *b)
{
	double na = (double)a->n, nb = (double)b->n;
	double own = ((double)b->launched_ns + (double)b->idle_ns) / nb -
	    ((double)a->launched_ns + (double)a->idle_ns) / na;

	return own >= ((double)b->all_ns / nb - (double)a->all_ns / na) / 2;
}

/* The steps that the verdict is about, sorted by the time that bounds them. */
static void
sort_steps(struct step_kinds *k, const struct bound *m)
{
	const struct figures *f = m->f;

	for (size_t i = 0; i < f->steps.n; i++) {
		struct step_time s = f->steps.v[i];

		if (m->w->n == 1 && !str_eq(s.label, m->w->label))
			continue;
		s.ns = k->is_gpu ? s.gpu_ns : s.wall_ns;
		if (s.ns < 0) {
			k->nunknown++;
			continue;
		}
		vec_push(&k->sorted, s);
		time_add(&k->all_ns, s.ns);
	}
	stable_sort(k->sorted.v, k->sorted.n, sizeof *k->sorted.v, by_time);
}

/* None if they are alike. */
static void
find(struct step_kinds *k, const struct bound *m)
{
	size_t from = 0;
	bool are_kinds = true;

	k->is_gpu = (bound_is_work(m->is.class) && !m->is.is_mixed) ||
	    (m->w->n == 1 && m->f->pace.is_gpu);
	sort_steps(k, m);
	for (size_t i = 1; i <= k->sorted.n; i++) {
		const struct step_time *v = k->sorted.v;

		if (i < k->sorted.n && v[i].ns / APART < v[i - 1].ns)
			continue;
		are_kinds = add(k, from, i - from) && are_kinds;
		from = i;
	}
	for (size_t i = 1; i < k->n; i++)
		are_kinds = are_kinds &&
		    (k->is_gpu || is_explained(&k->v[i - 1], &k->v[i]));
	if (!are_kinds || k->n < 2)
		k->n = 0;
}

/* ---- words ---- */

static const char *
step_word(const struct bound *m)
{
	return m->w->are_runs ? "run" : "step";
}

/* The median, "about" that where times differ. */
static void
put_length(const struct step_kind *kind, struct buf *b)
{
	const struct step_time *v = kind->v;
	size_t n = kind->n;
	int64_t low = v[(n - 1) / 2].ns;
	struct buf least = { 0 }, most = { 0 };

	put_time(&least, v[0].ns);
	put_time(&most, v[n - 1].ns);
	if (least.len != most.len || memcmp(least.p, most.p, least.len) != 0)
		buf_puts(b, "about ");
	put_time(b, low + (v[n / 2].ns - low) / 2);
	buf_free(&least);
	buf_free(&most);
}

static void
put_others(struct buf *b, size_t n, const char *time)
{
	if (n > 0) {
		buf_puts(b, ", ");
		put_count(b, (int64_t)n);
		buf_printf(b, " %s %s", n == 1 ? "takes" : "take", time);
	}
}

/* " Over 2 ranks, 3 steps take 1.000 ms on the GPU, 1 takes 10.000 ms." */
static void
put_list(const struct bound *m, const struct step_kinds *k)
{
	struct buf *b = m->b;

	if (m->w->n > 1)
		buf_printf(b, " Over %" PRId64 " %s,", m->w->n,
		    m->f->by_src ? "traces" : "ranks");
	for (size_t i = 0; i < k->n; i++) {
		bool is_one = k->v[i].n == 1;

		buf_puts(b, i == 0 ? " " : ", ");
		put_count(b, (int64_t)k->v[i].n);
		if (i == 0)
			buf_printf(b, " %s%s", step_word(m), is_one ? "" : "s");
		buf_puts(b, is_one ? " takes " : " take ");
		put_length(&k->v[i], b);
		if (i == 0 && k->is_gpu)
			buf_printf(b, " on the %s", m->f->gpu);
	}
	put_others(b, k->nless, "less");
	put_others(b, k->nsmall - k->nless, "another time");
	put_others(b, k->nunknown, "an unknown time");
	buf_putc(b, '.');
}

/*
 * " 1 step of 1.070 s takes 75.5 % of step time and leaves the GPU idle for
 * 88.0 % of it (mostly data)."
 */
static void
put_one(const struct bound *m, const struct step_kinds *k,
    const struct step_kind *v)
{
	struct buf *b = m->b;
	const char *plural = v->n == 1 ? "" : "s", *verb = v->n == 1 ? "s" : "";

	buf_putc(b, ' ');
	put_count(b, (int64_t)v->n);
	buf_printf(b, " %s%s of ", step_word(m), plural);
	put_length(v, b);
	buf_printf(b, " take%s ", verb);
	put_part(b, v->all_ns, k->all_ns);
	buf_printf(b, " of %s time and leave%s the %s idle for ", step_word(m),
	    verb, m->f->gpu);
	put_part(b, v->idle_ns, v->all_ns);
	buf_puts(b, " of it");
	if (v->cause != CAUSE_NOTHING) {
		buf_puts(b, " (mostly ");
		put_cause(b, v->cause);
		buf_putc(b, ')');
	}
	buf_putc(b, '.');
}

/* Like idle shares, of one cause where both are known. */
static bool
are_alike(const struct step_kind *a, const struct step_kind *b)
{
	double points =
	    share_of(a->idle_ns, a->all_ns) - share_of(b->idle_ns, b->all_ns);

	return points < IDLE_APART && points > -IDLE_APART &&
	    (a->cause == b->cause || a->cause == CAUSE_NOTHING ||
		b->cause == CAUSE_NOTHING);
}

static int
by_share(const void *x, const void *y)
{
	const struct step_kind *a = x, *b = y;

	return (a->all_ns < b->all_ns) - (a->all_ns > b->all_ns);
}

/* The kind with most time, and those in which the GPU idles unlike in it. */
static void
put_each(const struct bound *m, struct step_kinds *k)
{
	bool differ = false;

	stable_sort(k->v, k->n, sizeof *k->v, by_share);
	for (size_t i = 1; i < k->n; i++) {
		if (are_alike(&k->v[0], &k->v[i]) ||
		    share_of(k->v[i].all_ns, k->all_ns) < TIME_MIN)
			continue;
		if (!differ)
			put_one(m, k, &k->v[0]);
		differ = true;
		put_one(m, k, &k->v[i]);
	}
}

/*
 * Not where much is missing: step times have it, and the verdict does not.
 * Phases of serving have sentences of their own. Idle time is that of one
 * source and of the host's steps.
 */
void
kinds_put(const struct bound *m)
{
	struct step_kinds k = { 0 };

	if (bound_shows_missing(m->w) || m->f->phases.n > 1)
		return;
	find(&k, m);
	if (k.n > 0 && (k.is_gpu || m->w->n > 1))
		put_list(m, &k);
	else if (k.n > 0)
		put_each(m, &k);
	vec_free(&k.sorted);
}
