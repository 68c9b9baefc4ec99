/* SPDX-License-Identifier: MIT */
/*
 * io: bytes in, bytes out, and the progress line. Only this area calls
 * read(2) and write(2) on data.
 *
 * Input is a window [p, end) over the decompressed bytes of a path, of "-" or
 * of a descriptor. gzip (several members) and zstd (several frames) are seen by
 * their first bytes and inflated in a thread of their own; plain files are
 * mapped. Behind end stand IN_PAD zero bytes that may be read, so a scanner
 * needs no bounds check until it meets a zero.
 *
 *	struct in *in = in_open("trace.json.gz");
 *	while (parse(in->p, in->end) == NEED_MORE)
 *		if (!in_more(in))
 *			break;			(end of data)
 *	in->p += used;
 *
 * A damaged or unreadable input ends the program with file, byte and reason:
 * there is the end of the data, or a named failure, and nothing between. With
 * in_tolerate() the damage is an early end instead, described by in_damage().
 */
#ifndef TL_IO_H
#define TL_IO_H

#include <signal.h>

#include "base/base.h"

#define IN_PAD 64
/* The longest piece that a reader may ask to see at once. */
#define IN_MAX_WINDOW (UINT64_C(1) << 30)

enum in_kind {
	IN_PLAIN,
	IN_GZIP,
	IN_ZSTD,
};

struct in {
	const unsigned char *p;   /* the caller moves it forward */
	const unsigned char *end; /* end of the bytes at hand */
	bool eof;                 /* nothing comes behind end */
	const char *name;         /* for messages: the path, or "stdin" */
	/* private from here */
	uint64_t end_offset; /* offset of end in the decompressed bytes */
	const unsigned char *release_at;
	enum in_kind kind;
	struct in_source *src;
};

/*
 * Opens a path or "-"; failure to open ends the program, and so does a
 * terminal as standard input, with the usage: nobody types a trace.
 */
struct in *in_open(const char *path);
/* The same check for a program whose helpers open the path. */
void in_check_stdin(const char *path);
/* The same over a descriptor, which is closed by in_close(). */
struct in *in_open_fd(int fd, const char *name);
/*
 * A window over memory, as it is (nothing is inflated). It stays the caller's,
 * who has put IN_PAD zero bytes behind it.
 */
struct in *in_open_mem(const void *bytes, size_t len, const char *name);
/*
 * A window over what a function gives: up to n bytes at dst a call, 0 at the
 * end, or then *fault is what is wrong. For readers that put something between
 * a file and another reader.
 */
typedef size_t in_filter_fn(void *arg, void *dst, size_t n, const char **fault);
struct in *in_open_filter(in_filter_fn *fn, void *arg, const char *name);
void in_close(struct in *in);
/*
 * A descriptor that can seek, at the beginning of all decompressed bytes: of
 * the file itself, or of a copy in a nameless file where they are compressed
 * or come from a pipe. For the caller to close; nothing was read of in, and
 * nothing can be afterwards.
 */
int in_seekable(struct in *in);

/*
 * Makes more bytes visible behind end; the bytes from p on are kept (they may
 * move). False at the end of the data, and then eof is set. With the same p
 * each call brings a good part more (a quarter of a tail beyond 4 KiB), so
 * looking at the tail anew each time costs no squares; beyond IN_MAX_WINDOW
 * the program ends with a message.
 */
bool in_more(struct in *in) USE_RESULT;

/* At least n bytes from p on, unless the data ends before. */
static inline bool
in_need(struct in *in, size_t n)
{
	while ((size_t)(in->end - in->p) < n)
		if (!in_more(in))
			return false;
	return true;
}

/* Offset of q, inside the window, in the decompressed bytes. */
static inline uint64_t
in_offset(const struct in *in, const unsigned char *q)
{
	return in->end_offset - (uint64_t)(in->end - q);
}

/*
 * To be called now and then while p moves: of a mapped file, the pages before
 * p are given back and those to come are asked for. It keeps the resident
 * memory of a large file at some 6 MiB; no pointer before p may be used then.
 */
void in_release_slow(struct in *in);

static inline void
in_release(struct in *in)
{
	if (UNLIKELY(in->p >= in->release_at))
		in_release_slow(in);
}

/*
 * Of a mapped file, the pages from one place of the window to another are given
 * back; they can be read again.
 */
void in_forget(
    struct in *in, const unsigned char *from, const unsigned char *to);

/* Compressed bytes read so far, and the size of the file or 0. */
uint64_t in_consumed(const struct in *in);
uint64_t in_size(const struct in *in);
/* Damage ends the data instead of the program. Call before reading. */
void in_tolerate(struct in *in);
/* What was wrong ("byte 1234: gzip data are damaged"), or NULL. */
const char *in_damage(const struct in *in);

/* ---- output ---- */

/*
 * Buffered output to a descriptor or a file. A file appears under its name
 * only by out_finish(); until then it is NAME.tmpXXXXXX beside it, removed
 * when the program dies. Every failure to write ends the program with the
 * name and the reason; a reader that left (EPIPE) ends it quietly by SIGPIPE.
 */
struct out {
	unsigned char *buf;
	size_t len, cap;
	/* private from here */
	int fd;
	const char *name;
	struct out_tmp *tmp;
	struct out_zstd *z;
	int level;        /* of z */
	struct buf text;  /* of out_printf() */
	bool is_parked;   /* then buf is NULL and fd -1 */
	uint64_t written; /* bytes that have left buf, before compression */
};

/* path NULL or "-": standard output. */
struct out *out_open(const char *path);
/* Compresses from here on; level 0 is zstd's default. */
void out_zstd(struct out *o, int level);
bool out_is_terminal(const struct out *o);
/* A terminal, unless NO_COLOR is set or it is a dumb one. */
bool out_wants_colour(const struct out *o);
/* A terminal whose environment says UTF-8: it has block characters. */
bool out_has_blocks(const struct out *o);
/*
 * The file's name until out_finish(), for a library that writes to a name;
 * NULL: it is no file.
 */
const char *out_tmp_name(const struct out *o);
/* A file that somebody writes goes when the program dies, too. */
void out_tmp_take(const char *path);
/* All that is not whole or was taken. Async-signal-safe. */
void out_remove_temporaries(void);
void out_flush(struct out *o);
/*
 * All so far is written and the file is closed until there is more, so that
 * many can be written in turn. Nothing is done to what is no file.
 */
void out_park(struct out *o);
/* Writes the rest, checks, renames into place, frees o. */
void out_finish(struct out *o);
void out_write_slow(struct out *o, const void *p, size_t n);

static inline void
out_write(struct out *o, const void *p, size_t n)
{
	if (UNLIKELY(o->cap - o->len < n)) {
		out_write_slow(o, p, n);
		return;
	}
	memcpy(o->buf + o->len, p, n);
	o->len += n;
}

static inline void
out_str(struct out *o, struct str s)
{
	out_write(o, s.p, s.len);
}

static inline void
out_puts(struct out *o, const char *s)
{
	out_write(o, s, strlen(s));
}

void out_printf(struct out *o, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* What a process that was killed while it wrote this file has left of it. */
void out_remove_left(const char *path);

/* write(2) until all is written; 0, or -1 with errno. For child pipes. */
int write_all(int fd, const void *p, size_t n) USE_RESULT;

/* ---- temporary files ---- */

/* The folder that they go to: TMPDIR, or /tmp. */
const char *io_tmpdir(void);
/* A new file there, that has no name; the caller closes it. -1 with errno. */
int io_nameless(void) USE_RESULT;

/* A folder and those above it, as far as they are missing. */
void io_make_folder(const char *path);
bool io_is_folder(const char *path);
/* take() gets the files with such names in a folder and those below, by name;
 * hidden ones are skipped, links not followed: they may lead round. */
void io_find_files(const char *dir, bool (*is)(struct str name),
    void (*take)(void *arg, const char *path), void *arg);

/* ---- pages: arrays that leave memory ---- */

/*
 * Arrays that together take at most mem bytes of memory from page_start() on
 * (once; at least 1 MiB); the rest lies in temporary files in TMPDIR, which
 * have no name and go with the program. Only one thread may touch them, and no
 * system call.
 */
void page_start(size_t mem);
bool page_is_on(void);
/* Zeroes; never moves, release with page_free(). *size: it may grow to that. */
void *page_alloc(size_t *size) __attribute__((returns_nonnull));
void page_free(void *p);

/* ---- progress ---- */

/*
 * A line on stderr (bytes, rate, time left) when stderr is a terminal and the
 * work lasts; a timer sets progress_due, the loop only tests it.
 */
extern volatile sig_atomic_t progress_due;
void progress_start(const char *verb);
void progress_show(uint64_t done, uint64_t total);
void progress_end(void);

#endif
