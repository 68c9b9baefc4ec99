/* SPDX-License-Identifier: MIT */
/*
 * rules: categories of kernels by their names. They are data: a JSON object of
 * categories and lists of texts, in the order in which they are tried.
 *
 *	{ "@base": [],
 *	  "GEMM": { "of": ["gemm"], "GEMM-FP8": ["fp8"], "GEMM": ["*"] },
 *	  "Reduce": ["<sum>"] }
 *
 * A text is looked for in any case; with a "*" it is a shell pattern over the
 * whole name, "<x>" is x as a whole word, "^x" is in the name's first word,
 * "@collective" stands for collectives. A category that is an object groups
 * others, which are tried where one of the texts "of" fits, and none in front
 * of it that begins with "!". With "@base" names are looked at without
 * parameters and template arguments.
 */
#ifndef TL_SINK_RULES_H
#define TL_SINK_RULES_H

#include "sink/sink.h"

struct rule {
	struct str text, category;
	uint32_t group; /* in groups; 0: none */
};

/* Zeroes to start with. */
struct rules {
	bool is_base;
	VEC(struct rule) list; /* texts of groups as well, which have none */
	VEC(struct rule) of;   /* texts of groups, by group */
	uint32_t ngroups;
	struct map known; /* by name */
	struct arena *mem;
};

/* Built-in ones by their word, others by their path. */
void rules_load(struct rules *r, const char *name);
/* What the first text that fits is of, "Other" if none does: a number. */
uint32_t rules_category(const struct sink *s, struct rules *r, uint32_t name);
void rules_free(struct rules *r);

#endif
