/* SPDX-License-Identifier: MIT */
/*
 * tl-html: the parts of the page.
 *
 * lanes     spans of GPU streams and of threads that launch, at a level of
 *           detail that fits
 * origins   what launched each of them
 * icicle    GPU time, and the host's, by stacks of names
 * tables    what the sinks wrote as NDJSON
 * page.*    its places and its look
 * *.js      what draws in the browser
 *
 * A page is one file of fixed parts, and of data as JSON in which no '<' is
 * left, so that no name of a trace can end the element that holds it. Nothing
 * in the page is made from text but by textContent.
 */
#ifndef TL_HTML_H
#define TL_HTML_H

#include "base/embedded.h"
#include "trace/process.h"
#include "json/json.h"

/* Names of spans and stacks: a number in the page's list. 0 is "". */
struct names_used {
	const struct dict *dict;
	size_t bytes; /* of those in the list; more than enough: no more come */
	struct map numbers; /* of a string, to 1 + its place in list */
	VEC(uint32_t) list;
};

uint32_t name_number(struct names_used *names, uint32_t string);

/* ---- lanes.c, lanes-put.c ---- */

struct lanes;
struct lanes *lanes_new(struct dict *st, struct names *threads);
void lanes_free(struct lanes *l);
/* What a source says of itself, once that is final. */
void lanes_source(
    struct lanes *l, uint32_t src, const struct source *s, int side);
/* Behind each file: no more comes of its sources. */
void lanes_file_end(struct lanes *l);
/* Any event of a tree, in its order; src numbers the sources of all files. */
void lanes_push(struct lanes *l, const struct event *ev, uint32_t src);
void lanes_put(struct lanes *l, struct names_used *names, struct buf *b);

/* ---- icicle.c ---- */

/*
 * Of GPU time or of the host's; of one side, or of two that are compared: then
 * names are without what differs from run to run.
 */
struct icicle;
struct icicle *icicle_new(struct dict *st, bool compares, bool is_host);
void icicle_free(struct icicle *t);
/* side: 0, or 1 of the trees that are compared with; run: its source's */
void icicle_push(
    struct icicle *t, const struct event *ev, uint32_t run, int side);
/* Whether nothing was pushed that took time. */
bool icicle_is_empty(const struct icicle *t);
/* Behind each file: what is open there ends. */
void icicle_file_end(struct icicle *t);
void icicle_put(struct icicle *t, struct names_used *names, struct buf *b);

/* ---- tables.c ---- */

/*
 * Appends {"side":0,"schema":...,"rows":[...],"left":N}, one for each table in
 * a file; is_first is false when one stands before. Of long tables the head
 * only: all that stands in b keeps below some 2 MB.
 */
void tables_put(const char *path, int side, struct buf *b, bool *is_first);

/* ---- page.html, page.css, *.js ---- */

extern const struct embedded tl_html_data[];

#endif
