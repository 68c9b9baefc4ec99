/* SPDX-License-Identifier: MIT */
/* What the parts of the salvage share: salvage.c, salvage-find.c, loss.c. */
#ifndef TL_DECODE_SALVAGE_PRIV_H
#define TL_DECODE_SALVAGE_PRIV_H

#include "cmd/tl-decode/json/clean.h"
#include "cmd/tl-decode/json/salvage.h"

#define LEVELS_MAX 8

struct level {
	enum part part;
	bool any;      /* something was written into it */
	bool is_after; /* behind a value: a comma is due */
};

struct loss {
	const char *reason; /* a static text */
	uint64_t n;
};

struct salvage_counts {
	uint64_t losses; /* places where bytes were left out */
	uint64_t bytes;  /* how many of them */
	uint64_t mended; /* characters put right in what was kept */
	uint64_t events; /* whole ones */
	bool is_cut;     /* the end is missing, and metadata with it */
};

struct salvage {
	struct in *in; /* the file, the caller's */
	const struct salvage_rules *rules;
	struct cleaner clean;
	struct buf key; /* of the member at hand, in quotes */
	struct buf out; /* goes to the reader from out_at on */
	size_t out_at;
	/*
	 * What seems to stand behind the events waits here: a bracket among
	 * garbage may look like the end of their list.
	 */
	struct buf tail;
	bool in_tail;
	struct level levels[LEVELS_MAX];
	size_t depth;
	bool began, ended, is_done;
	bool has_events; /* their list began */
	uint64_t wasted; /* bytes looked at in vain */
	struct salvage_counts counts;
	VEC(struct loss) losses;
	uint64_t told;
};

static inline struct level *
salvage_top(struct salvage *sv)
{
	return &sv->levels[sv->depth - 1];
}

/* ---- loss.c ---- */

/* n bytes from an offset on are left out. */
void loss_bytes(
    struct salvage *sv, uint64_t at, uint64_t n, const char *reason);
/* What the cleaner mended in the value that begins at in->p. */
void loss_mends(struct salvage *sv);
void loss_mend(struct salvage *sv, uint64_t at, const char *reason);
/* A failure of the compression. */
void loss_damage(struct salvage *sv, const char *damage);
void loss_summary(struct salvage *sv);

/* ---- salvage-find.c ---- */

/* Up to white space's end: the byte there, or -1 at the end of the data. */
int salvage_peek(struct salvage *sv);
/*
 * Cleans the value at in->p, at most so many bytes of it, into clean.out (from
 * empty). in->p stays.
 */
enum clean_status salvage_value(struct salvage *sv, size_t max);
/* Whether it has more members than the reader takes. */
bool salvage_too_large(const struct salvage *sv, enum part part);
/* Whether the value at in->p, a list, has an event as its first element. */
bool salvage_begins_events(struct salvage *sv);
/* At ']': whether the list ends here, by what follows; with to_end, only if
 * all that follows is whole. */
bool salvage_list_ends(struct salvage *sv, enum part part, bool to_end);

enum found {
	FOUND_RECORD,   /* in->p at it; it is in clean.out */
	FOUND_LIST_END, /* in->p at the bracket */
	FOUND_NOTHING,  /* the data end */
};

/* From in->p on, behind its first byte if skip. */
enum found salvage_find(struct salvage *sv, enum part part, bool skip);

#endif
