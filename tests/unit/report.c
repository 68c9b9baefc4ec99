/* SPDX-License-Identifier: MIT */
/* base/report.c: sentences from templates, and records */
#include <fcntl.h>

#include "base/base.h"
#include "tests/unit/child.h"
#include "tests/unit/tap.h"

/* Each is well formed, and is found by its id. */
static void
templates(void)
{
	for (enum report_id id = 0; id < MSG_COUNT; id++) {
		struct report_params p;
		char word[64];

		snprintf(word, sizeof word, "%s", report_word(id));
		ok(report_params(id, &p) && p.n > 0, "%s: the template", word);
		is_int(report_find(str_of(word)), id, "%s: the word", word);
		for (size_t i = 0; i < p.n; i++)
			ok(!str_eq(p.name[i], STR("text")) &&
				!str_eq(p.name[i], STR("id")) &&
				!str_eq(p.name[i], STR("level")) &&
				!str_eq(p.name[i], STR("program")),
			    "%s: no parameter has a record's own name", word);
	}
	is_int(report_find(STR("no such")), MSG_COUNT, "no such word");
}

static void
plural(void)
{
	report(MSG_DUPLICATES, "a", 1);
	report(MSG_DUPLICATES, STR("b\n"), UINT64_C(2));
	_exit(exit_status());
}

static void
warning(void)
{
	report(MSG_SALVAGED, "a");
	_exit(exit_status());
}

static void
nothing(void)
{
	die_nothing(MSG_NO_GPU_EVENTS, "a", 7);
}

static void
records(void)
{
	report_use_fd(STDOUT_FILENO);
	report_begin(); /* as a child finds it */
	report(MSG_DUPLICATES, "a\"\\\n\xff\xc3\xa9\U000e0041", 2);
	die("%s", "b\"");
}

static void
record_of_usage(void)
{
	err_synopsis("[FILE]");
	report_use_fd(STDOUT_FILENO);
	die_usage("bad");
}

static void
another_file(void)
{
	report_use_fd(STDOUT_FILENO);
	dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
	report_begin();
	report(MSG_SALVAGED, "a");
}

static void
long_one(void)
{
	static char text[10000];

	memset(text, '"', sizeof text - 1);
	report_use_fd(STDOUT_FILENO);
	report(MSG_RANK_CONFLICT, text, 1, text);
}

static void
expect(void (*fn)(void), int status, const char *out, const char *err,
    const char *what)
{
	struct child c = child_run(fn);

	is_int(c.status, status, "%s: status", what);
	is_str(c.out, out, "%s: records", what);
	is_str(c.err, err, "%s: messages", what);
}

int
main(void)
{
	struct child c;

	templates();
	expect(plural, 0, "",
	    "tl: a: 1 GPU event recorded twice; each counts once\n"
	    "tl: b\\x0a: 2 GPU events recorded twice; each counts once\n",
	    "plural forms");
	expect(warning, 3, "",
	    "tl: a: salvaged from a damaged trace: figures may lack events\n",
	    "a warning");
	expect(nothing, 5, "", "tl: a: no GPU events among 7 events\n",
	    "nothing of the kind");
	expect(records, 1,
	    "{\"program\":\"tl\",\"level\":\"note\",\"id\":\"duplicates\","
	    "\"text\":\"a\\\"\\\\\\u000a\\ufffd\xc3\xa9\\udb40\\udc41: 2 GPU "
	    "events recorded "
	    "twice; each counts once\","
	    "\"file\":\"a\\\"\\\\\\u000a\\ufffd\xc3\xa9\\udb40\\udc41\",\"n\":"
	    "2}\n"
	    "{\"program\":\"tl\",\"level\":\"error\",\"id\":\"failed\","
	    "\"text\":\"b\\\"\"}\n",
	    "", "records instead of messages");
	expect(record_of_usage, 2,
	    "{\"program\":\"tl\",\"level\":\"error\",\"id\":\"usage\","
	    "\"text\":\"bad\"}\n",
	    "", "no synopsis in a record");
	expect(another_file, 0, "",
	    "tl: a: salvaged from a damaged trace: figures may lack events\n",
	    "a descriptor that is another's by now");
	c = child_run(long_one);
	ok(strlen(c.out) < STATUS_MAX && strlen(c.out) > 3000 &&
		strcmp(c.out + strlen(c.out) - 3, "\"}\n") == 0,
	    "a long record is cut, and whole JSON");
	done_testing();
}
