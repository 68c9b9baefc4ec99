/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "io/io.h"

void
io_make_folder(const char *dir)
{
	char *path = xstrdup(dir);

	for (char *p = path; *p != '\0'; p++) {
		if (*p != '/' || p == path)
			continue;
		*p = '\0';
		if (mkdir(path, 0777) < 0 && errno != EEXIST)
			die_errno("%s", path);
		*p = '/';
	}
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		die_errno("%s", path);
	free(path);
}

bool
io_is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int
by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

void
io_find_files(const char *dir, bool (*is)(struct str name),
    void (*take)(void *arg, const char *path), void *arg)
{
	char *dirs[] = { xstrdup(dir), NULL };
	FTS *tree = fts_open(dirs, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *e;

	while (tree != NULL && (e = fts_read(tree)) != NULL) {
		struct str name = { e->fts_name, e->fts_namelen };

		if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR ||
		    e->fts_info == FTS_NS) {
			errno = e->fts_errno;
			die_errno("%s", e->fts_path);
		}
		if (e->fts_level > 0 && e->fts_name[0] == '.')
			(void)fts_set(tree, e, FTS_SKIP);
		else if (e->fts_info == FTS_F && is(name))
			take(arg, e->fts_path);
	}
	if (tree == NULL || errno != 0)
		die_errno("%s", dir);
	(void)fts_close(tree);
	vec_release(dirs[0]);
}
