/* SPDX-License-Identifier: MIT */
/* --vs: what other traces took for the same work. */
#include <stdio.h>

#include "sink/source.h"

#include "cmd/tl-report/report.h"

/* Sheets of the report, among what tl-diff writes. */
static const char *const sheets[] = { "diff_ops_summary", "diff_stats",
	"diff_stats_unique_args_summary", "lca_summary", "diff_kernels", NULL };

/* ---- which with which ---- */

static void
read_ranks(struct sink_sources *g, const struct args *trees)
{
	static const struct select all;

	for (size_t i = 0; i < trees->v.n; i++) {
		struct stream_in *in =
		    stream_open(trees->v.v[i], NULL, WANT_STREAM);
		enum item item;

		stream_only(in, 0);
		sink_sources_file(g, trees->v.v[i]);
		while ((item = stream_next(in)) != ITEM_END)
			if (item == ITEM_SOURCE)
				(void)sink_sources_source(g, &all, &in->source);
		stream_close(in);
	}
}

static bool
share_a_rank(const struct sink_sources *a, const struct sink_sources *b)
{
	for (size_t i = 0; i < a->list.n; i++)
		for (size_t k = 0; k < b->list.n; k++)
			if (a->list.v[i].has_rank && b->list.v[k].has_rank &&
			    a->list.v[i].rank == b->list.v[k].rank)
				return true;
	return false;
}

/* A launch of a graph, with GPU work. */
static bool
has_replays(const struct args *trees)
{
	bool found = false;

	for (size_t i = 0; i < trees->v.n && !found; i++) {
		struct dict *st = dict_create();
		struct stream_in *in =
		    stream_open(trees->v.v[i], st, WANT_STREAM);
		enum item item;

		stream_only(in, KINDS_LAUNCH);
		while (!found && (item = stream_next(in)) != ITEM_END)
			found = item == ITEM_EVENT && in->ev.ngpu > 0 &&
			    in->ev.name != INTERN_NONE &&
			    str_find(dict_get(st, in->ev.name),
				STR("GraphLaunch"), false) >= 0;
		stream_close(in);
		dict_destroy(st);
	}
	return found;
}

/* One against one is so whatever their ranks, and so are repeated runs. */
void
versus_pair(struct settings *s)
{
	struct sink_sources before = { .file = 0 }, after = { .file = 0 };
	enum sink_lead a, b;

	read_ranks(&before, &s->trees);
	read_ranks(&after, &s->others);
	a = sink_sources_lead(&before);
	b = sink_sources_lead(&after);
	s->by_rank = a != SINK_LEAD_SRC && b != SINK_LEAD_SRC &&
	    (a == SINK_LEAD_RANK || b == SINK_LEAD_RANK) &&
	    share_a_rank(&before, &after);
	sink_sources_free(&before);
	sink_sources_free(&after);
	s->has_replays = has_replays(&s->trees) || has_replays(&s->others);
}

void
versus_sides(const struct settings *s, struct args *argv)
{
	for (size_t i = 0; i < s->trees.v.n; i++)
		args_add(argv, text("--before=%s", s->trees.v.v[i]));
	for (size_t i = 0; i < s->others.v.n; i++)
		args_add(argv, text("--after=%s", s->others.v.v[i]));
}

static void
add_sides(const struct settings *s, struct args *argv)
{
	if (s->names != NULL)
		args_add(argv, text("--names=%s", s->names));
	if (s->by_rank)
		args_add(argv, "--pair=rank");
	args_all(argv, &s->chosen);
	versus_sides(s, argv);
}

/* It is judged once. */
static void
add_gate(const struct settings *s, struct args *argv)
{
	static bool is_judged;

	if (s->fail_over == NULL || is_judged)
		return;
	is_judged = true;
	args_add(argv, text("--fail-over=%s", s->fail_over));
	if (s->junit != NULL)
		args_add(argv, text("--junit=%s", s->junit));
}

/* ---- what is compared ---- */

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

static void
start_diff(const struct settings *s, struct jobs *j, const char *dir,
    const char *format, const char *what)
{
	struct args argv = { 0 };

	args_add(&argv, "tl-diff");
	args_add(&argv, "--format");
	args_add(&argv, format);
	args_add(&argv, "-d");
	args_add(&argv, text("%s/diff", dir));
	args_add(&argv, what);
	add_gate(s, &argv);
	add_sides(s, &argv);
	(void)job_start(j, &argv);
	vec_free(&argv.v);
}

/* No op tells what differs in the replay of a graph: its kernels do. */
void
versus_start(const struct settings *s, struct jobs *j, const char *dir,
    const char *format)
{
	start_diff(
	    s, j, dir, format, versus_by_op(s) ? "--by=op" : "--by=kernel");
	if (versus_by_op(s) && s->has_replays)
		start_diff(s, j, dir, format, "--table=diff_kernels");
}

/* Only what tl-roofline needs: a folder of CSV takes no more as NDJSON. */
static void
start_points(const struct settings *s, struct jobs *j)
{
	struct args argv = { 0 };

	args_add(&argv, "tl-diff");
	args_add(&argv, "--format=ndjson");
	args_add(&argv, "--table=diff_stats");
	args_add(
	    &argv, "--columns=src,source,gpu_op_uid,lca_id,lca_name,busy_ns");
	args_add(&argv, "-o");
	args_add(&argv, versus_table(s));
	add_sides(s, &argv);
	(void)job_start(j, &argv);
	vec_free(&argv.v);
}

void
versus_compare(const struct settings *s, struct jobs *j)
{
	bool is_folder_only =
	    s->dir != NULL && s->book == NULL && s->page == NULL;

	if (!is_folder_only)
		versus_start(s, j, s->tables, "ndjson");
	else if (versus_by_op(s))
		start_points(s, j);
	else
		return;
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
