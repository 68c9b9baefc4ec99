/* SPDX-License-Identifier: MIT */
/*
 * Memory that is not there ends the program, in the library as elsewhere.
 *
 * libxlsxwriter goes on without what it got no memory for, a format or a
 * string, and says so to nobody: the workbook would be another one. So its
 * calls of the allocator come here first. The definitions are weak, as a
 * static program has libc's own beside them and takes those.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cmd/tl-xlsx/workbook.h"

#ifdef __has_feature
#define HAS(x) __has_feature(x)
#else
#define HAS(x) 0
#endif

/* Sanitizers have an allocator of their own, which ends the program, too. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !HAS(address_sanitizer) && !HAS(thread_sanitizer)

/* Weak: what is static has none and does not come here. */
#pragma weak dlsym

#define WEAK __attribute__((weak))

static void *
next(const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	if (p == NULL)
		abort();
	return p;
}

/* The message may not need memory again. */
static void *
given(void *p, size_t size)
{
	static atomic_bool is_dying;

	if (p == NULL && size > 0 && !atomic_exchange(&is_dying, true)) {
		book_speak();
		die("out of memory");
	}
	return p;
}

WEAK void *
malloc(size_t size)
{
	static void *(*real)(size_t);

	if (real == NULL)
		real = __extension__(void *(*)(size_t)) next("malloc");
	return given(real(size), size);
}

WEAK void *
calloc(size_t n, size_t size)
{
	static void *(*real)(size_t, size_t);

	if (real == NULL)
		real = __extension__(void *(*)(size_t, size_t)) next("calloc");
	return given(real(n, size), n > 0 ? size : 0);
}

WEAK void *
realloc(void *p, size_t size)
{
	static void *(*real)(void *, size_t);

	if (real == NULL)
		real = __extension__(void *(*)(void *, size_t)) next("realloc");
	return given(real(p, size), size);
}

#endif
