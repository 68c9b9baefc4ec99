/* SPDX-License-Identifier: MIT */
/*
 * tl-tree: main.c reads options and streams; print.c prints subtrees, up.c what
 * is above an event, line.c one event for both.
 */
#ifndef TL_TREE_H
#define TL_TREE_H

#include "trace/forest.h"

/* What --print shows, and how; starts as zeroes. */
struct view {
	VEC(const char *) roots;     /* --root: UIDs and names */
	const char *ext, *pid, *tid; /* --ext-id, and what narrows it */
	const char *up, *stack;      /* UIDs */
	bool follow_fwd, bwd, no_prune, gpu_time;
	uint32_t kinds; /* 0: all */
	uint32_t depth; /* levels shown, 0: all */
	VEC(struct str) fields;
};

/* ---- line: what is said of one event ---- */

/* "UID: u, Category: c, Name: n", and for GPU work its duration. */
void line_event(struct out *out, const struct dict *st, const struct event *ev);
/*
 * Prints the --fields of an op, one per line: prefix, "Field: value". Returns
 * whether it has any.
 */
bool line_fields(struct out *out, const struct dict *st, const struct event *ev,
    const struct view *view, struct str prefix);
/* The name with control characters made visible, at most max characters. */
void line_name(struct out *out, struct str name, size_t max);
/* ns as us, with as many decimals as needed. */
void line_us(struct out *out, int64_t ns);
#define LINE_NAME_MAX 64
#define LINE_STACK_MAX 256

/* ---- the views ---- */

/* Parses "UID" or "SRC:UID"; false if it is not of this forest's source. */
bool view_uid(const struct forest *f, const char *text, struct uid *uid);
/* Print what they find in one source, and return how many. */
uint64_t print_trees(const struct view *v, struct forest *f, struct out *out);
uint64_t print_up(const struct view *v, struct forest *f, struct out *out);
uint64_t print_stack(const struct view *v, struct forest *f, struct out *out);

#endif
