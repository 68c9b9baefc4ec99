/* SPDX-License-Identifier: MIT */
/*
 * Tables as our programs write them between one another: a schema, rows, an
 * end. Rows are checked to be JSON and copied; long tables keep their head.
 */
#include "cmd/tl-html/html.h"

#define ROWS_MAX 1000
/* Of a table: a quarter of what is left of the whole, between these. */
#define BYTES_MAX 400000
#define BYTES_MIN 20000
#define BYTES_ALL 1800000
#define LINE_MAX_BYTES (UINT64_C(64) << 20)

struct reader {
	struct in *in;
	const char *path;
	uint64_t line;
};

static bool
next_line(struct reader *r, struct str *line)
{
	const unsigned char *nl;

	while ((nl = memchr(r->in->p, '\n', (size_t)(r->in->end - r->in->p))) ==
	    NULL) {
		if ((uint64_t)(r->in->end - r->in->p) > LINE_MAX_BYTES)
			die("%s: line %" PRIu64 ": too long", r->path,
			    r->line + 1);
		if (!in_more(r->in))
			break;
	}
	if (nl == NULL && r->in->p == r->in->end)
		return false;
	if (nl == NULL)
		die("%s: line %" PRIu64 ": the table was cut off", r->path,
		    r->line + 1);
	*line = (struct str){ (const char *)r->in->p, (size_t)(nl - r->in->p) };
	r->line++;
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
	const char *error = "no object";
	size_t at = 0;

	if (line.len == 0 || line.p[0] != '{' ||
	    !json_minify(line, 0, b, &error, &at))
		die("%s: line %" PRIu64 ": %s", r->path, r->line, error);
}

static bool
starts(struct str line, const char *with)
{
	size_t n = strlen(with);

	return line.len >= n && memcmp(line.p, with, n) == 0;
}

/* What is behind the schema, through the end line. */
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
			    r->path);
		if (starts(line, "{\"end\":"))
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

void
tables_put(const char *path, struct buf *b, bool *is_first)
{
	struct reader r = { .in = in_open(path), .path = path };
	struct str line;

	while (next_line(&r, &line)) {
		if (!starts(line, "{\"table\":"))
			die("%s: line %" PRIu64
			    ": no table of NDJSON: it has no schema line",
			    path, r.line);
		buf_puts(b, *is_first ? "{\"schema\":" : ",\n{\"schema\":");
		*is_first = false;
		put_line(&r, line, b);
		done_line(&r, line);
		put_rows(&r, b);
	}
	/* a program that died wrote nothing: that is no empty table */
	if (r.line == 0)
		die("%s: no table: the file is empty", r.path);
	in_close(r.in);
}
