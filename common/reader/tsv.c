/* SPDX-License-Identifier: MIT */
/* TSV as our programs write it: a line per row, escapes \t \n \\ \xNN. */
#include "reader/reader.h"

struct tsv {
	struct plain table;
	struct arena *head_text; /* texts of the header */
	struct arena *row_text;
	VEC(struct str) fields;
	bool crlf; /* the header ends in CRLF: other lines may, too */
};

static int
hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0'
	    : c >= 'a' && c <= 'f'  ? c - 'a' + 10
	    : c >= 'A' && c <= 'F'  ? c - 'A' + 10
				    : -1;
}

/* Unknown escapes, as other writers have, stay as they are. */
static struct str
unescape(struct arena *a, struct str s)
{
	char *out = arena_alloc(a, s.len + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++) {
		char next = i + 1 < s.len ? s.p[i + 1] : '\0';

		out[n] = s.p[i];
		if (s.p[i] == '\\' && (next == 't' || next == 'n')) {
			out[n] = next == 't' ? '\t' : '\n';
			i++;
		} else if (s.p[i] == '\\' && next == '\\') {
			i++;
		} else if (s.p[i] == '\\' && next == 'x' && i + 3 < s.len &&
		    hex(s.p[i + 2]) >= 0 && hex(s.p[i + 3]) >= 0) {
			out[n] = (char)(hex(s.p[i + 2]) << 4 | hex(s.p[i + 3]));
			i += 3;
		}
		n++;
	}
	return (struct str){ out, n };
}

static void
split(struct tsv *t, struct str line)
{
	struct arena *a = t->table.has_head ? t->row_text : t->head_text;

	t->fields.n = 0;
	for (;;) {
		const char *tab = memchr(line.p, '\t', line.len);
		size_t n = tab != NULL ? (size_t)(tab - line.p) : line.len;
		struct str f = { line.p, n };

		if (n > 0 && memchr(f.p, '\\', n) != NULL)
			f = unescape(a, f);
		else if (!t->table.has_head)
			f = arena_str(a, f);
		vec_push(&t->fields, f);
		if (tab == NULL)
			return;
		line.p += n + 1;
		line.len -= n + 1;
	}
}

static bool
take_line(struct reader *r, struct tsv *t, struct str line)
{
	if (line.len > 0 && line.p[line.len - 1] == '\r' &&
	    (t->crlf || !t->table.has_head)) {
		t->crlf = true;
		line.len--;
	}
	if (line.len == 0 && !t->table.has_head)
		return plain_row(r, &t->table, NULL, 0); /* no columns */
	if (line.len == 0 && t->table.columns.n != 1)
		return buf_fail(&r->error,
		    "an empty line in a table of %zu columns (several tables "
		    "in one file travel as --format ndjson)",
		    t->table.columns.n);
	split(t, line);
	return plain_row(r, &t->table, t->fields.v, t->fields.n);
}

bool
tsv_read(struct reader *r)
{
	struct tsv t = { .head_text = arena_create(),
		.row_text = arena_create() };
	const unsigned char *end;
	bool good = true;

	r->line = 0;
	while (good && (end = reader_line(r)) != NULL) {
		struct in *in = r->in;

		r->line++;
		good = take_line(r, &t,
		    (struct str){ (const char *)in->p, (size_t)(end - in->p) });
		arena_reset(t.row_text, 0);
		in->p = end < in->end ? end + 1 : end;
		in_release(in);
	}
	if (good) {
		r->sink->end(r->sink->ctx);
		r->ntables++;
	}
	plain_free(&t.table);
	vec_free(&t.fields);
	arena_destroy(t.head_text);
	arena_destroy(t.row_text);
	return good;
}
