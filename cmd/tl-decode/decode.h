/* SPDX-License-Identifier: MIT */
/*
 * tl-decode's parts. A source is one input on its way into the stream: format.c
 * finds out what it is and has it read by a format, each of which is a folder;
 * source.c is what all formats write with, main.c knows the options.
 */
#ifndef TL_DECODE_H
#define TL_DECODE_H

#include "io/io.h"
#include "stream/category.h"
#include "stream/maker.h"
#include "stream/rank.h"
#include "json/json.h"

/*
 * When strings and the tables that go with them have grown to this, they are
 * forgotten, here and by a clear record in the readers.
 */
#define DECODE_MAX_TABLES (UINT64_C(64) << 20)
/*
 * Times beyond, some 146 years from the epoch, are kept as written, but are no
 * times: so differences and ends never overflow.
 */
#define DECODE_MAX_NS (INT64_C(1) << 62)

struct settings {
	struct stream_dest dest;
	uint32_t kinds;  /* those to write */
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
 * Whether events of this kind and phase are to be written. A frame's B and E
 * are, without frames, too: another's E would meet the B of an op.
 */
static inline bool
settings_want(const struct settings *set, enum kind kind, unsigned char ph)
{
	return (set->kinds & KIND_BIT(kind)) != 0 &&
	    !(set->no_python && kind == KIND_PYTHON && ph == 'X');
}

/* What -v tells. */
struct counts {
	uint64_t events, kinds[KIND_COUNT];
	uint64_t clamped, no_ts, no_phase;
	uint64_t bytes, compressed;
};

/* Why no table can count an event; the stream has it all the same. */
enum skip {
	SKIP_NONE,
	SKIP_TIME,
	SKIP_DURATION,
	SKIP_PHASE,
	SKIP_CATEGORY,
	SKIP_ASYNC,
	SKIP_COUNT
};

/* What --salvage could not get out of an input. */
struct losses {
	uint64_t n, bytes, mended;
	bool is_cut; /* the end is missing */
};

/* One input; source_close() releases what it holds, wherever it stopped. */
struct source_state {
	const struct settings *set;
	struct in *in;
	struct stream_out *out;
	struct dict *dict;
	struct counts *counts;
	const char *path; /* as given; in->name may be another */
	char *inner;      /* the path of a member of an archive, or NULL */
	uint32_t src;
	uint64_t next_id;
	bool is_inside;    /* of an archive: a member, that has no lines */
	bool can_salvage;  /* the format can, as far as it is known */
	bool is_binary;    /* it has no lines */
	bool events_ended; /* metadata from now on stand behind them */
	bool has_base;
	int64_t base_ns;
	struct facts facts;
	uint64_t skipped[SKIP_COUNT];
	/* the earliest time, and that of names of processes and threads,
	 * which is no time of the recording; INT64_MAX: none */
	int64_t first_ns, first_meta_ns;
	struct dump_use *dumps; /* of settings' dumps, or NULL */
	/* what the format holds, to be released wherever it stopped */
	void *reading;
	void (*release)(void *reading);
};

/* ---- source.c ---- */

/* Writes the facts that the input has whatever it is. */
void source_begin(struct source_state *s);
/* Completes the facts when all events are written. */
void source_end(struct source_state *s);
/* Of an input of several sources: begins one, by its number in src. */
void source_again(struct source_state *s);
/* Ends one and begins another. */
void source_next(struct source_state *s);
/* Releases what the format holds, which has read all. */
void source_release(struct source_state *s);
/* Releases what the source holds, but not its input. */
void source_close(struct source_state *s);
/* Dies with file, byte and line of a place in the window. */
noreturn void source_die(
    struct source_state *s, const unsigned char *where, const char *reason);
/* The same with an offset in the decompressed bytes. */
noreturn void source_die_at(
    struct source_state *s, uint64_t at, const char *reason);
/* Ends with the failure of a compression that stands at the data's end. */
void source_check(struct source_state *s);
/* Ends salvaging: what is missing is warned of, a fact of the source and a mark
 * of the stream. Dies where none of so many records is whole. */
void source_salvaged(
    struct source_state *s, struct losses *l, uint64_t records);
static inline bool
source_is_time(int64_t ns)
{
	return (uint64_t)ns + DECODE_MAX_NS < 2 * (uint64_t)DECODE_MAX_NS;
}

/* Blocks along one dimension: AMD's formats count the work-items in them. */
static inline int64_t
decode_blocks(int64_t items, int64_t block)
{
	if (block < 1)
		block = 1;
	return items > 0 ? (items - 1) / block + 1 : 1;
}

/* Writes the facts so far. */
void source_emit(struct source_state *s, bool final);
/* Fixes the base by the first time seen, telling it; then ts - base. */
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
/* Between events: whether strings and more bytes of tables are too many, and
 * were forgotten, here and in the readers. */
bool source_trim(struct source_state *s, size_t more);
/* Writes one event if its kind is wanted, and counts it. */
void source_event(struct source_state *s, struct event *ev);
/* Ends and writes the event in the making; true: strings were forgotten, see
 * source_trim(). */
bool source_write(struct source_state *s, struct maker *m);
/* Passes on metadata; value's text stays the caller's. */
void source_meta(struct source_state *s, struct str key, struct value v);
/* The facts in a member of PyTorch's metadata; text is inline. */
void source_member(
    struct source_state *s, struct str key, const struct value *v);
/* ---- skip.c ---- */

/* Whether tables count events of this kind, by their time. */
bool skip_is_timed(enum kind kind);
/* Why they can't count one with these fixed fields, by kind and phase. */
enum skip skip_of_shape(enum kind kind, unsigned char ph, unsigned has);
/* Whether an event of this phase, or of none, is work of which only the
 * category tells so. */
bool kind_is_lost(enum kind kind, struct str cat);
/* Why tables can't count it, then. What is asynchronous counts where it
 * begins; a user's annotation is no work. */
enum skip skip_of_lost(enum kind kind, unsigned char ph, struct str cat);
/* Sets the fact of the source's skipped events, and warns of what it lacks. */
void skip_report(struct source_state *s);

/* ---- format.c ---- */

/* Reads the whole input, whatever its format; dies when it is in none. */
void format_read(struct source_state *s);
/* Dies with a guess at what it is instead. */
noreturn void format_die(struct source_state *s);

/* ---- guess.c ---- */

/* What the first bytes look like, for a message; NULL: nothing known. */
const char *guess_bytes(const unsigned char *p, size_t len);
/* What a JSON object without events might be, by one of its keys; or NULL. */
const char *guess_key(struct str key);

#endif
