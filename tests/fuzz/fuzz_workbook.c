/* SPDX-License-Identifier: MIT */
/*
 * Bytes as a workbook if they begin like a zip, else as the XML of one sheet,
 * as checksums reject most changed zips. A reader either passes on whole tables
 * or gives an error; every row has the head's cells; the XML's pieces do not
 * matter.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/tl-compare/workbook.h"

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

struct seen {
	size_t ncolumns;
	bool is_open;
	uint64_t nrows, nends;
	uint64_t hash;
};

static void
add(struct seen *s, const void *p, size_t n)
{
	s->hash = hash_mix(s->hash ^ hash_bytes(p, n), HASH_K1);
}

static void
begin(void *ctx, const struct head *head)
{
	struct seen *s = ctx;

	CHECK(!s->is_open && head->ncolumns <= GRID_COLUMNS_MAX);
	s->is_open = true;
	s->ncolumns = head->ncolumns;
	for (size_t i = 0; i < head->ncolumns; i++)
		add(s, head->columns[i].id.p, head->columns[i].id.len);
}

static void
row(void *ctx, const struct val *cells)
{
	struct seen *s = ctx;

	CHECK(s->is_open);
	s->nrows++;
	for (size_t i = 0; i < s->ncolumns; i++) {
		const struct val *v = &cells[i];

		if (v->type == VAL_TEXT || v->type == VAL_BIG) {
			CHECK(v->text.len > 0 && v->text.len <= CELL_MAX);
			add(s, v->text.p, v->text.len);
		} else if (v->type == VAL_NUMBER) {
			CHECK(v->number - v->number == 0);
			add(s, &v->number, sizeof v->number);
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
read_zip(const uint8_t *data, size_t size)
{
	struct buf error = { 0 };
	struct workbook *w;
	char path[64];
	int fd = memfd_create("workbook", 0);

	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	w = workbook_open(path, &error);

	CHECK((w == NULL) == (error.len > 1));
	for (size_t i = 0; w != NULL && i < workbook_count(w) && i < 8; i++) {
		struct seen s = { 0 };
		struct table_sink sink = { begin, row, end, &s };
		struct oddities odd = { 0 };

		error.len = 0;
		(void)workbook_name(w, i);
		if (workbook_read(w, i, &sink, &odd, &error))
			CHECK(!s.is_open && s.nends == 1);
		else
			CHECK(error.len > 1 && s.nends == 0);
	}
	workbook_close(w);
	buf_free(&error);
	close(fd);
}

/* In two pieces. */
static bool
read_xml(const uint8_t *data, size_t size, size_t first, struct seen *s)
{
	static struct str texts[] = { STR_INIT("name"), STR_INIT("7.5"),
		STR_INIT("") };
	struct book_cells cells = { .shared = { texts, 3, 3 } };
	struct table_sink sink = { begin, row, end, s };
	struct oddities odd = { 0 };
	struct buf error = { 0 };
	struct grid *g = grid_create(&sink, &cells, &odd);
	struct xml *x = xml_create(grid_sink(g), &error);
	bool good = xml_feed(x, data, first, false) &&
	    xml_feed(x, data + first, size - first, true);

	if (good)
		grid_finish(g);
	CHECK(good == (error.len == 0));
	CHECK(s->nends == good);
	xml_destroy(x);
	grid_destroy(g);
	buf_free(&error);
	return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen a = { 0 }, b = { 0 };
	bool good;

	if (size >= 2 && memcmp(data, "PK", 2) == 0) {
		read_zip(data, size);
		return 0;
	}
	if (size == 0)
		return 0;
	good = read_xml(data, size, 0, &a);
	CHECK(read_xml(data, size, size / 2, &b) == good);
	CHECK(!good || (a.nrows == b.nrows && a.hash == b.hash));
	return 0;
}
