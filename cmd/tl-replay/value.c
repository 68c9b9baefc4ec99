/* SPDX-License-Identifier: MIT */
/*
 * Arguments as JSON, from which a script rebuilds them. Whatever a trace says
 * stays in JSON strings or numbers, and never becomes code.
 */
#include <math.h>

#include "cmd/tl-replay/replay.h"
#include "cmd/tl-replay/role.h"
#include "json/json.h"

/* What is being written. */
struct put {
	const struct replay *g;
	const struct form *form;
	enum ir_version version;
	struct buf *out, *why;
};

void
put_real(struct buf *out, double v)
{
	char text[NUM_DOUBLE_MAX];

	buf_put(out, text, num_put_double(text, v));
}

/* ---- scalars ---- */

static bool
is_true(struct str s, const char *word)
{
	return str_eq(s, str_of(word)) ||
	    (s.len == strlen(word) && str_find(s, str_of(word), true) == 0);
}

static void
scalar_put(struct str text, struct buf *out)
{
	static const char *const odd[] = { "inf", "-inf", "nan", NULL };
	int64_t i;
	double real;

	if (text.len == 0 || str_eq(text, STR("None")))
		buf_puts(out, "null");
	else if (is_true(text, "true") || is_true(text, "false"))
		buf_puts(out, is_true(text, "true") ? "true" : "false");
	else if (num_i64(text, &i))
		json_put_i64(out, i);
	else if (num_double(text, &real))
		put_real(out, real);
	else
		for (int k = 0; odd[k] != NULL; k++)
			if (str_eq(text, str_of(odd[k])))
				buf_printf(out, "{\"float\":\"%s\"}", odd[k]);
}

/* Writes a scalar; false if it is none. */
static bool
put_scalar(struct put *p, struct str text)
{
	size_t len = p->out->len;
	int64_t i;

	scalar_put(text, p->out);
	if (p->version == IR_V1 && num_i64(text, &i))
		buf_puts(p->out, ".0");
	return p->out->len > len;
}

static struct str
trimmed(struct str s)
{
	while (s.len > 0 && s.p[0] == ' ')
		s = (struct str){ s.p + 1, s.len - 1 };
	while (s.len > 0 && s.p[s.len - 1] == ' ')
		s.len--;
	return s;
}

/* "[1, 2]" and "[]"; elements stay as they are, in both versions. */
static bool
put_list(struct put *p, struct str text)
{
	const char *comma;
	struct str item;
	size_t len;

	text = trimmed(text);
	if (text.len < 2 || text.p[0] != '[' || text.p[text.len - 1] != ']')
		return false;
	text = trimmed((struct str){ text.p + 1, text.len - 2 });
	buf_putc(p->out, '[');
	while (text.len > 0) {
		comma = memchr(text.p, ',', text.len);
		item = text;
		if (comma != NULL)
			item.len = (size_t)(comma - text.p);
		text.p += item.len + (comma != NULL);
		text.len -= item.len + (comma != NULL);
		len = p->out->len;
		scalar_put(trimmed(item), p->out);
		if (p->out->len == len)
			return false;
		if (text.len > 0)
			buf_putc(p->out, ',');
	}
	buf_putc(p->out, ']');
	return true;
}

/* Writes a word by its number, as {"dtype":"float16"}. */
static bool
put_word(struct put *p, const char *key, struct str number,
    const char *const *words, int64_t n)
{
	int64_t i;

	if (!num_i64(number, &i) || i < 0 || i >= n || words[i] == NULL)
		return false;
	buf_printf(p->out, "{\"%s\":\"%s\"}", key, words[i]);
	return true;
}

/* c10::ScalarType, c10::Layout, c10::MemoryFormat. */
static const char *const dtypes[] = { "uint8", "int8", "int16", "int32",
	"int64", "float16", "float32", "float64", "complex32", "complex64",
	"complex128",
	"bool", [15] = "bfloat16", [23] = "float8_e5m2", [24] = "float8_e4m3fn",
	[25] = "float8_e5m2fnuz", [26] = "float8_e4m3fnuz" };
static const char *const layouts[] = { "strided", "sparse_coo", "sparse_csr",
	"_mkldnn", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged" };
static const char *const formats[] = { "contiguous_format", "preserve_format",
	"channels_last", "channels_last_3d" };
#define COUNT(words) ((int64_t)(sizeof(words) / sizeof *(words)))

/* ---- tensors ---- */

/* Types of tensors in names of kernels. */
static const struct {
	const char *in_name, *type;
} kernel_types[] = {
	{ "BFloat16", "c10::BFloat16" },
	{ "bfloat16", "c10::BFloat16" },
	{ "bf16", "c10::BFloat16" },
	{ "c10::Half", "c10::Half" },
	{ "__half", "c10::Half" },
	{ "f16", "c10::Half" },
	{ "OpaqueType<2u>", "c10::Half" },
	{ "OpaqueType<8u>", "double" },
	{ "OpaqueType<1u>", "unsigned char" },
	{ "double", "double" },
};

/* The type of argument i; that of a list is not recorded. */
static struct str
tensor_type(const struct replay *g, const struct form *f,
    const struct recorded *r, size_t i)
{
	if (!str_eq(r->type, STR("TensorList")))
		return r->type;
	if (f->schema != NULL &&
	    str_eq(f->schema->args[i].name, STR("indices")))
		return STR("long int");
	if (g->list_dtype != NULL)
		return str_of(g->list_dtype);
	for (size_t k = 0; k < f->args.n; k++)
		if (recorded_tensor(&f->args.v[k]) && f->args.v[k].ndims > 0)
			return f->args.v[k].type;
	for (size_t k = 0; k < sizeof kernel_types / sizeof *kernel_types; k++)
		if (str_find(
			f->kernel, str_of(kernel_types[k].in_name), false) >= 0)
			return str_of(kernel_types[k].type);
	return STR("float");
}

static int64_t
storage_elements(const struct recorded *r)
{
	int64_t n = 1, part;

	for (size_t i = 0; i < r->ndims; i++)
		if (r->dims[i] == 0)
			return 0;
	for (size_t i = r->ndims; i-- > 0;) {
		if (r->nstrides == 0) {
			if (__builtin_mul_overflow(n, r->dims[i], &n))
				return -1;
		} else if (__builtin_mul_overflow(
			       r->dims[i] - 1, r->strides[i], &part) ||
		    __builtin_add_overflow(n, part, &n)) {
			return -1;
		}
	}
	return n;
}

static void
put_sizes(struct buf *out, const int64_t *v, size_t n)
{
	buf_putc(out, '[');
	for (size_t i = 0; i < n; i++) {
		buf_puts(out, i > 0 ? "," : "");
		json_put_i64(out, v[i]);
	}
	buf_putc(out, ']');
}

/* Strides not recorded are those of a dense tensor. */
static void
put_strides(struct buf *out, const struct recorded *r)
{
	int64_t *strides;

	if (r->nstrides == r->ndims) {
		put_sizes(out, r->strides, r->nstrides);
		return;
	}
	strides = xcalloc(r->ndims + 1, sizeof *strides);
	for (size_t i = r->ndims, n = 1; i-- > 0;) {
		strides[i] = (int64_t)n;
		n *= (size_t)(r->dims[i] > 0 ? r->dims[i] : 1);
	}
	put_sizes(out, strides, r->ndims);
	vec_release(strides);
}

/* TraceLens's form: all tensors are random but those overwritten. */
static void
put_init_v1(struct put *p, size_t i)
{
	struct str name = p->form->name;
	bool is_src = str_eq(name, STR("aten::copy_")) && i == 1;

	buf_puts(p->out,
	    str_eq(name, STR("aten::fill_")) ||
		    (str_eq(name, STR("aten::copy_")) && !is_src)
		? ",\"init\":null}"
		: ",\"init\":\"normal\"}");
}

/* Writes a tensor that argument i is, or contains. */
static bool
put_tensor(struct put *p, const struct recorded *r, size_t i)
{
	int64_t elements = storage_elements(r);
	struct filling role;
	struct str type;

	if (elements < 0)
		return buf_fail(p->why, "its sizes overflow");
	type = tensor_type(p->g, p->form, r, i);
	buf_puts(p->out, "{\"shape\":");
	put_sizes(p->out, r->dims, r->ndims);
	buf_puts(p->out, ",\"dtype\":");
	json_put_string(p->out, type);
	buf_puts(p->out, ",\"strides\":");
	put_strides(p->out, r);
	if (p->version == IR_V1) {
		put_init_v1(p, i);
		return true;
	}
	buf_printf(p->out, ",\"storage_elems\":%" PRId64, elements);
	role = role_of(p->form->name, p->form->schema, &p->form->args, i, type);
	buf_putc(p->out, ',');
	role_json(p->out, &role);
	buf_putc(p->out, '}');
	return true;
}

static bool
put_tensors(struct put *p, size_t i)
{
	if (p->form->lists[i].n == 0)
		return buf_fail(
		    p->why, "the tensors of its list are not recorded");
	buf_puts(p->out, "{\"list\":[");
	for (size_t k = 0; k < p->form->lists[i].n; k++) {
		buf_puts(p->out, k > 0 ? "," : "");
		if (!put_tensor(p, &p->form->lists[i].v[k], i))
			return false;
	}
	buf_puts(p->out, "]}");
	return true;
}

/* ---- arguments ---- */

/*
 * An argument recorded as nothing: None, an undefined tensor, or a string or
 * number whose value is lost. The last two get the schema's default, unless
 * that cannot be the value.
 */
static bool
put_unknown(struct put *p, const struct schema_arg *a, const struct recorded *r)
{
	bool is_none = recorded_nothing(r);

	if (is_none &&
	    (a == NULL || (a->kind == ARG_TENSOR && !a->is_list) ||
		(a->may_be_none && a->kind != ARG_STR))) {
		buf_puts(p->out, "null");
		return true;
	}
	if (a != NULL && !is_none && role_is_free(a)) {
		buf_puts(
		    p->out, p->version == IR_V1 ? "1.0" : "{\"assumed\":1}");
		return true;
	}
	if (a != NULL && !(is_none && a->may_be_none) &&
	    (!a->has_default || (!is_none && str_eq(a->value, STR("None")))))
		return buf_fail(p->why, "its value is not recorded");
	buf_puts(p->out, "{\"unknown\":");
	json_put_string(p->out, a != NULL ? a->type : STR(""));
	buf_putc(p->out, '}');
	return true;
}

static bool
put_str(struct put *p, struct str text)
{
	buf_puts(p->out, "{\"str\":");
	json_put_string(p->out, text);
	buf_putc(p->out, '}');
	return true;
}

/* Writes kinds recorded as integers, or not at all. */
static bool
put_kind(struct put *p, const struct schema_arg *a, struct str text)
{
	static const struct recorded nothing;

	switch (a->kind) {
	case ARG_DTYPE:
		return put_word(p, "dtype", text, dtypes, COUNT(dtypes));
	case ARG_LAYOUT:
		return put_word(p, "layout", text, layouts, COUNT(layouts));
	case ARG_MEMORY_FORMAT:
		return put_word(
		    p, "memory_format", text, formats, COUNT(formats));
	case ARG_DEVICE:
		buf_puts(p->out, "{\"device\":\"target\"}");
		return true;
	case ARG_GENERATOR:
		buf_puts(
		    p->out, a->may_be_none ? "null" : "{\"generator\":true}");
		return true;
	case ARG_STR:
		return text.len == 0 ? put_unknown(p, a, &nothing)
				     : put_str(p, text);
	default: return false;
	}
}

static bool
is_number(const struct schema_arg *a)
{
	return a == NULL || a->kind == ARG_BOOL || a->kind == ARG_INT ||
	    a->kind == ARG_FLOAT || a->kind == ARG_SCALAR ||
	    a->kind == ARG_TENSOR;
}

/* Writes a recorded argument that is no tensor. */
static bool
put_plain(struct put *p, const struct schema_arg *a, const struct recorded *r)
{
	struct put as = *p;
	size_t len = p->out->len;
	bool is_list = str_eq(r->type, STR("ScalarList")) ||
	    (a != NULL && a->is_list && r->value.len > 0);

	if (p->version == IR_V1 && a != NULL && a->kind != ARG_FLOAT &&
	    a->kind != ARG_SCALAR)
		as.version = IR_V2;
	if (!is_number(a) ? put_kind(p, a, r->value)
			  : (is_list ? put_list : put_scalar)(&as, r->value))
		return true;
	p->out->len = len;
	if (a == NULL)
		return put_str(p, r->value);
	return buf_fail(p->why, "'%.*s' is no value of its type",
	    (int)(r->value.len < 40 ? r->value.len : 40), r->value.p);
}

static bool
put_value(struct put *p, size_t i)
{
	const struct recorded *r = &p->form->args.v[i];
	const struct schema *s = p->form->schema;
	const struct schema_arg *a = s != NULL ? &s->args[i] : NULL;

	if (recorded_tensor(r))
		return put_tensor(p, r, i);
	if (str_eq(r->type, STR("TensorList")))
		return put_tensors(p, i);
	if (r->value.len > 0 ||
	    (a != NULL && !is_number(a) && a->kind != ARG_OTHER &&
		a->kind != ARG_DTYPE && a->kind != ARG_LAYOUT &&
		a->kind != ARG_MEMORY_FORMAT))
		return put_plain(p, a, r);
	return put_unknown(p, a, r);
}

static bool
put_arg(struct put *p, size_t i, bool is_first)
{
	const struct schema *s = p->form->schema;

	buf_puts(p->out, is_first ? "{\"arg_name\":" : ",{\"arg_name\":");
	if (s != NULL)
		json_put_string(p->out, s->args[i].name);
	else
		buf_printf(p->out, "\"arg%zu\"", i);
	buf_puts(p->out, ",\"arg_type\":");
	json_put_string(
	    p->out, s != NULL ? s->args[i].type : p->form->args.v[i].type);
	buf_puts(p->out, ",\"value\":");
	if (!put_value(p, i)) {
		struct buf why = { 0 };

		buf_put(&why, p->why->p, p->why->len);
		p->why->len = 0;
		if (s != NULL)
			buf_printf(p->why,
			    "argument %.*s: ", (int)s->args[i].name.len,
			    s->args[i].name.p);
		else
			buf_printf(p->why, "argument %zu: ", i);
		buf_put(p->why, why.p, why.len);
		buf_free(&why);
		return false;
	}
	buf_putc(p->out, '}');
	return true;
}

bool
form_put(const struct replay *g, const struct form *f, enum ir_version v,
    struct buf *out, struct buf *why)
{
	struct put p = { g, f, v, out, why };
	size_t i = 0, n = f->args.n, first;

	buf_puts(out, "{\"list_pos_args\":[");
	for (; i < n && (f->schema == NULL || !f->schema->args[i].is_keyword);
	     i++)
		if (!put_arg(&p, i, i == 0))
			return false;
	buf_puts(out, "],\"list_kwargs\":[");
	for (first = i; i < n; i++)
		if (!put_arg(&p, i, i == first))
			return false;
	buf_puts(out, "]}");
	return true;
}
