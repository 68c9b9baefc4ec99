/* SPDX-License-Identifier: MIT */
/* What becomes of the sheets: a screen, a folder, a workbook, a page. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "io/io.h"
#include "json/json.h"

#include "cmd/tl-report/report.h"

/* Runs one program, whose output and messages go to the user. */
static void
run(struct jobs *j, struct args *argv)
{
	(void)job_start_with(j, argv, &(struct job){ .prints = true });
	job_finish(j, true);
	vec_free(&argv->v);
}

/* ---- the summary ---- */

static void
ask_header(struct settings *s, struct jobs *j, const char *tree)
{
	struct args argv = { 0 };
	struct job how = { .keeps_out = true };

	args_add(&argv, "tl-cat");
	args_add(&argv, "--header");
	args_add(&argv, "--ndjson");
	args_add(&argv, tree);
	job_wait(j, (size_t)sys_cpus());
	vec_push(&s->headers, job_start_with(j, &argv, &how));
	vec_free(&argv.v);
}

/* As processors become free. */
void
headers_ask(struct settings *s, struct jobs *j)
{
	for (size_t i = 0; i < s->trees.v.n; i++)
		ask_header(s, j, s->trees.v.v[i]);
	for (size_t i = 0; i < s->others.v.n; i++)
		ask_header(s, j, s->others.v.v[i]);
}

/* The headers from one on, up to another. */
static void
put_headers(const struct settings *s, size_t from, size_t to, const char *path)
{
	struct out *out = out_open(path);

	for (; from < to; from++)
		if (s->headers.v[from]->out.len > 0)
			out_str(out, buf_str(&s->headers.v[from]->out));
	out_finish(out);
}

/* Programs that the report goes without, as a warning of the screen. */
static void
note_missing(const struct settings *s, struct jobs *j)
{
	const struct {
		const char *program;
		bool is_wanted;
	} sides[] = { { "tl-ops", true }, { "tl-kernels", true },
		{ "tl-roofline", true }, { "tl-collective", !s->no_collective },
		{ "tl-modules", s->modules } };

	for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
		if (sides[i].is_wanted && !have(sides[i].program))
			records_missing(j, sides[i].program);
}

static void
add_table(struct args *argv, const struct settings *s, const char *option,
    const char *name)
{
	args_add(argv, option);
	args_add(argv, text("%s/%s.ndjson", s->tables, name));
}

void
summarise(struct settings *s, struct jobs *j, bool print)
{
	struct args argv = { 0 };
	struct job how = { .prints = print }, *job;

	put_headers(
	    s, 0, s->trees.v.n, text("%s/more/header.ndjson", s->tables));
	if (s->vs.v.n > 0)
		put_headers(s, s->trees.v.n, s->headers.n,
		    text("%s/more/against.ndjson", s->tables));
	note_missing(s, j);
	records_write(j, text("%s/more/warnings.ndjson", s->tables));
	args_add(&argv, "tl-summary");
	if (s->width != NULL)
		args_add(&argv, text("--width=%s", s->width));
	if (s->vs.v.n > 0)
		args_add(&argv,
		    s->vs.v.n == 1 ? text("--against=%s", s->vs.v.v[0])
				   : text("--against=%zu traces", s->vs.v.n));
	if (s->names != NULL)
		args_add(&argv, text("--names=%s", s->names));
	add_table(&argv, s, "--table", "summary");
	add_table(&argv, s, "--roofs", "more/roofs");
	if (s->is_several) {
		add_table(&argv, s, "--ranks", "gpu_timeline_by_rank");
		add_table(&argv, s, "--categories", "category_share");
	}
	args_add(&argv, s->tables);
	job = job_start_with(j, &argv, &how);
	job_finish(j, true);
	if (job->status != EXIT_DONE)
		leave(job->status > 128 ? EXIT_NO_ANSWER : job->status);
	vec_free(&argv.v);
}

/* ---- a folder ---- */

/* It and those above it, as far as they are missing. */
static void
make_folder(const char *path)
{
	char *copy = xstrdup(path);
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		vec_release(copy);
		return;
	}
	for (char *p = copy + 1; *p != '\0'; p++)
		if (*p == '/' && p[1] != '\0') {
			*p = '\0';
			(void)mkdir(copy, 0777);
			*p = '/';
		}
	if (mkdir(path, 0777) != 0)
		die_errno("%s: cannot be made a folder", path);
	made_folder(path);
	vec_release(copy);
}

/* Of several ranks: the sheet that the summary makes. */
static void
ranks_csv(struct settings *s, struct jobs *j, const char *stage)
{
	struct settings few = *s;
	struct jobs quiet = { .set = s };
	struct args argv = { 0 };

	few.has_ops = few.kernels = few.shorts = few.modules = false;
	few.folded = NULL;
	few.vs = (struct args){ .v = { 0 } };
	few.is_rocprof = false;
	analyse(&few, &quiet, s->tables, "ndjson", true, false);
	jobs_free(&quiet);
	args_add(&argv, "tl-summary");
	args_add(&argv, "--ranks");
	args_add(&argv, text("%s/gpu_timeline_by_rank.csv", stage));
	args_add(&argv, s->tables);
	(void)job_start(j, &argv);
	job_finish(j, true);
	vec_free(&argv.v);
	if (job_failed(j))
		job_fail(j);
}

void
write_dir(struct settings *s, struct jobs *j)
{
	struct args list = { 0 };
	const char *stage;

	make_folder(s->dir);
	stage = temporary(text("%s/.tl-report.XXXXXX", s->dir));
	if (stage == NULL)
		die_errno("%s", s->dir);
	if (mkdir(text("%s/more", stage), 0777) != 0)
		die_errno("%s", stage);
	analyse(s, j, stage, "csv", true, true);
	if (s->is_several)
		ranks_csv(s, j, stage);
	sheets_present(stage, "csv", &list);
	for (size_t i = 0; i < list.v.n; i++) {
		const char *name = strrchr(list.v.v[i], '/') + 1;

		if (rename(list.v.v[i], text("%s/%s", s->dir, name)) != 0)
			die_errno("%s/%s", s->dir, name);
	}
	made_folder(NULL);
	vec_free(&list.v);
}

/* ---- a workbook ---- */

static const char *
table_path(const struct settings *s, const char *name)
{
	return text("%s/%s.ndjson", s->tables, name);
}

static void
add_sheets(const struct settings *s, struct args *argv)
{
	sheets_list(s, s->tables, "ndjson", argv);
	if (is_there(table_path(s, "more/roofs")))
		args_add(argv, table_path(s, "more/roofs"));
}

void
write_book(struct settings *s, struct jobs *j)
{
	struct args argv = { 0 };

	args_add(&argv, "tl-xlsx");
	args_add(&argv, "--labels");
	args_add(&argv, text("--output=%s", s->book));
	args_add(&argv, "--chart-sheet=summary");
	add_sheets(s, &argv);
	run(j, &argv);
}

/* ---- a page ---- */

/* The trace's name, rank and GPU, as the summary has it. */
static const char *
title_of(const struct settings *s)
{
	static const char mark[] = "{\"part\":\"trace\",\"name\":\"";
	struct in *in = in_open(table_path(s, "summary"));
	const char *title = "tl-report", *p, *error;
	struct buf b = { 0 };
	size_t n = 0, at;

	while (in_more(in))
		;
	p = memmem(in->p, (size_t)(in->end - in->p), mark, sizeof mark - 1);
	if (p != NULL) {
		p += sizeof mark - 1;
		while (p[n] != '"') /* the table is whole */
			n += p[n] == '\\' ? 2 : 1;
		if (json_unescape((struct str){ p, n }, &b, &error, &at))
			title = text("%.*s", (int)b.len, b.p);
	}
	in_close(in);
	buf_free(&b);
	return title;
}

void
write_page(struct settings *s, struct jobs *j)
{
	struct args argv = { 0 };

	args_add(&argv, "tl-html");
	args_add(&argv, text("--output=%s", s->page));
	args_add(&argv,
	    text("--title=%s", s->title != NULL ? s->title : title_of(s)));
	args_all(&argv, &s->chosen);
	for (size_t i = 0; i < s->others.v.n; i++)
		args_add(&argv, text("--vs=%s", s->others.v.v[i]));
	if (s->names != NULL)
		args_add(&argv, text("--names=%s", s->names));
	args_add(&argv, "--");
	add_sheets(s, &argv);
	args_all(&argv, &s->trees);
	run(j, &argv);
}
