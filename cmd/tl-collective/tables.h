/* SPDX-License-Identifier: MIT */
/*
 * The tables: each is a list of fields, which have the column and the place of
 * its cell in a row, and a function that makes the rows.
 *
 *	static const struct field fields[] = {
 *		ID, NAME, DTYPE,
 *		COLL(US("latency_ns", "comm_latency"), latency_ns),
 *		OWN(REAL("imbalance", NULL), struct mine, imbalance),
 *	};
 */
#ifndef TL_COLLECTIVE_TABLES_H
#define TL_COLLECTIVE_TABLES_H

#include <stddef.h>

#include "cmd/tl-collective/job.h"

/* ---- rows ---- */

/* What a row is about; NULL where the table's fields do not need it. */
struct row {
	const struct job *job;
	const struct rec *rec;
	const struct sig *sig;
	const struct coll *coll;
	const struct pgroup *group;
	const struct rank_info *rank;
	void *own; /* of the table */
	struct table *table;
	struct buf *text; /* scratch */
};

struct row row_of_rec(const struct job *j, const struct rec *r);
/* Its signature is the first rank's. */
struct row row_of_coll(const struct job *j, const struct coll *c, void *own);

/* ---- fields ---- */

enum field_from {
	FROM_CELL, /* cell() */
	FROM_INT,  /* NONE: empty */
	FROM_U32,
	FROM_REAL, /* NAN: empty */
	FROM_TEXT, /* p NULL: empty */
	FROM_VALUES,
	FROM_BOOL,
};

struct field {
	struct column col;
	uint8_t of; /* member of the row */
	uint8_t from;
	uint16_t at; /* offset in what that points to */
	double stat; /* FROM_VALUES: argument of values_stat() */
	struct cell (*cell)(const struct row *r);
	/* a rank's record in a collective: 1 + position of the rank */
	uint32_t pos;
};

#define MEMBER(what, type, m)                       \
	.of = offsetof(struct row, what),           \
	.from = _Generic(((type *)0)->m, int64_t    \
			 : FROM_INT, uint64_t       \
			 : FROM_INT, uint32_t       \
			 : FROM_U32, double         \
			 : FROM_REAL, struct str    \
			 : FROM_TEXT, struct values \
			 : FROM_VALUES, bool        \
			 : FROM_BOOL),              \
	.at = offsetof(type, m)
/* clang-format off */
#define OWN(column, type, m) { .col = column, MEMBER(own, type, m) }
#define REC(column, m) { .col = column, MEMBER(rec, struct rec, m) }
#define SIG(column, m) { .col = column, MEMBER(sig, struct sig, m) }
#define COLL(column, m) { .col = column, MEMBER(coll, struct coll, m) }
#define GROUP_OF(column, m) { .col = column, MEMBER(group, struct pgroup, m) }
#define RANK_OF(column, m) { .col = column, MEMBER(rank, struct rank_info, m) }
/* A statistic of a struct values. */
#define OWN_STAT(column, type, m, which) { .col = column, MEMBER(own, type, m), .stat = which }
#define METRIC(id, label, unit, flags, div, m, which) \
	OWN_STAT(COLUMN(id, label, COL_REAL, unit, flags, div), struct alike, v[m], which)
#define MEAN_MAX(id, label, unit, div, m) \
	METRIC(id "_mean", label "_mean", unit, 0, div, m, STAT_MEAN), \
	METRIC(id "_max", label "_max", unit, 0, div, m, 1)
#define STATS(id, label, unit, div, m) \
	METRIC(id "_mean", label "_mean", unit, 0, div, m, STAT_MEAN), \
	METRIC(id "_median", label "_median", unit, 0, div, m, 0.5), \
	METRIC(id "_std", label "_std", unit, COL_OURS | COL_DETAIL, div, m, STAT_STD), \
	METRIC(id "_min", label "_min", unit, 0, div, m, 0), \
	METRIC(id "_max", label "_max", unit, 0, div, m, 1)
#define CELL(column, make) { .col = column, .cell = make }
#define WAIT(column) { .col = column, .cell = cell_wait }

/* A column with id, label, and of times and sizes the label's unit. */
#define COLUMN(id, label, type, unit, flags, div) { id, label, type, unit, flags, div }
#define TEXT(id, label) COLUMN(id, label, COL_TEXT, UNIT_NONE, 0, 0)
#define INT(id, label) COLUMN(id, label, COL_INT, UNIT_NONE, 0, 0)
#define REAL(id, label) COLUMN(id, label, COL_REAL, UNIT_NONE, 0, 0)
#define BOOL(id, label) COLUMN(id, label, COL_BOOL, UNIT_NONE, 0, 0)
#define COUNTS(id, label) COLUMN(id, label, COL_INT, UNIT_COUNT, 0, 0)
#define PCT(id, label) COLUMN(id, label, COL_REAL, UNIT_PERCENT, 0, 0)
#define US(id, label) COLUMN(id, label, COL_INT, UNIT_NS, 0, 1e3)
#define REAL_US(id, label) COLUMN(id, label, COL_REAL, UNIT_NS, 0, 1e3)
#define BYTES(id, label) COLUMN(id, label, COL_INT, UNIT_BYTES, 0, MB)
#define REAL_BYTES(id, label) COLUMN(id, label, COL_REAL, UNIT_BYTES, 0, MB)
/* ours, in a table of TraceLens */
#define OURS(id, type, unit, div) COLUMN(id, NULL, type, unit, COL_OURS, div)
/* ours, without label, and not among the first on a terminal */
#define MINOR(id, type, unit) COLUMN(id, NULL, type, unit, COL_MINOR, 0)
/* clang-format on */
#define MB 1048576.0

/* Columns of several tables. */
#define ID CELL(TEXT("collective_id", NULL), cell_id)
#define GROUP GROUP_OF(TEXT("group", "Process Group Name"), pg)
#define LABEL GROUP_OF(TEXT("group", "Process Group Name"), label)
#define DESC GROUP_OF(TEXT("desc", NULL), desc)
#define RANK RANK_OF(INT("rank", NULL), rank)
#define GROUP_RANKS SIG(TEXT("group_ranks", "Process Group Ranks"), ranks)
#define NAME SIG(TEXT("collective", "Collective name"), name)
#define GROUP_SIZE SIG(INT("group_size", "Group size"), n)
#define DTYPE SIG(TEXT("dtype", NULL), dtype)
#define IN_NELEMS SIG(INT("in_nelems", "In msg nelems"), in)
#define OUT_NELEMS SIG(INT("out_nelems", "Out msg nelems"), out)
#define IN_BYTES SIG(BYTES("in_bytes", "In msg size (MB)"), in_bytes)
#define OUT_BYTES SIG(BYTES("out_bytes", "Out msg size (MB)"), out_bytes)
#define SIGNATURE GROUP, GROUP_RANKS, NAME, GROUP_SIZE, DTYPE
#define FULL_BYTES SIG(BYTES("full_bytes", "Full msg size (MB)"), full_bytes)
#define IN_SPLIT SIG(TEXT("in_split", "In split size"), in_split)
#define OUT_SPLIT SIG(TEXT("out_split", "Out split size"), out_split)
#define MODULE SIG(TEXT("module", NULL), module)
#define INSTRUCTION SIG(TEXT("instruction", NULL), instruction)
#define GPU_STREAM SIG(TEXT("gpu_stream", "stream"), gpu_stream)
#define START                                                            \
	CELL(COLUMN("ts_ns", "ts", COL_INT, UNIT_NS, COL_POSITION, 1e3), \
	    cell_start)
#define DURATION REC(US("dur_ns", "dur"), dur_ns)
#define START_SKEW \
	CELL(US("start_skew_ns", "skew in start time"), cell_start_skew)
#define END_SKEW COLL(US("end_skew_ns", "skew in end time"), skew_end_ns)

struct cell cell_id(const struct row *r);
/* Waiting for the last rank. */
struct cell cell_wait(const struct row *r);
struct cell cell_start_skew(const struct row *r);
/* As in the file. */
struct cell cell_start(const struct row *r);

/* ---- tables ---- */

/* A table while its rows are made. */
struct sheet_rows {
	const struct job *job;
	VEC(struct field) fields;
	struct table *table;
	struct arena *mem;
	/* scratch */
	struct buf text;
	const struct rec **of_rank; /* by position */
};

/* Last columns of a table if nodes are known, */
enum {
	WITH_NODE_ID = 1 << 0,
	WITH_NODE_SPAN = 1 << 1,
	WITH_NODE = WITH_NODE_ID | WITH_NODE_SPAN,
	/* of GPUs of a process, and of XLA */
	WITH_GPU = 1 << 2,
	WITH_MODULE = 1 << 3,
	WITH_INSTRUCTION = 1 << 4,
	WITH_EXPOSED = 1 << 5,
	WITH_HLO = WITH_MODULE | WITH_INSTRUCTION,
};

struct table_def {
	const char *name;
	bool is_single; /* -d writes it for a single rank */
	/* -d writes it if such a collective exists; NULL: always */
	bool (*is_about)(const struct job *j, const struct coll *c);
	const struct field *fields;
	size_t nfields;
	/* per rank, if few, in two blocks before our columns */
	const struct field *of_rank;
	size_t nfirst, nboth;
	unsigned with;    /* WITH_ */
	bool by_starts;   /* compares starts on the ranks' clocks */
	bool is_streamed; /* prints rows as they come */
	void (*fill)(struct sheet_rows *s, struct job *j);
};

#define FIELDS(list) .fields = (list), .nfields = sizeof(list) / sizeof *(list)
#define OF_RANK_FIELDS(list, first)           \
	.of_rank = (list), .nfirst = (first), \
	.nboth = sizeof(list) / sizeof *(list)

extern const struct table_def *const table_defs[];
extern const size_t ntable_defs;
extern const struct table_def table_long, table_summary_long,
    table_coll_analysis, table_sync, table_summary_sync,
    table_straggler_summary, table_all2allv, table_summary_all2allv,
    table_heatmap, table_verdict, table_groups, table_cause, table_parts,
    table_bandwidth, table_episodes, table_clocks, table_missing, table_hang,
    table_hlo, table_hlo_bandwidth, table_hlo_latency, table_hlo_sizes,
    table_hlo_rates, table_versus;

void print_table(
    const struct table_def *def, struct job *j, struct table_dest *d);

void put_row(struct sheet_rows *s, const struct row *r);

/*
 * Smallest bandwidth of a row of a group of the later job against the job
 * before, in %; 100 within noise. False: no row has both.
 */
bool versus_bandwidth(
    struct job *j, const struct pgroup *g, double *pct, struct buf *b);

/* Whether -d writes a table. */
bool is_wanted(const struct table_def *def, const struct job *j);

/* ---- equal collectives ---- */

#define ALIKE_METRICS 7

struct alike {
	struct row row; /* the first one */
	int64_t count, sum_ns, exposed_ns;
	double best;                    /* best value of a metric */
	struct values v[ALIKE_METRICS]; /* metrics, known to the table */
};

struct alikes {
	VEC(struct alike) list;
	struct intern *keys;
};

/* Those with this key, made if new; valid until the next is made. */
struct alike *alike_of(
    struct alikes *s, struct row row, const void *key, size_t size);
/* Adds one more; sums saturate. */
void alike_add(struct alike *a, int64_t ns);
/* Writes a row for each, sorted, and empties the list. */
void put_alikes(struct sheet_rows *s, struct alikes *list,
    int (*cmp)(const void *, const void *));
void alikes_free(struct alikes *list);
/* By class, group size and message; see nccl_bandwidth. */
void curve_make(const struct job *j, struct alikes *curve);
/* NULL: bandwidth unknown. */
struct alike *curve_point(
    const struct job *j, struct alikes *curve, const struct coll *c);
/* Largest sum first. */
int by_sum(const void *pa, const void *pb);

#endif
