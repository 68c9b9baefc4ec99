/* SPDX-License-Identifier: MIT */
/* Gathering times of rows in samples, their order, and their cells. */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-diff/figures.h"
#include "trace/stat.h"

/* ---- samples ---- */

/* Ranks differ by nature: samples of one are no repetitions of another's. */
static uint32_t
stratum_number(struct figures *f, uint32_t run, uint32_t group)
{
	uint64_t h;

	if (f->set->pair != PAIR_RANK)
		run = 0;
	h = hash_mix(group ^ HASH_K0, run ^ HASH_K1);
	for (;; h++) {
		bool is_new;
		uint64_t *slot = map_put(&f->stratum_of, h, &is_new);
		const struct stratum *s;

		if (is_new) {
			*slot = f->strata.n;
			vec_push(&f->strata,
			    ((struct stratum){ run, group, { 0, 0 } }));
		}
		s = &f->strata.v[*slot];
		if (s->run == run && s->group == group)
			return (uint32_t)*slot;
	}
}

static bool
is_sample(const struct figures *f, const struct sample *s, uint32_t run,
    uint32_t group, int64_t no)
{
	return s->run == run && s->no == no &&
	    f->strata.v[s->stratum].group == group;
}

static uint32_t
find_sample(
    struct figures *f, int side, uint32_t run, uint32_t group, int64_t no)
{
	uint32_t stratum = stratum_number(f, run, group);
	uint64_t h = hash_mix((uint64_t)no ^ HASH_K0, run ^ HASH_K1) + stratum;

	for (;; h++) {
		bool is_new;
		uint64_t *slot = map_put(&f->sample_of[side], h, &is_new);

		if (is_new) {
			*slot = f->samples[side].n;
			vec_push(&f->samples[side],
			    ((struct sample){ run, stratum, no, 0 }));
			f->strata.v[stratum].n[side] += no != WALK_NO_STEP;
		}
		if (is_sample(f, &f->samples[side].v[*slot], run, group, no))
			return (uint32_t)*slot;
	}
}

/* Mostly that of the event before. */
static uint32_t
sample_number(
    struct figures *f, int side, uint32_t run, uint32_t group, int64_t no)
{
	uint32_t *last = &f->last[side];

	if (*last >= f->samples[side].n ||
	    !is_sample(f, &f->samples[side].v[*last], run, group, no))
		*last = find_sample(f, side, run, group, no);
	return *last;
}

/* The run at hand. */
static uint32_t
run_at(const struct figures *f, int side)
{
	return (uint32_t)f->unit[side].nruns - 1;
}

void
figures_start_run(struct figures *f, int side)
{
	f->unit[side].nruns++;
}

uint32_t
figures_row(struct figures *f, uint32_t group)
{
	vec_push(
	    &f->rows, ((struct figure){ .group = group, .spread_ns = NAN }));
	return (uint32_t)f->rows.n - 1;
}

/* The time of a row in a sample: mostly that which was asked for before. */
static struct row_time *
time_of(struct figures *f, uint32_t row, int side, uint32_t sample)
{
	uint32_t *last = &f->rows.v[row].last[side];
	uint64_t *slot;
	bool is_new;

	if (*last > 0 && f->times.v[*last - 1].sample == sample)
		return &f->times.v[*last - 1];
	slot = map_put(&f->time_of,
	    (uint64_t)row << 32 | (uint64_t)sample << 1 | (unsigned)side,
	    &is_new);
	if (is_new) {
		*slot = f->times.n;
		vec_push(&f->times,
		    ((struct row_time){ row, sample, 0, (uint8_t)side, 0 }));
	}
	*last = (uint32_t)*slot + 1;
	return &f->times.v[*slot];
}

static void
add_time(struct figures *f, uint32_t row, int side, uint32_t sample, int64_t ns)
{
	struct row_time *t = time_of(f, row, side, sample);

	t->n++;
	stat_add(&t->ns, ns);
	stat_add(&f->samples[side].v[sample].ns, ns);
	stat_add(&f->rows.v[row].ns[side], ns);
}

void
figures_add(struct figures *f, uint32_t row, int side, int64_t no, int64_t ns,
    bool is_alone)
{
	struct figure *r = &f->rows.v[row];
	uint32_t group = r->group;

	f->has_ns = f->has_ns || ns % NS_PER_US != 0;
	r->kernels[side]++;
	if (is_alone) {
		r->alone[side]++;
		stat_add(&r->alone_ns[side], ns);
	}
	add_time(f, row, side,
	    sample_number(f, side, run_at(f, side), group, no), ns);
}

/* Steps in which something was launched, and their time on the clock. */
void
figures_end_run(struct figures *f, int side, const struct run *r)
{
	struct map seen = { 0 };

	for (size_t i = 0; i < r->gpus.n; i++)
		if (r->gpus.v[i].step != WALK_NO_STEP)
			(void)map_put(&seen, (uint64_t)r->gpus.v[i].step, NULL);
	f->unit[side].nsteps += seen.n;
	for (size_t i = 0; i < r->steps.n; i++) {
		const struct step_span *s = &r->steps.v[i];

		if (map_get(&seen, (uint64_t)s->number) == NULL)
			continue;
		vec_push(&f->walls[side],
		    ((struct wall){
			run_at(f, side), s->end_ns - s->start_ns }));
	}
	map_free(&seen);
}

void
figures_free(struct figures *f)
{
	vec_free(&f->rows);
	vec_free(&f->times);
	vec_free(&f->strata);
	map_free(&f->stratum_of);
	map_free(&f->time_of);
	for (int s = 0; s < NSIDES; s++) {
		vec_free(&f->samples[s]);
		vec_free(&f->walls[s]);
		map_free(&f->sample_of[s]);
	}
}

/* ---- order ---- */

static int64_t
size_of(int64_t ns)
{
	return ns < 0 ? -ns : ns;
}

/* What differs, what may differ by chance, what does not. */
static int
rank_of(const struct figure *r)
{
	if (r->diff_ns == 0)
		return 2;
	return r->is_noise ? 1 : 0;
}

int
figure_order(const struct figure *a, const struct figure *b)
{
	if (rank_of(a) != rank_of(b))
		return rank_of(a) < rank_of(b) ? -1 : 1;
	if (size_of(a->diff_ns) != size_of(b->diff_ns))
		return size_of(a->diff_ns) > size_of(b->diff_ns) ? -1 : 1;
	if (a->diff_ns != b->diff_ns)
		return a->diff_ns > b->diff_ns ? -1 : 1;
	for (int s = 0; s < NSIDES; s++)
		if (a->unit_ns[s] != b->unit_ns[s])
			return a->unit_ns[s] > b->unit_ns[s] ? -1 : 1;
	return 0;
}

/* ---- cells ---- */

struct cell
figure_count(const struct figures *all, int side, uint64_t n)
{
	uint64_t units = all->unit[side].n;

	if (units < 2)
		return cell_int((int64_t)n);
	if (n % units == 0)
		return cell_int((int64_t)(n / units));
	return cell_real((double)n / (double)units);
}

struct column *
figure_columns(const struct figures *all, const struct column *from, size_t n)
{
	struct column *columns = xmalloc(n * sizeof *columns);

	memcpy(columns, from, n * sizeof *columns);
	for (size_t i = 0; i < n; i++)
		if (columns[i].unit == UNIT_COUNT &&
		    (all->unit[0].n > 1 || all->unit[1].n > 1))
			columns[i].type = COL_REAL;
	return columns;
}

void
figure_cells(
    struct cell *row, const struct figure *f, const struct figures *all)
{
	row[0] = cell_int(f->unit_ns[0]);
	row[1] = cell_int(f->unit_ns[1]);
	row[2] = cell_int(f->diff_ns);
	if (f->unit_ns[0] > 0)
		row[3] =
		    cell_real((double)f->unit_ns[1] / (double)f->unit_ns[0]);
	if (all->gross_ns > 0)
		row[4] =
		    cell_real(100 * (double)f->diff_ns / (double)all->gross_ns);
	if (!isnan(f->spread_ns)) {
		row[5] = cell_int(llround(f->spread_ns));
		row[6] = cell_bool(f->is_noise);
	}
}
