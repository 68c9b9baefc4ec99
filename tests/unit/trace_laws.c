/* SPDX-License-Identifier: MIT */
/* trace/laws.c: a law that holds is silent; one that is broken ends the program
 * with both figures. */
#include "tests/unit/tap.h"
#include "trace/laws.h"

#include <sys/wait.h>
#include <unistd.h>

static char text[512];

/* The error of a law; "": none. */
static const char *
end_of(void (*law)(void))
{
	int fds[2], status;
	ssize_t n;

	text[0] = '\0';
	if (pipe(fds) < 0)
		return text;
	fflush(stdout);
	if (fork() == 0) {
		dup2(fds[1], STDERR_FILENO);
		law();
		_exit(0);
	}
	close(fds[1]);
	n = read(fds[0], text, sizeof text - 1);
	close(fds[0]);
	text[n > 0 ? n : 0] = '\0';
	wait(&status);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_NO_ANSWER)
		text[0] = '\0';
	return text;
}

static void
sum(int64_t a, int64_t b, int64_t whole)
{
	law_sum("t", (const struct law_part[]){ { "a", a }, { "b", b } }, 2,
	    (struct law_part){ "all", whole });
}

static void
kept(void)
{
	sum(3, 4, 7);
	sum(0, 0, 0);
	sum(INT64_MAX, 0, INT64_MAX);
	sum(INT64_MAX, 1, 5); /* beyond the range of the comparison */
	law_most(
	    "t", (struct law_part){ "part", 5 }, (struct law_part){ "all", 5 });
	law_same("t", (struct law_part){ "one", -6 },
	    (struct law_part){ "other", -6 });
}

static void
one_less(void)
{
	sum(3, 4, 8);
}

static void
one_more(void)
{
	sum(INT64_MAX - 1, 1, INT64_MAX - 1);
}

static void
below_zero(void)
{
	sum(-1, 8, 7);
}

static void
too_much(void)
{
	law_most(
	    "t", (struct law_part){ "part", 6 }, (struct law_part){ "all", 5 });
}

static void
not_the_same(void)
{
	law_same("t", (struct law_part){ "one", -6 },
	    (struct law_part){ "other", 6 });
}

int
main(void)
{
	kept();
	ok(true, "laws that are kept");
	ok(strstr(end_of(one_less),
	       "table t: a 3 + b 4 are not all 8: a defect of this "
	       "program, so nothing is printed") != NULL,
	    "parts are not the whole");
	ok(*end_of(one_more) != '\0', "nor at the border of int64");
	ok(strstr(end_of(below_zero), "a -1 + b 8 are not all 7") != NULL,
	    "a negative part");
	ok(strstr(end_of(too_much), "part 6 is more than all 5") != NULL,
	    "a part is more than the whole");
	ok(strstr(end_of(not_the_same), "one -6 is not other 6") != NULL,
	    "two ways to one number");
	done_testing();
}
