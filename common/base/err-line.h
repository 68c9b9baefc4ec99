/* SPDX-License-Identifier: MIT */
/* Inside base only: lines of messages, which err.c and report.c share. */
#ifndef TL_BASE_ERR_LINE_H
#define TL_BASE_ERR_LINE_H

#include "base/base.h"

/* Longer messages are cut: names in traces reach megabytes. */
#define MESSAGE_MAX 4096

struct line {
	char p[MESSAGE_MAX + 512]; /* the rest: synopsis and hint */
	size_t len;
};

/*
 * Length of the well-formed UTF-8 character at p, 0 if there is none or if it
 * is one that a terminal obeys: C0, DEL and C1 controls.
 */
size_t visible_char(const unsigned char *p, size_t n);
/* Appends as much of s as fits below limit; false if some did not. */
bool message_visible(struct line *l, size_t limit, const char *s, size_t n);
void message_text(struct line *l, const char *s);
/* One write; when even that fails there is nobody left to tell. */
void message_emit(const struct line *l);

/* A record of an error; false if there is no descriptor, or it fails. */
bool status_error(const char *program, const char *id, struct str sentence);

/* This thread ends the program: others wait. */
void err_claim_death(void);
/* The hooks, and the end. */
noreturn void err_end_nothing(void);
/* exit_status() is EXIT_WARNINGS from now on. */
void err_warned(void);

#endif
