/* SPDX-License-Identifier: MIT */
/*
 * NDJSON tables: schema, rows, end. Rows are checked to be JSON and copied;
 * long tables are cut.
 */
#include <stdlib.h>

#include "reader/reader.h"
#include "table/catalogue.h"

#include "cmd/tl-html/html.h"

#define ROWS_MAX 1000
/* A table gets a quarter of what is left, within these bounds. */
#define BYTES_MAX 400000
#define BYTES_MIN 20000
#define BYTES_ALL 1800000

static bool
next_line(struct reader *r, struct str *line)
{
	const unsigned char *end = reader_line(r);

	if (end == NULL)
		return false;
	r->line++;
	if (r->unfinished)
		die("%s: line %" PRIu64 ": the table was cut off", r->in->name,
		    r->line);
	*line =
	    (struct str){ (const char *)r->in->p, (size_t)(end - r->in->p) };
	return true;
}

static void
done_line(struct reader *r, struct str line)
{
	r->in->p += line.len + 1;
	in_release(r->in);
}

static void
put_line(struct reader *r, struct str line, struct buf *b)
{
	const char *error = "not an object";
	size_t at = 0;

	if (line.len == 0 || line.p[0] != '{' ||
	    !json_minify(line, 0, b, &error, &at))
		die("%s: line %" PRIu64 ": %s", r->in->name, r->line, error);
}

/* Rows up to the end line. */
static void
put_rows(struct reader *r, struct buf *b)
{
	size_t start = b->len;
	size_t room = start < BYTES_ALL ? (BYTES_ALL - start) / 4 : 0;
	uint64_t n = 0, left = 0;
	struct str line;

	room = room > BYTES_MAX ? BYTES_MAX
	    : room < BYTES_MIN  ? BYTES_MIN
				: room;
	buf_puts(b, ",\"rows\":[");
	for (;;) {
		if (!next_line(r, &line))
			die("%s: the table was cut off: it has no end line",
			    r->in->name);
		if (str_starts(line, STR("{\"end\":")))
			break;
		if (n < ROWS_MAX && b->len - start < room) {
			buf_puts(b, n++ > 0 ? ",\n" : "\n");
			put_line(r, line, b);
		} else
			left++;
		done_line(r, line);
	}
	done_line(r, line);
	buf_printf(b, "],\"left\":%" PRIu64 "}", left);
}

/* The order of columns, from the catalogue. */
static void
put_places(const struct sheet *s, struct str schema, struct buf *b)
{
	static const struct str head = STR_INIT("{\"id\":\"");
	const char *between = "";
	ptrdiff_t at;

	buf_puts(b, ",\"places\":[");
	while ((at = str_find(schema, head, false)) >= 0) {
		size_t n = 0;
		char *id;

		schema.p += (size_t)at + head.len;
		schema.len -= (size_t)at + head.len;
		while (n < schema.len && schema.p[n] != '"')
			n++;
		id = strndup(schema.p, n);
		if (id == NULL)
			die_errno("%s", "a column's name");
		buf_printf(b, "%s%u", between,
		    sheet_place(s, &(struct column){ .id = id }));
		between = ",";
		free(id);
	}
	buf_puts(b, "]");
}

/* The catalogue's entry of a table, by a schema without blanks. */
static void
put_entry(struct str schema, struct buf *b)
{
	size_t from = strlen("{\"table\":\"");
	struct str name = { schema.p + from, 0 };
	const struct sheet *s;

	while (from + name.len < schema.len && name.p[name.len] != '"')
		name.len++;
	put_places(sheet_of(name), schema, b);
	s = sheet_find(name);
	if (s == NULL || (s->where & SHEET_PAGE) != 0)
		buf_puts(b, ",\"listed\":true");
	if (s == NULL || s->chart == NULL)
		return;
	buf_printf(b, ",\"chart\":{\"figure\":\"%s\",\"y\":\"%s\"",
	    s->chart->figure, s->chart->y);
	if (s->chart->x != NULL)
		buf_printf(b, ",\"x\":\"%s\"", s->chart->x);
	buf_puts(b, "}");
}

void
tables_put(const char *path, int side, struct buf *b, bool *is_first)
{
	struct reader r = { .in = in_open(path) };
	struct str line;

	while (next_line(&r, &line)) {
		char *schema;
		size_t at;

		if (!str_starts(line, STR("{\"table\":")))
			die("%s: line %" PRIu64
			    ": not a table in NDJSON: no schema line",
			    path, r.line);
		buf_printf(b,
		    "%s{\"side\":%d,\"schema\":", *is_first ? "" : ",\n", side);
		*is_first = false;
		at = b->len;
		put_line(&r, line, b);
		/* b moves as it grows */
		schema = strndup(b->p + at, b->len - at);
		if (schema == NULL)
			die_errno("%s", path);
		put_entry((struct str){ schema, b->len - at }, b);
		free(schema);
		done_line(&r, line);
		put_rows(&r, b);
	}
	/* no output is a failed program, not an empty table */
	if (r.line == 0)
		die("%s: no table: the file is empty", path);
	in_close(r.in);
}
