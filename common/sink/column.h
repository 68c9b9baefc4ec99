/* SPDX-License-Identifier: MIT */
/*
 * column: what a column of a sink's tables is, and the numbers of its records
 * that sums and statistics are of. sink.h says how they are used.
 */
#ifndef TL_SINK_COLUMN_H
#define TL_SINK_COLUMN_H

#include "table/table.h"

struct sink;

/* What a cell is made of: of the group's first record, or of all. */
enum sink_from {
	SINK_CELL,    /* the program's cell() */
	SINK_TEXT,    /* at: uint32_t, a number in the dictionary */
	SINK_INT,     /* int64_t; empty: SINK_NONE */
	SINK_REAL,    /* double; empty: NAN */
	SINK_U32,     /* uint32_t */
	SINK_BOOL,    /* bool */
	SINK_KEY,     /* struct key; the column becomes a text if one is */
	SINK_UID,     /* struct uid; likewise for repetitions of an event */
	SINK_PROCESS, /* names of the record's track */
	SINK_LABEL,
	SINK_THREAD,
	SINK_COUNT, /* records */
	SINK_SUM,   /* at: a measure; from here to SINK_SHARE */
	SINK_MEAN,
	SINK_MEDIAN,
	SINK_STD,
	SINK_MIN,
	SINK_MAX,
	SINK_SHARE,      /* of the measure's sum in the whole, in percent */
	SINK_CUMULATIVE, /* of the table's measure, from the first row on */
};
#define SINK_NONE INT64_MIN

struct sink_column {
	struct column col;
	uint8_t from; /* enum sink_from */
	bool is_key;  /* rows differ by it; SINK_TEXT to SINK_THREAD, or CELL */
	uint16_t at;
};

/* Five columns of a measure: F_X_MEAN, _MEDIAN, _STD, _MIN, _MAX. */
#define SINK_STATS(f) f##_MEAN, f##_MEDIAN, f##_STD, f##_MIN, f##_MAX
#define SINK_STAT_COLUMN(f, id, label, type, unit, flags, div, from, measure) \
	[f] = { { id, label, type, unit, flags, div }, from, false, measure }
/* edge: the type of least and greatest; flags: of the mean, others are wide. */
#define SINK_STAT_COLUMNS(f, id, label, edge, unit, flags, div, m)             \
	SINK_STAT_COLUMN(f##_MEAN, id "_mean", label "_mean", COL_REAL, unit,  \
	    flags, div, SINK_MEAN, m),                                         \
	    SINK_STAT_COLUMN(f##_MEDIAN, id "_median", label "_median",        \
		COL_REAL, unit, COL_DETAIL, div, SINK_MEDIAN, m),              \
	    SINK_STAT_COLUMN(f##_STD, id "_std", label "_std", COL_REAL, unit, \
		COL_DETAIL, div, SINK_STD, m),                                 \
	    SINK_STAT_COLUMN(f##_MIN, id "_min", label "_min", edge, unit,     \
		COL_DETAIL, div, SINK_MIN, m),                                 \
	    SINK_STAT_COLUMN(f##_MAX, id "_max", label "_max", edge, unit,     \
		COL_DETAIL, div, SINK_MAX, m)

/*
 * A number of each record. Of the first SINK_GROUP_SUMS the sums are kept if
 * they are integers.
 */
struct sink_measure {
	uint16_t at; /* int64_t; SINK_NONE is passed over */
	/* or a real, NAN is passed over */
	double (*real)(const struct sink *s, const void *record);
	bool is_own; /* the program's row() fills it in */
};
#define SINK_MEASURES 10

#endif
