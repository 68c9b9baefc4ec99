/* SPDX-License-Identifier: MIT */
/*
 * Arrays that grow to gigabytes. mremap() moves pages without a copy. Huge
 * pages are requested, as page faults of 4 KiB take a fifth of the time for a
 * tree. Pages never written take no memory. With a memory limit, page.c is used
 * instead.
 */
#include "trace/store-inside.h"

#include <stdlib.h>
#include <sys/mman.h>

#define PAGE_HUGE ((size_t)2 << 20)
/* Smaller ones come from malloc(): a huge page would be mostly empty. */
#define BIG_MIN ((size_t)4 << 20)
#define BIG_FIRST ((size_t)64 << 10)

/* Address space of this size, aligned to huge pages. */
static void *
map_pages(size_t size)
{
	size_t room = size + PAGE_HUGE, before;
	char *p = mmap(NULL, room, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die_errno("out of memory");
	before = -(uintptr_t)p & (PAGE_HUGE - 1);
	if (before > 0)
		munmap(p, before);
	if (PAGE_HUGE - before > 0)
		munmap(p + before + size, PAGE_HUGE - before);
	p += before;
	(void)madvise(p, size, MADV_HUGEPAGE); /* if supported */
	return p;
}

static void *
move(void *p, size_t old, size_t size)
{
	void *to = map_pages(size);

	if (old >= BIG_MIN) {
		if (mremap(p, old, old, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
		    MAP_FAILED)
			die_errno("out of memory");
		return to;
	}
	if (old > 0)
		memcpy(to, p, old);
	free(p);
	return to;
}

void *
big_grow(void *p, size_t *cap, size_t want)
{
	size_t size = *cap > 0 ? *cap : BIG_FIRST;

	if (want <= *cap)
		return p;
	if (UNLIKELY(page_is_on())) {
		if (p == NULL)
			p = page_alloc(cap);
		if (want > *cap)
			die("out of memory");
		return p;
	}
	while (size < want) {
		if (size > PTRDIFF_MAX / 4)
			die("out of memory");
		size *= 2;
	}
	p = size < BIG_MIN ? xrealloc(p, size) : move(p, *cap, size);
	*cap = size;
	return p;
}

void *
big_zeroes(size_t *cap, size_t size)
{
	void *p;

	*cap = 0;
	p = big_grow(NULL, cap, size);
	if (!page_is_on() && *cap < BIG_MIN)
		memset(p, 0, size); /* new pages are zero already */
	return p;
}

void
big_free(void *p, size_t cap)
{
	if (p != NULL && page_is_on())
		page_free(p);
	else if (cap >= BIG_MIN)
		munmap(p, cap);
	else
		free(p);
}
