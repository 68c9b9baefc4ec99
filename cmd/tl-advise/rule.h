/* SPDX-License-Identifier: MIT */
/* Facts, rules, texts: rules.c, fit.c. */
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

/* A row of a table, or of several. */
struct facts {
	struct str table;
	VEC(struct field) list;
	/* part of a gain, a sum of times, that is wall time */
	double passes[GAINS];
	bool is_sum;
	bool is_bound; /* only bounds of it are known */
};

void fact_put(struct facts *f, const char *id, struct cell v);
/* A percentage; none if whole is 0. */
void fact_share(struct facts *f, const char *id, int64_t part, int64_t whole);
/* NULL: missing or empty. */
const struct cell *fact_of(const struct facts *f, struct str id);
/* 0: no number. */
double fact_real(const struct facts *f, struct str id);

/* ---- rules.c ---- */

enum test {
	TEST_LIKE,    /* matches a pattern */
	TEST_UNLIKE,  /* matches none */
	TEST_THERE,   /* has a value */
	TEST_MISSING, /* has none */
	TEST_LESS,    /* numbers */
	TEST_AT_MOST,
	TEST_MORE,
	TEST_AT_LEAST,
};

struct condition {
	struct str id;
	enum test test;
	struct str like; /* patterns, '|' between */
	double number;
};

struct rule {
	struct str name, table, section, category, insight, action;
	struct str confidence, claims, uid;
	struct str gain; /* a column in ns; empty: none */
	double factors[GAINS];
	double least; /* smallest mid gain, in percent of the time */
	bool also;    /* later rules are tried, too */
	VEC(struct condition) when;
};

/* A library, by names of ops or kernels. */
struct library {
	struct str name;
	bool of_op;
	VEC(struct str) like;
};

struct rules {
	VEC(struct rule) list; /* in order */
	VEC(struct library) libraries;
	struct arena *mem;
};

/*
 * Adds rules from text, which must live as long and have room behind it for
 * json_split(); false: why says what is wrong, some may be added.
 */
bool rules_read(struct rules *r, struct str text, struct buf *why);
/* Those of files, then the built-in ones. */
void rules_load(struct rules *r, char *const *paths, size_t n);
void rules_free(struct rules *r);

/* ---- fit.c ---- */

bool rule_fits(const struct rule *r, const struct facts *f);
/*
 * A text with its {facts}; [ ] is dropped if a fact in it is missing. false: a
 * fact outside is missing.
 */
bool rule_say(struct buf *b, struct str text, const struct facts *f);
/* Gains of a row, in ns. */
void rule_gains(
    const struct rule *r, const struct facts *f, int64_t gain_ns[GAINS]);

#endif
