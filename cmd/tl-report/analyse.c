/* SPDX-License-Identifier: MIT */
/* The programs that answer, side by side, and the sheets that are kept. */
#include <stdio.h>

#include "io/io.h"

#include "cmd/tl-report/report.h"

/* A sink over all trees; its options stand between. */
struct sink {
	const struct settings *set;
	struct jobs *jobs;
	const char *dir, *format;
};

static void
start(const struct sink *k, const char *program, const char *where,
    const char *path, const struct args *options, const char *top)
{
	struct args argv = { 0 };

	if (!have(program))
		return;
	args_add(&argv, program);
	args_add(&argv, "--format");
	args_add(&argv, k->format);
	args_add(&argv, where);
	args_add(&argv, path);
	args_all(&argv, options);
	args_all(&argv, &k->set->chosen);
	if (top != NULL)
		args_add(&argv, text("--top=%s", top));
	args_add(&argv, "--");
	args_all(&argv, &k->set->trees);
	(void)job_start(k->jobs, &argv);
	vec_free(&argv.v);
}

static bool
next_line(struct in *in, struct str *line)
{
	const unsigned char *nl;

	while ((nl = memchr(in->p, '\n', (size_t)(in->end - in->p))) == NULL &&
	    in_more(in))
		;
	if (nl == NULL)
		return false;
	*line = (struct str){ (const char *)in->p, (size_t)(nl - in->p) };
	in->p = nl + 1;
	return true;
}

static bool
holds(struct str s, const char *what)
{
	return str_find(s, str_of(what), false) >= 0;
}

/* Whether the timeline is of several ranks, and has collectives. */
static void
look(struct settings *s, const char *path)
{
	struct in *in = in_open(path);
	struct str line;

	s->communicates = false;
	if (next_line(in, &line)) {
		s->by_src = holds(line, "{\"id\":\"src\"") ||
		    str_starts(line, STR("src,"));
		s->is_several = s->by_src || holds(line, "{\"id\":\"rank\"") ||
		    str_starts(line, STR("rank,"));
	}
	while (next_line(in, &line))
		if (holds(line, "total_comm_time") &&
		    !holds(line, "total_comm_time,0,") &&
		    !holds(line, "total_comm_time,0.") &&
		    !holds(line, "total_comm_time\",\"time_ns\":0,"))
			s->communicates = true;
	in_close(in);
}

static void
start_modules(const struct sink *k)
{
	struct args folded = { 0 };

	args_add(&folded, "--fold");
	start(k, "tl-modules", "-d", k->dir, &(struct args){ 0 }, NULL);
	start(k, "tl-modules", "-d", k->dir, &folded, NULL);
	vec_free(&folded.v);
}

/* With the other trace's times, where ops could be compared. */
static void
start_roofline(const struct sink *k, const char *top)
{
	struct args options = { 0 };

	args_all(&options, &k->set->roofline);
	if (k->set->vs != NULL && versus_by_op(k->set))
		args_add(&options, text("--diff=%s", versus_table(k->set)));
	start(k, "tl-roofline", "-d", k->dir, &options, top);
	vec_free(&options.v);
}

static void
start_fold(struct settings *s, struct jobs *j)
{
	struct args argv = { 0 };

	args_add(&argv, "tl-fold");
	if (s->vs != NULL)
		args_add(&argv, "--diff");
	args_all(&argv, &s->chosen);
	args_add(&argv, "-o");
	args_add(&argv, s->folded);
	args_add(&argv, "--");
	args_all(&argv, &s->trees);
	if (s->vs != NULL)
		args_add(&argv, s->other);
	(void)job_start(j, &argv);
	vec_free(&argv.v);
	s->folded = NULL; /* once */
}

static void
start_collective(const struct sink *k)
{
	struct args one = { 0 };

	args_add(&one, "--table");
	args_add(&one, "coll_analysis");
	start(k, "tl-collective", "-d", k->dir,
	    k->set->is_several ? &k->set->collective : &one, NULL);
	vec_free(&one.v);
}

/* The timeline of recomputed work and of the other, instead of the whole. */
static void
start_recompute(const struct sink *k)
{
	struct args apart = { 0 };

	args_all(&apart, &k->set->timeline);
	args_add(&apart, "--by=recompute");
	args_add(&apart, "--columns=type,time_ns,percent,is_recompute");
	start(k, "tl-timeline", "-d", k->dir, &apart, NULL);
	vec_free(&apart.v);
}

/* tl-kernels writes more than was asked for. */
static void
keep_sheets(const struct settings *s, const char *dir, const char *format)
{
	const struct {
		const char *name;
		bool wanted;
	} sheets[] = {
		{ "kernel_summary",
		    s->is_rocprof ? !s->no_kernels : s->kernels },
		{ "kernel_summary_by_category",
		    s->is_rocprof && !s->no_kernels },
		{ "kernel_details", s->is_rocprof && s->kernels },
		{ "short_kernels_summary", s->shorts },
		{ "short_kernel_histogram", s->shorts },
	};

	for (size_t i = 0; i < sizeof sheets / sizeof *sheets; i++) {
		const char *from =
		    text("%s/more/%s.%s", dir, sheets[i].name, format);

		if (sheets[i].wanted && is_there(from) &&
		    rename(from,
			text("%s/%s.%s", dir, sheets[i].name, format)) != 0)
			die_errno("%s", from);
	}
}

void
analyse(struct settings *s, struct jobs *j, const char *dir, const char *format,
    bool cuts, bool loud)
{
	struct sink k = { s, j, dir, format };
	bool is_summary = !cuts;
	const char *more = text("%s/more", dir);
	struct job *timeline;

	if (s->has_ops) {
		start_roofline(&k, cuts ? s->top_roofline : NULL);
		start(
		    &k, "tl-ops", "-d", dir, &s->ops, cuts ? s->top_ops : NULL);
	}
	if (s->kernels || s->shorts || s->is_rocprof)
		start(&k, "tl-kernels", "-d", more, &s->kern,
		    cuts ? s->top_kernels : NULL);
	if (is_summary && !s->has_ops)
		start(&k, "tl-kernels", "-o",
		    text("%s/by_name.%s", more, format), &s->kern, NULL);
	/* It is done before the others, and says whether there are collectives
	 */
	start(&k, "tl-timeline", "-d", dir, &s->timeline, NULL);
	timeline = j->list.v[j->list.n - 1];
	if (s->modules)
		start_modules(&k);
	if (s->vs != NULL && strcmp(format, "csv") == 0)
		versus_start(s, j, dir, format);
	if (s->folded != NULL && have("tl-fold"))
		start_fold(s, j);
	job_wait_for(j, timeline);
	if (timeline->status == EXIT_DONE || timeline->status == EXIT_DOUBT) {
		look(s, text("%s/gpu_timeline.%s", dir, format));
		if (cuts && s->recompute && !s->is_several)
			start_recompute(&k);
	}
	if (s->communicates && !s->no_collective &&
	    (s->has_ops || s->is_several))
		start_collective(&k);
	job_finish(j, loud);
	if (job_failed(j))
		job_fail(j);
	keep_sheets(s, dir, format);
	if (s->vs != NULL)
		versus_keep(dir, format);
}
