/* SPDX-License-Identifier: MIT */
/*
 * Inside tl-fold only. main.c takes the options and reads streams into a tree
 * of frames, frame.c turns names into frames, sources.c separates sources,
 * output.c writes. With --diff there are two sides, before and after, otherwise
 * one.
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
	FRAME_OP, /* and API calls */
	FRAME_MODULE,
	FRAME_GPU,
	FRAME_TYPES
};

/* Starts as zeroes. */
struct frames {
	bool is_short; /* --short */
	bool is_plain; /* --diff: without what differs from run to run */
	size_t width;  /* --short: at most this; 0: no limit */
	struct map known;
	struct buf text, part, plain;
};

/* The dictionary id of a frame's text. */
uint32_t frame_of(
    struct frames *f, struct dict *st, uint32_t name, enum frame_type type);
void frames_free(struct frames *f);

/* ---- sources ---- */

/* Starts as zeroes. */
struct sources {
	struct sink_sources side[NSIDES];
	VEC(uint32_t) matches; /* of the second side: their numbers */
};

/*
 * Numbers a source of either side: one of the second has its counterpart's
 * number in the first, by rank, or by position if ranks are unknown.
 */
uint32_t sources_number(
    struct sources *s, int side, const struct sink_source *o);
bool sources_are_asked(const struct sources *s, uint32_t number);
/* GPU time of a side's sources that exist. */
int64_t sources_work(const struct sources *s, int side);
/* Appends the name of its frame; false: it needs none. */
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
 * Writes a line per stack, in byte order. Below the root are the sources by
 * number, which become names.
 */
void output_write(struct output *o, struct merged *t, struct dict *st,
    const struct sources *sources);

#endif
