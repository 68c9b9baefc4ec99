/* SPDX-License-Identifier: MIT */
/* Input as a file that can seek. */
#include <fcntl.h>
#include <unistd.h>

#include "io/in_priv.h"

/* The file's own descriptor; -1: it has to be copied. */
static int
own_file(const struct in *in)
{
	int fd;

	if (in->kind != IN_PLAIN || in->src->map.base == NULL)
		return -1;
	fd = fcntl(in->src->raw.fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0 && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int
in_seekable(struct in *in)
{
	int fd = own_file(in);

	if (fd >= 0)
		return fd;
	fd = io_nameless();
	if (fd < 0)
		die_errno("a temporary file in %s", io_tmpdir());
	do {
		if (write_all(fd, in->p, (size_t)(in->end - in->p)) != 0)
			die_errno("a temporary file in %s", io_tmpdir());
		in->p = in->end;
	} while (in_more(in));
	if (lseek(fd, 0, SEEK_SET) != 0)
		die_errno("a temporary file in %s", io_tmpdir());
	return fd;
}
