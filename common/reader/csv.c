/* SPDX-License-Identifier: MIT */
/*
 * CSV by libcsv: RFC 4180, blanks kept, a quote within an unquoted field is an
 * error. Bytes are fed up to one line end at a time, so that errors can name
 * the line. Without libcsv there is no CSV; the other kinds of table need no
 * library.
 */
#include "reader/reader.h"

#ifdef NO_CSV

bool
csv_read(struct reader *r)
{
	return buf_fail(
	    &r->error, "CSV cannot be read: this build has no libcsv");
}

#else

#include <csv.h>

struct csv {
	struct reader *r;
	struct csv_parser parser;
	struct plain table;
	struct arena *head_text;
	struct buf text; /* fields of the row, one after another */
	VEC(size_t) ends;
	VEC(struct str) fields;
	uint64_t line;  /* being fed */
	uint64_t begin; /* line in which the row begins */
	bool in_row, good;
};

static int
never(unsigned char c)
{
	(void)c;
	return 0;
}

static void
take_field(void *p, size_t n, void *ctx)
{
	struct csv *c = ctx;

	c->in_row = true;
	buf_put(&c->text, p, n);
	vec_push(&c->ends, c->text.len);
}

static void
put_row(struct csv *c)
{
	size_t from = 0;

	c->fields.n = 0;
	for (size_t i = 0; i < c->ends.n; i++) {
		struct str f = { c->text.p + from, c->ends.v[i] - from };

		if (f.len == 0)
			f.p = "";
		vec_push(&c->fields,
		    c->table.has_head ? f : arena_str(c->head_text, f));
		from = c->ends.v[i];
	}
	c->r->line = c->begin;
	c->good =
	    c->good && plain_row(c->r, &c->table, c->fields.v, c->fields.n);
	c->text.len = 0;
	c->ends.n = 0;
	c->in_row = false;
}

static void
take_row(int end, void *ctx)
{
	struct csv *c = ctx;

	(void)end;
	if (c->in_row)
		put_row(c);
}

/*
 * libcsv skips empty lines. They are not rows, except in a table of one column,
 * where each is an empty cell. An empty header line means a table without
 * columns.
 */
static void
take_blank(struct csv *c)
{
	if (c->table.has_head && c->table.columns.n == 1) {
		vec_push(&c->ends, 0);
		put_row(c);
	} else if (!c->table.has_head) {
		put_row(c);
	}
}

static bool
is_blank(const unsigned char *p, size_t n)
{
	return (n == 1 && p[0] == '\n') ||
	    (n == 2 && p[0] == '\r' && p[1] == '\n');
}

static bool
feed(struct csv *c, const unsigned char *p, size_t n)
{
	size_t done = csv_parse(&c->parser, p, n, take_field, take_row, c);

	if (!c->good)
		return false;
	if (done != n) {
		c->r->line = c->line;
		if (csv_error(&c->parser) != CSV_EPARSE)
			return buf_fail(&c->r->error, "%s",
			    csv_strerror(csv_error(&c->parser)));
		return buf_fail(&c->r->error,
		    "a quote within a field, or text after a closing quote");
	}
	if (c->parser.entry_pos > CELL_MAX || c->text.len > CELL_MAX) {
		c->r->line = c->begin;
		return buf_fail(&c->r->error,
		    "a row of more than %zu bytes: is a quote missing?",
		    CELL_MAX);
	}
	return true;
}

/* One piece: up to a line's end, or what the window holds of a long line. */
static bool
take_piece(struct csv *c, bool *at_start)
{
	struct in *in = c->r->in;
	size_t n = (size_t)(in->end - in->p);
	const unsigned char *nl = memchr(in->p, '\n', n);
	bool starts = *at_start, is_open, good;

	n = nl != NULL ? (size_t)(nl - in->p) + 1 : n;
	c->line += starts;
	*at_start = nl != NULL;
	is_open = c->in_row || c->parser.entry_pos > 0 || c->parser.quoted;
	if (!is_open) {
		c->begin = c->line;
		if (starts && is_blank(in->p, n)) {
			take_blank(c);
			in->p += n;
			return c->good;
		}
	}
	good = feed(c, in->p, n);
	in->p += n;
	in_release(in);
	return good;
}

static bool
finish(struct csv *c)
{
	if (csv_fini(&c->parser, take_field, take_row, c) != 0) {
		c->r->line = c->begin;
		return buf_fail(&c->r->error, "a quoted field has no end");
	}
	if (!c->good)
		return false;
	if (c->in_row)
		put_row(c);
	if (!c->good)
		return false;
	if (!c->table.has_head)
		take_blank(c);
	c->r->sink->end(c->r->sink->ctx);
	c->r->ntables++;
	return true;
}

bool
csv_read(struct reader *r)
{
	struct csv c = { .r = r, .head_text = arena_create(), .good = true };
	bool good, at_start = true;

	if (csv_init(&c.parser, CSV_STRICT | CSV_STRICT_FINI) != 0)
		die("libcsv can't be used");
	buf_room(&c.text, 1); /* not NULL: fields are offsets from it */
	csv_set_space_func(&c.parser, never);
	csv_set_blk_size(&c.parser, (size_t)64 << 10);
	while (in_need(r->in, 1) && (good = take_piece(&c, &at_start)))
		;
	good = c.good && r->error.len == 0 && finish(&c);
	csv_free(&c.parser);
	plain_free(&c.table);
	buf_free(&c.text);
	vec_free(&c.ends);
	vec_free(&c.fields);
	arena_destroy(c.head_text);
	return good;
}

#endif
