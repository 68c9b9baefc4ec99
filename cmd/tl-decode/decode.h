/* SPDX-License-Identifier: MIT */
/*
 * tl-decode: a source is one input on its way into the stream. format.c
 * recognizes it; a format, in a folder of its own, reads it with source.c;
 * main.c has the options.
 */
#ifndef TL_DECODE_H
#define TL_DECODE_H

#include "io/io.h"
#include "stream/category.h"
#include "stream/maker.h"
#include "stream/rank.h"
#include "json/json.h"

/*
 * At this size, strings and the tables that refer to them are cleared, here and
 * by a clear record in readers.
 */
#define DECODE_MAX_TABLES (UINT64_C(64) << 20)
/*
 * Later times, some 146 years from the epoch, do not count but are kept as
 * written: so differences and ends never overflow.
 */
#define DECODE_MAX_NS (INT64_C(1) << 62)

struct settings {
	struct stream_dest dest;
	uint32_t kinds;  /* to write */
	const char *dir; /* -d */
	int jobs;
	struct rank_rule *rank_rule;
	struct dumps *dumps; /* --xla-dump, or NULL */
	unsigned repairs;    /* REPAIR_ bits */
	bool no_python;
	bool salvage;
	bool verbose;
};

/*
 * Whether events of this kind and phase are written. B and E of frames always
 * are: without them another E would end an op.
 */
static inline bool
settings_want(const struct settings *set, enum kind kind, unsigned char ph)
{
	return (set->kinds & KIND_BIT(kind)) != 0 &&
	    !(set->no_python && kind == KIND_PYTHON && ph == 'X');
}

/* For -v. */
struct counts {
	uint64_t events, kinds[KIND_COUNT];
	uint64_t clamped, no_ts, no_phase;
	uint64_t bytes, compressed;
};

/* Why no table can count an event; it is in the stream. */
enum skip {
	SKIP_NONE,
	SKIP_TIME,
	SKIP_DURATION,
	SKIP_PHASE,
	SKIP_CATEGORY,
	SKIP_ASYNC,
	SKIP_COUNT
};

/* What --salvage lost. */
struct losses {
	uint64_t n, bytes, mended;
	bool is_cut; /* the end is missing */
};

/* One input; source_close() releases all, wherever reading stopped. */
struct source_state {
	const struct settings *set;
	struct in *in;
	struct stream_out *out;
	struct dict *dict;
	struct counts *counts;
	const char *path; /* as given; in->name may differ */
	char *inner;      /* path of an archive's member, or NULL */
	uint32_t src;
	uint64_t next_id;
	bool is_inside;    /* a member of an archive: it has no lines */
	bool can_salvage;  /* supported by the format */
	bool is_binary;    /* has no lines */
	bool events_ended; /* metadata from now on follows the events */
	bool has_base;
	int64_t base_ns;
	struct facts facts;
	uint64_t skipped[SKIP_COUNT];
	/*
	 * the earliest time, and that of names of processes and threads, which
	 * is outside the recording; INT64_MAX: none
	 */
	int64_t first_ns, first_meta_ns;
	struct dump_use *dumps; /* of settings' dumps, or NULL */
	/* the format's state, released wherever reading stopped */
	void *reading;
	void (*release)(void *reading);
};

/* ---- source.c ---- */

/* Writes the facts that every input has. */
void source_begin(struct source_state *s);
/* Completes the facts after the last event. */
void source_end(struct source_state *s);
/* Begins a source of several in one input; src: its number. */
void source_again(struct source_state *s);
/* Ends a source and begins the next. */
void source_next(struct source_state *s);
/* Releases the format's state after reading. */
void source_release(struct source_state *s);
/* Releases the source, not its input. */
void source_close(struct source_state *s);
/* Ends the program with file, byte and line of a place in the window. */
noreturn void source_die(
    struct source_state *s, const unsigned char *where, const char *reason);
/* The same for an offset in decompressed bytes. */
noreturn void source_die_at(
    struct source_state *s, uint64_t at, const char *reason);
/* Ends the program if decompression failed at the data's end. */
void source_check(struct source_state *s);
/*
 * Ends salvaging: warns of losses, and marks source and stream. Ends the
 * program if none of the records is whole.
 */
void source_salvaged(
    struct source_state *s, struct losses *l, uint64_t records);
static inline bool
source_is_time(int64_t ns)
{
	return (uint64_t)ns + DECODE_MAX_NS < 2 * (uint64_t)DECODE_MAX_NS;
}

/* Blocks of one dimension: AMD's formats count work-items. */
static inline int64_t
decode_blocks(int64_t items, int64_t block)
{
	if (block < 1)
		block = 1;
	return items > 0 ? (items - 1) / block + 1 : 1;
}

/* Writes the facts so far. */
void source_emit(struct source_state *s, bool final);
/* Sets the base by the first time, and reports it; returns ts - base. */
int64_t source_first_time(struct source_state *s, int64_t ns);
static inline int64_t
source_time(struct source_state *s, int64_t ns)
{
	int64_t rel;

	if (LIKELY(
		s->has_base && !__builtin_sub_overflow(ns, s->base_ns, &rel)))
		return rel;
	return source_first_time(s, ns);
}
/*
 * Between events: clears strings if they and more bytes of tables are too
 * large; returns whether it did.
 */
bool source_trim(struct source_state *s, size_t more);
/* Writes an event of a wanted kind, and counts it. */
void source_event(struct source_state *s, struct event *ev);
/*
 * Ends and writes the maker's event; true: strings were cleared, see
 * source_trim().
 */
bool source_write(struct source_state *s, struct maker *m);
/* Writes metadata; value's text stays the caller's. */
void source_meta(struct source_state *s, struct str key, struct value v);
/* Takes facts from a member of PyTorch's metadata; text is inline. */
void source_member(
    struct source_state *s, struct str key, const struct value *v);
/* ---- skip.c ---- */

/* Whether tables count events of this kind by their time. */
bool skip_is_timed(enum kind kind);
/* Why tables cannot count an event with these fields. */
enum skip skip_of_shape(enum kind kind, unsigned char ph, unsigned has);
/*
 * Whether an event of this phase, or without one, is work by its category only.
 */
bool kind_is_lost(enum kind kind, struct str cat);
/*
 * Why tables cannot count it then. An asynchronous event counts at its begin;
 * annotations are no work.
 */
enum skip skip_of_lost(enum kind kind, unsigned char ph, struct str cat);
/* Sets the fact "skipped", and warns. */
void skip_report(struct source_state *s);

/* ---- format.c ---- */

/* Reads the input by its format; ends the program if it has none. */
void format_read(struct source_state *s);
/* Ends the program with a guess at the format. */
noreturn void format_die(struct source_state *s);

/* ---- guess.c ---- */

/* What the first bytes look like, for a message, or NULL. */
const char *guess_bytes(const unsigned char *p, size_t len);
/* What a JSON object without events might be, by one of its keys, or NULL. */
const char *guess_key(struct str key);

#endif
