/* SPDX-License-Identifier: MIT */
/*
 * Whether a workbook is whole. The library writes each part to a temporary
 * file first and does not look whether that worked: on a full disk, bytes from
 * the middle of a sheet are missing in a perfectly good zip. So the parts are
 * read again: each is an XML text whose elements all end, and the rows of a
 * sheet are as many bytes as went in.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <zlib.h>

#include "cmd/tl-xlsx/workbook.h"

/* The fields that are needed of the records of a zip. */
enum {
	END_SIZE = 22,
	END_COUNT = 10,
	END_DIR = 16,
	DIR_SIZE = 46,
	DIR_PACKED = 20,
	DIR_NAME = 28,
	DIR_LOCAL = 42,
	LOCAL_SIZE = 30,
	LOCAL_NAME = 26,
};

struct zip {
	const unsigned char *p;
	size_t size;
	const uint64_t *rows_bytes;
	size_t nsheets;
};

static uint64_t
get(const unsigned char *p, int bytes)
{
	uint64_t v = 0;

	for (int i = bytes; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

/* ---- one part ---- */

/* Over the bytes of an XML text, as they come. */
struct scan {
	char tag[16]; /* the beginning of the one being read */
	size_t ntag;
	bool in_tag;
	unsigned char last; /* byte before */
	int64_t depth;
	bool good;
	uint64_t at;         /* of the next byte */
	uint64_t rows_begin; /* behind <sheetData> */
	uint64_t rows_bytes; /* until </sheetData> */
};

static bool
is_tag(const struct scan *s, const char *tag)
{
	return s->ntag >= strlen(tag) && memcmp(s->tag, tag, strlen(tag)) == 0;
}

/* At the tag's ">". */
static void
end_tag(struct scan *s)
{
	s->in_tag = false;
	if (s->ntag == 0)
		s->good = false;
	else if (s->tag[0] == '/')
		s->depth--;
	else if (s->tag[0] != '?' && s->last != '/')
		s->depth++;
	s->good &= s->depth >= 0;
	if (is_tag(s, "sheetData"))
		s->rows_begin = s->at + 1;
	else if (is_tag(s, "/sheetData"))
		s->rows_bytes = s->at - strlen("</sheetData") - s->rows_begin;
}

/* The part of a tag in n bytes, its ">" behind them if it is in sight. */
static void
scan_tag(struct scan *s, const unsigned char *p, size_t n)
{
	size_t room = sizeof s->tag - s->ntag, take = n < room ? n : room;

	memcpy(s->tag + s->ntag, p, take);
	s->ntag += take;
	s->good &= memchr(p, '<', n) == NULL;
	if (n > 0)
		s->last = p[n - 1];
	s->at += n;
}

static void
scan_bytes(struct scan *s, const unsigned char *p, size_t n)
{
	const unsigned char *end = p + n, *q;

	while (p < end) {
		size_t left = (size_t)(end - p);

		q = memchr(p, s->in_tag ? '>' : '<', left);
		if (s->in_tag)
			scan_tag(s, p, q != NULL ? (size_t)(q - p) : left);
		else
			s->at += q != NULL ? (size_t)(q - p) : left;
		if (q == NULL)
			return;
		if (s->in_tag) {
			end_tag(s);
		} else {
			s->in_tag = true;
			s->ntag = 0;
			s->last = '<';
		}
		s->at++;
		p = q + 1;
	}
}

static bool
scan_deflated(struct scan *s, const unsigned char *p, size_t size)
{
	static unsigned char out[1 << 16];
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)p };
	int st = Z_OK;

	if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
		return false;
	while (st == Z_OK) {
		size_t left = size - (size_t)(z.next_in - p);

		z.avail_in = left > UINT32_MAX ? UINT32_MAX : (uInt)left;
		z.next_out = out;
		z.avail_out = sizeof out;
		st = inflate(&z, Z_NO_FLUSH);
		scan_bytes(s, out, sizeof out - z.avail_out);
	}
	inflateEnd(&z);
	return st == Z_STREAM_END && s->good && s->at > 0 && s->depth == 0 &&
	    !s->in_tag;
}

/* The number of a sheet's part from 0, or -1 for the others. */
static int64_t
sheet_of(struct str name)
{
	static const struct str start = STR_INIT("xl/worksheets/sheet");
	int64_t n = 0;

	if (!str_starts(name, start))
		return -1;
	for (size_t i = start.len; i < name.len && name.p[i] != '.'; i++)
		n = n * 10 + (name.p[i] - '0');
	return n - 1;
}

/* ---- the zip ---- */

/* The part whose directory entry is at p. */
static bool
is_part_whole(const struct zip *z, const unsigned char *p)
{
	struct str name = { (const char *)p + DIR_SIZE,
		(size_t)get(p + DIR_NAME, 2) };
	uint64_t packed = get(p + DIR_PACKED, 4), at = get(p + DIR_LOCAL, 4);
	struct scan scan = { .good = true };
	int64_t sheet = sheet_of(name);

	if (packed == UINT32_MAX || at == UINT32_MAX)
		return true; /* 4 GiB and more: not looked at */
	if (at + LOCAL_SIZE > z->size)
		return false;
	at += LOCAL_SIZE + get(z->p + at + LOCAL_NAME, 2) +
	    get(z->p + at + LOCAL_NAME + 2, 2);
	if (at + packed > z->size ||
	    !scan_deflated(&scan, z->p + at, (size_t)packed))
		return false;
	return sheet < 0 || sheet >= (int64_t)z->nsheets ||
	    scan.rows_bytes == z->rows_bytes[sheet];
}

static bool
is_whole(const struct zip *z)
{
	const unsigned char *end = z->p + z->size - END_SIZE;
	uint64_t count, at;

	if (z->size < END_SIZE || memcmp(end, "PK\5\6", 4) != 0)
		return false;
	count = get(end + END_COUNT, 2);
	at = get(end + END_DIR, 4);
	if (at == UINT32_MAX)
		return true;
	for (uint64_t i = 0; i < count; i++) {
		const unsigned char *p = z->p + at;

		if (at + DIR_SIZE > z->size || memcmp(p, "PK\1\2", 4) != 0)
			return false;
		at += DIR_SIZE + get(p + DIR_NAME, 2) +
		    get(p + DIR_NAME + 2, 2) + get(p + DIR_NAME + 4, 2);
		if (at > z->size || !is_part_whole(z, p))
			return false;
	}
	return count > 0;
}

bool
zip_is_whole(int fd, const uint64_t *rows_bytes, size_t nsheets)
{
	struct stat st;
	struct zip z = { .rows_bytes = rows_bytes, .nsheets = nsheets };
	void *p;
	bool good;

	if (fstat(fd, &st) != 0 || st.st_size <= 0)
		return false;
	z.size = (size_t)st.st_size;
	p = mmap(NULL, z.size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		die_errno("the workbook can't be read again");
	z.p = p;
	good = is_whole(&z);
	munmap(p, z.size);
	return good;
}
