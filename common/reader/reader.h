/* SPDX-License-Identifier: MIT */
/*
 * reader: tables read back, as our programs and others write them. The bytes of
 * one input become tables: for each the head, then its rows one at a time, then
 * its end. One row is held in memory. Only the functions marked "For programs"
 * print or exit; all else can be fuzzed.
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
	VAL_BIG, /* an integer beyond 2^53, as text */
	VAL_BOOL,
};

struct val {
	enum val_type type;
	bool is_int; /* a number written without a point or an exponent */
	union {
		struct str text;
		double number;
		bool yes;
	};
};

/* A number as JSON writes it, as text if beyond double's range. */
struct val val_of_number(struct str s);
/* A cell of an untyped table: a number if all of it is one, else text; none if
 * empty. */
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

/* All pointers passed are borrowed until the function returns. */
struct table_sink {
	void (*begin)(void *ctx, const struct head *head);
	void (*row)(void *ctx, const struct val *cells); /* head's ncolumns */
	void (*end)(void *ctx);
	void *ctx;
};

struct reader {
	struct in *in;
	const struct table_sink *sink;
	uint64_t line;    /* current line, from 1; 0: no line */
	uint64_t ntables; /* passed on completely */
	bool unfinished;  /* the last line has no newline */
	struct buf error; /* after false: what is wrong in that line */
};

/* Longer cells are an error. */
#define CELL_MAX ((size_t)16 << 20)

enum table_kind {
	TABLE_UNKNOWN, /* not known, see error */
	TABLE_NDJSON,
	TABLE_TSV,
	TABLE_CSV,
};

/*
 * The kind of table, by file name, else by the first line. TABLE_UNKNOWN sets
 * error if the input is empty or clearly not a table.
 */
enum table_kind table_sniff(struct reader *r, const char *name);
/* Reads to the end of the data. False sets error and line. */
bool table_read(struct reader *r, enum table_kind kind) USE_RESULT;
void reader_free(struct reader *r);

/*
 * For programs: reads all tables of an input and closes it. TABLE_UNKNOWN:
 * detect the kind. A malformed table ends the program.
 */
void table_read_all(
    struct in *in, enum table_kind kind, const struct table_sink *sink);
/* For programs: whether name or first bytes are a table's, not a trace's. */
bool table_is_one(struct in *in);
/*
 * Splits the operand NAME=FILE. Returns the file; the name is the caller's, or
 * NULL. A file name with an equals sign is written ./a=b.
 */
const char *table_operand(const char *arg, char **name);
/* A table's name from its file name: no folders, no .csv, .tsv.gz, ... */
struct str table_name_of(const char *path);

bool ndjson_read(struct reader *r) USE_RESULT;
bool tsv_read(struct reader *r) USE_RESULT;
bool csv_read(struct reader *r) USE_RESULT;

/* The end of the line at in->p, without its newline; NULL: no bytes left. */
const unsigned char *reader_line(struct reader *r);

/*
 * An untyped head from the fields of a first line; then its rows, which must
 * have as many fields.
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
