/* SPDX-License-Identifier: MIT */
/*
 * What changed: GPU time by row, before and after, over all pairs of runs, as
 * means of a unit; which differences are no more than chance; and remarks
 * about the pairs. A row is an op with its arguments, or a kernel in one kind
 * of sequence.
 */
#ifndef TL_DIFF_CHANGES_H
#define TL_DIFF_CHANGES_H

#include "cmd/tl-diff/ranks.h"
#include "cmd/tl-diff/samples.h"
#include "cmd/tl-diff/standout.h"
#include "cmd/tl-diff/terms.h"
#include "cmd/tl-diff/unlike.h"

/* Of a row of ops: by what its work was launched. */
enum launched_by {
	LAUNCHED_BY_OP,
	LAUNCHED_BY_CALL, /* a launch outside of ops */
	LAUNCHED_BY_NONE, /* GPU work without a launch */
	NLAUNCHED_BY,
};

/* What a row is about: on each side, the same where it has one name. */
struct change_key {
	uint32_t kind;      /* a text: the launcher, or of which sequences */
	uint32_t n[NSIDES]; /* normalised names; INTERN_NONE: of no launch */
	uint32_t family;
	struct op_args args[NSIDES];
};

/* The first event of a row, if possible an unmatched one. */
struct example {
	bool is_set, is_alone;
	struct uid uid;
};

struct change {
	struct change_key key;
	uint32_t name[NSIDES];
	uint64_t calls[NSIDES]; /* of ops */
	struct example example[NSIDES];
	uint64_t kernels[NSIDES];
	int64_t ns[NSIDES];
	/* of these, what the other side does not do */
	uint64_t alone[NSIDES];
	int64_t alone_ns[NSIDES];
	uint32_t last[NSIDES]; /* what was added to last: in times, + 1 */
	/* worked out at the end, for one unit */
	int64_t unit_ns[NSIDES];
	int64_t diff_ns;
	int64_t fixed_ns;   /* in it: by work that only one side does */
	int64_t unknown_ns; /* in it: how that varies is not known */
	int64_t first_ns;   /* in it: by first steps, which are judged apart */
	int64_t judged_ns;  /* in it: beyond noise, and what is fixed */
	struct noise noise; /* of what is neither fixed, unknown nor first */
	struct noise first; /* of first_ns, if that is known */
	bool is_known;      /* how the rest varies */
	bool is_named;      /* beyond noise by itself */
	bool is_first_named;
	bool has_verdict; /* is_noise and what it varies by: of all of it */
	bool is_noise;
};

/* GPU events that remarks are about, over all runs. */
struct tally {
	uint64_t n[NSIDES];
	int64_t ns[NSIDES];
};

enum tally_of {
	TALLY_ONLY,     /* the other side has no work there, or no sequence */
	TALLY_UNPAIRED, /* it has, but none that is the same */
	TALLY_RENAMED,  /* pairs whose names differ */
	TALLY_OUTSIDE,  /* launched outside of ops */
	TALLY_UNLINKED, /* without a launch */
	TALLY_STREAM,   /* pairs on another GPU stream */
	NTALLIES,
};

/* A GPU stream or name of one side and one of the other, and how often. */
struct match_count {
	uint32_t of[NSIDES]; /* INTERN_NONE: without a name */
	struct tally events;
};

struct match_counts {
	VEC(struct match_count) list;
	struct map number;
};

struct changes {
	struct settings *set;
	struct dict *dict;
	uint32_t launched_by[NLAUNCHED_BY]; /* texts */
	VEC(struct change) rows;
	struct intern *row_of; /* key to row */
	VEC(struct sample) samples;
	struct intern *sample_of;
	VEC(struct stratum) strata;
	struct map stratum_of;
	VEC(struct row_time) times;
	VEC(struct row_time) first_times; /* of first steps */
	struct map time_of;               /* row and sample to time */
	struct unit_times unit[NSIDES];
	bool by_run;      /* samples are runs */
	bool has_fine;    /* times that are no whole us */
	double allowance; /* for what runs differ by, noise_allowance() */
	struct clock_changes clock;
	struct rank_changes ranks;
	struct warmup warmup;
	struct standout standout;
	struct unlike unlike;
	/* the verdict */
	struct family family[NFAMILIES];
	int64_t diff_ns, gross_ns;
	int64_t judged_ns, unknown_ns; /* of all families */
	struct noise noise;
	size_t nsamples[NSIDES];
	bool is_known; /* how something varies */
	/* remarks */
	struct tally tallies[NTALLIES];
	struct match_counts streams;         /* of the pair of runs at hand */
	struct match_counts calls, launches; /* under other names */
	bool differs;      /* GPU work or calls of some pair */
	bool host_differs; /* times of calls of some pair */
	/* some run has them: frames; ops with GPU work; arguments of such */
	bool has_frames[NSIDES], has_ops[NSIDES], has_args[NSIDES];
	uint64_t nsequences[NSIDES], npaired;
};

void changes_create(struct changes *c, struct settings *set, struct dict *st);
void changes_free(struct changes *c);
/* After the work of a run; before it, unit[side].nruns counts the run. */
void changes_end_run(struct changes *c, int side, const struct side *r);
/* The row of a key, made when missing. */
uint32_t changes_row(struct changes *c, const struct change_key *key,
    const uint32_t name[NSIDES]);
/*
 * The work of a GPU event, in a row; sample no of its side and run. is_alone:
 * the other side does not do it.
 */
void changes_add(struct changes *c, uint32_t row, int side, int64_t no,
    int64_t ns, bool is_alone);
void changes_tell(struct changes *c, enum tally_of what, int side, int64_t ns);
/* After the last run. The largest difference first, noise later. */
void changes_finish(struct changes *c);
/* Steps of so few samples need larger differences than others. */
struct noise_rules changes_rules(
    const struct changes *c, const struct noise_row *r, double all_ns);

/* Beyond noise, and what is not known to be within. */
static inline int64_t
changes_verdict_ns(const struct changes *c)
{
	return c->judged_ns + c->unknown_ns;
}

/* Differences may make up for one another. */
static inline bool
changes_differ(const struct changes *c)
{
	return c->family[FAMILY_COMPUTE].ndiffer +
	    c->family[FAMILY_COMM].ndiffer >
	    0;
}

/* Whether an event counts: with --per step, only what steps have. */
static inline bool
changes_want(const struct changes *c, const struct gpu *g)
{
	return c->set->per != PER_STEP || g->step != WALK_NO_STEP;
}

/* ---- what rows are made of ---- */

/* A row of work without a launch, which is no op. */
static inline bool
is_unlinked(const struct changes *c, const struct change *r)
{
	return c->set->by == BY_OP &&
	    r->key.kind == c->launched_by[LAUNCHED_BY_NONE];
}

/* Or of launches outside of ops. */
static inline bool
is_no_op(const struct changes *c, const struct change *r)
{
	return c->set->by == BY_OP &&
	    r->key.kind != c->launched_by[LAUNCHED_BY_OP];
}

static inline bool
is_on_both(const struct change *r)
{
	return r->kernels[0] > 0 && r->kernels[1] > 0;
}

static inline uint32_t
family_of(const struct node *work)
{
	return (work->flags & NODE_COMM) != 0 ? FAMILY_COMM : FAMILY_COMPUTE;
}

/* by-op.c: a pair of runs; fresh: of which sides it is the first time. */
void ops_add(struct changes *c, const struct diff *d, const bool fresh[NSIDES]);
/* by-kernel.c */
void kernels_add(struct changes *c, const struct side *const side[NSIDES],
    const bool fresh[NSIDES]);

/* ---- remarks.c ---- */

/*
 * Streams have other numbers in another run: those that most pairs of GPU
 * events of a pair of runs say belong together are one. What runs on another
 * is remarked.
 */
void streams_pair(struct changes *c, const struct side *const side[NSIDES],
    const uint32_t node[NSIDES]);
void streams_finish(struct changes *c);
/* What the merged tree of a pair of runs tells besides its GPU work. */
void tell_tree(struct changes *c, const struct diff *d);
void matches_free(struct match_counts *m);

/* ---- gate.c ---- */

/*
 * What a threshold is in ns where the GPU time before was base_ns, rounded
 * down; at most INT64_MAX.
 */
int64_t threshold_ns(const struct threshold *t, int64_t base_ns);
/* Before anything is printed: whether there is what --fail-over asks for. */
void gate_check(const struct settings *set, const struct changes *c);
/* --fail-over: what became slower, and the program's exit status. */
int gate_status(const struct settings *set, const struct changes *c);

/* ---- matched.c ---- */

/* --match: the steps of either side that did the same work as the other's. */
void matched_find(struct settings *set, struct dict *st);

/* ---- tables.c ---- */

/* What --table and --by ask for is checked, before anything is read. */
void tables_check(struct settings *set);
/* Whether one that is asked for has times of steps. */
bool tables_want_steps(const struct settings *set);
struct tables *tables_create(struct settings *set);
/* Rows of events, of each run of before once; several: it may have more. */
void tables_add(struct tables *t, const struct diff *d, bool several);
/* After the last; it is gone then. */
void tables_finish(struct tables *t, const struct changes *c);

#endif
