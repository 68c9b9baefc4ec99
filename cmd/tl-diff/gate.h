/* SPDX-License-Identifier: MIT */
/* --fail-over and --junit. */
#ifndef TL_DIFF_GATE_H
#define TL_DIFF_GATE_H

#include "cmd/tl-diff/figures.h"

/*
 * What a threshold is in ns where the GPU time before was base_ns, rounded
 * down; at most INT64_MAX.
 */
int64_t threshold_ns(const struct threshold *t, int64_t base_ns);

/* The verdict, told and written; the program's exit status. */
int gate_status(const struct settings *set, const struct figures *f);

#endif
