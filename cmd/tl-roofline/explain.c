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
	put_real(out, "roof", arch_gbps(g->arch, g->set->roof),
	    arch_has_gbps(g->arch, g->set->roof) ? " GB/s" : " GB/s, peak");
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

static void
explain_call(struct out *out, const struct roof_state *g, const struct call *c,
    const struct model *m)
{
	char uid[UID_MAX];

	put_line(out, "op", strings_get(g->strings, c->name));
	put_line(out, "uid", (struct str){ uid, uid_put(uid, c->uid) });
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
	put_real(
	    out, "of the roofline", call_roof_pct(c, call_roof_us(g, c)), " %");
	put_real(out, "simulated", c->sim_us, " us");
	put_source(out, g, m);
}

/* The op in the unified table, else in a sheet, else the nearest above. */
void
explain_uid(const struct roof_state *g, const struct uid_pick *uid)
{
	const struct call *found = NULL;
	char text[UID_MAX];
	struct out *out;

	for (size_t i = 0; i < g->calls.n && found == NULL; i++) {
		const struct call *c = &g->calls.v[i];

		if (uid_is_picked(uid, c->source, c->uid))
			found = c;
	}
	if (found == NULL)
		die("%s: event %.*s is no op of a table: see the columns "
		    "ex_uid",
		    g->sources.path, (int)uid_put(text, uid->uid), text);
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

static struct str
type_of(struct str s)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (str_eq(s, str_of(types[i].word)))
			return str_of(types[i].type);
	return s;
}

static void
put_type(struct buf *b, struct str s)
{
	buf_puts(b, b->len == 0 ? "[" : ",");
	json_put_string(b, type_of(s));
}

void
op_types(struct buf *b, struct str text, struct str dims)
{
	bool is_list = str_find(text, STR(","), false) >= 0;
	int depth = 0;

	if (text.len > 0 && text.p[0] == '[') {
		buf_put(b, text.p, text.len);
		return;
	}
	for (size_t i = 0; is_list && i <= text.len; i++) {
		size_t from = i;

		while (i < text.len && text.p[i] != ',')
			i++;
		put_type(b, (struct str){ text.p + from, i - from });
	}
	for (size_t i = 0; !is_list && i < dims.len; i++) {
		if (dims.p[i] == '[' && ++depth == 2)
			put_type(b,
			    i + 1 < dims.len && dims.p[i + 1] == ']'
				? STR("Scalar")
				: text);
		if (dims.p[i] == ']')
			depth--;
	}
	buf_puts(b, b->len == 0 ? "[]" : "]");
}

/* What an option of --op says, as JSON without spaces; the text is kept. */
static struct str
json_of(struct buf *b, const char *option, const char *text)
{
	struct buf padded = { 0 };
	const char *error;
	size_t at;

	if (text == NULL)
		return STR("");
	buf_puts(&padded, text);
	for (size_t i = 0; i < IN_PAD; i++)
		buf_putc(&padded, '\0');
	if (!json_minify(
		(struct str){ padded.p, strlen(text) }, 0, b, &error, &at))
		die_usage("option '--%s': byte %zu: %s", option, at, error);
	buf_free(&padded);
	return buf_str(b);
}

/* A type of one's own is declared in a file of models. */
static void
check_type(struct models *ms, const char *word)
{
	struct str s = str_of(word);

	if (word[0] == '[' || str_find(s, STR(","), false) >= 0)
		return;
	if (!models_know_type(ms, type_of(s)))
		die_usage("option '--dtype' needs a type such as bf16, fp16, "
			  "fp8 or int8, not '%s'",
		    word);
}

void
one_op(struct roof_state *g, const struct settings *set)
{
	struct model_op op = { .name = str_of(set->op) };
	const struct model *m = model_find(g->models, op.name);
	const struct model_result *r;
	struct buf t = { 0 }, dims = { 0 }, strides = { 0 }, args = { 0 };
	struct out *out;

	if (m == NULL)
		die_usage("there is no model of '%s': --list-models says "
			  "which there are",
		    set->op);
	if (set->dims == NULL)
		die_usage("option '--op' needs --dims");
	if (set->types != NULL)
		check_type(g->models, set->types);
	op.dims = json_of(&dims, "dims", set->dims);
	op.strides = json_of(&strides, "strides", set->strides);
	op.concrete = set->concrete != NULL
	    ? json_of(&args, "args", set->concrete)
	    : STR("[]"); /* the defaults, not lost */
	op_types(
	    &t, str_of(set->types != NULL ? set->types : "float"), op.dims);
	op.types = buf_str(&t);
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
	buf_free(&dims);
	buf_free(&strides);
	buf_free(&args);
}
