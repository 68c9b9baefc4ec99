/* SPDX-License-Identifier: MIT */
/*
 * tl-collective, in the order of the work:
 *
 * work.c       child processes that reduce inputs, and their results
 * signature.c  which events are collectives, their signatures; for XLA
 *              hlo.c, hlo-join.c, replicas.c
 * reduce.c     a source, or each of its GPUs, to records, with
 * window.c     the GPU's work between them, and
 * kernels.c    its ops and shapes
 * partial.c    writes records as a stream, partial-read.c reads them
 * job.c        sources to a job: ranks, windows, warnings
 * group.c      process groups
 * match.c      collectives over all ranks, with align.c
 * strata.c     ends of collectives for solve*.c, which solves the ranks' clocks
 * clock.c      which clocks are off, with causality.c
 * link.c       what a group's links carry
 * gate.c       limits for batch jobs
 * sync.c       latency, waiting, skew and bandwidth of a collective
 * cause.c      who was late, and why
 * flight*.c    dumps of the flight recorder, which have no GPU work
 * verdict.c    each group's verdict
 * finding.c    the job's verdict
 * episode.c    when a group is slower than usual: slow.c judges, unstable.c
 *              has the sentences
 * stats.c      mean, median and others
 * tables*.c    the tables; tables-vs.c: of two jobs
 *
 * A *record* is a collective on one rank: 72 bytes. A *signature* is what equal
 * collectives have in common. A *collective* consists of its ranks' records.
 */
#ifndef TL_COLLECTIVE_H
#define TL_COLLECTIVE_H

#include "cmd/tl-collective/gate.h"
#include "cmd/tl-collective/link.h"
#include "stream/rank.h"
#include "table/table.h"
#include "trace/bucket.h"
#include "trace/gap.h"
#include "trace/select-front.h"
#include "trace/span.h"

/* ---- settings ---- */

/* Unknown: an empty cell. */
#define NONE INT64_MIN
#define GPUS_MAX (1 << 20) /* of a process */

struct table_def;

struct settings {
	VEC(const struct table_def *) tables; /* --table, in this order */
	struct rank_rule *rank_rule;
	bool has_rank_regex;
	int64_t world_size, gpus_per_node; /* 0: not given */
	struct bucket_rules rules;
	struct causes *causes;
	VEC(const char *) lists; /* --files-from */
	VEC(const char *) logs;  /* --node-logs */
	struct links *links;
	gate_vec gates;
	const char *junit; /* of the gates */
	path_vec vs;       /* --vs: the later job */
	bool align_clocks, partial, keep_mismatch, verbose;
	int jobs;
	struct table_dest dest;
	struct stream_dest out; /* with --partial */
	struct select_front select;
};

/* ---- records ---- */

struct rec {
	int64_t start_ns; /* on the common clock: see struct part */
	int64_t dur_ns;
	/*
	 * Since the end of the previous collective of its group on this rank:
	 * time in which the GPU computed or copied, was idle, and was in other
	 * collectives. busy_ns -1: no previous one.
	 */
	int64_t busy_ns, idle_ns, else_ns;
	uint64_t id;   /* ordinal of the event in the source */
	uint32_t sig;  /* number in its part, later in the job */
	uint32_t seq;  /* Seq + 1, or 0; after matching its collective */
	uint32_t work; /* sum of hashes of kernels started in that time */
	uint32_t part;
	uint32_t spent, nspent; /* range of part.spent, longest first */
};

/*
 * What a window was spent on, as a text [WORD, NAME, DETAIL]: idle time's cause
 * and event, an op and its shape or, without an op, a kernel and its grid. Only
 * a window's longest are kept.
 */
enum spent_on { SPENT_IDLE, SPENT_OP, SPENT_KERNEL, SPENT_COUNT };
extern const char *const spent_words[SPENT_COUNT];

struct spent {
	int64_t ns;
	uint64_t name; /* number in its part */
};
typedef VEC(struct spent) spent_vec;

#define COLL_NONE UINT32_MAX /* rec.seq of a record in no collective */

static inline int64_t
rec_end(const struct rec *r)
{
	int64_t end;

	return __builtin_add_overflow(r->start_ns, r->dur_ns, &end) ? INT64_MAX
								    : end;
}

/*
 * One source or one of its GPUs, reduced. Records are sorted by (start, id).
 * The rank of a GPU is its process's at first, later its own.
 */
struct part {
	struct str path; /* operand */
	uint32_t src;
	int64_t dev;   /* NONE: all GPUs of the source */
	int64_t ngpus; /* with dev: GPUs of the process */
	bool is_idle;  /* a process of XLA whose GPUs did nothing */
	int64_t process;
	bool rank_is_told;             /* recorded */
	bool rank_is_guess;            /* by order alone */
	bool is_partial;               /* read from a partial stream */
	int64_t rank, world, epoch_ns; /* NONE: unknown */
	int64_t base_ns;               /* 0: unknown */
	int64_t ndevs;                 /* GPUs of the node; NONE: unknown */
	struct str name, host;         /* facts, or empty */
	struct str device;             /* name of the GPU, or empty */
	struct str groups;             /* text with pg_config, or empty */
	struct str flight; /* calls of a flight recorder's dump; see flight.h */
	uint64_t nskipped; /* collectives without a duration */
	uint64_t hash;     /* equal for copies of a trace */
	size_t nsigs;
	const struct str *sigs; /* JSON texts */
	size_t nnames;
	const struct str *names; /* what windows were spent on */
	size_t nspent;
	struct spent *spent;
	size_t nrecs;
	struct rec *recs;
	/* of each record: time in which its GPU did not compute; or NULL */
	int64_t *exposed;
	uint64_t nsteps; /* 0: step_ns is the time of all GPU work */
	int64_t step_ns; /* of all steps */
	/* of the job */
	size_t source_no;  /* among all inputs, read or not */
	size_t part_no;    /* by reading */
	uint32_t pos;      /* position of its rank */
	uint32_t *name_of; /* the job's number of each name */
	int64_t shift_ns;  /* start_ns - shift_ns is the file's own time */
	/* of each record the file's own time, if drift was removed */
	int64_t *own_ns;
	bool is_out; /* not in the job */
};

/* A GPU whose rank and groups of XLA are still unknown. */
static inline bool
part_is_raw_gpu(const struct part *p)
{
	return p->dev != NONE && !p->is_partial;
}

/* ---- signature.c ---- */

/* Whether the event is a collective (by name, category and correlation). */
bool recognise(
    struct bucket_rules *rules, const struct dict *st, const struct event *ev);
/*
 * Appends the signature to b and sets *seq to Seq + 1. Returns the length of
 * the part that names the process group.
 */
size_t recognise_signature(const struct bucket_rules *rules,
    const struct dict *st, const struct event *ev, struct buf *b,
    uint32_t *seq);

/* ---- reduce.c, partial.c ---- */

struct reducer;
struct reducer *reducer_new(const struct settings *set);
/* Appends a part for each source of an input. */
void reduce_input(
    struct reducer *r, const char *path, uint32_t no, struct buf *out);

#define PARTIAL_VERSION 3
struct job;
void partial_write(const struct settings *set, const struct job *job);

/* ---- work.c ---- */

typedef VEC(struct part) part_vec;

/* Appends a part with its texts and records. */
void part_put(struct buf *b, const struct part *p, const struct intern *sigs,
    const struct intern *names);
/* Reduces all inputs in child processes; parts in the order of paths. */
void work_run(
    const struct settings *set, const path_vec *paths, part_vec *parts);

enum coll_class {
	CLASS_NONE,
	CLASS_ALLREDUCE,
	CLASS_REDUCESCATTER,
	CLASS_ALLGATHER,
	CLASS_ALLTOALL,
	CLASS_ALLTOALLV,
	CLASS_BROADCAST,
	CLASS_REDUCE,
	CLASS_GATHER,
	CLASS_SCATTER,
	CLASS_P2P,
	CLASS_PERMUTE, /* a rank may send to one and receive from another */
	CLASS_BARRIER,
	CLASS_COUNT
};
extern const char *const class_words[CLASS_COUNT];

/* The parts of a signature; a text with p NULL is absent. */
struct sig {
	struct str pg, ranks, name, dtype, in_split, out_split, gpu_stream;
	struct str desc, peers, kernel;
	struct str module, instruction, op_name, source; /* of XLA */
	int64_t n, in, out; /* NONE: unknown, as for all sizes */
	/* derived */
	enum coll_class class;
	int64_t elem_bytes; /* 0: unknown */
	int64_t in_bytes, out_bytes;
	int64_t full_bytes; /* message size for bandwidths */
	double bus_factor;  /* bus by algorithm bandwidth, or NAN */
	/* numbers of sets of parts: those by which rows differ, */
	uint32_t key;
	uint32_t match; /* those equal on all ranks, */
	uint32_t whole; /* these with the group, */
	uint32_t alike; /* those of summaries */
	uint32_t group;
};

bool class_is_sync(enum coll_class c);
void sig_parse(
    struct sig *s, struct str text, struct intern *keys, struct arena *mem);
/* Numbers of a list "[0, 1, 2]" or (0, 1); -1: cut, or no list. */
typedef VEC(int64_t) int_vec;
bool list_ints(struct str text, int_vec *out, bool *is_cut);
/* Like put_ranges(), shortened: 0-24/8 for 0, 8, 16 and 24. */
void put_members(struct buf *b, const int64_t *v, size_t n);

/* ---- stats.c ---- */

struct values {
	double *v;
	size_t n, cap;
};

/* Skips NAN. */
void value_add(struct values *to, double v);
/*
 * Sorts the values. 0, the least, to 1 is a quantile, interpolated between the
 * nearest two. NAN without a value, and for the deviation of one.
 */
#define STAT_MEAN 2.0
#define STAT_STD 3.0
double values_stat(struct values *of, double stat);
int64_t median_i64(int64_t *v, size_t n); /* reorders v; n > 0 */

#endif
