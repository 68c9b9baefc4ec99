/* SPDX-License-Identifier: MIT */
/*
 * sequence: what a writer of packets knows: names by number, defaults, clocks,
 * and which of its slices have begun and ended.
 */
#ifndef TL_DECODE_PERFETTO_SEQUENCE_H
#define TL_DECODE_PERFETTO_SEQUENCE_H

#include "cmd/tl-decode/perfetto/args.h"

#define NO_NAME INTERN_NONE

/* What is interned, by what the number stands for. */
enum names {
	NAMES_CATEGORY,
	NAMES_EVENT,
	NAMES_KEY,
	NAMES_STRING,
	NAMES_STAGE,  /* of GPU work: what it is, and lanes */
	NAMES_KERNEL, /* demangled where it can be */
	NAMES_ARG,    /* of a kernel's launch */
	NAMES_CORRELATION,
	NAMES_N
};

/* Their numbers in perfetto.texts, or NO_NAME: writers count from 1, so those
 * that are near lie in a list. */
struct name_list {
	VEC(uint32_t) near;
	struct map far;
	uint64_t nput;
};

#define CLOCK_MONOTONIC 3

struct clock {
	uint64_t id;
	int64_t multiplier; /* ns of a tick */
	int64_t last;       /* ticks, of an incremental one */
	int64_t offset;     /* to the trace's clock, in ns */
	bool is_incremental, has_offset;
};
typedef VEC(struct clock) clock_vec;
typedef VEC(uint64_t) number_vec;

struct open_slice;

/* The end of a slice that is still to be found. */
struct slice_end {
	uint32_t lane;
	int64_t ts_ns;
	struct open_slice *more; /* that has args, or NULL */
};

/* What the counters of a GPU are called, by their numbers. */
struct gpu_counters {
	int64_t gpu;
	bool has_gpu;
	struct map names;
};
/* Of several, by their number or by that of the GPU. */
struct counter_sets {
	struct map at;
	VEC(struct gpu_counters) list;
};

struct sequence {
	bool is_valid;
	struct name_list names[NAMES_N];
	struct link *chain;                   /* see chain.h */
	struct map pids;                      /* of GPU contexts */
	uint64_t default_clock, default_lane; /* 0: none */
	bool has_default_lane;
	number_vec default_counters, default_reals; /* tracks */
	struct counter_sets counters;
	clock_vec clocks;
	/* the default one of these, if it counts differences in ns and is tied
	 * to the trace's, as of so many snapshots: perfetto.nsnapshots, or 0 */
	size_t usual_clock;
	uint64_t usual_as_of;
	/* of older writers: the thread, and times in microseconds */
	uint32_t thread;
	bool has_thread;
	int64_t us, thread_us;
	/* begins and ends that followed each other, see lane.c */
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
