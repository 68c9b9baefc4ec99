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
/* Prints the reason, the synopsis, "try '... --help'"; exit status 2. */
noreturn void die_usage(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* A line on stderr that is no status record (summaries of -v). */
void note(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* For main() to return: EXIT_DONE, or EXIT_WARNINGS after a warning. */
int exit_status(void);
/* The synopsis for die_usage(); borrowed. opt_start() calls it. */
void err_synopsis(const char *synopsis);
/* Runs before die() ends the process (removes temporary files). */
void err_at_death(void (*fn)(void));
/*
 * Runs in the handler of a signal that ends the program, unless that has a
 * handler of its own: async-signal-safe calls only.
 */
void err_at_signal(void (*fn)(void));

#endif
