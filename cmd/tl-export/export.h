/* SPDX-License-Identifier: MIT */
/*
 * tl-export's parts: main.c has the options and reads streams, chrome.c and
 * chrome-*.c turn items into Chrome-trace JSON, perfetto*.c a source into
 * Perfetto's protobuf, sink.c compresses output.
 */
#ifndef TL_EXPORT_H
#define TL_EXPORT_H

#include "stream/stream.h"
#include "trace/select-front.h"
#include "json/json.h"

enum pack {
	PACK_BY_NAME, /* by the file name's ending */
	PACK_GZIP,
	PACK_ZSTD,
};

struct settings {
	const char *path; /* -o */
	enum pack pack;
	int level; /* of compression; 0: the library's default */
	bool sort_id;
	bool flows;
	bool with_tree;
	bool perfetto;  /* protobuf, not JSON */
	bool fuse;      /* ranks as TraceLens's fusion shows them */
	bool object;    /* never a bare array */
	bool keep_pids; /* of later sources, too */
	bool verbose;
	int ninputs;
	struct select_front select;
};

/* Above Linux's largest process id, 2^22; 2^32 / PID_STEP sources fit. */
#define PID_STEP INT64_C(10000000)

/*
 * Whether GPU work is shown under its device, as in formats without rows for
 * it.
 */
static inline bool
is_on_lane(const struct event *ev)
{
	return event_is(ev,
		   KINDS_GPU | KIND_BIT(KIND_GPU_ANNOTATION) |
		       KIND_BIT(KIND_SYNC) | KIND_BIT(KIND_GPU_EVENT)) &&
	    ev->dev.type == KEY_INT && !key_eq(ev->dev, ev->pid);
}

/* ---- sink.c: bytes to a file, compressed or not ---- */

struct sink;
struct sink *sink_open(const struct settings *set);
void sink_write(struct sink *s, const void *p, size_t n);
/*
 * Writes the rest, and renames the file; returns the bytes before compression.
 */
uint64_t sink_finish(struct sink *s);

/* ---- tree.c: what tl-tree found out, under names that no profiler uses ----
 */

typedef void tree_put_fn(void *ctx, const char *key, const struct value *v);
void tree_members(const struct event *ev, tree_put_fn *put, void *ctx);

/* ---- chrome.c: Chrome-trace JSON ---- */

/*
 * main() calls these for each item. Sources are numbered by input; here they
 * get numbers across all inputs.
 */
struct chrome;
struct chrome *chrome_create(const struct settings *set, struct sink *sink);
/* Another input: its strings, shapes and tracks are numbered anew. */
void chrome_input(struct chrome *x, const struct stream_in *in);
void chrome_source(struct chrome *x, const struct source *s);
void chrome_meta(struct chrome *x, const struct meta *m);
void chrome_event(struct chrome *x, const struct event *ev);
void chrome_finish(struct chrome *x);

/* ---- perfetto.c: Perfetto's protobuf ---- */

struct perfetto;
struct perfetto *perfetto_create(const struct settings *set, struct sink *sink);
/* Reads all of a stream, source by source. */
void perfetto_input(struct perfetto *x, struct stream_in *in);
void perfetto_finish(struct perfetto *x);

#endif
