/* SPDX-License-Identifier: MIT */
/* select: which events a command line selects */
#ifndef TL_TRACE_SELECT_H
#define TL_TRACE_SELECT_H

#include "stream/stream.h"
#include "trace/steps.h"
#include "trace/there.h"

/* Numbers, ranges and words of one option. */
struct id_set {
	VEC(struct select_range) ranges;
	VEC(struct str) words;
};

enum select_which {
	SELECT_NUMBERS,
	SELECT_FIRST,
	SELECT_LAST,
	SELECT_SLOWEST,
};

#define SELECT_ANY_SOURCE (-1)

/* An item of --step: of all processes, or 3-7@PID, 3-7@SRC:PID. */
struct select_step {
	int64_t low, high; /* SELECT_NUMBERS */
	int64_t src;       /* or SELECT_ANY_SOURCE */
	struct str pid;    /* a number or a pattern; empty: any process */
	struct str where;  /* all after the '@' */
	uint8_t which;
	bool is_met; /* set: a source has the process */
};

/* A user's annotation, from start to end. */
struct select_window {
	int64_t start, end;
	uint32_t name;
	uint32_t track;
	uint64_t id;
	uint32_t step;    /* that it marks, or STEPS_NONE */
	bool is_step;     /* ProfilerStep#N */
	bool is_inferred; /* an inferred step: no annotation */
};

/*
 * The selection that all programs share. An event is selected if it agrees with
 * each option given. Windows (--step, --phase, --annotation, --from, --to) are
 * on the clock of one source, over all its threads, and contain events that
 * start in them. But GPU work belongs to the window in which its launch starts,
 * and to none without a launch, unless by_gpu_time. --from and --to count from
 * the first event of the source: its fact "first", from tl-tree.
 *
 * Zeroes to start with. It is fed with the items of a stream, which must be a
 * tree for steps, annotations and launches (select_want):
 *
 *	in = stream_open(path, dict, select_want(&sel, WANT_STREAM));
 *	stream_only(in, select_kinds(&sel, KINDS_GPU));
 *	select_start(&sel, in, 0);
 *	while ((item = stream_next(in)) != ITEM_END)
 *		if (select_item(&sel, in, item))
 *			... in->ev is asked for
 *	select_end(&sel);
 *
 * Memory: 40 bytes an annotation of the source, if windows are asked for; 140
 * where they are looked up.
 */
struct select {
	uint32_t kinds; /* 0: all */
	VEC(struct str) names;
	VEC(struct str) annotations;
	struct id_set ranks, devs, gpu_streams;
	VEC(struct select_step) steps;
	/* values met in place of selected ones, see select_there */
	struct there names_met;
	struct there_keys devs_met, gpu_streams_met, ranks_met, processes_met;
	struct {
		int64_t first_ns, last_ns; /* of --from and --to */
		int64_t longest_ns;        /* of --min-dur; else -1 */
		uint32_t kinds;            /* as bits */
		uint8_t phases;            /* likewise */
		bool has_times;
		bool in_rank,
		    in_window; /* an event was asked for, up to that */
	} met;
	uint8_t phases; /* bits: 1 << enum phase; 0: all */
	int64_t min_dur_ns;
	int64_t from_ns, to_ns;
	bool has_from, has_to, by_gpu_time;
	bool is_of_events; /* an option selects more than whole sources */
	bool is_of_all;    /* set by a program about more than GPU work */
	/*
	 * Set by a sink that looks windows up, or that leaves out sources by
	 * select_source() when it has read them.
	 */
	bool need_windows, late_ranks;
	/*
	 * Resolve --step, or --annotation where all that it selects are
	 * markers of steps, exclude nothing by it.
	 */
	bool late_steps;
	bool of_iterations; /* for --step only iterations are steps */
	unsigned inferred;  /* set: steps_inferred_from() of all sources */
	/* private from here on */
	bool by_window, asks_all; /* as the options say when a stream starts */
	bool has_ended;
	const struct dict *dict; /* the one of the keys met */
	const struct stream_in *in;
	uint32_t first_source, src;
	bool has_unlooked;       /* a source whose windows nothing looked up */
	uint32_t nsources;       /* of all streams so far */
	struct map resolved;     /* those where --step is resolved */
	VEC(int64_t) first_ns;   /* by source, or INT64_MIN */
	VEC(char *) labels;      /* by source, for messages */
	VEC(uint8_t) rank_known; /* by source */
	struct select_windows *windows; /* of the source being read */
	VEC(struct select_launch) launches;
	/* of the latest event */
	int64_t when_ns;
	uint32_t when_track;
	bool has_when, any_process;
};

enum {
	OPT_SELECT_ANNOTATION = OPT_OF_TRACE + 16,
	OPT_SELECT_BY_GPU_TIME,
	OPT_SELECT_DEV,
	OPT_SELECT_FROM,
	OPT_SELECT_GPU_STREAM,
	OPT_SELECT_KIND,
	OPT_SELECT_MIN_DUR,
	OPT_SELECT_NAME,
	OPT_SELECT_PHASE,
	OPT_SELECT_RANK,
	OPT_SELECT_STEP,
	OPT_SELECT_TO,
};
/* clang-format off */
#define OPT_SELECT                                                             \
	OPT_SELECT_WITH("TIME", "only from TIME after the first event", \
	    "TIME", "only up to TIME after the first event")
/* The same if --from or --to also has another meaning. */
#define OPT_SELECT_WITH(from_arg, from_help, to_arg, to_help)                  \
	{ OPT_SELECT_ANNOTATION, "annotation", "NAME[#N]", "only inside annotations like NAME, or the Nth of them" }, \
	{ OPT_SELECT_BY_GPU_TIME, "by-gpu-time", NULL, "select GPU work by its own start, not its launch's" }, \
	{ OPT_SELECT_DEV, "dev", "DEV,...", "only on these devices: 0,2-3" },    \
	{ OPT_SELECT_FROM, "from", from_arg, from_help }, \
	{ OPT_SELECT_GPU_STREAM, "gpu-stream", "STREAM,...", "only on these GPU streams: 7,20" }, \
	{ OPT_SELECT_KIND, "kind", "KIND,...", "only these kinds: kernel,memcpy" }, \
	{ OPT_SELECT_MIN_DUR, "min-dur", "TIME", "only events of at least TIME" },  \
	{ OPT_SELECT_NAME, "name", "GLOB", "only events named like GLOB" },        \
	{ OPT_SELECT_PHASE, "phase", "PHASE,...", "only in these phases: prefill,mixed" }, \
	{ OPT_SELECT_RANK, "rank", "RANK,...", "only these ranks: 0,4-7" }, \
	{ OPT_SELECT_STEP, "step", "STEP,...", "only in these steps: 3-7, last, slowest" }, \
	{ OPT_SELECT_TO, "to", to_arg, to_help }
/* What other programs have; after a program's own hints. */
#define OPT_SELECT_OTHERS \
	{ OPT_HINT, "by", NULL, "tl-ops and tl-kernels have one" }, \
	{ OPT_HINT, "gpu", NULL, "--dev selects a GPU" }
/* For programs that accept grafted streams. */
#define OPT_SELECT_HINT OPT_SELECT_OTHERS, \
	{ OPT_HINT_PIPE, "capture", NULL, "pipe it in: tl-graft --capture DIR TRACE |" }
/* clang-format on */

/* Handles a shared option; false if ch is none of them. */
bool select_opt(struct select *s, const struct optparse *op, int ch);
/* For programs about GPU work: a --kind without any is a usage error. */
void select_check_gpu(const struct select *s);
/* What the stream must be, at least want. */
enum want select_want(const struct select *s, enum want want);
/* Whether the time of GPU work is that of its launch. */
bool select_by_launch(const struct select *s);
/* The kinds to read to select events of these kinds. */
uint32_t select_kinds(const struct select *s, uint32_t kinds);
/*
 * Call before the first item of each stream. Sources count from first_source
 * on, so that --step means the same source of several inputs in all programs.
 */
void select_start(
    struct select *s, const struct stream_in *in, uint32_t first_source);
/*
 * Call after the last stream, or before a message that ends the program: warns
 * of processes or sources of --step that do not exist, once.
 */
void select_end(struct select *s);
/*
 * The same for inputs read by other programs: each writes what it met into a
 * shared file, which the parent reads before its select_end().
 */
void select_put_met(const struct select *s, int fd);
void select_take_met(struct select *s, int fd);
/* Whether --step selects processes or sources, which may not exist. */
bool select_asks_where(const struct select *s);
/*
 * Takes each item in order; whether it is an event that is asked for. Windows
 * that a source does not have are a warning. In the prologue, which defines the
 * windows, they leave nothing out; stubs are never asked for.
 */
bool select_item(struct select *s, const struct stream_in *in, enum item item);
/* Replaces it for heads of events that are never selected, among them calls. */
void select_heads(struct select *s, const struct event_head *v, size_t n);
bool select_rank(const struct select *s, int64_t rank);
/* Whether sources with these facts are selected, by rank. */
bool select_source(const struct select *s, const struct source *src);
/*
 * Where the window begins that the event fed last is in, of those that --step,
 * --phase and --annotation ask for; steps in a row are one, each iteration is
 * its own, and what is outside of all is one from INT64_MIN on. False: they ask
 * for none.
 */
bool select_window(struct select *s, int64_t *start_ns);
/*
 * The step that the event fed last is in, or what is between two; NULL:
 * neither.
 */
const struct step_window *select_step(struct select *s);
/* As a key of groups: a number, or a word for the time between; KEY_NONE:
 * neither. */
struct key select_step_key(struct select *s);
/* The same of iterations, where steps are others, too. */
const struct step_window *select_iteration(struct select *s);
/*
 * The phase that the event fed last is in, a word of dict; KEY_NONE: it has no
 * time of its own or of a launch.
 */
struct key select_phase(struct select *s);
/*
 * The innermost annotation that is no step around the event fed last, or NULL:
 * of its thread, else of any. Valid until the source ends.
 */
const struct select_window *select_annotation(struct select *s);
/* Its name, or INTERN_NONE. */
uint32_t select_annotation_name(struct select *s);
/* The windows of the source, after its prologue. */
const struct steps *select_all_steps(struct select *s);
const struct steps *select_all_iterations(struct select *s);
/* Whether --step, if given, selects one of these. */
bool select_takes(const struct select *s, const struct step_window *w);
/* Whether steps of the source are selected, late_steps by annotations, too. */
bool select_chooses_steps(struct select *s);
bool select_asks_steps(const struct select *s);
/* Whether nothing else is selected, besides whole sources. */
bool select_is_of_steps(const struct select *s);
/* Whether it excludes work between selected windows: steps that are apart. */
bool select_is_apart(const struct select *s);
/* --step slowest is a usage error: steps of ranks are matched, and each rank
 * has a slowest one of its own. */
void select_refuse_slowest(const struct select *s);
/*
 * Which of the windows --step names; how many. The first call for a source src,
 * counted over all inputs, which has this name, reports the slowest, and warns
 * if there is none but --step asks for steps of that source.
 */
size_t select_steps(struct select *s, const struct steps *steps,
    const struct dict *st, bool *chosen, const char *name, uint32_t src);
/* Splits "NAME#N" of --annotation; false: no N from 1 on. */
bool select_nth(struct str text, struct str *name, int64_t *nth);
/*
 * For a selection that matched nothing: "; it has GPU streams 7, 20" where one
 * was asked for, "; it has events from 0ns to 2ms" where a time was; else "".
 * For a message that ends the program: never freed.
 */
struct str select_there(const struct select *s);
/* Notes the time of an event that --from and --to exclude. */
void select_meet_time(struct select *s, int64_t t);
void select_free(struct select *s);

#endif
