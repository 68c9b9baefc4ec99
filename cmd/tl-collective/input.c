/* SPDX-License-Identifier: MIT */
/* Operands, folders and lists to paths. */
#include "cmd/tl-collective/collective.h"

#include <stdlib.h>

#define MAX_LIST_LINE 65536

/* ---- lists ---- */

static void
add_list(path_vec *paths, const char *list)
{
	struct in *in = in_open(list);

	for (;;) {
		const unsigned char *nl;
		size_t n;
		char *path;

		while ((nl = memchr(in->p, '\n', (size_t)(in->end - in->p))) ==
			NULL &&
		    in->end - in->p < MAX_LIST_LINE && in_more(in))
			;
		n = (size_t)((nl != NULL ? nl : in->end) - in->p);
		if (n >= MAX_LIST_LINE)
			die("%s: a line is longer than %d bytes", list,
			    MAX_LIST_LINE);
		if (memchr(in->p, '\0', n) != NULL)
			die("%s: a path with a NUL", list);
		path = strndup((const char *)in->p, n);
		if (path == NULL)
			die("out of memory");
		if (n > 0)
			stream_paths(paths, path, true);
		free(path);
		in->p += n;
		if (nl == NULL)
			break;
		in->p++;
	}
	in_close(in);
}

void
input_paths(const struct settings *set, char **operands, int n, path_vec *paths)
{
	for (size_t i = 0; i < set->lists.n; i++)
		add_list(paths, set->lists.v[i]);
	for (int i = 0; i < n; i++)
		stream_paths(paths, operands[i], true);
	if (n == 0 && set->lists.n == 0)
		vec_push(paths, xstrdup("-"));
	if (paths->n == 0)
		die("no input");
}
