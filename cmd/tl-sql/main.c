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
#include "stream/run.h"

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

struct reading {
	struct db db;
	struct events *events;
	VEC(const char *) traces; /* read as events */
	bool all_events;
};

static void
read_operand(struct reading *r, const char *arg)
{
	struct tables t = { .db = &r->db };
	struct in *in;

	t.path = table_operand(arg, &t.want);
	in = in_open(t.path);
	if (strcmp(t.path, "-") == 0)
		t.path = "table";
	if (t.want == NULL &&
	    (r->all_events || stream_is_one(in) || !table_is_one(in))) {
		if (r->events == NULL)
			r->events = events_create(&r->db);
		if (run_is_among(r->traces.v, r->traces.n, t.path)) {
			in_close(in);
			return; /* it was read with the option */
		}
		vec_push(&r->traces, t.path);
		events_read(r->events, in);
	} else {
		tables_read(&t, in);
	}
	vec_release(t.want);
}

int
main(int argc, char *argv[])
{
	const char *path = NULL, *arg;
	struct reading r = { 0 };
	struct optparse op;
	struct out *out;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1) {
		if (ch == 'o')
			path = op.arg;
		else if (ch == OPT_EVENTS)
			r.all_events = true;
	}
	if (path == NULL)
		die_usage("option '-o' is missing: a database needs a FILE");
	out = out_open(path);
	if (out_tmp_name(out) == NULL)
		die("%s: a database needs a file, not a pipe or device", path);

	db_open(&r.db, out_tmp_name(out), path);
	while ((arg = opt_file(&op)) != NULL)
		read_operand(&r, arg);
	if (r.events != NULL)
		events_finish(r.events);
	vec_free(&r.traces);
	db_finish(&r.db);
	out_finish(out);
	return exit_status();
}
