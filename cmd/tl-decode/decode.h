/* SPDX-License-Identifier: MIT */
/*
 * tl-decode's parts. A source is one input on its way into the stream: chrome.c
 * and rocprof.c read a format, event.c one event of a Chrome trace, format.c
 * tells what an input is, main.c knows the options.
 */
#ifndef TL_DECODE_H
#define TL_DECODE_H

#include "stream/maker.h"
#include "json/json.h"

#include <regex.h>

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
	regex_t rank_regex;
	bool has_rank_regex;
	bool salvage;
	bool verbose;
};

/* What -v tells. */
struct counts {
	uint64_t events, kinds[KIND_COUNT];
	uint64_t clamped, no_ts, no_phase;
	uint64_t bytes, compressed;
};

struct event_reader;
struct process;

/* What a source holds is released by source_close(), wherever it stopped. */
struct source_state {
	const struct settings *set;
	struct in *in;
	struct json json;
	struct stream_out *out;
	struct strings *strings;
	struct counts *counts;
	uint32_t src;
	uint64_t next_id;
	bool events_began;
	bool events_ended; /* metadata from now on stand behind them */
	bool has_base;
	int64_t base_ns;
	struct facts facts;
	struct buf key, text; /* the member of the file at hand */
	struct event_reader *reader;
	struct process *process;
	int64_t window_start, window_end; /* of all processes so far */
	bool has_window;
	/* the earliest time, and that of names of processes and threads,
	 * which is no time of the recording; INT64_MAX: none */
	int64_t first_ns, first_meta_ns;
};

/* ---- source.c ---- */

/* Releases what the source holds, but not its input. */
void source_close(struct source_state *s);
/* Dies with file, byte and line of a place in the window. */
noreturn void source_die(
    struct source_state *s, const unsigned char *where, const char *reason);
/* The same with an offset in the decompressed bytes. */
noreturn void source_die_at(
    struct source_state *s, uint64_t at, const char *reason);
/* The window as JSON bytes after a change of it; sets json.p from in->p. */
void source_window(struct source_state *s);
/* Ends with the failure of a compression that stands at the data's end. */
void source_check(struct source_state *s);
/* More bytes from s->in->p on; at the end json.eof is set. */
void source_need_more(struct source_state *s);
/* After JSON_BAD dies; after JSON_MORE makes the window grow. */
void source_retry(struct source_state *s, enum json_status status);
static inline bool
source_is_time(int64_t ns)
{
	return (uint64_t)ns + DECODE_MAX_NS < 2 * (uint64_t)DECODE_MAX_NS;
}

/* Tells the facts so far. */
void source_tell(struct source_state *s, bool final);
/* Fixes the base by the first time seen, telling it; then ts - base. */
int64_t source_time(struct source_state *s, int64_t ns);
/* Between events: whether strings and more bytes of tables are too many, and
 * were forgotten, here and in the readers. */
bool source_trim(struct source_state *s, size_t more);
/* Writes one event if its kind is wanted, and counts it. */
void source_event(struct source_state *s, struct event *ev);
/* Passes on metadata; value's text stays the caller's. */
void source_meta(struct source_state *s, struct str key, struct value v);
/* Any JSON value at the cursor; text in *text (minified for lists). */
enum json_status source_value(
    struct source_state *s, struct buf *text, struct value *v);

/* ---- format.c ---- */

/* What the first bytes look like, for a message; NULL: JSON. */
const char *format_guess(const unsigned char *p, size_t len);
/* What a JSON object without events might be, by one of its keys. */
const char *format_guess_key(struct str key);

/* ---- chrome.c, rocprof.c ---- */

/* The whole input: cursor at the first byte that is no white space. */
void json_source(struct source_state *s);
/* Cursor at the value of "rocprofiler-sdk-tool". */
void rocprof_read(struct source_state *s);
void rocprof_close(struct process *p);

/* ---- event.c ---- */

struct event_reader *event_reader_create(struct source_state *s);
void event_reader_destroy(struct event_reader *r);
/* Cursor at '{': reads one event and writes it. */
enum json_status event_read(struct event_reader *r) USE_RESULT;
/* Between events: forgets all when the tables are full. */
void event_reader_trim(struct event_reader *r);

#endif
