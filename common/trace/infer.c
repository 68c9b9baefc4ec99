/* SPDX-License-Identifier: MIT */
/* Steps as repetitions of launches. */
#include "trace/infer.h"

/* A step begins where the call before its first one ends. */
static int64_t
border(const struct infer *f, size_t at)
{
	const struct repeat_event *v = f->calls.v;
	int64_t start;

	if (at == f->calls.n)
		return v[at - 1].end_ns;
	start = v[at].start_ns;
	return at > 0 && v[at - 1].end_ns < start ? v[at - 1].end_ns : start;
}

/* False: two begin at once, as with all work of one graph. */
static bool
take_repeats(struct infer *f, const struct repeats *r)
{
	f->length = r->length;
	f->thread = f->calls.v[r->at.v[0]].event;
	for (size_t i = 0; i + 1 < r->at.n; i++) {
		struct span step = { border(f, r->at.v[i]),
			border(f, r->at.v[i + 1]) };

		if (step.start >= step.end)
			return false;
		vec_push(&f->steps, step);
	}
	return true;
}

bool
infer_steps(struct infer *f)
{
	struct repeats r = { 0 };
	bool found;

	repeat_events_sort(f->calls.v, f->calls.n);
	f->steps.n = 0;
	f->by_optimizer = infer_by_optimizer(f);
	found = f->by_optimizer ||
	    (repeats_find(&r, f->calls.v, f->calls.n) && take_repeats(f, &r));
	repeats_free(&r);
	return found;
}

void
infer_free(struct infer *f)
{
	vec_free(&f->calls);
	vec_free(&f->optimizers);
	vec_free(&f->first_ns);
	vec_free(&f->steps);
}
