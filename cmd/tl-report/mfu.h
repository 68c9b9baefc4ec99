/* SPDX-License-Identifier: MIT */
/* mfu: a sentence on MFU and HFU over all steps. */
#ifndef TL_REPORT_MFU_H
#define TL_REPORT_MFU_H

#include "reader/reader.h"

struct figures;
struct line;

struct mfu {
	int64_t nsteps, nknown, wall_ns;      /* wall_ns: of the nknown steps */
	double mfu_ns, hfu_ns, unmodelled_ns; /* percent times ns */
	struct str peak, says;
};

/* A row of roofline_by_step. */
void mfu_take(void *ctx, const struct line *l);
/* After the last row. */
void mfu_make(struct figures *f);

#endif
