/* SPDX-License-Identifier: MIT */
/* The verdict for a batch job: did it become slower by more than allowed? */
#include <math.h>

#include "cmd/tl-diff/changes.h"

/* What is judged: GPU time, and the time of a step on the clock. */
struct measure {
	const char *what;
	int64_t before_ns, after_ns;
	int64_t diff_ns;           /* without what is within noise */
	bool knows_noise;          /* there are samples to tell it by */
	const struct changes *gpu; /* of GPU time; else NULL */
};

int64_t
threshold_ns(const struct threshold *t, int64_t base_ns)
{
	double ns;

	if (!t->is_percent)
		return t->ns;
	ns = t->percent / 100 * (double)base_ns;
	/* the double next to INT64_MAX is 2^63, which is no int64_t */
	return ns < (double)INT64_MAX ? (int64_t)ns : INT64_MAX;
}

/* Whether it is slower than allowed; a note says so. */
static bool
fails(const struct settings *set, const struct measure *m)
{
	int64_t limit_ns = threshold_ns(&set->fail_over, m->before_ns);
	struct buf b = { 0 };

	if (m->diff_ns <= limit_ns)
		return false;
	buf_printf(&b, "%s %.3f to %.3f ms, %+.3f ms%s", m->what,
	    (double)m->before_ns / 1e6, (double)m->after_ns / 1e6,
	    (double)m->diff_ns / 1e6,
	    m->knows_noise ? " beyond noise" : ", noise unknown");
	if (m->gpu != NULL)
		put_unlinked(&b, m->gpu);
	buf_puts(&b, "; allowed: ");
	if (set->fail_over.is_percent)
		buf_printf(&b, "%g %% (", set->fail_over.percent);
	buf_printf(&b, "%.3f ms%s", (double)limit_ns / 1e6,
	    set->fail_over.is_percent ? ")" : "");
	note("slower than allowed: %.*s", (int)b.len, b.p);
	buf_free(&b);
	return true;
}

static bool
fails_step_time(const struct settings *set, const struct changes *c)
{
	const struct term *step = terms_main(&c->clock, TERM_STEP);

	if (set->gate == GATE_GPU || step == NULL)
		return false;
	return fails(set,
	    &(struct measure){
		.what = term_uid(step, 0) != NULL ? "step time" : "GPU span",
		.before_ns = step->twice_ns[0] / 2,
		.after_ns = step->twice_ns[1] / 2,
		.diff_ns = step->is_noise ? 0 : term_twice_diff(step) / 2,
		.knows_noise = !isnan(step->spread_ns),
	    });
}

static bool
fails_gpu_time(const struct settings *set, const struct changes *c)
{
	return set->gate != GATE_STEP &&
	    fails(set,
		&(struct measure){
		    .what = "GPU time",
		    .before_ns = c->unit[0].total_ns,
		    .after_ns = c->unit[1].total_ns,
		    .diff_ns = c->verdict_ns,
		    .knows_noise = !isnan(c->spread_ns),
		    .gpu = c,
		});
}

void
gate_check(const struct settings *set, const struct changes *c)
{
	if (set->gate == GATE_STEP && c->clock.groups.n == 0)
		die_nothing(MSG_NO_STEPS_TO_JUDGE, set->paths[1].v[0]);
}

/* Step time first: it is what a user waits for. A note for each. */
int
gate_status(const struct settings *set, const struct changes *c)
{
	bool failed;

	if (!set->fail_over.is_set)
		return exit_status();
	if (set->gate == GATE_BOTH && c->clock.groups.n == 0)
		note("step times are not compared: only GPU time is judged");
	failed = fails_step_time(set, c);
	failed = fails_gpu_time(set, c) || failed;
	return failed ? EXIT_GATE : exit_status();
}
