/* SPDX-License-Identifier: MIT */
/* The window of verdict and bar: the steps, if there are any. */
#include "table/table.h"

#include "cmd/tl-report/figures.h"

#define INCOMPLETE 10 /* percent: above, the verdict says what is missing */

/*
 * The verdict leaves out missing time, and so does this. If the verdict is
 * about missing time, it is idle time here.
 */
static int64_t
whole_ns(const struct budget *w)
{
	int64_t missing = w->ns[GROUP_OF_MISSING];

	return share_of(missing, w->window_ns) < INCOMPLETE
	    ? w->window_ns - missing
	    : w->window_ns;
}

/* The times of a rank's bar. */
static void
set_times(struct rank *r, const struct budget *w)
{
	r->total_ns = whole_ns(w);
	r->compute_ns = budget_work(w, GROUP_OF_GPU);
	r->comm_ns = budget_work(w, ACCOUNT_COMM);
	r->copy_ns = w->ns[ACCOUNT_COPY];
	r->busy_ns = r->compute_ns + r->comm_ns + r->copy_ns;
	r->idle_ns = r->total_ns - r->busy_ns;
}

static const struct budget *
budget_of_rank(const struct figures *f, const struct rank *r)
{
	return f->ranks.n == 1 && f->budgets.list.n == 1
	    ? f->budgets.list.v
	    : budget_of(&f->budgets, r->label);
}

/*
 * "6 steps", "4 inferred steps", "2 runs of the main module"; of several
 * processes "5 steps in each of 2 processes", or "9 steps in 2 processes".
 */
void
put_steps(const struct budget *w, struct buf *b)
{
	bool are_alike =
	    w->processes <= 1 || w->steps_all == w->steps * w->processes;
	int64_t steps = are_alike ? w->steps : w->steps_all;
	const char *plural = steps == 1 ? "" : "s";

	put_count(b, steps);
	if (w->are_runs)
		buf_printf(b, " run%s of the main module", plural);
	else
		buf_printf(
		    b, " %sstep%s", w->is_inferred ? "inferred " : "", plural);
	if (w->processes > 1)
		buf_printf(b, " in %s%" PRId64 " processes",
		    are_alike ? "each of " : "", w->processes);
}

/* The longest wait for the first GPU event; a single rank's verdict has it. */
static int64_t
longest_head(const struct figures *f)
{
	int64_t most = 0;

	for (size_t i = 0; i < f->budgets.list.n && f->ranks.n > 1; i++)
		if (f->budgets.list.v[i].head_ns > most)
			most = f->budgets.list.v[i].head_ns;
	return most;
}

static void
make_words(struct figures *f, const struct budget *sum)
{
	const char *mean = sum->n > 1 ? " (mean)" : "";
	const char *lead = ", without ";
	int64_t head_ns = longest_head(f);
	struct buf b = { 0 };
	int64_t left_out = sum->window_ns - f->window.total_ns;

	if (sum->steps == 0 || sum->is_inferred)
		buf_puts(&b, "first to last event");
	if (sum->is_inferred)
		buf_puts(&b, " with ");
	if (sum->steps > 0)
		put_steps(sum, &b);
	if (left_out <= 0 && sum->ns[GROUP_OF_MISSING] > 0) {
		buf_puts(&b, " (");
		put_time(&b, sum->ns[GROUP_OF_MISSING] / sum->n);
		buf_printf(
		    &b, " not recorded%s)", sum->n > 1 ? " on average" : "");
	}
	if (sum->steps > 0 && head_ns > 0) {
		buf_printf(&b, "%sthe time before the first %s event (at most ",
		    lead, f->gpu);
		put_time(&b, head_ns);
		buf_putc(&b, ')');
		lead = " and ";
	}
	if (left_out > 0) {
		buf_puts(&b, lead);
		put_time(&b, left_out / sum->n);
		buf_printf(&b, "%s that the recording lacks", mean);
	}
	f->window_words = figures_keep(f, &b);
	buf_free(&b);
}

bool
window_is_blind(const struct budget *w)
{
	const struct idle_part *p = budget_part(w, GROUP_OF_MISSING);

	return p != NULL && p->cause == CAUSE_NO_HOST;
}

bool
window_is_of_kernels(const struct figures *f)
{
	struct budget sum;
	bool is_blind;

	if (!f->set->is_rocprof)
		return false;
	budget_sum(&f->budgets, &sum);
	is_blind = sum.n == 0 || window_is_blind(&sum);
	vec_free(&sum.parts);
	return is_blind;
}

/* Whether tl-idle has each rank's window: of its steps or its GPU events. */
static bool
has_windows(const struct figures *f)
{
	if (f->set->is_host || f->ranks.n == 0 || window_is_of_kernels(f))
		return false;
	for (size_t i = 0; i < f->ranks.n; i++) {
		const struct budget *w = budget_of_rank(f, &f->ranks.v[i]);

		if (w == NULL || w->n == 0)
			return false;
	}
	return true;
}

bool
window_is_named(const struct figures *f)
{
	return f->set->select.annotations.n > 0;
}

void
window_put_named(const struct figures *f, struct buf *b)
{
	const struct settings *s = f->set;

	if (s->nnamed == 0 && s->select.annotations.n == 1)
		buf_puts(b, "inside annotation "); /* NAME#N */
	else if (s->nnamed == 0)
		buf_puts(b, "inside annotations ");
	else
		buf_printf(b, "inside %zu annotation%s like ", s->nnamed,
		    s->nnamed == 1 ? "" : "s");
	for (size_t i = 0; i < s->select.annotations.n; i++) {
		buf_puts(b, i > 0 ? ", " : "");
		table_fold_name(s->select.annotations.v[i], 40, b);
	}
}

/* The words for the window of a selection by annotation. */
static void
name_window(struct figures *f)
{
	struct buf b = { 0 };

	window_put_named(f, &b);
	f->window_words = figures_keep(f, &b);
	buf_free(&b);
}

/* If nothing says why the GPU waits, the window is that of its events. */
void
window_make(struct figures *f)
{
	struct budget sum;

	f->window = f->all;
	f->window_words = f->set->is_rocprof && f->set->has_window
	    ? STR("start to end of the process")
	    : STR("first to last event");
	for (size_t i = 0; i < f->ranks.n; i++)
		vec_push(&f->bars, f->ranks.v[i]);
	if (window_is_named(f)) {
		name_window(f);
		return;
	}
	if (!has_windows(f))
		return;
	f->window = (struct rank){ 0 };
	for (size_t i = 0; i < f->bars.n; i++) {
		struct rank *r = &f->bars.v[i];

		set_times(r, budget_of_rank(f, r));
		time_add(&f->window.total_ns, r->total_ns);
		time_add(&f->window.compute_ns, r->compute_ns);
		time_add(&f->window.comm_ns, r->comm_ns);
		time_add(&f->window.copy_ns, r->copy_ns);
		time_add(&f->window.busy_ns, r->busy_ns);
		time_add(&f->window.idle_ns, r->idle_ns);
	}
	budget_sum(&f->budgets, &sum);
	make_words(f, &sum);
	vec_free(&sum.parts);
}
