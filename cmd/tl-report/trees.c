/* SPDX-License-Identifier: MIT */
/* Each trace becomes a tree, as many at a time as there are processors. */
#include "stream/stream.h"

#include "cmd/tl-report/report.h"

static void
start_one(struct settings *s, struct jobs *j, size_t i)
{
	const char *trace = s->traces.v.v[i];
	struct job how = { .trace = trace,
		.gets_stdin = strcmp(trace, "-") == 0 };
	struct args argv = { 0 };

	args_add(&argv, s->capture != NULL ? "tl-graft" : "tl-tree");
	if (s->capture != NULL)
		args_add(&argv, text("--capture=%s", s->capture));
	args_add(&argv, "-o");
	args_add(&argv, s->trees.v.v[i]);
	args_add(&argv, "--");
	args_add(&argv, trace);
	(void)job_start_with(j, &argv, &how);
	vec_free(&argv.v);
}

/* Whether the host's ops are in it, and who recorded it. */
static void
look(struct settings *s, const char *path)
{
	struct stream_in *in = stream_open(path, NULL, WANT_STREAM);
	enum item item;

	stream_only(in, KIND_BIT(KIND_OP));
	while ((item = stream_next(in)) != ITEM_END) {
		const struct fact *f;

		if (item == ITEM_EVENT && in->ev.shape->kind == KIND_OP) {
			s->has_ops = true;
			break;
		}
		if (item != ITEM_SOURCE)
			continue;
		f = source_fact(&in->source, "format");
		if (f != NULL && str_eq(f->val.s, STR("rocprofv3")))
			s->is_rocprof = true;
	}
	stream_close(in);
}

void
trees_make(struct settings *s, struct jobs *j)
{
	size_t ncpus = (size_t)sys_cpus();

	for (size_t i = 0; i < s->traces.v.n; i++)
		args_add(&s->trees, text("%s/t%zu.tl", s->tmp, i + 1));
	for (size_t i = 0; i < s->traces.v.n; i++) {
		job_wait(j, ncpus);
		start_one(s, j, i);
	}
	job_finish(j, true);
	if (job_failed(j)) {
		j->status = EXIT_NO_ANSWER;
		job_fail(j);
	}
	for (size_t i = 0; i < s->trees.v.n && !s->has_ops; i++)
		look(s, s->trees.v.v[i]);
	s->is_rocprof = s->is_rocprof && !s->has_ops;
}
