/* SPDX-License-Identifier: MIT */
/*
 * joined: whether sources whose times a program joins are on one clock.
 *
 * Two are if tl-merge has aligned them with each other, if they have one rank,
 * or if they come from one file without ranks. Otherwise collectives must show
 * that their clocks agree; without collectives, one host is enough.
 */
#ifndef TL_TRACE_JOINED_H
#define TL_TRACE_JOINED_H

#include "stream/stream.h"
#include "trace/collective.h"

/* A source's facts about its clock. */
struct own_clock {
	uint32_t host;  /* text in the dict; INTERN_NONE: unknown */
	int64_t island; /* of its alignment by tl-merge; or OWN_CLOCK_ALONE */
};
#define OWN_CLOCK_ALONE INT64_MIN
extern const struct own_clock own_clock_none;

void own_clock_take(
    struct own_clock *own, struct dict *dict, const struct source *src);

struct joined {
	const char *path;
	uint32_t src; /* in its stream */
	bool is_stdin;
	bool is_in;                   /* otherwise its times are not combined */
	bool has_rank, is_rank_guess; /* guessed from the order of inputs */
	int64_t rank;
	struct own_clock own;
};
typedef VEC(struct joined) joined_list;

/* Its rank, or a number by order, as in tl-collective. */
int64_t joined_number(int64_t rank, bool is_known, size_t no);
/*
 * Warns if their recorded clocks differ, or are not comparable. Takes all
 * sources of all files, in order; reads the files again.
 */
void joined_check(const joined_list *all);
/* Their files, each once. */
typedef VEC(const char *) joined_paths;
void joined_files(const joined_list *all, joined_paths *paths);

#endif
