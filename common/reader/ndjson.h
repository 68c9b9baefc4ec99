/* SPDX-License-Identifier: MIT */
/* A line of typed NDJSON: between ndjson-line.c and ndjson.c. */
#ifndef TL_READER_NDJSON_H
#define TL_READER_NDJSON_H

#include "json/json.h"

#include "reader/reader.h"

struct member {
	struct str key;
	enum json_token type;
	struct str raw; /* a string's text, else the value as written */
	bool escaped;
};

struct ndjson {
	struct reader *r;
	struct json j;
	VEC(struct member) members; /* of the current line */
	VEC(struct head_column) columns;
	VEC(struct val) cells;
	struct arena *head_text, *row_text;
	struct buf scratch;
	struct str name; /* of the open table */
	bool is_open;
	bool *seen; /* columns set in the current row */
};

/*
 * The next object; its members stay in n->members until the next call. 1, 0 at
 * the end, -1 after an error.
 */
int ndjson_next_object(struct ndjson *n);
/* Moves past that token; false, with the error set: it is another one. */
bool ndjson_behind_object(struct ndjson *n);
/* The value after a key. */
enum json_status ndjson_take_value(struct ndjson *n, struct member *m);
/* A string's text in the arena, or as it is. */
enum json_status ndjson_text_of(
    struct ndjson *n, struct arena *a, bool escaped, struct str *s);

#endif
