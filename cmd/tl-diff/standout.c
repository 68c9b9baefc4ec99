/* SPDX-License-Identifier: MIT */
#include "cmd/tl-diff/standout.h"

#include <math.h>
#include <stdlib.h>

#include "cmd/tl-diff/notes.h"
#include "trace/stat.h"

#define LEAST_STEPS 5
/* Least excess in deviations of the others, of at least this share of them. */
#define LEAST_DEVIATIONS 6
#define LEAST_DEVIATION 0.005
#define MAD_TO_SIGMA 1.4826 /* for a normal distribution */
/* least excess, as a share of the median and in ns */
#define LEAST_SHARE 0.03
#define LEAST_NS 50000
/* Rows that grew by this share must explain so much of it. */
#define ROW_GREW 0.1
#define BORNE_OUT 0.7

/* Compute of a step. */
struct step_sum {
	uint32_t sample;
	int64_t ns;
};

/* Steps of one run and phase: a range of the list. */
struct run {
	size_t first, end;
	bool is_leading; /* includes the very first step */
};

/* Time of a row in a step. */
struct row_part {
	uint32_t run, row, sample; /* run: index of the finder */
	int64_t ns;
};

struct finder {
	struct changes *c;
	VEC(struct step_sum) steps; /* by run */
	VEC(struct run) runs;
	VEC(struct row_part) parts; /* by run and row, if needed */
	VEC(int64_t) values;
};

/* ---- steps of a run ---- */

static int
by_run(const void *x, const void *y, void *arg)
{
	const struct changes *c = arg;
	const struct sample *a =
	    &c->samples.v[((const struct step_sum *)x)->sample];
	const struct sample *b =
	    &c->samples.v[((const struct step_sum *)y)->sample];

	if (a->side != b->side)
		return a->side < b->side ? -1 : 1;
	if (a->run != b->run)
		return a->run < b->run ? -1 : 1;
	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	return (a->no > b->no) - (a->no < b->no);
}

static void
list_steps(struct finder *f)
{
	struct changes *c = f->c;
	struct step_sum *all = xcalloc(c->samples.n + 1, sizeof *all);

	for (size_t i = 0; i < c->times.n; i++) {
		const struct row_time *t = &c->times.v[i];

		if (c->rows.v[t->row].key.family == FAMILY_COMPUTE)
			stat_add(&all[t->sample].ns, t->ns);
	}
	for (uint32_t i = 0; i < c->samples.n; i++)
		if (c->samples.v[i].no != WALK_NO_STEP)
			vec_push(
			    &f->steps, ((struct step_sum){ i, all[i].ns }));
	if (f->steps.n > 1)
		qsort_r(f->steps.v, f->steps.n, sizeof *f->steps.v, by_run, c);
	free(all);
}

static const struct sample *
sample_at(const struct finder *f, size_t step)
{
	return &f->c->samples.v[f->steps.v[step].sample];
}

static bool
is_of_run(const struct sample *a, const struct sample *b)
{
	return a->side == b->side && a->run == b->run;
}

/* A prefill is not slow because decodes are short. */
static void
list_runs(struct finder *f)
{
	size_t leading = 0; /* in the current run */

	for (size_t i = 0, end; i < f->steps.n; i = end) {
		const struct sample *s = sample_at(f, i);
		const struct sample *lead =
		    i > 0 ? sample_at(f, f->runs.v[leading].first) : NULL;

		end = i + 1;
		while (end < f->steps.n && is_of_run(sample_at(f, end), s) &&
		    sample_at(f, end)->phase == s->phase)
			end++;
		vec_push(&f->runs, ((struct run){ i, end, true }));
		if (lead == NULL || !is_of_run(lead, s)) {
			leading = f->runs.n - 1;
			continue;
		}
		f->runs.v[s->no < lead->no ? leading : f->runs.n - 1]
		    .is_leading = false;
		if (s->no < lead->no)
			leading = f->runs.n - 1;
	}
}

/* The median of the values; sorts them. */
static double
median(struct finder *f)
{
	struct stats s;

	stat_of(&s, f->values.v, f->values.n);
	return s.median;
}

/* Median of all steps but one, and their deviation from it. */
static double
median_of_others(
    struct finder *f, struct run run, size_t but, double *deviation)
{
	double middle;

	f->values.n = 0;
	for (size_t i = run.first; i < run.end; i++)
		if (i != but)
			vec_push(&f->values, f->steps.v[i].ns);
	middle = median(f);
	for (size_t i = 0; i < f->values.n; i++)
		f->values.v[i] = llround(fabs((double)f->values.v[i] - middle));
	*deviation = fmax(MAD_TO_SIGMA * median(f), LEAST_DEVIATION * middle);
	return middle;
}

/* ---- its evidence ---- */

static int
by_row(const void *x, const void *y)
{
	const struct row_part *a = x, *b = y;

	if (a->run != b->run)
		return a->run < b->run ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Rows of all runs by step. */
static void
list_parts(struct finder *f)
{
	const struct changes *c = f->c;
	uint32_t *run_of = xcalloc(c->samples.n + 1, sizeof *run_of);

	for (uint32_t k = 0; k < f->runs.n; k++)
		for (size_t i = f->runs.v[k].first; i < f->runs.v[k].end; i++)
			run_of[f->steps.v[i].sample] = k;
	for (size_t i = 0; i < c->times.n; i++) {
		const struct row_time *t = &c->times.v[i];

		if (c->samples.v[t->sample].no != WALK_NO_STEP &&
		    c->rows.v[t->row].key.family == FAMILY_COMPUTE)
			vec_push(&f->parts,
			    ((struct row_part){
				run_of[t->sample], t->row, t->sample, t->ns }));
	}
	stable_sort(f->parts.v, f->parts.n, sizeof *f->parts.v, by_row);
	free(run_of);
}

/* How much a row is above its median in other steps, if by enough. */
static int64_t
growth_of(struct finder *f, const struct row_part *v, size_t n, uint32_t sample,
    size_t nothers)
{
	int64_t ns = 0;
	double middle;

	f->values.n = 0;
	for (size_t i = 0; i < n; i++)
		if (v[i].sample == sample)
			ns = v[i].ns;
		else if (!f->c->samples.v[v[i].sample].is_out)
			vec_push(&f->values, v[i].ns);
	while (f->values.n < nothers)
		vec_push(&f->values, 0);
	middle = median(f);
	return (double)ns > (1 + ROW_GREW) * middle
	    ? llround((double)ns - middle)
	    : 0;
}

/* Sums the growth of rows in a run, and finds the largest. */
static int64_t
sum_growth(struct finder *f, uint32_t run, uint32_t sample, struct standout *to)
{
	int64_t sum = 0;
	size_t i, end;

	if (f->parts.n == 0)
		list_parts(f);
	bisect(i, f->parts.n, mid, f->parts.v[mid].run < run);
	for (; i < f->parts.n && f->parts.v[i].run == run; i = end) {
		const struct row_part *v = &f->parts.v[i];
		const struct change *r = &f->c->rows.v[v->row];
		int64_t ns;

		for (end = i; end < f->parts.n && f->parts.v[end].run == run &&
		     f->parts.v[end].row == v->row;)
			end++;
		ns = growth_of(f, v, end - i, sample, to->nothers);
		stat_add(&sum, ns);
		if (ns <= to->row_ns)
			continue;
		to->row_ns = ns;
		to->name[0] = r->name[0];
		to->name[1] =
		    r->key.n[0] == r->key.n[1] ? r->name[0] : r->name[1];
	}
	return sum;
}

/* ---- steps that stand out ---- */

/* Whether a step stands out among its run's; others left out do not count. */
static bool
stands_out(struct finder *f, struct run run, uint32_t number, size_t at,
    struct standout *x)
{
	uint32_t sample = f->steps.v[at].sample;
	double middle, deviation;

	*x = (struct standout){ .is_set = true,
		.nothers = run.end - run.first - 1,
		.ns = f->steps.v[at].ns };
	middle = median_of_others(f, run, at, &deviation);
	x->excess_ns = llround((double)x->ns - middle);
	return (double)x->excess_ns >
	    LEAST_DEVIATIONS * deviation * sqrt(1 + 6 / (double)x->nothers) &&
	    (double)x->excess_ns > fmax(LEAST_SHARE * middle, LEAST_NS) &&
	    (double)sum_growth(f, number, sample, x) >=
	    BORNE_OUT * (double)x->excess_ns;
}

/* Names only the step of a run with most compute. */
static void
look_at_run(struct finder *f, struct run run, uint32_t number)
{
	struct changes *c = f->c;
	struct standout x;
	const struct sample *s;
	size_t most;

	run.first += sample_at(f, run.first)->is_out;
	most = run.first;
	for (size_t i = run.first; i < run.end; i++)
		if (f->steps.v[i].ns > f->steps.v[most].ns)
			most = i;
	if (run.end - run.first < LEAST_STEPS ||
	    !stands_out(f, run, number, most, &x) ||
	    (c->standout.is_set && x.excess_ns <= c->standout.excess_ns))
		return;
	s = sample_at(f, most);
	x.side = s->side;
	x.run = s->run;
	x.step = s->no;
	if (c->ranks.list.n > 0)
		x.rank = c->ranks.list.v[x.run].rank;
	c->standout = x;
}

/* ---- first steps ---- */

/*
 * Whether first steps of a side stand out among their phase, in more than half
 * of its runs, none of which is short.
 */
static bool
first_stand_out(struct finder *f, int side)
{
	struct warmup *w = &f->c->warmup;
	double ns = 0, excess = 0;
	size_t n = 0, nout = 0;

	for (uint32_t k = 0; k < f->runs.n; k++) {
		struct run run = f->runs.v[k];
		struct standout x;

		if (sample_at(f, run.first)->side != side || !run.is_leading)
			continue;
		if (run.end - run.first < LEAST_STEPS)
			return false;
		if (stands_out(f, run, k, run.first, &x)) {
			nout++;
			if (x.row_ns > w->most[side].row_ns)
				w->most[side] = x;
		}
		n++;
		ns += (double)x.ns;
		excess += (double)x.excess_ns;
	}
	if (n == 0 || n < f->c->unit[side].nruns || nout * 2 <= n)
		return false;
	w->ns[side] = llround(ns / (double)n);
	w->others_ns[side] = llround((ns - excess) / (double)n);
	return true;
}

/* Samples of another model judge nothing. */
static void
leave_out_first(struct finder *f)
{
	struct changes *c = f->c;

	if (c->unlike.is_so || !first_stand_out(f, 0) || !first_stand_out(f, 1))
		return;
	c->warmup.is_set = true;
	for (size_t k = 0; k < f->runs.n; k++) {
		size_t first = f->runs.v[k].first;
		struct sample *s = &c->samples.v[f->steps.v[first].sample];

		if (!f->runs.v[k].is_leading)
			continue;
		s->is_out = true;
		c->strata.v[s->stratum].n[s->side]--;
		vec_push(&c->unit[s->side].left_out, s->no);
	}
}

void
standout_find(struct changes *c)
{
	struct finder f = { .c = c };

	if (!samples_are_steps(c->set))
		return;
	list_steps(&f);
	list_runs(&f);
	leave_out_first(&f);
	for (uint32_t k = 0; k < f.runs.n; k++)
		look_at_run(&f, f.runs.v[k], k);
	vec_free(&f.steps);
	vec_free(&f.runs);
	vec_free(&f.parts);
	vec_free(&f.values);
}

/* ---- sentences ---- */

/*
 * "step 7 of after stands out: 13.200 ms of compute, 1.200 ms (10.0 %) above
 * the median of 9 others, 0.800 ms of it in aten::mm"
 */
void
standout_note(const struct changes *c, struct table *t)
{
	const struct standout *x = &c->standout;
	struct buf b = { 0 };

	if (!x->is_set)
		return;
	buf_printf(&b, "step %" PRId64 " of %.*s", x->step,
	    (int)c->set->names[x->side].len, c->set->names[x->side].p);
	if (c->ranks.list.n > 0)
		buf_printf(&b, ", rank %" PRId64 ",", x->rank);
	else if (c->unit[x->side].nruns > 1)
		buf_printf(&b, ", run %" PRIu64 ",", x->run);
	buf_puts(&b, " stands out: ");
	put_time(&b, x->ns);
	buf_puts(&b, " of compute, ");
	put_time(&b, x->excess_ns);
	if (x->excess_ns < x->ns)
		buf_printf(&b, " (%.1f %%)",
		    100 * (double)x->excess_ns /
			(double)(x->ns - x->excess_ns));
	buf_printf(&b, " above the median of %" PRIu64 " others, ", x->nothers);
	put_time(&b, x->row_ns);
	buf_puts(&b, " of it in ");
	put_names(&b, c->dict, x->name);
	note_of(t, &b);
	buf_free(&b);
}
