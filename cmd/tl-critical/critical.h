/* SPDX-License-Identifier: MIT */
/*
 * tl-critical inside, in the order of the work:
 *
 * main.c      options, columns, reading
 * window.c    which part of a recording is looked at
 * build.c     a recording (trace/host.h) as a graph (graph.h): what its threads
 *             and GPU streams did one after the other
 * awaited.c   calls and GPU streams that wait for GPU work
 * handover.c  threads that wait for one another
 * graph.c     binding edges, longest paths, slack
 * ranks.c     the recordings of a job as one graph
 * costs.c     what the host of a rank costs the job
 * scale.c     what --what-if asks for
 * overlay.c   the path drawn into the stream
 * records.c   the path, slack and what-if as records of the sink
 */
#ifndef TL_CRITICAL_H
#define TL_CRITICAL_H

#include "cmd/tl-critical/graph.h"
#include "sink/pieces.h"
#include "trace/gap.h"
#include "trace/steps.h"
#include "trace/waits.h"

/* No launch, wait or hand-over takes as long as that. */
#define STALL_NS 100000

/* What is known of an event of the host. */
enum {
	CALL_WAITS = 1,   /* its time is that of the work it waited for */
	CALL_IS_TOLD = 2, /* by rows, for which work */
};

/* One source, read whole. */
struct recording {
	uint32_t source;
	uint32_t number; /* in struct program's all */
	struct host host;
	struct gaps gaps;
	struct steps steps;
	struct waits waits;
	int64_t first_ns; /* that --from and --to count from */
	struct span window;
	VEC(uint32_t) mains;     /* threads that the window is of */
	uint32_t first;          /* number of its first event in the graph */
	VEC(uint32_t) stream_of; /* of each GPU event: its GPU stream */
	struct intern *streams;  /* their ids, see stream_id */
	/* of each event: how long its thread was not at rest before it; then
	 * of each thread: in all */
	int64_t *busy_ns;
	/* collectives that the ranks have in common: GPU event to ns that the
	 * transfer takes */
	struct map transfers;
	uint8_t *calls; /* of each event of the host: bits of CALL_ */
};

static inline uint32_t
number_of_host(const struct recording *r, uint32_t event)
{
	return r->first + event;
}
static inline uint32_t
number_of_gpu(const struct recording *r, uint32_t gpu)
{
	return r->first + (uint32_t)r->host.events.n + gpu;
}

/*
 * window.c: by --step, --annotation, --from and --to; path is for messages.
 * False: nothing of what is asked for is in it.
 */
bool window_find(
    struct recording *r, struct select *asked, const char *path) USE_RESULT;
/* build.c: r's events and edges, after host_ready() and window_find(). */
void build(struct graph *g, struct recording *r);
void recording_start(
    struct recording *r, const struct dict *dict, struct causes *causes);
void recording_free(struct recording *r);

/* awaited.c: what calls and GPU streams waited for; fills r->calls. */
void awaited_work(struct graph *g, struct recording *r);

/* ---- handover.c ---- */

/* A thread between two nodes of its own. */
struct pause {
	uint32_t thread, owner; /* the event that is open, or HOST_NONE */
	int64_t start_ns, end_ns;
};
/* False: an event does work of its own, and waits for no other thread. */
static inline bool
may_await_thread(const struct host_event *e)
{
	return e->cause == CAUSE_WAIT || e->cause == CAUSE_ANNOTATED ||
	    e->cause == CAUSE_SYNC || e->cause == CAUSE_AUTOGRAD ||
	    e->cause == CAUSE_DATA;
}
/*
 * Whether the thread was at rest until another one had done something, and the
 * last node of that.
 */
bool awaited_by_thread(
    struct recording *r, const struct pause *p, uint32_t *node);

/* ---- the program ---- */

enum what { IS_PATH, IS_TOTAL, IS_EVENT, IS_SLACK, IS_RANK };
/* What a residual is. */
enum label { LABEL_LATENCY, LABEL_GAP, LABEL_STALL, LABELS };

struct critical_record {
	struct sink_record rec; /* uid, track: of the event whose time it is */
	uint8_t what;
	/* of a row of the path: of so many events; name and uid, too, are those
	 * of the longest */
	int64_t count, longest_ns;
	uint32_t number; /* of a row of the path: whose time it is, or 0 */
	struct uid uid;  /* inst UID_NONE: none */
	uint32_t kind, bound, name, op, module, label;
	uint32_t chain; /* of a rank: a list of names */
	int64_t ns, residual_ns, slack_ns;
	int64_t after_ns, least_ns; /* what if */
	int64_t loss_ns, excess_ns; /* of a rank */
	double loss_percent;
};

/* --what-if: what takes another time. */
struct what_if {
	struct str glob;
	int64_t factor; /* of SCALE_UNIT */
	bool of_host, of_gpu, is_used;
	bool has_comm, has_other; /* GPU events that it scales */
};

/* Which event of a recording a number is; HOST_NONE: of the other side. */
struct place {
	uint32_t host, gpu;
};

static inline struct place
place_of(const struct recording *r, uint32_t number)
{
	struct place p = { HOST_NONE, HOST_NONE };

	if (r == NULL || number == 0)
		return p;
	number -= r->first;
	if (number < r->host.events.n)
		p.host = number;
	else
		p.gpu = number - (uint32_t)r->host.events.n;
	return p;
}

/* Whose event a number is; NULL: of none. */
struct program;
const struct recording *recording_of(const struct program *g, uint32_t number);

/* The path of a source, as it is drawn. */
struct arrow_end {
	struct uid uid;
	uint32_t track;
	int64_t ns;
};
struct arrow {
	struct arrow_end from, to;
	int64_t weight_ns;
	uint8_t kind; /* enum edge_kind */
};
struct overlay {
	uint32_t source;
	struct map marked; /* hashes of uids */
	VEC(struct arrow) arrows;
};

struct program {
	struct sink sink;
	struct select asked; /* the window */
	const char *causes_file;
	struct causes *causes;
	VEC(struct what_if) what_if;
	bool no_gaps, with_kernels, with_overlay;
	VEC(struct overlay) overlays;
	bool with_above; /* op and module are asked for */
	bool by_words;   /* rows of paths differ by bound and kind alone */
	bool any_inst;   /* a record is of an event of a graft */
	bool with_paths, with_events, with_slack, with_ranks;
	struct sink_fold paths;
	uint32_t words[EDGE_KINDS], causes_words[CAUSE_COUNT];
	uint32_t buckets[BUCKET_COUNT], labels[LABELS];
	struct graph graph;
	struct recording *recording; /* being read, or read last */
	VEC(struct recording *) all; /* with is_job: of all ranks */
	bool is_job;
	struct ranks *ranks;
	struct critical_record costliest; /* of ranks; loss_ns 0: none */
	bool has_source;
	int64_t first_ns; /* of the source being read */
	uint64_t npaths;
	unsigned inferred; /* steps_inferred_from() of all */
	uint32_t runs_of;  /* the module whose runs are steps, or INTERN_NONE */
	uint64_t nnegative, ncircular;
};

/* A record that is of an event of this number, or of none: 0. */
struct critical_record *critical_add(
    struct program *g, enum what what, uint32_t number);
/* Of a path from there to where it leaves the rank, or its end: a list of
 * names, the first and the last ones. */
uint32_t critical_chain(struct program *g, const edge_list *path, size_t i);
/* records.c: of the source that has been read whole. */
void critical_records(struct program *g);
/* Of all ranks. */
void critical_job(struct program *g);
/* overlay.c: keeps the path of a source; behind the last one writes all. */
void overlay_take(struct program *g, const edge_list *path);
void overlay_write(struct program *g);
/* scale.c: what --what-if makes of each event. */
void scale_find(struct program *g, uint32_t *of);
/* ranks.c: puts all recordings on one clock; adds what collectives wait for. */
void ranks_join(struct program *g);
void ranks_build(struct program *g);
void ranks_free(struct program *g);
/* costs.c: what a slower host of each rank loses the job. */
void costs_records(struct program *g, const edge_list *path);
/* The rank that costs most, in a sentence. */
void costs_note(const struct program *g, struct table *t);

#endif
