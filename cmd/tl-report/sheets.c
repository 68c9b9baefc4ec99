/* SPDX-License-Identifier: MIT */
/*
 * Which sheets there are, in which order a report has them, and how much of
 * them, as the catalogue of tables says.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "table/catalogue.h"

#include "cmd/tl-report/figures.h"

const char *
table_path(const struct settings *s, const char *name, const char *format)
{
	return text("%s/%s.%s", s->tables, name, format);
}

bool
is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* So many lines, or more, in a file; false where there is none. */
static bool
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

/* ---- which ---- */

/* Programs write more than was asked for; families of ops have no entry. */
static bool
is_wanted(const struct settings *s, const struct sheet *sheet)
{
	if (sheet == NULL)
		return true;
	switch (sheet->when) {
	case SHEET_IF_KERNELS: return s->kernels;
	case SHEET_IF_ROCPROF: return s->is_rocprof;
	case SHEET_IF_EITHER: return s->kernels || s->is_rocprof;
	case SHEET_IF_SHORT: return s->shorts;
	case SHEET_IF_CRITICAL: return s->critical;
	case SHEET_IF_LAUNCH: return s->launch;
	default: return sheet->where != 0;
	}
}

bool
sheets_need(const struct settings *s, const char *program)
{
	for (size_t i = 0; i < sheets_n; i++)
		if (sheets[i].when != SHEET_ALWAYS &&
		    strcmp(sheets[i].program, program) == 0 &&
		    is_wanted(s, &sheets[i]))
			return true;
	return false;
}

struct order {
	const struct settings *set;
	const char *format;
	struct intern *seen;
	struct args *list;
};

/* A header, rows, and in NDJSON an end. */
static void
put(struct order *o, struct str name, bool has_rows)
{
	size_t known = o->seen->list.n;
	unsigned least = strcmp(o->format, "ndjson") == 0 ? 3 : 2;
	const char *path = text(
	    "%s/%.*s.%s", o->set->tables, (int)name.len, name.p, o->format);

	if (intern_put(o->seen, name) == known &&
	    is_wanted(o->set, sheet_find(name)) &&
	    has_lines(path, has_rows ? least : 1))
		args_add(o->list, path);
}

static bool
cut_end(struct str *s, const char *end)
{
	bool has = str_ends(*s, str_of(end));

	s->len -= has ? strlen(end) : 0;
	return has;
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
	args_all(&argv, &s->options[ROOFLINE]);
	s->families = job_start(j, &argv, &how);
}

/* X, or X_fwd and X_bwd, and the same by overlapping GPU work. */
static void
put_family(struct order *o, struct str name)
{
	static const char *const ends[] = { "_fwd", "_bwd", "_fwd_kl_overlap",
		"_bwd_kl_overlap" };
	static const char *const plain[] = { "", "_kl_overlap" };
	struct str stem = name;
	bool has_ways = cut_end(&stem, "_fwd") || cut_end(&stem, "_bwd");

	for (size_t i = 0; i < (has_ways ? 4 : 2); i++)
		put(o,
		    str_of(text("%.*s%s", (int)stem.len, stem.p,
			has_ways ? ends[i] : plain[i])),
		    true);
}

/* As tl-roofline lists them, those of the user's models too. */
static void
put_families(struct order *o)
{
	struct str rest = { NULL, 0 };

	if (o->set->families != NULL)
		rest = buf_str(&o->set->families->out);
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

static int
compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What else is in the folder, by name. */
static void
put_rest(struct order *o)
{
	DIR *d = opendir(o->set->tables);
	struct args names = { 0 };
	struct dirent *e;

	if (d == NULL)
		die_errno("%s", o->set->tables);
	while ((e = readdir(d)) != NULL)
		args_add(&names, text("%s", e->d_name));
	closedir(d);
	qsort(names.v.v, names.v.n, sizeof *names.v.v, compare);
	for (size_t i = 0; i < names.v.n; i++) {
		struct str name = str_of(names.v.v[i]);

		if (cut_end(&name, text(".%s", o->format)))
			put(o, name, true);
	}
	vec_free(&names.v);
}

void
sheets_paths(const struct settings *s, const char *format, struct args *list)
{
	struct order o = { s, format, intern_create(), list };

	for (size_t i = 0; i < sheets_n; i++)
		if ((sheets[i].where & SHEET_FAMILIES) != 0)
			put_families(&o);
		else
			put(&o, str_of(sheets[i].name),
			    (sheets[i].where & SHEET_EMPTY) == 0);
	put_rest(&o);
	intern_destroy(o.seen);
}

/* ---- how much ---- */

static struct str
name_of(const char *path)
{
	struct str s = str_of(strrchr(path, '/') + 1);

	(void)cut_end(&s, ".ndjson");
	return s;
}

/* The rows that are left; 0: all. What has no entry is a family of ops. */
static int64_t
top_of(const struct settings *s, const char *path)
{
	const struct sheet *sheet = sheet_find(name_of(path));
	const char *const tops[] = { [TOP_NONE] = NULL,
		[TOP_OPS] = s->top_ops,
		[TOP_KERNELS] = s->top_kernels,
		[TOP_ROOFLINE] = s->top_roofline };
	enum sheet_top which = sheet != NULL ? sheet->top : TOP_ROOFLINE;
	const char *top = tops[which];
	int64_t n = 0;

	if (top == NULL && which != TOP_NONE)
		top = s->top;
	return top != NULL && num_i64(str_of(top), &n) ? n : 0;
}

void
sheets_cut(const struct settings *s)
{
	struct args list = { 0 };

	sheets_paths(s, "ndjson", &list);
	for (size_t i = 0; i < list.v.n; i++) {
		int64_t top = top_of(s, list.v.v[i]);

		if (top > 0)
			table_copy(list.v.v[i], list.v.v[i], FMT_NDJSON, top);
	}
	vec_free(&list.v);
}

/* A folder has no charts, and so not what they are drawn of. */
static bool
is_of_folder(struct str name)
{
	const struct sheet *sheet = sheet_find(name);

	return sheet == NULL || (sheet->where & SHEET_PAGE) != 0;
}

void
sheets_to_csv(const struct settings *s)
{
	struct args list = { 0 };

	sheets_paths(s, "ndjson", &list);
	for (size_t i = 0; i < list.v.n; i++) {
		struct str name = name_of(list.v.v[i]);
		const char *to =
		    text("%s/%.*s.csv", s->tables, (int)name.len, name.p);

		if (is_of_folder(name) && !is_there(to))
			table_copy(list.v.v[i], to, FMT_CSV, 0);
	}
	vec_free(&list.v);
}
