/* SPDX-License-Identifier: MIT */
/*
 * tl-steps inside: a source is kept whole (trace/host.h); when it ends, the
 * windows of its steps (trace/steps.h) become records of the sink, each with
 * its figures.
 */
#ifndef TL_STEPS_H
#define TL_STEPS_H

#include "sink/sink.h"
#include "trace/parts.h"

struct step_record {
	struct sink_record rec; /* uid, track: of the annotation */
	uint8_t what;           /* enum step_what */
	bool is_gpu_time;       /* gpu_wall_ns is the step time */
	bool has_uid, has_work, is_inferred;
	uint32_t word, name, gap_cause, idle_cause, phase, flags;
	uint32_t time_is, reason;
	struct key pid;
	/* SINK_NONE: not known */
	int64_t step, batch, tokens;
	int64_t wall_ns, gpu_wall_ns, time_ns;
	int64_t busy_launched_ns, busy_ns, idle_ns;
	int64_t exposed_comm_ns, exposed_copy_ns;
	int64_t done_ns, drain_ns, lead_ns;
	int64_t gap_ns, idle_cause_ns, data_ns;
	int64_t nkernels, nlaunches;
	int64_t nunlinked, noutside; /* GPU events of the source */
	int64_t nrepeat;             /* calls that repeat, if they say it */
	int64_t parts[PART_COUNT];
	uint32_t longest[CAUSE_COUNT]; /* names of the events in that time */
};

/* Of a window while its source is looked at. */
struct step_row {
	struct step_record r;
	bool is_cut;
};

struct program {
	struct sink sink;
	struct select asked; /* --annotation and --step */
	const char *causes_file;
	struct causes *causes;
	struct host host;
	struct steps steps;
	struct parts parts;
	VEC(struct step_row) rows; /* as steps.list */
	bool has_source;
	bool any_inferred;
	uint32_t source;
};

/* Of the source that has been read whole: its records. */
void steps_records(struct program *g);
/* figures.c: of all rows but what they are called and how they compare. */
void figures_find(struct program *g);

#endif
