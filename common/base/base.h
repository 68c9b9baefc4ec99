/* SPDX-License-Identifier: MIT */
/*
 * base: what every other area stands on.
 *
 * Text is a struct str: bytes with a length, no terminator promised, because
 * names in traces may hold NULs.  Memory has three lifetimes: the program
 * (xmalloc and never freed, the intern table), the phase (an arena, dropped
 * whole) and the current event (borrowed from a reader until its next call).
 *
 * Errors have one vocabulary: die() ends the program with status 1, report()
 * (base/report.h) tells what happened on the way.  A message is one write(2);
 * control characters in it are made visible.
 *
 *	struct arena *a = arena_create();
 *	struct str copy = arena_str(a, name);
 *	uint32_t id = intern_put(table, copy);
 *	VEC(int64_t) v = { 0 };
 *	vec_push(&v, id);
 */
#ifndef TL_BASE_H
#define TL_BASE_H

#include "base/c.h"
#include "base/child.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/report.h"
#include "base/sys.h"
#include "base/text.h"

#endif
