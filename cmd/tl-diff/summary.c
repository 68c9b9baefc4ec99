/* SPDX-License-Identifier: MIT */
/* What changed, in sentences. */
#include <math.h>

#include "cmd/tl-diff/summary.h"
#include "trace/stat.h"

#define TOP_ROWS 3

/* ---- figures for people ---- */

static void
put_time(struct buf *b, int64_t ns)
{
	double v = (double)(ns < 0 ? -ns : ns);

	if (v < 1e3)
		buf_printf(b, "%.0f ns", v);
	else if (v < 1e6)
		buf_printf(b, "%.1f us", v / 1e3);
	else if (v < 1e9)
		buf_printf(b, "%.3f ms", v / 1e6);
	else
		buf_printf(b, "%.3f s", v / 1e9);
}

static void
put_change(struct buf *b, int64_t before, int64_t after)
{
	put_time(b, before);
	buf_puts(b, " to ");
	put_time(b, after);
	if (before > 0)
		buf_printf(b, " (%+.1f %%)",
		    100 * ((double)after - (double)before) / (double)before);
}

/* ---- sentences ---- */

static bool
has_several_units(const struct figures *f)
{
	return f->unit[0].n > 1 || f->unit[1].n > 1;
}

/*
 * How much of the difference the first rows that go its way make up; no more of
 * them than make up all.
 */
static void
put_share(struct buf *b, const struct summary *s)
{
	int64_t diff_ns = s->figures->diff_ns, sum = 0;
	size_t n = 0;
	double share;

	for (size_t i = 0; i < s->rows.n && n < TOP_ROWS; i++) {
		const struct figure *r = s->rows.v[i];

		if (diff_ns < 0 ? sum <= diff_ns : sum >= diff_ns)
			break;
		if (r->is_noise || r->diff_ns == 0 ||
		    (r->diff_ns < 0) != (diff_ns < 0))
			continue;
		stat_add(&sum, r->diff_ns);
		n++;
	}
	if (n == 0)
		return;
	share = 100 * (double)sum / (double)diff_ns;
	if (share > 100)
		buf_puts(b, ", all of it and more");
	else
		buf_printf(b, ", %.0f %% of it", share);
	buf_printf(b, " from %zu %s%s", n, s->what, n == 1 ? "" : "s");
}

/* What of the difference may be chance: all, or all that both sides do. */
static void
put_chance(struct buf *b, const struct summary *s)
{
	const struct figures *f = s->figures;

	if (f->fixed_ns == 0) {
		buf_puts(b, ", within noise");
		return;
	}
	put_share(b, s);
	buf_puts(b, f->fixed_ns < 0 ? "; all but -" : "; all but +");
	put_time(b, f->fixed_ns);
	buf_puts(b, ", of work on one side only, is within noise");
}

void
summary_whole(const struct summary *s, struct table *t)
{
	const struct figures *f = s->figures;
	const struct unit_times *u = f->unit;
	const char *unit = f->set->per == PER_STEP ? " a step" : "";
	struct buf b = { 0 };

	if (f->set->per == PER_RUN && has_several_units(f))
		unit = f->set->pair == PAIR_RANK ? " a rank" : " a run";
	buf_puts(&b, "GPU time ");
	put_change(&b, u[0].total_ns, u[1].total_ns);
	buf_puts(&b, unit);
	if (f->is_noise)
		put_chance(&b, s);
	else if (f->diff_ns != 0)
		put_share(&b, s);
	table_note(t, "%.*s", (int)b.len, b.p);
	if (u[0].nruns != u[1].nruns)
		table_note(t, "the sides have %" PRIu64 " and %" PRIu64 " runs",
		    u[0].nruns, u[1].nruns);
	b.len = 0;
	if (figures_have_clock(f)) {
		const struct step_clock *c = &f->clock;

		buf_puts(&b, "a step takes ");
		put_change(&b, c->mean_ns[0], c->mean_ns[1]);
		buf_printf(&b,
		    " on the clock (%" PRIu64 " and %" PRIu64 " steps)",
		    c->n[0], c->n[1]);
		if (c->is_noise && c->mean_ns[0] != c->mean_ns[1])
			buf_puts(&b, ", within noise");
		table_note(t, "%.*s", (int)b.len, b.p);
	}
	buf_free(&b);
}

static void
put_sides(const struct summary *s, struct buf *b, const struct tally *tally)
{
	size_t first = b->len;

	for (int i = 0; i < NSIDES; i++) {
		struct str name = s->set->names[i];

		if (tally->n[i] == 0)
			continue;
		buf_puts(b, b->len > first ? ", " : "");
		buf_printf(b, "%" PRIu64 " %.*s (", tally->n[i], (int)name.len,
		    name.p);
		put_time(b, tally->ns[i]);
		buf_putc(b, ')');
	}
}

void
summary_tally(const struct summary *s, struct table *t,
    const struct tally *tally, const char *what)
{
	const char *over = "";
	struct buf b = { 0 };

	if (tally->n[0] == 0 && tally->n[1] == 0)
		return;
	if (has_several_units(s->figures))
		over = s->set->per == PER_STEP ? ", over all steps"
					       : ", over all runs";
	put_sides(s, &b, tally);
	table_note(t, "%s%s: %.*s", what, over, (int)b.len, b.p);
	buf_free(&b);
}

/* A step that stands out, while the whole may be chance. */
static void
note_stand_out(const struct summary *s, struct table *t)
{
	const struct stand_out *o = &s->figures->out;
	struct str side = s->set->names[o->side];
	struct buf b = { 0 };

	if (o->ns == 0 || !s->figures->is_noise)
		return;
	put_time(&b, o->ns);
	table_note(t,
	    "step %" PRId64 " of %.*s stands out: GPU time %s%.*s (--step "
	    "%" PRId64 " compares it alone)",
	    o->step, (int)side.len, side.p, o->ns < 0 ? "-" : "+", (int)b.len,
	    b.p, o->step);
	buf_free(&b);
}

static void
note_noise(const struct figures *f, struct table *t, uint64_t n)
{
	struct buf b = { 0 };

	if (f->rest_ns != 0) {
		buf_puts(&b, ", but together changed by ");
		buf_puts(&b, f->rest_ns < 0 ? "-" : "+");
		put_time(&b, f->rest_ns);
	}
	table_note(t, "%" PRIu64 " of %zu rows are within noise%.*s", n,
	    f->rows.n, (int)b.len, b.p != NULL ? b.p : "");
	buf_free(&b);
}

void
summary_rows(const struct summary *s, struct table *t)
{
	struct tally only = { { 0, 0 }, { 0, 0 } };
	uint64_t noise = 0;
	struct buf b = { 0 };

	for (size_t i = 0; i < s->figures->rows.n; i++) {
		const struct figure *r = &s->figures->rows.v[i];

		noise += r->is_noise;
		for (int k = 0; k < NSIDES; k++)
			if (r->kernels[k] > 0 && r->kernels[!k] == 0) {
				only.n[k]++;
				stat_add(&only.ns[k], r->unit_ns[k]);
			}
	}
	put_sides(s, &b, &only);
	if (b.len > 0)
		table_note(t, "rows on one side only: %.*s", (int)b.len, b.p);
	buf_free(&b);
	if (s->figures->diff_ns != 0 && isnan(s->figures->spread_ns))
		table_note(t, "noise unknown: pass several runs or steps");
	if (noise > 0)
		note_noise(s->figures, t, noise);
	note_stand_out(s, t);
}

void
summary_steps(const struct summary *s, struct table *t)
{
	const struct unit_times *u = s->figures->unit;

	if (s->figures->set->per == PER_RUN && u[0].nsteps > 0 &&
	    u[1].nsteps > 0 &&
	    u[0].nsteps * u[1].nruns != u[1].nsteps * u[0].nruns)
		table_note(t,
		    "the sides have %" PRIu64 " and %" PRIu64
		    " steps: --per step compares a step",
		    u[0].nsteps, u[1].nsteps);
}
