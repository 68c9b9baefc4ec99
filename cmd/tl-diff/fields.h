/* SPDX-License-Identifier: MIT */
/* Cells of events and of groups of them: between fields.c and rows.c. */
#ifndef TL_DIFF_FIELDS_H
#define TL_DIFF_FIELDS_H

#include "cmd/tl-diff/events.h"

enum field {
	F_END,
	F_RANK,
	F_SRC,
	F_KERNEL,
	F_OP,
	F_OP_UID,
	F_SOURCE,
	F_DIMS,
	F_STRIDES,
	F_TYPES,
	F_CONCRETE,
	F_NS,
	F_BUSY,
	F_LCA_NAME,
	F_LCA_ID,
	F_GPU_UID,
	F_MODULES,
	F_MODULE,
	F_CHILDREN_BEFORE,
	F_CHILDREN_AFTER,
	F_ROOT,
	F_CALLSTACK,
	/* of several events */
	F_COUNT,
	F_NS_MEAN,
	F_NS_SUM,
	F_COMMON,
	F_OPS,
	F_BEFORE,
	F_AFTER,
	F_COUNT_BEFORE,
	F_COUNT_AFTER,
	F_NAMES_BEFORE,
	F_NAMES_AFTER,
	F_RATIO,
	F_DIFF,
	F_PCT_BEFORE,
	F_PCT_SO_FAR,
	F_PCT_AFTER,
	/* of nodes */
	F_UID1,
	F_UID2,
	F_TYPE,
	NFIELDS,
};

extern const struct column field_columns[NFIELDS];

/* Sums of a group; of points times are of what runs at once. */
enum {
	SUM_NS,
	SUM_COUNT = 0, /* of points, by side */
	SUM_BUSY = NSIDES,
};

/* What makes cells. */
struct maker {
	struct table *t;
	const struct diff *d;
	const struct sink_groups *gs;
	const struct sink_group *group; /* at hand; NULL: a single event */
	int64_t total_ns[NSIDES], so_far_ns;
	struct map common; /* of ops: opmap_names() */
	uint32_t root;     /* of the event before */
	struct buf text;
	u32s nodes;
};

static inline const struct node *
node_of(const struct diff *d, const struct diff_row *s, uint32_t at)
{
	return &d->side[s->side]->nodes.v[at];
}

/* What an event has, or the one that speaks for a group. */
struct cell field_cell(struct maker *m, enum field f, const struct diff_row *s);

#endif
