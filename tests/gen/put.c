/* SPDX-License-Identifier: MIT */
/*
 * Output. Writers fill a buffer in Kineto's layout. Other layouts are made from
 * it on output, so that no writer has to know them.
 */
#include "gen.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

enum {
	BUF_SIZE = 1 << 18,
	STAGE_SIZE = 1 << 16,
	INDENT_MAX = 64, /* deeper levels get no more blanks */
};

struct out {
	struct out_opts opts;
	const char *name;
	int fd;       /* < 0: count only */
	int64_t left; /* bytes until the cut; < 0: no cut */
	z_stream z;
	/* layout */
	bool in_string, escaped, filter;
	int depth;
	size_t nstage;
	char stage[STAGE_SIZE];
	unsigned char zbuf[STAGE_SIZE];
};

static void
write_fd(struct out *o, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t w = write(o->fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			die("%s: %s", o->name, strerror(errno));
		p += w;
		n -= (size_t)w;
	}
}

static void
deflate_all(struct out *o, const char *p, size_t n, int how)
{
	int rc;

	o->z.next_in = (unsigned char *)(uintptr_t)p;
	o->z.avail_in = (unsigned)n;
	do {
		o->z.next_out = o->zbuf;
		o->z.avail_out = sizeof o->zbuf;
		rc = deflate(&o->z, how);
		write_fd(o, (char *)o->zbuf, sizeof o->zbuf - o->z.avail_out);
	} while (o->z.avail_out == 0 || (how == Z_FINISH && rc == Z_OK));
}

/* Bytes in their final form. */
static void
deliver(struct buf *b, const char *p, size_t n)
{
	struct out *o = b->sink;

	if (o->left >= 0) {
		if (n > (uint64_t)o->left)
			n = (size_t)o->left;
		o->left -= (int64_t)n;
	}
	b->total += n;
	if (o->fd < 0 || n == 0)
		return;
	if (o->opts.gzip)
		deflate_all(o, p, n, Z_NO_FLUSH);
	else
		write_fd(o, p, n);
}

static void
stage(struct buf *b, char c)
{
	struct out *o = b->sink;

	if (o->nstage == STAGE_SIZE) {
		deliver(b, o->stage, o->nstage);
		o->nstage = 0;
	}
	o->stage[o->nstage++] = c;
}

static void
newline(struct buf *b)
{
	const struct out *o = b->sink;

	if (o->opts.crlf)
		stage(b, '\r');
	stage(b, '\n');
	for (int i = 0; i < 2 * o->depth && i < INDENT_MAX; i++)
		stage(b, ' ');
}

/* A character outside of strings, in the requested layout. */
static void
outside(struct buf *b, char c)
{
	struct out *o = b->sink;
	bool pretty = o->opts.pretty;

	if (!pretty && !o->opts.minified) {
		if (c == '\n' && o->opts.crlf)
			stage(b, '\r');
		stage(b, c);
		return;
	}
	if (c == ' ' || c == '\n')
		return;
	if (pretty && (c == '}' || c == ']')) {
		o->depth--;
		newline(b);
	}
	stage(b, c);
	if (!pretty)
		return;
	if (c == '{' || c == '[')
		o->depth++;
	if (c == '{' || c == '[' || c == ',')
		newline(b);
	else if (c == ':')
		stage(b, ' ');
}

static void
stage_mem(struct buf *b, const char *p, size_t n)
{
	struct out *o = b->sink;

	while (n > 0) {
		size_t room = STAGE_SIZE - o->nstage;
		size_t part = n < room ? n : room;

		memcpy(o->stage + o->nstage, p, part);
		o->nstage += part;
		p += part;
		n -= part;
		if (o->nstage == STAGE_SIZE) {
			deliver(b, o->stage, o->nstage);
			o->nstage = 0;
		}
	}
}

/* Bytes of a string up to its closing quote, unchanged. */
static size_t
inside(struct buf *b, const char *p, size_t n)
{
	struct out *o = b->sink;
	size_t i = 0;

	while (i < n && o->in_string) {
		if (o->escaped)
			o->escaped = false;
		else if (p[i] == '\\')
			o->escaped = true;
		else if (p[i] == '"')
			o->in_string = false;
		i++;
	}
	stage_mem(b, p, i);
	return i;
}

static void
relayout(struct buf *b, const char *p, size_t n)
{
	struct out *o = b->sink;

	for (size_t i = 0; i < n;) {
		if (o->in_string) {
			i += inside(b, p + i, n - i);
		} else {
			o->in_string = p[i] == '"';
			outside(b, p[i++]);
		}
	}
}

void
buf_flush(struct buf *b)
{
	struct out *o = b->sink;

	if (o->filter) {
		relayout(b, b->p, b->len);
		deliver(b, o->stage, o->nstage);
		o->nstage = 0;
	} else {
		deliver(b, b->p, b->len);
	}
	b->len = 0;
}

static void
open_common(struct buf *b, const struct out_opts *opts)
{
	struct out *o = calloc(1, sizeof *o);

	*b = (struct buf){ .cap = BUF_SIZE, .p = malloc(BUF_SIZE), .sink = o };
	if (o == NULL || b->p == NULL)
		die("out of memory");
	o->opts = *opts;
	o->filter = opts->pretty || opts->minified || opts->crlf;
	o->left = opts->cut;
	o->fd = -1;
}

void
out_null(struct buf *b, bool pretty, bool minified)
{
	open_common(b,
	    &(struct out_opts){
		.pretty = pretty, .minified = minified, .cut = -1 });
}

void
out_open(struct buf *b, const char *path, const struct out_opts *opts)
{
	struct out *o;

	open_common(b, opts);
	o = b->sink;
	o->name = path == NULL ? "standard output" : path;
	o->fd = path == NULL
	    ? STDOUT_FILENO
	    : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (o->fd < 0)
		die("%s: %s", path, strerror(errno));
	if (opts->gzip &&
	    deflateInit2(
		&o->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		die("deflateInit2 failed");
}

void
out_close(struct buf *b)
{
	struct out *o = b->sink;

	buf_flush(b);
	if (o->fd >= 0 && o->opts.gzip) {
		deflate_all(o, "", 0, Z_FINISH);
		deflateEnd(&o->z);
	}
	if (o->fd >= 0 && close(o->fd) != 0)
		die("%s: %s", o->name, strerror(errno));
	free(o);
	free(b->p);
	b->p = NULL;
}

void
put_mem(struct buf *b, const char *p, size_t n)
{
	while (b->cap - b->len < n) {
		size_t part = b->cap - b->len;

		memcpy(b->p + b->len, p, part);
		b->len += part;
		p += part;
		n -= part;
		buf_flush(b);
	}
	memcpy(b->p + b->len, p, n);
	b->len += n;
}

void
put_str(struct buf *b, const char *s)
{
	put_mem(b, s, strlen(s));
}

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324"
    "25262728293031323334353637383940414243444546474849"
    "50515253545556575859606162636465666768697071727374"
    "75767778798081828384858687888990919293949596979899";

/* Writes v so that it ends before end; returns its first digit. */
static char *
digits(char *end, uint64_t v)
{
	while (v >= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, pairs + 2 * v, 2);
	} else {
		*--end = (char)('0' + v);
	}
	return end;
}

void
put_u64(struct buf *b, uint64_t v)
{
	char tmp[24], *end = tmp + sizeof tmp, *p = digits(end, v);

	put_lit(b, p, (size_t)(end - p));
}

void
put_i64(struct buf *b, int64_t v)
{
	if (v < 0) {
		PUT(b, "-");
		put_u64(b, 0 - (uint64_t)v);
	} else {
		put_u64(b, (uint64_t)v);
	}
}

void
put_us(struct buf *b, int64_t ns)
{
	char tmp[32], *end = tmp + sizeof tmp, *p = end - 3;
	uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	uint64_t frac = v % 1000;

	p[0] = (char)('0' + frac / 100);
	memcpy(p + 1, pairs + 2 * (frac % 100), 2);
	*--p = '.';
	p = digits(p, v / 1000);
	if (ns < 0)
		*--p = '-';
	put_lit(b, p, (size_t)(end - p));
}

void
put_fmt(struct buf *b, const char *fmt, ...)
{
	char tmp[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(tmp, sizeof tmp, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof tmp)
		die("put_fmt: text too long: %s", fmt);
	put_mem(b, tmp, (size_t)n);
}
