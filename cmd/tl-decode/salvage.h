/* SPDX-License-Identifier: MIT */
/*
 * What is whole in a damaged trace, as an undamaged one: a filter between the
 * file and the readers of formats, which know nothing of it.
 *
 *	struct salvage *sv = salvage_open(in);		in: the file
 *	read(salvage_input(sv));			well-formed JSON
 *	lost = salvage_close(sv, &counts);		says what was lost
 *
 * Events and records go through one by one, and metadata member by member,
 * each whole or not at all; where one is not, the next whole one is looked
 * for. The containers around are closed at the end. Each loss is told on
 * standard error with its byte.
 */
#ifndef TL_DECODE_SALVAGE_H
#define TL_DECODE_SALVAGE_H

#include "io/io.h"

struct salvage_counts {
	uint64_t losses; /* places where bytes were left out */
	uint64_t bytes;  /* how many of them */
	uint64_t mended; /* characters put right in what was kept */
	uint64_t events; /* whole ones */
	bool is_cut;     /* the end is missing, and metadata with it */
};

struct salvage;

/* Owns in from now on. */
struct salvage *salvage_open(struct in *in);
/* The window over what was saved; closed by its reader. */
struct in *salvage_input(struct salvage *sv);
/* The counts so far. */
const struct salvage_counts *salvage_counts(const struct salvage *sv);
/* Sums the losses up in a doubt, closes the file and frees sv. */
void salvage_close(struct salvage *sv);

#endif
