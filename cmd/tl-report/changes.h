/* SPDX-License-Identifier: MIT */
/* What changed against other traces, as figures and sentences. */
#ifndef TL_REPORT_CHANGES_H
#define TL_REPORT_CHANGES_H

#include "cmd/tl-report/figures.h"

/* After the last row: replays are replaced by their kernels. */
void changes_finish(struct figures *f);
struct str change_sentence(struct figures *f, struct str text);
struct str change_name(
    struct figures *f, struct str name, struct str after, struct str dims);
/* "1.034", "new" or "gone". */
void put_ratio(struct buf *b, const struct change *c);

/* ---- versus.c ---- */

/* A row of nccl_vs: the first beyond noise becomes a sentence. */
void versus_take(void *ctx, const struct line *l);

#endif
