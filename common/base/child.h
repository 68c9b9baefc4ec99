/* SPDX-License-Identifier: MIT */
/*
 * child: processes that this one starts. However it dies, they are ended;
 * unless it is killed outright, it also waits for them, so that they print
 * nothing later.
 */
#ifndef TL_BASE_CHILD_H
#define TL_BASE_CHILD_H

#include "base/c.h"

#define CHILD_FDS 4 /* standard ones, and one for status records */

struct child_how {
	char *const *argv; /* [0] is found by PATH */
	int fd[CHILD_FDS]; /* becomes its 0, 1 ...; -1: inherited */
};

/* Main thread only. -1 and errno if it can't be run. */
pid_t child_start(const struct child_how *how) USE_RESULT;
/* The same with these as its standard input and output. */
pid_t child_spawn(char *const *argv, int in, int out) USE_RESULT;
/* As fork(2), which it never fails to do. */
pid_t child_fork(void);
/* Waits for it; returns its exit status, or 128 + the signal that ended it. */
int child_wait(pid_t pid);
/* Waits for any child. */
pid_t child_wait_any(int *status);
/* The signal that ended it, from that status, or 0. */
static inline int
child_signal(int status)
{
	return status > 128 ? status - 128 : 0;
}
/*
 * Whether it completed with warnings; if it failed, this program ends, too.
 * about, if not NULL, begins the message.
 */
bool child_has_warned(const char *about, const char *program, int status);
/* Ends those that still run, as this program's death does. */
void children_end(void);

#endif
