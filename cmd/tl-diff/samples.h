/* SPDX-License-Identifier: MIT */
/* Times of rows in samples, and what of a family of rows is judged by them. */
#ifndef TL_DIFF_SAMPLES_H
#define TL_DIFF_SAMPLES_H

#include "cmd/tl-diff/diff.h"
#include "trace/noise.h"

/*
 * What times vary over: a run, a step of one, or a sequence. Those of a stratum
 * vary around one mean.
 */
struct sample {
	int64_t no; /* WALK_NO_STEP: it is no repetition of anything */
	uint32_t run, stratum;
	int side;
	uint8_t phase; /* PHASE_COUNT: of none */
	bool is_out;   /* a first step, which is judged apart */
};

/* Time of a row in a sample. */
struct row_time {
	uint32_t row, sample;
	uint32_t n; /* events */
	int64_t ns;
};

/* Samples of rows of one kind, and of one rank. */
struct stratum {
	uint64_t n[NSIDES];
};

/* Times of one side: a mean and how much it varies. */
struct unit_times {
	uint64_t n; /* units */
	uint64_t nruns, nsteps;
	VEC(uint64_t) run_steps; /* of each run */
	/* of each run the first step, where these stand out on both sides: it
	 * is in no sample of the others */
	VEC(int64_t) left_out;
	int64_t total_ns; /* GPU time of a unit, the mean */
	uint64_t nevents; /* GPU work of all runs, as it was read */
	int64_t run_ns;
	unsigned inferred; /* steps_inferred_from() of all runs */
};

/*
 * Rows that are judged together. Communication varies by how long it waits, and
 * must not hide what became of the rest.
 */
enum family_of {
	FAMILY_COMPUTE,
	FAMILY_COMM,
	NFAMILIES,
};

/* Of a family's difference: by first steps. */
struct first_steps {
	/* part of the family's */
	int64_t judged_ns, unknown_ns, within_ns;
	int64_t rest_ns; /* in what is judged */
	size_t nrest;    /* rows that only together differ by them; 0: none */
};

/* What of a family's difference is beyond noise: of rows, and of the rest. */
struct family {
	int64_t ns[NSIDES]; /* of a unit */
	/* all of its difference */
	int64_t judged_ns, unknown_ns, within_ns;
	int64_t rest_ns; /* in what is judged: rows that only together differ */
	size_t ndiffer; /* rows that are not within noise, or not known to be */
	size_t nrest;   /* the others, if they differ at all */
	struct first_steps first;
	struct noise noise; /* the sum of what differs, for its interval */
};

#endif
