/* SPDX-License-Identifier: MIT */
/*
 * steps: what the steps of a source are, and when, for all programs.
 *
 * Steps are the first of these that a source has: what the user names; two
 * ProfilerStep#N or more; StepTraceAnnotations of JAX; iterations (phase.h) of
 * the best tier; one ProfilerStep#N; runs of the XLA module with most GPU time,
 * from tl-tree (hlo-inside.h); what tl-tree infers (infer.h). Without any,
 * tl-steps takes the span of all GPU events as one window.
 *
 *	ProfilerStep#3 [      ][       ]	up to the next one's start
 *	jit_train(5)   [      ][       ]	likewise
 *	decode[bs=8]   [    ]  [     ]		its own, and between
 *
 * Each process has its own steps: those of the thread that launches most GPU
 * work inside them. Of nested ones the outermost counts. A step that outlasts
 * the next one's start is cut there.
 *
 * tl-tree decides that and marks the annotations (EV_STEP, EV_SLOWEST), as a
 * reader of a tree's prologue does not know yet what is launched:
 *
 *	steps_clear(&s);
 *	steps_add(&s, in->dict, &in->ev, number);	each event of it
 *	steps_ready(&s);
 *	w = steps_at(&s, &pid, ts_ns);
 *
 * From a source that is kept whole (trace/host.h), after host_ready():
 *
 *	steps_find(&s, &host, globs, nglobs);
 *	for each of s.processes: list.v[first] .. [first + n - 1], in time
 *
 * For the phase at a time, ask a second struct steps with only_iterations:
 * there may be iterations although other events are the steps.
 *
 * Memory: 80 bytes a marker, 220 more an iteration, and 40 a window.
 */
#ifndef TL_TRACE_STEPS_H
#define TL_TRACE_STEPS_H

#include "stream/stream.h"
#include "trace/phase.h"
#include "trace/step.h"

struct host;

enum step_what {
	STEP_IS_STEP,
	STEP_IS_BETWEEN, /* after a step of this number, up to the next one */
	STEP_IS_WHOLE,   /* no steps: all */
};

struct step_window {
	int64_t start_ns, end_ns;
	int64_t number;     /* from its marker, else counted from 1 */
	uint32_t marker;    /* its event; STEPS_NONE: the whole window */
	uint32_t iteration; /* of its marker; STEPS_NONE: not an iteration */
	uint8_t what;
	bool is_cut;  /* the next one begins before its end */
	bool has_gpu; /* GPU work in or launched by it: steps_find_gpu() */
};

struct step_process {
	struct key pid;
	uint32_t first, n; /* in list */
	uint32_t thread;   /* the thread with the annotations */
};

/* Which markers are steps together. */
enum step_family {
	STEP_NAMED, /* by the user */
	STEP_PROFILER,
	STEP_TRACED, /* StepTraceAnnotation */
	STEP_RUN,    /* of an XLA module */
	STEP_INFERRED,
	STEP_DETAILED, /* iterations, by their tier */
	STEP_NATIVE,
	STEP_FAMILIES,
};

/* An annotation that may be a step. */
struct step_marker {
	int64_t start_ns, end_ns;
	int64_t number;
	uint64_t order; /* breaks ties */
	struct key pid;
	uint32_t thread; /* the caller's numbers */
	uint32_t event;
	uint32_t iteration; /* in steps.iterations, or STEPS_NONE */
	uint8_t family;
	bool is_step, is_slowest; /* marked by tl-tree */
	bool is_run, is_inferred; /* added by tl-tree */
	/* private */
	int64_t until_ns;  /* the last end of its family so far */
	uint64_t launched; /* GPU events, up to the next one's start */
};

struct steps {
	VEC(struct step_marker) markers;
	VEC(struct step_window) list;
	VEC(struct step_process) processes;
	size_t inferred;     /* calls in a step; 0: not inferred */
	enum step_from from; /* if inferred */
	uint32_t slowest;    /* in list; STEPS_NONE: there is no step */
	/* markers of threads that launch GPU work in some: all, and those of
	 * threads whose steps do not count */
	size_t nlaunching, naside;
	bool are_runs;        /* of an XLA module */
	bool only_iterations; /* set by the caller: nothing else is a step */
	bool only_marked;     /* likewise: ignore inferred ones */
	struct step_inferred said; /* from inferred annotations, or set by
	                            * whoever adds them */
	VEC(struct iteration) iterations;
	/* private */
	struct map process_of; /* by pid */
	bool is_sorted;
	uint8_t family;
};

#define STEPS_NONE UINT32_MAX

void steps_clear(struct steps *s);
/* The sources of inferred steps, as bits; 0: not inferred. */
unsigned steps_inferred_from(const struct steps *s);
/* Whether annotations of this name can be steps without --step names. */
bool steps_is_name(struct str name);
/*
 * The name that markers of its kind share: "ProfilerStep#*" of
 * "ProfilerStep#3", a glob; false: no step's name.
 */
bool steps_put_kind(struct str name, struct buf *b) USE_RESULT;
/* Sets family, number and iteration by the name; false: not a step's name. */
bool steps_marker_of(
    struct steps *s, struct str name, struct step_marker *m) USE_RESULT;
/* Takes an event of a prologue; event is the caller's number of it. */
void steps_add(struct steps *s, const struct dict *st, const struct event *ev,
    uint32_t event);
/* Call after the last marker: a thread launched n GPU events at a time. */
void steps_launched(struct steps *s, uint32_t thread, int64_t ns, uint64_t n);
/*
 * Finds the windows. If threads of a process launch equally much, the one whose
 * steps begin first has them. If no step is marked as slowest, the one with the
 * longest wall time is.
 */
void steps_ready(struct steps *s);
/*
 * The window of a process at a time, or NULL. Without a pid: the first process
 * with one.
 */
const struct step_window *steps_at(
    const struct steps *s, const struct key *pid, int64_t ns);
/* The index of a process in processes; STEPS_NONE: it has no steps. */
uint32_t steps_process(const struct steps *s, const struct key *pid);
/* When the process's next window begins or the current one ends; INT64_MAX:
 * never. */
int64_t steps_border(const struct steps *s, const struct key *pid, int64_t ns);
/* The iteration of a window; NULL: it is none. */
const struct iteration *steps_iteration(
    const struct steps *s, const struct step_window *w);
/* The phase of a process at a time: the first of its only_iterations. */
enum phase steps_phase(
    const struct steps *s, const struct key *pid, int64_t ns);
/* The name of a window: a number, "between" (in st), or nothing. */
struct key step_key(const struct step_window *w, struct dict *st);
/* A phase as a word in st. */
struct key phase_key(enum phase phase, struct dict *st);
void steps_free(struct steps *s);

/*
 * The steps of a source, from all that it recorded. Finds nothing if globs are
 * given and none matches, or without both steps and GPU events.
 */
void steps_find(struct steps *s, const struct host *h, const struct str *globs,
    size_t nglobs);
/*
 * Sets has_gpu of all windows, from all GPU events. For a step without any, the
 * recording does not show whether the GPU was idle.
 */
void steps_find_gpu(struct steps *s, const struct host *h);
/* The index of the window in which a host event starts, or STEPS_NONE. */
uint32_t steps_window_of(
    const struct steps *s, const struct host *h, uint32_t event);
/* The name of the module whose runs are steps, or INTERN_NONE. */
uint32_t steps_module(const struct steps *s, const struct host *h);
/* Whether a host event marks a step: its name differs in each step. */
bool steps_is_marker(
    const struct steps *s, const struct host *h, uint32_t event);

#endif
