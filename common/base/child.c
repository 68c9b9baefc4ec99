/* SPDX-License-Identifier: MIT */
/* Child processes do not outlive a program that dies. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

/* More than any program runs at a time; no memory is needed where it may lack.
 */
#define CHILDREN_MAX 1024

extern char **environ;

static pid_t children[CHILDREN_MAX];
static size_t nchildren;
static pid_t parent; /* whose they are: a child has none of its parent's */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void
children_end(void)
{
	if (parent != getpid())
		return;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < nchildren; i++)
		(void)kill(children[i], SIGTERM);
	for (size_t i = 0; i < nchildren; i++)
		while (waitpid(children[i], NULL, 0) < 0 && errno == EINTR)
			;
	nchildren = 0;
	pthread_mutex_unlock(&lock);
}

void
child_began(pid_t pid)
{
	err_at_death(children_end);
	pthread_mutex_lock(&lock);
	if (parent != getpid())
		nchildren = 0;
	parent = getpid();
	if (nchildren < CHILDREN_MAX)
		children[nchildren++] = pid;
	pthread_mutex_unlock(&lock);
}

bool
child_ended(pid_t pid)
{
	size_t before;
	bool is_ours;

	pthread_mutex_lock(&lock);
	before = nchildren;
	for (size_t i = 0; i < nchildren; i++)
		if (children[i] == pid)
			children[i--] = children[--nchildren];
	is_ours = nchildren < before;
	pthread_mutex_unlock(&lock);
	return is_ours;
}

pid_t
child_spawn(char *const *argv, int in, int out)
{
	posix_spawn_file_actions_t fa;
	pid_t pid;

	posix_spawn_file_actions_init(&fa);
	if (in >= 0)
		posix_spawn_file_actions_adddup2(&fa, in, STDIN_FILENO);
	if (out >= 0)
		posix_spawn_file_actions_adddup2(&fa, out, STDOUT_FILENO);
	errno = posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	if (errno != 0)
		return -1;
	child_began(pid);
	return pid;
}

int
child_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die_errno("waiting for a child");
	(void)child_ended(pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
