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

/* Names of spans and stacks, by number in the page's list. 0: "". */
struct names_used {
	const struct dict *dict;
	size_t bytes; /* of names in the list; when too many, none is added */
	struct map numbers; /* string to 1 + its index in list */
	VEC(uint32_t) list;
};

uint32_t name_number(struct names_used *names, uint32_t string);

/* ---- lanes.c, lanes-put.c ---- */

struct lanes;
struct lanes *lanes_new(struct dict *st, struct names *threads);
void lanes_free(struct lanes *l);
/* Takes a source's facts when they are final. */
void lanes_source(
    struct lanes *l, uint32_t src, const struct source *s, int side);
/* After each file: its sources are complete. */
void lanes_file_end(struct lanes *l);
/* Each event of a tree, in order; src numbers the sources of all files. */
void lanes_push(struct lanes *l, const struct event *ev, uint32_t src);
void lanes_put(struct lanes *l, struct names_used *names, struct buf *b);

/* ---- icicle.c ---- */

/*
 * A tree of GPU time or host time; of two compared sides, names are without
 * what differs from run to run.
 */
struct icicle;
struct icicle *icicle_new(struct dict *st, bool compares, bool is_host);
void icicle_free(struct icicle *t);
/* side: 0, or 1 for --vs; run: the source */
void icicle_push(
    struct icicle *t, const struct event *ev, uint32_t run, int side);
/* Whether no stack took time. */
bool icicle_is_empty(const struct icicle *t);
/* After each file: closes open stacks. */
void icicle_file_end(struct icicle *t);
void icicle_put(struct icicle *t, struct names_used *names, struct buf *b);

/* ---- tables.c ---- */

/*
 * Appends {"side":0,"schema":...,"rows":[...],"left":N} for each table of a
 * file; is_first: no table precedes. Long tables are cut, to keep b below some
 * 2 MB.
 */
void tables_put(const char *path, int side, struct buf *b, bool *is_first);

/* ---- page.html, page.css, *.js ---- */

extern const struct embedded tl_html_data[];

#endif
