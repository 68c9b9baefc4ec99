/* SPDX-License-Identifier: MIT */
/*
 * sink: what programs share that read traces and print tables of groups. Such
 * a program describes its records, columns and tables, and says what it takes
 * from the events; sink_main() does the rest: options, reading, grouping,
 * order, statistics, shares, which tables are printed, and the exit status.
 *
 *	struct piece {			(equal keys become a row)
 *		struct sink_record rec;
 *		struct key gpu_stream;
 *		int64_t dur_ns;
 *	};
 *	static const struct sink_column columns[] = {
 *		{ { "gpu_stream", NULL, COL_INT, UNIT_NONE, 0, 0 },
 *		    SINK_KEY, true, offsetof(struct piece, gpu_stream), 0 },
 *		{ { "count", NULL, COL_INT, UNIT_COUNT, 0, 0 },
 *		    SINK_COUNT, false, 0, 0 },
 *		{ { "dur_ns_sum", NULL, COL_INT, UNIT_NS, 0, 0 },
 *		    SINK_SUM, false, 0, 0 },
 *		{ { "percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
 *		    SINK_SHARE, false, 0, 0 },
 *		SINK_COLUMNS_END };
 *	static const struct sink_measure measures[] = {
 *		{ offsetof(struct piece, dur_ns), NULL, false } };
 *	static struct sink_table tables[] = { { .name = "gpu_streams",
 *		.columns = "gpu_stream,count,dur_ns_sum,percent" } };
 *
 *	static void
 *	take(struct sink *s, const struct stream_in *in, bool is_chosen)
 *	{
 *		int64_t end_ns;
 *
 *		if (!sink_takes_gpu(s, &in->ev, is_chosen, &end_ns))
 *			return;
 *		struct piece *p = sink_add_event(s, &in->ev);
 *		p->gpu_stream = in->ev.gpu_stream;
 *		p->dur_ns = in->ev.dur_ns;
 *	}
 *
 *	static const struct opt options[] = { OPT_SINK_LINKED_ROW, OPT_SINK };
 *	static const struct about about = { "how much each GPU stream worked",
 *		"[OPTIONS] [FILE...]", "tl-x trace.json.gz" };
 *	static const struct sink_def def = { .about = &about,
 *		.options = options, .columns = columns, .measures = measures,
 *		.nmeasures = 1, .tables = tables, .ntables = 1,
 *		.record_size = sizeof(struct piece), .want = WANT_LINKED,
 *		.kinds = KINDS_GPU, .take = take, .empty = sink_die_empty };
 *
 *	int
 *	main(int argc, char *argv[])
 *	{
 *		struct sink s = { .def = &def };
 *
 *		return sink_main(&s, argc, argv);
 *	}
 *
 * A column is an entry of columns[] and its id in the lists of tables; one
 * whose cell is no field, sum or statistic (SINK_CELL) has a number, by which
 * cell() knows it. Rank or source lead where there are several sources. The
 * program's state begins with a struct sink: hooks find it by a cast. Memory:
 * the records, while a table is made 8 bytes a record and 238 a group.
 */
#ifndef TL_SINK_SINK_H
#define TL_SINK_SINK_H

#include <stddef.h>

#include "sink/cells.h"
#include "sink/column.h"
#include "sink/group.h"
#include "sink/source.h"
#include "table/table.h"
#include "trace/bucket.h"
#include "trace/launcher.h"
#include "trace/overlap.h"
#include "trace/process.h"
#include "trace/select.h"
#include "trace/stat.h"

/* How each record begins. */
struct sink_record {
	struct uid uid;
	uint32_t source; /* index in sink.sources; only selected stay */
	uint32_t track;  /* INTERN_NONE: no thread or process to name */
	int64_t ts_ns;
};
int sink_record_order(const void *a, const void *b); /* for qsort() */

/* ---- tables ---- */

/* A table to be printed: its columns. */
struct sink_plan {
	const struct sink_table *table;
	const char *name;
	VEC(struct column) columns;
	VEC(uint16_t) fields; /* by column: its number, or SINK_OWN or more */
	uint8_t keys[SINK_GROUP_WORDS], ties[SINK_GROUP_WORDS];
	size_t nkeys, nties;
};
#define SINK_OWN 0x100    /* from here on only cell() knows the field */
#define SINK_LEADS 0xfff0 /* and from here on it is enum sink_lead */

/* Whether it will be printed, if the input has what it needs. */
bool sink_asked(const struct sink *s, const struct sink_table *t);
/* Append columns of a list, or one of the program's own. */
void sink_plan_add(const struct sink *s, struct sink_plan *p, const char *list);
void sink_plan_own(
    struct sink_plan *p, const struct column *col, unsigned field);
/* Only these columns tell rows apart, shown or not. */
void sink_plan_keys(const struct sink *s, struct sink_plan *p, const char *ids);
void sink_plan_free(struct sink_plan *p);

/* ---- rows ---- */

struct sink_stat {
	struct stats ns;
	struct stat_real real;
};

/* A row being made. */
struct sink_row {
	struct sink *sink;
	const struct sink_plan *plan;
	struct table *table;
	const struct sink_groups *groups;
	const struct sink_group *group;
	const void *first; /* the first record */
	double whole;      /* what shares are of, in ns */
	double cumulative;
	struct sink_stat stats[SINK_MEASURES];
	struct buf *text; /* buffer for texts */
};

const void *sink_row_record(const struct sink_row *r, size_t i);
/* The text in r->text, which the table copies. */
struct cell sink_row_text(const struct sink_row *r);
/* The cell of a leading column, for tables that print themselves. */
struct cell sink_lead_cell(
    const struct sink *s, uint32_t source, unsigned field);
/* Prints a table as the engine does. */
void sink_rows_print(struct sink *s, const struct sink_plan *p);

/* ---- the program ---- */

struct sink_def {
	const struct about *about;
	const struct opt *options;
	const struct sink_column *columns;
	const struct sink_measure *measures;
	size_t nmeasures;
	struct sink_details details; /* for SINK_DETAILS */
	struct sink_table *tables;   /* or make_tables() */
	size_t ntables;
	size_t record_size;
	enum want want; /* what must be done to the stream */
	uint32_t kinds; /* kinds of events read, as far as selected */
	bool in_time;   /* sort records by time */
	unsigned once;  /* measures, by bit: no two records share time */
	bool by_names;  /* --table takes several, separated by commas */
	/* Gets the ops that launched what was pushed to launchers. */
	launcher_fn *launcher;

	/* Makes what options need; the program's name for messages is set. */
	void (*begin)(struct sink *s);
	/* Takes the program's own options; false: not one of them. */
	bool (*option)(struct sink *s, const struct optparse *op, int ch);
	/* After all options: makes tables that depend on them. */
	void (*make_tables)(struct sink *s);
	/* Then: checks them, adds to s->want, and to s->kinds what is always
	 * read. A table named by --table is in s->named already. */
	void (*check)(struct sink *s);
	/* Answers what needs no file; true: nothing else is to be done. */
	bool (*at_once)(struct sink *s);
	/* Before the first file; strings exist. */
	void (*start)(struct sink *s);
	void (*take)(struct sink *s, const struct stream_in *in, bool chosen);
	/* Takes those of s->heads, of the current source. */
	void (*heads)(struct sink *s, const struct event_head *v, size_t n);
	/* At items that are not events, and after the last one of a file. */
	void (*flush)(struct sink *s);
	void (*source)(struct sink *s, const struct source *src);
	/* After the last file; unselected records are dropped. */
	void (*finish)(struct sink *s);
	/* Without records: says why, and ends the program. */
	void (*empty)(struct sink *s);
	void (*summary)(const struct sink *s); /* its part of -v */
	void (*free)(struct sink *s);

	/* Whether a table is printed if none is named; NULL: all. */
	bool (*asked)(const struct sink *s, const struct sink_table *t);
	/* Whether the input has what it needs; NULL: yes. */
	bool (*fits)(const struct sink *s, const struct sink_table *t);
	/* Whether its columns with this number, see sink_column, are shown. */
	bool (*wants)(
	    const struct sink *s, const struct sink_table *t, unsigned only);
	/* Whether a record belongs to it; NULL: all do. */
	bool (*member)(const struct sink *s, const struct sink_plan *p,
	    const void *record);
	/* Which records to look at; NULL: all. */
	void (*range)(const struct sink *s, const struct sink_plan *p,
	    size_t *first, size_t *end);
	/* Looks at a finished plan, and its unsorted groups. */
	void (*planned)(struct sink *s, struct sink_plan *p);
	void (*grouped)(
	    struct sink *s, const struct sink_plan *p, struct sink_groups *gs);
	/* Comes before all order but by source; or 0. */
	int (*compare)(const struct sink *s, const struct sink_group *a,
	    const struct sink_group *b);
	/* The whole of a source; NULL, NAN: all rows of the table. */
	double (*whole)(
	    const struct sink *s, const struct sink_plan *p, uint32_t source);
	void (*notes)(
	    struct sink *s, const struct sink_plan *p, struct table *t);
	void (*row)(struct sink_row *r); /* before its cells are made */
	/* A SINK_CELL by its at, or a field of the program's own. */
	struct cell (*cell)(const struct sink_row *r, unsigned number);
};

struct sink {
	const struct sink_def *def;
	struct sink_table *tables;
	size_t ntables;
	/* options */
	const char *table;              /* --table, a list */
	const struct sink_table *named; /* the first of them */
	bool list_tables, verbose, linked_only, reads_stdin;
	bool details; /* columns of lists are shown */
	struct select select;
	struct bucket_rules rules;
	struct table_dest dest;
	enum want want;        /* what is read: the program's, and check()'s */
	uint32_t kinds, heads; /* never selected: stream_only_heads() */
	bool only_owners;      /* only host events above GPU work: check() */
	/* read */
	struct dict *dict;
	struct names *names;
	struct sink_sources sources;
	uint32_t source; /* index of the current event's source */
	uint64_t nevents;
	struct launchers *launchers;
	overlap_vec overlaps; /* for DETAIL_OVERLAP */
	struct {
		char *v;
		size_t n, cap;
	} records;
};

#define OPT_SINK_LIST OPT_OF_SINK
#define OPT_SINK_TABLE (OPT_OF_SINK + 1)
#define OPT_SINK_LIST_ROW                                             \
	{                                                             \
		OPT_SINK_LIST, "list-tables", NULL, "list the tables" \
	}
#define OPT_SINK_LINKED (OPT_OF_SINK + 2)
#define OPT_SINK_LINKED_ROW                                            \
	{                                                              \
		OPT_SINK_LINKED, "linked-only", NULL,                  \
		    "count only GPU work whose launch is in the trace" \
	}
#define OPT_SINK_PSEUDO (OPT_OF_SINK + 3)
#define OPT_SINK_PSEUDO_ROW                             \
	{                                               \
		OPT_SINK_PSEUDO, "pseudo-ops", NULL,    \
		    "split ops that hide several steps" \
	}
#define OPT_SINK_TABLE_ROW                                          \
	{                                                           \
		OPT_SINK_TABLE, "table", "NAME", "print this table" \
	}

/* Options of all sinks, after the program's own. */
#define OPT_SINK                                \
	OPT_SELECT, OPT_SELECT_HINT, OPT_TABLE, \
	    { 'v', "verbose", NULL, "print a summary on stderr" }, OPT_END

/* main() of a sink; returns the exit status. */
int sink_main(struct sink *s, int argc, char *argv[]);
/*
 * Counts a GPU event in its source, and as chosen if selected (with
 * --linked-only only if linked). Returns whether it is for a record, and its
 * end. False for other events, too.
 */
bool sink_takes_gpu(struct sink *s, const struct event *ev, bool is_chosen,
    int64_t *end_ns) USE_RESULT;
/* A new record of zeroes; valid until the next one. */
void *sink_add(struct sink *s);
/* The same, with the rec of an event of the current source. */
void *sink_add_event(struct sink *s, const struct event *ev);
static inline void *
sink_record(const struct sink *s, size_t i)
{
	return s->records.v + i * s->def->record_size;
}

/* For empty(): ends the program if there is no GPU event, or none selected. */
void sink_check_gpu(const struct sink *s);
noreturn void sink_die_no_match(struct sink *s);
void sink_die_empty(struct sink *s);

#endif
