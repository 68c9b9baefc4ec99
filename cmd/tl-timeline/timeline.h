/* SPDX-License-Identifier: MIT */
/*
 * tl-timeline inside: intervals are gathered in slices (of a source, and of
 * what --by says or of a thread), slices become rows at the end.
 *
 * A sink (sink/sink.h) whose records are the rows of its table.
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
 * What the intervals of a slice are of. A slice of the rocprof timeline differs
 * from Kineto's in its buckets, so kernels that copy are kept by themselves.
 */
enum {
	SET_COMPUTE,
	SET_COMM,
	SET_MEMCPY,
	SET_COPY_KERNELS,
	SET_FILLS,    /* which are computation, and for kinds memory */
	SET_UNLINKED, /* those of the others without a launch */
	SET_WINDOW,   /* of a step its time; of work outside, those of all;
	                 else from start to end of what is in a window */
	SET_COUNT,
	/* of a thread of the host */
	SET_OP = 0,
	SET_CALL,
	SET_PYTHON,
	SET_SLICE,
	HOST_SETS,
};

struct slice {
	uint32_t source;
	struct key key;   /* of --by, or the track; KEY_NONE: outside */
	int64_t first_ns; /* the earliest time of its events, for order */
	bool has_gpu; /* of a step: some GPU work is in it or launched in it */
	uint64_t nevents, nunlinked;
	struct spans sets[SET_COUNT];
	struct map windows; /* where one begins to its place in SET_WINDOW */
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
	double percent, mean_ns; /* mean_ns: over the devices of a source */
};

/* How the clocks of sources are joined. */
enum align {
	ALIGN_UNSAID,     /* as recorded; whether that is right is checked */
	ALIGN_BASE,       /* as recorded: the user knows that it is right */
	ALIGN_COLLECTIVE, /* by collectives */
};

struct timeline {
	struct sink sink;
	enum by by;
	bool join, of_host;
	enum align align;             /* of --join, and ... */
	VEC(struct own_clock) own;    /* ... by the number of a source */
	collective_clock_list clocks; /* ALIGN_COLLECTIVE: what to subtract */
	bool has_micro;
	bool has_windows;    /* of the source that was read last, */
	uint32_t windows_of; /* which is this one */
	int64_t micro_ns;    /* gaps from here on are macro */
	VEC(struct slice) slices;
	size_t last;                 /* the slice found last */
	struct map by_key;           /* hash to index */
	bool all_rocprof;            /* of the slices that are rows */
	uint64_t nevents, nunlinked; /* likewise */
};

static inline const struct timeline *
timeline_of(const struct sink *s)
{
	return (const struct timeline *)s;
}

/* slice.c */

/* A slice of the source, made when missing; valid until the next call. */
struct slice *slices_find(struct timeline *g, uint32_t source, struct key key);
/* Those of sources that are asked for; all of equal keys become one. */
void slices_finish(struct timeline *g);
void slices_free(struct timeline *g);

/* clocks.c */

/* Of --join: what the source says of its clock. */
void join_take_source(struct sink *s, const struct source *src);
/* Finds clocks, or warns where those recorded are not one. */
void join_find_clocks(struct timeline *g);
/* What to subtract, or NULL. */
const struct collective_clock *join_clock(
    const struct timeline *g, const struct sink_source *o);
void join_free(struct timeline *g);

/* figures.c */

/* A row of a slice without figures. */
struct row *figures_row(
    struct timeline *g, const struct slice *slice, const char *type);
/* Rows of gpu_timeline for a slice, whose sets are used up. */
void figures_add(struct timeline *g, struct slice *slice);
/* Of slices by device, which have their rows: means over those of a source. */
void figures_average(struct timeline *g);

/* kinds.c */

/* Rows of gpu_busy_kinds for a slice, whose sets are normalised. */
void kinds_add(struct timeline *g, const struct slice *slice);

/* host.c */

/* Ranges of users and of the profiler are no work. */
#define KINDS_WORK (KINDS_HOST | KIND_BIT(KIND_PYTHON) | KIND_BIT(KIND_SLICE))

void host_take(struct timeline *g, const struct event *ev);
/* Rows of host_timeline for all slices. */
void host_add(struct timeline *g);

#endif
