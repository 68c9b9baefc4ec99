/* SPDX-License-Identifier: MIT */
/*
 * column: tables and columns of a sink, and the measures of its records for
 * sums and statistics. sink.h says how to use them.
 */
#ifndef TL_SINK_COLUMN_H
#define TL_SINK_COLUMN_H

#include "stream/stream.h"
#include "table/table.h"

struct sink;
struct sink_plan;

/* What a cell comes from: the group's first record, or all. */
enum sink_from {
	SINK_CELL,    /* the program's cell(), which tells it by at */
	SINK_TEXT,    /* at: uint32_t, a dictionary id */
	SINK_INT,     /* int64_t; empty: SINK_NONE */
	SINK_REAL,    /* double; empty: NAN */
	SINK_U32,     /* uint32_t */
	SINK_BOOL,    /* bool */
	SINK_KEY,     /* struct key; the column becomes text if one is */
	SINK_UID,     /* struct uid; text if an event is repeated */
	SINK_PID,     /* uint32_t, a track or INTERN_NONE: its process */
	SINK_PROCESS, /* names of the record's track */
	SINK_LABEL,
	SINK_THREAD,
	SINK_COUNT, /* records */
	SINK_SUM,   /* at: a measure; from here to SINK_SHARE */
	SINK_MEAN,
	SINK_MEDIAN,
	SINK_STD,     /* of a sample: n - 1 */
	SINK_STD_ALL, /* of a population: n */
	SINK_MIN,
	SINK_MAX,
	SINK_P95, /* this and the next: integers only */
	SINK_P99,
	SINK_SHARE,      /* percent of the measure's sum in the whole */
	SINK_CUMULATIVE, /* of the table's measure, from the first row on */
	SINK_DETAILS,    /* at: which list, see below */
};
#define SINK_NONE INT64_MIN

/*
 * Lists of the GPU work that records launched, with durations, for columns that
 * -c +details adds.
 */
enum {
	DETAIL_CUT = 1,     /* names and means only */
	DETAIL_OVERLAP = 2, /* what overlapped it instead */
	DETAIL_EMPTY = 4,   /* an empty list is "[]", not an empty cell */
};

/* One entry of a list. */
struct detail {
	uint32_t name;
	struct key gpu_stream;
	int64_t dur_ns;
	double pct; /* of an overlap, else NAN */
};

/* Offsets in a record: of a size_t, a uint32_t, a struct op_overlap. */
struct sink_details {
	uint16_t first, n, overlap;
	/* The entry of a number. */
	struct detail (*kernel)(const struct sink *s, size_t number);
};

struct sink_column {
	struct column col;
	uint8_t from; /* enum sink_from */
	bool is_key;  /* a key of rows; SINK_TEXT to SINK_THREAD */
	uint16_t at;
	uint8_t only; /* wants() gets this number; 0: always present */
};
#define SINK_COLUMNS_END                                   \
	{                                                  \
		{ NULL, NULL, 0, 0, 0, 0 }, 0, false, 0, 0 \
	}

/* Five columns of a measure. */
#define SINK_STAT_COLUMN(id, label, type, flags, from, m, unit, div, only)  \
	{                                                                   \
		{ id, label, type, unit, flags, div }, from, false, m, only \
	}
/*
 * edge: the type of minimum and maximum; flags: of the mean, others are wide.
 */
#define SINK_STAT_COLUMNS(id, label, edge, unit, flags, div, m, only)       \
	SINK_STAT_COLUMN(id "_mean", label "_mean", COL_REAL, flags,        \
	    SINK_MEAN, m, unit, div, only),                                 \
	    SINK_STAT_COLUMN(id "_median", label "_median", COL_REAL,       \
		COL_DETAIL, SINK_MEDIAN, m, unit, div, only),               \
	    SINK_STAT_COLUMN(id "_std", label "_std", COL_REAL, COL_DETAIL, \
		SINK_STD, m, unit, div, only),                              \
	    SINK_STAT_COLUMN(id "_min", label "_min", edge, COL_DETAIL,     \
		SINK_MIN, m, unit, div, only),                              \
	    SINK_STAT_COLUMN(id "_max", label "_max", edge, COL_DETAIL,     \
		SINK_MAX, m, unit, div, only)

/* Keys of a place in time: texts, except the step, which is a key. */
#define SINK_PLACE_COLUMN(id, type, flags, from, at)                       \
	{                                                                  \
		{ id, NULL, type, UNIT_NONE, flags, 0 }, from, true, at, 0 \
	}
#define SINK_PLACE_COLUMNS(annotation, step, phase, phase_method)              \
	SINK_PLACE_COLUMN("annotation", COL_TEXT, 0, SINK_TEXT, annotation),   \
	    SINK_PLACE_COLUMN("step", COL_INT, 0, SINK_KEY, step),             \
	    SINK_PLACE_COLUMN("phase", COL_TEXT, COL_MINOR, SINK_TEXT, phase), \
	    SINK_PLACE_COLUMN(                                                 \
		"phase_method", COL_TEXT, COL_MINOR, SINK_TEXT, phase_method)

/* A measure of each record. The first SINK_GROUP_SUMS keep sums if integers. */
struct sink_measure {
	uint16_t at; /* int64_t; SINK_NONE is skipped */
	/* or a real; NAN is skipped */
	double (*real)(const struct sink *s, const void *record);
	bool is_own; /* the program's row() sets it */
};
#define SINK_MEASURES 10

/* ---- tables ---- */

enum sink_order {
	SINK_BY_SUM,  /* the largest sum of the table's measure first */
	SINK_BY_FEW,  /* the same, of equal sums the fewest records first */
	SINK_BY_KEY,  /* its first column, an int64_t, ascending, then by sum */
	SINK_BY_TIME, /* of the first record */
	SINK_AS_ADDED, /* regardless of source */
};

/* A column with another label in this table. */
struct sink_label {
	const char *id, *label;
	double div; /* 0: the column's */
};

/*
 * Whether a list of column ids ("name,count,dur_ns_sum") has this one. After a
 * '+' an id is wide in this table.
 */
bool sink_list_has(const char *list, struct str id);
/* Whether every id of a list is in another. */
bool sink_list_within(const char *list, const char *all);
/* The argument of --by as a list: some of the words ("op, kind"), each once. */
const char *sink_opt_keys(const struct optparse *op, const char *words);

struct sink_table {
	const char *name;    /* listed with the text of table/catalogue.h */
	const char *keys;    /* a list, or NULL */
	const char *columns; /* the columns after those, likewise */
	const struct sink_label *labels;
	size_t nlabels;
	uint8_t order, measure;
	/* Breaks ties, before the first record's uid. */
	const char *ties;
	bool is_single;  /* a row for each record */
	bool is_joined;  /* rows are of several sources: no leading column */
	bool is_summary; /* in a folder --top does not apply to it */
	bool is_late;    /* its columns are known only after reading */
	/* Prints it in another way. */
	void (*print)(struct sink *s, const struct sink_plan *p);
	unsigned about, by; /* for the program */
};

#endif
