/* SPDX-License-Identifier: MIT */
/*
 * The lists of one op. A list is parsed on first use: most entries never use
 * strides or concrete inputs.
 */
#include "model/priv.h"
#include "json/json.h"

#define MAX_LEAVES 100000 /* tensors of one op */

static const char *const list_errors[VIEW_LISTS] = {
	"Input Dims is no list of sizes",
	"Input Strides is no list of sizes",
	"Input type is no list of texts",
	"Concrete Inputs is no list of texts",
};

void
view_set(struct op_view *v, const struct model_op *op)
{
	v->op = op;
	v->parsed = v->absent = 0;
}

void
view_free(struct op_view *v)
{
	for (int i = 0; i < 2; i++) {
		vec_free(&v->shapes[i].args);
		vec_free(&v->shapes[i].leaves);
		vec_free(&v->shapes[i].ints);
		vec_free(&v->texts[i].list);
		buf_free(&v->texts[i].bytes);
	}
	buf_free(&v->scratch);
}

/* Starts j over a copy of the text with zeros after it. */
static void
json_over(struct op_view *v, struct json *j, struct str text)
{
	static const char pad[IN_PAD];

	v->scratch.len = 0;
	buf_put(&v->scratch, text.p, text.len);
	buf_put(&v->scratch, pad, sizeof pad);
	json_start(j, v->scratch.p, text.len);
}

static bool
add_size(struct shapes *s, struct str text)
{
	int64_t i;
	double d;

	if (!num_i64(text, &i)) {
		if (!num_double(text, &d) || !(fabs(d) < 9e15))
			return false;
		i = (int64_t)d;
		if ((double)i != d)
			return false;
	}
	vec_push(&s->ints, i);
	return true;
}

static void
begin_leaf(struct shapes *s)
{
	vec_push(&s->leaves, ((struct view_leaf){ (uint32_t)s->ints.n, 0 }));
}

static void
end_leaf(struct shapes *s)
{
	struct view_leaf *l = &s->leaves.v[s->leaves.n - 1];

	l->n = (uint32_t)(s->ints.n - l->first);
}

/*
 * An argument after its opening bracket: numbers, or lists of numbers at any
 * depth. A list of lists is a list of tensors; its innermost lists are leaves.
 */
static bool
parse_arg(struct json *j, struct shapes *s)
{
	struct view_arg arg = { (uint32_t)s->leaves.n, 0, false };
	enum json_token t;
	int depth = 1;
	bool open = true; /* the last leaf still takes sizes */

	begin_leaf(s);
	while (depth > 0) {
		t = json_next(j);
		if (t == JSON_T_ARRAY) {
			if (s->leaves.n > MAX_LEAVES)
				return false;
			if (open) { /* it was an outer list */
				if (s->leaves.v[s->leaves.n - 1].first !=
				    s->ints.n)
					return false;
				s->leaves.n--;
			}
			arg.is_list = true;
			begin_leaf(s);
			open = true;
			depth++;
		} else if (t == JSON_T_ARRAY_END) {
			if (open)
				end_leaf(s);
			open = false;
			depth--;
		} else if (t != JSON_T_NUMBER || !open ||
		    !add_size(s, j->raw)) {
			return false;
		}
	}
	arg.n = (uint32_t)s->leaves.n - arg.first;
	vec_push(&s->args, arg);
	return true;
}

/* Only white space follows. */
static bool
is_end(struct json *j)
{
	if (json_next(j) != JSON_T_END)
		return false;
	json_space(j);
	return j->p == j->end;
}

static bool
parse_shapes(struct json *j, struct shapes *s)
{
	enum json_token t;

	s->args.n = s->leaves.n = s->ints.n = 0;
	if (json_next(j) != JSON_T_ARRAY)
		return false;
	while ((t = json_next(j)) != JSON_T_ARRAY_END) {
		if (t == JSON_T_ARRAY) {
			if (!parse_arg(j, s))
				return false;
		} else if (t == JSON_T_STRING || t == JSON_T_NULL ||
		    t == JSON_T_NUMBER) {
			/* old traces: "" or null for an argument without a
			 * shape */
			begin_leaf(s);
			vec_push(&s->args,
			    ((struct view_arg){
				(uint32_t)s->leaves.n - 1, 1, false }));
		} else {
			return false;
		}
	}
	return is_end(j);
}

/* A list or number in place of a text becomes its own JSON. */
static bool
parse_text(struct json *j, enum json_token t, struct texts *x)
{
	size_t start = x->bytes.len, at;
	const unsigned char *p = j->p;
	const char *error;

	switch (t) {
	case JSON_T_STRING:
		if (!j->escaped)
			buf_put(&x->bytes, j->raw.p, j->raw.len);
		else if (!json_unescape(j->raw, &x->bytes, &error, &at))
			return false;
		break;
	case JSON_T_ARRAY:
		if (json_skip(j) != JSON_OK)
			return false;
		buf_putc(&x->bytes, '[');
		buf_put(&x->bytes, p, (size_t)(j->p - p));
		break;
	case JSON_T_TRUE: buf_puts(&x->bytes, "True"); break;
	case JSON_T_FALSE: buf_puts(&x->bytes, "False"); break;
	case JSON_T_NULL: break;
	case JSON_T_NUMBER: buf_put(&x->bytes, j->raw.p, j->raw.len); break;
	default: return false;
	}
	vec_push(&x->list, ((struct capture){ start, x->bytes.len - start }));
	return true;
}

static bool
parse_texts(struct json *j, struct texts *x)
{
	enum json_token t;

	x->list.n = 0;
	x->bytes.len = 0;
	if (json_next(j) != JSON_T_ARRAY)
		return false;
	while ((t = json_next(j)) != JSON_T_ARRAY_END)
		if (!parse_text(j, t, x))
			return false;
	return is_end(j);
}

static struct str
text_of(const struct model_op *op, enum view_list list)
{
	switch (list) {
	case VIEW_DIMS: return op->dims;
	case VIEW_STRIDES: return op->strides;
	case VIEW_TYPES: return op->types;
	default: return op->concrete;
	}
}

/* Sizes that no tensor has; NULL: none. */
static const char *
wrong_sizes(const struct shapes *s)
{
	for (size_t i = 0; i < s->leaves.n; i++) {
		int64_t elems = 1;

		for (uint32_t k = 0; k < s->leaves.v[i].n; k++) {
			int64_t size = s->ints.v[s->leaves.v[i].first + k];

			if (size < 0)
				return "Input Dims has a negative size";
			if (size > 0 &&
			    __builtin_mul_overflow(elems, size, &elems))
				return "Input Dims has a tensor of more than "
				       "2^63 elements";
		}
	}
	return NULL;
}

const char *
view_need(struct op_view *v, enum view_list list)
{
	const char *error;
	struct str text;
	struct json j;
	bool good;

	if (v->parsed & 1u << list)
		return NULL;
	text = text_of(v->op, list);
	if (text.len == 0 || str_eq(text, STR("null"))) {
		v->absent |= 1u << list;
		if (list <= VIEW_STRIDES)
			v->shapes[list].args.n = 0;
		else
			v->texts[list - VIEW_TYPES].list.n = 0;
	} else {
		json_over(v, &j, text);
		good = list <= VIEW_STRIDES
		    ? parse_shapes(&j, &v->shapes[list])
		    : parse_texts(&j, &v->texts[list - VIEW_TYPES]);
		if (!good)
			return list_errors[list];
		error = list == VIEW_DIMS ? wrong_sizes(&v->shapes[VIEW_DIMS])
					  : NULL;
		if (error != NULL)
			return error;
	}
	v->parsed |= 1u << list;
	return NULL;
}

bool
view_is_large(struct op_view *v, double values)
{
	const struct shapes *s = &v->shapes[VIEW_DIMS];
	double most = 1;

	if (!(v->parsed & 1u << VIEW_DIMS))
		return values >= 1 << 28;
	for (size_t i = 0; i < s->leaves.n; i++) {
		double elems = 1;

		for (uint32_t k = 0; k < s->leaves.v[i].n; k++) {
			double d = (double)s->ints.v[s->leaves.v[i].first + k];

			elems *= d;
			if (d > most)
				most = d;
		}
		if (elems > most)
			most = elems;
	}
	return most * sqrt(values) >= 1 << 28;
}

double
view_addresses(const struct op_view *v, const struct view_leaf *leaf,
    const struct view_leaf *steps)
{
	double n = 1, reach = 1;

	if (steps != NULL && steps->n != leaf->n)
		steps = NULL;
	for (uint32_t k = 0; k < leaf->n; k++) {
		int64_t size = v->shapes[VIEW_DIMS].ints.v[leaf->first + k];
		int64_t step = steps == NULL
		    ? 1
		    : v->shapes[VIEW_STRIDES].ints.v[steps->first + k];

		if (step != 0 || size == 0)
			n *= (double)size;
		reach += ((double)size - 1) * fabs((double)step);
	}
	return steps != NULL && n > 0 && reach < n ? reach : n;
}
