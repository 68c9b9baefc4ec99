/* SPDX-License-Identifier: MIT */
/*
 * budget: what the time of a window went on, read back from tl-idle's tables
 * (--steps --by class,cause,call), and the bottleneck.
 *
 *	struct budgets all = { .text = arena_create() };
 *	table_each("n/idle_window.ndjson", budget_take, &all);
 *	table_each("n/idle.ndjson", budget_take_part, &all);
 *	budget_sum(&all, &sum);
 *	budget_decide(&sum, &d);
 */
#ifndef TL_SINK_BUDGET_H
#define TL_SINK_BUDGET_H

#include "reader/lines.h"
#include "trace/account.h"

/* GPU idle by cause and name of the call. */
struct idle_part {
	uint8_t class; /* of the account */
	uint8_t cause;
	struct str call, uid; /* uid: of the longest piece's event; or empty */
	struct str label;     /* its rank's, if there are several */
	int64_t ns, longest_ns, inferred_ns, calls;
	int64_t behind_ns; /* host work after these calls */
	struct str lock;   /* another thread's call that uid waited for */
};

/* What the time of a source was spent on (tl-idle --steps), or of all. */
struct budget {
	struct str label; /* its rank's */
	int64_t n;        /* number of windows; 0: none */
	int64_t ns[ACCOUNT_COUNT];
	int64_t window_ns, steps, head_ns;
	bool is_inferred; /* steps are inferred */
	bool are_runs;    /* steps are runs of the main XLA module */
	unsigned head_cause;
	int64_t launched, starved, interval_ns, work_ns, graph_ns;
	int64_t outside_ns; /* host time that no graph would have */
	/* the gap with most host time */
	int64_t gap_ns;
	unsigned gap_cause;
	struct str gap_call, gap_uid, gap_prev, gap_next;
	int64_t opened_ns;
	struct str opened_by, opened_uid;
	/* what host and GPU do while work that the other waits for runs */
	struct str blocked_in, blocked_uid, waits_by, waits_uid;
	struct str comm_uid, copy_uid; /* the longest ones */
	/* of all processes with steps; steps: the most of one */
	int64_t steps_all, processes;
	bool has_ops, has_python;
	bool is_tpu; /* one is a TPU */
	VEC(struct idle_part) parts;
};

/* Of all sources; strings live in the arena. */
struct budgets {
	VEC(struct budget) list;
	struct arena *text;
};

/* For cause_advice(). */
unsigned budget_advice_of(const struct budget *w);
/* A cause by its word, or CAUSE_NOTHING. */
unsigned budget_cause(struct str word);
/* The source of a row, among several. */
struct str budget_label(const struct line *l);
/* Take rows of idle_window and of idle; ctx is the budgets. */
void budget_take(void *ctx, const struct line *l);
void budget_take_part(void *ctx, const struct line *l);
/* That of a rank, or NULL; or of all, whose parts are the caller's. */
const struct budget *budget_of(const struct budgets *b, struct str label);
void budget_sum(const struct budgets *b, struct budget *sum);
/*
 * The time of a class that ran, as in a timeline: classes of GPU work and
 * communication also hold gaps between queued work.
 */
int64_t budget_work(const struct budget *w, unsigned class);
/* The longest part of a class, or NULL. */
const struct idle_part *budget_part(const struct budget *w, unsigned class);
void budgets_free(struct budgets *b);

/* What bounds the time: a class, or none. */
struct decision {
	int64_t ns;                    /* recorded time of the window */
	unsigned order[ACCOUNT_COUNT]; /* classes, the largest first */
	size_t n;
	unsigned class;
	bool is_mixed, is_partly, is_launch, is_sync;
};
void budget_decide(const struct budget *w, struct decision *d);

/* What ranks wait for each other in collectives, over all process groups. */
struct waiting {
	int64_t wait_ns, all_ns; /* waiting, and all time in collectives */
	int64_t caused_ns;       /* waiting for one rank that was last */
	int64_t most_ns;         /* of that, for the rank that caused most */
};
/*
 * Whether that rank bounds the job: it causes half of the waiting or more,
 * waiting is two thirds of the time in collectives, and exposed communication a
 * tenth of all time.
 */
bool budget_is_late(const struct budget *sum, const struct waiting *w);

#endif
