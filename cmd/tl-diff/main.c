/* SPDX-License-Identifier: MIT */
/*
 * tl-diff: what changed between two traces?
 *
 * A sink of two trees: merges them and prints figures of the GPU work below the
 * points where they differ.
 */
#include <stdio.h>
#include <unistd.h>

#include "table/catalogue.h"
#include "trace/match-read.h"

#include "cmd/tl-diff/changes.h"

#define OPT_BY (OPT_LONG + 0)
#define OPT_CAUSES (OPT_LONG + 13)
#define OPT_EQUIV (OPT_LONG + 1)
#define OPT_FAIL_OVER (OPT_LONG + 2)
#define OPT_LIST_TABLES (OPT_LONG + 3)
#define OPT_MATCH (OPT_LONG + 10)
#define OPT_MIN_DIFF (OPT_LONG + 4)
#define OPT_NAMES (OPT_LONG + 5)
#define OPT_NO_STEPS (OPT_LONG + 14)
#define OPT_PAIR (OPT_LONG + 6)
#define OPT_PER (OPT_LONG + 7)
#define OPT_PYTHON (OPT_LONG + 8)
#define OPT_RUN_NOISE (OPT_LONG + 11)
#define OPT_SURE (OPT_LONG + 12)
#define OPT_TABLE_NAME (OPT_LONG + 9)

static const struct opt options[] = {
	{ 'A', "after", "FILE",
	    "a trace or folder of the side after; repeatable" },
	{ 'B', "before", "FILE",
	    "a trace or folder of the side before; repeatable" },
	{ OPT_BY, "by", "op|kernel",
	    "compare by op, or by kernel where graph replays hide ops" },
	{ OPT_CAUSES, "causes", "FILE",
	    "more rules: names of calls and their cause" },
	{ OPT_EQUIV, "equiv", "FILE",
	    "names to treat as equal: a pair per line" },
	{ OPT_FAIL_OVER, "fail-over", "TIME|PERCENT",
	    "exit 4 if slower by more; gpu:3%, step:3%, rank:3% judge one "
	    "time" },
	{ OPT_LIST_TABLES, "list-tables", NULL, "list the tables" },
	{ OPT_MATCH, "match", "[PHASE,...|approx]",
	    "only iterations that did the same work, see tl-match(1)" },
	{ OPT_MIN_DIFF, "min-diff", "TIME|PERCENT",
	    "with --print: only what differs by at least this" },
	{ OPT_NAMES, "names", "A,B", "names for the two sides" },
	{ OPT_NO_STEPS, "no-steps", NULL,
	    "compare GPU work alone, not how long steps take" },
	{ OPT_PAIR, "pair", "HOW", "pair runs by place or by rank" },
	{ OPT_PER, "per", "UNIT", "times per run or per step" },
	{ 'p', "print", NULL, "print the merged tree" },
	{ OPT_PYTHON, "python", NULL, "include Python frames in the trees" },
	{ OPT_RUN_NOISE, "run-noise", "PERCENT",
	    "noise to assume for one run per side (0.5%)" },
	{ OPT_SURE, "sure", NULL,
	    "--fail-over only if the whole 95 % interval is beyond the limit" },
	{ OPT_TABLE_NAME, "table", "NAME", "print this table" },
	OPT_SELECT,
	OPT_TABLE,
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"what changed between two traces, at the lowest point where they "
	"differ",
	"[OPTIONS] BEFORE AFTER",
	"tl-diff before.json.gz after.json.gz",
};

static const char *const by_words[] = { "op", "kernel", NULL };
static const char *const pair_words[] = { "place", "rank", NULL };
static const char *const per_words[] = { "run", "step", NULL };

/* ---- options ---- */

static struct threshold
threshold_opt(const struct optparse *op, struct str s)
{
	struct threshold t = { .is_set = true, .text = s };

	if (s.len > 1 && s.p[s.len - 1] == '%') {
		t.is_percent = true;
		if (!num_double((struct str){ s.p, s.len - 1 }, &t.percent) ||
		    t.percent < 0)
			die_usage("option '%s': '%s' is no percentage",
			    op->name, op->arg);
	} else if (!time_parse(s, &t.ns)) {
		die_usage("option '%s' needs a time such as 900ns, 2us or "
			  "3ms, or a percentage such as 3%%, not '%s'",
		    op->name, op->arg);
	}
	return t;
}

static double
percent_opt(const struct optparse *op)
{
	struct threshold t = threshold_opt(op, str_of(op->arg));

	if (!t.is_percent || t.percent > 100)
		die_usage(
		    "option '%s': '%s' is no percentage", op->name, op->arg);
	return t.percent;
}

/* "gpu:3%", "step:3%" and "rank:3%" are about one of the times. */
static void
take_gate(struct settings *set, const struct optparse *op)
{
	static const char *const leads[] = { [GATE_BOTH] = "",
		[GATE_GPU] = "gpu:",
		[GATE_STEP] = "step:",
		[GATE_RANK] = "rank:" };
	struct str s = str_of(op->arg);

	for (unsigned i = GATE_BOTH; i <= GATE_RANK; i++)
		if (str_starts(s, str_of(leads[i])))
			set->gate = (enum gate_of)i;
	s.p += strlen(leads[set->gate]);
	s.len -= strlen(leads[set->gate]);
	set->fail_over = threshold_opt(op, s);
}

static void
take_match(struct settings *set, const struct optparse *op)
{
	static struct match_query query;

	query = (struct match_query)MATCH_QUERY("--match=approx");
	if (op->arg != NULL)
		match_opt(&query, op, true);
	set->match = &query;
}

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	switch (ch) {
	case 'A': vec_push(&set->paths[1], op->arg); break;
	case 'B': vec_push(&set->paths[0], op->arg); break;
	case OPT_BY: set->by = (enum what_by)opt_word(op, by_words); break;
	case OPT_CAUSES: set->causes = op->arg; break;
	case OPT_EQUIV: set->equiv = op->arg; break;
	case OPT_FAIL_OVER: take_gate(set, op); break;
	case OPT_LIST_TABLES: set->list = true; break;
	case OPT_MATCH: take_match(set, op); break;
	case OPT_MIN_DIFF:
		set->min_diff = threshold_opt(op, str_of(op->arg));
		break;
	case OPT_NAMES: opt_pair(op, set->names); break;
	case OPT_NO_STEPS: set->no_steps = true; break;
	case OPT_PAIR:
		set->pair = (enum pair_by)opt_word(op, pair_words);
		break;
	case OPT_PER: set->per = (enum unit_of)opt_word(op, per_words); break;
	case 'p': set->print = true; break;
	case OPT_PYTHON: set->python = true; break;
	case OPT_RUN_NOISE: set->run_noise = percent_opt(op) / 100; break;
	case OPT_SURE: set->is_sure = true; break;
	case OPT_TABLE_NAME: set->table = op->arg; break;
	case 'v': set->verbose = true; break;
	default:
		if (select_opt(&set->select, op, ch)) {
			set->is_selective = true;
			set->is_of_events = set->is_of_events ||
			    (ch != OPT_SELECT_STEP && ch != OPT_SELECT_RANK);
		} else {
			(void)table_dest_opt(&set->dest, op, ch);
		}
		break;
	}
}

static void
check_print(const struct settings *set)
{
	const struct table_dest *d = &set->dest;

	if (set->min_diff.is_set && !set->print)
		die_usage("option '--min-diff' needs --print");
	if (set->print && set->per == PER_STEP)
		die_usage("option '--per': the merged tree has no times");
	if (!set->print)
		return;
	if (set->table != NULL || set->by == BY_KERNEL || d->dir != NULL ||
	    d->format != FMT_AUTO || d->columns != NULL || d->sort != NULL ||
	    d->top != 0 || d->no_header || d->labels)
		die_usage("option '--print' takes no options of tables");
}

static void
check_settings(struct settings *set)
{
	if (set->is_sure && !set->fail_over.is_set)
		die_usage("option '--sure' needs --fail-over");
	select_check_gpu(&set->select);
	check_print(set);
	if (set->gate == GATE_STEP && set->is_of_events)
		die_usage("option '--fail-over': a selection of GPU events has "
			  "no step time");
	if (set->no_steps &&
	    (set->gate == GATE_STEP ||
		(set->table != NULL && strcmp(set->table, "diff_steps") == 0)))
		die_usage("option '--no-steps' leaves no step times to judge");
	if (set->gate == GATE_RANK && set->pair != PAIR_RANK)
		die_usage("option '--fail-over': rank: needs --pair rank");
	for (int s = 0; s < NSIDES; s++)
		if (set->names[s].len == 0)
			set->names[s] = s == 0 ? STR("before") : STR("after");
	set->select.need_windows = true;
	set->select.late_ranks = true;
	tables_check(set);
	if (set->gate == GATE_RANK && !ranks_are_judged(set))
		die_usage("option '--fail-over': rank: needs --per step with "
			  "--by kernel");
}

/* --match reads both traces twice and selects steps itself. */
static void
check_match(const struct settings *set)
{
	if (set->match == NULL)
		return;
	if (select_asks_steps(&set->select))
		die_usage("options '--match' and '--step' exclude each other");
	for (int s = 0; s < NSIDES; s++)
		if (set->paths[s].n != 1 ||
		    strcmp(set->paths[s].v[0], "-") == 0)
			die_usage("option '--match' needs a file of each side");
}

static void
check_stdin(const struct settings *set)
{
	size_t n = 0;

	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < set->paths[s].n; i++)
			n += strcmp(set->paths[s].v[i], "-") == 0;
	if (n > 1)
		die_usage("only one trace can be standard input");
}

static void
take_operands(struct settings *set, const struct optparse *op)
{
	bool has_sides = set->paths[0].n > 0 || set->paths[1].n > 0;

	if (has_sides && op->ind < op->argc)
		die_usage("pass two traces, or -B and -A");
	if (has_sides && (set->paths[0].n == 0 || set->paths[1].n == 0))
		die_usage("option '--%s' is missing",
		    set->paths[0].n == 0 ? "before" : "after");
	if (has_sides)
		return;
	if (op->argc - op->ind != NSIDES)
		die_usage("pass two traces, not %d", op->argc - op->ind);
	for (int s = 0; s < NSIDES; s++)
		vec_push(&set->paths[s], op->argv[op->ind + s]);
}

int
main(int argc, char *argv[])
{
	struct settings set = { .by = BY_OP, .run_noise = NOISE_RUN };
	struct optparse op;
	int ch, status;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	if (set.list) {
		sheets_list("tl-diff");
		return EXIT_DONE;
	}
	check_settings(&set);
	take_operands(&set, &op);
	check_stdin(&set);
	check_match(&set);
	status = sides_compare(&set);
	vec_free(&set.paths[0]);
	vec_free(&set.paths[1]);
	for (int s = 0; s < NSIDES; s++)
		buf_free(&set.matched[s]);
	buf_free(&set.over);
	select_free(&set.select);
	return status;
}
