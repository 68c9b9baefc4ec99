/* SPDX-License-Identifier: MIT */
/*
 * The records of all ranks as one job: process groups, collectives matched
 * over their ranks, clocks, and who was late for which reason.
 */
#ifndef TL_COLLECTIVE_JOB_H
#define TL_COLLECTIVE_JOB_H

#include "cmd/tl-collective/collective.h"

struct pgroup {
	struct str pg;    /* printed; empty text: simplified */
	struct str ranks; /* as the trace has them */
	struct str desc, peers;
	struct str label; /* of ids: the name, with {RANK} where two share it */
	int_vec members;  /* sorted; none: not known */
	int_vec listed;   /* in the order of the group's own ranks */
	size_t npresent;  /* of these, that were given */
	size_t first_coll, ncolls;
	bool by_seq, by_instruction, was_aligned;
	uint8_t clocks; /* enum agreement */
	struct group_link link;
	/* in %, of those collectives that are judged by it, and by what */
	struct values of_link;
	const struct link_limit *limit;
};

/* Whether starts of a group's ranks can be compared, as they stand now. */
enum agreement {
	CLOCKS_AGREE, /* within what u_ns says, or aligned */
	CLOCKS_OFF,
	CLOCKS_UNKNOWN, /* no collective shows one of them */
	CLOCKS_BROKEN,  /* by the solution ends come before starts */
};

enum {
	COLL_MISMATCH = 1 << 0, /* its ranks disagree about it */
	COLL_INCOMPLETE = 1 << 1,
};

struct coll {
	uint32_t group, index;
	uint32_t first, n; /* in job.members, by rank */
	uint32_t sig;      /* of its first rank */
	uint8_t class, flags;
	uint32_t earliest, last; /* positions of ranks */
	int64_t end_ns;          /* the last one */
	int64_t latency_ns, skew_end_ns, wait_sum_ns;
	int64_t
	    late_ns; /* what the median of the others waits for the last one */
};

struct rank_info {
	int64_t rank, process;
	/*
	 * Of its clock, against most clocks of its island, in which the same
	 * collectives tell all: at the middle, and by how much it runs fast
	 * (ns a ns); u_ns is the offset's standard uncertainty. NONE: nothing
	 * shows the clock.
	 */
	int64_t offset_ns, u_ns;
	double drift, u_drift;
	int64_t middle_ns, span_ns; /* of the island's ends */
	int64_t residual_ns;        /* that its groups disagree by */
	int64_t from_host_ns;       /* from its host's others, or 0 */
	uint64_t nclock;            /* collectives that tell it */
	int64_t island;             /* from 0; or NONE */
	bool is_off;                /* by more than its uncertainty and 50 us */
	uint32_t alike; /* position of the first rank whose clock agrees */
	struct str host;
	uint32_t part;  /* its first */
	uint32_t clock; /* position of the first rank that has it */
};

/* What a window was spent on: see struct spent. */
struct spent_name {
	struct str name, detail;
	enum spent_on on;
	bool is_in_time; /* idle, though the host had launched the work */
};

struct versus_rows;

struct job {
	const struct settings *set;
	struct job *vs;             /* the later job, or NULL, and ... */
	struct versus_rows *versus; /* ... what differs, when first asked */
	struct arena *mem;
	part_vec parts; /* of ranks ascending, then by time */
	VEC(struct rank_info) ranks;
	struct intern *sig_texts, *keys, *names;
	VEC(struct sig) sigs;
	VEC(struct spent_name) spent_on; /* of names, by cause.c */
	struct findings *found;          /* by finding.c, when first asked */
	VEC(struct pgroup) groups;
	VEC(struct coll) colls;
	VEC(uint32_t) order; /* collectives in the order of first appearance */
	struct rec **members;
	size_t nrecs;
	size_t nincomplete, nmismatch; /* collectives */
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

/* NONE: not known. */
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

/* job.c: takes the parts over. */
void job_build(struct job *j, const struct settings *set, part_vec *parts);
/* A missing rank is a warning. */
void job_tell_missing(const struct job *j);
/* group.c */
void groups_build(struct job *j);
/* match.c */
void match_all(struct job *j);
/* Of each record of a group which rank it is of, and of which collective. */
struct match_place {
	uint32_t pos;
	int64_t index; /* in the group */
};
typedef VEC(struct match_place) place_vec;
void match_get(const struct job *j, size_t group, place_vec *out);
/* The same records of others: collectives are made anew, and not checked. */
void match_set(struct job *j, size_t group, const place_vec *places);
/*
 * align.c: of two sequences of signatures and their ends, which element of
 * base each of seq is, or -1: none.
 */
struct align_item {
	uint32_t sig;
	int64_t end_ns;
};
void align_sequences(const struct align_item *base, size_t nbase,
    const struct align_item *seq, size_t nseq, int64_t *of);
/* clock.c: estimates and, where asked for, takes the offsets out. */
void clocks_align(struct job *j);
/* Warns of groups whose starts are on clocks that nothing compares. */
void clocks_tell_untold(const struct job *j);
/* The standard error of a collective's lateness by starts; NONE: not known. */
int64_t coll_u_ns(const struct job *j, const struct coll *c);
/* sync.c */
void sync_measure(struct job *j);
/* What of it tells clocks: who is there, and whether they are of one mind. */
void sync_check(struct job *j);
/*
 * What a rank waits for the last one. Of a type whose ranks do not leave
 * together no longer than it is in it: the root of a broadcast goes on at once.
 */
int64_t coll_wait(
    const struct job *j, const struct coll *c, const struct rec *r);
/* Not missing ranks and of one mind, so it counts in summaries. */
bool coll_counts(const struct job *j, const struct coll *c);
/* Implicit-sync row: class, or in simplified mode not known to be another. */
bool coll_is_sync(const struct job *j, const struct coll *c);
bool coll_is_all2allv(const struct job *j, const struct coll *c);
/* XLA says what it does. */
bool coll_is_hlo(const struct job *j, const struct coll *c);
/* NAN where unknown. */
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
	VERDICT_UNJUDGED, /* clocks are off, or known too roughly */
	VERDICT_COUNT
};
extern const char *const verdict_words[VERDICT_COUNT];

/* What has no name among what a window was spent on. */
#define NAME_WORK (UINT32_MAX - 2) /* the rest of it */
#define NAME_IDLE (UINT32_MAX - 1)
#define NAME_ELSEWHERE UINT32_MAX

/* What a late rank spent on one thing, and what the others did. */
struct share {
	uint32_t name; /* in job.spent_on, or NAME_ */
	double late_ns, usual_ns;
};

/* What it had more of idle time, or of work. */
struct excess {
	double more_ns;
	const struct share *top; /* the largest with a name, or NULL */
	size_t n;                /* names that it had more of */
	bool is_named;           /* the largest is enough to be the cause */
	double ratio;            /* of all of them alike; NAN: they aren't */
};

/* A rank in a group. */
struct lateness {
	uint32_t group, pos;
	uint64_t ncolls, nlast; /* that count, that it was last in */
	uint64_t nlate;         /* last, and by what matters */
	int64_t nknown, nsame;  /* of these: window known; same work */
	int64_t caused_ns;      /* what others waited where it was last */
	int64_t behind_ns;      /* its start after the next; likewise */
	int64_t late_ns;        /* sum, of nlate */
	/* its share of all lateness over the median start; of this what is
	 * exposed; and how uncertain that is */
	int64_t share_ns, cost_ns, u_ns;
	/* more than the others, over nknown; NAN: no window is known */
	double busy_ns, idle_ns, elsewhere_ns;
	VEC(struct share) shares; /* they add up to these; largest first */
	struct excess work, idle;
	struct values lates; /* each, in ns */
	double pct_late;
	bool is_judged; /* its group is */
	enum verdict verdict;
	struct str word; /* the verdict's */
};

struct stragglers {
	VEC(struct lateness) list; /* by group, then rank */
	int64_t *wait_ns;          /* of each rank, where one was late */
};

void stragglers_find(struct job *j, struct stragglers *s);
/* By what matters, if its clocks are right. */
bool coll_seems_late(const struct coll *c);
/* Idle time; else work, or in other collectives. */
bool share_is_idle(const struct job *j, const struct share *s);

#endif
