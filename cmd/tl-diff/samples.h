/* SPDX-License-Identifier: MIT */
/* Times of rows in samples, and how they judge a family of rows. */
#ifndef TL_DIFF_SAMPLES_H
#define TL_DIFF_SAMPLES_H

#include "cmd/tl-diff/diff.h"
#include "trace/noise.h"

/*
 * The unit that varies: a run, a step, or a sequence. Samples of a stratum vary
 * around one mean.
 */
struct sample {
	int64_t no; /* WALK_NO_STEP: not a repetition */
	uint32_t run, stratum;
	int side;
	uint8_t phase; /* PHASE_COUNT: none */
	bool is_out;   /* a first step, which is judged apart */
};

/* Time of a row in a sample. */
struct row_time {
	uint32_t row, sample;
	uint32_t n; /* events */
	int64_t ns;
};

/* Samples of one kind and rank. */
struct stratum {
	uint64_t n[NSIDES];
};

/* Times of one side: mean and variation. */
struct unit_times {
	uint64_t n; /* number of units */
	uint64_t nruns, nsteps;
	VEC(uint64_t) run_steps; /* of each run */
	/* each run's first step, if first steps stand out on both sides and so
	 * are in no sample of the others */
	VEC(int64_t) left_out;
	int64_t total_ns; /* mean GPU time of a unit */
	uint64_t nevents; /* GPU events of all runs */
	int64_t run_ns;
	unsigned inferred; /* steps_inferred_from() of all runs */
};

/*
 * Rows that are judged together. Communication varies with waiting, which must
 * not hide what became of the rest.
 */
enum family_of {
	FAMILY_COMPUTE,
	FAMILY_COMM,
	NFAMILIES,
};

/* Part of a family's difference by first steps. */
struct first_steps {
	/* parts of the family's */
	int64_t judged_ns, unknown_ns, within_ns;
	int64_t rest_ns; /* part of judged_ns */
	size_t nrest;    /* rows that differ only together; 0: none */
};

/* A family's difference: how much is beyond noise, by rows and by the rest. */
struct family {
	int64_t ns[NSIDES]; /* per unit */
	/* add up to its difference */
	int64_t judged_ns, unknown_ns, within_ns;
	int64_t rest_ns; /* part of judged_ns: rows that differ only together */
	size_t ndiffer;  /* rows beyond noise or of unknown noise */
	size_t nrest;    /* other rows, if they differ together */
	struct first_steps first;
	struct noise noise; /* of the rows that differ, for their interval */
};

#endif
