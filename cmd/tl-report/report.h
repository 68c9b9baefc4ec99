/* SPDX-License-Identifier: MIT */
/*
 * tl-report inside: each trace becomes one tree in a temporary folder, the
 * programs run side by side on it, and the tables that they write there become
 * figures, the figures a verdict, and all of it a screen, a folder of sheets, a
 * workbook or a page.
 *
 * main.c     the command line, and the order of things
 * job.c      programs side by side
 * records.c  what they report, and what it comes to
 * trees.c    traces to trees, and what these say of themselves
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
	VEC(const char *) v; /* what they point to is never freed */
};

/* Who gets options. */
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
	RANKS, /* the same, of several ranks */
	NPROGRAMS,
};

/* What the traces of one side say of themselves. */
struct facts {
	size_t nsources, nknown; /* sources, those with a rank */
	struct str name, device; /* of the last one */
	int64_t rank, world;
	bool has_rank; /* and not only for want of a better one */
	bool has_world, devices_differ;
	struct str beside; /* of the last one: a file read with it */
	size_t nbeside;
	bool is_lossy; /* salvaged, and events are lost */
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
	const char *genesis, *categories, *annotations;
	int64_t steady_gap_ns, steady_window_ns; /* 0: not given */
	bool has_sheets;                         /* nothing is on the screen */
	bool is_whole;  /* all sheets are in one file */
	bool is_ndjson; /* of -d, or on standard output */
	bool is_csv;    /* asked for as such */
	bool kernels, modules, shorts, critical, launch, no_collective;
	bool recompute, parent_module, call_stack, events, check;
	bool linked_only;
	struct str sides[2];    /* before and after, or names */
	struct args traces, vs; /* vs: traces to compare with */
	struct args options[NPROGRAMS];
	struct args chosen; /* the selection, for all programs; and parsed: */
	struct select select;
	/* options that need -d, --short, or several ranks */
	const char *of_sheets, *of_short, *of_ranks;
	/* what was found */
	char *tmp, *tables; /* folders: of trees, of tables */
	struct args trees;
	struct args others; /* the trees of vs */
	/* --match: of each side, of what matched; for the page */
	struct args matched[2];
	struct facts facts;
	/* the side of --vs as a report of its own, without sheets; or NULL */
	struct settings *other;
	unsigned side;    /* of sides: 1 in other */
	bool by_rank;     /* each is compared with that of its rank */
	bool has_replays; /* graphs were launched in any of them */
	bool is_host;     /* no GPU work: it is about the host's time */
	bool has_calls; /* ops are in the trace, whether they own work or not */
	bool has_ops, is_rocprof, is_xla, has_window, is_several, communicates;
	bool has_gpus;      /* a source has several */
	bool has_processes; /* the same, in a trace of rocprofv3 */
	bool is_apart;      /* work between what is selected is left out */
	int64_t idle_ns;    /* of the GPU, over all traces */
	const struct checks *checks; /* --check */
	/* of a capture: what was run, its steady state; tables of all of it */
	const char *session, *steady, *steady_from, *whole;
};

/* ---- job.c ---- */

struct job {
	const char *name; /* of the program */
	struct args argv; /* until it begins */
	struct buf said;  /* its records */
	struct buf err;
	pid_t pid;             /* 0: it waits for a processor */
	int said_fd, err_fd;   /* -1: closed */
	int status;            /* as a shell says it, or -1: it has not ended */
	unsigned char urgency; /* of those that wait the most urgent begins */
	bool gets_stdin, makes_tree;
	bool is_side;      /* if it fails, the rest stays */
	bool may_be_empty; /* no answer is one, too */
	bool is_verdict;   /* a bad one is a warning here */
	bool is_told;
	unsigned char sides; /* bits by side: whose traces it reads */
};

/* A message of any of them; strings live to the end. */
struct told {
	const char *id, *sentence;
	bool aloud;
	unsigned char sides; /* of the jobs that told it */
};

struct jobs {
	VEC(struct job *) list;
	size_t ncpus;               /* 0: not known yet */
	const struct settings *set; /* for the names of traces */
	VEC(struct told) told;      /* each once */
	int status;                 /* the worst: what the report exits with */
};

void args_add(struct args *a, const char *s);
void args_all(struct args *a, const struct args *more);
/* As printf; lives to the end. */
const char *text(const char *fmt, ...) PRINTF_LIKE(1, 2);

bool have(const char *program);
/*
 * argv[0] is the program; uses argv up. It begins when somebody waits and a
 * processor is free: as many run side by side as there are.
 */
struct job *job_start(struct jobs *j, struct args *argv, const struct job *how);
/* Until it has ended, or all have. */
void job_wait_for(struct jobs *j, const struct job *job);
void job_wait(struct jobs *j);

/* Folders that go with the program. */
char *temporary(const char *template);
/* Made by the report: removed unless it has an answer. */
void made_folder(const char *path);
void clean_up(void);
void clean_up_at_exit(void);
noreturn void leave(int status);
/* A file that a program is to write goes again if the report fails. */
void will_write(const char *path);

/* ---- records.c ---- */

/*
 * When all have ended: adds the statuses up, and tells what was said by those
 * that failed, or by all. Without an answer the program ends.
 */
void job_finish(struct jobs *j, bool loud);
/* Something that the report goes without. */
void records_missing(struct jobs *j, const char *program);

/* ---- trees.c ---- */

void trees_make(struct settings *s, struct jobs *j);
/* For messages: of one trace its name. */
const char *traces_name(const struct settings *s);
struct str trace_name(const char *path);

/* ---- analyse.c ---- */

/*
 * All tables into s->tables, as NDJSON, or CSV where that is all there is to
 * be: --top counts there already. is_whole: those of the other side, too.
 */
void analyse(
    struct settings *s, struct jobs *j, const char *format, bool is_whole);

/* ---- versus.c ---- */

/* The settings of the other side, with a folder for its tables. */
struct settings *versus_other(const struct settings *s, char *tables);
/* Whether traces are compared by rank: those of both sides have theirs. */
void versus_pair(struct settings *s, const struct sink_sources *before,
    const struct sink_sources *after);
/* By op, and else by kernel: one of the two has no ops. */
bool versus_by_op(const struct settings *s);
/* All tables, before the analyses. */
void versus_compare(const struct settings *s, struct jobs *j);

/* ---- matched.c ---- */

/* After tl-diff: the iterations that it compared are selected for all else. */
void matched_choose(struct settings *s, struct jobs *j);

/* ---- genesis.c ---- */

/* The trace of its folder. */
void genesis_open(struct settings *s);
/* All tables of the whole session, before those of the steady state, which is
 * selected; nothing where no kernel ran. */
void genesis_begin(struct settings *s, struct jobs *j);
/* Both as one. */
void genesis_join(const struct settings *s);

/* ---- steady.c ---- */

/*
 * The steady state: behind the largest gap if that is so long, or the last so
 * much time. Sets what it is and the option that selects it; not without
 * dispatches.
 */
void steady_find(struct settings *s, int64_t gap_ns, int64_t last_ns);

/* ---- sheets.c ---- */

/* The path of the table of this name. */
const char *table_path(
    const struct settings *s, const char *name, const char *format);
bool is_there(const char *path);
/* Whether a program is asked for that a report does without otherwise. */
bool sheets_need(const struct settings *s, const char *program);
/* Names of the tables of a program that a report shows; NULL: none. */
const char *sheets_wanted(const struct settings *s, const char *program);
/* The paths of the sheets that have rows, in the order of a workbook. */
void sheets_paths(
    const struct settings *s, const char *format, struct args *list);
/* Of those of NDJSON, what --top leaves. */
void sheets_cut(const struct settings *s);
/* The same as CSV, those that are none yet. */
void sheets_to_csv(const struct settings *s);
/* A folder has no charts, and so not what they are drawn of. */
bool sheet_is_of_folder(const char *path);

/* ---- output.c ---- */

/* The folder of -d, and in it one for the tables meanwhile. */
void dir_make(struct settings *s);
/* Takes the tables away: the last one. */
void dir_write(const struct settings *s);
/* All on standard output. */
void tables_write(const struct settings *s);
/* Where the screen goes, before book_write(). */
const char *front_path(const struct settings *s);
void book_write(const struct settings *s, struct jobs *j);
void database_write(const struct settings *s, struct jobs *j);
void markdown_write(const struct settings *s);
void json_write(const struct settings *s);
void page_write(const struct settings *s, struct jobs *j, struct str title);

/* ---- rows.c ---- */

/* Tables of one name as one, with a column for the trace of each row. */
struct table_part {
	const char *word, *path;
};
void table_join(const struct table_part *parts, size_t n, const char *to);

#endif
