/* SPDX-License-Identifier: MIT */
/* step: annotations that are steps: ProfilerStep#N, and those of serving */
#ifndef TL_TRACE_STEP_H
#define TL_TRACE_STEP_H

#include "base/base.h"

/* N of "ProfilerStep#N". */
bool step_of_name(struct str name, int64_t *step) USE_RESULT;

#define WALK_NO_STEP INT64_MIN

enum step_phase { PHASE_NONE, PHASE_PREFILL, PHASE_DECODE, PHASE_MIXED };

/*
 * A step of a serving framework, which writes its batch into an annotation's
 * name.
 *
 *	execute_6147_context_2(sq6144sk7144sqsq..sqsk..)_generation_3(sq3...)
 *	execute_context_2(6144)_generation_3(3)
 *	step[DECODE bs=64 ... sqsq=64 ...]	step[EXTEND bs=2 toks=14721]
 *	decode[bs=32 tok=128 ... sqsq=512 ...]	prefill[bs=6 tok=17408 ...]
 *	execute_diffusion_1_1024x1024
 */
struct serving_step {
	int64_t start, end;       /* the caller's */
	int64_t batch;            /* -1: its name doesn't tell */
	int64_t requests, tokens; /* likewise */
	enum step_phase phase;
	int tier; /* 0: detailed names, 1: others, 2: no step */
};

struct serving_step serving_step_of(struct str name);

#endif
