/* SPDX-License-Identifier: MIT */
/* What changed, in sentences: above the table of ops. */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-diff/ops.h"

#define TOP_OPS 3

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

/* How much of the difference the first rows that go its way make up. */
static void
put_share(struct buf *b, const struct ops *o)
{
	int64_t sum = 0;
	size_t n = 0;
	double share;

	for (size_t i = 0; i < o->rows.n && n < TOP_OPS; i++) {
		const struct op_row *r = &o->rows.v[i];

		if (r->is_noise || r->key.owner == OWNER_NONE ||
		    r->diff_ns == 0 || (r->diff_ns < 0) != (o->diff_ns < 0))
			continue;
		stat_add(&sum, r->diff_ns);
		n++;
	}
	if (n == 0)
		return;
	share = 100 * (double)sum / (double)o->diff_ns;
	if (share > 100)
		buf_puts(b, ", all of it and more");
	else
		buf_printf(b, ", %.0f %% of it", share);
	buf_printf(b, " from %zu op%s", n, n == 1 ? "" : "s");
}

static void
note_whole(const struct ops *o, struct table *t)
{
	const char *unit = o->set->per == PER_STEP ? " a step" : "";
	bool many = o->unit[0].n > 1 || o->unit[1].n > 1;
	struct buf b = { 0 };

	if (o->set->per == PER_RUN && many)
		unit = " a run";
	buf_puts(&b, "GPU time ");
	put_change(&b, o->unit[0].total_ns, o->unit[1].total_ns);
	buf_puts(&b, unit);
	if (o->is_noise)
		buf_puts(&b, ", which may be chance");
	else if (o->diff_ns != 0)
		put_share(&b, o);
	table_note(t, "%.*s", (int)b.len, b.p);
	b.len = 0;
	if (o->unit[0].wall_ns > 0 && o->unit[1].wall_ns > 0) {
		buf_puts(&b, "a step takes ");
		put_change(&b, o->unit[0].wall_ns, o->unit[1].wall_ns);
		buf_printf(&b,
		    " on the clock (%" PRIu64 " and %" PRIu64 " steps)",
		    o->nwalls[0], o->nwalls[1]);
		table_note(t, "%.*s", (int)b.len, b.p);
	}
	buf_free(&b);
}

static void
note_side(const struct ops *o, struct table *t, const uint64_t n[NSIDES],
    const int64_t ns[NSIDES], const char *what)
{
	struct buf b = { 0 };

	if (n[0] == 0 && n[1] == 0)
		return;
	for (int s = 0; s < NSIDES; s++) {
		if (n[s] == 0)
			continue;
		if (b.len > 0)
			buf_puts(&b, ", ");
		buf_printf(&b, "%.*s %" PRIu64 " (", (int)o->set->names[s].len,
		    o->set->names[s].p, n[s]);
		put_time(&b, ns[s]);
		buf_putc(&b, ')');
	}
	table_note(t, "%s: %.*s", what, (int)b.len, b.p);
	buf_free(&b);
}

/* Ops that only one side has, and the time of them. */
static void
note_only(const struct ops *o, struct table *t)
{
	uint64_t n[NSIDES] = { 0, 0 }, noise = 0;
	int64_t ns[NSIDES] = { 0, 0 };

	for (size_t i = 0; i < o->rows.n; i++) {
		const struct op_row *r = &o->rows.v[i];

		noise += r->is_noise;
		for (int s = 0; s < NSIDES; s++)
			if (r->kernels[s] > 0 && r->kernels[!s] == 0) {
				n[s]++;
				stat_add(&ns[s], r->unit_ns[s]);
			}
	}
	note_side(o, t, n, ns, "rows on one side only");
	if (noise > 0)
		table_note(t,
		    "%" PRIu64 " of %zu rows differ by no more than they vary",
		    noise, o->rows.n);
}

void
summary_notes(const struct ops *o, const struct diff *d, struct table *t)
{
	if (d != NULL && d->is_identical)
		table_note(t, "the traces are identical");
	note_whole(o, t);
	note_only(o, t);
	note_side(o, t, o->nonly, o->only_ns,
	    "GPU events where only one side has work");
	note_side(o, t, o->noutside, o->outside_ns,
	    "GPU events launched outside of ops");
	note_side(
	    o, t, o->nunlinked, o->unlinked_ns, "GPU events without a launch");
	if (o->set->per == PER_RUN && o->unit[0].nsteps > 0 &&
	    o->unit[1].nsteps > 0 &&
	    o->unit[0].nsteps * o->unit[1].nruns !=
		o->unit[1].nsteps * o->unit[0].nruns)
		table_note(t,
		    "the sides have %" PRIu64 " and %" PRIu64
		    " steps: --per step compares a step",
		    o->unit[0].nsteps, o->unit[1].nsteps);
}
