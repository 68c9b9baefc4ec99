/* SPDX-License-Identifier: MIT */
/*
 * dribble: copy stdin to stdout, one byte per write.
 *
 *	usage: dribble [MICROSECONDS]
 *
 * The worst possible pipe. If stdout is a pipe, it is put into packet mode:
 * each read at the other end gets one byte, however late it comes;
 * MICROSECONDS between the bytes are rarely needed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void
put_byte(const char *p)
{
	ssize_t n;

	do {
		n = write(STDOUT_FILENO, p, 1);
	} while (n == -1 && errno == EINTR);
	if (n != 1) {
		perror("dribble: write");
		exit(1);
	}
}

int
main(int argc, char *argv[])
{
	static char buf[65536];
	struct stat st;
	ssize_t n;
	long us = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	const struct timespec pause = { us / 1000000, us % 1000000 * 1000 };

	if (fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode))
		fcntl(STDOUT_FILENO, F_SETFL, O_DIRECT);
	while ((n = read(STDIN_FILENO, buf, sizeof buf)) != 0) {
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1) {
			perror("dribble: read");
			return 1;
		}
		for (ssize_t i = 0; i < n; i++) {
			put_byte(&buf[i]);
			if (us > 0)
				nanosleep(&pause, NULL);
		}
	}
	return 0;
}
