/* SPDX-License-Identifier: MIT */
/* Serving: duration of an iteration of each phase, and what limits it. */
#include "table/table.h"

#include "cmd/tl-report/figures.h"

#define MISSING_SHOWN 10 /* percent */
#define IMBALANCE_SHOWN 5

/* Finds or adds the phase. */
static struct phase_line *
phase_of(struct figures *f, struct str phase)
{
	for (size_t i = 0; i < f->phases.n; i++)
		if (str_eq(f->phases.v[i].phase, phase))
			return &f->phases.v[i];
	vec_push(&f->phases,
	    ((struct phase_line){
		.phase = figures_text(f, phase), .took_ns = -1 }));
	return &f->phases.v[f->phases.n - 1];
}

void
phases_take(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct phase_line *p = phase_of(f, line_text(l, "phase"));
	double took_ns = line_real(l, "took_ns_median");

	p->n++;
	if (took_ns <= p->took_ns)
		return;
	p->label = figures_text(f, budget_label(l));
	p->bound = figures_text(f, line_text(l, "bound_recorded"));
	p->idle_by = figures_text(f, line_text(l, "idle_by"));
	p->iterations = line_int(l, "iterations");
	p->gpu_ns = line_int(l, "gpu_ns_sum");
	p->wall_ns = line_int(l, "wall_ns_sum");
	p->idle_by_ns = line_int(l, "idle_by_ns");
	p->comm_ns = line_int(l, "exposed_comm_ns_sum");
	p->copy_ns = line_int(l, "exposed_copy_ns_sum");
	p->took_ns = took_ns;
	p->p99_ns = line_real(l, "took_ns_p99");
	p->has_tokens = !line_lacks(l, "tokens_per_s");
	p->tokens_per_s = line_real(l, "tokens_per_s");
	p->launches = line_real(l, "launches_mean");
	p->percent_graph = line_real(l, "pct_graph");
	p->percent_idle = line_real(l, "pct_idle_of_wall");
	p->percent_starved = line_real(l, "pct_starved");
	p->percent_missing = line_real(l, "pct_missing");
}

/* Keeps the roofline of the phase's slowest rank. */
void
phases_take_roof(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct phase_line *p = NULL;
	int64_t modelled_ns = line_int(l, "modelled_ns_sum");

	for (size_t i = 0; i < f->phases.n; i++)
		if (str_eq(f->phases.v[i].phase, line_text(l, "phase")))
			p = &f->phases.v[i];
	if (p == NULL || !str_eq(p->label, budget_label(l)))
		return;
	time_add(&p->op_ns, line_int(l, "kernel_ns_sum"));
	time_add(&p->modelled_ns, modelled_ns);
	time_add(&p->compute_ns, line_int(l, "compute_bound_ns"));
	p->roof_ns += (double)modelled_ns * line_real(l, "pct_of_roof") / 100;
}

void
phases_take_ranks(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct imbalance *m = &f->imbalance;

	if (line_lacks(l, "slowest_rank"))
		return;
	m->iterations++;
	m->mean_ns += line_real(l, "compute_ns_mean");
	m->max_ns += line_real(l, "compute_ns_max");
	m->least_tokens += line_real(l, "tokens_min");
	m->most_tokens += line_real(l, "tokens_max");
	tally_of(f, &m->slowest, line_text(l, "slowest_rank"))->ns++;
}

/*
 * "memory-bound: 61.0 % of the roofline (MI300X peak), 14.1 ms of GPU work an
 * iteration".
 */
static void
put_gpu_bound(
    const struct figures *f, const struct phase_line *p, struct buf *b)
{
	const char *word = bound_of_gpu(p->op_ns, p->modelled_ns, p->compute_ns,
	    p->modelled_ns - (int64_t)p->roof_ns);

	bound_put_word(f, p->modelled_ns > 0 ? word : "GPU-bound", b);
	buf_puts(b, ": ");
	if (p->modelled_ns > 0 && strcmp(word, "GPU-bound") != 0)
		buf_printf(b, "%.1f %% of the roofline (%.*s), ",
		    p->roof_ns / (double)p->modelled_ns * 100, (int)f->roof.len,
		    f->roof.p);
	put_time(b, p->gpu_ns / p->iterations);
	buf_printf(b, " of %s work per iteration", f->gpu);
	if (p->iterations > 1)
		buf_puts(b, " (mean)");
}

static bool
is_gpu_bound(const struct phase_line *p)
{
	return str_eq(p->bound, STR("gpu"));
}

/* Missing time is host time: it does not matter if GPU work takes longer. */
static bool
is_missing_shown(const struct phase_line *p)
{
	return p->percent_missing >= MISSING_SHOWN &&
	    (!is_gpu_bound(p) || p->gpu_ns <= p->wall_ns);
}

/*
 * The GPU is idle while work is missing. GPU work that does not fit the rest of
 * the host's time runs later.
 */
static void
put_missing(const struct figures *f, const struct phase_line *p, struct buf *b)
{
	int64_t missing_ns =
	    (int64_t)(p->percent_missing / 100 * (double)p->wall_ns);

	if (!is_gpu_bound(p) || missing_ns <= p->wall_ns - p->gpu_ns) {
		buf_printf(b,
		    "; %.1f %% of wall time is not in the recording; the rest "
		    "is ",
		    p->percent_missing);
		return;
	}
	buf_puts(b, "; ");
	put_time(b, missing_ns / p->iterations);
	buf_puts(b, " of ");
	put_time(b, p->wall_ns / p->iterations);
	buf_printf(b,
	    " of host time%s is not in the recording, and some %s work runs "
	    "after that time; ",
	    p->iterations > 1 ? " (mean)" : "", f->gpu);
}

/* "partly" if GPU work is half of the recorded time. */
static void
put_bound(const struct figures *f, const struct phase_line *p, struct buf *b)
{
	bool is_missing = is_missing_shown(p);
	double moved = share_of(p->comm_ns + p->copy_ns, p->wall_ns);

	if (is_missing)
		put_missing(f, p, b);
	else
		buf_puts(b, "; ");
	if (is_gpu_bound(p)) {
		put_gpu_bound(f, p, b);
		return;
	}
	if (2 * (100 - p->percent_idle - moved) >= 100 - p->percent_missing)
		buf_puts(b, "partly ");
	buf_printf(b, "%s: ", bound_named(p->bound));
	if (str_eq(p->bound, STR("communication"))) {
		buf_puts(b, "exposed communication ");
		put_part(b, p->comm_ns, p->wall_ns);
		buf_puts(b, " of wall time");
		return;
	}
	if (str_eq(p->bound, STR("copy"))) {
		buf_puts(b, "exposed copies ");
		put_part(b, p->copy_ns, p->wall_ns);
		buf_puts(b, " of wall time");
		return;
	}
	buf_printf(b, "%s idle %s%.1f %% of wall time", f->gpu,
	    is_missing ? "for another " : "",
	    p->percent_idle - (is_missing ? p->percent_missing : 0));
	if (str_eq(p->bound, STR("launch"))) {
		buf_printf(b,
		    "; %.1f %% of launches (%.4g per iteration) find it idle",
		    p->percent_starved, p->launches);
	} else if (p->idle_by.len > 0) {
		buf_puts(b, ", ");
		put_words(b, p->idle_by.p);
		buf_putc(b, ' ');
		put_part(b, p->idle_by_ns, p->wall_ns);
	}
}

static void
put_phase(const struct figures *f, const struct phase_line *p, struct buf *b)
{
	buf_printf(b, "%.*s: ", (int)p->phase.len, p->phase.p);
	put_count(b, p->iterations);
	buf_printf(b, " iteration%s of ", p->iterations == 1 ? "" : "s");
	put_time(b, (int64_t)p->took_ns);
	if (p->iterations > 1) {
		buf_puts(b, " (median; p99 ");
		put_time(b, (int64_t)p->p99_ns);
		buf_puts(b, ")");
	}
	if (p->n > 1 && p->label.len > 0)
		buf_printf(b, " on %s %.*s, the slowest of %zu",
		    f->by_src ? "source" : "rank", (int)p->label.len,
		    p->label.p, p->n);
	else if (p->n > 1)
		buf_printf(b, " in the slowest of %zu processes", p->n);
	if (p->has_tokens && !is_missing_shown(p)) {
		buf_puts(b, ", ");
		put_count(b, (int64_t)(p->tokens_per_s + 0.5));
		buf_puts(b, " tokens/s");
	}
	if (p->percent_graph > 0)
		buf_printf(b, ", %.1f %% of %s time in graphs",
		    p->percent_graph, f->gpu);
	if (p->bound.len > 0)
		put_bound(f, p, b);
	buf_putc(b, '.');
}

/*
 * "Ranks differ: in 40 iterations the slowest computes 15.4 % longer than the
 * mean (rank 1 in 40), the most tokens are 3 times the fewest."
 */
static void
put_imbalance(struct figures *f, struct buf *b)
{
	const struct imbalance *m = &f->imbalance;
	double percent = (m->max_ns / m->mean_ns - 1) * 100;
	const struct tally *slowest;

	if (!(percent >= IMBALANCE_SHOWN) ||
	    tallies_best(&m->slowest, &slowest, 1) == 0)
		return;
	buf_puts(b, "Ranks differ: in ");
	put_count(b, m->iterations);
	buf_printf(b,
	    " iteration%s the slowest computes %.1f %% longer than the mean "
	    "(%s %.*s in ",
	    m->iterations == 1 ? "" : "s", percent,
	    f->by_src ? "source" : "rank", (int)slowest->name.len,
	    slowest->name.p);
	put_count(b, slowest->ns);
	buf_puts(b, ")");
	if (m->most_tokens > m->least_tokens && m->least_tokens > 0)
		buf_printf(b, ", the most tokens are %.3g times the fewest",
		    m->most_tokens / m->least_tokens);
	else if (m->most_tokens > 0 && m->most_tokens <= m->least_tokens)
		buf_puts(b, ", with equal tokens");
	buf_putc(b, '.');
	f->imbalance.says = figures_keep(f, b);
}

void
phases_make(struct figures *f)
{
	struct buf b = { 0 };

	put_imbalance(f, &b);
	for (size_t i = 0; i < f->phases.n; i++) {
		put_phase(f, &f->phases.v[i], &b);
		f->phases.v[i].says = figures_keep(f, &b);
	}
	buf_free(&b);
}
