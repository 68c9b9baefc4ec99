/* SPDX-License-Identifier: MIT */
#include "cmd/tl-diff/standout.h"

#include <math.h>
#include <stdlib.h>

#include "cmd/tl-diff/notes.h"
#include "trace/stat.h"

#define LEAST_STEPS 5
/* Times the deviation of the others, which is at least this share of them. */
#define LEAST_DEVIATIONS 6
#define LEAST_DEVIATION 0.005
#define MAD_TO_SIGMA 1.4826 /* of a normal distribution */
/* The excess, as a share of the median and in ns. */
#define LEAST_SHARE 0.03
#define LEAST_NS 50000
/* Rows that grew by this share of theirs bear so much of it out. */
#define ROW_GREW 0.1
#define BORNE_OUT 0.7

/* Compute of a step. */
struct step_sum {
	uint32_t sample;
	int64_t ns;
};

/* A row's time in a step of the run at hand. */
struct row_part {
	uint32_t row, sample;
	int64_t ns;
};

struct finder {
	struct changes *c;
	VEC(struct step_sum) steps; /* run by run */
	VEC(struct row_part) parts;
	VEC(int64_t) values;
	uint8_t *is_of_run; /* by sample */
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

/* The median of the values, which are sorted then. */
static double
median(struct finder *f)
{
	struct stats s;

	stat_of(&s, f->values.v, f->values.n);
	return s.median;
}

/* The median of all steps but one; how much these deviate from it. */
static double
median_of_others(
    struct finder *f, size_t first, size_t end, size_t but, double *deviation)
{
	double middle;

	f->values.n = 0;
	for (size_t i = first; i < end; i++)
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

	return (a->row > b->row) - (a->row < b->row);
}

/* Rows of the run at hand, in its steps. */
static void
list_parts(struct finder *f, size_t first, size_t end)
{
	const struct changes *c = f->c;

	f->parts.n = 0;
	for (size_t i = first; i < end; i++)
		f->is_of_run[f->steps.v[i].sample] = 1;
	for (size_t i = 0; i < c->times.n; i++) {
		const struct row_time *t = &c->times.v[i];

		if (f->is_of_run[t->sample] != 0 &&
		    c->rows.v[t->row].key.family == FAMILY_COMPUTE)
			vec_push(&f->parts,
			    ((struct row_part){ t->row, t->sample, t->ns }));
	}
	for (size_t i = first; i < end; i++)
		f->is_of_run[f->steps.v[i].sample] = 0;
	stable_sort(f->parts.v, f->parts.n, sizeof *f->parts.v, by_row);
}

/* By how much a row is above its median in the other steps, if by enough. */
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
		else
			vec_push(&f->values, v[i].ns);
	while (f->values.n < nothers)
		vec_push(&f->values, 0);
	middle = median(f);
	return (double)ns > (1 + ROW_GREW) * middle
	    ? llround((double)ns - middle)
	    : 0;
}

/* Sums what rows grew by; the largest is named. */
static int64_t
sum_growth(struct finder *f, uint32_t sample, struct standout *to)
{
	int64_t sum = 0;

	for (size_t i = 0, end; i < f->parts.n; i = end) {
		const struct row_part *v = &f->parts.v[i];
		const struct change *r = &f->c->rows.v[v->row];
		int64_t ns;

		for (end = i;
		     end < f->parts.n && f->parts.v[end].row == v->row;)
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

/* ---- the one ---- */

/* Of a run only the step with most compute can stand out. */
static void
look_at_run(struct finder *f, size_t first, size_t end)
{
	struct changes *c = f->c;
	struct standout x = { .is_set = true, .nothers = end - first - 1 };
	const struct sample *s;
	size_t most = first;
	double middle, deviation;

	for (size_t i = first; i < end; i++)
		if (f->steps.v[i].ns > f->steps.v[most].ns)
			most = i;
	middle = median_of_others(f, first, end, most, &deviation);
	s = &c->samples.v[f->steps.v[most].sample];
	x.side = s->side;
	x.run = s->run;
	x.step = s->no;
	x.ns = f->steps.v[most].ns;
	x.excess_ns = llround((double)x.ns - middle);
	if (c->standout.is_set && x.excess_ns <= c->standout.excess_ns)
		return;
	if ((double)x.excess_ns <= LEAST_DEVIATIONS * deviation *
		    sqrt(1 + 6 / (double)x.nothers) ||
	    (double)x.excess_ns <= fmax(LEAST_SHARE * middle, LEAST_NS))
		return;
	list_parts(f, first, end);
	if ((double)sum_growth(f, f->steps.v[most].sample, &x) <
	    BORNE_OUT * (double)x.excess_ns)
		return;
	if (c->ranks.list.n > 0)
		x.rank = c->ranks.list.v[x.run].rank;
	c->standout = x;
}

void
standout_find(struct changes *c)
{
	struct finder f = { .c = c };

	if (!samples_are_steps(c->set))
		return;
	f.is_of_run = xcalloc(c->samples.n + 1, 1);
	list_steps(&f);
	for (size_t i = 0, end; i < f.steps.n; i = end) {
		const struct sample *s = &c->samples.v[f.steps.v[i].sample];

		for (end = i; end < f.steps.n; end++) {
			const struct sample *t =
			    &c->samples.v[f.steps.v[end].sample];

			if (t->side != s->side || t->run != s->run)
				break;
		}
		if (end - i >= LEAST_STEPS)
			look_at_run(&f, i, end);
	}
	vec_free(&f.steps);
	vec_free(&f.parts);
	vec_free(&f.values);
	free(f.is_of_run);
}

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
