/* SPDX-License-Identifier: MIT */
/*
 * Child processes do not outlive this program, however it ends: die() and
 * signals end them and wait for them; after kill -9 the kernel ends them
 * (PR_SET_PDEATHSIG). That signal is sent when the thread that started the
 * child ends, so the main thread starts them.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

/* More than any program runs at once. A fixed array, as memory may be short. */
#define CHILDREN_MAX 1024

/* 0: a free entry. A signal handler may read it at any time. */
static _Atomic(pid_t) children[CHILDREN_MAX];
static _Atomic(pid_t) parent; /* the owner: a forked child owns none of these */

/* ---- which there are ---- */

void
children_end(void)
{
	pid_t pid;

	if (atomic_load(&parent) != getpid())
		return;
	for (size_t i = 0; i < CHILDREN_MAX; i++)
		if ((pid = atomic_load(&children[i])) > 0) {
			(void)kill(pid, SIGTERM);
			(void)kill(pid, SIGCONT); /* it may be stopped */
		}
	for (size_t i = 0; i < CHILDREN_MAX; i++)
		if ((pid = atomic_exchange(&children[i], 0)) > 0)
			while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
				;
}

/* Replaces a number by another; false if it was not there. */
static bool
put(pid_t number, pid_t in_place_of)
{
	for (size_t i = 0; i < CHILDREN_MAX; i++) {
		pid_t at = in_place_of;

		if (atomic_compare_exchange_strong(&children[i], &at, number))
			return true;
	}
	return false;
}

/* Blocks signals until a started child is in the list. */
static void
hold_signals(sigset_t *before)
{
	sigset_t all;

	err_at_death(children_end);
	err_at_signal(children_end);
	if (atomic_load(&parent) != getpid())
		for (size_t i = 0; i < CHILDREN_MAX; i++)
			atomic_store(&children[i], 0);
	atomic_store(&parent, getpid());
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

/* ---- starting ---- */

/* In the child: it ends when its parent does. */
static void
follow(pid_t its_parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != its_parent)
		_exit(EXIT_NO_ANSWER); /* its parent is gone already */
}

pid_t
child_fork(void)
{
	sigset_t before;
	pid_t us = getpid(), pid;

	hold_signals(&before);
	pid = fork();
	if (pid == 0)
		follow(us);
	else if (pid > 0)
		(void)put(pid, 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		die_errno("fork");
	return pid;
}

/* Our handlers are not for the child, which still has our memory. */
static void
reset_signals(void)
{
	struct sigaction sa = { .sa_handler = SIG_DFL }, old;

	for (int sig = 1; sig < NSIG; sig++)
		if (sigaction(sig, NULL, &old) == 0 &&
		    ((old.sa_flags & SA_SIGINFO) != 0 ||
			old.sa_handler != SIG_IGN))
			(void)sigaction(sig, &sa, NULL);
	/* SIGPIPE, which we ignore, must end the child */
	(void)sigaction(SIGPIPE, &sa, NULL);
}

/* Moves our descriptors away first, as they may have the numbers needed. */
static bool
place(const int fd[CHILD_FDS])
{
	int from[CHILD_FDS];

	for (int i = 0; i < CHILD_FDS; i++) {
		if (fd[i] < 0)
			continue;
		from[i] = fcntl(fd[i], F_DUPFD_CLOEXEC, CHILD_FDS);
		if (from[i] < 0)
			return false;
	}
	for (int i = 0; i < CHILD_FDS; i++)
		if (fd[i] >= 0 && dup2(from[i], i) < 0)
			return false;
	return true;
}

pid_t
child_start(const struct child_how *how)
{
	volatile int error = 0; /* the child sets it, in our memory */
	sigset_t before;
	pid_t us = getpid(), pid;

	hold_signals(&before);
	pid = vfork();
	if (pid == 0) {
		follow(us);
		reset_signals();
		if (place(how->fd)) {
			(void)sigprocmask(SIG_SETMASK, &before, NULL);
			(void)execvp(how->argv[0], how->argv);
		}
		error = errno;
		_exit(127);
	}
	if (pid > 0 && error == 0)
		(void)put(pid, 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pid > 0 && error != 0) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		errno = error;
		return -1;
	}
	return pid;
}

pid_t
child_spawn(char *const *argv, int in, int out)
{
	const struct child_how how = { argv, { in, out, -1, -1 } };

	return child_start(&how);
}

/* ---- waiting ---- */

/* Waits for the next one, and removes it before its number can be reused. */
static pid_t
wait_for(idtype_t type, pid_t pid, int *status)
{
	siginfo_t si;
	int raw;

	do {
		while (waitid(type, (id_t)pid, &si, WEXITED | WNOWAIT) < 0)
			if (errno != EINTR)
				die_errno("waiting for a child");
		pid = put(0, si.si_pid) ? si.si_pid : 0;
		while (waitpid(si.si_pid, &raw, 0) < 0)
			if (errno != EINTR)
				die_errno("waiting for a child");
	} while (pid == 0 && type == P_ALL);
	*status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
	return pid;
}

int
child_wait(pid_t pid)
{
	int status;

	(void)wait_for(P_PID, pid, &status);
	return status;
}

pid_t
child_wait_any(int *status)
{
	return wait_for(P_ALL, 0, status);
}

bool
child_has_warned(const char *about, const char *program, int status)
{
	const char *colon = about != NULL ? ": " : "";

	about = about != NULL ? about : "";
	if (child_signal(status) > 0)
		die("%s%s%s was killed by signal %d", about, colon, program,
		    child_signal(status));
	if (status != EXIT_DONE && status != EXIT_WARNINGS)
		die("%s%s%s failed (above)", about, colon, program);
	return status == EXIT_WARNINGS;
}
