/* SPDX-License-Identifier: MIT */
/* base/child.c: a program that dies leaves no child behind, and only its own */
#include <errno.h>
#include <signal.h>

#include "base/base.h"
#include "tests/unit/child.h"
#include "tests/unit/tap.h"

/* A child that would say something later; its number goes to stdout. */
static void
start(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		sleep(60);
		note("left behind");
		_exit(0);
	}
	if (pid < 0)
		abort();
	child_began(pid);
	printf("%d ", (int)pid);
	fflush(stdout);
}

static void
dies(void)
{
	err_program("tl-x");
	start();
	start();
	die("no");
}

static void
ends_one(void)
{
	pid_t pid = fork();

	err_program("tl-x");
	if (pid == 0)
		_exit(0);
	child_began(pid);
	start();
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	child_ended(pid);
	die("no");
}

/* What a child inherits are its siblings: they are not its to end. */
static void
child_dies(void)
{
	int status;
	pid_t pid;

	err_program("tl-x");
	start();
	pid = fork();
	if (pid == 0)
		die("as a child");
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	child_began(pid); /* gone already: waiting for it is harmless */
	die("as the parent");
}

static bool
all_gone(const char *numbers)
{
	char *end;

	for (long pid; (pid = strtol(numbers, &end, 10)) > 0; numbers = end)
		if (kill((pid_t)pid, 0) == 0 || errno != ESRCH)
			return false;
	return true;
}

int
main(void)
{
	struct child c = child_run(dies);

	is_int(c.status, 1, "it dies");
	is_str(c.err, "tl-x: no\n", "only its own words");
	ok(c.out[0] != '\0' && all_gone(c.out), "its children are gone");
	c = child_run(ends_one);
	ok(c.status == 1 && all_gone(c.out), "one had ended before");
	c = child_run(child_dies);
	is_int(c.status, 1, "a child dies, then its parent");
	is_str(c.err, "tl-x: as a child\ntl-x: as the parent\n", "both say so");
	ok(all_gone(c.out), "the other child is gone");
	done_testing();
}
