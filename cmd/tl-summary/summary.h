/* SPDX-License-Identifier: MIT */
/*
 * tl-summary inside: tables become figures, figures become sentences, and
 * both become a screen and tables.
 *
 * read.c     the tables of a folder, what adds up under a name
 * take.c     what of each table counts, but
 * roof.c     of the table of rooflines
 * header.c   what the traces say of themselves
 * changes.c  words about what differs from another trace
 * host.c     the same of a trace without GPU work
 * names.c    names of a list, so short that they fit and still differ
 * say.c      the sentences: what bounds it, who is late
 * mind.c     what to mind
 * screen.c   for a terminal
 * tables.c   the same for a workbook and a page
 *
 * Figures are the sinks' own: here they are only added up over ranks and
 * compared. Texts live in an arena until the end.
 */
#ifndef TL_SUMMARY_H
#define TL_SUMMARY_H

#include "base/base.h"

/* What adds up under a name. */
struct tally {
	struct str name;
	int64_t ns, count;
	int64_t of_ns;   /* of a loss: the time it is a part of */
	struct str what; /* of an op: its categories; of a loss: the bound */
	double real; /* of a spec: TFLOP/s at its roof; over: percent of it */
};

struct tallies {
	struct intern *keys;
	VEC(struct tally) list; /* as numbered by keys */
};

/* A row of gpu_timeline_by_rank: a rank, or a source where ranks are unknown */
struct rank {
	struct str label;
	int64_t total_ns, busy_ns, compute_ns, comm_ns, copy_ns, idle_ns;
	int64_t all_comm_ns, all_copy_ns, unlinked_ns;
	/* of several ranks, from tl-collective */
	bool has_wait;
	int64_t wait_ns, times_last, late_ns;
	struct str verdict; /* why it is late; empty: it is not */
};

/* A thread of the host, where there is no GPU work. */
struct thread {
	struct str label;
	int64_t total_ns, busy_ns, op_ns;
};

/* A process group of tl-collective. */
struct group {
	struct str name, says, verdict;
	struct str late_rank; /* empty: none */
	int64_t latency_ns, wait_ns, collectives;
};

/* An op or kernel that takes another time in the other trace. */
struct change {
	struct str name;
	int64_t before_ns, after_ns;
	double count[2]; /* of repeated runs a mean */
	enum change_of {
		CHANGE_OP,
		CHANGE_LAUNCH, /* of graphs, outside of ops */
		CHANGE_KERNEL,
	} of;
};

struct figures {
	struct arena *text;
	/* of a comparison */
	const char *against;       /* NULL: with nothing */
	struct str against_device; /* empty: not known, or several */
	struct str sides[2];
	bool has_names;
	VEC(struct str) sentences;
	VEC(struct change) changes; /* the largest */
	bool compares_ops;
	/* header.c */
	size_t nsources, nknown; /* sources, those with a rank */
	struct str name, device;
	int64_t rank, world;
	bool has_rank; /* and not only for want of a better one */
	bool has_world, devices_differ;
	/* read.c */
	bool is_host; /* no GPU work: times of ops are the host's */
	bool is_rocprof, has_ops, by_src;
	VEC(struct thread) threads; /* the busiest first */
	VEC(struct rank) ranks;
	struct rank all; /* their sum */
	struct tallies ops, categories, losses, specs;
	int64_t ops_ns, graph_ns, args_ns, shapeless_ns;
	int64_t unified_ns, modelled_ns, lost_ns;
	int64_t roofless_ns; /* there is a model, but no figures of the GPU */
	int64_t opless_ns;   /* launched outside of ops */
	int64_t over_ns;     /* reached more than the roofline */
	struct tallies unknown; /* ops that no model knows */
	struct tallies lacking; /* whose models lack something of the trace */
	struct tallies over; /* of over_ns; real: the most of one, in percent */
	int64_t compute_bound_ns, memory_bound_ns;
	double tb_per_s;
	double least_per_byte, most_per_byte; /* FLOP/byte of ops */
	struct str roof;
	VEC(struct group) groups;
	bool any_late; /* else groups need no list */
	/* say.c, mind.c */
	struct str title, late, verdict; /* late: of several ranks */
	VEC(struct str) warnings;
};

/* ---- read.c ---- */

/* All tables in dir or dir/more; no gpu_timeline ends the program. */
void figures_read(struct figures *f, const char *dir);
void figures_free(struct figures *f);
/* The sum of all. */
int64_t tallies_sum(const struct tallies *t);
/* The largest by ns, ties by name: at most n into best; how many. */
size_t tallies_best(
    const struct tallies *t, const struct tally **best, size_t n);
/* A copy that lives as long as the figures. */
struct str figures_text(struct figures *f, struct str s);

/* ---- host.c ---- */

void host_sort(struct figures *f);
void host_verdict(struct figures *f, struct buf *b);
void host_warnings(struct figures *f);

/* ---- changes.c ---- */

/* After the last one: kernels of replays instead of what launched them. */
void changes_finish(struct figures *f);
struct str change_sentence(struct figures *f, struct str text);
struct str change_name(
    struct figures *f, struct str name, struct str after, struct str dims);
/* "+1.2 ms"; "1.034", "new" or "gone"; false: there was nothing before. */
void say_signed(struct buf *b, int64_t ns);
void say_ratio(struct buf *b, const struct change *c);
bool change_percent(const struct change *c, double *percent);

/* ---- header.c ---- */

void header_read(struct figures *f, const char *path);
/* Of the traces that these are compared with: their GPU. */
void header_read_against(struct figures *f, const char *path);

/* ---- say.c ---- */

/* Title, late, verdict and warnings. */
void say_all(struct figures *f);
/* A text that lives as long as the figures; empties b. */
struct str say_keep(struct figures *f, struct buf *b);
/* "1.234 ms", "12.3 %" appended. */
void say_time(struct buf *b, int64_t ns);
void say_share(struct buf *b, int64_t part, int64_t whole);
/* The same in a sentence: "under 0.1 %" is not nothing. */
void say_part(struct buf *b, int64_t part, int64_t whole);
/* "mostly ", of half or more; else "above all ". */
void say_most(struct buf *b, int64_t part, int64_t whole);
double share_of(int64_t part, int64_t whole);

/* ---- mind.c ---- */

void mind_all(struct figures *f);

/* ---- names.c ---- */

#define NAMES_MAX 10

/* Of a list; what is shown lives as long as the figures. */
struct names_shown {
	struct str name[NAMES_MAX], shown[NAMES_MAX];
	size_t n;
};

/* In at most width columns each. */
void names_show(struct figures *f, struct names_shown *n, size_t width);
/* Columns of the widest that is shown. */
size_t names_widest(const struct names_shown *n);

/* ---- screen.c ---- */

void screen_print(struct figures *f, int width);

/* ---- tables.c ---- */

/* Each as NDJSON into a file; nothing is written where there are no rows. */
void tables_summary(struct figures *f, const char *path);
void tables_categories(struct figures *f, const char *path);
void tables_ranks(struct figures *f, const char *path, bool csv);
void tables_roofs(struct figures *f, const char *path);

#define TOP_OPS 10
#define TOP_CHANGES 10
#define TOP_LOSSES 5
#define TOP_GROUPS 5

#endif
