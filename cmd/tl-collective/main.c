/* SPDX-License-Identifier: MIT */
/*
 * tl-collective: is the network slow, or is one rank late, and why?
 *
 * A sink that reduces each input to small records, matches the records of all
 * ranks and makes tables of the matches; with --partial only records.
 */
#include <stdio.h>
#include <stdlib.h>

#include "table/catalogue.h"
#include "table/junit.h"

#include "cmd/tl-collective/flight.h"
#include "cmd/tl-collective/tables.h"
#include "trace/select.h"

enum {
	OPT_ALIGN = OPT_LONG,
	OPT_CAUSES,
	OPT_FAIL_OVER,
	OPT_FILES_FROM,
	OPT_GPUS_PER_NODE,
	OPT_JUNIT,
	OPT_KEEP_MISMATCH,
	OPT_LINK,
	OPT_LIST_TABLES,
	OPT_NODE_LOGS,
	OPT_PARTIAL,
	OPT_RANK_REGEX,
	OPT_TABLE_NAME,
	OPT_VS,
	OPT_WORLD_SIZE,
};

static const struct opt options[] = {
	{ OPT_ALIGN, "align-clocks", NULL,
	    "correct offset and drift of each rank's clock" },
	{ OPT_BUCKET_COMM, "comm-pattern", "RE[=TYPE]",
	    "kernels like RE are collectives too (of TYPE)" },
	{ OPT_CAUSES, "causes", "FILE",
	    "more rules: names of calls and their cause" },
	{ OPT_FAIL_OVER, "fail-over", "GATE",
	    "exit 4 if wait:5%, bandwidth:80% or skew:1ms is broken; "
	    "repeatable" },
	{ OPT_FILES_FROM, "files-from", "LIST",
	    "read paths of inputs from LIST, one per line" },
	{ OPT_GPUS_PER_NODE, "gpus-per-node", "N",
	    "GPUs per node; adds the columns node_id and node_span" },
	{ 'j', "jobs", "N", "read N inputs in parallel" },
	{ OPT_JUNIT, "junit", "FILE",
	    "write the result of --fail-over per group as JUnit XML" },
	{ OPT_KEEP_MISMATCH, "keep-mismatch", NULL,
	    "summaries include collectives whose ranks disagree" },
	{ OPT_LINK, "link", "FILE|NAME",
	    "judge bandwidth by this link, within or between nodes; "
	    "repeatable" },
	{ OPT_LIST_TABLES, "list-tables", NULL, "list the tables" },
	{ OPT_NODE_LOGS, "node-logs", "DIR|FILE",
	    "number JAX processes by NODE_RANK in the logs of their hosts" },
	{ OPT_PARTIAL, "partial", NULL,
	    "write a small stream of collectives; {rank} in -o: one per rank" },
	{ OPT_RANK_REGEX, "rank-regex", "RE",
	    "take the rank from the file name: the first group of RE" },
	{ OPT_TABLE_NAME, "table", "NAME,...", "print these tables" },
	OPT_SELECT,
	OPT_SELECT_OTHERS,
	OPT_TABLE,
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	{ OPT_VS, "vs", "DIR|FILE", "compare with this later job; repeatable" },
	{ OPT_WORLD_SIZE, "world-size", "N", "number of ranks in the job" },
	{ 'z', "zstd", "[LEVEL]", "compress the output of --partial" },
	OPT_END,
};

static const struct about about = {
	"is the network slow or a rank late, and why",
	"[OPTIONS] [FILE|DIR...]",
	"tl-collective rank*.json.gz",
};

static noreturn void
refuse_table(struct str name)
{
	const char **names = xcalloc(ntable_defs, sizeof *names);

	for (size_t i = 0; i < ntable_defs; i++)
		names[i] = table_defs[i]->name;
	table_refuse(name, names, ntable_defs, sizeof *names);
}

static void
choose_tables(const struct optparse *op, struct settings *set)
{
	const char *list = op->arg;
	struct str name;
	size_t i;

	while (str_next(&list, ',', &name)) {
		for (i = 0; i < ntable_defs; i++)
			if (str_eq(name, str_of(table_defs[i]->name)))
				break;
		if (i == ntable_defs)
			refuse_table(name);
		vec_push(&set->tables, table_defs[i]);
	}
}

/* The shell expands "--vs b*.json" to operands of the job before, but leaves
 * "--vs=b*.json" alone. */
static void
take_vs(struct settings *set, const struct optparse *op)
{
	bool is_apart = op->arg == op->argv[op->ind - 1];

	if (is_apart && op->ind < op->argc && op->argv[op->ind][0] != '-')
		die_usage(
		    "'%s' after --vs: which job is it? Repeat --vs for the "
		    "other job, or pass a folder; put this job before --vs",
		    op->argv[op->ind]);
	stream_paths(&set->vs, op->arg, true);
}

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	switch (ch) {
	case OPT_ALIGN: set->align_clocks = true; break;
	case OPT_CAUSES: causes_load(set->causes, op->arg); break;
	case OPT_FAIL_OVER: gate_opt(&set->gates, op); break;
	case OPT_FILES_FROM: vec_push(&set->lists, op->arg); break;
	case OPT_GPUS_PER_NODE:
		set->gpus_per_node = opt_int(op, 1, 1 << 20);
		break;
	case 'j': set->jobs = (int)opt_int(op, 1, 512); break;
	case OPT_JUNIT: set->junit = op->arg; break;
	case OPT_KEEP_MISMATCH: set->keep_mismatch = true; break;
	case OPT_LINK: links_choose(set->links, op->arg); break;
	case OPT_LIST_TABLES: sheets_list("tl-collective"); exit(EXIT_DONE);
	case OPT_NODE_LOGS: vec_push(&set->logs, op->arg); break;
	case OPT_PARTIAL: set->partial = true; break;
	case OPT_BUCKET_COMM: bucket_opt(&set->rules, op, ch); break;
	case OPT_RANK_REGEX:
		rank_rule_destroy(set->rank_rule);
		set->rank_rule = rank_rule_create(op->arg);
		set->has_rank_regex = true;
		break;
	case OPT_TABLE_NAME: choose_tables(op, set); break;
	case 'v': set->verbose = true; break;
	case OPT_VS: take_vs(set, op); break;
	case OPT_WORLD_SIZE:
		set->world_size = opt_int(op, 1, INT64_C(1) << 31);
		break;
	case 'z': (void)stream_dest_opt(&set->out, op, ch); break;
	default:
		if (select_front_opt(&set->select, op, ch))
			break;
		(void)table_dest_opt(&set->dest, op, ch);
		if (ch == 'o')
			(void)stream_dest_opt(&set->out, op, ch);
		break;
	}
}

static void
check_settings(struct settings *set)
{
	if (set->partial && (set->tables.n > 0 || set->dest.dir != NULL))
		die_usage("--partial writes a stream, not a table");
	if (set->out.zstd && !set->partial)
		die_usage("-z compresses the stream of --partial");
	if (set->gates.n > 0 && set->partial)
		die_usage("--partial writes a stream, which --fail-over cannot "
			  "judge");
	if (set->partial && set->vs.n > 0)
		die_usage(
		    "--partial writes a stream, which --vs cannot compare");
	for (size_t i = 0; i < set->tables.n && set->vs.n == 0; i++)
		if (set->tables.v[i] == &table_versus)
			die_usage("table nccl_vs needs --vs");
	if (set->junit != NULL && set->gates.n == 0)
		die_usage("option '--junit' needs --fail-over");
	if (set->junit != NULL && strcmp(set->junit, "-") == 0)
		die_usage("option '--junit' needs a file");
	if (set->dest.dir != NULL && set->dest.path != NULL)
		die_usage("-d and -o exclude each other");
	(void)table_dest_details(&set->dest);
	if (set->rank_rule == NULL)
		set->rank_rule = rank_rule_create(NULL);
	for (size_t i = 0; i < set->logs.n; i++)
		rank_rule_logs(set->rank_rule, set->logs.v[i]);
}

/* Appends the paths in a file, one a line. */
static void
add_list(path_vec *paths, const char *list)
{
	struct arena *mem = arena_create();
	struct in *in = in_open(list);
	const char *rest;
	struct str line;

	while (in_more(in))
		;
	rest = (const char *)in->p;
	if (memchr(in->p, '\0', (size_t)(in->end - in->p)) != NULL)
		die("%s: a path with a NUL", list);
	while (str_next(&rest, '\n', &line))
		if (line.len > 0)
			stream_paths(paths, arena_str(mem, line).p, true);
	in_close(in);
	arena_destroy(mem);
}

static void
find_inputs(const struct settings *set, char **operands, int n, path_vec *paths)
{
	for (size_t i = 0; i < set->lists.n; i++)
		add_list(paths, set->lists.v[i]);
	for (int i = 0; i < n; i++)
		stream_paths(paths, operands[i], true);
	if (set->lists.n == 0)
		stream_paths_order(paths);
	if (n == 0 && set->lists.n == 0)
		vec_push(paths, xstrdup("-"));
	/* before child processes read them */
	for (size_t i = 0; i < paths->n; i++)
		in_check_stdin(paths->v[i]);
	if (paths->n == 0)
		die("no input");
}

/* Whether a table is incomplete without all ranks. */
static bool
needs_all_ranks(const struct table_def *def)
{
	return def != &table_coll_analysis && def != &table_long &&
	    def != &table_summary_long;
}

/* Chooses the default table: of a single rank another one. */
static void
default_tables(struct settings *set, const struct job *j)
{
	if (set->dest.dir == NULL)
		vec_push(&set->tables,
		    j->flight != NULL     ? &table_hang
			: j->vs != NULL   ? &table_versus
			: j->ranks.n == 1 ? &table_coll_analysis
					  : &table_groups);
	for (size_t i = 0; i < ntable_defs && set->dest.dir != NULL; i++)
		if (is_wanted(table_defs[i], j))
			vec_push(&set->tables, table_defs[i]);
}

static void
tell_warnings(const struct job *j)
{
	if (j->nincomplete > 0)
		report(MSG_COLLECTIVES_INCOMPLETE, j->nincomplete, j->colls.n);
	if (j->nmismatch > 0)
		report(MSG_COLLECTIVES_DIFFER, j->nmismatch, j->colls.n);
}

/* Dumps of the flight recorder have no GPU work, and only one table. */
static void
read_dumps(const struct settings *set, struct job *j)
{
	for (size_t i = 0; i < set->tables.n; i++)
		if ((set->tables.v[i] == &table_hang) != flight_is(j))
			die_nothing(MSG_NOT_OF_DUMPS, set->tables.v[i]->name);
	if (!flight_is(j))
		return;
	if (set->partial)
		die_usage("--partial needs traces; these are dumps of the "
			  "flight recorder");
	if (select_front_is_on(&set->select))
		die_usage("dumps of the flight recorder take no selection: a "
			  "call that is not selected would look missing");
	if (set->gates.n > 0)
		die_usage(
		    "--fail-over judges GPU work, which dumps of the flight "
		    "recorder lack; a hang exits with 4 without it");
	j->flight = flight_new(j);
	if (j->world == 0)
		j->world = j->flight->world;
	flight_judge(j->flight);
}

static void
print_tables(struct settings *set, struct job *j)
{
	if (set->tables.n == 0)
		default_tables(set, j);
	set->dest.many = set->tables.n > 1;
	for (size_t i = 0; i < set->tables.n; i++)
		if (set->tables.v[i]->by_starts) {
			clocks_tell_untold(j);
			break;
		}
	for (size_t i = 0; i < set->tables.n; i++)
		print_table(set->tables.v[i], j, &set->dest);
	table_dest_finish(&set->dest);
}

static void
measure(struct settings *set, struct job *j)
{
	bool wants_all = j->ranks.n > 1;

	for (size_t i = 0; i < set->tables.n; i++)
		wants_all |= needs_all_ranks(set->tables.v[i]);
	if (wants_all)
		job_tell_missing(j);
	if (j->flight != NULL)
		return;
	if (select_front_is_on(&set->select) && j->nrecs == 0)
		die_nothing(MSG_NO_EVENT_MATCHES, j->parts.v[0].path,
		    STR(" of a collective"));
	groups_build(j);
	links_find(j);
	match_all(j);
	sync_measure(j);
	links_measure(j);
	if (wants_all)
		tell_warnings(j);
}

/* Reads the whole later job. */
static void
measure_other(struct settings *set, struct job *j)
{
	struct job *vs = xcalloc(1, sizeof *vs);
	part_vec parts = { 0 };

	work_run(set, &set->vs, &parts);
	select_front_end(&set->select);
	job_build(vs, set, &parts);
	if (j->flight != NULL || flight_is(vs))
		die_usage("--vs compares traces, not dumps of the flight "
			  "recorder");
	measure(set, vs);
	j->vs = vs;
}

static void
analyse(struct settings *set, struct job *j, part_vec *parts)
{
	job_build(j, set, parts);
	read_dumps(set, j);
	if (set->partial) {
		partial_write(set, j);
		return;
	}
	measure(set, j);
	if (set->vs.n > 0)
		measure_other(set, j);
	print_tables(set, j);
}

int
main(int argc, char *argv[])
{
	struct settings set = { .jobs = sys_cpus() };
	struct job job = { 0 };
	path_vec paths = { 0 };
	part_vec parts = { 0 };
	struct optparse op;
	struct junit *xml;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	set.links = links_new();
	set.causes = causes_create();
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	check_settings(&set);

	/* before the work, so that a bad path fails early */
	xml = junit_open(set.junit, "tl-collective");
	find_inputs(&set, argv + op.ind, argc - op.ind, &paths);
	set.select.is_several = paths.n > 1;
	if (set.select.is_several)
		select_front_refuse_slowest(&set.select);
	work_run(&set, &paths, &parts);
	if (set.vs.n == 0)
		select_front_end(&set.select);
	analyse(&set, &job, &parts);
	causes_destroy(set.causes);
	if (set.verbose)
		note_cost("%zu inputs, %zu ranks, %zu groups, %zu collectives "
			  "(%zu incomplete), %zu records",
		    paths.n, job.ranks.n, job.groups.n, job.colls.n,
		    job.nincomplete, job.nrecs);
	if (job.flight != NULL && job.flight->hangs.n > 0)
		return EXIT_GATE;
	return set.gates.n > 0 ? gates_check(&job, xml) : exit_status();
}
