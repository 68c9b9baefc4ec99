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
	/* without the timeline there is no report */
	struct job how = { .is_side = strcmp(program, "tl-timeline") != 0 };
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
	(void)job_start_with(k->jobs, &argv, &how);
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

/* Whether a line of the timeline, CSV or NDJSON, is of communication that took
 * time. */
static bool
tells_comm(struct str line)
{
	static const struct str forms[] = { STR_INIT("total_comm_time,"),
		STR_INIT("total_comm_time\",\"time_ns\":") };

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		int64_t at = str_find(line, forms[i], false);

		for (size_t k = at < 0 ? line.len : (size_t)at + forms[i].len;
		     k < line.len &&
		     (line.p[k] == '.' ||
			 (line.p[k] >= '0' && line.p[k] <= '9'));
		     k++)
			if (line.p[k] >= '1' && line.p[k] <= '9')
				return true;
	}
	return false;
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
		s->communicates = s->communicates || tells_comm(line);
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
	if (k->set->vs.v.n > 0 && versus_by_op(k->set))
		args_add(&options, text("--diff=%s", versus_table(k->set)));
	start(k, "tl-roofline", "-d", k->dir, &options, top);
	vec_free(&options.v);
}

static void
start_fold(struct settings *s, struct jobs *j)
{
	struct args argv = { 0 };

	args_add(&argv, "tl-fold");
	if (s->is_host)
		args_add(&argv, "--clock=cpu");
	args_all(&argv, &s->chosen);
	args_add(&argv, "-o");
	args_add(&argv, s->folded);
	if (s->vs.v.n > 0) {
		args_add(&argv, "--diff");
		versus_sides(s, &argv);
	} else {
		args_add(&argv, "--");
		args_all(&argv, &s->trees);
	}
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
	args_all(&one, &k->set->patterns);
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

/* What has a file of its own, or one by another trace. */
static void
start_others(const struct sink *k, struct settings *s)
{
	if (s->vs.v.n > 0 && strcmp(k->format, "csv") == 0)
		versus_start(s, k->jobs, k->dir, k->format);
	if (s->folded != NULL && have("tl-fold"))
		start_fold(s, k->jobs);
}

/* Of a trace without GPU work: what the host did. */
static void
analyse_host(const struct sink *k, struct settings *s, const char *top)
{
	struct args clock = { 0 }, ops = { 0 };

	args_add(&clock, "--clock=cpu");
	args_all(&ops, &clock);
	if (s->modules)
		args_add(&ops, "--by=module");
	args_all(&ops, &s->ops);
	start(k, "tl-timeline", "-d", k->dir, &clock, NULL);
	if (s->has_ops)
		start(k, "tl-ops", "-d", k->dir, &ops, top);
	start_others(k, s);
	vec_free(&clock.v);
	vec_free(&ops.v);
}

/* The analyses of GPU work, of which the timeline is done first: it says
 * whether there are collectives. */
static void
analyse_gpu(const struct sink *k, struct settings *s, bool cuts)
{
	const char *more = text("%s/more", k->dir);
	struct job *timeline;

	if (s->has_ops) {
		start_roofline(k, cuts ? s->top_roofline : NULL);
		start(k, "tl-ops", "-d", k->dir, &s->ops,
		    cuts ? s->top_ops : NULL);
	}
	if (s->kernels || s->shorts || s->is_rocprof)
		start(k, "tl-kernels", "-d", more, &s->kern,
		    cuts ? s->top_kernels : NULL);
	if (!cuts && !s->has_ops) /* for a summary */
		start(k, "tl-kernels", "-o",
		    text("%s/by_name.%s", more, k->format), &s->kern, NULL);
	start(k, "tl-timeline", "-d", k->dir, &s->timeline, NULL);
	timeline = k->jobs->list.v[k->jobs->list.n - 1];
	if (s->modules)
		start_modules(k);
	start_others(k, s);
	job_wait_for(k->jobs, timeline);
	if (timeline->status == EXIT_DONE ||
	    timeline->status == EXIT_WARNINGS) {
		look(s, text("%s/gpu_timeline.%s", k->dir, k->format));
		if (cuts && s->recompute && !s->is_several)
			start_recompute(k);
	}
	if (s->communicates && !s->no_collective &&
	    (s->has_calls || s->is_several))
		start_collective(k);
}

/* What the analyses do not tell takes its turn beside them. */
static void
ask_aside(struct settings *s, struct jobs *j)
{
	if (s->has_ops && (s->book != NULL || s->page != NULL))
		sheets_ask(s, j);
	headers_ask(s, j);
}

/* Once, and only when there is an answer. */
static void
tell_host(const struct settings *s)
{
	static bool is_told;

	if (!is_told)
		report(MSG_HOST_ONLY, traces_name(s));
	is_told = true;
}

void
analyse(struct settings *s, struct jobs *j, const char *dir, const char *format,
    bool cuts, bool loud)
{
	struct sink k = { s, j, dir, format };

	if (s->is_host)
		analyse_host(&k, s, cuts ? s->top_ops : NULL);
	else
		analyse_gpu(&k, s, cuts);
	if (!cuts)
		ask_aside(s, j);
	job_finish(j, loud);
	if (job_failed(j))
		job_fail(j);
	if (s->is_host)
		tell_host(s);
	keep_sheets(s, dir, format);
	if (s->vs.v.n > 0)
		versus_keep(dir, format);
}
