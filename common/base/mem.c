/* SPDX-License-Identifier: MIT */
/* Memory that exists or ends the program, and growable vec and buf. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/base.h"

#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_FROM ((size_t)4 << 20)
/* What has grown beyond the first becomes as large as the second at once. */
#define LARGE_FROM ((size_t)1 << 20)
#define LARGE ((size_t)64 << 20)

static noreturn void
no_memory(void)
{
	die("out of memory");
}

/*
 * Large memory in huge pages: a page fault per 2 MiB instead of 4 KiB, which is
 * a third of the time of a program that keeps its events. NULL: too few
 * addresses.
 */
static void *
huge_alloc(size_t size)
{
	void *p = aligned_alloc(HUGE_PAGE, size);

	if (p != NULL)
		(void)madvise(p, size, MADV_HUGEPAGE); /* if supported */
	return p;
}

void *
xmalloc(size_t size)
{
	void *p = NULL;

	if (size >= HUGE_FROM && size <= PTRDIFF_MAX)
		p = huge_alloc((size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
	if (p == NULL)
		p = malloc(size > 0 ? size : 1);
	if (p == NULL)
		no_memory();
	return p;
}

void *
xcalloc(size_t n, size_t size)
{
	void *p = calloc(n > 0 ? n : 1, size > 0 ? size : 1);

	if (p == NULL)
		no_memory();
	return p;
}

void *
xrealloc(void *p, size_t size)
{
	void *q = realloc(p, size > 0 ? size : 1);

	if (q == NULL)
		no_memory();
	return q;
}

char *
xstrdup(const char *s)
{
	size_t size = strlen(s) + 1;

	return memcpy(xmalloc(size), s, size);
}

/*
 * Whether addresses that are not used cost nothing: not under a limit of a
 * batch system (ulimit -v), nor where the kernel counts them as memory.
 */
static bool
has_room(void)
{
	static int is_roomy = -1; /* not known yet */
	struct rlimit limit;
	FILE *mode;

	if (is_roomy < 0) {
		is_roomy = getrlimit(RLIMIT_AS, &limit) == 0 &&
		    limit.rlim_cur == RLIM_INFINITY;
		mode = fopen("/proc/sys/vm/overcommit_memory", "re");
		if (mode != NULL) {
			is_roomy = is_roomy && getc(mode) != '2';
			(void)fclose(mode);
		}
	}
	return is_roomy == 1;
}

/* Moves what has become large to where it has room for long. */
static void *
make_large(void *v, size_t used)
{
	void *large = huge_alloc(LARGE);

	if (large == NULL)
		return NULL;
	if (used > 0)
		memcpy(large, v, used);
	free(v);
	return large;
}

/*
 * Doubling, at least 64 bytes: the copies cost a constant an element. One that
 * is large is a mapping of its own, of which only what is used takes memory, so
 * it gets addresses for much more: were it moved, its huge pages would be
 * split.
 */
void *
vec_grow(void *v, size_t *cap, size_t want, size_t size)
{
	size_t next = *cap > 0 ? *cap : (size < 64 ? 64 / size : 1), bytes;
	void *large = NULL;

	if (want <= *cap && v != NULL)
		return v;
	while (next < want)
		next = next > SIZE_MAX / 2 ? want : next * 2;
	if (next > LARGE_FROM / size && next < LARGE / size && has_room())
		large = make_large(v, *cap * size);
	if (large != NULL) {
		*cap = LARGE / size;
		return large;
	}
	if (__builtin_mul_overflow(next, size, &bytes) || bytes > PTRDIFF_MAX)
		no_memory();
	v = xrealloc(v, bytes);
	*cap = next;
	return v;
}

void
vec_release(void *v)
{
	free(v);
}

void
buf_grow(struct buf *b, size_t more)
{
	size_t want, next = b->cap > 0 ? b->cap : 256;

	if (__builtin_add_overflow(b->len, more, &want) || want > PTRDIFF_MAX)
		no_memory();
	while (next < want)
		next *= 2; /* want <= PTRDIFF_MAX: no overflow */
	b->p = xrealloc(b->p, next);
	b->cap = next;
}

void
buf_free(struct buf *b)
{
	free(b->p);
	*b = (struct buf){ 0 };
}

void
buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	buf_room(b, 64);
	va_copy(again, ap);
	n = vsnprintf(b->p + b->len, b->cap - b->len, fmt, ap);
	if (n < 0)
		die("a text of more than 2 GiB cannot be formatted");
	if ((size_t)n >= b->cap - b->len) {
		buf_room(b, (size_t)n + 1);
		vsnprintf(b->p + b->len, b->cap - b->len, fmt, again);
	}
	va_end(again);
	b->len += (size_t)n;
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

bool
buf_fail(struct buf *error, const char *fmt, ...)
{
	va_list ap;

	error->len = 0;
	va_start(ap, fmt);
	buf_vprintf(error, fmt, ap);
	va_end(ap);
	buf_putc(error, '\0');
	error->len--;
	return false;
}
