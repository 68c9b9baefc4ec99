/* SPDX-License-Identifier: MIT */
/* Each format, with one small table and with values that are hard for it. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/table.h"
#include "tests/unit/tap.h"

static char dir[] = "/tmp/tl-table-XXXXXX";

static const struct column columns[] = {
	{ "name", "Kernel name", COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "dur_ns_sum", "time, ms", COL_INT, UNIT_NS, 0, 1e6 },
	{ "percent", NULL, COL_REAL, UNIT_PERCENT, COL_SHARE, 0 },
	{ "linked", NULL, COL_BOOL, UNIT_NONE, COL_OURS, 0 },
	{ "dims", "Input dims", COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
};

static struct table *
example(void)
{
	struct table *t = table_create("ops", columns, 5);
	struct cell *row = table_row(t);
	char borrowed[] = "a|b<float>";

	row[0] = cell_text(str_of(borrowed));
	row[1] = cell_int(3000000);
	row[2] = cell_real(75);
	row[3] = cell_bool(true);
	row[4] = cell_text(STR("[[1,2]]"));
	row = table_row(t);
	memset(borrowed, 'x', sizeof borrowed); /* the table has its own */
	row[0] = cell_text(STR("t\tn\nq\"c,b\\e\x1bi\xff\xc2\xb5"));
	row[1] = cell_int(1500);
	row[2] = cell_real(0.1);
	row[3] = cell_bool(false);
	row = table_row(t);
	row[2] = cell_real((double)NAN);
	return t;
}

/* The bytes of a file, until the next call. */
static const char *
slurp(const char *path)
{
	int fd = open(path, O_RDONLY);
	static char text[65536];
	ssize_t n;

	if (fd < 0)
		return "(no file)";
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static const char *
printed(struct table *t, struct table_dest d)
{
	char path[64];

	snprintf(path, sizeof path, "%s/out", dir);
	d.path = path;
	table_print(t, &d);
	table_dest_finish(&d);
	table_destroy(t);
	return slurp(path);
}

static void
tsv(void)
{
	is_str(printed(example(), (struct table_dest){ 0 }),
	    "name\tdur_ns_sum\tpercent\tlinked\n"
	    "a|b<float>\t3000000\t75.0\ttrue\n"
	    "t\\tn\\nq\"c,b\\\\e\\x1bi\\xff\xc2\xb5\t1500\t0.1\tfalse\n"
	    "\t\t\t\n",
	    "tsv, the default of a file: escapes, full precision, empty cells");
	is_str(
	    printed(example(),
		(struct table_dest){
		    .columns = "dur_ns_sum,dims", .top = 2, .labels = true }),
	    "time, ms\tInput dims\n3\t[[1,2]]\n0.0015\t\n",
	    "labels: values in the label's unit, integers where exact");
	is_str(printed(example(),
		   (struct table_dest){
		       .columns = "linked", .top = 1, .no_header = true }),
	    "true\n", "rows only");
}

static void
csv(void)
{
	is_str(printed(example(), (struct table_dest){ .format = FMT_CSV }),
	    "name,dur_ns_sum,percent,linked\n"
	    "a|b<float>,3000000,75.0,True\n"
	    "\"t\tn\nq\"\"c,b\\e\\x1bi\\xff\xc2\xb5\",1500,0.1,False\n"
	    ",,,\n",
	    "csv: quotes where needed, doubled inside");
	is_str(printed(example(),
		   (struct table_dest){ .format = FMT_CSV,
		       .columns = "dur_ns_sum,dims",
		       .top = 1,
		       .labels = true }),
	    "\"time, ms\",Input dims\n3,\"[[1,2]]\"\n",
	    "csv: labels are quoted as well, and JSON");
	is_str(printed(table_create("none", columns, 0),
		   (struct table_dest){ .format = FMT_CSV }),
	    "\n", "no columns: a single empty line");
}

static void
ndjson(void)
{
	is_str(printed(example(),
		   (struct table_dest){ .format = FMT_NDJSON,
		       .labels = true,
		       .columns = "+details" }),
	    "{\"table\":\"ops\",\"columns\":["
	    "{\"id\":\"name\",\"label\":\"Kernel name\",\"type\":\"text\","
	    "\"unit\":null},"
	    "{\"id\":\"dur_ns_sum\",\"label\":\"time, ms\",\"type\":\"int\","
	    "\"unit\":\"ns\",\"label_div\":1000000.0},"
	    "{\"id\":\"percent\",\"label\":\"percent\",\"type\":\"real\","
	    "\"unit\":\"percent\"},"
	    "{\"id\":\"linked\",\"label\":\"linked\",\"type\":\"bool\","
	    "\"unit\":null,\"ours\":true},"
	    "{\"id\":\"dims\",\"label\":\"Input dims\",\"type\":\"json\","
	    "\"unit\":null}]}\n"
	    "{\"name\":\"a|b<float>\",\"dur_ns_sum\":3000000,\"percent\":75.0,"
	    "\"linked\":true,\"dims\":[[1,2]]}\n"
	    "{\"name\":\"t\\tn\\nq\\\"c,b\\\\e\\u001bi\xef\xbf\xbd\xc2\xb5\","
	    "\"dur_ns_sum\":1500,\"percent\":0.1,\"linked\":false,"
	    "\"dims\":null}\n"
	    "{\"name\":null,\"dur_ns_sum\":null,\"percent\":null,"
	    "\"linked\":null,\"dims\":null}\n"
	    "{\"end\":{\"rows\":3}}\n",
	    "ndjson: schema, rows, end; ids and units in spite of --labels");
}

static void
md(void)
{
	is_str(printed(example(), (struct table_dest){ .format = FMT_MD }),
	    "| name | dur_sum [ms] | percent | linked |\n"
	    "| --- | ---: | ---: | --- |\n"
	    "| a\\|b\\<float\\> | 3.000 | 75.00 | true |\n"
	    "| t\\\\tn\\\\nq\"c,b\\\\e\\\\x1bi\\\\xff\xc2\xb5 | 0.0015 | 0.10 "
	    "| "
	    "false |\n"
	    "| | | | |\n",
	    "md: no name becomes a cell border or a tag");
}

/* Times that would look alike at the precision of the largest. */
static struct table *
points(int64_t from, int64_t step)
{
	static const struct column one[] = {
		{ "ts_ns", NULL, COL_INT, UNIT_NS, COL_POSITION, 0 },
	};
	struct table *t = table_create("points", one, 1);

	for (int i = 0; i < 3; i++)
		table_row(t)[0] = cell_int(from + i * step);
	return t;
}

static void
positions(void)
{
	static const struct table_dest d = { .format = FMT_TABLE };

	is_str(printed(points(INT64_C(1419247333123456), 2500), d),
	    "        ts [s]\n1419247.333123\n1419247.333126\n"
	    "1419247.333128\n",
	    "points in time: the digits that tell rows apart");
	is_str(printed(points(INT64_MAX - 2, 1), d),
	    "              ts [s]\n9223372036.854775805\n"
	    "9223372036.854775806\n9223372036.854775807\n",
	    "to the ns, beyond what a double holds");
	is_str(printed(points(INT64_MIN, 2000000), d),
	    "         ts [s]\n-9223372036.855\n-9223372036.853\n"
	    "-9223372036.851\n",
	    "before the base");
	is_str(printed(points(1500, 0), d),
	    "ts [us]\n  1.500\n  1.500\n  1.500\n",
	    "no difference: as of a length");
	is_str(printed(points(5, 1), d),
	    "ts [ns]\n      5\n      6\n"
	    "      7\n",
	    "whole ns");
	is_str(printed(points(INT64_C(1419247333123456), 2500),
		   (struct table_dest){ 0 }),
	    "ts_ns\n1419247333123456\n1419247333125956\n"
	    "1419247333128456\n",
	    "TSV has all as ever");
}

/* Times of one row, in ns, as a terminal shows them. */
static const char *
times(const int64_t v[6], const char *shown)
{
	static const struct column col[] = {
		{ "wall_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
		{ "busy_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
		{ "copy_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
		{ "call_ns_mean", NULL, COL_INT, UNIT_NS, 0, 0 },
		{ "ts_ns", NULL, COL_INT, UNIT_NS, COL_POSITION, 0 },
		{ "per_call_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	};
	struct table *t = table_create("times", col, 6);
	struct cell *row = table_row(t);

	for (size_t i = 0; i < 6; i++)
		row[i] = cell_int(v[i]);
	return printed(
	    t, (struct table_dest){ .format = FMT_TABLE, .columns = shown });
}

static void
units(void)
{
	static const int64_t ms[] = { 118123456, 72059000, 600000, 0, 0, 0 },
			     s[] = { 1076123456, 72059000, 600, 1500,
				     2000000000, 500 },
			     far[] = { 4000000000, 100000000, 0, 0, 0, 0 };

	is_str(times(ms, "wall_ns,busy_ns,copy_ns"),
	    "wall [ms]  busy [ms]  copy [ms]\n"
	    "  118.123     72.059      0.600\n",
	    "times of a table have the unit of the longest");
	is_str(times(s, "wall_ns,busy_ns,copy_ns"),
	    "wall [s]  busy [ms]  copy [ns]\n"
	    "   1.076     72.059        600\n",
	    "columns of far shorter times have their own");
	is_str(times(far, "wall_ns,busy_ns,copy_ns"),
	    "wall [s]  busy [s]  copy [s]\n"
	    "   4.000     0.100         0\n",
	    "a tenth of the unit has three digits, and 0 has any unit");
	is_str(times(s, "wall_ns,call_ns_mean,per_call_ns,ts_ns"),
	    "wall [s]  call_mean [us]  per_call [us]  ts [s]\n"
	    "   1.076           1.500          0.500   2.000\n",
	    "statistics and points in time have their own");
}

static void
small(void)
{
	static const struct column col[] = {
		{ "time_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	};
	static const int64_t v[] = { 3006000000, 9300000, 600000, 490000, 24 };
	struct table *t = table_create("small", col, 1);

	for (size_t i = 0; i < sizeof v / sizeof *v; i++)
		table_row(t)[0] = cell_int(v[i]);
	is_str(printed(t, (struct table_dest){ .format = FMT_TABLE }),
	    "   time [s]\n      3.006\n     0.0093\n    0.00060\n"
	    "    0.00049\n0.000000024\n",
	    "the smallest values of a column have two digits");
}

static void
terminal(void)
{
	struct table *t = example();

	table_note(t, "all of %d", 1);
	is_str(printed(t, (struct table_dest){ .format = FMT_TABLE }),
	    "all of 1\n"
	    "name                     dur_sum [ms]  percent  linked\n"
	    "a|b<float>                      3.000    75.00  true\n"
	    "t\\tn\\nq\"c,b\\e\\x1bi\\xff\xc2\xb5        0.0015     0.10  "
	    "false\n"
	    "\n",
	    "table: aligned by columns, one unit each, no colour to a file");
	is_str(printed(example(),
		   (struct table_dest){
		       .format = FMT_TABLE, .top = 1, .columns = "percent" }),
	    "percent\n  75.00\n... 2 more, 0.1 %\n",
	    "table: rows left out and their share");
}

/* Rows 1..n of a table with sum 100 * n. */
static struct table *
long_table(int n)
{
	static const struct column one[] = {
		{ "time_ns", NULL, COL_INT, UNIT_NS, COL_SHARE, 0 },
	};
	struct table *t = table_create("long", one, 1);

	for (int i = 0; i < n; i++)
		table_row(t)[0] = cell_int(100);
	return t;
}

static void
cut(void)
{
	/* 20 rows go to a screen; a file gets all. */
	const char *text = printed(long_table(40),
	    (struct table_dest){ .format = FMT_TABLE, .top = 10 });

	ok(strstr(text, "... 30 more, 75.0 %\n") != NULL,
	    "the share of a column that is no percentage");
	text =
	    printed(long_table(40), (struct table_dest){ .format = FMT_TABLE });
	ok(strstr(text, "more") == NULL, "a file has all rows");
}

static void
several(void)
{
	struct table_dest d = { .format = FMT_TABLE, .many = true };
	struct table *t = long_table(1);
	char path[64];

	snprintf(path, sizeof path, "%s/out", dir);
	d.path = path;
	table_print(t, &d);
	table_print(t, &d);
	table_dest_finish(&d);
	is_str(slurp(path),
	    "long\ntime [ns]\n      100\n\nlong\ntime [ns]\n      100\n",
	    "titles tell several tables apart");
	d = (struct table_dest){ .format = FMT_CSV, .path = path };
	table_print(t, &d);
	table_print(t, &d);
	table_dest_finish(&d);
	is_str(slurp(path), "time_ns\n100\n\ntime_ns\n100\n",
	    "csv: an empty line does");
	table_destroy(t);
}

static void
files(void)
{
	char folder[64], path[128];
	struct table_dest d = { .dir = folder, .columns = "dur_ns_sum" };
	struct table *t = example(), *other = table_create("../x", columns, 2);

	snprintf(folder, sizeof folder, "%s/a/b", dir);
	table_print(t, &d);
	d.columns = NULL;
	table_print(other, &d);
	d.format = FMT_NDJSON;
	d.columns = "linked";
	table_print(t, &d);
	table_dest_finish(&d);
	snprintf(path, sizeof path, "%s/ops.csv", folder);
	is_str(slurp(path), "\"time, ms\"\n3\n0.0015\n\n",
	    "-d: a file a table, csv with labels; folders are made");
	snprintf(path, sizeof path, "%s/_.._x.csv", folder);
	is_str(slurp(path), "Kernel name,\"time, ms\"\n",
	    "-d: a name does not leave the folder");
	snprintf(path, sizeof path, "%s/ops.ndjson", folder);
	ok(strstr(slurp(path), "{\"linked\":true}\n") != NULL,
	    "-d: the format gives the suffix");
	table_destroy(t);
	table_destroy(other);
}

/* The example's rows, each printed before the next. */
static const char *
streamed(struct table_dest d)
{
	char path[64], name[] = "a|b<float>";
	struct table *t = table_create("ops", columns, 5);
	struct cell *row;

	snprintf(path, sizeof path, "%s/out", dir);
	d.path = path;
	table_stream(t, &d);
	row = table_row(t);
	row[0] = cell_text(str_of(name));
	row[1] = cell_int(3000000);
	row[2] = cell_real(75);
	row[3] = cell_bool(true);
	row[4] = cell_text(STR("[[1,2]]"));
	row = table_row(t);
	memset(name, 'x', sizeof name - 1);
	row[0] = cell_text(STR("t\tn\nq\"c,b\\e\x1bi\xff\xc2\xb5"));
	row[1] = cell_int(1500);
	row[2] = cell_real(0.1);
	row[3] = cell_bool(false);
	row = table_row(t);
	row[2] = cell_real((double)NAN);
	table_print(t, &d);
	table_dest_finish(&d);
	table_destroy(t);
	return slurp(path);
}

static void
row_by_row(void)
{
	static const struct table_dest dests[] = {
		{ .format = FMT_TSV },
		{ .format = FMT_CSV, .labels = true },
		{ .format = FMT_NDJSON, .columns = "+details" },
		{ .format = FMT_NDJSON, .no_header = true },
		{ .format = FMT_TSV, .columns = "percent,name" },
		{ .format = FMT_CSV, .top = 2 },
		{ .format = FMT_NDJSON, .top = 1 },
		{ .format = FMT_TSV, .sort = "dur_ns_sum" },
		{ .format = FMT_TABLE },
		{ .format = FMT_MD, .top = 1 },
	};

	for (size_t i = 0; i < sizeof dests / sizeof *dests; i++) {
		char *want = xstrdup(printed(example(), dests[i]));

		is_str(streamed(dests[i]), want,
		    "row by row is the same as at once");
		free(want);
	}
}

static void
row_by_row_none(void)
{
	struct table_dest d = { .dir = dir, .format = FMT_NDJSON };
	struct table *t = table_create("empty", columns, 1);
	char path[64];

	table_stream(t, &d);
	table_print(t, &d);
	table_destroy(t);
	table_dest_finish(&d);
	snprintf(path, sizeof path, "%s/empty.ndjson", dir);
	is_str(slurp(path),
	    "{\"table\":\"empty\",\"columns\":[{\"id\":\"name\","
	    "\"label\":\"Kernel name\",\"type\":\"text\","
	    "\"unit\":null}]}\n{\"end\":{\"rows\":0}}\n",
	    "row by row, none, into a folder");
	unlink(path);
}

int
main(void)
{
	char command[64];

	if (mkdtemp(dir) == NULL)
		bail_out("no folder for files");
	tsv();
	csv();
	ndjson();
	md();
	terminal();
	positions();
	units();
	small();
	cut();
	several();
	files();
	row_by_row();
	row_by_row_none();
	snprintf(command, sizeof command, "rm -r %s", dir);
	ok(system(command) == 0, "nothing else in the folder");
	done_testing();
}
