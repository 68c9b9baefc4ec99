/* SPDX-License-Identifier: MIT */
/*
 * Files that appear under their name only when whole.
 *
 * Each is NAME.tmpXXXXXX until then. die() and the signals that end a program
 * remove what is not finished; a list that only grows tells them, as a signal
 * handler may look at it at any time.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/out_priv.h"

struct out_tmp {
	atomic_bool live;
	pid_t owner; /* a forked child leaves its parent's alone */
	char *path;  /* the final path */
	char *tmp;   /* the present one */
	struct out_tmp *next;
};

static _Atomic(struct out_tmp *) list;
static pthread_once_t once = PTHREAD_ONCE_INIT;

void
out_remove_temporaries(void)
{
	for (struct out_tmp *t = atomic_load(&list); t != NULL; t = t->next)
		if (t->owner == getpid() && atomic_exchange(&t->live, false))
			unlink(t->tmp);
}

static void
watch(void)
{
	err_at_signal(out_remove_temporaries);
	err_at_death(out_remove_temporaries);
}

static void
push(struct out_tmp *t)
{
	t->owner = getpid();
	t->next = atomic_load(&list);
	while (!atomic_compare_exchange_weak(&list, &t->next, t))
		;
}

/*
 * The file behind path, so that a symbolic link stays one; and its mode, or the
 * one that open(2) would give.
 */
static char *
target(const char *path, mode_t *mode)
{
	char *real = realpath(path, NULL);
	struct stat st;
	mode_t mask;

	if (real != NULL && stat(real, &st) == 0) {
		if (access(real, W_OK) != 0)
			die_errno("%s", path);
		*mode = st.st_mode & 07777;
		return real;
	}
	free(real);
	mask = umask(0);
	umask(mask);
	*mode = 0666 & ~mask;
	return xstrdup(path);
}

struct out_tmp *
out_tmp_open(const char *path, int *fd)
{
	struct out_tmp *t = xcalloc(1, sizeof *t);
	sigset_t all, old;
	struct buf b = { 0 };
	mode_t mode;
	int err;

	pthread_once(&once, watch);
	t->path = target(path, &mode);
	buf_puts(&b, t->path);
	buf_put(&b, ".tmpXXXXXX", sizeof ".tmpXXXXXX");
	t->tmp = b.p;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	*fd = mkostemp(t->tmp, O_CLOEXEC);
	err = errno;
	if (*fd >= 0) {
		atomic_store(&t->live, true);
		push(t);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = err;
	if (*fd < 0 || fchmod(*fd, mode) != 0)
		die_errno("%s", path);
	return t;
}

void
out_tmp_take(const char *path)
{
	struct out_tmp *t = xcalloc(1, sizeof *t);

	pthread_once(&once, watch);
	t->tmp = xstrdup(path);
	atomic_store(&t->live, true);
	push(t);
}

const char *
out_tmp_where(const struct out_tmp *t)
{
	return t->tmp;
}

int
out_tmp_reopen(const struct out_tmp *t)
{
	return open(t->tmp, O_WRONLY | O_APPEND | O_CLOEXEC);
}

int
out_tmp_keep(struct out_tmp *t)
{
	if (rename(t->tmp, t->path) != 0)
		return -1;
	atomic_store(&t->live, false);
	return 0;
}

void
out_remove_left(const char *path)
{
	mode_t mode;
	char *whole = target(path, &mode);
	struct buf pattern = { 0 };
	glob_t found;

	for (const char *p = whole; *p != '\0'; p++)
		buf_printf(&pattern, strchr("*?[\\", *p) ? "\\%c" : "%c", *p);
	buf_put(&pattern, ".tmp??????", sizeof ".tmp??????");
	if (glob(pattern.p, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	buf_free(&pattern);
	free(whole);
}
