/* SPDX-License-Identifier: MIT */
/*
 * Inside tl-modules only. A sink (sink/sink.h): main.c takes the options,
 * gather.c keeps a record of each call of a module, backward.c and flops.c add
 * to it, nodes.c selects and folds them into the sink's records; rows.c has the
 * tables, print.c the trees.
 */
#ifndef TL_CMD_MODULES_H
#define TL_CMD_MODULES_H

#include "model/model.h"
#include "sink/sink.h"

/* One call of a module: a frame. 80 bytes. */
struct module {
	struct uid uid;
	uint32_t source;
	uint32_t name;  /* with its prefix */
	uint32_t up;    /* number of the module above, from 1; 0: none */
	bool has_below; /* selected modules */
	bool is_asked;  /* itself or something below is selected */
	int64_t ts_ns, dur_ns;
	int64_t gpu_ns;  /* busy time of all GPU events below */
	int64_t self_ns; /* of those in no module below */
	int64_t bwd_ns;  /* of backward ops linked to ops below; or SINK_NONE */
	uint64_t kernels;
};

/* With --flops: from models of the ops below a call. */
struct flops {
	double flops, bytes;      /* bytes: where known */
	uint64_t nops;            /* with a model */
	int64_t known_ns;         /* busy time of work below these */
	size_t first_none, nnone; /* ops without: names in no_model */
};

/* A source's GPU work, inside and outside modules. */
struct whole {
	int64_t busy_ns;    /* sum over GPUs */
	int64_t outside_ns; /* of that, in no module */
	bool is_spread; /* a call has work on several GPUs: its busy time is no
	                   share of busy_ns */
	uint64_t outside_kernels;
	/* for checks: of outermost modules, and of all */
	uint64_t root_kernels, nkernels;
	int64_t root_ns;
	struct flops outside; /* with --flops */
	uint64_t nframes;     /* Python frames */
	uint64_t nmodules, nasked;
};

/* A line or row: a call, or the calls folded into one. */
struct node {
	struct sink_record rec; /* the first call's; ts_ns: its position */
	struct uid parent;
	uint32_t label, type, no_model; /* interned; no_model: JSON */
	uint32_t up;     /* number of the node above, from 1; 0: a root */
	uint32_t name;   /* the first call's, with its prefix */
	bool is_outside; /* the source's GPU work in no module */
	bool is_last;    /* last of its siblings */
	/* SINK_NONE or NAN if there is none */
	int64_t level;                   /* from 0 */
	int64_t instance, ts_ns, cpu_ns; /* of the first call */
	int64_t calls, instances, min_ns, max_ns;
	int64_t sum_ns, self_ns, kernels;
	int64_t non_module_ns; /* of calls with modules below */
	int64_t bwd_ns;
	double mean_ns, pct_parent, pct_root, pct_busy;
	double gflop, tflop_s, mib, tb_s, pct_modelled;
	struct flops flops;
};

struct open_module {
	uint32_t depth;
	uint32_t number; /* index in modules.list, from 1 */
	size_t first_all, first_own;
	int64_t below_ns; /* of closed modules directly below */
	uint32_t gpu;     /* of the work below, from 1; 0: none yet */
};

struct gpu {
	struct key dev;
	struct spans busy, outside;
};

struct modules {
	struct sink sink;
	/* options */
	bool is_print;       /* a tree for people */
	bool fold, has_fold; /* has_fold: an option said so */
	bool by_type;        /* folded by type, anywhere */
	bool with_bwd;       /* with the time of linked backward ops */
	bool with_flops;
	bool pseudo_ops;
	int64_t depth;  /* levels; 0: all */
	int64_t min_ns; /* least GPU time of a module shown */
	double min_pct; /* least share, of the parent's or of busy time */
	VEC(const char *) roots; /* patterns and uids */
	struct there other_roots;
	/* all that was read; modules come before those below */
	VEC(struct whole) wholes; /* by source */
	VEC(struct module) list;
	VEC(struct flops) flops; /* by module; may be shorter */
	VEC(uint32_t) no_model;  /* names of ops, together for each call */
	struct models *models;   /* NULL: not asked for */
	uint64_t nfound;         /* modules from --root on, also hidden ones */
	/* of the current source */
	struct whole *whole; /* NULL: none was begun */
	uint32_t source;
	size_t first; /* index of its first module */
	VEC(struct open_module) stack;
	struct spans all, own;
	VEC(struct gpu) gpus;
	struct backward *backward;         /* with --bwd */
	struct flop_counter *flop_counter; /* with --flops */
};

/* ---- gather: hooks of the sink ---- */

void modules_start(struct sink *s);
void modules_take(struct sink *s, const struct stream_in *in, bool is_chosen);
void modules_flush(struct sink *s);
/* After the last file. */
void modules_close_source(struct modules *m);
struct whole *modules_whole(struct modules *m, uint32_t source);

/* ---- backward: GPU work by the forward op that it is linked to ---- */

struct backward;

struct backward *backward_create(void);
void backward_destroy(struct backward *b);
/* Before the next module: closes those at this depth or deeper. */
void backward_close(struct backward *b, uint32_t depth);
/* A host event of the tree, in the module of this number (0: none). */
void backward_host(struct backward *b, const struct event *ev, uint32_t module);
void backward_gpu(struct backward *b, const struct event *ev, int64_t end_ns);
/* At the end of a source: times of the modules from first on. */
void backward_finish(struct backward *b, struct modules *m, size_t first);

/* ---- flops: by module, from the models of the ops below ---- */

struct flop_counter *flops_create(struct modules *m);
void flops_destroy(struct flop_counter *f);
/* An annotation in the prologue of a source. */
void flops_annotation(
    struct flop_counter *f, const struct event *ev, uint32_t source);
/* Before the next module: closes those at this depth or deeper. */
void flops_close(struct flop_counter *f, uint32_t depth);
void flops_module(
    struct flop_counter *f, const struct event *ev, uint32_t number);
void flops_op(struct flop_counter *f, const struct event *ev);
void flops_work(struct flop_counter *f, const struct event *ev, int64_t end_ns);
/* At the end of a source: its ops in no module. */
void flops_outside(struct flop_counter *f, struct flops *to);

/* ---- nodes: what is shown ---- */

/* Makes the records. */
void nodes_make(struct modules *m);
static inline struct node *
node_at(const struct modules *m, size_t i)
{
	return sink_record(&m->sink, i);
}
/* Parts of a name: without "nn.Module: ", and then without "_12". */
struct str module_name(struct str name);
struct str module_type(struct str name);

/* ---- output ---- */

#define OUTSIDE_LABEL "Non-nn.Module GPU Ops"

extern const struct sink_column modules_columns[];
extern struct sink_table modules_tables[];
extern const size_t modules_ntables;
bool modules_asked(const struct sink *s, const struct sink_table *t);
bool modules_wants(
    const struct sink *s, const struct sink_table *t, unsigned only);
struct cell modules_cell(const struct sink_row *r, unsigned field);
/* Prints them as a tree. */
void modules_print(struct sink *s, const struct sink_plan *p);

#endif
