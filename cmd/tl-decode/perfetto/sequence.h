/* SPDX-License-Identifier: MIT */
/*
 * sequence: a packet writer's state: interned names, defaults, clocks, and its
 * begun and ended slices.
 */
#ifndef TL_DECODE_PERFETTO_SEQUENCE_H
#define TL_DECODE_PERFETTO_SEQUENCE_H

#include "cmd/tl-decode/perfetto/args.h"

#define NO_NAME INTERN_NONE

/* Kinds of interned names. */
enum names {
	NAMES_CATEGORY,
	NAMES_EVENT,
	NAMES_KEY,
	NAMES_STRING,
	NAMES_STAGE,  /* of GPU work: stages and queues */
	NAMES_KERNEL, /* demangled if possible */
	NAMES_ARG,    /* of a launch */
	NAMES_CORRELATION,
	NAMES_N
};

/*
 * Numbers in perfetto.texts, or NO_NAME; writers count from 1, so most are in a
 * list.
 */
struct name_list {
	VEC(uint32_t) near;
	struct map far;
	uint64_t nput;
};

#define CLOCK_MONOTONIC 3

struct clock {
	uint64_t id;
	int64_t multiplier; /* ns per tick */
	int64_t last;       /* ticks, if incremental */
	int64_t offset;     /* ns, to the trace's clock */
	bool is_incremental, has_offset;
};
typedef VEC(struct clock) clock_vec;
typedef VEC(uint64_t) number_vec;

struct open_slice;

/* An end whose slice is not found yet. */
struct slice_end {
	uint32_t lane;
	int64_t ts_ns;
	struct open_slice *more; /* with args, or NULL */
};

/* Names of a GPU's counters, by number. */
struct gpu_counters {
	int64_t gpu;
	bool has_gpu;
	struct map names;
};
/* By their number or by GPU. */
struct counter_sets {
	struct map at;
	VEC(struct gpu_counters) list;
};

struct sequence {
	bool is_valid;
	struct name_list names[NAMES_N];
	struct link *chain;                   /* see chain.h */
	struct map pids;                      /* by GPU context */
	uint64_t default_clock, default_lane; /* 0: none */
	bool has_default_lane;
	number_vec default_counters, default_reals; /* tracks */
	struct counter_sets counters;
	clock_vec clocks;
	/*
	 * index of the default clock if it counts ns differences and is tied to
	 * the trace's, as of this perfetto.nsnapshots; or 0
	 */
	size_t usual_clock;
	uint64_t usual_as_of;
	/* legacy: thread, and times in microseconds */
	uint32_t thread;
	bool has_thread;
	int64_t us, thread_us;
	/* a run of begins and ends, see lane.c */
	VEC(struct open_slice *) begins;
	VEC(struct slice_end) ends;
};

struct sequence *sequence_of(struct perfetto *p, uint64_t id);
void sequence_clear(struct sequence *q);
void sequence_free(struct perfetto *p, struct sequence *q);
bool sequence_intern(struct perfetto *p, struct sequence *q, struct str bytes);
bool sequence_defaults(
    struct perfetto *p, struct sequence *q, struct str bytes);
/* The name of a number, or NO_NAME. */
static inline uint32_t
sequence_name(const struct sequence *q, enum names what, uint64_t iid)
{
	const struct name_list *l = &q->names[what];
	const uint64_t *far;

	if (LIKELY(iid < l->near.n))
		return l->near.v[iid];
	far = map_get(&l->far, iid);
	return far != NULL ? (uint32_t)*far : NO_NAME;
}
bool clock_snapshot(struct perfetto *p, struct sequence *q, struct str bytes);

#endif
