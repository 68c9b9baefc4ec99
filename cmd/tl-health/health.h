/* SPDX-License-Identifier: MIT */
/*
 * tl-health: main.c knows the options and the files, subject.c takes the events
 * of one source, time.c, links.c ... look at it as a whole, checks.c has the
 * list of checks, rules.h those of a site, print.c the table and the verdict.
 */
#ifndef TL_HEALTH_H
#define TL_HEALTH_H

#include "cmd/tl-health/checks.h"
#include "cmd/tl-health/rules.h"
#include "sink/source.h"
#include "stream/marks.h"
#include "table/junit.h"
#include "table/table.h"
#include "trace/host.h"

struct finding {
	enum check check;
	enum severity severity;
	uint32_t source; /* no of sink_source */
	uint64_t n;
	int64_t ns;   /* time concerned; -1: no time */
	double share; /* in percent; NAN: of nothing */
	struct uid first;
	bool has_uid;
	struct str text;   /* the check's, or what is so here */
	struct str detail; /* what the text lacks, or empty */
};

/* Events that a check is about, as they come. */
struct tally {
	uint64_t n;
	int64_t ns;
	struct uid first;
};

/* A call that has a correlation id. */
struct call {
	int64_t start_ns, end_ns;
	struct uid uid;
	uint32_t track;
	uint32_t before; /* the one with its id that came before; HOST_NONE */
};

/* An arrow: which of its ends were there, and the first one. */
struct flow {
	bool begins, ends;
	struct uid uid;
};

/* A GPU event, besides what host.gpus has. */
struct gpu_more {
	uint64_t graph; /* that it is a node of; 0: none */
	uint64_t like;  /* equal for equal name, grid and block */
	bool has_hlo;
};
/* Where it has them among its arguments, from 1 on; 0: nowhere. */
struct gpu_args {
	bool is_known;
	uint32_t graph, grid, block, hlo;
};

/* What the lists of an op's arguments are; sizes: its number; 0: none. */
struct op_more {
	uint32_t sizes;
	bool has_types, has_strides, is_cut;
};

/* One source while it is read. */
struct subject {
	struct host host;
	uint32_t source; /* no of sink_source */
	bool is_open;
	bool is_early;   /* events were taken while they were read */
	int64_t zero_ns; /* where the file's own times begin */
	struct tally of[CHECKS];
	uint64_t nevents, ngpu;      /* those with a time; GPU events */
	int64_t gpu_ns;              /* sum of their durations */
	int64_t first_ns;            /* of events, but those at zero */
	uint64_t divisor;            /* of all times of GPU events */
	struct spans busy, recorded; /* of GPU events; of those and of calls */
	struct span window;          /* that the profiler was on for */
	bool has_window;
	struct spans at_zero; /* what would be in them, but for its time */
	bool zero_is_wrong;   /* known at the end */
	int64_t longest_ns;
	struct uid longest;
	VEC(uint8_t) shapes; /* what is known of them */
	uint64_t nops, ncalls;
	uint64_t nwrappers; /* backward ops */
	uint64_t nlosses;   /* that the profiler wrote about */
	bool is_api_trace;
	bool is_xla;        /* rows of a device are no GPU streams: they nest */
	struct map call_of; /* the last call of an id, in calls */
	VEC(struct call) calls;
	struct map launched; /* launches of GPU events whose time is none */
	VEC(struct gpu_more) more;      /* of each in host.gpus, as added */
	VEC(struct gpu_more) gpus_read; /* of those that were taken early */
	VEC(struct op_more) ops_read;
	VEC(struct gpu_args) gpu_args; /* by shape */
	struct map shaped;             /* ops: the number of their sizes + 1 */
	uint64_t nstrides, ntypes;     /* ops that have them */
	bool is_chrome, has_stacks;    /* its format; it says so */
	struct map flow_of;            /* the ends of a flow, in flows */
	VEC(struct flow) flows;
};

struct health {
	struct limits limits[CHECKS];
	struct dict *dict;
	struct causes *causes;
	struct arena *text;
	struct sink_sources sources;
	struct subject subject;
	VEC(struct finding) findings;
	struct site_rules *rules; /* NULL: none */
	outcome_list outcomes;
	VEC(uint16_t) names;      /* NAME_, by their number */
	VEC(uint8_t) texts;       /* of lists, likewise */
	uint32_t id_key;          /* of args: a flow's id */
	VEC(struct span) windows; /* of GPU work of each source */
	int64_t world;            /* ranks of the job; 0: not known */
	uint64_t nevents, ngpu;
	int tree;       /* of the file that is marked: a descriptor */
	bool is_marked; /* --mark */
	bool is_deep;   /* --deep */
	bool is_quiet;  /* --quiet */
	bool is_edited; /* a mark of the stream, or a part of one */
};

/* ---- subject.c ---- */

bool subject_start(struct health *h, const struct source *src, bool may_keep);
void subject_take(struct health *h, const struct event *ev);
/*
 * Of a trace that is no tree yet the host's events are taken as they are read,
 * while others decode; src: what is known of it then. When it is linked and
 * nested subject_start() says whether that still holds: true, and only what
 * links and nesting tell is left of them, the functions below.
 */
void subject_take_early(
    struct health *h, const struct source *src, const struct event *ev);
void subject_take_gpu(
    struct health *h, const struct event *ev, const struct gpu_more *more);
void subject_take_backward(struct health *h, const struct event *ev);
/* Whether an op of this name has a forward op. */
bool subject_is_wrapper(struct health *h, uint32_t name);
/* All checks; nothing is left but findings. */
void subject_end(struct health *h);
void subject_free(struct subject *s);
void tally_event(struct tally *t, struct uid uid, int64_t ns);

/* Whole events of no category that is known. */
#define KINDS_UNKNOWN (KIND_BIT(KIND_SLICE) | KIND_BIT(KIND_OTHER))

/* What a name is asked for. */
enum name_of {
	NAME_OF_ANY,
	NAME_OF_OP,
	NAME_OF_CALL,
	NAME_OF_KERNEL,
};

/* What it tells. */
enum {
	NAME_LAUNCHES = 1, /* a kernel or a graph */
	NAME_BEGINS_CAPTURE = 2,
	NAME_ENDS_CAPTURE = 4,
	NAME_WRAPS_BACKWARD = 8,
	NAME_WRAPS_NO_OP = 16,
	NAME_IS_DAMAGED = 32,
	NAME_IS_COLLECTIVE = 64,
	NAME_KNOWN = 128, /* for NAME_OF_ANY, and three bits more */
};
unsigned name_facts(struct health *h, uint32_t name, enum name_of of);

/* ---- checks.c ---- */

/* Part of whole in percent; NAN: of nothing. */
double percent_of(double part, double whole);
/* A finding, if there is any event; its severity by share, else by count. */
struct finding *found(
    struct health *h, enum check check, const struct tally *t, double share);
void finding_say(struct health *h, struct finding *f, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* ---- file.c, time.c, links.c, coverage.c, content.c, roofline.c ---- */

/* Before or with the events. */
void links_take_call(struct health *h, const struct event *ev);
void links_take_flow(struct health *h, const struct event *ev);
struct op_more content_of_op(struct health *h, const struct event *ev);
struct gpu_more content_of_gpu(struct health *h, const struct event *ev);
/* Of an op with GPU work below it. */
void content_take_op(
    struct health *h, struct uid uid, const struct op_more *more);
void content_take_name(struct health *h, const struct event *ev);
void coverage_take_meta(struct health *h, const struct meta *m);
void coverage_take_facts(struct subject *s, const struct source *src);

void check_facts(struct health *h, const struct source *src);
void check_file(struct health *h);
void check_time(struct health *h);
void check_links(struct health *h);
void check_coverage(struct health *h);
void check_content(struct health *h);
/* Of a file whose tree is at hand: what tl-roofline says of it. */
void check_roofline(struct health *h, int tree, const char *name);
/* Behind the last source: what they are together. */
void check_ranks(struct health *h);

/* ---- mark.c ---- */

/* The stream of a file with the verdict on each source as a fact of it. */
void health_mark(const struct health *h, int tree, const char *name,
    const struct stream_dest *dest);

/* ---- print.c, sarif.c ---- */

#define RULE_PREFIX "rule."

/* "12.3 % of GPU time", or how many. */
void finding_put_share(struct buf *b, const struct finding *f);
/* "time.overrun (12.3 % of GPU time): " and what is wrong. */
void finding_put(struct buf *b, const struct finding *f);
void health_print(struct health *h, struct table_dest *dest);
/* A case for each check or rule and source, failed where it is misleading or
 * broken; xml NULL: nothing. */
void health_junit(const struct health *h, struct junit *xml);
void health_sarif(const struct health *h, struct out *out);
/* Tells the verdict on each file; the worst. */
enum severity health_tell(struct health *h);
/* The same of rules; whether one is broken that may not be. */
bool rules_tell(const struct health *h);

#endif
