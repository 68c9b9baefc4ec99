/* SPDX-License-Identifier: MIT */
/* Each trace becomes a tree, as many at a time as there are processors. */
#include "stream/stream.h"

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
	args_add(&argv, "-o");
	args_add(&argv, tree);
	args_add(&argv, "--");
	args_add(&argv, trace);
	(void)job_start_with(j, &argv, &how);
	vec_free(&argv.v);
}

/* Whether the host's ops are in it, and who recorded it. */
static void
look(const char *path, bool *has_ops, bool *is_rocprof)
{
	struct stream_in *in = stream_open(path, NULL, WANT_STREAM);
	enum item item;

	stream_only(in, KIND_BIT(KIND_OP));
	while ((item = stream_next(in)) != ITEM_END) {
		const struct fact *f;

		if (item == ITEM_EVENT && in->ev.shape->kind == KIND_OP) {
			*has_ops = true;
			break;
		}
		if (item != ITEM_SOURCE)
			continue;
		f = source_fact(&in->source, "format");
		if (f != NULL && str_eq(f->val.s, STR("rocprofv3")))
			*is_rocprof = true;
	}
	stream_close(in);
}

void
trees_make(struct settings *s, struct jobs *j)
{
	size_t ncpus = (size_t)sys_cpus();
	bool other_is_rocprof = false;

	for (size_t i = 0; i < s->traces.v.n; i++)
		args_add(&s->trees, text("%s/t%zu.tl", s->tmp, i + 1));
	for (size_t i = 0; i < s->traces.v.n; i++) {
		job_wait(j, ncpus);
		start_one(j, s->traces.v.v[i], s->capture, s->trees.v.v[i]);
	}
	if (s->vs != NULL) {
		s->other = text("%s/t%zu.tl", s->tmp, s->traces.v.n + 1);
		job_wait(j, ncpus);
		start_one(j, s->vs, s->vs_capture, s->other);
	}
	job_finish(j, true);
	if (job_failed(j)) {
		j->status = EXIT_NO_ANSWER;
		job_fail(j);
	}
	for (size_t i = 0; i < s->trees.v.n && !s->has_ops; i++)
		look(s->trees.v.v[i], &s->has_ops, &s->is_rocprof);
	if (s->other != NULL)
		look(s->other, &s->other_has_ops, &other_is_rocprof);
	s->is_rocprof = s->is_rocprof && !s->has_ops;
}
