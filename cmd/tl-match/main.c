/* SPDX-License-Identifier: MIT */
/*
 * tl-match: which iterations of two serving traces did the same work? It reads
 * the iterations of both, finds the blocks of a phase that are nearest in load
 * (trace/match.h), prints them, and writes them as traces.
 */
#include "cmd/tl-match/match.h"
#include "table/catalogue.h"
#include "trace/window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	OPT_APPROX = OPT_LONG,
	OPT_LIST_TABLES,
	OPT_NUM_STEPS,
	OPT_PHASE,
	OPT_TABLE_NAME,
	OPT_TO,
};

static const struct opt options[] = {
	{ OPT_APPROX, "approx", NULL,
	    "match by requests and tokens, not by keys read" },
	{ OPT_LIST_TABLES, "list-tables", NULL, "list the tables" },
	{ OPT_NUM_STEPS, "num-steps", "N",
	    "iterations per block (16); 0: as many as are consecutive" },
	{ OPT_PHASE, "phase", "PHASE,...",
	    "phases to match (decode,mixed); also prefill" },
	{ OPT_TABLE_NAME, "table", "NAME", "print this table" },
	OPT_TABLE_WITH("the N closest pairs of each phase (1)"),
	{ OPT_TO, "to", "tl|chrome",
	    "with -d: write streams (tl) or Chrome traces" },
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"iterations of two serving traces that did the same work",
	"[OPTIONS] A B",
	"tl-match a.json.gz b.json.gz",
};

/* ---- words and figures of a match ---- */

const char *
phase_name(const struct settings *set, uint8_t phase)
{
	static const char *const theirs[PHASE_COUNT] = { [PHASE_PREFILL] =
							     "prefill_only",
		[PHASE_DECODE] = "decode_only",
		[PHASE_MIXED] = "prefilldecode" };

	return set->dest.dir != NULL ? theirs[phase] : phase_words[phase];
}

struct str
trace_name(const struct program *p, int side, struct buf *b)
{
	b->len = 0;
	window_put_base(b, str_of(trace_of(p, side)->path));
	return buf_str(b);
}

#define AT(field) offsetof(struct iteration, field)
const struct load loads[NLOADS] = {
	{ "avg_context_requests", "c_req", AT(context_requests) },
	{ "avg_generation_requests", "g_req", AT(generation_requests) },
	{ "avg_c_sq", "c_sq", AT(c_sq) },
	{ "avg_c_sk", "c_sk", AT(c_sk) },
	{ "avg_g_sq", "g_sq", AT(g_sq) },
	{ "avg_g_sk", "g_sk", AT(g_sk) },
};

int64_t
load_of(const struct iteration *it, size_t load)
{
	int64_t v;

	memcpy(&v, (const char *)it + loads[load].at, sizeof v);
	return v;
}

/* To so many decimals, as in TraceLens's files. */
static double
rounded(double v, int decimals)
{
	char text[400];

	snprintf(text, sizeof text, "%.*f", decimals, v);
	return strtod(text, NULL);
}

double
mean_of(const struct program *p, const struct match *m, int side, size_t load)
{
	const struct match_block *b = match_block_of(&p->found, m, side);
	long double sum = 0;

	for (uint32_t i = b->first; i < b->first + b->n; i++)
		sum += (long double)load_of(&p->found.side[side].v[i], load);
	return rounded((double)(sum / b->n), 3);
}

double
distance_of(const struct match *m, size_t i)
{
	return rounded((double)((long double)m->sums[i] / m->n), 6);
}

size_t
ndistances(const struct program *p, const struct match *m)
{
	return match_nloads((enum phase)match_block_of(&p->found, m, 0)->phase,
	    p->set->query.rules.is_approx);
}

/* ---- what did not match ---- */

static void
note_unmatched(const struct program *p)
{
	const struct match_query *q = &p->set->query;

	for (size_t i = 0; i < q->nphases; i++) {
		const struct match_tally *t = &p->found.tallies[i];

		if (!match_has_phase(&p->found, q->phases[i]))
			report(MSG_PHASE_UNMATCHED, phase_words[q->phases[i]],
			    t->blocks, trace_of(p, 0)->path, t->with_candidate,
			    trace_of(p, 1)->path);
	}
}

/* ---- options ---- */

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	static const char *const forms[] = { "tl", "chrome", NULL };

	switch (ch) {
	case OPT_APPROX: set->query.rules.is_approx = true; break;
	case OPT_LIST_TABLES: set->list = true; break;
	case OPT_NUM_STEPS:
		set->query.num_steps = (size_t)opt_int(op, 0, INT32_MAX);
		break;
	case OPT_PHASE: match_opt(&set->query, op, false); break;
	case OPT_TABLE_NAME: set->table = op->arg; break;
	case OPT_TABLE_TOP:
		set->query.rules.top = (size_t)opt_int(op, 1, 1000000);
		break;
	case OPT_TO: set->is_chrome = opt_word(op, forms) == 1; break;
	case 'v': set->verbose = true; break;
	default: (void)table_dest_opt(&set->dest, op, ch); break;
	}
}

static void
check_settings(struct settings *set, const struct optparse *op)
{
	int nstdin = 0;

	if (op->argc - op->ind != MATCH_SIDES)
		die_usage("pass two traces, not %d", op->argc - op->ind);
	for (int i = op->ind; i < op->argc; i++)
		nstdin += strcmp(op->argv[i], "-") == 0;
	if (nstdin > 1 || (nstdin > 0 && set->dest.dir != NULL))
		die_usage("only one trace can be standard input, and none with "
			  "-d, which reads it again");
	(void)table_dest_details(&set->dest);
	if (set->is_chrome && set->dest.dir == NULL)
		die_usage("option '--to' needs -d DIR");
	if (set->table != NULL && set->dest.dir != NULL)
		die_usage("option '--table': -d writes all tables");
	tables_check(set);
}

int
main(int argc, char *argv[])
{
	struct settings set = { .query = MATCH_QUERY("--approx") };
	struct program p = { .set = &set };
	const char *paths[MATCH_SIDES];
	struct optparse op;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	if (set.list) {
		sheets_list("tl-match");
		return EXIT_DONE;
	}
	check_settings(&set, &op);
	stream_check_files(argv + op.ind);
	for (int s = 0; s < MATCH_SIDES; s++)
		paths[s] = argv[op.ind + s];

	p.st = dict_create();
	match_traces(&p.found, &set.query, paths, p.st);
	note_unmatched(&p);
	if (set.dest.dir != NULL)
		extract_all(&p);
	tables_print(&p);
	if (set.dest.dir != NULL)
		reports_write(&p);
	if (set.verbose)
		note_cost("%zu and %zu iterations, %zu and %zu blocks",
		    trace_of(&p, 0)->steps.n, trace_of(&p, 1)->steps.n,
		    p.found.side[0].blocks.n, p.found.side[1].blocks.n);
	for (size_t i = 0; i < p.extracts.n; i++)
		for (int s = 0; s < MATCH_SIDES; s++)
			vec_release(p.extracts.v[i].path[s]);
	vec_free(&p.extracts);
	match_traces_free(&p.found);
	dict_destroy(p.st);
	return exit_status();
}
