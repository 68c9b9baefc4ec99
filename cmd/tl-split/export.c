/* SPDX-License-Identifier: MIT */
/* Parts as traces for viewers; several are exported at a time. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/tl-split/split.h"

struct job {
	char *stream, *path;
	pid_t pid;
};

static VEC(struct job) jobs;

/* ---- whose streams are whose ---- */

/*
 * A run's streams are NAME.XXXXXX.tl-split. Its lock is .XXXXXX.tl-split, made
 * before the first of them, removed last, and held until the process ends,
 * however it does.
 */
#define OWNER_LEN 6 /* XXXXXX */
#define ENDING ".XXXXXX.tl-split"
#define ENDING_LEN (sizeof ENDING - 1)

static char ending[ENDING_LEN + 1];
static int held = -1; /* the lock */

const char *
export_ending(void)
{
	return ending;
}

/* The name of the owner's lock; false: not a stream of a split. */
static bool
lock_of(struct str name, char lock[ENDING_LEN + 1])
{
	static const struct str tmp = STR_INIT(".tmp"),
				ours = STR_INIT(".tl-split");
	struct str cut = name;

	cut.len -= cut.len > OWNER_LEN ? OWNER_LEN : 0;
	if (str_ends(cut, tmp))
		name.len = cut.len - tmp.len;
	if (name.len < ENDING_LEN || !str_ends(name, ours))
		return false;
	memcpy(lock, name.p + name.len - ENDING_LEN, ENDING_LEN);
	lock[ENDING_LEN] = '\0';
	return lock[0] == '.';
}

/* Removes the file if nobody holds its lock. */
static void
remove_of(int folder, const char *file, const char *lock)
{
	int fd = openat(folder, lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	/* without a lock file: left in a folder that was copied */
	if (fd < 0 ? errno == ENOENT : flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(folder, file, 0);
	if (fd >= 0)
		close(fd);
}

static void
remove_left(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	char lock[ENDING_LEN + 1];

	if (dir == NULL)
		die_errno("%s", folder);
	for (int locks = 0; locks < 2; locks++) {
		rewinddir(dir);
		while ((e = readdir(dir)) != NULL)
			if (lock_of(str_of(e->d_name), lock) &&
			    (strcmp(e->d_name, lock) == 0) == locks)
				remove_of(dirfd(dir), e->d_name, lock);
	}
	closedir(dir);
}

/* Returns false if another run removed it before it was locked. */
static bool
take_lock(const char *folder)
{
	struct buf path = { 0 };
	struct stat st;
	bool is_there;

	buf_printf(&path, "%s/" ENDING, folder);
	buf_putc(&path, '\0');
	held = mkostemps(path.p, (int)(ENDING_LEN - 1 - OWNER_LEN), O_CLOEXEC);
	if (held < 0)
		die_errno("%s", folder);
	/* where locking is not supported, others have no lock either */
	while (flock(held, LOCK_EX) != 0 && errno == EINTR)
		;
	is_there = stat(path.p, &st) == 0;
	if (is_there) {
		out_tmp_take(path.p);
		memcpy(
		    ending, path.p + path.len - sizeof ending, sizeof ending);
	} else {
		close(held);
	}
	buf_free(&path);
	return is_there;
}

void
export_begin(const char *folder)
{
	remove_left(folder);
	while (!take_lock(folder))
		;
}

/* ---- exports ---- */

void
export_later(const char *stream)
{
	struct job job = { .stream = xstrdup(stream), .path = xstrdup(stream) };

	out_tmp_take(stream); /* a temporary file */
	job.path[strlen(job.path) - ENDING_LEN] = '\0';
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
