/* SPDX-License-Identifier: MIT */
/* Runs other programs on a tree and reads their tables. */
#include "cmd/tl-health/rules.h"
#include "json/json.h"

#include <fcntl.h>
#include <unistd.h>

struct program {
	pid_t pid;
	struct in *rows;
	int said; /* file of status records */
};

static struct program
program_start(const struct asked *a)
{
	struct child_how how = { .fd = { -1, -1, -1, -1 } };
	char *path = sys_program(a->program);
	struct program p = { .said = io_nameless() };
	VEC(const char *) argv = { 0 };
	int fd[2];

	if (p.said < 0 || pipe2(fd, O_CLOEXEC) != 0)
		die_errno("%s cannot be run", a->program);
	vec_push(&argv, path);
	for (size_t i = 0; i < a->nwords; i++)
		vec_push(&argv, a->words[i]);
	vec_push(&argv, "--format=ndjson");
	vec_push(&argv, "--columns=+details");
	vec_push(&argv, "--status-fd=3");
	vec_push(&argv, "--");
	vec_push(&argv, "-");
	vec_push(&argv, NULL);
	how.argv = (char *const *)(uintptr_t)argv.v;
	how.fd[0] = a->tree;
	how.fd[1] = fd[1];
	how.fd[3] = p.said;
	p.pid = lseek(a->tree, 0, SEEK_SET) == 0 ? child_start(&how) : -1;
	if (p.pid < 0)
		die_errno("%s cannot be run", a->program);
	close(fd[1]);
	p.rows = in_open_fd(fd[0], a->program);
	vec_free(&argv);
	vec_release(path);
	return p;
}

/* The user does not know the trace as "stdin: ". */
static struct str
own_words(struct str s)
{
	(void)str_take(&s, STR("stdin: "));
	return s;
}

/*
 * Reads the program's messages and passes on warnings, equal ones in a row
 * once; returns the text of an error.
 */
static struct str
hear(const struct asked *a, struct arena *mem, int fd)
{
	struct reader r = { 0 };
	struct str wrong = STR("it failed"), last = STR("");
	json_items list = { 0 };
	const unsigned char *end;

	if (lseek(fd, 0, SEEK_SET) != 0)
		die_errno("a temporary file");
	r.in = in_open_fd(fd, "a temporary file");
	while ((end = reader_line(&r)) != NULL) {
		struct str line = { (const char *)r.in->p,
			(size_t)(end - r.in->p) };
		struct str text, level;

		(void)!json_split(&list, mem, line);
		text = own_words(json_member_text(&list, STR("text")));
		level = json_member_text(&list, STR("level"));
		if (str_eq(level, STR("warning")) && !str_eq(text, last)) {
			report(MSG_RULE_WARNED, a->name, a->program, text);
			last = text;
		} else if (str_eq(level, STR("error")) ||
		    str_eq(level, STR("nothing"))) {
			wrong = text;
		}
		r.in->p = end < r.in->end ? end + 1 : end;
	}
	in_close(r.in);
	reader_free(&r);
	vec_free(&list);
	return wrong;
}

int
table_ask(const struct asked *a, const struct table_sink *sink,
    struct arena *mem, struct str *wrong)
{
	struct program p = program_start(a);
	struct reader r = { .in = p.rows, .sink = sink };
	bool is_whole = !in_need(p.rows, 1) || ndjson_read(&r);
	int status;

	in_close(p.rows);
	status = child_wait(p.pid);
	*wrong = hear(a, mem, p.said);
	if (status != EXIT_DONE && status != EXIT_WARNINGS &&
	    status != EXIT_NOTHING && status != EXIT_USAGE)
		die("%s: %s: %.*s", a->name, a->program, (int)wrong->len,
		    wrong->p);
	if (!is_whole)
		die("%s: %s: line %" PRIu64 ": %s", a->name, a->program, r.line,
		    r.error.p);
	reader_free(&r);
	return status;
}
