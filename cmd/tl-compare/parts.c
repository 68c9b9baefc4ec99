/* SPDX-License-Identifier: MIT */
/*
 * The zip around a workbook, by minizip. A part is read in pieces, and never
 * one whose directory entry says more than PART_MAX; the library reads no more
 * than the entry says, and compares the checksum.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unzip.h>

#include "cmd/tl-compare/workbook.h"

#define PIECE ((size_t)64 << 10)
/* As CaseInsensitive in unzLocateFile(). */
#define NO_CASE 2

struct parts {
	uint64_t n;        /* bytes of the zip */
	uint64_t inflated; /* of all parts so far */
	unzFile zip;
	unsigned char piece[PIECE];
};

bool
book_fail(struct buf *error, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	error->len = 0;
	buf_put(error, text, strlen(text) + 1);
	return false;
}

/* ---- parts ---- */

static bool
refuse_others(const char *path, struct buf *error)
{
	char head[8] = "";
	FILE *f = fopen(path, "rbe");

	if (f == NULL)
		return book_fail(error, "%s", strerror(errno));
	(void)!fread(head, 1, sizeof head, f);
	fclose(f);
	if (memcmp(head, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8) == 0)
		return book_fail(error,
		    "an old workbook (.xls), or one with a password: save it "
		    "as .xlsx without");
	if (memcmp(head, "PK\3\4", 4) != 0)
		return book_fail(error,
		    "this is no workbook (.xlsx); a report is one, or a "
		    "folder of CSV (tl-report -d)");
	return true;
}

struct parts *
parts_open(const char *path, struct buf *error)
{
	struct parts *p;
	struct stat st;
	unzFile zip;

	if (!refuse_others(path, error))
		return NULL;
	zip = stat(path, &st) == 0 ? unzOpen64(path) : NULL;
	if (zip == NULL) {
		(void)book_fail(error, "the zip has no directory: cut off?");
		return NULL;
	}
	p = xcalloc(1, sizeof *p);
	p->zip = zip;
	p->n = (uint64_t)st.st_size;
	return p;
}

void
parts_close(struct parts *p)
{
	if (p == NULL)
		return;
	(void)unzClose(p->zip);
	free(p);
}

/* Whether there is a part of this name, whose case is of no matter. */
static bool
parts_have(struct parts *p, const char *name)
{
	return unzLocateFile(p->zip, name, NO_CASE) == UNZ_OK;
}

/* Opens the part that was just found. */
static bool
open_found(struct parts *p, const char *name, struct buf *error)
{
	unz_file_info64 info;

	if (unzGetCurrentFileInfo64(p->zip, &info, NULL, 0, NULL, 0, NULL, 0) !=
	    UNZ_OK)
		return book_fail(error, "%s: damaged directory entry", name);
	if (info.flag & 1)
		return book_fail(error, "%s is encrypted", name);
	if (info.uncompressed_size > PART_MAX)
		return book_fail(
		    error, "%s: more than %" PRIu64 " bytes", name, PART_MAX);
	if (unzOpenCurrentFile(p->zip) != UNZ_OK)
		return book_fail(error, "%s can't be inflated", name);
	return true;
}

bool
parts_parse(struct parts *p, const char *name, struct xml *x, struct buf *error)
{
	bool good = true;
	int n, closed;

	if (!parts_have(p, name))
		return book_fail(error, "there is no %s", name);
	if (!open_found(p, name, error))
		return false;
	do {
		n = unzReadCurrentFile(p->zip, p->piece, PIECE);
		if (n >= 0)
			good = xml_feed(x, p->piece, (size_t)n, n == 0);
		p->inflated += n > 0 ? (uint64_t)n : 0;
		if (good && p->inflated > BOOK_XML_FREE &&
		    p->inflated - BOOK_XML_FREE > BOOK_XML_RATIO * p->n)
			good = book_fail(
			    error, "the zip inflates to too much: a bomb?");
	} while (good && n > 0);
	closed = unzCloseCurrentFile(p->zip);
	if (n < 0 || (good && closed == UNZ_CRCERROR))
		return book_fail(error, "%s: the zip is damaged", name);
	if (!good) {
		struct buf why = *error;

		*error = (struct buf){ 0 };
		(void)book_fail(error, "%s: %s", name, why.p);
		buf_free(&why);
	}
	return good;
}
