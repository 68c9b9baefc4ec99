/* SPDX-License-Identifier: MIT */
/*
 * Inside tl-modules only. main.c takes the options, gather.c reads streams
 * and keeps a record of each call of a module, backward.c and flops.c what more
 * is asked for of it, nodes.c chooses those that are shown and folds them,
 * rows.c makes tables and print.c trees of them.
 */
#ifndef TL_CMD_MODULES_H
#define TL_CMD_MODULES_H

#include "model/model.h"
#include "sink/cells.h"
#include "trace/select.h"

/* A figure that was not asked for, or can't be had. */
#define NO_TIME INT64_MIN

enum style {
	STYLE_NONE, /* a table */
	STYLE_DOTS,
	STYLE_TREE,
};

struct settings {
	enum style style;
	bool fold, has_fold; /* the latter: an option said so */
	bool by_type;        /* folded, wherever they are */
	bool bwd;            /* the time of linked backward ops too */
	bool flops;
	bool pseudo_ops;
	bool verbose;
	int64_t depth;            /* levels, 0: all */
	int64_t min_ns;           /* of GPU time, for a module to be shown */
	double min_pct;           /* likewise, of the parent's, or busy time */
	VEC(const char *) models; /* --models */
	VEC(const char *) roots;  /* patterns and uids, as given */
	struct select select;
	struct table_dest dest;
};

/* ---- gather ---- */

/* One call of a module: a frame. 80 bytes. */
struct module {
	struct uid uid;
	uint32_t source; /* in modules.sources */
	uint32_t name;   /* with its prefix */
	uint32_t up;     /* number of the module above, from 1; 0: none */
	bool has_below;  /* modules that are asked for */
	bool is_asked;   /* it, or something below */
	int64_t ts_ns, dur_ns;
	int64_t gpu_ns;  /* busy time of all GPU events below */
	int64_t self_ns; /* of those below no further module */
	int64_t bwd_ns;  /* of backward ops linked to ops below; NO_TIME */
	uint64_t kernels;
};

/* With --flops: by the models of the ops below a call. */
struct flops {
	double flops, bytes;      /* bytes: where they are known */
	uint64_t nops;            /* that have a model */
	int64_t known_ns;         /* busy time of the work below those */
	size_t first_none, nnone; /* names of ops without, in no_model */
};

/* What a source's GPU did, in modules and out of them. */
struct whole {
	int64_t busy_ns;
	int64_t outside_ns; /* in no module */
	uint64_t outside_kernels;
	struct flops outside; /* with --flops */
	uint64_t nframes;     /* of Python */
	uint64_t nmodules, nasked;
};

/* All that was read; modules come before those below them. */
struct modules {
	struct dict *dict;
	struct sink_sources sources;
	VEC(struct whole) wholes; /* by source */
	VEC(struct module) list;
	VEC(struct flops) flops; /* by module, maybe fewer */
	VEC(uint32_t) no_model;  /* names of ops, those of a call together */
	struct models *models;   /* NULL: not asked for */
	uint64_t nevents;
	bool any_inst; /* some calls are repetitions of an event */
};

void modules_read_file(
    struct modules *m, struct settings *set, const char *path);
void modules_free(struct modules *m);

/* ---- backward: GPU work by the forward op that it is linked to ---- */

struct backward;

struct backward *backward_create(void);
void backward_destroy(struct backward *b);
/* Closes what is at this depth or below, then comes what is there. */
void backward_close(struct backward *b, uint32_t depth);
/* A host event of the tree, in the module of this number (0: none). */
void backward_host(struct backward *b, const struct event *ev, uint32_t module);
void backward_gpu(struct backward *b, const struct event *ev, int64_t end_ns);
/* The source is over: times of the modules from first on. */
void backward_finish(struct backward *b, struct modules *m, size_t first);

/* ---- flops: by module, from the models of the ops below ---- */

struct flop_counter;

struct flop_counter *flops_create(struct modules *m, struct models *models);
void flops_destroy(struct flop_counter *f);
/* The prologue begins; an annotation in it. */
void flops_prologue(struct flop_counter *f);
void flops_annotation(struct flop_counter *f, const struct event *ev);
/* Closes what is at this depth or below, then comes what is there. */
void flops_close(struct flop_counter *f, uint32_t depth);
void flops_module(
    struct flop_counter *f, const struct event *ev, uint32_t number);
void flops_op(struct flop_counter *f, const struct event *ev);
void flops_work(struct flop_counter *f, const struct event *ev, int64_t end_ns);
/* The source is over: of its ops in no module. */
void flops_outside(struct flop_counter *f, struct flops *to);

/* ---- nodes: what is shown ---- */

enum node_type {
	NODE_MODULE,
	NODE_OUTSIDE, /* the source's GPU work in no module */
};

/* A line or row: a call, or all calls that are alike in their place. */
struct node {
	enum node_type type;
	uint32_t source;
	uint32_t up;    /* number of the node above, from 1; 0: a root */
	uint32_t level; /* from 0 */
	uint32_t first; /* the first of its calls, in modules.list */
	bool is_fold;
	bool is_last;       /* of its siblings */
	bool has_below;     /* any module, shown or not */
	uint64_t calls;     /* */
	uint64_t instances; /* distinct names */
	int64_t sum_ns, min_ns, max_ns, self_ns;
	int64_t non_module_ns; /* of calls with modules below; NO_TIME */
	int64_t bwd_ns;
	uint64_t kernels;
	struct flops flops;
	uint32_t none; /* the first of its ops without a model, from 1 */
};

/* A name, and the number of the node's next one. */
struct no_model {
	uint32_t name, next;
};

struct nodes {
	VEC(struct node) list; /* in pre-order */
	VEC(struct no_model) nones;
	uint64_t nfound; /* modules from --root on, hidden ones too */
};

void nodes_of(
    struct nodes *n, const struct modules *m, const struct settings *set);
void nodes_free(struct nodes *n);
/* A name's parts: without "nn.Module: "; and "_12" apart, or empty. */
struct str module_name(struct str name);
struct str module_type(struct str name);
struct str module_instance(struct str name);
/* Shares in percent; NAN of nothing. */
double node_pct_parent(const struct nodes *n, const struct node *node);
double node_pct_root(const struct nodes *n, const struct node *node);
double node_pct_busy(const struct modules *m, const struct node *node);

/* ---- output ---- */

#define OUTSIDE_LABEL "Non-nn.Module GPU Ops"

/* A usage error when columns are named that aren't there. */
void rows_check(const struct settings *set);
void rows_print(
    struct settings *set, const struct modules *m, const struct nodes *n);
void print_nodes(
    const struct settings *set, const struct modules *m, const struct nodes *n);

#endif
