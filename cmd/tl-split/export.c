/* SPDX-License-Identifier: MIT */
/* Parts as traces for viewers: each is exported, several at a time. */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/tl-split/split.h"

struct job {
	char *stream, *path;
	pid_t pid;
};

static VEC(struct job) jobs;

void
export_remove_left(const char *folder)
{
	static const struct str tmp = STR_INIT(".tmp"),
				six = STR_INIT("XXXXXX");
	DIR *dir = opendir(folder);
	struct dirent *e;

	if (dir == NULL)
		die_errno("%s", folder);
	while ((e = readdir(dir)) != NULL) {
		struct str name = str_of(e->d_name), cut = name;

		cut.len -= cut.len > six.len ? six.len : 0;
		if (str_ends(cut, tmp))
			name.len = cut.len - tmp.len;
		if (str_ends(name, STR(EXPORT_ENDING)))
			unlinkat(dirfd(dir), e->d_name, 0);
	}
	closedir(dir);
}

void
export_later(const char *stream)
{
	struct job job = { .stream = xstrdup(stream), .path = xstrdup(stream) };

	out_tmp_take(stream); /* it is not what was asked for */
	job.path[strlen(job.path) - strlen(EXPORT_ENDING)] = '\0';
	vec_push(&jobs, job);
}

static void
start(struct job *job, char *program)
{
	char *argv[] = { program, (char *)"--sort", (char *)"id",
		(char *)"--object", (char *)"-o", job->path, job->stream,
		NULL };

	job->pid = child_spawn(argv, -1, -1);
	if (job->pid < 0)
		die_errno("%s", program);
}

static void
finish(const struct job *job)
{
	(void)child_has_warned(job->path, "tl-export", child_wait(job->pid));
}

void
export_all(void)
{
	char *program = sys_program("tl-export");
	size_t nside = (size_t)sys_cpus();

	for (size_t i = 0; i < jobs.n + nside; i++) {
		if (i >= nside && i - nside < jobs.n)
			finish(&jobs.v[i - nside]);
		if (i < jobs.n)
			start(&jobs.v[i], program);
	}
	out_remove_temporaries();
	for (size_t i = 0; i < jobs.n; i++) {
		free(jobs.v[i].stream);
		free(jobs.v[i].path);
	}
	vec_free(&jobs);
	free(program);
}
