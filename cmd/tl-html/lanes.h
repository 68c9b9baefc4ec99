/* SPDX-License-Identifier: MIT */
/* Between lanes.c, which gathers spans, and lanes-put.c, which writes them. */
#ifndef TL_HTML_LANES_H
#define TL_HTML_LANES_H

#include "cmd/tl-html/html.h"
#include "trace/process.h"

#define SPANS_MAX 120000 /* some 13 bytes each in the page: 1.6 MB */
#define ROWS_MAX 6       /* deeper ops are in the icicle */

#define NO_LANE UINT32_MAX
#define LAUNCHES_MAX 200000 /* of more spans it is not known */

struct stretch {
	int64_t start_ns, end_ns;
	uint32_t name; /* in the dictionary; INTERN_NONE: several */
	uint32_t row : 4, launch : 28; /* 1 + its place in launches; 0: none */
};

/* What launched GPU work: so long before that began, by this thread. */
struct lane_launch {
	int64_t delay_ns;
	uint32_t lane, origin;
};

/* For what; each in the dictionary, or INTERN_NONE. */
struct origin {
	uint32_t op, dims, module, grid, block;
};

struct lane {
	uint32_t src, track;
	struct key dev, gpu_stream;
	bool is_gpu, launches;
	bool is_arranged; /* all its spans are there, in order */
	VEC(struct stretch) spans;
};

struct lane_source {
	int side; /* of a comparison */
	bool has_rank, has_base, is_tpu;
	int64_t rank;
	int64_t base_ns;  /* of its clock, in Unix time where that is known */
	int64_t first_ns; /* its first span, INT64_MAX: there is none */
};

struct lanes {
	struct dict *dict;
	struct names *threads;
	bool has_gpu;
	struct intern *keys; /* a lane's number is that of its key */
	VEC(struct lane) list;
	VEC(struct lane_source) sources;
	struct origins *origins;
	VEC(struct lane_launch) launches;
	int64_t gap_ns; /* spans were joined by it to make room */
};

/* For each span that is left at a gap: what to do with it. */
struct sink {
	struct buf *bytes;
	struct names_used *names;
	int64_t last_ns;
	size_t n;
	struct stretch *to;             /* NULL, or where they go instead */
	struct page_launches *launches; /* of a GPU's lane in the page */
};

/* ---- origins.c ---- */

struct origins *origins_new(struct dict *st);
void origins_free(struct origins *o);
/* Behind each event of a tree: what is above the next, at this depth. */
void origins_close(struct origins *o, uint32_t depth);
/* An event of the host, whose lane this is, or NO_LANE. */
void origins_open(struct origins *o, const struct event *ev, uint32_t lane);
/* What launched GPU work; false: nothing that is known. */
bool origins_of(
    struct origins *o, const struct event *ev, struct lane_launch *to);
struct origin origins_get(const struct origins *o, uint32_t number);

/* ---- lanes.c ---- */

struct lane_source *lanes_source_of(struct lanes *l, uint32_t src);
/* Whether it is in the page. */
bool lanes_show(const struct lanes *l, const struct lane *lane);
void lane_take(struct sink *sink, const struct stretch *s);
/* Its spans, those shorter than gap_ns and closer joined, into sink. */
void lane_walk(const struct lane *lane, int64_t gap_ns, struct sink *sink);
/* The least gap at which all lanes together have so few spans. */
int64_t lanes_gap(const struct lanes *l, size_t most);

#endif
