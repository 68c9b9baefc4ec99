/* SPDX-License-Identifier: MIT */
/* Sentences about what changed, and figures in them. */
#ifndef TL_DIFF_NOTES_H
#define TL_DIFF_NOTES_H

#include "cmd/tl-diff/changes.h"

/*
 * What the time of steps became: a note for each of the main kinds. Whether
 * they say what GPU time did, too.
 */
bool clock_notes(const struct changes *c, struct table *t, bool has_hints);
/* Ops, or kernels; rows of launches outside of them are no ops. */
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
/* ": spread over 57 rows, none by itself"; nothing where no rest differs. */
void put_rest(struct buf *b, const struct family *f);
/*
 * " (+9.000 ms without a launch)" where that is half of what GPU time did; with
 * hints, how to leave it out.
 */
void put_unlinked(struct buf *b, const struct changes *c, bool has_hints);
/*
 * ", +180.0 us by first steps": so much of what was said; nothing where there
 * is none. nrest: rows over which it is spread, or 0.
 */
void put_first(struct buf *b, int64_t whole_ns, int64_t first_ns, size_t nrest);
/* A note of what is in the buffer, which is empty then; nothing if it is. */
void note_of(struct table *t, struct buf *b);

/* What changed, as notes of a table; hints name options of tl-diff. */
void changes_notes(const struct changes *c, struct table *t, bool has_hints);
/* That the sides are the same, as far as it goes; NULL: they are not. */
const char *changes_sameness(const struct changes *c);
/* A row's name, or both, as a text for people. */
void put_names(
    struct buf *b, const struct dict *st, const uint32_t name[NSIDES]);

#endif
