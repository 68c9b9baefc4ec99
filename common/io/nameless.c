/* SPDX-License-Identifier: MIT */
/* Temporary files that leave nothing behind, however the program ends. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/io.h"

const char *
io_tmpdir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir != NULL && *dir != '\0' ? dir : "/tmp";
}

/* Signals are blocked while the file has a name. */
int
io_nameless(void)
{
	struct buf path = { 0 };
	sigset_t all, old;
	int fd, err;

	buf_printf(&path, "%s/tl.XXXXXX", io_tmpdir());
	buf_putc(&path, '\0');
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	fd = mkostemp(path.p, O_CLOEXEC);
	err = errno;
	if (fd >= 0 && unlink(path.p) != 0) {
		err = errno;
		close(fd);
		fd = -1;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	buf_free(&path);
	errno = err;
	return fd;
}
