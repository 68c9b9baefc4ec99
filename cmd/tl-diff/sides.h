/* SPDX-License-Identifier: MIT */
/* All traces of both sides, pair by pair. */
#ifndef TL_DIFF_SIDES_H
#define TL_DIFF_SIDES_H

#include "cmd/tl-diff/changes.h"

/* Reads, compares and prints; what main() returns. */
int sides_compare(struct settings *set);

/* ---- side.c ---- */

/* Its files, and what was read of them and not yet compared. */
struct side {
	struct settings *set;
	struct norms *norms;
	path_vec paths;
	size_t next_path;
	struct file *opened; /* its decoder runs already */
	uint32_t nsources;   /* of the files that were read */
	run_vec waiting;
	struct run *run;  /* at hand */
	struct run *kept; /* to the end: set by who needs it */
	uint64_t nruns, ngpus;
};

void side_open(
    struct side *s, struct settings *set, struct norms *nm, int which);
void side_close(struct side *s);
/*
 * The next run, or the next one of a rank, is at hand; false when there is
 * none, and then the last one stays so.
 */
bool side_next(struct side *s);
bool side_next_rank(struct side *s, int64_t rank);
/* Once it has a run: whether there may be more of them. */
bool side_has_several(const struct side *s);

#endif
