/* SPDX-License-Identifier: MIT */
/* Tables as operands of a command line. */
#include "reader/reader.h"

void
table_read_all(
    struct in *in, enum table_kind kind, const struct table_sink *sink)
{
	struct reader r = { .in = in, .sink = sink };
	const char *name = in->name;

	if (kind == TABLE_UNKNOWN)
		kind = table_sniff(&r, name);
	if (kind == TABLE_UNKNOWN || !table_read(&r, kind)) {
		if (r.line > 0)
			die("%s: line %" PRIu64 ": %s", name, r.line,
			    r.error.p);
		die("%s: %s", name, r.error.p);
	}
	if (r.unfinished && kind == TABLE_TSV)
		report(MSG_LINE_CUT, name);
	in_close(in);
	reader_free(&r);
}

const char *
table_operand(const char *arg, char **name)
{
	const char *eq = strchr(arg, '='), *slash = strchr(arg, '/');

	*name = NULL;
	if (eq == NULL || (slash != NULL && slash < eq))
		return arg;
	*name = xstrdup(arg);
	(*name)[eq - arg] = '\0';
	return eq + 1;
}

struct str
table_name_of(const char *path)
{
	static const char *const ends[] = { ".gz", ".zst", ".csv", ".tsv",
		".ndjson", ".jsonl", ".json", ".txt" };
	const char *slash = strrchr(path, '/');
	struct str s = str_of(slash != NULL ? slash + 1 : path);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (s.len > strlen(ends[i]) && str_ends(s, str_of(ends[i])))
			s.len -= strlen(ends[i]);
	return s;
}
