/* SPDX-License-Identifier: MIT */
/*
 * XML by expat. A document type declaration is refused, so there are no
 * entities to expand; so are long tokens, over which an expat before 2.6 would
 * go again and again, and deep nesting.
 */
#include <expat.h>
#include <stdlib.h>

#include "cmd/tl-compare/workbook.h"

/* Between a namespace and a name. */
#define BAR '|'

struct xml {
	XML_Parser parser;
	const struct xml_sink *sink;
	struct buf *error;
	const char *why; /* ours, before expat's */
	uint64_t fed;
	uint64_t at; /* where the token begins that is not whole yet */
	unsigned depth;
};

static const char *
local(const char *name)
{
	const char *bar = strrchr(name, BAR);

	return bar != NULL ? bar + 1 : name;
}

void
xml_fail(struct xml *x, const char *text)
{
	if (x->why == NULL)
		x->why = text;
	(void)XML_StopParser(x->parser, XML_FALSE);
}

static void XMLCALL
on_start(void *ctx, const char *name, const char **attributes)
{
	struct xml *x = ctx;

	if (x->why != NULL)
		return;
	if (++x->depth > XML_DEPTH_MAX) {
		xml_fail(x, "XML nested too deeply");
		return;
	}
	x->sink->start(x->sink->ctx, local(name), attributes);
}

static void XMLCALL
on_end(void *ctx, const char *name)
{
	struct xml *x = ctx;

	if (x->why != NULL)
		return;
	x->depth--;
	x->sink->end(x->sink->ctx, local(name));
}

static void XMLCALL
on_text(void *ctx, const char *p, int n)
{
	struct xml *x = ctx;

	if (x->why == NULL && x->sink->text != NULL)
		x->sink->text(x->sink->ctx, p, (size_t)n);
}

static void XMLCALL
on_doctype(void *ctx, const char *name, const char *system, const char *public,
    int has_subset)
{
	(void)name;
	(void)system;
	(void)public;
	(void)has_subset;
	xml_fail(ctx, "a document type declaration, which no workbook has");
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
	if (x == NULL)
		return;
	XML_ParserFree(x->parser);
	free(x);
}

bool
xml_feed(struct xml *x, const void *p, size_t n, bool is_last)
{
	enum XML_Status st = XML_Parse(x->parser, p, (int)n, is_last);
	XML_Index at = XML_GetCurrentByteIndex(x->parser);

	x->fed += n;
	/* An expat that puts off going over the token again knows no place. */
	if (at >= 0)
		x->at = (uint64_t)at;
	if (st == XML_STATUS_OK && !is_last && x->fed - x->at > XML_TOKEN_MAX) {
		st = XML_STATUS_ERROR;
		x->why = "an XML tag that is too long";
	}
	if (st == XML_STATUS_OK && x->why == NULL)
		return true;
	return book_fail(x->error, "byte %" PRIu64 ": %s",
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
