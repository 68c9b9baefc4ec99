/* SPDX-License-Identifier: MIT */
/* A user's own models and GPUs, in folders from the environment. */
#include <dirent.h>
#include <stdlib.h>

#include "model/priv.h"

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static bool
ends_so(const char *name, const char *ending)
{
	size_t n = strlen(name), end = strlen(ending);

	return n > end && strcmp(name + n - end, ending) == 0;
}

static void
folder_files(const char *variable, const char *dir, const char *ending,
    path_fn *each, void *ctx)
{
	struct dirent **list = NULL;
	int n = scandir(dir, &list, NULL, by_name);

	if (n < 0)
		die_errno("$%s: %s", variable, dir);
	for (int i = 0; i < n; i++) {
		struct buf path = { 0 };

		buf_printf(&path, "%s/%s", dir, list[i]->d_name);
		buf_putc(&path, '\0');
		if (list[i]->d_name[0] != '.' &&
		    ends_so(list[i]->d_name, ending))
			each(ctx, path.p);
		buf_free(&path);
		free(list[i]);
	}
	free(list);
}

void
path_files(const char *variable, const char *ending, path_fn *each, void *ctx)
{
	const char *p = getenv(variable);

	while (p != NULL && *p != '\0') {
		size_t len = strcspn(p, ":");
		struct buf dir = { 0 };

		buf_put(&dir, p, len);
		buf_putc(&dir, '\0');
		if (len > 0)
			folder_files(variable, dir.p, ending, each, ctx);
		buf_free(&dir);
		p += len + (p[len] == ':');
	}
}
