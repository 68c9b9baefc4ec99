/* SPDX-License-Identifier: MIT */
/*
 * waits: who waited for which GPU work, from rows of the recording. For a call
 * that synchronises: the work that it waited for. For a GPU stream that was
 * made to wait for an event: the work before that event, and the first work
 * that its thread launched on the stream after the call.
 *
 *	waits_start(&w);
 *	waits_take(&w, in->dict, &in->ev);	with host_add()
 *	waits_take_heads(&w, dict, v, n);	with host_add_heads()
 *	waits_find(&w, h);			after host_ready()
 *
 * Memory: 16 bytes a call that launched nothing, and 96 a row.
 */
#ifndef TL_TRACE_WAITS_H
#define TL_TRACE_WAITS_H

#include "trace/host.h"

struct wait {
	uint32_t from; /* in h->gpus */
	uint32_t call; /* that waits, or makes a GPU stream wait */
	uint32_t to;   /* in h->gpus; HOST_NONE: the call waits */
};

/* A GPU event, by GPU stream or by thread, and launch time. */
struct launched {
	struct key dev, gpu_stream;
	uint32_t thread, gpu;
	int64_t start_ns; /* of the call */
};
typedef VEC(struct launched) launched_list;

/* A row on the GPU. */
struct sync_row {
	int64_t corr;        /* of the call that caused it */
	int64_t record_corr; /* of the event's record, or -1 */
	struct key dev, gpu_stream, wait_stream;
	uint8_t what;
};

/* A call that launched nothing. */
struct quiet_call {
	int64_t corr;
	uint64_t uid; /* hash */
};

struct waits {
	VEC(struct wait) list; /* in the order of the rows */
	bool tells_streams;    /* rows name what GPU streams waited for */
	/* private */
	VEC(struct sync_row) rows;
	VEC(struct quiet_call) calls;
};

void waits_start(struct waits *w);
void waits_take(
    struct waits *w, const struct dict *dict, const struct event *ev);
void waits_take_heads(struct waits *w, const struct dict *dict,
    const struct event_head *v, size_t n);
/* Fills w->list, and awaits of h->gpus. */
void waits_find(struct waits *w, struct host *h);
void waits_free(struct waits *w);

/* All GPU events with a launch, by when that began; if asked, by GPU stream
 * first, or by thread. */
void list_launched(
    launched_list *list, const struct host *h, bool streams, bool threads);

#endif
