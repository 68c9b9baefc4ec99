/* SPDX-License-Identifier: MIT */
/*
 * source: the sources of all files that a sink reads, what it counted of each,
 * and the column that tells their rows apart.
 */
#ifndef TL_SINK_SOURCE_H
#define TL_SINK_SOURCE_H

#include "trace/select.h"
#include "trace/span.h"

/* One source of one of the files. */
struct sink_source {
	const char *path;
	char *label;  /* its trace, for messages; NULL: path */
	uint32_t src; /* in its stream */
	uint32_t no;  /* over all files */
	bool is_stdin, is_asked, is_rocprof, is_xla;
	bool has_rank, is_rank_guess; /* a guess from the order of inputs */
	bool has_base, has_epoch, has_window;
	int64_t rank;
	int64_t base_ns;    /* of ts, in Unix time if known */
	struct span window; /* in which the profiler was on */
	/* GPU events, and of those: unlinked, ...; without duplicates */
	uint64_t ngpu, nunlinked, nuntimed, nduplicates, nchosen;
	int64_t work_ns;    /* sum of the durations of selected ones */
	uint64_t nleft_out; /* selected, but excluded by --linked-only */
	/* collectives that are in no row, if excluded */
	uint64_t ncomm, comm_ns;
	uint64_t nops;
};

/*
 * Counts a GPU event of the source. False if nothing else is to be done: a
 * duplicate, not selected, or without a time. *end_ns is its end; the sink
 * counts in nchosen what it uses.
 */
bool sink_source_takes(struct sink_source *o, const struct event *ev,
    bool is_chosen, int64_t *end_ns) USE_RESULT;

/* The column that tells the rows of several sources apart. */
enum sink_lead {
	SINK_LEAD_AUTO, /* one of the others, by what the input has */
	SINK_LEAD_NONE, /* a single source: none */
	SINK_LEAD_RANK,
	SINK_LEAD_SRC, /* its number: ranks are unknown or equal */
};

/* Starts as zeroes. */
struct sink_sources {
	VEC(struct sink_source) list;
	size_t file; /* index of the current file's first source */
	const char *path;
	bool is_stdin;       /* the current file */
	enum sink_lead lead; /* as set by the program */
};

void sink_sources_file(struct sink_sources *g, const char *path);
/* Made if missing; valid until the next call. */
struct sink_source *sink_sources_of(struct sink_sources *g, uint32_t src);
/* Takes what a source says of itself, and whether it is selected. */
struct sink_source *sink_sources_source(
    struct sink_sources *g, const struct select *sel, const struct source *s);
enum sink_lead sink_sources_lead(const struct sink_sources *g);
/* Sums over the selected sources. */
struct sink_source sink_sources_sum(const struct sink_sources *g);
/* Ends the program if there are sources, but none of the ranks selected. */
void sink_sources_check(const struct sink_sources *g);
/* The same without a GPU event that has a time, of so many events. */
void sink_sources_check_gpu(const struct sink_sources *g, uint64_t nevents);
/* Prints a line for each, for -v. */
void sink_sources_note(const struct sink_sources *g);
/* What messages call it; the source of a number over all files. */
const char *sink_source_label(const struct sink_source *o);
const char *sink_sources_label(const struct sink_sources *g, uint32_t no);
void sink_sources_free(struct sink_sources *g);

#endif
