/* SPDX-License-Identifier: MIT */
/* Summary of a process: step times and the slowest step. */
#include "cmd/tl-steps/steps.h"

#include <math.h>

#define AT(field) offsetof(struct step_record, field)

typedef VEC(int64_t) int_list;

/* One field of all steps of a row, in order. */
static void
list_of(const struct sink_row *row, size_t field, int_list *to)
{
	to->n = 0;
	for (size_t i = 0; i < row->group->n; i++) {
		const struct step_record *r = sink_row_record(row, i);
		int64_t v;

		memcpy(&v, (const char *)r + field, sizeof v);
		if (r->what != STEP_IS_BETWEEN && v != SINK_NONE)
			vec_push(to, v);
	}
}

static double
median_of(const struct sink_row *row, size_t field)
{
	int_list list = { 0 };
	struct stats stats;

	list_of(row, field, &list);
	stat_of(&stats, list.v, list.n);
	vec_free(&list);
	return stats.median;
}

static struct cell
quantile_cell(const struct sink_row *row, double q)
{
	int_list list = { 0 };
	struct stats stats;
	double v = NAN;

	list_of(row, AT(time_ns), &list);
	stat_of(&stats, list.v, list.n);
	if (list.n > 0)
		v = stat_quantile(list.v, list.n, q);
	vec_free(&list);
	return cell_real(v);
}

static struct cell
spread_cell(const struct sink_row *row)
{
	int_list list = { 0 };
	struct stats st;

	list_of(row, AT(time_ns), &list);
	stat_of(&st, list.v, list.n);
	vec_free(&list);
	if (st.n < 2 || st.median <= 0)
		return cell_none();
	return cell_real((double)(st.max - st.min) / st.median * 100);
}

static struct cell
drain_cell(const struct sink_row *row, bool is_last)
{
	int_list list = { 0 };
	struct cell c = cell_none();

	list_of(row, AT(drain_ns), &list);
	if (list.n > 0)
		c = cell_int(list.v[is_last ? list.n - 1 : 0]);
	vec_free(&list);
	return c;
}

/* Steps and the time between them. */
static struct cell
sum_cell(const struct sink_row *row, unsigned number)
{
	int64_t n = 0, between_ns = 0;

	for (size_t i = 0; i < row->group->n; i++) {
		const struct step_record *r = sink_row_record(row, i);

		n += r->what == STEP_IS_STEP;
		if (r->what == STEP_IS_BETWEEN)
			stat_add(&between_ns, r->wall_ns);
	}
	return cell_int(number == C_COUNT ? n : between_ns);
}

/*
 * The slowest step, and the one that it is compared with; NULL: fewer than two.
 */
static const struct step_record *
slowest_of(const struct sink_row *row, const struct step_record **median,
    bool *is_fast)
{
	VEC(const struct step_record *) list = { 0 };
	const struct step_record *found;

	for (size_t i = 0; i < row->group->n; i++) {
		const struct step_record *r = sink_row_record(row, i);

		if (slow_compares(r))
			vec_push(&list, r);
	}
	found = slow_slowest(list.v, list.n);
	if (found != NULL)
		*median = slow_median(list.v, list.n, is_fast);
	vec_free(&list);
	return found;
}

/* The part in which the slowest step exceeds the median one most. */
static struct cell
slowest_cell(const struct sink_row *row, unsigned number)
{
	const struct step_record *median;
	bool is_fast;
	const struct step_record *r = slowest_of(row, &median, &is_fast);
	int64_t excess = 0;
	size_t part = SLOW_PARTS;

	if (r == NULL)
		return cell_none();
	if (number == C_SLOWEST)
		return cell_int(r->step);
	/* parts are of the wall time */
	for (size_t i = 0; i < SLOW_PARTS && !r->is_gpu_time; i++) {
		int64_t more = slow_part(r, i) - slow_part(median, i);

		if (more <= excess)
			continue;
		excess = more;
		part = i;
	}
	if (part == SLOW_PARTS)
		return cell_none();
	switch (number) {
	case C_SLOW_PART: return cell_text(str_of(slow_word(part)));
	case C_SLOW_NS: return cell_int(slow_part(r, part));
	case C_SLOW_MEDIAN: return cell_int(slow_part(median, part));
	case C_SLOW_OF: return cell_text(str_of(slow_median_word(is_fast)));
	default:
		return part < CAUSE_COUNT
		    ? cell_string(row->sink->dict, r->most_in[part])
		    : cell_none();
	}
}

struct cell
summary_cell(const struct sink_row *row, unsigned number)
{
	switch (number) {
	case C_COUNT:
	case C_BETWEEN: return sum_cell(row, number);
	case C_P95: return quantile_cell(row, 0.95);
	case C_P99: return quantile_cell(row, 0.99);
	case C_SPREAD: return spread_cell(row);
	case C_WALL_MEDIAN: return cell_real(median_of(row, AT(wall_ns)));
	case C_DRAIN_FIRST: return drain_cell(row, false);
	case C_DRAIN_LAST: return drain_cell(row, true);
	default: return slowest_cell(row, number);
	}
}
