/* SPDX-License-Identifier: MIT */
/* --vs: what another trace took for the same work. */
#include <stdio.h>

#include "cmd/tl-report/report.h"

/* Sheets of the report, among what tl-diff writes. */
static const char *const sheets[] = { "diff_ops_summary", "diff_stats",
	"diff_stats_unique_args_summary", "lca_summary", "diff_kernels", NULL };

static void
add_sides(const struct settings *s, struct args *argv)
{
	if (s->names != NULL)
		args_add(argv, text("--names=%s", s->names));
	args_all(argv, &s->chosen);
	args_add(argv, "--");
	args_add(argv, s->trees.v.v[0]);
	args_add(argv, s->other);
}

bool
versus_by_op(const struct settings *s)
{
	return s->has_ops && s->other_has_ops;
}

const char *
versus_table(const struct settings *s)
{
	return text("%s/diff/diff_stats.ndjson", s->tables);
}

void
versus_start(const struct settings *s, struct jobs *j, const char *dir,
    const char *format)
{
	struct args argv = { 0 };

	args_add(&argv, "tl-diff");
	args_add(&argv, "--format");
	args_add(&argv, format);
	args_add(&argv, "-d");
	args_add(&argv, text("%s/diff", dir));
	if (!versus_by_op(s))
		args_add(&argv, "--by=kernel");
	add_sides(s, &argv);
	(void)job_start(j, &argv);
	vec_free(&argv.v);
}

/* Only what tl-roofline needs: a folder of CSV takes no more as NDJSON. */
static void
start_points(const struct settings *s, struct jobs *j)
{
	struct args argv = { 0 };

	args_add(&argv, "tl-diff");
	args_add(&argv, "--format=ndjson");
	args_add(&argv, "--table=diff_stats");
	args_add(&argv, "--columns=source,gpu_op_uid,lca_id,lca_name,busy_ns");
	args_add(&argv, "-o");
	args_add(&argv, versus_table(s));
	add_sides(s, &argv);
	(void)job_start(j, &argv);
	vec_free(&argv.v);
}

/* What it notes stands in its table of sentences; a doubt is told. */
void
versus_compare(const struct settings *s, struct jobs *j)
{
	bool is_folder_only =
	    s->dir != NULL && s->book == NULL && s->page == NULL;
	struct job *job;

	if (!is_folder_only)
		versus_start(s, j, s->tables, "ndjson");
	else if (versus_by_op(s))
		start_points(s, j);
	else
		return;
	job = j->list.v[j->list.n - 1];
	job_wait_for(j, job);
	if (job->status == EXIT_DONE)
		job->err.len = 0;
	job_finish(j, false);
	if (job_failed(j))
		job_fail(j);
}

static void
keep(const char *from, const char *to)
{
	if (is_there(from) && rename(from, to) != 0)
		die_errno("%s", from);
}

void
versus_keep(const char *dir, const char *format)
{
	for (size_t i = 0; sheets[i] != NULL; i++)
		keep(text("%s/diff/%s.%s", dir, sheets[i], format),
		    text("%s/%s.%s", dir, sheets[i], format));
	keep(text("%s/diff/diff_verdict.%s", dir, format),
	    text("%s/more/diff_verdict.%s", dir, format));
}
