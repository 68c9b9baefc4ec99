/* SPDX-License-Identifier: MIT */
/*
 * Step times of each source as it is read, and their parts: GPU work, and idle
 * time by cause and host event.
 *
 *	clock_start(c);			a source begins
 *	clock_add(c, &in->ev);		each event
 *	clock_select(c, step);		the step of each selected one
 *	clock_end(c, side);		its steps
 *
 * Memory: that of trace/host.h with Python frames, for one source at a time;
 * 350 bytes a step and 56 for each name in each step stay.
 */
#ifndef TL_DIFF_CLOCK_H
#define TL_DIFF_CLOCK_H

#include "trace/parts.h"

/* Terms of a step that are not causes of idle time. */
enum {
	TERM_STEP = PART_COUNT,
	TERM_BUSY,   /* compute, exposed communication and exposed copies */
	TERM_OPENED, /* host work in gaps that blocking calls opened */
	TERM_COUNT
};

/* Idle time of one cause and host event in a step. */
struct step_piece {
	uint32_t name; /* normalised; INTERN_NONE: no event */
	uint8_t cause; /* or TERM_OPENED: name is the opening call */
	bool has_uid;
	int64_t ns, longest_ns;
	struct uid uid; /* of the longest */
};

struct step_time {
	int64_t ns; /* sum of the parts, if there is GPU work */
	int64_t parts[PART_COUNT];
	int64_t opened_ns;
	int64_t no;        /* WALK_NO_STEP: time between steps */
	uint32_t kind;     /* text; equal kinds are compared */
	uint32_t run, src; /* in its side; set by the gatherer */
	uint32_t first, n; /* in pieces, sorted by cause and name */
	struct uid uid;
	bool has_uid;
	bool is_gpu; /* the GPU sets its pace, not the host */
};

struct step_times {
	VEC(struct step_time) list; /* by time */
	VEC(struct step_piece) pieces;
	VEC(int64_t) bare; /* numbers of steps without GPU events, not listed */
};

struct clock;
struct settings;
struct norms;
struct side;

struct clock *clock_create(struct norms *nm, const struct settings *set);
void clock_destroy(struct clock *c);
void clock_start(struct clock *c);
void clock_add(struct clock *c, const struct event *ev);
/* An event is selected in this step, or NULL. */
void clock_select(struct clock *c, const struct step_window *step);
/* Appends to the side's step times. */
void clock_end(struct clock *c, struct side *r);
/* Appends the steps of a run. */
void step_times_add(struct step_times *to, const struct step_times *from,
    uint32_t run, uint32_t src);
void step_times_free(struct step_times *t);

#endif
