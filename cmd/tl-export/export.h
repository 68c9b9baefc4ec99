/* SPDX-License-Identifier: MIT */
/*
 * tl-export's parts: main.c knows the options and reads streams, sink.c
 * compresses what is written, and a target (chrome.c and chrome-*.c) turns
 * items into another program's format. A new target is a file and a line in
 * main.c's table.
 */
#ifndef TL_EXPORT_H
#define TL_EXPORT_H

#include "stream/stream.h"
#include "trace/select-front.h"
#include "json/json.h"

enum layout {
	LAYOUT_LINES, /* one event a line */
	LAYOUT_MINIFY,
	LAYOUT_PRETTY,
};

enum pack {
	PACK_BY_NAME, /* as the ending of the file's name says */
	PACK_GZIP,
	PACK_ZSTD,
};

struct settings {
	const struct target *to;
	const char *path; /* -o */
	enum layout layout;
	enum pack pack;
	int level; /* of compression; 0: the library's default */
	bool sort_id;
	bool duplicates;
	bool flows;
	bool with_tree;
	bool fuse;      /* ranks as the reference's fusion has them */
	bool object;    /* never a bare array */
	bool keep_pids; /* of later sources too */
	bool verbose;
	int ninputs;
	struct select_front select;
};

/* ---- sink.c: bytes to a file, compressed or not ---- */

struct sink;
struct sink *sink_open(const struct settings *set);
void sink_write(struct sink *s, const void *p, size_t n);
/* All written, renamed into place; the bytes before compression. */
uint64_t sink_finish(struct sink *s);

/* ---- targets ---- */

/*
 * What main() calls for each item; x is what create() returned. Sources are
 * numbered by their input: the target numbers them through.
 */
struct target {
	const char *word;
	void *(*create)(const struct settings *set, struct sink *sink);
	/* Another input: its strings, shapes and tracks count anew. */
	void (*input)(void *x, const struct stream_in *in);
	void (*source)(void *x, const struct source *s);
	void (*meta)(void *x, const struct meta *m);
	void (*event)(void *x, const struct event *ev);
	void (*finish)(void *x);
};

extern const struct target chrome_target;

#endif
