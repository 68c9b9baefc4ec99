/* SPDX-License-Identifier: MIT */
/* base/opt.c and opt-help.c */
#include <fcntl.h>

#include "base/base.h"
#include "tests/unit/child.h"
#include "tests/unit/tap.h"

enum { OPT_BY = OPT_LONG + 1, OPT_TIMES };

static const struct opt options[] = {
	{ 'n', "top", "N", "how many rows" },
	{ 'z', "zstd", "[LEVEL]", "compress" },
	{ OPT_BY, "by", "WHAT", "group by dev,\nrank or step" },
	{ OPT_TIMES, "min-duration-of-events-to-keep", "TIME", "at least" },
	{ 's', "size", "SIZE", "a size" },
	{ 'r', "ratio", "X", "a ratio" },
	{ 'p', NULL, "A,B", "a pair" },
	{ 'q', NULL, NULL, "quiet" },
	{ 'l', "labels", NULL, "labels" },
	OPT_END,
};

static const struct about about = {
	.purpose = "Say what was asked.",
	.synopsis = "[-q] [-n N] [FILE]",
	.example = "tl-x -n 3 t.tl\ntl-x t.tl | head",
};

/* What a program would do with the words of line, on stdout. */
static char line[256];

static void
use(struct optparse *op, int ch)
{
	static const char *const words[] = { "dev", "rank", "step", NULL };

	struct str pair[2];

	printf("%s=", op->name);
	switch (ch) {
	case 'n': printf("%" PRId64 "\n", opt_int(op, 1, 1000)); break;
	case 's': printf("%" PRId64 "\n", opt_size(op)); break;
	case 'r': printf("%g\n", opt_double(op, 0, 1)); break;
	case OPT_BY: printf("%d\n", opt_word(op, words)); break;
	case 'p':
		opt_pair(op, pair);
		printf("%.*s|%s\n", (int)pair[0].len, pair[0].p, pair[1].p);
		break;
	case OPT_TIMES: printf("%" PRId64 "\n", opt_time(op)); break;
	default: printf("%s\n", op->arg != NULL ? op->arg : "NULL"); break;
	}
	fflush(stdout);
}

static void
program(void)
{
	static char name[] = "/usr/bin/tl-x";
	char *argv[32] = { name }, *rest = NULL;
	struct optparse op;
	const char *file;
	int argc = 1, ch;

	for (char *w = strtok_r(line, " ", &rest); w != NULL;
	     w = strtok_r(NULL, " ", &rest))
		argv[argc++] = w;
	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		use(&op, ch);
	while ((file = opt_file(&op)) != NULL)
		printf("%s\n", file);
	fflush(stdout);
}

static struct child
run(const char *words)
{
	snprintf(line, sizeof line, "%s", words);
	return child_run(program);
}

static void
good(const char *words, const char *out)
{
	struct child c = run(words);

	is_int(c.status, 0, "'%s' is done", words);
	is_str(c.out, out, "'%s' gives", words);
	is_str(c.err, "", "'%s' says nothing", words);
}

static void
bad(const char *words, const char *reason)
{
	struct child c = run(words);
	char want[1024];

	snprintf(want, sizeof want,
	    "tl-x: %s\nusage: tl-x [-q] [-n N] [FILE]\ntry 'tl-x --help'\n",
	    reason);
	is_int(c.status, EXIT_USAGE, "'%s' is a usage error", words);
	is_str(c.err, want, "'%s' says why", words);
}

static void
usage_errors(void)
{
	bad("--top abc",
	    "option '--top' needs a number from 1 to 1000, "
	    "not 'abc'");
	bad("-n 1001",
	    "option '--top' needs a number from 1 to 1000, "
	    "not '1001'");
	bad("--top", "option '--top' needs an argument (N)");
	bad("-n", "option '--top' needs an argument (N)");
	bad("--nosuch=1", "unknown option '--nosuch'");
	bad("--lables", "unknown option '--lables': is it --labels?");
	bad("--duration",
	    "unknown option '--duration': is it "
	    "--min-duration-of-events-to-keep?");
	bad("--ze", "unknown option '--ze'");
	bad("--lab", "unknown option '--lab': is it --labels?");
	bad("--siz=4", "unknown option '--siz': is it --size?");
	bad("--siz 4", "unknown option '--siz': is it --size?");
	bad("--siz", "unknown option '--siz': is it --size?");
	bad("--lab=3", "unknown option '--lab': is it --labels?");
	bad("--stat 2", "unknown option '--stat': is it --status-fd?");
	bad("-qx", "unknown option '-x'");
	bad("--labels=3", "option '--labels' takes no argument");
	bad("--help=3", "option '--help' takes no argument");
	bad("-p a",
	    "option '-p': 'a' is not two names with a comma between "
	    "them");
	bad("-p a,",
	    "option '-p': 'a,' is not two names with a comma between "
	    "them");
	bad("-p ,b",
	    "option '-p': ',b' is not two names with a comma between "
	    "them");
	bad("-p a,b,c",
	    "option '-p': 'a,b,c' is not two names with a comma between "
	    "them");
	bad("--by rang", "option '--by' needs dev, rank or step, not 'rang'");
	bad("--ratio 1.5",
	    "option '--ratio' needs a number from 0 to 1, "
	    "not '1.5'");
	bad("--ratio nan",
	    "option '--ratio' needs a number from 0 to 1, "
	    "not 'nan'");
	bad("--size 64X",
	    "option '--size' needs a size in bytes such as 4096, "
	    "64M or 2G, not '64X'");
	bad("--size 9223372036854775807K",
	    "option '--size' needs a size in bytes such as 4096, 64M or 2G, "
	    "not '9223372036854775807K'");
	bad("--size -1",
	    "option '--size' needs a size in bytes such as 4096, "
	    "64M or 2G, not '-1'");
	bad("--min-duration-of-events-to-keep 3",
	    "option '--min-duration-of-events-to-keep' needs a time such as "
	    "900ns, 2us, 3ms or 4s, not '3'");
	bad("--top \x1b[2J",
	    "option '--top' needs a number from 1 to 1000, "
	    "not '\\x1b[2J'");
}

static const char help_text[] =
    "usage: tl-x [-q] [-n N] [FILE]\n"
    "Say what was asked.\n"
    "\n"
    "options:\n"
    "  -n, --top N         how many rows\n"
    "  -z, --zstd[=LEVEL]  compress\n"
    "      --by WHAT       group by dev,\n"
    "                      rank or step\n"
    "      --min-duration-of-events-to-keep TIME\n"
    "                      at least\n"
    "  -s, --size SIZE     a size\n"
    "  -r, --ratio X       a ratio\n"
    "  -p A,B              a pair\n"
    "  -q                  quiet\n"
    "  -l, --labels        labels\n"
    "      --status-fd N   write messages as NDJSON to descriptor N\n"
    "  -h, --help          print this help\n"
    "      --version       print the versions of program and stream\n"
    "\n"
    "example:\n"
    "  tl-x -n 3 t.tl\n"
    "  tl-x t.tl | head\n"
    "\n"
    "See tl-x(1).\n";

static void
help_to_full_disk(void)
{
	dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
	program();
}

static void
help_to_closed(void)
{
	close(STDOUT_FILENO);
	program();
}

static void
printed(void)
{
	struct child c;

	good("--help", help_text);
	good("-h", help_text);
	c = run("--version");
	ok(c.status == 0 && strncmp(c.out, "tl-x (tl) ", 10) == 0 &&
		strstr(c.out, ", stream 1\n") != NULL,
	    "--version");
	good("--complete",
	    "--top\t-n\tN\thow many rows\n"
	    "--zstd\t-z\t[LEVEL]\tcompress\n"
	    "--by\t\tWHAT\tgroup by dev, rank or step\n"
	    "--min-duration-of-events-to-keep\t\tTIME\tat least\n"
	    "--size\t-s\tSIZE\ta size\n"
	    "--ratio\t-r\tX\ta ratio\n"
	    "\t-p\tA,B\ta pair\n"
	    "\t-q\t\tquiet\n"
	    "--labels\t-l\t\tlabels\n"
	    "--status-fd\t\tN\twrite messages as NDJSON to descriptor N\n"
	    "--help\t-h\t\tprint this help\n"
	    "--version\t\t\tprint the versions of program and stream\n");
	snprintf(line, sizeof line, "--help");
	c = child_run(help_to_full_disk);
	is_int(c.status, EXIT_NO_ANSWER, "--help to a full disk fails");
	is_str(c.err, "tl-x: standard output: No space left on device\n",
	    "and says so");
	c = child_run(help_to_closed);
	is_int(c.status, EXIT_NO_ANSWER, "--help to a closed stdout fails");
}

int
main(void)
{
	good("", "-\n");
	good("a -n 3 b --top=4", "--top=3\n--top=4\na\nb\n");
	good("-q -- -n 3", "-q=NULL\n-n\n3\n");
	good("- -ql", "-q=NULL\n--labels=NULL\n-\n");
	good("-z --zstd=19 -z3 x", "--zstd=NULL\n--zstd=19\n--zstd=3\nx\n");
	good("-p a,bc", "-p=a|bc\n-\n");
	good("--by rank --by=dev", "--by=1\n--by=0\n-\n");
	good("--min-duration-of-events-to-keep 2us",
	    "--min-duration-of-events-to-keep=2000\n-\n");
	good("-s 64M -s 3k -s 7 -s 0",
	    "--size=67108864\n--size=3072\n--size=7\n--size=0\n-\n");
	good("-r .5", "--ratio=0.5\n-\n");
	usage_errors();
	printed();
	done_testing();
}
