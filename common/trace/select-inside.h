/* SPDX-License-Identifier: MIT */
/* Inside select only: the windows of one source. */
#ifndef TL_TRACE_SELECT_INSIDE_H
#define TL_TRACE_SELECT_INSIDE_H

#include "trace/select.h"
#include "trace/span.h"

/* Up to the next one's start, this window is the innermost. */
struct seg {
	int64_t start;
	uint32_t window; /* index + 1, or 0: none */
};

struct segs {
	VEC(struct seg) list;
};

/*
 * The annotations of a source, from its prologue. The segments are made when
 * they are first looked up, those of each thread and those of all.
 */
struct select_windows {
	bool in_prologue; /* more may come */
	bool is_ready;
	bool has_asked, has_segs;
	VEC(struct window) all; /* by start, the longer first */
	struct spans asked;     /* of --step and --annotation */
	struct segs steps, notes;
	VEC(struct segs) by_track;
};

struct select_range {
	int64_t low, high;
};

struct select_launch {
	struct uid uid;
	int64_t ts_ns;
	uint32_t depth, track;
};

bool id_set_has(const struct id_set *set, int64_t n);

void select_windows_clear(struct select_windows *w);
void select_windows_add(
    struct select_windows *w, const struct dict *st, const struct event *ev);
/* The prologue is over: which are asked for? */
void select_windows_ready(struct select *s);
const struct window *select_windows_step(struct select_windows *w, int64_t t);
const struct window *select_windows_note(
    struct select_windows *w, uint32_t track, int64_t t);

#endif
