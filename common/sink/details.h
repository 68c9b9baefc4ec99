/* SPDX-License-Identifier: MIT */
/*
 * details: lists inside of cells: what the calls of a group launched (or what
 * overlapped them), position by position, as JSON. The first call whose list
 * isn't empty says how long the list is and what stands in it; calls with
 * lists of another length are left out, as "count" shows.
 */
#ifndef TL_SINK_DETAILS_H
#define TL_SINK_DETAILS_H

#include "trace/overlap.h"

/* One entry of a call's list. */
struct detail {
	uint32_t name;
	struct key gpu_stream;
	int64_t dur_ns;
	double pct; /* NAN: none */
};

/* The lists of a group of calls. */
struct detail_lists {
	struct dict *dict;
	const void *arg;
	size_t n; /* calls */
	/* The length of a call's list, and its entry at i. */
	size_t (*length)(const void *arg, size_t call);
	struct detail (*entry)(const void *arg, size_t call, size_t i);
	bool with_names; /* says how many names stand at one position */
};

enum detail_form {
	DETAIL_FULL,
	DETAIL_TRUNC, /* names and means only */
};

/* Appends a JSON list; false, and nothing: all lists are empty. */
bool details_put(
    struct buf *b, const struct detail_lists *l, enum detail_form form);

/*
 * What overlapped the calls as such lists: .arg is one of these, .length and
 * .entry are overlap_length() and overlap_entry().
 */
struct overlap_lists {
	const overlap_vec *all;
	const void *arg;
	const struct op_overlap *(*of)(const void *arg, size_t call);
};

size_t overlap_length(const void *lists, size_t call);
struct detail overlap_entry(const void *lists, size_t call, size_t i);

#endif
