/* SPDX-License-Identifier: MIT */
/*
 * Nsight Systems' export: a table for each kind of activity, only those with
 * rows, and with other columns in each version.
 *
 *	nsys.c		what the file says of itself, processes, lost events
 *	nsys-gpu.c	work on GPUs, counters and memory
 *	nsys-host.c	calls, ranges and names
 *
 * A global id is 8 bits of hardware, 8 of virtual machine, 24 of process and 24
 * of thread; that of a process has no thread.
 */
#ifndef TL_DECODE_NSYS_H
#define TL_DECODE_NSYS_H

#include "cmd/tl-decode/sqlite/db.h"

#define NSYS_THREAD INT64_C(0xffffff)
#define CUPTI(name) "CUPTI_ACTIVITY_KIND_" name

struct nsys_ends {
	VEC(int64_t) list;
};

struct nsys {
	struct db_strings *strings;
	struct db_strings *copy_kinds, *memory_kinds, *sync_types, *launches;
	/* names by two numbers: NVTX domains and categories, GPU metrics */
	struct map names[3]; /* to indexes in texts */
	struct intern *texts;
	/* open ranges: ends by thread, innermost last */
	struct map thread_of;
	VEC(struct nsys_ends) threads;
	int64_t nlosses;
};

enum { NAMES_DOMAIN, NAMES_CATEGORY, NAMES_METRIC };

static inline int64_t
nsys_pid(int64_t global)
{
	return global >> 24 & NSYS_THREAD;
}

/* The name of a pair, or empty. */
struct str nsys_name(const struct nsys *n, int what, int64_t a, int64_t b);
/* Sets a process's track; tid NULL: no thread. */
void nsys_track(struct db *db, int64_t global, const int64_t *tid);
/*
 * Sets the id that links calls and their work, but not for a process without
 * GPU work, as its ids are used by others.
 */
void nsys_corr(
    struct db *db, const struct db_row *row, size_t col, int64_t global);

void nsys_add_gpu(struct db *db);
void nsys_add_host(struct db *db);

#endif
