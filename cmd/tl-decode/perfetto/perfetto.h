/* SPDX-License-Identifier: MIT */
/*
 * Perfetto's protobuf traces: a concatenation of packets, each of which belongs
 * to a sequence (a writer with names, defaults and clocks of its own) and holds
 * something that happened on a track, or says what a track is.
 *
 *	perfetto.c	the file
 *	packet.c	its packets
 *	sequence.c	names by number, defaults, clocks
 *	lane.c		tracks: whose they are, slices that are open
 *	args.c		debug annotations
 *	chain.c		those that follow one another as others did
 *	texts.c		names and other texts
 *	usual.h		what most packets come to, inline
 *	track.c		what happens on tracks: slices, points, counters
 *	event.c		these as events
 *	legacy.c	what older writers say in Chrome's way
 *	gpu.c		work and counters of GPUs that are on no track
 *
 * Numbers of fields are those of Perfetto's .proto files; F_ of TracePacket.
 */
#ifndef TL_DECODE_PERFETTO_H
#define TL_DECODE_PERFETTO_H

#include "cmd/tl-decode/perfetto/sequence.h"
#include "proto/pull.h"

/* ---- tracks ---- */

/* The process and thread of what happens somewhere. */
struct whose {
	int64_t pid, tid;
	bool has_pid, has_tid, is_process;
	/* of a row of a GPU: "GPU 0", "stream 7" */
	int64_t dev, gpu_stream;
	bool has_dev, has_stream;
	/* the event before: its track in the stream, and the thread that it
	 * had */
	bool has_track, track_has_tid;
	bool is_own_track; /* that thread is the one of this */
	uint32_t track;
	int64_t track_tid;
};

struct lane {
	uint64_t uuid, parent;
	uint32_t name, thread_name, process_name; /* or NO_NAME */
	int64_t pid, tid;
	bool has_parent, has_pid, has_tid;
	bool is_used; /* something happened on it */
	/* whose it is, as of this many descriptors: perfetto.ntold */
	struct whose whose;
	uint64_t as_of;
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
	struct args args;
};

/* A lane by its track, among those that were looked for last. */
struct recent_lane {
	uint64_t uuid;
	uint32_t lane; /* plus 1; 0: none */
};

/*
 * What stands around the time and the event of a packet, which is the same in
 * most packets of a sequence: the bytes that follow the time, up to the event's
 * length, and those behind the event.
 */
#define FRAME_MAX 8
struct frame {
	uint64_t front, front_mask, back, back_mask;
	uint8_t nfront, nback;
	struct sequence *q;
};
extern const struct frame perfetto_no_frame; /* fits nothing */

/* ---- the file ---- */

/* Lists of numbers in a TrackEvent. */
struct number_lists {
	number_vec counters, reals; /* tracks of more counters */
	number_vec counter_values, real_values;
	number_vec flows;
};

struct perfetto {
	struct source_state *s;
	struct maker maker;
	struct intern *texts; /* see texts.c */
	size_t ntexts;        /* when they were looked at last */
	uint64_t texts_max;   /* their bytes */
	struct map sequence_of, lane_of, lane_of_thread;
	struct sequence *last; /* that of the packet before, by its id */
	uint64_t last_id;
	struct map process_names, thread_names; /* where no track has them */
	struct map told_names;                  /* of processes, plus 1 */
	struct counter_sets counters;           /* by GPU */
	VEC(struct sequence *) sequences;
	VEC(struct lane) lanes;
	uint64_t ntold;   /* what was said of lanes, or forgotten; not 0 */
	clock_vec clocks; /* those that all sequences share */
	uint64_t trace_clock;
	uint64_t nsnapshots;    /* of clocks, and 1: not 0 */
	uint64_t offset;        /* of the last packet, for messages */
	uint32_t last_category; /* and its kind */
	enum kind last_kind;
	struct number_lists lists; /* of the event at hand */
	struct frame frame; /* the one learned last, of a valid sequence */
	struct recent_lane recent_lanes[64]; /* by the uuid */
	struct arena *links;                 /* chain.h */
	struct link *no_link;                /* fits nothing */
	size_t nlinks;
	size_t nopen;           /* slices that are open */
	VEC(uint32_t) dict_ids; /* of texts, in the stream's strings */
	VEC(struct open_slice *) spare;
	const char *fault;      /* what is wrong in it; NULL: nothing */
	struct buf text, text2; /* to build in */
	/* JSON in annotations, and what it comes to, as it comes again */
	struct intern *json;
	VEC(struct arg) json_values;
	/* what was not read */
	uint64_t ndropped; /* packets that lack what they need */
	uint64_t nlost;    /* gaps that the writer reports */
	uint64_t nother;   /* packets of other data sources */
	uint64_t
	    nnoclock; /* times of clocks that nothing ties to the trace's */
	/* what --salvage skipped */
	struct losses losses;
	bool is_rocprof;
};

/* Sets p->fault, unless there is one; always false. */
bool perfetto_fault(struct perfetto *p, const char *why);
/* The next field of a message; false at its end, and once there is a fault. */
bool perfetto_next(struct perfetto *p, struct fields *m);
/* The same in loops that many events go through; the caller then says what
 * ended them. */
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
/* Appends the numbers of a repeated field. */
void perfetto_numbers(struct perfetto *p, const struct fields *m,
    enum proto_type type, number_vec *list);
/* The number of a text in p->texts; bytes that are no UTF-8 are replaced. */
uint32_t perfetto_text(struct perfetto *p, struct str s);
static inline struct str
perfetto_name(const struct perfetto *p, uint32_t name)
{
	return name != NO_NAME ? intern_get(p->texts, name) : STR("");
}

/* ---- sequence.c ---- */

/* ts of any clock (0: the default one) in ns of the trace's clock. */
bool clock_ns_any(struct perfetto *p, struct sequence *q, uint64_t clock,
    uint64_t ts, int64_t *ns);
/* ---- texts.c ---- */

void texts_start(struct perfetto *p);
/* Between packets: too many are forgotten, others have new numbers. */
void texts_trim(struct perfetto *p);

/* ---- lane.c ---- */

uint32_t lane_of(struct perfetto *p, uint64_t uuid);
/* The one of a thread without a track. */
uint32_t lane_of_thread(struct perfetto *p, int64_t pid, int64_t tid);
bool lane_describe(struct perfetto *p, struct str bytes);
/* Of a lane, from it or what is above it. A track that is in no thread is one
 * of its own, by its uuid (has_tid unset), unless it is the process itself. */
struct whose *lane_owner(struct perfetto *p, uint32_t lane);
/* Another packet ends a run of begins and ends. */
void lane_settle(struct perfetto *p, struct sequence *q);
/* What has begun and not ended, and names, when the file has ended. */
void lanes_finish(struct perfetto *p);
struct open_slice *open_slice_make(void);
/* ---- legacy.c ---- */

/* A LegacyEvent, besides what becomes args. */
struct legacy {
	char ph; /* 0: none */
	uint32_t name;
	int64_t dur_us, pid, tid;
	bool has_pid, has_tid;
};

bool legacy_read(struct perfetto *p, const struct sequence *q, struct str bytes,
    struct legacy *l, struct args *to);
/* The thread and process of a sequence, and the names of all processes. */
bool legacy_thread(struct perfetto *p, struct sequence *q, struct str bytes);
bool legacy_process(struct perfetto *p, struct sequence *q, struct str bytes);
bool legacy_names(struct perfetto *p, struct str bytes);

/* ---- track.c ---- */

/* TrackEvent.type */
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };

/* ts_ns NULL: the packet has no time, but the event may. */
bool track_event(struct perfetto *p, struct sequence *q, struct str bytes,
    const int64_t *ts_ns);
/* ---- packet.c ---- */

/* A packet in whatever frame, or one that was packed into another (depth). */
bool perfetto_any_packet(struct perfetto *p, struct str bytes, unsigned depth);
/* ---- event.c ---- */

/* Writes a slice of a lane that has a chain, if one of the same category and
 * chain was written before. */
bool write_usual(
    struct perfetto *p, const struct open_slice *o, int64_t end_ns);
/* Writes any slice of a lane; end NULL: it has none. */
void write_slice(struct perfetto *p, const struct open_slice *o,
    const int64_t *end_ns, const struct args *more_args);
/* The same of what is known of it; false: strings were forgotten. */
bool write_span(struct perfetto *p, const struct open_slice *o,
    struct whose *whose, enum kind kind, uint32_t cat, const int64_t *end_ns,
    const struct args *more_args);
/* Something of a lane that has no length, by its phase. */
void write_point(struct perfetto *p, const struct open_slice *o, char ph);
/* A counter's value then: real, or else whole. */
void write_counter(struct perfetto *p, const struct open_slice *o,
    struct whose *whose, const double *real, int64_t whole);
/* Names of the process and thread that a lane is. */
void write_names(struct perfetto *p, uint32_t lane);

/* ---- gpu.c ---- */

bool gpu_stage(
    struct perfetto *p, struct sequence *q, struct str bytes, int64_t ts_ns);
/* GpuCounterEvent; a descriptor of InternedData. */
bool gpu_counters(
    struct perfetto *p, struct sequence *q, struct str bytes, int64_t ts_ns);
bool gpu_intern_counters(
    struct perfetto *p, struct sequence *q, struct str bytes);
void counter_sets_free(struct counter_sets *sets);

#endif
