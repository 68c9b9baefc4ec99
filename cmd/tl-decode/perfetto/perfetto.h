/* SPDX-License-Identifier: MIT */
/*
 * Perfetto's protobuf traces: a concatenation of packets, each of which belongs
 * to a sequence (a writer with names, defaults and clocks of its own) and holds
 * something that happened on a track, or says what a track is.
 *
 *	perfetto.c	the file and its packets
 *	sequence.c	names by number, defaults, clocks
 *	lane.c		tracks: whose they are, slices that are open
 *	args.c		debug annotations
 *	event.c		slices, instants and counters to events
 *	gpu.c		work on the GPU that is on no track
 *
 * Numbers of fields are those of Perfetto's .proto files; F_ of TracePacket.
 */
#ifndef TL_DECODE_PERFETTO_H
#define TL_DECODE_PERFETTO_H

#include "cmd/tl-decode/decode.h"
#include "proto/pull.h"

#define NO_NAME INTERN_NONE

/* ---- sequences ---- */

/* What is interned, by what the number stands for. */
enum names {
	NAMES_CATEGORY,
	NAMES_EVENT,
	NAMES_KEY,
	NAMES_STRING,
	NAMES_STAGE,  /* of GPU work: what it is, and lanes */
	NAMES_KERNEL, /* demangled where it can be */
	NAMES_ARG,    /* of a kernel's launch */
	NAMES_N
};

struct clock {
	uint64_t id;
	int64_t multiplier; /* ns of a tick */
	int64_t last;       /* ticks, of an incremental one */
	int64_t offset;     /* to the trace's clock, in ns */
	bool is_incremental, has_offset;
};
typedef VEC(struct clock) clock_vec;

struct open_slice;

/* The end of a slice that is still to be found. */
struct slice_end {
	uint32_t lane;
	int64_t ts_ns;
	struct buf args;
};

struct sequence {
	bool is_valid;
	struct map names[NAMES_N];            /* to numbers in perfetto.texts */
	struct map pids;                      /* of GPU contexts */
	uint64_t default_clock, default_lane; /* 0: none */
	bool has_default_lane;
	clock_vec clocks;
	/* begins and ends that followed each other, see lane.c */
	VEC(struct open_slice *) begins;
	VEC(struct slice_end) ends;
};

/* ---- tracks ---- */

struct lane {
	uint64_t uuid, parent;
	uint32_t name, thread_name, process_name; /* or NO_NAME */
	int64_t pid, tid;
	bool has_parent, has_pid, has_tid;
	bool is_used; /* something happened on it */
	/* counters */
	bool is_incremental;
	int64_t multiplier;
	int64_t sum;
	/* slices that are open, the innermost last */
	VEC(struct open_slice *) open;
	struct sequence *writer; /* the last one that began or ended one */
	uint64_t
	    nended; /* slices that said when they end: theirs are to come */
};

/* Something on a track, until all of it is known. */
struct open_slice {
	uint32_t lane;
	uint32_t name, category; /* or NO_NAME */
	int64_t ts_ns;
	struct buf args; /* args.c */
};

/* ---- the file ---- */

struct perfetto {
	struct source_state *s;
	struct maker maker;
	struct intern *texts; /* names and the like */
	struct map sequence_of, lane_of;
	VEC(struct sequence *) sequences;
	VEC(struct lane) lanes;
	clock_vec clocks; /* those that all sequences share */
	uint64_t trace_clock;
	uint64_t offset;        /* of the packet at hand, for messages */
	const char *fault;      /* what is wrong in it; NULL: nothing */
	struct buf text, text2; /* to build in */
	/* what was not read */
	uint64_t ndropped; /* packets that lack what they need */
	uint64_t nlost;    /* gaps that the writer reports */
	uint64_t nother;   /* packets of other data sources */
	uint64_t
	    nnoclock; /* times of clocks that nothing ties to the trace's */
	/* what --salvage skipped */
	uint64_t nlosses, lost_bytes;
	bool is_cut;
	bool is_rocprof;
};

/* Sets p->fault, unless there is one; always false. */
bool perfetto_fault(struct perfetto *p, const char *why);
/* The next field of a message; false at its end, and once there is a fault. */
bool perfetto_next(struct perfetto *p, struct proto *m);
/* The number of a text in p->texts; bytes that are no UTF-8 are replaced. */
uint32_t perfetto_text(struct perfetto *p, struct str s);
/* A packet, or one that was packed into another (depth). */
bool perfetto_packet(struct perfetto *p, struct str bytes, unsigned depth);

/* ---- sequence.c ---- */

struct sequence *sequence_of(struct perfetto *p, uint64_t id);
void sequence_clear(struct sequence *q);
void sequence_free(struct sequence *q);
bool sequence_intern(struct perfetto *p, struct sequence *q, struct str bytes);
bool sequence_defaults(
    struct perfetto *p, struct sequence *q, struct str bytes);
/* The name of a number, or NO_NAME. */
uint32_t sequence_name(const struct sequence *q, enum names what, uint64_t iid);
bool clock_snapshot(struct perfetto *p, struct sequence *q, struct str bytes);
/* ts of a clock (0: the default one) in ns of the trace's clock. */
bool clock_ns(struct perfetto *p, struct sequence *q, uint64_t clock,
    uint64_t ts, int64_t *ns);

/* ---- lane.c ---- */

uint32_t lane_of(struct perfetto *p, uint64_t uuid);
bool lane_describe(struct perfetto *p, struct str bytes);
/* The process and thread of what happens somewhere. */
struct whose {
	int64_t pid, tid;
	bool has_pid;
};
/* Of a lane, from it or what is above it. A track that is no thread is one of
 * its own, by its uuid. */
struct whose lane_owner(const struct perfetto *p, uint32_t lane);
/* The slice becomes the lane's, open until its end comes. */
void lane_begin(struct perfetto *p, struct sequence *q, struct open_slice *o);
void lane_end(struct perfetto *p, struct sequence *q, struct slice_end end);
/* What has begun and not ended, and names, when the file has ended. */
void lanes_finish(struct perfetto *p);
void open_slice_free(struct open_slice *o);

/* ---- args.c ---- */

/* Appends a DebugAnnotation to args. */
bool args_add(struct perfetto *p, const struct sequence *q, struct str bytes,
    struct buf *args);
void args_add_int(
    struct perfetto *p, struct str key, int64_t v, struct buf *args);
/* A text, or a list or object as its text. */
void args_add_text(struct perfetto *p, struct str key, enum value_type type,
    struct str text, struct buf *args);
/* Walks what args_add() appended: its key in p->texts; text is in args. */
bool args_next(const struct perfetto *p, const struct buf *args, size_t *at,
    struct str *key, struct value *v);
bool args_has(const struct perfetto *p, const struct buf *args, struct str key);
/* An integer among them. */
bool args_int(const struct perfetto *p, const struct buf *args, struct str key,
    int64_t *i);

/* ---- event.c ---- */

bool track_event(
    struct perfetto *p, struct sequence *q, struct str bytes, int64_t ts_ns);
/* Writes a slice of a lane; end NULL: it has none. */
void write_slice(struct perfetto *p, const struct open_slice *o,
    const int64_t *end_ns, const struct buf *more_args);
/* The same of what is known of it. */
void write_span(struct perfetto *p, const struct open_slice *o,
    const struct whose *whose, enum kind kind, struct str cat,
    const int64_t *end_ns, const struct buf *more_args);
/* Names of the process and thread that a lane is. */
void write_names(struct perfetto *p, uint32_t lane);

/* ---- gpu.c ---- */

bool gpu_stage(
    struct perfetto *p, struct sequence *q, struct str bytes, int64_t ts_ns);

#endif
