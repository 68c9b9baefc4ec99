/* SPDX-License-Identifier: MIT */
/* Inside base only: message lines, shared by err.c and report.c. */
#ifndef TL_BASE_ERR_LINE_H
#define TL_BASE_ERR_LINE_H

#include "base/base.h"

/* Longer messages are cut: names in traces reach megabytes. */
#define MESSAGE_MAX 4096

struct line {
	char p[MESSAGE_MAX + 512]; /* room for synopsis and hint */
	size_t len;
};

/*
 * Length of the well-formed UTF-8 character at p; 0 if it is invalid, or
 * controls a terminal: C0, DEL and C1.
 */
size_t visible_char(const unsigned char *p, size_t n);
/* Appends as much of s as fits below limit; false if some was cut. */
bool message_visible(struct line *l, size_t limit, const char *s, size_t n);
void message_text(struct line *l, const char *s);
/* One write(2); if that fails, nobody is left to tell. */
void message_emit(const struct line *l);

/* Writes a record of an error; false without a descriptor, or if it fails. */
bool status_error(const char *program, const char *id, struct str sentence);

/* This thread will end the program: others wait. */
void err_claim_death(void);
/* Runs the hooks, and ends. */
noreturn void err_end_nothing(void);
/* Makes exit_status() return EXIT_WARNINGS from now on. */
void err_warned(void);

#endif
