/* SPDX-License-Identifier: MIT */
/*
 * XPlane, the protobuf of XLA's profiler (JAX, TensorFlow): a space of planes
 * (a device, the host), of lines (a GPU stream, a thread), of events, which
 * name their metadata by number. Maps of metadata stand behind the lines, so
 * planes.c notes where everything is, and then the lines are read.
 *
 * The file is one window from its first byte to its last; texts stay in it.
 */
#ifndef TL_DECODE_XPLANE_H
#define TL_DECODE_XPLANE_H

#include "cmd/tl-decode/hlo/hlo.h"

#include "proto/pull.h"

enum plane_kind {
	PLANE_OTHER,
	PLANE_GPU,
	PLANE_TPU,
	PLANE_HOST,
	PLANE_MODULES,     /* /host:metadata: the HLO modules */
	PLANE_ENVIRONMENT, /* Task Environment: when, and what versions */
};

/* Stats that mean something to us, by their names. */
enum stat_is {
	STAT_ANY,
	STAT_ALLOCATED, /* bytes that an allocator gave or took back */
	STAT_CATEGORY,  /* of an HLO instruction */
	STAT_CONSUMER, /* of an arrow between events: its number and type ... */
	STAT_CONSUMER_TYPE,
	STAT_CORRELATION,
	STAT_DETAILS, /* of a kernel, copy or fill, as text */
	STAT_INSTRUCTION,
	STAT_MODULE,
	STAT_PRODUCER,
	STAT_PRODUCER_TYPE,
	STAT_PROGRAM,
	STAT_STEP,
	STAT_STEP_NAME,
	STAT_COUNT
};

/* An entry of a plane's stat_metadata. */
struct stat_key {
	struct str name;
	enum stat_is is;
	uint32_t text; /* of name, in the dictionary; INTERN_NONE: not yet */
};

enum stat_type {
	STAT_NONE, /* what is unknown */
	STAT_DOUBLE,
	STAT_UINT,
	STAT_INT,
	STAT_TEXT,
	STAT_BYTES,
	STAT_GZIP, /* text, compressed */
	STAT_REF,  /* the text is the name of a key */
};

struct stat {
	uint32_t key, ref; /* in keys */
	uint8_t type;      /* enum stat_type */
	uint64_t u;
	struct str text;
};

/* What the name of an event on the host says of it. */
enum host_name {
	HOST_ANY,
	HOST_PYTHON,
	HOST_ALLOCATION,
	HOST_FREE,
};

/* An entry of a plane's event_metadata. */
struct event_meta {
	uint64_t id;
	struct str bytes; /* XEventMetadata */
	bool is_missing;  /* the file has none */
	bool is_read;     /* what follows is known */
	bool has_stats;
	uint8_t host; /* enum host_name */
	uint8_t work; /* enum kind, on a GPU's stream */
	struct str name, display;
	uint32_t text; /* of what is shown; INTERN_NONE: not yet */
};

/* Of an event with those of its metadata, or fields of metadata; writers have
 * some tens. */
#define STATS_MAX 1024

/* A module's run on a TPU, and what ties it to the host. */
struct run {
	int64_t start_ns, end_ns;
	uint64_t flow;
};

struct plane {
	struct str bytes, name;
	uint64_t id;
	enum plane_kind kind;
	int64_t pid, dev;
	bool is_cut, has_events;
	VEC(struct str) lines;
	VEC(struct event_meta) metas;
	struct map meta_of; /* by id */
	VEC(struct stat_key) keys;
	struct map key_of;
	VEC(struct str) stats;
	VEC(struct run) runs; /* of a TPU, by their starts */
	struct map texts;     /* shared_text() by its place in the file */
};

/* Of a process, or of a thread that has events. */
struct track_name {
	int64_t pid, tid;
	bool is_thread;
	struct str name;
};

/* The program of a module's name, if no other has that. */
struct program {
	uint64_t id;
	bool is_only;
};

struct xplane {
	struct source_state *s;
	struct in *in; /* all of it */
	const unsigned char *bytes, *passed;
	struct maker maker;
	struct hlo *hlo;
	VEC(struct plane) planes;
	VEC(struct track_name) names;
	struct intern *modules; /* names, once has_programs is set */
	VEC(struct program) programs;
	bool has_programs;
	struct map flows; /* type + 1 of those of runs, by number */
	struct str hostname;
	struct arena *mem;
	/* of the event at hand */
	VEC(struct stat) stats;
	uint32_t found[STAT_COUNT]; /* in stats, plus 1 */
	size_t nshared;             /* stats of its metadata, in front */
	struct buf text, utf8;
	/* salvage */
	struct map faults; /* by offset, so that each counts once */
	struct losses losses;
};

/* ---- xplane.c ---- */

/* Dies of the field at m's place, or counts what is lost; always false. */
bool xplane_fault(struct xplane *x, struct fields *m);
/* Likewise of a place in the file, where n bytes are lost. */
void xplane_lose(
    struct xplane *x, const unsigned char *at, uint64_t n, const char *error);

/* The next field; false: it was the last, or the rest is lost. */
static inline __attribute__((always_inline)) bool
xplane_next(struct xplane *x, struct fields *m)
{
	return fields_next(m) || (m->error != NULL && xplane_fault(x, m));
}
/*
 * The same, but the message of this field, if it is cut off, is read as far as
 * it goes by --salvage: *is_cut says that this one is.
 */
bool xplane_next_part(
    struct xplane *x, struct fields *m, uint32_t field, bool *is_cut);
/* A text of the file as UTF-8, until the next one. */
struct str xplane_utf8(struct xplane *x, struct str text);

/* A text of metadata that is longer is cut, and says so. */
#define SHARED_MAX ((size_t)64 << 10)
/* The number in the dictionary of a text that many events have. */
uint32_t xplane_intern(struct xplane *x, struct str text);
/* What is read has come to p: pages before are given back, now and then. */
void xplane_pass(struct xplane *x, const unsigned char *p);
/* The dictionary was cleared: its numbers are forgotten. */
void plane_forget(struct plane *p);

/* ---- planes.c ---- */

/* Notes all planes with what they have, and the file's own facts. */
void planes_read(struct xplane *x);
void planes_free(struct xplane *x);

/* ---- stats.c ---- */

void stat_key_add(struct plane *p, uint64_t id, struct str name);
/* Reads an XStat; false: it has no value. A key that the file lacks is #ID. */
bool stat_read(
    struct xplane *x, struct plane *p, struct str bytes, struct stat *st);
struct str stat_text(const struct plane *p, const struct stat *st);
/* Appends its value; nothing of what JSON does not have. */
void stat_json(struct xplane *x, const struct plane *p, const struct stat *st,
    struct buf *json);
/* Makes x->stats those of an event, of its metadata first. */
void stats_start(struct xplane *x);
void stats_add(struct xplane *x, struct plane *p, struct str bytes);
/* One of the event at hand by its meaning, or NULL. */
static inline const struct stat *
stats_find(const struct xplane *x, enum stat_is is)
{
	return x->found[is] > 0 ? &x->stats.v[x->found[is] - 1] : NULL;
}
static inline bool
stats_int(const struct xplane *x, enum stat_is is, uint64_t *u)
{
	const struct stat *st = stats_find(x, is);

	if (st == NULL || (st->type != STAT_UINT && st->type != STAT_INT))
		return false;
	*u = st->u;
	return true;
}
/* xplane_intern() of a text in the file, which is read once; INTERN_NONE: it is
 * packed, and damaged. */
uint32_t shared_text(
    struct xplane *x, struct plane *p, struct str text, bool is_packed);
/* Makes them arguments of the event in the making. */
void stats_put(struct xplane *x, struct plane *p);

/* ---- meta.c ---- */

/* The metadata of this id, read; made up if the file lacks it. */
struct event_meta *event_meta_of(
    struct xplane *x, struct plane *p, uint64_t id);
struct str event_meta_name(const struct event_meta *meta);

/* ---- modules.c ---- */

/* The program of the only module of this name; false: there is none. */
bool modules_find(
    struct xplane *x, struct str name, uint64_t *program) USE_RESULT;
/* Writes those that events named, when all events are written. */
void modules_write(struct xplane *x);

/* ---- events.c ---- */

/* The runs of modules on TPUs, which events elsewhere belong to. */
void runs_read(struct xplane *x);
/* All events, in the order of the file, and then names of tracks. */
void events_read(struct xplane *x);

#endif
