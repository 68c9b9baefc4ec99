/* SPDX-License-Identifier: MIT */
/* source: what a stream says about each recorded file, and about itself. */
#ifndef TL_STREAM_SOURCE_H
#define TL_STREAM_SOURCE_H

#include "stream/shape.h"

#define STREAM_VERSION 1

/* A named value: a fact of a source, or a metadata member of the file. */
struct fact {
	struct str key;
	struct value val; /* types with text: val.s */
};

/*
 * A source. Facts are named as in tl-stream(5): name, format, rank, world_size,
 * base (ns to add to ts for the file's own time), epoch (ns to add to that for
 * Unix time), hostname, devices, events, ...
 */
struct source {
	uint32_t src;
	bool is_final;
	size_t nfacts;
	const struct fact *facts;
};

/* A member of the file beside its events, verbatim. */
struct meta {
	uint32_t src;
	bool is_after; /* came after the events */
	struct fact fact;
};

/* The fact, or NULL. */
const struct fact *source_fact(const struct source *s, const char *key);
/*
 * What messages call it: the trace it was read from, if it is known, else the
 * input, with its number after the first. To be freed.
 */
char *source_label(const struct source *s, const char *path);
/* Whether its devices are TPUs. */
bool source_is_tpu(const struct source *s);
/* An integer fact, or one that is an integer's text; false: none. */
bool source_int(const struct source *s, const char *key, int64_t *v);
/* Whether a profiler of the GPU's API took it: no ops, and correlation ids that
 * count per process. */
bool source_is_api_trace(const struct source *s);
/* Whether XLA's profiler did: JAX, TensorFlow. */
bool source_is_xla(const struct source *s);

/* Copies into the arena, with their texts. */
struct fact fact_keep(struct arena *mem, const struct fact *f);
struct source source_keep(struct arena *mem, const struct source *s);

/* Warns of events that no table can count, if the source has that fact. */
void stream_tell_skipped(const char *name, const struct source *source);

enum section {
	SECTION_NONE,
	SECTION_PROLOGUE,
	SECTION_TREE,
	SECTION_TAIL,
	SECTION_COUNT
};
extern const char *const section_words[SECTION_COUNT];

/* What programs did to a stream. The numbers are in files. */
enum {
	MARK_LINKED = 1 << 0,
	MARK_TREE = 1 << 1,
	MARK_SYNTHETIC = 1 << 2,
	MARK_EDITED = 1 << 3,
	MARK_SALVAGED = 1 << 4,
};
extern const char *const mark_words[]; /* bit 0 first, NULL at the end */

/* One program in the provenance. */
struct prov {
	struct str program, version, args; /* args: a JSON list */
};

#endif
