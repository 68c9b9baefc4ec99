/* SPDX-License-Identifier: MIT */
/*
 * Inside tl-fold only. main.c takes the options and reads streams into a tree
 * of frames, frame.c turns names into frames, sources.c tells traces of
 * several sources apart, output.c writes.
 *
 * There are two sides with --diff, before and after, and else only the first.
 */
#ifndef TL_CMD_FOLD_H
#define TL_CMD_FOLD_H

#include "sink/source.h"
#include "stream/stream.h"
#include "table/table.h"
#include "trace/merged.h"

#define NSIDES 2

/* ---- frames: what stands between two semicolons ---- */

enum frame_type {
	FRAME_PYTHON,
	FRAME_OP, /* and calls of the runtime */
	FRAME_MODULE,
	FRAME_GPU,
	FRAME_TYPES
};

/* Zeroes to start with. */
struct frames {
	bool is_short; /* --short */
	bool is_plain; /* --diff: without what differs from run to run */
	size_t width;  /* and with a length: at most that; else 0 */
	struct map known;
	struct buf text, part, plain;
};

/* The number of a frame's text in the dictionary. */
uint32_t frame_of(
    struct frames *f, struct dict *st, uint32_t name, enum frame_type type);
void frames_free(struct frames *f);

/* ---- sources ---- */

/* Zeroes to start with. */
struct sources {
	struct sink_sources side[NSIDES];
	VEC(uint32_t) matches; /* of the second side: numbers */
};

/*
 * Over both sides: a source of the second has the number of its counterpart in
 * the first, by rank, or by place if ranks are unknown.
 */
uint32_t sources_number(
    struct sources *s, int side, const struct sink_source *o);
bool sources_are_asked(const struct sources *s, uint32_t number);
/* GPU time of a side's sources that are. */
int64_t sources_work(const struct sources *s, int side);
/* Appends what its frame is called; false: it needs none. */
bool sources_name(const struct sources *s, uint32_t number, struct buf *b);
void sources_free(struct sources *s);

/* ---- output ---- */

struct output {
	const char *path;
	int nsides;
	bool is_gpu; /* times are GPU time: each event's is in one stack */
	/* what was written */
	uint64_t nlines;
	int64_t sum_ns[NSIDES];
};

/*
 * A line a stack, in the order of bytes. Below the root are the sources by
 * their numbers, which become texts.
 */
void output_write(struct output *o, struct merged *t, struct dict *st,
    const struct sources *sources);

#endif
