/* SPDX-License-Identifier: MIT */
/* Parses schemas. */
#include "schema.h"

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct str
trim(struct str s)
{
	while (s.len > 0 && is_blank(s.p[0]))
		s.p++, s.len--;
	while (s.len > 0 && is_blank(s.p[s.len - 1]))
		s.len--;
	return s;
}

/* Takes the text before a place, and drops it with the separator. */
static struct str
take(struct str *s, size_t at)
{
	struct str head = { s->p, at };
	size_t past = at < s->len ? at + 1 : at;

	s->p += past;
	s->len -= past;
	return trim(head);
}

static size_t
past_quote(struct str s, size_t i)
{
	char quote = s.p[i++];

	while (i < s.len && s.p[i] != quote)
		i += s.p[i] == '\\' ? 2 : 1;
	return i < s.len ? i : s.len - 1;
}

/*
 * The first of these characters outside brackets and quotes, or the length:
 * defaults may be lists, dicts and strings, and types have brackets.
 */
static size_t
outside(struct str s, const char *wanted)
{
	size_t depth = 0, i;

	for (i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (depth == 0 && c != '\0' && strchr(wanted, c) != NULL)
			return i;
		if (c == '(' || c == '[' || c == '{')
			depth++;
		else if ((c == ')' || c == ']' || c == '}') && depth > 0)
			depth--;
		else if (c == '"' || c == '\'')
			i = past_quote(s, i);
	}
	return s.len;
}

static bool
take_end(struct str *s, char c)
{
	if (s->len == 0 || s->p[s->len - 1] != c)
		return false;
	s->len--;
	return true;
}

static const struct {
	struct str type;
	enum arg_kind kind;
} kinds[] = {
	{ STR_INIT("Tensor"), ARG_TENSOR },
	{ STR_INIT("bool"), ARG_BOOL },
	{ STR_INIT("SymBool"), ARG_BOOL },
	{ STR_INIT("int"), ARG_INT },
	{ STR_INIT("SymInt"), ARG_INT },
	{ STR_INIT("float"), ARG_FLOAT },
	{ STR_INIT("SymFloat"), ARG_FLOAT },
	{ STR_INIT("Scalar"), ARG_SCALAR },
	{ STR_INIT("number"), ARG_SCALAR },
	{ STR_INIT("complex"), ARG_SCALAR },
	{ STR_INIT("str"), ARG_STR },
	{ STR_INIT("ScalarType"), ARG_DTYPE },
	{ STR_INIT("Layout"), ARG_LAYOUT },
	{ STR_INIT("MemoryFormat"), ARG_MEMORY_FORMAT },
	{ STR_INIT("Device"), ARG_DEVICE },
	{ STR_INIT("Generator"), ARG_GENERATOR },
};

/* Takes a bracket and its contents off the end: "(a!)" gives true. */
static bool
take_bracket(struct str *t, char open)
{
	bool is_written = false;

	while (t->len > 0 && t->p[--t->len] != open)
		is_written |= t->p[t->len] == '!';
	return is_written;
}

/* Off the end: "Tensor(a!)[]", "Tensor?[]", "SymInt[2]?", "Tensor!" */
static void
read_type(struct schema_arg *a)
{
	struct str t = a->type;

	for (;;) {
		if (take_end(&t, '?')) {
			a->may_hold_none |= a->is_list;
			a->may_be_none |= !a->is_list;
		} else if (take_end(&t, '!')) {
			a->is_written = true;
		} else if (take_end(&t, ')')) {
			a->is_written |= take_bracket(&t, '(');
		} else if (!a->is_list && take_end(&t, ']')) {
			a->is_list = true;
			(void)take_bracket(&t, '[');
		} else {
			break;
		}
	}
	a->kind = ARG_OTHER;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (str_eq(t, kinds[i].type))
			a->kind = kinds[i].kind;
	}
}

/* "int[2] stride=[1, 1]" */
static bool
read_arg(struct str text, struct schema_arg *a)
{
	struct str left = text;
	size_t end;

	text = take(&left, outside(text, "="));
	a->has_default = left.p > text.p + text.len && left.p[-1] == '=';
	a->value = trim(left);
	for (end = text.len; end > 0 && !is_blank(text.p[end - 1]);)
		end--;
	a->type = trim((struct str){ text.p, end });
	a->name = (struct str){ text.p + end, text.len - end };
	if (a->type.len == 0 || a->name.len == 0 ||
	    (a->has_default && a->value.len == 0))
		return false;
	read_type(a);
	return true;
}

typedef VEC(struct schema_arg) schema_args;

static bool
read_args(struct str list, schema_args *args)
{
	bool is_keyword = false;

	while (trim(list).len > 0) {
		struct str text = take(&list, outside(list, ","));
		struct schema_arg a = { .is_keyword = is_keyword };

		if (str_eq(text, STR("*"))) {
			is_keyword = true;
			continue;
		}
		/* any number of arguments, as in some ops of TorchScript */
		if (str_eq(text, STR("...")))
			a.name = a.type = text;
		else if (!read_arg(text, &a))
			return false;
		vec_push(args, a);
	}
	return true;
}

bool
schema_parse(
    struct arena *mem, struct str line, struct schema *out, const char **error)
{
	schema_args args = { 0 };
	struct str rest = trim(line), list;
	size_t close;

	*out = (struct schema){ .name = take(&rest, outside(rest, "(")) };
	close = outside(rest, ")");
	if (out->name.len == 0 || close == rest.len) {
		*error = "not of the form name(arguments) -> result";
		return false;
	}
	list = take(&rest, close);
	out->overload = out->name;
	out->name = take(&out->overload, outside(out->name, "."));
	rest = trim(rest);
	if (rest.len > 0 && !str_starts(rest, STR("->"))) {
		*error = "expected -> behind the arguments";
		return false;
	}
	if (!read_args(list, &args)) {
		*error = "an argument is no type and name";
		vec_free(&args);
		return false;
	}
	out->nargs = args.n;
	out->args = arena_alloc(mem, args.n * sizeof *args.v);
	if (args.n > 0)
		memcpy(out->args, args.v, args.n * sizeof *args.v);
	vec_free(&args);
	return true;
}
