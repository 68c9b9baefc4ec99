/* SPDX-License-Identifier: MIT */
/*
 * XPlane, the protobuf of XLA's profiler (JAX, TensorFlow): planes (a device,
 * the host) of lines (a GPU stream, a thread) of events, which name their
 * metadata by number. Metadata follow the lines, so planes.c locates everything
 * first. The file is one window, and texts stay in it.
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
	PLANE_ENVIRONMENT, /* Task Environment: time and versions */
};

/* Stats with a meaning, by name. */
enum stat_is {
	STAT_ANY,
	STAT_ALLOCATED, /* bytes allocated or freed */
	STAT_CATEGORY,  /* of an HLO instruction */
	STAT_CONSUMER,  /* flow between events: number and type ... */
	STAT_CONSUMER_TYPE,
	STAT_CORRELATION,
	STAT_DETAILS, /* of a kernel, copy or fill: text */
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
	uint32_t text; /* name in the dictionary; INTERN_NONE: not yet */
};

enum stat_type {
	STAT_NONE, /* unknown */
	STAT_DOUBLE,
	STAT_UINT,
	STAT_INT,
	STAT_TEXT,
	STAT_BYTES,
	STAT_GZIP, /* compressed text */
	STAT_REF,  /* text: a key's name */
};

struct stat {
	uint32_t key, ref; /* index in keys */
	uint8_t type;      /* enum stat_type */
	uint64_t u;
	struct str text;
};

/* Host events told by name. */
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
	bool is_missing;  /* not in the file */
	bool is_read;     /* the rest is set */
	bool has_stats;
	uint8_t host; /* enum host_name */
	uint8_t work; /* enum kind on a GPU's stream */
	struct str name, display;
	uint32_t text; /* text to show; INTERN_NONE: not yet */
};

/*
 * Of an event with its metadata's, or fields of metadata; writers have some
 * tens.
 */
#define STATS_MAX 1024

/* A module's run on a TPU, and its link to the host. */
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
	VEC(struct run) runs; /* of a TPU, by start */
	struct map texts;     /* shared_text() by offset */
};

/* Of a process, or of a thread with events. */
struct track_name {
	int64_t pid, tid;
	bool is_thread;
	struct str name;
};

/* The only program with a module's name. */
struct program {
	uint64_t id;
	bool is_only;
};

struct xplane {
	struct source_state *s;
	struct in *in; /* the whole file */
	const unsigned char *bytes, *passed;
	struct maker maker;
	struct hlo *hlo;
	VEC(struct plane) planes;
	VEC(struct track_name) names;
	struct intern *modules; /* names, if has_programs */
	VEC(struct program) programs;
	bool has_programs;
	struct map flows; /* type + 1 of runs' flows, by number */
	struct str hostname;
	struct arena *mem;
	/* the current event */
	VEC(struct stat) stats;
	uint32_t found[STAT_COUNT]; /* index in stats, plus 1 */
	size_t nshared;             /* first stats, of its metadata */
	struct buf text, utf8;
	/* salvage */
	struct map faults; /* by offset, to count each once */
	struct losses losses;
};

/* ---- xplane.c ---- */

/* Ends the program at the field at m's place, or counts the loss; false. */
bool xplane_fault(struct xplane *x, struct fields *m);
/* The same for n bytes at a place in the file. */
void xplane_lose(
    struct xplane *x, const unsigned char *at, uint64_t n, const char *error);

/* The next field; false: the end, or the rest is lost. */
static inline __attribute__((always_inline)) bool
xplane_next(struct xplane *x, struct fields *m)
{
	return fields_next(m) || (m->error != NULL && xplane_fault(x, m));
}
/*
 * The same, but --salvage reads an incomplete message as far as it goes:
 * *is_cut.
 */
bool xplane_next_part(
    struct xplane *x, struct fields *m, uint32_t field, bool *is_cut);
/* A text of the file as UTF-8, valid until the next call. */
struct str xplane_utf8(struct xplane *x, struct str text);

/* Longer texts of metadata are cut, with a note. */
#define SHARED_MAX ((size_t)64 << 10)
/* The dictionary's number of a text that many events share. */
uint32_t xplane_intern(struct xplane *x, struct str text);
/* Reading has reached p: releases pages before it at times. */
void xplane_pass(struct xplane *x, const unsigned char *p);
/* After the dictionary was cleared. */
void plane_forget(struct plane *p);

/* ---- planes.c ---- */

/* Locates planes and their parts; sets the file's facts. */
void planes_read(struct xplane *x);
void planes_free(struct xplane *x);

/* ---- stats.c ---- */

void stat_key_add(struct plane *p, uint64_t id, struct str name);
/* Reads an XStat; false: no value. A key that the file lacks is #ID. */
bool stat_read(
    struct xplane *x, struct plane *p, struct str bytes, struct stat *st);
struct str stat_text(const struct plane *p, const struct stat *st);
/* Appends a value as JSON; what JSON lacks is left out. */
void stat_json(struct xplane *x, const struct plane *p, const struct stat *st,
    struct buf *json);
/* Sets x->stats to an event's, its metadata's first. */
void stats_start(struct xplane *x);
void stats_add(struct xplane *x, struct plane *p, struct str bytes);
/* A stat of the current event, or NULL. */
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
/*
 * xplane_intern() of a text in the file, read once; INTERN_NONE: it is
 * compressed and damaged.
 */
uint32_t shared_text(
    struct xplane *x, struct plane *p, struct str text, bool is_packed);
/* Makes them arguments of the maker's event. */
void stats_put(struct xplane *x, struct plane *p);

/* ---- meta.c ---- */

/* The metadata of an id; made up if the file lacks it. */
struct event_meta *event_meta_of(
    struct xplane *x, struct plane *p, uint64_t id);
struct str event_meta_name(const struct event_meta *meta);

/* ---- modules.c ---- */

/* The program of the only module with this name; false: none. */
bool modules_find(
    struct xplane *x, struct str name, uint64_t *program) USE_RESULT;
/* Writes modules that events named, after all events. */
void modules_write(struct xplane *x);

/* ---- events.c ---- */

/* Reads modules' runs on TPUs, which other events refer to. */
void runs_read(struct xplane *x);
/* Reads all events in file order, then names of tracks. */
void events_read(struct xplane *x);

#endif
