/* SPDX-License-Identifier: MIT */
/*
 * host: what each thread of a source did, and which call launched which GPU
 * event.
 *
 * Events of a thread are nested by time. One that outlasts its parent is cut to
 * the parent's end; an annotation is taken out instead. A thread's time then
 * consists of parts, each with its innermost event and the cause that this
 * event stands for (cause.h), which also depends on events above it.
 *
 *	host_start(h, in->dict, causes);	for each source
 *	host_add(h, &in->ev);			each event, in any order
 *	host_ready(h);				after the last one
 *
 * A GPU event is launched by what it is linked to; in a stream without links
 * (by_corr) by the last call with its correlation.
 *
 * Times are relative to the source's base. Memory: 56 bytes an event of the
 * host and 112 a GPU event.
 */
#ifndef TL_TRACE_HOST_H
#define TL_TRACE_HOST_H

#include "trace/cause.h"
#include "trace/span.h"
#include "trace/step.h"
#include "trace/there.h"

#define HOST_NONE UINT32_MAX /* no event, no thread */
#define HOST_ASKED 256       /* most threads that an idle one may wait for */
#define HOST_LONG_NS 1000000
#define HOST_MEDIAN_EVENTS 10

struct host_event {
	int64_t start_ns, end_ns; /* after cutting */
	struct uid uid;
	uint32_t name;   /* in the dictionary */
	uint32_t thread; /* in host.threads */
	uint32_t up;     /* open when it begins; HOST_NONE */
	uint32_t ngpu;   /* GPU events launched by it */
	uint8_t kind, cause;
	uint8_t above; /* bits of its ancestors and, unless a call, its own */
	bool launches_below : 1;
	bool is_overlay : 1; /* an annotation that outlasts its parent */
	bool is_step : 1, is_slowest : 1; /* an annotation that marks a step */
	bool is_hlo : 1;                  /* parent of an event with the same
	                                   * times */
	bool has_time : 1;                /* of its own */
	/* private: an ancestor further up; for one without time of its own, the
	 * last before it with some; or HOST_NONE */
	uint32_t jump;
};

static inline bool
is_call(const struct host_event *e)
{
	return (KIND_BIT(e->kind) & KINDS_LAUNCH) != 0;
}

/* Whether its own time is its thread's, less that of its children. */
static inline bool
is_nested(const struct host_event *e)
{
	return !e->is_overlay && e->kind != KIND_OVERHEAD;
}

/* The event, or the last one of its thread before it, with time of its own; or
 * HOST_NONE. */
static inline uint32_t
host_last_with_time(const struct host_event *v, uint32_t event)
{
	return v[event].has_time ? event : v[event].jump;
}

/* Its parent; HOST_NONE: none. */
static inline uint32_t
host_up(const struct host_event *e)
{
	return is_nested(e) ? e->up : HOST_NONE;
}

/* Of an event over by then, the outermost ancestor that is over, too. */
uint32_t host_last_over(const struct host_event *v, uint32_t event, int64_t ns);

/* A stretch of time that is an event's. */
struct host_segment {
	int64_t start_ns;
	int64_t end_ns;
	uint32_t event;
};

/* A stretch in which an event blocks a thread that launches. */
struct host_blocking {
	int64_t start_ns, end_ns;
	int64_t until_ns; /* the last end so far */
	uint32_t event;
};

struct host_thread {
	uint32_t track;          /* dict_thread() */
	uint32_t first, n;       /* its events */
	uint64_t nlaunched;      /* GPU events */
	uint64_t nevents;        /* except Python frames */
	uint32_t note, note_end; /* private: in host.notes */
	int64_t note_ns;         /* private: when the next of them begins */
};

struct host_gpu {
	int64_t start_ns, end_ns;
	struct uid uid;
	struct key dev, gpu_stream, corr;
	uint32_t name, cat;
	uint32_t launch; /* event, or HOST_NONE */
	uint32_t awaits; /* GPU event, by a row of the trace; or HOST_NONE */
	uint32_t no;     /* number of events added before it */
	uint64_t launch_id;
	uint8_t kind;
	uint8_t tag; /* the caller's */
	bool has_launch;
};

static inline bool
host_same_stream(const struct host_gpu *a, const struct host_gpu *b)
{
	return key_eq(a->dev, b->dev) && key_eq(a->gpu_stream, b->gpu_stream);
}

/* A step inferred by tl-tree: no activity of a thread. */
struct host_step {
	int64_t start_ns, end_ns, number;
	struct step_inferred said;
	uint32_t track; /* dict_thread() */
	bool is_slowest;
};

/* A bit per thread. */
struct host_busy {
	uint64_t of[HOST_ASKED / 64];
};

struct host {
	const struct dict *dict;
	struct causes *causes;
	bool by_corr; /* set by the caller after host_start(); default false */
	VEC(struct host_event) events; /* by thread, start, end, uid */
	VEC(struct host_gpu) gpus;     /* by start, end, uid */

	VEC(struct host_thread) threads;   /* those that may be asked first */
	VEC(struct host_segment) profiler; /* its own cost, disjoint, by time */
	int64_t first_corr;                /* the smallest of all calls */
	bool has_time;                     /* some thread has time */
	VEC(uint32_t) annotations;         /* events that are some */
	VEC(struct host_step) steps;
	VEC(uint32_t) may_wait; /* block or poll, or did at first */
	/* private */
	VEC(struct host_event) notes; /* annotations before all other events */
	bool has_begun;               /* another event came */
	VEC(size_t) ascents;          /* ends of ascending runs of events */
	struct span whole; /* from the first event to the end of the last */
	uint32_t track, thread;  /* of the previous event */
	bool is_nowhere;         /* of unresolved threads */
	size_t nruns;            /* runs of events of one thread */
	struct map first_of;     /* name and kind to event, built on first
	                          * use */
	VEC(int64_t) selfs;      /* by name, likewise */
	VEC(uint32_t) self_ends; /* of each name, in selfs */
	struct map median_of;    /* names looked up so far */
	struct host_busy *busy;  /* of each stretch of the whole, likewise */
	uint64_t stretch_ns;
	VEC(struct host_blocking) blocking; /* by start, likewise */
	bool knows_blocking;
	struct host_above *above; /* built on first use */
	struct map thread_of, ids;
	struct map step_numbers; /* of StepTraceAnnotations, by uid_hash() */
	struct map calls;        /* by_corr: to the hash of the call's uid */
};

/* Whether an event counts: it has a time, and is no duplicate. has: HAS_; *end:
 * its end. */
static inline bool
host_counts(
    unsigned has, unsigned flags, int64_t ts_ns, int64_t dur_ns, int64_t *end)
{
	const unsigned timed = HAS_TS | HAS_DUR | HAS_NAME;

	return (has & timed) == timed &&
	    (flags & (EV_DUPLICATE | EV_UNTIMED)) == 0 &&
	    !__builtin_add_overflow(ts_ns, dur_ns, end);
}

void host_start(struct host *h, const struct dict *dict, struct causes *causes);
void host_add(struct host *h, const struct event *ev);
/* The same for ops, frames, overheads and, unless by_corr is set, calls, of
 * which no more is needed. */
void host_add_heads(struct host *h, const struct event_head *v, size_t n);
/* Events further apart than int64_t end the program. */
void host_ready(struct host *h);
void host_free(struct host *h);

/* The process of an event. */
static inline const struct key *
host_pid(const struct host *h, const struct host_event *e)
{
	return &h->dict->tracks.v[h->threads.v[e->thread].track].pid;
}
/*
 * Iterates over the parts of a thread's time in an interval:
 *
 *	struct host_parts p = host_parts_of(h, t, from, to);
 *	while (host_parts_next(&p)) ... p.start_ns, p.end_ns, p.event, p.cause
 */
struct host_parts {
	int64_t start_ns, end_ns;
	uint32_t event; /* the innermost; HOST_NONE: none recorded */
	uint8_t cause;  /* its cause, or CAUSE_NOTHING */
	/* private */
	const struct host_event *v;
	uint32_t next, last;
	int64_t to;
};
struct host_parts host_parts_of(const struct host *h,
    const struct host_thread *t, int64_t from, int64_t to);
/* The same, faster: no event from this one on, of the thread, began by then. */
struct host_parts host_parts_before(const struct host *h,
    const struct host_thread *t, uint32_t before, int64_t from, int64_t to);
bool host_parts_next(struct host_parts *p) USE_RESULT;
/* The longest wait for the GPU by a call, on any thread that launches. */
uint32_t host_blocked_in(const struct host *h, int64_t from, int64_t to);

/* It has nothing to do, or waits for another thread: also what waits for the
 * GPU without a call of the runtime, as another thread may launch until then.
 */
static inline bool
host_is_rest(const struct host_parts *p)
{
	const uint64_t rest = CAUSE_BIT(CAUSE_NOTHING) | CAUSE_BIT(CAUSE_WAIT) |
	    CAUSE_BIT(CAUSE_ANNOTATED);

	return (rest & CAUSE_BIT(p->cause)) != 0 ||
	    (p->cause == CAUSE_SYNC && !is_call(&p->v[p->event]));
}
/* Threads not idle in an interval; may include more. */
struct host_busy host_busy(struct host *h, int64_t from, int64_t to);
/* The first of them from a thread on; HOST_NONE: none left. */
uint32_t host_next_busy(
    const struct host *h, const struct host_busy *b, uint32_t thread);

/* Whether a call launches a graph, by its name: others may launch several GPU
 * events, too. */
bool host_is_graph(const struct host *h, uint32_t call);
/* The name of the nearest op, or nn.Module frame, from an event upwards. */
uint32_t host_above(const struct host *h, uint32_t event, bool is_module);
/* The annotations nearest to a pattern like none of them, as by there_str(). */
struct str host_there(const struct host *h, struct str glob);
/*
 * The event to name for a cause: for data, a collective or the optimizer the
 * outermost event with the cause by its name; else the event itself.
 */
uint32_t host_culprit(const struct host *h, uint32_t event, enum cause cause);
/* Whether it is the first event of its name and kind. */
bool host_is_first_of_name(struct host *h, uint32_t event);
/*
 * The upper median of the self times, if any, of a name's events; -1: fewer
 * than HOST_MEDIAN_EVENTS.
 */
int64_t host_median_of_name(struct host *h, uint32_t name);

#endif
