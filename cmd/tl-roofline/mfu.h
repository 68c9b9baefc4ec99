/* SPDX-License-Identifier: MIT */
/*
 * mfu: MFU and HFU, the matrix products of a step or an iteration over what the
 * GPU could do in its time, without and with recomputation. A call belongs to
 * the window in which its op began; GPU work of no call to that of its launch,
 * where it adds to the share without a model. Unlinked work belongs to no
 * window but may be of any that began before it: a window has no figure if much
 * of the work since its start is unlinked. Each type counts against its own
 * peak.
 */
#ifndef TL_ROOFLINE_MFU_H
#define TL_ROOFLINE_MFU_H

#include "sink/sink.h"
#include "trace/pace.h"
#include "trace/span.h"

struct call;
struct node;
struct roof_state;

/* Kinds of windows. */
enum window_kind {
	WINDOW_STEP,
	WINDOW_ITERATION, /* of serving; steps may differ */
	WINDOW_KINDS,
};

/* A step or an iteration: its time, and its matrix products. */
struct window {
	int64_t step, tokens;
	int64_t time_ns;             /* PACE_NONE: unknown */
	struct spans busy;           /* of what it launched; freed when read */
	int64_t gpu_ns, modelled_ns; /* without communication */
	/* of the model: [0] without recomputation, [1] with it */
	double flops[2], peak_s[2]; /* seconds at the peak; NAN: unknown */
	uint64_t devs;              /* a bit for each, by number */
	uint32_t specs;             /* a bit for each of mfu.specs */
	size_t row;                 /* the last row that counted it, from 1 */
	bool is_partial;            /* much of the work since is unlinked */
};

/*
 * GPU work without communication; each call is followed, in order, by the rest.
 */
struct mfu_work {
	int64_t ts_ns, gpu_ns;
	int64_t unlinked_ns; /* of gpu_ns: unlinked */
};

/* A row's windows together: only those of known time, if there are any. */
struct mfu_row {
	struct window all;
	int64_t capacity_ns, tokens_ns;
	size_t nwindows, nuntimed; /* untimed: skipped */
};

#define MFU_SPECS 31
struct mfu {
	struct steps steps; /* of the current source */
	pace_list paces[WINDOW_KINDS];
	uint32_t first[WINDOW_KINDS]; /* indexes into windows */
	uint32_t source;
	VEC(struct mfu_work) works;
	bool is_asked; /* a table needs it */
	bool is_ready;
	bool any;      /* a window has a figure */
	bool is_whole; /* a source without steps */
	struct str specs[MFU_SPECS + 1];
	size_t nspecs, nrows;
	struct mfu_row row; /* the current row */
};

void mfu_event(struct roof_state *g, const struct event *ev);
/* Adds GPU work; launch: NULL if unknown; is_call: it belongs to a call. */
void mfu_work(struct roof_state *g, const struct event *ev,
    const struct node *launch, bool is_comm, bool is_call);
/* Sets the windows of a call, where its op began. */
void mfu_place(
    const struct roof_state *g, struct call *c, const struct node *n);
/* After the last file, when calls have their results. */
void mfu_finish(struct roof_state *g);
void mfu_row(
    struct roof_state *g, const struct sink_row *r, enum window_kind kind);
struct cell mfu_cell(
    const struct sink_row *r, const struct roof_state *g, unsigned field);
void mfu_free(struct roof_state *g);

#endif
