/* SPDX-License-Identifier: MIT */
/* read: streams as programs open and read them. */
#ifndef TL_STREAM_READ_H
#define TL_STREAM_READ_H

#include "io/io.h"
#include "stream/dict.h"
#include "stream/event.h"
#include "stream/source.h"

enum want {
	WANT_STREAM, /* whatever the stream is */
	WANT_LINKED, /* linked, through tl-link if it isn't */
	WANT_TREE,   /* a tree, through tl-tree if it isn't */
	WANT_PSEUDO, /* a tree with pseudo-ops, through tl-graft likewise */
};

enum item {
	ITEM_END = 0,
	ITEM_EVENT,
	ITEM_SOURCE,
	ITEM_META,
	ITEM_SECTION,
};

/* A file of op models for the tl-graft that WANT_PSEUDO may run; path stays. */
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
	uint64_t nevents; /* read so far, skipped ones too */
	const char *name;
	bool is_told; /* set: warnings about the trace have been said */
	struct stream_dec *dec; /* private */
};

/*
 * Whether a file found in a folder is to be opened, by its name, plain, .gz or
 * .zst, and not hidden. A run may be there in several forms, so a form is
 * looked for only where those before it are not: XPlane, beside which JAX
 * writes a part of it as .json; .json, .ndjson and .tl; databases; Perfetto's;
 * CSV; dumps of the flight recorder.
 */
#define STREAM_FORMS 6
bool stream_is_name(struct str name, unsigned form) USE_RESULT;
/*
 * Appends a file, or those of a folder in the order of their names, rank2
 * before rank10; deep: those of the folders in it too. It ends the program when
 * a folder has none. A file of a run that is there already isn't added. The
 * paths are the caller's to free.
 */
typedef VEC(char *) path_vec;
void stream_paths(path_vec *to, const char *path, bool deep);
/* host2 before host10, if they are in the order of a shell's list. */
void stream_paths_order(path_vec *paths);
/* Of operands that are tables of one run the first stays: all are read with
 * it. */
void stream_unite(struct optparse *op);
/* Before work begins: a file of these, ended by NULL, that can't be read ends
 * the program. */
void stream_check_files(char *const *files);
/*
 * Opens a stream, in either encoding, or a raw trace, on which tl-decode is
 * run. With WANT_LINKED, WANT_TREE or WANT_PSEUDO a stream that isn't so far is
 * led through tl-link, tl-tree or tl-graft. strings NULL: made, and owned by
 * the reader.
 */
struct stream_in *stream_open(
    const char *path, struct dict *dict, enum want want);
/* Whether it is a stream, not a raw trace; nothing is read. */
bool stream_is_one(struct in *in);
/* Over an input already open (its name is used in messages). */
struct stream_in *stream_open_in(
    struct in *in, struct dict *dict, enum want want);
/*
 * Opens what one of our programs, such as tl-filter, makes of a stream or
 * trace; words, ended by NULL, are its options.
 */
struct stream_in *stream_open_through(const char *path, struct dict *dict,
    enum want want, const char *program, char *const *words);
/* Events of other kinds are passed over, which is much cheaper. */
void stream_only(struct stream_in *in, uint32_t kinds);
/*
 * Of these kinds only times, name, thread, uid and flags are set, as in
 * shape->has; all other fields hold anything. For calls, depth and a
 * correlation that is an integer are set, too.
 */
void stream_only_heads(struct stream_in *in, uint32_t kinds);
/* Nor, of a tree, events of the host that have no GPU work below them. */
void stream_only_owners(struct stream_in *in);
/*
 * stream_open() with stream_only(), before work begins: what makes the stream
 * of a raw trace leaves out what it can of the other kinds, for WANT_STREAM all
 * of them and for WANT_TREE Python frames; such a stream is marked edited.
 */
struct stream_in *stream_open_only(
    const char *path, struct dict *dict, enum want want, uint32_t kinds);
/*
 * The next item; its content is in *in. ITEM_END only after the end record;
 * that of a stream salvaged from a damaged trace is a warning.
 */
enum item stream_next(struct stream_in *in);
/*
 * Heads that come next, n at most and all of one source, without an item for
 * each; 0: there is none, or stream_next() gives it.
 */
size_t stream_heads(struct stream_in *in, struct event_head *v, size_t n);
/* Ends the program if events were removed and it is no tree: owners of what is
 * left would be wrong. */
void stream_refuse_edited(const struct stream_in *in);
/* Waits for helpers; their failure ends the program. */
void stream_close(struct stream_in *in);

/* ---- several inputs to one stream ---- */

/*
 * The sources of several inputs, kept apart: each input's are numbered on from
 * those before. Zeroes to start with, and the strings of all inputs.
 */
struct numbering {
	struct dict *dict;
	uint32_t first, next; /* of this input; behind the highest so far */
	VEC(uint32_t) tracks; /* this input's track to ours + 1 */
};

/* Another input begins. */
void numbering_input(struct numbering *nb);
/* Our number of an input's source; too many end the program. */
uint32_t numbering_source(struct numbering *nb, uint32_t src);
/* Its source and track become ours. */
void numbering_event(struct numbering *nb, struct event *ev);

#endif
