/* SPDX-License-Identifier: MIT */
/* --vs: comparison with other traces. */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-report/changes.h"

/* ---- which with which ---- */

static bool
share_a_rank(const struct sink_sources *a, const struct sink_sources *b)
{
	for (size_t i = 0; i < a->list.n; i++)
		for (size_t k = 0; k < b->list.n; k++)
			if (a->list.v[i].has_rank && b->list.v[k].has_rank &&
			    a->list.v[i].rank == b->list.v[k].rank)
				return true;
	return false;
}

/* One trace on each side, or repeated runs: ranks do not matter. */
void
versus_pair(struct settings *s, const struct sink_sources *before,
    const struct sink_sources *after)
{
	enum sink_lead a = sink_sources_lead(before);
	enum sink_lead b = sink_sources_lead(after);

	s->by_rank = a != SINK_LEAD_SRC && b != SINK_LEAD_SRC &&
	    (a == SINK_LEAD_RANK || b == SINK_LEAD_RANK) &&
	    share_a_rank(before, after);
}

struct settings *
versus_other(const struct settings *s, char *tables)
{
	struct settings *o = xcalloc(1, sizeof *o);

	*o = *s;
	o->side = 1;
	o->tables = tables;
	o->traces = s->vs;
	o->vs = o->chosen = (struct args){ 0 };
	args_all(&o->chosen, &s->chosen);
	/* it fills no sheets of its own but those of both sides */
	o->dir = NULL;
	o->modules = o->shorts = o->launch = o->kernels = false;
	return o;
}

/* ---- what is compared ---- */

bool
versus_by_op(const struct settings *s)
{
	return s->has_ops && s->other != NULL && s->other->has_calls;
}

/* Starts tl-diff into the folder of tables; judges its messages once. */
static void
start(
    const struct settings *s, struct jobs *j, const char *what, bool is_judged)
{
	struct args argv = { 0 };

	args_add(&argv, "tl-diff");
	args_add(&argv, "--format=ndjson");
	args_add(&argv, "-d");
	args_add(&argv, s->tables);
	args_add(&argv, what);
	if (is_judged && s->fail_over != NULL)
		args_add(&argv, text("--fail-over=%s", s->fail_over));
	if (s->names != NULL)
		args_add(&argv, text("--names=%s", s->names));
	if (s->causes != NULL)
		args_add(&argv, text("--causes=%s", s->causes));
	if (s->match != NULL)
		args_add(&argv, s->match);
	if (s->by_rank)
		args_add(&argv, "--pair=rank");
	args_all(&argv, &s->chosen);
	for (size_t i = 0; i < s->trees.v.n; i++)
		args_add(&argv, text("--before=%s", s->trees.v.v[i]));
	for (size_t i = 0; i < s->others.v.n; i++)
		args_add(&argv, text("--after=%s", s->others.v.v[i]));
	(void)job_start(j, &argv, &(struct job){ 0 });
}

/* Ops do not show what differs in a graph replay: compare its kernels. */
void
versus_compare(const struct settings *s, struct jobs *j)
{
	start(s, j, versus_by_op(s) ? "--by=op" : "--by=kernel", true);
	if (versus_by_op(s) && s->has_replays)
		start(s, j, "--table=diff_kernels", false);
	job_finish(j, s->dir != NULL);
}

const char *const versus_tables[] = { "steps", "idle", "critical_path", "GEMM",
	NULL };
#define JOINED "_vs"

bool
versus_is_joined(const char *path)
{
	for (const char *const *t = versus_tables; *t != NULL; t++)
		if (str_ends(
			str_of(path), str_of(text("/%s" JOINED ".ndjson", *t))))
			return true;
	return false;
}

/* Beside the sheets of the first side, which further programs read. */
void
versus_join(const struct settings *s, const struct jobs *j)
{
	for (const char *const *t = versus_tables; *t != NULL; t++) {
		const char *name = text("%s" JOINED, *t);
		struct table_part parts[2];
		int nthere = 0;

		for (int side = 0; side < 2; side++) {
			const struct settings *of = side > 0 ? s->other : s;

			parts[side].word = text(
			    "%.*s", (int)s->sides[side].len, s->sides[side].p);
			parts[side].path = table_path(of, *t, "ndjson");
			nthere += is_there(parts[side].path);
		}
		/* of one side only if the other has none, not if it failed */
		if (nthere == 2 || (nthere == 1 && !jobs_lack(j)))
			table_join("side", parts, 2, name,
			    table_path(s, name, "ndjson"));
	}
}

void
versus_note_gate(const struct settings *s, const struct jobs *j)
{
	int status = j->status == EXIT_DONE ? exit_status() : j->status;

	if (s->fail_over == NULL || status != EXIT_WARNINGS)
		return;
	for (size_t i = 0; i < j->told.n; i++)
		if (report_find(str_of(j->told.v[i].id)) == MSG_GATE_IN_NOISE)
			return;
	report(MSG_GATE_PASSES, "fail-over");
}

/* ---- what tl-collective says of two jobs ---- */

/*
 * "Collectives: allreduce of 100 MB in group 0: 1.000 ms to 1.250 ms each
 * (+25.0 %, beyond noise), +2.500 ms in 10 calls." The first row is the
 * largest.
 */
void
versus_take(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	const struct val *beyond = line_cell(l, "beyond_noise");
	double before = line_real(l, "latency_ns_mean_before");
	double after = line_real(l, "latency_ns_mean_after");
	int64_t count = line_int(l, "count_after"), all_ns;
	struct buf b = { 0 };

	if (beyond->type != VAL_BOOL || !beyond->yes || !(before > 0) ||
	    f->nbeyond++ > 0)
		return;
	all_ns = llround((after - before) * (double)count);
	buf_puts(&b, "Collectives: ");
	table_fold_name(line_text(l, "collective"), 60, &b);
	buf_printf(
	    &b, " of %.4g MB in group ", line_real(l, "full_bytes") / 1e6);
	table_fold_name(line_text(l, "group"), 60, &b);
	buf_puts(&b, ": ");
	put_time(&b, llround(before));
	buf_puts(&b, " to ");
	put_time(&b, llround(after));
	buf_puts(&b, " each (");
	put_growth(&b, before, after - before);
	buf_puts(&b, ", beyond noise), ");
	buf_putc(&b, all_ns < 0 ? '-' : '+');
	put_time(&b, llabs(all_ns));
	buf_printf(&b, " in %" PRId64 " call%s.", count, count == 1 ? "" : "s");
	vec_push(&f->sentences, figures_keep(f, &b));
	buf_free(&b);
}
