/* SPDX-License-Identifier: MIT */
/*
 * The inside of input, for common/io/in*.c only.
 *
 *	raw  ->  codec  ->  ring  ->  window		gzip, zstd
 *	raw  ------------------->  window		plain pipes
 *	mapping  --------------->  window		plain files
 *
 * raw reads the descriptor. A codec is pure: it turns raw bytes into plain
 * ones and says how it went. The ring runs a codec in a thread of its own.
 */
#ifndef TL_IO_IN_PRIV_H
#define TL_IO_IN_PRIV_H

#include <stdatomic.h>

#include "io/io.h"

/* One read(2): large enough to hide system calls, small enough for L2. */
#define RAW_SIZE ((size_t)128 << 10)

struct in_raw {
	int fd;
	int wake;      /* readable: stop waiting for fd; or -1 */
	bool may_wait; /* not a regular file */
	bool eof;
	bool woken;
	int error;              /* errno of a failed read; eof is set too */
	unsigned char *p, *end; /* bytes available, in buf */
	unsigned char *buf;
	uint64_t size;           /* of the file, or 0 */
	_Atomic(uint64_t) total; /* bytes read: those before end */
};

/* Keeps [p, end) and reads up to n more. False at the end, error or wake. */
bool raw_fill(struct in_raw *raw, size_t n);
/* Would a read have to wait? */
bool raw_would_wait(const struct in_raw *raw);
/* read(2) that handles EINTR and EAGAIN; 0 is the end or an error. */
size_t raw_read(struct in_raw *raw, void *dst, size_t n);
/* Bytes read so far, and the offset of raw->p among them. */
uint64_t raw_total(const struct in_raw *raw);
uint64_t raw_offset(const struct in_raw *raw);

/* ---- codecs ---- */

enum step {
	STEP_FULL,   /* no room is left */
	STEP_HUNGRY, /* more input is needed; never after raw->eof */
	STEP_END,    /* the data are complete */
	STEP_FAULT,
};

/* Where a codec writes plain bytes, and reports what is wrong. */
struct sink {
	unsigned char *p, *end;
	char fault[160];
};

struct codec {
	void *(*create)(void);
	enum step (*step)(void *state, struct in_raw *raw, struct sink *out);
	void (*destroy)(void *state);
};

extern const struct codec codec_gzip;
extern const struct codec codec_zstd;

enum step sink_fault(struct sink *out, uint64_t offset, const char *why);

/* ---- the ring ---- */

struct ring;

/* Plain bytes inside the ring, with headroom before and IN_PAD zeros behind. */
struct chunk {
	unsigned char *p;
	size_t len;
	bool last;
};

#define RING_HEADROOM ((size_t)64 << 10)

/* Borrows raw until ring_close(). */
struct ring *ring_open(const struct codec *codec, struct in_raw *raw);
/* Waits for the next chunk, which is the caller's until given back. */
struct chunk ring_next(struct ring *r);
/* Gives back all chunks but the n taken last. */
void ring_keep(struct ring *r, size_t n);
/* After the last chunk: NULL, or what was wrong. */
const char *ring_fault(const struct ring *r);
void ring_close(struct ring *r);

/* ---- mapped files ---- */

struct in_map {
	unsigned char *base;
	size_t len;      /* of the file */
	size_t reserved; /* of address space */
	size_t released; /* pages before it were given back */
	struct map_note *note;
};

/* False if the file can't be mapped, and has to be read. */
bool map_open(struct in_map *m, int fd, uint64_t size, const char *name);
/*
 * Drops the pages before p and asks for those after; returns where to call it
 * next.
 */
const unsigned char *map_release(struct in_map *m, const unsigned char *p);
/* Drops the pages in between. */
void map_forget(
    struct in_map *m, const unsigned char *from, const unsigned char *to);
void map_close(struct in_map *m);

/* ---- the source of a struct in ---- */

struct in_source {
	struct in_raw raw;
	struct in_map map;
	struct ring *ring;
	in_filter_fn *filter; /* instead of reading raw */
	void *filter_arg;
	/* The window of pipes, and of tails too long for the ring. */
	unsigned char *side;
	size_t side_cap; /* without IN_PAD */
	bool at_side;
	bool ring_ended; /* its last chunk was taken */
	bool tolerant;
	char *name;
	char damage[192];
};

#endif
