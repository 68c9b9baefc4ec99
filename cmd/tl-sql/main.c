/* SPDX-License-Identifier: MIT */
/*
 * tl-sql: tables and events as one SQLite file.
 *
 * main.c    the command line
 * tables.c  tables of a report
 * events.c  events, by schema.sql and views.sql
 * db.c      the database
 */
#include "cmd/tl-sql/sql.h"

enum { OPT_EVENTS = OPT_LONG };

static const struct opt options[] = {
	{ OPT_EVENTS, "events", NULL, "read the inputs as traces, even CSV" },
	{ 'o', "output", "FILE", "write to FILE, complete or not at all" },
	OPT_END,
};

static const struct about about = {
	.purpose = "write tables and events to one SQLite file",
	.synopsis = "-o FILE [--events] [[NAME=]TABLE | TRACE]...",
	.example = "tl-sql -o t.sqlite t.tl && sqlite3 t.sqlite 'SELECT * FROM "
		   "kernels ORDER BY dur_ns DESC LIMIT 9'",
};

static void
read_operand(
    struct db *db, struct events **events, const char *arg, bool all_events)
{
	struct tables t = { .db = db };
	struct in *in;

	t.path = table_operand(arg, &t.want);
	in = in_open(t.path);
	if (strcmp(t.path, "-") == 0)
		t.path = "table";
	if (t.want == NULL &&
	    (all_events || stream_is_one(in) || !table_is_one(in))) {
		if (*events == NULL)
			*events = events_create(db);
		events_read(*events, in);
	} else {
		tables_read(&t, in);
	}
	vec_release(t.want);
}

int
main(int argc, char *argv[])
{
	const char *path = NULL, *arg;
	struct events *events = NULL;
	bool all_events = false;
	struct optparse op;
	struct out *out;
	struct db db;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1) {
		if (ch == 'o')
			path = op.arg;
		else if (ch == OPT_EVENTS)
			all_events = true;
	}
	if (path == NULL)
		die_usage("option '-o' is missing: a database needs a FILE");
	out = out_open(path);
	if (out_tmp_name(out) == NULL)
		die("%s: a database needs a file, not a pipe or device", path);

	db_open(&db, out_tmp_name(out), path);
	while ((arg = opt_file(&op)) != NULL)
		read_operand(&db, &events, arg, all_events);
	if (events != NULL)
		events_finish(events);
	db_finish(&db);
	out_finish(out);
	return exit_status();
}
