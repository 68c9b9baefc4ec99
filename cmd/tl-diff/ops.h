/* SPDX-License-Identifier: MIT */
/*
 * GPU time by op and arguments, before and after, over all pairs of runs.
 *
 * GPU work below a point where the trees part belongs to the op of that point,
 * so what one side does with other ops than the other is compared with it.
 */
#ifndef TL_DIFF_OPS_H
#define TL_DIFF_OPS_H

#include "cmd/tl-diff/tables.h"

enum owned_by {
	OWNER_OP,
	OWNER_LAUNCH, /* a launch outside of ops */
	OWNER_NONE,   /* GPU work without a launch */
};

/* What a row is about: on each side, the same where it has one name. */
struct op_key {
	uint32_t n[NSIDES]; /* normalised name */
	struct op_args args[NSIDES];
	uint32_t owner;
};

struct op_row {
	struct op_key key;
	uint32_t name[NSIDES];
	uint64_t calls[NSIDES], kernels[NSIDES];
	int64_t ns[NSIDES];
	/* worked out at the end, for one unit */
	int64_t unit_ns[NSIDES];
	int64_t diff_ns;
	double spread_ns; /* NAN: not known */
	bool is_noise;
};

/* A run, or a step of one; of a side. */
struct sample {
	uint32_t run;
	int64_t step; /* WALK_NO_STEP: outside of steps */
	int64_t ns;   /* of all its GPU work */
};

/* Time of a row in a sample. */
struct op_sample {
	uint32_t row, sample;
	uint8_t side;
	int64_t ns;
};

/* Times of one side: a mean and how much it varies. */
struct unit_times {
	uint64_t n; /* units */
	uint64_t nruns, nsteps;
	int64_t total_ns; /* GPU time of a unit, the mean */
	int64_t wall_ns;  /* of a step, the mean; 0: there are none */
};

struct ops {
	const struct settings *set;
	struct strings *strings;
	VEC(struct op_row) rows;
	struct map row_of;
	VEC(struct sample) samples[NSIDES];
	struct map sample_of[NSIDES];
	VEC(struct op_sample) times;
	struct map time_of; /* row, side, sample to time */
	struct unit_times unit[NSIDES];
	bool by_step; /* samples are steps, else runs */
	int64_t step_ns[NSIDES];
	uint64_t nwalls[NSIDES];
	/* over all runs */
	uint64_t nunlinked[NSIDES], noutside[NSIDES], nonly[NSIDES];
	int64_t unlinked_ns[NSIDES], outside_ns[NSIDES], only_ns[NSIDES];
	/* the verdict */
	int64_t diff_ns, gross_ns, verdict_ns;
	double spread_ns;
	bool is_noise;
};

/* The rows of a pair of runs; fresh: of which sides it is the first time. */
void ops_add(struct ops *o, const struct diff *d, const bool fresh[NSIDES]);
/* After the last pair. */
void ops_finish(struct ops *o);
void ops_free(struct ops *o);

/* noise.c: the half width of a difference's 95 % interval, NAN: unknown. */
struct noise_side {
	size_t n;           /* samples */
	double sum, sum_sq; /* of samples, less their first for precision */
	double scale;       /* samples in a unit */
};
double noise_spread(const struct noise_side side[NSIDES]);

extern const struct column ops_columns[];
extern const size_t ops_ncolumns;
/* summary.c: what changed, as notes of a table. Rows are in their order. */
void summary_notes(const struct ops *o, const struct diff *d, struct table *t);

/* The largest differences first. */
void ops_sort(struct ops *o);
void ops_print(struct ops *o, const struct diff *d, struct table_dest *dest);

#endif
