/* SPDX-License-Identifier: MIT */
/*
 * tl-graft: puts into a tree the ops that its trace hides.
 *
 *	wood.c     a source's tree in memory, to be changed and written
 *	capture.c  traces of graph captures: which there are, what each holds
 *	steps.c    batch sizes of inference steps, by their annotations
 *	align.c    which launch of a capture stands for which replayed kernel
 *	graft.c    captured ops under the launches of graphs
 *	pseudo.c   ops for the steps that one op hides
 */
#ifndef TL_GRAFT_H
#define TL_GRAFT_H

#include "model/model.h"
#include "stream/stream.h"
#include "json/json.h"

#define NONE UINT32_MAX /* no node */

/* ---- wood.c ---- */

/* An event of a tree; the events below it are a list. */
struct node {
	int64_t ts_ns, dur_ns;
	uint64_t id;
	size_t vals; /* in wood.vals */
	uint32_t inst, vals_len;
	uint32_t shape, track, name, flags;
	uint32_t up, kid, last, next; /* NONE: there is none */
	uint32_t links;               /* in wood.links, plus 1; 0: none */
	uint8_t kind;
};

struct node_links {
	struct uid fwd, bwd;
};

struct wood {
	struct strings *st;
	VEC(struct node) nodes; /* those read are in the order of the tree */
	VEC(struct node_links) links;
	struct buf vals, scratch;
	uint32_t first_root, last_root;
	VEC(uint32_t) open; /* while it is read */
};

void wood_start(struct wood *w, struct strings *st);
void wood_free(struct wood *w);
/* Without nodes again. */
void wood_clear(struct wood *w);
/* The next event of a tree, in its order; ends the program if it is none. */
void wood_add(struct wood *w, const struct event *ev, const char *file);
/* A node as an event, with all keys; until the next node is made. */
void wood_event(const struct wood *w, uint32_t i, struct event *ev);
struct str wood_name(const struct wood *w, uint32_t i);
static inline bool
node_is(const struct node *n, uint32_t kinds)
{
	return (KIND_BIT(n->kind) & kinds) != 0;
}
/* A copy of a node of from (may be w itself), hung nowhere. */
uint32_t wood_copy(struct wood *w, const struct wood *from, uint32_t i);
/* A further argument of a node; its values move. */
void wood_arg(struct wood *w, uint32_t i, const char *key, enum role role,
    const struct value *v);
/* Drops all arguments but those named (ended by NULL). */
void wood_keep_args(struct wood *w, uint32_t i, const char *const *keys);
/* Out of the list that it is in; what is below it stays below it. */
void wood_unhook(struct wood *w, uint32_t i);
void wood_hang(struct wood *w, uint32_t i, uint32_t up);
/* In the place of a node that goes below it; i hangs nowhere before. */
void wood_put_above(struct wood *w, uint32_t i, uint32_t node);
/* The next node of the tree below top, in its order; NONE behind the last. */
uint32_t wood_next(const struct wood *w, uint32_t i, uint32_t top);
/* The tree as it now is. */
void wood_write(const struct wood *w, struct stream_out *out);

/* ---- capture.c ---- */

/* One captured graph: what lies between begin and end of its capture. */
struct capture_root {
	int64_t start, end;
	VEC(uint32_t) tops;     /* ops and frames, in the order of time */
	VEC(uint32_t) launches; /* in the order of time */
};

struct capture_file {
	char *path;
	int64_t batch;              /* -1: unknown, fits all */
	bool is_full, is_piecewise; /* neither: by the number of its roots */
	bool is_read;
	struct wood wood;
	VEC(struct capture_root) roots;
};

struct captures {
	struct strings *st;
	VEC(struct capture_file) files;
};

/* One member of a folder's list: what it says of a file; -1: no batch size. */
struct listed {
	struct buf file, mode;
	int64_t batch;
};
typedef void listed_fn(void *arg, const struct listed *l);
/*
 * Reads the list, n bytes with IN_PAD zeros behind; false: it is none, and *j
 * says where and why. Those before a fault were told.
 */
bool captures_list(const void *p, size_t n, listed_fn *tell, void *arg,
    struct json *j) USE_RESULT;

/* A folder (its execution_details.json, or all traces in it), or a trace. */
void captures_open(struct captures *c, struct strings *st, const char *path);
void captures_free(struct captures *c);
/* Reads its trace, once. */
void capture_read(struct captures *c, struct capture_file *f);
/*
 * The file for a step of this batch size and so many graph launches: the
 * smallest captured size that is enough. NULL: there is none.
 */
struct capture_file *captures_for(
    struct captures *c, int64_t batch, size_t nlaunches);

/* ---- steps.c ---- */

/* A step of a serving framework. */
struct step {
	int64_t start, end;
	int64_t batch; /* -1: its name doesn't tell */
	int tier;      /* 0: detailed names, 1: others, 2: no step */
};

struct step step_of(struct str name);

/* ---- align.c ---- */

struct pairing {
	const struct wood *replay, *capture;
	const uint32_t *gpu; /* in the order of time */
	size_t ngpu;
	const struct capture_root *root;
	double min_match; /* a share of the GPU events, for the last resort */
	uint32_t *pair;   /* to be filled: by GPU event its launch, or NONE */
	const char *how;  /* what was done, or why nothing was */
};

/* False: they can't be told. */
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

void graft_source(struct wood *w, struct captures *c, const struct step *steps,
    size_t nsteps, const struct graft_opts *opts, struct graft_stats *stats);

/* ---- pseudo.c ---- */

/* The number of ops put in, by the rules of the models' files. */
uint64_t pseudo_ops(struct wood *w, struct models *models);

#endif
