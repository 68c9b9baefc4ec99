/* SPDX-License-Identifier: MIT */
/* --fail-over and --junit. */
#ifndef TL_DIFF_GATE_H
#define TL_DIFF_GATE_H

#include "cmd/tl-diff/kernels.h"
#include "cmd/tl-diff/ops.h"

/* The verdict, told and written; the program's exit status. */
int gate_status(
    const struct settings *set, const struct ops *o, const struct kernels *k);

#endif
