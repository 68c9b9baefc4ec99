/* SPDX-License-Identifier: MIT */
/* The evidence of a verdict, and what it leaves out. */
#include <stdio.h>

#include "table/table.h"

#include "cmd/tl-report/figures.h"

#define NEARLY 95      /* percent: stands for all */
#define COST_MIN 1     /* percent of the job's time */
#define AHEAD_PART 100 /* of the window: a shorter lead is not mentioned */

/* ---- words ---- */

void
put_words(struct buf *b, const char *id)
{
	for (; *id != '\0'; id++)
		buf_putc(b, *id == '_' ? ' ' : *id);
}

void
put_cause(struct buf *b, enum cause cause)
{
	put_words(b, cause == CAUSE_NONE ? NO_HOST_EVENT : cause_words[cause]);
}

void
put_uid(struct buf *b, struct str uid)
{
	if (uid.len > 0)
		buf_printf(b, ", uid %.*s", (int)uid.len, uid.p);
}

/* That this one waited for another thread: of many calls it proves nothing. */
static void
put_lock(struct str lock, struct buf *b)
{
	if (lock.len == 0)
		return;
	buf_puts(b, ", at least half of it while another thread is in ");
	table_fold_name(lock, 60, b);
	buf_puts(b, ": likely a lock");
}

void
put_calls(const struct budget *w, const struct idle_part *p, struct buf *b)
{
	if (p->calls > 1) {
		if (p->calls % w->n == 0)
			put_count(b, p->calls / w->n);
		else
			buf_printf(b, "%.1f", (double)p->calls / (double)w->n);
		buf_puts(b, w->n > 1 ? " calls on average" : " calls");
		buf_puts(b, ", longest wait ");
		put_time(b, p->longest_ns);
	}
	if (p->uid.len > 0) {
		buf_printf(b, "%suid %.*s", p->calls > 1 ? ", " : "",
		    (int)p->uid.len, p->uid.p);
		if (p->label.len > 0)
			buf_printf(
			    b, " of rank %.*s", (int)p->label.len, p->label.p);
		if (p->calls <= 1)
			put_lock(p->lock, b);
	}
}

/*
 * "hipFree (3.004 s: 1,360 calls, longest wait 68.153 ms, uid 26612)"; for
 * several sources the mean.
 */
void
put_part_of(const struct budget *w, const struct idle_part *p, struct buf *b)
{
	if (p->call.len > 0)
		table_fold_name(p->call, 60, b);
	else
		put_cause(b, p->cause);
	buf_puts(b, " (");
	put_time(b, p->ns / w->n);
	if (p->uid.len > 0)
		buf_puts(b, ": ");
	put_calls(w, p, b);
	buf_putc(b, ')');
}

/* ---- causes ---- */

/* Idle time of a class by cause; returns the largest cause, or 0. */
static unsigned
sum_causes(const struct budget *w, unsigned class, int64_t ns[CAUSE_COUNT])
{
	unsigned most = 0;

	memset(ns, 0, CAUSE_COUNT * sizeof *ns);
	for (size_t i = 0; i < w->parts.n; i++)
		if (w->parts.v[i].class == class)
			time_add(&ns[w->parts.v[i].cause], w->parts.v[i].ns);
	for (unsigned c = 1; c < CAUSE_COUNT; c++)
		if (ns[c] > ns[most])
			most = c;
	return most;
}

/*
 * The largest causes of a class with their times, up to a share of it; returns
 * the sum of these times.
 */
static int64_t
put_largest(const struct budget *w, unsigned class, double percent, size_t n,
    struct buf *b)
{
	int64_t ns[CAUSE_COUNT], named_ns = 0;
	unsigned most = sum_causes(w, class, ns);

	for (size_t i = 0; i < n && ns[most] > 0 &&
	     share_of(named_ns, w->ns[class]) < percent;
	     i++) {
		buf_puts(b, i == 0 ? "" : ", ");
		put_cause(b, most);
		buf_putc(b, ' ');
		put_time(b, ns[most] / w->n);
		named_ns += ns[most];
		ns[most] = 0;
		for (unsigned c = 0; c < CAUSE_COUNT; c++)
			if (ns[c] > ns[most])
				most = c;
	}
	return named_ns;
}

/* The largest causes, until two thirds of the class are named. */
void
put_layers(const struct bound *m, unsigned class)
{
	struct buf list = { 0 };
	int64_t ns = put_largest(m->w, class, MOST, CAUSE_COUNT, &list);

	if (ns > 0)
		buf_printf(m->b, " (%s%.*s)",
		    share_of(ns, m->w->ns[class]) < NEARLY ? "most: " : "",
		    (int)list.len, list.p);
	buf_free(&list);
}

enum cause
put_lacks(const struct bound *m)
{
	const struct budget *w = m->w;
	int64_t ns[CAUSE_COUNT];
	unsigned most = sum_causes(w, GROUP_OF_MISSING, ns);

	if (share_of(ns[most], w->ns[GROUP_OF_MISSING]) >= NEARLY)
		put_cause(m->b, most);
	else
		put_largest(w, GROUP_OF_MISSING, 100, 2, m->b);
	return most;
}

/* ---- sentences ---- */

static struct str
lock_of(const struct budget *w, struct str uid)
{
	for (size_t i = 0; i < w->parts.n; i++)
		if (uid.len > 0 && str_eq(w->parts.v[i].uid, uid))
			return w->parts.v[i].lock;
	return STR("");
}

/*
 * If one gap is half of the non-GPU time: where it is, and how busy the GPU is
 * in the rest.
 */
static void
put_one_gap(const struct bound *m)
{
	const struct budget *w = m->w;
	int64_t gpu = w->ns[GROUP_OF_GPU];

	if (w->n > 1 || m->is.class == GROUP_OF_GPU || w->gap_ns == 0 ||
	    w->gap_ns < (m->is.ns - gpu + 1) / 2)
		return;
	buf_puts(m->b, " One gap takes ");
	put_time(m->b, w->gap_ns);
	buf_puts(m->b, ", ");
	if (w->gap_prev.len == 0)
		buf_printf(m->b, "before the first %s event", m->f->gpu);
	else if (w->gap_next.len == 0)
		buf_printf(m->b, "after the last %s event", m->f->gpu);
	else
		buf_printf(m->b, "before %s event %.*s", m->f->gpu,
		    (int)w->gap_next.len, w->gap_next.p);
	buf_puts(m->b, " (");
	put_cause(m->b, w->gap_cause);
	put_uid(m->b, w->gap_uid);
	put_lock(lock_of(w, w->gap_uid), m->b);
	buf_printf(m->b, "); the %s is busy for ", m->f->gpu);
	put_part(m->b,
	    budget_work(w, GROUP_OF_GPU) + budget_work(w, ACCOUNT_COMM) +
		w->ns[ACCOUNT_COPY],
	    m->is.ns - w->gap_ns);
	buf_puts(m->b, " of the rest.");
}

static void
put_starved(const struct bound *m)
{
	buf_putc(m->b, ' ');
	put_count(m->b, m->w->starved);
	buf_puts(m->b, " of ");
	put_count(m->b, m->w->launched);
	buf_printf(m->b, " %s events were launched to an idle %s: ", m->f->gpu,
	    m->f->gpu);
	put_time(m->b, m->w->work_ns);
	buf_puts(m->b, " of work per launch and a launch every ");
	put_time(m->b, m->w->interval_ns);
	buf_puts(m->b, " (medians).");
}

/* " (the longest after cudaStreamSynchronize, uid 7)": for one source. */
void
put_opener(const struct bound *m)
{
	if (m->w->n > 1 || m->w->opened_by.len == 0)
		return;
	buf_puts(m->b, " (the longest after ");
	table_fold_name(m->w->opened_by, 60, m->b);
	put_uid(m->b, m->w->opened_uid);
	buf_putc(m->b, ')');
}

static void
put_opened(const struct bound *m)
{
	const struct budget *w = m->w;

	if (m->is.is_sync ||
	    (m->is.class != GROUP_OF_HOST && m->is.class != GROUP_OF_SYNC) ||
	    w->opened_ns == 0 ||
	    share_of(w->opened_ns, m->is.ns - w->ns[GROUP_OF_GPU]) < 10)
		return;
	buf_puts(m->b, " Gaps after blocking calls: ");
	put_time(m->b, w->opened_ns / w->n);
	put_opener(m);
	buf_putc(m->b, '.');
}

static int64_t
profiler_ns(const struct budget *w)
{
	int64_t ns = 0;

	for (size_t i = 0; i < w->parts.n; i++)
		if (w->parts.v[i].cause == CAUSE_PROFILER)
			time_add(&ns, w->parts.v[i].ns);
	return ns;
}

/* Profiler overhead. */
static void
put_cost(const struct bound *m)
{
	int64_t ns = profiler_ns(m->w), idle_ns = m->w->window_ns;

	for (unsigned c = 0; c < ACCOUNT_COUNT; c++)
		if (bound_is_work(c))
			idle_ns -= m->w->ns[c];
	if (ns > 0 && ns >= idle_ns / 10) {
		buf_puts(m->b, " Figures include ");
		put_time(m->b, ns / m->w->n);
		buf_puts(m->b, " of profiler overhead.");
	}
	if (m->is.class == GROUP_OF_HOST && !m->is.is_mixed && m->w->has_python)
		buf_puts(m->b, " Recording Python frames inflates host times.");
}

/* No rank causes half of the waiting: the one that causes most of it. */
static void
put_turns(const struct bound *m)
{
	int64_t caused_ns;
	const struct rank *most = most_awaited(m->f, &caused_ns);

	if (caused_ns == 0)
		return;
	buf_printf(m->b, "; ranks take turns: rank %.*s causes ",
	    (int)most->label.len, most->label.p);
	put_part(m->b, most->caused_ns, caused_ns);
	buf_puts(m->b, " of it, the most");
}

static void
put_one_rank(const struct bound *m)
{
	buf_puts(m->b, " One rank: can't tell skew from bandwidth.");
}

/* Whether a mixed verdict has a share of exposed communication. */
static bool
is_mixed_with_comm(const struct bound *m)
{
	for (size_t i = 0; i < MIXED_SHOWN && m->is.is_mixed; i++)
		if (m->is.order[i] == ACCOUNT_COMM &&
		    m->w->ns[ACCOUNT_COMM] > 0)
			return true;
	return false;
}

/* Waiting for a late rank, or low bandwidth. */
static void
put_collectives(const struct bound *m)
{
	int64_t wait_ns, all_ns;

	sum_collectives(m->f, &wait_ns, &all_ns);
	if (!m->f->set->is_several && all_ns == 0) {
		put_one_rank(m);
	} else if (all_ns > 0) {
		buf_printf(m->b, " %s: waiting is ",
		    share_of(wait_ns, all_ns) >= MOST ? "Arrival skew"
			: share_of(wait_ns, all_ns) <= LITTLE
			? "Bandwidth"
			: "Skew and bandwidth");
		put_part(m->b, wait_ns, all_ns);
		buf_puts(m->b, " of the time in collectives");
		if (share_of(wait_ns, all_ns) >= MOST)
			put_turns(m);
		buf_putc(m->b, '.');
	}
}

/* "Rank 3 is last in all 21 collectives, measurably late in 18". */
static void
put_last(const struct bound *m)
{
	const struct rank *r = m->late;

	buf_printf(
	    m->b, " Rank %.*s is last in ", (int)r->label.len, r->label.p);
	if (r->ncollectives == 1) {
		buf_puts(m->b, "the only collective");
		return;
	}
	if (r->nlast == r->ncollectives) {
		buf_puts(m->b, "all ");
	} else {
		put_count(m->b, r->nlast);
		buf_puts(m->b, " of ");
	}
	put_count(m->b, r->ncollectives);
	buf_puts(m->b, " collectives");
	if (r->ntimes_late > 0 && r->ntimes_late < r->nlast) {
		buf_puts(m->b, ", measurably late in ");
		put_count(m->b, r->ntimes_late);
		buf_putc(m->b, ',');
	}
}

/* Why the job's verdict is about one rank. */
static void
put_late(const struct bound *m)
{
	int64_t caused_ns, ns[CAUSE_COUNT], others_ns = 0, n = 0, own_ns;
	const struct figures *f = m->f;
	unsigned most = sum_causes(m->w, m->is.class, ns);

	(void)most_awaited(f, &caused_ns);
	put_last(m);
	buf_puts(m->b, " and causes ");
	put_part(m->b, m->late->caused_ns, caused_ns);
	buf_puts(m->b, " of the waiting");
	own_ns = ns[most];
	for (size_t i = 0; i < f->budgets.list.n; i++) {
		if (&f->budgets.list.v[i] == m->w)
			continue;
		(void)sum_causes(&f->budgets.list.v[i], m->is.class, ns);
		time_add(&others_ns, ns[most]);
		n++;
	}
	if (n > 0 && own_ns > others_ns / n) {
		buf_printf(m->b, ": its %s is idle ", m->f->gpu);
		put_time(m->b, own_ns);
		buf_puts(m->b, " (cause: ");
		put_cause(m->b, most);
		buf_puts(m->b, "), ");
		put_time(m->b, others_ns / n);
		buf_printf(m->b,
		    " on the others (mean), whose %ss meanwhile wait in "
		    "collectives",
		    m->f->gpu);
	}
	buf_putc(m->b, '.');
}

/* The largest loss to a slower host, and its event on the critical path. */
static void
put_rank_cost(const struct bound *m)
{
	const struct rank_cost *c = &m->f->cost;

	if (c->percent < COST_MIN)
		return;
	buf_printf(m->b,
	    " With the host of rank %.*s as fast as the median rank's, the "
	    "job would end ",
	    (int)c->rank.len, c->rank.p);
	put_time(m->b, c->loss_ns);
	buf_printf(m->b, " (%.1f %%) earlier", c->percent);
	if (c->name.len > 0) {
		buf_puts(m->b, ": ");
		put_time(m->b, c->by_ns);
		buf_puts(m->b, " of it in ");
		table_fold_name(c->name, 60, m->b);
		put_uid(m->b, c->uid);
		buf_puts(m->b, ", which takes ");
		put_time(m->b, c->excess_ns);
		buf_puts(m->b,
		    " longer than on the median rank; on the "
		    "critical path: ");
		text_visible(c->chain, m->b);
	}
	buf_putc(m->b, '.');
}

/*
 * How far ahead the host ends; says nothing if unrecorded work delays the GPU.
 */
static void
put_lead(const struct bound *m)
{
	const struct budget *w = m->w;
	int64_t ns = m->f->pace.drain_ns;

	if (w->head_ns > 0 || w->ns[GROUP_OF_MISSING] >= w->window_ns / 10 ||
	    ns < w->window_ns / AHEAD_PART)
		return;
	buf_puts(m->b, " At the end of the last step the host is ");
	put_time(m->b, ns);
	buf_printf(m->b, " ahead of the %s.", m->f->gpu);
}

static void
put_pace(const struct bound *m)
{
	const struct pace *p = &m->f->pace;

	/* a GPU that waits for the host does not set the pace */
	if (!bound_is_work(m->is.class) || m->w->n > 1)
		return;
	if (!p->is_gpu) {
		if (m->is.class == GROUP_OF_GPU)
			put_lead(m);
		return;
	}
	buf_printf(m->b, " The %s sets the pace: the host enqueues a step in ",
	    m->f->gpu);
	put_time(m->b, p->enqueue_ns);
	buf_printf(m->b, "; %s work ends ", m->f->gpu);
	put_time(m->b, p->drain_ns);
	buf_puts(m->b, " after the last step.");
}

void
evidence_put(const struct bound *m)
{
	const struct budget *w = m->w;

	kinds_put(m);
	put_one_gap(m);
	if (m->is.is_launch)
		put_starved(m);
	put_opened(m);
	put_pace(m);
	if (m->late != NULL)
		put_late(m);
	else if (m->is.class == ACCOUNT_COMM && !m->is.is_mixed)
		put_collectives(m);
	else if (is_mixed_with_comm(m) && !m->f->set->is_several)
		put_one_rank(m);
	put_rank_cost(m);
	if (w->head_ns > 0) {
		buf_puts(m->b, " Not counted: ");
		put_time(m->b, w->head_ns);
		buf_printf(m->b, " before the first %s event (", m->f->gpu);
		put_cause(m->b, w->head_cause);
		buf_puts(m->b, ").");
	}
	put_cost(m);
}
