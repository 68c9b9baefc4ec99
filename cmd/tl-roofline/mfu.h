/* SPDX-License-Identifier: MIT */
/*
 * mfu: MFU and HFU, the matrix products of a step or an iteration over what the
 * GPU could do of them in its time: without, and with those that are computed
 * again.
 *
 * A call belongs to the window in which its op began, GPU work of no call to
 * that of its launch, where it makes the share without a model. Without a
 * launch it belongs to none, but may be of any that began before it ran: a
 * window has no figure where that is much of the work since its start. Products
 * of several types count against the peak of their own.
 */
#ifndef TL_ROOFLINE_MFU_H
#define TL_ROOFLINE_MFU_H

#include "sink/sink.h"
#include "trace/pace.h"
#include "trace/span.h"

struct call;
struct node;
struct roof_state;

/* What time is divided into. */
enum window_kind {
	WINDOW_STEP,
	WINDOW_ITERATION, /* of serving; where steps are others, too */
	WINDOW_KINDS,
};

/* A step or an iteration: its time, and its matrix products. */
struct window {
	int64_t step, tokens;
	int64_t time_ns;             /* what it took; PACE_NONE: unknown */
	struct spans busy;           /* of what it launched, until it is read */
	int64_t gpu_ns, modelled_ns; /* GPU work but communication */
	/* of the model, and with those that are computed again */
	double flops[2], peak_s[2]; /* seconds at the peak; NAN: unknown */
	uint64_t devs;              /* a bit each, by number */
	uint32_t specs;             /* a bit each, of mfu.specs */
	size_t row;                 /* the last one that has it, from 1 */
	bool is_partial;            /* much of the work since has no launch */
};

/* GPU work without communication; call once in order, with what follows. */
struct mfu_work {
	int64_t ts_ns, gpu_ns;
	int64_t unlinked_ns; /* of gpu_ns, what has no launch */
};

/* A row's windows together: those of known time if there are any. */
struct mfu_row {
	struct window all;
	int64_t capacity_ns, tokens_ns;
	size_t nwindows, nuntimed; /* untimed: left out */
};

#define MFU_SPECS 31
struct mfu {
	struct steps steps; /* of the source at hand, as all of these */
	pace_list paces[WINDOW_KINDS];
	uint32_t first[WINDOW_KINDS]; /* in windows */
	uint32_t source;
	VEC(struct mfu_work) works;
	bool is_asked; /* a table has it */
	bool is_ready;
	bool any;      /* a window has a figure */
	bool is_whole; /* a source has no steps */
	struct str specs[MFU_SPECS + 1];
	size_t nspecs, nrows;
	struct mfu_row row; /* at hand */
};

void mfu_event(struct roof_state *g, const struct event *ev);
/* GPU work; launch: NULL, it is unknown; is_call: a call has it. */
void mfu_work(struct roof_state *g, const struct event *ev,
    const struct node *launch, bool is_comm, bool is_call);
/* Sets the windows of a call by where its op began. */
void mfu_place(
    const struct roof_state *g, struct call *c, const struct node *n);
/* Behind the last file, when calls have their results. */
void mfu_finish(struct roof_state *g);
void mfu_row(
    struct roof_state *g, const struct sink_row *r, enum window_kind kind);
struct cell mfu_cell(
    const struct sink_row *r, const struct roof_state *g, unsigned field);
void mfu_free(struct roof_state *g);

#endif
