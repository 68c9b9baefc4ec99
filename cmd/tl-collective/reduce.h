/* SPDX-License-Identifier: MIT */
/*
 * How an input becomes records: reduce.c with window.c and kernels.c, and
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
	uint32_t hash; /* of its name and grid; later the sum up to it */
};

/* A spell of work or of idle time; a list of them is disjoint, in time. */
struct spell {
	int64_t start_ns, end_ns;
	int64_t sum_ns; /* of those before it */
	uint32_t name;
};
typedef VEC(struct spell) spell_vec;

/* What the GPU did, and what records were spent on. */
struct windows {
	spell_vec work, idle;
	VEC(struct began) began;
	spent_vec spent;
};

/*
 * What each record knows of its window, which goes from the end before it in
 * its group, group_of its signature, to its start. Idle are the gaps.
 */
void windows_fill(struct windows *w, const struct host *h,
    const struct gaps *gaps, struct rec *recs, size_t n,
    const uint32_t *group_of, size_t ngroups, struct intern *names);

/* Of each record the time outside these spans, which are normalised. */
void exposed_fill(
    const struct spans *compute, const struct rec *recs, size_t n, int64_t *ns);

/* ---- kernels.c ---- */

struct kernels;
struct kernels *kernels_new(void);
void kernels_clear(struct kernels *k, const struct dict *st);
void kernels_op(struct kernels *k, const struct event *ev);
/* GPU work that is no collective. */
void kernels_add(
    struct kernels *k, const struct event *ev, int64_t end_ns, uint32_t grid);
/* The spells of work; their names go into names. */
void kernels_put(struct kernels *k, struct intern *names, spell_vec *out);

/* The number of a name of what time was spent on; b is scratch. */
uint32_t spent_name(struct intern *names, struct buf *b, enum spent_on on,
    struct str name, struct str detail);

/* ---- reduce.c ---- */

/*
 * What becomes a part: the GPUs of a source together, or of a process that
 * drives several of them, each a rank, one.
 */
struct lane {
	struct key dev;
	VEC(struct rec) recs;
	struct windows windows;
	struct kernels *kernels;
	struct spans compute; /* what hides collectives */
	struct span whole;    /* from the first GPU event to the end of all */
	VEC(uint32_t) gpus;   /* of a GPU alone, its of the host's */
};

struct reducer {
	const struct settings *set;
	/* inputs share most of their texts, and so what is known of these */
	struct dict *st;
	struct bucket_rules rules;
	struct causes *causes;
	/* of the input being read */
	const char *path;
	struct stream_in *in;
	struct buf *out;
	/* of its source */
	bool is_open;
	struct part part;
	struct map gpu_of; /* by pids, which a Chrome trace has for GPUs */
	struct arena *mem, *scratch;
	VEC(struct lane) lanes; /* the first nlanes; there is one at least */
	size_t nlanes;
	bool by_dev;        /* a lane a GPU */
	struct map lane_of; /* by GPU */
	struct hlo *hlo;    /* of the collectives, by lanes */
	struct intern *sigs, *group_keys, *names;
	VEC(uint32_t) name_of;  /* of a partial: its numbers */
	VEC(uint32_t) group_of; /* signature to group key */
	struct map sig_of;      /* number of a text to signature */
	int_vec exposed;        /* of records: of a partial as they come */
	struct host host;
	struct gaps gaps;
	struct steps steps;
	struct buf text;
	struct dump_reader *dump; /* of a flight recorder */
};

/*
 * The number of a signature; so much of its text says which group it is of.
 */
uint32_t reduce_signature(struct reducer *r, struct str text, size_t of_group);

/* ---- partial-read.c ---- */

/* Of its source, which come before its records; NULL: it has none. */
void partial_names(struct reducer *r, const struct fact *f);
void partial_take(struct reducer *r, const struct event *ev);

#endif
