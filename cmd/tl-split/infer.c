/* SPDX-License-Identifier: MIT */
/*
 * Iterations of a source that nobody annotated: what its calls repeat, as
 * tl-steps infers it. That takes all of its events, so its file is read twice.
 */
#include "cmd/tl-split/split.h"
#include "trace/host.h"

#define KINDS_OF_STEPS                                    \
	(KINDS_GPU | KINDS_HOST | KIND_BIT(KIND_PYTHON) | \
	    KIND_BIT(KIND_ANNOTATION) | KIND_BIT(KIND_OVERHEAD))

static void
read_source(struct host *h, const struct split *s)
{
	struct stream_in *in = stream_open(s->path, s->st, WANT_TREE);
	enum item item;

	in->is_told = true; /* by who reads it first */
	stream_only(in, KINDS_OF_STEPS);
	while ((item = stream_next(in)) != ITEM_END)
		if (item == ITEM_EVENT && in->ev.src == s->now.src)
			host_add(h, &in->ev);
	stream_close(in);
	host_ready(h);
}

void
cut_infer(struct split *s)
{
	struct causes *causes = causes_create();
	struct host host = { 0 };

	host_start(&host, s->st, causes);
	read_source(&host, s);
	steps_clear(&s->cut.steps);
	if (steps_infer(&s->cut.steps, &host))
		report(MSG_ITERATIONS_INFERRED, s->in->name, s->now.src,
		    s->cut.steps.list.n);
	else
		steps_clear(&s->cut.steps);
	host_free(&host);
	causes_destroy(causes);
}
