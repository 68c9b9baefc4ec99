/* SPDX-License-Identifier: MIT */
/*
 * Ops without a trace: --op names one, or is one as JSON; of "-" each line of
 * standard input is one. JSON is an event of tl-cat ("name", "args"), or has
 * the short words of an entry's examples. One is explained; of many a row of a
 * table is the answer to each, in their order.
 */
#include <stdlib.h>

#include "cmd/tl-roofline/roof.h"
#include "json/json.h"

#define LINE_MAX_BYTES ((size_t)16 << 20)

enum list { L_DIMS, L_TYPES, L_STRIDES, L_VALUES, L_LISTS };

/* What a line asks. Texts are those of mem. */
struct asked {
	const char *error;
	struct arena *mem;
	struct str name, lists[L_LISTS], annotation;
	bool backward;
	VEC(struct str) kernels;
	VEC(struct str) keys, values; /* further arguments */
};

/* Behind a text that a reader of JSON may look beyond. */
static void
pad(struct buf *b)
{
	for (size_t i = 0; i < IN_PAD; i++)
		buf_putc(b, '\0');
}

static void
refuse(struct asked *a, const char *error)
{
	if (a->error == NULL)
		a->error = error;
}

/* ---- types ---- */

/* Short words for types, and how traces write them. */
static const struct {
	const char *word, *type;
} short_types[] = {
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
	for (size_t i = 0; i < sizeof short_types / sizeof *short_types; i++)
		if (str_eq(s, str_of(short_types[i].word)))
			return str_of(short_types[i].type);
	return s;
}

static void
put_type(struct buf *b, struct str s)
{
	buf_puts(b, b->len == 0 ? "[" : ",");
	json_put_string(b, type_of(s));
}

/*
 * Types as JSON: text is such a list, or a word for all tensors, or words with
 * commas between for each argument; [] among the shapes is no tensor.
 */
static void
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

/* ---- JSON ---- */

/* The value behind a key as JSON without spaces; padded. */
static struct str
value_of(struct asked *a, struct json *j)
{
	const char *p = (const char *)j->p, *error;
	struct buf b = { 0 };
	struct str s = { "", 0 };
	size_t at;

	if (json_skip(j) != JSON_OK) {
		refuse(a, j->error);
		return s;
	}
	while (p < (const char *)j->p && (*p == ':' || *p == ' ' || *p == '\t'))
		p++;
	if (!json_minify((struct str){ p, (size_t)((const char *)j->p - p) }, 1,
		&b, &error, &at))
		refuse(a, error);
	s.len = b.len;
	pad(&b);
	s.p = arena_str(a->mem, buf_str(&b)).p;
	buf_free(&b);
	return s;
}

/* A JSON text without its quotes; another value is an error. */
static struct str
text_in(struct asked *a, struct str json)
{
	struct buf b = { 0 };
	const char *error;
	struct str s = { "", 0 };
	size_t at;

	if (json.len < 2 || json.p[0] != '"') {
		refuse(a, "name, annotation and kernels must be texts");
		return s;
	}
	json = (struct str){ json.p + 1, json.len - 2 };
	if (json_unescape(json, &b, &error, &at))
		s = arena_str(a->mem, buf_str(&b));
	else
		refuse(a, error);
	buf_free(&b);
	return s;
}

static void
take_kernels(struct asked *a, struct str list)
{
	struct json *j = xmalloc(sizeof *j);
	enum json_token t;

	json_start(j, list.p, list.len);
	if (json_next(j) != JSON_T_ARRAY)
		refuse(a, "kernels must be a list");
	while (a->error == NULL && (t = json_next(j)) != JSON_T_ARRAY_END) {
		if (t == JSON_T_STRING)
			vec_push(&a->kernels, arena_str(a->mem, j->raw));
		else
			refuse(a, "kernels must be a list of texts");
	}
	vec_release(j);
}

static bool
take_list(struct asked *a, struct str key, struct json *j, bool is_event)
{
	static const char *const words[2][L_LISTS] = {
		{ "dims", "types", "strides", "values" },
		{ "Input Dims", "Input type", "Input Strides",
		    "Concrete Inputs" },
	};

	if (!is_event && str_eq(key, STR("dtype"))) /* as the option's name */
		key = STR("types");
	for (int i = 0; i < L_LISTS; i++)
		if (str_eq(key, str_of(words[is_event][i]))) {
			a->lists[i] = value_of(a, j);
			/* left out, they are the defaults; a trace's are lost
			 */
			if (!is_event && a->lists[L_VALUES].len == 0)
				a->lists[L_VALUES] = STR("[]");
			return true;
		}
	return false;
}

static enum json_token take_members(
    struct asked *a, struct json *j, bool is_event);

static void
take_member(struct asked *a, struct str key, struct json *j)
{
	if (str_eq(key, STR("args"))) {
		if (json_next(j) == JSON_T_OBJECT)
			(void)take_members(a, j, true);
		else
			refuse(a, "args must be an object");
	} else if (str_eq(key, STR("name")) || str_eq(key, STR("op"))) {
		a->name = text_in(a, value_of(a, j));
	} else if (str_eq(key, STR("annotation"))) {
		a->annotation = text_in(a, value_of(a, j));
	} else if (str_eq(key, STR("kernels"))) {
		take_kernels(a, value_of(a, j));
	} else if (str_eq(key, STR("backward"))) {
		a->backward = str_eq(value_of(a, j), STR("true"));
	} else {
		(void)value_of(a, j);
	}
}

/* Of the whole, or of an event's arguments; what ends them. */
static enum json_token
take_members(struct asked *a, struct json *j, bool is_event)
{
	enum json_token t = JSON_T_END;

	while (a->error == NULL && (t = json_next(j)) == JSON_T_KEY) {
		struct str key = arena_str(a->mem, j->raw);

		if (take_list(a, key, j, is_event))
			continue;
		if (is_event) {
			vec_push(&a->keys, key);
			vec_push(&a->values, value_of(a, j));
		} else {
			take_member(a, key, j);
		}
	}
	return t;
}

/* n bytes with IN_PAD zeros behind. */
static void
read_line(struct asked *a, const char *line, size_t n)
{
	struct json *j = xmalloc(sizeof *j);
	enum json_token t = JSON_T_END;

	json_start(j, line, n);
	if (json_next(j) != JSON_T_OBJECT)
		refuse(a, "not an object");
	else
		t = take_members(a, j, false);
	if (a->error == NULL &&
	    (t != JSON_T_OBJECT_END || json_next(j) != JSON_T_END))
		refuse(a, j->error != NULL ? j->error : "not one object");
	if (a->name.len == 0)
		refuse(a, "no name of an op");
	vec_release(j);
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

	for (size_t i = 0; i < a->keys.n; i++)
		if (str_eq(a->keys.v[i], key)) {
			*text = a->values.v[i];
			return true;
		}
	return false;
}

/* Evaluates; op is filled, whose types may be in b. NULL: no model. */
static const struct model_result *
evaluate(
    struct roof_state *g, struct asked *a, struct model_op *op, struct buf *b)
{
	const struct model *m = model_find(g->models, a->name);

	*op = (struct model_op){ .name = a->name,
		.dims = a->lists[L_DIMS],
		.types = a->lists[L_TYPES],
		.strides = a->lists[L_STRIDES],
		.concrete = a->lists[L_VALUES],
		.kernels = a->kernels.v,
		.nkernels = a->kernels.n,
		.annotation = a->annotation,
		.arg = find_arg,
		.ctx = a };
	if (op->types.len == 0 || op->types.p[0] != '[') {
		op_types(b,
		    op->types.len > 2 ? text_in(a, op->types) : STR("float"),
		    op->dims);
		op->types = buf_str(b);
	}
	return m == NULL
	    ? NULL
	    : model_eval(g->models, m, op, a->backward ? MODEL_BWD : MODEL_FWD);
}

/* False: there is no answer to this op. */
static bool
answer(struct roof_state *g, struct asked *a, struct table *t)
{
	struct model_op op;
	struct buf types = { 0 };
	const struct model_result *r = evaluate(g, a, &op, &types);
	struct cell *c = table_row(t);

	c[0] = cell_text(table_row_text(t, a->name));
	c[1] = text_cell(
	    model_category(g->models, a->name, (struct str){ "", 0 }));
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

/* The next line, padded; false: that was the last. */
static bool
next_line(struct in *in, struct buf *line)
{
	const unsigned char *nl;

	while ((nl = memchr(in->p, '\n', (size_t)(in->end - in->p))) == NULL) {
		if ((size_t)(in->end - in->p) > LINE_MAX_BYTES)
			die("%s: a line of more than %zu bytes", in->name,
			    LINE_MAX_BYTES);
		if (!in_more(in))
			break;
	}
	if (nl == NULL)
		nl = in->end;
	line->len = 0;
	buf_put(line, (const char *)in->p, (size_t)(nl - in->p));
	if (nl == in->end && line->len == 0)
		return false;
	in->p = nl == in->end ? nl : nl + 1;
	in_release(in);
	pad(line);
	return true;
}

static void
forget(struct asked *a)
{
	a->kernels.n = a->keys.n = a->values.n = 0;
	memset(a->lists, 0, sizeof a->lists);
	a->name = a->annotation = (struct str){ "", 0 };
	a->backward = false;
	arena_reset(a->mem, 0);
}

static void
many_ops(struct roof_state *g, struct asked *a)
{
	struct table_dest *dest = &g->sink.dest;
	struct table *t = table_create("op_models", columns, NCOLUMNS);
	struct in *in = in_open("-");
	struct buf line = { 0 };
	uint64_t number = 0, nwithout = 0;

	table_stream(t, dest);
	while (next_line(in, &line)) {
		size_t n = line.len - IN_PAD;

		number++;
		if (strspn(line.p, " \t\r") == n)
			continue;
		forget(a);
		read_line(a, line.p, n);
		nwithout += a->error == NULL && !answer(g, a, t);
		if (a->error != NULL)
			die("stdin: line %" PRIu64 ": %s", number, a->error);
	}
	table_print(t, dest);
	table_dest_finish(dest);
	if (nwithout > 0)
		report(MSG_NO_FIGURES, nwithout);
	table_destroy(t);
	buf_free(&line);
	in_close(in);
}

/* ---- one ---- */

/* A name with --dims and --dtype as the same op in JSON, padded. */
static void
put_op(struct roof_state *g, struct buf *b)
{
	struct buf text = { 0 }, dims = { 0 };
	const char *error;
	size_t at;

	if (g->op[0] != '{' && g->dims == NULL)
		die_usage("option '--op' needs --dims");
	if (g->dims != NULL) {
		buf_puts(&text, g->dims);
		pad(&text);
		if (!json_minify((struct str){ text.p, text.len - IN_PAD }, 0,
			&dims, &error, &at))
			die_usage("option '--dims': byte %zu: %s", at, error);
		buf_puts(b, "{\"op\":");
		json_put_string(b, str_of(g->op));
		buf_printf(b, ",\"dims\":%.*s", (int)dims.len, dims.p);
		if (g->types != NULL) {
			check_type(g->models, g->types);
			buf_puts(b, ",\"types\":");
			if (g->types[0] == '[')
				buf_puts(b, g->types);
			else
				json_put_string(b, str_of(g->types));
		}
		buf_putc(b, '}');
	} else {
		buf_puts(b, g->op);
	}
	pad(b);
	buf_free(&text);
	buf_free(&dims);
}

static void
one_op(struct roof_state *g, struct asked *a)
{
	struct model_op op;
	struct buf b = { 0 }, types = { 0 };
	const struct model_result *r;

	put_op(g, &b);
	read_line(a, b.p, b.len - IN_PAD);
	r = a->error == NULL ? evaluate(g, a, &op, &types) : NULL;
	if (a->error != NULL)
		die_usage("option '--op': %s", a->error);
	if (r == NULL)
		die_usage("there is no model of '%.*s': --list-models says "
			  "which there are",
		    (int)a->name.len, a->name.p);
	if (r->status != MODEL_OK)
		die("%.*s: %s: %.*s", (int)a->name.len, a->name.p,
		    model_status_words[r->status], (int)r->reason.len,
		    r->reason.p);
	explain_op(g, &op, r);
	buf_free(&b);
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
	vec_free(&a.keys);
	vec_free(&a.values);
}
