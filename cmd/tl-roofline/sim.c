/* SPDX-License-Identifier: MIT */
/*
 * A simulator of GEMMs: a command that reads lines "M N K B dtype" and answers
 * each with a line of microseconds (anything else: it can't tell). One process
 * for the whole run; the same problem is asked for once.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/tl-roofline/roof.h"

struct sim {
	const char *command;
	pid_t pid;
	FILE *to, *from;
	struct map known; /* hash of the line to the bits of the answer */
};

extern char **environ;

static void
start_failed(const char *command, int error)
{
	errno = error;
	die_errno("--sim: %s", command);
}

struct sim *
sim_start(const char *command)
{
	struct sim *s = xcalloc(1, sizeof *s);
	posix_spawn_file_actions_t fa;
	char *argv[] = { xstrdup("sh"), xstrdup("-c"), xstrdup(command), NULL };
	int in[2], out[2], error;

	if (pipe(in) != 0 || pipe(out) != 0)
		start_failed(command, errno);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, in[0], 0);
	posix_spawn_file_actions_adddup2(&fa, out[1], 1);
	posix_spawn_file_actions_addclose(&fa, in[1]);
	posix_spawn_file_actions_addclose(&fa, out[0]);
	error = posix_spawn(&s->pid, "/bin/sh", &fa, NULL, argv, environ);
	if (error != 0)
		start_failed(command, error);
	posix_spawn_file_actions_destroy(&fa);
	for (size_t i = 0; i < 3; i++)
		free(argv[i]);
	close(in[0]);
	close(out[1]);
	s->command = command;
	s->to = fdopen(in[1], "w");
	s->from = fdopen(out[0], "r");
	if (s->to == NULL || s->from == NULL)
		start_failed(command, errno);
	return s;
}

static double
ask(struct sim *s, const char *line)
{
	char answer[256];
	double us = NAN;
	void (*old)(int) = signal(SIGPIPE, SIG_IGN);

	if (fputs(line, s->to) == EOF || fflush(s->to) != 0 ||
	    fgets(answer, sizeof answer, s->from) == NULL)
		die("--sim: %s: it ended without an answer to: %.*s",
		    s->command, (int)strcspn(line, "\n"), line);
	(void)signal(SIGPIPE, old);
	if (!num_double((struct str){ answer, strcspn(answer, "\r\n") }, &us) ||
	    us <= 0)
		return NAN;
	return us;
}

static double
gemm_us(struct sim *s, double m, double n, double k, double b, struct str dtype)
{
	char line[160];
	bool is_new;
	uint64_t *slot;
	double us;
	int len = snprintf(line, sizeof line, "%.0f %.0f %.0f %.0f %.*s\n", m,
	    n, k, b, (int)dtype.len, dtype.p);

	if (len < 0 || (size_t)len >= sizeof line)
		return NAN;
	slot = map_put(&s->known, hash_bytes(line, (size_t)len), &is_new);
	if (is_new) {
		us = ask(s, line);
		memcpy(slot, &us, sizeof us);
	}
	memcpy(&us, slot, sizeof us);
	return us;
}

static double
number(const struct model_result *r, const char *name)
{
	const struct model_value *v = model_param(r, name);

	if (v == NULL)
		return NAN;
	if (v->type == MODEL_INT)
		return (double)v->i;
	return v->type == MODEL_REAL ? v->real : NAN;
}

/* Forward GEMMs; of attention see CAVEATS of the page. */
double
sim_time(struct sim *s, const struct arch *a, const struct model_result *r,
    bool is_backward)
{
	double m, n, k, b;

	(void)a;
	if (is_backward || !r->model->is_gemm || r->precision.len == 0)
		return NAN;
	m = number(r, "M");
	n = number(r, "N");
	k = number(r, "K");
	b = number(r, "B");
	if (isnan(m) || isnan(n) || isnan(k))
		return NAN;
	return gemm_us(s, m, n, k, isnan(b) ? 1 : b, r->precision);
}

void
sim_finish(struct sim *s)
{
	int status;

	if (s == NULL)
		return;
	(void)fclose(s->to);
	(void)fclose(s->from);
	while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
		;
	map_free(&s->known);
	free(s);
}
