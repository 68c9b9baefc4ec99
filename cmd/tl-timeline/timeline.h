/* SPDX-License-Identifier: MIT */
/*
 * tl-timeline inside: events are gathered into slices (a source, and what --by
 * says), a slice becomes figures, and figures become rows.
 */
#ifndef TL_TIMELINE_H
#define TL_TIMELINE_H

#include "sink/source.h"
#include "table/table.h"
#include "trace/bucket.h"
#include "trace/select.h"
#include "trace/span.h"

enum by {
	BY_NOTHING,
	BY_ANNOTATION,
	BY_DEV,
	BY_RANK,
	BY_RECOMPUTE,
	BY_SRC,
	BY_STEP,
};

struct settings {
	enum by by;
	bool join, linked_only, verbose, of_host;
	bool has_micro;
	int64_t micro_ns; /* gaps from here on are macro */
	struct select select;
	struct bucket_rules rules;
	struct table_dest dest;
};

/* A slice of the rocprof timeline differs from Kineto's in its buckets, so
 * kernels that copy are kept by themselves. */
enum {
	SET_COMPUTE,
	SET_COMM,
	SET_MEMCPY,
	SET_COPY_KERNELS,
	SET_UNLINKED, /* those of the others without a launch */
	SET_COUNT
};

struct slice {
	size_t source;
	struct key key;   /* of --by; KEY_NONE: outside */
	int64_t first_ns; /* the earliest time of its events, for order */
	uint64_t nevents, nunlinked;
	struct spans sets[SET_COUNT];
};

struct slices {
	struct dict *dict;
	struct sink_sources sources;
	VEC(struct slice) list;
	struct map by_key; /* hash to index */
	uint64_t nevents;  /* of any kind, in all files */
};

/* slice.c */

/* A slice of the source, made when missing; valid until the next call. */
struct slice *slices_find(
    struct slices *g, const struct sink_source *o, struct key key);
void slice_add(struct slice *slice, enum bucket bucket, const struct event *ev,
    int64_t end_ns);
/* Groups of all sources with equal keys become one, in the first's time. */
void slices_join(struct slices *g);
/* Into the order of the table. */
void slices_sort(struct slices *g, enum by by, bool by_rank);
void slices_free(struct slices *g);

/* figures.c */

/* Lengths in ns. */
struct figures {
	int64_t compute, exposed_comm, exposed_memcpy;
	int64_t busy, idle, micro_idle, macro_idle, total;
	int64_t comm, memcpy, unlinked;
	int64_t kernel, memory; /* of rocprof */
};

/* Uses the slice's sets up. micro_ns parts the gaps. */
void figures_of(struct figures *f, struct slice *slice, int64_t micro_ns);
/* The same with the buckets of rocprof, in a window or, if NULL, its own. */
void figures_of_rocprof(struct figures *f, struct slice *slice,
    const struct span *window, int64_t micro_ns);

/* rows.c */

/* A usage error for columns that no table of ours has. */
void rows_check(const struct settings *set);
void rows_print(struct settings *set, struct slices *g);

/* host.c */

/* The same for host_timeline. */
void host_check(const struct settings *set);
/* Reads the operands and prints; how many events there were. */
uint64_t host_timeline(struct settings *set, struct optparse *op);

#endif
