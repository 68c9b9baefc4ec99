/* SPDX-License-Identifier: MIT */
/*
 * tl-idle inside: a source is kept whole (trace/host.h); when it ends, its gaps
 * and their causes (trace/gap.h) become records of the sink.
 */
#ifndef TL_IDLE_H
#define TL_IDLE_H

#include "sink/sink.h"
#include "trace/gap.h"

enum what { IS_PIECE, IS_GAP, IS_INTERVAL };
/* Of what events a gap must be free; other words of --by are columns. */
enum scope { SCOPE_ALL, SCOPE_DEV, SCOPE_GPU_STREAM };

struct idle_record {
	struct sink_record rec; /* uid, track: of the event that caused it */
	uint8_t what;
	bool is_inferred, has_event;
	uint32_t cause, name, op, module, opened_by, advice;
	uint32_t prev, next, next_op, next_module;
	struct key dev, gpu_stream, step;
	struct uid prev_uid, next_uid, opened_uid;
	int64_t ns, cause_ns;
};

struct idle {
	struct sink sink;
	enum scope scope;
	int64_t min_gap_ns, kernel_wait_ns;
	bool no_python;
	bool any_inst; /* some event is of a graft */
	struct causes *causes;
	const char *causes_file;
	struct host host;
	struct gaps gaps;
	bool has_source;
	bool with_above; /* op and module of pieces are asked for */
	uint32_t source;
	VEC(struct key) steps; /* of the source's GPU events, as read */
	VEC(uint8_t) chosen;
	struct map place; /* uid to place in both, plus 1 */
	uint64_t ngaps;
	uint32_t words[CAUSE_COUNT], advice[CAUSE_COUNT];
};

/* records.c: of the source that has been read whole. */
void idle_records(struct idle *g);

#endif
