/* SPDX-License-Identifier: MIT */
/*
 * stream: the event stream between programs, as tl-stream(5) specifies it.
 *
 * Two encodings of one model. The model: sources (one recorded file each)
 * with facts and metadata; sections; events. An event has a few fixed fields
 * and a list of entries: its arguments, and what else its source said of it.
 *
 * The layout of an event (kind, phase, category, which fixed fields, the keys
 * and types of its entries) is its *shape*. Traces have few shapes, so a shape
 * is told once and an event is a shape's number and the values. Strings,
 * shapes and tracks (process and thread) are numbered per stream; what this
 * reader hands out is numbered per struct strings, shared by all streams that
 * a program opens with it, so that equal bytes are equal numbers.
 *
 * Lower storey: enc, dec and ndjson turn events into bytes and back; they
 * return a status and never print or exit. Upper storey: what programs call,
 * which works or ends the program with "file: byte N: reason".
 *
 *	struct stream_in *in = stream_open(path, NULL, WANT_TREE);
 *	while ((item = stream_next(in)) != ITEM_END)
 *		if (item == ITEM_EVENT && in->ev.shape->kind == KIND_KERNEL)
 *			sum += in->ev.dur_ns;
 *	stream_close(in);
 */
#ifndef TL_STREAM_H
#define TL_STREAM_H

#include "io/io.h"

#define STREAM_VERSION 1

/* ---- the model ---- */

/* What an event is. The numbers stand in files: append, never reorder. */
enum kind {
	KIND_OTHER = 0,
	KIND_OP,             /* host op: dispatcher, autograd, custom */
	KIND_RUNTIME,        /* runtime API call; may launch */
	KIND_DRIVER,         /* driver API call; may launch */
	KIND_PYTHON,         /* Python frame */
	KIND_ANNOTATION,     /* user's range on the host */
	KIND_KERNEL,         /* GPU work ... */
	KIND_MEMCPY,         /* ... */
	KIND_MEMSET,         /* ... to here */
	KIND_GPU_ANNOTATION, /* user's range projected on the GPU */
	KIND_SYNC,           /* synchronisation row on the GPU, no work */
	KIND_GPU_EVENT,      /* event record on the GPU, no work */
	KIND_OVERHEAD,       /* the profiler's own cost */
	KIND_SPAN,           /* the profiler's window */
	KIND_FLOW,           /* arrow: s, t, f */
	KIND_META,           /* process and thread names: M */
	KIND_INSTANT,        /* i, I, R */
	KIND_MEMORY,         /* allocator instant */
	KIND_COUNTER,        /* C */
	KIND_ASYNC,          /* b n e, S T p F */
	KIND_OBJECT,         /* N O D */
	KIND_SAMPLE,         /* P */
	KIND_DUMP,           /* V v: memory dump */
	KIND_MARK,           /* c and others that only mark */
	KIND_SLICE,          /* any other slice */
	KIND_END,            /* E: the end of a B */
	KIND_COUNT
};

#define KIND_BIT(k) (UINT32_C(1) << (k))
#define KINDS_ALL UINT32_MAX
#define KINDS_GPU \
	(KIND_BIT(KIND_KERNEL) | KIND_BIT(KIND_MEMCPY) | KIND_BIT(KIND_MEMSET))
#define KINDS_LAUNCH (KIND_BIT(KIND_RUNTIME) | KIND_BIT(KIND_DRIVER))
#define KINDS_HOST (KINDS_LAUNCH | KIND_BIT(KIND_OP))

extern const char *const kind_words[KIND_COUNT];
/* The kind of a word, or -1. */
int kind_of_word(struct str word);

/* The type of a value. The numbers stand in files. */
enum value_type {
	VAL_NULL = 0,
	VAL_FALSE = 1,
	VAL_TRUE = 2,
	VAL_INT = 3,    /* int64 */
	VAL_UINT = 4,   /* 2^63 .. 2^64-1 */
	VAL_DEC = 5,    /* struct dec: a decimal, kept digit for digit */
	VAL_NUM = 6,    /* any other number, as its text (also NaN) */
	VAL_STR = 7,    /* string, interned */
	VAL_STRX = 8,   /* string over STREAM_INTERN_MAX, inline */
	VAL_JSON = 9,   /* list or object as minified text, interned */
	VAL_JSONX = 10, /* the same, inline */
	VAL_COUNT
};

/* Strings and lists up to this are interned, longer ones inline. */
#define STREAM_INTERN_MAX 4096

struct value {
	enum value_type type;
	uint32_t id; /* STR, JSON, NUM: number in the strings */
	int64_t i;   /* INT */
	uint64_t u;  /* UINT */
	struct dec dec;
	struct str s; /* NUM, STR, STRX, JSON, JSONX */
};

/* Where an entry belongs. The numbers stand in files. */
enum group {
	GROUP_ARGS = 0,   /* member of the event's args */
	GROUP_TOP = 1,    /* other member of the event itself (bp, id, s, ...),
	                     or the raw form of a fixed field that differs from
	                     the canonical one (a string ts, sub-ns digits) */
	GROUP_FIELD = 2,  /* a fixed field that the source has no member for;
	                     these stand before all others */
	GROUP_DUP = 3,    /* earlier value of a repeated key of args */
	GROUP_DUPTOP = 4, /* the same of the event itself */
};

/* What an entry means to us. The numbers stand in files. */
enum role {
	ROLE_NONE = 0,
	ROLE_CORR = 1,       /* correlation id: launch to GPU event */
	ROLE_EXT = 2,        /* external id: host op to what it launched */
	ROLE_DEV = 3,        /* device ordinal */
	ROLE_GPU_STREAM = 4, /* GPU stream or queue */
	ROLE_COUNT
};

struct entry {
	uint32_t key; /* in the strings */
	uint8_t type; /* enum value_type */
	uint8_t group;
	uint8_t role;
};

/* Which fixed fields a shape has. The numbers stand in files. */
enum {
	HAS_INST = 1 << 0,
	HAS_TRACK = 1 << 1,
	HAS_TS = 1 << 2,
	HAS_DUR = 1 << 3,
	HAS_NAME = 1 << 4,
	HAS_FLAGS = 1 << 5,
	HAS_DEPTH = 1 << 6,
	HAS_PARENT = 1 << 7,
	HAS_LAUNCH = 1 << 8,
	HAS_FWD = 1 << 9,
	HAS_BWD = 1 << 10,
	HAS_NDESC = 1 << 11,
	HAS_NGPU = 1 << 12,
	HAS_ALL = (1 << 13) - 1,
	/* what tl-link and tl-tree add */
	HAS_TREE = HAS_DEPTH | HAS_PARENT | HAS_LAUNCH | HAS_FWD | HAS_BWD |
	    HAS_NDESC | HAS_NGPU,
};

/* Facts of a shape besides its entries. The numbers stand in files. */
enum {
	SHAPE_ARGS = 1 << 0,       /* args was there, if only empty */
	SHAPE_DEV_PID = 1 << 1,    /* no entry for it: dev is the pid */
	SHAPE_STREAM_TID = 1 << 2, /* likewise: gpu_stream is the tid */
	SHAPE_FLAGS = (1 << 3) - 1,
};

#define SHAPE_MAX_ENTRIES 4096

/* What an op was called with: lists among its args. */
enum op_list {
	LIST_DIMS,
	LIST_TYPES,
	LIST_STRIDES,
	LIST_CONCRETE,
	OP_LISTS,
};

struct shape {
	uint32_t cat; /* in the strings, or INTERN_NONE */
	uint16_t has;
	uint8_t kind;
	uint8_t ph; /* phase letter of Chrome traces; 0: none was given */
	uint8_t flags;
	uint8_t nroles;     /* entries with a role */
	uint16_t last_role; /* index of the last entry with a role, plus 1 */
	/* entries of these lists, plus 1; 0: none. Made by strings_shape() */
	uint16_t lists[OP_LISTS], last_list;
	uint32_t nentries;
	struct entry *entries;
};

/* Marks of one event. The numbers stand in files. */
enum {
	EV_UNLINKED = 1 << 0,  /* GPU work whose launch is not in the trace */
	EV_DISCARDED = 1 << 1, /* overlaps its surroundings: has no parent */
	EV_RECOMPUTE = 1 << 2, /* below activation checkpointing's recompute */
	EV_SYNTHETIC = 1 << 3, /* added by a program */
	EV_CLAMPED = 1 << 4,   /* a negative duration, taken as 0 */
	EV_UNCLOSED = 1 << 5,  /* a B without its E */
	EV_PAIRED = 1 << 6,    /* a B with the duration up to its E; that E */
	EV_DUPLICATE = 1 << 7, /* GPU work that the file holds twice */
	EV_STUB = 1 << 8,    /* kept only as the ancestor of what was chosen */
	EV_UNTIMED = 1 << 9, /* its time is a piece of another's */
};

/* The words of the marks, bit 0 first, ended by NULL. */
extern const char *const event_flag_words[];

/*
 * An integer, or a string's number in the strings. A string of decimal digits
 * equals the integer and is given as such.
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

/* One thread of one source, as events name it. */
struct track {
	uint32_t src;
	struct key pid, tid;
	struct value raw_pid, raw_tid; /* as written; type NULL and has_* unset:
	                                  absent */
	bool has_pid, has_tid;
	/* the first track with these keys: "7" and 7 are one thread */
	uint32_t thread;
};

struct uid {
	uint64_t id;   /* ordinal in the source's event array */
	uint32_t inst; /* 0, or a repetition added by a program */
};

/*
 * As text "12", a repetition "12.3": in NDJSON, in tables and on command
 * lines. At most UID_MAX bytes.
 */
#define UID_MAX 32
size_t uid_put(char *out, struct uid uid);
bool uid_read(struct str s, struct uid *uid) USE_RESULT;

/* An event as a command line names it: "12", "1:12", "1:12.3". */
struct uid_pick {
	struct uid uid; /* the instance is 0 where none was said */
	uint32_t src;
	bool any_src, no_inst; /* no such part was given */
};
bool uid_pick_read(struct str s, struct uid_pick *p) USE_RESULT;
/* An option's argument; one that is no event's name is a usage error. */
struct uid_pick opt_uid(const struct optparse *op);

static inline bool
uid_same(struct uid a, struct uid b)
{
	return a.id == b.id && a.inst == b.inst;
}

/* The key of a map: no two are alike below an id of 2^40, an instance of 2^24.
 */
static inline uint64_t
uid_hash(struct uid uid)
{
	return uid.id ^ (uint64_t)uid.inst << 40;
}

/* By id, then by instance. */
static inline int
uid_cmp(struct uid a, struct uid b)
{
	if (a.id != b.id)
		return a.id < b.id ? -1 : 1;
	return (a.inst > b.inst) - (a.inst < b.inst);
}

static inline bool
uid_is_picked(const struct uid_pick *p, uint32_t src, struct uid uid)
{
	return (p->any_src || p->src == src) && uid_same(p->uid, uid);
}

struct strings;

/*
 * One event. What it points to belongs to the reader that filled it and holds
 * until the next read; shapes, tracks and strings live with the strings.
 * Fields that shape->has lacks are 0 (name, cat: INTERN_NONE).
 */
struct event {
	const struct shape *shape;
	uint32_t shape_id;
	uint32_t track; /* strings_track() */
	uint32_t src;
	uint32_t name; /* in the strings, or INTERN_NONE */
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
	/* to the strings from the numbers that they have in vals; NULL: they
	 * have the same */
	const uint32_t *ids;
	uint32_t nids;
};

static inline bool
event_is(const struct event *ev, uint32_t kinds)
{
	return (KIND_BIT(ev->shape->kind) & kinds) != 0;
}

/* ---- strings: strings, shapes and tracks by number ---- */

struct strings {
	struct intern *text;
	VEC(struct shape *) shapes;
	VEC(struct track) tracks;
	struct map shape_map, track_map; /* hash to first number */
	struct map thread_map;           /* hash of keys to first track */
	struct arena *mem;
};

struct strings *strings_create(void);
void strings_destroy(struct strings *st);
/* Forgets everything: all numbers begin anew. */
void strings_clear(struct strings *st);

static inline struct str
strings_get(const struct strings *st, uint32_t id)
{
	return id == INTERN_NONE ? (struct str){ "", 0 }
				 : intern_get(st->text, id);
}

/* The number of an equal shape; entries are copied. */
uint32_t strings_shape(struct strings *st, const struct shape *shape);
/* The same with these fixed fields instead. */
uint32_t strings_shape_with(struct strings *st, uint32_t shape, unsigned has);
/* The number of an equal track; keys are derived from the raw values. */
uint32_t strings_track(struct strings *st, const struct track *track);
/* The same for all tracks that differ only in how they are written. */
static inline uint32_t
strings_thread(const struct strings *st, uint32_t track)
{
	return st->tracks.v[track].thread;
}
struct key key_of_value(const struct strings *st, const struct value *v);
/* The role of a key of args in this kind of event, ROLE_NONE for most. */
enum role role_of_key(struct str key, enum kind kind);

/* ---- values ---- */

/* Appends the encoding of a value; ids are numbers in the strings. */
void value_encode(struct buf *b, const struct value *v);
/*
 * Reads one value of this type; *p moves. False if it does not lie within
 * end. Text of ids is looked up in st when st is not NULL.
 */
bool value_decode(const unsigned char **p, const unsigned char *end,
    enum value_type type, const struct strings *st, struct value *v) USE_RESULT;

/* Walks the entries of an event:
 *	struct entries it = entries_of(st, ev);
 *	while (entries_next(&it)) ... it.entry, it.val
 * A value that does not decode ends the program; with entries_get(), which
 * never does that, it ends the walk and is_bad is set.
 */
struct entries {
	const struct strings *st;
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

struct entries entries_of(const struct strings *st, const struct event *ev);
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

/* Whether all values decode. Readers look only at those that they want. */
bool event_is_sound(const struct strings *st, const struct event *ev);
/* The value of a member of args; false when it has none of that name. */
bool event_arg(const struct strings *st, const struct event *ev, struct str key,
    struct value *v);

/*
 * The texts of an op's lists, type VAL_JSON or VAL_JSONX, or VAL_NULL where it
 * has none. False: it has no list at all.
 */
bool event_lists(const struct strings *st, const struct event *ev,
    struct value lists[OP_LISTS]);

/*
 * The values as they are kept beyond the next read: with the strings' numbers,
 * in place or in scratch. Values that do not decode end the program.
 */
struct str event_vals_renumbered(const struct event *ev, struct buf *scratch);

static inline struct str
event_vals(const struct event *ev, struct buf *scratch)
{
	if (LIKELY(ev->ids == NULL))
		return (struct str){ (const char *)ev->vals, ev->vals_len };
	return event_vals_renumbered(ev, scratch);
}

/* Sets dev, gpu_stream, corr and ext from the roles of the shape and the
 * track; readers have done it. False: the values are malformed. */
bool event_set_keys(const struct strings *st, struct event *ev) USE_RESULT;

/* ---- sources ---- */

/* A named value: a fact of a source, or a metadata member of the file. */
struct fact {
	struct str key;
	struct value val; /* types with text: val.s */
};

/*
 * A source. Facts have the words of tl-stream(5): name, format, rank,
 * world_size, base (ns to add to ts for the file's own time), epoch (ns to add
 * further for Unix time), hostname, devices, events, ...
 */
struct source {
	uint32_t src;
	bool is_final;
	size_t nfacts;
	const struct fact *facts;
};

/* A member of the file beside its events, kept verbatim. */
struct meta {
	uint32_t src;
	bool is_after; /* stood behind the events */
	struct fact fact;
};

/* The fact, or NULL. */
const struct fact *source_fact(const struct source *s, const char *key);
/* A fact that is an integer, or its decimal text; false: there is none. */
bool source_int(const struct source *s, const char *key, int64_t *v);

enum section {
	SECTION_NONE,
	SECTION_PROLOGUE,
	SECTION_TREE,
	SECTION_TAIL,
	SECTION_COUNT
};
extern const char *const section_words[SECTION_COUNT];

/* What was done to a stream. The numbers stand in files. */
enum {
	MARK_LINKED = 1 << 0,
	MARK_TREE = 1 << 1,
	MARK_SYNTHETIC = 1 << 2,
	MARK_EDITED = 1 << 3,
	MARK_SALVAGED = 1 << 4,
};
extern const char *const mark_words[]; /* bit 0 first, ended by NULL */

/* One program in the provenance. */
struct prov {
	struct str program, version, args; /* args: a JSON list */
};

/* ---- reading ---- */

enum want {
	WANT_STREAM, /* whatever the stream is */
	WANT_LINKED, /* linked, through tl-link if it isn't */
	WANT_TREE,   /* a tree, through tl-tree if it isn't */
	WANT_PSEUDO, /* a tree with pseudo-ops, through tl-graft likewise */
};

enum item {
	ITEM_END = 0,
	ITEM_EVENT,
	ITEM_SOURCE,
	ITEM_META,
	ITEM_SECTION,
};

/* A file of op models for the tl-graft that WANT_PSEUDO may run; path stays. */
void stream_pseudo_models(const char *path);

struct stream_in {
	/* the item just read */
	struct event ev;
	struct source source;
	struct meta meta;
	enum section section;
	/* facts of the stream */
	struct strings *strings;
	unsigned marks; /* final at ITEM_END */
	size_t nprov;
	const struct prov *prov;
	uint64_t nevents; /* read so far, skipped ones too */
	const char *name;
	struct stream_dec *dec; /* private */
};

/*
 * Whether a file found in a folder is to be opened, by its name: .json, .ndjson
 * or .tl, plain, .gz or .zst, and not hidden.
 */
bool stream_is_name(struct str name) USE_RESULT;
/*
 * Appends a file, or those of a folder in the order of their names, rank2
 * before rank10; deep: those of the folders in it too. It ends the program when
 * a folder has none. The paths are the caller's to free.
 */
typedef VEC(char *) path_vec;
void stream_paths(path_vec *to, const char *path, bool deep);
/*
 * Opens a stream, in either encoding, or a raw trace, on which tl-decode is
 * run. With WANT_LINKED, WANT_TREE or WANT_PSEUDO a stream that isn't so far is
 * led through tl-link, tl-tree or tl-graft. strings NULL: made, and owned by
 * the reader.
 */
struct stream_in *stream_open(
    const char *path, struct strings *strings, enum want want);
/* Over an input already open (its name is used in messages). */
struct stream_in *stream_open_in(
    struct in *in, struct strings *strings, enum want want);
/*
 * Opens what one of our programs, such as tl-filter, makes of a stream or
 * trace; words, ended by NULL, are its options.
 */
struct stream_in *stream_open_through(const char *path, struct strings *strings,
    enum want want, const char *program, char *const *words);
/* Events of other kinds are passed over, which is much cheaper. */
void stream_only(struct stream_in *in, uint32_t kinds);
/*
 * stream_open() for WANT_STREAM with stream_only(): of a raw trace tl-decode
 * steps over the other kinds, so that its stream is marked edited.
 */
struct stream_in *stream_open_only(
    const char *path, struct strings *strings, uint32_t kinds);
/*
 * The next item; its content is in *in. ITEM_END only after the end record;
 * that of a stream salvaged from a damaged trace is told as a doubt.
 */
enum item stream_next(struct stream_in *in);
/* Waits for helpers; their failure ends the program. */
void stream_close(struct stream_in *in);

/* ---- several inputs to one stream ---- */

/*
 * The sources of several inputs, kept apart: each input's are numbered on from
 * those before. Zeroes to start with, and the strings of all inputs.
 */
struct numbering {
	struct strings *strings;
	uint32_t first, next; /* of this input; behind the highest so far */
	VEC(uint32_t) tracks; /* this input's track to ours + 1 */
};

/* Another input begins. */
void numbering_input(struct numbering *nb);
/* Our number of an input's source; too many end the program. */
uint32_t numbering_source(struct numbering *nb, uint32_t src);
/* Its source and track become ours. */
void numbering_event(struct numbering *nb, struct event *ev);

/* ---- writing ---- */

struct stream_dest {
	const char *path; /* -o */
	bool ndjson;
	bool zstd;
	int zstd_level;
};

#define OPT_STREAM_NDJSON OPT_OF_STREAM
/* clang-format off */
#define OPT_STREAM_OUT                                                         \
	{ OPT_STREAM_NDJSON, "ndjson", NULL, "write NDJSON instead of binary" }, \
	{ 'o', "output", "FILE", "write to FILE, which appears only when whole" }, \
	{ 'z', "zstd", "[LEVEL]", "compress the output with zstd" }
/* clang-format on */

/* Takes one shared option; false if ch is none of them. */
bool stream_dest_opt(struct stream_dest *d, const struct optparse *op, int ch);

struct stream_out;

/*
 * Begins a stream with these marks and, when in is given, its provenance;
 * the program's own line is added. Binary to a terminal is a usage error.
 * Events that are written must be numbered by strings.
 *
 * eager: strings are told in the order of their numbers, all up to the
 * highest in use, so that encoded values can be copied as they are: right when
 * most of them will be used. Otherwise a string is told when it is first used.
 */
struct stream_out *stream_create(const struct stream_dest *dest,
    struct strings *strings, const struct stream_in *in, unsigned marks,
    bool eager);
void stream_write(struct stream_out *out, const struct event *ev);
void stream_write_source(struct stream_out *out, const struct source *s);
void stream_write_meta(struct stream_out *out, const struct meta *m);
void stream_write_section(struct stream_out *out, enum section s);
void stream_mark(struct stream_out *out, unsigned marks);
/* The strings were cleared: readers forget theirs too. Binary only. */
void stream_write_clear(struct stream_out *out);
/* Sends on what is there (for readers that wait). */
void stream_flush(struct stream_out *out);
/*
 * Its file is closed and most memory given back until there is more to write:
 * for many streams that are written in turn. See out_park().
 */
void stream_park(struct stream_out *out);
/* End record, flush, rename into place; frees out. */
void stream_finish(struct stream_out *out);
uint64_t stream_written(const struct stream_out *out);

#endif
