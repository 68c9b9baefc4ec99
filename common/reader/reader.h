/* SPDX-License-Identifier: MIT */
/*
 * reader: tables read back, as our programs and others write them. The bytes
 * of one input become tables: for each the head, then its rows one at a time,
 * then its end. One row is held in memory. Nothing here but what programs call
 * prints or exits, so that all of it can be fuzzed.
 *
 *	struct table_sink sink = { begin, row, end, ctx };
 *	struct reader r = { .in = in_open(path), .sink = &sink };
 *	enum table_kind kind = table_sniff(&r, path);
 *	if (kind == TABLE_UNKNOWN || !table_read(&r, kind))
 *		die("%s: line %" PRIu64 ": %s", path, r.line, r.error.p);
 *	reader_free(&r);
 */
#ifndef TL_READER_H
#define TL_READER_H

#include "table/table.h"

/* ---- values ---- */

enum val_type {
	VAL_NONE,
	VAL_TEXT,
	VAL_NUMBER,
	VAL_BIG, /* an integer beyond 2^53: its text */
	VAL_BOOL,
};

struct val {
	enum val_type type;
	union {
		struct str text;
		double number;
		bool yes;
	};
};

/* A number as JSON writes it; one beyond double's range is text. */
struct val val_of_number(struct str s);
/* A cell of a table without types: a number in full, or text; empty: none. */
struct val val_of_text(struct str s);

/* ---- tables ---- */

struct head_column {
	struct str id, label;
	enum col_type type; /* of a typed table */
	enum unit unit;
	double label_div; /* 1: none */
	unsigned flags;   /* COL_FOLDED, COL_BETTER_*, COL_WRAPPED */
};

struct head {
	struct str name; /* empty: the input has none */
	const struct head_column *columns;
	size_t ncolumns;
	bool typed;
};

/* All that is handed over is borrowed until the function returns. */
struct table_sink {
	void (*begin)(void *ctx, const struct head *head);
	void (*row)(void *ctx, const struct val *cells); /* head's ncolumns */
	void (*end)(void *ctx);
	void *ctx;
};

struct reader {
	struct in *in;
	const struct table_sink *sink;
	uint64_t line;    /* the one being read, from 1; 0: no place */
	uint64_t ntables; /* handed over whole */
	bool unfinished;  /* the last line has no newline */
	struct buf error; /* after false: what is wrong in that line */
};

/* The longest cell that is read at all. */
#define CELL_MAX ((size_t)16 << 20)

enum table_kind {
	TABLE_UNKNOWN, /* not known, see error */
	TABLE_NDJSON,
	TABLE_TSV,
	TABLE_CSV,
};

/*
 * What kind of table the bytes are, by the name's ending and then by the first
 * line. TABLE_UNKNOWN sets error for what is clearly no table, or empty.
 */
enum table_kind table_sniff(struct reader *r, const char *name);
/* Reads to the end of the data. False sets error and line. */
bool table_read(struct reader *r, enum table_kind kind) USE_RESULT;
void reader_free(struct reader *r);

/*
 * For programs: all tables of an input, which is closed. TABLE_UNKNOWN: of the
 * kind that it is. What is wrong ends the program.
 */
void table_read_all(
    struct in *in, enum table_kind kind, const struct table_sink *sink);
/* Whether its name or its first bytes are a table's, not a trace's. */
bool table_is_one(struct in *in);
/*
 * NAME=FILE of a command line: the file, and the name, owned by the caller, or
 * NULL where there is none. A file whose name has an equals sign is ./a=b.
 */
const char *table_operand(const char *arg, char **name);
/* A table's name by its file: no folders, no .csv, .tsv.gz, ... */
struct str table_name_of(const char *path);

bool ndjson_read(struct reader *r) USE_RESULT;
bool tsv_read(struct reader *r) USE_RESULT;
bool csv_read(struct reader *r) USE_RESULT;

/* The end of the line at in->p, without its newline; NULL: no byte is left. */
const unsigned char *reader_line(struct reader *r);

/*
 * A head without types, from the fields of a first line; then its rows, which
 * must have as many fields.
 */
struct plain {
	VEC(struct head_column) columns;
	VEC(struct val) cells;
	bool has_head;
};

bool plain_row(struct reader *r, struct plain *t, const struct str *fields,
    size_t n) USE_RESULT;
void plain_free(struct plain *t);

#endif
