/* SPDX-License-Identifier: MIT */
/*
 * Dumps of PyTorch's flight recorder: in which collectives a hung job waits,
 * and for whom.
 *
 * flight-read.c  reads the calls of a dump, as bytes for the parent
 * flight.c       joins all ranks' calls into process groups
 * flight-judge.c finds what hangs in each group, which hang is the cause, and
 *                which ones follow from it
 * tables-hang.c  the table and its sentences
 */
#ifndef TL_COLLECTIVE_FLIGHT_H
#define TL_COLLECTIVE_FLIGHT_H

#include "cmd/tl-collective/job.h"

/* ---- a dump ---- */

/* A call of a collective; texts are numbers of the dump, later of the job. */
struct fcall {
	int64_t id; /* record_id, counted from 0 */
	int64_t seq, p2p_seq;
	int64_t created_ns, timeout_ms; /* 0: unknown */
	int64_t in, out;                /* elements, or NONE */
	/* process_group, a list; name as all_reduce */
	uint32_t group, name;
	uint32_t sizes, in_types, out_types;
	uint32_t frame, stack; /* of the caller; empty: not recorded */
	uint32_t pos;          /* position of its rank */
	uint32_t src, dst;     /* with is_p2p: ranks of the group */
	uint32_t is_p2p, is_done;
};

struct dump_reader;
struct dump_reader *dump_reader_new(void);
void dump_begin(struct dump_reader *d);
/* Kinds of events that are calls. */
#define KINDS_DUMP KIND_BIT(KIND_ASYNC)
void dump_item(
    struct dump_reader *d, const struct stream_in *in, enum item item);
/* The whole dump as bytes, aligned to 8, valid until the next begins; empty:
 * the source is no dump. */
struct str dump_put(struct dump_reader *d);

/* The same bytes, parsed in place. */
struct dump {
	size_t ncalls, ntexts;
	const struct fcall *calls;
	const struct str *texts;
	struct str config; /* pg_config */
};
void dump_get(struct dump *d, struct str bytes);

/* ---- the job ---- */

struct fgroup {
	struct str name, desc;
	int_vec members; /* in the group's order */
};

enum standing {
	STANDS_WAITS,
	STANDS_DONE,
	STANDS_DIFFERS,
	STANDS_ABSENT,
	STANDS_NO_DUMP,
	STANDS_UNKNOWN, /* its buffer no longer has the group */
	STANDS_COUNT
};

enum hang_kind {
	HANG_MISMATCH,
	HANG_MISSING, /* a rank did not call */
	HANG_NO_DUMP,
	HANG_UNKNOWN,
	HANG_ALL_CALLED,
	HANG_DEADLOCK,
	HANG_KINDS
};

/* How two ranks' calls of one number differ. */
enum difference {
	DIFFER_NOT,
	DIFFER_NAME,
	DIFFER_SIZE,
	DIFFER_TYPE,
	DIFFER_ORDER,   /* two calls are swapped */
	DIFFER_SKIPPED, /* one is missing */
	DIFFER_EXTRA,   /* one is added */
};

extern const char *const standing_words[STANDS_COUNT];
extern const char *const hang_words[HANG_KINDS];

/* A rank at a hang. */
struct place {
	int64_t rank;
	uint32_t pos; /* UINT32_MAX: no dump */
	enum standing role;
	const struct fcall *call; /* this one, or the last; or NULL */
};

/* Whether it has called: one that differs has, too. */
static inline bool
place_waits(const struct place *p)
{
	return p->role == STANDS_WAITS ||
	    (p->role == STANDS_DIFFERS && !p->call->is_done);
}

/* A call of a group that not all ranks completed or called alike. */
struct hang {
	uint32_t group;
	enum hang_kind kind;
	enum difference why;
	int64_t seq, since_ns;
	const struct fcall *call; /* as most have it */
	VEC(struct place) places;
	size_t n[STANDS_COUNT]; /* number of places by role */
	bool is_open;           /* a rank waits */
	bool is_cause;
	const struct fcall *other; /* of a deadlock: called in another order */
};

typedef VEC(struct hang) hang_vec;

struct flight {
	const struct job *job;
	struct intern *texts;
	VEC(struct fgroup) groups;
	VEC(struct fcall) calls;   /* by group, number and rank */
	bool *is_wrapped;          /* by position: older calls are lost */
	const struct fcall **last; /* of each rank, or NULL */
	hang_vec hangs;            /* causes first */
	int64_t world;             /* number of ranks in any group */
};

/* Whether the inputs are dumps; a mixture ends the program. */
bool flight_is(const struct job *j);
struct flight *flight_new(const struct job *j);
/* Position of a rank, or UINT32_MAX. */
uint32_t flight_pos(const struct flight *f, int64_t rank);
static inline struct str
flight_text(const struct flight *f, uint32_t id)
{
	return intern_get(f->texts, id);
}

/* flight-judge.c */
void flight_judge(struct flight *f);
#endif
