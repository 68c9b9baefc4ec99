/* SPDX-License-Identifier: MIT */
/*
 * The zip around a workbook, by minizip, over bytes in memory. A part is read
 * in pieces, and never one whose directory entry says more than PART_MAX; the
 * library reads no more than the entry says, and compares the checksum.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unzip.h>

#include "cmd/tl-compare/workbook.h"

#define PIECE ((size_t)64 << 10)
/* As CaseInsensitive in unzLocateFile(). */
#define NO_CASE 2

struct parts {
	const unsigned char *bytes;
	size_t n, at;
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

/* ---- bytes in memory, as minizip wants a file ---- */

static voidpf
mem_open(voidpf opaque, const void *name, int mode)
{
	(void)name;
	(void)mode;
	return opaque;
}

static uLong
mem_read(voidpf opaque, voidpf stream, void *out, uLong n)
{
	struct parts *p = opaque;

	(void)stream;
	if (n > p->n - p->at)
		n = (uLong)(p->n - p->at);
	memcpy(out, p->bytes + p->at, n);
	p->at += n;
	return n;
}

static uLong
mem_write(voidpf opaque, voidpf stream, const void *in, uLong n)
{
	(void)opaque;
	(void)stream;
	(void)in;
	(void)n;
	return 0;
}

static ZPOS64_T
mem_tell(voidpf opaque, voidpf stream)
{
	const struct parts *p = opaque;

	(void)stream;
	return p->at;
}

static long
mem_seek(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin)
{
	struct parts *p = opaque;
	size_t from = origin == ZLIB_FILEFUNC_SEEK_CUR ? p->at
	    : origin == ZLIB_FILEFUNC_SEEK_END         ? p->n
						       : 0;

	(void)stream;
	if (offset > p->n - from)
		return -1;
	p->at = from + (size_t)offset;
	return 0;
}

static int
mem_done(voidpf opaque, voidpf stream)
{
	(void)opaque;
	(void)stream;
	return 0;
}

/* ---- parts ---- */

struct parts *
parts_open(const void *bytes, size_t n, struct buf *error)
{
	struct parts *p = xcalloc(1, sizeof *p);
	zlib_filefunc64_def file = { .zopen64_file = mem_open,
		.zread_file = mem_read,
		.zwrite_file = mem_write,
		.ztell64_file = mem_tell,
		.zseek64_file = mem_seek,
		.zclose_file = mem_done,
		.zerror_file = mem_done,
		.opaque = p };

	p->bytes = bytes;
	p->n = n;
	p->zip = unzOpen2_64("", &file);
	if (p->zip == NULL) {
		(void)book_fail(error, "the zip has no directory: cut off?");
		free(p);
		return NULL;
	}
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
