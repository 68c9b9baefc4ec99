/* SPDX-License-Identifier: MIT */
/*
 * store: how events are held in memory. Private to this area: link, nest and
 * tree work on the items themselves.
 *
 * An item's values are copied as the reader gave them (numbers of the strings),
 * one after another. An item knows where they begin within its group of
 * ITEM_GROUP items; they end where the next one's begin.
 */
#ifndef TL_TRACE_STORE_INSIDE_H
#define TL_TRACE_STORE_INSIDE_H

#include "trace/store.h"
#include "trace/tree.h"

#include "io/io.h"

struct held {
	int64_t ts_ns;
	int64_t dur_ns;
	uint32_t vals; /* offset of the values behind the group's */
	uint32_t shape, track, name;
	uint32_t id;
	uint32_t parent; /* the event above; GPU: its launch, or an op added
	                  * below it */
	uint32_t gpu;    /* launch: its first GPU event; GPU: the next one of
	                    the same launch */
	uint32_t ndesc, ngpu;
	uint16_t flags; /* EV_ */
	uint8_t kind;
	uint8_t state; /* IN_ */
};

enum {
	IN_TREE = 1 << 0,  /* has a place in the tree */
	IN_OWNED = 1 << 1, /* GPU work with a launch */
	IN_TIME = 1 << 2,  /* has a ts */
	IN_FWD = 1 << 3,   /* in the maps */
	IN_BWD = 1 << 4,
	IN_INST = 1 << 5,
	IN_VAIN = 1 << 6, /* GPU work: its id is that of a call that cannot
	                   * launch */
	IN_HLO = 1 << 7,  /* added by hlo-put.c: launches nothing */
};

#define ITEM_GROUP 256

/* Properties of a name, evaluated once. */
enum {
	NAME_KNOWN = 1 << 0,
	NAME_LAUNCH = 1 << 1,    /* "launch" in it, in any case */
	NAME_WRAPPER = 1 << 2,   /* autograd::engine::evaluate_function: */
	NAME_RECOMPUTE = 1 << 3, /* a frame of checkpointing's recompute */
	NAME_GRAPH = 1 << 4,     /* cudaGraphLaunch, hipGraphLaunch */
	NAME_NO_LAUNCH = 1 << 5, /* a call that puts no work on a GPU */
	NAME_OPTIMIZER = 1 << 6, /* the step of an optimizer of torch.optim */
};

/* The backward of a C++ extension's function, linked to an op of PyTorch's. */
struct custom_link {
	uint32_t w, f;  /* wrapper, forward op */
	int64_t number; /* autograd's */
	struct str node;
	/* private to the search */
	int64_t end_ns;
	uint32_t best, like;
};

/* Properties of a shape, evaluated once. */
struct shape_facts {
	bool known;
	bool is_slice;
	uint16_t seq;    /* index of the entry "Sequence number" + 1, or 0 */
	uint16_t thread; /* likewise "Fwd thread id" */
};

/* A launch or GPU event with a correlation id. */
struct corr {
	int64_t n;
	uint32_t item;
	uint8_t type; /* KEY_ */
};
typedef VEC(uint32_t) u32_vec;

/* An array of big_grow(): may be spilled from memory (--mem). */
#define BIG(type)                \
	struct {                 \
		type *v;         \
		size_t n, bytes; \
	}
#define big_reserve(big, want) \
	((big)->v =            \
		big_grow((big)->v, &(big)->bytes, (want) * sizeof *(big)->v))
#define big_push(big, ...)                                                 \
	do {                                                               \
		if (UNLIKELY(                                              \
			((big)->n + 1) * sizeof *(big)->v > (big)->bytes)) \
			big_reserve(big, (big)->n + 1);                    \
		(big)->v[(big)->n++] = __VA_ARGS__;                        \
	} while (0)
#define big_release(big)                                    \
	(big_free((big)->v, (big)->bytes), (big)->v = NULL, \
	    (big)->n = (big)->bytes = 0)
typedef BIG(uint32_t) u32_big;

/* A (process, thread) pair: tracks that differ only in spelling are one. */
struct thread {
	uint32_t nhost, nends; /* events to be nested; Es without their B */
	bool has_frames;
	u32_vec open; /* Bs without their E so far */
};

struct store {
	uint32_t left_out, shown; /* kinds */
	store_shown *show;
	void *show_arg;
	struct dict *st;
	BIG(struct held) items;
	struct {
		char *p;
		size_t len, bytes; /* is big_grow()n, too */
	} vals;
	struct buf translated; /* values of the event being added */
	u32_big order; /* host events in the tree, by thread, in pre-order */
	VEC(uint64_t) groups; /* offset of each group's values */
	/* links and instances that few events have, by item */
	struct map fwd, bwd, insts;
	u32_vec thread_of_track; /* number + 1 by track */
	VEC(struct thread) threads;
	VEC(uint8_t) names; /* NAME_ by number */
	VEC(struct shape_facts) shapes;
	/* until linked */
	BIG(struct corr) launches, gpus;
	u32_big loose; /* GPU events without correlation id */
	u32_big notes; /* users' annotations */
	bool has_wrappers;
	/* until written */
	u32_vec starts; /* each thread's first place in order, and the end */
	u32_vec ends;   /* while it is sorted */
	u32_big scratch;
	bool is_nested, is_built;
	/* facts of the source */
	struct arena *mem;
	struct source source;
	VEC(struct meta) metas;
	/* reading */
	bool is_anew; /* discard links and tree of the stream */
	bool was_tree, keeps_links, is_unordered, is_shuffled;
	unsigned flags_kept;
	enum section section;
	u32_vec stack; /* of a tree: the ancestors */
	enum item pending;
	bool has_pending;
	VEC(uint32_t) done; /* sources read */
	uint64_t peak_bytes, peak_events;
};

static inline int64_t
item_end(const struct held *it)
{
	int64_t end;

	return LIKELY(!__builtin_add_overflow(it->ts_ns, it->dur_ns, &end))
	    ? end
	    : INT64_MAX;
}

static inline bool
item_is(const struct held *it, uint32_t kinds)
{
	return (KIND_BIT(it->kind) & kinds) != 0;
}

#define KINDS_NESTED (KINDS_HOST | KIND_BIT(KIND_PYTHON))
/* What lasts; the rest are points and words. */
#define KINDS_SLICE                                               \
	(KINDS_NESTED | KINDS_GPU | KIND_BIT(KIND_ANNOTATION) |   \
	    KIND_BIT(KIND_GPU_ANNOTATION) | KIND_BIT(KIND_SYNC) | \
	    KIND_BIT(KIND_GPU_EVENT) | KIND_BIT(KIND_OVERHEAD) |  \
	    KIND_BIT(KIND_SPAN) | KIND_BIT(KIND_SLICE))

/* Pre-order of one thread: earlier first, then longer, then as in the file. */
static inline bool
item_before(const struct held *v, uint32_t a, uint32_t b)
{
	int64_t x, y;

	if (LIKELY(v[a].ts_ns != v[b].ts_ns))
		return v[a].ts_ns < v[b].ts_ns;
	x = item_end(&v[a]);
	y = item_end(&v[b]);
	return x != y ? x > y : a < b;
}

/* The number of the event's (process, thread). */
static inline uint32_t
item_thread(const struct store *s, const struct held *it)
{
	return s->thread_of_track.v[it->track] - 1;
}

uint8_t name_facts_slow(struct store *s, uint32_t name);

static inline uint8_t
name_facts(struct store *s, uint32_t name)
{
	if (LIKELY(name < s->names.n && s->names.v[name] != 0))
		return s->names.v[name];
	return name_facts_slow(s, name);
}

const struct shape_facts *shape_facts(struct store *s, uint32_t shape);
/* The value of entry no (from 1 on) of item i as a key. */
struct key item_key(const struct store *s, uint32_t i, unsigned no);
/* The event with what the reader set: no links, no counts. */
void item_event(const struct store *s, uint32_t i, struct event *ev);
struct key item_arrow_id(const struct store *s, uint32_t i);
struct uid item_uid(const struct store *s, uint32_t i);
/* A key as one number for a map; none for KEY_NONE. */
static inline uint64_t
key_hash(struct key k)
{
	return hash_more(hash_u64((uint64_t)k.n), k.type);
}

void store_clear(struct store *s);
void store_add(struct store *s, const struct event *ev);
/*
 * As store_event(), but sets only the fields that a binary stream has of this
 * event; the others keep what they hold.
 */
void store_event_fast(struct store *s, uint32_t i, struct event *ev);
void store_note_peak(struct store *s);
/* Sets a fact of the source, unless 0. */
void store_count_fact(struct store *s, const char *key, uint64_t n);
void chain_gpu(struct store *s);
/* The launch of GPU work that has one, above any ops added between. */
uint32_t item_launch(const struct store *s, const struct held *it);
/* As host.h counts what lasts. */
bool item_counts(const struct held *it);
/* The same, of GPU work that counts as do its launch and thread; or NULL. */
const struct held *item_launched_by(
    const struct store *s, const struct held *gpu);
/* store-steps.c: marks the annotations of steps, once links are known; false:
 * no steps. */
bool store_mark_steps(struct store *s, struct tree_stats *stats);
/* store-infer.c: adds annotations of inferred steps to a source without steps,
 * whose tree is known; false: there are none. Calls beyond store_limit()'s
 * memory are added to *ntoo_many. */
bool store_infer_steps(struct store *s, uint64_t *ntoo_many);
size_t store_limited(void); /* 0: no limit */

/* link-custom.c: whether f can't be the forward op of the wrapper w; then *c.
 */
bool custom_link_needed(
    struct store *s, uint32_t w, uint32_t f, struct custom_link *c);
/* Corrects f of those with a better candidate; changes their order. */
void custom_links_find(struct store *s, struct custom_link *v, size_t n);

/*
 * link-shared.c: calls that have one correlation id, and the GPU events of it.
 * A call is noted with the list's first event; those of one list are then told
 * apart by order; where that fails none owns them. Counts these.
 */
struct shared_call {
	uint32_t first, call;
};
struct shared_calls {
	VEC(struct shared_call) list;
};
/* A runtime's call and the driver's within it, which may be rounded. */
bool calls_are_one(const struct store *s, uint32_t a, uint32_t b);
void share_note(struct shared_calls *sh, uint32_t first, uint32_t call);
uint64_t share_resolve(struct store *s, struct shared_calls *sh);

/* link-flow.c: links by arrows; whether their key was the correlation. */
bool link_by_flow(struct store *s, bool as_reference);
/* Private to store_link(). */
void link_forget_keys(struct store *s);
/* sort.c: puts it into pre-order. */
void sort_items(
    const struct held *items, uint32_t *order, size_t n, u32_big *scratch);

/* nest.c: as tree_build(), without the marks of a tree in the stream. Adds ops
 * and frames of XLA with h, if not NULL (hlo-inside.h). */
struct hlo;
void nest(struct store *s, struct hlo *h, const struct tree_opts *opts,
    struct tree_stats *stats);

/*
 * big.c: at least want bytes for p, which may move; *cap is what it has, and
 * all there is to know for big_free().
 */
void *big_grow(void *p, size_t *cap, size_t want)
    __attribute__((returns_nonnull));
/* A new one, all zeroes. */
void *big_zeroes(size_t *cap, size_t size) __attribute__((returns_nonnull));
void big_free(void *p, size_t cap);

#endif
