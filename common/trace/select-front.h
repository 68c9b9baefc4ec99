/* SPDX-License-Identifier: MIT */
/*
 * select-front: runs tl-filter on each input for the selection, for programs
 * that pass on or draw a whole tree. Start with zeroes.
 */
#ifndef TL_TRACE_SELECT_FRONT_H
#define TL_TRACE_SELECT_FRONT_H

#include "stream/stream.h"

struct select_front {
	VEC(char *) words; /* tl-filter's */
	bool is_several;   /* the program reads several inputs */
	/* private */
	struct select *asked; /* the same */
	bool has_met;
	int met; /* a file for what inputs have of it: see select_put_met() */
};

/* Handles a shared option, as select_opt(). */
bool select_front_opt(
    struct select_front *f, const struct optparse *op, int ch);
static inline bool
select_front_is_on(const struct select_front *f)
{
	return f->words.n > 0;
}
/*
 * A stream of the selection; plain stream_open() without options. Its sources
 * count from first_source on, as for select_start().
 */
struct stream_in *select_front_open(const struct select_front *f,
    const char *path, struct dict *dict, enum want want, uint32_t first_source);
/* See select_refuse_slowest(). */
void select_front_refuse_slowest(const struct select_front *f);
/* After the last input, each read to its end: as select_end(). */
void select_front_end(struct select_front *f);

#endif
