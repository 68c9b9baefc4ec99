/* SPDX-License-Identifier: MIT */
/*
 * memory: allocation that works or ends the program, arenas, growable arrays
 * and growable bytes.
 */
#ifndef TL_BASE_MEMORY_H
#define TL_BASE_MEMORY_H

#include <stdarg.h>

#include "base/text.h"

/* Like malloc and friends, but out of memory ends the program. */
void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));

/*
 * A bump allocator: what it hands out lives until arena_reset() to an earlier
 * mark, or arena_destroy().  Alignment is that of max_align_t.
 */
struct arena;
struct arena *arena_create(void);
void arena_destroy(struct arena *a);
void *arena_alloc(struct arena *a, size_t size)
    __attribute__((returns_nonnull));
/* A copy in the arena, with a NUL behind it for the convenience of printf. */
struct str arena_str(struct arena *a, struct str s);
const char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
    PRINTF_LIKE(2, 0);
const char *arena_printf(struct arena *a, const char *fmt, ...)
    PRINTF_LIKE(2, 3);
size_t arena_mark(const struct arena *a);
void arena_reset(struct arena *a, size_t mark);
size_t arena_bytes(const struct arena *a);

/* ---- vec: one growable array ---- */

#define VEC(type)              \
	struct {               \
		type *v;       \
		size_t n, cap; \
	}
/* Makes room for one more; returns its address. The array may move. */
#define vec_add(vec)                                                 \
	(((vec)->n == (vec)->cap                                     \
		 ? (void)((vec)->v = vec_grow((vec)->v, &(vec)->cap, \
			      (vec)->n + 1, sizeof *(vec)->v))       \
		 : (void)0),                                         \
	    &(vec)->v[(vec)->n++])
#define vec_push(vec, value) (*vec_add(vec) = (value))
#define vec_reserve(vec, want)                                                 \
	((want) > (vec)->cap                                                   \
		? (void)((vec)->v = vec_grow(                                  \
			     (vec)->v, &(vec)->cap, (want), sizeof *(vec)->v)) \
		: (void)0)
#define vec_free(vec) \
	(vec_release((vec)->v), (vec)->v = NULL, (vec)->n = (vec)->cap = 0)
void *vec_grow(void *v, size_t *cap, size_t want, size_t size)
    __attribute__((returns_nonnull));
void vec_release(void *v);

/*
 * Sorts n elements, stably, by natural merges: what is in order costs a pass of
 * comparisons, and a few ascending runs, as profilers write them, not much
 * more.
 */
void stable_sort(
    void *v, size_t n, size_t size, int (*cmp)(const void *, const void *));
/* The same, where the ascending runs are known: ends has the end of each, and
 * is lost. */
void stable_merge(void *v, size_t size, int (*cmp)(const void *, const void *),
    size_t *ends, size_t nruns);
/* Makes no call per comparison: a third of the work. */
void sort_i64(int64_t *v, size_t n);

/*
 * Sets at to the first of n places for which before, an expression of the place
 * mid, is false; it is true for all places in front of that one.
 *
 *	bisect(at, gaps.n, mid, gaps.v[mid].start_ns < from);
 */
#define bisect(at, n, mid, before)                                   \
	do {                                                         \
		size_t bisect_end = (n);                             \
		for ((at) = 0; (at) < bisect_end;) {                 \
			size_t mid = (at) + (bisect_end - (at)) / 2; \
			if (before)                                  \
				(at) = mid + 1;                      \
			else                                         \
				bisect_end = mid;                    \
		}                                                    \
	} while (0)

/* ---- buf: growable bytes ---- */

struct buf {
	char *p;
	size_t len, cap;
};

void buf_grow(struct buf *b, size_t more);
void buf_free(struct buf *b);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);
/* Sets the text, with a NUL after it; always returns false. */
bool buf_fail(struct buf *error, const char *fmt, ...) PRINTF_LIKE(2, 3);

static inline void
buf_room(struct buf *b, size_t more)
{
	if (UNLIKELY(b->cap - b->len < more || b->p == NULL))
		buf_grow(b, more);
}

static inline void
buf_put(struct buf *b, const void *p, size_t n)
{
	if (UNLIKELY(b->cap - b->len < n))
		buf_grow(b, n);
	if (n > 0)
		memcpy(b->p + b->len, p, n);
	b->len += n;
}

static inline void
buf_putc(struct buf *b, char c)
{
	if (UNLIKELY(b->cap == b->len))
		buf_grow(b, 1);
	b->p[b->len++] = c;
}

static inline void
buf_puts(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

/* Never NULL, so that an empty one may be passed to memcpy. */
static inline struct str
buf_str(const struct buf *b)
{
	return (struct str){ b->p != NULL ? b->p : "", b->len };
}

#endif
