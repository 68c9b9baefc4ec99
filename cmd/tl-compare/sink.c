/* SPDX-License-Identifier: MIT */
/* Where tables go: distinct names, and which are wanted. */
#include <strings.h>

#include "cmd/tl-compare/compare.h"

static bool
is_taken(const struct sink *s, const char *name)
{
	for (size_t i = 0; i < s->names.n; i++)
		if (strcasecmp(s->names.v[i], name) == 0)
			return true;
	return false;
}

/* Characters that files or sheets cannot have in their names become _. */
static void
put_harmless(struct buf *b, const char *s)
{
	for (; *s != '\0'; s++)
		buf_putc(b,
		    (unsigned char)*s < ' ' || *s == 0x7f ||
			    strchr("[]:*?/\\", *s) != NULL
			? '_'
			: *s);
}

struct table *
sink_table(struct sink *s, const char *name, const struct column *columns,
    size_t ncolumns)
{
	struct buf b = { 0 };
	size_t len;

	put_harmless(&b, name);
	len = b.len;
	for (unsigned i = 2; buf_putc(&b, '\0'), is_taken(s, b.p); i++) {
		b.len = len;
		buf_printf(&b, "~%u", i);
	}
	vec_push(&s->names, b.p);
	return table_create(b.p, columns, ncolumns);
}

static bool
is_asked(const struct sink *s)
{
	return s->only == NULL ||
	    strcmp(s->only, s->names.v[s->names.n - 1]) == 0;
}

bool
sink_wants(const struct sink *s)
{
	return is_asked(s) && !s->lists;
}

void
sink_put(struct sink *s, struct table *t)
{
	s->found |= is_asked(s);
	if (sink_wants(s))
		table_print(t, &s->dest);
	table_destroy(t);
}

void
sink_finish(struct sink *s)
{
	if (s->lists)
		s->dest.out = out_open(NULL);
	for (size_t i = 0; i < s->names.n; i++) {
		if (s->lists)
			out_printf(s->dest.out, "%s\n", s->names.v[i]);
		vec_release(s->names.v[i]);
	}
	if (s->found)
		table_dest_finish(&s->dest);
	vec_free(&s->names);
}
