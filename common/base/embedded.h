/* SPDX-License-Identifier: MIT */
/*
 * embedded: files that the build compiles in. Those of a folder (common/AREA
 * or cmd/tl-x: see the Makefile's data_of) are one array, named for it:
 *
 *	extern const struct embedded tl_html_data[];
 *	extern const size_t tl_html_ndata;
 */
#ifndef TL_BASE_EMBEDDED_H
#define TL_BASE_EMBEDDED_H

#include <stddef.h>

struct embedded {
	const char *name; /* "gemm.lua", "arch/MI300X.json" */
	const unsigned char *bytes;
	size_t len;                /* IN_PAD zeros follow */
	const unsigned char *code; /* Lua compiled by the build */
	size_t ncode;
};

#endif
