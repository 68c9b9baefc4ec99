/* SPDX-License-Identifier: MIT */
/*
 * phase: what the name of a serving iteration says about it.
 *
 *	execute_6147_context_2(sq6144sk7144sqsq..sqsk..)_generation_3(sq3...)
 *	execute_context_2(6144)_generation_3(3)
 *	step[DECODE bs=64 ... g_sqsq=64 ...]	step[EXTEND bs=2 toks=14721]
 *	decode[bs=32 tok=128 ... sqsq=512 ...]	prefill[bs=6 tok=17408 ...]
 *	execute_diffusion_1_1024x1024
 *
 * The forms are data: phases/builtin.json, preceded by a site's own file in the
 * same format. The first form that fits counts.
 *
 *	[ { "name": "sglang_native", "tier": "native", "phase": "prefill",
 *	    "pattern": "step[EXTEND*]", "like": "*bs=[0-9]*",
 *	    "keys": { "bs": "context_requests batch_size" },
 *	    "examples": [ { "name": "step[EXTEND bs=2]", "batch_size": 2 } ] },
 *	  ... ]
 *
 * A name begins like the pattern. "#" is a number, "{FIELD...}" a number for
 * these fields. "*" is all up to the closing bracket: words and KEY=VALUE,
 * whose numbers go to the fields in "keys". In "bs=117/128" the second number
 * goes to the field after a slash. A bare word counts as 1. If keys give a
 * field several numbers, the first in "keys" that is not 0 counts.
 *
 * "like" is a shell pattern for the whole name. "sums" are keys: has_sqsk is
 * set only with all of them; without "sums" it is set in the detailed tier.
 * Without "phase" the requests decide. "examples" are checked when a file is
 * read.
 */
#ifndef TL_TRACE_PHASE_H
#define TL_TRACE_PHASE_H

#include "stream/stream.h"

enum phase {
	PHASE_OUTSIDE, /* outside of iterations */
	PHASE_GENERIC, /* an iteration of unknown phase */
	PHASE_PREFILL,
	PHASE_DECODE,
	PHASE_MIXED,
	PHASE_COUNT,
};
/* The words in columns and options. */
extern const char *const phase_words[PHASE_COUNT];
/* PHASE_COUNT: unknown. */
enum phase phase_of_word(struct str word);

/* Only annotations of a source's best tier are its iterations. */
enum iteration_tier { ITERATION_DETAILED, ITERATION_NATIVE, ITERATION_NOT };

struct iteration {
	uint8_t tier, phase;
	bool has_sqsk; /* the name has the sums c_* and g_* */
	/*
	 * has_load: the name has requests, tokens or a batch. Without it fields
	 * are those of one request that generates or is at its prompt.
	 */
	bool has_requests, has_load;
	uint32_t format; /* iteration_format_name() */
	/* context: requests at their prompt; sums are their new tokens */
	int64_t context_requests, generation_requests;
	int64_t context_sum, generation_sum;
	int64_t batch_size, num_requests;
	/* over requests: new tokens (sq), all keys (sk), squares, products */
	int64_t c_sq, c_sk, c_sqsq, c_sqsk;
	int64_t g_sq, g_sk, g_sqsq, g_sqsk;
	/* -1: not in the name */
	int64_t padded;           /* batch of the replayed graph */
	int64_t spec;             /* speculative tokens a request */
	int64_t p, d;             /* requests at their prompt, and generating */
	int64_t overlap;          /* two batches side by side */
	uint32_t ctx_at, ctx_len; /* the list "ctx" in the name; 0: none */
};

/*
 * False: no name of an iteration. The fields are then those of one request that
 * generates one token.
 */
bool iteration_of_name(struct str name, struct iteration *it);
struct str iteration_format_name(uint32_t format);
/* New tokens; -1: not in the name. */
int64_t iteration_tokens(const struct iteration *it);

/*
 * A site's own forms, tried before the others. A bad file ends the program.
 * tl-tree stores the text, without white space, as a fact of each source: later
 * programs then know the forms.
 */
void iteration_formats_load(const char *path);
/* The text of the last file; empty: none. */
struct str iteration_formats_text(void);
/* Forms of the source that is being read, if it has any. */
void iteration_formats_of(const struct source *src);
#define ITERATION_FORMATS_FACT "annotations"
/* The same for a text; false: why has the error, and nothing was added. */
bool iteration_formats_read(struct str text, struct buf *why) USE_RESULT;
/* Forgets all forms. */
void iteration_formats_free(void);

#endif
