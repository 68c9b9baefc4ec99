/* SPDX-License-Identifier: MIT */
/* Runs tl-decode, tl-link, tl-tree or tl-filter before a reader. */
#include "stream/in.h"
#include "stream/stream.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct helper {
	const char *program;
	char *name; /* of the input */
	pid_t pid;
	struct in *output;
	/* feeds it, if it cannot open the input by name */
	struct in *input;
	int feed_fd;
	pthread_t feeder;
	bool has_feeder;
};

/* NULL at the end, unless none are set. */
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

/* Passes the input on until the helper exits. */
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
	close(h->feed_fd);
	return NULL;
}

static void
make_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC) != 0)
		die_errno("pipe");
	/* fewer switches between the programs; may be refused */
	(void)fcntl(fd[1], F_SETPIPE_SZ, 1 << 20);
}

/* Whether the helper can open the input itself. */
static bool
is_named_file(const struct in *in)
{
	struct stat st;

	return strcmp(in->name, "stdin") != 0 && stat(in->name, &st) == 0 &&
	    S_ISREG(st.st_mode);
}

/* The program's name, its options and, without a pipe, its file. */
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
	char *path = sys_program(h->program);
	char **argv;
	size_t n = 0;

	while (words != NULL && words[n] != NULL)
		n++;
	argv = xcalloc(n + 4, sizeof *argv);
	put_words(argv, path, words, in_fd < 0 ? h->name : NULL);
	h->pid = child_spawn(argv, in_fd, out_fd);
	if (h->pid < 0)
		die_errno("%s: this input needs %s first", h->name, h->program);
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
	make_pipe(out);
	if (!named)
		make_pipe(feed_pipe);
	spawn(h, words, feed_pipe[0], out[1]);
	close(out[1]);
	h->feed_fd = feed_pipe[1];
	if (named) {
		in_close(in);
	} else {
		close(feed_pipe[0]);
		h->input = in;
		/* the feeder gets EPIPE if a helper exits early */
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
	int status = child_wait(h->pid);

	if (h->has_feeder) {
		pthread_join(h->feeder, NULL);
		in_close(h->input);
	}
	return status;
}

static void
judge(struct helper *h, int status)
{
	if (child_has_warned(h->name, h->program, status))
		report(MSG_HELPER_WARNED, h->name, h->program);
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

int
helper_wait(struct helper *h)
{
	int status = wait_for(h);

	release(h);
	return status;
}

void
helper_abandon(struct helper *h)
{
	(void)helper_wait(h);
}
