/* SPDX-License-Identifier: MIT */
/* Inside tl-merge. */
#ifndef TL_MERGE_H
#define TL_MERGE_H

#include "trace/hold.h"
#include "trace/joined.h"
#include "trace/select.h"

enum align {
	ALIGN_UNSAID, /* by bases, with a check that clocks agree */
	ALIGN_BASE,
	ALIGN_COLLECTIVE,
	ALIGN_NONE,
};

struct input {
	const char *path;
	size_t no;
	/* of its first source, read ahead */
	bool has_rank, has_epoch, is_rank_guess;
	int64_t rank, epoch;
};

struct settings {
	enum align align;
	bool sort_rank, verbose;
	struct select select;
	struct stream_dest dest;
};

/* Of a source's clock, in its time. */
struct drift {
	double drift;
	int64_t middle_ns;
};

struct merge {
	struct settings *set;
	struct dict *st;
	struct stream_out *out;
	struct numbering nb;
	VEC(struct input) inputs;
	joined_list joined; /* all sources of all inputs */
	collective_clock_list clocks;
	bool is_selective; /* events are omitted, not only sources */
	bool has_sections;
	/* of the first source */
	bool has_first, first_has_epoch;
	int64_t first_epoch;
	/* of the current input */
	const struct input *input;
	size_t njoined;    /* of the inputs before it */
	VEC(bool) unasked; /* by its source */
	VEC(struct drift) drifts;
	enum section section;
	/* the prologue: windows are known after it */
	struct hold waiting;
	uint64_t nevents;
};

/* ---- clock.c ---- */

/* Reads ahead the epoch and rank of each input's first source, in files. */
void clock_look(struct merge *m);
/* Notes what a source says of its clock, for joined_check(). */
void clock_note(struct merge *m, const struct source *s, bool is_asked);
/* As collectives show them: see tl-collective(1), --align-clocks. */
void clock_offsets(struct merge *m);
/* Writes a source's record, with its base moved to the first one's clock. */
void clock_source(struct merge *m, const struct source *in);
/* Removes the clock's drift from an event's time. */
void clock_event(const struct merge *m, struct event *ev);

#endif
