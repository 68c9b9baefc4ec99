/* SPDX-License-Identifier: MIT */
/*
 * tl-replay: ops of a trace as benchmarks that run.
 *
 * A sink (sink/sink.h): the tree is read once, each op that launches GPU work
 * is kept as a record (struct call), what it launched as another (struct
 * kernel). Calls of one name and one set of arguments are an op to replay.
 */
#ifndef TL_REPLAY_H
#define TL_REPLAY_H

#include "base/embedded.h"
#include "sink/sink.h"
#include "trace/launcher.h"

/* replay.py, and the schemas of ops */
extern const struct embedded tl_replay_data[];
extern const size_t tl_replay_ndata;

/* Numbers of a call, see struct sink_measure. */
enum { M_GPU, M_COUNT };

/* A GPU event that an op launched. */
struct kernel {
	uint32_t name;
	struct key gpu_stream;
	int64_t dur_ns;
};

/* A call of an op that launched GPU work. */
struct call {
	struct sink_record rec;
	uint32_t name;
	struct op_args args;
	bool is_chosen;
	uint32_t nkernels;
	size_t first_kernel;
	int64_t gpu_ns;
};

struct replay {
	struct sink sink;
	VEC(struct uid_pick) picks; /* --uid */
	VEC(struct str) names;      /* --name: of ops */
	size_t top;                 /* 0: all */
	VEC(struct kernel) kernels;
	int64_t gpu_ns; /* of all calls */
	bool is_chosen; /* calls are marked */
};

static inline const struct replay *
replay_of(const struct sink *s)
{
	return (const struct replay *)s;
}

/* gather.c: hooks of the sink */

void replay_start(struct sink *s);
void replay_take(struct sink *s, const struct stream_in *in, bool is_chosen);
void replay_launcher(void *sink, const struct launcher *o);

/* table.c */

enum { C_UID };

extern const struct sink_column replay_columns[];
extern const struct sink_measure replay_measures[];
#define REPLAY_NTABLES 1
extern struct sink_table replay_tables[REPLAY_NTABLES];
bool replay_member(
    const struct sink *s, const struct sink_plan *p, const void *record);
double replay_whole(
    const struct sink *s, const struct sink_plan *p, uint32_t source);
void replay_notes(struct sink *s, const struct sink_plan *p, struct table *t);
struct detail replay_kernel(const struct sink *s, size_t number);
struct cell replay_cell(const struct sink_row *r, unsigned number);

#endif
