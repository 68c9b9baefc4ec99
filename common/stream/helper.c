/* SPDX-License-Identifier: MIT */
/* Running tl-decode, tl-link, tl-tree or tl-filter in front of a reader. */
#include "stream/in.h"
#include "stream/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct helper {
	const char *program;
	char *name; /* of the input */
	pid_t pid;
	struct in *output;
	/* what feeds it, when it can't open the input by name */
	struct in *input;
	int feed_fd;
	pthread_t feeder;
	bool has_feeder;
	int output_fd;
	struct helper *next;
};

/* Ended by NULL, unless there are none. */
static VEC(char *) pseudo_words;

void
stream_pseudo_models(const char *path)
{
	if (pseudo_words.n > 0)
		pseudo_words.n--;
	vec_push(&pseudo_words, (char *)"--models");
	vec_push(&pseudo_words, (char *)path);
	vec_push(&pseudo_words, NULL);
}

char *const *
helper_pseudo_words(void)
{
	return pseudo_words.v;
}

/* Those that run; for helpers_leave(), which any thread may call. */
static struct helper *running;
static pthread_mutex_t running_lock = PTHREAD_MUTEX_INITIALIZER;

static void
enlist(struct helper *h)
{
	pthread_mutex_lock(&running_lock);
	h->next = running;
	running = h;
	pthread_mutex_unlock(&running_lock);
}

static void
strike(const struct helper *h)
{
	struct helper **at = &running;

	pthread_mutex_lock(&running_lock);
	while (*at != NULL && *at != h)
		at = &(*at)->next;
	if (*at != NULL)
		*at = h->next;
	pthread_mutex_unlock(&running_lock);
}

/*
 * A program that dies takes its helpers along, and waits for them: their last
 * words must not appear when it is gone. One that is fed sees its input end;
 * one with a file of its own might work on for minutes.
 */
static void
helpers_leave(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct helper *h;

	pthread_mutex_lock(&running_lock);
	for (h = running; h != NULL; h = h->next) {
		/* not close(): other threads may still use the numbers */
		if (null >= 0)
			(void)dup2(null, h->output_fd);
		if (null >= 0 && h->feed_fd >= 0)
			(void)dup2(null, h->feed_fd);
		else
			(void)kill(h->pid, SIGTERM);
		while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	pthread_mutex_unlock(&running_lock);
}

/* Hands the input on; ends when the helper leaves. */
static void *
feed(void *arg)
{
	struct helper *h = arg;
	struct in *in = h->input;

	do {
		if (write_all(h->feed_fd, in->p, (size_t)(in->end - in->p)) !=
		    0)
			break;
		in->p = in->end;
		in_release(in);
	} while (in_more(in));
	pthread_mutex_lock(&running_lock);
	close(h->feed_fd);
	h->feed_fd = -1;
	pthread_mutex_unlock(&running_lock);
	return NULL;
}

static void
make_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC) != 0)
		die_errno("pipe");
	/* fewer switches between the programs; it may be refused */
	(void)fcntl(fd[1], F_SETPIPE_SZ, 1 << 20);
}

/* Whether the helper may open the input itself. */
static bool
is_named_file(const struct in *in)
{
	struct stat st;

	return strcmp(in->name, "stdin") != 0 && stat(in->name, &st) == 0 &&
	    S_ISREG(st.st_mode);
}

/* The program's name, its options and, where it has no pipe, its file. */
static void
put_words(char *argv[], char *path, char *const *words, char *file)
{
	*argv++ = path;
	while (words != NULL && *words != NULL)
		*argv++ = *words++;
	if (file != NULL) {
		*argv++ = (char *)"--";
		*argv++ = file;
	}
	*argv = NULL;
}

static void
spawn(struct helper *h, char *const *words, int in_fd, int out_fd)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t defaults;
	char *path = sys_program(h->program);
	char **argv;
	size_t n = 0;
	int err;

	while (words != NULL && words[n] != NULL)
		n++;
	argv = xcalloc(n + 4, sizeof *argv);
	put_words(argv, path, words, in_fd < 0 ? h->name : NULL);
	/* a parent that ignores SIGPIPE must not make the helper deaf */
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&fa);
	if (in_fd >= 0)
		posix_spawn_file_actions_adddup2(&fa, in_fd, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&fa, out_fd, STDOUT_FILENO);
	err = posix_spawnp(&h->pid, path, &fa, &attr, argv, environ);
	if (err != 0) {
		errno = err;
		die_errno(
		    "%s: this input needs %s in front", h->name, h->program);
	}
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&attr);
	vec_release(argv);
	vec_release(path);
}

struct helper *
helper_start(const char *program, char *const *words, struct in *in)
{
	struct helper *h = xcalloc(1, sizeof *h);
	bool named = is_named_file(in);
	int out[2], feed_pipe[2] = { -1, -1 };

	h->program = program;
	h->name = xstrdup(in->name);
	h->feed_fd = -1;
	make_pipe(out);
	if (!named)
		make_pipe(feed_pipe);
	spawn(h, words, feed_pipe[0], out[1]);
	close(out[1]);
	h->output_fd = out[0];
	h->feed_fd = feed_pipe[1];
	err_at_death(helpers_leave);
	enlist(h);
	if (named) {
		in_close(in);
	} else {
		close(feed_pipe[0]);
		h->input = in;
		/* a helper that leaves early shows as EPIPE in the feeder */
		signal(SIGPIPE, SIG_IGN);
		if (pthread_create(&h->feeder, NULL, feed, h) != 0)
			die("cannot start a thread");
		h->has_feeder = true;
	}
	h->output = in_open_fd(out[0], h->name);
	return h;
}

struct in *
helper_output(struct helper *h)
{
	return h->output;
}

static void
release(struct helper *h)
{
	vec_release(h->name);
	vec_release(h);
}

static int
wait_for(struct helper *h)
{
	siginfo_t si;
	int status;

	/* struck off before its number can be another process's */
	while (waitid(P_PID, (id_t)h->pid, &si, WEXITED | WNOWAIT) < 0)
		if (errno != EINTR)
			die_errno("waiting for %s", h->program);
	strike(h);
	while (waitpid(h->pid, &status, 0) < 0)
		if (errno != EINTR)
			die_errno("waiting for %s", h->program);
	if (h->has_feeder) {
		pthread_join(h->feeder, NULL);
		in_close(h->input);
	}
	return status;
}

static void
judge(struct helper *h, int status)
{
	if (WIFSIGNALED(status))
		die("%s: %s was killed by signal %d", h->name, h->program,
		    WTERMSIG(status));
	if (WEXITSTATUS(status) == EXIT_WARNINGS)
		report(MSG_HELPER_WARNED, h->name, h->program);
	else if (WEXITSTATUS(status) != EXIT_DONE)
		die("%s: %s failed (above)", h->name, h->program);
}

void
helper_finish(struct helper *h)
{
	judge(h, wait_for(h));
	release(h);
}

void
helper_blame(struct helper *h)
{
	judge(h, wait_for(h));
}

void
helper_abandon(struct helper *h)
{
	(void)wait_for(h);
	release(h);
}
