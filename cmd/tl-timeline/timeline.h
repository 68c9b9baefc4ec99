/* SPDX-License-Identifier: MIT */
/*
 * tl-timeline: events are gathered in slices, one for each source and value of
 * --by or thread; slices become the rows of the table at the end.
 */
#ifndef TL_TIMELINE_H
#define TL_TIMELINE_H

#include "sink/sink.h"
#include "trace/joined.h"
#include "trace/span.h"

enum by {
	BY_NOTHING,
	BY_ANNOTATION,
	BY_DEV,
	BY_PHASE,
	BY_PID,
	BY_RANK,
	BY_RECOMPUTE,
	BY_SRC,
	BY_STEP,
};

/*
 * Sets of intervals in a slice. rocprofv3's timeline counts kernels that copy
 * as kernels, Kineto's as copies: they have a set of their own.
 */
enum {
	SET_COMPUTE,
	SET_COMM,
	SET_MEMCPY,
	SET_COPY_KERNELS,
	SET_FILLS,    /* which are computation, and for kinds memory */
	SET_UNLINKED, /* those of the others without a launch */
	SET_WINDOW,   /* of steps their time; of work outside, those of all;
	                 else from start to end of what is in a window */
	SET_COUNT,
	/* sets of a host thread */
	SET_OP = 0,
	SET_CALL,
	SET_PYTHON,
	SET_SLICE,
	HOST_SETS,
};

struct slice {
	uint32_t source;
	struct key key;   /* value of --by, or the track; KEY_NONE: outside */
	int64_t first_ns; /* earliest start, for the order of rows */
	bool has_gpu;     /* of a step: GPU work runs or is launched in it */
	uint64_t nevents, nunlinked;
	struct spans sets[SET_COUNT];
	struct map windows; /* start of a window to its index in SET_WINDOW */
};

/* The table that a row is of. */
enum row_of { ROW_TIMELINE, ROW_MEAN, ROW_KINDS };

/* A row of any table. */
struct row {
	struct sink_record rec;
	struct key key, pid, tid; /* key: of --by; pid: of that, too */
	int64_t rank;             /* of --by rank, or SINK_NONE */
	enum row_of of;
	bool is_recompute;
	uint32_t type, flags;
	int64_t count, ns, total_ns;
	int64_t host_ns[HOST_SETS];
	double percent, mean_ns; /* mean_ns: over a source's GPUs */
};

/* How the clocks of sources are joined. */
enum align {
	ALIGN_UNSAID,     /* as recorded, and checked */
	ALIGN_BASE,       /* as recorded, unchecked on the user's word */
	ALIGN_COLLECTIVE, /* corrected by collectives */
};

struct timeline {
	struct sink sink;
	enum by by;
	bool join, of_host;
	enum align align;             /* of --join */
	VEC(struct own_clock) own;    /* by source number */
	collective_clock_list clocks; /* offsets of ALIGN_COLLECTIVE */
	bool has_micro;
	bool of_steps;       /* the window is that of selected steps */
	uint64_t nlater;     /* events they launched that ran in none of them */
	bool has_windows;    /* those of steps have begun */
	uint32_t windows_of; /* this source */
	int64_t micro_ns;    /* shorter gaps are micro_idle_time */
	VEC(struct slice) slices;
	size_t last;                 /* the slice found last */
	struct map by_key;           /* hash to index */
	bool all_rocprof;            /* all rows are of rocprofv3 */
	uint64_t nevents, nunlinked; /* of the rows */
};

static inline const struct timeline *
timeline_of(const struct sink *s)
{
	return (const struct timeline *)s;
}

/* main.c */

/* The value of --by that an event has. */
struct key timeline_key(struct timeline *g, const struct event *ev);
/* Adds the part s of an event to a slice. */
void timeline_add(struct timeline *g, struct slice *slice,
    const struct event *ev, struct span s);
void timeline_count(struct slice *slice, const struct event *ev);

/* steps.c */

/* Adds an event to the timelines of the steps that it runs in. */
void steps_take(
    struct timeline *g, const struct event *ev, bool is_taken, int64_t end_ns);

/* slice.c */

/* The source's slice of this key, made if new; valid until the next call. */
struct slice *slices_find(struct timeline *g, uint32_t source, struct key key);
/* Drops ranks that are not selected, merges equal keys with --join, sorts. */
void slices_finish(struct timeline *g);
void slices_free(struct timeline *g);

/* clocks.c */

/* Records what the source says of its clock. */
void join_take_source(struct sink *s, const struct source *src);
/* Solves the clocks, or checks those recorded and warns. */
void join_find_clocks(struct timeline *g);
/* The offset to subtract, or NULL. */
const struct collective_clock *join_clock(
    const struct timeline *g, const struct sink_source *o);
void join_free(struct timeline *g);

/* figures.c */

/* A row of a slice without figures. */
struct row *figures_row(
    struct timeline *g, const struct slice *slice, const char *type);
/* Rows of gpu_timeline for a slice, whose sets are used up. */
void figures_add(struct timeline *g, struct slice *slice);
/* Adds means over each source's devices, after their rows. */
void figures_average(struct timeline *g);

/* kinds.c */

/* Rows of gpu_busy_kinds for a slice, whose sets are normalised. */
void kinds_add(struct timeline *g, const struct slice *slice);

/* host.c */

/* Ranges of users and of the profiler are no work. */
#define KINDS_WORK (KINDS_HOST | KIND_BIT(KIND_PYTHON) | KIND_BIT(KIND_SLICE))

void host_take(struct timeline *g, const struct event *ev);
/* Adds the rows of host_timeline. */
void host_add(struct timeline *g);

#endif
