/* SPDX-License-Identifier: MIT */
/* Operands, folders and lists to paths; ranks from names. */
#include "cmd/tl-collective/collective.h"

#include <regex.h>
#include <stdlib.h>

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
