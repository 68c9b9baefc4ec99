/* SPDX-License-Identifier: MIT */
/*
 * measure: run a command and record what it took.
 *
 *	usage: measure FILE COMMAND [ARGUMENT...]
 *
 * Appends a line to FILE: wall ns, user us, system us, peak memory in KiB and
 * exit status. wait4's peak includes the life of the process before exec, so a
 * program as small as this asks for it, not a script.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int64_t
in_us(struct timeval tv)
{
	return (int64_t)tv.tv_sec * 1000000 + tv.tv_usec;
}

int
main(int argc, char *argv[])
{
	struct rusage ru;
	int64_t start = now_ns();
	int status, code;
	FILE *f;
	pid_t pid;

	if (argc < 3) {
		fputs("usage: measure FILE COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		fprintf(stderr, "measure: %s: %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	/* Only the command reads or writes the pipes. */
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	if (pid == -1 || wait4(pid, &status, 0, &ru) == -1) {
		perror("measure");
		return 1;
	}
	code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	f = fopen(argv[1], "a");
	if (f == NULL) {
		perror(argv[1]);
		return 1;
	}
	fprintf(f, "%" PRId64 " %" PRId64 " %" PRId64 " %ld %d\n",
	    now_ns() - start, in_us(ru.ru_utime), in_us(ru.ru_stime),
	    ru.ru_maxrss, code);
	return fclose(f) == 0 ? code : 1;
}
