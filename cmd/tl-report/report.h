/* SPDX-License-Identifier: MIT */
/*
 * tl-report inside: each trace becomes one tree in a temporary folder, the
 * programs run side by side on it, and the tables that they write there become
 * a screen, a folder of sheets, a workbook or a page.
 *
 * main.c     the command line, and the order of things
 * job.c      programs side by side
 * records.c  what they report, and what it comes to
 * trees.c    traces to trees
 * analyse.c  the programs that answer, and their sheets
 * versus.c   another trace to compare with
 * sheets.c   which sheets there are, in which order; rows that are cut off
 * output.c   screen, folder, workbook, page
 */
#ifndef TL_REPORT_H
#define TL_REPORT_H

#include "base/base.h"

struct job;

struct args {
	VEC(const char *) v; /* what they point to is never freed */
};

struct settings {
	/* what is asked for */
	const char *dir, *page, *book, *folded, *title, *width, *capture;
	const char *vs_capture, *names, *fail_over, *junit;
	struct args vs; /* --vs: traces to compare with; none: no comparison */
	/* options that need -d, --short, or several ranks */
	const char *of_sheets, *of_short, *of_ranks;
	bool has_frames; /* some sheet is about Python frames */
	bool kernels, modules, shorts, no_collective, no_kernels;
	bool recompute, parent_module, call_stack;
	const char *top_ops, *top_kernels, *top_roofline;
	struct args traces;
	/* options of the programs */
	struct args timeline, ops, kern, roofline, collective, chosen, patterns;
	/* what was found */
	char *tmp, *tables; /* the folder; and in it, of tables as NDJSON */
	struct args trees;
	struct args others; /* the trees of vs */
	bool other_has_ops;
	bool by_rank;     /* each is compared with that of its rank */
	bool has_replays; /* graphs were launched in any of them */
	bool is_host;     /* no GPU work: it is about the host's time */
	bool has_calls; /* ops are in the trace, whether they own work or not */
	bool has_ops, is_rocprof, is_several, by_src, communicates;
	/* asked beside the analyses: each tree's header, and the sheets of
	 * families of ops; NULL: it was not */
	VEC(struct job *) headers;
	struct job *families;
};

/* ---- job.c ---- */

struct job {
	const char *name;    /* of the program */
	const char *trace;   /* NULL, or the one that it reads */
	struct buf said;     /* its records */
	struct buf err, out; /* out: if it is kept */
	pid_t pid;
	int said_fd, err_fd, out_fd; /* -1: closed */
	int status;                  /* as a shell says it, or -1: it runs */
	bool keeps_out;              /* into out, else nowhere */
	bool gets_stdin, prints;
	bool is_side; /* if it fails, the rest stays */
	bool is_told;
};

/* A message of any of them; strings live to the end. */
struct told {
	const char *program, *level, *id, *sentence;
	bool aloud;
};

struct jobs {
	VEC(struct job *) list;
	const struct settings *set; /* for the names of traces */
	VEC(struct told) told;      /* each once */
	int status;                 /* the worst: what the report exits with */
};

void args_add(struct args *a, const char *s);
void args_all(struct args *a, const struct args *more);
/* As printf; lives to the end. */
const char *text(const char *fmt, ...) PRINTF_LIKE(1, 2);

bool have(const char *program);
/* argv[0] is the program. Runs it; job_wait_all() waits. */
struct job *job_start(struct jobs *j, const struct args *argv);
struct job *job_start_with(
    struct jobs *j, const struct args *argv, const struct job *how);
/* Until it has ended; until fewer than so many run, or none. */
void job_wait_for(struct jobs *j, const struct job *job);
void job_wait(struct jobs *j, size_t running);
/* Adds the statuses up; tells what was said by those that failed, or by all. */
void job_finish(struct jobs *j, bool loud);
/* Something that the report goes without. */
void records_missing(struct jobs *j, const char *program);
/* All messages as a table, NDJSON. */
void records_write(const struct jobs *j, const char *path);
void jobs_free(struct jobs *j);
bool job_failed(const struct jobs *j);
/* Ends the program after a failure that was told. */
noreturn void job_fail(const struct jobs *j);

/* Folders that go with the program. */
char *temporary(const char *template);
void remove_folder(const char *path);
/* Made by the report: removed unless it has an answer. */
void made_folder(const char *path);
void clean_up_at_exit(void);
noreturn void leave(int status);

/* ---- trees.c ---- */

void trees_make(struct settings *s, struct jobs *j);
/* For messages: of one trace its name. */
const char *traces_name(const struct settings *s);
struct str trace_name(const char *path);

/* ---- analyse.c ---- */

/*
 * All sheets that were asked for into dir, as csv or ndjson; as NDJSON also
 * what a summary needs, into dir/more. cuts: --top counts here already.
 */
void analyse(struct settings *s, struct jobs *j, const char *dir,
    const char *format, bool cuts, bool loud);

/* ---- versus.c ---- */

/* Whether traces are compared by rank: those of both sides have theirs. */
void versus_pair(struct settings *s);
/* By op, and else by kernel: one of the two has no ops. */
bool versus_by_op(const struct settings *s);
/* -B and -A of all trees. */
void versus_sides(const struct settings *s, struct args *argv);
/* Of it: each GPU event and its point, as NDJSON. */
const char *versus_table(const struct settings *s);
/* All tables as NDJSON, before the analyses. */
void versus_compare(const struct settings *s, struct jobs *j);
/* Starts it; its tables go into dir/diff. */
void versus_start(const struct settings *s, struct jobs *j, const char *dir,
    const char *format);
/* The sheets of dir/diff into dir, what a summary needs into dir/more. */
void versus_keep(const char *dir, const char *format);

/* ---- sheets.c ---- */

/* Asks tl-roofline for the order of its sheets, which sheets_list() needs. */
void sheets_ask(struct settings *s, struct jobs *j);
/* The paths of the sheets in dir that have rows, in the order of a workbook. */
void sheets_list(const struct settings *s, const char *dir, const char *format,
    struct args *list);
/* The same by name, at no cost. */
void sheets_present(const char *dir, const char *format, struct args *list);
/* What --top leaves of those that the summary has read. */
void sheets_cut(const struct settings *s);
/* So many lines, or more, in a file; false where there is none. */
bool has_lines(const char *path, unsigned lines);
bool is_there(const char *path);

/* ---- output.c ---- */

void write_dir(struct settings *s, struct jobs *j);
/* Asks for the headers of the trees, which summarise() needs. */
void headers_ask(struct settings *s, struct jobs *j);
/* On the standard output, or nowhere; and as tables beside the others. */
void summarise(struct settings *s, struct jobs *j, bool print);
void write_book(struct settings *s, struct jobs *j);
void write_page(struct settings *s, struct jobs *j);

#endif
