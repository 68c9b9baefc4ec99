/* SPDX-License-Identifier: MIT */
/*
 * The verdict: what bounds the time, with its evidence. All of it comes from
 * tl-idle's account of the time.
 *
 * bound.c     what bounds the time, in a sentence (sink/budget.h decides)
 * evidence.c  the sentences behind it
 * kinds.c     steps that differ in kind
 * window.c    the time that verdict and bar are about
 */
#ifndef TL_REPORT_BOUND_H
#define TL_REPORT_BOUND_H

#include "sink/budget.h"

#include "cmd/tl-report/report.h"

struct figures;
struct rank;

/* Percent: most of a whole, and little of it. */
#define MOST (200.0 / 3)
#define LITTLE (100.0 / 3)

/* The step time of a source, from tl-steps. */
struct pace {
	bool is_gpu; /* the GPU's time: the host only enqueues */
	int64_t enqueue_ns;
	int64_t drain_ns; /* from the last step's end to that of its work */
};

/* A step of tl-steps. */
struct step_time {
	struct str label;        /* its rank's */
	int64_t wall_ns, gpu_ns; /* -1: unknown; gpu: from end to end of work */
	int64_t ns;              /* the one that is compared */
	int64_t launched_ns;     /* GPU time of what it launched */
	int64_t idle_ns;
	unsigned cause; /* the largest of its idle time */
	int64_t cause_ns;
};

/* A verdict in the making. */
struct bound {
	struct figures *f;
	const struct budget *w;
	struct decision is;
	const struct rank *late; /* the rank that bounds the job, or NULL */
	struct buf *b;
};

/* ---- window.c ---- */

/* After the last row of tl-idle's tables. */
void window_make(struct figures *f);
/*
 * Whether annotations select: events launched in them have no window that says
 * how long the GPU was idle, and so no verdict.
 */
bool window_is_named(const struct figures *f);
/* "inside 3 annotations like X" */
void window_put_named(const struct figures *f, struct buf *b);
/* No event of the host says why the GPU waits. */
bool window_is_blind(const struct budget *w);
/* Kernels of rocprofv3 alone: collectives count as kernels, and the window is
 * that of the process. */
bool window_is_of_kernels(const struct figures *f);
void put_steps(const struct budget *w, struct buf *b);

/* ---- bound.c ---- */

/* Rows of tl-idle's and tl-steps' tables. */
void bound_take_window(void *ctx, const struct line *l);
void bound_take_idle(void *ctx, const struct line *l);
void bound_take_pace(void *ctx, const struct line *l);

#define MIXED_SHOWN 3                 /* classes of a mixed verdict */
#define NO_HOST_EVENT "no host event" /* the word of CAUSE_NONE */

/* Percent: from here on causes of idle time are shown. */
#define IDLE_SHOWN 20
/* From GPU work: all, with a model, compute-bound, lost to the roofline. */
const char *bound_of_gpu(
    int64_t busy_ns, int64_t modelled_ns, int64_t compute_ns, int64_t lost_ns);
/* Replaces a leading "GPU" by the device: "TPU-bound". */
void bound_put_word(const struct figures *f, const char *word, struct buf *b);
/* The class of an account is work of the GPU. */
bool bound_is_work(unsigned class);
/* The verdict begins with what is missing. */
bool bound_shows_missing(const struct budget *w);
/* How the sum of ops is called: it has what was launched outside ops, too. */
const char *bound_op_time(const struct figures *f);
/* The verdict of a class, or of "launch". */
const char *bound_named(struct str class);
/* The verdict over all ranks, or of the late rank. */
void bound_put(struct figures *f, struct buf *b);
/* Time in collectives over all process groups: waiting, and all. */
void sum_collectives(
    const struct figures *f, int64_t *wait_ns, int64_t *all_ns);
/* The rank that others waited for longest, and the sum of their waiting. */
const struct rank *most_awaited(const struct figures *f, int64_t *caused_ns);

/* ---- kinds.c ---- */

void kinds_take(void *ctx, const struct line *l);
/* Sentences on steps that differ in kind. */
void kinds_put(const struct bound *m);

/* ---- evidence.c ---- */

/* Causes of what is not recorded; returns the largest. */
enum cause put_lacks(const struct bound *m);
/* " (python 2.076 ms, op 1.498 ms)": the largest causes, up to two thirds. */
void put_layers(const struct bound *m, unsigned class);
/* ", uid 7", if there is one. */
void put_uid(struct buf *b, struct str uid);
/* "hipFree (3.004 s: 1,360 calls, longest wait 68.153 ms, uid 26612)". */
void put_part_of(
    const struct budget *w, const struct idle_part *p, struct buf *b);
/* " (the longest after cudaStreamSynchronize, uid 7)". */
void put_opener(const struct bound *m);
/* Each sentence that applies. */
void evidence_put(const struct bound *m);
/* "1,360 calls, longest wait 68.153 ms, uid 26612". */
void put_calls(
    const struct budget *w, const struct idle_part *p, struct buf *b);
/* An id with blanks for its underscores. */
void put_words(struct buf *b, const char *id);
/* A cause as words: CAUSE_NONE as NO_HOST_EVENT. */
void put_cause(struct buf *b, enum cause cause);

#endif
