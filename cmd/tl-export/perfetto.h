/* SPDX-License-Identifier: MIT */
/*
 * tl-export --to perfetto: Perfetto's protobuf.
 *
 *	perfetto.c		packets: clocks, names by number, slices in time
 *	perfetto-track.c	tracks of threads, GPU streams and counters
 *	perfetto-event.c	what an event says: arguments, ids, arrows
 *
 * A source is a sequence of packets. Its events are sorted by time, so that a
 * packet's time is the small difference to the one before, and so that slices
 * of a track nest in the order of the file; a slice that would cross another
 * goes to a track of its own below.
 */
#ifndef TL_EXPORT_PERFETTO_H
#define TL_EXPORT_PERFETTO_H

#include "cmd/tl-export/export.h"
#include "proto/put.h"
#include "stream/category.h"
#include "stream/ndjson.h"
#include "trace/process.h"

/* Names by number, as fields of InternedData. */
enum name_kind {
	NAMES_CATEGORY,
	NAMES_EVENT,
	NAMES_KEY,
	NAMES_STRING,
	NAMES_N
};

/* A lane of a track: its slices nest. */
struct lane {
	uint64_t uuid;
	VEC(int64_t) ends; /* of open slices, the innermost last */
};

struct row {
	uint64_t uuid; /* the first lane's */
	VEC(struct lane) lanes;
	bool has_tid_arg; /* not a thread: slices name theirs */
};

/* An end to be written at its time. */
struct slice_end {
	int64_t ts_ns;
	uint64_t order; /* its begin's */
	uint32_t row, lane;
};

struct perfetto {
	const struct settings *set;
	struct sink *sink;
	struct buf b, interned;
	/* of all sources: tracks, and numbers for ids that are strings */
	uint32_t nsources;
	uint64_t last_uuid;
	struct map uuids, text_ids;
	/* the current source */
	struct dict *st;
	struct names *names;
	uint32_t src;
	bool is_foreign; /* GPU work has no rows of its own */
	int64_t base_ns, now_ns;
	struct map launches;            /* ids of launches with GPU work */
	VEC(uint32_t) numbers[NAMES_N]; /* by dictionary id; 0: not yet */
	uint32_t nnumbers[NAMES_N];
	/* tracks */
	VEC(struct row) rows;
	struct map row_of, process_of;
	/* open slices: a heap, the first end on top */
	VEC(struct slice_end) ends;
	uint64_t nslices, nuntimed;
	uint32_t nbegins; /* in a row */
	struct buf text;
};

/* ---- perfetto.c ---- */

/*
 * A packet of the source: proto_end(&x->b, ...) ends a message in it, then
 * packet_end().
 */
size_t packet_begin(struct perfetto *x) USE_RESULT;
void packet_end(struct perfetto *x, size_t packet);
/* The number of a string of the dictionary, which is written first if new. */
uint64_t name_number(struct perfetto *x, enum name_kind what, uint32_t text);

/* ---- perfetto-track.c ---- */

/* The row of an event, or of a counter's series. */
uint32_t row_of(struct perfetto *x, const struct event *ev);
uint32_t row_of_counter(
    struct perfetto *x, const struct event *ev, struct str series);
/* The lane where a slice from now to this time crosses none. */
uint32_t lane_for(struct perfetto *x, uint32_t row, int64_t to);
void rows_free(struct perfetto *x);

/* ---- perfetto-event.c ---- */

/* TrackEvent.type */
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };

/* Writes the fields of a TrackEvent of this type (0: legacy form, by phase). */
void put_event(struct perfetto *x, const struct event *ev, unsigned type,
    uint64_t uuid, bool has_tid_arg);

#endif
