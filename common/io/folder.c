/* SPDX-License-Identifier: MIT */
#include <errno.h>
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
