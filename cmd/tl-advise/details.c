/* SPDX-License-Identifier: MIT */
/*
 * Facts of single ops with parameters, of layout kernels in convolutions, and
 * of paged attention's cache.
 */
#include <math.h>

#include "trace/stat.h"

#include "cmd/tl-advise/advise.h"

#define SHOWN_PERCENT 5 /* of all time: else no finding of its own */

static bool
has_any(struct str name, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_find(name, str_of(words[i]), true) >= 0)
			return true;
	return false;
}
#define HAS_ANY(name, words) has_any(name, words, sizeof words / sizeof *words)

/* ---- layouts ---- */

static const char *const layouts[] = { "batched_transpose", "nchw2nhwc",
	"nhwc2nchw", "nchwtonhwc", "nhwctonchw", "transpose_nchw",
	"transpose_cnhw" };

/* Time of a convolution's kernels that only change the layout. */
static void
take_layouts(struct advice *a, struct str kernels, struct op_row *o)
{
	json_items list = { 0 }, one = { 0 };
	double us;

	if (!json_split(&list, a->mem, kernels))
		list.n = 0;
	for (size_t i = 0; i < list.n; i++) {
		struct str name;
		int64_t ns;

		if (!json_split(&one, a->mem, list.v[i].text))
			continue;
		name = json_member_text(&one, STR("name"));
		if (!HAS_ANY(name, layouts) ||
		    !num_double(
			json_member_text(&one, STR("total_duration_us")), &us))
			continue;
		ns = us > 0 && us < 9e15 ? (int64_t)llround(us * 1e3) : 0;
		stat_add(&o->layout_ns, ns);
		if (ns <= o->layout_most_ns)
			continue;
		o->layout_most_ns = ns;
		o->layout = arena_str(a->mem, name);
	}
	vec_free(&list);
	vec_free(&one);
}

static void
put_layouts(struct advice *a)
{
	const struct op_row *most = NULL;
	int64_t ns = 0, all_ns = 0, n = late_sources(a);
	struct facts f;

	for (size_t i = 0; i < a->ops.n; i++) {
		const struct op_row *o = &a->ops.v[i];

		if (!str_starts(o->category, STR("CONV")) ||
		    !late_counts(a, o->label))
			continue;
		stat_add(&all_ns, o->ns);
		stat_add(&ns, o->layout_ns);
		if (most == NULL || o->layout_most_ns > most->layout_most_ns)
			most = o;
	}
	if (ns == 0)
		return;
	f = facts_made(a, "layout");
	facts_pass(&f, a, ns);
	late_put(&f, a);
	fact_put(&f, "ns", cell_int(ns / n));
	fact_put(&f, "all_ns", cell_int(all_ns / n));
	fact_share(&f, "percent", ns, all_ns);
	fact_put(&f, "name", cell_text(most->layout));
	fact_put(&f, "uid", cell_text(most->uid));
	advice_take(a, &f, 1);
	vec_free(&f.list);
}

/* ---- paged attention ---- */

void
details_take_kernel(struct advice *a, struct str name, int64_t ns)
{
	static const char *const cache[] = { "reshape_and_cache" };
	static const char *const paged[] = { "paged_attention",
		"pagedattention", "unified_attention" };

	if (HAS_ANY(name, cache))
		stat_add(&a->paged.cache_ns, ns);
	else if (HAS_ANY(name, paged))
		stat_add(&a->paged.ns, ns);
}

static void
put_paged(struct advice *a)
{
	struct facts f;

	if (a->paged.ns == 0)
		return;
	f = facts_made(a, "paged_attention");
	fact_put(&f, "ns", cell_int(a->paged.ns / a->nsources));
	fact_put(&f, "cache_ns", cell_int(a->paged.cache_ns / a->nsources));
	fact_share(&f, "cache_percent", a->paged.cache_ns,
	    a->paged.cache_ns + a->paged.ns);
	advice_take(a, &f, 1);
	vec_free(&f.list);
}

/* ---- single ops ---- */

void
details_take_op(struct advice *a, struct op_row *o, const struct line *l)
{
	o->params = arena_str(a->mem, line_text(l, "perf_params"));
	if (str_starts(o->category, STR("CONV")))
		take_layouts(a, line_text(l, "kernel_details_summary"), o);
}

/* Parameters such as "N_Q": numbers, or text. */
static void
put_params(struct facts *f, const json_items *params)
{
	int64_t n;

	for (size_t i = 0; i + 1 < params->n; i += 2) {
		const struct json_item *v = &params->v[i + 1];
		struct cell c = cell_text(v->text);

		if (v->type == JSON_T_NUMBER && num_i64(v->text, &n))
			c = cell_int(n);
		vec_push(&f->list, ((struct field){ params->v[i].text, c }));
	}
}

static void
put_op(struct advice *a, const struct op_row *o)
{
	struct facts f = facts_made(a, "op");
	json_items params = { 0 };

	late_put_one(&f, a, o->label);
	fact_put(&f, "name", cell_text(o->name));
	fact_put(&f, "category", cell_text(o->category));
	fact_put(&f, "args", cell_text(o->args));
	fact_put(&f, "kernel", cell_text(o->kernel));
	fact_put(&f, "library", cell_text(o->library));
	fact_put(&f, "bound", cell_text(o->bound));
	fact_put(&f, "roof", cell_text(o->roof));
	fact_put(&f, "ns", cell_int(o->ns));
	fact_put(&f, "calls", cell_int(o->count));
	fact_put(&f, "uid", cell_text(o->uid));
	if (o->reached >= 0)
		fact_put(&f, "pct_roof", cell_real(o->reached));
	if (json_split(&params, a->mem, o->params))
		put_params(&f, &params);
	advice_take(a, &f, 1);
	vec_free(&f.list);
	vec_free(&params);
}

void
details_advise(struct advice *a)
{
	for (size_t i = 0; i < a->ops.n; i++) {
		const struct op_row *o = &a->ops.v[i];

		if (o->is_shown &&
		    advice_share(o->ns, a->total_ns) >= SHOWN_PERCENT)
			put_op(a, o);
	}
	put_layouts(a);
	put_paged(a);
}
