/* SPDX-License-Identifier: MIT */
/*
 * The input window: what kind of data it is, and how it moves. For pipes, and
 * if a tail is longer than the ring's headroom, the window is in side memory,
 * which grows with the tail. Otherwise it is in the ring or in the mapping,
 * where nothing is copied.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/in_priv.h"
#include "io/out_priv.h"

/* Pipes are read in pieces of this size; Linux holds 64 KiB in a pipe. */
#define PIPE_PIECE ((size_t)64 << 10)
#define SIDE_START ((size_t)256 << 10)
/* A shorter tail is looked at again for every byte that comes. */
#define SMALL_TAIL ((size_t)4 << 10)
/* Larger side memory is freed once the window is in the ring. */
#define SIDE_KEEP ((size_t)2 << 20)

#define NEVER ((const unsigned char *)UINTPTR_MAX)

static const unsigned char nothing[IN_PAD];

static enum in_kind
sniff(struct in_raw *raw)
{
	const unsigned char *p;

	while (raw->end - raw->p < 4)
		if (!raw_fill(raw, 4))
			break;
	p = raw->p;
	if (raw->end - p >= 2 && p[0] == 0x1f && p[1] == 0x8b)
		return IN_GZIP;
	if (raw->end - p < 4)
		return IN_PLAIN;
	if (memcmp(p, "\x28\xb5\x2f\xfd", 4) == 0)
		return IN_ZSTD;
	if ((p[0] & 0xf0) == 0x50 && memcmp(p + 1, "\x2a\x4d\x18", 3) == 0)
		return IN_ZSTD; /* a skippable frame */
	return IN_PLAIN;
}

/* After sniffing: a file read from 0 can be mapped. */
static bool
open_map(struct in *in, uint64_t size)
{
	struct in_source *s = in->src;

	if (size == 0 || raw_total(&s->raw) > size ||
	    lseek(s->raw.fd, 0, SEEK_CUR) != (off_t)raw_total(&s->raw) ||
	    !map_open(&s->map, s->raw.fd, size, in->name))
		return false;
	in->p = s->map.base;
	in->end = s->map.base + s->map.len;
	in->end_offset = size;
	in->eof = true;
	in->release_at = map_release(&s->map, in->p);
	return true;
}

static void
side_grow(struct in_source *s, size_t cap)
{
	s->side = xrealloc(s->side, cap + IN_PAD);
	s->side_cap = cap;
}

/* The sniffed bytes become the first window. */
static void
open_pipe(struct in *in)
{
	struct in_source *s = in->src;
	size_t n = (size_t)(s->raw.end - s->raw.p);

	side_grow(s, SIDE_START);
	memcpy(s->side, s->raw.p, n);
	memset(s->side + n, 0, IN_PAD);
	in->p = s->side;
	in->end = s->side + n;
	in->end_offset = n;
	in->eof = s->raw.eof;
	s->at_side = true;
	free(s->raw.buf);
	s->raw.buf = NULL;
	s->raw.p = s->raw.end = NULL;
}

static struct in *
make(int fd, const char *name)
{
	struct in *in = xcalloc(1, sizeof *in);

	in->src = xcalloc(1, sizeof *in->src);
	in->src->name = xstrdup(name);
	in->src->raw.fd = fd;
	in->src->raw.wake = -1;
	in->name = in->src->name;
	in->p = in->end = nothing;
	in->release_at = NEVER;
	return in;
}

struct in *
in_open_fd(int fd, const char *name)
{
	struct in *in = make(fd, name);
	struct in_raw *raw = &in->src->raw;
	struct stat st;

	if (fstat(fd, &st) != 0)
		die_errno("%s", name);
	if (S_ISDIR(st.st_mode))
		die("%s: is a directory", name);
	raw->may_wait = !S_ISREG(st.st_mode);
	raw->size = raw->may_wait ? 0 : (uint64_t)st.st_size;
	raw->buf = xmalloc(RAW_SIZE);
	raw->p = raw->end = raw->buf;
	in->kind = sniff(raw);
	if (raw->error != 0) {
		errno = raw->error;
		die_errno("%s", name);
	}
	if (in->kind == IN_GZIP)
		in->src->ring = ring_open(&codec_gzip, raw);
	else if (in->kind == IN_ZSTD)
		in->src->ring = ring_open(&codec_zstd, raw);
	else if (!open_map(in, raw->size))
		open_pipe(in);
	return in;
}

void
in_check_stdin(const char *path)
{
	if (strcmp(path, "-") == 0 && isatty(STDIN_FILENO))
		die_usage("no input: name a file, or pipe one in");
}

struct in *
in_open(const char *path)
{
	int fd;

	in_check_stdin(path);
	if (strcmp(path, "-") == 0)
		return in_open_fd(STDIN_FILENO, "stdin");
	do
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		die_errno("%s", path);
	return in_open_fd(fd, path);
}

struct in *
in_open_mem(const void *bytes, size_t len, const char *name)
{
	struct in *in = make(-1, name);

	in->p = len > 0 ? bytes : nothing;
	in->end = in->p + len;
	in->end_offset = len;
	in->eof = true;
	in->src->raw.size = len;
	atomic_init(&in->src->raw.total, len);
	return in;
}

struct in *
in_open_filter(in_filter_fn *fn, void *arg, const char *name)
{
	struct in *in = make(-1, name);

	in->src->filter = fn;
	in->src->filter_arg = arg;
	return in;
}

void
in_close(struct in *in)
{
	struct in_source *s = in->src;

	if (s->ring != NULL)
		ring_close(s->ring);
	if (s->map.base != NULL)
		map_close(&s->map);
	if (s->raw.fd >= 0)
		close(s->raw.fd);
	free(s->raw.buf);
	free(s->side);
	free(s->name);
	free(s);
	free(in);
}

/* ---- moving on ---- */

/* Ends the data, or reports the failure. */
static bool
finish(struct in *in, const char *fault)
{
	struct in_source *s = in->src;

	in->eof = true;
	if (fault == NULL)
		return false;
	if (!s->tolerant)
		die("%s: %s", in->name, fault);
	size_t n = strnlen(fault, sizeof s->damage - 1);
	memcpy(s->damage, fault, n);
	s->damage[n] = '\0';
	return false;
}

/* How many new bytes make it worth looking at the tail again. */
static size_t
enough(size_t tail)
{
	return tail <= SMALL_TAIL ? 1 : tail / 4;
}

/* Twice the tail, but not much more than the longest allowed. */
static size_t
side_size(size_t tail, size_t room)
{
	size_t most = tail > IN_MAX_WINDOW ? tail : IN_MAX_WINDOW;

	return (2 * tail < most ? 2 * tail : most) + room;
}

/* Moves the window into side memory, with room for more after it. */
static void
side_prepare(struct in *in, size_t room)
{
	struct in_source *s = in->src;
	size_t tail = (size_t)(in->end - in->p);
	bool is_small = tail <= SMALL_TAIL;

	if (s->at_side && !is_small &&
	    (size_t)(s->side + s->side_cap - in->end) >= room)
		return;
	if (s->at_side) {
		bool is_cheap = is_small || (size_t)(in->p - s->side) >= tail;

		memmove(s->side, in->p, tail);
		if (tail + room > s->side_cap || !is_cheap)
			side_grow(s, side_size(tail, room));
	} else {
		if (tail + room > s->side_cap)
			side_grow(s, side_size(tail, room));
		memcpy(s->side, in->p, tail);
	}
	s->at_side = true;
	in->p = s->side;
	in->end = s->side + tail;
}

/* Accounts for n bytes written at in->end, in side memory. */
static void
side_added(struct in *in, size_t n)
{
	unsigned char *end = in->src->side + (in->end - in->src->side) + n;

	memset(end, 0, IN_PAD);
	in->end = end;
	in->end_offset += n;
}

static size_t
read_more(struct in_source *s, void *dst, size_t n, const char **fault)
{
	size_t got;

	if (s->filter == NULL)
		return raw_read(&s->raw, dst, n);
	got = s->filter(s->filter_arg, dst, n, fault);
	atomic_fetch_add_explicit(&s->raw.total, got, memory_order_relaxed);
	return got;
}

static bool
more_from_pipe(struct in *in, size_t want)
{
	struct in_source *s = in->src;
	const char *fault = NULL;
	size_t got, sum = 0;

	do {
		side_prepare(in, PIPE_PIECE);
		unsigned char *end = s->side + (in->end - s->side);

		got = read_more(
		    s, end, (size_t)(s->side + s->side_cap - end), &fault);
		side_added(in, got);
		sum += got;
	} while (got > 0 && sum < want);
	if (sum > 0)
		return true;
	if (s->raw.error == 0)
		return finish(in, fault);
	struct sink why;
	sink_fault(&why, raw_total(&s->raw), strerror(s->raw.error));
	return finish(in, why.fault);
}

static void
side_append(struct in *in, struct chunk c)
{
	side_prepare(in, c.len);
	memcpy(in->src->side + (in->end - in->src->side), c.p, c.len);
	side_added(in, c.len);
	ring_keep(in->src->ring, 0);
}

/* Moves the window to the ring, with the tail copied before the chunk. */
static void
enter_ring(struct in *in, struct chunk c)
{
	struct in_source *s = in->src;
	size_t tail = (size_t)(in->end - in->p);

	memcpy(c.p - tail, in->p, tail);
	in->p = c.p - tail;
	in->end = c.p + c.len;
	in->end_offset += c.len;
	s->at_side = false;
	ring_keep(s->ring, 1);
	if (s->side_cap > SIDE_KEEP) {
		free(s->side);
		s->side = NULL;
		s->side_cap = 0;
	}
}

static bool
more_from_ring(struct in *in, size_t want)
{
	struct in_source *s = in->src;
	size_t tail = (size_t)(in->end - in->p);
	size_t sum = 0;

	while (!s->ring_ended && sum < want) {
		struct chunk c = ring_next(s->ring);

		if (sum == 0 && tail <= RING_HEADROOM &&
		    (c.len >= want || c.last))
			enter_ring(in, c);
		else
			side_append(in, c);
		sum += c.len;
		s->ring_ended = c.last;
	}
	if (s->ring_ended)
		in->eof = ring_fault(s->ring) == NULL;
	return sum > 0 || finish(in, ring_fault(s->ring));
}

bool
in_more(struct in *in)
{
	struct in_source *s = in->src;
	size_t tail = (size_t)(in->end - in->p);

	if (in->eof)
		return false;
	if (tail >= IN_MAX_WINDOW)
		die("%s: byte %" PRIu64 ": a piece is longer than %" PRIu64
		    " bytes",
		    in->name, in_offset(in, in->p), IN_MAX_WINDOW);
	return s->ring != NULL ? more_from_ring(in, enough(tail))
			       : more_from_pipe(in, enough(tail));
}

void
in_release_slow(struct in *in)
{
	in->release_at = map_release(&in->src->map, in->p);
}

void
in_forget(struct in *in, const unsigned char *from, const unsigned char *to)
{
	if (in->src->map.base != NULL)
		map_forget(&in->src->map, from, to);
}

/* ---- about it ---- */

uint64_t
in_consumed(const struct in *in)
{
	const struct in_map *m = &in->src->map;

	return m->base != NULL ? (uint64_t)(in->p - m->base)
			       : raw_total(&in->src->raw);
}

uint64_t
in_size(const struct in *in)
{
	return in->src->raw.size;
}

void
in_tolerate(struct in *in)
{
	in->src->tolerant = true;
}

const char *
in_damage(const struct in *in)
{
	return in->src->damage[0] != '\0' ? in->src->damage : NULL;
}
