/* SPDX-License-Identifier: MIT */
/*
 * The verdict: what bounds the time, by class, in a sentence with its evidence.
 * See tl-report(1).
 */
#include <stdio.h>

#include "table/table.h"

#include "cmd/tl-report/figures.h"

#define LITTLE_NS 1000   /* less GPU work gets no verdict */
#define ROOF_MIN 10      /* percent of the roof: below, something else limits */
#define OUTSIDE_SHOWN 1  /* percent, launched outside ops */
#define QUEUE_SHOWN 0.05 /* percent of the time */

static const struct {
	const char *verdict, *part;
	bool is_plural;
} classes[ACCOUNT_COUNT] = {
	[GROUP_OF_HOST] = { "host-bound", "host work", false },
	[GROUP_OF_GPU] = { "GPU-bound", "GPU work", false },
	[GROUP_OF_SYNC] = { "sync-bound", "blocking calls", true },
	[GROUP_OF_ALLOCATION] = { "allocation-bound", "allocation", false },
	[GROUP_OF_DATA] = { "data-bound", "data loading", false },
	[GROUP_OF_COMPILE] = { "compile-bound", "compilation", false },
	[GROUP_OF_START] = { "recorded during start-up", "start-up", false },
	[ACCOUNT_COMM] = { "communication-bound", "exposed communication",
	    false },
	[ACCOUNT_COPY] = { "copy-bound", "exposed copies", true },
};

void
bound_put_word(const struct figures *f, const char *word, struct buf *b)
{
	bool is_gpu = strncmp(word, "GPU", 3) == 0;

	buf_printf(b, "%s%s", is_gpu ? f->gpu : "", is_gpu ? word + 3 : word);
}

const char *
bound_op_time(const struct figures *f)
{
	return share_of(f->outside_ns, f->ops_ns) >= OUTSIDE_SHOWN ||
		share_of(f->opless_ns, f->unified_ns) >= OUTSIDE_SHOWN
	    ? "launched GPU time"
	    : "op time";
}

bool
bound_is_work(unsigned class)
{
	return class == GROUP_OF_GPU || class == ACCOUNT_COMM ||
	    class == ACCOUNT_COPY;
}

const char *bound_named(struct str class)
{
	for (size_t c = 0; c < ACCOUNT_COUNT; c++)
		if (str_eq(class, str_of(account_words[c])) &&
		    classes[c].verdict != NULL)
			return classes[c].verdict;
	return "launch-bound";
}

/* ---- tables of tl-idle and tl-steps ---- */

void
bound_take_window(void *ctx, const struct line *l)
{
	struct figures *f = ctx;

	budget_take(&f->budgets, l);
}

void
bound_take_idle(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct str word = line_text(l, "cause");
	struct tally *cause;

	budget_take_part(&f->budgets, l);
	/* the verdict mentions it, for its own window */
	if (str_eq(word, str_of(cause_words[CAUSE_NO_HOST])))
		return;
	cause = tally_of(f, &f->causes,
	    str_eq(word, str_of(cause_words[CAUSE_NONE])) ? STR(NO_HOST_EVENT)
							  : word);
	time_add(&cause->ns, line_int(l, "time_ns"));
	time_add(&cause->count, line_int(l, "count"));
	if (cause->what.len == 0) /* rows are sorted */
		cause->what = figures_text(f, line_text(l, "call"));
}

void
bound_take_pace(void *ctx, const struct line *l)
{
	struct figures *f = ctx;

	f->pace = (struct pace){
		.is_gpu = str_eq(line_text(l, "step_time"), STR("gpu_wall")),
		.enqueue_ns = line_int(l, "wall_ns_median"),
		.drain_ns = line_int(l, "drain_ns_last"),
	};
}

/* ---- the decision ---- */

/*
 * Compute- or memory-bound: two thirds of modelled GPU work are on that side of
 * the roofline, and so near it that nothing else limits them.
 */
const char *
bound_of_gpu(
    int64_t busy_ns, int64_t modelled_ns, int64_t compute_ns, int64_t lost_ns)
{
	if (modelled_ns < busy_ns / 2 ||
	    share_of(lost_ns, modelled_ns) > 100 - ROOF_MIN)
		return classes[GROUP_OF_GPU].verdict;
	if (share_of(compute_ns, modelled_ns) >= MOST)
		return "compute-bound";
	return share_of(compute_ns, modelled_ns) <= LITTLE
	    ? "memory-bound"
	    : classes[GROUP_OF_GPU].verdict;
}

static const char *
gpu_verdict(const struct figures *f)
{
	int64_t compute_ns = 0, lost_ns = 0;

	for (size_t i = 0; i < f->reached.list.n; i++) {
		time_add(&compute_ns, f->reached.list.v[i].count);
		time_add(&lost_ns, f->reached.list.v[i].of_ns);
	}
	return bound_of_gpu(
	    f->all.busy_ns, tallies_sum(&f->reached), compute_ns, lost_ns);
}

static const char *
verdict_of(const struct bound *m)
{
	if (m->is.is_mixed)
		return "mixed";
	if (m->is.class == GROUP_OF_GPU)
		return gpu_verdict(m->f);
	return m->is.is_launch ? "launch-bound"
	    : m->is.is_sync    ? classes[GROUP_OF_SYNC].verdict
			       : classes[m->is.class].verdict;
}

/* Most of the class's time is inferred from durations alone. */
static bool
is_likely(const struct bound *m)
{
	int64_t inferred_ns = 0;

	for (size_t i = 0; i < m->w->parts.n; i++)
		if (m->w->parts.v[i].class == m->is.class)
			time_add(&inferred_ns, m->w->parts.v[i].inferred_ns);
	return !m->is.is_mixed && inferred_ns > m->w->ns[m->is.class] / 2;
}

/* ---- sentences ---- */

/* Gaps between queued work: part of its class here, idle in the bar. */
static int64_t
queue_ns(const struct bound *m, unsigned class)
{
	return class == GROUP_OF_GPU || class == ACCOUNT_COMM
	    ? m->w->ns[class] - budget_work(m->w, class)
	    : 0;
}

static bool
is_queue_shown(const struct bound *m, int64_t ns)
{
	return share_of(ns, m->is.ns) >= QUEUE_SHOWN;
}

static void
put_queue(const struct bound *m, const char *lead, int64_t ns)
{
	if (!is_queue_shown(m, ns))
		return;
	buf_printf(m->b, "%s gaps between queued kernels (", lead);
	put_part(m->b, ns, m->is.ns);
	buf_putc(m->b, ')');
}

bool
bound_shows_missing(const struct budget *w)
{
	return w->ns[GROUP_OF_MISSING] > 0 &&
	    w->ns[GROUP_OF_MISSING] >= w->window_ns / 10;
}

/*
 * "4.426 ms in 1 step", of several ranks the mean. Runs and inferred steps
 * leave out much of the window.
 */
static void
put_window(const struct bound *m, int64_t ns)
{
	put_whole(m->f, ns, m->w->n, m->b);
	if (m->w->steps > 0) {
		buf_puts(m->b,
		    m->w->are_runs || m->w->is_inferred ? " with " : " in ");
		put_steps(m->w, m->b);
	}
}

/* Time in collectives and its waiting part, over all process groups. */
void
sum_collectives(const struct figures *f, int64_t *wait_ns, int64_t *all_ns)
{
	*wait_ns = *all_ns = 0;
	for (size_t i = 0; i < f->groups.n; i++) {
		time_add(wait_ns, f->groups.v[i].wait_ns);
		time_add(all_ns, f->groups.v[i].latency_ns);
	}
	time_add(all_ns, *wait_ns);
}

/* The call with most of the class's time; two thirds stand for all. */
static void
put_most(const struct bound *m)
{
	const struct idle_part *p = budget_part(m->w, m->is.class);

	if (p == NULL)
		return;
	buf_puts(m->b,
	    share_of(p->ns, m->w->ns[m->is.class]) >= MOST
		? ": "
		: ", the largest part in ");
	put_part_of(m->w, p, m->b);
}

/* The event and the call that wait for unrecorded work. */
static void
put_waits(const struct bound *m)
{
	const struct budget *w = m->w;

	if (w->waits_by.len > 0) {
		buf_puts(m->b, " behind ");
		table_fold_name(w->waits_by, 60, m->b);
		put_uid(m->b, w->waits_uid);
	}
	if (w->blocked_in.len > 0) {
		buf_puts(m->b, ", while the host waits in ");
		table_fold_name(w->blocked_in, 60, m->b);
		put_uid(m->b, w->blocked_uid);
	}
}

/* The class is one gap, for which call and the awaited event are known. */
static bool
is_awaited(const struct budget *w, const struct idle_part *p)
{
	return p != NULL && p->cause == CAUSE_GPU_MISSING && p->calls <= 1 &&
	    p->ns == w->ns[GROUP_OF_MISSING] && p->call.len > 0 &&
	    w->blocked_in.len > 0 && w->waits_by.len > 0;
}

/* "(hipMemcpyWithStream, uid 892)" */
static void
put_call(const struct bound *m, struct str call, struct str uid)
{
	buf_puts(m->b, " (");
	table_fold_name(call, 60, m->b);
	put_uid(m->b, uid);
	buf_putc(m->b, ')');
}

/*
 * "for 463.252 ms of 473.831 ms in 1 step (97.8 %) no GPU work is recorded
 * although the host waits for some (...). ..."
 */
static void
put_awaited(const struct bound *m, const struct idle_part *p)
{
	const struct budget *w = m->w;
	const char *gpu = m->f->gpu;

	buf_puts(m->b, "for ");
	put_time(m->b, p->ns);
	buf_puts(m->b, " of ");
	put_window(m, w->window_ns);
	buf_puts(m->b, " (");
	put_part(m->b, p->ns, w->window_ns);
	buf_printf(m->b,
	    ") no %s work is recorded although the host waits for some", gpu);
	put_call(m, w->blocked_in, w->blocked_uid);
	buf_puts(m->b, ". The next kernel");
	put_call(m, p->call, p->uid);
	buf_printf(m->b, " waits for an event of another %s stream", gpu);
	put_call(m, w->waits_by, w->waits_uid);
	buf_printf(m->b,
	    " whose work is missing. Record all %s work. The rest is ", gpu);
}

/* The part of the window that no event accounts for. */
static void
put_missing(const struct bound *m)
{
	const struct idle_part *p = budget_part(m->w, GROUP_OF_MISSING);
	int64_t missing_ns = m->w->ns[GROUP_OF_MISSING];

	buf_puts(m->b,
	    missing_ns >= m->is.ns ? "Can't tell: " : "Recording incomplete: ");
	if (is_awaited(m->w, p)) {
		put_awaited(m, p);
		return;
	}
	put_part(m->b, missing_ns, m->w->window_ns);
	buf_puts(m->b, " of ");
	put_window(m, m->w->window_ns);
	buf_puts(m->b, " is not in the recording");
	if (p != NULL) {
		enum cause most;

		buf_puts(m->b, ": ");
		most = put_lacks(m);
		if (p->call.len > 0) {
			buf_puts(m->b, ", the largest part in ");
			put_part_of(m->w, p, m->b);
		}
		if (most == CAUSE_GPU_MISSING)
			put_waits(m);
		buf_printf(
		    m->b, "; %s", cause_advice(most, budget_advice_of(m->w)));
	}
	buf_puts(m->b, ". The rest is ");
}

/* No class is 1.5 times the next. */
static void
put_mixed(const struct bound *m)
{
	int64_t gaps_ns = 0;

	for (size_t i = 0; i < MIXED_SHOWN; i++) {
		unsigned c = m->is.order[i];

		if (m->w->ns[c] == 0)
			break;
		buf_puts(m->b, i > 0 ? ", " : "");
		bound_put_word(m->f, classes[c].part, m->b);
		buf_putc(m->b, ' ');
		put_part(m->b, m->w->ns[c], m->is.ns);
		time_add(&gaps_ns, queue_ns(m, c));
	}
	buf_puts(m->b, " of ");
	put_window(m, m->is.ns);
	put_queue(m, ", including", gaps_ns);
}

static void
put_class(const struct bound *m)
{
	int64_t gaps_ns = queue_ns(m, m->is.class);
	int64_t gpu_gaps_ns = queue_ns(m, GROUP_OF_GPU);
	bool are_both = m->is.is_partly && is_queue_shown(m, gaps_ns) &&
	    is_queue_shown(m, gpu_gaps_ns);

	bound_put_word(m->f,
	    m->is.is_sync ? "gaps after blocking calls"
			  : classes[m->is.class].part,
	    m->b);
	buf_puts(m->b,
	    m->is.is_sync || classes[m->is.class].is_plural ? " are " : " is ");
	put_part(m->b, m->is.is_sync ? m->w->opened_ns : m->w->ns[m->is.class],
	    m->is.ns);
	buf_puts(m->b, " of ");
	put_window(m, m->is.ns);
	if (!are_both)
		put_queue(m, ", including", gaps_ns);
	if (m->is.is_sync)
		put_opener(m);
	else if (m->is.class == GROUP_OF_HOST)
		put_layers(m, m->is.class);
	else if (!bound_is_work(m->is.class))
		put_most(m);
	if (m->is.is_partly) {
		buf_printf(m->b, "; %s work is ", m->f->gpu);
		put_part(m->b, m->w->ns[GROUP_OF_GPU], m->is.ns);
		put_queue(m, are_both ? "; both include" : ", including",
		    are_both ? gaps_ns + gpu_gaps_ns : gpu_gaps_ns);
	}
	if (m->is.class == GROUP_OF_GPU && !m->f->set->has_calls)
		buf_puts(m->b, "; no ops recorded");
}

/* The verdict on what was recorded: "host-bound: ...". */
static void
put_rest(const struct bound *m)
{
	buf_printf(m->b, "%s%s", is_likely(m) ? "likely " : "",
	    m->is.is_partly && !m->is.is_mixed ? "partly " : "");
	bound_put_word(m->f, verdict_of(m), m->b);
	if (m->late != NULL)
		buf_printf(m->b, "%s on rank %.*s",
		    share_of(m->late->nlast, m->late->ncollectives) >= MOST
			? ""
			: ", likely",
		    (int)m->late->label.len, m->late->label.p);
	buf_puts(m->b, ": ");
	if (m->is.is_mixed)
		put_mixed(m);
	else
		put_class(m);
	buf_putc(m->b, '.');
	evidence_put(m);
}

/* Without causes: shares only. */
static void
put_plain(const struct figures *f, const char *why, struct buf *b)
{
	put_whole(
	    f, f->window.total_ns, f->ranks.n > 1 ? (int64_t)f->ranks.n : 1, b);
	if (f->set->is_rocprof && f->set->has_window)
		buf_puts(b,
		    f->processes.n > 1
			? " of the processes, start and end included"
			: " of the process, its start and end included");
	if (window_is_named(f)) {
		buf_putc(b, ' ');
		window_put_named(f, b);
	}
	buf_puts(b, ": ");
	put_shares(f, &f->window, b);
	buf_printf(b, "%s.", why);
}

static void
put_verdict(struct figures *f, const struct budget *w, const struct rank *late,
    struct buf *b)
{
	struct bound m = { .f = f, .w = w, .late = late, .b = b };
	size_t from = b->len;

	budget_decide(w, &m.is);
	if (bound_shows_missing(w))
		put_missing(&m);
	put_rest(&m);
	if (b->p[from] >= 'a' && b->p[from] <= 'z')
		b->p[from] = (char)(b->p[from] - 'a' + 'A');
	f->is_judged = true;
}

const struct rank *
most_awaited(const struct figures *f, int64_t *caused_ns)
{
	const struct rank *most = NULL;

	*caused_ns = 0;
	for (size_t i = 0; i < f->ranks.n; i++) {
		const struct rank *r = &f->ranks.v[i];

		time_add(caused_ns, r->caused_ns);
		if (most == NULL || r->caused_ns > most->caused_ns)
			most = r;
	}
	return most;
}

/* The rank that bounds the job, or NULL. */
static const struct rank *
late_rank(const struct figures *f, const struct budget *sum)
{
	struct waiting w;
	const struct rank *late = most_awaited(f, &w.caused_ns);

	sum_collectives(f, &w.wait_ns, &w.all_ns);
	w.most_ns = late != NULL ? late->caused_ns : 0;
	return budget_is_late(sum, &w) ? late : NULL;
}

/* " 434 GPU events of this step ran later." */
static void
put_later(const struct figures *f, const struct budget *w, struct buf *b)
{
	if (!select_is_of_steps(&f->set->select) || f->window.busy_ns > 0 ||
	    w->launched == 0 || w->work_ns <= 0)
		return;
	buf_putc(b, ' ');
	put_count(b, w->launched);
	buf_printf(b, " %s event%s of %s ran later.", f->gpu,
	    w->launched == 1 ? "" : "s",
	    w->steps == 1 ? "this step" : "these steps");
}

void
bound_put(struct figures *f, struct buf *b)
{
	struct budget sum;
	const struct budget *w = f->budgets.list.v;
	const struct rank *late = NULL;

	budget_sum(&f->budgets, &sum);
	if (f->budgets.list.n != 1) {
		late = late_rank(f, &sum);
		w = late != NULL ? budget_of(&f->budgets, late->label) : NULL;
		late = w != NULL ? late : NULL;
		w = w != NULL ? w : &sum;
	}
	if (f->window.busy_ns < LITTLE_NS || w->n == 0 || window_is_named(f)) {
		put_plain(f, "", b);
		put_later(f, w, b);
	} else if (window_is_blind(w)) {
		put_plain(f,
		    "; can't tell why: no ops, calls or Python frames in the "
		    "recording",
		    b);
	} else {
		put_verdict(f, w, late, b);
	}
	vec_free(&sum.parts);
}
