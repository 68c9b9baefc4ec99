/* SPDX-License-Identifier: MIT */
/* Child processes do not outlive a program that dies. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

/* More than any program runs at a time; no memory is needed where it may lack.
 */
#define CHILDREN_MAX 1024

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

void
child_ended(pid_t pid)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < nchildren; i++)
		if (children[i] == pid)
			children[i--] = children[--nchildren];
	pthread_mutex_unlock(&lock);
}
