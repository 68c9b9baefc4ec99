/* SPDX-License-Identifier: MIT */
/*
 * launcher: GPU work by the op that launched it.
 *
 * The launcher of a GPU event is the nearest op above the call that launched
 * it, looking through Python frames, calls inside calls, and wrappers, ops
 * named execute. Without such an op it is the launch call itself. GPU events
 * without a launch have no launcher and do not occur here: they have the flag
 * EV_UNLINKED. Those of XLA have the op that they name.
 *
 * It reads a tree stream, event by event. It passes on each op with GPU work
 * below it, and each launch that launched some itself, once all of that work
 * has been read: descendants come before their ancestors. (A sink that needs
 * them in order of time sorts what it keeps by ts and uid.) Frames may be left
 * out of what is pushed; events outside the tree do no harm.
 *
 *	struct launchers *w = launchers_create(in->dict, &rules, tell, arg);
 *	w->with_args = true;
 *	while ((item = stream_next(in)) != ITEM_END)
 *		if (item == ITEM_EVENT)
 *			launchers_push(w, &in->ev, select_item(...));
 *		else
 *			launchers_flush(w);
 *	launchers_flush(w);
 *
 * Memory: 152 bytes for each GPU event below the outermost op that is open, and
 * 256 for each open op.
 */
#ifndef TL_TRACE_LAUNCHER_H
#define TL_TRACE_LAUNCHER_H

#include "trace/bucket.h"

/* A GPU event below an op. */
struct gpu_work {
	struct uid uid;
	uint32_t name, track, flags;
	uint8_t kind;
	uint8_t bucket; /* enum bucket */
	struct key dev, gpu_stream, corr;
	int64_t ts_ns, dur_ns;
	int64_t launch_ns, launch_end_ns; /* start and end of its launch */
	uint64_t launcher;                /* its number, see struct launcher */
	uint64_t op;    /* the nearest op, even execute; 0: none */
	uint64_t extra; /* the sink's, set by launchers.extra */
};

/* Numbers in the dictionary of the texts of an op's arguments, or INTERN_NONE.
 */
struct op_args {
	uint32_t dims, types, strides, concrete;
	uint32_t hlo; /* an XLA instruction, see METADATA in tl-stream(5) */
};
#define NO_OP_ARGS                                                  \
	{                                                           \
		INTERN_NONE, INTERN_NONE, INTERN_NONE, INTERN_NONE, \
		    INTERN_NONE                                     \
	}

/* An op or a launch, and the GPU work below it. Valid during the call. */
struct launcher {
	struct uid uid;
	uint64_t number; /* in tree order, from 1 on, over all files */
	uint64_t up;     /* the nearest op above it; 0: none */
	uint32_t src, track, name, flags;
	uint8_t kind; /* KIND_OP, or that of a launch without an op */
	int64_t ts_ns, dur_ns;
	struct key ext;
	struct uid fwd, bwd;
	struct op_args args; /* if with_args, or if it has an hlo */
	uint32_t module;     /* nearest nn.Module frame's name, INTERN_NONE */
	/* if with_modules: names of all such frames above, nearest first */
	const uint32_t *modules;
	size_t nmodules;
	/* the sink's data about its place, from launchers_at() */
	struct key step;
	uint32_t annotation;
	/* what it launched itself, by ts and uid; collectives if with_comm */
	const struct gpu_work *direct;
	size_t ndirect;
	int64_t direct_ns; /* busy time: the length of their union */
	/* all work below it, with collectives, in tree order */
	const struct gpu_work *below;
	size_t nbelow;
	int64_t subtree_ns;
	int64_t child_ns; /* host time of its child ops */
};

typedef void launcher_fn(void *arg, const struct launcher *o);

struct launchers {
	/* set between launchers_create() and the first push */
	bool all_ops;      /* pass ops without GPU work, too */
	bool with_comm;    /* collectives are owned like other work */
	bool with_args;    /* fill launcher.args */
	bool with_modules; /* fill launcher.modules */
	/* NULL, or sets gpu_work.extra */
	uint64_t (*extra)(void *arg, const struct event *ev);
	/* private */
	struct launchers_state *state;
};

struct launchers *launchers_create(
    struct dict *st, struct bucket_rules *rules, launcher_fn *tell, void *arg);
void launchers_destroy(struct launchers *w);
/* Sets step and annotation of the event pushed next. */
void launchers_at(struct launchers *w, struct key step, uint32_t annotation);
/* is_chosen applies only to GPU events: others are not passed on. */
void launchers_push(
    struct launchers *w, const struct event *ev, bool is_chosen);
/* Closes open events: at each item that is no event, and at the end. */
void launchers_flush(struct launchers *w);

/* The texts of an op's arguments by number; adds long ones to the
 * dictionary. */
struct op_args args_of_event(struct dict *st, const struct event *ev);
/* Whether hlo is among them. */
static inline bool
event_has_hlo(const struct event *ev)
{
	return ev->shape->lists[LIST_HLO] != 0;
}

#endif
