/* SPDX-License-Identifier: MIT */
/*
 * --explain: how the figures of an op came about, with a trace or without;
 * --list-models and --list-archs.
 */
#include "cmd/tl-roofline/roof.h"

/* Names in traces are hostile: control characters become visible. */
static void
put_line(struct out *out, const char *key, struct str s)
{
	struct buf b = { 0 };

	if (s.len == 0)
		return;
	text_visible(s, &b);
	out_printf(out, "%-16s %.*s\n", key, (int)b.len, b.p);
	buf_free(&b);
}

static void
put_real(struct out *out, const char *key, double v, const char *unit)
{
	char text[NUM_DOUBLE_MAX];

	if (isnan(v))
		return;
	out_printf(out, "%-16s %.*s%s\n", key, (int)num_put_double(text, v),
	    text, unit);
}

static void
put_roofline(struct out *out, const struct roof_state *g,
    const struct model_result *r, bool is_over_link)
{
	struct roofline rf = roofline_of(g->arch, g->roof, r);

	if (g->arch == NULL) {
		put_line(out, "arch", STR("unknown, see --arch"));
		return;
	}
	out_printf(out, "%-16s %.*s, %s (%.*s)\n", "arch",
	    (int)g->arch->name.len, g->arch->name.p, roof_words[rf.roof],
	    (int)g->arch->file.len, g->arch->file.p);
	if (is_over_link && rf.bound != BOUND_NONE)
		put_line(out, "bound",
		    STR("LINK_BOUND: copies between host and GPU, at a rate "
			"that no trace gives"));
	if (is_over_link)
		return;
	put_real(out, "roof", rf.tflops, " TFLOP/s");
	put_real(out, "roof", arch_gbps(g->arch, g->roof),
	    arch_has_gbps(g->arch, g->roof) ? " GB/s" : " GB/s, peak");
	put_real(out, "compute", rf.compute_us, " us");
	put_real(out, "memory", rf.memory_us, " us");
	put_real(out, "roofline", rf.time_us, " us");
	put_line(out, "bound", str_of(bound_words[rf.bound]));
}

static void
put_model(struct out *out, const struct model *m)
{
	if (m == NULL) {
		put_line(out, "model", STR("none"));
		return;
	}
	put_line(out, "model", m->where);
	put_line(out, "sheet", m->sheet);
}

static void
put_source(struct out *out, const struct roof_state *g, const struct model *m)
{
	struct str s;

	if (m == NULL)
		return;
	s = model_source(g->models, m);
	if (s.len > 0)
		out_printf(out, "formula:\n%.*s\n", (int)s.len, s.p);
}

static void
put_result(struct out *out, const struct roof_state *g,
    const struct model_result *r, bool is_over_link)
{
	struct buf b = { 0 };

	put_line(out, "status", str_of(model_status_words[r->status]));
	put_line(out, "reason", r->reason);
	model_params_json(&b, r);
	put_line(out, "parameters", buf_str(&b));
	buf_free(&b);
	if (r->status != MODEL_OK)
		return;
	put_real(out, "flops", r->flops, "");
	put_real(out, "bytes", r->bytes, "");
	if (r->bytes > 0)
		put_real(out, "flops/byte", r->flops / r->bytes, "");
	put_line(out, "compute spec", r->spec);
	put_roofline(out, g, r, is_over_link);
}

static void
explain_call(struct out *out, struct roof_state *g, const struct call *c)
{
	const struct model *m = c->res != NULL ? c->res->model : NULL;
	const struct dict *st = g->sink.dict;
	struct buf b = { 0 };
	char uid[UID_MAX];

	put_line(out, "op", dict_get(st, c->name));
	put_line(out, "uid", (struct str){ uid, uid_put(uid, c->rec.uid) });
	put_line(out, "category", dict_get(st, c->category));
	put_line(out, "Input Dims", dict_get(st, c->args.dims));
	put_line(out, "Input type", dict_get(st, c->args.types));
	put_line(out, "Concrete Inputs", dict_get(st, c->args.concrete));
	put_model(out, m);
	if (c->forward != NO_INDEX)
		put_line(out, "backward of",
		    dict_get(st, g->forwards.v[c->forward].name));
	if (c->res != NULL)
		put_result(out, g, c->res, c->is_over_link);
	for (uint32_t i = 0; i < c->nkernels; i++) {
		const struct work *w =
		    &g->works.v[g->lists.v[c->first_kernel + i]];

		b.len = 0;
		buf_printf(
		    &b, "%" PRIu64 " %" PRId64 " ns ", w->uid.id, w->dur_ns);
		buf_put(&b, dict_get(st, w->name).p, dict_get(st, w->name).len);
		put_line(out, "kernel", buf_str(&b));
	}
	buf_free(&b);
	put_real(out, "kernel time", (double)c->busy_ns / 1e3, " us");
	put_real(out, "rate", call_tflops(&g->sink, c), " TFLOP/s");
	put_real(out, "rate", call_tbs(&g->sink, c), " TB/s");
	put_real(out, "of the roofline", call_pct(c, call_roof_us(g, c)), " %");
	put_source(out, g, m);
}

/* The op in the unified table, else in a sheet, else the nearest op above. */
void
explain_print(struct sink *s, const struct sink_plan *p)
{
	struct roof_state *g = (struct roof_state *)s;
	const struct call *found = NULL;
	char text[UID_MAX];
	struct out *out;

	(void)p;
	for (size_t i = 0; i < s->records.n && found == NULL; i++) {
		const struct call *c = call_number(g, i);

		if (uid_is_picked(&g->explain, c->rec.source, c->rec.uid))
			found = c;
	}
	if (found == NULL)
		die("%s: event %.*s is not an op of a table: see column "
		    "first_uid",
		    s->sources.path, (int)uid_put(text, g->explain.uid), text);
	out = out_open(NULL);
	explain_call(out, g, found);
	out_finish(out);
}

void
explain_op(const struct roof_state *g, const struct model_op *op,
    const struct model_result *r)
{
	struct out *out = out_open(NULL);

	put_line(out, "op", op->name);
	put_line(out, "Input Dims", op->dims);
	put_line(out, "Input type", op->types);
	put_model(out, r->model);
	put_result(out, g, r, false);
	put_source(out, g, r->model);
	out_finish(out);
}

void
models_list(const struct roof_state *g)
{
	struct out *out = out_open(NULL);

	out_printf(out, "name\tcategory\tsheet\twhere\n");
	for (size_t i = 0; i < models_count(g->models); i++) {
		struct str name;
		const struct model *m = models_name(g->models, i, &name);

		out_printf(out, "%.*s\t%.*s\t%.*s\t%.*s\n", (int)name.len,
		    name.p, (int)m->category.len, m->category.p,
		    (int)m->sheet.len, m->sheet.p, (int)m->where.len,
		    m->where.p);
	}
	out_finish(out);
}

static void
put_figure(struct out *out, double v)
{
	if (isnan(v))
		out_puts(out, "\t");
	else
		out_printf(out, "\t%.6g", v);
}

void
archs_list(const struct roof_state *g)
{
	const struct arch *const *list;
	size_t n = arch_list(g->models, &list);
	struct out *out = out_open(NULL);

	out_puts(out, "name\tmem_gb_s\tmatrix_bf16_tflops\twhere\n");
	for (size_t i = 0; i < n; i++) {
		const struct arch *a = list[i];

		out_printf(out, "%.*s", (int)a->name.len, a->name.p);
		put_figure(out, arch_gbps(a, ROOF_PEAK));
		put_figure(out, arch_tflops(a, ROOF_PEAK, STR("matrix_bf16")));
		out_printf(out, "\t%.*s\n", (int)a->file.len, a->file.p);
	}
	out_finish(out);
}
