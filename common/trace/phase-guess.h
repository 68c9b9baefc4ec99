/* SPDX-License-Identifier: MIT */
/*
 * phase-guess: the phase of what ops launch. If a source has iterations, it is
 * that of the iteration in which the op began. Else six methods guess whether
 * it works on prompts or on tokens, by its name, its kernels' names, its
 * arguments, or its number of calls. Whoever prints a guess names its method.
 *
 *	struct phases p = PHASES;
 *	phases_event(&p, dict, &in->ev, source);	each event
 *	mark = phases_mark(&p, dict, launcher);		each one
 *	phases_decide(&p, dict);			after the last
 *	g = phases_of(&p, mark);
 *	phase_words[g.phase], phase_method_words[g.by]
 *
 * Memory: that of iterations, and 64 bytes for each distinct op, kernels and
 * arguments.
 */
#ifndef TL_TRACE_PHASE_GUESS_H
#define TL_TRACE_PHASE_GUESS_H

#include "trace/launcher.h"
#include "trace/steps.h"

enum phase_method {
	METHOD_ANNOTATION, /* nothing is guessed, or it is outside */
	METHOD_HYBRID,
	METHOD_UNION,
	METHOD_KERNEL_NAMES,
	METHOD_OPERATION_FREQUENCY,
	METHOD_FRAMEWORK_APIS,
	METHOD_ATTENTION_PATTERNS,
	METHOD_GEMM_PARAMS,
	METHOD_COUNT /* of a user: annotation if there are any, else hybrid */
};
extern const char *const phase_method_words[METHOD_COUNT + 1];

/* A phase and its method; for a hybrid the one that decided. */
struct phase_guess {
	enum phase phase; /* prefill, decode or mixed */
	enum phase_method by;
};

/* Facts about an op that launches. */
struct phase_facts {
	struct str op;
	struct str text;  /* its name and its kernels', by spaces */
	struct str dims;  /* JSON; empty: not recorded */
	int64_t launched; /* how many launchers have this name */
};

/* Launches per name: quantiles over the names. */
struct phase_counts {
	double q15, q30, q50, q70;
};

/* Sorts counts. */
void phase_counts_of(struct phase_counts *c, int64_t *counts, size_t n);
/* threshold: more rows in its arguments mean a prompt. */
struct phase_guess phase_guess(enum phase_method m, int64_t threshold,
    const struct phase_counts *c, const struct phase_facts *f);

/* ---- of all launchers of a trace ---- */

#define PHASE_THRESHOLD 10

/* The phase of a launcher, or the row that decides it at the end. */
struct phase_mark {
	uint32_t row; /* STEPS_NONE: none */
	uint8_t phase;
};

struct phase_row {
	uint32_t op, text, dims; /* numbers in the dictionary */
	uint32_t name;           /* in launched */
	struct phase_guess guess;
};

struct phases {
	enum phase_method method; /* METHOD_COUNT: the default */
	int64_t threshold;
	bool may_guess; /* without iterations; else there is no phase */
	bool any;       /* a source has iterations */
	/* words as numbers in the dictionary, after phases_decide() */
	uint32_t phase_words[PHASE_COUNT], method_words[METHOD_COUNT];
	/* private */
	VEC(struct phase_row) rows; /* distinct ones */
	struct steps iterations;    /* of the source being read */
	uint32_t source;
	bool is_ready;
	struct map numbers, names;
	VEC(int64_t) launched; /* by name */
	struct buf text;
};

#define PHASES                                                           \
	{                                                                \
		.method = METHOD_COUNT, .threshold = PHASE_THRESHOLD,    \
		.iterations.only_iterations = true, .source = UINT32_MAX \
	}
/* Sources are numbered over all files. */
void phases_event(struct phases *p, const struct dict *st,
    const struct event *ev, uint32_t source);
/* Whether phases of the current source come from its iterations. */
bool phases_are_recorded(const struct phases *p);
/*
 * The phase, without guesses, of what begins on a track at a time. INTERN_NONE:
 * in any process.
 */
enum phase phases_at(const struct phases *p, const struct dict *st,
    uint32_t track, int64_t ts_ns);
struct phase_mark phases_mark(
    struct phases *p, struct dict *st, const struct launcher *o);
void phases_decide(struct phases *p, struct dict *st);
struct phase_guess phases_of(const struct phases *p, struct phase_mark mark);
void phases_free(struct phases *p);

#endif
