/* SPDX-License-Identifier: MIT */
/* base/err.c: a message is one line, and cannot control a terminal */
#include <errno.h>
#include <pthread.h>

#include "base/base.h"
#include "tests/unit/child.h"
#include "tests/unit/tap.h"

static void
plain(void)
{
	err_program("/usr/bin/tl-x");
	die("%s: byte %d: no", "a.json", 7);
}

static void
with_errno(void)
{
	errno = ENOENT;
	die_errno("f");
}

static void
usage(void)
{
	err_synopsis("[FILE]");
	die_usage("bad");
}

static void
hostile(void)
{
	note("%s",
	    "a\x1b[2J\n\t\x7f|\xff|\xc2\x9b|\xc3\xa9|\xe2\x82\xac|"
	    "\xed\xa0\x80|\xf0\x9f\x98\x80|\xf4\x90\x80\x80|\xe2\x82");
}

static void
too_long(void)
{
	char text[10000];
	size_t i;

	for (i = 0; i + 1 < sizeof text; i++)
		text[i] = "\xc3\xa9"[i % 2];
	text[i] = '\0';
	errno = ENOENT;
	die_errno("%s", text);
}

static void
warned(void)
{
	errno = 5;
	note("n %d", 1);
	report(MSG_RANK_NO_CLOCK, 2);
	_exit(errno == 5 ? exit_status() : 99);
}

static void
hook_one(void)
{
	note("one");
}

static void
hook_dies(void)
{
	die("again");
}

static void
hooks(void)
{
	err_at_death(hook_one);
	err_at_death(hook_dies);
	err_at_death(hook_one); /* once is enough */
	die("first");
}

static void
hook_order(void)
{
	err_at_death(hook_one);
	die_usage("first");
}

static void *
thread(void *arg)
{
	die("%s", (const char *)arg);
}

static void
two_threads(void)
{
	static char same[] = "thread";
	pthread_t a, b;

	if (pthread_create(&a, NULL, thread, same) != 0 ||
	    pthread_create(&b, NULL, thread, same) != 0)
		abort();
	for (;;)
		pause();
}

static void
expect(void (*fn)(void), int status, const char *err, const char *what)
{
	struct child c = child_run(fn);

	is_int(c.status, status, "%s: status", what);
	is_str(c.err, err, "%s: message", what);
	is_str(c.out, "", "%s: nothing on stdout", what);
}

int
main(void)
{
	struct child c;

	expect(plain, 1, "tl-x: a.json: byte 7: no\n", "die");
	expect(with_errno, 1, "tl: f: No such file or directory\n", "errno");
	expect(
	    usage, 2, "tl: bad\nusage: tl [FILE]\ntry 'tl --help'\n", "usage");
	expect(hostile, 0,
	    "tl: a\\x1b[2J\\x0a\\x09\\x7f|\\xff|\\xc2\\x9b|\xc3\xa9|"
	    "\xe2\x82\xac|\\xed\\xa0\\x80|\xf0\x9f\x98\x80|"
	    "\\xf4\\x90\\x80\\x80|\\xe2\\x82\n",
	    "hostile");
	expect(warned, 3,
	    "tl: n 1\ntl: rank 2: no collective shows its clock\n", "warning");
	expect(hooks, 1, "tl: first\ntl: again\n", "a hook that dies");
	expect(hook_order, 2, "tl: first\ntry 'tl --help'\ntl: one\n", "hook");
	expect(two_threads, 1, "tl: thread\n", "two threads, one message");
	is_int(exit_status(), EXIT_DONE, "no warning, done");

	c = child_run(too_long);
	ok(strlen(c.err) <= 4096 && strlen(c.err) > 4080, "4 KiB at most");
	ok(strstr(c.err, "\xa9...: No such file or directory\n") != NULL,
	    "cut between characters, the reason is kept");
	done_testing();
}
