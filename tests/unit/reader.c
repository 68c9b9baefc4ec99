/* SPDX-License-Identifier: MIT */
/* Tables read back: what a cell is, lists in cells, CSV, TSV, typed NDJSON. */
#include <unistd.h>

#include "reader/reader.h"

#include "tests/unit/tap.h"

/* ---- a table as text: a row a line, cells with their types ---- */

static struct buf seen;

static void
put_val(const struct val *v)
{
	switch (v->type) {
	case VAL_NONE: buf_puts(&seen, "-"); break;
	case VAL_TEXT:
		buf_printf(&seen, "'%.*s'", (int)v->text.len, v->text.p);
		break;
	case VAL_NUMBER: buf_printf(&seen, "%.17g", v->number); break;
	case VAL_BIG:
		buf_printf(&seen, "big %.*s", (int)v->text.len, v->text.p);
		break;
	case VAL_BOOL: buf_puts(&seen, v->yes ? "yes" : "no"); break;
	}
}

static size_t ncolumns;

static void
begin(void *ctx, const struct head *head)
{
	(void)ctx;
	ncolumns = head->ncolumns;
	buf_printf(&seen, "%.*s:", (int)head->name.len, head->name.p);
	for (size_t i = 0; i < ncolumns; i++)
		buf_printf(&seen, " %.*s", (int)head->columns[i].id.len,
		    head->columns[i].id.p);
}

static void
row(void *ctx, const struct val *cells)
{
	(void)ctx;
	for (size_t i = 0; i < ncolumns; i++) {
		buf_puts(&seen, i == 0 ? " | " : " ");
		put_val(&cells[i]);
	}
}

static void
end(void *ctx)
{
	(void)ctx;
	buf_puts(&seen, " .");
}

/* The result for a text, or the error. */
static const char *
read_text(enum table_kind kind, const char *text)
{
	static const struct table_sink sink = { begin, row, end, NULL };
	char path[] = "/tmp/tl-reader.XXXXXX";
	struct reader r = { .sink = &sink };
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		bail_out("no file to read");
	close(fd);
	seen.len = 0;
	r.in = in_open(path);
	if (!table_read(&r, kind))
		buf_printf(&seen, "line %" PRIu64 ": %s", r.line, r.error.p);
	buf_putc(&seen, '\0');
	in_close(r.in);
	reader_free(&r);
	unlink(path);
	return seen.p;
}

static void
values(void)
{
	is_str(read_text(TABLE_TSV, "a\n1\n-2.5e3\n007\n+1\nnan\nx\n"),
	    ": a | 1 | -2500 | '007' | '+1' | 'nan' | 'x' .",
	    "a number is what JSON writes as one");
	is_str(read_text(TABLE_TSV, "a\n9007199254740992\n9007199254740993\n"),
	    ": a | 9007199254740992 | big 9007199254740993 .",
	    "an integer that no double holds keeps its digits");
	is_str(read_text(TABLE_TSV, "a\tb\n1e999\t\n"), ": a b | '1e999' - .",
	    "a number beyond doubles is text, an empty cell is none");
}

static void
tsv(void)
{
	is_str(read_text(TABLE_TSV, "a\tb\nx\\ty\tp\\nq\\\\\n"),
	    ": a b | 'x\ty' 'p\nq\\' .", "TSV: escapes");
	is_str(read_text(TABLE_TSV, "a\tb\r\n1\t2\r\n"), ": a b | 1 2 .",
	    "TSV: lines as Windows ends them");
	is_str(read_text(TABLE_TSV,
		   "\xef\xbb\xbf"
		   "a\n1"),
	    ": a | 1 .",
	    "a byte order mark is no part of a name; the last line may be "
	    "open");
	is_str(read_text(TABLE_TSV, "a\tb\n1\n"),
	    ": a bline 2: 1 fields, the header has 2", "TSV: a short row");
}

static void
csv(void)
{
#ifndef NO_CSV
	is_str(read_text(TABLE_CSV, "a,b\n\"x,\"\"y\",2\n"),
	    ": a b | 'x,\"y' 2 .", "CSV: quotes");
	is_str(read_text(TABLE_CSV, "a,b\n\"two\nlines\",\n"),
	    ": a b | 'two\nlines' - .", "CSV: a line break in quotes");
	is_str(read_text(TABLE_CSV, "a,b\n1,2,3\n"),
	    ": a bline 2: 3 fields, the header has 2", "CSV: a long row");
#endif
	is_str(read_text(TABLE_CSV, ""), "line 0: the input is empty",
	    "nothing is no table");
}

#define SCHEMA                                                     \
	"{\"table\":\"t\",\"columns\":[{\"id\":\"a\",\"type\":"    \
	"\"int\"},{\"id\":\"b\",\"type\":\"json\"},{\"id\":\"c\"," \
	"\"type\":\"bool\"}]}\n"

static void
ndjson(void)
{
	is_str(read_text(TABLE_NDJSON,
		   SCHEMA "{\"a\":1,\"b\":[1, \"x\"],\"c\":true}\n"
			  "{\"c\":null,\"a\":null}\n{\"end\":{\"rows\":2}}\n"),
	    "t: a b c | 1 '[1, \"x\"]' yes | - - - .",
	    "NDJSON: types, any order, what is not there is none");
	is_str(read_text(TABLE_NDJSON, SCHEMA "{\"a\":1}\n"),
	    "t: a b c | 1 - -line 3: table \"t\" was cut off: it has no end "
	    "line",
	    "NDJSON: an end that is not there");
	is_str(read_text(TABLE_NDJSON, "{\"a\":1}\n"),
	    "line 1: a row before any schema "
	    "({\"table\":NAME,\"columns\":[...]})",
	    "NDJSON: no schema");
}

int
main(void)
{
	values();
	tsv();
	csv();
	ndjson();
	buf_free(&seen);
	done_testing();
}
