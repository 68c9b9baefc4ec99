/* SPDX-License-Identifier: MIT */
/* tree: nesting on the host, GPU work below its launch, the pre-order */
#ifndef TL_TRACE_TREE_H
#define TL_TRACE_TREE_H

#include "trace/link.h"

struct tree_opts {
	bool no_python; /* frames are not in the tree */
	bool clip;      /* cut an overlapping event at its parent's end */
};

struct tree_stats {
	uint64_t roots;
	uint64_t in_tree;
	uint64_t discarded[KIND_COUNT];
	uint64_t clipped;
	uint64_t regions, recompute; /* recompute frames, events below */
	uint64_t not_inferred;       /* calls too many to infer steps from */
	/* markers of steps with launches: all, and those of other threads than
	 * the one whose steps count */
	uint64_t steps, steps_aside;
};

/*
 * Nests the host events of a store that is linked. Ops and launches first,
 * then frames around them; nest.c has the rules. Counts are added to stats.
 */
void tree_build(
    struct store *s, const struct tree_opts *opts, struct tree_stats *stats);
/* The ops and launches among those discarded. */
uint64_t tree_discarded(const struct tree_stats *stats);

/* How to make a tree of a source, and statistics. */
struct tree_maker {
	enum link_by by;
	bool is_anew; /* even if the stream has links or a tree */
	struct tree_opts opts;
	struct link_stats link;
	struct tree_stats tree;
};
/* Links and nests the source, unless the stream (with these marks) already
 * is. */
void tree_make(struct store *s, unsigned marks, struct tree_maker *m);
/* Warns of what could not be linked or nested. */
void tree_report(const struct tree_maker *m, const char *name);
/*
 * Visits all events in the order of a tree stream, once. depth is that in the
 * tree; in the tail 1 below a launch and 0 else.
 */
typedef void tree_visitor(
    void *arg, uint32_t i, uint32_t depth, enum section section);
void tree_visit(struct store *s, tree_visitor *visit, void *arg);
/* Writes the three sections. */
void tree_write(struct store *s, struct stream_out *out, bool is_ndjson);

/* The kinds in the prologue of a tree, before all other events. */
#define KINDS_PROLOGUE                                     \
	(KIND_BIT(KIND_META) | KIND_BIT(KIND_ANNOTATION) | \
	    KIND_BIT(KIND_GPU_ANNOTATION))

#endif
