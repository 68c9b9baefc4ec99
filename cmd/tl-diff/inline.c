/* SPDX-License-Identifier: MIT */
/*
 * diff_inline: what the points below an op come to, for each op of the first
 * side with GPU work below it, by name, arguments and thread. It has a row for
 * whatever op a report takes to stand for GPU work, and for each kernel of an
 * op by itself, so that a report finds its rows by name, arguments and uid.
 *
 * A point counts once for a row, with all that it has on both sides, whether
 * all of it is below the row's ops or not.
 */
#include <stdlib.h>

#include "cmd/tl-diff/tables.h"
#include "trace/span.h"
#include "trace/stat.h"

const struct column inline_columns[] = {
	RUN_COLUMNS,
	{ "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "input_dims", "Input Dims", COL_JSON, UNIT_NONE, 0, 0 },
	{ "input_types", "Input type", COL_JSON, UNIT_NONE, 0, 0 },
	{ "input_strides", "Input Strides", COL_JSON, UNIT_NONE, 0, 0 },
	{ "concrete_inputs", "Concrete Inputs", COL_JSON, UNIT_NONE, 0, 0 },
	{ "ex_uid", "ex_UID", COL_INT, UNIT_NONE, 0, 0 },
	{ "count", "operation_count", COL_INT, UNIT_COUNT, 0, 0 },
	{ "kernel_ns_sum", "Kernel Time (\302\265s)_sum", COL_INT, UNIT_NS, 0,
	    1e3 },
	{ "ratio", "speedup (trace2/trace1)", COL_REAL, UNIT_NONE, 0, 0 },
	{ "diff_ns", "delta_us (trace2 - trace1)", COL_INT, UNIT_NS, 0, 1e3 },
	{ "lca_count_after", "lca_count_trace2", COL_INT, UNIT_COUNT, 0, 0 },
	{ "lca_ids", "lca_id", COL_TEXT, UNIT_NONE, 0, 0 },
	{ "lca_names", "lca_name", COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "lca_before_ns", "lca_total_kernel_time_trace1_us", COL_INT, UNIT_NS,
	    0, 1e3 },
	{ "lca_after_ns", "lca_total_kernel_time_trace2_us", COL_INT, UNIT_NS,
	    0, 1e3 },
};
const size_t inline_ncolumns = sizeof inline_columns / sizeof *inline_columns;

/* What a row is of. kernel: INTERN_NONE for all below the op. */
struct row_key {
	uint32_t name, kernel, track;
	struct op_args args;
};

struct row {
	struct row_key key;
	uint32_t first; /* the earliest op, or GPU event */
	uint64_t count, nafter;
	int64_t kernel_ns;
	int64_t ns[NSIDES];
	uint32_t last_lca;
	struct buf ids, names;
};

/* A point of both sides' work. */
struct point {
	int64_t ns[NSIDES];
	bool has[NSIDES];
};

struct liner {
	const struct diff *d;
	const struct run *r; /* the first side */
	VEC(struct row) rows;
	struct map row_of;
	VEC(uint32_t) row_of_op; /* by node of the first side; NONE */
	VEC(struct point) points;
	struct map point_of;
	struct spans busy;
};

static uint32_t
row_number(struct liner *l, uint32_t op, uint32_t kernel)
{
	const struct node *n = &l->r->nodes.v[op];
	struct row_key k = { n->name, kernel, n->track,
		*args_of_node(l->r, op) };

	for (uint64_t h = hash_bytes(&k, sizeof k);; h++) {
		bool is_new;
		uint64_t *slot = map_put(&l->row_of, h, &is_new);

		if (is_new) {
			*slot = l->rows.n;
			vec_push(&l->rows,
			    ((struct row){
				.key = k, .first = NONE, .last_lca = NONE }));
		}
		if (memcmp(&l->rows.v[*slot].key, &k, sizeof k) == 0)
			return (uint32_t)*slot;
	}
}

/* A call, or an event, of a row. */
static void
count_call(struct liner *l, struct row *row, uint32_t at)
{
	const struct node *n = &l->r->nodes.v[at];
	const struct node *old =
	    row->first != NONE ? &l->r->nodes.v[row->first] : NULL;

	if (old == NULL || n->ts < old->ts ||
	    (n->ts == old->ts && n->id < old->id))
		row->first = at;
	row->count++;
	l->busy.n = 0;
	for (uint32_t g = n->first_gpu; g < gpu_behind(l->r, n); g++) {
		const struct node *k = &l->r->nodes.v[l->r->gpus.v[g].node];

		spans_add(&l->busy, k->ts, node_end(k));
	}
	spans_normalise(&l->busy);
	stat_add(&row->kernel_ns, spans_total(&l->busy));
}

/* Whether an op is below one of its own row, which has counted it. */
static bool
is_within(const struct liner *l, uint32_t at, uint32_t row)
{
	while ((at = forest_op_above(l->r, at)) != NONE)
		if (l->row_of_op.v[at] == row)
			return true;
	return false;
}

static void
find_rows(struct liner *l)
{
	for (uint32_t i = 0; i < l->r->nodes.n; i++) {
		const struct node *n = &l->r->nodes.v[i];
		uint32_t at = NONE;

		if (n->kind == KIND_OP && (n->flags & NODE_GPU_PATH) != 0) {
			at = row_number(l, i, INTERN_NONE);
			if (!is_within(l, i, at))
				count_call(l, &l->rows.v[at], i);
		}
		vec_push(&l->row_of_op, at);
	}
}

/* ---- points ---- */

static void
find_points(struct liner *l)
{
	for (size_t i = 0; i < l->d->stats.n; i++) {
		const struct diff_row *s = &l->d->stats.v[i];
		bool is_new;
		uint64_t *slot;

		if (s->lca == NONE || s->op == NONE)
			continue;
		slot = map_put(&l->point_of, s->lca, &is_new);
		if (is_new) {
			*slot = l->points.n;
			vec_push(&l->points,
			    ((struct point){ { 0, 0 }, { false, false } }));
		}
		l->points.v[*slot].ns[s->side] = s->busy_ns;
		l->points.v[*slot].has[s->side] = true;
	}
}

static void
add_point(struct liner *l, struct row *row, const struct diff_row *s)
{
	const struct point *p = &l->points.v[*map_get(&l->point_of, s->lca)];

	if (row->last_lca == s->lca)
		return;
	if (row->last_lca != NONE) {
		buf_puts(&row->ids, "; ");
		buf_puts(&row->names, "; ");
	}
	row->last_lca = s->lca;
	buf_printf(&row->ids, "%" PRIu32, s->lca);
	stats_lca_name(l->d, s, &row->names);
	row->nafter += p->has[1];
	for (int side = 0; side < NSIDES; side++)
		stat_add(&row->ns[side], p->ns[side]);
}

/* The event counts for each op above it, and for its kernel. */
static void
add_event(struct liner *l, const struct diff_row *s)
{
	uint32_t at = row_number(l, s->op, l->r->nodes.v[s->gpu].name);

	count_call(l, &l->rows.v[at], s->gpu);
	if (s->lca == NONE)
		return;
	add_point(l, &l->rows.v[at], s);
	for (uint32_t up = s->op; up != NONE; up = forest_op_above(l->r, up))
		if (l->row_of_op.v[up] != NONE)
			add_point(l, &l->rows.v[l->row_of_op.v[up]], s);
}

static int
by_point(const void *x, const void *y)
{
	const struct diff_row *const *a = x, *const *b = y;

	if ((*a)->lca != (*b)->lca)
		return (*a)->lca < (*b)->lca ? -1 : 1;
	return (*a > *b) - (*a < *b);
}

/* The first side's events, by point. */
static void
add_events(struct liner *l)
{
	VEC(const struct diff_row *) list = { 0 };

	for (size_t i = 0; i < l->d->stats.n; i++)
		if (l->d->stats.v[i].side == 0 && l->d->stats.v[i].op != NONE)
			vec_push(&list, &l->d->stats.v[i]);
	if (list.n > 1)
		qsort(list.v, list.n, sizeof *list.v, by_point);
	for (size_t i = 0; i < list.n; i++)
		add_event(l, list.v[i]);
	vec_free(&list);
}

/* ---- the table ---- */

static struct cell
name_cell(const struct liner *l, struct table *t, const struct row *row)
{
	struct str name = strings_get(l->d->strings, row->key.name);
	struct str kernel;
	struct buf b = { 0 };
	struct cell c;

	if (row->key.kernel == INTERN_NONE)
		return cell_text(name);
	kernel = strings_get(l->d->strings, row->key.kernel);
	buf_put(&b, name.p, name.len);
	buf_puts(&b, "->");
	buf_put(&b, kernel.p, kernel.len);
	buf_puts(&b, " (Synthetic Op)");
	c = cell_text(table_text(t, buf_str(&b)));
	buf_free(&b);
	return c;
}

static void
put_row(const struct liner *l, struct listing *to, const struct row *row)
{
	struct cell *cells = listing_row(to), args[ARG_CELLS];
	struct table *t = to->table;

	cells[0] = name_cell(l, t, row);
	cells_of_args(l->d->strings, &row->key.args, args);
	cells[1] = args[0];
	cells[2] = args[2];
	cells[3] = args[1];
	cells[4] = args[3];
	cells[5] = cell_int(l->r->nodes.v[row->first].id);
	cells[6] = cell_int((int64_t)row->count);
	cells[7] = cell_int(row->kernel_ns);
	if (row->last_lca == NONE)
		return;
	if (row->ns[0] > 0)
		cells[8] = cell_real((double)row->ns[1] / (double)row->ns[0]);
	cells[9] = cell_int(row->ns[1] - row->kernel_ns);
	cells[10] = cell_int((int64_t)row->nafter);
	cells[11] = cell_text(table_text(t, buf_str(&row->ids)));
	cells[12] = cell_text(table_text(t, buf_str(&row->names)));
	cells[13] = cell_int(row->ns[0]);
	cells[14] = cell_int(row->ns[1]);
}

void
inline_list(struct listing *to, const struct diff *d)
{
	struct liner l = { .d = d, .r = d->side[0] };

	find_rows(&l);
	find_points(&l);
	add_events(&l);
	for (size_t i = 0; i < l.rows.n; i++) {
		put_row(&l, to, &l.rows.v[i]);
		buf_free(&l.rows.v[i].ids);
		buf_free(&l.rows.v[i].names);
	}
	vec_free(&l.rows);
	vec_free(&l.row_of_op);
	vec_free(&l.points);
	map_free(&l.row_of);
	map_free(&l.point_of);
	spans_free(&l.busy);
}
