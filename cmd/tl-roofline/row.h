/* SPDX-License-Identifier: MIT */
/* A row while it is made: between rows.c, which fills it, and cells.c. */
#ifndef TL_ROOFLINE_ROW_H
#define TL_ROOFLINE_ROW_H

#include "cmd/tl-roofline/plan.h"
#include "trace/stat.h"

/* What the cells of a row are made of. */
struct row {
	struct table *table;
	const struct roof_state *g;
	const struct sink_groups *gs;
	const struct sink_group *gr;
	const struct call *first; /* the earliest one */
	const struct call *told;  /* the first one whose model gave a result */
	struct stats host, kernel;
	struct stat_real tbs, tflops, pct, sim_tbs, sim_pct, over;
	struct versus_row versus;
	bool has_versus;
	double lost_ns, whole, cumulative;
	const struct str *roofs; /* their names, by enum roof */
	struct buf *text;
};

static inline const struct call *
call_at(const struct row *r, size_t i)
{
	return &r->g->calls.v[sink_group_member(r->gs, r->gr, i)];
}

/* The cell of column i of the plan. */
struct cell row_cell(const struct row *r, const struct plan *p, size_t i);

#endif
