/* SPDX-License-Identifier: MIT */
/*
 * rules: a site's demands on its traces (--rules FILE), beside the checks. A
 * rule is about rows of a table of the catalogue, which its program prints, or
 * about selected events. rules-load.c reads and checks the file, rules-tables.c
 * and rules-events.c judge.
 */
#ifndef TL_HEALTH_RULES_H
#define TL_HEALTH_RULES_H

#include "reader/reader.h"
#include "table/catalogue.h"
#include "trace/select.h"

enum rule_level {
	RULE_NOTE,
	RULE_WARNING,
	RULE_ERROR,
	RULE_LEVELS,
};
extern const char *const rule_level_words[]; /* ends with NULL */

enum rule_op {
	RULE_LE,
	RULE_GE,
	RULE_LESS,
	RULE_MORE,
	RULE_UNLIKE,
	RULE_LIKE,
	RULE_OPS,
};
extern const char *const rule_op_words[RULE_OPS];

/* COLUMN OP NUMBER, COLUMN OP [NUMBER *] COLUMN, or COLUMN OP GLOB. */
struct rule_test {
	size_t line;
	struct str column;
	enum rule_op op;
	bool has_number, is_time;
	double number;     /* number, or factor of other */
	struct str other;  /* the other column; empty: none */
	struct str like;   /* pattern of a text */
	struct str source; /* as in the file */
};

struct site_rule {
	size_t line;
	struct str id, text; /* text: of `say', or empty */
	enum rule_level level;
	const struct sheet *sheet; /* NULL: a rule about events */
	VEC(const char *) words;   /* options of the program */
	VEC(struct rule_test) where;
	struct rule_test require; /* line 0: missing */
	struct select select;     /* of events */
	struct str under;         /* pattern of an event above, or empty */
};

struct site_rules {
	const char *path;
	struct arena *mem;
	VEC(struct site_rule) list;
};

enum rule_result {
	RULE_PASSED,
	RULE_BROKEN,
	RULE_UNJUDGED,
};

/* Outcome of a rule on the sources of a file. */
struct outcome {
	const struct site_rule *rule;
	uint32_t source; /* the first source */
	enum rule_result result;
	uint64_t n;     /* rows or events that break it */
	struct str uid; /* of the first event, or of the row's; or empty */
	struct str why; /* evidence, or why it was not judged */
};
typedef VEC(struct outcome) outcome_list;

/* Reads a file; an error is one of usage and names file and line. */
struct site_rules *rules_load(const char *path);
/* Parses a text into rules that have a path and an arena. */
void rules_parse(struct site_rules *r, struct str text);
void rules_free(struct site_rules *r);
noreturn void rule_die(const struct site_rules *r, size_t line, const char *fmt,
    ...) PRINTF_LIKE(3, 4);

/*
 * Outcome of each rule on a file, in the order of the rules. tree: descriptor
 * of its tree; texts live in mem.
 */
void rules_judge(const struct site_rules *r, outcome_list *to, int tree,
    const char *name, uint32_t source, struct arena *mem);
/* The rules about tables; about events. */
void rules_judge_tables(const struct site_rules *r, struct outcome *out,
    int tree, const char *name, struct arena *mem);
void rules_judge_events(const struct site_rules *r, struct outcome *out,
    int tree, const char *name, struct arena *mem);

/* Whether a figure passes the test. */
bool rule_holds(const struct rule_test *t, double value, double than);
/* "percent 13.2 is not <= 10" */
void rule_put_broken(
    struct buf *b, const struct rule_test *t, double value, double than);

/* ---- ask.c ---- */

struct asked {
	const char *program;
	const char *const *words; /* options */
	size_t nwords;
	int tree;         /* descriptor of the input */
	const char *name; /* its name in messages */
};
/*
 * Runs a program that prints tables with all columns into the sink; returns its
 * status. Passes on warnings; *wrong: why it has no answer, in mem. Its failure
 * ends this program.
 */
int table_ask(const struct asked *a, const struct table_sink *sink,
    struct arena *mem, struct str *wrong);

/* Writes the tree of a file to an unnamed file. */
int tree_spool(const char *path);
/* Opens it from the start; the descriptor stays open. */
struct stream_in *tree_open(int tree, const char *name, struct dict *dict);

#endif
