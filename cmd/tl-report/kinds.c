/* SPDX-License-Identifier: MIT */
/*
 * Steps of several kinds: training and evaluation, prefill and decode, a
 * warm-up. Their mean is the time of none.
 */
#include "cmd/tl-report/figures.h"

#define APART 2     /* times as long as the next shorter one: of another kind */
#define KINDS_MAX 3 /* more are a spread */
#define KIND_MIN 1  /* percent of step time: of less nothing is said */

struct step_kind {
	const struct step_time *v; /* sorted by time */
	size_t n;
	int64_t all_ns, idle_ns;
};

struct step_kinds {
	VEC(struct step_time) sorted;
	struct step_kind v[KINDS_MAX];
	size_t n;
	int64_t all_ns;
};

/* Where the host only enqueues, a step's time is the GPU's. */
void
kinds_take(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	const char *time = f->pace.is_gpu ? "gpu_wall_ns" : "wall_ns";

	if (!str_eq(line_text(l, "what"), STR("step")) || line_lacks(l, time))
		return;
	vec_push(&f->steps,
	    ((struct step_time){
		.label = figures_text(f, budget_label(l)),
		.cause = budget_cause(line_text(l, "idle_cause")),
		.ns = line_int(l, time),
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

/* So many steps from there on; false: there are too many kinds. */
static bool
add(struct step_kinds *k, size_t from, size_t n)
{
	struct step_kind kind = { .v = &k->sorted.v[from], .n = n };

	for (size_t i = 0; i < n; i++) {
		time_add(&kind.all_ns, kind.v[i].ns);
		time_add(&kind.idle_ns, kind.v[i].idle_ns);
	}
	if (share_of(kind.all_ns, k->all_ns) < KIND_MIN)
		return true;
	if (k->n == KINDS_MAX)
		return false;
	k->v[k->n++] = kind;
	return true;
}

/* Of the steps that the verdict is about; none if they are alike. */
static void
find(struct step_kinds *k, const struct bound *m)
{
	const struct figures *f = m->f;
	size_t from = 0;
	bool are_few = true;

	for (size_t i = 0; i < f->steps.n; i++)
		if (m->w->n > 1 || str_eq(f->steps.v[i].label, m->w->label)) {
			vec_push(&k->sorted, f->steps.v[i]);
			time_add(&k->all_ns, f->steps.v[i].ns);
		}
	stable_sort(k->sorted.v, k->sorted.n, sizeof *k->sorted.v, by_time);
	for (size_t i = 1; i <= k->sorted.n; i++) {
		const struct step_time *v = k->sorted.v;

		if (i < k->sorted.n && v[i].ns / APART < v[i - 1].ns)
			continue;
		are_few = add(k, from, i - from) && are_few;
		from = i;
	}
	if (!are_few || k->n < 2)
		k->n = 0;
}

/* ---- words ---- */

/* The upper median. */
static int64_t
time_of(const struct step_kind *kind)
{
	return kind->v[kind->n / 2].ns;
}

/* " (3 of 116.2 ms, 1 of 1.070 s)", over all ranks; medians. */
void
kinds_put(const struct bound *m)
{
	struct step_kinds k = { 0 };
	size_t rest;

	find(&k, m);
	rest = k.sorted.n;
	for (size_t i = 0; i < k.n; i++) {
		buf_puts(m->b, i == 0 ? " (" : ", ");
		if (i == 0 && m->w->n > 1)
			buf_printf(m->b, "over %" PRId64 " %s: ", m->w->n,
			    m->f->by_src ? "traces" : "ranks");
		put_count(m->b, (int64_t)k.v[i].n);
		buf_puts(m->b, " of ");
		put_time(m->b, time_of(&k.v[i]));
		rest -= k.v[i].n;
	}
	if (k.n > 0 && rest > 0)
		buf_printf(m->b, ", %zu of other length", rest);
	buf_puts(m->b, k.n > 0 ? ")" : "");
	vec_free(&k.sorted);
}

/*
 * The cause of at least half of a kind's idle time. Of a step only its largest
 * cause is known.
 */
static void
put_most(const struct step_kind *kind, struct buf *b)
{
	int64_t ns[CAUSE_COUNT] = { 0 };
	unsigned most = 0;

	for (size_t i = 0; i < kind->n; i++)
		time_add(&ns[kind->v[i].cause], kind->v[i].cause_ns);
	for (unsigned c = 1; c < CAUSE_COUNT; c++)
		if (ns[c] > ns[most])
			most = c;
	if (ns[most] == 0 || ns[most] < kind->idle_ns - ns[most])
		return;
	buf_puts(b, ", mostly ");
	put_cause(b, most);
}

/*
 * " Steps of 1.070 s (1): 75.5 % of step time, GPU idle 88.0 %, mostly data.",
 * those with most time first. The phases of serving have sentences of their
 * own; when the GPU sets the pace, idle time is of other windows.
 */
void
kinds_put_each(const struct bound *m)
{
	struct step_kinds k = { 0 };

	if (m->w->n > 1 || m->f->pace.is_gpu || m->f->phases.n > 1)
		return;
	find(&k, m);
	for (size_t left = k.n; left > 0; left--) {
		struct step_kind *kind = &k.v[0];

		for (size_t i = 1; i < k.n; i++)
			if (k.v[i].all_ns > kind->all_ns)
				kind = &k.v[i];
		buf_puts(m->b, m->w->are_runs ? " Runs of " : " Steps of ");
		put_time(m->b, time_of(kind));
		buf_puts(m->b, " (");
		put_count(m->b, (int64_t)kind->n);
		buf_puts(m->b, "): ");
		put_part(m->b, kind->all_ns, k.all_ns);
		buf_printf(m->b, " of %s time, %s idle ",
		    m->w->are_runs ? "run" : "step", m->f->gpu);
		put_part(m->b, kind->idle_ns, kind->all_ns);
		put_most(kind, m->b);
		buf_putc(m->b, '.');
		kind->all_ns = -1;
	}
	vec_free(&k.sorted);
}
