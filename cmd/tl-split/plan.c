/* SPDX-License-Identifier: MIT */
/* How to record so that a steady state is in the trace. */
#include <math.h>
#include <stdio.h>

#include "cmd/tl-split/split.h"
#include "table/table.h"

void
plan_print(const struct window_plan *plan)
{
	static const struct column columns[] = {
		{ "figure", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
		{ "value", NULL, COL_REAL, UNIT_NONE, 0, 0 },
	};
	struct table_dest dest = { 0 };
	double conc = (double)plan->conc, osl = plan->osl;
	double mean_osl = osl * (1 + plan->ratio) / 2;
	double prompts = 10 * conc, max_iters = 16 * osl / conc;
	double total = prompts * mean_osl / conc, ratio = 0;
	struct table *t = table_create("plan", columns, 2);

	if (!window_ideal(plan, &ratio))
		ratio = 0;
	/* with short answers to many requests every iteration has prefill */
	ratio = fmin(ratio, 1);
	const struct {
		const char *name;
		double value;
	} figures[] = {
		{ "num_prompts", prompts },
		{ "mean_osl", mean_osl },
		{ "max_iters", max_iters },
		{ "delay_iters",
		    fmax(0, (plan->ratio + 1) / 2 * 5 * osl - max_iters / 2) },
		{ "total_steps", total },
		{ "prefilldecode_steps", fmin(prompts, total) },
		{ "decode_only_steps", fmax(0, total - prompts) },
		{ "prefilldecode_ratio", ratio },
		{ "min_steps", ceil(1 / ratio) },
	};

	for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
		struct cell *row = table_row(t);

		row[0] = cell_text(str_of(figures[i].name));
		row[1] = cell_real(figures[i].value);
	}
	table_print(t, &dest);
	table_destroy(t);
	table_dest_finish(&dest);
}
