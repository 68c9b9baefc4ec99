/* SPDX-License-Identifier: MIT */
/* Which sheets there are, and in which order a report has them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/io.h"

#include "cmd/tl-report/report.h"

/* The reference's order, and what it does not have before and behind. */
static const char *const first[] = { "summary", "diff_ops_summary",
	"diff_kernels", "gpu_timeline_by_rank", "nccl_groups",
	"straggler_cause", "straggler_summary", "gpu_timeline", "host_timeline",
	"cpu_ops_by_category", "cpu_ops", "cpu_ops_unique_args", NULL };
static const char *const of_gpu[] = { "kernel_summary",
	"kernel_summary_by_category", "kernel_details", "short_kernels_summary",
	NULL };
static const char *const of_ops[] = { "ops_summary_by_category", "ops_summary",
	"ops_unique_args", "ops_unique_args_kl_overlap", "unified_perf_summary",
	"diff_stats", "diff_stats_unique_args_summary", "lca_summary",
	"unified_perf_summary_kl_overlap", NULL };
/* here those of the families of ops */
static const char *const last[] = { "kernel_summary", "short_kernel_histogram",
	"short_kernels_summary", "coll_analysis", "nccl_long",
	"nccl_summary_long", "nccl_implicit_sync", "nccl_summary_implicit_sync",
	"nccl_all2allv", "nccl_summary_all2allv", "nn_modules_by_type",
	"nn_modules", NULL };

bool
is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

bool
has_lines(const char *path, unsigned lines)
{
	char bytes[4096];
	unsigned n = 0;
	ssize_t got = 1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	while (n < lines && got > 0) {
		do
			got = read(fd, bytes, sizeof bytes);
		while (got < 0 && errno == EINTR);
		for (ssize_t i = 0; i < got; i++)
			n += bytes[i] == '\n';
	}
	if (got < 0)
		die_errno("%s", path);
	close(fd);
	return n >= lines;
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names in a folder, sorted. */
static void
names_in(const char *dir, struct args *names)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	if (d == NULL)
		die_errno("%s", dir);
	while ((e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			args_add(names, text("%s", e->d_name));
	closedir(d);
	if (names->v.n > 0)
		qsort(names->v.v, names->v.n, sizeof *names->v.v, compare);
}

struct order {
	const char *dir, *format;
	struct intern *seen;
	struct args *list;
};

/* A header, rows, and in NDJSON an end; those of short kernels without rows. */
static void
put(struct order *o, struct str name)
{
	size_t known = o->seen->list.n;
	bool is_ndjson = strcmp(o->format, "ndjson") == 0;
	unsigned least = is_ndjson ? 3 : 2;
	const char *path;

	if (str_starts(name, STR("short_kernel")))
		least = 1;
	if (intern_put(o->seen, name) != known)
		return;
	path = text("%s/%.*s.%s", o->dir, (int)name.len, name.p, o->format);
	if (has_lines(path, least))
		args_add(o->list, path);
}

static void
put_all(struct order *o, const char *const *names)
{
	for (; *names != NULL; names++)
		put(o, str_of(*names));
}

static void
put_with(struct order *o, struct str stem, const char *end)
{
	put(o, str_of(text("%.*s%s", (int)stem.len, stem.p, end)));
}

static bool
cut_end(struct str *s, const char *end)
{
	size_t n = strlen(end);

	if (s->len < n || memcmp(s->p + s->len - n, end, n) != 0)
		return false;
	s->len -= n;
	return true;
}

/* X, or X_fwd and X_bwd, and the same by overlapping GPU work. */
static void
put_family(struct order *o, struct str name)
{
	struct str stem = name;

	if (cut_end(&stem, "_bwd"))
		return; /* with its forward one */
	if (!cut_end(&stem, "_fwd")) {
		put(o, name);
		put_with(o, name, "_kl_overlap");
		return;
	}
	put_with(o, stem, "_fwd");
	put_with(o, stem, "_bwd");
	put_with(o, stem, "_fwd_kl_overlap");
	put_with(o, stem, "_bwd_kl_overlap");
}

void
sheets_ask(struct settings *s, struct jobs *j)
{
	struct job how = { .keeps_out = true, .is_side = true };
	struct args argv = { 0 };

	if (!have("tl-roofline"))
		return;
	args_add(&argv, "tl-roofline");
	args_add(&argv, "--list-tables");
	args_add(&argv, "--no-header");
	args_all(&argv, &s->roofline);
	s->families = job_start_with(j, &argv, &how);
	vec_free(&argv.v);
}

/* As tl-roofline lists them, those of the user's models too. */
static void
put_families(struct order *o, const struct settings *s)
{
	struct str rest = { NULL, 0 };

	if (s->families != NULL)
		rest = buf_str(&s->families->out);
	while (rest.len > 0) {
		const char *nl = memchr(rest.p, '\n', rest.len);
		size_t n = nl != NULL ? (size_t)(nl - rest.p) : rest.len;
		const char *tab = memchr(rest.p, '\t', n);

		put_family(o,
		    (struct str){
			rest.p, tab != NULL ? (size_t)(tab - rest.p) : n });
		n += nl != NULL;
		rest.p += n;
		rest.len -= n;
	}
}

static void
put_rest(struct order *o)
{
	struct args names = { 0 };

	names_in(o->dir, &names);
	for (size_t i = 0; i < names.v.n; i++) {
		struct str name = str_of(names.v.v[i]);

		if (cut_end(&name, text(".%s", o->format)))
			put(o, name);
	}
	vec_free(&names.v);
}

void
sheets_list(const struct settings *s, const char *dir, const char *format,
    struct args *list)
{
	struct order o = { dir, format, intern_create(), list };

	put_all(&o, first);
	if (!s->has_ops)
		put_all(&o, of_gpu);
	put_all(&o, of_ops);
	if (s->has_ops)
		put_families(&o, s);
	put_all(&o, last);
	put_rest(&o);
	intern_destroy(o.seen);
}

void
sheets_present(const char *dir, const char *format, struct args *list)
{
	struct order o = { dir, format, intern_create(), list };

	put_rest(&o);
	intern_destroy(o.seen);
}

/* ---- --top ---- */

static void
cut(const char *path, int64_t top)
{
	const char *to = text("%s.cut", path);
	FILE *from = fopen(path, "re");
	struct out *out;
	char *line = NULL;
	size_t cap = 0;
	int64_t rows = 0;
	ssize_t n;

	if (from == NULL)
		die_errno("%s", path);
	out = out_open(to);
	for (bool is_head = true; (n = getline(&line, &cap, from)) > 0;
	     is_head = false) {
		if (strncmp(line, "{\"end\":", 7) == 0)
			out_printf(
			    out, "{\"end\":{\"rows\":%" PRId64 "}}\n", rows);
		else if (is_head || rows < top) {
			out_write(out, line, (size_t)n);
			rows += !is_head;
		}
	}
	free(line);
	fclose(from);
	out_finish(out);
	if (rename(to, path) != 0)
		die_errno("%s", path);
}

static bool
is_among(const char *name, const char *const *starts)
{
	for (; *starts != NULL; starts++)
		if (strncmp(name, *starts, strlen(*starts)) == 0)
			return true;
	return false;
}

void
sheets_cut(const struct settings *s)
{
	static const char *const ops[] = { "ops_unique_", "ops_by_", "cpu_ops",
		"all_ops", NULL };
	static const char *const kernels[] = { "kernel_details",
		"short_kernels_", NULL };
	static const char *const whole[] = { "ops_", "kernel_",
		"short_kernel_histogram", "gpu_", "coll_", "nccl_",
		"straggler_", "nn_", "summary", "category_", "host_", "diff_",
		"lca_", NULL };
	struct args names = { 0 };

	names_in(s->tables, &names);
	for (size_t i = 0; i < names.v.n; i++) {
		struct str name = str_of(names.v.v[i]);
		const char *top = s->top_roofline;
		int64_t n = 0;

		if (is_among(name.p, ops))
			top = s->top_ops;
		else if (is_among(name.p, kernels))
			top = s->top_kernels;
		else if (is_among(name.p, whole))
			top = NULL;
		if (cut_end(&name, ".ndjson") && top != NULL &&
		    num_i64(str_of(top), &n) && n > 0)
			cut(text("%s/%s", s->tables, names.v.v[i]), n);
	}
	vec_free(&names.v);
}
