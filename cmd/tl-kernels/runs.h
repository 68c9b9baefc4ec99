/* SPDX-License-Identifier: MIT */
/*
 * runs of symbols that recur, in disjoint places; first those whose places
 * weigh most.
 *
 * A run is maximal: further left or right its places differ, or what is between
 * two of them breaks. One that overlaps its own next place is cut to its
 * period. The heaviest run is chosen, its places are taken, and the next one is
 * what weighs most in the rest, so that the weights of runs add up.
 *
 *	a b c  a b c  x  a b	abc twice, of length 3; ab once in the rest: no
 *	 5 7    4 9	   6	weights lie between symbols
 *
 * Time: n x max x log n, but for text made against it.
 * Memory: 40 bytes a symbol.
 */
#ifndef TL_KERNELS_RUNS_H
#define TL_KERNELS_RUNS_H

#include "base/base.h"

#define RUNS_LENGTH_MAX 64
#define RUNS_ROWS_MAX 1000 /* runs at most */
#define RUNS_BREAK INT64_MIN

struct run_place {
	uint32_t run;   /* from 0 on, in the order in which they were chosen */
	uint32_t first; /* symbol */
	uint32_t length;
};
typedef VEC(struct run_place) run_place_vec;

/*
 * Appends the places of runs of min to max symbols, each at least twice. n
 * symbols below nsymbols; weight[i] is what lies between symbol i and the one
 * behind it, not negative, or RUNS_BREAK: no run goes across. Returns the
 * number of runs.
 */
uint32_t runs_find(const uint32_t *symbols, uint32_t nsymbols,
    const int64_t *weights, uint32_t n, uint32_t min, uint32_t max,
    run_place_vec *places);

#endif
