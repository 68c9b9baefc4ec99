/* SPDX-License-Identifier: MIT */
/*
 * match: iterations of two traces that did the same work, so that they can be
 * compared.
 *
 * A run is a series of iterations of one phase in a process. Long runs are cut
 * into blocks. The distance of two blocks of a phase is that of their loads,
 * iteration by iteration. Distances are sums of integers, compared exactly.
 *
 *	match_blocks_find(&side[s].blocks, side[s].v, side[s].n, 16);	both
 *	match_find(&list, side, PHASE_DECODE, &rules, &tally);
 *
 * Memory: 20 bytes a block and 32 a candidate.
 */
#ifndef TL_TRACE_MATCH_H
#define TL_TRACE_MATCH_H

#include "base/base.h"
#include "trace/phase.h"

#define MATCH_SIDES 2
#define MATCH_LOADS 4
#define MATCH_STEPS 16 /* the reference's default */

struct match_block {
	uint32_t first, n; /* iterations */
	uint32_t run_n;    /* of the run that it was cut from */
	uint32_t process;  /* index in match_side */
	uint8_t phase;
	bool has_sqsk, has_load; /* in all of its names */
};

struct match_side {
	const struct iteration *v;
	const uint32_t *process; /* of each; NULL: one process */
	size_t n;
	VEC(struct match_block) blocks;
};

struct match_rules {
	size_t top;     /* pairs per phase, from 1 on */
	bool is_approx; /* ignores sk, so no name needs it */
};

struct match {
	uint32_t block[MATCH_SIDES];
	uint32_t n;     /* iterations of either */
	uint32_t run_n; /* of the shorter run of both */
	/* by load: the sum of differences; UINT64_MAX: so many or more */
	uint64_t sums[MATCH_LOADS];
};
typedef VEC(struct match) match_list;

/* Why nothing matched: blocks of the first side, and how many have
 * candidates. */
struct match_tally {
	size_t blocks, with_candidate;
};

/* num_steps 0: whole runs. */
void match_blocks_find(struct match_side *s, size_t num_steps);
/*
 * Appends the nearest pairs of a phase of MATCH_SIDES sides. Of equals those of
 * the longest runs come first, then the longest, then the earliest.
 */
void match_find(match_list *to, const struct match_side *sides,
    enum phase phase, const struct match_rules *rules,
    struct match_tally *tally);
/* How many loads the distance of a phase has. */
size_t match_nloads(enum phase phase, bool is_approx);

#endif
