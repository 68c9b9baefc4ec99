/* SPDX-License-Identifier: MIT */
/* Inside tl-merge. */
#ifndef TL_MERGE_H
#define TL_MERGE_H

#include "trace/hold.h"
#include "trace/joined.h"
#include "trace/select.h"

enum align {
	ALIGN_UNSAID, /* by bases, if clocks agree */
	ALIGN_BASE,
	ALIGN_COLLECTIVE,
	ALIGN_NONE,
};

struct input {
	const char *path;
	size_t no;
	/* of its first source, looked up before work begins */
	bool has_rank, has_epoch, is_rank_guess;
	int64_t rank, epoch;
};

struct settings {
	enum align align;
	bool sort_rank, verbose;
	struct select select;
	struct stream_dest dest;
};

/* Of the clock of a source, in its time. */
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
	bool is_selective; /* events are left out, not only sources */
	bool has_sections;
	/* of the first source */
	bool has_first, first_has_epoch;
	int64_t first_epoch;
	/* of the input at hand */
	const struct input *input;
	size_t njoined;    /* of the inputs before it */
	VEC(bool) unasked; /* by its source */
	VEC(struct drift) drifts;
	enum section section;
	/* of the prologue: the windows are known behind it */
	struct hold waiting;
	uint64_t nevents;
};

/* ---- clock.c ---- */

/* The epoch and rank of each input's first source, for those that are files. */
void clock_look(struct merge *m);
/* What a source of the input says of its clock, for joined_check(). */
void clock_note(struct merge *m, const struct source *s, bool is_asked);
/* As collectives tell them: see tl-collective(1), --align-clocks. */
void clock_offsets(struct merge *m);
/* Writes a source's record, its base moved to the first one's clock. */
void clock_source(struct merge *m, const struct source *in);
/* Its time, without what the clock drifts by. */
void clock_event(const struct merge *m, struct event *ev);

#endif
