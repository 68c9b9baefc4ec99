/* SPDX-License-Identifier: MIT */
/*
 * tl-replay: ops of a trace as benchmarks that run. A sink (sink/sink.h): it
 * reads the tree once, and keeps each op that launches GPU work as a record
 * (struct run), and its GPU work as others (struct kernel). Runs with one name
 * and equal arguments are an op to replay (struct op); what a script needs is
 * JSON, the IR of tl-replay(1).
 */
#ifndef TL_REPLAY_H
#define TL_REPLAY_H

#include "base/embedded.h"
#include "cmd/tl-replay/schema.h"
#include "sink/sink.h"
#include "trace/launcher.h"

/* replay.py, and the schemas of ops */
extern const struct embedded tl_replay_data[];
extern const size_t tl_replay_ndata;

/* ---- what is read ---- */

/* Measures of a run, see struct sink_measure. */
enum { M_GPU, M_COUNT };

/* A GPU event that an op launched. */
struct kernel {
	struct uid uid;
	uint32_t name;
	struct key gpu_stream;
	int64_t dur_ns;
};

/* A call of an op that launched GPU work. */
struct run {
	struct sink_record rec;
	uint64_t number; /* in order of the tree */
	uint32_t name;
	struct op_args args;
	struct uid forward;  /* {0, 0}: none */
	uint32_t op;         /* in ops, or NO_OP */
	bool is_below_asked; /* below an op asked for */
	uint32_t nkernels;
	size_t first_kernel;
	int64_t gpu_ns;
};
#define NO_OP UINT32_MAX

/* An op that has a backward op. */
struct forward {
	uint32_t name;
	struct op_args args;
};

/* What inductor recorded of a Triton kernel, interned, or INTERN_NONE. */
enum {
	TRITON_FILE,
	TRITON_NAME,
	TRITON_KWARGS,
	TRITON_WARPS,
	TRITON_STAGES,
	TRITON_GRID,
	TRITON_WORDS
};
struct triton {
	uint32_t words[TRITON_WORDS];
};

/* ---- what is replayed ---- */

/* A call of an op: its name, and arguments as recorded. */
struct form {
	struct str name;
	struct arguments args;
	/* of each argument that is a list of tensors: its elements */
	struct arguments *lists;
	const struct schema *schema; /* NULL: the script looks for one */
	struct str kernel;           /* the first one's name */
};

/* The kernels of one name in the runs of an op. */
struct kernel_sum {
	uint32_t op, name;
	int64_t dur_ns, n;
};

/* Whether an op's data were in the cache when a script measured it. */
enum cache { WARM, COLD, CACHES };
struct result {
	const char *path;
	struct str name, status, reason;
	double ns; /* from call to call */
	bool has_kernels;
	size_t first_kernel, nkernels; /* in replayed */
};

/* A replayed kernel, per call. */
struct replayed {
	uint32_t name;
	double ns;
};

struct op {
	const struct run *first;
	const struct result *results[CACHES]; /* or NULL */
	size_t first_sum, nsums;
	size_t nruns;
	int64_t gpu_ns; /* of all runs */
	struct form form;
	const struct triton *triton;
	struct str ir;          /* its arguments; empty if missing is set */
	struct str backward_of; /* of a backward op: its forward's, likewise */
	struct str missing;     /* why a script cannot run it */
};

struct replay {
	struct sink sink;
	/* options */
	struct map picked;       /* --uid, --from: see choose_uid() */
	VEC(struct str) names;   /* --name */
	VEC(struct str) modules; /* --module */
	struct there other_names, other_modules;
	VEC(struct str) imports;
	const char *rows; /* --from FILE */
	VEC(struct str) schema_files;
	const char *script, *ir, *ir_v1, *zip;
	const char *list_dtype;
	VEC(const char *) compares;
	int bench; /* index into bench_tools, or -1 */
	bool one, segment;
	struct str segment_name;
	size_t top; /* 0: all */
	/* read */
	VEC(struct kernel) kernels;
	struct map forward_of, triton_of; /* by source and uid */
	VEC(struct forward) forwards;
	VEC(struct triton) tritons;
	struct intern *wanted; /* arguments of rows, see choose.c */
	unsigned wanted_lists; /* the lists that rows have, a bit each */
	struct map rows_found; /* which of wanted were found */
	size_t npicked_found;
	uint64_t nlaunching;          /* ops */
	struct map result_of[CACHES]; /* event to 1 + index */
	VEC(struct result) results;
	VEC(struct replayed) replayed;
	struct str replay_device;
	int64_t gpu_ns;  /* of all runs */
	uint32_t device; /* the name of the trace's device, or INTERN_NONE */
	/* chosen */
	bool is_chosen;
	struct schemas *schemas;
	struct arena *mem;
	VEC(struct op) ops;
	VEC(struct kernel_sum) sums; /* op by op */
	/* by op or result, and name: indexes into sums and replayed */
	struct map sum_of, replayed_of;
	VEC(uint32_t) order; /* ops of a segment, as they ran */
};

static inline const struct replay *
replay_of(const struct sink *s)
{
	return (const struct replay *)s;
}

static inline struct run *
run_at(const struct replay *g, size_t i)
{
	return sink_record(&g->sink, i);
}

/* The key of a name within the op or result of a number. */
static inline uint64_t
name_key(size_t number, uint32_t name)
{
	return (uint64_t)number << 32 | name;
}

static inline uint64_t
event_key(uint32_t source, struct uid uid)
{
	return (uint64_t)source << 48 ^ uid_hash(uid);
}

/* gather.c: hooks of the sink */

void replay_start(struct sink *s);
void replay_take(struct sink *s, const struct stream_in *in, bool is_chosen);
void replay_launcher(void *sink, const struct launcher *o);

/* choose.c: which ops */

/* Asks for the op of an event; returns its key in maps by event. */
uint64_t choose_uid(struct replay *g, const struct uid_pick *p);
/* What such a map has for an event, or NULL. */
const uint64_t *choose_find(
    const struct map *m, uint32_t source, struct uid uid);
/* Reads the rows of --from. */
void choose_rows(struct replay *g);
/* Whether an event or a row asks for this op. */
bool choose_asks(struct replay *g, const struct launcher *o);
/* Makes g->ops of the groups, in their order; marks the runs. */
void choose_ops(struct replay *g, const struct sink_groups *gs);

/* form.c */

/* NULL, or what is wrong with the lists of arguments. */
const char *form_read(struct replay *g, uint32_t name,
    const struct op_args *args, struct form *f) USE_RESULT;
/* Whether PyTorch's dispatcher knows ops of such names: "aten::mm". */
bool is_dispatched(struct str name);

/* value.c: arguments as JSON */

enum ir_version { IR_V1 = 1, IR_V2 };
/*
 * Appends {"list_pos_args":...}. False: why says which argument a script cannot
 * rebuild.
 */
bool form_put(const struct replay *g, const struct form *f, enum ir_version v,
    struct buf *out, struct buf *why);

/* A number as JSON. */
void put_real(struct buf *out, double v);

/* op.c: an op as a whole */

void op_build(struct replay *g, struct op *op);
void uid_text(const struct replay *g, const struct run *r, struct buf *out);

/* ir.c */

void ir_put(const struct replay *g, struct buf *out);
/* TraceLens's form, for ops with a schema. */
void ir_v1_put(const struct replay *g, struct buf *out);

/* write.c: output besides the table; returns whether there was any */

bool write_asked(struct replay *g);

/* one.c: one op in plain code */

void one_put(const struct replay *g, struct buf *out);

/* table.c */

/* Cells computed in replay_cell(). */
enum {
	C_UID,
	C_OVERLOAD,
	C_REASON,
	C_RECORDED,
	C_REPLAYED,
	C_GAP,
	C_OTHERS,
	C_CACHE,
	C_REST,
	C_IDLE,
	C_FINDING,
	C_KERNEL, /* from here on those of a kernel */
	C_KERNEL_RECORDED,
	C_KERNEL_REPLAYED,
	C_KERNEL_COLD,
	C_KERNEL_GAP,
};

extern const struct sink_column replay_columns[];
extern const struct sink_measure replay_measures[];
#define REPLAY_NTABLES 3
extern struct sink_table replay_tables[REPLAY_NTABLES];
/* Groups runs, and chooses the ops. */
void replay_group(struct replay *g);
bool replay_asked(const struct sink *s, const struct sink_table *t);
bool replay_member(
    const struct sink *s, const struct sink_plan *p, const void *record);
double replay_whole(
    const struct sink *s, const struct sink_plan *p, uint32_t source);
void replay_notes(struct sink *s, const struct sink_plan *p, struct table *t);
struct detail replay_kernel(const struct sink *s, size_t number);
struct cell replay_cell(const struct sink_row *r, unsigned number);

#endif
