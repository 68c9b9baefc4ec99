/* SPDX-License-Identifier: MIT */
/*
 * joined: whether sources whose times a program puts together are on one clock.
 *
 * Two share one if tl-merge has aligned them with each other, if they are of
 * one rank, or of one file that tells no ranks. Else collectives have to say
 * that their clocks agree; where none does, one host will do.
 */
#ifndef TL_TRACE_JOINED_H
#define TL_TRACE_JOINED_H

#include "stream/stream.h"
#include "trace/collective.h"

/* What a source says of its clock. */
struct own_clock {
	uint32_t host;  /* a text of the dict; INTERN_NONE: not known */
	int64_t island; /* that tl-merge aligned it with; or OWN_CLOCK_ALONE */
};
#define OWN_CLOCK_ALONE INT64_MIN
extern const struct own_clock own_clock_none;

void own_clock_take(
    struct own_clock *own, struct dict *dict, const struct source *src);

struct joined {
	const char *path;
	uint32_t src; /* in its stream */
	bool is_stdin;
	bool is_in; /* else its times are not put together with the others' */
	bool has_rank, is_rank_guess; /* by the order of inputs */
	int64_t rank;
	struct own_clock own;
};
typedef VEC(struct joined) joined_list;

/* Its rank, or by order, as tl-collective numbers such inputs. */
int64_t joined_number(int64_t rank, bool is_known, size_t no);
/*
 * Warns if their clocks as recorded are not one, or nothing compares them. All
 * sources of all files, in their order; the files are read again.
 */
void joined_check(const joined_list *all);
/* The files of these, each once. */
typedef VEC(const char *) joined_paths;
void joined_files(const joined_list *all, joined_paths *paths);

#endif
