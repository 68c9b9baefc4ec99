/* SPDX-License-Identifier: MIT */
/* Ops without a model and above the roof, from tl-roofline's tables. */
#include "cmd/tl-health/health.h"

#include <math.h>

enum {
	COLUMN_NAME,
	COLUMN_TIME,
	COLUMN_COUNT,
	COLUMN_UID,
	COLUMN_MODEL,
	COLUMN_ABOVE,
	COLUMN_SPEC,
	COLUMN_ROOF,
	COLUMN_PERCENT,
	COLUMNS,
};
static const char *const ids[COLUMNS] = {
	[COLUMN_NAME] = "name",
	[COLUMN_TIME] = "kernel_ns_sum",
	[COLUMN_COUNT] = "operation_count",
	[COLUMN_UID] = "first_uid",
	[COLUMN_MODEL] = "has_perf_model",
	[COLUMN_ABOVE] = "above_roof",
	[COLUMN_SPEC] = "compute_spec",
	[COLUMN_ROOF] = "roof",
	[COLUMN_PERCENT] = "pct_roofline_mean",
};

struct roofline {
	size_t at[COLUMNS]; /* SIZE_MAX: missing */
	int64_t all_ns;
	struct tally bare, above;
	double highest; /* percent of the roof */
	struct buf who; /* the op above it most */
};

static void
begin_table(void *ctx, const struct head *head)
{
	struct roofline *g = ctx;

	for (int c = 0; c < COLUMNS; c++) {
		g->at[c] = SIZE_MAX;
		for (size_t i = 0; i < head->ncolumns; i++)
			if (str_eq(head->columns[i].id, str_of(ids[c])))
				g->at[c] = i;
	}
}

static const struct val *
cell(const struct roofline *g, const struct val *cells, int column)
{
	static const struct val none = { .type = VAL_NONE };

	return g->at[column] < SIZE_MAX ? &cells[g->at[column]] : &none;
}

static int64_t
int_of(const struct roofline *g, const struct val *cells, int column)
{
	const struct val *v = cell(g, cells, column);

	return v->type == VAL_NUMBER && v->number >= 0 && v->number < 9e18
	    ? (int64_t)v->number
	    : 0;
}

static void
put_text(struct buf *b, const struct val *v)
{
	if (v->type == VAL_TEXT)
		text_visible(v->text, b);
}

static void
add(struct tally *t, const struct roofline *g, const struct val *cells)
{
	const struct uid uid = { (uint64_t)int_of(g, cells, COLUMN_UID), 0 };

	tally_event(t, uid, int_of(g, cells, COLUMN_TIME));
	t->n += (uint64_t)int_of(g, cells, COLUMN_COUNT);
	t->n--;
}

static void
take_row(void *ctx, const struct val *cells)
{
	struct roofline *g = ctx;
	const struct val *model = cell(g, cells, COLUMN_MODEL);
	const struct val *above = cell(g, cells, COLUMN_ABOVE);
	const struct val *percent = cell(g, cells, COLUMN_PERCENT);
	struct buf *b = &g->who;

	g->all_ns = num_add_max(g->all_ns, int_of(g, cells, COLUMN_TIME));
	if (model->type == VAL_BOOL && !model->yes)
		add(&g->bare, g, cells);
	/* a cache or the clock explains the others */
	if (above->type != VAL_TEXT ||
	    str_find(above->text, STR("unexplained"), false) < 0)
		return;
	add(&g->above, g, cells);
	if (percent->type != VAL_NUMBER || percent->number <= g->highest)
		return;
	g->highest = percent->number;
	b->len = 0;
	put_text(b, cell(g, cells, COLUMN_NAME));
	buf_printf(b, ", %.0f %% of ", g->highest);
	put_text(b, cell(g, cells, COLUMN_SPEC));
	buf_puts(b, " on ");
	put_text(b, cell(g, cells, COLUMN_ROOF));
}

static void
end_table(void *ctx)
{
	(void)ctx;
}

void
check_roofline(struct health *h, int tree, const char *name)
{
	const char *const words[] = { "--table=unified_perf_summary" };
	struct roofline g = { 0 };
	const struct table_sink sink = { begin_table, take_row, end_table, &g };
	struct finding *f;
	struct str wrong;

	(void)table_ask(&(struct asked){ "tl-roofline", words, 1, tree, name },
	    &sink, h->text, &wrong);
	h->subject.source = (uint32_t)h->sources.file;
	found(h, CHECK_CONTENT_NO_MODEL, &g.bare,
	    percent_of((double)g.bare.ns, (double)g.all_ns));
	f = found(h, CHECK_CONTENT_ABOVE_ROOF, &g.above,
	    percent_of((double)g.above.ns, (double)g.all_ns));
	if (f != NULL)
		finding_say(h, f, "%.*s", (int)g.who.len, g.who.p);
	buf_free(&g.who);
}
