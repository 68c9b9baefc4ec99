/* SPDX-License-Identifier: MIT */
/*
 * pieces: added up while they are found. A program with many more pieces than
 * rows keeps one record for all that the keys of a table do not tell apart:
 *
 *	sink_fold_start(&g->fold, s, &tables[OF_PATH]);		in .check
 *	r = sink_fold(&g->fold, s, &piece, NULL, &is_new);
 *	if (!is_new) r->ns += piece.ns ...			else a copy
 *	sink_fold_clear(&g->fold);				after a source
 *
 * A row may still have several records, as names of threads may be equal.
 *
 * If a few words decide all keys, pass them to sink_fold(): sink_fold_known()
 * then finds the record of most pieces before they are made.
 */
#ifndef TL_SINK_PIECES_H
#define TL_SINK_PIECES_H

#include "sink/sink.h"

#define SINK_FOLD_WORDS 2

struct sink_fold {
	struct sink_plan plan;
	struct sink_groups groups;
	/* private: by hash of the words */
	struct {
		uint64_t words[SINK_FOLD_WORDS];
		size_t record; /* plus 1 */
	} known[1024];
};

void sink_fold_start(
    struct sink_fold *f, struct sink *s, const struct sink_table *t);
/* Valid until the next call. words: SINK_FOLD_WORDS, or NULL. */
void *sink_fold(struct sink_fold *f, struct sink *s, const void *piece,
    const uint64_t *words, bool *is_new);
/* The record of a piece with these words, if found, or NULL. */
void *sink_fold_known(
    const struct sink_fold *f, const struct sink *s, const uint64_t *words);
void sink_fold_clear(struct sink_fold *f);

#endif
