/* SPDX-License-Identifier: MIT */
/* Inside phase only: the forms of names of iterations. */
#ifndef TL_TRACE_PHASE_INSIDE_H
#define TL_TRACE_PHASE_INSIDE_H

#include "trace/phase.h"

#define FIELDS_MAX 4 /* of one number */
#define KEYS_MAX 64  /* of one format */

/* Destination of a number: offsets in struct iteration. */
struct form_target {
	uint16_t fields[FIELDS_MAX];
	uint16_t rest; /* for the number after a slash; 0: none */
	uint8_t n;
};

/* A piece of a pattern: literal text, digits, or keys and values. */
struct form_part {
	enum { PART_TEXT, PART_NUMBER, PART_KEYS } what;
	struct str text;
	struct form_target to;
};

struct form_key {
	struct str key;
	struct form_target to;
	bool is_list; /* it is the list "ctx" */
	bool is_sum;  /* has_sqsk needs it */
};

struct form {
	struct str name, like; /* like is empty: any */
	uint8_t tier, phase;   /* PHASE_OUTSIDE: the requests decide */
	VEC(struct form_part) parts;
	VEC(struct form_key) keys;
};

/* False: the name has another form, and *it is undefined. */
bool form_matches(const struct form *f, struct str name, struct iteration *it);

#endif
