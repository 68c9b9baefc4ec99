/* SPDX-License-Identifier: MIT */
/* Facts of chains of ops that one kernel could do, from tl-roofline. */
#include "trace/stat.h"

#include "cmd/tl-advise/advise.h"

#define DIMS_MAX 40 /* bytes of shapes in a sentence */

void
fusion_take(struct advice *a, const struct line *l)
{
	vec_push(&a->chains,
	    ((struct chain){
		.label = arena_str(a->mem, budget_label(l)),
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
	int64_t n = late_sources(a);
	double saved_ns = c->saved_ns / (double)n;

	facts_pass(&f, a, c->ns);
	fact_put(&f, "chain", cell_text(c->names));
	/* longer lists of shapes say too little */
	if (c->dims.len <= DIMS_MAX)
		fact_put(&f, "input_dims", cell_text(c->dims));
	fact_put(&f, "part", cell_int((int64_t)number));
	fact_put(&f, "ops", cell_int(c->ops));
	put_mean(&f, "count", c->count, n);
	put_mean(&f, "kernels", c->kernels, n);
	late_put(&f, a);
	fact_put(&f, "ns", cell_int(c->ns / n));
	fact_put(&f, "saved_ns", cell_real(saved_ns));
	fact_share(
	    &f, "percent", (int64_t)(saved_ns * f.passes[MID]), a->total_ns);
	fact_put(&f, "uid", cell_text(c->uid));
	advice_take(a, &f, 1);
	vec_free(&f.list);
}

/* Sums chains over sources, at the place of the first. */
static void
join_chains(struct advice *a)
{
	struct map place_of = { 0 };
	struct chain *v = a->chains.v;
	size_t n = 0;

	for (size_t i = 0; i < a->chains.n; i++) {
		uint64_t *at;
		bool is_new;

		if (!late_counts(a, v[i].label))
			continue;
		at = map_put(&place_of,
		    hash_more(hash_bytes(v[i].names.p, v[i].names.len),
			hash_bytes(v[i].dims.p, v[i].dims.len)),
		    &is_new);
		if (is_new) {
			*at = n;
			v[n++] = v[i];
			continue;
		}
		stat_add(&v[*at].count, v[i].count);
		stat_add(&v[*at].kernels, v[i].kernels);
		stat_add(&v[*at].ns, v[i].ns);
		v[*at].saved_ns += v[i].saved_ns;
	}
	a->chains.n = n;
	map_free(&place_of);
}

void
fusion_advise(struct advice *a)
{
	join_chains(a);
	for (size_t i = 0; i < a->chains.n; i++)
		put_chain(a, &a->chains.v[i], i + 1);
}
