/* SPDX-License-Identifier: MIT */
/* Is everything that ran in the recording? */
#include "cmd/tl-health/health.h"
#include "trace/gap.h"
#include "trace/steps.h"

#include <math.h>
#include <stdlib.h>

static void
tell_blocked(
    struct health *h, struct finding *f, const struct gap_piece *longest)
{
	const struct host *host = &h->subject.host;
	uint32_t call =
	    host_blocked_in(host, longest->start_ns, longest->end_ns);
	struct buf b = { 0 };
	struct str name;

	if (call == HOST_NONE)
		return;
	name = dict_get(h->dict, host->events.v[call].name);
	f->first = host->events.v[call].uid;
	text_visible(name, &b);
	buf_puts(&b, ", ");
	put_time(&b, longest->end_ns - longest->start_ns);
	finding_say(h, f, "%.*s", (int)b.len, b.p);
	buf_free(&b);
}

/*
 * Idle time in which the host waits for the GPU, or in which launched work did
 * not start: the awaited work was not recorded.
 */
static void
check_gaps(struct health *h)
{
	struct subject *s = &h->subject;
	struct tally *blocked = &s->of[CHECK_COVER_BLOCKED];
	struct tally *late = &s->of[CHECK_COVER_LATE];
	const struct gap_piece *longest = NULL;
	struct gaps gaps = { .min_ns = GAP_MISSING_NS };
	struct finding *f;
	double whole = 0;

	if (s->busy.n > 0)
		whole = (double)s->busy.v[s->busy.n - 1].end -
		    (double)s->busy.v[0].start;
	gaps_find(&gaps, &s->host, NULL, s->host.gpus.n, NULL);
	for (size_t i = 0; i < gaps.pieces.n; i++) {
		const struct gap_piece *p = &gaps.pieces.v[i];
		int64_t ns = p->end_ns - p->start_ns;
		struct uid uid = { 0, 0 };

		if (p->event != HOST_NONE)
			uid = s->host.events.v[p->event].uid;
		if (p->cause == CAUSE_LATE_START)
			tally_event(late, uid, ns);
		if (p->cause != CAUSE_GPU_MISSING)
			continue;
		tally_event(blocked, uid, ns);
		if (longest == NULL || ns > longest->end_ns - longest->start_ns)
			longest = p;
	}
	f = found(h, CHECK_COVER_BLOCKED, blocked,
	    percent_of((double)blocked->ns, whole));
	if (f != NULL)
		tell_blocked(h, f, longest);
	found(h, CHECK_COVER_LATE, late, percent_of((double)late->ns, whole));
	gaps_free(&gaps);
}

/* ---- steps ---- */

/* Number of GPU events launched in each step. */
static uint64_t *
count_launched(const struct host *h, const struct steps *steps)
{
	uint64_t *n = xcalloc(steps->list.n + 1, sizeof *n);

	for (size_t i = 0; i < h->gpus.n; i++) {
		uint32_t w = h->gpus.v[i].launch != HOST_NONE
		    ? steps_window_of(steps, h, h->gpus.v[i].launch)
		    : STEPS_NONE;

		if (w != STEPS_NONE)
			n[w]++;
	}
	return n;
}

/* The most frequent number among steps; ties: the larger. */
static uint64_t
usual_count(const struct steps *steps, const uint64_t *n)
{
	struct map seen = { 0 };
	uint64_t usual = 0, best = 0;

	for (size_t i = 0; i < steps->list.n; i++) {
		uint64_t *times;

		if (steps->list.v[i].what != STEP_IS_STEP)
			continue;
		times = map_put(&seen, n[i], NULL);
		if (++*times > best || (*times == best && n[i] > usual)) {
			best = *times;
			usual = n[i];
		}
	}
	map_free(&seen);
	return usual;
}

static void
check_steps(struct health *h)
{
	struct subject *s = &h->subject;
	struct tally *empty = &s->of[CHECK_COVER_STEPS];
	struct tally *uneven = &s->of[CHECK_COVER_UNEVEN];
	struct steps steps = { .only_marked = true };
	uint64_t *launched, usual;
	int64_t all = 0;
	size_t n = 0;

	steps_find(&steps, &s->host, NULL, 0);
	steps_find_gpu(&steps, &s->host);
	launched = count_launched(&s->host, &steps);
	usual = usual_count(&steps, launched);
	for (size_t i = 0; i < steps.list.n; i++) {
		const struct step_window *w = &steps.list.v[i];
		int64_t ns = w->end_ns - w->start_ns;
		struct uid uid;

		if (w->what != STEP_IS_STEP)
			continue;
		n++;
		all = num_add_max(all, ns);
		uid = s->host.events.v[w->marker].uid;
		if (!w->has_gpu)
			tally_event(empty, uid, ns);
		else if (launched[i] != usual)
			tally_event(uneven, uid, ns);
	}
	found(h, CHECK_COVER_STEPS, empty,
	    percent_of((double)empty->ns, (double)all));
	found(h, CHECK_COVER_UNEVEN, uneven,
	    percent_of((double)uneven->ns, (double)all));
	if (n == 0)
		found(h, CHECK_COVER_NO_STEPS,
		    &(struct tally){ .n = 1, .ns = -1 }, NAN);
	free(launched);
	steps_free(&steps);
}

/* ---- losses that the profiler reports ---- */

static bool
tells_loss(struct str text)
{
	static const char *const words[] = { "drop", "lost", "overflow",
		"incomplete" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_find(text, str_of(words[i]), true) >= 0)
			return true;
	return false;
}

/* Kineto writes its log and its options beside the events. */
void
coverage_take_meta(struct health *h, const struct meta *m)
{
	static const char *const keys[] = { "WARNING", "ERROR" };
	const struct value *v = &m->fact.val;

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (str_eq(m->fact.key, str_of(keys[i])) &&
		    v->type >= VAL_STR && tells_loss(v->s))
			h->subject.nlosses++;
	if (str_eq(m->fact.key, STR("with_stack")) && v->type == VAL_INT)
		h->subject.has_stacks = v->i != 0;
}

/* tl-decode counts the losses of other formats. */
void
coverage_take_facts(struct subject *s, const struct source *src)
{
	static const char *const keys[] = { "losses", "packets_lost",
		"packets_dropped" };
	const struct fact *format;
	int64_t n;

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (source_int(src, keys[i], &n) && n > 0)
			s->nlosses += (uint64_t)n;
	format = source_fact(src, "format");
	s->is_chrome = format != NULL && format->val.type >= VAL_STR &&
	    str_eq(format->val.s, STR("chrome"));
}

void
check_coverage(struct health *h)
{
	struct subject *s = &h->subject;

	found(h, CHECK_COVER_LOST, &(struct tally){ s->nlosses, -1, { 0, 0 } },
	    NAN);
	if (s->ncalls > 0)
		check_gaps(h);
	if (s->ngpu > 0)
		check_steps(h);
}

/* ---- several ranks ---- */

/* Whether two sources overlap in time, as far as their clocks tell. */
static bool
is_apart(const struct health *h, size_t a, size_t b)
{
	const struct sink_source *x = &h->sources.list.v[a];
	const struct sink_source *y = &h->sources.list.v[b];
	const struct span *v = h->windows.v, *w = &v[a], *u = &v[b];

	return w->end > w->start && u->end > u->start &&
	    ((double)w->end + (double)x->base_ns <
		    (double)u->start + (double)y->base_ns ||
		(double)u->end + (double)y->base_ns <
		    (double)w->start + (double)x->base_ns);
}

void
check_ranks(struct health *h)
{
	struct tally apart = { .ns = -1 }, missing = { .ns = -1 };
	size_t n = h->sources.list.n;
	uint64_t nranks = 0;

	if (n < 2 || sink_sources_lead(&h->sources) != SINK_LEAD_RANK)
		return;
	h->subject.source = 0;
	for (size_t i = 0; i < n; i++) {
		nranks += h->sources.list.v[i].rank < h->world;
		apart.n += i > 0 && is_apart(h, 0, i);
	}
	if ((uint64_t)h->world > nranks)
		missing.n = (uint64_t)h->world - nranks;
	found(h, CHECK_COVER_RANKS, &missing,
	    percent_of((double)missing.n, (double)h->world));
	found(h, CHECK_TIME_RANKS, &apart,
	    percent_of((double)apart.n, (double)(n - 1)));
}
