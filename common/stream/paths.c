/* SPDX-License-Identifier: MIT */
/* Which files of a folder are input, for programs that take folders. */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "stream/run.h"
#include "stream/stream.h"

bool
stream_is_name(struct str name, unsigned form)
{
	static const struct str packed[] = { STR_INIT(".gz"),
		STR_INIT(".zst") };
	/* one of a run's CSV files: tl-decode reads the others, too */
	static const struct str ends[STREAM_FORMS][3] = {
		{ STR_INIT(".xplane.pb") },
		{ STR_INIT(".json"), STR_INIT(".ndjson"), STR_INIT(".tl") },
		{ STR_INIT(".db"), STR_INIT(".rpd"), STR_INIT(".sqlite") },
		{ STR_INIT(".pftrace"), STR_INIT(".perfetto-trace") },
		{ STR_INIT("kernel_trace.csv") }, { STR_INIT("_trace_rank_") }
	};

	if (name.len == 0 || name.p[0] == '.')
		return false;
	for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
		if (str_ends(name, packed[i])) {
			name.len -= packed[i].len;
			break;
		}
	/* dumps of the flight recorder: nccl_trace_rank_7 */
	while (form == STREAM_FORMS - 1 && name.len > 0 &&
	    (unsigned)(name.p[name.len - 1] - '0') < 10)
		name.len--;
	for (size_t i = 0; i < 3 && ends[form][i].len > 0; i++)
		if (str_ends(name, ends[form][i]))
			return true;
	return false;
}

static char *
join_path(const char *dir, const char *name)
{
	struct buf b = { 0 };
	size_t n = strlen(dir);

	buf_printf(
	    &b, "%s%s%s", dir, n > 0 && dir[n - 1] == '/' ? "" : "/", name);
	buf_putc(&b, '\0');
	return b.p;
}

/* rank2 before rank10: runs of digits compare as numbers. */
static int
by_name(const void *pa, const void *pb)
{
	return strverscmp(*(char *const *)pa, *(char *const *)pb);
}

static void
search(path_vec *to, const char *dir, unsigned form, bool deep)
{
	DIR *d = opendir(dir);
	path_vec found = { 0 };
	struct dirent *e;

	if (d == NULL)
		die_errno("%s", dir);
	while ((e = readdir(d)) != NULL) {
		char *path;

		if (e->d_name[0] == '.')
			continue;
		path = join_path(dir, e->d_name);
		if (io_is_folder(path)
			? deep
			: stream_is_name(str_of(e->d_name), form))
			vec_push(&found, path);
		else
			free(path);
	}
	closedir(d);
	if (found.n > 0)
		qsort(found.v, found.n, sizeof *found.v, by_name);
	for (size_t i = 0; i < found.n; i++) {
		if (!io_is_folder(found.v[i])) {
			vec_push(to, found.v[i]);
			continue;
		}
		search(to, found.v[i], form, deep);
		free(found.v[i]);
	}
	vec_free(&found);
}

static bool
is_read_with(char *const *paths, size_t n, const char *path)
{
	return run_is_among((const char *const *)paths, n, path);
}

void
stream_paths(path_vec *to, const char *path, bool deep)
{
	size_t before = to->n;

	if (!io_is_folder(path)) {
		if (!is_read_with(to->v, to->n, path))
			vec_push(to, xstrdup(path));
		return;
	}
	for (unsigned form = 0; form < STREAM_FORMS && to->n == before; form++)
		search(to, path, form, deep);
	if (to->n == before)
		die("%s: no trace or stream in this folder", path);
}

void
stream_paths_order(path_vec *paths)
{
	for (size_t i = 1; i < paths->n; i++)
		if (strcmp(paths->v[i - 1], paths->v[i]) > 0)
			return;
	if (paths->n > 1)
		qsort(paths->v, paths->n, sizeof *paths->v, by_name);
}

void
stream_unite(struct optparse *op)
{
	char **files = op->argv + op->ind;
	int n = 0;

	for (int i = 0; i < op->argc - op->ind; i++)
		if (!is_read_with(files, (size_t)n, files[i]))
			files[n++] = files[i];
	files[n] = NULL;
	op->argc = op->ind + n;
}

void
stream_check_files(char *const *files)
{
	for (; *files != NULL; files++)
		if (strcmp(*files, "-") != 0 && access(*files, R_OK) != 0)
			die_errno("%s", *files);
}
