/* SPDX-License-Identifier: MIT */
/*
 * tl-diff: what changed between two traces, at the lowest point where their
 * call trees differ.
 *
 * Each source is read into arrays (side). The trees of two sides are merged
 * (merged) into nodes of either or both. Tables are figures of the GPU work
 * below the points of difference (stats), or of kernels aligned one by one
 * where there are no ops (kernels).
 *
 * Names are compared as numbers: a node has the number of its normalised name
 * in the dictionary that the sides share.
 */
#ifndef TL_DIFF_H
#define TL_DIFF_H

#include "stream/stream.h"
#include "table/table.h"
#include "trace/launcher.h"
#include "trace/select.h"
#include "trace/step.h"

#include "cmd/tl-diff/clock.h"
#include "cmd/tl-diff/names.h"

#define NONE UINT32_MAX
#define NSIDES 2

enum what_by {
	BY_OP,
	BY_KERNEL,
};

enum pair_by {
	PAIR_PLACE,
	PAIR_RANK,
};

enum unit_of {
	PER_RUN,
	PER_STEP,
};

/* What --fail-over judges. */
enum gate_of {
	GATE_BOTH,
	GATE_GPU,
	GATE_STEP,
	GATE_RANK,
};

/* A time, or a share of the time before. */
struct threshold {
	bool is_set, is_percent;
	double percent;
	int64_t ns;
	struct str text; /* as given */
};

struct settings {
	VEC(const char *) paths[NSIDES];
	struct str names[NSIDES]; /* --names */
	const char *table;        /* --table */
	enum what_by by;
	enum pair_by pair;
	enum unit_of per;
	bool python, print, list, verbose, no_steps;
	const char *equiv, *causes;
	struct threshold min_diff, fail_over;
	enum gate_of gate;
	bool is_sure;     /* --sure */
	double run_noise; /* --run-noise, as a share */
	struct select select;
	struct match_query *match; /* --match; NULL: everything is compared */
	/* of each side: steps, as --step takes them */
	struct buf matched[NSIDES];
	struct buf over;   /* "decode steps 4-7 of before and ..." */
	bool is_selective; /* a selection option is given */
	bool is_of_events; /* other than of steps or ranks */
	struct table_dest dest;
};

/* ---- read.c: reads a side into arrays ---- */

/*
 * A host or GPU event, in the order of the tree stream. A node's descendants
 * follow it, up to node.behind: its first child is the next node, and a child's
 * sibling begins where that child ends. 64 bytes.
 */
struct node {
	int64_t ts, dur;
	uint32_t id, inst; /* its uid */
	uint32_t name;     /* INTERN_NONE: unnamed */
	uint32_t n;        /* number of the normalised name, or INTERN_NONE */
	uint32_t sym;      /* n, or a number for its uid: never INTERN_NONE */
	uint32_t parent;   /* NONE: a root */
	uint32_t behind;
	uint32_t first_gpu; /* number of GPU events before it, in side.gpus */
	uint32_t chain;     /* modules around it, in side.chains; or NONE */
	uint32_t extra;     /* op: arguments; GPU event: index in gpus */
	uint8_t kind;
	uint8_t flags; /* NODE_ */
};

enum {
	NODE_GPU_PATH = 1 << 0, /* GPU work, or an ancestor of some */
	NODE_TREE = 1 << 1,     /* in the tree */
	/* its children on the GPU path are not sorted by time */
	NODE_UNSORTED = 1 << 2,
	NODE_BARE_LAUNCH = 1 << 3, /* an op with a launch among its children */
	NODE_BELOW_OP = 1 << 4,
	NODE_COMM = 1 << 5, /* GPU work that is communication */
};

static inline bool
is_launch_kind(uint8_t kind)
{
	return (KIND_BIT(kind) & KINDS_LAUNCH) != 0;
}

static inline bool
is_gpu_kind(uint8_t kind)
{
	return (KIND_BIT(kind) & KINDS_GPU) != 0;
}

/* Neither GPU work nor its launch. */
static inline bool
is_plain_call(const struct node *n)
{
	return !is_gpu_kind(n->kind) && !is_launch_kind(n->kind);
}

/* A GPU event. */
struct gpu {
	uint32_t node;
	uint32_t launch_id;  /* id of its launch, or NONE */
	uint32_t stream;     /* a number */
	uint32_t annotation; /* around its launch, or INTERN_NONE */
	uint32_t window;     /* id of that annotation, or NONE */
	int64_t step;        /* of its launch, or WALK_NO_STEP */
	bool is_unlinked;
};

/* nn.Modules around a node. */
struct chain {
	uint32_t up;   /* NONE: the outermost */
	uint32_t name; /* without its instance number */
};

typedef VEC(uint32_t) u32s;

/* One source of a trace. */
struct side {
	const char *path;
	uint32_t no;                /* source's number in its side */
	uint32_t in_file, nin_file; /* number in its file, of so many */
	bool has_rank;
	bool is_rank_guess; /* rank taken from the order of inputs */
	bool is_asked;      /* its rank is selected */
	bool has_frames; /* Python frames were recorded, in the trees or not */
	int64_t rank;
	VEC(struct node) nodes;
	VEC(struct gpu) gpus;
	VEC(struct chain) chains;
	VEC(struct op_args) args;
	struct steps steps;
	struct step_times times;
	VEC(uint64_t) hash; /* of each node's subtree on the GPU path */
	u32s roots;
	int64_t gpu_ns;      /* of all selected GPU work */
	uint64_t times_hash; /* of all start times and durations */
};

typedef VEC(struct side *) side_vec;
void side_free(struct side *r);

struct file;
/* Opens a file, so that its decoder starts. */
struct file *file_open(struct settings *set, struct norms *nm,
    struct clock *clock, int side, const char *path);
/*
 * Reads and closes it. Appends the runs of selected sources; returns the number
 * of all.
 */
uint32_t file_take(struct file *f, side_vec *to);

static inline int64_t
node_end(const struct node *n)
{
	return n->ts + n->dur;
}

/* ---- forest.c: children, hashes, roots ---- */

/* After reading: children, hashes and roots. */
void forest_build(struct side *r, const struct settings *set);

/* End of the GPU events at and below a node, in side.gpus. */
static inline uint32_t
gpu_behind(const struct side *r, const struct node *n)
{
	return n->behind < r->nodes.n ? r->nodes.v[n->behind].first_gpu
				      : (uint32_t)r->gpus.n;
}

/* Children on the GPU path, in order or by time. Replaces list. */
void forest_gpu_kids(const struct side *r, uint32_t at, u32s *list);
void forest_sorted_kids(const struct side *r, uint32_t at, u32s *list);
void forest_sort(const struct side *r, u32s *list);
/* Goes down to the first node that branches or launches; lists children. */
uint32_t forest_collapse(const struct side *r, uint32_t at, u32s *kids);
/* Whether subtrees on the GPU path are equal, not just their hashes. */
bool forest_equal(
    const struct side *a, uint32_t x, const struct side *b, uint32_t y);
/* The nearest op above, or NONE. */
uint32_t forest_op_above(const struct side *r, uint32_t at);
/* GPU events below a node, without itself, by launch. */
void forest_gpu_below(const struct side *r, uint32_t at, u32s *list);

/* ---- merge.c: merges two trees ---- */

enum merged_type {
	MERGED_BOTH,
	MERGED_ONE, /* first side only */
	MERGED_TWO,
};

/* A merged node; nodes are numbered in pre-order. */
struct merged_node {
	uint32_t at[NSIDES];   /* collapsed; or NONE */
	uint32_t orig[NSIDES]; /* before collapsing */
	uint32_t parent;       /* NONE: a root */
	uint32_t behind;
};

/* Words for enum merged_type in tables. */
extern const char *const merged_words[];

struct merged {
	const struct side *side[NSIDES];
	VEC(struct merged_node) list;
	VEC(uint32_t) roots;
};

static inline enum merged_type
merged_type(const struct merged_node *m)
{
	if (m->at[0] == NONE)
		return MERGED_TWO;
	return m->at[1] == NONE ? MERGED_ONE : MERGED_BOTH;
}

void merge_runs(
    struct merged *m, const struct side *const side[NSIDES], struct norms *nm);
void merged_free(struct merged *m);

/* ---- stats.c: GPU work by point of difference ---- */

/* A GPU event below a root. */
struct diff_row {
	uint32_t gpu; /* node of its side */
	uint32_t op;  /* nearest op, or NONE */
	uint32_t lca; /* merged node, or NONE */
	uint8_t side;
	bool is_one_sided; /* only this side has the lca's name */
	int64_t busy_ns;   /* busy time of this lca and side */
};

struct diff {
	const struct settings *set;
	struct dict *dict;
	struct norms *norms;
	const struct side *side[NSIDES];
	struct merged merged;
	VEC(struct diff_row) stats;
};

static inline const struct node *
node_of(const struct diff *d, int side, uint32_t at)
{
	return &d->side[side]->nodes.v[at];
}

void stats_find(struct diff *d);
/* The lca's name in tables. */
void stats_lca_name(
    const struct diff *d, const struct diff_row *s, struct buf *b);

/* ---- print.c ---- */

/* Prints the merged tree; min_ns 0: whole. */
void print_merged(const struct diff *d, const char *path, int64_t min_ns);

/* ---- sides.c: all traces of both sides, pair by pair ---- */

/* Reads, compares and prints; returns main()'s status. */
int sides_compare(struct settings *set);

#endif
