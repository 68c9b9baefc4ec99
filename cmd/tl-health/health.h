/* SPDX-License-Identifier: MIT */
/*
 * tl-health: main.c has options and files, subject.c takes the events of a
 * source, time.c, links.c and others judge it as a whole, checks.c lists the
 * checks, rules.h has a site's rules, print.c prints table and verdict.
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
	uint32_t source; /* number of the sink_source */
	uint64_t n;
	int64_t ns;   /* time concerned; -1: none */
	double share; /* percent; NAN: none */
	struct uid first;
	bool has_uid;
	struct str text;   /* the check's text, or one for this case */
	struct str detail; /* completes the text, or empty */
};

/* Events that a check is about, counted as they come. */
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
	uint32_t before; /* the previous call of this id, or HOST_NONE */
};

/* A flow: which of its ends exist, and the first. */
struct flow {
	bool begins, ends;
	struct uid uid;
};

/* What host.gpus lacks of a GPU event. */
struct gpu_more {
	uint64_t graph; /* graph that it is a node of; 0: none */
	uint64_t like;  /* hash of name, grid and block */
	bool has_hlo;
};
/* Places of arguments from 1 on; 0: missing. */
struct gpu_args {
	bool is_known;
	uint32_t graph, grid, block, hlo;
};

/* Lists among an op's arguments; sizes: its number, or 0. */
struct op_more {
	uint32_t sizes;
	bool has_types, has_strides, is_cut;
};

/* A source while it is read. */
struct subject {
	struct host host;
	uint32_t source; /* number of the sink_source */
	bool is_open;
	bool is_early;   /* events were taken before the tree was built */
	int64_t zero_ns; /* zero of the file's own times */
	struct tally of[CHECKS];
	uint64_t nevents, ngpu; /* events with a time; GPU events */
	int64_t gpu_ns;         /* sum of GPU durations */
	int64_t first_ns;       /* earliest event, but those at time 0 */
	uint64_t divisor;       /* greatest common divisor of GPU times */
	/* busy: of GPU events; recorded: also of calls */
	struct spans busy, recorded;
	struct span window; /* in which the profiler was on */
	bool has_window;
	/* time of GPU events at 0, which the spans above lack */
	struct spans at_zero;
	bool zero_is_wrong; /* set at the end */
	int64_t longest_ns;
	struct uid longest;
	VEC(uint8_t) shapes; /* SHAPE_ bits by shape */
	uint64_t nops, ncalls;
	uint64_t nwrappers; /* backward ops */
	uint64_t nlosses;   /* losses that the profiler reports */
	bool is_api_trace;
	/* rows of a device nest, so they are no GPU streams */
	bool is_xla;
	struct map call_of; /* id to its last call in calls */
	VEC(struct call) calls;
	struct map launched; /* launches of GPU events without a usable time */
	VEC(struct gpu_more) more;      /* parallel to host.gpus */
	VEC(struct gpu_more) gpus_read; /* of events taken early */
	VEC(struct op_more) ops_read;
	VEC(struct gpu_args) gpu_args; /* by shape */
	struct map shaped;             /* op to the number of its sizes + 1 */
	uint64_t nstrides, ntypes;     /* ops that have them */
	/* its format; whether it recorded stacks */
	bool is_chrome, has_stacks;
	struct map flow_of; /* ends of a flow to index in flows */
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
	VEC(uint16_t) names;      /* NAME_ bits by number of the name */
	VEC(uint8_t) texts;       /* TEXT_ bits by number of the list */
	uint32_t id_key;          /* argument with a flow's id */
	VEC(struct span) windows; /* span of each source's GPU work */
	int64_t world;            /* ranks of the job; 0: unknown */
	uint64_t nevents, ngpu;
	int tree;       /* descriptor of the tree of the marked file */
	bool is_marked; /* --mark */
	bool is_deep;   /* --deep */
	bool is_quiet;  /* --quiet */
	bool is_edited; /* the stream is edited, or a part */
};

/* ---- subject.c ---- */

bool subject_start(struct health *h, const struct source *src, bool may_keep);
void subject_take(struct health *h, const struct event *ev);
/*
 * Takes an event while the trace is still being decoded, before its tree
 * exists; src: what is known by then. subject_start() later says whether that
 * still holds: if so, only links and nesting remain, for the functions below.
 */
void subject_take_early(
    struct health *h, const struct source *src, const struct event *ev);
void subject_take_gpu(
    struct health *h, const struct event *ev, const struct gpu_more *more);
void subject_take_backward(struct health *h, const struct event *ev);
/* Whether an op of this name has a forward op. */
bool subject_is_wrapper(struct health *h, uint32_t name);
/* Runs all checks; keeps only the findings. */
void subject_end(struct health *h);
void subject_free(struct subject *s);
void tally_event(struct tally *t, struct uid uid, int64_t ns);

/* Events with a duration and an unknown category. */
#define KINDS_UNKNOWN (KIND_BIT(KIND_SLICE) | KIND_BIT(KIND_OTHER))

/* Kinds of questions about a name. */
enum name_of {
	NAME_OF_ANY,
	NAME_OF_OP,
	NAME_OF_CALL,
	NAME_OF_KERNEL,
};

/* Answers. */
enum {
	NAME_LAUNCHES = 1, /* a kernel or a graph */
	NAME_BEGINS_CAPTURE = 2,
	NAME_ENDS_CAPTURE = 4,
	NAME_WRAPS_BACKWARD = 8,
	NAME_WRAPS_NO_OP = 16,
	NAME_IS_DAMAGED = 32,
	NAME_IS_COLLECTIVE = 64,
	/* for NAME_OF_ANY; the next three bits for the others */
	NAME_KNOWN = 128,
};
unsigned name_facts(struct health *h, uint32_t name, enum name_of of);

/* ---- checks.c ---- */

/* Part of whole in percent; NAN: of nothing. */
double percent_of(double part, double whole);
/* Adds a finding if any event is concerned; severity by share, else by
 * count. */
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
/* Of an op with GPU work below. */
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
/* Runs tl-roofline on the tree of a file. */
void check_roofline(struct health *h, int tree, const char *name);
/* After the last source: how ranks fit together. */
void check_ranks(struct health *h);

/* ---- mark.c ---- */

/* Writes the stream of a file, with each source's verdict as a fact. */
void health_mark(const struct health *h, int tree, const char *name,
    const struct stream_dest *dest);

/* ---- print.c, sarif.c ---- */

#define RULE_PREFIX "rule."

/* "12.3 % of GPU time", or how many. */
void finding_put_share(struct buf *b, const struct finding *f);
/* "time.overrun (12.3 % of GPU time): " and the text. */
void finding_put(struct buf *b, const struct finding *f);
void health_print(struct health *h, struct table_dest *dest);
/* A test case for each source and check or rule, failed where it is misleading
 * or broken; xml NULL: nothing. */
void health_junit(const struct health *h, struct junit *xml);
void health_sarif(const struct health *h, struct out *out);
/* Prints the verdict on each file; returns the worst. */
enum severity health_tell(struct health *h);
/* Prints broken rules; whether one of level error is. */
bool rules_tell(const struct health *h);

#endif
