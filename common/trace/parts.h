/* SPDX-License-Identifier: MIT */
/*
 * parts: splits the time of a source: GPU work, and where there was none, what
 * the GPU waited for.
 *
 *	h->gpus.v[i].tag = bucket_of_event(...);	while it is read
 *	parts_find(&p, &host, &steps);			after steps_find()
 *	parts_within(&p, from, to, ns);			of any time in it
 */
#ifndef TL_TRACE_PARTS_H
#define TL_TRACE_PARTS_H

#include "trace/gap.h"
#include "trace/steps.h"

/* Parts of a window's time: idle time by cause, and these. */
enum {
	PART_COMPUTE = CAUSE_COUNT,
	PART_COMM, /* exposed: not covered by compute */
	PART_COPY, /* exposed: not covered by compute or communication */
	PART_COUNT
};

struct parts {
	struct spans busy, comm, copy;
	struct gaps gaps;
};

/* From the first step or GPU event to the end of the last. */
struct span parts_whole(const struct host *h, const struct steps *s);
/* Empties it first. A source without GPU events has no parts. */
void parts_find(struct parts *p, struct host *h, const struct steps *s);
/*
 * From one time to another, both between the first step or GPU event and the
 * last one's end.
 */
void parts_within(
    const struct parts *p, int64_t from, int64_t to, int64_t ns[PART_COUNT]);
/* The first of gaps.pieces that ends after a time. */
size_t parts_piece_at(const struct parts *p, int64_t ns);
void parts_free(struct parts *p);

#endif
