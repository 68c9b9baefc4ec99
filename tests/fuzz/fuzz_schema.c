/* SPDX-License-Identifier: MIT */
/*
 * Text of schemas, one per line: a schema that was read and written again from
 * its parts reads the same.
 */
#include <stdlib.h>

#include "cmd/tl-replay/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
put_str(struct buf *out, struct str s)
{
	buf_put(out, s.p, s.len);
}

static void
put_schema(struct buf *out, const struct schema *s)
{
	bool is_keyword = false;

	put_str(out, s->name);
	buf_putc(out, '.');
	put_str(out, s->overload);
	buf_putc(out, '(');
	for (size_t i = 0; i < s->nargs; i++) {
		const struct schema_arg *a = &s->args[i];

		buf_puts(out, i > 0 ? "," : "");
		if (a->is_keyword && !is_keyword)
			buf_puts(out, "*,");
		is_keyword = a->is_keyword;
		put_str(out, a->type);
		if (a->type.p == a->name.p)
			continue; /* "..." */
		buf_putc(out, ' ');
		put_str(out, a->name);
		if (a->has_default)
			buf_putc(out, '=');
		put_str(out, a->value);
	}
	buf_putc(out, ')');
}

static bool
is_same(const struct schema *a, const struct schema *b)
{
	if (!str_eq(a->name, b->name) || !str_eq(a->overload, b->overload) ||
	    a->nargs != b->nargs)
		return false;
	for (size_t i = 0; i < a->nargs; i++) {
		const struct schema_arg *x = &a->args[i], *y = &b->args[i];

		if (!str_eq(x->type, y->type) || !str_eq(x->name, y->name) ||
		    !str_eq(x->value, y->value) || x->kind != y->kind ||
		    x->is_keyword != y->is_keyword ||
		    x->has_default != y->has_default)
			return false;
	}
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *mem = arena_create();
	struct buf again = { 0 };
	struct schema s, t;
	const char *error = NULL;

	if (schema_parse(
		mem, (struct str){ (const char *)data, size }, &s, &error)) {
		put_schema(&again, &s);
		if (!schema_parse(mem, buf_str(&again), &t, &error) ||
		    !is_same(&s, &t))
			abort();
	} else if (error == NULL) {
		abort();
	}
	buf_free(&again);
	arena_destroy(mem);
	return 0;
}
