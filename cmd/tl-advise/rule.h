/* SPDX-License-Identifier: MIT */
/* Facts, the rules that fit them, and what these say: rules.c, fit.c. */
#ifndef TL_ADVISE_RULE_H
#define TL_ADVISE_RULE_H

#include "table/table.h"
#include "json/json.h"

struct advice;

/* ---- facts ---- */

enum { LOW, MID, HIGH, GAINS };

struct field {
	struct str id;
	struct cell v;
};

/* Of a table, or one that is made of several. */
struct facts {
	struct str table;
	VEC(struct field) list;
	/* what part of its gain passes, which is a sum of times; else all */
	double passes[GAINS];
	bool is_sum;
	bool is_bound; /* how much of it passes has bounds alone */
};

void fact_put(struct facts *f, const char *id, struct cell v);
/* A percentage; none of nothing. */
void fact_share(struct facts *f, const char *id, int64_t part, int64_t whole);
/* NULL: it is not there, or empty. */
const struct cell *fact_of(const struct facts *f, struct str id);
/* 0: it is no number. */
double fact_real(const struct facts *f, struct str id);

/* ---- rules.c ---- */

enum test {
	TEST_LIKE,    /* one of patterns */
	TEST_UNLIKE,  /* none of them */
	TEST_THERE,   /* it has a value */
	TEST_MISSING, /* it has none */
	TEST_LESS,    /* numbers */
	TEST_AT_MOST,
	TEST_MORE,
	TEST_AT_LEAST,
};

struct condition {
	struct str id;
	enum test test;
	struct str like; /* patterns by '|' */
	double number;
};

struct rule {
	struct str name, table, section, category, insight, action;
	struct str confidence, claims, uid;
	struct str gain; /* a fact, in ns; empty: none */
	double factors[GAINS];
	double least; /* percent of the time that the gain (mid) must reach */
	bool also;    /* later rules of its table are tried, too */
	VEC(struct condition) when;
};

/* Which library a kernel is of, by its op's name or its own. */
struct library {
	struct str name;
	bool of_op;
	VEC(struct str) like;
};

struct rules {
	VEC(struct rule) list; /* in the order in which they are tried */
	VEC(struct library) libraries;
	struct arena *mem;
};

/* Adds those of a text, which lives as long as they do and has room behind it
 * for json_split(); false: why, and some may be there. */
bool rules_read(struct rules *r, struct str text, struct buf *why);
/* Those that are built in; those of files come before. */
void rules_load(struct rules *r, char *const *paths, size_t n);
void rules_free(struct rules *r);

/* ---- fit.c ---- */

bool rule_fits(const struct rule *r, const struct facts *f);
/* A text with its {facts}; what stands in [ ] goes if one of its has no value.
 * false: one outside of them has none, so that it is no sentence. */
bool rule_say(struct buf *b, struct str text, const struct facts *f);
/* The gains of a row, in ns. */
void rule_gains(
    const struct rule *r, const struct facts *f, int64_t gain_ns[GAINS]);

#endif
