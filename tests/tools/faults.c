/* SPDX-License-Identifier: MIT */
/*
 * faults: run a command many times, with another call failing each time.
 *
 *	usage: faults FAILIO.so FOLDER MOST COMMAND [ARGUMENT...]
 *
 * The command runs in FOLDER, which is empty, and may leave files there; first
 * undisturbed. Then each sort of call fails in each of the ways below: the Nth
 * one of each process, for N from 1, beyond MOST in steps of a twentieth, until
 * three runs in a row were not disturbed. Each run must either do all that the
 * undisturbed one did, or end with exit status 1 and a message (3 if it could
 * do without an input). A file that it leaves must be one of those of the
 * undisturbed run. Only EPIPE may end it by SIGPIPE. Errors go to stdout.
 * FAULTS_WITHOUT=CALL leaves out a call.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS_MAX 20
#define COMPLAINTS_MAX 10
#define FILES_MAX 64
#define CALLS_MAX 1000000 /* a program that fails for another reason */

static const struct {
	const char *call, *how;
	bool may_fail; /* else it must be repaired */
	bool all;      /* every call at once */
} ways[] = {
	{ "read", "EINTR", false, true },
	{ "read", "SHORT", false, true },
	{ "write", "EINTR", false, true },
	{ "write", "SHORT", false, true },
	{ "close", "EINTR", false, true },
	{ "malloc", "ENOMEM", true, false },
	{ "mmap", "ENOMEM", true, false },
	{ "read", "EIO", true, false },
	{ "write", "ENOSPC", true, false },
	{ "write", "EIO", true, false },
	{ "write", "EPIPE", true, false },
	{ "close", "EIO", true, false },
	{ "fsync", "EIO", true, false },
	{ "rename", "EACCES", true, false },
};

/* What a run left. */
struct result {
	int status; /* of waitpid() */
	uint64_t sum;
	uint64_t files[FILES_MAX]; /* names and contents */
	size_t nfiles;
	bool has_message;
	char message[200];
};

static const char *failio, *folder;
static char **command;
static char out_name[4096], err_name[4096];
static unsigned nruns, ncomplaints;

static void
fail(const char *what)
{
	perror(what);
	exit(2);
}

static void
child(const char *rule)
{
	int out = open(out_name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int err = open(err_name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int in = open("/dev/null", O_RDONLY);

	if (out < 0 || err < 0 || in < 0 || chdir(folder) != 0)
		_exit(126);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(in);
	close(out);
	close(err);
	if (rule != NULL) {
		setenv("FAIL_CALL", rule, 1);
		setenv("LD_PRELOAD", failio, 1);
	}
	alarm(SECONDS_MAX);
	execvp(command[0], command);
	_exit(127);
}

/* FNV-1a of a file; the sums of several are added. */
static uint64_t
sum_of(const char *name)
{
	unsigned char buf[65536];
	uint64_t h = UINT64_C(14695981039346656037);
	int fd = open(name, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		fail(name);
	while ((n = read(fd, buf, sizeof buf)) > 0)
		for (ssize_t i = 0; i < n; i++)
			h = (h ^ buf[i]) * UINT64_C(1099511628211);
	close(fd);
	return h;
}

/* Sums and removes what the run left; folders, too. */
static void
take_files(const char *dir, struct result *r)
{
	struct dirent *e;
	DIR *d = opendir(dir);
	char name[4096 + 256];
	struct stat st;
	uint64_t h;

	if (d == NULL)
		fail(dir);
	while ((e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(name, sizeof name, "%s/%s", dir, e->d_name);
		if (lstat(name, &st) == 0 && S_ISDIR(st.st_mode)) {
			take_files(name, r);
			rmdir(name);
			continue;
		}
		h = sum_of(name);
		for (const char *p = e->d_name; *p != '\0'; p++)
			h = h * 31 + (unsigned char)*p;
		if (r->nfiles == FILES_MAX) {
			fputs("faults: too many files\n", stderr);
			exit(2);
		}
		r->files[r->nfiles++] = h;
		r->sum += h;
		unlink(name);
	}
	closedir(d);
}

static void
read_message(struct result *r)
{
	FILE *f = fopen(err_name, "r");

	while (f != NULL && !r->has_message &&
	    fgets(r->message, sizeof r->message, f) != NULL)
		r->has_message = strncmp(r->message, "tl-", 3) == 0;
	if (f != NULL)
		fclose(f);
	r->message[strcspn(r->message, "\n")] = '\0';
}

static struct result
run(const char *rule)
{
	struct result r = { 0 };
	pid_t pid = fork();

	if (pid == 0)
		child(rule);
	if (pid < 0 || waitpid(pid, &r.status, 0) < 0)
		fail("fork");
	nruns++;
	take_files(folder, &r);
	r.sum += sum_of(out_name);
	read_message(&r);
	return r;
}

static void
complain(const char *rule, const struct result *r, const char *what)
{
	ncomplaints++;
	printf("%s: %s (", rule, what);
	if (WIFEXITED(r->status))
		printf("exit status %d", WEXITSTATUS(r->status));
	else
		printf("signal %d", WTERMSIG(r->status));
	printf("; \"%s\")\n", r->message);
}

static bool
left_odd_files(const struct result *want, const struct result *r)
{
	for (size_t i = 0; i < r->nfiles; i++) {
		size_t k = 0;

		while (k < want->nfiles && want->files[k] != r->files[i])
			k++;
		if (k == want->nfiles)
			return true;
	}
	return false;
}

/* True if the run was like the undisturbed one. */
static bool
judge(const char *rule, const struct result *want, const struct result *r,
    bool is_pipe, bool may_fail)
{
	bool is_signal = WIFSIGNALED(r->status);

	if (r->status == want->status) {
		if (r->sum == want->sum)
			return true;
		complain(rule, r, "another output, and it says nothing");
	} else if (is_signal && (!is_pipe || WTERMSIG(r->status) != SIGPIPE)) {
		complain(rule, r, "a crash");
	} else if (!may_fail) {
		complain(rule, r, "it gives up");
	} else if (!is_signal && WEXITSTATUS(r->status) == 3) {
		if (!r->has_message)
			complain(rule, r, "warnings without a message");
	} else if (!is_signal && WEXITSTATUS(r->status) != 1) {
		complain(rule, r, "not exit status 1");
	} else if (!is_signal && !r->has_message && !is_pipe) {
		complain(rule, r, "no message");
	} else if (left_odd_files(want, r)) {
		complain(rule, r, "it left a file that is not whole");
	}
	return false;
}

static void
try_way(size_t w, const struct result *want, unsigned most)
{
	bool is_pipe = strcmp(ways[w].how, "EPIPE") == 0;
	const char *without = getenv("FAULTS_WITHOUT");
	unsigned undisturbed = 0;
	char rule[64];

	if (without != NULL && strcmp(without, ways[w].call) == 0)
		return;

	for (unsigned n = 1; n <= CALLS_MAX && undisturbed < 3;
	     n += n < most ? 1 : 1 + n / 20) {
		struct result r;

		if (ncomplaints >= COMPLAINTS_MAX)
			return;
		snprintf(rule, sizeof rule, "%s:%u:%s", ways[w].call, n,
		    ways[w].how);
		if (ways[w].all)
			snprintf(rule, sizeof rule, "%s:*:%s", ways[w].call,
			    ways[w].how);
		r = run(rule);
		if (judge(rule, want, &r, is_pipe, ways[w].may_fail))
			undisturbed++;
		else
			undisturbed = 0;
		if (ways[w].all)
			return;
	}
}

int
main(int argc, char *argv[])
{
	struct result want;
	unsigned most;

	if (argc < 5) {
		fputs(
		    "usage: faults FAILIO.so FOLDER MOST COMMAND...\n", stderr);
		return 2;
	}
	failio = argv[1];
	folder = argv[2];
	most = (unsigned)strtoul(argv[3], NULL, 10);
	command = argv + 4;
	snprintf(out_name, sizeof out_name, "%s.out", folder);
	snprintf(err_name, sizeof err_name, "%s.err", folder);
	want = run(NULL);
	if (!WIFEXITED(want.status) || WEXITSTATUS(want.status) != 0) {
		complain("undisturbed", &want, "it fails");
		return 1;
	}
	for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
		try_way(w, &want, most);
	printf("%u runs, %u complaints\n", nruns, ncomplaints);
	return ncomplaints == 0 ? 0 : 1;
}
