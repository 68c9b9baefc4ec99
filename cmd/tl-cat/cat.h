/* SPDX-License-Identifier: MIT */
/* What tl-cat's parts share. */
#ifndef TL_CAT_H
#define TL_CAT_H

#include "trace/select-front.h"

enum mode {
	MODE_STREAM, /* NDJSON, or binary with --binary */
	MODE_TSV,
	MODE_HEADER,
	MODE_CHECK,
	MODE_RESEAL,
};

struct settings {
	enum mode mode;
	struct stream_dest dest;
	bool binary, abs, no_header;
	const char *fields; /* -F */
	const char *from;   /* --from */
	uint32_t kinds;     /* --kind, --skip */
	struct select_front select;
	int64_t head; /* -n: events, or INT64_MAX */
	VEC(struct uid_pick) picks;
	char *const *files; /* ends with NULL; never empty */
};

/* Whether events are omitted, so that a tree is no longer one. */
static inline bool
is_selective(const struct settings *set)
{
	return set->kinds != KINDS_ALL || set->picks.n > 0;
}

bool is_picked(const struct settings *set, const struct event *ev);
/* After reading: ends the program if no event was picked. left: of --head. */
void cat_check_picks(const struct settings *set, int64_t left);

/* What a source's records have said so far. */
struct known {
	bool is_told, is_final, has_base;
	int64_t base_ns;
	struct value rank;
	size_t nfacts;
	struct fact *facts; /* in the arena of sources */
};

/* The sources of all inputs, and what is known of them. */
struct sources {
	struct numbering numbers;
	VEC(struct known) known; /* by our number */
	struct arena *mem;
};

void sources_start(struct sources *ss, struct dict *dict);
/* Numbers the source, and keeps what it says. */
void sources_tell(struct sources *ss, struct source *s);
void sources_meta(struct sources *ss, struct meta *m);
/* ts plus its source's base; ends the program without one. */
int64_t sources_abs(const struct sources *ss, const struct stream_in *in,
    const struct event *ev);

void cat_stream(const struct settings *set);
void cat_tsv(const struct settings *set);
void cat_header(const struct settings *set);
/* Returns the exit status. */
int cat_check(const struct settings *set);
void cat_reseal(const struct settings *set);

#endif
