/* SPDX-License-Identifier: MIT */
/*
 * details: lists inside of cells: what the calls of a group launched (or what
 * ran beside them), position by position, as JSON. The first call whose list
 * isn't empty says how long the list is and what stands in it; calls with
 * lists of another length are left out, as "count" shows.
 */
#ifndef TL_TABLE_DETAILS_H
#define TL_TABLE_DETAILS_H

#include "trace/beside.h"

/* One entry of a call's list. */
struct detail {
	uint32_t name;
	struct key gpu_stream;
	int64_t dur_ns;
	double pct; /* NAN: none */
};

/* The lists of a group of calls. */
struct detail_lists {
	struct strings *strings;
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
 * What ran beside the calls as such lists: .arg is one of these, .length and
 * .entry are beside_length() and beside_entry().
 */
struct beside_lists {
	const beside_vec *besides;
	const void *arg;
	const struct beside_of *(*of)(const void *arg, size_t call);
};

size_t beside_length(const void *lists, size_t call);
struct detail beside_entry(const void *lists, size_t call, size_t i);

#endif
