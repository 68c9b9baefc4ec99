/* SPDX-License-Identifier: MIT */
/*
 * How hard a workbook is compressed. The library has no option for it and
 * takes zlib's default, which is two fifths of all the work for a sixth of the
 * size. So the call of zlib comes here first, as those of the allocator do in
 * memory.c; a library that brings a zlib of its own keeps the default.
 */
#include <dlfcn.h>
#include <zlib.h>

#include "cmd/tl-xlsx/workbook.h"

#define LEVEL 3

/* Weak: what is static has none and does not come here. */
#pragma weak dlsym

typedef int init_fn(z_streamp z, int level, int method, int bits, int memory,
    int strategy, const char *version, int size);

__attribute__((weak)) int
deflateInit2_(z_streamp z, int level, int method, int bits, int memory,
    int strategy, const char *version, int size)
{
	init_fn *real =
	    __extension__(init_fn *) dlsym(RTLD_NEXT, "deflateInit2_");

	if (real == NULL)
		return Z_VERSION_ERROR;
	if (level == Z_DEFAULT_COMPRESSION)
		level = LEVEL;
	return real(z, level, method, bits, memory, strategy, version, size);
}
