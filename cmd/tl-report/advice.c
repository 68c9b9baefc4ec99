/* SPDX-License-Identifier: MIT */
/* tl-advise's findings about the tables of this report: what to do first. */
#include "table/table.h"

#include "cmd/tl-report/figures.h"

#define SHOWN_MIN 1 /* percent of the window */
#define LEAST 0.1   /* of a row */

void
advice_start(const struct settings *s, struct jobs *j, const char *format)
{
	const struct job how = { .is_side = true,
		.may_be_empty = true,
		.sides = (unsigned char)(1u << s->side) };
	struct args argv = { 0 };

	args_add(&argv, "tl-advise");
	args_add(&argv, "--table=advice");
	args_add(&argv, "--format");
	args_add(&argv, format);
	args_add(&argv, "-d");
	args_add(&argv, s->tables);
	args_add(&argv, "--");
	args_add(&argv, s->tables);
	(void)job_start(j, &argv, &how);
}

/*
 * Keeps the largest gains. Skips guesses, which may gain nothing, what returns
 * next to nothing, as GPU work does where the host sets the pace, and findings
 * of a comparison, which have sentences of their own.
 */
void
advice_take(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct str section = line_text(l, "section");
	/* with a limit, a low gain of 0 does not make it one */
	bool is_guess = str_eq(line_text(l, "confidence"), STR("low")) &&
	    line_int(l, "gain_ns_low") == 0 &&
	    (line_lacks(l, "most_ns") || line_real(l, "pct_gain") < SHOWN_MIN);

	if (f->ngains == TOP_GAINS || line_int(l, "gain_ns") <= 0 || is_guess ||
	    line_real(l, "pct_gain") < LEAST ||
	    str_eq(section, STR("comparison")))
		return;
	f->gains[f->ngains++] = (struct gain){
		.place = line_int(l, "place"),
		.low_ns = line_int(l, "gain_ns_low"),
		.ns = line_int(l, "gain_ns"),
		.high_ns = line_int(l, "gain_ns_high"),
		.percent = line_real(l, "pct_gain"),
		.what = figures_text(f, line_text(l, "insight")),
		.action = figures_text(f, line_text(l, "action")),
		.uids = figures_text(f, line_text(l, "uids")),
		.shares = line_int(l, "overlaps"),
	};
}

void
advice_put(const struct figures *f, size_t i, struct buf *b)
{
	const struct gain *g = &f->gains[i];

	put_time(b, g->ns);
	buf_puts(b, " (");
	put_time(b, g->low_ns);
	buf_puts(b, " to ");
	put_time(b, g->high_ns);
	for (size_t k = 0; k < i; k++)
		if (f->gains[k].place == g->shares)
			buf_printf(b, ", shared with %zu", k + 1);
	buf_printf(b, "): %.*s; %.*s", (int)g->what.len, g->what.p,
	    (int)g->action.len, g->action.p);
}
