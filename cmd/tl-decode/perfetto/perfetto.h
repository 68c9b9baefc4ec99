/* SPDX-License-Identifier: MIT */
/*
 * Perfetto's protobuf traces: a concatenation of packets. Each belongs to a
 * sequence (a writer with its own names, defaults and clocks) and has an event
 * on a track, or describes a track.
 *
 *	perfetto.c	the file
 *	packet.c	its packets
 *	sequence.c	names by number, defaults, clocks
 *	lane.c		tracks: their owners, open slices
 *	args.c		debug annotations
 *	chain.c		annotations in a known order
 *	texts.c		names and other texts
 *	usual.h		most packets, inline
 *	track.c		what happens on tracks: slices, points, counters
 *	event.c		these as events
 *	legacy.c	older writers' Chrome-like events
 *	gpu.c		work and counters of GPUs that are on no track
 *
 * Numbers of fields are those of Perfetto's .proto files; F_ of TracePacket.
 */
#ifndef TL_DECODE_PERFETTO_H
#define TL_DECODE_PERFETTO_H

#include "cmd/tl-decode/perfetto/sequence.h"
#include "proto/pull.h"

/* ---- tracks ---- */

/* Process and thread of events. */
struct whose {
	int64_t pid, tid;
	bool has_pid, has_tid, is_process;
	/* of a GPU's row: "GPU 0", "stream 7" */
	int64_t dev, gpu_stream;
	bool has_dev, has_stream;
	/* the last event's track in the stream, and its thread */
	bool has_track, track_has_tid;
	bool is_own_track; /* that thread is this one */
	uint32_t track;
	int64_t track_tid;
};

struct lane {
	uint64_t uuid, parent;
	uint32_t name, thread_name, process_name; /* or NO_NAME */
	int64_t pid, tid;
	bool has_parent, has_pid, has_tid;
	bool is_used; /* has events */
	/* valid for this perfetto.ntold */
	struct whose whose;
	uint64_t as_of;
	/* counters */
	bool is_incremental;
	int64_t multiplier;
	int64_t sum;
	/* open slices, innermost last */
	VEC(struct open_slice *) open;
	struct sequence *writer; /* last to begin or end one */
	uint64_t nended; /* slices with a known end, whose end packets follow */
};

/* An event of a track while it is incomplete. */
struct open_slice {
	uint32_t lane;
	uint32_t name, category; /* or NO_NAME */
	int64_t ts_ns;
	struct args args;
};

/* A cache of lanes by track. */
struct recent_lane {
	uint64_t uuid;
	uint32_t lane; /* plus 1; 0: none */
};

/*
 * The bytes around time and event, which most packets of a sequence share: from
 * the time to the event's length, and after the event.
 */
#define FRAME_MAX 8
struct frame {
	uint64_t front, front_mask, back, back_mask;
	uint8_t nfront, nback;
	struct sequence *q;
};
extern const struct frame perfetto_no_frame; /* fits nothing */

/* ---- the file ---- */

/* Lists in a TrackEvent. */
struct number_lists {
	number_vec counters, reals; /* tracks of further counters */
	number_vec counter_values, real_values;
	number_vec flows;
};

struct perfetto {
	struct source_state *s;
	struct maker maker;
	struct intern *texts; /* see texts.c */
	size_t ntexts;        /* at the last check */
	uint64_t texts_max;   /* bytes of texts */
	struct map sequence_of, lane_of, lane_of_thread;
	struct sequence *last; /* of the last packet */
	uint64_t last_id;
	struct map process_names, thread_names; /* where tracks have none */
	struct map told_names;                  /* of processes; plus 1 */
	struct counter_sets counters;           /* by GPU */
	VEC(struct sequence *) sequences;
	VEC(struct lane) lanes;
	uint64_t ntold;   /* counts changes of lanes, from 1 */
	clock_vec clocks; /* of all sequences */
	uint64_t trace_clock;
	uint64_t nsnapshots;    /* of clocks; from 1 */
	uint64_t offset;        /* of the current packet, for messages */
	uint32_t last_category; /* the last one, and its kind */
	enum kind last_kind;
	struct number_lists lists; /* of the current event */
	struct frame frame; /* the last one learnt, of a valid sequence */
	struct recent_lane recent_lanes[64]; /* by uuid */
	struct arena *links;                 /* chain.h */
	struct link *no_link;                /* fits nothing */
	size_t nlinks;
	size_t nopen;           /* open slices */
	VEC(uint32_t) dict_ids; /* of texts, in the stream's strings */
	VEC(struct open_slice *) spare;
	const char *fault;      /* of the packet, or NULL */
	struct buf text, text2; /* scratch */
	/* JSON in annotations with its values, as it repeats */
	struct intern *json;
	VEC(struct arg) json_values;
	/* skipped */
	uint64_t ndropped; /* packets without what they need */
	uint64_t nlost;    /* gaps reported by the writer */
	uint64_t nother;   /* of other data sources */
	uint64_t nnoclock; /* times of clocks not tied to the trace's */
	/* by --salvage */
	struct losses losses;
	bool is_rocprof;
};

/* Sets p->fault to the first fault; returns false. */
bool perfetto_fault(struct perfetto *p, const char *why);
/* The next field; false at the end and after a fault. */
bool perfetto_next(struct perfetto *p, struct fields *m);
/* The same for hot loops; the caller checks why it ended. */
static inline bool
perfetto_next_fast(const struct perfetto *p, struct fields *m)
{
	return LIKELY(p->fault == NULL) && fields_next(m);
}

static inline bool
perfetto_is_good(struct perfetto *p, const char *error)
{
	return LIKELY(error == NULL && p->fault == NULL) ||
	    perfetto_fault(p, error);
}
/* Appends numbers of a repeated field. */
void perfetto_numbers(struct perfetto *p, const struct fields *m,
    enum proto_type type, number_vec *list);
/* Number of a text in p->texts; invalid UTF-8 is replaced. */
uint32_t perfetto_text(struct perfetto *p, struct str s);
static inline struct str
perfetto_name(const struct perfetto *p, uint32_t name)
{
	return name != NO_NAME ? intern_get(p->texts, name) : STR("");
}

/* ---- sequence.c ---- */

/* ts of a clock (0: default) in ns of the trace's clock. */
bool clock_ns_any(struct perfetto *p, struct sequence *q, uint64_t clock,
    uint64_t ts, int64_t *ns);
/* ---- texts.c ---- */

void texts_start(struct perfetto *p);
/* Between packets: drops unused texts, and renumbers the rest. */
void texts_trim(struct perfetto *p);

/* ---- lane.c ---- */

uint32_t lane_of(struct perfetto *p, uint64_t uuid);
/* The lane of a thread without a track. */
uint32_t lane_of_thread(struct perfetto *p, int64_t pid, int64_t tid);
bool lane_describe(struct perfetto *p, struct str bytes);
/*
 * The owner of a lane, by its track or those above. A track outside threads is
 * its own thread, by uuid (has_tid unset), unless it is the process.
 */
struct whose *lane_owner(struct perfetto *p, uint32_t lane);
/* Ends a run of begins and ends. */
void lane_settle(struct perfetto *p, struct sequence *q);
/* At the end of the file: open slices and names. */
void lanes_finish(struct perfetto *p);
struct open_slice *open_slice_make(void);
/* ---- legacy.c ---- */

/* A LegacyEvent without what becomes args. */
struct legacy {
	char ph; /* 0: none */
	uint32_t name;
	int64_t dur_us, pid, tid;
	bool has_pid, has_tid;
};

bool legacy_read(struct perfetto *p, const struct sequence *q, struct str bytes,
    struct legacy *l, struct args *to);
/* Thread and process of a sequence, and names of all processes. */
bool legacy_thread(struct perfetto *p, struct sequence *q, struct str bytes);
bool legacy_process(struct perfetto *p, struct sequence *q, struct str bytes);
bool legacy_names(struct perfetto *p, struct str bytes);

/* ---- track.c ---- */

/* TrackEvent.type */
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };

/* ts_ns NULL: the packet has no time; the event may. */
bool track_event(struct perfetto *p, struct sequence *q, struct str bytes,
    const int64_t *ts_ns);
/* ---- packet.c ---- */

/* Any packet, or a nested one (depth). */
bool perfetto_any_packet(struct perfetto *p, struct str bytes, unsigned depth);
/* ---- event.c ---- */

/* Writes a slice with a chain if one like it was written before. */
bool write_usual(
    struct perfetto *p, const struct open_slice *o, int64_t end_ns);
/* Writes any slice of a lane; end NULL: none. */
void write_slice(struct perfetto *p, const struct open_slice *o,
    const int64_t *end_ns, const struct args *more_args);
/* Writes a slice with the arguments so far; false: strings were cleared. */
bool write_span(struct perfetto *p, const struct open_slice *o,
    struct whose *whose, enum kind kind, uint32_t cat, const int64_t *end_ns,
    const struct args *more_args);
/* Writes an event without length, by phase. */
void write_point(struct perfetto *p, const struct open_slice *o, char ph);
/* Writes a counter's value: real, else integer. */
void write_counter(struct perfetto *p, const struct open_slice *o,
    struct whose *whose, const double *real, int64_t whole);
/* Writes the names of a lane's process and thread. */
void write_names(struct perfetto *p, uint32_t lane);

/* ---- gpu.c ---- */

bool gpu_stage(
    struct perfetto *p, struct sequence *q, struct str bytes, int64_t ts_ns);
/* GpuCounterEvent; a descriptor in InternedData. */
bool gpu_counters(
    struct perfetto *p, struct sequence *q, struct str bytes, int64_t ts_ns);
bool gpu_intern_counters(
    struct perfetto *p, struct sequence *q, struct str bytes);
void counter_sets_free(struct counter_sets *sets);

#endif
