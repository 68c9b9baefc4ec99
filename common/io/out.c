/* SPDX-License-Identifier: MIT */
/* Buffered output: each failure is an error that names the file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/out_priv.h"

#define OUT_SIZE ((size_t)256 << 10)
#define OUT_PLAIN INT_MIN /* as a level: no zstd */

int
write_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n > 0) {
		ssize_t done = write(fd, p, n);

		if (done >= 0) {
			p += done;
			n -= (size_t)done;
		} else if (errno == EAGAIN) {
			struct pollfd pfd = { .fd = fd, .events = POLLOUT };

			poll(&pfd, 1, -1);
		} else if (errno != EINTR) {
			return -1;
		}
	}
	return 0;
}

/* The reader has left: ends as if SIGPIPE had not been ignored. */
static noreturn void
die_by_sigpipe(void)
{
	sigset_t set;

	out_remove_temporaries();
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(SIGPIPE);
	_exit(EXIT_NO_ANSWER);
}

void
out_put_fd(int fd, const void *p, size_t n, const char *name)
{
	if (write_all(fd, p, n) == 0)
		return;
	if (errno == EPIPE)
		die_by_sigpipe();
	die_errno("%s", name);
}

/* Reopens a parked file. */
static void
wake(struct out *o)
{
	if (LIKELY(!o->is_parked))
		return;
	o->is_parked = false;
	o->fd = out_tmp_reopen(o->tmp);
	if (o->fd < 0)
		die_errno("%s", o->name);
	o->cap = OUT_SIZE;
	o->buf = xmalloc(o->cap);
	if (o->level != OUT_PLAIN)
		o->z = out_zstd_create(o->name, o->level);
}

/* Writes buf, and then the n bytes at p. */
static void
leave(struct out *o, const void *p, size_t n, enum out_how how)
{
	wake(o);
	if (o->z != NULL) {
		out_zstd_put(o->z, o->buf, o->len, n > 0 ? OUT_GATHER : how,
		    o->fd, o->name);
		if (n > 0)
			out_zstd_put(o->z, p, n, how, o->fd, o->name);
	} else {
		out_put_fd(o->fd, o->buf, o->len, o->name);
		out_put_fd(o->fd, p, n, o->name);
	}
	o->written += o->len + n;
	o->len = 0;
}

static struct out *
make(int fd, const char *name)
{
	struct out *o = xcalloc(1, sizeof *o);

	o->fd = fd;
	o->level = OUT_PLAIN;
	o->name = xstrdup(name);
	o->cap = OUT_SIZE;
	o->buf = xmalloc(o->cap);
	return o;
}

/* A device or a FIFO is written directly; a file is replaced. */
static bool
is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static int
open_special(const char *path)
{
	int fd;

	do
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		die_errno("%s", path);
	return fd;
}

struct out *
out_open(const char *path)
{
	struct out_tmp *tmp = NULL;
	struct out *o;
	int fd;

	if (path == NULL || strcmp(path, "-") == 0) {
		if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
			die_errno("standard output");
		return make(STDOUT_FILENO, "standard output");
	}
	if (is_special(path))
		fd = open_special(path);
	else
		tmp = out_tmp_open(path, &fd);
	o = make(fd, path);
	o->tmp = tmp;
	return o;
}

void
out_zstd(struct out *o, int level)
{
	out_flush(o);
	o->level = level;
	o->z = out_zstd_create(o->name, level);
}

bool
out_is_terminal(const struct out *o)
{
	return isatty(o->fd) == 1;
}

bool
out_wants_colour(const struct out *o)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return out_is_terminal(o) && (no == NULL || no[0] == '\0') &&
	    (term == NULL || strcmp(term, "dumb") != 0);
}

/* The first one set counts, as in setlocale(3). */
bool
out_has_blocks(const struct out *o)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *v = NULL;

	for (size_t i = 0; i < 3 && (v == NULL || v[0] == '\0'); i++)
		v = getenv(names[i]);
	return v != NULL && out_is_terminal(o) &&
	    (str_find(str_of(v), STR("UTF-8"), true) >= 0 ||
		str_find(str_of(v), STR("UTF8"), true) >= 0);
}

const char *
out_tmp_name(const struct out *o)
{
	return o->tmp != NULL ? out_tmp_where(o->tmp) : NULL;
}

void
out_flush(struct out *o)
{
	leave(o, NULL, 0, OUT_FLUSH);
}

void
out_write_slow(struct out *o, const void *p, size_t n)
{
	if (n >= o->cap) {
		leave(o, p, n, OUT_GATHER);
		return;
	}
	leave(o, NULL, 0, OUT_GATHER);
	memcpy(o->buf, p, n);
	o->len = n;
}

/* close() may also report a full disk: with NFS and quotas. */
static void
shut(struct out *o)
{
	if (close(o->fd) != 0 && errno != EINTR)
		die_errno("%s", o->name);
	o->fd = -1;
	if (o->z != NULL)
		out_zstd_destroy(o->z);
	o->z = NULL;
	free(o->buf);
	o->buf = NULL;
	o->cap = 0;
}

void
out_park(struct out *o)
{
	if (o->is_parked || o->tmp == NULL)
		return;
	leave(o, NULL, 0, OUT_END); /* ends the zstd frame */
	shut(o);
	o->is_parked = true;
}

void
out_printf(struct out *o, const char *fmt, ...)
{
	va_list ap;

	o->text.len = 0;
	va_start(ap, fmt);
	buf_vprintf(&o->text, fmt, ap);
	va_end(ap);
	out_write(o, o->text.p, o->text.len);
}

void
out_finish(struct out *o)
{
	leave(o, NULL, 0, OUT_END);
	shut(o);
	if (o->tmp != NULL && out_tmp_keep(o->tmp) != 0)
		die_errno("%s", o->name);
	buf_free(&o->text);
	free((char *)o->name);
	free(o);
}
