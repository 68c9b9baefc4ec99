/* SPDX-License-Identifier: MIT */
/* Facts of chains of ops that one kernel could do, as tl-roofline has them. */
#include "trace/stat.h"

#include "cmd/tl-advise/advise.h"

#define DIMS_MAX 40 /* bytes of shapes in a sentence */

void
fusion_take(struct advice *a, const struct line *l)
{
	vec_push(&a->chains,
	    ((struct chain){
		.names = arena_str(a->mem, line_text(l, "chain")),
		.dims = arena_str(a->mem, line_text(l, "input_dims")),
		.uid = arena_str(a->mem, line_text(l, "first_uid")),
		.ops = line_int(l, "ops"),
		.count = line_int(l, "count"),
		.kernels = line_int(l, "kernels"),
		.ns = line_int(l, "kernel_ns_sum"),
		.saved_ns = line_real(l, "saved_ns_sum"),
	    }));
}

static void
put_chain(struct advice *a, const struct chain *c, size_t number)
{
	struct facts f = facts_made(a, "fusion");
	double saved_ns = c->saved_ns / (double)a->nsources;

	facts_pass(&f, a, c->ns);
	fact_put(&f, "chain", cell_text(c->names));
	/* of lists of tensors they say less than they take up */
	if (c->dims.len <= DIMS_MAX)
		fact_put(&f, "input_dims", cell_text(c->dims));
	fact_put(&f, "part", cell_int((int64_t)number));
	fact_put(&f, "ops", cell_int(c->ops));
	fact_put(&f, "count", cell_int(c->count));
	fact_put(&f, "kernels", cell_int(c->kernels));
	fact_put(&f, "ns", cell_int(c->ns / a->nsources));
	fact_put(&f, "saved_ns", cell_real(saved_ns));
	fact_share(
	    &f, "percent", (int64_t)(saved_ns * f.passes[MID]), a->total_ns);
	fact_put(&f, "uid", cell_text(c->uid));
	advice_take(a, &f, 1);
	vec_free(&f.list);
}

void
fusion_advise(struct advice *a)
{
	for (size_t i = 0; i < a->chains.n; i++)
		put_chain(a, &a->chains.v[i], i + 1);
}
