/* SPDX-License-Identifier: MIT */
/*
 * Where tables come from: folders and files, or tl-report, run on traces and
 * read through a pipe.
 */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "stream/helper.h"
#include "stream/stream.h"
#include "table/catalogue.h"

#include "cmd/tl-advise/advise.h"

/* Endings of tables. */
static const char *const ends[] = { ".ndjson", ".csv", ".tsv" };

static bool
is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* rocprofv3 writes CSV, too: a report's has the names of its tables. */
static bool
is_table(struct str name, size_t kind)
{
	if (!str_ends(name, str_of(ends[kind])))
		return false;
	name.len -= strlen(ends[kind]);
	return kind == 0 || sheet_find(name) != NULL;
}

/* Two formats in a folder are two reports: an error. */
static const char *
end_of_tables(const char *path, struct dirent *const *files, int n)
{
	const char *first = NULL, *end = NULL;

	for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
		for (int i = 0; i < n; i++) {
			if (!is_table(str_of(files[i]->d_name), k))
				continue;
			if (end != NULL && end != ends[k])
				die("%s: %s and %s are of two reports: remove "
				    "the tables of one",
				    path, first, files[i]->d_name);
			if (end == NULL)
				first = files[i]->d_name;
			end = ends[k];
		}
	return end;
}

static void
read_table(const char *path, bool is_typed, const struct table_sink *sink)
{
	if (is_typed)
		table_read_all(in_open(path), TABLE_NDJSON, sink);
	else
		labels_read(path, sink);
}

/* Reads tables by name; false: there are none. */
static bool
read_folder(const char *path, const struct facts_reading *r,
    const struct table_sink *sink)
{
	struct dirent **files;
	int n = scandir(path, &files, NULL, alphasort);
	struct buf name = { 0 };
	const char *end;

	if (n < 0)
		die_errno("%s", path);
	end = end_of_tables(path, files, n);
	for (int i = 0; i < n; i++) {
		struct str table = str_of(files[i]->d_name);

		if (end != NULL && str_ends(table, str_of(end))) {
			table.len -= strlen(end);
			name.len = 0;
			buf_printf(&name, "%s/%s", path, files[i]->d_name);
			buf_putc(&name, '\0');
			if (facts_want(r, table))
				read_table(name.p, end == ends[0], sink);
		}
		free(files[i]);
	}
	free(files);
	buf_free(&name);
	return end != NULL;
}

static enum table_kind
kind_of(struct in *in)
{
	struct reader r = { .in = in };
	enum table_kind kind = !stream_is_one(in) && table_is_one(in)
	    ? table_sniff(&r, in->name)
	    : TABLE_UNKNOWN;

	reader_free(&r);
	return kind;
}

/* Tables of a report. */
static bool
is_tables(struct in *in)
{
	return kind_of(in) == TABLE_NDJSON;
}

/* CSV is a trace of rocprofv3 if tl-report can read it. */
static bool
is_rows(struct in *in)
{
	enum table_kind kind = kind_of(in);

	return kind == TABLE_CSV || kind == TABLE_TSV;
}

/* ---- traces ---- */

/* A path that cannot be taken for an option. */
static char *
operand(const char *path, struct arena *mem)
{
	const char *before = *path == '-' && path[1] != '\0' ? "./" : "";

	return (char *)(uintptr_t)arena_printf(mem, "%s%s", before, path);
}

/* The last path follows. */
static void
put_words(const struct input *input, char **words, struct arena *mem)
{
	static const char *const own[] = { "--format=ndjson", "--kernels",
		"--launch", "--short=10us", "--roof=achievable" };

	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		*words++ = (char *)(uintptr_t)own[i];
	for (size_t i = 0; i < input->words.n; i++)
		*words++ = (char *)(uintptr_t)input->words.v[i];
	for (size_t i = 0; i + 1 < input->paths.n; i++)
		*words++ = operand(input->paths.v[i], mem);
	*words = NULL;
}

/*
 * in is the last trace. If tl-report gives no tables, it has said why; text
 * tables need a hint, as they are not read here.
 */
static void
read_traces(
    const struct input *input, struct in *in, const struct table_sink *sink)
{
	struct arena *mem = arena_create();
	const char *rows =
	    is_rows(in) ? arena_printf(mem, "%s", in->name) : NULL;
	char **words =
	    xcalloc(input->words.n + input->paths.n + 8, sizeof *words);
	struct helper *h;
	struct in *out;
	int status;

	put_words(input, words, mem);
	h = helper_start("tl-report", words, in);
	out = helper_output(h);
	if (!in_need(out, 1)) {
		status = helper_wait(h);
		if (rows != NULL && status == EXIT_NO_ANSWER)
			die("%s: a CSV or TSV table is read with its folder: "
			    "pass that, or NDJSON of tl-report --format ndjson",
			    rows);
		exit(child_signal(status) > 0 || status == EXIT_DONE
			? EXIT_NO_ANSWER
			: status);
	}
	table_read_all(out, TABLE_NDJSON, sink);
	helper_finish(h);
	free(words);
	arena_destroy(mem);
}

/* ---- all of it ---- */

static void
add_path(struct input *input, const char *path)
{
	path_vec found = { 0 };

	stream_paths(&found, path, false);
	for (size_t i = 0; i < found.n; i++)
		vec_push(&input->paths, found.v[i]);
	vec_free(&found);
}

/* The first operand tells whether all are tables or traces. */
void
input_read(struct input *input, char *const *paths, size_t n,
    const struct facts_reading *r, const struct table_sink *sink)
{
	struct in *in = NULL;
	size_t i = 0;

	for (; i < n; i++) {
		if (is_folder(paths[i]) && read_folder(paths[i], r, sink))
			continue;
		if (is_folder(paths[i]))
			break;
		in = in_open(paths[i]);
		if (!is_tables(in))
			break;
		table_read_all(in, TABLE_NDJSON, sink);
		in = NULL;
	}
	if (i == n)
		return;
	if (i > 0)
		die_usage("tables, or traces, not both: tl-report --format "
			  "ndjson makes tables of traces");
	for (size_t k = 0; k < n; k++)
		if (n > 1 && strcmp(paths[k], "-") == 0)
			die_usage("'-' is the only operand, or none");
	for (; i < n; i++)
		add_path(input, paths[i]);
	if (in == NULL || n > 1) {
		if (in != NULL)
			in_close(in);
		in = in_open(input->paths.v[input->paths.n - 1]);
	}
	read_traces(input, in, sink);
	vec_free(&input->paths);
}
