/* SPDX-License-Identifier: MIT */
/* Outputs: folder, workbook, database, page. */
#include <stdio.h>

#include "table/catalogue.h"
#include "table/table.h"

#include "cmd/tl-report/figures.h"

#define MARKDOWN_ROWS 20 /* of a table */

/* ---- a folder ---- */

void
dir_make(struct settings *s)
{
	if (!is_there(s->dir)) {
		io_make_folder(s->dir);
		made_folder(s->dir);
	}
	s->tables = temporary(text("%s/.tl-report.XXXXXX", s->dir));
	if (s->tables == NULL)
		die_errno("%s", s->dir);
}

void
dir_write(const struct settings *s)
{
	struct args list = { 0 };

	if (!s->is_ndjson)
		sheets_to_csv(s);
	sheets_paths(s, s->is_ndjson ? "ndjson" : "csv", &list);
	for (size_t i = 0; i < list.v.n; i++) {
		const char *name = strrchr(list.v.v[i], '/') + 1;

		if (sheet_is_of_folder(list.v.v[i]) &&
		    rename(list.v.v[i], text("%s/%s", s->dir, name)) != 0)
			die_errno("%s/%s", s->dir, name);
	}
	made_folder(NULL);
	vec_free(&list.v);
}

/* ---- a stream ---- */

void
tables_write(const struct settings *s)
{
	struct out *out = out_open(NULL);
	struct args list = { 0 };

	sheets_paths(s, "ndjson", &list);
	for (size_t i = 0; i < list.v.n; i++) {
		struct in *in = in_open(list.v.v[i]);

		while (in->p < in->end || in_more(in)) {
			out_write(out, in->p, (size_t)(in->end - in->p));
			in->p = in->end;
			in_release(in);
		}
		in_close(in);
	}
	out_finish(out);
	vec_free(&list.v);
}

/* ---- a workbook, a database, a page ---- */

/* Messages of the program go to the user. */
static void
run(struct jobs *j, struct args *argv)
{
	(void)job_start(j, argv, &(struct job){ 0 });
	job_finish(j, true);
}

const char *
front_path(const struct settings *s)
{
	return text("%s/" SHEET_FRONT, s->tmp);
}

void
book_write(const struct settings *s, struct jobs *j)
{
	struct args argv = { 0 };

	args_add(&argv, "tl-xlsx");
	args_add(&argv, "--labels");
	args_add(&argv, "--main-first");
	will_write(s->book);
	args_add(&argv, text("--output=%s", s->book));
	args_add(&argv, text("--front=%s", front_path(s)));
	args_add(&argv, "--chart-sheet=summary");
	sheets_paths(s, "ndjson", &argv);
	run(j, &argv);
}

void
markdown_write(const struct settings *s)
{
	struct table_dest to = {
		.path = s->markdown, .format = FMT_MD, .many = true
	};
	struct args list = { 0 };

	sheets_paths(s, "ndjson", &list);
	for (size_t i = 0; i < list.v.n; i++)
		table_append(list.v.v[i], &to, MARKDOWN_ROWS);
	table_dest_finish(&to);
	vec_free(&list.v);
}

/*
 * A table as one JSON object: members of its schema line, then its rows. The
 * end line is checked and dropped.
 */
static void
put_table(struct out *out, const char *path)
{
	struct in *in = in_open(path);
	size_t nlines = 0;
	bool has_end = false;

	while (in->p < in->end || in_more(in)) {
		const unsigned char *nl = NULL;
		size_t n;

		while ((nl = memchr(in->p, '\n', (size_t)(in->end - in->p))) ==
		    NULL)
			if (!in_more(in))
				die("%s: a line was cut off", path);
		n = (size_t)(nl - in->p);
		has_end = str_starts(
		    (struct str){ (const char *)in->p, n }, STR("{\"end\":"));
		if (nlines == 0) { /* members, before the closing brace */
			out_write(out, in->p, n - 1);
			out_puts(out, ",\n\"rows\":[");
		} else if (!has_end) {
			out_puts(out, nlines > 1 ? ",\n" : "\n");
			out_write(out, in->p, n);
		}
		nlines++;
		in->p = nl + 1;
	}
	if (!has_end)
		die("%s: the table has no end", path);
	out_puts(out, "]}");
	in_close(in);
}

void
json_write(const struct settings *s)
{
	struct out *out;
	struct args list = { 0 };

	sheets_paths(s, "ndjson", &list);
	will_write(s->json);
	out = out_open(s->json);
	out_puts(out, "{\"tables\":[");
	for (size_t i = 0; i < list.v.n; i++) {
		out_puts(out, i > 0 ? ",\n" : "\n");
		put_table(out, list.v.v[i]);
	}
	out_puts(out, "\n]}\n");
	out_finish(out);
	vec_free(&list.v);
}

void
database_write(const struct settings *s, struct jobs *j)
{
	struct args argv = { 0 };

	args_add(&argv, "tl-sql");
	will_write(s->database);
	args_add(&argv, text("--output=%s", s->database));
	args_add(&argv, "--");
	sheets_paths(s, "ndjson", &argv);
	if (s->events)
		args_all(&argv, &s->trees);
	run(j, &argv);
}

/* Tables of the other side that this one has, too. */
static void
add_other_tables(const struct settings *s, struct args *argv)
{
	static const char *const names[] = { "gpu_timeline", "ops_summary",
		"ops_summary_by_category", "unified_perf_summary",
		"kernel_summary", "kernel_summary_by_category", NULL };
	const char *const *const lists[] = { names, versus_tables };

	for (size_t i = 0; i < 2; i++)
		for (const char *const *t = lists[i]; *t != NULL; t++) {
			const char *path = table_path(s->other, *t, "ndjson");

			if (is_there(path))
				args_add(argv, text("--vs=%s", path));
		}
}

/* The title is the trace's name, rank and GPU. */
void
page_write(const struct settings *s, struct jobs *j, struct str title)
{
	bool is_matched = s->match != NULL;
	const struct args *trees = is_matched ? &s->matched[0] : &s->trees;
	const struct args *others = is_matched ? &s->matched[1] : &s->others;
	struct args argv = { 0 }, list = { 0 };

	if (title.len == 0)
		title = STR("tl-report");
	args_add(&argv, "tl-html");
	will_write(s->page);
	args_add(&argv, text("--output=%s", s->page));
	args_add(&argv,
	    s->title != NULL ? text("--title=%s", s->title)
			     : text("--title=%.*s", (int)title.len, title.p));
	if (!is_matched)
		args_all(&argv, &s->chosen);
	for (size_t i = 0; i < others->v.n; i++)
		args_add(&argv, text("--vs=%s", others->v.v[i]));
	if (s->other != NULL)
		add_other_tables(s, &argv);
	if (s->names != NULL)
		args_add(&argv, text("--names=%s", s->names));
	args_add(&argv, "--");
	sheets_paths(s, "ndjson", &list);
	/* whose uids are of both sides: it has each side's own */
	for (size_t i = 0; i < list.v.n; i++)
		if (!versus_is_joined(list.v.v[i]))
			args_add(&argv, list.v.v[i]);
	args_all(&argv, trees);
	run(j, &argv);
	vec_free(&list.v);
}
