/* SPDX-License-Identifier: MIT */
/*
 * Facts of a comparison: the gain is what the op takes less in the other trace.
 */
#include <math.h>

#include "cmd/tl-advise/advise.h"

void
change_take(struct advice *a, const struct line *l)
{
	const struct val *noise = line_cell(l, "is_noise");
	int64_t diff_ns = line_int(l, "diff_ns");

	if (diff_ns == 0 || (noise->type == VAL_BOOL && noise->yes))
		return;
	vec_push(&a->changes,
	    ((struct change){
		.name = arena_str(a->mem, line_text(l, "name")),
		.dims = arena_str(a->mem, line_text(l, "input_dims")),
		.before_ns = line_int(l, "before_ns"),
		.after_ns = line_int(l, "after_ns"),
		.count_before = line_int(l, "count_before"),
		.count_after = line_int(l, "count_after"),
		.is_beyond_noise = noise->type == VAL_BOOL,
	    }));
}

static void
put_change(struct advice *a, const struct change *c, size_t number)
{
	struct facts f = facts_made(a, "change");
	int64_t less_ns = (c->before_ns - c->after_ns) / a->nsources;

	facts_pass(&f, a, c->before_ns);
	fact_put(&f, "name", cell_text(c->name));
	fact_put(&f, "input_dims", cell_text(c->dims));
	fact_put(&f, "part", cell_int((int64_t)number));
	fact_put(&f, "before_ns", cell_int(c->before_ns / a->nsources));
	fact_put(&f, "after_ns", cell_int(c->after_ns / a->nsources));
	fact_put(&f, "sources", cell_int(a->nsources));
	put_mean(&f, "count_before", c->count_before, a->nsources);
	put_mean(&f, "count_after", c->count_after, a->nsources);
	fact_put(
	    &f, "same_calls", cell_bool(c->count_before == c->count_after));
	if (less_ns > 0)
		fact_put(&f, "less_ns", cell_int(less_ns));
	else
		fact_put(&f, "more_ns", cell_int(-less_ns));
	fact_share(&f, "percent",
	    (int64_t)(fabs((double)less_ns) * f.passes[MID]), a->total_ns);
	fact_put(&f, "confidence",
	    cell_text(c->is_beyond_noise ? STR("high") : STR("medium")));
	advice_take(a, &f, 1);
	vec_free(&f.list);
}

void
change_advise(struct advice *a)
{
	for (size_t i = 0; i < a->changes.n; i++)
		put_change(a, &a->changes.v[i], i + 1);
}
