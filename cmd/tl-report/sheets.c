/* SPDX-License-Identifier: MIT */
/*
 * Which sheets there are, their order and length, from the catalogue of tables.
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

/* Whether the file has at least so many lines; false: no file. */
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

/* A GPU that is idle for less of its time sets the pace. */
#define IDLE_PARTS 5

/* All, or steps in a row: others have no advice, which what_if is for. */
static bool
is_of_whole_steps(const struct settings *s)
{
	return s->chosen.v.n == 0 ||
	    (select_is_of_steps(&s->select) && !select_is_apart(&s->select));
}

/* Programs write more tables than asked for; families of ops have no entry. */
static bool
is_wanted(const struct settings *s, const struct sheet *sheet)
{
	if (sheet == NULL)
		return true;
	switch (sheet->when) {
	case SHEET_IF_KERNELS: return s->kernels;
	case SHEET_IF_ROCPROF: return s->is_rocprof;
	case SHEET_IF_XLA: return s->is_xla;
	case SHEET_IF_EITHER: return s->kernels || s->is_rocprof;
	case SHEET_IF_SHORT: return s->shorts;
	case SHEET_IF_CRITICAL: return s->critical;
	case SHEET_IF_LAUNCH: return s->launch;
	case SHEET_IF_LINKED:
		return s->has_linked && !s->is_several && !s->is_xla &&
		    !s->linked_only && is_of_whole_steps(s) &&
		    s->idle_ns >= s->gpu_ns / IDLE_PARTS;
	case SHEET_PATH: return s->critical || s->has_sheets;
	/* rocprofv3's have their own */
	case SHEET_LAUNCHES:
		return s->launch || (s->has_sheets && !s->is_rocprof);
	default: return sheet->where != 0;
	}
}

bool
sheet_is_wanted(const struct settings *s, const char *name)
{
	return is_wanted(s, sheet_find(str_of(name)));
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

const char *
sheets_wanted(const struct settings *s, const char *program)
{
	const char *list = NULL;

	for (size_t i = 0; i < sheets_n; i++)
		if (sheets[i].program != NULL &&
		    strcmp(sheets[i].program, program) == 0 &&
		    is_wanted(s, &sheets[i]))
			list = list == NULL
			    ? sheets[i].name
			    : text("%s,%s", list, sheets[i].name);
	return list;
}

struct order {
	const struct settings *set;
	const char *format;
	struct args *list;
};

/* NDJSON has an end line, too. */
static void
put(const struct order *o, struct str name, bool has_rows)
{
	unsigned least = strcmp(o->format, "ndjson") == 0 ? 3 : 2;
	const char *path = text(
	    "%s/%.*s.%s", o->set->tables, (int)name.len, name.p, o->format);

	if (is_wanted(o->set, sheet_find(name)) &&
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

/* Families of ops without an entry, the user's included, by name. */
static void
put_families(const struct order *o)
{
	struct dirent **files;
	int n = scandir(o->set->tables, &files, NULL, alphasort);

	if (n < 0)
		die_errno("%s", o->set->tables);
	for (int i = 0; i < n; i++) {
		struct str name = str_of(files[i]->d_name);

		if (cut_end(&name, text(".%s", o->format)) &&
		    sheet_find(name) == NULL)
			put(o, name, true);
		free(files[i]);
	}
	free(files);
}

void
sheets_paths(const struct settings *s, const char *format, struct args *list)
{
	const struct order o = { s, format, list };

	for (size_t i = 0; i < sheets_n; i++)
		if ((sheets[i].where & SHEET_FAMILIES) != 0)
			put_families(&o);
		else
			put(&o, str_of(sheets[i].name),
			    (sheets[i].where & SHEET_EMPTY) == 0);
}

/* ---- how much ---- */

static struct str
name_of(const char *path)
{
	struct str s = str_of(strrchr(path, '/') + 1);

	(void)cut_end(&s, ".ndjson");
	return s;
}

/* Rows to keep; 0: all. Tables without an entry are families of ops. */
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

bool
sheet_is_of_folder(const char *path)
{
	const struct sheet *sheet = sheet_find(name_of(path));

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

		if (sheet_is_of_folder(list.v.v[i]) && !is_there(to))
			table_copy(list.v.v[i], to, FMT_CSV, 0);
	}
	vec_free(&list.v);
}
