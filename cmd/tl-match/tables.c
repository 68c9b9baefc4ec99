/* SPDX-License-Identifier: MIT */
/* Matches as tables: a row per match, and a row per iteration. */
#include "cmd/tl-match/match.h"
#include "sink/cells.h"

/* Columns of a side, with TraceLens's labels. */
#define SIDE(a, TraceA)                                                        \
	{ a "_trace", TraceA "_trace", COL_TEXT, UNIT_NONE, COL_DETAIL, 0 },   \
	    { a "_block", TraceA "_block_index", COL_INT, UNIT_NONE,           \
		    COL_MINOR, 0 },                                            \
	    { a "_start", TraceA "_start", COL_INT, UNIT_NONE, COL_MINOR, 0 }, \
	    { a "_end", TraceA "_end", COL_INT, UNIT_NONE, COL_MINOR, 0 },     \
	    { a "_run_steps", TraceA "_original_num_steps", COL_INT,           \
		    UNIT_COUNT, 0, 0 },                                        \
	    { a "_is_cut", TraceA "_truncated", COL_BOOL, UNIT_NONE,           \
		    COL_MINOR, 0 },                                            \
	    { a "_c_req_mean", TraceA "_avg_c_req", COL_REAL, UNIT_NONE,       \
		    COL_MINOR, 0 },                                            \
	    { a "_g_req_mean", TraceA "_avg_g_req", COL_REAL, UNIT_NONE,       \
		    COL_MINOR, 0 },                                            \
	    { a "_c_sq_mean", TraceA "_avg_c_sq", COL_REAL, UNIT_NONE,         \
		    COL_MINOR, 0 },                                            \
	    { a "_c_sk_mean", TraceA "_avg_c_sk", COL_REAL, UNIT_NONE,         \
		    COL_MINOR, 0 },                                            \
	    { a "_g_sq_mean", TraceA "_avg_g_sq", COL_REAL, UNIT_NONE,         \
		    COL_MINOR, 0 },                                            \
	    { a "_g_sk_mean", TraceA "_avg_g_sk", COL_REAL, UNIT_NONE,         \
		    COL_MINOR, 0 },                                            \
	{                                                                      \
		a "_output_path", TraceA "_output_path", COL_TEXT, UNIT_NONE,  \
		    COL_DETAIL, 0                                              \
	}

static const struct column match_columns[] = {
	{ "match_id", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "phase", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "steps", "num_steps", COL_INT, UNIT_COUNT, 0, 0 },
	{ "distance", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	SIDE("a", "TraceA"),
	SIDE("b", "TraceB"),
	{ "a_steps", NULL, COL_TEXT, UNIT_NONE, COL_OURS, 0 },
	{ "b_steps", NULL, COL_TEXT, UNIT_NONE, COL_OURS, 0 },
	{ "a_rank", NULL, COL_INT, UNIT_NONE, COL_OURS | COL_MINOR, 0 },
	{ "a_process", NULL, COL_TEXT, UNIT_NONE, COL_OURS | COL_MINOR, 0 },
	{ "b_rank", NULL, COL_INT, UNIT_NONE, COL_OURS | COL_MINOR, 0 },
	{ "b_process", NULL, COL_TEXT, UNIT_NONE, COL_OURS | COL_MINOR, 0 },
};

static const struct column step_columns[] = {
	{ "match_id", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "phase", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "side", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "step", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "name", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 },
	{ "context_requests", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "generation_requests", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "c_sq", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "c_sk", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "g_sq", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "g_sk", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "ts_ns", NULL, COL_INT, UNIT_NS, COL_POSITION, 0 },
	{ "wall_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
};

/* ---- a match ---- */

static struct str
keep(struct table *t, struct buf *b)
{
	struct str s = table_row_text(t, buf_str(b));

	b->len = 0;
	return s;
}

static struct cell *
put_side(struct cell *row, struct table *t, const struct program *p,
    const struct match *m, size_t no, int side)
{
	const struct match_block *x = match_block_of(&p->found, m, side);
	struct buf b = { 0 };

	*row++ = cell_text(table_row_text(t, trace_name(p, side, &b)));
	*row++ = cell_int(m->block[side]);
	*row++ = cell_int(x->first);
	*row++ = cell_int((int64_t)x->first + x->n);
	*row++ = cell_int(x->run_n);
	*row++ = cell_bool(x->n != x->run_n);
	for (size_t i = 0; i < NLOADS; i++)
		*row++ = cell_real(mean_of(p, m, side, i));
	if (no < p->extracts.n)
		*row = cell_text(str_of(p->extracts.v[no].path[side]));
	buf_free(&b);
	return row + 1;
}

/* Names the process that the block is of. */
static struct cell *
put_process(struct cell *row, struct table *t, const struct program *p,
    const struct match *m, int side)
{
	const struct match_process *process =
	    match_process_of(&p->found, m, side);
	struct buf b = { 0 };

	if (process->rank != MATCH_NO_RANK)
		row[0] = cell_int(process->rank);
	match_put_process(&b, process, p->st);
	row[1] = cell_text(keep(t, &b));
	buf_free(&b);
	return row + 2;
}

static void
put_distance(struct buf *b, const struct program *p, const struct match *m)
{
	for (size_t i = 0; i < ndistances(p, m); i++) {
		char text[64];

		buf_puts(b, i > 0 ? "|" : "");
		buf_put(b, text, num_put_double(text, distance_of(m, i)));
	}
}

static void
put_matches(struct table *t, const struct program *p)
{
	for (size_t i = 0; i < p->found.list.n; i++) {
		const struct match *m = &p->found.list.v[i];
		struct cell *row = table_row(t);
		struct buf b = { 0 };

		row[0] = cell_int((int64_t)i);
		row[1] = cell_text(str_of(phase_name(
		    p->set, match_block_of(&p->found, m, 0)->phase)));
		row[2] = cell_int(m->n);
		put_distance(&b, p, m);
		row[3] = cell_text(keep(t, &b));
		row += 4;
		for (int s = 0; s < MATCH_SIDES; s++)
			row = put_side(row, t, p, m, i, s);
		for (int s = 0; s < MATCH_SIDES; s++) {
			match_put_steps(&b, &p->found, m, s, p->st);
			row[s] = cell_text(keep(t, &b));
		}
		row += MATCH_SIDES;
		for (int s = 0; s < MATCH_SIDES; s++)
			row = put_process(row, t, p, m, s);
		buf_free(&b);
	}
}

/* ---- its iterations ---- */

static void
put_step(
    struct table *t, const struct program *p, size_t no, int side, size_t at)
{
	const struct match_trace *trace = trace_of(p, side);
	const struct iteration *it = &trace->iterations.v[at];
	struct cell *row = table_row(t);

	row[0] = cell_int((int64_t)no);
	row[1] = cell_text(str_of(phase_name(p->set, it->phase)));
	row[2] = cell_text(side == 0 ? STR("A") : STR("B"));
	row[3] = cell_int(trace->steps.v[at].number);
	row[4] = cell_string(p->st, trace->steps.v[at].name);
	for (size_t i = 0; i < NLOADS; i++)
		row[5 + i] = cell_int(load_of(it, i));
	row[11] = cell_int(trace->steps.v[at].start_ns);
	row[12] = cell_int(trace->steps.v[at].dur_ns);
}

/* Rows of a match: an iteration of A, and the one of B it is compared with. */
static void
put_all_steps(struct table *t, const struct program *p)
{
	for (size_t i = 0; i < p->found.list.n; i++) {
		const struct match *m = &p->found.list.v[i];

		for (uint32_t k = 0; k < m->n; k++)
			for (int s = 0; s < MATCH_SIDES; s++)
				put_step(t, p, i, s,
				    match_block_of(&p->found, m, s)->first + k);
	}
}

/* ---- which are printed ---- */

#define COLUMNS(of) (of), sizeof(of) / sizeof *(of)

static const struct {
	const char *name;
	const struct column *columns;
	size_t ncolumns;
	void (*put)(struct table *t, const struct program *p);
} tables[] = {
	{ "match_report", COLUMNS(match_columns), put_matches },
	{ "match_steps", COLUMNS(step_columns), put_all_steps },
};
#define NTABLES (sizeof tables / sizeof *tables)

static bool
is_wanted(const struct settings *set, size_t i)
{
	if (set->table != NULL)
		return strcmp(set->table, tables[i].name) == 0;
	return i == 0 || set->dest.dir != NULL;
}

void
tables_check(const struct settings *set)
{
	size_t n = 0;

	for (size_t i = 0; i < NTABLES; i++) {
		if (!is_wanted(set, i))
			continue;
		n++;
		table_dest_check(&set->dest, tables[i].name, tables[i].columns,
		    tables[i].ncolumns);
	}
	if (n == 0)
		table_refuse(str_of(set->table), &tables[0].name, NTABLES,
		    sizeof *tables);
}

void
tables_print(struct program *p)
{
	for (size_t i = 0; i < NTABLES; i++) {
		struct table *t;

		if (!is_wanted(p->set, i))
			continue;
		t = table_create(
		    tables[i].name, tables[i].columns, tables[i].ncolumns);
		tables[i].put(t, p);
		table_print(t, &p->set->dest);
		table_destroy(t);
	}
	table_dest_finish(&p->set->dest);
}
