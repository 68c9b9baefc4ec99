/* SPDX-License-Identifier: MIT */
/*
 * tl-graft: adds to a tree the ops that its trace hides.
 *
 *	capture.c  traces of graph captures: which exist, contents of each
 *	align.c    launches of a capture matched with replayed kernels
 *	graft.c    captured ops under the launches of graphs
 *	pseudo.c   ops for the steps that one op hides
 */
#ifndef TL_GRAFT_H
#define TL_GRAFT_H

#include "model/model.h"
#include "trace/forest.h"
#include "trace/phase.h"
#include "json/json.h"

static inline bool
has_part(struct str s, struct str part)
{
	return str_find(s, part, true) >= 0;
}

/* ---- capture.c ---- */

/* One captured graph: what is between the begin and end of its capture. */
struct capture_root {
	int64_t start, end;
	VEC(uint32_t) tops;     /* ops and frames, in order of time */
	VEC(uint32_t) launches; /* in order of time */
};

struct capture_file {
	char *path;
	int64_t batch;              /* -1: unknown, fits any */
	bool is_full, is_piecewise; /* neither: by the number of its roots */
	bool is_read;
	struct forest tree;
	VEC(struct capture_root) roots;
};

struct captures {
	struct dict *st;
	VEC(struct capture_file) files;
};

/* A file in a folder's list; batch -1: no batch size. */
struct listed {
	struct str file, mode;
	int64_t batch;
};
typedef VEC(struct listed) listed_vec;
/* Strings live in mem; false: it is no such list. */
bool captures_list(
    struct str text, struct arena *mem, listed_vec *out) USE_RESULT;

/*
 * Opens a folder (its execution_details.json, or all traces in it), or a trace.
 */
void captures_open(struct captures *c, struct dict *st, const char *path);
void captures_free(struct captures *c);
/* Reads the trace, once. */
void capture_read(struct captures *c, struct capture_file *f);
/*
 * The file for a step with this batch size and number of graph launches: the
 * smallest captured size that suffices, or NULL.
 */
struct capture_file *captures_for(
    struct captures *c, int64_t batch, size_t nlaunches);

/* ---- align.c ---- */

struct pairing {
	const struct forest *replay, *capture;
	const uint32_t *gpu; /* in order of time */
	size_t ngpu;
	const struct capture_root *root;
	double min_match; /* share of GPU events, for the last way of pairing */
	uint32_t *pair;   /* output: by GPU event its launch, or FOREST_NONE */
	const char *how;  /* which way succeeded */
	enum reason why;  /* ... or why none did */
};

/* Returns false if they can't be paired. */
bool align(struct pairing *p);

/* ---- graft.c ---- */

struct graft_stats {
	uint64_t launches, grafted, kernels, paired, added;
};

struct graft_opts {
	bool full_stack;
	double min_match;
	bool verbose;
};

/* An iteration of the replay, with its batch size. */
struct iteration_span {
	int64_t start, end, batch;
	uint8_t tier;
};

void graft_source(struct forest *w, struct captures *c,
    const struct iteration_span *steps, size_t nsteps,
    const struct graft_opts *opts, struct graft_stats *stats);

/* ---- pseudo.c ---- */

/* Adds ops by the rules of the models' files; returns how many. */
uint64_t pseudo_ops(struct forest *w, struct models *models);

#endif
