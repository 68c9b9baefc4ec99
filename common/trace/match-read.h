/* SPDX-License-Identifier: MIT */
/*
 * match-read: the iterations of two traces, and those that match.
 *
 *	match_traces(&m, &rules, paths, dict);
 *	for each of m.list: blocks of m.side[0] and m.side[1]
 *	match_traces_free(&m);
 *
 * Memory: 204 bytes an iteration.
 */
#ifndef TL_TRACE_MATCH_READ_H
#define TL_TRACE_MATCH_READ_H

#include "stream/stream.h"
#include "trace/match.h"

#define MATCH_PHASES 3

/* An iteration, besides the fields of its name. */
struct match_step {
	int64_t start_ns, dur_ns;
	int64_t number; /* as for --step */
	uint32_t name;
};

/* A process of a source that has iterations. */
struct match_process {
	struct key pid;
	uint32_t src;
	int64_t rank; /* of its source; MATCH_NO_RANK: unknown */
};

#define MATCH_NO_RANK INT64_MIN

struct match_trace {
	const char *path;
	VEC(struct iteration) iterations; /* by process, then time */
	VEC(struct match_step) steps;     /* the same */
	VEC(uint32_t) process_of;         /* the same */
	VEC(struct match_process) processes;
};

/* The query. */
struct match_query {
	uint8_t phases[MATCH_PHASES]; /* in this order */
	size_t nphases;
	size_t num_steps; /* 0: whole runs */
	struct match_rules rules;
	const char *approx; /* the option that makes them approximate */
	bool is_told;       /* whether to warn about the traces */
};

#define MATCH_QUERY(approx_option)                                     \
	{                                                              \
		.phases = { PHASE_DECODE, PHASE_MIXED }, .nphases = 2, \
		.num_steps = MATCH_STEPS, .rules = { .top = 1 },       \
		.approx = approx_option                                \
	}

struct matches {
	struct match_trace trace[MATCH_SIDES];
	struct match_side side[MATCH_SIDES];
	match_list list;                          /* by phase, nearest first */
	struct match_tally tallies[MATCH_PHASES]; /* of the query's phases */
};

/* Reads an option "decode,mixed"; may_approx: also with "approx". */
void match_opt(
    struct match_query *q, const struct optparse *op, bool may_approx);
/* Reads both traces; exits if nothing matches. */
void match_traces(struct matches *m, const struct match_query *q,
    const char *const paths[MATCH_SIDES], struct dict *st);
const struct match_block *match_block_of(
    const struct matches *m, const struct match *x, int side);
/*
 * "14-17", and of several processes "14-17@SRC:PID": its iterations, as --step
 * has them.
 */
void match_put_steps(struct buf *b, const struct matches *m,
    const struct match *x, int side, const struct dict *st);
/* The process of a block. */
const struct match_process *match_process_of(
    const struct matches *m, const struct match *x, int side);
/* "0:4242", as after the "@" of --step. */
void match_put_process(
    struct buf *b, const struct match_process *p, const struct dict *st);
/* Whether any of a phase matched. */
bool match_has_phase(const struct matches *m, uint8_t phase);
/* Why none did, in the reference's words. */
void match_put_reason(struct buf *b, const struct match_tally *t);
void match_traces_free(struct matches *m);

#endif
