/* SPDX-License-Identifier: MIT */
/* What is wrong with a job's collectives: each group, and all of it. */
#ifndef TL_COLLECTIVE_VERDICT_H
#define TL_COLLECTIVE_VERDICT_H

#include "cmd/tl-collective/episode.h"

/* A process group, judged by what costs most in it. */
struct group_sum {
	struct pgroup *group;
	const struct lateness *worst; /* the rank whose lateness costs most */
	struct unstable slow;         /* its episodes */
	enum verdict verdict;
	int64_t ncolls, nincomplete, latency_ns, late_rank;
	int64_t cost_ns; /* of what the verdict is about */
	double wait_ns, pct_wait, pct_late, late_ns, slow_ns;
	/* what clocks are uncertain by where lateness is less than twice that
	 */
	struct values unsure;
	struct values latency, skew, bus, of_best;
	struct str ranks, matched_by, word, says;
};

/* A sentence about the job. */
struct finding {
	enum verdict verdict;
	int64_t rank, cost_ns; /* NONE: it is not about one; no cost */
	int64_t gain_ns;       /* NONE: it is not about a rank */
	double pct_step;       /* NAN: likewise */
	struct str word, text;
};

struct findings {
	struct stragglers late;
	/* of the job at most, by each rank on time; NONE: not judged */
	int64_t *gain_ns;
	episode_vec episodes;         /* by group */
	VEC(struct group_sum) groups; /* the costliest first */
	VEC(struct finding) list;     /* likewise; one at least */
};

/* Fills the groups, for which it needs late ranks and episodes. */
void groups_judge(struct job *j, struct findings *f);
/* Whether one rank's lateness is a good part of the time in collectives. */
bool group_is_late(const struct group_sum *g);
/* Appends why: ": its GPU waits for the host: ...". */
void lateness_say_cause(
    const struct job *j, const struct lateness *l, struct buf *b);

/* ---- finding.c ---- */

/* Made when first asked for. */
const struct findings *findings_of(struct job *j);

/* About no rank, and without a cost. */
struct finding finding_bare(enum verdict verdict);
/* What b holds becomes its text, and b is empty. */
void finding_add(
    struct job *j, struct findings *f, struct finding it, struct buf *b);
/* Appends ", 8.1 % of 10 steps on rank 0"; which share that is, or NAN. */
double finding_step(
    const struct job *j, size_t rank, int64_t cost_ns, struct buf *b);
/* unstable.c: adds what is slow at times. */
void unstable_find(struct job *j, struct findings *f, struct buf *b);

#endif
