/* SPDX-License-Identifier: MIT */
/*
 * Inside tl-report. Each trace becomes a tree in a temporary folder. The
 * programs run on the trees in parallel and write tables there. Their figures
 * become a verdict, and then a screen, a folder of sheets, a workbook or a
 * page.
 *
 * main.c     the command line, and the order of things
 * job.c      programs in parallel
 * records.c  their messages, and the exit status
 * trees.c    traces to trees, and facts of these
 * analyse.c  the programs that answer
 * versus.c   another trace to compare with
 * genesis.c  a capture of a simulation
 * steady.c   its steady state
 * sheets.c   which sheets there are, in which order; their form and length
 * output.c   folder, workbook, database, page
 * check.h    whether the tables add up to the trace
 * figures.h  from tables to the screen
 */
#ifndef TL_REPORT_H
#define TL_REPORT_H

#include "sink/source.h"
#include "trace/select.h"

struct job;

struct args {
	VEC(const char *) v; /* targets are never freed */
};

/* Programs that get options. */
enum program {
	TIMELINE,
	OPS,
	KERNELS,
	ROOFLINE,
	COLLECTIVE,
	IDLE,
	STEPS,
	CRITICAL,
	LAUNCH,
	RANKS, /* the same for several ranks */
	NPROGRAMS,
};

/* Facts of one side's sources. */
struct facts {
	size_t nsources, nknown; /* all, and those with a rank */
	struct str name, device; /* of the last source */
	int64_t rank, world;
	bool has_rank; /* not only by order of the inputs */
	bool has_world, devices_differ;
	struct str beside; /* of the last source: a file read with it */
	size_t nbeside;
	bool is_lossy; /* salvaged with lost events */
};

struct settings {
	/* options by name, see main.c; NULL or false: not given */
	const char *dir, *page, *book, *markdown, *database, *json;
	const char *width, *capture, *vs_capture, *names;
	const char *title, *fail_over, *match, *by;
	enum list_order {
		ORDER_TIME,
		ORDER_COUNT,
		ORDER_MEAN,
		ORDER_NAME
	} order;
	const char *top, *top_ops, *top_kernels, *top_roofline;
	const char *genesis, *categories, *annotations, *causes;
	int64_t steady_gap_ns, steady_window_ns; /* 0: not given */
	bool has_sheets;                         /* more than the screen */
	bool is_whole;                           /* all sheets in one file */
	bool is_ndjson;                          /* of -d or standard output */
	bool is_csv;                             /* --format csv was given */
	bool kernels, modules, shorts, critical, launch, no_collective;
	bool recompute, parent_module, call_stack, events, check;
	bool linked_only;
	struct str sides[2];    /* before and after, or names */
	struct args traces, vs; /* vs: traces to compare with */
	struct args options[NPROGRAMS];
	struct args chosen; /* the selection as options; parsed: */
	struct select select;
	/* given options that need sheets, --short or several ranks */
	const char *of_sheets, *of_short, *of_ranks;
	/* what was found */
	char *tmp, *tables; /* folders: of trees, of tables */
	struct args trees;
	struct args others; /* the trees of vs */
	/* --match: trees of matched iterations, by side; for the page */
	struct args matched[2];
	struct facts facts;
	/* the side of --vs as a report of its own, without sheets; or NULL */
	struct settings *other;
	unsigned side;    /* of sides: 1 in other */
	bool by_rank;     /* traces are compared rank by rank */
	bool has_replays; /* graphs were launched in any of them */
	bool has_linked;  /* GPU work has a launch */
	bool is_host;     /* no GPU work: it is about the host's time */
	bool has_calls; /* ops are in the trace, whether they own work or not */
	bool has_ops, is_rocprof, is_xla, has_window, is_several, communicates;
	bool has_gpus;               /* a source has several */
	bool has_processes;          /* the same of rocprofv3 */
	bool is_apart;               /* the selection is not contiguous */
	size_t nnamed;               /* annotations that --annotation selects */
	int64_t gpu_ns, idle_ns;     /* timelines of all traces; idle */
	const struct checks *checks; /* --check */
	/* Genesis: settings of the run, steady state, tables of the session */
	const char *session, *steady, *steady_from, *whole;
};

/* ---- job.c ---- */

struct job {
	const char *name; /* of the program */
	struct args argv; /* until started */
	struct buf said;  /* its messages */
	struct buf err;
	pid_t pid;             /* 0: not started */
	int said_fd, err_fd;   /* -1: closed */
	int status;            /* as in a shell; -1: running */
	unsigned char urgency; /* the highest starts first */
	bool gets_stdin, makes_tree;
	bool is_side;      /* if it fails, the rest stays */
	bool may_be_empty; /* no answer is one, too */
	bool is_verdict;   /* a bad one is a warning here */
	bool is_told;
	unsigned char sides; /* bits by side: whose traces it reads */
};

/* A message of a program; strings live to the end. */
struct told {
	const char *program, *id, *sentence;
	bool aloud, is_said;
	bool names_file;     /* and so its side */
	unsigned char sides; /* of the jobs that told it */
	struct report_arg args[REPORT_ARGS_MAX];
};

struct jobs {
	VEC(struct job *) list;
	size_t ncpus;               /* 0: not known yet */
	const struct settings *set; /* for the names of traces */
	VEC(struct told) told;      /* distinct messages */
	int status;                 /* the worst, the report's own */
};

void args_add(struct args *a, const char *s);
void args_all(struct args *a, const struct args *more);
/* As printf(); lives to the end. */
const char *text(const char *fmt, ...) PRINTF_LIKE(1, 2);

bool have(const char *program);
/* Consumes argv; argv[0] is the program. It starts when a processor is free. */
struct job *job_start(struct jobs *j, struct args *argv, const struct job *how);
/* Wait for one job, or for all. */
void job_wait_for(struct jobs *j, const struct job *job);
void job_wait(struct jobs *j);

/* Folders removed at exit. */
char *temporary(const char *template);
/* A folder of the report, removed if it fails. */
void made_folder(const char *path);
void clean_up(void);
void clean_up_at_exit(void);
noreturn void leave(int status);
/* A file that a program will write, removed if the report fails. */
void will_write(const char *path);

/* ---- records.c ---- */

/*
 * Waits for all. Sets the status and repeats messages of those that failed, or
 * of all if loud. A failure ends the program.
 */
void job_finish(struct jobs *j, bool loud);
/* Whether one failed, so that its tables are lacking. */
bool jobs_lack(const struct jobs *j);
/* Reports a program that is not installed. */
void records_missing(struct jobs *j, const char *program);

/* ---- trees.c ---- */

void trees_make(struct settings *s, struct jobs *j);
/* The trace's name, or a phrase for several. */
const char *traces_name(const struct settings *s);
struct str trace_name(const char *path);

/* ---- analyse.c ---- */

/*
 * All tables into s->tables: as NDJSON or, if CSV is the only output, as CSV
 * already cut to --top. is_whole: all of the other side, too, not only those
 * that versus_join() joins.
 */
void analyse(
    struct settings *s, struct jobs *j, const char *format, bool is_whole);

/* ---- versus.c ---- */

/* The settings of the other side, with a folder for its tables. */
struct settings *versus_other(const struct settings *s, char *tables);
/* Compares by rank if both sides know their ranks and share one. */
void versus_pair(struct settings *s, const struct sink_sources *before,
    const struct sink_sources *after);
/* By op, or by kernel if one side has no ops. */
bool versus_by_op(const struct settings *s);
/* Before the analyses. */
void versus_compare(const struct settings *s, struct jobs *j);
/* Tables of which a report has both sides, up to NULL. */
extern const char *const versus_tables[];
/* After the analyses: each with the rows of both, as NAME_vs. */
void versus_join(const struct settings *s, const struct jobs *j);
/* Says that --fail-over passes if the exit status could be taken for it. */
void versus_note_gate(const struct settings *s, const struct jobs *j);
bool versus_is_joined(const char *path);

/* ---- matched.c ---- */

/* After tl-diff: selects the iterations that it compared. */
void matched_choose(struct settings *s, struct jobs *j);

/* ---- genesis.c ---- */

/* Finds the trace in its folder. */
void genesis_open(struct settings *s);
/*
 * Tables of the session. Then it selects the steady state for the others;
 * nothing without kernels.
 */
void genesis_begin(struct settings *s, struct jobs *j);
/* Joins the tables of both windows. */
void genesis_join(const struct settings *s);

/* ---- steady.c ---- */

/*
 * Finds and selects the steady state: after the largest gap if that is long
 * enough, or the last seconds. Does nothing without dispatches.
 */
void steady_find(struct settings *s, int64_t gap_ns, int64_t last_ns);

/* ---- sheets.c ---- */

/* The path of a table. */
const char *table_path(
    const struct settings *s, const char *name, const char *format);
bool is_there(const char *path);
/* Whether an optional program is needed. */
bool sheet_is_wanted(const struct settings *s, const char *name);
bool sheets_need(const struct settings *s, const char *program);
/* Tables of a program that the report shows, as a list; NULL: none. */
const char *sheets_wanted(const struct settings *s, const char *program);
/* Paths of the sheets with rows, in the order of a workbook. */
void sheets_paths(
    const struct settings *s, const char *format, struct args *list);
/* Cut NDJSON tables to --top. */
void sheets_cut(const struct settings *s);
/* Convert NDJSON tables to CSV. */
void sheets_to_csv(const struct settings *s);
/* Tables that only charts need are not in a folder. */
bool sheet_is_of_folder(const char *path);

/* ---- output.c ---- */

/* The folder of -d, and one in it for tables meanwhile. */
void dir_make(struct settings *s);
/* Moves the tables; the last step. */
void dir_write(const struct settings *s);
/* On standard output. */
void tables_write(const struct settings *s);
/* Where the workbook's first sheet is written, before book_write(). */
const char *front_path(const struct settings *s);
void book_write(const struct settings *s, struct jobs *j);
void database_write(const struct settings *s, struct jobs *j);
void markdown_write(const struct settings *s);
void json_write(const struct settings *s);
void page_write(const struct settings *s, struct jobs *j, struct str title);

/* ---- rows.c ---- */

/* Tables joined under a name, with a column for the word of each. */
struct table_part {
	const char *word, *path;
};
void table_join(const char *lead, const struct table_part *parts, size_t n,
    const char *name, const char *to);

#endif
