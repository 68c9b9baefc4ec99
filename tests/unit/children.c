/* SPDX-License-Identifier: MIT */
/* base/child.c: a program that dies ends its children, and only its own */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "base/base.h"
#include "tests/unit/child.h"
#include "tests/unit/tap.h"

/* A child that would say something later; its number goes to stdout. */
static void
start(void)
{
	pid_t pid = child_fork();

	if (pid == 0) {
		sleep(60);
		note("left behind");
		_exit(0);
	}
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
	pid_t pid = child_fork();

	err_program("tl-x");
	if (pid == 0)
		_exit(0);
	start();
	if (child_wait(pid) != 0)
		abort();
	die("no");
}

/* A child inherits the list of its siblings, which it must not end. */
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
	die("as the parent");
}

static void
terminated(void)
{
	err_program("tl-x");
	start();
	start();
	raise(SIGTERM);
}

static void
killed(void)
{
	start();
	start();
	raise(SIGKILL);
}

/* Starts a program by name, on descriptors that are in use here. */
static void
starts_program(void)
{
	char *const argv[] = { (char *)"sh", (char *)"-c",
		(char *)"cat; echo said >&3; kill -9 $$", NULL };
	struct child_how how = { argv, { -1, -1, -1, -1 } };
	int fds[2];
	pid_t pid;
	int status;

	err_program("tl-x");
	close(0);
	if (pipe(fds) != 0) /* 0 and another */
		abort();
	if (write(fds[1], "read ", 5) != 5)
		abort();
	how.fd[3] = dup(1);
	how.fd[0] = fds[0];
	fcntl(fds[1], F_SETFD, FD_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
	pid = child_start(&how);
	close(fds[1]);
	if (child_wait_any(&status) != pid)
		abort();
	(void)child_has_warned("file", "sh", status);
}

static void
starts_none(void)
{
	char *const argv[] = { (char *)"/no/such/program", NULL };

	err_program("tl-x");
	if (child_spawn(argv, -1, -1) < 0)
		die_errno("%s", argv[0]);
}

/* Gone, or dead but not waited for. */
static bool
is_gone(pid_t pid)
{
	char path[64], state = 'Z';
	FILE *f;

	if (kill(pid, 0) != 0)
		return errno == ESRCH;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (f != NULL && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'Z';
	if (f != NULL)
		fclose(f);
	return state == 'Z' || state == 'X';
}

static bool
all_gone(const char *numbers)
{
	char *end;

	for (long pid; (pid = strtol(numbers, &end, 10)) > 0; numbers = end)
		if (!is_gone((pid_t)pid))
			return false;
	return true;
}

/* Children get a signal, but nothing waits for them. */
static bool
soon_gone(const char *numbers)
{
	for (int i = 0; i < 3000 && !all_gone(numbers); i++)
		usleep(10000);
	return all_gone(numbers);
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
	c = child_run(terminated);
	is_int(c.status, 128 + SIGTERM, "a signal ends it");
	ok(c.out[0] != '\0' && all_gone(c.out), "and its children");
	c = child_run(killed);
	is_int(c.status, 128 + SIGKILL, "it is killed outright");
	ok(c.out[0] != '\0' && soon_gone(c.out), "its children hear of it");
	c = child_run(starts_program);
	is_int(c.status, 1, "a program that is killed");
	is_str(c.out, "read said\n", "its input and output were ours");
	ok(strstr(c.err, "tl-x: file: sh ") == c.err &&
		strstr(c.err, "signal 9") != NULL,
	    "it is named");
	c = child_run(starts_none);
	is_str(c.err, "tl-x: /no/such/program: No such file or directory\n",
	    "no such program");
	done_testing();
}
