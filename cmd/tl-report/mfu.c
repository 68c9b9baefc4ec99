/* SPDX-License-Identifier: MIT */
/* MFU and HFU over all steps. */
#include "cmd/tl-report/figures.h"

/* Percent: less would be shown as 0.0. */
#define UNMODELLED_SHOWN 0.05
/* Percent of the verdict's window: if steps cover less, it says how much. */
#define MOST_OF_IT 90

void
mfu_take(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct mfu *m = &f->mfu;
	int64_t wall_ns = line_int(l, "wall_ns_sum");

	m->nsteps += !line_lacks(l, "step");
	if (line_lacks(l, "mfu"))
		return;
	m->nknown += !line_lacks(l, "step");
	if (line_text(l, "peak").len > m->peak.len) /* it names all types */
		m->peak = figures_text(f, line_text(l, "peak"));
	time_add(&m->wall_ns, wall_ns);
	m->mfu_ns += line_real(l, "mfu") * (double)wall_ns;
	m->hfu_ns += line_real(l, "hfu") * (double)wall_ns;
	m->unmodelled_ns += line_real(l, "pct_unmodelled") * (double)wall_ns;
}

/* "3 of 4 steps" */
static void
put_known_steps(struct buf *b, const struct figures *f)
{
	const struct mfu *m = &f->mfu;
	struct budget sum;

	budget_sum(&f->budgets, &sum);
	sum.steps = m->nsteps;
	if (m->nknown < m->nsteps) {
		put_count(b, m->nknown);
		buf_puts(b, " of ");
	}
	put_steps(&sum, b);
	if (f->ranks.n > 1)
		buf_printf(b, " over %zu %s", f->ranks.n,
		    f->by_src ? "traces" : "ranks");
	vec_free(&sum.parts);
}

/*
 * "MFU 38.2 %, HFU 47.6 % with recompute (MI300X matrix_bf16 1307.4 TFLOP/s),
 * 4 steps; 0.5 % of GPU time has no performance model." If steps cover less of
 * the window: "MFU 62 % inside 2 of 3 steps, 14.3 % of the window (...)."
 */
void
mfu_make(struct figures *f)
{
	struct mfu *m = &f->mfu;
	struct buf b = { 0 };
	double share;
	bool is_part;

	if (m->wall_ns == 0)
		return;
	/* sums over ranks, no wall time */
	share = share_of(m->wall_ns, f->window.total_ns);
	is_part = m->nsteps > 0 && f->ranks.n <= 1 && share < MOST_OF_IT;
	buf_printf(&b, "MFU %.3g %%", m->mfu_ns / (double)m->wall_ns);
	if (m->hfu_ns > m->mfu_ns)
		buf_printf(&b, ", HFU %.3g %% with recompute",
		    m->hfu_ns / (double)m->wall_ns);
	if (is_part) {
		buf_puts(&b, " inside ");
		put_known_steps(&b, f);
		buf_printf(&b, ", %.1f %% of the window", share);
	}
	buf_printf(&b, " (%.*s TFLOP/s)", (int)m->peak.len, m->peak.p);
	if (m->nsteps == 0)
		buf_printf(&b, ", first to last %s event", f->gpu);
	else if (!is_part) {
		buf_puts(&b, ", ");
		put_known_steps(&b, f);
	}
	if (m->unmodelled_ns >= UNMODELLED_SHOWN * (double)m->wall_ns)
		buf_printf(&b, "; %.1f %% of %s time has no performance model",
		    m->unmodelled_ns / (double)m->wall_ns, f->gpu);
	buf_putc(&b, '.');
	m->says = figures_keep(f, &b);
	buf_free(&b);
}
