/* SPDX-License-Identifier: MIT */
/*
 * Parts of a workbook: a zip by minizip, XML by expat. A part is read in
 * pieces, none larger than PART_MAX by its directory entry; minizip reads no
 * more than the entry says and checks the checksum. Document type declarations
 * are refused, so no entities expand; so are deep nesting and long tokens,
 * which expat before 2.6 scans again and again.
 */
#include <errno.h>
#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unzip.h>

#include "cmd/tl-compare/workbook.h"

#define PIECE ((size_t)64 << 10)
/* Of unzLocateFile(). */
#define NO_CASE 2
/* Between namespace and name. */
#define BAR '|'

/* ---- XML ---- */

struct xml {
	XML_Parser parser;
	const struct xml_sink *sink;
	struct buf *error;
	const char *why; /* set before expat's */
	uint64_t fed;
	uint64_t at; /* start of the incomplete token */
	unsigned depth;
};

static const char *
local(const char *name)
{
	const char *bar = strrchr(name, BAR);

	return bar != NULL ? bar + 1 : name;
}

/* A sink's error ends the reading. */
static void
check(struct xml *x, const char *why)
{
	if (why == NULL)
		return;
	x->why = why;
	(void)XML_StopParser(x->parser, XML_FALSE);
}

static void XMLCALL
on_start(void *ctx, const char *name, const char **attributes)
{
	struct xml *x = ctx;

	if (x->why != NULL)
		return;
	check(x,
	    ++x->depth > XML_DEPTH_MAX
		? "XML nested too deeply"
		: x->sink->start(x->sink->ctx, local(name), attributes));
}

static void XMLCALL
on_end(void *ctx, const char *name)
{
	struct xml *x = ctx;

	if (x->why != NULL)
		return;
	x->depth--;
	if (x->sink->end != NULL)
		check(x, x->sink->end(x->sink->ctx, local(name)));
}

static void XMLCALL
on_text(void *ctx, const char *p, int n)
{
	struct xml *x = ctx;

	if (x->why == NULL && x->sink->text != NULL)
		check(x, x->sink->text(x->sink->ctx, p, (size_t)n));
}

static void XMLCALL
on_doctype(void *ctx, const char *name, const char *system, const char *public,
    int has_subset)
{
	(void)name;
	(void)system;
	(void)public;
	(void)has_subset;
	check(ctx, "a document type declaration: not a workbook");
}

struct xml *
xml_create(const struct xml_sink *sink, struct buf *error)
{
	struct xml *x = xcalloc(1, sizeof *x);

	x->parser = XML_ParserCreateNS(NULL, BAR);
	if (x->parser == NULL)
		die("out of memory");
	x->sink = sink;
	x->error = error;
	XML_SetUserData(x->parser, x);
	XML_SetElementHandler(x->parser, on_start, on_end);
	XML_SetCharacterDataHandler(x->parser, on_text);
	XML_SetStartDoctypeDeclHandler(x->parser, on_doctype);
	return x;
}

void
xml_destroy(struct xml *x)
{
	XML_ParserFree(x->parser);
	free(x);
}

bool
xml_feed(struct xml *x, const void *p, size_t n, bool is_last)
{
	enum XML_Status st = XML_Parse(x->parser, p, (int)n, is_last);
	XML_Index at = XML_GetCurrentByteIndex(x->parser);

	x->fed += n;
	/* an expat that defers scanning does not know the place */
	if (at >= 0)
		x->at = (uint64_t)at;
	if (st == XML_STATUS_OK && !is_last && x->fed - x->at > XML_TOKEN_MAX) {
		st = XML_STATUS_ERROR;
		x->why = "an XML tag that is too long";
	}
	if (st == XML_STATUS_OK && x->why == NULL)
		return true;
	return buf_fail(x->error, "byte %" PRIu64 ": %s",
	    at < 0 ? 0 : (uint64_t)at,
	    x->why != NULL ? x->why
			   : XML_ErrorString(XML_GetErrorCode(x->parser)));
}

const char *
xml_attribute(const char **attributes, const char *name, bool is_foreign)
{
	for (; attributes[0] != NULL; attributes += 2) {
		bool foreign = strchr(attributes[0], BAR) != NULL;

		if (foreign == is_foreign &&
		    strcmp(local(attributes[0]), name) == 0)
			return attributes[1];
	}
	return NULL;
}

/* ---- the zip ---- */

struct parts {
	uint64_t n;        /* size of the zip */
	uint64_t inflated; /* over all parts so far */
	unzFile zip;
	unsigned char piece[PIECE];
};

static bool
refuse_others(const char *path, struct buf *error)
{
	char head[8] = "";
	FILE *f = fopen(path, "rbe");

	if (f == NULL)
		return buf_fail(error, "%s", strerror(errno));
	(void)!fread(head, 1, sizeof head, f);
	fclose(f);
	if (memcmp(head, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8) == 0)
		return buf_fail(error,
		    "an old workbook (.xls), or one with a password: save it "
		    "as .xlsx without");
	if (memcmp(head, "PK\3\4", 4) != 0)
		return buf_fail(error,
		    "not a workbook (.xlsx); a report is one, or a folder of "
		    "CSV (tl-report -d); traces are compared by tl-diff");
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
		(void)buf_fail(error, "the zip has no directory: cut off?");
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
	(void)unzClose(p->zip);
	free(p);
}

/* Opens a part; case is ignored. */
static bool
open_part(struct parts *p, const char *name, struct buf *error)
{
	unz_file_info64 info;

	if (unzLocateFile(p->zip, name, NO_CASE) != UNZ_OK)
		return buf_fail(error, "no %s", name);
	if (unzGetCurrentFileInfo64(p->zip, &info, NULL, 0, NULL, 0, NULL, 0) !=
	    UNZ_OK)
		return buf_fail(error, "%s: damaged directory entry", name);
	if (info.flag & 1)
		return buf_fail(error, "%s is encrypted", name);
	if (info.uncompressed_size > PART_MAX)
		return buf_fail(
		    error, "%s: more than %" PRIu64 " bytes", name, PART_MAX);
	if (unzOpenCurrentFile(p->zip) != UNZ_OK)
		return buf_fail(error, "%s: cannot inflate", name);
	return true;
}

/* Feeds the open part; false without error: the zip is damaged. */
static bool
feed_part(struct parts *p, struct xml *x)
{
	bool good;
	int n;

	do {
		n = unzReadCurrentFile(p->zip, p->piece, PIECE);
		good = n >= 0 && xml_feed(x, p->piece, (size_t)n, n == 0);
		p->inflated += good ? (uint64_t)n : 0;
		if (p->inflated > BOOK_XML_FREE + BOOK_XML_RATIO * p->n)
			good = buf_fail(
			    x->error, "the zip inflates to too much: a bomb?");
	} while (good && n > 0);
	return good;
}

bool
parts_parse(struct parts *p, const char *name, const struct xml_sink *sink,
    struct buf *error)
{
	struct buf why = { 0 };
	struct xml *x;
	bool good;

	if (!open_part(p, name, error))
		return false;
	x = xml_create(sink, &why);
	good = feed_part(p, x);
	xml_destroy(x);
	if (unzCloseCurrentFile(p->zip) == UNZ_CRCERROR && good)
		good = false;
	if (!good)
		(void)buf_fail(error, "%s: %s", name,
		    why.len > 0 ? why.p : "the zip is damaged");
	buf_free(&why);
	return good;
}
