/* SPDX-License-Identifier: MIT */
/*
 * GPU time by op and arguments, before and after, over all pairs of runs.
 *
 * GPU work below a point where the trees part belongs to the op of that point,
 * so what one side does with other ops than the other is compared with it.
 */
#ifndef TL_DIFF_OPS_H
#define TL_DIFF_OPS_H

#include "cmd/tl-diff/figures.h"
#include "cmd/tl-diff/order.h"
#include "cmd/tl-diff/remarks.h"
#include "cmd/tl-diff/tables.h"

enum owned_by {
	LAUNCHER_OP,
	LAUNCHER_LAUNCH, /* a launch outside of ops */
	LAUNCHER_NONE,   /* GPU work without a launch */
};

/* What a row is about: on each side, the same where it has one name. */
struct op_key {
	uint32_t n[NSIDES]; /* normalised name */
	struct op_args args[NSIDES];
	uint32_t owner;
};

struct op_row {
	struct op_key key;
	uint32_t name[NSIDES];
	uint64_t calls[NSIDES];
	struct figure figure; /* at the end */
};

/* Which GPU events are told of. */
enum tally_of {
	TALLY_ONLY,     /* the other side has no work there */
	TALLY_UNPAIRED, /* it has, but none that is the same */
	TALLY_RENAMED,  /* pairs whose names differ */
	TALLY_OUTSIDE,  /* launched outside of ops */
	TALLY_UNLINKED, /* without a launch */
	NTALLIES,
};

struct ops {
	const struct settings *set;
	struct dict *dict;
	VEC(struct op_row) rows;
	struct map row_of;
	struct figures figures; /* of rows */
	struct tally tallies[NTALLIES];
	struct stream_pairs streams;
	struct remarks calls, launches, order, wrappers[NSIDES];
	struct moves moves; /* for the merged tree */
	bool differs;       /* GPU work or calls of some pair */
	bool host_differs;  /* times of calls of some pair */
	/* some run has them: frames; ops with GPU work; arguments of such */
	bool has_frames[NSIDES], has_ops[NSIDES], has_args[NSIDES];
};

/* The rows of a pair of runs; fresh: of which sides it is the first time. */
void ops_add(struct ops *o, const struct diff *d, const bool fresh[NSIDES]);
/* After the last pair. */
void ops_finish(struct ops *o);
/* That the sides are the same, as far as it goes; NULL: they are not. */
const char *ops_sameness(const struct ops *o);
void ops_free(struct ops *o);

extern const struct column ops_columns[];
extern const size_t ops_ncolumns;
/* What changed, as notes of a table; the rows are sorted. */
void ops_notes(const struct ops *o, struct table *t);
/* The largest differences first. */
void ops_sort(struct ops *o);
void ops_print(struct ops *o, struct table_dest *dest);

#endif
