/* SPDX-License-Identifier: MIT */
/* write: how programs write streams. */
#ifndef TL_STREAM_WRITE_H
#define TL_STREAM_WRITE_H

#include "stream/read.h"

struct stream_dest {
	const char *path; /* -o */
	bool ndjson;
	bool bare; /* NDJSON events only: no stream */
	bool zstd;
	int zstd_level;
};

#define OPT_STREAM_NDJSON OPT_OF_STREAM
/* clang-format off */
#define OPT_STREAM_OUT                                                         \
	{ OPT_STREAM_NDJSON, "ndjson", NULL, "write NDJSON instead of binary" }, \
	{ 'o', "output", "FILE", "write to FILE, complete or not at all" }, \
	{ 'z', "zstd", "[LEVEL]", "compress the output with zstd" }
/* clang-format on */

/* Handles a shared option; false if ch is none. */
bool stream_dest_opt(struct stream_dest *d, const struct optparse *op, int ch);

struct stream_out;

/*
 * Begins a stream with these marks, the provenance of in (if not NULL) and the
 * program's own line. Binary to a terminal is a usage error. Events must use
 * the numbers of strings.
 *
 * eager: strings are written in the order of their numbers, all up to the
 * highest in use, so that encoded values can be copied as they are: right when
 * most of them will be used. Otherwise a string is written when first used.
 */
struct stream_out *stream_create(const struct stream_dest *dest,
    struct dict *dict, const struct stream_in *in, unsigned marks, bool eager);
void stream_write(struct stream_out *out, const struct event *ev);
void stream_write_source(struct stream_out *out, const struct source *s);
void stream_write_meta(struct stream_out *out, const struct meta *m);
void stream_write_section(struct stream_out *out, enum section s);
/* Writes the item just read, unchanged. */
void stream_pass_on(
    struct stream_out *out, const struct stream_in *in, enum item item);
void stream_mark(struct stream_out *out, unsigned marks);
/* The strings were cleared: readers must forget theirs, too. Binary only. */
void stream_write_clear(struct stream_out *out);
/* Flushes (for readers that wait). */
void stream_flush(struct stream_out *out);
/*
 * Closes the file and frees most memory until there is more to write: for many
 * streams written in turn. See out_park().
 */
void stream_park(struct stream_out *out);
/* Writes the end record, flushes, renames into place; frees out. */
void stream_finish(struct stream_out *out);
uint64_t stream_written(const struct stream_out *out);

#endif
