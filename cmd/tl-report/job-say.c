/* SPDX-License-Identifier: MIT */
/* What the programs have said, and what it comes to. */
#include <unistd.h>

#include "io/io.h"

#include "cmd/tl-report/report.h"

/* Nothing of its kind in the traces is no failure of a side analysis. */
static bool
is_excused(const struct job *job)
{
	return job->status == EXIT_NOTHING && job->trace == NULL &&
	    strcmp(job->name, "tl-timeline") != 0 &&
	    strcmp(job->name, "tl-diff") != 0;
}

static void
worst(struct jobs *j, int status)
{
	/* from best to worst; any other is the failure of a program */
	static const int order[] = { EXIT_DONE, EXIT_WARNINGS, EXIT_GATE,
		EXIT_NOTHING, EXIT_USAGE, EXIT_NO_ANSWER };
	size_t n = sizeof order / sizeof *order, is = 0, was = 0;

	while (is < n - 1 && order[is] != status)
		is++;
	while (was < n - 1 && order[was] != j->status)
		was++;
	j->status = order[is > was ? is : was];
}

/* A line of the traces, not of their trees. */
static void
put_line(const struct settings *s, struct str line, struct buf *b)
{
	ptrdiff_t at = str_find(line, str_of(s->tmp), false);
	const char *trace;
	size_t n = 0, i;

	i = at < 0 ? 0 : (size_t)at + strlen(s->tmp) + 2; /* "/t" */
	if (at >= 0)
		for (; i < line.len && line.p[i] >= '0' && line.p[i] <= '9';
		     i++)
			n = 10 * n + (size_t)(line.p[i] - '0');
	if (at < 0 || n == 0 || n > s->traces.v.n + s->vs.v.n ||
	    str_find(line, STR("No space left"), false) >= 0) {
		buf_put(b, line.p, line.len);
		return;
	}
	buf_put(b, line.p, (size_t)at);
	trace = n <= s->traces.v.n ? s->traces.v.v[n - 1]
				   : s->vs.v.v[n - s->traces.v.n - 1];
	for (trace = strcmp(trace, "-") == 0 ? "stdin" : trace; *trace != '\0';
	     trace++)
		buf_putc(b,
		    (unsigned char)*trace < ' ' || *trace == 0x7f ? '?'
								  : *trace);
	i += sizeof ".tl" - 1;
	if (i < line.len)
		buf_put(b, line.p + i, line.len - i);
}

static struct str
next_line(struct str *rest)
{
	const char *nl = memchr(rest->p, '\n', rest->len);
	size_t n = nl != NULL ? (size_t)(nl - rest->p) : rest->len;
	struct str line = { rest->p, n };

	rest->p += nl != NULL ? n + 1 : n;
	rest->len -= nl != NULL ? n + 1 : n;
	return line;
}

/* Behind "tl-program: ". */
static struct str
without_program(struct str line)
{
	ptrdiff_t colon = str_find(line, STR(": "), false);

	if (str_starts(line, STR("tl-")) && colon > 0 &&
	    memchr(line.p, ' ', (size_t)colon) == NULL) {
		line.p += colon + 2;
		line.len -= (size_t)colon + 2;
	}
	return line;
}

/* Each line once, whichever programs say it. */
static void
gather(const struct jobs *j, const struct job *job, struct intern *seen,
    bool bare, struct buf *b)
{
	struct str rest = buf_str(&job->err);

	while (rest.len > 0) {
		struct str line = next_line(&rest), shown;
		size_t known = seen->list.n;
		struct buf one = { 0 };

		put_line(j->set, line, &one);
		shown = without_program(buf_str(&one));
		if (intern_put(seen, shown) == known) {
			if (!bare)
				shown = buf_str(&one);
			buf_put(b, shown.p, shown.len);
			buf_putc(b, '\n');
		}
		buf_free(&one);
	}
}

/* What failed first: others may say the same and be excused. */
void
job_finish(struct jobs *j, bool loud)
{
	static struct intern *seen;
	struct buf b = { 0 };

	seen = seen != NULL ? seen : intern_create();
	job_wait(j, 0);
	for (size_t i = 0; i < 2 * j->list.n; i++) {
		struct job *job = j->list.v[i % j->list.n];
		int status = job->status;

		if (is_excused(job))
			status = EXIT_WARNINGS;
		if (job->is_told ||
		    (i < j->list.n &&
			(status == EXIT_DONE || status == EXIT_WARNINGS)))
			continue;
		job->is_told = true;
		worst(j, status);
		if (loud || job->status != EXIT_DONE)
			gather(j, job, seen, false, &b);
	}
	/* a message is worth a second try */
	if (b.len > 0 && write_all(STDERR_FILENO, b.p, b.len) != 0)
		(void)!write_all(STDERR_FILENO, b.p, b.len);
	buf_free(&b);
}

void
job_notes(const struct jobs *j, struct buf *b)
{
	struct intern *seen = intern_create();
	struct buf all = { 0 };
	struct str rest;

	for (size_t i = 0; i < j->list.n; i++)
		if (j->list.v[i]->trace == NULL)
			gather(j, j->list.v[i], seen, true, &all);
	rest = buf_str(&all);
	while (rest.len > 0) {
		struct str line = next_line(&rest);

		/* the summary says this itself */
		if (str_find(line, STR("no launch in the trace"), false) >= 0)
			continue;
		buf_put(b, line.p, line.len);
		buf_putc(b, '\n');
	}
	buf_free(&all);
	intern_destroy(seen);
}
