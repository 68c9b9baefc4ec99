/* SPDX-License-Identifier: MIT */
/* Can the times be right? */
#include "cmd/tl-health/health.h"
#include "trace/overrun.h"

#include <math.h>
#include <stdlib.h>

#define HOLE_NS (INT64_C(10) * 1000000000)
#define COARSE_NS 1000
/* Among fewer GPU events one may well take most of the time. */
#define FEW_EVENTS 20

/* Whether an event has a usable time: 0 may mean none. */
static bool
has_place(const struct subject *s, const struct host_gpu *k)
{
	return !s->zero_is_wrong || k->start_ns != s->zero_ns;
}

/* ---- events in the order of a GPU stream ---- */

struct order {
	const struct host_gpu **v;
	size_t n;
};

static struct order
order_by_stream(const struct subject *s)
{
	const struct host *h = &s->host;
	struct order o = { xmalloc(h->gpus.n * sizeof *o.v + 1), 0 };

	for (size_t i = 0; i < h->gpus.n; i++)
		if (has_place(s, &h->gpus.v[i]))
			o.v[o.n++] = &h->gpus.v[i];
	overrun_order(o.v, o.n);
	return o;
}

/*
 * A GPU stream runs one event after another: one that ends after the next one's
 * end is too long. One that ends after its start may be right, as programmatic
 * launches overlap.
 */
static void
check_streams(struct health *h)
{
	struct subject *s = &h->subject;
	const int64_t same = overrun_tolerance(s->divisor);
	struct order o = order_by_stream(s);
	const struct host_gpu *open = NULL, *told = NULL;

	for (size_t i = 0; i < o.n; i++) {
		const struct host_gpu *e = o.v[i];
		int64_t over;

		if (open == NULL || !host_same_stream(open, e)) {
			open = e;
			continue;
		}
		if (e->start_ns == open->start_ns && same < COARSE_NS &&
		    e->start_ns < e->end_ns && open->start_ns < open->end_ns)
			tally_event(&s->of[CHECK_TIME_BURST], e->uid, 0);
		over = overrun_shared(open, e);
		if (overrun_is(open, e, same)) {
			struct tally *t = &s->of[CHECK_TIME_OVERRUN];

			if (told != open)
				tally_event(t, open->uid, 0);
			t->ns = num_add_max(t->ns, over);
			told = open;
		} else if (over > same) {
			tally_event(
			    &s->of[CHECK_TIME_OVERLAP], open->uid, over);
		}
		if (e->end_ns > open->end_ns)
			open = e;
	}
	free(o.v);
	found(h, CHECK_TIME_BURST, &s->of[CHECK_TIME_BURST],
	    percent_of((double)s->of[CHECK_TIME_BURST].n, (double)s->ngpu));
	for (int c = CHECK_TIME_OVERRUN; c <= CHECK_TIME_OVERLAP; c++)
		found(h, (enum check)c, &s->of[c],
		    percent_of((double)s->of[c].ns, (double)s->gpu_ns));
}

/* ---- against the launch, and the profiler's window ---- */

static void
check_clocks(struct health *h)
{
	struct subject *s = &h->subject;
	struct tally *early = &s->of[CHECK_TIME_BEFORE_LAUNCH];
	struct tally *outside = &s->of[CHECK_TIME_OUTSIDE];
	const int64_t same = overrun_tolerance(s->divisor);
	int64_t most = 0;
	struct finding *f;

	for (size_t i = 0; i < s->host.gpus.n; i++) {
		const struct host_gpu *k = &s->host.gpus.v[i];

		if (!has_place(s, k))
			continue;
		if (k->launch != HOST_NONE) {
			int64_t by =
			    s->host.events.v[k->launch].start_ns - k->start_ns;

			if (by > same)
				tally_event(early, k->uid, 0);
			most = by > most ? by : most;
		}
		if (s->has_window &&
		    (k->end_ns <= s->window.start ||
			k->start_ns >= s->window.end))
			tally_event(outside, k->uid, k->end_ns - k->start_ns);
	}
	f = found(h, CHECK_TIME_BEFORE_LAUNCH, early,
	    percent_of((double)early->n, (double)s->ngpu));
	if (f != NULL) {
		f->ns = -1;
		finding_say(h, f, "by up to %g us", (double)most / 1e3);
	}
	found(h, CHECK_TIME_OUTSIDE, outside,
	    percent_of((double)outside->ns, (double)s->gpu_ns));
}

/* ---- holes, and single events ---- */

static void
check_jump(struct health *h)
{
	const struct subject *s = &h->subject;
	const struct spans *r = &s->recorded;
	struct tally t = { .n = 1 };
	struct finding *f;
	size_t at = 0;
	double whole;

	for (size_t i = 1; i < r->n; i++) {
		int64_t hole = r->v[i].start - r->v[i - 1].end;

		if (hole > t.ns) {
			t.ns = hole;
			at = i;
		}
	}
	if (r->n == 0 || t.ns < HOLE_NS)
		return;
	whole = (double)r->v[r->n - 1].end - (double)r->v[0].start;
	if ((double)t.ns * 2 < whole)
		return;
	f = found(h, CHECK_TIME_JUMP, &t, percent_of((double)t.ns, whole));
	f->has_uid = false;
	finding_say(h, f, "from %.6g s on",
	    ((double)r->v[at - 1].end - (double)r->v[0].start) / 1e9);
}

static void
check_dominant(struct health *h)
{
	const struct subject *s = &h->subject;
	double share =
	    percent_of((double)s->longest_ns, (double)spans_total(&s->busy));

	if (s->ngpu >= FEW_EVENTS && share >= 50)
		found(h, CHECK_TIME_DOMINANT,
		    &(struct tally){ 1, s->longest_ns, s->longest }, share);
}

/* How large the unit of time is against a mean duration. */
static void
check_coarse(struct health *h)
{
	const struct subject *s = &h->subject;
	struct finding *f;

	if (s->divisor < COARSE_NS || s->ngpu < FEW_EVENTS)
		return;
	f = found(h, CHECK_TIME_COARSE,
	    &(struct tally){ .n = s->ngpu, .ns = (int64_t)s->divisor },
	    percent_of(
		(double)s->divisor, (double)s->gpu_ns / (double)s->ngpu));
	f->has_uid = false;
	f->text = str_of(arena_printf(
	    h->text, "times are multiples of %g us", (double)s->divisor / 1e3));
}

static void
check_zero(struct health *h)
{
	struct subject *s = &h->subject;
	const struct tally *t = &s->of[CHECK_TIME_ZERO];

	if (t->n > 0 && s->zero_is_wrong)
		found(h, CHECK_TIME_ZERO, t,
		    percent_of((double)t->ns, (double)s->ngpu))
		    ->ns = -1;
}

void
check_time(struct health *h)
{
	struct subject *s = &h->subject;
	static const enum check counted[] = { CHECK_TIME_HUGE,
		CHECK_TIME_NEGATIVE };
	const struct tally *none = &s->of[CHECK_TIME_NO_DURATION];

	check_zero(h);
	for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
		const struct tally *t = &s->of[counted[i]];
		struct finding *f = found(h, counted[i], t,
		    percent_of((double)t->ns, (double)s->ngpu));

		if (f != NULL)
			f->ns = -1;
	}
	found(h, CHECK_TIME_NO_DURATION, none,
	    percent_of((double)none->n, (double)s->ngpu));
	check_jump(h);
	check_clocks(h);
	if (!s->is_xla)
		check_streams(h);
	check_dominant(h);
	check_coarse(h);
}
