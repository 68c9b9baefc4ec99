/* SPDX-License-Identifier: MIT */
/*
 * tl-critical, in the order of the work:
 *
 * main.c      options, columns, reading
 * window.c    the part of a recording whose path is wanted
 * build.c     threads and GPU streams of a recording (trace/host.h) as a graph
 * awaited.c   calls and GPU streams that wait for GPU work
 * handover.c  threads that wait for each other
 * graph.c     binding edges, longest paths, slack
 * ranks.c     the recordings of a job in one graph
 * costs.c     what each rank's host costs the job
 * scale.c     --what-if
 * gain.c      what that gains, in words
 * overlay.c   --overlay
 * records.c   path and what-if as records of the sink
 * slack.c     slack of all else
 */
#ifndef TL_CRITICAL_H
#define TL_CRITICAL_H

#include "cmd/tl-critical/graph.h"
#include "sink/pieces.h"
#include "trace/gap.h"
#include "trace/steps.h"
#include "trace/waits.h"

/* Longer launches, waits and hand-overs are stalls. */
#define STALL_NS 100000

/* Facts about a host event. */
enum {
	CALL_WAITS = 1,     /* its time is that of the work it waits for */
	CALL_IS_TOLD = 2,   /* rows say which work */
	CALL_MAY_AWAIT = 4, /* another thread */
};

/* A thread that works on the window up to a time. */
struct main_thread {
	uint32_t thread;
	int64_t end_ns;
};

/* A source, kept whole. */
struct recording {
	uint32_t source;
	uint32_t number; /* index in struct program's all */
	int64_t rank;    /* with --job, if files tell it */
	struct host host;
	struct gaps gaps;
	struct steps steps;
	struct waits waits;
	int64_t first_ns; /* zero of --from and --to */
	struct span window;
	VEC(struct main_thread) mains;
	uint32_t first; /* number of its first event in the graph */
	/* of each GPU event: number of its GPU stream */
	VEC(uint32_t) stream_of;
	struct intern *streams; /* their ids; see stream_id */
	/* of each event: time its thread was busy before it; then of each
	 * thread: total */
	int64_t *busy_ns;
	/* collectives that ranks share: GPU event to ns of the transfer */
	struct map transfers;
	uint8_t *calls; /* of each host event: CALL_ bits */
	/* by number: times before they were put on the job's clock, or none */
	VEC(struct span) unmoved;
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
 * False: nothing matches.
 */
bool window_find(
    struct recording *r, struct select *asked, const char *path) USE_RESULT;
/* build.c: adds r's events and edges; after host_ready() and window_find(). */
void build(struct graph *g, struct recording *r);
void recording_start(
    struct recording *r, const struct dict *dict, struct causes *causes);
void recording_free(struct recording *r);

/* Of a GPU event's time: a collective also waits for other ranks. */
static inline int64_t
own_time_of_gpu(const struct recording *r, uint32_t gpu, int64_t ns)
{
	const uint64_t *transfer = map_get(&r->transfers, gpu);

	return transfer != NULL && (int64_t)*transfer < ns ? (int64_t)*transfer
							   : ns;
}

/* awaited.c: adds edges of waiting calls and GPU streams; fills r->calls. */
void awaited_work(struct graph *g, struct recording *r);

/* ---- handover.c ---- */

/* A stretch between two nodes of a thread. */
struct pause {
	uint32_t thread, owner; /* owner: the open event, or HOST_NONE */
	int64_t start_ns, end_ns;
};
/* False: an event works itself and waits for no other thread. */
static inline bool
may_await_thread(const struct host_event *e)
{
	const uint64_t causes = 1ULL << CAUSE_WAIT | 1ULL << CAUSE_ANNOTATED |
	    1ULL << CAUSE_SYNC | 1ULL << CAUSE_AUTOGRAD | 1ULL << CAUSE_DATA;

	_Static_assert(CAUSE_COUNT <= 64, "a bit each");
	return (causes >> e->cause & 1) != 0;
}
/*
 * Whether the thread rested until another one had done something, and the last
 * node of that.
 */
bool awaited_by_thread(
    struct recording *r, const struct pause *p, uint32_t *node);

/* ---- the program ---- */

enum what { IS_PATH, IS_TOTAL, IS_EVENT, IS_SLACK, IS_RANK };
/* Kinds of residual. */
enum label { LABEL_LATENCY, LABEL_GAP, LABEL_STALL, LABELS };
/* What bounds: a cause, a bucket of GPU work, or a kind of residual. */
enum {
	BOUND_BUCKET = CAUSE_COUNT,
	BOUND_LABEL = BOUND_BUCKET + BUCKET_COUNT,
	BOUNDS = BOUND_LABEL + LABELS
};

struct critical_record {
	/* uid, track: of the event that takes the time */
	struct sink_record rec;
	uint8_t what;
	bool is_inferred;
	/* of a row of the path: its events, and their longest, which name and
	 * uid are of, too */
	int64_t count, longest_ns;
	/* of a row of the path: event that takes the time; 0: none */
	uint32_t number;
	struct uid uid; /* inst UID_NONE: none */
	uint32_t kind, bound, name, op, module, thread, label;
	uint32_t chain; /* of a rank: list of names */
	int64_t ns, residual_ns, slack_ns;
	int64_t after_ns, least_ns; /* of --what-if */
	int64_t loss_ns, excess_ns; /* of a rank */
	double loss_percent;
};

/* An argument of --what-if. */
struct what_if {
	struct str glob;
	int64_t factor; /* in units of 1 / SCALE_UNIT */
	bool of_host, of_gpu, is_used;
	bool has_comm, has_other; /* kinds of GPU events that it scales */
};

/* What --what-if makes of a window, and its new limit. */
struct gain {
	int64_t before_ns, after_ns;
	bool is_on_path; /* a scaled event was */
	struct map by_bound;
	uint32_t bound, source;
	int64_t bound_ns;
};

/* The path in a source, for --overlay. An arrow may lead to another source. */
struct arrow_end {
	struct uid uid;
	uint32_t track;
	int64_t ns;
	int64_t arrow; /* its number */
	/* of a start */
	int64_t weight_ns;
	uint8_t kind; /* enum edge_kind */
	bool is_start;
};
struct overlay {
	uint32_t source;
	struct map marked; /* hashes of uids */
	VEC(struct arrow_end) ends;
};

struct program {
	struct sink sink;
	struct select asked; /* options of the window */
	const char *causes_file;
	struct causes *causes;
	VEC(struct what_if) what_if;
	VEC(struct str) what_globs; /* of these */
	struct there other_names;   /* for one that matches nothing */
	struct gain gain;           /* of the last window */
	bool no_gaps, with_kernels, with_overlay;
	VEC(struct overlay) overlays;
	int64_t narrows;
	bool with_above; /* rows need op and module */
	bool by_words;   /* rows of paths differ in bound and kind only */
	bool any_inst;   /* some event was added by tl-graft */
	bool with_paths, with_events, with_slack, with_ranks;
	struct sink_fold paths;
	uint32_t words[EDGE_KINDS], bounds[BOUNDS];
	struct graph graph;
	struct recording *recording; /* the current or last source */
	VEC(struct recording *) all; /* with is_job: all ranks */
	bool is_job;
	struct ranks *ranks;
	bool has_clocks;       /* one for all ranks: they can be compared */
	int64_t nranks, world; /* read; of the job, 0: unknown */
	/* the rank with the largest loss; loss_ns 0: none */
	struct critical_record costliest;
	bool has_source;
	int64_t first_ns; /* of the current source */
	uint64_t npaths;
	unsigned inferred; /* steps_inferred_from() of all sources */
	uint32_t runs_of;  /* the module whose runs are steps, or INTERN_NONE */
	uint64_t nnegative, ncircular;
};

/* The event of a number in the graph: of the host, of a GPU, or none. */
struct place {
	const struct recording *r;
	const struct host_event *host;
	const struct host_gpu *gpu;
};

static inline struct place
place_of(const struct program *g, uint32_t number)
{
	struct place p = { NULL, NULL, NULL };
	const struct recording *r;
	size_t at = 1;

	if (g->all.n != 1)
		bisect(at, g->all.n, mid, g->all.v[mid]->first <= number);
	if (at == 0)
		return p;
	r = g->all.v[at - 1];
	number -= r->first; /* of none: beyond all */
	if (number < r->host.events.n)
		p = (struct place){ r, &r->host.events.v[number], NULL };
	else if (number - r->host.events.n < r->host.gpus.n)
		p = (struct place){ r, NULL,
			&r->host.gpus.v[number - r->host.events.n] };
	return p;
}

/* Adds a record of the event of this number; 0: none. */
struct critical_record *critical_add(
    struct program *g, enum what what, uint32_t number);
/* records.c: of a source that has been read. */
void critical_records(struct program *g);
/* The same of all ranks. */
void critical_job(struct program *g);
/* slack.c: of events off the path. */
void slack_records(struct program *g, const edge_list *path);
/* overlay.c: keeps a source's path; after the last source writes the stream. */
void overlay_take(struct program *g, const edge_list *path);
void overlay_write(struct program *g);
/* scale.c: the factor of each event by --what-if. */
void scale_find(struct program *g, uint32_t *of);
/* gain.c: adds time that a word has on the path afterwards. */
void gain_add(
    struct gain *gain, uint32_t bound, uint32_t source, int64_t after_ns);
/* Adds the sentence on it. */
void gain_note(const struct program *g, struct table *t);
/* ranks.c: puts all recordings on one clock and adds edges of collectives. */
void ranks_join(struct program *g);
void ranks_build(struct program *g);
void ranks_free(struct program *g);
/* costs.c: records of what each rank's host costs. */
void costs_records(struct program *g, const edge_list *path);
/* Adds the sentence on the costliest rank. */
void costs_note(const struct program *g, struct table *t);

#endif
