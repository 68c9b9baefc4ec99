/* SPDX-License-Identifier: MIT */
/*
 * Makes records of an input: reduce.c with window.c and kernels.c, and
 * partial-read.c.
 */
#ifndef TL_COLLECTIVE_REDUCE_H
#define TL_COLLECTIVE_REDUCE_H

#include "cmd/tl-collective/collective.h"
#include "trace/steps.h"

/* ---- window.c ---- */

/* A kernel that is no collective. */
struct began {
	int64_t start_ns;
	uint32_t hash; /* hash of name and grid; later the sum up to it */
};

/* A spell of work or idle time; lists of them are disjoint and sorted. */
struct spell {
	int64_t start_ns, end_ns;
	int64_t sum_ns; /* of earlier spells */
	uint32_t name;
};
typedef VEC(struct spell) spell_vec;

/* What the GPU did, for all records. */
struct windows {
	spell_vec work, idle;
	VEC(struct began) began;
	spent_vec spent;
};

/*
 * Fills each record's window, which goes from the previous end in its group
 * (group_of its signature) to its start. Idle time is the gaps.
 */
void windows_fill(struct windows *w, const struct host *h,
    const struct gaps *gaps, struct rec *recs, size_t n,
    const uint32_t *group_of, size_t ngroups, struct intern *names);

/* Time of each record outside these normalised spans. */
void exposed_fill(
    const struct spans *compute, const struct rec *recs, size_t n, int64_t *ns);

/* ---- kernels.c ---- */

struct kernels;
struct kernels *kernels_new(void);
void kernels_clear(struct kernels *k, const struct dict *st);
void kernels_op(struct kernels *k, const struct event *ev);
/* Adds GPU work that is no collective. */
void kernels_add(
    struct kernels *k, const struct event *ev, int64_t end_ns, uint32_t grid);
/* Appends the spells of work, and their names to names. */
void kernels_put(struct kernels *k, struct intern *names, spell_vec *out);

/* Number of a name of what time was spent on; b is scratch. */
uint32_t spent_name(struct intern *names, struct buf *b, enum spent_on on,
    struct str name, struct str detail);

/* ---- reduce.c ---- */

/* Becomes a part: all GPUs of a source, or one GPU if each is a rank. */
struct lane {
	struct key dev;
	VEC(struct rec) recs;
	struct windows windows;
	struct kernels *kernels;
	struct spans compute; /* hides collectives */
	struct span whole;    /* from the first GPU event to the last end */
	VEC(uint32_t) gpus;   /* with by_dev: its GPU events, in host.gpus */
};

struct reducer {
	const struct settings *set;
	/* inputs share most texts, and so what is known about them */
	struct dict *st;
	struct bucket_rules rules;
	struct causes *causes;
	/* of the current input */
	const char *path;
	struct stream_in *in;
	struct buf *out;
	/* of its source */
	bool is_open;
	struct part part;
	/* by pid, which a Chrome trace has instead of GPUs */
	struct map gpu_of;
	struct arena *mem, *scratch;
	VEC(struct lane) lanes; /* nlanes are in use, at least one */
	size_t nlanes;
	bool by_dev;        /* a lane per GPU */
	struct map lane_of; /* by GPU */
	struct hlo *hlo;    /* collectives by lane */
	struct intern *sigs, *group_keys, *names;
	VEC(uint32_t) name_of;  /* of a partial: its numbers of names */
	VEC(uint32_t) group_of; /* signature to group key */
	struct map sig_of;      /* text to signature */
	int_vec exposed;        /* of a partial, in the order of arrival */
	struct host host;
	struct gaps gaps;
	struct steps steps;
	struct buf text;
	struct dump_reader *dump; /* of a flight recorder */
};

/* Number of a signature; of_group: length of the part with the group. */
uint32_t reduce_signature(struct reducer *r, struct str text, size_t of_group);

/* ---- partial-read.c ---- */

/* Reads the names fact of a partial; NULL: none. */
void partial_names(struct reducer *r, const struct fact *f);
void partial_take(struct reducer *r, const struct event *ev);

#endif
