/* SPDX-License-Identifier: MIT */
/* read: how programs open and read streams. */
#ifndef TL_STREAM_READ_H
#define TL_STREAM_READ_H

#include "io/io.h"
#include "stream/dict.h"
#include "stream/event.h"
#include "stream/source.h"

enum want {
	WANT_STREAM, /* whatever it is */
	WANT_LINKED, /* linked, by tl-link if it isn't */
	WANT_TREE,   /* a tree, by tl-tree if it isn't */
	WANT_PSEUDO, /* a tree with pseudo-ops, by tl-graft if it has none */
};

enum item {
	ITEM_END = 0,
	ITEM_EVENT,
	ITEM_SOURCE,
	ITEM_META,
	ITEM_SECTION,
};

/* A file of op models for the tl-graft of WANT_PSEUDO; path is borrowed. */
void stream_pseudo_models(const char *path);

struct stream_in {
	/* the item just read */
	struct event ev;
	struct source source;
	struct meta meta;
	enum section section;
	/* facts of the stream */
	struct dict *dict;
	unsigned marks; /* final at ITEM_END */
	size_t nprov;
	const struct prov *prov;
	uint64_t nevents; /* read so far, with skipped ones */
	const char *name;
	bool is_told;           /* warnings about the trace were printed */
	struct stream_dec *dec; /* private */
};

/*
 * Whether to open a file found in a folder, by its name: plain, .gz or .zst,
 * and not hidden. A folder may have a run in several formats: only the first
 * format found is read. The order: XPlane (JAX writes part of it as .json,
 * too); .json, .ndjson and .tl; databases; Perfetto; CSV; dumps of the flight
 * recorder.
 */
#define STREAM_FORMS 6
bool stream_is_name(struct str name, unsigned form) USE_RESULT;
/*
 * Appends a file, or a folder's files by name, rank2 before rank10; deep: also
 * those of its folders. A folder without any ends the program. Of a run's files
 * only one is added. The caller frees the paths.
 */
typedef VEC(char *) path_vec;
void stream_paths(path_vec *to, const char *path, bool deep);
/* Sorts host2 before host10, if the list is in the order of a shell's glob. */
void stream_paths_order(path_vec *paths);
/* Of operands that are tables of one run keeps the first: all are read with
 * it. */
void stream_unite(struct optparse *op);
/* Ends the program if a file of this list, NULL at the end, cannot be read. For
 * use before work begins. */
void stream_check_files(char *const *files);
/*
 * Opens a stream in either encoding, or a raw trace through tl-decode. For
 * WANT_LINKED, WANT_TREE or WANT_PSEUDO runs tl-link, tl-tree or tl-graft on it
 * if needed. strings NULL: the reader creates and owns them.
 */
struct stream_in *stream_open(
    const char *path, struct dict *dict, enum want want);
/* Whether it is a stream, not a raw trace; reads nothing. */
bool stream_is_one(struct in *in);
/* Over an input already open (messages use its name). */
struct stream_in *stream_open_in(
    struct in *in, struct dict *dict, enum want want);
/*
 * Opens the output of one of our programs, such as tl-filter, for a stream or
 * trace; words are its options, NULL at the end.
 */
struct stream_in *stream_open_through(const char *path, struct dict *dict,
    enum want want, const char *program, char *const *words);
/* Skips events of other kinds, which is much cheaper. */
void stream_only(struct stream_in *in, uint32_t kinds);
/*
 * Of these kinds only times, name, thread, uid and flags are set, as in
 * shape->has; all other fields hold anything. For calls, depth and a
 * correlation that is an integer are set, too.
 */
void stream_only_heads(struct stream_in *in, uint32_t kinds);
/* In a tree also skips host events without GPU work below them. */
void stream_only_owners(struct stream_in *in);
/*
 * stream_open() with stream_only(), before work begins. When it creates the
 * stream from a raw trace, it omits what it can of other kinds: for WANT_STREAM
 * all of them, for WANT_TREE Python frames. Such a stream is marked edited.
 */
struct stream_in *stream_open_only(
    const char *path, struct dict *dict, enum want want, uint32_t kinds);
/*
 * The next item, with its content in *in. ITEM_END only after the end record;
 * the end of a salvaged stream is a warning.
 */
enum item stream_next(struct stream_in *in);
/*
 * The next heads, n at most and all of one source, without an item for each. 0:
 * none, or stream_next() has to read what comes next.
 */
size_t stream_heads(struct stream_in *in, struct event_head *v, size_t n);
/* Ends the program if events were removed from a stream that is no tree: owners
 * would be wrong. */
void stream_refuse_edited(const struct stream_in *in);
/* Waits for helpers; their failure ends the program. */
void stream_close(struct stream_in *in);

/* ---- several inputs to one stream ---- */

/*
 * The sources of several inputs, kept distinct: each input's numbers continue
 * after those before. Start with zeroes and the strings of all inputs.
 */
struct numbering {
	struct dict *dict;
	uint32_t first, next; /* of this input; after the highest so far */
	VEC(uint32_t) tracks; /* maps this input's track to ours + 1 */
};

/* Starts another input. */
void numbering_input(struct numbering *nb);
/* Our number of an input's source; too many are an error. */
uint32_t numbering_source(struct numbering *nb, uint32_t src);
/* Changes its source and track to ours. */
void numbering_event(struct numbering *nb, struct event *ev);

#endif
