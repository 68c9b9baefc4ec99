/* SPDX-License-Identifier: MIT */
/*
 * tl-match: main.c has the options, tables.c prints matches, files.c writes
 * reports as JSON, and a trace of each side of a match.
 */
#ifndef TL_MATCH_H
#define TL_MATCH_H

#include "table/table.h"
#include "trace/match-read.h"

struct settings {
	struct match_query query;
	struct table_dest dest; /* dest.dir: -d */
	const char *table;      /* --table */
	bool list, is_chrome, verbose;
};

/* For each side of a match, or NULL: not written. */
struct extract {
	char *path[MATCH_SIDES];
};

struct program {
	struct settings *set;
	struct dict *st;
	struct matches found;
	VEC(struct extract) extracts; /* for each match */
};

/* TraceLens's name in files for others, such as prefilldecode. */
const char *phase_name(const struct settings *set, uint8_t phase);
static inline const struct match_trace *
trace_of(const struct program *p, int side)
{
	return &p->found.trace[side];
}
/* The name of a side's trace within names of files. */
struct str trace_name(const struct program *p, int side, struct buf *b);

/* ---- loads of a block ---- */

struct load {
	const char *json, *id; /* avg_context_requests, c_req */
	size_t at;             /* in struct iteration */
};
#define NLOADS 6
extern const struct load loads[NLOADS];
int64_t load_of(const struct iteration *it, size_t load);
/* A block's mean, to three decimals. */
double mean_of(
    const struct program *p, const struct match *m, int side, size_t load);
/* The mean difference of a load in the distance, to six decimals. */
double distance_of(const struct match *m, size_t i);
size_t ndistances(const struct program *p, const struct match *m);

/* ---- tables.c ---- */

void tables_check(const struct settings *set);
void tables_print(struct program *p);

/* ---- files.c ---- */

/* Writes a trace of each side of each match. */
void extract_all(struct program *p);
void reports_write(const struct program *p);

#endif
