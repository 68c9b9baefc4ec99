/* SPDX-License-Identifier: MIT */
/*
 * One text, read as each kind of table. A reader either passes on whole tables
 * or gives an error; every row has the head's cells, and their contents become
 * text that XML and a sheet can hold.
 */
#include <stdlib.h>

#include "cmd/tl-xlsx/tables.h"

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

struct seen {
	size_t ncolumns;
	bool is_open;
	uint64_t nends;
	struct names names;
	struct buf text;
};

/* Characters of XML 1.0, and not too many of them. */
static void
check_text(struct seen *s, struct str text)
{
	size_t units = 0, n;
	uint32_t cp;
	bool cut;

	s->text.len = 0;
	(void)text_clean(text, &s->text, &cut);
	CHECK(s->text.p[s->text.len - 1] == '\0');
	for (size_t i = 0; i + 1 < s->text.len; i += n) {
		n = utf8_next(s->text.p + i, s->text.len - 1 - i, &cp);
		CHECK(cp >= ' ' || cp == '\t' || cp == '\n');
		CHECK(cp != UTF8_BAD);
		CHECK(cp < 0xfffe || cp > 0xffff);
		units += cp > 0xffff ? 2 : 1;
	}
	CHECK(units <= XLSX_CELL);
	CHECK(cut || units >= text.len / 4);
}

static void
begin(void *ctx, const struct head *head)
{
	struct seen *s = ctx;

	CHECK(!s->is_open);
	s->is_open = true;
	s->ncolumns = head->ncolumns;
	if (s->names.folded.n < 20)
		free(names_make(&s->names, head->name, ""));
	for (size_t i = 0; i < head->ncolumns; i++) {
		check_text(s, head->columns[i].id);
		check_text(s, head->columns[i].label);
		CHECK(head->columns[i].label_div > 0);
	}
}

static void
row(void *ctx, const struct val *cells)
{
	struct seen *s = ctx;

	CHECK(s->is_open);
	for (size_t i = 0; i < s->ncolumns; i++) {
		if (cells[i].type == VAL_TEXT || cells[i].type == VAL_BIG) {
			check_text(s, cells[i].text);
		} else if (cells[i].type == VAL_NUMBER) {
			CHECK(cells[i].number - cells[i].number == 0);
		}
	}
}

static void
end(void *ctx)
{
	struct seen *s = ctx;

	CHECK(s->is_open);
	s->is_open = false;
	s->nends++;
}

static void
read_as(const unsigned char *p, size_t n, enum table_kind kind)
{
	struct seen s = { 0 };
	struct table_sink sink = { begin, row, end, &s };
	struct reader r = { .in = in_open_mem(p, n, "fuzz"), .sink = &sink };

	if (kind == TABLE_UNKNOWN)
		kind = table_sniff(&r, "fuzz");
	if (kind == TABLE_UNKNOWN || !table_read(&r, kind))
		CHECK(r.error.len > 1);
	else
		CHECK(!s.is_open && s.nends > 0);
	CHECK(s.nends == r.ntables);
	in_close(r.in);
	reader_free(&r);
	names_free(&s.names);
	buf_free(&s.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *p = xcalloc(1, size + IN_PAD);

	if (size > 0)
		memcpy(p, data, size);
	for (int kind = TABLE_UNKNOWN; kind <= TABLE_CSV; kind++)
		read_as(p, size, (enum table_kind)kind);
	free(p);
	return 0;
}
