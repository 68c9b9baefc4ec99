/* SPDX-License-Identifier: MIT */
/*
 * The reader of one event, in parts: graph.c (how keys follow one another),
 * layout.c (the shape at the end of a path through the graph), value.c (values
 * as entries), field.c (fixed fields), event.c (the reading itself, and the
 * usual forms of values).
 *
 * Events of one kind have the same members in the same order, with the same
 * white space between them. So the reader learns a graph. A node is what has
 * been read of an event so far. An edge is the next key *as written*, with the
 * punctuation around it. It leads to a node by the type of the value that
 * follows (for "ph" and "cat" by the value itself). A known event costs one
 * comparison of at most LIT_MAX bytes per key and no look-up; the last node has
 * its shape. What the graph does not know takes the slow way through the JSON
 * primitives, which checks the grammar, and teaches the graph.
 *	(start) --{"ph": --> X --, "cat": --> kernel --, "name": --> string ...
 */
#ifndef TL_DECODE_EVENT_H
#define TL_DECODE_EVENT_H

#include "cmd/tl-decode/json/trace.h"

#include "stream/from-json.h"
#include "stream/wire.h"

#define LIT_MAX 32
#define NODES_MAX 65536
/* More keys or categories than this are not worth learning. */
#define BRANCHES_MAX 256
/* A repeated member may need two entries. */
#define MEMBERS_MAX (SHAPE_MAX_ENTRIES / 2)

/* Members that are fixed fields; others are entries. */
enum field {
	FIELD_NONE,
	FIELD_PH,
	FIELD_CAT,
	FIELD_NAME,
	FIELD_PID,
	FIELD_TID,
	FIELD_TS,
	FIELD_DUR,
	FIELD_ARGS,
	FIELD_ARGS_END, /* closing brace of args */
	FIELD_END,      /* closing brace of the event */
	/* other actions at an edge: a repeated key */
	ACTION_REPEATED,
};

/*
 * What a value adds to the layout: type of an entry, form of a fixed field,
 * type of pid and tid; payload: the letter for CODE_PH, the string's number for
 * CODE_CAT.
 */
enum {
	CODE_FIELD = 0x100,   /* canonical: no entry */
	CODE_RAW = 0x200,     /* kept as written, too; | type */
	CODE_OPAQUE = 0x300,  /* only kept as written; | type */
	CODE_CLAMPED = 0x800, /* with CODE_RAW: a negative duration */
	CODE_ENTER = 0x1000,  /* args opens */
	CODE_PH = 0x10000,
};
#define CODE_CAT (UINT64_C(1) << 32)

struct node;

/* Text compared with the next bytes at once. */
struct lit {
	unsigned char text[LIT_MAX]; /* zero-padded */
	/*
	 * a bit per byte that counts, and the expected result; for text that
	 * does not fit, an impossible one
	 */
	uint32_t mask, want;
	uint32_t len;
};

struct variant {
	uint64_t code;
	struct node *to;
	struct variant *next;
	struct lit lit; /* a category as written, with quotes */
};

struct edge {
	struct lit lit; /* key as last written */
	uint8_t action; /* field, or ACTION_REPEATED */
	uint8_t field;
	struct variant *variants;
	uint32_t key; /* the unescaped key */
	uint32_t nvariants;
	struct edge *next;
};

/* What is known at the end of an event. */
struct leaf {
	uint32_t shape;
	uint8_t kind;
	uint8_t skip;      /* enum skip */
	bool asks;         /* name or track may change the kind */
	struct leaf *next; /* the same layout as another kind */
};

/* The last phase and category on the path to a node. */
struct key_path {
	int ph;       /* -1: none */
	uint64_t cat; /* or INTERN_NONE */
};

struct node {
	struct edge *edges;
	struct edge *last; /* the first guess, never NULL */
	uint32_t nedges;
	struct leaf *leaf; /* after FIELD_END */
	/* the way here */
	struct node *from;
	const struct edge *by;
	uint64_t code;
	struct key_path path;
	uint32_t nmembers; /* on the path */
	bool in_args;
	bool in_first; /* the object has no member so far */
	bool skip;     /* unwanted by phase and category */
};

struct event_reader {
	struct source_state *src;
	struct json *json; /* cursor */
	struct arena *mem; /* of nodes, edges, variants */
	struct node *start;
	size_t nnodes;
	bool is_full; /* begin a new graph */
	bool no_skip; /* read this event to its end */
	/* lists and escaped strings as written, to numbers */
	struct intern *raw;
	VEC(uint32_t) raw_value;
	struct buf text;     /* for unescaping and minifying */
	struct json literal; /* over a literal */
	struct event ev;     /* as written to the stream */
	/* the current event */
	int64_t ts_ns, dur_ns;
	int64_t ts_fine, dur_fine; /* lost by rounding: see fine_dur() */
	uint32_t name;
	struct track track;
	struct buf vals;
	/* the last track, mostly the next event's, too */
	struct track last_track;
	uint32_t last_track_no;
	bool has_last_track;
	/* digits of the last ts before the point: a guess */
	unsigned ts_digits;
	struct edge no_edge; /* matches nothing */
	struct arena *names; /* of devices */
	struct devices *devices;
};

static inline void
lit_set(struct lit *l, const unsigned char *text, size_t len)
{
	memset(l, 0, sizeof *l);
	l->want = 1;
	if (len == 0 || len > LIT_MAX)
		return;
	memcpy(l->text, text, len);
	l->len = (uint32_t)len;
	l->mask = len == LIT_MAX ? UINT32_MAX : (UINT32_C(1) << len) - 1;
	l->want = l->mask;
}

/* Whether p has these bytes. */
static inline bool
lit_is(const struct lit *l, const unsigned char *p)
{
#if defined(__SSE2__)
	const __m128i *a = (const void *)l->text, *b = (const void *)p;
	unsigned same = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(
			    _mm_loadu_si128(a), _mm_loadu_si128(b))) |
	    (unsigned)_mm_movemask_epi8(
		_mm_cmpeq_epi8(_mm_loadu_si128(a + 1), _mm_loadu_si128(b + 1)))
		<< 16;

	return (same & l->mask) == l->want;
#else
	return l->len > 0 && memcmp(l->text, p, l->len) == 0;
#endif
}

/* ---- event.c ---- */

struct event_reader *event_reader_create(struct json_trace *t);
void event_reader_destroy(struct event_reader *r);
/* At '{': reads and writes an event. */
enum json_status event_read(struct event_reader *r) USE_RESULT;
/* Between events: clears all when tables are full. */
void event_reader_trim(struct event_reader *r);

/* ---- graph.c ---- */

struct node *graph_node(struct event_reader *r, struct node *from,
    const struct edge *by, uint64_t code);
void graph_forget(struct event_reader *r);
/* The form of a fixed field on the path to n, the last one; 0: absent. */
uint64_t code_before(const struct node *n, enum field field);
enum kind kind_of_path(const struct event_reader *r, struct key_path w);
struct node *graph_add_variant(
    struct event_reader *r, struct node *from, struct edge *e, uint64_t code);
/* Reads the next key or closing brace, and finds its edge. */
enum json_status graph_learn(
    struct event_reader *r, struct node *n, struct edge **edge) USE_RESULT;

static inline struct node *
follow(struct event_reader *r, struct node *from, struct edge *e, uint64_t code)
{
	struct variant *v = e->variants;

	if (LIKELY(v != NULL && v->code == code))
		return v->to;
	for (; v != NULL; v = v->next)
		if (v->code == code)
			return v->to;
	return graph_add_variant(r, from, e, code);
}

/* ---- layout.c ---- */

/* The shape of an event that ends here, as this kind. */
struct leaf *layout_leaf(
    struct event_reader *r, struct node *end, enum kind kind);

/* ---- device.c ---- */

/* Texts go to mem, which must live longer. */
struct devices *devices_create(struct arena *mem);
void devices_destroy(struct devices *d);
/* After strings were cleared: tracks get new numbers. */
void devices_renumber(struct devices *d);
/* Takes a metadata event. */
void devices_learn(
    struct devices *d, const struct dict *st, const struct event *ev);
/* An object with GPU numbers by pid, from XLA's profiler, or empty. */
struct str devices_gpus(const struct devices *d);
/* Whether devices_learn() or device_kind() needs events of this kind. */
bool device_may_ask(enum kind kind, struct str cat);
/* The kind of a slice or op, given the kind by phase and category. */
enum kind device_kind(struct devices *d, const struct dict *st, enum kind kind,
    uint32_t track, struct str name);

/* ---- field.c ---- */

/* Reads a fixed field in any form; moves past it. */
enum json_status read_field(
    struct event_reader *r, const struct edge *e, uint64_t *code) USE_RESULT;
/* Before a field is read again: makes its value an entry. */
void keep_repeated(
    struct event_reader *r, const struct node *n, enum field field);

/* ---- value.c ---- */

/* Encodes any value as an entry; its type in *code. */
enum json_status put_value(struct event_reader *r, uint64_t *code) USE_RESULT;
/* The number of a plain string, whose UTF-8 is checked once. */
enum json_status intern_plain(
    struct event_reader *r, struct str raw, uint32_t *id) USE_RESULT;
enum json_status intern_cooked(
    struct event_reader *r, struct str raw, uint32_t *id) USE_RESULT;
/* ---- fine.c ---- */

/* What rounding a time to ns took, in 1e-9 ns. */
int64_t fine_of(const struct value *v);
/* From the rounded start to the rounded end. */
int64_t fine_dur(
    int64_t ts_ns, int64_t ts_fine, int64_t dur_ns, int64_t dur_fine);

#endif
