/* SPDX-License-Identifier: MIT */
/*
 * tl-summary: what the tables of a report say together.
 *
 * A sink of tables: it reads those that the other sinks wrote into a folder as
 * NDJSON, and says in one screen what the time went on, what bounds it, who is
 * late, and what to mind.
 */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/tl-summary/summary.h"

enum {
	OPT_AGAINST = OPT_LONG,
	OPT_CATEGORIES,
	OPT_NAMES,
	OPT_RANKS,
	OPT_ROOFS,
	OPT_TABLE_PATH,
	OPT_WIDTH,
};

static const struct opt options[] = {
	{ OPT_AGAINST, "against", "FILE",
	    "the trace that tl-diff compared with, for the title" },
	{ OPT_CATEGORIES, "categories", "FILE",
	    "categories over all ranks, as a table (NDJSON)" },
	{ OPT_NAMES, "names", "A,B", "what the two traces are called" },
	{ OPT_RANKS, "ranks", "FILE",
	    "a row a rank, as a table (NDJSON, or .csv)" },
	{ OPT_ROOFS, "roofs", "FILE",
	    "the lines of a roofline chart, as a table (NDJSON)" },
	{ OPT_TABLE_PATH, "table", "FILE", "the summary as a table (NDJSON)" },
	{ OPT_WIDTH, "width", "N", "columns of the screen" },
	OPT_END,
};

static const struct about about = {
	.purpose = "what the tables of a report say together",
	.synopsis = "[OPTIONS] DIR",
	.example = "tl-ops -d tables --format ndjson t.tl; tl-summary tables",
};

#define WIDTH_DEFAULT 80
#define WIDTH_MAX 99999

/* Of the terminal, or else of COLUMNS. */
static int
width_of_screen(void)
{
	const char *s = getenv("COLUMNS");
	struct winsize ws;
	int64_t n;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0)
		return ws.ws_col;
	if (s == NULL || !num_i64(str_of(s), &n) || n < 1 || n > WIDTH_MAX)
		return WIDTH_DEFAULT;
	return (int)n;
}

static bool
is_csv(const char *path)
{
	size_t n = strlen(path);

	return n > 4 && strcmp(path + n - 4, ".csv") == 0;
}

int
main(int argc, char *argv[])
{
	const char *categories = NULL, *ranks = NULL, *roofs = NULL;
	const char *table = NULL, *dir;
	struct figures f = { .sides = {
				 STR_INIT("before"), STR_INIT("after") } };
	struct optparse op;
	struct stat st;
	int width = 0, ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1) {
		switch (ch) {
		case OPT_AGAINST: f.against = op.arg; break;
		case OPT_NAMES:
			opt_pair(&op, f.sides);
			f.has_names = true;
			break;
		case OPT_CATEGORIES: categories = op.arg; break;
		case OPT_RANKS: ranks = op.arg; break;
		case OPT_ROOFS: roofs = op.arg; break;
		case OPT_TABLE_PATH: table = op.arg; break;
		case OPT_WIDTH: width = (int)opt_int(&op, 1, WIDTH_MAX); break;
		default: break;
		}
	}
	if (op.ind == argc)
		die_usage("no folder of tables");
	dir = argv[op.ind];
	if (argc - op.ind > 1)
		die_usage("one folder, not '%s' too", argv[op.ind + 1]);
	if (stat(dir, &st) != 0)
		die_errno("%s", dir);
	if (!S_ISDIR(st.st_mode))
		die("%s: no folder", dir);

	figures_read(&f, dir);
	say_all(&f);
	screen_print(&f, width > 0 ? width : width_of_screen());
	if (table != NULL)
		tables_summary(&f, table);
	if (categories != NULL)
		tables_categories(&f, categories);
	if (ranks != NULL)
		tables_ranks(&f, ranks, is_csv(ranks));
	if (roofs != NULL)
		tables_roofs(&f, roofs);
	figures_free(&f);
	return exit_status();
}
