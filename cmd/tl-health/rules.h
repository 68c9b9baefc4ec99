/* SPDX-License-Identifier: MIT */
/*
 * rules: what a site demands of its traces (--rules FILE), beside the checks.
 * A rule is about rows of a table, which the program prints that the catalogue
 * names, or about events of the common selection. rules-load.c reads and checks
 * the file, rules-tables.c and rules-events.c judge.
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
	double number;     /* or what the other column is multiplied by */
	struct str other;  /* that column; empty: none */
	struct str like;   /* of a row's text */
	struct str source; /* as written */
};

struct site_rule {
	size_t line;
	struct str id, text; /* text: what is printed with it, or empty */
	enum rule_level level;
	const struct sheet *sheet; /* NULL: about events */
	VEC(const char *) words;   /* options of the sheet's program */
	VEC(struct rule_test) where;
	struct rule_test require; /* line 0: none yet */
	struct select select;     /* of events */
	struct str under;         /* an event above is like it; or empty */
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

/* A rule, and the sources of a file. */
struct outcome {
	const struct site_rule *rule;
	uint32_t source; /* the first of them */
	enum rule_result result;
	uint64_t n; /* rows or events that break it */
	struct str
	    uid; /* of the first, or of what its row is about; or empty */
	struct str why; /* what was found, or why it was not judged */
};
typedef VEC(struct outcome) outcome_list;

/* An error names file and line, and is one of usage. */
struct site_rules *rules_load(const char *path);
/* The same of a text, into rules that have a path and an arena. */
void rules_parse(struct site_rules *r, struct str text);
void rules_free(struct site_rules *r);
noreturn void rule_die(const struct site_rules *r, size_t line, const char *fmt,
    ...) PRINTF_LIKE(3, 4);

/*
 * The outcome of each rule on a file, in the order of the rules. tree is a
 * descriptor of its tree; texts live in mem.
 */
void rules_judge(const struct site_rules *r, outcome_list *to, int tree,
    const char *name, uint32_t source, struct arena *mem);
/* Its two halves. */
void rules_judge_tables(const struct site_rules *r, struct outcome *out,
    int tree, const char *name, struct arena *mem);
void rules_judge_events(const struct site_rules *r, struct outcome *out,
    int tree, const char *name, struct arena *mem);

/* Whether a figure is as the test demands. */
bool rule_holds(const struct rule_test *t, double value, double than);
/* "percent 13.2 is not <= 10" */
void rule_put_broken(
    struct buf *b, const struct rule_test *t, double value, double than);

/* ---- ask.c ---- */

struct asked {
	const char *program;
	const char *const *words; /* its options */
	size_t nwords;
	int tree;         /* a descriptor of its input */
	const char *name; /* of that, for messages */
};
/*
 * Has a program print tables, with all columns, into the sink; its status.
 * Warnings are passed on; *wrong: why it has no answer, in mem. A failure ends
 * this program.
 */
int table_ask(const struct asked *a, const struct table_sink *sink,
    struct arena *mem, struct str *wrong);

/* The tree of a file in a nameless file, as tl-tree makes it. */
int tree_spool(const char *path);
/* From its beginning; the descriptor stays open. */
struct stream_in *tree_open(int tree, const char *name, struct dict *dict);

#endif
