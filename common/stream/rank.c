/* SPDX-License-Identifier: MIT */
/* Ranks in file names: see rank.h. */
#include "stream/rank.h"

#include <regex.h>

#include "io/io.h"

/* "rank0", "rank-34", "rank/1", "rank[2]", "worker3". */
#define NUMBER "[-_./[]?([0-9]+)"
#define RANK_REGEX "[Rr][Aa][Nn][Kk]" NUMBER "|[Ww]orker" NUMBER
#define GROUPS_MAX 10
#define LOG_HEAD 5000 /* bytes read of a log */
#define NODES_MAX 100000

struct node {
	struct str host;
	int64_t rank;
};

struct rank_rule {
	regex_t re;
	struct arena *mem;
	VEC(struct node) nodes;
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
	if (r->mem != NULL)
		arena_destroy(r->mem);
	vec_free(&r->nodes);
	vec_release(r);
}

/* ---- nodes ---- */

#define HOST "[\"']?([A-Za-z0-9_.-]+)"

/* The last group of the first pattern that matches; empty: none does. */
static struct str
find_first(const char *const *patterns, const char *text)
{
	for (; *patterns != NULL; patterns++) {
		regmatch_t m[4];
		regex_t re;
		size_t n;
		bool has;

		if (regcomp(&re, *patterns, REG_EXTENDED | REG_ICASE) != 0)
			die("out of memory");
		has = regexec(&re, text, 4, m, 0) == 0;
		n = re.re_nsub;
		regfree(&re);
		if (has)
			return (struct str){ text + m[n].rm_so,
				(size_t)(m[n].rm_eo - m[n].rm_so) };
	}
	return STR("");
}

static void
add_node(struct rank_rule *r, const char *path, struct str host, int64_t rank)
{
	for (size_t i = 0; i < r->nodes.n; i++) {
		const struct node *n = &r->nodes.v[i];

		if (str_eq(n->host, host) && n->rank != rank)
			die("%s: %.*s is node %" PRId64
			    ", in another log %" PRId64,
			    path, (int)host.len, host.p, rank, n->rank);
	}
	vec_push(&r->nodes, ((struct node){ arena_str(r->mem, host), rank }));
}

/* What launchers write first in a node's log. */
static void
read_log(void *rule, const char *path)
{
	static const char *const ranks[] = {
		"NODE_RANK[[:space:]=:\"']+([0-9]+)", NULL
	};
	static const char *const names[] = { "node_rank_([0-9]+)\\.log$",
		NULL };
	static const char *const hosts[] = {
		"hostname[[:space:]]*[=:][[:space:]]*" HOST,
		"(^|[^a-z])(Host|Node):[[:space:]]*" HOST,
		"Running on[[:space:]]+" HOST,
		"nodename[[:space:]]*[=:][[:space:]]*" HOST, NULL
	};
	static const char *const stems[] = { "^([a-z][a-z0-9-]*)\\.log$",
		NULL };
	const char *slash = strrchr(path, '/');
	const char *base = slash != NULL ? slash + 1 : path;
	struct in *in = in_open(path);
	char text[LOG_HEAD + 1];
	struct str host, rank;
	int64_t number;
	size_t n;

	(void)!in_need(in, LOG_HEAD);
	n = (size_t)(in->end - in->p);
	n = n < LOG_HEAD ? n : LOG_HEAD;
	memcpy(text, in->p, n);
	text[n] = '\0';
	in_close(in);
	rank = find_first(ranks, text);
	if (rank.len == 0)
		rank = find_first(names, base);
	host = find_first(hosts, text);
	if (host.len == 0)
		host = find_first(stems, base);
	if (host.len == 0 || rank.len == 0)
		return;
	if (!num_i64(rank, &number) || number >= NODES_MAX)
		die("%s: NODE_RANK %.*s: a job has fewer nodes", path,
		    (int)rank.len, rank.p);
	add_node(rule, path, host, number);
}

static bool
is_log(struct str name)
{
	return str_ends(name, STR(".log"));
}

void
rank_rule_logs(struct rank_rule *r, const char *path)
{
	size_t before = r->nodes.n;

	if (r->mem == NULL)
		r->mem = arena_create();
	if (io_is_folder(path))
		io_find_files(path, is_log, read_log, r);
	else
		read_log(r, path);
	if (r->nodes.n == before)
		die("%s: no log has a node's NODE_RANK and host name", path);
}

/* "tw003" of tw003.xplane.pb, and of a log's tw003.cluster. */
static bool
is_host(struct str name, struct str host)
{
	return str_take(&name, host) && (name.len == 0 || name.p[0] == '.');
}

int64_t
rank_of_node(const struct rank_rule *r, struct str name)
{
	for (size_t i = 0; i < r->nodes.n; i++)
		if (is_host(name, r->nodes.v[i].host))
			return r->nodes.v[i].rank;
	for (size_t i = 0; i < r->nodes.n; i++) {
		struct str host = r->nodes.v[i].host;
		const char *dot = memchr(host.p, '.', host.len);

		if (dot != NULL)
			host.len = (size_t)(dot - host.p);
		if (is_host(name, host))
			return r->nodes.v[i].rank;
	}
	return -1;
}

/* ---- paths ---- */

int64_t
rank_of_path(const struct rank_rule *r, const char *path)
{
	const char *base = strrchr(path, '/');
	regmatch_t m[GROUPS_MAX];
	int64_t rank;

	base = base != NULL ? base + 1 : path;
	rank = rank_of_node(r, str_of(base));
	if (rank >= 0)
		return rank;
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

void
put_ranges(struct buf *b, const int64_t *v, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t k = i;

		while (k + 1 < n && v[k + 1] == v[k] + 1)
			k++;
		buf_printf(b, "%s%" PRId64, i > 0 ? "," : "", v[i]);
		if (k > i)
			buf_printf(
			    b, "%c%" PRId64, k == i + 1 ? ',' : '-', v[k]);
		i = k + 1;
	}
}
