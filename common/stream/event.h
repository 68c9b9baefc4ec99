/* SPDX-License-Identifier: MIT */
/* event: one event, its track, and walking its values. */
#ifndef TL_STREAM_EVENT_H
#define TL_STREAM_EVENT_H

#include "stream/shape.h"
#include "stream/uid.h"

/* Marks of one event. The numbers stand in files. */
enum {
	EV_UNLINKED = 1 << 0,  /* GPU work whose launch is not in the trace */
	EV_DISCARDED = 1 << 1, /* overlaps its surroundings: has no parent */
	EV_RECOMPUTE = 1 << 2, /* below activation checkpointing's recompute */
	EV_SYNTHETIC = 1 << 3, /* added by a program */
	EV_CLAMPED = 1 << 4,   /* a negative duration, set to 0 */
	EV_UNCLOSED = 1 << 5,  /* a B without its E */
	EV_PAIRED = 1 << 6,    /* a B with the duration up to its E; that E */
	EV_DUPLICATE = 1 << 7, /* GPU work that the file holds twice */
	EV_STUB = 1 << 8,      /* kept only as the ancestor of a selected
	                        * event */
	EV_UNTIMED = 1 << 9,   /* its time is part of another's */
	EV_STEP = 1 << 10,     /* an annotation that marks a step */
	EV_SLOWEST = 1 << 11,  /* the slowest step of its source */
};

/* The words of the marks, bit 0 first, NULL at the end. */
extern const char *const event_flag_words[];

/*
 * An integer, or a string's number in the dictionary. A string of decimal
 * digits equals the integer and is stored as one.
 */
struct key {
	int64_t n;
	uint8_t type;
};
enum {
	KEY_NONE = 0,
	KEY_INT = 1,
	KEY_STR = 2,
};

static inline bool
key_eq(struct key a, struct key b)
{
	return a.n == b.n && a.type == b.type;
}

static inline int
key_cmp(struct key a, struct key b)
{
	if (a.type != b.type)
		return a.type < b.type ? -1 : 1;
	return (a.n > b.n) - (a.n < b.n);
}

/* One thread of one source, as events name it. */
struct track {
	uint32_t src;
	struct key pid, tid;
	struct value raw_pid, raw_tid; /* as written; type NULL and has_* unset:
	                                  absent */
	bool has_pid, has_tid;
	/* the first track with these keys, as "7" and 7 are one thread */
	uint32_t thread;
};

/* Whether a clash was not resolved: such threads have no steps. */
static inline bool
track_is_nowhere(const struct track *t)
{
	return t->pid.type == KEY_INT && t->pid.n == 0 &&
	    t->tid.type == KEY_INT && t->tid.n == 0;
}

/* Whether two parts of tracks are the same number or string, or both absent. */
static inline bool
track_same_part(
    bool has_a, const struct value *a, bool has_b, const struct value *b)
{
	return has_a == has_b &&
	    (!has_a ||
		(a->type == b->type &&
		    (a->type == VAL_INT
			    ? a->i == b->i
			    : a->type == VAL_STR && a->id == b->id)));
}

/* False: they may still be the same. */
static inline bool
track_same(const struct track *a, const struct track *b)
{
	return a->src == b->src &&
	    track_same_part(a->has_tid, &a->raw_tid, b->has_tid, &b->raw_tid) &&
	    track_same_part(a->has_pid, &a->raw_pid, b->has_pid, &b->raw_pid);
}

struct dict;

/*
 * One event. What it points to belongs to the reader and is valid until the
 * next read; shapes, tracks and strings live as long as the dictionary. Fields
 * that shape->has lacks are 0 (name, cat: INTERN_NONE).
 */
struct event {
	const struct shape *shape;
	uint32_t shape_id;
	uint32_t track; /* dict_track() */
	uint32_t src;
	uint32_t name; /* in the dictionary, or INTERN_NONE */
	struct uid uid;
	int64_t ts_ns;  /* relative to the source's base */
	int64_t dur_ns; /* never negative */
	struct key pid, tid, dev, gpu_stream, corr, ext;
	uint32_t flags;
	uint32_t depth;
	struct uid parent, launch, fwd, bwd;
	uint64_t ndesc, ngpu;
	const unsigned char *vals; /* values of the entries, encoded */
	size_t vals_len;
	/* maps numbers of strings in vals to those in the dictionary; NULL: the
	 * same */
	const uint32_t *ids;
	uint32_t nids;
};

/* Only the head of an event, see stream_only_heads(). */
struct event_head {
	int64_t ts_ns, dur_ns;
	struct uid uid;
	uint32_t shape, track, name, flags;
	/* calls only */
	uint32_t depth;
	bool has_corr;
	int64_t corr; /* if an integer */
};

static inline struct event_head
event_head_of(const struct event *ev)
{
	return (struct event_head){ ev->ts_ns, ev->dur_ns, ev->uid,
		ev->shape_id, ev->track, ev->name, ev->flags, ev->depth,
		ev->corr.type == KEY_INT, ev->corr.n };
}

static inline bool
event_is(const struct event *ev, uint32_t kinds)
{
	return (KIND_BIT(ev->shape->kind) & kinds) != 0;
}

/* GPU work below an event of the tree: its launch, else an op of XLA. */
static inline bool
event_is_owned(const struct event *ev)
{
	return (ev->shape->has & HAS_PARENT) != 0;
}

/* ---- values ---- */

/* Text as the stream stores it: interned, or inline if long. */
void value_store(struct dict *st, struct value *v);
/* Appends the encoding of a value; ids are numbers in the dictionary. */
void value_encode(struct buf *b, const struct value *v);
/*
 * Reads a value of this type; *p moves. False if it exceeds end. Text of ids
 * comes from st unless st is NULL.
 */
bool value_decode(const unsigned char **p, const unsigned char *end,
    enum value_type type, const struct dict *st, struct value *v) USE_RESULT;

/* Walks the entries of an event:
 *	struct entries it = entries_of(st, ev);
 *	while (entries_next(&it)) ... it.entry, it.val
 * A value that does not decode ends the program. With entries_get() it only
 * ends the walk and sets is_bad.
 */
struct entries {
	const struct dict *st;
	const struct entry *entry;
	struct value val;
	bool is_bad;
	/* private */
	const struct entry *next, *last;
	const unsigned char *p, *end;
	const uint32_t *ids;
	uint32_t nids;
	uint32_t src;
	uint64_t id;
};

struct entries entries_of(const struct dict *st, const struct event *ev);
bool entries_get(struct entries *it);
noreturn void entries_die(const struct entries *it);

static inline bool
entries_next(struct entries *it)
{
	if (LIKELY(entries_get(it)))
		return true;
	if (UNLIKELY(it->is_bad))
		entries_die(it);
	return false;
}

/* Whether all values decode. Readers check only those that they use. */
bool event_is_sound(const struct dict *st, const struct event *ev);
/* The value of a member of args; false: no such member. */
bool event_arg(const struct dict *st, const struct event *ev, struct str key,
    struct value *v);

/*
 * The texts of an op's lists: VAL_JSON or VAL_JSONX, VAL_NULL if missing.
 * False: it has no list.
 */
bool event_lists(const struct dict *st, const struct event *ev,
    struct value lists[OP_LISTS]);

/*
 * The values in a form that outlives the next read: with the dictionary's
 * numbers of strings, in place or in scratch. Values that do not decode end the
 * program.
 */
struct str event_vals_renumbered(const struct event *ev, struct buf *scratch);

static inline struct str
event_vals(const struct event *ev, struct buf *scratch)
{
	if (LIKELY(ev->ids == NULL))
		return (struct str){ (const char *)ev->vals, ev->vals_len };
	return event_vals_renumbered(ev, scratch);
}

/* Sets dev, gpu_stream, corr and ext from the roles of the shape and the track;
 * readers already do so. False: values are malformed. */
bool event_set_keys(const struct dict *st, struct event *ev) USE_RESULT;

#endif
