/* SPDX-License-Identifier: MIT */
/* lanes.c gathers spans, lanes-put.c writes them. */
#ifndef TL_HTML_LANES_H
#define TL_HTML_LANES_H

#include "cmd/tl-html/html.h"
#include "trace/process.h"

#define SPANS_MAX 120000 /* some 13 bytes each: 1.6 MB */
#define ROWS_MAX 6       /* deeper ops are in the stacks */

#define NO_LANE UINT32_MAX
#define LAUNCHES_MAX 200000 /* further launches are unknown */

struct stretch {
	int64_t start_ns, end_ns;
	uint32_t name;                 /* INTERN_NONE: several */
	uint32_t row : 4, launch : 28; /* 1 + index in launches; 0: none */
};

/* A launch: time before the GPU work, and thread. */
struct lane_launch {
	int64_t delay_ns;
	uint32_t lane, origin;
};

/* Op and figures of a launch, by dict; INTERN_NONE: none. */
struct origin {
	uint32_t op, dims, module, grid, block;
};

struct lane {
	uint32_t src, track;
	struct key dev, gpu_stream;
	bool is_gpu, launches;
	bool is_arranged; /* sorted, complete */
	VEC(struct stretch) spans;
};

struct lane_source {
	int side; /* of the comparison */
	bool has_rank, has_base, is_tpu;
	int64_t rank;
	int64_t base_ns;  /* of its clock, in Unix time if known */
	int64_t first_ns; /* of its first span; INT64_MAX: none */
};

struct lanes {
	struct dict *dict;
	struct names *threads;
	bool has_gpu;
	struct intern *keys; /* lane by key */
	VEC(struct lane) list;
	VEC(struct lane_source) sources;
	struct origins *origins;
	VEC(struct lane_launch) launches;
	int64_t gap_ns; /* gap that spans were joined at */
};

/* Gets each span left at a gap. */
struct sink {
	struct buf *bytes;
	struct names_used *names;
	int64_t last_ns;
	size_t n;
	struct stretch *to;             /* where spans go instead, or NULL */
	struct page_launches *launches; /* of a GPU's lane in the page */
};

/* ---- origins.c ---- */

struct origins *origins_new(struct dict *st);
void origins_free(struct origins *o);
/* After each event of a tree: closes frames at this depth or deeper. */
void origins_close(struct origins *o, uint32_t depth);
/* A host event on this lane, or NO_LANE. */
void origins_open(struct origins *o, const struct event *ev, uint32_t lane);
/* The launch of GPU work; false: unknown. */
bool origins_of(
    struct origins *o, const struct event *ev, struct lane_launch *to);
struct origin origins_get(const struct origins *o, uint32_t number);

/* ---- lanes.c ---- */

struct lane_source *lanes_source_of(struct lanes *l, uint32_t src);
/* Whether the page shows it. */
bool lanes_show(const struct lanes *l, const struct lane *lane);
void lane_take(struct sink *sink, const struct stretch *s);
/* Its spans to sink; those shorter than gap_ns and closer are joined. */
void lane_walk(const struct lane *lane, int64_t gap_ns, struct sink *sink);
/* The smallest gap that leaves at most so many spans. */
int64_t lanes_gap(const struct lanes *l, size_t most);

#endif
