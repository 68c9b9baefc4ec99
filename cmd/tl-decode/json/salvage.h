/* SPDX-License-Identifier: MIT */
/*
 * What is whole in a damaged trace, as an undamaged one: a filter between the
 * file and the readers of formats, which know nothing of it.
 *
 *	struct salvage *sv = salvage_open(in, rules);	in: the file
 *	read(salvage_input(sv));			well-formed JSON
 *	salvage_note(sv, source);			tells what was lost
 *	salvage_close(sv);				... on standard error
 *
 * Events and records go through one by one, and metadata member by member,
 * each whole or not at all; where one is not, the next whole one is looked
 * for. The containers around are closed at the end. Each loss is told on
 * standard error with its byte.
 */
#ifndef TL_DECODE_SALVAGE_H
#define TL_DECODE_SALVAGE_H

#include "io/io.h"

/* Containers that are passed on piece by piece. */
enum part {
	PART_FILE,   /* the outermost object */
	PART_EVENTS, /* the list of events in it */
	PART_BARE,   /* a list of events with nothing around */
	PART_LIST,   /* a list of objects (PART_OBJECT) in it */
	PART_OBJECT,
	PART_TABLES, /* an object of lists of records (PART_RECORDS) */
	PART_RECORDS,
};

/* A member that is such a container. */
struct salvage_part {
	struct str key; /* as written, with quotes and colon; none: the end */
	enum part in, is;
	int begins; /* its bracket */
};

/* What a format says of its files. */
struct salvage_rules {
	/* keys in quotes: each record has one of them; an empty one ends */
	const struct str *marks;
	const struct salvage_part *parts;
	/* the key of PART_EVENTS, where events are looked for among garbage;
	 * empty: nowhere */
	struct str list;
};

struct salvage;

struct source_state;

/* in stays the caller's, and is tolerated. */
struct salvage *salvage_open(struct in *in, const struct salvage_rules *rules);
/* The window over what was saved; closed by its reader. */
struct in *salvage_input(struct salvage *sv);
/* Tells what is missing in the source's facts and in the stream's marks. */
void salvage_note(const struct salvage *sv, struct source_state *s);
/* Sums the losses up in a warning and frees sv. */
void salvage_close(struct salvage *sv);

#endif
