/* SPDX-License-Identifier: MIT */
/*
 * What is wrong with a job's collectives: each group's verdict, and the job's.
 */
#ifndef TL_COLLECTIVE_VERDICT_H
#define TL_COLLECTIVE_VERDICT_H

#include "cmd/tl-collective/episode.h"

/* A process group and its verdict. */
struct group_sum {
	struct pgroup *group;
	const struct lateness *worst; /* rank whose lateness costs most */
	struct unstable slow;         /* its episodes */
	enum verdict verdict;
	int64_t ncolls, nincomplete, latency_ns, late_rank;
	int64_t cost_ns; /* of the verdict */
	double wait_ns, pct_wait, pct_late, late_ns, slow_ns;
	/* uncertainties of clocks where lateness is less than twice that */
	struct values unsure;
	struct values latency, skew, bus, of_best;
	struct str ranks, matched_by, word, says;
};

/* A sentence about the job. */
struct finding {
	enum verdict verdict;
	int64_t rank, cost_ns; /* NONE: about no rank; no cost */
	int64_t gain_ns;       /* NONE: about no rank */
	double pct_step;       /* NAN: about no rank */
	struct str word, text;
};

struct findings {
	struct stragglers late;
	/* the job's gain at most by each rank in time; NONE: not judged */
	int64_t *gain_ns;
	episode_vec episodes;         /* by group */
	VEC(struct group_sum) groups; /* costliest first */
	VEC(struct finding) list;     /* costliest first; at least one */
};

/* Fills the groups from late ranks and episodes. */
void groups_judge(struct job *j, struct findings *f);
/* Whether one rank's lateness is a large part of the time in collectives. */
bool group_is_late(const struct group_sum *g);
/* Appends the cause: ": its GPU waits for the host: ...". */
void lateness_say_cause(
    const struct job *j, const struct lateness *l, struct buf *b);

/* ---- finding.c ---- */

/* Made at first use. */
const struct findings *findings_of(struct job *j);

/* About no rank, without a cost. */
struct finding finding_bare(enum verdict verdict);
/* Adds a finding with b as its text, and empties b. */
void finding_add(
    struct job *j, struct findings *f, struct finding it, struct buf *b);
/* Appends ", 8.1 % of 10 steps on rank 0"; returns that share, or NAN. */
double finding_step(
    const struct job *j, size_t rank, int64_t cost_ns, struct buf *b);
/* unstable.c: adds what is slow at times. */
void unstable_find(struct job *j, struct findings *f, struct buf *b);

#endif
