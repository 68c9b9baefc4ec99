/* SPDX-License-Identifier: MIT */
/* Which columns and rows are printed: -c, --sort, --top, and their errors. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "table/table.h"
#include "tests/unit/tap.h"

static char path[] = "/tmp/tl-table-XXXXXX";
static char text[65536];

static const struct column columns[] = {
	{ "id", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "wide", NULL, COL_INT, UNIT_NONE, COL_DETAIL, 0 },
	{ "n", NULL, COL_REAL, UNIT_NONE, 0, 0 },
	{ "s", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "wider", NULL, COL_INT, UNIT_NONE, COL_DETAIL, 0 },
};

static struct table *
example(void)
{
	static const char *const s[] = { "b", NULL, "B", "ab", "b" };
	struct table *t = table_create("example", columns, 5);

	for (int i = 0; i < 5; i++) {
		struct cell *row = table_row(t);

		row[0] = cell_int(i);
		row[1] = cell_int(i * 10);
		row[3] = s[i] ? cell_text(str_of(s[i])) : cell_none();
	}
	table_cell(t, 0, 2)[0] = cell_int(10);
	table_cell(t, 1, 2)[0] = cell_real(9.5);
	table_cell(t, 3, 2)[0] = cell_real(-1e300);
	table_cell(t, 4, 2)[0] = cell_int(10);
	return t;
}

static const char *
slurp(void)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, text, sizeof text - 1);

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static const char *
printed(struct table_dest d)
{
	struct table *t = example();

	d.path = path;
	table_print(t, &d);
	table_dest_finish(&d);
	table_destroy(t);
	return slurp();
}

static const char *
first_line(const char *choice)
{
	printed((struct table_dest){ .columns = choice });
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static const char *
order(const char *sort, int64_t top)
{
	return printed((struct table_dest){
	    .columns = "id", .sort = sort, .top = top, .no_header = true });
}

/* What the program says when it ends with status 2; else "". */
static const char *
usage(const char *choice, const char *sort)
{
	struct table_dest d = { .columns = choice, .sort = sort };
	int fds[2], status;
	ssize_t n;

	text[0] = '\0';
	if (pipe(fds) < 0)
		return text;
	fflush(stdout);
	if (fork() == 0) {
		dup2(fds[1], STDERR_FILENO);
		table_dest_check(&d, "example", columns, 5);
		_exit(0);
	}
	close(fds[1]);
	n = read(fds[0], text, sizeof text - 1);
	close(fds[0]);
	text[n > 0 ? n : 0] = '\0';
	wait(&status);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_USAGE)
		text[0] = '\0';
	return text;
}

static void
choice(void)
{
	is_str(first_line(NULL), "id\tn\ts", "wide columns are not usual");
	is_str(first_line("s,id"), "s\tid", "these, in this order");
	is_str(first_line("wide"), "wide", "a wide one by name");
	is_str(first_line("+details"), "id\twide\tn\ts\twider",
	    "all, in the table's order");
	is_str(first_line("+wider"), "id\tn\ts\twider", "one more");
	is_str(first_line("s,+details"), "s\twide\twider",
	    "details behind a choice");
	ok(strstr(usage("s,x", NULL),
	       "-c: example has no column 'x'; it has id wide n s wider") !=
		NULL,
	    "an unknown column lists the known");
	ok(strstr(usage("s,s", NULL), "'s' is named twice") != NULL,
	    "no column twice");
	ok(strstr(usage("", NULL), "no column ''") != NULL, "no empty choice");
	ok(strstr(usage(NULL, "-y"), "--sort: example has no column 'y'") !=
		NULL,
	    "an unknown column to sort by");
	is_str(usage("s,+wide", "-n"), "", "nothing to object to");
}

static void
sorting(void)
{
	is_str(order(NULL, 0), "0\n1\n2\n3\n4\n", "as made");
	is_str(order("n", 0), "3\n1\n0\n4\n2\n",
	    "numbers as numbers, ties as made, empty last");
	is_str(order("-n", 0), "0\n4\n1\n3\n2\n",
	    "descending: ties as made, empty last");
	is_str(order("s", 0), "2\n3\n0\n4\n1\n", "text by bytes");
	is_str(order("-s", 0), "0\n4\n3\n2\n1\n", "text, descending");
	is_str(order("-wide", 2), "4\n3\n", "by a column that isn't shown");
	is_str(order(NULL, TABLE_TOP_ALL), "0\n1\n2\n3\n4\n", "--top 0");
}

static void
options(void)
{
	static const struct opt rows[] = { OPT_TABLE, OPT_END };
	static const struct about about = { "a test", "", "" };
	char *argv[] = { (char *)"t", (char *)"-c", (char *)"s",
		(char *)"--sort", (char *)"-n", (char *)"--top", (char *)"3",
		(char *)"--format", (char *)"md", (char *)"--labels",
		(char *)"--no-header", (char *)"--width", (char *)"40",
		(char *)"-o", (char *)"f", (char *)"-d", (char *)"g", NULL };
	struct table_dest d = { 0 };
	struct optparse op;
	int ch;
	bool taken = true;

	opt_start(&op, 17, argv, &about, rows);
	while ((ch = opt_next(&op)) != -1)
		taken = taken && table_dest_opt(&d, &op, ch);
	ok(taken && !table_dest_opt(&d, &op, 'x'), "its own options only");
	is_str(d.columns, "s", "-c");
	is_str(d.sort, "-n", "--sort");
	is_str(d.path, "f", "-o");
	is_str(d.dir, "g", "-d");
	is_int(d.top, 3, "--top");
	is_int(d.width, 40, "--width");
	is_int(d.format, FMT_MD, "--format");
	ok(d.labels && d.no_header, "--labels, --no-header");
}

static void
empty(void)
{
	struct table_dest d = { .path = path };

	printed((struct table_dest){ 0 });
	table_dest_finish(&d);
	is_str(slurp(), "", "no table: no answer of yesterday in the file");
}

int
main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		bail_out("no file to write");
	close(fd);
	choice();
	sorting();
	options();
	empty();
	unlink(path);
	done_testing();
}
