/* SPDX-License-Identifier: MIT */
/*
 * What ends a program, tested in a child: child_run(fn) calls fn in a fork and
 * keeps its exit status and what it wrote.
 *
 *	struct child c = child_run(fails);
 *	is_int(c.status, 1, "the status");
 *	is_str(c.err, "tl: what it said\n", "the message");
 */
#ifndef TESTS_UNIT_CHILD_H
#define TESTS_UNIT_CHILD_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
	int status; /* or 128 + the signal */
	char out[4096], err[8192];
};

static void
child_read(FILE *f, char *to, size_t size)
{
	size_t n;

	rewind(f);
	n = fread(to, 1, size - 1, f);
	to[n] = '\0';
	fclose(f);
}

static struct child
child_run(void (*fn)(void))
{
	FILE *out = tmpfile(), *err = tmpfile();
	static struct child c;
	int status;
	pid_t pid;

	if (out == NULL || err == NULL)
		abort();
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		fn();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	c.status =
	    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	child_read(out, c.out, sizeof c.out);
	child_read(err, c.err, sizeof c.err);
	return c;
}

#endif
