/* SPDX-License-Identifier: MIT */
/*
 * collective: what tl-collective knows of the ranks of a job, for programs that
 * put them on one clock.
 *
 *	collective_rows("nccl_long", "rank,ts_ns,dur_ns", paths, n, fn, arg);
 *
 *	collective_clocks(&clocks, paths, n);
 *	c = collective_clock_of(&clocks, rank);		NULL: not known
 *	t = clock_steady(t - c->offset_ns, c->middle_ns, c->drift);
 */
#ifndef TL_TRACE_COLLECTIVE_H
#define TL_TRACE_COLLECTIVE_H

#include <math.h>

#include "base/base.h"

/* One row: cells, each with a tab behind it but for the last. */
typedef void collective_row_fn(void *arg, struct str row);

/*
 * Runs it with --align-clocks on these files and passes on the rows of one
 * table. Its warnings are one here; where it fails the program ends. True: it
 * has warned.
 */
bool collective_rows(const char *table, const char *columns,
    const char *const *paths, size_t n, collective_row_fn *row, void *arg);
/*
 * Its note that ranks are in several islands, of which last is the last one, is
 * a warning here: their times are put together all the same.
 */
void collective_islands(int64_t last, bool has_warned);
/* The first cell; the row moves behind it. */
struct str collective_cell(struct str *row);

/*
 * Of the clock of a rank, or process with several GPUs: what to subtract from
 * its times, which are Unix time where all traces tell theirs, and how fast it
 * runs: see clock_steady(). Clocks of different islands are not compared.
 */
struct collective_clock {
	int64_t rank;
	int64_t offset_ns, u_ns; /* and its standard uncertainty */
	int64_t middle_ns, nties, island;
	double drift;
	bool is_off; /* by more than that and 50 us, or it is proven */
};
typedef VEC(struct collective_clock) collective_clock_list;

/* By rank. Of those that are not known, and of islands, it warns. */
void collective_clocks(
    collective_clock_list *to, const char *const *paths, size_t n);
/* The same of clocks as recorded, silently: what is not known is not there. */
void collective_clocks_recorded(
    collective_clock_list *to, const char *const *paths, size_t n);
const struct collective_clock *collective_clock_of(
    const collective_clock_list *list, int64_t rank);
/* Warns of those of these ranks, which may repeat, whose clocks are off. */
void collective_tell_off(
    const collective_clock_list *list, const int64_t *ranks, size_t n);

/* A time on a clock that runs fast by drift, but is right at the middle. */
static inline int64_t
clock_steady(int64_t ns, int64_t middle_ns, double drift)
{
	int64_t since;

	if (drift == 0 || __builtin_sub_overflow(ns, middle_ns, &since) ||
	    !(fabs(drift) < 0.5))
		return ns;
	return ns - (int64_t)llround(drift * (double)since);
}

#endif
