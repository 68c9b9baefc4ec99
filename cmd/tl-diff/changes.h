/* SPDX-License-Identifier: MIT */
/*
 * What changed: GPU time by row over all pairs of runs, as means of a unit;
 * which differences are noise; remarks about the pairs. A row is an op with its
 * arguments, or a kernel in a kind of sequence.
 */
#ifndef TL_DIFF_CHANGES_H
#define TL_DIFF_CHANGES_H

#include "cmd/tl-diff/ranks.h"
#include "cmd/tl-diff/samples.h"
#include "cmd/tl-diff/standout.h"
#include "cmd/tl-diff/terms.h"
#include "cmd/tl-diff/unlike.h"

/* What launched the work of a row of ops. */
enum launched_by {
	LAUNCHED_BY_OP,
	LAUNCHED_BY_CALL, /* a launch outside of ops */
	LAUNCHED_BY_NONE, /* GPU work without a launch */
	NLAUNCHED_BY,
};

/* Key of a row: names of both sides, equal where they agree. */
struct change_key {
	uint32_t kind; /* text: launcher, or kind of sequence */
	/* normalised names; INTERN_NONE: without a launch */
	uint32_t n[NSIDES];
	uint32_t family;
	struct op_args args[NSIDES];
};

/* The first event of a row, unmatched if any is. */
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
	/* of these, work of this side only */
	uint64_t alone[NSIDES];
	int64_t alone_ns[NSIDES];
	uint32_t last[NSIDES]; /* sample added to last: index in times + 1 */
	/* set at the end, for one unit */
	int64_t unit_ns[NSIDES];
	int64_t diff_ns;
	int64_t fixed_ns;   /* part of it: work of one side only */
	int64_t unknown_ns; /* part of it: of unknown noise */
	int64_t first_ns;   /* part of it: first steps, judged apart */
	int64_t judged_ns;  /* part of it: beyond noise, or fixed */
	struct noise noise; /* of the remaining part */
	struct noise first; /* of first_ns, if known */
	bool is_known;      /* noise of the remaining part is known */
	bool is_named;      /* by itself beyond noise */
	bool is_first_named;
	bool has_verdict; /* is_noise and spread of the whole are known */
	bool is_noise;
};

/* GPU events that a remark is about, over all runs. */
struct tally {
	uint64_t n[NSIDES];
	int64_t ns[NSIDES];
};

enum tally_of {
	TALLY_ONLY,     /* the other side has no work there, or no sequence */
	TALLY_UNPAIRED, /* the other side has work there, but not this */
	TALLY_RENAMED,  /* pairs with different names */
	TALLY_OUTSIDE,  /* launched outside of ops */
	TALLY_UNLINKED, /* without a launch */
	TALLY_STREAM,   /* pairs on different GPU streams */
	NTALLIES,
};

/* A GPU stream or name of one side with one of the other, and their count. */
struct match_count {
	uint32_t of[NSIDES]; /* INTERN_NONE: unnamed */
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
	struct intern *row_of; /* key to index of the row */
	VEC(struct sample) samples;
	struct intern *sample_of;
	VEC(struct stratum) strata;
	struct map stratum_of;
	VEC(struct row_time) times;
	VEC(struct row_time) first_times; /* of first steps */
	struct map time_of;               /* row and sample to time */
	struct unit_times unit[NSIDES];
	bool by_run;      /* samples are runs */
	bool has_fine;    /* some times are not whole us */
	double allowance; /* noise_allowance() */
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
	bool is_known; /* some noise is known */
	/* remarks */
	struct tally tallies[NTALLIES];
	struct match_counts streams;         /* of the current pair of runs */
	struct match_counts calls, launches; /* with different names */
	bool differs;      /* GPU work or calls of some pair differ */
	bool host_differs; /* times of calls of some pair differ */
	/* recorded in some run: frames; ops with GPU work; their arguments */
	bool has_frames[NSIDES], has_ops[NSIDES], has_args[NSIDES];
	uint64_t nsequences[NSIDES], npaired;
};

void changes_create(struct changes *c, struct settings *set, struct dict *st);
void changes_free(struct changes *c);
/* Ends a run after its work; unit[side].nruns counts it before. */
void changes_end_run(struct changes *c, int side, const struct side *r);
/* The row of a key, made if new. */
uint32_t changes_row(struct changes *c, const struct change_key *key,
    const uint32_t name[NSIDES]);
/*
 * Adds a GPU event to a row; no: sample of its side and run. is_alone: work of
 * this side only.
 */
void changes_add(struct changes *c, uint32_t row, int side, int64_t no,
    int64_t ns, bool is_alone);
void changes_tell(struct changes *c, enum tally_of what, int side, int64_t ns);
/* After the last run: computes and sorts rows, largest difference first, noise
 * last. */
void changes_finish(struct changes *c);
/* Few steps need larger differences. */
struct noise_rules changes_rules(
    const struct changes *c, const struct noise_row *r, double all_ns);

/* Beyond noise, or of unknown noise. */
static inline int64_t
changes_verdict_ns(const struct changes *c)
{
	return c->judged_ns + c->unknown_ns;
}

/* Whether any row differs: differences may offset each other. */
static inline bool
changes_differ(const struct changes *c)
{
	return c->family[FAMILY_COMPUTE].ndiffer +
	    c->family[FAMILY_COMM].ndiffer >
	    0;
}

/* Whether an event counts: with --per step, only in steps. */
static inline bool
changes_want(const struct changes *c, const struct gpu *g)
{
	return c->set->per != PER_STEP || g->step != WALK_NO_STEP;
}

/* ---- what rows are made of ---- */

/* A row of work without a launch is no op; */
static inline bool
is_unlinked(const struct changes *c, const struct change *r)
{
	return c->set->by == BY_OP &&
	    r->key.kind == c->launched_by[LAUNCHED_BY_NONE];
}

/* nor is one of launches outside of ops. */
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

/* by-op.c: adds a pair of runs; fresh: sides that are new. */
void ops_add(struct changes *c, const struct diff *d, const bool fresh[NSIDES]);
/* by-kernel.c */
void kernels_add(struct changes *c, const struct side *const side[NSIDES],
    const bool fresh[NSIDES]);

/* ---- remarks.c ---- */

/*
 * Streams are renumbered from run to run: those that most pairs of GPU events
 * of a run pair share are one. Work on another stream is a remark.
 */
void streams_pair(struct changes *c, const struct side *const side[NSIDES],
    const uint32_t node[NSIDES]);
void streams_finish(struct changes *c);
/* Remarks about the merged tree of a pair, besides GPU work. */
void tell_tree(struct changes *c, const struct diff *d);
void matches_free(struct match_counts *m);

/* ---- gate.c ---- */

/*
 * A threshold in ns if the time before was base_ns, rounded down; at most
 * INT64_MAX.
 */
int64_t threshold_ns(const struct threshold *t, int64_t base_ns);
/* Before printing: whether --fail-over has something to judge. */
void gate_check(const struct settings *set, const struct changes *c);
/* Judges --fail-over, prints what became slower, returns the exit status. */
int gate_status(const struct settings *set, const struct changes *c);

/* ---- matched.c ---- */

/* --match: finds the steps of both sides that did the same work. */
void matched_find(struct settings *set, struct dict *st);

/* ---- tables.c ---- */

/* Checks --table and --by before reading. */
void tables_check(struct settings *set);
/* Whether a wanted table has step times. */
bool tables_want_steps(const struct settings *set);
struct tables *tables_create(struct settings *set);
/* Adds rows of events, each run of before once; several: there may be more. */
void tables_add(struct tables *t, const struct diff *d, bool several);
/* Prints and frees the tables after the last run. */
void tables_finish(struct tables *t, const struct changes *c);

#endif
