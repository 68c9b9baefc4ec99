/* SPDX-License-Identifier: MIT */
/* The progress line: on a terminal of our own only. */
#include <poll.h>
#include <stdlib.h>

#include "tests/unit/io_help.h"

static void
show(const char *arg)
{
	(void)arg;
	progress_start("reading");
	progress_show(500000000, 1000000000);
	progress_end();
}

/* The same with stderr a terminal, which is the child's own. */
static void
show_on_terminal(const char *slave)
{
	int fd;

	setsid();
	fd = open(slave, O_RDWR); /* becomes the controlling terminal */
	dup2(fd, STDERR_FILENO);
	show(NULL);
}

static void
test_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	struct pollfd wait = { .fd = master, .events = POLLIN };
	char text[1000] = "";
	size_t len = 0;
	struct child c;

	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
		skip(3, "no terminals here");
		return;
	}
	/* Held open, so that what the child wrote stays to be read. */
	int hold = open(ptsname(master), O_RDWR | O_NOCTTY);
	c = run(show_on_terminal, ptsname(master));
	is_int(c.status, 0, "on a terminal");
	/* a read may end anywhere in what the child wrote */
	while (len < sizeof text - 1 && poll(&wait, 1, 0) > 0) {
		ssize_t n = read(master, text + len, sizeof text - 1 - len);

		if (n <= 0)
			break;
		len += (size_t)n;
	}
	ok(strstr(text, "tl-test: reading 50 % of 1000.0 MB") != NULL,
	    "a line is shown");
	ok(strlen(text) > 4 && strcmp(text + strlen(text) - 4, "\r\033[K") == 0,
	    "and erased");
	close(hold);
	close(master);
}

int
main(void)
{
	struct child c;

	make_folder();
	c = run(show, "");
	is_int(c.status, 0, "not on a terminal");
	is_uint(c.len, 0, "nothing is shown");
	is_int(progress_due, 0, "nothing is due");
	test_terminal();
	remove_folder();
	done_testing();
}
