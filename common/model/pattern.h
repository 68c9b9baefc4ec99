/* SPDX-License-Identifier: MIT */
/* pattern: Lua's patterns, in bounded time. */
#ifndef TL_MODEL_PATTERN_H
#define TL_MODEL_PATTERN_H

#include "base/base.h"

#define MODEL_PATTERN_STEPS 200000 /* steps of one match */
#define PATTERN_CAPTURES 32

struct capture {
	size_t start, len;
};

struct pattern_match {
	size_t start, end; /* of the whole match */
	int ncaptures, nsteps;
	struct capture captures[PATTERN_CAPTURES];
};

/*
 * Finds a Lua pattern in text from init on (without %f, %b and position
 * captures). 1: found, 0: not found, -1: *error has the reason.
 */
int pattern_find(struct str text, struct str pattern, size_t init,
    struct pattern_match *m, const char **error);

#endif
