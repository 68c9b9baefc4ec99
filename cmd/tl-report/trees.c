/* SPDX-License-Identifier: MIT */
/* Each trace becomes a tree, as many at a time as there are processors. */
#include "stream/stream.h"
#include "trace/bucket.h"

#include "cmd/tl-report/report.h"

static void
start_one(
    struct jobs *j, const char *trace, const char *capture, const char *tree)
{
	struct job how = { .trace = trace,
		.gets_stdin = strcmp(trace, "-") == 0 };
	struct args argv = { 0 };

	args_add(&argv, capture != NULL ? "tl-graft" : "tl-tree");
	if (capture != NULL)
		args_add(&argv, text("--capture=%s", capture));
	else if (!j->set->has_frames)
		args_add(&argv, "--no-python");
	args_add(&argv, "-o");
	args_add(&argv, tree);
	args_add(&argv, "--");
	args_add(&argv, trace);
	(void)job_start_with(j, &argv, &how);
	vec_free(&argv.v);
}

/* What is in a tree, as far as it decides which sheets there are. */
struct content {
	bool has_ops, has_gpu, has_linked, is_rocprof;
	bool has_owned; /* an op may own it: linked, and no collective */
};

static void
look_at_work(
    struct stream_in *in, struct bucket_rules *rules, struct content *c)
{
	c->has_gpu = true;
	if ((in->ev.flags & EV_UNLINKED) != 0)
		return;
	c->has_linked = true;
	c->has_owned = c->has_owned ||
	    bucket_of_event(rules, in->dict, &in->ev) != BUCKET_COMM;
}

static void
look(const char *path, struct content *c)
{
	struct stream_in *in = stream_open(path, NULL, WANT_STREAM);
	struct bucket_rules rules = { 0 };
	enum item item;

	stream_only(in, KIND_BIT(KIND_OP) | KINDS_GPU);
	while (!(c->has_ops && c->has_owned) &&
	    (item = stream_next(in)) != ITEM_END) {
		const struct fact *f;

		if (item == ITEM_EVENT && in->ev.shape->kind == KIND_OP)
			c->has_ops = true;
		else if (item == ITEM_EVENT) {
			look_at_work(in, &rules, c);
		}
		if (item != ITEM_SOURCE)
			continue;
		f = source_fact(&in->source, "format");
		if (f != NULL && str_eq(f->val.s, STR("rocprofv3")))
			c->is_rocprof = true;
	}
	bucket_free(&rules);
	stream_close(in);
}

struct str
trace_name(const char *path)
{
	return strcmp(path, "-") == 0 ? STR("stdin") : str_of(path);
}

const char *
traces_name(const struct settings *s)
{
	return s->traces.v.n > 1 ? "all traces"
				 : trace_name(s->traces.v.v[0]).p;
}

/* Sheets of ops need ops, and GPU work that is theirs. */
static void
look_at_all(struct settings *s)
{
	struct content all = { 0 }, other = { 0 };

	for (size_t i = 0; i < s->trees.v.n; i++)
		if (!all.has_ops || !all.has_owned)
			look(s->trees.v.v[i], &all);
	for (size_t i = 0; i < s->others.v.n && !other.has_ops; i++)
		look(s->others.v.v[i], &other);
	s->is_host = !all.has_gpu;
	s->has_calls = all.has_ops;
	s->has_ops = all.has_ops && (all.has_owned || s->is_host);
	s->other_has_ops = other.has_ops;
	s->is_rocprof = all.is_rocprof && !all.has_ops;
	if (all.has_linked && all.has_ops && !all.has_owned)
		report(MSG_ONLY_COMMUNICATION, traces_name(s));
	if (all.has_gpu && all.has_ops && !all.has_linked)
		report(MSG_NO_OP_OWNS, traces_name(s));
}

/* The nth tree, and so on. */
static void
start_all(struct jobs *j, const struct args *traces, const char *capture,
    struct args *trees, size_t n)
{
	for (size_t i = 0; i < traces->v.n; i++)
		args_add(trees, text("%s/t%zu.tl", j->set->tmp, n + i));
	for (size_t i = 0; i < traces->v.n; i++) {
		job_wait(j, (size_t)sys_cpus());
		start_one(j, traces->v.v[i], capture, trees->v.v[i]);
	}
}

void
trees_make(struct settings *s, struct jobs *j)
{
	start_all(j, &s->traces, s->capture, &s->trees, 1);
	start_all(j, &s->vs, s->vs_capture, &s->others, s->traces.v.n + 1);
	job_finish(j, true);
	if (job_failed(j)) {
		j->status = EXIT_NO_ANSWER;
		job_fail(j);
	}
	look_at_all(s);
	if (s->vs.v.n > 0)
		versus_pair(s);
}
