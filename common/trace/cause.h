/* SPDX-License-Identifier: MIT */
/*
 * cause: what the host does in an event, and so why a GPU that waits for it is
 * idle.
 *
 * The rules for names are data, as op models are: causes/builtin.json, and a
 * site's own file of the same form, whose rules come first.
 *
 *	[ { "cause": "sync", "of": "call", "like": ["cudaDeviceSynchronize*"],
 *	    "unless": [...], "examples": [...] }, ... ]
 *
 * "like" are shell patterns, where {a,b} matches either; the first rule that
 * matches counts. "of" selects the names: "call", of runtime and driver calls;
 * "above", of an event and of those above it; "self", of an event that is no
 * call; "op" and "python", only of these. Examples are checked when a file is
 * read.
 */
#ifndef TL_TRACE_CAUSE_H
#define TL_TRACE_CAUSE_H

#include "stream/stream.h"

/* In the order of tables: the host's first. */
#define EACH_CAUSE(X)                                                          \
	X(NOTHING, "nothing", NONE, "")                                        \
	X(ANNOTATED, "annotated", NONE, "")                                    \
	X(PYTHON, "python", HOST,                                              \
	    "move it off the launching thread, or capture a graph")            \
	X(OP, "op", HOST, "capture a graph, compile, or use a larger batch")   \
	X(AUTOGRAD, "autograd", HOST, "compile, or use a larger batch")        \
	X(OPTIMIZER, "optimizer", HOST, "use a fused optimizer")               \
	X(COMM_HOST, "comm_host", HOST, "send fewer, larger messages")         \
	X(BETWEEN_OPS, "between_ops", HOST,                                    \
	    "record Python frames to see what runs between ops")               \
	X(WAIT, "wait", HOST, "find what the thread waits for")                \
	X(IO, "io", HOST, "move file I/O out of the loop")                     \
	X(GC, "gc", HOST, "collect outside the loop: gc.freeze()")             \
	X(RUNTIME, "runtime", HOST, "make fewer runtime calls")                \
	X(LAUNCH_CALL, "launch_call", HOST, "capture a graph")                 \
	X(LAUNCH_LATENCY, "launch_latency", HOST, "capture a graph")           \
	X(STALL, "stall", HOST, "look for preemption and page faults")         \
	X(PROFILER, "profiler", HOST, "record less")                           \
	X(GRAPH_GAP, "graph_gap", GPU, "")                                     \
	X(QUEUE_GAP, "queue_gap", GPU, "")                                     \
	X(DEPENDENCY, "dependency", GPU, "")                                   \
	X(SYNC, "sync", SYNC, "avoid .item() and synchronize() in the loop")   \
	X(POLL, "poll", SYNC, "poll events less often")                        \
	X(COPY_BLOCK, "copy_block", SYNC, "pin memory, copy non_blocking")     \
	X(ALLOC, "alloc", ALLOCATION, "let the caching allocator keep memory") \
	X(HOST_ALLOC, "host_alloc", ALLOCATION, "keep pinned buffers")         \
	X(DATA, "data", DATA, "use more workers, pin_memory and prefetch")     \
	X(COMPILE, "compile", COMPILE, "warm up before recording")             \
	X(MODULE_LOAD, "module_load", START, "warm up before recording")       \
	X(INIT, "init", START, "warm up before recording")                     \
	X(GRAPH_BUILD, "graph_build", START, "warm up before recording")       \
	X(GPU_MISSING, "gpu_missing", MISSING, "record all GPU work")          \
	X(LATE_START, "late_start", MISSING, "record more")                    \
	X(QUEUED_BEFORE, "queued_before", MISSING, "start recording earlier")  \
	X(NONE, "none", MISSING, "record more host activity")                  \
	X(NO_HOST, "no_host", MISSING, "record host events")

enum cause {
#define X(id, word, group, advice) CAUSE_##id,
	EACH_CAUSE(X)
#undef X
	    CAUSE_COUNT,
};

/* Groups that a verdict sums up. */
enum cause_group {
	GROUP_OF_NONE,
	GROUP_OF_HOST,
	GROUP_OF_GPU,
	GROUP_OF_SYNC,
	GROUP_OF_ALLOCATION,
	GROUP_OF_DATA,
	GROUP_OF_COMPILE,
	GROUP_OF_START,
	GROUP_OF_MISSING,
};

extern const char *const cause_words[CAUSE_COUNT];
extern const uint8_t cause_groups[CAUSE_COUNT];

#define CAUSE_BIT(c) (UINT64_C(1) << (c))
/* Those that block the calling thread. */
#define CAUSES_BLOCKING                                            \
	(CAUSE_BIT(CAUSE_SYNC) | CAUSE_BIT(CAUSE_COPY_BLOCK) |     \
	    CAUSE_BIT(CAUSE_ALLOC) | CAUSE_BIT(CAUSE_HOST_ALLOC) | \
	    CAUSE_BIT(CAUSE_MODULE_LOAD))

static inline bool
cause_blocks(enum cause c)
{
	return (CAUSES_BLOCKING & CAUSE_BIT(c)) != 0;
}

/* What advice depends on: recorded ops and Python frames, and a TPU, which has
 * no graphs. */
enum { ADVICE_OPS = 1, ADVICE_PYTHON = 2, ADVICE_TPU = 4, ADVICE_KINDS = 8 };
/* What to do about it in a trace with those of OF; "": nothing. */
const char *cause_advice(enum cause c, unsigned of);

/* The causes of a name. */
struct cause_name {
	uint8_t call; /* enum cause; CAUSE_NOTHING: no rule matches */
	uint8_t op, python,
	    other;     /* of an event of this kind that is no call */
	uint8_t above; /* bits: rules of "above", CAUSE_ABOVE */
	uint8_t known; /* rules evaluated so far */
};
/* Those of "above" in order: the first that an event has counts. */
#define CAUSE_ABOVE_COUNT 7
extern const uint8_t cause_above[CAUSE_ABOVE_COUNT];
/* The bit of a cause; 0: no rule of "above" gives it. */
unsigned cause_above_bit(enum cause c);
/* Final for any event; those after it only for events that are no calls. */
#define CAUSE_ABOVE_FINAL 5

struct rule;
typedef VEC(struct rule) rule_list;

struct causes {
	VEC(struct cause_name) names; /* by number, those asked for so far */
	/* private */
	rule_list rules; /* the first match counts */
	struct arena *mem;
	size_t npatterns;
};

struct causes *causes_create(void);
void causes_destroy(struct causes *c);
/* Adds a site's own rules before ours. A bad file ends the program. */
void causes_load(struct causes *c, const char *path);
/* The same for a text followed by IN_PAD zeros; false: why has the error. */
bool causes_read(struct causes *c, struct str text, struct buf *why) USE_RESULT;
/* Of a name that was not asked for yet. */
const struct cause_name *cause_of_new(
    struct causes *c, const struct dict *st, uint32_t name, bool is_call);
/* Call before names of another dictionary. */
void causes_clear(struct causes *c);

/* Valid until the next call. Names are numbers in st, one dictionary at a
 * time. */
static inline const struct cause_name *
cause_of_name(
    struct causes *c, const struct dict *st, uint32_t name, bool is_call)
{
	if (LIKELY(name < c->names.n &&
		(c->names.v[name].known & (is_call ? 2 : 1)) != 0))
		return &c->names.v[name];
	return cause_of_new(c, st, name, is_call);
}

#endif
