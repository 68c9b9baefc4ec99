/* SPDX-License-Identifier: MIT */
/* base/mem.c and base/arena.c */
#include <sys/resource.h>

#include "base/base.h"
#include "tests/unit/child.h"
#include "tests/unit/tap.h"

/* ASan ends the program itself when too much is asked for. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN true
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN true
#elif !defined(UNDER_ASAN)
#define UNDER_ASAN false
#endif

static void
too_much(void)
{
	volatile size_t huge = SIZE_MAX / 2 - 4096;

	xmalloc(huge);
}

static void
vec_too_long(void)
{
	VEC(int64_t) v = { 0 };

	vec_reserve(&v, SIZE_MAX / 4);
}

static void
buf_too_long(void)
{
	struct buf b = { 0 };

	buf_puts(&b, "x");
	buf_room(&b, SIZE_MAX);
}

static void
arena_too_long(void)
{
	arena_alloc(arena_create(), SIZE_MAX - 8);
}

static void
out_of_memory(void)
{
	static void (*const fns[])(
	    void) = { vec_too_long, buf_too_long, arena_too_long };
	struct child c;
	size_t i;

	for (i = 0; i < sizeof fns / sizeof fns[0]; i++) {
		c = child_run(fns[i]);
		is_int(c.status, EXIT_NO_ANSWER, "too much ends with 1");
		is_str(c.err, "tl: out of memory\n", "and says why");
	}
	if (UNDER_ASAN) {
		skip(2, "ASan would speak first");
		return;
	}
	c = child_run(too_much);
	is_int(c.status, EXIT_NO_ANSWER, "malloc failing ends with 1");
	is_str(c.err, "tl: out of memory\n", "and says why");
}

static void
vec(void)
{
	VEC(int64_t) v = { 0 };
	int64_t i, sum = 0;

	for (i = 0; i < 1000; i++)
		vec_push(&v, i);
	for (i = 0; i < (int64_t)v.n; i++)
		sum += v.v[i];
	is_int((intmax_t)v.n, 1000, "elements");
	is_int(sum, 499500, "all there");
	vec_reserve(&v, 5000);
	ok(v.cap >= 5000 && v.n == 1000 && v.v[999] == 999, "room made");
	vec_free(&v);
	ok(v.v == NULL && v.n == 0 && v.cap == 0, "empty again");
	vec_push(&v, 7);
	is_int(v.v[0], 7, "usable after vec_free()");
	vec_free(&v);
}

/* Grows past the sizes at which it moves to other pages. */
static void
large_vec(void)
{
	struct item {
		int64_t no;
		char rest[120];
	};
	const int64_t n = 600000;
	VEC(struct item) v = { 0 };
	int64_t wrong = 0;

	for (int64_t i = 0; i < n; i++)
		vec_push(&v, ((struct item){ .no = i }));
	for (int64_t i = 0; i < n; i++)
		wrong += v.v[i].no != i;
	is_int((intmax_t)v.n, n, "a large one has all elements");
	is_int(wrong, 0, "and each as written");
	vec_free(&v);
	vec_reserve(&v, 300000);
	ok(v.cap >= 300000 && v.n == 0, "a large one at once");
	vec_free(&v);
}

/* As under a batch system's limit: in a child, before anything is large. */
static void
limited(void)
{
	const struct rlimit limit = { (rlim_t)1 << 40, (rlim_t)1 << 40 };
	VEC(int64_t) v = { 0 };

	if (!UNDER_ASAN && setrlimit(RLIMIT_AS, &limit) != 0)
		exit(99);
	for (int64_t i = 0; i < 200000; i++)
		vec_push(&v, i);
	exit(UNDER_ASAN || v.cap < 400000 ? 0 : 1);
}

static void
buf(void)
{
	struct buf b = { 0 };
	int i;

	buf_put(&b, NULL, 0);
	ok(buf_str(&b).len == 0, "nothing put is nothing");
	buf_printf(&b, "%s-%d", "ab", 12);
	is_mem(b.p, b.len, "ab-12", 5, "printf");
	buf_putc(&b, '!');
	buf_puts(&b, "xy");
	is_mem(b.p, b.len, "ab-12!xy", 8, "bytes and strings");
	b.len = 0;
	for (i = 0; i < 500; i++)
		buf_printf(&b, "%010d", i);
	ok(b.len == 5000 && memcmp(b.p + 4990, "0000000499", 10) == 0,
	    "printf grows");
	buf_printf(&b, "%3000s", "x");
	ok(b.len == 8000 && b.p[7999] == 'x', "longer than the room made");
	buf_free(&b);
	ok(b.p == NULL && b.cap == 0, "freed");
}

static void
arena(void)
{
	struct arena *a = arena_create();
	size_t i, mark, empty = arena_mark(a), bytes;
	struct str s;
	char *p;

	is_int((intmax_t)empty, 0, "an empty arena is at 0");
	for (i = 0; i < 1000; i++) {
		p = arena_alloc(a, i);
		if ((uintptr_t)p % _Alignof(max_align_t) != 0)
			break;
		memset(p, 1, i);
		arena_str(a, STR("xyz"));
	}
	is_int((intmax_t)i, 1000, "aligned, also behind text");
	s = arena_str(a, STR("a\0b"));
	is_mem(s.p, s.len + 1, "a\0b\0", 4, "text has a NUL behind");
	ok(arena_str(a, (struct str){ NULL, 0 }).p[0] == '\0', "empty text");
	mark = arena_mark(a);
	bytes = arena_bytes(a);
	p = arena_alloc(a, (size_t)5 << 20);
	memset(p, 2, (size_t)5 << 20);
	ok(arena_bytes(a) > bytes + (5 << 20), "a huge one is counted");
	arena_reset(a, mark);
	is_uint(arena_mark(a), mark, "back at the mark");
	is_uint(arena_bytes(a), bytes, "and the huge block is given back");
	is_mem(s.p, s.len, "a\0b", 3, "what was before the mark is whole");
	for (i = 0; i < 100; i++) { /* resets over block borders */
		size_t m = arena_mark(a), k;

		for (k = 0; k < i; k++)
			memset(arena_alloc(a, 50000), 3, 50000);
		arena_reset(a, m);
		if (arena_mark(a) != m)
			break;
	}
	is_int((intmax_t)i, 100, "marks hold over many blocks");
	ok(arena_bytes(a) <= bytes + (1 << 20), "at most one block is kept");
	arena_reset(a, empty);
	is_uint(arena_mark(a), 0, "all dropped");
	p = arena_alloc(a, 0);
	ok(p != arena_alloc(a, 0), "allocations of nothing differ");
	arena_destroy(a);
	arena_destroy(NULL);
}

static void
copies(void)
{
	char *s = xstrdup("abc"), *z = xcalloc(3, 5);

	is_str(s, "abc", "xstrdup");
	s = xrealloc(s, 100);
	is_str(s, "abc", "xrealloc keeps");
	ok(z[0] == 0 && z[14] == 0, "xcalloc clears");
	free(s);
	free(z);
	free(xmalloc(0));
}

int
main(void)
{
	vec();
	is_int(child_run(limited).status, 0, "no room is kept under a limit");
	large_vec();
	buf();
	arena();
	copies();
	out_of_memory();
	done_testing();
}
