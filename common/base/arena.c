/* SPDX-License-Identifier: MIT */
/*
 * The arena: a chain of blocks, filled from the newest.
 *
 *	 base 0          base 65520        base 131000
 *	+-----------+   +-----------+     +-----+- - -+
 *	| used      |<--| used      |<----| used| room|  newest
 *	+-----------+   +-----------+     +-----+- - -+
 *
 * A mark is base + used of the newest block, bytes handed out so far, so that
 * going back needs no search: drop the blocks whose base is at or beyond it.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/base.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#endif

/* Under ASan a use after arena_reset() is found like one after free(). */
#if defined(ARENA_ASAN)
#include <sanitizer/asan_interface.h>
#define CLOSE(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define OPEN(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define CLOSE(p, n) ((void)(p), (void)(n))
#define OPEN(p, n) ((void)(p), (void)(n))
#endif

#define BLOCK_MIN ((size_t)64 << 10)
#define BLOCK_MAX ((size_t)1 << 20)
#define ALIGN _Alignof(max_align_t)

struct block {
	struct block *older;
	size_t base, used, cap;
	_Alignas(max_align_t) char p[];
};

struct arena {
	struct block *newest;
	struct block *spare; /* kept by reset, so that loops need no malloc */
	size_t next;         /* size of the next block, with its head */
	size_t bytes;
};

struct arena *
arena_create(void)
{
	struct arena *a = xcalloc(1, sizeof *a);

	a->next = BLOCK_MIN;
	a->bytes = sizeof *a;
	return a;
}

static void
block_free(struct arena *a, struct block *b)
{
	if (b == NULL)
		return;
	OPEN(b->p, b->cap);
	a->bytes -= sizeof *b + b->cap;
	free(b);
}

static void
block_drop(struct arena *a, struct block *b)
{
	CLOSE(b->p, b->cap);
	/* A block made for one large piece may be huge: it is never kept. */
	if (b->cap + sizeof *b > BLOCK_MAX ||
	    (a->spare != NULL && a->spare->cap >= b->cap)) {
		block_free(a, b);
		return;
	}
	block_free(a, a->spare);
	a->spare = b;
}

/* A piece larger than a block gets its own. */
static struct block *
block_new(struct arena *a, size_t need)
{
	struct block *b = a->spare;
	size_t size;

	if (b != NULL && b->cap >= need) {
		a->spare = NULL;
		return b;
	}
	if (need > PTRDIFF_MAX - sizeof *b)
		die("out of memory");
	size = a->next;
	if (need > size - sizeof *b)
		size = need + sizeof *b;
	else if (a->next < BLOCK_MAX)
		a->next *= 2;
	b = xmalloc(size);
	b->cap = size - sizeof *b;
	a->bytes += size;
	CLOSE(b->p, b->cap);
	return b;
}

static void *
bump(struct arena *a, size_t size, size_t align)
{
	struct block *b = a->newest;
	size_t at = b != NULL ? (b->used + align - 1) & ~(align - 1) : 0;

	if (UNLIKELY(b == NULL || at > b->cap || b->cap - at < size)) {
		b = block_new(a, size);
		b->older = a->newest;
		b->base = arena_mark(a);
		a->newest = b;
		at = 0;
	}
	b->used = at + size;
	OPEN(b->p + at, size);
	return b->p + at;
}

/* At least one byte, so that every block in use moves the mark. */
void *
arena_alloc(struct arena *a, size_t size)
{
	return bump(a, size > 0 ? size : 1, ALIGN);
}

/* Strings are packed: aligning would waste half of a short name. */
struct str
arena_str(struct arena *a, struct str s)
{
	char *p = bump(a, s.len + 1, 1);

	if (s.len > 0)
		memcpy(p, s.p, s.len);
	p[s.len] = '\0';
	return (struct str){ p, s.len };
}

const char *
arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	struct buf b = { 0 };
	struct str s;

	buf_vprintf(&b, fmt, ap);
	s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s.p;
}

const char *
arena_printf(struct arena *a, const char *fmt, ...)
{
	const char *s;
	va_list ap;

	va_start(ap, fmt);
	s = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return s;
}

size_t
arena_mark(const struct arena *a)
{
	return a->newest != NULL ? a->newest->base + a->newest->used : 0;
}

void
arena_reset(struct arena *a, size_t mark)
{
	struct block *b;

	assert(mark <= arena_mark(a));
	while ((b = a->newest) != NULL && b->base >= mark) {
		a->newest = b->older;
		block_drop(a, b);
	}
	if (b != NULL) {
		b->used = mark - b->base;
		CLOSE(b->p + b->used, b->cap - b->used);
	}
}

size_t
arena_bytes(const struct arena *a)
{
	return a->bytes;
}

void
arena_destroy(struct arena *a)
{
	if (a == NULL)
		return;
	arena_reset(a, 0);
	block_free(a, a->spare);
	free(a);
}
