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
/* The longest piece that a reader may see at once. */
#define IN_MAX_WINDOW (UINT64_C(1) << 30)

enum in_kind {
	IN_PLAIN,
	IN_GZIP,
	IN_ZSTD,
};

struct in {
	const unsigned char *p;   /* the caller moves it forward */
	const unsigned char *end; /* end of the bytes available */
	bool eof;                 /* nothing comes after end */
	const char *name;         /* for messages: the path, or "stdin" */
	/* private from here */
	uint64_t end_offset; /* offset of end in the decompressed bytes */
	const unsigned char *release_at;
	enum in_kind kind;
	struct in_source *src;
};

/*
 * Opens a path or "-". Failure to open ends the program; so does a terminal as
 * standard input, with the usage: nobody types a trace.
 */
struct in *in_open(const char *path);
/* The same check for a program whose helpers open the path. */
void in_check_stdin(const char *path);
/* The same over a descriptor, which is closed by in_close(). */
struct in *in_open_fd(int fd, const char *name);
/*
 * A window over memory, unchanged (nothing is inflated). It stays the caller's,
 * who has put IN_PAD zero bytes after it.
 */
struct in *in_open_mem(const void *bytes, size_t len, const char *name);
/*
 * A window over what a function returns: up to n bytes at dst per call; 0 at
 * the end, or with *fault set to what is wrong. For readers that put something
 * between a file and another reader.
 */
typedef size_t in_filter_fn(void *arg, void *dst, size_t n, const char **fault);
struct in *in_open_filter(in_filter_fn *fn, void *arg, const char *name);
void in_close(struct in *in);
/*
 * A descriptor that can seek, at the start of the decompressed bytes: of the
 * file itself, or of a copy in an unnamed file if it is compressed or a pipe.
 * The caller closes it; in must not have been read, and can't be afterwards.
 */
int in_seekable(struct in *in);

/*
 * Makes more bytes visible after end; the bytes from p on are kept (they may
 * move). False at the end of the data, and then eof is set. With the same p
 * each call adds a good part (a quarter of a tail beyond 4 KiB), so that
 * scanning the tail again each time is not quadratic; beyond IN_MAX_WINDOW the
 * program ends with a message.
 */
bool in_more(struct in *in) USE_RESULT;

/* At least n bytes from p on, unless the data end before. */
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
 * Call it now and then while p moves: for a mapped file, the pages before p are
 * released and the next ones asked for. It keeps the resident memory of a large
 * file at some 6 MiB; pointers before p become invalid.
 */
void in_release_slow(struct in *in);

static inline void
in_release(struct in *in)
{
	if (UNLIKELY(in->p >= in->release_at))
		in_release_slow(in);
}

/*
 * Releases pages between two places of a mapped window; they can be read again.
 */
void in_forget(
    struct in *in, const unsigned char *from, const unsigned char *to);

/* Compressed bytes read so far, and the size of the file or 0. */
uint64_t in_consumed(const struct in *in);
uint64_t in_size(const struct in *in);
/* Damage then ends the data, not the program. Call before reading. */
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
	struct buf text;  /* for out_printf() */
	bool is_parked;   /* then buf is NULL and fd -1 */
	uint64_t written; /* bytes that have left buf, before compression */
};

/* NULL or "-": standard output. */
struct out *out_open(const char *path);
/* Compresses from now on; level 0 is zstd's default. */
void out_zstd(struct out *o, int level);
bool out_is_terminal(const struct out *o);
/* For a terminal, unless NO_COLOR is set or it is a dumb one. */
bool out_wants_colour(const struct out *o);
/* For a terminal with UTF-8 in the environment: it has block characters. */
bool out_has_blocks(const struct out *o);
/*
 * The file's name until out_finish(), for a library that writes to a name;
 * NULL: not a file.
 */
const char *out_tmp_name(const struct out *o);
/* Also removes a file that something else writes, if the program dies. */
void out_tmp_take(const char *path);
/* Removes all temporary and taken files. Async-signal-safe. */
void out_remove_temporaries(void);
void out_flush(struct out *o);
/*
 * Writes what there is, and closes the file until there is more, so that many
 * can be written in turn. Does nothing if it is not a file.
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

/* Removes what a process killed while writing this file left. */
void out_remove_left(const char *path);

/* write(2) until all is written; 0, or -1 with errno. For child pipes. */
int write_all(int fd, const void *p, size_t n) USE_RESULT;

/* ---- temporary files ---- */

/* The folder of temporary files: TMPDIR, or /tmp. */
const char *io_tmpdir(void);
/* A new unnamed file there, which the caller closes. -1 with errno. */
int io_nameless(void) USE_RESULT;

/* Makes a folder and missing ones above it. */
void io_make_folder(const char *path);
bool io_is_folder(const char *path);
/*
 * Calls take() with the files with such names in a folder and below, by name;
 * hidden ones are skipped, and links not followed, as they may form cycles.
 */
void io_find_files(const char *dir, bool (*is)(struct str name),
    void (*take)(void *arg, const char *path), void *arg);

/* ---- pages: arrays that leave memory ---- */

/*
 * Arrays that together take at most mem bytes of memory from page_start() on
 * (called once; at least 1 MiB); the rest is in unnamed temporary files in
 * TMPDIR. Only one thread may touch them, and no system call.
 */
void page_start(size_t mem);
bool page_is_on(void);
/* Zeroed; never moves; release with page_free(). *size: it may grow to that. */
void *page_alloc(size_t *size) __attribute__((returns_nonnull));
void page_free(void *p);

/* ---- progress ---- */

/*
 * A line on stderr (bytes, rate, time left) if stderr is a terminal and the
 * work takes long; a timer sets progress_due, loops only test it.
 */
extern volatile sig_atomic_t progress_due;
void progress_start(const char *verb);
void progress_show(uint64_t done, uint64_t total);
void progress_end(void);

#endif
