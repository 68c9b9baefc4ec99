/* SPDX-License-Identifier: MIT */
/*
 * Figures of one call. The order of operations is that of TraceLens, whose last
 * digits depend on it: GFLOPS first.
 */
#include "cmd/tl-roofline/roof.h"
#include "trace/stat.h"

bool
is_backward_op(const struct model *m, struct str name)
{
	/* a model that only we have: its category's name tells, if any */
	return str_ends(m->category, STR("_bwd")) ||
	    (m->is_extra && str_ends(name, STR("_backward")));
}

/* NAN without a result. */
double
call_gflops(const struct call *c)
{
	return c->res != NULL ? c->res->flops / 1e9 : NAN;
}

double
call_bytes(const struct call *c)
{
	return c->res != NULL ? c->res->bytes : NAN;
}

static double
seconds(const struct call *c)
{
	return c->busy_ns > 0 ? (double)c->busy_ns / 1e3 / 1e6 : NAN;
}

double
call_tflops(const struct sink *s, const void *call)
{
	(void)s;
	return call_gflops(call) / 1e3 / seconds(call);
}

double
call_tbs(const struct sink *s, const void *call)
{
	(void)s;
	return call_bytes(call) / 1e12 / seconds(call);
}

void
call_set_link(const struct roof_state *g, struct call *c)
{
	int64_t link_ns = 0, rest_ns = 0;
	bool any = false;

	for (uint32_t i = 0; i < c->nkernels; i++) {
		const struct work *w =
		    &g->works.v[g->lists.v[c->first_kernel + i]];

		any |= w->is_over_link;
		stat_add(w->is_over_link ? &link_ns : &rest_ns, w->dur_ns);
	}
	c->is_over_link = any && link_ns >= rest_ns;
}

/* Calls of a row share one result, or a few. */
double
call_roof_us(struct roof_state *g, const struct call *c)
{
	if (c->res == NULL || c->is_over_link)
		return NAN;
	if (c->res != g->roof_of)
		g->roof_us = roofline_of(g->arch, g->roof, c->res).time_us;
	g->roof_of = c->res;
	return g->roof_us;
}

double
call_pct(const struct call *c, double us)
{
	return c->busy_ns == 0 ? NAN : us / ((double)c->busy_ns / 1e3) * 100;
}

/*
 * Models count a convolution's direct sum. Winograd's F(4x4, 3x3) has 36
 * products where that has 144.
 */
#define WINOGRAD_FEWER 4

/* The time of Winograd kernels. */
static double
winograd_ns(const struct roof_state *g, const struct call *c)
{
	double ns = 0;

	for (uint32_t i = 0; i < c->nkernels; i++) {
		const struct work *w =
		    &g->works.v[g->lists.v[c->first_kernel + i]];

		if (str_find(dict_get(g->sink.dict, w->name), STR("winograd"),
			true) >= 0)
			ns += (double)w->dur_ns;
	}
	return ns;
}

enum above
call_above(struct roof_state *g, const struct call *c)
{
	double roof_ns = call_roof_us(g, c) * 1e3, cache, most_ns;
	struct roofline rf;

	if (c->busy_ns == 0 || !(roof_ns > (double)c->busy_ns))
		return ABOVE_NOT;
	most_ns = (double)(c->busy_ns +
	    (int64_t)(g->ticks.v[c->rec.source] * c->nkernels));
	if (roof_ns <= most_ns)
		return ABOVE_CLOCK;
	/* what a cache holds need not be read from, or written to, memory */
	rf = roofline_of(g->arch, g->roof, c->res);
	cache = arch_cache_mib(g->arch) * 1048576 / call_bytes(c);
	if (rf.memory_us * 1e3 > most_ns &&
	    !(rf.memory_us * 1e3 * (1 - cache) <= most_ns))
		return ABOVE_UNKNOWN;
	if (!(rf.compute_us * 1e3 > most_ns))
		return ABOVE_CACHE;
	most_ns += (WINOGRAD_FEWER - 1) * winograd_ns(g, c);
	return rf.compute_us * 1e3 <= most_ns ? ABOVE_FEWER : ABOVE_UNKNOWN;
}

struct str
call_reason(const struct call *c)
{
	if (c->res == NULL)
		return c->has_model
		    ? STR("one of several kernels of an op with a model")
		    : STR("no model");
	if (c->res->status == MODEL_OK)
		return types_lack(&c->args) && !(call_bytes(c) >= 0)
		    ? STR("no types recorded: see --dtype")
		    : (struct str){ "", 0 };
	if (c->res->reason.len > 0)
		return c->res->reason;
	return str_of(model_status_words[c->res->status]);
}
