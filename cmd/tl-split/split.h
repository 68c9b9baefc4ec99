/* SPDX-License-Identifier: MIT */
/*
 * tl-split: main.c reads options, deal.c streams, cut.c knows which parts an
 * event belongs to, part.c writes them. By serving iterations, iterations.c
 * chooses those of a part and counts its GPU work, period.c finds what repeats
 * where nothing marks them, details.c writes what parts hold for other
 * programs. export.c turns parts into another format.
 */
#ifndef TL_SPLIT_H
#define TL_SPLIT_H

#include "trace/hold.h"
#include "trace/span.h"
#include "trace/steps.h"
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
	BY_RANGE, /* one part of the iterations asked for */
};

struct settings {
	enum by by;
	const char *dir;
	const char *annotation; /* a pattern */
	int64_t every_ns;
	bool verbose, by_gpu_time, to_chrome;
	bool
	    has_iterations; /* they are asked for, and if has_range only some */
	bool has_range, plan_only;
	size_t first, end;
	struct window_plan plan;
	struct stream_dest dest; /* -z */
};

/* Parts by serving iterations: their names tell what they are. */
static inline bool
by_iterations(const struct settings *set)
{
	return set->by == BY_ITERATION || set->by == BY_PHASE ||
	    set->by == BY_STEADY || set->by == BY_RANGE;
}

typedef VEC(int64_t) key_vec;

/* Where an event belongs: a time of a process, or of any. */
struct when {
	int64_t ns;
	const struct key *pid; /* NULL: of any */
};

/* ---- iterations.c: parts by serving iterations ---- */

/* An iteration of the source at hand. */
struct root {
	uint32_t window; /* in cut.steps.list */
	uint32_t nparts;
	int64_t parts[STEADY_COUNT]; /* keys */
	/* the GPU work that it launches */
	uint64_t ngpu;
	int64_t gpu_sum_ns;
	struct spans gpu;
};

/* What a part has, which is number key. */
struct run {
	struct str path; /* in the folder of parts */
	int64_t idx;
	struct window w; /* in iterations.picked */
};

struct iterations {
	struct arena *mem;
	VEC(struct run) runs; /* of all sources */
	struct intern *paths, *bases;
	/* of the source at hand */
	size_t first_run;
	VEC(struct root) roots;  /* in the order of time */
	VEC(uint32_t) root_of;   /* by window */
	VEC(uint32_t) picked;    /* roots of which parts are made */
	VEC(struct iteration) v; /* the same */
	struct map launched;     /* ids of events to their root */
	/* events of a process mostly stay in a window: that found last */
	const struct step_window *last; /* NULL: none */
	struct key last_pid;
};

struct split;
/* The prologue is whole: finds the iterations, and chooses those of parts. */
void iterations_ready(struct split *s);
/*
 * The keys of the parts that have an event, which is counted; when is NULL
 * where no time says so.
 */
void iterations_take(struct split *s, const struct event *ev,
    const struct when *when, key_vec *keys);
/* The source and its parts are whole. */
void iterations_end_source(struct split *s);
void iterations_free(struct split *s);

/* ---- period.c ---- */

/* Iterations of a tree in which nothing else is a step; false: there are none.
 */
bool period_find(struct steps *to, const struct forest *f);

/* ---- plan.c ---- */

/* --plan: how to record so that a steady state is in the trace. */
void plan_print(const struct window_plan *plan);

/* ---- details.c: execution_details.json and .csv ---- */

struct details {
	struct buf json;
	struct table *csv;
};

/* A part of the source at hand, which has so many events. */
void details_add(struct split *s, const struct run *run, uint64_t nevents);
void details_finish(struct split *s);

/* ---- cut.c: where one source is cut ---- */

/* What belongs to the part with this key: an annotation. */
struct cut_window {
	int64_t start, end, key;
};

struct cut {
	const struct settings *set;
	bool has_first;
	int64_t first_ns;            /* the source's first event */
	struct steps steps;          /* or iterations */
	VEC(struct cut_window) list; /* by start */
	VEC(int64_t) ends;           /* the latest end up to each of list */
};

/* Another source begins. */
void cut_clear(struct cut *c, const struct source *s);
/* Its prologue, which has its annotations, is whole. */
void cut_ready(struct cut *c, const struct hold *prologue);
void cut_free(struct cut *c);
/* The keys of the parts that hold a time; none: it is in the rest. */
void cut_parts(const struct split *s, const struct when *when, key_vec *keys);
/* Those that have something of the time from first to last, both in it. */
void cut_reached(const struct split *s, const struct when *first, int64_t last,
    key_vec *keys);

/* ---- part.c ---- */

/* A file with its part of each source. */
struct part {
	int64_t key;
	bool is_rest;
	const char *path; /* of its stream */
	struct stream_out *out;
	bool is_open;      /* its file is */
	uint64_t used;     /* when it was last */
	uint32_t nsources; /* that it has something of */
	/* of the source at hand */
	uint64_t source; /* its number, 0: nothing of it so far */
	bool is_final;   /* told so */
	enum section section;
	struct numbering nb;         /* of its number here */
	VEC(struct hold_pick) notes; /* what it has of the prologue */
	bool is_due;                 /* one of them is its own */
	/* of the trees at hand: numbers in current.trees */
	VEC(struct hold_pick) pieces;
};

/* The source at hand, as each part gets it that has something of it. */
struct current {
	uint64_t no; /* from 1 */
	uint32_t src;
	bool is_begun;
	bool is_cut; /* what the prologue has of windows is known */
	bool waits;  /* not a window among it: the whole tree has to say */
	enum section section;
	struct arena *mem;
	struct source source;
	VEC(struct meta) metas;
	struct hold prologue, trees;
	VEC(struct hold_pick) names; /* of the prologue: for all parts */
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
	struct part *rest, *last;  /* last: that was asked for */
	VEC(struct part *) open;   /* whose files are open */
	VEC(struct part *) filled; /* that hold something of this tree */
	uint64_t clock, nrest;
	size_t nbegun; /* parts that have something, but for the rest */
	/* in: of the input at hand, which is a tree now; marks: of all */
	unsigned in_marks, marks;
	key_vec keys;
};

/* The process of a track. */
static inline const struct key *
split_process(const struct split *s, uint32_t track)
{
	return &s->st->tracks.v[track].pid;
}

/* How files of parts end. */
const char *part_ending(const struct settings *set);
/* The part, made when it is not there; NULL: the rest. */
struct part *part_get(struct split *s, const int64_t *key);
/* What stands before the part's first event of the source at hand. */
void part_begin(struct split *s, struct part *p);
/* An event of the trees at hand belongs to a part. */
void part_take(struct split *s, struct part *p, uint32_t no);
/* An event as it is; by rank. */
void part_pass(struct split *s, struct part *p, const struct event *ev);
/* The trees at hand have ended: each part gets what belongs to it. */
void parts_flush(struct split *s);
/* More of the source's metadata: for parts that had what there was. */
void parts_meta(struct split *s, const struct meta *m);
/* The source has ended. */
void parts_end_source(struct split *s);
void parts_finish(struct split *s);

/* ---- deal.c ---- */

/* All of an input. */
void split_input(struct split *s, const char *path);

/* ---- export.c ---- */

/* Removes what runs that were killed have left there, and begins this one. */
void export_begin(const char *folder);
/* Behind the names of this run's parts until they are traces. */
const char *export_ending(void);
/* The stream, a part's name with that behind it, is to become the trace. */
void export_later(const char *stream);
void export_all(void);

#endif
