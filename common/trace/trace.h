/* SPDX-License-Identifier: MIT */
/*
 * trace: what events mean to one another.
 *
 * kind      category and phase of a source to the kind of an event: tables
 * store     all events of a stream in memory, compactly, in reading order
 * link      launch to GPU work, forward to backward: fields of the store
 * tree      nesting on the host, GPU work below its launch, the pre-order
 * steps     the steps of a source, by time
 * walk      the stack over a tree stream: op, module and step of an event
 * hold      chosen events and those above them, until their tree has ended:
 *           a header of its own, hold.h
 * select    which events a command line asks for
 * span      algebra of sorted half-open intervals
 * owner     GPU work by the op that launched it: a header of its own, owner.h
 * names     processes and threads by name
 * plain     names of two traces as one
 * stat      count, sum, mean, median, standard deviation
 */
#ifndef TL_TRACE_H
#define TL_TRACE_H

#include "stream/stream.h"

/* ---- kind ---- */

/*
 * The kind of a Chrome-trace event from its category (INTERN_NONE text: "")
 * and phase letter (0: none given). The name matters only for allocator
 * instants ("[memory]").
 */
enum kind kind_of_chrome(struct str cat, bool has_cat, unsigned char ph);

/* ---- bucket: what a GPU event does ---- */

enum bucket {
	BUCKET_NONE, /* no GPU work */
	BUCKET_COMPUTE,
	BUCKET_COMM,
	BUCKET_MEMCPY,
	BUCKET_COUNT
};

/*
 * Copies are known by kind, and by the names that ROCm up to 7.1 gave to the
 * kernels that copy. Of the rest, a name with rccl, nccl or cross_device_reduce
 * in it, in any case, is a collective; --comm-pattern replaces the last of the
 * three by POSIX extended regular expressions (any case, anywhere in the name).
 * Zeroes to start with. bucket_of_event() remembers the answer for each name.
 */
struct bucket_rules {
	VEC(struct bucket_pattern *) patterns; /* compiled */
	VEC(uint8_t) known;                    /* by name */
};

#define OPT_BUCKET_COMM OPT_OF_TRACE
/* clang-format off */
#define OPT_BUCKET                                                             \
	{ OPT_BUCKET_COMM, "comm-pattern", "RE", "kernels that are collectives, besides nccl and rccl" }
/* clang-format on */

/* Takes the shared option; false if ch is another. A bad RE is a usage error */
bool bucket_opt(struct bucket_rules *r, const struct optparse *op, int ch);
enum bucket bucket_of(
    const struct bucket_rules *r, enum kind kind, struct str name);
enum bucket bucket_slow(struct bucket_rules *r, const struct strings *st,
    enum kind kind, uint32_t name);
void bucket_free(struct bucket_rules *r);

/* Two answers a name: of a kernel and of a memset. */
static inline enum bucket
bucket_of_event(
    struct bucket_rules *r, const struct strings *st, const struct event *ev)
{
	unsigned kind = ev->shape->kind;
	unsigned known = 0;

	if (kind == KIND_MEMCPY)
		return BUCKET_MEMCPY;
	if (LIKELY(ev->name < r->known.n))
		known = (unsigned)r->known.v[ev->name] >>
		    (kind == KIND_MEMSET ? 4 : 0);
	if (LIKELY((known & 0xf) != 0 && event_is(ev, KINDS_GPU)))
		return (enum bucket)((known & 0xf) - 1);
	return bucket_slow(r, st, kind, ev->name);
}

/* ---- span: sorted, disjoint, half-open intervals in ns ---- */

struct span {
	int64_t start, end;
};

/*
 * Whether an event of this start and length lies in another: it begins before
 * the other's end. Ends may be beyond what fits; no length is negative.
 */
static inline bool
span_within(int64_t ts, int64_t dur, int64_t in_ts, int64_t in_dur)
{
	uint64_t from = (uint64_t)ts - (uint64_t)in_ts;

	return ts >= in_ts && from < (uint64_t)in_dur &&
	    (uint64_t)dur <= (uint64_t)in_dur - from;
}

/*
 * Normalised: sorted, and none touches the next. An interval without length is
 * kept where it touches nothing: it adds no time, but it parts a gap in two
 * and bounds the whole.
 */
struct spans {
	struct span *v;
	size_t n, cap;
};

/* Adds an interval, in any order. What continues the last one extends it. */
static inline void
spans_add(struct spans *s, int64_t start, int64_t end)
{
	struct span *last = s->n > 0 ? &s->v[s->n - 1] : NULL;

	if (last != NULL && last->start <= start && start <= last->end) {
		if (end > last->end)
			last->end = end;
		return;
	}
	vec_push(s, ((struct span){ start, end }));
}

/* Sorts, in linear time where it must, and merges. */
void spans_normalise(struct spans *s);
/* The sum of the lengths; modulo 2^64 when the whole is longer than int64. */
int64_t spans_total(const struct spans *s);
/*
 * Of normalised spans; out is emptied first and must be another. What is left
 * of a difference or an intersection has a length.
 */
void spans_union(
    struct spans *out, const struct spans *a, const struct spans *b);
void spans_subtract(
    struct spans *out, const struct spans *a, const struct spans *b);
void spans_intersect(
    struct spans *out, const struct spans *a, const struct spans *b);
/*
 * Those from first on, which were pushed and not added, become their union, in
 * place; its length. So one array serves a stack of open events: what was below
 * a closed one is then all that the one above it needs.
 */
int64_t spans_unite(struct spans *s, size_t first);
/* Whether a normalised set holds a time. */
bool spans_hold(const struct spans *s, int64_t t);
void spans_free(struct spans *s);

/* ---- store: all events of one source in memory ---- */

/*
 * A store holds one source at a time: its facts, metadata and events, 56 bytes
 * an event and its encoded values (some 10 to 25 bytes), plus while it works 8
 * bytes for each host event and 16 for each launch and GPU event.
 *
 *	while (store_read(s, in)) {
 *		store_link(s, LINK_DEFAULT, &links);
 *		tree_build(s, &opts, &stats);
 *		store_link_backward(s, &links);
 *		tree_write(s, out, is_ndjson);
 *	}
 */
struct store;

#define STORE_NONE UINT32_MAX /* no event */

struct store *store_create(struct strings *st);
void store_destroy(struct store *s);
/*
 * Replaces what it holds by the next source of the stream; false behind the
 * last one. B and E are paired here: the B gets the duration up to its E.
 * Links and trees that the stream has are kept (then neither store_link() nor
 * tree_build() is called), unless store_anew() was called before.
 */
bool store_read(struct store *s, struct stream_in *in);
void store_anew(struct store *s);
/*
 * All stores from now on take at most mem bytes of memory, STORE_LEAST or more,
 * for what grows with their events; the rest is spilled into temporary files.
 * Not in it: strings, and 100 bytes for each op with a link between forward and
 * backward. Once, before the first store_create().
 */
void store_limit(size_t mem);
#define STORE_LEAST ((size_t)4 << 20)
/* Events held; they are numbered from 0, by id. */
uint32_t store_count(const struct store *s);
/*
 * Event i with all fields that a stream of it would have, in a tree if it was
 * built; depth is the caller's to set. Valid until the next store_read().
 */
void store_event(struct store *s, uint32_t i, struct event *ev);
struct strings *store_strings(const struct store *s);
const struct source *store_source(const struct store *s);
const struct meta *store_metas(const struct store *s, size_t *n);
/* The most bytes that it took, strings not counted, and for how many events. */
uint64_t store_peak_bytes(const struct store *s, uint64_t *nevents);

/* ---- link: launch to GPU work, forward to backward ---- */

enum link_by {
	LINK_DEFAULT,     /* correlation if launches have it, else ext */
	LINK_CORRELATION, /* all GPU events of a launch's correlation id */
	LINK_EXT,         /* arrows, checked by external id */
	LINK_FLOW,        /* the reference's rule, to compare with it */
};
/* The words of --link, ended by NULL; LINK_DEFAULT is "auto". */
extern const char *const link_words[];

struct link_stats {
	bool by_flow;              /* by arrows, else all of a key */
	bool by_corr;              /* the key: else the external id */
	uint64_t duplicates;       /* GPU events that the file holds twice */
	uint64_t ambiguous;        /* launches whose work another process has */
	uint64_t linked, unlinked; /* GPU events */
	uint64_t wrappers;         /* backward ops that could be linked */
	uint64_t bwd_seq, bwd_flow; /* those linked, by number, by arrow */
};

/*
 * Sets launch and the flags unlinked and duplicate. store_link_backward() sets
 * fwd and bwd; it may need the nesting of ops and then calls tree_build(), so
 * it comes behind it where a tree is wanted. Counts are added to stats.
 */
void store_link(struct store *s, enum link_by by, struct link_stats *stats);
void store_link_backward(struct store *s, struct link_stats *stats);
/* Warns of duplicates, and of what is ambiguous as a doubt. */
void link_tell(const struct link_stats *stats, const char *name);
/* By what launches were linked, in words. */
const char *link_rule(const struct link_stats *stats);
/* Counts links that the stream had already. */
void store_count_links(const struct store *s, struct link_stats *stats);
/* Writes facts, metadata and events in reading order, with the links. */
void link_write(struct store *s, struct stream_out *out, bool is_ndjson);
/* The rest of a stream that is as far already, as it is. */
void link_pass_on(struct stream_in *in, struct stream_out *out);

/* ---- tree ---- */

struct tree_opts {
	bool no_python; /* frames are no part of the tree */
	bool clip;      /* cut an overlapping event at the end of that above */
};

struct tree_stats {
	uint64_t roots;
	uint64_t in_tree;
	uint64_t discarded[KIND_COUNT];
	uint64_t clipped;
	uint64_t regions, recompute; /* recompute frames, events below */
};

/*
 * Nests the host events of a store that is linked. Ops and launches first,
 * then frames around them; nest.c has the rules. Counts are added to stats.
 */
void tree_build(
    struct store *s, const struct tree_opts *opts, struct tree_stats *stats);
/*
 * Visits all events in the order of a tree stream, once. depth is that in the
 * tree; in the tail 1 below a launch and 0 else.
 */
typedef void tree_visitor(
    void *arg, uint32_t i, uint32_t depth, enum section section);
void tree_visit(struct store *s, tree_visitor *visit, void *arg);
/* Writes the three sections. */
void tree_write(struct store *s, struct stream_out *out, bool is_ndjson);

/* What stands in the prologue of a tree, before all other events. */
#define KINDS_PROLOGUE                                     \
	(KIND_BIT(KIND_META) | KIND_BIT(KIND_ANNOTATION) | \
	    KIND_BIT(KIND_GPU_ANNOTATION))

/* ---- steps: the annotations ProfilerStep#N of a source ---- */

#define WALK_NO_STEP INT64_MIN

struct step_span {
	int64_t number;
	int64_t start_ns, end_ns;
	int64_t reach_ns; /* steps_sort(): the last end up to here */
};

/* Into the order that steps_at() needs: by start, of these the longer first. */
void steps_sort(struct step_span *v, size_t n);
/*
 * The number of the last of those that began by then and are not over; or
 * WALK_NO_STEP.
 */
int64_t steps_at(const struct step_span *v, size_t n, int64_t ts_ns);

/* ---- walk: the stack over a tree stream ---- */

/*
 * Says for each event of a tree stream what is above it. State: the open
 * events, and the source's annotations (they stand in the prologue).
 *
 *	struct walk *w = walk_create(in->strings);
 *	while ((item = stream_next(in)) != ITEM_END)
 *		if (item == ITEM_EVENT) {
 *			walk_push(w, &in->ev);
 *			... walk_op(w), walk_step(w) ...
 *		}
 */
struct walk;

/* An event above: its uid and its name (INTERN_NONE: without). */
struct walk_above {
	struct uid uid;
	uint32_t name;
	int64_t ts_ns;
};

/* N of "ProfilerStep#N". */
bool step_of_name(struct str name, int64_t *step) USE_RESULT;

struct walk *walk_create(struct strings *st);
void walk_destroy(struct walk *w);
/* Every event of all sections, in order: what follows is about this one. */
void walk_push(struct walk *w, const struct event *ev);
/*
 * The nearest op, nn.Module frame and event of any kind above it, itself not
 * counted; NULL when there is none. Valid until the next walk_push().
 */
const struct walk_above *walk_op(const struct walk *w);
const struct walk_above *walk_module(const struct walk *w);
const struct walk_above *walk_parent(const struct walk *w);
/*
 * N of the annotation ProfilerStep#N in which it starts, or WALK_NO_STEP. GPU
 * work belongs to the step of its launch, and to none without one. Of the
 * prologue's events only the steps themselves have one.
 */
int64_t walk_step(const struct walk *w);
/*
 * The name of the innermost other annotation of its thread in which it starts
 * (GPU work: its launch starts), or INTERN_NONE.
 */
uint32_t walk_annotation(const struct walk *w);

/* ---- select: which events a command line asks for ---- */

/* Numbers, ranges and words of one option. */
struct id_set {
	VEC(struct select_range) ranges;
	VEC(struct str) words;
};

/* A user's annotation, from its start up to its end. */
struct window {
	int64_t start, end;
	int64_t step; /* N of ProfilerStep#N, or WALK_NO_STEP */
	uint32_t name;
	uint32_t track;
	uint64_t id;
};

/*
 * The selection that all programs share. An event is asked for when it agrees
 * with each option given. Windows (--step, --annotation, --from, --to) are
 * those of the clock of one source, over all its threads, and hold an event
 * that starts in them; but work on the GPU belongs to the window in which its
 * launch starts, and to none when it has no launch, unless by_gpu_time. --from
 * and --to count from the first event of the source: its fact "first", which
 * tl-tree gives.
 *
 * Zeroes to start with. It is fed with the items of a stream, which must be a
 * tree for steps, annotations and launches (select_want):
 *
 *	in = stream_open(path, strings, select_want(&sel, WANT_STREAM));
 *	stream_only(in, select_kinds(&sel, KINDS_GPU));
 *	select_start(&sel, in);
 *	while ((item = stream_next(in)) != ITEM_END)
 *		if (select_item(&sel, in, item))
 *			... in->ev is asked for
 *
 * Memory: 40 bytes an annotation of the source, if windows are asked for.
 */
struct select {
	uint32_t kinds; /* 0: all */
	VEC(struct str) names;
	VEC(struct str) annotations;
	struct id_set ranks, devs, gpu_streams, steps;
	int64_t min_dur_ns;
	int64_t from_ns, to_ns;
	bool has_from, has_to, by_gpu_time;
	/*
	 * Set by a sink that looks windows up, or that leaves out sources by
	 * select_source() when it has read them.
	 */
	bool need_windows, late_ranks;
	/* private from here */
	VEC(uint8_t) name_known;
	const struct strings *strings; /* that name_known is about */
	const struct stream_in *in;
	uint32_t src;
	VEC(int64_t) first_ns;          /* by source, or INT64_MIN */
	VEC(uint8_t) rank_known;        /* by source */
	struct select_windows *windows; /* of the source being read */
	VEC(struct select_launch) launches;
	/* of the event fed last */
	int64_t when_ns;
	uint32_t when_track;
	bool has_when;
};

#define OPT_SELECT_ANNOTATION (OPT_OF_TRACE + 16)
#define OPT_SELECT_BY_GPU_TIME (OPT_OF_TRACE + 17)
#define OPT_SELECT_DEV (OPT_OF_TRACE + 18)
#define OPT_SELECT_FROM (OPT_OF_TRACE + 19)
#define OPT_SELECT_GPU_STREAM (OPT_OF_TRACE + 20)
#define OPT_SELECT_KIND (OPT_OF_TRACE + 21)
#define OPT_SELECT_MIN_DUR (OPT_OF_TRACE + 22)
#define OPT_SELECT_NAME (OPT_OF_TRACE + 23)
#define OPT_SELECT_RANK (OPT_OF_TRACE + 24)
#define OPT_SELECT_STEP (OPT_OF_TRACE + 25)
#define OPT_SELECT_TO (OPT_OF_TRACE + 26)
/* clang-format off */
#define OPT_SELECT                                                             \
	OPT_SELECT_WITH("TIME", "from TIME after the source's first event on", \
	    "TIME", "before TIME after the first event")
/* The same, where --from or --to has another meaning besides. */
#define OPT_SELECT_WITH(from_arg, from_help, to_arg, to_help)                  \
	{ OPT_SELECT_ANNOTATION, "annotation", "NAME[#N]", "in annotations like NAME; only the Nth" }, \
	{ OPT_SELECT_BY_GPU_TIME, "by-gpu-time", NULL, "GPU work by its own start, not its launch's" }, \
	{ OPT_SELECT_DEV, "dev", "DEV,...", "of these devices, as 0,2-3" },    \
	{ OPT_SELECT_FROM, "from", from_arg, from_help }, \
	{ OPT_SELECT_GPU_STREAM, "gpu-stream", "STREAM,...", "of these GPU streams" }, \
	{ OPT_SELECT_KIND, "kind", "KIND,...", "of these kinds, as kernel,memcpy" }, \
	{ OPT_SELECT_MIN_DUR, "min-dur", "TIME", "that last at least TIME" },  \
	{ OPT_SELECT_NAME, "name", "GLOB", "whose name is like GLOB" },        \
	{ OPT_SELECT_RANK, "rank", "RANK,...", "of the sources of these ranks" }, \
	{ OPT_SELECT_STEP, "step", "STEP,...", "in these steps, as 3-7, first or last" }, \
	{ OPT_SELECT_TO, "to", to_arg, to_help }
/* clang-format on */

/* Takes one shared option; false if ch is none of them. */
bool select_opt(struct select *s, const struct optparse *op, int ch);
/* For programs about GPU work: a --kind that names none is a usage error. */
void select_check_gpu(const struct select *s);
/* How far the stream must be, at least want. */
enum want select_want(const struct select *s, enum want want);
/* Whether GPU work is judged by when it was launched. */
bool select_by_launch(const struct select *s);
/* The kinds to read so that events of these kinds can be judged. */
uint32_t select_kinds(const struct select *s, uint32_t kinds);
/* Before the first item of each stream. */
void select_start(struct select *s, const struct stream_in *in);
/*
 * Takes each item in order; whether it is an event that is asked for. Windows
 * that a source does not have are a doubt. In the prologue, where windows are
 * told, they leave nothing out; stubs are never asked for.
 */
bool select_item(struct select *s, const struct stream_in *in, enum item item);
/* Whether sources with these facts are asked for, by their rank. */
bool select_source(const struct select *s, const struct source *src);
/* The step of the event fed last, by number, or WALK_NO_STEP. */
int64_t select_step(struct select *s);
/*
 * The innermost annotation that is no step around the event fed last, or NULL:
 * of its thread, else of any. Valid until the source ends.
 */
const struct window *select_annotation(struct select *s);
/* "NAME#N" of --annotation in its two parts; false if it has no N from 1 on. */
bool select_nth(struct str text, struct str *name, int64_t *nth);
void select_free(struct select *s);

/*
 * For programs that pass on or draw a whole tree: what is selected comes as
 * from tl-filter, which is put in front of each input. Zeroes to start with.
 */
struct select_front {
	VEC(char *) words; /* tl-filter's */
};

/* Takes one shared option, as select_opt(). */
bool select_front_opt(
    struct select_front *f, const struct optparse *op, int ch);
static inline bool
select_front_is_on(const struct select_front *f)
{
	return f->words.n > 0;
}
/* A stream of what is selected; as stream_open() when there is no option. */
struct stream_in *select_front_open(const struct select_front *f,
    const char *path, struct strings *strings, enum want want);

/* ---- names: processes and threads by name ---- */

/*
 * From the metadata events (M) of the prologue: process_name and
 * process_labels of the thread 0 (or none) of a process, thread_name. What is
 * said last counts; what is not said is "Unknown".
 */
struct names;

struct track_names {
	uint32_t process, label, thread; /* in the strings */
};

/*
 * A frame's name without the numbers of instances: every "_" and its digits go
 * ("nn.Module: Layer_12" is "nn.Module: Layer"). Its number in the strings.
 */
uint32_t name_without_numbers(struct strings *st, struct str name);

struct names *names_create(struct strings *st);
void names_destroy(struct names *n);
/* Takes metadata events, passes over others. */
void names_push(struct names *n, const struct event *ev);
struct track_names names_of(struct names *n, uint32_t track);

/* ---- plain: names of two traces as one ---- */

/*
 * Appends a name without what differs from run to run: addresses become
 * 0xXXXX, "model.py(12): f" becomes "model.py: f".
 */
void name_plain(struct buf *b, struct str name);
/* Two names of a driver's launch are one; others are left. */
struct str name_one_launch(struct str name);
/* Appends a name without any "(12)". */
void name_without_lines(struct buf *b, struct str name);

/* ---- stat: what many numbers come to ---- */

/*
 * The method, for all programs: the sum of integers is exact (beyond int64 the
 * program ends); the mean is the sum divided once; the median is the middle
 * one, of an even count the mean of the middle two; a quantile q lies at
 * (n - 1) q in order, linearly between its neighbours (numpy's "linear");
 * deviations are summed from the mean in long double. What is undefined is
 * NAN: everything of none, the sample deviation (n - 1) of one.
 */
struct stats {
	size_t n;
	int64_t sum, min, max;
	double mean, median;
	double std;     /* of a sample: n - 1 */
	double std_all; /* of all there are: n */
};

/* The same of doubles; NANs are passed over and not counted. */
struct stat_real {
	size_t n;
	double sum, min, max, mean, median, std, std_all;
};

/* Sorts v. */
void stat_of(struct stats *s, int64_t *v, size_t n);
void stat_of_reals(struct stat_real *s, double *v, size_t n);
/* v is sorted; 0 <= q <= 1. */
double stat_quantile(const int64_t *v, size_t n, double q);
/* To two decimals, half to even of the exact value, as Python's round(x, 2). */
double stat_round2(double x);

/* A sum of times that fits, or the end of the program. */
static inline void
stat_add(int64_t *sum, int64_t v)
{
	if (UNLIKELY(!num_add(*sum, v, sum)))
		die("times add up to more than 292 years");
}

#endif
