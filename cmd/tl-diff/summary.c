/* SPDX-License-Identifier: MIT */
/* What changed, in sentences. */
#include "cmd/tl-diff/summary.h"

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

void
summary_whole(const struct summary *s, struct table *t)
{
	const struct figures *f = s->figures;
	const struct unit_times *u = f->unit;
	const char *unit = f->set->per == PER_STEP ? " a step" : "";
	struct buf b = { 0 };

	if (f->set->per == PER_RUN && (u[0].n > 1 || u[1].n > 1))
		unit = f->set->pair == PAIR_RANK ? " a rank" : " a run";
	buf_puts(&b, "GPU time ");
	put_change(&b, u[0].total_ns, u[1].total_ns);
	buf_puts(&b, unit);
	if (f->is_noise)
		buf_puts(&b, ", which may be chance");
	else if (f->diff_ns != 0)
		put_share(&b, s);
	table_note(t, "%.*s", (int)b.len, b.p);
	b.len = 0;
	if (u[0].wall_ns > 0 && u[1].wall_ns > 0) {
		buf_puts(&b, "a step takes ");
		put_change(&b, u[0].wall_ns, u[1].wall_ns);
		buf_printf(&b,
		    " on the clock (%" PRIu64 " and %" PRIu64 " steps)",
		    f->nwalls[0], f->nwalls[1]);
		table_note(t, "%.*s", (int)b.len, b.p);
	}
	buf_free(&b);
}

void
summary_sides(const struct summary *s, struct table *t,
    const uint64_t n[NSIDES], const int64_t ns[NSIDES], const char *what)
{
	struct buf b = { 0 };

	if (n[0] == 0 && n[1] == 0)
		return;
	for (int i = 0; i < NSIDES; i++) {
		struct str name = s->set->names[i];

		if (n[i] == 0)
			continue;
		if (b.len > 0)
			buf_puts(&b, ", ");
		buf_printf(
		    &b, "%.*s %" PRIu64 " (", (int)name.len, name.p, n[i]);
		put_time(&b, ns[i]);
		buf_putc(&b, ')');
	}
	table_note(t, "%s: %.*s", what, (int)b.len, b.p);
	buf_free(&b);
}

static void
note_noise(const struct figures *f, struct table *t, uint64_t n)
{
	struct buf b = { 0 };

	if (f->rest_ns != 0) {
		buf_puts(&b, ", but together by ");
		buf_puts(&b, f->rest_ns < 0 ? "-" : "+");
		put_time(&b, f->rest_ns);
	}
	table_note(t,
	    "%" PRIu64 " of %zu rows differ by no more than they vary%.*s", n,
	    f->rows.n, (int)b.len, b.p != NULL ? b.p : "");
	buf_free(&b);
}

void
summary_rows(const struct summary *s, struct table *t)
{
	uint64_t n[NSIDES] = { 0, 0 }, noise = 0;
	int64_t ns[NSIDES] = { 0, 0 };
	size_t nrows = s->figures->rows.n;

	for (size_t i = 0; i < nrows; i++) {
		const struct figure *r = &s->figures->rows.v[i];

		noise += r->is_noise;
		for (int k = 0; k < NSIDES; k++)
			if (r->kernels[k] > 0 && r->kernels[!k] == 0) {
				n[k]++;
				stat_add(&ns[k], r->unit_ns[k]);
			}
	}
	summary_sides(s, t, n, ns, "rows on one side only");
	if (noise > 0)
		note_noise(s->figures, t, noise);
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
