/* SPDX-License-Identifier: MIT */
/* mfu: MFU and HFU of the steps together: a sentence. */
#ifndef TL_REPORT_MFU_H
#define TL_REPORT_MFU_H

#include "reader/reader.h"

struct figures;
struct line;

struct mfu {
	int64_t nsteps, nknown, wall_ns;      /* time: of those known */
	double mfu_ns, hfu_ns, unmodelled_ns; /* percent x ns */
	struct str peak, says;
};

/* A row of roofline_by_step. */
void mfu_take(void *ctx, const struct line *l);
/* Behind the last one. */
void mfu_make(struct figures *f);

#endif
