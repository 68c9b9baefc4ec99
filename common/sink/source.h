/* SPDX-License-Identifier: MIT */
/*
 * source: the sources of all files that a sink reads, what was counted of
 * each, and which column tells their rows apart.
 */
#ifndef TL_SINK_SOURCE_H
#define TL_SINK_SOURCE_H

#include "trace/select.h"
#include "trace/span.h"

/* One source of one of the files. */
struct sink_source {
	const char *path;
	uint32_t src; /* in its stream */
	uint32_t no;  /* over all files */
	bool is_stdin, is_asked, is_rocprof, is_xla;
	bool has_rank, is_rank_guess; /* by the order of inputs */
	bool has_base, has_epoch, has_window;
	int64_t rank;
	int64_t base_ns;    /* of ts, in Unix time where it is known */
	struct span window; /* that the profiler was on for */
	/* GPU events, and those of them that are so; duplicates are not in */
	uint64_t ngpu, nunlinked, nuntimed, nduplicates, nchosen;
	int64_t work_ns;    /* of those that are asked for, each by itself */
	uint64_t nleft_out; /* asked for, but --linked-only */
	/* collectives that no row counts, where they are left out */
	uint64_t ncomm, comm_ns;
	uint64_t nops;
};

/*
 * Counts a GPU event of it. False where nothing more is to be done: for a
 * duplicate, and for one that is not chosen or has no time. *end_ns is its end;
 * what the sink makes something of it counts by itself, in nchosen.
 */
bool sink_source_takes(struct sink_source *o, const struct event *ev,
    bool is_chosen, int64_t *end_ns) USE_RESULT;

/* What tells the rows of several sources apart. */
enum sink_lead {
	SINK_LEAD_AUTO, /* by what there is: one of the others */
	SINK_LEAD_NONE, /* there is one: nothing */
	SINK_LEAD_RANK,
	SINK_LEAD_SRC, /* its number: ranks are unknown or the same */
};

/* Zeroes to start with. */
struct sink_sources {
	VEC(struct sink_source) list;
	size_t file; /* the first of the file being read */
	const char *path;
	bool is_stdin;       /* of that */
	enum sink_lead lead; /* if it was asked for */
};

void sink_sources_file(struct sink_sources *g, const char *path);
/* Made when missing; valid until the next call. */
struct sink_source *sink_sources_of(struct sink_sources *g, uint32_t src);
/* Takes what the source says of itself and whether it is asked for. */
struct sink_source *sink_sources_source(
    struct sink_sources *g, const struct select *sel, const struct source *s);
enum sink_lead sink_sources_lead(const struct sink_sources *g);
/* The sums of what is counted in those that are asked for. */
struct sink_source sink_sources_sum(const struct sink_sources *g);
/* Sources, but none of the ranks asked for, end the program. */
void sink_sources_check(const struct sink_sources *g);
/* Nor do those without a GPU event that has a time, of so many events. */
void sink_sources_check_gpu(const struct sink_sources *g, uint64_t nevents);
/* A line each for -v. */
void sink_sources_note(const struct sink_sources *g);
void sink_sources_free(struct sink_sources *g);

#endif
