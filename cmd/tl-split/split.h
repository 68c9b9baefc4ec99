/* SPDX-License-Identifier: MIT */
/*
 * tl-split: main.c reads options and streams, cut.c knows which parts an event
 * belongs to, part.c writes them.
 */
#ifndef TL_SPLIT_H
#define TL_SPLIT_H

#include "trace/hold.h"

#define MAX_PARTS 100000

enum by {
	BY_NOTHING,
	BY_RANK,
	BY_STEP,
	BY_ANNOTATION,
	BY_TIME,
};

struct settings {
	enum by by;
	const char *dir;
	const char *annotation; /* a pattern */
	int64_t every_ns;
	bool verbose, by_gpu_time;
	struct stream_dest dest; /* -z */
};

typedef VEC(int64_t) key_vec;

/* ---- cut.c: where one source is cut ---- */

/* What belongs to the part with this key: a step, an annotation. */
struct cut_window {
	int64_t start, end, key;
};

struct cut {
	const struct settings *set;
	bool has_first;
	int64_t first_ns;            /* the source's first event */
	VEC(struct cut_window) list; /* by start */
	VEC(int64_t) ends;           /* the latest end up to each of list */
};

/* Another source begins. */
void cut_clear(struct cut *c, const struct source *s);
/* Its prologue, which has its annotations, is whole. */
void cut_ready(struct cut *c, const struct hold *prologue);
void cut_free(struct cut *c);
/* The keys of the parts that hold a time; none: it is in the rest. */
void cut_parts(const struct cut *c, int64_t t, key_vec *keys);
/* Whether a part has something of [start, end). */
bool cut_overlaps(const struct cut *c, int64_t key, int64_t start, int64_t end);

/* ---- part.c ---- */

/* A file with its part of each source. */
struct part {
	int64_t key;
	bool is_rest;
	const char *path;
	struct stream_out *out;
	bool is_open;      /* its file is */
	uint64_t used;     /* when it was last */
	uint32_t nsources; /* that it has something of */
	/* of the source at hand */
	uint64_t source; /* its number, 0: nothing of it so far */
	bool is_final;   /* told so */
	enum section section;
	struct numbering nb; /* of its number here */
	/* of the trees at hand: numbers in current.trees */
	VEC(struct hold_pick) pieces;
};

/* The source at hand, as each part gets it that has something of it. */
struct current {
	uint64_t no; /* from 1 */
	uint32_t src;
	bool is_begun, is_cut; /* cut: its windows are known */
	enum section section;
	struct arena *mem;
	struct source source;
	VEC(struct meta) metas;
	struct hold prologue, trees;
};

struct split {
	const struct settings *set;
	struct dict *st;
	const struct stream_in *in;
	struct cut cut;
	struct current now;
	VEC(struct part *) parts;
	struct map part_of; /* key to number */
	struct part *rest;
	VEC(struct part *) open;   /* whose files are open */
	VEC(struct part *) filled; /* that hold something of this tree */
	uint64_t clock, nrest;
	unsigned marks; /* of all inputs */
	key_vec keys;
};

/* The part, made when it is not there; NULL: the rest. */
struct part *part_get(struct split *s, const int64_t *key);
/* Whether an event of the prologue belongs to parts, and is no mere name. */
bool is_dealt_out(const struct event *ev);
/* What stands before the part's first event of the source at hand. */
void part_begin(struct split *s, struct part *p);
/* An event of the trees at hand belongs to a part. */
void part_take(struct split *s, struct part *p, uint32_t no);
/* An event as it is; by rank. */
void part_pass(struct split *s, struct part *p, const struct event *ev);
/* The trees at hand have ended: each part gets what belongs to it. */
void parts_flush(struct split *s);
/* More of the source's metadata: for parts that had what there was. */
void parts_meta(struct split *s, const struct meta *m);
/* The source has ended. */
void parts_end_source(struct split *s);
void parts_finish(struct split *s);

#endif
