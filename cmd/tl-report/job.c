/* SPDX-License-Identifier: MIT */
/*
 * Runs programs in parallel. Their output comes through pipes, not files, as it
 * may report a full disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/io.h"

#include "cmd/tl-report/report.h"

#define STATUS_FD "3" /* of a child, see spawn() */

/* ---- words ---- */

const char *
text(const char *fmt, ...)
{
	static struct arena *words;
	const char *s;
	va_list ap;

	words = words != NULL ? words : arena_create();
	va_start(ap, fmt);
	s = arena_vprintf(words, fmt, ap);
	va_end(ap);
	return s;
}

void
args_add(struct args *a, const char *s)
{
	vec_push(&a->v, s);
}

void
args_all(struct args *a, const struct args *more)
{
	for (size_t i = 0; i < more->v.n; i++)
		args_add(a, more->v.v[i]);
}

/* ---- what is left behind ---- */

static VEC(char *) folders;
static const char *made;
/* Files that programs write, and what was there before. */
static struct output {
	const char *path;
	ino_t before; /* 0: nothing */
} outputs[2];
static size_t noutputs;
static volatile sig_atomic_t caught;
static sigset_t ending; /* signals that end the program */
static int nowhere = -1;

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	(void)remove(path);
	return 0;
}

static ino_t
file_at(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) ? st.st_ino : 0;
}

void
will_write(const char *path)
{
	outputs[noutputs++] = (struct output){ path, file_at(path) };
}

void
clean_up(void)
{
	children_end();
	while (noutputs > 0) {
		const struct output *o = &outputs[--noutputs];
		ino_t now = file_at(o->path);

		if (now != 0 && now != o->before)
			(void)unlink(o->path);
	}
	for (size_t i = 0; i < folders.n; i++)
		(void)nftw(folders.v[i], remove_one, 16, FTW_DEPTH | FTW_PHYS);
	folders.n = 0;
	if (made != NULL)
		(void)rmdir(made);
}

/*
 * From here on output goes to /dev/null: a reader that has gone must not end
 * the program before its cleanup.
 */
static void
on_signal(int sig)
{
	int was = errno;

	caught = sig;
	(void)dup2(nowhere, STDOUT_FILENO);
	(void)dup2(nowhere, STDERR_FILENO);
	errno = was;
}

void
clean_up_at_exit(void)
{
	/* batch systems send these before SIGKILL */
	static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM,
		SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2 };
	struct sigaction act = { .sa_handler = on_signal };

	nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nowhere < 0)
		die_errno("/dev/null");
	sigemptyset(&ending);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		struct sigaction old;

		/* keep what nohup(1) ignores */
		if (sigaction(signals[i], NULL, &old) == 0 &&
		    old.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &act, NULL);
		sigaddset(&ending, signals[i]);
	}
	err_at_death(clean_up);
}

noreturn void
leave(int status)
{
	if (caught != 0)
		status = 128 + caught;
	if (status == EXIT_DONE)
		status = exit_status();
	if (status == EXIT_DONE || status == EXIT_WARNINGS ||
	    status == EXIT_GATE) {
		made = NULL;
		noutputs = 0;
	}
	clean_up();
	exit(status);
}

char *
temporary(const char *template)
{
	char *path = xstrdup(template);

	if (mkdtemp(path) == NULL)
		return NULL;
	vec_push(&folders, path);
	return path;
}

void
made_folder(const char *path)
{
	made = path;
}

/* ---- starting ---- */

bool
have(const char *program)
{
	char *path = sys_program(program);
	bool found = strchr(path, '/') != NULL;
	const char *dirs = getenv("PATH");

	for (size_t n; !found && dirs != NULL && *dirs != '\0';
	     dirs += n + (dirs[n] == ':')) {
		n = strcspn(dirs, ":");
		found =
		    access(text("%.*s/%s", (int)n, n > 0 ? dirs : ".", program),
			X_OK) == 0;
	}
	vec_release(path);
	return found;
}

static int
start_pipe(int *theirs)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) != 0)
		die_errno("a pipe");
	*theirs = fd[1];
	return fd[0];
}

static void
spawn(struct job *job, const struct args *argv, int said, int err)
{
	struct child_how how = { .fd = { -1, nowhere, err, said } };
	char *path = sys_program(job->name);
	struct args words = { 0 };

	args_add(&words, path);
	args_add(&words, "--status-fd=" STATUS_FD);
	for (size_t i = 1; i < argv->v.n; i++)
		args_add(&words, argv->v.v[i]);
	args_add(&words, NULL);
	how.argv = (char *const *)(uintptr_t)words.v.v;
	if (!job->gets_stdin)
		how.fd[0] = nowhere;
	job->pid = child_start(&how);
	if (job->pid < 0)
		die_errno("%s", path);
	vec_free(&words.v);
	vec_release(path);
}

static void
begin(struct job *job)
{
	int said, err;

	job->said_fd = start_pipe(&said);
	job->err_fd = start_pipe(&err);
	spawn(job, &job->argv, said, err);
	close(said);
	close(err);
	vec_free(&job->argv.v);
}

/* The most urgent waiting job, the first of equals; NULL: none waits. */
static struct job *
most_urgent(const struct jobs *j)
{
	struct job *found = NULL;

	for (size_t i = 0; i < j->list.n; i++) {
		struct job *job = j->list.v[i];

		if (job->pid == 0 &&
		    (found == NULL || job->urgency > found->urgency))
			found = job;
	}
	return found;
}

/* As many as there are processors: more would only need more memory. */
static void
begin_some(struct jobs *j)
{
	size_t running = 0;
	struct job *job;

	for (size_t i = 0; i < j->list.n; i++)
		running += j->list.v[i]->pid != 0 && j->list.v[i]->status < 0;
	if (j->ncpus == 0)
		j->ncpus = (size_t)sys_cpus();
	for (; running < j->ncpus && (job = most_urgent(j)) != NULL; running++)
		begin(job);
}

struct job *
job_start(struct jobs *j, struct args *argv, const struct job *how)
{
	struct job *job = xcalloc(1, sizeof *job);

	*job = *how;
	job->name = argv->v.v[0];
	job->argv = *argv;
	*argv = (struct args){ 0 };
	job->status = job->said_fd = job->err_fd = -1;
	vec_push(&j->list, job);
	return job;
}

/* ---- waiting ---- */

static void
take(int *fd, struct buf *b)
{
	ssize_t n;

	buf_room(b, 1 << 16);
	n = read(*fd, b->p + b->len, 1 << 16);
	if (n < 0 && errno == EINTR)
		return;
	if (n < 0)
		die_errno("what a program says");
	if (n == 0) {
		close(*fd);
		*fd = -1;
		return;
	}
	b->len += (size_t)n;
}

static void
reap(struct job *job)
{
	job->status = child_wait(job->pid);
	if (job->may_be_empty && job->status == EXIT_NOTHING) {
		job->status = EXIT_DONE;
		job->said.len = job->err.len = 0;
	}
}

/* Reads output until a job closes its own. */
static void
listen_once(struct jobs *j)
{
	VEC(struct pollfd) fds = { 0 };
	sigset_t before;
	size_t k = 0;
	int n;

	begin_some(j);
	for (size_t i = 0; i < j->list.n; i++) {
		const struct job *job = j->list.v[i];
		const int all[] = { job->said_fd, job->err_fd };

		/* poll() skips -1, closed */
		for (size_t f = 0; job->status < 0 && f < 2; f++)
			vec_push(&fds, ((struct pollfd){ all[f], POLLIN, 0 }));
	}
	/* no signal is lost between check and wait */
	sigprocmask(SIG_BLOCK, &ending, &before);
	n = caught == 0 ? ppoll(fds.v, (nfds_t)fds.n, NULL, &before) : 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (caught != 0)
		leave(EXIT_NO_ANSWER);
	for (size_t i = 0; n > 0 && i < j->list.n; i++) {
		struct job *job = j->list.v[i];
		int *const all[] = { &job->said_fd, &job->err_fd };
		struct buf *const to[] = { &job->said, &job->err };

		for (size_t f = 0; job->status < 0 && f < 2; f++, k++)
			if (fds.v[k].revents != 0)
				take(all[f], to[f]);
		if (job->status < 0 && job->pid != 0 && job->said_fd < 0 &&
		    job->err_fd < 0)
			reap(job);
	}
	vec_free(&fds);
}

void
job_wait_for(struct jobs *j, const struct job *job)
{
	while (job->status < 0)
		listen_once(j);
}

void
job_wait(struct jobs *j)
{
	for (size_t i = 0; i < j->list.n; i++)
		job_wait_for(j, j->list.v[i]);
}
