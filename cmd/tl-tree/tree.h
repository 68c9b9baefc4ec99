/* SPDX-License-Identifier: MIT */
/*
 * tl-tree: main.c reads options and streams; print.c shows
 * subtrees, up.c what stands above an event, and line.c writes what both say of
 * one event.
 */
#ifndef TL_TREE_H
#define TL_TREE_H

#include "trace/forest.h"

/* What --print shows, and how; zeroes to start with. */
struct view {
	VEC(const char *) roots;     /* --root: UIDs and names */
	const char *ext, *pid, *tid; /* --ext-id and what narrows it */
	const char *up, *stack;      /* UIDs */
	bool follow_fwd, bwd, no_prune, gpu_time;
	uint32_t kinds; /* 0: all */
	uint32_t depth; /* levels shown, 0: all */
	VEC(struct str) fields;
};

/* ---- line: what is said of one event ---- */

/* "UID: u, Category: c, Name: n", of GPU work also its duration. */
void line_event(struct out *out, const struct dict *st, const struct event *ev);
/*
 * The fields asked for that an op has, one a line: prefix, "Field: value".
 * True when there was one.
 */
bool line_fields(struct out *out, const struct dict *st, const struct event *ev,
    const struct view *view, struct str prefix);
/* The name with control characters made visible, at most max characters. */
void line_name(struct out *out, struct str name, size_t max);
/* ns as us, with as many decimals as are needed. */
void line_us(struct out *out, int64_t ns);
#define LINE_NAME_MAX 64
#define LINE_STACK_MAX 256

/* ---- the views ---- */

/* "UID" or "SRC:UID" of this forest's source; false when it is none. */
bool view_uid(const struct forest *f, const char *text, struct uid *uid);
/* These print what they find in one source, and return how much that was. */
uint64_t print_trees(const struct view *v, struct forest *f, struct out *out);
uint64_t print_up(const struct view *v, struct forest *f, struct out *out);
uint64_t print_stack(const struct view *v, struct forest *f, struct out *out);

#endif
