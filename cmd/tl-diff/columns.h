/* SPDX-License-Identifier: MIT */
/*
 * The table of edit distances of two lists, or a band of it: E[i][j] is the
 * distance of the first i symbols of a and the first j of b, and costs 1 for an
 * insertion, deletion or substitution.
 */
#ifndef TL_DIFF_COLUMNS_H
#define TL_DIFF_COLUMNS_H

#include "cmd/tl-diff/align.h"

struct columns;

/* Neither list is empty; they have to outlive the table. */
struct columns *columns_create(
    const uint32_t *a, size_t m, const uint32_t *b, size_t n);
void columns_destroy(struct columns *c);

/*
 * Works out a band: that of the diagonals from that of the first cell to that
 * of the last, and so many beyond them on both sides; SIZE_MAX for all. E of
 * the last cell, or more where the band is too narrow.
 */
uint64_t columns_fill(struct columns *c, size_t width);
/* Whether what the band says of (i, j) and of (i - 1, j) is right, if E is e.
 */
bool columns_are_right(const struct columns *c, size_t i, size_t j, uint64_t e);
/*
 * Whether E[i][j] = E[i-1][j] + 1, of i and j from 1. To be asked on a way back
 * from the last cell, that never goes down or to the right. False: the band
 * does not tell.
 */
bool columns_rise(struct columns *c, size_t i, size_t j, bool *rises);

#endif
