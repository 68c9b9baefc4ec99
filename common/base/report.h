/* SPDX-License-Identifier: MIT */
/*
 * What happened, as data: each message has an id, a level, parameters and one
 * English sentence, all in base/report-ids.h. The sentence is for people only;
 * a program that runs others gets records on a descriptor.
 *
 *	report(MSG_UNLINKED, path, nunlinked);
 *	if (nkernels == 0)
 *		die_nothing(MSG_NO_GPU_EVENTS, path, nevents);
 *
 * Arguments are texts (char *, struct str) and integers, in the order in which
 * the sentence first names them; a debug build checks their number and types.
 *
 * A record is one line of NDJSON, at most STATUS_MAX bytes, in one write(2):
 *
 *	{"program":"tl-ops","level":"warning","id":"unlinked",
 *	 "text":"a.json: 3 GPU events without a launch","file":"a.json","n":3}
 *
 * With --status-fd N, or in a program started by one that has it, records go
 * to that descriptor, not sentences to standard error. die() writes a record,
 * too: level "error", id "failed", "usage" or "write".
 */
#ifndef TL_BASE_REPORT_H
#define TL_BASE_REPORT_H

#include "base/c.h"
#include "base/text.h"

enum report_level {
	LEVEL_NOTE,    /* the answer is unaffected */
	LEVEL_WARNING, /* the answer may be incomplete: exit status 3 */
	LEVEL_NOTHING, /* nothing of the kind in the input: exit status 5 */
	LEVEL_ERROR,   /* no answer: exit status 1 or 2 */
	LEVEL_COUNT,
};

extern const char *const report_levels[]; /* "note", ...; ends with NULL */

enum report_id {
#define NOTE(id, text) MSG_##id,
#define WARNING(id, text) MSG_##id,
#define NOTHING(id, text) MSG_##id,
#define REASON(id, text)
#include "base/report-ids.h"
	MSG_COUNT,
};

enum reason {
#define NOTE(id, text)
#define WARNING(id, text)
#define NOTHING(id, text)
#define REASON(id, text) REASON_##id,
#include "base/report-ids.h"
	REASON_COUNT,
};

#define REPORT_ARGS_MAX 7
#define STATUS_MAX 4096 /* a pipe takes this in one piece */

struct report_arg {
	bool is_text;
	struct str text; /* borrowed for the call */
	int64_t n;
};

struct report_arg report_text(const char *s);
struct report_arg report_str(struct str s);
struct report_arg report_int(int64_t n);
struct report_arg report_uint(uint64_t n);

/* clang-format off */
/* Ends the arguments: a text without an address, which none of them is. */
#define REPORT_ARGS_END { .is_text = true, .text = { NULL, 0 } }

#define REPORT_ARG(x) \
	_Generic((x), struct str: report_str, char *: report_text, \
	    const char *: report_text, unsigned: report_uint, \
	    unsigned long: report_uint, unsigned long long: report_uint, \
	    default: report_int)(x)
#define REPORT_MAP1(a) REPORT_ARG(a)
#define REPORT_MAP2(a, ...) REPORT_ARG(a), REPORT_MAP1(__VA_ARGS__)
#define REPORT_MAP3(a, ...) REPORT_ARG(a), REPORT_MAP2(__VA_ARGS__)
#define REPORT_MAP4(a, ...) REPORT_ARG(a), REPORT_MAP3(__VA_ARGS__)
#define REPORT_MAP5(a, ...) REPORT_ARG(a), REPORT_MAP4(__VA_ARGS__)
#define REPORT_MAP6(a, ...) REPORT_ARG(a), REPORT_MAP5(__VA_ARGS__)
#define REPORT_MAP7(a, ...) REPORT_ARG(a), REPORT_MAP6(__VA_ARGS__)
#define REPORT_MAP8(a, ...) REPORT_ARG(a), REPORT_MAP7(__VA_ARGS__)
#define REPORT_PICK(a, b, c, d, e, f, g, h, map, ...) map
#define REPORT_ALL(...) \
	((const struct report_arg[]){ REPORT_PICK(__VA_ARGS__, REPORT_MAP8, \
	    REPORT_MAP7, REPORT_MAP6, REPORT_MAP5, REPORT_MAP4, REPORT_MAP3, \
	    REPORT_MAP2, REPORT_MAP1, 0)(__VA_ARGS__), REPORT_ARGS_END })
/* clang-format on */

/* report(MSG_X, ARGUMENT...): the id, then the arguments. */
#define report(...) report_args(REPORT_ALL(__VA_ARGS__))
void report_args(const struct report_arg *args);
/* The same for a message of level NOTHING; ends with EXIT_NOTHING. */
#define die_nothing(...) die_nothing_args(REPORT_ALL(__VA_ARGS__))
noreturn void die_nothing_args(const struct report_arg *args);

/* The text of a reason, as a parameter. */
const char *report_reason(enum reason why);

/* ---- about messages, for those who pass them on ---- */

const char *report_word(enum report_id id); /* "no-gpu-events" */
enum report_level report_level(enum report_id id);
/* MSG_COUNT if there is none. */
enum report_id report_find(struct str word);

struct report_params {
	struct str name[REPORT_ARGS_MAX];
	bool is_text[REPORT_ARGS_MAX];
	size_t n;
};

/* Parameters of the sentence; false if it is malformed, for a test. */
bool report_params(enum report_id id, struct report_params *p);
/* Writes the sentence to out, cut to size; returns its length. */
size_t report_sentence(
    enum report_id id, const struct report_arg *args, char *out, size_t size);
/*
 * Passes on another program's report, under that program's name, as about one
 * side of a comparison; none: empty.
 */
void report_again(const char *program, struct str side, enum report_id id,
    const struct report_arg *args);
/* The same for an error, which has only a sentence. */
void report_error_again(
    const char *program, const char *id, struct str sentence);

/* ---- the descriptor ---- */

/* For opt_start() and the option --status-fd: children inherit it. */
void report_begin(void);
void report_use_fd(int fd);

#endif
