/* SPDX-License-Identifier: MIT */
/*
 * What is told about single ops: how the figures of one came about, which ones
 * have a model, and one op without a trace.
 */
#include <stdlib.h>

#include "cmd/tl-roofline/roof.h"
#include "json/json.h"

/* Names in traces are hostile: control characters become visible. */
static void
put_text(struct out *out, struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c < ' ' || c == 0x7f)
			out_printf(out, "\\x%02x", c);
		else
			out_write(out, s.p + i, 1);
	}
	out_write(out, "\n", 1);
}

static void
put_line(struct out *out, const char *key, struct str s)
{
	if (s.len == 0)
		return;
	out_printf(out, "%-16s ", key);
	put_text(out, s);
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
put_roofline(
    struct out *out, const struct roof_state *g, const struct model_result *r)
{
	struct roofline rf = roofline_of(g->arch, g->set->roof, r);

	if (g->arch == NULL) {
		put_line(out, "arch", STR("unknown, see --arch"));
		return;
	}
	out_printf(out, "%-16s %.*s, %s (%.*s)\n", "arch",
	    (int)g->arch->name.len, g->arch->name.p, roof_words[rf.roof],
	    (int)g->arch->file.len, g->arch->file.p);
	put_real(
	    out, "roof", arch_tflops(g->arch, rf.roof, r->spec), " TFLOP/s");
	put_real(out, "roof", arch_gbps(g->arch, g->set->roof), " GB/s");
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
put_result(
    struct out *out, const struct roof_state *g, const struct model_result *r)
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
	put_roofline(out, g, r);
}

void
explain_call(struct out *out, const struct roof_state *g, const struct call *c,
    const struct model *m)
{
	put_line(out, "op", strings_get(g->strings, c->name));
	out_printf(out, "%-16s %" PRIu64 "\n", "uid", c->uid.id);
	put_line(out, "category", strings_get(g->strings, c->category));
	put_line(out, "Input Dims", strings_get(g->strings, c->args.dims));
	put_line(out, "Input type", strings_get(g->strings, c->args.types));
	put_line(
	    out, "Concrete Inputs", strings_get(g->strings, c->args.concrete));
	put_model(out, m);
	if (c->forward != NO_INDEX)
		put_line(out, "backward of",
		    strings_get(g->strings, g->forwards.v[c->forward].name));
	if (c->res != NULL)
		put_result(out, g, c->res);
	for (uint32_t i = 0; i < c->nkernels; i++) {
		const struct work *w =
		    &g->works.v[g->lists.v[c->first_kernel + i]];
		struct str name = strings_get(g->strings, w->name);

		out_printf(out, "%-16s %" PRIu64 " %" PRId64 " ns ", "kernel",
		    w->uid.id, w->dur_ns);
		put_text(out, name);
	}
	put_real(out, "kernel time", (double)c->busy_ns / 1e3, " us");
	put_real(out, "rate", call_tflops(c), " TFLOP/s");
	put_real(out, "rate", call_tbs(c), " TB/s");
	put_real(out, "of the roofline", call_roof_pct(g, c), " %");
	put_real(out, "simulated", c->sim_us, " us");
	put_source(out, g, m);
}

/* The op in the unified table, else in a sheet, else the nearest above. */
void
explain_uid(const struct roof_state *g, const char *text)
{
	const char *colon = strchr(text, ':');
	const struct call *found = NULL;
	uint64_t id = 0, src = 0;
	struct out *out;

	if ((colon != NULL &&
		!num_u64((struct str){ text, (size_t)(colon - text) }, &src)) ||
	    !num_u64(str_of(colon != NULL ? colon + 1 : text), &id))
		die_usage(
		    "option '--explain' needs UID or SRC:UID, not '%s'", text);
	for (size_t i = 0; i < g->calls.n && found == NULL; i++) {
		const struct call *c = &g->calls.v[i];

		if (c->uid.id == id && c->origin == src)
			found = c;
	}
	if (found == NULL)
		die("%s: event %s is no op of a table: see the columns ex_uid",
		    g->origins.path, text);
	out = out_open(NULL);
	explain_call(
	    out, g, found, found->res != NULL ? found->res->model : NULL);
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

/* ---- one op ---- */

/* Short words for types, and how traces write them. */
static const struct {
	const char *word, *type;
} types[] = {
	{ "bf16", "c10::BFloat16" },
	{ "fp16", "c10::Half" },
	{ "fp32", "float" },
	{ "fp64", "double" },
	{ "fp8", "c10::Float8_e4m3fn" },
	{ "fp4", "c10::Float4_e2m1fn_x2" },
	{ "int8", "signed char" },
	{ "int32", "int" },
	{ "int64", "long int" },
};

static void
put_type(struct buf *b, struct str s)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (str_eq(s, str_of(types[i].word)))
			s = str_of(types[i].type);
	buf_puts(b, b->len == 0 ? "[" : ",");
	json_put_string(b, s);
}

/* One for each argument that has a shape, or a list; [] is no tensor. */
static void
put_types(struct buf *b, const char *text, const char *dims)
{
	bool is_list = strchr(text, ',') != NULL;
	int depth = 0;

	if (text[0] == '[') {
		buf_puts(b, text);
		return;
	}
	for (const char *p = text; is_list && p != NULL;) {
		const char *end = strchr(p, ',');

		put_type(b,
		    (struct str){
			p, end != NULL ? (size_t)(end - p) : strlen(p) });
		p = end != NULL ? end + 1 : NULL;
	}
	for (const char *p = dims; !is_list && *p != '\0'; p++) {
		if (*p == '[' && ++depth == 2)
			put_type(b, p[1] == ']' ? STR("Scalar") : str_of(text));
		if (*p == ']')
			depth--;
	}
	buf_puts(b, b->len == 0 ? "[]" : "]");
}

void
one_op(struct roof_state *g, const struct settings *set)
{
	struct model_op op = { .name = str_of(set->op) };
	const struct model *m = model_find(g->models, op.name);
	const struct model_result *r;
	struct buf t = { 0 };
	struct out *out;

	if (m == NULL)
		die_usage("there is no model of '%s': --list-models says "
			  "which there are",
		    set->op);
	if (set->dims == NULL)
		die_usage("option '--op' needs --dims");
	put_types(&t, set->types != NULL ? set->types : "float", set->dims);
	op.dims = str_of(set->dims);
	op.types = buf_str(&t);
	op.strides = str_of(set->strides != NULL ? set->strides : "");
	op.concrete = str_of(set->concrete != NULL ? set->concrete : "");
	r = model_eval(
	    g->models, m, &op, set->backward ? MODEL_BWD : MODEL_FWD);
	if (r->status != MODEL_OK)
		die("%s: %s: %.*s", set->op, model_status_words[r->status],
		    (int)r->reason.len, r->reason.p);
	out = out_open(NULL);
	put_line(out, "op", op.name);
	put_line(out, "Input Dims", op.dims);
	put_line(out, "Input type", op.types);
	put_model(out, m);
	put_result(out, g, r);
	put_real(out, "simulated",
	    sim_time(g->sim, g, r, op.name, set->backward), " us");
	put_source(out, g, m);
	out_finish(out);
	buf_free(&t);
}
