/* SPDX-License-Identifier: MIT */
/*
 * GPU time by row, before and after, over all pairs of runs: means of a unit,
 * and which differences are no more than chance. What a row is about is the
 * caller's; a row's number is its place.
 */
#ifndef TL_DIFF_FIGURES_H
#define TL_DIFF_FIGURES_H

#include "cmd/tl-diff/diff.h"
#include "trace/step.h"

#define NS_PER_US 1000

struct figure {
	uint32_t group;
	uint64_t kernels[NSIDES];
	int64_t ns[NSIDES];
	/* of these, what the other side does not do */
	uint64_t alone[NSIDES];
	int64_t alone_ns[NSIDES];
	/* worked out at the end, for one unit */
	int64_t unit_ns[NSIDES];
	int64_t diff_ns;
	int64_t fixed_ns; /* in it: by work that only one side does */
	double spread_ns; /* NAN: not known */
	bool is_noise;
	bool is_rest_noise;    /* the difference without what is fixed */
	uint32_t last[NSIDES]; /* what was added to last: in times, + 1 */
};

/*
 * What times vary over: a run, a step of one, or whatever the caller takes for
 * repetitions of one another. Those of a stratum vary around one mean.
 */
struct sample {
	uint32_t run, stratum;
	int64_t no; /* WALK_NO_STEP: it is no repetition of anything */
	int64_t ns; /* of all its GPU work */
};

/* Time of a row in a sample. */
struct row_time {
	uint32_t row, sample;
	uint32_t n; /* events */
	uint8_t side;
	int64_t ns;
};

/* Times of one side: a mean and how much it varies. */
struct unit_times {
	uint64_t n; /* units */
	uint64_t nruns, nsteps;
	int64_t total_ns; /* GPU time of a unit, the mean */
};

/* The time on the clock of a step with GPU work. */
struct wall {
	uint32_t run;
	int64_t ns;
};

/* How long a step takes on the clock. */
struct step_clock {
	uint64_t n[NSIDES];      /* steps */
	int64_t mean_ns[NSIDES]; /* of a step; 0: there are none */
	bool knows_noise;
	bool is_noise; /* the difference may be chance, or there is none */
};

/* A group of samples, by what the caller calls it and maybe by run. */
struct stratum {
	uint32_t run, group;
	uint64_t n[NSIDES]; /* samples */
};

/* GPU events that are told of, over all runs. */
struct tally {
	uint64_t n[NSIDES];
	int64_t ns[NSIDES];
};

/* A step whose GPU time differs from that of all others of its side. */
struct stand_out {
	int side;
	int64_t step;
	int64_t ns; /* over the mean of the others; 0: there is none */
};

struct figures {
	const struct settings *set;
	VEC(struct figure) rows;
	VEC(struct stratum) strata;
	VEC(struct sample) samples[NSIDES];
	uint32_t last[NSIDES]; /* the one that was asked for last */
	struct map sample_of[NSIDES], stratum_of;
	VEC(struct row_time) times;
	struct map time_of; /* row, side, sample to time */
	struct unit_times unit[NSIDES];
	bool are_steps; /* set by the caller: numbers of samples are of steps */
	bool by_run;    /* samples are runs */
	bool has_ns;    /* some event lasts no whole number of microseconds */
	VEC(struct wall) walls[NSIDES]; /* run by run */
	struct step_clock clock;
	/* the verdict */
	int64_t diff_ns, gross_ns;
	int64_t fixed_ns;   /* by work that only one side does */
	int64_t verdict_ns; /* without what may be chance */
	int64_t rest_ns;    /* in it: rows that only together are none */
	double spread_ns;
	bool is_noise; /* the difference without what is fixed may be chance */
	struct stand_out out;
};

/* Begins a run of a side, whose work is added then; and ends it. */
void figures_start_run(struct figures *f, int side);
void figures_end_run(struct figures *f, int side, const struct run *r);
/* A row without work; its number. Its samples are of this group. */
uint32_t figures_row(struct figures *f, uint32_t group);
/*
 * The work of a GPU event, in a row; sample no of its side and run. is_alone:
 * the other side does not do it.
 */
void figures_add(struct figures *f, uint32_t row, int side, int64_t no,
    int64_t ns, bool is_alone);
/* Whether an event counts: with --per step, only what steps have. */
static inline bool
figures_wants(const struct figures *f, const struct gpu *g)
{
	return f->set->per != PER_STEP || g->step != WALK_NO_STEP;
}
/* judge.c: after the last run. */
void figures_finish(struct figures *f);
/* stand-out.c: once rows are judged, and times are in their order. */
void figures_stand_out(struct figures *f);
void figures_free(struct figures *f);

/* Whether both sides have steps whose time can be compared. */
static inline bool
figures_have_clock(const struct figures *f)
{
	return f->clock.n[0] > 0 && f->clock.n[1] > 0;
}

/* The largest difference first, noise later, what does not differ last. */
int figure_order(const struct figure *a, const struct figure *b);

/* What a row of a table ends with. */
#define FIGURE_COLUMNS                                             \
	{ "before_ns", NULL, COL_INT, UNIT_NS, 0, 0 },             \
	    { "after_ns", NULL, COL_INT, UNIT_NS, 0, 0 },          \
	    { "diff_ns", NULL, COL_INT, UNIT_NS, 0, 0 },           \
	    { "ratio", NULL, COL_REAL, UNIT_NONE, 0, 0 },          \
	    { "pct_of_diff", NULL, COL_REAL, UNIT_PERCENT, 0, 0 }, \
	    { "spread_ns", NULL, COL_INT, UNIT_NS, 0, 0 },         \
	{                                                          \
		"is_noise", NULL, COL_BOOL, UNIT_NONE, 0, 0        \
	}
/* So often in a unit; a mean that is no integer where units differ. */
struct cell figure_count(const struct figures *all, int side, uint64_t n);
/* A table's columns with counts that can be such means. The caller's to free.
 */
struct column *figure_columns(
    const struct figures *all, const struct column *from, size_t n);
void figure_cells(
    struct cell *row, const struct figure *f, const struct figures *all);

#endif
