/* SPDX-License-Identifier: MIT */
/* Operands, folders and lists to paths; ranks from names. */
#include "cmd/tl-collective/collective.h"

#include <dirent.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <sys/stat.h>

#define MAX_LIST_LINE 65536
/* "rank0", "rank-34", "rank/1", "worker3". */
#define RANK_REGEX "([Rr][Aa][Nn][Kk]|[Ww]orker)[-_./[]?([0-9]+)"

/* ---- ranks ---- */

/* The number in the group of the expression, in the base name or the path. */
int64_t
input_rank(const struct settings *set, const char *path)
{
	static regex_t re;
	static bool is_ready;
	const char *base = strrchr(path, '/');
	size_t group = set->rank_regex != NULL ? 1 : 2;
	regmatch_t m[3];
	int64_t rank;

	if (!is_ready &&
	    regcomp(&re, set->rank_regex != NULL ? set->rank_regex : RANK_REGEX,
		REG_EXTENDED) != 0)
		die_usage("option '--rank-regex': no regular expression");
	is_ready = true;
	if (re.re_nsub < group)
		die_usage("option '--rank-regex' needs a group: "
			  "'rank([0-9]+)'");
	base = base != NULL ? base + 1 : path;
	if (regexec(&re, base, 3, m, 0) != 0) {
		base = path;
		if (regexec(&re, base, 3, m, 0) != 0)
			return -1;
	}
	if (m[group].rm_so < 0 ||
	    !num_i64((struct str){ base + m[group].rm_so,
			 (size_t)(m[group].rm_eo - m[group].rm_so) },
		&rank))
		return -1;
	return rank;
}

/* ---- folders ---- */

static bool
ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n > k && strcmp(name + n - k, end) == 0;
}

/* rank2 before rank10: runs of digits compare as numbers. */
static int
by_name(const void *pa, const void *pb)
{
	return strverscmp(*(char *const *)pa, *(char *const *)pb);
}

static bool
is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static char *
join_path(const char *dir, const char *name)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s%s%s", dir, ends_with(dir, "/") ? "" : "/", name);
	buf_putc(&b, '\0');
	return b.p;
}

static void
search(const char *dir, path_vec *out)
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
		if (stream_is_name(str_of(e->d_name)) || is_folder(path))
			vec_push(&found, path);
		else
			free(path);
	}
	closedir(d);
	if (found.n > 0)
		qsort(found.v, found.n, sizeof *found.v, by_name);
	for (size_t i = 0; i < found.n; i++) {
		if (is_folder(found.v[i]))
			search(found.v[i], out);
		else
			vec_push(out, found.v[i]);
	}
	vec_free(&found);
}

static void
add_path(path_vec *paths, const char *path)
{
	size_t before = paths->n;

	if (!is_folder(path)) {
		vec_push(paths, xstrdup(path));
		return;
	}
	search(path, paths);
	if (paths->n == before)
		die("%s: no trace or stream in this folder", path);
}

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
			add_path(paths, path);
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
		add_path(paths, operands[i]);
	if (n == 0 && set->lists.n == 0)
		vec_push(paths, xstrdup("-"));
	if (paths->n == 0)
		die("no input");
}
