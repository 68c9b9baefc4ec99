/* SPDX-License-Identifier: MIT */
/*
 * tl-split: main.c reads options, deal.c streams, cut.c finds the parts of an
 * event, part.c writes them. For serving iterations, iterations.c chooses those
 * of a part and counts GPU work, period.c finds what repeats where no marks
 * are, details.c writes a summary for other programs. export.c turns parts into
 * another format.
 */
#ifndef TL_SPLIT_H
#define TL_SPLIT_H

#include "trace/hold.h"
#include "trace/span.h"
#include "trace/steps.h"
#include "trace/there.h"
#include "trace/window.h"

#define MAX_PARTS 100000

enum by {
	BY_NOTHING,
	BY_RANK,
	BY_STEP,
	BY_ITERATION,
	BY_PHASE,
	BY_STEADY,
	BY_ANNOTATION,
	BY_TIME,
	BY_RANGE, /* one part, of the iterations asked for */
};

struct settings {
	enum by by;
	const char *dir;
	const char *annotation; /* a pattern */
	int64_t every_ns;
	bool verbose, by_gpu_time, to_chrome;
	bool has_iterations; /* only some of them if has_range */
	bool has_range, plan_only;
	size_t first, end;
	struct window_plan plan;
	struct stream_dest dest; /* -z */
};

/* Whether parts are serving iterations, named by what they hold. */
static inline bool
by_iterations(const struct settings *set)
{
	return set->by == BY_ITERATION || set->by == BY_PHASE ||
	    set->by == BY_STEADY || set->by == BY_RANGE;
}

typedef VEC(int64_t) key_vec;

/* A time of a process, or of any. */
struct when {
	int64_t ns;
	const struct key *pid; /* NULL: any */
};

/* ---- iterations.c: parts by serving iterations ---- */

/* An iteration of the current source. */
struct root {
	uint32_t window; /* in cut.steps.list */
	uint32_t nparts;
	int64_t parts[STEADY_COUNT]; /* keys */
	/* GPU work that it launches */
	uint64_t ngpu;
	int64_t gpu_sum_ns;
	struct spans gpu;
};

/* What the part with this key holds. */
struct run {
	struct str path; /* within the folder of parts */
	int64_t idx;
	struct window w; /* in iterations.picked */
};

struct iterations {
	struct arena *mem;
	VEC(struct run) runs; /* of all sources */
	struct intern *paths, *bases;
	/* of the current source */
	size_t first_run;
	VEC(struct root) roots;  /* in order of time */
	VEC(uint32_t) root_of;   /* by window */
	VEC(uint32_t) picked;    /* roots that parts are made of */
	VEC(struct iteration) v; /* the same */
	struct map launched;     /* ids of events to their root */
	/* the window found last: a process's events mostly stay in one */
	const struct step_window *last; /* NULL: none */
	struct key last_pid;
};

struct split;
/* After the prologue: finds iterations, and chooses those of parts. */
void iterations_ready(struct split *s);
/*
 * The keys of the parts of an event, which is counted; when is NULL if its time
 * is unknown.
 */
void iterations_take(struct split *s, const struct event *ev,
    const struct when *when, key_vec *keys);
/* When the source and its parts are complete. */
void iterations_end_source(struct split *s);
void iterations_free(struct split *s);

/* ---- period.c ---- */

/* Finds iterations in a tree without steps; false: none. */
bool period_find(struct steps *to, const struct forest *f);

/* ---- plan.c ---- */

/* --plan: prints what to record to see a steady state. */
void plan_print(const struct window_plan *plan);

/* ---- details.c: execution_details.json and .csv ---- */

struct details {
	struct buf json;
	struct table *csv;
};

/* Adds a part of the current source, with its number of events. */
void details_add(struct split *s, const struct run *run, uint64_t nevents);
void details_finish(struct split *s);

/* ---- cut.c: where one source is cut ---- */

/* An annotation, and the key of its part. */
struct cut_window {
	int64_t start, end, key;
};

struct cut {
	const struct settings *set;
	bool has_first;
	int64_t first_ns;            /* the source's first event */
	struct steps steps;          /* or iterations */
	VEC(struct cut_window) list; /* by start */
	VEC(int64_t) ends;           /* the latest end up to each in list */
	struct there there;          /* annotations that don't match */
};

/* Begins another source. */
void cut_clear(struct cut *c, const struct source *s);
/* When its prologue, with annotations, is complete. */
void cut_ready(struct cut *c, const struct hold *prologue);
void cut_free(struct cut *c);
/* The keys of the parts that hold a time; none: it is in the rest. */
void cut_parts(const struct split *s, const struct when *when, key_vec *keys);
/* The keys of the parts that overlap a time, first and last inclusive. */
void cut_reached(const struct split *s, const struct when *first, int64_t last,
    key_vec *keys);

/* ---- part.c ---- */

/* A file with its part of each source. */
struct part {
	int64_t key;
	bool is_rest;
	const char *path; /* of its stream */
	struct stream_out *out;
	bool is_open;      /* its file is open */
	uint64_t used;     /* when it was last used */
	uint32_t nsources; /* that it has something of */
	/* the current source: its number, 0: nothing of it yet */
	uint64_t source; /* its number, 0: nothing of it so far */
	bool is_final;   /* it was told so */
	enum section section;
	struct numbering nb;         /* for its number in this part */
	VEC(struct hold_pick) notes; /* what it has of the prologue */
	bool is_due;                 /* one of these is its own */
	/* of the current trees: numbers in current.trees */
	VEC(struct hold_pick) pieces;
};

/* The current source, as each part gets it that has something of it. */
struct current {
	uint64_t no; /* from 1 */
	uint32_t src;
	bool is_begun;
	bool is_cut; /* windows of the prologue are known */
	bool waits;  /* no windows there: the whole tree is needed */
	enum section section;
	struct arena *mem;
	struct source source;
	VEC(struct meta) metas;
	struct hold prologue, trees;
	VEC(struct hold_pick) names; /* of the prologue; for all parts */
};

struct split {
	const struct settings *set;
	struct dict *st;
	const struct stream_in *in;
	struct cut cut;
	struct iterations its;
	struct details details;
	struct current now;
	VEC(struct part *) parts;
	struct map part_of;        /* key to number */
	struct part *rest, *last;  /* last: the one found last */
	VEC(struct part *) open;   /* with open files */
	VEC(struct part *) filled; /* that hold something of this tree */
	uint64_t clock, nrest;
	size_t nbegun; /* begun parts, without the rest */
	/* in: of the current input, which is a tree now; marks: of all */
	unsigned in_marks, marks;
	key_vec keys;
};

/* The process of a track. */
static inline const struct key *
split_process(const struct split *s, uint32_t track)
{
	return &s->st->tracks.v[track].pid;
}

/* The ending of parts' files. */
const char *part_ending(const struct settings *set);
/* The part with this key, made if missing; NULL: the rest. */
struct part *part_get(struct split *s, const int64_t *key);
/* Writes what precedes the part's first event of the current source. */
void part_begin(struct split *s, struct part *p);
/* Gives a part an event of the current trees. */
void part_take(struct split *s, struct part *p, uint32_t no);
/* Passes an event unchanged; by rank. */
void part_pass(struct split *s, struct part *p, const struct event *ev);
/* At the end of the current trees: writes to each part what it was given. */
void parts_flush(struct split *s);
/* More metadata of the source, for parts that have the former. */
void parts_meta(struct split *s, const struct meta *m);
/* At the end of a source. */
void parts_end_source(struct split *s);
void parts_finish(struct split *s);

/* ---- deal.c ---- */

/* Splits an input. */
void split_input(struct split *s, const char *path);

/* ---- export.c ---- */

/* Removes what killed runs left in the folder, and begins this one. */
void export_begin(const char *folder);
/* The ending of this run's parts until they are traces. */
const char *export_ending(void);
/* Exports the stream, named as its part with that ending, to the trace. */
void export_later(const char *stream);
void export_all(void);

#endif
