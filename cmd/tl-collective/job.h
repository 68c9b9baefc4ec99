/* SPDX-License-Identifier: MIT */
/*
 * The records of all ranks as one job: process groups, collectives matched over
 * ranks, clocks, and who was late and why.
 */
#ifndef TL_COLLECTIVE_JOB_H
#define TL_COLLECTIVE_JOB_H

#include "cmd/tl-collective/collective.h"

struct pgroup {
	struct str pg;    /* as printed; empty text: simplified */
	struct str ranks; /* as recorded */
	struct str desc, peers;
	/* for ids: the name, with {RANK} where groups share it */
	struct str label;
	int_vec members; /* sorted; empty: unknown */
	int_vec listed;  /* in the group's order */
	size_t npresent; /* members that are given */
	size_t first_coll, ncolls;
	bool by_seq, by_instruction, was_aligned;
	uint8_t clocks; /* enum agreement */
	struct group_link link;
	/* shares of the link, in %, of the collectives judged by it */
	struct values of_link;
	const struct link_limit *limit;
};

/* Whether starts of a group's ranks can be compared, for now. */
enum agreement {
	CLOCKS_AGREE, /* within u_ns, or aligned */
	CLOCKS_OFF,
	CLOCKS_UNKNOWN, /* no collective shows one of them */
	CLOCKS_BROKEN,  /* on solved clocks ends precede starts */
};

enum {
	COLL_MISMATCH = 1 << 0, /* ranks disagree */
	COLL_INCOMPLETE = 1 << 1,
};

struct coll {
	uint32_t group, index;
	uint32_t first, n; /* range of job.members, by rank */
	uint32_t sig;      /* of its first rank */
	uint8_t class, flags;
	uint32_t earliest, last; /* positions of ranks */
	int64_t end_ns;          /* of the last to end */
	int64_t latency_ns, skew_end_ns, wait_sum_ns;
	int64_t late_ns; /* waiting of the median of the others for the last */
};

struct rank_info {
	int64_t rank, process;
	/*
	 * Clock at the middle of the job, against most clocks of its island, a
	 * set that collectives join; drift in ns per ns; u_ns: standard
	 * uncertainty of the offset. NONE: nothing tells the clock.
	 */
	int64_t offset_ns, u_ns;
	double drift, u_drift;
	int64_t middle_ns, span_ns; /* of the island's ends */
	int64_t residual_ns;        /* by which its groups disagree */
	/* distance to its host's other clocks, or 0 */
	int64_t from_host_ns;
	uint64_t nclock; /* collectives that tell it */
	int64_t island;  /* from 0; or NONE */
	bool is_off;     /* beyond its uncertainty and 50 us */
	uint32_t alike;  /* position of the first rank whose clock agrees */
	struct str host;
	uint32_t part;  /* its first part */
	uint32_t clock; /* position of the first rank with this clock */
};

/* A name of what windows were spent on; see struct spent. */
struct spent_name {
	struct str name, detail;
	enum spent_on on;
	bool is_in_time; /* idle although the host had launched in time */
};

struct versus_rows;

struct job {
	const struct settings *set;
	struct job *vs;             /* the later job, or NULL */
	struct versus_rows *versus; /* differences, found at first use */
	struct arena *mem;
	part_vec parts; /* by rank, then time */
	VEC(struct rank_info) ranks;
	struct intern *sig_texts, *keys, *names;
	VEC(struct sig) sigs;
	VEC(struct spent_name) spent_on; /* parsed names, by cause.c */
	struct findings *found;          /* by finding.c at first use */
	VEC(struct pgroup) groups;
	VEC(struct coll) colls;
	VEC(uint32_t) order; /* collectives by first appearance */
	struct rec **members;
	size_t nrecs;
	size_t nincomplete, nmismatch; /* number of collectives */
	bool simplified;
	bool has_nodes, has_gpus, has_hlo;
	int64_t gpus_per_node;
	int64_t world;
	struct flight *flight; /* dumps of the flight recorder, or NULL */
};

static inline const struct sig *
rec_sig(const struct job *j, const struct rec *r)
{
	return &j->sigs.v[r->sig];
}
static inline uint32_t
rec_pos(const struct job *j, const struct rec *r)
{
	return j->parts.v[r->part].pos;
}
static inline int64_t
rec_rank(const struct job *j, const struct rec *r)
{
	return j->parts.v[r->part].rank;
}

/* NONE: unknown. */
static inline int64_t
rec_exposed(const struct job *j, const struct rec *r)
{
	const struct part *p = &j->parts.v[r->part];

	return p->exposed != NULL ? p->exposed[r - p->recs] : NONE;
}

static inline const struct rec *
coll_earliest(const struct job *j, const struct coll *c)
{
	return j->members[c->first + c->earliest];
}
static inline const struct rec *
coll_last(const struct job *j, const struct coll *c)
{
	return j->members[c->first + c->last];
}
static inline int64_t
coll_start_skew(const struct job *j, const struct coll *c)
{
	return coll_last(j, c)->start_ns - coll_earliest(j, c)->start_ns;
}

/* job.c: builds the job and takes over the parts. */
void job_build(struct job *j, const struct settings *set, part_vec *parts);
/* Warns of missing ranks. */
void job_tell_missing(const struct job *j);
/* group.c */
void groups_build(struct job *j);
/* match.c */
void match_all(struct job *j);
/* Rank and collective of a record of a group. */
struct match_place {
	uint32_t pos;
	int64_t index; /* within the group */
};
typedef VEC(struct match_place) place_vec;
void match_get(const struct job *j, size_t group, place_vec *out);
/* Replaces a group's matches: makes its collectives again, without checks. */
void match_set(struct job *j, size_t group, const place_vec *places);
/* align.c: for each element of seq its match in base, or -1. */
struct align_item {
	uint32_t sig;
	int64_t end_ns;
};
void align_sequences(const struct align_item *base, size_t nbase,
    const struct align_item *seq, size_t nseq, int64_t *of);
/* clock.c: estimates clocks and corrects them if asked. */
void clocks_align(struct job *j);
/* Warns of groups on clocks that nothing compares. */
void clocks_tell_untold(const struct job *j);
/* Standard error of a collective's lateness; NONE: unknown. */
int64_t coll_u_ns(const struct job *j, const struct coll *c);
/* sync.c: computes measures. */
void sync_measure(struct job *j);
/* The part that clocks need: who is there, and whether they agree. */
void sync_check(struct job *j);
/*
 * How long a rank waits for the last one. If ranks do not leave together, at
 * most as long as it is in it: the root of a broadcast goes on at once.
 */
int64_t coll_wait(
    const struct job *j, const struct coll *c, const struct rec *r);
/* Complete and without disagreement, so it counts in summaries. */
bool coll_counts(const struct job *j, const struct coll *c);
/* Has a row in nccl_implicit_sync: by class, or in simplified mode if its class
 * is unknown. */
bool coll_is_sync(const struct job *j, const struct coll *c);
bool coll_is_all2allv(const struct job *j, const struct coll *c);
/* It comes from XLA. */
bool coll_is_hlo(const struct job *j, const struct coll *c);
/* NAN: unknown. */
double gib_per_s(int64_t bytes, int64_t ns);
double coll_algo_bw(const struct job *j, const struct coll *c);
double coll_bus_bw(const struct job *j, const struct coll *c);

/* ---- cause.c ---- */

enum verdict {
	VERDICT_NONE,
	VERDICT_THROTTLED,
	VERDICT_IMBALANCE,
	VERDICT_HOST,
	VERDICT_ELSEWHERE,
	VERDICT_NETWORK,
	VERDICT_UNSTABLE,
	VERDICT_UNJUDGED, /* clocks are off or too uncertain */
	VERDICT_COUNT
};
extern const char *const verdict_words[VERDICT_COUNT];

/* What in a window has no name. */
#define NAME_WORK (UINT32_MAX - 2) /* unnamed work */
#define NAME_IDLE (UINT32_MAX - 1)
#define NAME_ELSEWHERE UINT32_MAX

/* Time that a late rank, and the others, spent on one thing. */
struct share {
	uint32_t name; /* index in job.spent_on, or NAME_ */
	double late_ns, usual_ns;
};

/* What a late rank had more of: idle time, or work. */
struct excess {
	double more_ns;
	const struct share *top; /* largest with a name, or NULL */
	size_t n;                /* number of names that it had more of */
	bool is_named;           /* the largest is the cause */
	double ratio;            /* one ratio for all; NAN: none */
};

/* A rank in a group. */
struct lateness {
	uint32_t group, pos;
	/* collectives that count; those it was last in */
	uint64_t ncolls, nlast;
	uint64_t nlate;        /* of these, late enough to matter */
	int64_t nknown, nsame; /* of these: window known; same work */
	int64_t caused_ns;     /* waiting of others where it was last */
	int64_t behind_ns;     /* time after the next to last, there */
	int64_t late_ns;       /* sum over nlate */
	/* its share of all lateness over the median start; the exposed part;
	 * its uncertainty */
	int64_t share_ns, cost_ns, u_ns;
	/* more than the others, over nknown; NAN: no window known */
	double busy_ns, idle_ns, elsewhere_ns;
	VEC(struct share) shares; /* parts of these, largest first */
	struct excess work, idle;
	struct values lates; /* each lateness, in ns */
	double pct_late;
	bool is_judged; /* its group is judged */
	enum verdict verdict;
	struct str word; /* word of the verdict */
};

struct stragglers {
	VEC(struct lateness) list; /* by group, then rank */
	int64_t *wait_ns;          /* of each rank, for late ranks */
};

void stragglers_find(struct job *j, struct stragglers *s);
/* Late enough to matter, if its clocks are right. */
bool coll_seems_late(const struct coll *c);
/* Idle time; else work or other collectives. */
bool share_is_idle(const struct job *j, const struct share *s);

#endif
