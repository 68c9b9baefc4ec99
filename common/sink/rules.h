/* SPDX-License-Identifier: MIT */
/*
 * rules: categories of kernels by their names. They are data: a JSON object of
 * categories, each with a list of texts, tried in this order.
 *
 *	{ "@base": [],
 *	  "GEMM": { "of": ["gemm"], "GEMM-FP8": ["fp8"], "GEMM": ["*"] },
 *	  "Reduce": ["<sum>"] }
 *
 * A text may be anywhere in the name, in any case. With a "*" it is a shell
 * pattern for the whole name; "<x>" is x as a whole word, "^x" is in the first
 * word, "@collective" means collectives. A category that is an object groups
 * others, which are tried if one of the texts "of" matches, and none before it
 * that begins with "!". "@base" ignores parameters and template arguments.
 */
#ifndef TL_SINK_RULES_H
#define TL_SINK_RULES_H

#include "sink/sink.h"

struct rule {
	struct str text, category;
	uint32_t group; /* in groups; 0: none */
};

/* Starts as zeroes. */
struct rules {
	bool is_base;
	VEC(struct rule) list; /* texts of groups have no category */
	VEC(struct rule) of;   /* texts of groups, by group */
	uint32_t ngroups;
	struct map known; /* by name */
	struct arena *mem;
};

/* Loads built-in rules by name, others by path. */
void rules_load(struct rules *r, const char *name);
/* The category of the first matching text, or "Other": an interned string. */
uint32_t rules_category(const struct sink *s, struct rules *r, uint32_t name);
void rules_free(struct rules *r);

#endif
