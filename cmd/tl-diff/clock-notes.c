/* SPDX-License-Identifier: MIT */
/* Sentences on step times; numbers for people. */
#include <stdlib.h>

#include "cmd/tl-diff/notes.h"
#include "trace/stat.h"

#define TOP_GROUPS 3
/* An event is named from this share of a cause's difference on; in all of
 * it. */
#define NAMED_SHARE 0.25
#define ALL_SHARE 0.9

/* ---- figures for people ---- */

void
put_signed_time(struct buf *b, int64_t ns)
{
	buf_putc(b, ns < 0 ? '-' : '+');
	put_time(b, llabs(ns));
}

void
put_change(struct buf *b, int64_t before, int64_t after)
{
	if (before == after) {
		buf_puts(b, "unchanged (");
		put_time(b, before);
		buf_putc(b, ')');
		return;
	}
	put_time(b, before);
	buf_puts(b, " to ");
	put_time(b, after);
	if (before > 0) {
		buf_puts(b, " (");
		put_growth(b, (double)before, (double)after - (double)before);
		buf_putc(b, ')');
	}
}

/* Adds the buffer as a note, if it has text, and empties it. */
void
note_of(struct table *t, struct buf *b)
{
	if (b->len > 0)
		table_note(t, "%.*s", (int)b->len, b->p);
	b->len = 0;
}

/* ---- steps ---- */

/* "6.670 ms more data loading"; NULL: steps have no such part. */
static const char *const part_words[PART_COUNT] = {
	[CAUSE_PYTHON] = "Python",
	[CAUSE_OP] = "op dispatch",
	[CAUSE_AUTOGRAD] = "autograd",
	[CAUSE_OPTIMIZER] = "optimizer",
	[CAUSE_COMM_HOST] = "host work for communication",
	[CAUSE_BETWEEN_OPS] = "time between ops",
	[CAUSE_WAIT] = "host waits",
	[CAUSE_IO] = "file I/O",
	[CAUSE_GC] = "garbage collection",
	[CAUSE_RUNTIME] = "runtime API calls",
	[CAUSE_LAUNCH_CALL] = "launch API calls",
	[CAUSE_LAUNCH_LATENCY] = "launch latency",
	[CAUSE_STALL] = "host stalls",
	[CAUSE_PROFILER] = "profiler overhead",
	[CAUSE_GRAPH_GAP] = "gaps in graph replays",
	[CAUSE_QUEUE_GAP] = "gaps between queued kernels",
	[CAUSE_DEPENDENCY] = "waiting for other GPU streams",
	[CAUSE_SYNC] = "synchronization",
	[CAUSE_POLL] = "polling",
	[CAUSE_COPY_BLOCK] = "blocking copies",
	[CAUSE_ALLOC] = "allocation",
	[CAUSE_HOST_ALLOC] = "host allocation",
	[CAUSE_DATA] = "data loading",
	[CAUSE_COMPILE] = "compilation",
	[CAUSE_MODULE_LOAD] = "GPU code loading",
	[CAUSE_INIT] = "initialization",
	[CAUSE_GRAPH_BUILD] = "graph capture",
	[CAUSE_GPU_MISSING] = "waiting for unrecorded GPU work",
	[CAUSE_LATE_START] = "unexplained idle time before kernels",
	[CAUSE_QUEUED_BEFORE] = "idle time before kernels queued earlier",
	[CAUSE_NONE] = "idle time without recorded host work",
	[CAUSE_NO_HOST] = "idle time (no host events recorded)",
	[PART_COMPUTE] = "compute",
	[PART_COMM] = "exposed communication",
	[PART_COPY] = "exposed copies",
};

/* The part of a group that differs most in the step's direction; the step
 * itself if none does. */
static uint32_t
largest_part(const struct clock_changes *k, const struct step_group *g)
{
	bool is_less = term_twice_diff(&k->terms.v[g->first]) < 0;

	for (uint32_t i = g->first; i < g->end; i++) {
		int64_t ns = term_twice_diff(&k->terms.v[i]);

		if (is_part(&k->terms.v[i]) && ns != 0 && (ns < 0) == is_less)
			return i;
	}
	return g->first;
}

/*
 * "6.670 ms more data loading in DataLoader.__next__", or "6.670 ms more Python
 * (2.301 ms in forward)".
 */
static void
put_part(struct buf *b, const struct changes *c, const struct step_group *g,
    uint32_t at)
{
	const struct term *t = &c->clock.terms.v[at], *in = t + 1;
	double share;

	put_time(b, llabs(term_twice_diff(t) / 2));
	buf_printf(b, " %s %s", term_twice_diff(t) < 0 ? "less" : "more",
	    part_words[t->part]);
	if (at + 1 == g->end || !in->is_named || in->name == INTERN_NONE ||
	    cause_groups[in->part] == GROUP_OF_MISSING)
		return;
	share = (double)term_twice_diff(in) / (double)term_twice_diff(t);
	if (share < NAMED_SHARE)
		return;
	buf_puts(b, share < ALL_SHARE ? " (" : " in ");
	if (share < ALL_SHARE) {
		put_time(b, llabs(term_twice_diff(in) / 2));
		buf_puts(b, " in ");
	}
	text_visible(dict_get(c->dict, in->name), b);
	buf_puts(b, share < ALL_SHARE ? ")" : "");
}

/*
 * ", +5.900 ms of host work in gaps that cudaStreamSynchronize opened", if that
 * is half of the difference: without the call the host would have been ahead.
 */
static void
put_opened(struct buf *b, const struct changes *c, const struct step_group *g)
{
	const struct term *step = &c->clock.terms.v[g->first], *t = step + 2;
	int64_t ns = term_twice_diff(t), all = term_twice_diff(step);
	bool is_one;

	if (g->first + 2 >= g->end || t->part != TERM_OPENED || t->is_noise ||
	    (ns < 0) != (all < 0) || llabs(ns) < llabs(all) / 2)
		return;
	is_one = g->first + 3 < g->end && t[1].part == TERM_OPENED &&
	    (double)term_twice_diff(&t[1]) / (double)ns >= ALL_SHARE;
	buf_puts(b, ", ");
	put_signed_time(b, ns / 2);
	buf_puts(b, " of host work in gaps that ");
	if (is_one)
		text_visible(dict_get(c->dict, t[1].name), b);
	else
		buf_puts(b, "blocking calls");
	buf_puts(b, " opened");
}

/* Whether GPU times compare: both sides have as many steps. */
static bool
tells_gpu_time(const struct changes *c)
{
	const struct unit_times *u = c->unit;

	return c->set->per != PER_RUN ||
	    u[0].nsteps * u[1].nruns == u[1].nsteps * u[0].nruns;
}

/*
 * Work without a launch is in no step; a recording that begins while work is
 * queued has some.
 */
void
put_unlinked(struct buf *b, const struct changes *c, bool has_hints)
{
	int64_t ns = 0;

	for (size_t i = 0; i < c->rows.n; i++)
		if (is_unlinked(c, &c->rows.v[i]))
			stat_add(&ns, c->rows.v[i].diff_ns);
	if (ns == 0 || (ns < 0) != (c->diff_ns < 0) ||
	    llabs(ns) < llabs(c->diff_ns) / 2)
		return;
	buf_puts(b, " (");
	put_signed_time(b, ns);
	buf_printf(b, " without a launch%s)",
	    has_hints && c->set->per == PER_RUN && c->unit[0].nsteps > 0 &&
		    c->unit[1].nsteps > 0
		? ": --per step leaves it out"
		: "");
}

/* Verdict only on what was judged; the rest has none. */
static void
put_gpu_growth(struct buf *b, const struct changes *c)
{
	bool is_judged = c->is_known && !c->unlike.is_so;
	bool is_beyond = is_judged && c->judged_ns != 0;

	put_growth(b, (double)c->unit[0].total_ns,
	    (double)(is_beyond ? c->judged_ns : changes_verdict_ns(c)));
	if (is_beyond)
		buf_puts(b, " beyond noise");
	if (is_judged && c->unknown_ns != 0) {
		buf_puts(b, ", noise unknown");
		if (is_beyond) {
			buf_puts(b, " for ");
			put_signed_time(b, c->unknown_ns);
		}
	}
}

static void
put_gpu_time(struct buf *b, const struct changes *c, bool has_hints)
{
	const struct unit_times *u = c->unit;

	if (!tells_gpu_time(c))
		return;
	if (c->gross_ns == 0) {
		buf_puts(b, "; GPU time unchanged");
	} else if (!changes_differ(c)) {
		buf_puts(b, "; GPU time within noise");
	} else if (u[0].total_ns > 0) {
		buf_puts(b, "; GPU time ");
		put_gpu_growth(b, c);
		put_unlinked(b, c, has_hints);
	}
}

/* "not compared: 77.4 % of it before, 99.5 % after is not in the recording" */
static void
put_lost(struct buf *b, const struct changes *c, const struct step_group *g)
{
	const struct term *step = &c->clock.terms.v[g->first];
	const char *of = " of it";

	buf_puts(b, "not compared:");
	for (int s = 0; s < NSIDES; s++) {
		if (!is_mostly_lost(g, step, s))
			continue;
		buf_printf(b, "%s %.1f %%%s %.*s", *of == 0 ? "," : "",
		    100 * (double)g->twice_lost_ns[s] /
			(double)step->twice_ns[s],
		    of, (int)c->set->names[s].len, c->set->names[s].p);
		of = "";
	}
	buf_puts(b, " is not in the recording");
}

void
put_pace(struct buf *b, const struct changes *c, const struct term *step)
{
	for (int s = 0; s < NSIDES; s++) {
		if (step->step[0]->is_gpu == step->step[1]->is_gpu)
			return;
		buf_printf(b, ",%s by the %s %.*s", s == 0 ? " paced" : "",
		    step->step[s]->is_gpu ? "GPU" : "host",
		    (int)c->set->names[s].len, c->set->names[s].p);
	}
}

static void
put_step(struct buf *b, const struct changes *c, const struct step_group *g)
{
	const struct term *step = &c->clock.terms.v[g->first];
	uint32_t largest = largest_part(&c->clock, g);

	put_change(b, step->twice_ns[0] / 2, step->twice_ns[1] / 2);
	if (term_twice_diff(step) == 0)
		return;
	put_pace(b, c, step);
	if (step->is_noise) {
		buf_puts(b, ", within noise");
	} else if (largest > g->first) {
		buf_puts(b, ": ");
		put_part(b, c, g, largest);
		put_opened(b, c, g);
	}
}

/* A sentence on the steps of one kind; the first adds the GPU time. */
static void
note_step(
    const struct changes *c, struct table *t, size_t group, bool has_hints)
{
	const struct step_group *g = &c->clock.groups.v[group];
	struct buf b = { 0 };

	text_visible(dict_get(c->dict, g->kind), &b);
	buf_putc(&b, ' ');
	if (g->is_lost)
		put_lost(&b, c, g);
	else
		put_step(&b, c, g);
	if (group == 0)
		put_gpu_time(&b, c, has_hints);
	note_of(t, &b);
	buf_free(&b);
}

/*
 * The parts of a difference, largest first, up to nine tenths of it; one alone
 * is in the first sentence.
 */
static void
note_parts(const struct changes *c, struct table *t)
{
	const struct clock_changes *k = &c->clock;
	const struct step_group *g = k->groups.v;
	const struct term *step = &k->terms.v[g->first];
	int64_t left = term_twice_diff(step), enough = llabs(left) / 10;
	struct buf b = { 0 };
	size_t n = 0;

	for (uint32_t i = g->first; i < g->end && llabs(left) > enough; i++) {
		const struct term *x = &k->terms.v[i];

		if (!is_part(x))
			continue;
		left -= term_twice_diff(x);
		buf_puts(&b, n++ > 0 ? ", " : "by part: ");
		put_signed_time(&b, term_twice_diff(x) / 2);
		buf_printf(&b, " %s", part_words[x->part]);
	}
	if (n > 1 && !step->is_noise)
		note_of(t, &b);
	buf_free(&b);
}

bool
clock_notes(const struct changes *c, struct table *t, bool has_hints)
{
	const struct clock_changes *k = &c->clock;
	const struct term *first = terms_main(k, TERM_STEP);
	size_t n = k->groups.n < TOP_GROUPS ? k->groups.n : TOP_GROUPS;

	/* steps of another model say nothing; without steps, nor does an
	 * unchanged span */
	if (first == NULL || c->unlike.is_so ||
	    (term_uid(first, 0) == NULL && term_twice_diff(first) == 0))
		return false;
	note_step(c, t, 0, has_hints);
	if (terms_compare(k))
		note_parts(c, t);
	for (size_t i = 1; i < n; i++)
		note_step(c, t, i, has_hints);
	return tells_gpu_time(c);
}

const char *
changes_sameness(const struct changes *c)
{
	const struct term *step = terms_main(&c->clock, TERM_STEP);
	const struct term *busy = terms_main(&c->clock, TERM_BUSY);

	if (c->differs)
		return NULL;
	if (!c->host_differs && (step == NULL || term_twice_diff(step) == 0))
		return "the traces are identical";
	if (!terms_compare(&c->clock))
		return "the GPU work is identical; host time is not compared";
	if (!step->is_noise || !busy->is_noise)
		return term_uid(step, 0) != NULL
		    ? "the GPU work is identical, step times are not"
		    : "the GPU work is identical, the time it spans is not";
	return term_uid(step, 0) != NULL
	    ? "the traces are identical, and step times within noise"
	    : "the GPU work and the time it spans are identical; other host "
	      "time is not compared";
}
