/* SPDX-License-Identifier: MIT */
/*
 * --arch-from-trace: what the best ops of the traces reach, as a file for
 * --arch. An op counts by the median of equal calls. If compute units bound it,
 * it gives their rate; if its operands fit no cache, the memory's bandwidth.
 * Above the peak some figure is wrong, far below it the op is slow: both are
 * discarded.
 */
#include "cmd/tl-roofline/roof.h"
#include "trace/stat.h"
#include "json/json.h"

#define CALLS_MIN 5       /* of equal ones */
#define TIME_MIN 20000    /* ns: the clock resolves it to 1 % and better */
#define SHARE_MIN 0.25    /* of the peak */
#define CACHES 4          /* bytes per largest cache */
#define CACHE_MIB 256     /* of an unknown GPU */
#define INTENSITY_MIN 500 /* FLOPs per byte, for an unknown GPU */
#define TIMES_RIDGE 2     /* of FLOPs per byte: compute-bound from there on */

/* The best op of a compute spec, or of the memory (spec: ""). */
struct best {
	struct str spec;
	const struct call *call;
	size_t ncalls;
	double rate; /* in 1e12 a second */
};
typedef VEC(struct best) best_list;

static void
offer(best_list *list, const struct best *b)
{
	size_t i = 0;

	while (i < list->n && !str_eq(list->v[i].spec, b->spec))
		i++;
	if (i == list->n)
		vec_push(list, *b);
	else if (b->rate > list->v[i].rate)
		list->v[i] = *b;
}

static bool
is_credible(double rate, double peak)
{
	return isnan(peak) || (rate <= peak && rate >= SHARE_MIN * peak);
}

static double
cache_bytes(const struct arch *a)
{
	double mib = arch_cache_mib(a);

	return (isnan(mib) ? CACHE_MIB : mib) * (1 << 20);
}

/* Calls with one result have equal arguments. */
static void
offer_calls(const struct roof_state *g, best_list *list,
    const struct call *first, size_t n, double seconds)
{
	const struct model_result *r = first->res;
	const struct arch *a = g->arch;
	double tb = a != NULL ? arch_gbps(a, ROOF_PEAK) / 1e3 : (double)NAN;
	double peak =
	    a != NULL ? arch_tflops(a, ROOF_PEAK, r->spec) : (double)NAN;
	struct best b = { r->spec, first, n, r->flops / seconds / 1e12 };
	/* unknown peak: a product with few operands counts as compute-bound */
	bool is_compute = isnan(peak)
	    ? str_starts(r->spec, STR("matrix_")) &&
		r->flops > INTENSITY_MIN * r->bytes
	    : r->flops / peak > TIMES_RIDGE * r->bytes / tb;

	if (r->flops > 0 && r->spec.len > 0 && is_compute &&
	    is_credible(b.rate, peak))
		offer(list, &b);
	b.spec = STR("");
	b.rate = r->bytes / seconds / 1e12;
	if (r->bytes > CACHES * cache_bytes(a) && is_credible(b.rate, tb))
		offer(list, &b);
}

static int
by_result(const void *x, const void *y)
{
	const struct call *const *a = x, *const *b = y;
	uint32_t p = (*a)->res->number, q = (*b)->res->number;

	if (p != q)
		return p < q ? -1 : 1;
	return ((*a)->busy_ns > (*b)->busy_ns) -
	    ((*a)->busy_ns < (*b)->busy_ns);
}

static void
find_best(const struct roof_state *g, best_list *list)
{
	VEC(const struct call *) calls = { 0 };
	size_t n;

	for (size_t i = 0; i < g->sink.records.n; i++) {
		const struct call *c = call_number(g, i);

		if (c->res != NULL && c->res->status == MODEL_OK)
			vec_push(&calls, c);
	}
	stable_sort(calls.v, calls.n, sizeof *calls.v, by_result);
	for (size_t i = 0; i < calls.n; i += n) {
		int64_t median_ns;

		for (n = 1;
		     i + n < calls.n && calls.v[i + n]->res == calls.v[i]->res;)
			n++;
		median_ns = calls.v[i + n / 2]->busy_ns;
		if (n >= CALLS_MIN && median_ns >= TIME_MIN)
			offer_calls(
			    g, list, calls.v[i], n, (double)median_ns / 1e9);
	}
	vec_free(&calls);
}

/* ---- the file ---- */

static void
put_number(struct buf *b, const char *key, double v)
{
	char text[NUM_DOUBLE_MAX];

	if (!isnan(v))
		buf_printf(b, "  \"%s\": %.*s,\n", key,
		    (int)num_put_double(text, v), text);
}

static void
put_peaks(struct buf *b, const struct arch *a)
{
	const char *before = "\n    ";
	char text[NUM_DOUBLE_MAX];

	buf_puts(b, "  \"peak_tflops\": {");
	for (size_t i = 0; a != NULL && i < a->nrates; i++) {
		if (isnan(a->rates[i].peak))
			continue;
		buf_puts(b, before);
		json_put_string(b, a->rates[i].spec);
		buf_printf(b, ": %.*s",
		    (int)num_put_double(text, a->rates[i].peak), text);
		before = ",\n    ";
	}
	buf_puts(b, "\n  },\n");
}

static void
put_rates(struct buf *b, const best_list *list)
{
	const char *before = "\n    ";

	buf_puts(b, "  \"max_achievable_tflops\": {");
	for (size_t i = 0; i < list->n; i++) {
		if (list->v[i].spec.len == 0)
			continue;
		buf_puts(b, before);
		json_put_string(b, list->v[i].spec);
		buf_printf(b, ": %.6g", list->v[i].rate);
		before = ",\n    ";
	}
	buf_puts(b, "\n  },\n");
}

/* "aten::mm [[4096,4096],[4096,4096]], median of 40 calls, 71.3 % of the peak"
 */
static void
put_source(struct buf *b, const struct roof_state *g, const struct best *o)
{
	struct str name = dict_get(g->sink.dict, o->call->name);
	struct str dims = dict_get(g->sink.dict, o->call->args.dims);
	bool is_memory = o->spec.len == 0;
	double peak = g->arch == NULL ? (double)NAN
	    : is_memory               ? arch_gbps(g->arch, ROOF_PEAK) / 1e3
			: arch_tflops(g->arch, ROOF_PEAK, o->spec);
	struct buf text = { 0 };

	buf_printf(&text, "%.*s %.*s, median of %zu calls", (int)name.len,
	    name.p, (int)dims.len, dims.p, o->ncalls);
	if (!isnan(peak))
		buf_printf(
		    &text, ", %.1f %% of the peak", o->rate / peak * 100);
	buf_puts(b, ",\n    ");
	if (is_memory)
		buf_puts(b, "\"max_achievable_mem_bw_gbps");
	else
		buf_printf(b, "\"max_achievable_tflops.%.*s", (int)o->spec.len,
		    o->spec.p);
	buf_puts(b, "\": ");
	json_put_string(b, buf_str(&text));
	buf_free(&text);
}

static void
put_file(struct buf *b, const struct roof_state *g, const best_list *list)
{
	const struct arch *a = g->arch;
	double gbps = NAN;
	struct buf name = { 0 };

	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].spec.len == 0)
			gbps = list->v[i].rate * 1e3;
	buf_printf(&name, "%.*s traced", a != NULL ? (int)a->name.len : 7,
	    a != NULL ? a->name.p : "unknown");
	buf_puts(b, "{\n  \"name\": ");
	json_put_string(b, buf_str(&name));
	buf_puts(b, ",\n");
	put_number(
	    b, "mem_bw_gbps", a != NULL ? arch_gbps(a, ROOF_PEAK) : gbps);
	put_number(b, "max_achievable_mem_bw_gbps", gbps);
	if (a != NULL) {
		put_number(b, "memory_gb", a->memory_gb);
		put_number(b, "num_cus", a->num_cus);
		put_number(b, "l2_mib", a->l2_mib);
		put_number(b, "last_level_mib", a->last_level_mib);
	}
	put_peaks(b, a);
	put_rates(b, list);
	buf_puts(b, "  \"sources\": {\n    \"mem_bw_gbps, peak_tflops\": ");
	json_put_string(b, a != NULL ? a->file : STR("unknown, see --arch"));
	for (size_t i = 0; i < list->n; i++)
		put_source(b, g, &list->v[i]);
	buf_puts(b, "\n  }\n}\n");
	buf_free(&name);
}

void
traced_print(struct sink *s, const struct sink_plan *p)
{
	struct roof_state *g = (struct roof_state *)s;
	best_list list = { 0 };
	struct buf b = { 0 };
	bool has_memory = g->arch != NULL;

	(void)p;
	find_best(g, &list);
	for (size_t i = 0; i < list.n; i++)
		has_memory |= list.v[i].spec.len == 0;
	if (list.n == 0 || !has_memory)
		die_nothing(MSG_NO_TRACED_ROOF, s->sources.path);
	put_file(&b, g, &list);
	s->dest.out = out_open(s->dest.path); /* the sink closes it */
	out_printf(s->dest.out, "%.*s", (int)b.len, b.p);
	buf_free(&b);
	vec_free(&list);
}
