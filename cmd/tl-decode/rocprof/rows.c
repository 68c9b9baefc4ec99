/* SPDX-License-Identifier: MIT */
/* Rows of CSV from the window of a source. */
#include "cmd/tl-decode/rocprof/rocprof.h"

#define ROW_MAX ((size_t)16 << 20)
#define FIELDS_MAX 256

/* After the closing quote, or NULL. */
static const unsigned char *
split_quoted(struct rows *r, const unsigned char *p, const unsigned char *end,
    struct field *f)
{
	const unsigned char *from = ++p;

	f->at = r->text.len;
	while ((p = memchr(p, '"', (size_t)(end - p))) != NULL) {
		f->s = (struct str){ (const char *)from, (size_t)(p - from) };
		p++;
		if (p == end || *p != '"')
			break;
		buf_put(&r->text, from, (size_t)(p - from));
		from = ++p;
	}
	if (p != NULL && r->text.len > f->at) {
		buf_put(&r->text, f->s.p, f->s.len);
		f->s = (struct str){ NULL, r->text.len - f->at };
	}
	return p;
}

size_t
row_split(struct rows *r, const unsigned char *p, const unsigned char *end)
{
	const unsigned char *start = p;

	r->fields.n = r->text.len = 0;
	while (p < end) {
		struct field f = { .at = 0 };
		const unsigned char *from = p;

		if (*p == '"') {
			p = split_quoted(r, p, end, &f);
		} else {
			while (p < end && *p != ',' && *p != '\n')
				p++;
			f.s = (struct str){ (const char *)from,
				(size_t)(p - from) };
			if (f.s.len > 0 && p < end && *p == '\n' &&
			    p[-1] == '\r')
				f.s.len--;
		}
		if (p == NULL || p == end)
			return 0;
		if (r->fields.n == FIELDS_MAX) {
			r->error = "a row of more than 256 fields";
			return 0;
		}
		vec_push(&r->fields, f);
		if (*p == '\r' && ++p == end)
			return 0;
		if (*p == '\n')
			return (size_t)(p + 1 - start);
		if (*p++ != ',') {
			r->error = "text after a closing quote";
			return 0;
		}
	}
	return 0;
}

struct str
row_field(const struct rows *r, size_t i)
{
	const struct field *f = &r->fields.v[i];

	return f->s.p != NULL ? f->s
			      : (struct str){ r->text.p + f->at, f->s.len };
}

/* To the next line, within the window. */
static size_t
line_length(const struct in *in)
{
	size_t n = (size_t)(in->end - in->p);
	const unsigned char *nl = memchr(in->p, '\n', n);

	return nl != NULL ? (size_t)(nl + 1 - in->p) : n;
}

size_t
row_next(struct rows *r, struct in *in)
{
	size_t n;

	for (;;) {
		r->error = NULL;
		r->offset = in_offset(in, in->p);
		n = row_split(r, in->p, in->end);
		if (r->error == NULL && n == 0 &&
		    (size_t)(in->end - in->p) > ROW_MAX)
			r->error = "a row of more than 16 MiB: is a quote "
				   "missing?";
		if (r->error != NULL)
			return line_length(in);
		if (n > 0 && (r->fields.n > 1 || row_field(r, 0).len > 0))
			return n;
		in->p += n;
		if (n == 0 && !in_more(in)) {
			if (in->p < in->end)
				r->error = "the data end in a row";
			return line_length(in);
		}
	}
}

void
rows_free(struct rows *r)
{
	vec_free(&r->fields);
	buf_free(&r->text);
}
