/* SPDX-License-Identifier: MIT */
/* Sentences about what changed, and their numbers. */
#ifndef TL_DIFF_NOTES_H
#define TL_DIFF_NOTES_H

#include "cmd/tl-diff/changes.h"

/*
 * Adds a note on the step time of each main kind. True: they include the change
 * of GPU time.
 */
bool clock_notes(const struct changes *c, struct table *t, bool has_hints);
/* A number of ops or kernels; rows of launches outside of ops are no ops. */
struct row_number {
	size_t ops, launches;
};
void count_row(struct row_number *n, bool is_no_op);
/* "2 ops and launches outside ops" */
void put_number(struct buf *b, const struct changes *c, struct row_number n);
/* +4.456 ms */
void put_signed_time(struct buf *b, int64_t ns);
/* "4.456 ms to 4.482 ms (+0.6 %)", or "unchanged (4.456 ms)" */
void put_change(struct buf *b, int64_t before, int64_t after);
/*
 * ", paced by the host before, by the GPU after", if step times are the host's
 * on one side and the GPU's on the other.
 */
void put_pace(struct buf *b, const struct changes *c, const struct term *step);
/* ": spread over 57 rows, none by itself"; nothing if no rest differs. */
void put_rest(struct buf *b, const struct family *f);
/*
 * " (+9.000 ms without a launch)" if that is half of the change of GPU time;
 * with hints, how to omit it.
 */
void put_unlinked(struct buf *b, const struct changes *c, bool has_hints);
/*
 * ", +180.0 us by first steps": that part of the difference, if any. nrest:
 * rows over which it is spread, or 0.
 */
void put_first(struct buf *b, int64_t whole_ns, int64_t first_ns, size_t nrest);
/* Adds the buffer as a note, if it has text, and empties it. */
void note_of(struct table *t, struct buf *b);

/* Adds notes on what changed; hints name options of tl-diff. */
void changes_notes(const struct changes *c, struct table *t, bool has_hints);
/* Those of step and GPU times. */
void changes_whole(const struct changes *c, struct table *t, bool has_hints);
/* Says that the sides are identical; NULL: they are not. */
const char *changes_sameness(const struct changes *c);
/* Says that noise is unknown; NULL: it is known. */
const char *changes_unknown(const struct changes *c);
/* A row's name, or both. */
void put_names(
    struct buf *b, const struct dict *st, const uint32_t name[NSIDES]);

/* tell.c: messages instead of notes. */

/* Facts that readers of any table must know. */
void tell_facts(const struct changes *c);
/* Whether the sides are identical, and how the step time changed. */
void tell_verdict(const struct changes *c);

#endif
