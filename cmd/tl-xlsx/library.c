/* SPDX-License-Identifier: MIT */
/*
 * What libxlsxwriter does not check, and what it has no option for. Its calls
 * of the C library and of zlib come here first:
 *
 * malloc() and its like: without memory for a format or a string the library
 * goes on silently, with a different workbook.
 * rewind(), fread(): each part of the workbook is written to a temporary file,
 * rewound and read. On a full disk bytes from the middle of a sheet would be
 * missing in a perfectly good zip.
 * deflateInit2_(): zlib's default level takes two fifths of all the work, for a
 * sixth of the size.
 *
 * References to the next definition are weak, as a static program has libc's
 * and zlib's beside it and takes those.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "cmd/tl-xlsx/workbook.h"

#define LEVEL 3

/* Weak: a static program has none, and does not come here. */
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

/* ---- temporary files ---- */

/* Checks an earlier call, whose errno is lost. */
static void
check_file(FILE *f)
{
	if (!ferror(f) || !book_speak())
		return;
	errno = errno != 0 ? errno : ENOSPC;
	die_errno("%s: a temporary file", io_tmpdir());
}

void
rewind(FILE *f)
{
	errno = 0;
	(void)fflush(f);
	check_file(f);
	(void)fseek(f, 0, SEEK_SET);
	clearerr(f);
}

size_t
fread(void *p, size_t size, size_t n, FILE *f)
{
	size_t got = (fread_unlocked)(p, size, n, f);

	check_file(f);
	return got;
}

/* ---- compression ---- */

typedef int init_fn(z_streamp z, int level, int method, int bits, int memory,
    int strategy, const char *version, int size);

WEAK int
deflateInit2_(z_streamp z, int level, int method, int bits, int memory,
    int strategy, const char *version, int size)
{
	init_fn *real = __extension__(init_fn *) next("deflateInit2_");

	if (level == Z_DEFAULT_COMPRESSION)
		level = LEVEL;
	return real(z, level, method, bits, memory, strategy, version, size);
}

/* ---- memory ---- */

#ifdef __has_feature
#define HAS(x) __has_feature(x)
#else
#define HAS(x) 0
#endif

/* Sanitizers have their own allocator, which ends the program, too. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !HAS(address_sanitizer) && !HAS(thread_sanitizer)

/* Ends the program with a message that needs no memory. */
static void *
given(void *p, size_t size)
{
	static atomic_bool is_dying;

	if (p == NULL && size > 0 && !atomic_exchange(&is_dying, true)) {
		(void)book_speak();
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
