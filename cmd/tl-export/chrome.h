/* SPDX-License-Identifier: MIT */
/*
 * Chrome-trace JSON, in parts: chrome.c (the document around the events),
 * chrome-event.c (one event), chrome-plan.c (what all events of a shape share),
 * chrome-place.c (the process and thread an event is shown under).
 */
#ifndef TL_EXPORT_CHROME_H
#define TL_EXPORT_CHROME_H

#include "cmd/tl-export/export.h"
#include "stream/ndjson.h"

/* Fixed members; one that an entry overrides is omitted. */
enum {
	FIX_PH = 1 << 0,
	FIX_CAT = 1 << 1,
	FIX_NAME = 1 << 2,
	FIX_PID = 1 << 3,
	FIX_TID = 1 << 4,
	FIX_TS = 1 << 5,
	FIX_DUR = 1 << 6,
	FIX_ARGS = 1 << 7,
};

/* How an entry is written. */
enum use {
	USE_NONE,
	USE_TOP,
	USE_TOP_ID, /* an id that binds events across processes */
	USE_ARG,
	USE_ARG_ID, /* a correlation id, with --fuse */
	USE_FIELD,  /* an argument that has no other place in the format */
};

struct part {
	struct str key; /* ,"key": */
	uint8_t use;
};

/* What all events of a shape share, as text. */
struct plan {
	struct str head; /* ,"ph":"X","cat":"kernel" */
	unsigned fixed;  /* FIX_ that are written */
	uint32_t nparts;
	struct part *parts;
	bool has_top, has_args, has_fields;
	bool args_raw; /* args are no object: nothing can be added */
};

/* A source, by our number. */
struct origin {
	bool is_told;
	bool is_foreign; /* its format has no processes of Chrome's kind */
	bool is_bare;    /* a bare array of events */
	int64_t base_ns;
	struct buf facts; /* what "sources" says of it, without metadata */
	struct str label; /* "rank 3" */
	bool has_rank;
	int64_t rank;
};

/* A row for GPU work, if the format has none. */
struct lane {
	struct key dev, gpu_stream, pid;
	int64_t tid;
};

/* Where an event is shown, as JSON values; empty: nowhere. */
struct place {
	struct str pid, tid;
	bool is_known;
};

struct chrome {
	const struct settings *set;
	struct sink *sink;
	struct buf b; /* to be written */
	/* the document */
	bool is_begun, is_bare, in_events, has_event, has_member;
	bool is_joined;    /* several sources: all are labelled */
	struct fuse *fuse; /* with --fuse: the processes so far */
	bool lost_meta;
	struct buf after;  /* members after the events */
	struct buf others; /* elements of "sources" */
	struct buf metas;  /* members of the metadata of ... */
	uint32_t metas_of; /* ... this source */
	/* sources */
	uint32_t first, next; /* our numbers of this input's first, and next */
	VEC(struct origin) origins;
	struct arena *texts; /* labels */
	/* the current input */
	const char *input;
	struct dict *st;
	struct arena *mem;
	VEC(struct plan *) plans; /* by shape */
	VEC(struct place) places; /* by track */
	VEC(struct lane) lanes;   /* of one source */
	uint32_t lanes_of;
	size_t last_lane;
	char lane_text[128];
};

#define PUT(b, literal) buf_put(b, literal, sizeof(literal) - 1)

static inline void
put_str(struct buf *b, struct str s)
{
	buf_put(b, s.p, s.len);
}

/* ---- chrome-plan.c ---- */

const struct plan *chrome_new_plan(struct chrome *x, uint32_t shape_id);

static inline const struct plan *
chrome_plan(struct chrome *x, uint32_t shape_id)
{
	if (LIKELY(shape_id < x->plans.n && x->plans.v[shape_id] != NULL))
		return x->plans.v[shape_id];
	return chrome_new_plan(x, shape_id);
}

/* ---- chrome-place.c ---- */

/* Borrowed until the next call; o: the event's source, src its number. */
struct place chrome_place(struct chrome *x, const struct origin *o,
    uint32_t src, const struct event *ev);
/* Writes a process id, kept apart between sources. */
void chrome_put_pid(struct chrome *x, struct buf *b, const struct origin *o,
    uint32_t src, const struct value *v);
/*
 * Writes an id that binds events across processes, kept apart between sources.
 */
void chrome_put_id(struct chrome *x, uint32_t src, const struct value *v);
/* Writes a process's name or position; false: it needs no change. */
bool chrome_put_process(struct chrome *x, const struct origin *o, uint32_t src,
    const struct event *ev, struct str key, const struct value *v);
/* Whether the event is GPU work shown under its device. */
bool chrome_is_on_lane(const struct origin *o, const struct event *ev);
void chrome_set_label(
    struct chrome *x, struct origin *o, const struct source *s, uint32_t src);

/* ---- chrome-event.c ---- */

/* Writes a separator and an argument's key. */
void chrome_put_key(struct chrome *x, const char *key);
/* Begins the next event: writes what separates it from the last. */
void chrome_next_event(struct chrome *x);
/* Writes the event, and the arrow that begins or ends there. */
void chrome_put_event(struct chrome *x, const struct origin *o, uint32_t src,
    const struct event *ev);

/* ---- chrome-fuse.c ---- */

/* Whether the event is a process's name or position. */
bool fuse_replaces(const struct chrome *x, const struct event *ev);
/* Notes the event's process. */
void fuse_note(struct chrome *x, const struct origin *o, uint32_t src,
    const struct event *ev);
/* Writes its rank, and the ids it had. */
void fuse_put_args(struct chrome *x, const struct origin *o, uint32_t src,
    const struct plan *plan, const struct event *ev);
/* After all events: writes the processes. */
void fuse_finish(struct chrome *x);

#endif
