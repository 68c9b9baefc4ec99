/* SPDX-License-Identifier: MIT */
/* --fail-over: did it become slower by more than allowed? */
#include "cmd/tl-diff/notes.h"

#include <stdio.h>

#include "trace/stat.h"

/* What is judged: GPU time, step time, or a rank's compute. */
struct measure {
	const char *what;
	int64_t before_ns, after_ns;
	int64_t limit_ns;
	int64_t known_ns;   /* beyond noise, or work of one side only */
	int64_t unknown_ns; /* growth of unknown noise */
	const char *per;    /* unit of the differences, or NULL */
	bool is_known;      /* some noise is known */
	double spread_ns;   /* half of its interval */
	const char *samples;
	uint64_t nsamples[NSIDES];
	bool is_gpu, is_rank;
	const struct term *step; /* of step time, or NULL */
};

int64_t
threshold_ns(const struct threshold *t, int64_t base_ns)
{
	double ns;

	if (!t->is_percent)
		return t->ns;
	ns = t->percent / 100 * (double)base_ns;
	/* INT64_MAX as a double is 2^63, which does not fit int64_t */
	return ns < (double)INT64_MAX ? (int64_t)ns : INT64_MAX;
}

/* Whether noise is unknown, or the models differ. */
static bool
has_verdict(const struct changes *c, const struct measure *m)
{
	return m->is_known && !(m->is_gpu && c->unlike.is_so);
}

/* Unknown noise that shrinks offsets nothing that is proven. */
static bool
is_all_counted(const struct changes *c, const struct measure *m)
{
	return m->unknown_ns >= 0 || !has_verdict(c, m);
}

/* "; 3 and 3 steps of one run each" */
static void
put_samples(struct buf *b, const struct changes *c, const struct measure *m)
{
	const struct unit_times *u = c->unit;
	bool is_one = u[0].nruns == 1 && u[1].nruns == 1;

	buf_printf(b, "; %" PRIu64 " and %" PRIu64 " %s", m->nsamples[0],
	    m->nsamples[1], c->by_run ? "runs" : m->samples);
	if (m->is_rank)
		buf_printf(b, ", which vary like those of all %zu ranks",
		    c->ranks.list.n);
	else if (is_one)
		buf_puts(b, " of one run each");
	else if (!c->by_run)
		buf_printf(b, " of %" PRIu64 " and %" PRIu64 " %s", u[0].nruns,
		    u[1].nruns, c->set->pair == PAIR_RANK ? "ranks" : "runs");
}

/* What counts against the limit. */
static int64_t
judged_ns(const struct changes *c, const struct measure *m)
{
	int64_t ns = m->known_ns;

	if (is_all_counted(c, m))
		stat_add(&ns, m->unknown_ns);
	return ns;
}

/* ", +491.0 us: -21.0 us by work of one side only, +512.0 us (noise unknown)"
 */
static void
put_difference(struct buf *b, const struct changes *c, const struct measure *m)
{
	struct first_steps first = { .judged_ns = 0 };
	const char *before = ", ";
	bool is_judged = has_verdict(c, m);

	for (int f = 0; f < NFAMILIES && m->is_gpu; f++) {
		stat_add(&first.judged_ns, c->family[f].first.judged_ns);
		stat_add(&first.unknown_ns, c->family[f].first.unknown_ns);
		first.nrest += c->family[f].first.nrest;
	}
	if (m->known_ns != 0 && m->unknown_ns != 0 && is_all_counted(c, m)) {
		buf_puts(b, before);
		put_signed_time(b, judged_ns(c, m));
		before = ": ";
	}
	if (m->known_ns != 0) {
		buf_puts(b, before);
		put_signed_time(b, m->known_ns);
	}
	if (!is_judged && m->known_ns != 0)
		buf_puts(b, " by work of one side only");
	if (is_judged && m->known_ns != 0) {
		if (m->spread_ns > 0) {
			buf_puts(b, " \302\261 ");
			put_time(b, (int64_t)m->spread_ns);
		}
		buf_puts(b, " beyond noise");
		for (int f = 0; f < NFAMILIES && m->is_gpu; f++)
			put_rest(b, &c->family[f]);
		put_first(b, m->known_ns, first.judged_ns, first.nrest);
	}
	if (m->unknown_ns != 0) {
		buf_puts(b, ", ");
		put_signed_time(b, m->unknown_ns);
		buf_printf(b, "%s (%s)", m->per != NULL ? m->per : "",
		    m->is_gpu && c->unlike.is_so ? "not judged"
						 : "noise unknown");
	}
	put_first(b, m->unknown_ns, first.unknown_ns, 0);
	if (!is_all_counted(c, m))
		buf_puts(b, ", not counted");
	if (m->is_gpu)
		put_unlinked(b, c, true);
}

/* Whether it is slower than allowed; adds a note. */
static bool
fails(const struct changes *c, const struct measure *m)
{
	const struct settings *set = c->set;
	int64_t more_ns = judged_ns(c, m);
	struct buf b = { 0 };

	if (more_ns <= m->limit_ns ||
	    (set->is_sure &&
		(double)more_ns - m->spread_ns <= (double)m->limit_ns))
		return false;
	buf_printf(&b, "%s ", m->what);
	put_change(&b, m->before_ns, m->after_ns);
	if (m->step != NULL)
		put_pace(&b, c, m->step);
	put_difference(&b, c, m);
	buf_puts(&b, "; allowed: ");
	if (set->fail_over.is_percent)
		buf_printf(&b, "%g %% (", set->fail_over.percent);
	put_time(&b, m->limit_ns);
	if (set->fail_over.is_percent)
		buf_putc(&b, ')');
	if (m->is_known)
		put_samples(&b, c, m);
	note("slower than allowed: %.*s", (int)b.len, b.p);
	buf_free(&b);
	return true;
}

/* Whether it grew by more than allowed, noise or not. */
static bool
grew(const struct measure *m)
{
	return m->after_ns - m->before_ns > m->limit_ns;
}

/* Warns of growth beyond the limit but within noise: more steps may prove it.
 */
static bool
tell_noise(const struct measure *m)
{
	struct buf more = { 0 }, spread = { 0 };

	if (!grew(m))
		return false;
	put_time(&more, m->after_ns - m->before_ns);
	buf_putc(&more, 0);
	put_time(&spread, (int64_t)m->spread_ns);
	buf_putc(&spread, 0);
	report(MSG_GATE_IN_NOISE, m->what, more.p, spread.p);
	buf_free(&more);
	buf_free(&spread);
	return true;
}

static struct measure
step_time(const struct settings *set, const struct changes *c)
{
	const struct term *step = terms_main(&c->clock, TERM_STEP);
	int64_t diff_ns = step->is_noise ? 0 : term_twice_diff(step) / 2;

	return (struct measure){
		.what = term_uid(step, 0) != NULL ? "step time" : "GPU span",
		.before_ns = step->twice_ns[0] / 2,
		.after_ns = step->twice_ns[1] / 2,
		.limit_ns =
		    threshold_ns(&set->fail_over, step->twice_ns[0] / 2),
		.known_ns = step->is_known ? diff_ns : 0,
		.unknown_ns = step->is_known ? 0 : diff_ns,
		.is_known = step->is_known,
		.spread_ns = noise_spread(&step->noise),
		.samples = "steps",
		.step = step,
		.nsamples = { c->clock.groups.v[0].n[0],
		    c->clock.groups.v[0].n[1] },
	};
}

static struct measure
gpu_time(const struct settings *set, const struct changes *c)
{
	bool is_sequence = set->by == BY_KERNEL && set->per == PER_RUN;

	return (struct measure){
		.what = "GPU time",
		.before_ns = c->unit[0].total_ns,
		.after_ns = c->unit[1].total_ns,
		.limit_ns = threshold_ns(&set->fail_over, c->unit[0].total_ns),
		.known_ns = c->judged_ns,
		.unknown_ns = c->unknown_ns,
		.is_known = c->is_known,
		.spread_ns = noise_spread(&c->noise),
		.samples = is_sequence ? "sequences" : "steps",
		.nsamples = { c->nsamples[0], c->nsamples[1] },
		.is_gpu = true,
	};
}

/* The other measure failed: says that this one did not. */
static void
tell_passed(const struct settings *set, const struct measure *m)
{
	struct str limit = set->fail_over.text;
	struct buf b = { 0 };

	buf_printf(&b, "%s passes: ", m->what);
	put_change(&b, m->before_ns, m->after_ns);
	note("%.*s%s; --fail-over %s:%.*s judges it alone", (int)b.len, b.p,
	    grew(m) ? ", within noise" : "", m->is_gpu ? "gpu" : "step",
	    (int)limit.len, limit.p);
	buf_free(&b);
}

/* Step time, as users wait for it, then GPU time. */
static bool
fails_times(const struct settings *set, const struct changes *c)
{
	bool has_step = set->gate != GATE_GPU && terms_compare(&c->clock);
	bool has_gpu = set->gate != GATE_STEP, failed[2] = { false, false };
	struct measure m[2] = { { 0 }, gpu_time(set, c) };
	bool is_judged = has_step && has_gpu;

	if (has_step) {
		const struct term *step = terms_main(&c->clock, TERM_STEP);

		m[0] = step_time(set, c);
		if (step->is_known && step->is_noise && tell_noise(&m[0]))
			is_judged = false;
		failed[0] = fails(c, &m[0]);
	}
	failed[1] = has_gpu && fails(c, &m[1]);
	if (is_judged && failed[0] != failed[1])
		tell_passed(set, &m[failed[0]]);
	return failed[0] || failed[1];
}

/* "rank 3: compute a step" */
static bool
fails_rank(const struct changes *c, const struct rank_change *r,
    const char *what, struct measure m)
{
	struct buf b = { 0 };
	bool failed;

	buf_printf(&b, "rank %" PRId64 ": %s%c", r->rank, what, 0);
	m.what = b.p;
	m.limit_ns = threshold_ns(&c->set->fail_over, r->unit_ns[0]);
	m.is_rank = true;
	failed = fails(c, &m);
	buf_free(&b);
	return failed;
}

/*
 * Judges each rank by its own compute. Its first step, of unknown noise,
 * offsets nothing and is judged apart.
 */
static bool
fails_ranks(const struct changes *c)
{
	bool has_steps = c->ranks.has_steps, failed = false;

	for (size_t i = 0; i < c->ranks.list.n; i++) {
		const struct rank_change *r = &c->ranks.list.v[i];
		const struct measure rest = {
			.before_ns = r->unit_ns[0],
			.after_ns = r->unit_ns[1],
			.known_ns = r->is_known ? r->judged_ns : 0,
			.unknown_ns = r->is_known ? 0 : rank_diff(r),
			.is_known = r->is_known,
			.spread_ns = r->is_named ? noise_spread(&r->noise) : 0,
			.samples = "steps",
			.nsamples = { r->nsteps[0], r->nsteps[1] },
		};
		const struct measure first = {
			.before_ns = r->out_ns[0],
			.after_ns = r->out_ns[1],
			.unknown_ns = r->first_ns,
			.per = " a step",
		};

		failed = fails_rank(c, r,
			     has_steps ? "compute a step" : "compute", rest) ||
		    failed;
		failed = fails_rank(c, r, "first step", first) || failed;
	}
	return failed;
}

/* The first side whose steps are mostly not in the recording. */
static int
lost_side(const struct changes *c)
{
	const struct step_group *g = c->clock.groups.v;

	return is_mostly_lost(g, terms_main(&c->clock, TERM_STEP), 0) ? 0 : 1;
}

/* Step times are not judged. */
static void
tell_unjudged(const struct settings *set, const struct changes *c)
{
	if (c->clock.groups.n == 0)
		note("no step times to compare: only GPU time is judged");
	else if (!terms_compare(&c->clock))
		report(MSG_GATE_STEPS_LOST, set->paths[lost_side(c)].v[0]);
}

void
gate_check(const struct settings *set, const struct changes *c)
{
	if (set->gate != GATE_STEP)
		return;
	if (c->clock.groups.n == 0)
		die_nothing(MSG_NO_STEPS_TO_JUDGE, set->paths[1].v[0]);
	if (!terms_compare(&c->clock))
		die_nothing(MSG_STEPS_LOST, set->paths[lost_side(c)].v[0]);
}

int
gate_status(const struct settings *set, const struct changes *c)
{
	bool failed;

	if (!set->fail_over.is_set)
		return exit_status();
	if (set->gate == GATE_BOTH)
		tell_unjudged(set, c);
	failed = set->gate == GATE_RANK ? fails_ranks(c) : fails_times(set, c);
	return failed ? EXIT_GATE : exit_status();
}
