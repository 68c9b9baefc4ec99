/* SPDX-License-Identifier: MIT */
/*
 * Ops without a trace: --op is a name, or JSON; "-" reads JSON from standard
 * input, one per line. JSON is an event of tl-cat ("name", "args"), or has the
 * short words of a model's examples. One op is explained; of "-" the answers
 * are the rows of a table, in order.
 */
#include <stdlib.h>

#include "cmd/tl-roofline/roof.h"
#include "reader/reader.h"
#include "json/json.h"

enum list { L_DIMS, L_TYPES, L_STRIDES, L_VALUES, L_LISTS };

/* An op that is asked about. Its texts live in mem. */
struct asked {
	const char *error;
	size_t at; /* the byte where a list is wrong */
	struct arena *mem;
	struct str name, lists[L_LISTS], annotation, hlo;
	bool backward, is_event;
	VEC(struct str) kernels;
	json_items more; /* further arguments: keys and values */
};

static void
refuse(struct asked *a, const char *error)
{
	if (a->error == NULL)
		a->error = error;
}

/* ---- JSON ---- */

/* The list without spaces. */
static struct str
minified(struct asked *a, struct str list)
{
	char *padded = arena_alloc(a->mem, list.len + IN_PAD);
	struct buf b = { 0 };
	const char *error;

	memcpy(padded, list.p, list.len);
	memset(padded + list.len, 0, IN_PAD);
	if (json_minify(
		(struct str){ padded, list.len }, 0, &b, &error, &a->at))
		list = arena_str(a->mem, buf_str(&b));
	else
		refuse(a, error);
	buf_free(&b);
	return list;
}

/* A value that must be a string. */
static struct str
text_in(struct asked *a, const struct json_item *v)
{
	if (v->type != JSON_T_STRING)
		refuse(a, "name, annotation and kernels must be texts");
	return v->text;
}

static void
take_kernels(struct asked *a, struct str text)
{
	json_items list = { 0 };

	if (!json_split(&list, a->mem, text))
		refuse(a, "kernels must be a list of texts");
	for (size_t i = 0; i < list.n; i++)
		vec_push(&a->kernels, text_in(a, &list.v[i]));
	vec_free(&list);
}

static bool
take_list(
    struct asked *a, struct str key, const struct json_item *v, bool is_event)
{
	static const char *const words[2][L_LISTS] = {
		{ "dims", "types", "strides", "values" },
		{ "Input Dims", "Input type", "Input Strides",
		    "Concrete Inputs" },
	};

	if (!is_event && str_eq(key, STR("dtype"))) /* like the option */
		key = STR("types");
	for (int i = 0; i < L_LISTS; i++)
		if (str_eq(key, str_of(words[is_event][i]))) {
			a->lists[i] = v->type == JSON_T_STRING
			    ? v->text
			    : minified(a, v->text);
			return true;
		}
	return false;
}

static void
take_member(struct asked *a, struct str key, const struct json_item *v)
{
	if (str_eq(key, STR("name")) || str_eq(key, STR("op")))
		a->name = text_in(a, v);
	else if (str_eq(key, STR("annotation")))
		a->annotation = text_in(a, v);
	else if (str_eq(key, STR("hlo")))
		a->hlo = v->text;
	else if (str_eq(key, STR("kernels")))
		take_kernels(a, v->text);
	else if (str_eq(key, STR("backward")))
		a->backward = v->type == JSON_T_TRUE;
}

/* Splits an object into its keys and values, in turn. */
static void
split(struct asked *a, json_items *to, struct str text, const char *error)
{
	if (!json_split(to, a->mem, text) ||
	    (to->n > 0 && to->v[0].type != JSON_T_KEY))
		refuse(a, error);
	if (a->error != NULL)
		to->n = 0;
}

static void
read_line(struct asked *a, struct str line)
{
	json_items members = { 0 };

	split(a, &members, line, "not an object of JSON");
	for (size_t i = 0; i < members.n; i += 2) {
		struct str key = members.v[i].text;
		const struct json_item *v = &members.v[i + 1];

		a->is_event |= str_eq(key, STR("args"));
		if (str_eq(key, STR("args")))
			split(a, &a->more, v->text, "args must be an object");
		else if (!take_list(a, key, v, false))
			take_member(a, key, v);
	}
	for (size_t i = 0; i < a->more.n; i += 2)
		if (str_eq(a->more.v[i].text, STR("hlo")))
			a->hlo = a->more.v[i + 1].text;
		else
			(void)take_list(
			    a, a->more.v[i].text, &a->more.v[i + 1], true);
	if (a->name.len == 0)
		refuse(a, "no name of an op");
	vec_free(&members);
}

/* ---- answers ---- */

static const struct column columns[] = {
	{ "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "op_category", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "input_dims", NULL, COL_JSON, UNIT_NONE, 0, 0 },
	{ "status", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "flops", NULL, COL_REAL, UNIT_NONE, 0, 0 },
	{ "bytes", NULL, COL_REAL, UNIT_BYTES, 0, 0 },
	{ "flop_per_byte", NULL, COL_REAL, UNIT_NONE, 0, 0 },
	{ "compute_spec", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "roof", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "compute_ns", NULL, COL_REAL, UNIT_NS, 0, 0 },
	{ "memory_ns", NULL, COL_REAL, UNIT_NS, 0, 0 },
	{ "roofline_ns", NULL, COL_REAL, UNIT_NS, 0, 0 },
	{ "roofline_bound", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "perf_params", NULL, COL_JSON, UNIT_NONE, 0, 0 },
	{ "model", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "model_reason", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
};
#define NCOLUMNS (sizeof columns / sizeof *columns)

static struct cell
text_cell(struct str s)
{
	return s.len > 0 ? cell_text(s) : cell_none();
}

static void
put_figures(const struct roof_state *g, const struct model_result *r,
    struct table *t, struct cell *c)
{
	struct roofline rf = roofline_of(g->arch, g->roof, r);
	struct buf b = { 0 };

	c[4] = cell_real(r->flops);
	c[5] = cell_real(r->bytes);
	if (r->bytes > 0)
		c[6] = cell_real(r->flops / r->bytes);
	c[7] = text_cell(r->spec);
	if (rf.bound != BOUND_NONE) {
		buf_printf(&b, "%.*s %s", (int)g->arch->name.len,
		    g->arch->name.p, roof_words[rf.roof]);
		c[8] = cell_text(table_row_text(t, buf_str(&b)));
	}
	c[9] = cell_real(rf.compute_us * 1e3);
	c[10] = cell_real(rf.memory_us * 1e3);
	c[11] = cell_real(rf.time_us * 1e3);
	c[12] = text_cell(str_of(bound_words[rf.bound]));
	b.len = 0;
	model_params_json(&b, r);
	c[13] = cell_text(table_row_text(t, buf_str(&b)));
	buf_free(&b);
}

static bool
find_arg(void *ctx, struct str key, struct str *text)
{
	const struct asked *a = ctx;

	for (size_t i = 0; i < a->more.n; i += 2)
		if (str_eq(a->more.v[i].text, key)) {
			*text = a->more.v[i + 1].text;
			return true;
		}
	return false;
}

/*
 * Evaluates the op, and fills it in; its types may live in b. NULL: no model.
 */
static const struct model_result *
evaluate(
    struct roof_state *g, struct asked *a, struct model_op *op, struct buf *b)
{
	const struct model *m =
	    model_find(g->models, model_name(g->models, a->name, a->hlo));

	*op = (struct model_op){ .name = a->name,
		.dims = a->lists[L_DIMS],
		.types = a->lists[L_TYPES],
		.strides = a->lists[L_STRIDES],
		.concrete = a->lists[L_VALUES],
		.hlo = a->hlo,
		.kernels = a->kernels.v,
		.nkernels = a->kernels.n,
		.annotation = a->annotation,
		.arg = find_arg,
		.ctx = a };
	/* missing arguments are the defaults, but lost in a trace */
	if (op->concrete.len == 0 && !a->is_event)
		op->concrete = STR("[]");
	if (op->types.len == 0 || op->types.p[0] != '[') {
		types_put(b, a->mem,
		    op->types.len > 0 ? op->types : STR("float"), op->dims);
		op->types = buf_str(b);
	}
	return m == NULL
	    ? NULL
	    : model_eval(g->models, m, op, a->backward ? MODEL_BWD : MODEL_FWD);
}

/* Returns false if there are no figures. */
static bool
answer(struct roof_state *g, struct asked *a, struct table *t)
{
	struct model_op op;
	struct buf types = { 0 };
	const struct model_result *r = evaluate(g, a, &op, &types);
	struct cell *c = table_row(t);

	c[0] = cell_text(table_row_text(t, a->name));
	c[1] = text_cell(model_category(g->models,
	    model_name(g->models, a->name, a->hlo), (struct str){ "", 0 }));
	c[2] = text_cell(table_row_text(t, op.dims));
	c[3] = cell_text(
	    str_of(model_status_words[r != NULL ? r->status : MODEL_NONE]));
	if (r != NULL)
		c[14] = cell_text(r->model->where);
	c[15] = r == NULL ? cell_text(STR("no model")) : text_cell(r->reason);
	if (r != NULL && r->status == MODEL_OK) {
		put_figures(g, r, t, c);
	}
	buf_free(&types);
	return r != NULL && r->status == MODEL_OK;
}

/* ---- many ---- */

static void
forget(struct asked *a)
{
	*a = (struct asked){ .mem = a->mem,
		.kernels = { a->kernels.v, 0, a->kernels.cap },
		.more = { a->more.v, 0, a->more.cap } };
	arena_reset(a->mem, 0);
}

static bool
is_blank(struct str s)
{
	while (s.len > 0 && strchr(" \t\r", s.p[s.len - 1]) != NULL)
		s.len--;
	return s.len == 0;
}

static void
many_ops(struct roof_state *g, struct asked *a)
{
	struct table_dest *dest = &g->sink.dest;
	struct table *t = table_create("op_models", columns, NCOLUMNS);
	struct reader r = { .in = in_open("-") };
	const unsigned char *end;
	uint64_t nwithout = 0;

	table_stream(t, dest);
	for (; (end = reader_line(&r)) != NULL; in_release(r.in)) {
		struct str line = { (const char *)r.in->p,
			(size_t)(end - r.in->p) };

		r.line++;
		r.in->p = end + !r.unfinished;
		if (is_blank(line))
			continue;
		forget(a);
		read_line(a, line);
		nwithout += a->error == NULL && !answer(g, a, t);
		if (a->error != NULL)
			die("stdin: line %" PRIu64 ": %s", r.line, a->error);
	}
	table_print(t, dest);
	table_dest_finish(dest);
	if (nwithout > 0)
		report(MSG_NO_FIGURES, nwithout);
	table_destroy(t);
	in_close(r.in);
}

/* ---- one ---- */

/* Reads a name with --dims and --dtype, or JSON. */
static void
read_options(const struct roof_state *g, struct asked *a)
{
	if (g->op[0] == '{') {
		read_line(a, str_of(g->op));
	} else if (g->dims == NULL) {
		die_usage(
		    "option '--op' needs --dims; to select ops of a trace "
		    "use --name");
	} else {
		a->name = str_of(g->op);
		a->lists[L_DIMS] = minified(a, str_of(g->dims));
		if (a->error != NULL)
			die_usage(
			    "option '--dims': byte %zu: %s", a->at, a->error);
	}
	if (g->types != NULL)
		a->lists[L_TYPES] = str_of(g->types);
}

static void
one_op(struct roof_state *g, struct asked *a)
{
	struct model_op op;
	struct buf types = { 0 };
	const struct model_result *r;

	read_options(g, a);
	if (a->error != NULL)
		die_usage("option '--op': %s", a->error);
	r = evaluate(g, a, &op, &types);
	if (r == NULL)
		die_usage("no performance model of '%.*s'; see --list-models",
		    (int)a->name.len, a->name.p);
	if (r->status != MODEL_OK)
		die("%.*s: %s: %.*s", (int)a->name.len, a->name.p,
		    model_status_words[r->status], (int)r->reason.len,
		    r->reason.p);
	explain_op(g, &op, r);
	buf_free(&types);
}

void
ops_answer(struct roof_state *g)
{
	struct asked a = { .mem = arena_create() };

	if (strcmp(g->op, "-") == 0)
		many_ops(g, &a);
	else
		one_op(g, &a);
	arena_destroy(a.mem);
	vec_free(&a.kernels);
	vec_free(&a.more);
}
