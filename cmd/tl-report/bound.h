/* SPDX-License-Identifier: MIT */
/*
 * The verdict: what bounds the time, with its evidence, and what could be won
 * back. All of it is made of what tl-idle says that the time went on.
 *
 * budget.c    what the time of each source went on
 * bound.c     the decision, and its sentence
 * evidence.c  the sentences behind it
 * gain.c      the largest times that could be won back
 */
#ifndef TL_REPORT_BOUND_H
#define TL_REPORT_BOUND_H

#include "trace/account.h"

#include "cmd/tl-report/report.h"

struct figures;
struct line;
struct rank;

#define TOP_GAINS 3
/* Percent: what is most of something, and what is little. */
#define MOST (200.0 / 3)
#define LITTLE (100.0 / 3)

/* Idle time of a cause in calls of a name. */
struct part {
	uint8_t class; /* of the account */
	uint8_t cause;
	struct str call, uid; /* uid: of the longest piece's event; or empty */
	struct str label;     /* of its rank, among several */
	int64_t ns, longest_ns, inferred_ns, calls;
	int64_t behind_ns; /* host work behind these calls */
};

/* What the time of a source went on (tl-idle --steps), or of all of them. */
struct budget {
	struct str label; /* as the rank's */
	int64_t n;        /* windows that were added up; 0: none */
	int64_t ns[ACCOUNT_COUNT];
	int64_t window_ns, steps, head_ns;
	bool is_inferred; /* the steps are */
	bool are_runs;    /* they are: of the main XLA module */
	unsigned head_cause;
	int64_t launched, starved, interval_ns, work_ns, graph_ns;
	/* the gap with most time of the host */
	int64_t gap_ns;
	unsigned gap_cause;
	struct str gap_call, gap_uid, gap_prev, gap_next;
	int64_t opened_ns;
	struct str opened_by, opened_uid;
	/* what host and GPU do while work that is missing runs */
	struct str blocked_in, blocked_uid, waits_by, waits_uid;
	bool has_python;
	VEC(struct part) parts;
};

/* The step time of a source, from tl-steps. */
struct pace {
	bool is_gpu; /* the host only enqueues */
	int64_t enqueue_ns;
	int64_t drain_ns; /* from the last step's end to that of its work */
};

/* What would be gained, and how. */
struct gain {
	int64_t ns;
	struct str what, note, uid;
};

/* A verdict in the making. */
struct bound {
	struct figures *f;
	const struct budget *w;
	int64_t ns;                    /* of the window what was recorded */
	unsigned order[ACCOUNT_COUNT]; /* of classes, the largest first */
	size_t n;
	unsigned class;
	bool is_mixed, is_partly, is_launch, is_sync;
	const struct rank *late; /* whose verdict is the job's, or NULL */
	struct buf *b;
};

/* ---- budget.c ---- */

/* Rows of tl-idle's and tl-steps' tables. */
void budget_take(void *ctx, const struct line *l);
void budget_take_part(void *ctx, const struct line *l);
void budget_take_pace(void *ctx, const struct line *l);
/* Of a rank, NULL: there is none; or of all, into sum. */
const struct budget *budget_of(const struct figures *f, struct str label);
void budget_sum(struct figures *f, struct budget *sum);
/* The part of a class that took most; NULL: none. */
const struct part *budget_part(const struct budget *w, unsigned class);
void budgets_free(struct figures *f);

/* ---- bound.c ---- */

/* Percent: from here on the causes of idle time are shown. */
#define IDLE_SHOWN 20
/* Of GPU work: by what of it has a model, is compute-bound, and is lost. */
const char *bound_of_gpu(
    int64_t busy_ns, int64_t modelled_ns, int64_t compute_ns, int64_t lost_ns);
/* A word of ours that begins with the device, if any, as that is called. */
void bound_put_word(const struct figures *f, const char *word, struct buf *b);
/* The verdict of a class by its word; of "launch" as well. */
const char *bound_named(struct str class);
/* What bounds the time: of all, or of the rank that the others wait for. */
void bound_put(struct figures *f, struct buf *b);
/* What collectives took over all process groups: waiting, and all. */
void sum_collectives(
    const struct figures *f, int64_t *wait_ns, int64_t *all_ns);
/* The rank that others waited for longest, and how long they waited for all. */
const struct rank *most_awaited(const struct figures *f, int64_t *caused_ns);

/* ---- evidence.c ---- */

/* " (python 2.076 ms, op 1.498 ms)": the causes of a class, to two thirds. */
void put_layers(const struct bound *m, unsigned class);
/* ", uid 7", if there is one. */
void put_uid(struct buf *b, struct str uid);
/* "hipFree (3.004 s: 1,360 calls, longest wait 68.153 ms, uid 26612)". */
void put_part_of(const struct budget *w, const struct part *p, struct buf *b);
/* " (the longest behind cudaStreamSynchronize, uid 7)". */
void put_opener(const struct bound *m);
/* Sentences, each where it has something to say. */
void evidence_put(const struct bound *m);
/* "1,360 calls, longest wait 68.153 ms, uid 26612". */
void put_calls(const struct budget *w, const struct part *p, struct buf *b);
/* "1,360". */
void put_count(struct buf *b, int64_t n);
/* An id as words: blanks for its underscores. */
void put_words(struct buf *b, const char *id);
/* A cause in a sentence: "none" says nothing there. */
void put_cause(struct buf *b, enum cause cause);

/* ---- gain.c ---- */

/* The largest times that could be won back, of the window of the verdict. */
void gains_find(struct figures *f, const struct bound *m);

#endif
