/* SPDX-License-Identifier: MIT */
/*
 * tl-tree: main.c reads options and streams; forest.c holds a source's tree
 * for looking at, print.c shows subtrees, up.c what stands above an event, and
 * line.c writes what both say of one event.
 */
#ifndef TL_TREE_H
#define TL_TREE_H

#include "trace/store.h"

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

/* ---- forest: a source's events in the order of the tree ---- */

struct node {
	uint32_t item; /* in the store */
	uint32_t depth;
	uint32_t parent; /* place, or STORE_NONE */
};

/* 12 bytes an event; places of uids are looked up once all are asked for. */
struct forest {
	struct store *s;
	VEC(struct node) nodes;
	VEC(uint32_t) stack; /* while it is made */
	struct map places;   /* uid to place + 1, made when first used */
};

void forest_make(struct forest *f, struct store *s);
void forest_free(struct forest *f);
/* The event at a place, with its depth. */
void forest_event(const struct forest *f, uint32_t at, struct event *ev);
/* Behind the last event below the one at this place. */
uint32_t forest_behind(const struct forest *f, uint32_t at);
/* The place of a uid, or STORE_NONE. */
uint32_t forest_find(struct forest *f, struct uid uid);
/* "UID" or "SRC:UID" of this forest's source; false when it is none. */
bool forest_uid(const struct forest *f, const char *text, struct uid *uid);

/* ---- line: what is said of one event ---- */

/* "UID: u, Category: c, Name: n", of GPU work also its duration. */
void line_event(
    struct out *out, const struct strings *st, const struct event *ev);
/*
 * The fields asked for that an op has, one a line: prefix, "Field: value".
 * True when there was one.
 */
bool line_fields(struct out *out, const struct strings *st,
    const struct event *ev, const struct view *view, struct str prefix);
/* The name with control characters made visible, at most max characters. */
void line_name(struct out *out, struct str name, size_t max);
/* ns as us, with as many decimals as are needed. */
void line_us(struct out *out, int64_t ns);
#define LINE_NAME_MAX 64
#define LINE_STACK_MAX 256

/* ---- the views ---- */

/* These print what they find in one source, and return how much that was. */
uint64_t print_trees(const struct view *v, struct forest *f, struct out *out);
uint64_t print_up(const struct view *v, struct forest *f, struct out *out);
uint64_t print_stack(const struct view *v, struct forest *f, struct out *out);

#endif
