/* SPDX-License-Identifier: MIT */
/* Ranks in the names of files: see rank.h. */
#include "stream/rank.h"

#include <regex.h>

/* "rank0", "rank-34", "rank/1", "rank[2]", "worker3". */
#define NUMBER "[-_./[]?([0-9]+)"
#define RANK_REGEX "[Rr][Aa][Nn][Kk]" NUMBER "|[Ww]orker" NUMBER
#define GROUPS_MAX 10

struct rank_rule {
	regex_t re;
};

struct rank_rule *
rank_rule_create(const char *regex)
{
	struct rank_rule *r = xcalloc(1, sizeof *r);
	char text[256];
	int err =
	    regcomp(&r->re, regex != NULL ? regex : RANK_REGEX, REG_EXTENDED);

	if (err == REG_ESPACE)
		die("out of memory");
	if (err != 0) {
		regerror(err, &r->re, text, sizeof text);
		die_usage("option '--rank-regex': %s", text);
	}
	if (r->re.re_nsub < 1)
		die_usage("option '--rank-regex' needs a group: "
			  "'rank([0-9]+)'");
	return r;
}

void
rank_rule_destroy(struct rank_rule *r)
{
	if (r == NULL)
		return;
	regfree(&r->re);
	vec_release(r);
}

int64_t
rank_of_path(const struct rank_rule *r, const char *path)
{
	const char *base = strrchr(path, '/');
	regmatch_t m[GROUPS_MAX];
	int64_t rank;

	base = base != NULL ? base + 1 : path;
	if (regexec(&r->re, base, GROUPS_MAX, m, 0) != 0) {
		base = path; /* rank3/trace.json */
		if (regexec(&r->re, base, GROUPS_MAX, m, 0) != 0)
			return -1;
	}
	for (size_t i = 1; i < GROUPS_MAX && i <= r->re.re_nsub; i++)
		if (m[i].rm_so >= 0)
			return num_i64((struct str){ base + m[i].rm_so,
					   (size_t)(m[i].rm_eo - m[i].rm_so) },
				   &rank)
			    ? rank
			    : -1;
	return -1;
}
