/* SPDX-License-Identifier: MIT */
/*
 * collective: results of tl-collective about the ranks of a job, for programs
 * that put them on one clock.
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

/* One row: cells, each followed by a tab, except the last. */
typedef void collective_row_fn(void *arg, struct str row);

/*
 * Runs it with --align-clocks on these files and passes on the rows of one
 * table. Its warnings become one; if it fails, the program ends. True: it
 * warned.
 */
bool collective_rows(const char *table, const char *columns,
    const char *const *paths, size_t n, collective_row_fn *row, void *arg);
/*
 * Turns its note that ranks are in several islands (last is the highest) into a
 * warning: their times are combined nevertheless.
 */
void collective_islands(int64_t last, bool has_warned);
/* Cuts off and returns the first cell. */
struct str collective_cell(struct str *row);

/*
 * The clock of a rank, or of a process with several GPUs: what to subtract from
 * its times (Unix time, if all traces have it), and its drift: see
 * clock_steady(). Clocks of different islands are not comparable.
 */
struct collective_clock {
	int64_t rank;
	int64_t offset_ns, u_ns; /* and its standard uncertainty */
	int64_t middle_ns, nties, island;
	double drift;
	bool is_off; /* by more than that and 50 us, or proven */
};
typedef VEC(struct collective_clock) collective_clock_list;

/* Whether nothing compares two clocks: then neither rank is judged against the
 * other. */
static inline bool
clocks_are_apart(bool knows_a, int64_t island_a, bool knows_b, int64_t island_b)
{
	return !knows_a || !knows_b || island_a != island_b;
}

/* By rank. Warns of unknown clocks, and of islands. */
void collective_clocks(
    collective_clock_list *to, const char *const *paths, size_t n);
/* The same for clocks as recorded, silently: unknown ones are missing. */
void collective_clocks_recorded(
    collective_clock_list *to, const char *const *paths, size_t n);
const struct collective_clock *collective_clock_of(
    const collective_clock_list *list, int64_t rank);
/* Warns of those of these ranks (may repeat) whose clocks are off. */
void collective_tell_off(
    const collective_clock_list *list, const int64_t *ranks, size_t n);

/* Corrects a time on a clock that runs fast by drift, and is right at
 * middle. */
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
