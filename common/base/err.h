/* SPDX-License-Identifier: MIT */
/* err: the end of the program and its status; other messages: report.h. */
#ifndef TL_BASE_ERR_H
#define TL_BASE_ERR_H

#include "base/c.h"

/* Exit statuses, the same in all programs; the table is in tl(7). */
enum {
	EXIT_DONE = 0,
	EXIT_NO_ANSWER = 1,
	EXIT_USAGE = 2,
	EXIT_WARNINGS = 3, /* completed with warnings */
	EXIT_GATE = 4,
	EXIT_NOTHING = 5, /* nothing of the kind in the input */
};

/* Remembers the program's name for messages (basename of argv[0]). */
void err_program(const char *argv0);
const char *err_program_name(void);
noreturn void die(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* The same, with ": " and the text of errno at the end. */
noreturn void die_errno(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* The reason, the synopsis, one line "try '... --help'", exit 2. */
noreturn void die_usage(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* A line on stderr that is no record of what happened (summaries of -v). */
void note(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* EXIT_DONE, or EXIT_WARNINGS after a warning: what main() returns. */
int exit_status(void);
/* What die_usage() shows as the synopsis; borrowed. opt_start() calls it. */
void err_synopsis(const char *synopsis);
/* Called by die() before the process ends (removes temporary files). */
void err_at_death(void (*fn)(void));
/*
 * Called in the handler of a signal that ends the program, where that has none
 * of its own: nothing but what is async-signal-safe.
 */
void err_at_signal(void (*fn)(void));

#endif
