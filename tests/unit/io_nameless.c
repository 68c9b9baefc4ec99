/* SPDX-License-Identifier: MIT */
/* io/nameless.c: nothing is left of temporary files */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "io/io.h"
#include "tests/unit/child.h"
#include "tests/unit/tap.h"

static char dir[] = "/tmp/tl-unit.XXXXXX";

static size_t
nfiles(void)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n - 2; /* . and .. */
}

/* Ended by a timer, at any place. */
static void
make_many(void)
{
	const struct itimerval soon = { .it_value.tv_usec = 500 };

	setitimer(ITIMER_REAL, &soon, NULL);
	for (;;)
		close(io_nameless());
}

int
main(void)
{
	char byte = 'x';
	struct stat st;
	int fd, ended = 0;

	ok(mkdtemp(dir) != NULL && setenv("TMPDIR", dir, 1) == 0, "a folder");
	is_str(io_tmpdir(), dir, "temporary files go there");
	fd = io_nameless();
	ok(fd >= 0 && write(fd, &byte, 1) == 1 && lseek(fd, 0, SEEK_SET) == 0 &&
		read(fd, &byte, 1) == 1,
	    "it is written and read");
	ok(fstat(fd, &st) == 0 && st.st_nlink == 0 && nfiles() == 0,
	    "and has no name");
	close(fd);
	for (int i = 0; i < 50; i++)
		ended += child_run(make_many).status > 128;
	is_int(ended, 50, "programs that were ended by a signal");
	is_int((int)nfiles(), 0, "left nothing");
	setenv("TMPDIR", "/nowhere", 1);
	fd = io_nameless();
	ok(fd < 0 && errno == ENOENT, "no folder is an error");
	setenv("TMPDIR", "", 1);
	is_str(io_tmpdir(), "/tmp", "an empty TMPDIR is none");
	ok(rmdir(dir) == 0, "the folder is empty");
	done_testing();
}
