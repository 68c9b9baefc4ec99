/* SPDX-License-Identifier: MIT */
/*
 * tl-gen: a generator of PyTorch (Kineto) and rocprofv3 traces for tests.
 *
 * It plays a small training job and writes what a profiler would have seen.
 * Nothing is measured, and the clock is an integer of nanoseconds: the same
 * options give the same bytes everywhere.
 *
 * The job. A step loads a batch, runs a transformer forward (--conv puts a
 * convolution before each block), runs the backward on the autograd thread,
 * reduces the gradients over the ranks, steps the optimizer and reads the loss
 * back, which waits for the GPU. One host clock moves through it. A launch puts
 * a kernel on a GPU stream; it starts when both the launch and the stream's
 * last kernel are done.
 *
 *   main.c     options, sizes, the order of the file's sections
 *   rand.c     random numbers; each rank's own version of the clock
 *   put.c      buffered output, gzip, numbers, the other layouts
 *   sig.c      "Input Dims" and its relatives from short signatures
 *   sim.c      what a job does: ops, frames, launches
 *   coll.c     collectives and groups of ranks
 *   kern.c     the kernels
 *   model.c    one step told in those terms
 *   backward.c its second half
 *   emit.c     host events as Kineto writes them
 *   activity.c API calls and GPU work
 *   head.c     metadata, names, the profiler's own events
 *   quirk.c    the oddities of real files
 *   inject.c   events that quirks add, on threads and streams of their own
 *   plant.c    changes for a comparison to find
 *   rocprof.c  the same job as rocprofv3 writes it
 *
 * Memory. Only one step is held. Kineto's files have sections (ops, memory
 * instants, frames, then API calls with GPU work), so the job is played once
 * per section. A step depends only on its number and on the state that the step
 * before left.
 *
 * Ranks. All ranks play the *same* nominal job. rank_time() bends the nominal
 * clock for each rank by at most JITTER_NS, monotonically, so nesting, order
 * and causes stay. A collective's kernel starts at each rank's own time. It
 * ends when the last rank of its group has arrived, plus the network's time.
 * Any rank can compute every other rank's clock, so files agree although they
 * are written independently.
 *
 * Random numbers are drawn anew for each (step, region), so a planted change
 * does not affect the numbers of other regions; with --jitter 0 it does not
 * affect the time of any other kernel.
 */
#ifndef TL_GEN_H
#define TL_GEN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	JITTER_NS = 20000,     /* most that a rank's clock lags the nominal */
	JITTER_CELL = 1 << 20, /* ns between two drawn lags, about 1 ms */
	MAX_STREAMS = 16,
	MAX_RANKS = 65536,
	MAX_PLANTS = 16,
	MAX_DEPTH = 128, /* open ops or frames */
	MAX_CHUNKS = 8192,
	CHUNK_SIZE = 1 << 16,
	NLIVE = 8,
	FLOP_PER_NS = 300000,
	LAUNCH_LAG = 3000, /* ns from a launch's begin to its kernel */
};

/* ---- options ------------------------------------------------------------ */

struct plant { /* RANK=NS or RANK:N */
	int64_t rank;
	int64_t value;
};

enum change_kind {
	CHANGE_SLOW,
	CHANGE_ADD,
	CHANGE_WRAP,
	CHANGE_RENAME,
	CHANGE_FUSE,
	CHANGE_SWAP,
};

struct change { /* --plant KIND[=OP[:PERCENT]][@STEP[.LAYER]] */
	enum change_kind kind;
	const char *op;
	int64_t milli;       /* factor x 1000 of its kernels' time */
	int64_t step, layer; /* from 1 and from 0; -1: all */
};

enum code { CODE_SAME, CODE_LINES, CODE_FOLDERS, CODE_FILES };

struct conf {
	uint64_t seed;
	int64_t steps, layers, ranks, rank, streams, devices, processes;
	int64_t events, size; /* 0: steps decide */
	int64_t batch, seq_len, hidden, heads, vocab;
	bool cuda, graph, capture, conv, moe, recompute;
	bool no_python, no_shapes, no_flows, no_memory;
	bool metadata_last, bare_array, pretty, minified, gzip;
	bool fp_epoch, int_us, rocprof;
	struct change change[MAX_PLANTS];
	int nchange;
	enum code code;
	int64_t jitter; /* of a kernel's time, percent x 1000; < 0: not said */
	int64_t link_milli;
	struct plant late[MAX_PLANTS], drop[MAX_PLANTS], skew[MAX_PLANTS];
	int nlate, ndrop, nskew;
	uint64_t quirks[2];
	const char *out, *dir;
};

/* ---- rand.c ------------------------------------------------------------- */

uint64_t mix(uint64_t a, uint64_t b); /* a hash of two numbers */

struct rng {
	uint64_t s;
};

uint64_t rng_next(struct rng *r);

struct rank_clock { /* caches the cell of the last time asked for */
	uint64_t key;
	bool even; /* no lag at all */
	int64_t cell, lag0, lag1;
};

void rank_clock_init(struct rank_clock *c, const struct conf *cf, int64_t rank);
int64_t rank_time(struct rank_clock *c, int64_t t);

/* ---- put.c -------------------------------------------------------------- */

struct out;

struct out_opts {
	bool gzip, pretty, minified, crlf;
	int64_t cut; /* write no more than this many bytes; < 0: all */
};

struct buf { /* what the fast paths touch */
	char *p;
	size_t len, cap;
	uint64_t total; /* bytes that have left the buffer */
	struct out *sink;
};

void out_open(struct buf *b, const char *path, const struct out_opts *opts);
void out_null(struct buf *b, bool pretty, bool minified); /* counts only */
void out_close(struct buf *b);
void buf_flush(struct buf *b);
void put_mem(struct buf *b, const char *p, size_t n);
void put_str(struct buf *b, const char *s);
void put_u64(struct buf *b, uint64_t v);
void put_i64(struct buf *b, int64_t v);
void put_us(struct buf *b, int64_t ns); /* 1234 as 1.234 */
void put_fmt(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Short text known to the compiler. */
#define PUT(b, s) put_lit((b), (s), sizeof(s) - 1)

static inline void
put_lit(struct buf *b, const char *s, size_t n)
{
	if (b->cap - b->len < n)
		buf_flush(b);
	memcpy(b->p + b->len, s, n);
	b->len += n;
}

static inline uint64_t
put_offset(const struct buf *b)
{
	return b->total + b->len;
}

/* ---- sig.c -------------------------------------------------------------- */

struct sig {
	const char *key; /* the signature, compared by address */
	char *text;      /* "Concrete Inputs": ..., "Input Dims": ... */
	size_t len;
};

const struct sig *sig_get(const struct conf *cf, const char *text);

/* ---- sim.c -------------------------------------------------------------- */

enum kind {
	EV_OP,
	EV_ANN, /* user_annotation */
	EV_PY,
	EV_MEM,
	EV_RT, /* host API call */
	EV_KERNEL,
	EV_MEMCPY,
	EV_MEMSET,
	EV_SYNC,   /* cuda_sync */
	EV_GPUANN, /* gpu_user_annotation */
};

enum thread { THR_MAIN, THR_AUTOGRAD, THR_LOADER };

enum evflag {
	EVF_START = 1,    /* a runtime call that starts an ac2g flow */
	EVF_EXACT = 2,    /* times are this rank's, not nominal */
	EVF_GRAPH = 4,    /* a kernel of a graph: no grid */
	EVF_FWD = 8,      /* flow: the forward end */
	EVF_BWD = 16,     /* flow: the backward end */
	EVF_DRIVER = 32,  /* cuda_driver, not cuda_runtime */
	EVF_RENAMED = 64, /* a kernel of other libraries, or its launch */
};

enum coll_type {
	COLL_ALLREDUCE,
	COLL_ALLGATHER,
	COLL_REDUCESCATTER,
	COLL_BROADCAST,
	COLL_ALLTOALLV,
	COLL_COUNT,
};

enum pg { PG_DEFAULT, PG_TP, PG_DP, PG_COUNT };

struct coll {
	enum coll_type type;
	enum pg pg;
	int64_t in, out; /* elements */
	int64_t seq;
	uint64_t key; /* for the split sizes */
	bool is_long; /* Long, else BFloat16 */
};

struct kern {
	const char *rocm, *cuda, *renamed;
	int block;
	int regs;
	int shared;
	int per_block; /* elements a block; 0: grid from the work in ns */
};

struct ev {
	uint8_t kind, thr, stream, flags;
	uint32_t name_len;
	int64_t t0, t1;
	const char *name; /* JSON-escaped already; static or in sim->text */
	union {
		const struct sig *sig;   /* ops */
		const struct kern *kern; /* kernels and their launches */
	} u;
	uint32_t coll; /* index + 1 into sim->coll */
	int64_t ext;
	int64_t corr;
	int64_t seq;  /* -1: none */
	int64_t a, b; /* python id and parent; bytes; address */
	uint64_t flow;
	int32_t grid;
	int32_t module; /* python module id; runtime: cbid */
};

struct gpu_stream {
	int64_t ready; /* nominal end of the last work */
};

enum node_type {
	N_CONV,
	N_BN,
	N_RELU,
	N_EMBED,
	N_LN,
	N_LINEAR,
	N_SDPA,
	N_GELU,
	N_DROPOUT,
	N_ADD,
	N_MUL,
	N_LOGSOFTMAX,
	N_NLL,
};

struct node { /* an autograd node recorded by the forward */
	enum node_type type;
	int16_t layer;
	int64_t seq;
	uint64_t flow;
};

struct annspan { /* GPU time under an open user_annotation, per stream */
	const char *name;
	int64_t ext;
	int64_t t0[MAX_STREAMS], t1[MAX_STREAMS];
};

struct plan {          /* what is planted in an open op */
	int64_t milli; /* factor x 1000 of its kernels' time */
	bool renamed;  /* its kernels */
	bool wrapped, followed;
};

struct live {
	int64_t bytes, addr;
};

struct sim {
	const struct conf *cf;
	struct rng rng;
	struct rank_clock clock;
	struct rank_clock *all; /* one per rank */

	/* what a step leaves to the next */
	int64_t step;
	int64_t now; /* nominal host time */
	int64_t ext, corr, seq, py, ncoll, allocated;
	int64_t rseq; /* the autograd thread's own sequence numbers */
	uint64_t flow;
	int64_t pgseq[PG_COUNT];
	struct gpu_stream gs[MAX_STREAMS];

	/* the current step */
	struct ev *ev;
	size_t nev, capev;
	struct coll *coll;
	size_t ncolls, capcoll;
	char *chunk[MAX_CHUNKS]; /* names made up for this step */
	size_t nchunk, nused;    /* nused: bytes of the last chunk */
	struct live live[NLIVE]; /* tensors not yet freed */
	size_t nlive;
	struct node *node;
	size_t nnode, capnode;
	size_t open_op[MAX_DEPTH], open_py[MAX_DEPTH];
	struct plan plan[MAX_DEPTH]; /* for the open ops */
	int nop, npy;
	struct annspan ann[4];
	int nann;
	enum thread thr;
	int cstream;   /* compute stream in use */
	int64_t place; /* layer of what is running, or -1 */
	int64_t layer; /* for names and memory */
	bool no_grad;
	int64_t last_kernel; /* index of the last compute kernel, or -1 */
	bool adding;         /* inside --plant add */
	bool want_gpu;       /* collectives need the other ranks' clocks */
};

void sim_init(struct sim *s, const struct conf *cf);
void sim_rank(struct sim *s, const struct conf *cf); /* back to the start */
void sim_free(struct sim *s);
void sim_region(struct sim *s, uint64_t id); /* reseed */
void tick(struct sim *s, int64_t ns);        /* the host works for about ns */

enum opmode { OP_PLAIN, OP_SEQ, OP_NODE }; /* seq shown; a node is made */

void op_begin(struct sim *s, const char *name, const char *sig, enum opmode m);
void op_end(struct sim *s);
void op_leaf(struct sim *s, const char *name, const char *sig);
void op_alloc(struct sim *s, const char *name, const char *sig, int64_t bytes);
void ann_begin(struct sim *s, const char *name, bool on_gpu);
void ann_end(struct sim *s);
void py_begin(struct sim *s, const char *name);
void py_module(struct sim *s, const char *cls, int64_t index);
void py_builtin(struct sim *s, const char *method, const char *type);
void py_end(struct sim *s);
void py_leaf(struct sim *s, const char *name);
void py_chatter(struct sim *s, int n);
void node_add(struct sim *s, enum node_type type);
void launch(struct sim *s, const struct kern *k, int64_t work, int64_t ns);
/* A launch that is captured: nothing runs. */
void launch_captured(struct sim *s, const struct kern *k);
void launch_graph(struct sim *s, const struct kern *const *k, int n);
void copy(struct sim *s, bool to_device, int64_t bytes);
void fill(struct sim *s, int64_t bytes);
void api(struct sim *s, const char *rocm, const char *cuda, int cid, int cbid);
void sync_streams(struct sim *s, bool whole_device);
const char *text_num(
    struct sim *s, const char *pre, int64_t n, const char *suf);
const char *text_keep(struct sim *s, const char *text);

/* For functions that make their own events. */
struct ev *ev_add(struct sim *s, enum kind kind, const char *name);
struct ev *rt_begin(struct sim *s, const char *name, int id);
int64_t top_ext(const struct sim *s);
const char *kern_name(const struct conf *cf, const struct kern *k, bool other);
void ann_cover(struct sim *s, int stream, int64_t t0, int64_t t1);

/* ---- coll.c ------------------------------------------------------------- */

void collective(struct sim *s, enum coll_type type, enum pg pg, int64_t elems,
    bool blocking);
int64_t pg_size(const struct conf *cf, enum pg pg);
int64_t pg_member(const struct conf *cf, enum pg pg, int64_t rank, int64_t i);
int64_t pg_name(const struct conf *cf, enum pg pg, int64_t rank);
int64_t coll_split(
    const struct sim *s, const struct coll *c, int64_t from, int64_t to);
const char *coll_name(enum coll_type t);
int64_t plant_value(const struct plant *p, int n, int64_t rank);

/* ---- kern.c ------------------------------------------------------------- */

enum kid {
	K_GEMM_TN,
	K_GEMM_NN,
	K_GEMM_NT,
	K_LN,
	K_LN_BWD,
	K_LN_GRAD,
	K_ATTN,
	K_ATTN_BWD,
	K_GELU,
	K_GELU_BWD,
	K_ADD,
	K_MUL,
	K_COS,
	K_SIN,
	K_DROPOUT,
	K_MASK,
	K_COPY,
	K_SUM,
	K_SOFTMAX,
	K_SOFTMAX_BWD,
	K_NLL,
	K_NLL_BWD,
	K_EMBED,
	K_EMBED_BWD,
	K_FE_ADD,
	K_FE_MUL,
	K_FE_LERP,
	K_FE_ADDCMUL,
	K_FE_SQRT,
	K_FE_ADDCDIV,
	K_CONV,
	K_CONV_DGRAD,
	K_CONV_WGRAD,
	K_BN,
	K_BN_BWD,
	K_RELU,
	K_RELU_BWD,
	K_FUSED,
	K_FILL, /* what a memset is to rocprofv3 */
	K_NCCL, /* one for each enum coll_type */
	K_COUNT = K_NCCL + COLL_COUNT
};

extern const struct kern kerns[K_COUNT];

/* ---- model.c ------------------------------------------------------------ */

void model_step(struct sim *s); /* step.c: fills s->ev with the next step */
void forward(struct sim *s);
void backward(struct sim *s); /* backward.c */
void block(struct sim *s, int64_t l);
void added_op(struct sim *s); /* what --plant add puts in */
int64_t tokens(const struct sim *s);
int64_t acts(const struct sim *s);
void elementwise(struct sim *s, enum kid k, int64_t elems, int passes);
void gemm(struct sim *s, enum kid k, int64_t m, int64_t n, int64_t kk);

/* ---- plant.c ------------------------------------------------------------ */

void plant_parse(struct conf *cf, const char *arg);
const struct change *planted(
    const struct sim *s, enum change_kind kind, const char *op);
const char *other_code(struct sim *s, const char *name);

/* ---- emit.c ------------------------------------------------------------- */

enum section { SEC_CPU, SEC_MEM, SEC_PY, SEC_ACT, SEC_COUNT };

struct emit {
	const struct conf *cf;
	struct buf *b;
	struct sim *s;
	uint64_t nevents; /* ordinal of the next event */
	int64_t evidx;
	int64_t start, end; /* nominal window */
	int64_t base;       /* added to every time */
	int64_t shift;      /* --clock-skew */
	int64_t pid, tid[3], device;
	char pgtext[PG_COUNT][320];
	uint64_t hash; /* of the event, for quirks that strike some */
};

void emit_init(
    struct emit *e, const struct conf *cf, struct buf *b, struct sim *s);
void emit_head(struct emit *e);
void emit_step(struct emit *e, enum section sec);
void emit_frames(struct emit *e); /* the frames around all steps */
void emit_tail(struct emit *e);
void event_open(struct emit *e); /* comma, brace */
void event_close(struct emit *e);
void put_ts(struct emit *e, int64_t ns); /* a file's time, in its form */
void put_dur(struct emit *e, int64_t t0, int64_t t1);
int64_t file_time(struct emit *e, int64_t nominal);
void put_corr(struct emit *e, int64_t corr);
void times(struct emit *e, const struct ev *ev, int64_t *t0, int64_t *t1);
void slice_head(struct emit *e, const struct ev *ev, int64_t t0, int64_t t1);
void slice_end(struct emit *e);
void flow(struct emit *e, const struct ev *ev, bool start, uint64_t id,
    const char *name, int64_t t0);
void emit_activities(struct emit *e); /* activity.c */
void comms_args(struct emit *e, const struct coll *c);
int64_t stream_id(const struct conf *cf, int64_t stream);

/* ---- quirk.c and inject.c ----------------------------------------------- */

#define QUIRKS(X)                                                             \
	X(STRING_TS, "string-ts", "some ts are decimal strings")              \
	X(INT_TS, "int-ts", "events with integer ts and dur")                 \
	X(EXP_TS, "exp-ts", "some ts in exponent form")                       \
	X(SUBNS, "subns", "more than three decimals")                         \
	X(NO_DUR, "no-dur", "X without dur")                                  \
	X(NEG_DUR, "neg-dur", "X with a negative dur")                        \
	X(ZERO_DUR, "zero-dur", "zero durations on host and GPU")             \
	X(EQUAL_START, "equal-start", "child listed before its parent")       \
	X(BLEED_SMALL, "bleed-small", "ends 0.5 us after its parent")         \
	X(BLEED_LARGE, "bleed-large", "ends 4 us after its parent")           \
	X(BLEED_ROOT, "bleed-root", "roots that overlap by 0.5 and 3 us")     \
	X(PY_CROSS, "py-cross", "python frames that cross ops")               \
	X(PY_WORKER, "py-worker", "python frames with pid 0 and tid 0")       \
	X(NO_CAT, "no-cat", "events without cat")                             \
	X(NO_PH, "no-ph", "events without ph")                                \
	X(UNKNOWN_META, "unknown-meta", "M events of unknown names")          \
	X(NAN_ARGS, "nan-args", "NaN and Infinity in args")                   \
	X(DUP_KEYS, "dup-keys", "a key twice in one object")                  \
	X(UINT64, "uint64", "args above 2^63")                                \
	X(UNLINKED, "unlinked", "kernels without launch or External id")      \
	X(MEMSET_NOFLOW, "memset-noflow", "hipMemset: two f, no s")           \
	X(SELF_FLOW, "self-flow", "API calls with only an f")                 \
	X(DUP_GPU, "dup-gpu", "some GPU events twice")                        \
	X(TRITON, "triton", "triton cpu_op with a stream arg")                \
	X(DRIVER_NESTED, "driver-nested", "cuLaunchKernel in cudaLaunch")     \
	X(SYNC_TARGET, "sync-target", "an s flow that ends at cuda_sync")     \
	X(STRING_RANKS, "string-ranks", "pg_config ranks as a string")        \
	X(DISTINFO_STRING, "distinfo-string", "distributedInfo as text")      \
	X(ELIDED_RANKS, "elided-ranks", "rank lists with ...")                \
	X(STRING_IDS, "string-ids", "some pid and tid as digit strings")      \
	X(STRING_CORR, "string-corr", "some correlations as strings")         \
	X(STRING_BYTES, "string-bytes", "bytes and bandwidth as strings")     \
	X(ESCAPES, "escapes", "unicode, escapes and controls in names")       \
	X(HOSTILE, "hostile", "HTML, formulas, tabs in names")                \
	X(LONG_NAMES, "long-names", "names of 5 and 70 KiB")                  \
	X(LONG_LISTS, "long-lists", "Input Dims of 6 and 90 KiB")             \
	X(BEGIN_END, "begin-end", "B and E pairs")                            \
	X(COUNTERS, "counters", "C events")                                   \
	X(PHASES, "phases", "async, object and unknown phases")               \
	X(LEGACY, "legacy-2021", "Operator, Kernel, Runtime, ...")            \
	X(XPU, "xpu", "XPU categories, sycl queue for stream")                \
	X(MTIA, "mtia", "mtia_runtime and mtia_ccp_events")                   \
	X(OTHER_CATS, "other-cats", "overhead, cuda_event, hpu_op, ...")      \
	X(FWD_COLLISION, "fwd-collision", "two forward threads, same seq")    \
	X(BWD_SAME, "bwd-same-thread", "the backward on the main thread")     \
	X(DEEP, "deep", "500 ops, each in the one before")                    \
	X(NEG_TID, "neg-tid", "negative tid, stream 4294967295")              \
	X(BARE_NCCL, "bare-nccl", "collective kernels without args")          \
	X(GRAPH_NOFLOW, "graph-noflow", "hipGraphLaunch without s")           \
	X(DUP_CORR, "dup-corr", "two launches of one correlation")            \
	X(UNORDERED, "unordered", "neighbouring GPU events swapped")          \
	X(NO_META, "no-meta", "no M events")                                  \
	X(ODD_ARGS, "odd-args", "args null, empty, nested or no object")      \
	X(ODD_NUMBERS, "odd-numbers", "-0, 1e400, 30 digits in args")         \
	X(EXTRA_ARGS, "extra-args", "finished, Call stack, hierarchy")        \
	X(EXTRA_KEYS, "extra-keys", "unknown keys beside args, logs on top")  \
	X(CRLF, "crlf", "lines end in CR LF")                                 \
	X(BOM, "bom", "a byte order mark (not strict JSON)")                  \
	X(BAD_UTF8, "bad-utf8", "invalid UTF-8 in a name (not strict)")       \
	X(RAW_QUOTE, "raw-quote", "an unescaped quote (not JSON)")            \
	X(TRAILING_COMMA, "trailing-comma", "after the last event (no JSON)") \
	X(TRUNCATED, "truncated", "the end is missing (not JSON)")            \
	X(SYMBOLS_LAST, "symbols-last", "rocprof: symbols after records")

enum quirk {
#define X(id, name, text) Q_##id,
	QUIRKS(X)
#undef X
	    Q_COUNT
};

bool quirk_on(const struct conf *cf, enum quirk q);
bool quirk_some(const struct emit *e, enum quirk q, uint64_t one_in);
bool quirk_add(struct conf *cf, const char *name); /* false: unknown */
void quirk_list(void);
void inject_step(struct emit *e, int64_t t0); /* events of the quirks */

/* ---- rocprof.c ---------------------------------------------------------- */

uint64_t rocprof_write(const struct conf *cf, struct buf *b); /* records */

/* ---- options.c ---------------------------------------------------------- */

void conf_parse(struct conf *cf, int argc, char *argv[]);

/* ---- main.c ------------------------------------------------------------- */

_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void usage(const char *option, const char *arg);
void *grow(void *p, size_t *cap, size_t want, size_t size);

#endif
