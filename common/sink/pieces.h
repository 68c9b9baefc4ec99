/* SPDX-License-Identifier: MIT */
/*
 * pieces: added up while they are found. A program with many more
 * pieces than rows keeps one record of those that no key of a table tells
 * apart:
 *
 *	sink_fold_start(&g->fold, s, &tables[OF_PATH]);		in .check
 *	r = sink_fold(&g->fold, s, &piece, &is_new);
 *	if (!is_new) r->ns += piece.ns ...			else a copy
 *	sink_fold_clear(&g->fold);				behind a source
 *
 * Rows may still be of several records: names of threads can be the same.
 */
#ifndef TL_SINK_PIECES_H
#define TL_SINK_PIECES_H

#include "sink/sink.h"

struct sink_fold {
	struct sink_plan plan;
	struct sink_groups groups;
};

void sink_fold_start(
    struct sink_fold *f, struct sink *s, const struct sink_table *t);
/* Valid until the next one. */
void *sink_fold(
    struct sink_fold *f, struct sink *s, const void *piece, bool *is_new);
void sink_fold_clear(struct sink_fold *f);

#endif
