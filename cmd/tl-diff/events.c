/* SPDX-License-Identifier: MIT */
/* Tables of GPU events and of points: fields, groups, rows. */
#include "cmd/tl-diff/events.h"
#include "sink/cells.h"

#include <stdlib.h>

#include "trace/stat.h"
#include "json/json.h"

/* ---- columns ---- */

#define TEXT(id, label, flags) id, label, COL_TEXT, UNIT_NONE, flags, 0
#define JSON(id, label, flags) id, label, COL_JSON, UNIT_NONE, flags, 0
#define NUMBER(id, label, flags) id, label, COL_INT, UNIT_NONE, flags, 0
#define COUNT(id, label) id, label, COL_INT, UNIT_COUNT, 0, 0
#define TIME(id, label) id, label, COL_INT, UNIT_NS, 0, 1e3
#define SHARE(id, label) id, label, COL_REAL, UNIT_PERCENT, 0, 0

/* clang-format off */
#define EACH_FIELD(X) \
	X(RANK, NUMBER("rank", NULL, COL_DETAIL)) \
	X(SRC, NUMBER("src", NULL, COL_DETAIL)) \
	X(KERNEL, TEXT("name", NULL, COL_NAME)) \
	X(OP, TEXT("cpu_op_name", NULL, 0)) \
	X(OP_UID, NUMBER("cpu_op_uid", NULL, 0)) \
	X(SOURCE, TEXT("source", NULL, 0)) \
	X(DIMS, JSON("input_dims", "Input Dims", 0)) \
	X(STRIDES, JSON("input_strides", "Input Strides", 0)) \
	X(TYPES, JSON("input_types", "Input type", 0)) \
	X(CONCRETE, JSON("concrete_inputs", "Concrete Inputs", 0)) \
	X(NS, TIME("kernel_ns", "kernel_time")) \
	X(BUSY, TIME("busy_ns", "busy_time")) \
	X(LCA_NAME, \
	    TEXT("lca_name", "lowest_common_ancestor_name", COL_NAME)) \
	X(LCA_ID, NUMBER("lca_id", "lowest_common_ancestor_id", 0)) \
	X(GPU_UID, NUMBER("gpu_op_uid", NULL, 0)) \
	X(MODULES, TEXT("nn_module_stack", NULL, 0)) \
	X(MODULE, TEXT("nn_module_parent", NULL, 0)) \
	X(COUNT, COUNT("operation_count", NULL)) \
	X(NS_MEAN, \
	    "kernel_ns_mean", "kernel_time_mean", COL_REAL, UNIT_NS, 0, 1e3) \
	X(NS_SUM, \
	    "kernel_ns_sum", "kernel_time_sum", COL_INT, UNIT_NS, COL_SHARE, 1e3) \
	X(OPS, TEXT("name", NULL, 0)) \
	X(BEFORE, TIME("before_ns", "kernel_time_trace1_us")) \
	X(AFTER, TIME("after_ns", "kernel_time_trace2_us")) \
	X(COUNT_BEFORE, COUNT("kernels_before", "num_kernels_trace1")) \
	X(COUNT_AFTER, COUNT("kernels_after", "num_kernels_trace2")) \
	X(NAMES_BEFORE, \
	    JSON("kernel_names_before", "kernel_names_trace1", 0)) \
	X(NAMES_AFTER, \
	    JSON("kernel_names_after", "kernel_names_trace2", 0)) \
	X(RATIO, \
	    "ratio", "speedup (trace2/trace1)", COL_REAL, UNIT_NONE, 0, 0) \
	X(DIFF, TIME("diff_ns", "delta_us (trace2 - trace1)")) \
	X(PCT_BEFORE, \
	    SHARE("pct_of_before", "pct_of_trace1_total (%)")) \
	X(PCT_SO_FAR, \
	    SHARE("cumulative_pct", "cumulative_pct_trace1 (%)")) \
	X(PCT_AFTER, SHARE("pct_of_after", "pct_of_trace2_total (%)")) \
	X(UID1, NUMBER("uid1", NULL, 0)) \
	X(UID2, NUMBER("uid2", NULL, 0)) \
	X(TYPE, TEXT("type", NULL, 0))
/* clang-format on */

#define AS_NUMBER(name, ...) F_##name,
#define AS_COLUMN(name, ...) [F_##name] = { __VA_ARGS__ },

enum field {
	F_END,
	EACH_FIELD(AS_NUMBER) NFIELDS,
};

static const struct column field_columns[NFIELDS] = { EACH_FIELD(AS_COLUMN) };

static const uint8_t fields[NROWS_OF][ROWS_MAX_COLUMNS] = {
	[ROWS_EVENTS] = { F_RANK, F_SRC, F_KERNEL, F_OP, F_OP_UID, F_SOURCE,
	    F_DIMS, F_STRIDES, F_TYPES, F_CONCRETE, F_NS, F_BUSY, F_LCA_NAME,
	    F_LCA_ID, F_GPU_UID, F_MODULES, F_MODULE },
	[ROWS_ALIKE] = { F_RANK, F_SRC, F_KERNEL, F_COUNT, F_OP, F_OP_UID,
	    F_SOURCE, F_DIMS, F_STRIDES, F_TYPES, F_CONCRETE, F_BUSY,
	    F_LCA_NAME, F_MODULES, F_MODULE, F_NS_MEAN, F_NS_SUM },
	[ROWS_POINTS] = { F_RANK, F_SRC, F_OPS, F_LCA_NAME, F_LCA_ID, F_MODULES,
	    F_MODULE, F_DIMS, F_TYPES, F_STRIDES, F_CONCRETE, F_BEFORE, F_AFTER,
	    F_COUNT_BEFORE, F_COUNT_AFTER, F_NAMES_BEFORE, F_NAMES_AFTER,
	    F_RATIO, F_DIFF, F_PCT_BEFORE, F_PCT_SO_FAR, F_PCT_AFTER },
	[ROWS_NODES] = { F_RANK, F_SRC, F_UID1, F_UID2, F_TYPE, F_LCA_ID },
};

size_t
rows_columns(enum rows_of of, struct column out[ROWS_MAX_COLUMNS])
{
	size_t n = 0;

	for (; fields[of][n] != F_END; n++) {
		enum field f = fields[of][n];

		out[n] = field_columns[f];
		/* "before | after" is no JSON */
		if (of == ROWS_POINTS && f >= F_DIMS && f <= F_CONCRETE)
			out[n].type = COL_TEXT;
	}
	return n;
}

/* Sums of a group; of points they are busy times. */
enum {
	SUM_NS,
	SUM_COUNT = 0, /* of points, by side */
	SUM_BUSY = NSIDES,
};

/* Context of cells. */
struct maker {
	struct table *t;
	const struct diff *d;
	const struct sink_groups *gs;
	/* the current group; NULL: a single event */
	const struct sink_group *group;
	/* of a point: first event after, or NULL */
	const struct diff_row *after;
	int64_t total_ns[NSIDES], so_far_ns;
	struct buf text;
	u32s nodes;
};

/* ---- texts ---- */

const struct op_args *
args_of_node(const struct side *r, uint32_t at)
{
	static const struct op_args none = NO_OP_ARGS;

	if (at == NONE || r->nodes.v[at].kind != KIND_OP ||
	    r->nodes.v[at].extra == NONE)
		return &none;
	return &r->args.v[r->nodes.v[at].extra];
}

static struct cell
text_cell(struct maker *m)
{
	return cell_text(table_row_text(m->t, buf_str(&m->text)));
}

static uint32_t
chain_of(const struct diff *d, const struct diff_row *s)
{
	return s->op == NONE ? NONE : node_of(d, s->side, s->op)->chain;
}

static struct str
module_parent(const struct diff *d, const struct diff_row *s)
{
	uint32_t c = chain_of(d, s);

	if (c == NONE)
		return STR("root");
	return dict_get(d->dict, d->side[s->side]->chains.v[c].name);
}

/* Modules of an op, outermost first. */
static struct cell
modules_cell(struct maker *m, const struct diff_row *s)
{
	const struct side *r = m->d->side[s->side];

	m->nodes.n = 0;
	for (uint32_t c = chain_of(m->d, s); c != NONE; c = r->chains.v[c].up)
		vec_push(&m->nodes, r->chains.v[c].name);
	if (m->nodes.n == 0)
		return cell_text(STR("root"));
	for (size_t i = m->nodes.n; i-- > 0;) {
		struct str name = dict_get(m->d->dict, m->nodes.v[i]);

		buf_put(&m->text, name.p, name.len);
		if (i > 0)
			buf_putc(&m->text, ';');
	}
	return text_cell(m);
}

/* Names of nodes as a list; an unnamed one has its number. */
static struct cell
names_cell(struct maker *m, const struct side *r)
{
	struct buf *b = &m->text;

	buf_putc(b, '[');
	for (size_t i = 0; i < m->nodes.n; i++) {
		const struct node *n = &r->nodes.v[m->nodes.v[i]];

		if (i > 0)
			buf_putc(b, ',');
		if (n->name == INTERN_NONE)
			buf_printf(b, "\"%" PRIu32 "\"", n->id);
		else
			json_put_string(b, dict_get(m->d->dict, n->name));
	}
	buf_putc(b, ']');
	return text_cell(m);
}

/* The group's kernels of a side, or the ops that launched them. */
static void
list_members(struct maker *m, int side, bool ops)
{
	m->nodes.n = 0;
	for (size_t i = 0; i < m->group->n; i++) {
		const struct diff_row *s =
		    &m->d->stats.v[sink_group_member(m->gs, m->group, i)];

		if (s->side == side)
			vec_push(&m->nodes, ops ? s->op : s->gpu);
	}
}

static struct cell
kernels_cell(struct maker *m, int side)
{
	list_members(m, side, false);
	return names_cell(m, m->d->side[side]);
}

/* Ops of the first side, else of the second; sorted, unique. */
static struct cell
ops_cell(struct maker *m)
{
	int side = m->group->sums[SUM_COUNT] > 0 ? 0 : 1;
	VEC(struct str) names = { 0 };

	list_members(m, side, true);
	for (size_t i = 0; i < m->nodes.n; i++)
		vec_push(&names,
		    dict_get(m->d->dict,
			m->d->side[side]->nodes.v[m->nodes.v[i]].name));
	stable_sort(names.v, names.n, sizeof *names.v, str_order);
	for (size_t i = 0; i < names.n; i++) {
		if (i > 0 && str_eq(names.v[i], names.v[i - 1]))
			continue;
		if (i > 0)
			buf_puts(&m->text, " | ");
		buf_put(&m->text, names.v[i].p, names.v[i].len);
	}
	vec_free(&names);
	return text_cell(m);
}

/* ---- cells ---- */

/* A field of the group. */
static struct cell
group_cell(struct maker *m, enum field f)
{
	const struct sink_group *g = m->group;
	const int64_t *busy = &g->sums[SUM_BUSY];

	switch (f) {
	case F_COUNT: return cell_int((int64_t)g->n);
	case F_NS_MEAN:
		return cell_real((double)g->sums[SUM_NS] / (double)g->n);
	case F_NS_SUM: return cell_int(g->sums[SUM_NS]);
	case F_OPS: return ops_cell(m);
	case F_BEFORE: return cell_int(busy[0]);
	case F_AFTER: return cell_int(busy[1]);
	case F_COUNT_BEFORE: return cell_int(g->sums[SUM_COUNT]);
	case F_COUNT_AFTER: return cell_int(g->sums[SUM_COUNT + 1]);
	case F_NAMES_BEFORE: return kernels_cell(m, 0);
	case F_NAMES_AFTER: return kernels_cell(m, 1);
	case F_RATIO:
		return busy[0] > 0
		    ? cell_real((double)busy[1] / (double)busy[0])
		    : cell_none();
	case F_DIFF: return cell_int(busy[1] - busy[0]);
	case F_PCT_BEFORE: return cell_share(busy[0], (double)m->total_ns[0]);
	case F_PCT_SO_FAR:
		return cell_share(m->so_far_ns, (double)m->total_ns[0]);
	case F_PCT_AFTER: return cell_share(busy[1], (double)m->total_ns[1]);
	default: return cell_none();
	}
}

/* A field of the event, or of the group's first. */
static struct cell
field_cell(struct maker *m, enum field f, const struct diff_row *s)
{
	const struct side *r = m->d->side[s->side];
	const struct node *gpu = &r->nodes.v[s->gpu], *op = &r->nodes.v[s->op];
	const struct op_args *a = args_of_node(r, s->op);
	const struct op_args *b =
	    m->after != NULL ? args_of_node(m->d->side[1], m->after->op) : a;
	const struct dict *st = m->d->dict;

	m->text.len = 0;
	switch (f) {
	case F_KERNEL: return cell_string(st, gpu->name);
	case F_OP: return cell_string(st, op->name);
	case F_OP_UID: return cell_int(op->id);
	case F_SOURCE: return cell_text(str_of(merged_words[s->side + 1]));
	case F_DIMS: return cell_of_sides(m->t, st, a->dims, b->dims);
	case F_STRIDES: return cell_of_sides(m->t, st, a->strides, b->strides);
	case F_TYPES: return cell_of_sides(m->t, st, a->types, b->types);
	case F_CONCRETE:
		return cell_of_sides(m->t, st, a->concrete, b->concrete);
	case F_NS: return cell_int(gpu->dur);
	case F_BUSY: return cell_int(s->busy_ns);
	case F_LCA_NAME:
		stats_lca_name(m->d, s, &m->text);
		return s->lca != NONE ? text_cell(m) : cell_none();
	case F_LCA_ID: return s->lca != NONE ? cell_int(s->lca) : cell_none();
	case F_GPU_UID: return cell_int(gpu->id);
	case F_MODULES: return modules_cell(m, s);
	case F_MODULE: return cell_text(module_parent(m->d, s));
	default: return group_cell(m, f);
	}
}

/* ---- groups ---- */

/* Points share a name where TraceLens writes them alike. */
static uint32_t
lca_text(const struct diff *d, const struct diff_row *s)
{
	struct buf b = { 0 };
	uint32_t id = INTERN_NONE;

	stats_lca_name(d, s, &b);
	if (s->lca != NONE)
		id = intern_put(d->dict->text, buf_str(&b));
	buf_free(&b);
	return id;
}

static void
add_alike(
    struct sink_groups *gs, const struct diff *d, const struct diff_row *s)
{
	const struct op_args *a = args_of_node(d->side[s->side], s->op);
	const struct node *op = node_of(d, s->side, s->op);
	const struct node *gpu = node_of(d, s->side, s->gpu);
	const uint64_t key[SINK_GROUP_WORDS] = { gpu->name, op->name, s->op,
		s->side, a->dims, a->strides, a->types, a->concrete,
		(uint64_t)s->busy_ns, lca_text(d, s), op->chain };

	stat_add(&sink_groups_add(gs, key)->sums[SUM_NS], gpu->dur);
}

static void
add_point(struct sink_groups *gs, const struct diff_row *s)
{
	const uint64_t key[SINK_GROUP_WORDS] = { s->lca };
	struct sink_group *g = sink_groups_add(gs, key);

	g->sums[SUM_COUNT + s->side]++;
	g->sums[SUM_BUSY + s->side] = s->busy_ns;
}

/* Longest first, ties in the order of the merged tree. */
static int
by_time(const void *arg, const struct sink_groups *gs,
    const struct sink_group *a, const struct sink_group *b)
{
	size_t sum = *(const size_t *)arg;
	uint32_t x = sink_group_member(gs, a, 0);
	uint32_t y = sink_group_member(gs, b, 0);

	if (a->sums[sum] != b->sums[sum])
		return a->sums[sum] > b->sums[sum] ? -1 : 1;
	if (sum == SUM_BUSY && a->key[0] != b->key[0])
		return a->key[0] < b->key[0] ? -1 : 1;
	return (x > y) - (x < y);
}

/* Indices of d->stats that have an op. */
static void
group_rows(struct sink_groups *gs, enum rows_of of, const struct diff *d)
{
	size_t sum = of == ROWS_POINTS ? SUM_BUSY : SUM_NS;

	for (size_t i = 0; i < d->stats.n; i++) {
		const struct diff_row *s = &d->stats.v[i];

		if (s->op == NONE || (of == ROWS_POINTS && s->lca == NONE))
			sink_groups_skip(gs);
		else if (of == ROWS_POINTS)
			add_point(gs, s);
		else
			add_alike(gs, d, s);
	}
	sink_groups_finish(gs, by_time, &sum);
}

/* ---- rows ---- */

/* The run of before. */
static struct cell
run_cell(const struct maker *m, enum field f)
{
	const struct side *r = m->d->side[0];

	if (f == F_SRC)
		return cell_int(r->no);
	return r->has_rank ? cell_int(r->rank) : cell_none();
}

static void
put_row(struct maker *m, enum rows_of of, const struct diff_row *s)
{
	struct cell *row = table_row(m->t);

	for (size_t i = 0; fields[of][i] != F_END; i++)
		if (i < NRUN_COLUMNS)
			row[i] = run_cell(m, fields[of][i]);
		else if (table_keeps(m->t, i))
			row[i] = field_cell(m, fields[of][i], s);
}

/* ---- tables ---- */

static void
list_nodes(struct maker *m)
{
	const struct diff *d = m->d;

	for (uint32_t i = 0; i < d->merged.list.n; i++) {
		const struct merged_node *n = &d->merged.list.v[i];
		struct cell *row = table_row(m->t);

		row[0] = run_cell(m, F_RANK);
		row[1] = run_cell(m, F_SRC);
		for (int s = 0; s < NSIDES; s++)
			if (n->orig[s] != NONE)
				row[2 + s] = cell_int(
				    d->side[s]->nodes.v[n->orig[s]].id);
		row[4] = cell_text(str_of(merged_words[merged_type(n)]));
		row[5] = cell_int(i);
	}
}

/* The group's first event of a side, or NULL. */
static const struct diff_row *
first_of(const struct maker *m, int side)
{
	for (size_t i = 0; i < m->group->n; i++) {
		const struct diff_row *s =
		    &m->d->stats.v[sink_group_member(m->gs, m->group, i)];

		if (s->side == side)
			return s;
	}
	return NULL;
}

static void
list_groups(struct maker *m, enum rows_of of)
{
	const struct diff_row *before, *after;
	struct sink_groups gs = { 0 };

	group_rows(&gs, of, m->d);
	m->gs = &gs;
	for (size_t i = 0; i < gs.list.n && of == ROWS_POINTS; i++)
		for (int s = 0; s < NSIDES; s++)
			stat_add(
			    &m->total_ns[s], gs.list.v[i].sums[SUM_BUSY + s]);
	for (size_t i = 0; i < gs.list.n; i++) {
		m->group = &gs.list.v[i];
		stat_add(&m->so_far_ns, m->group->sums[SUM_BUSY]);
		before = first_of(m, 0);
		after = first_of(m, 1);
		m->after = of == ROWS_POINTS ? after : NULL;
		put_row(m, of, before != NULL ? before : after);
	}
	sink_groups_free(&gs);
}

void
rows_list(struct table *t, enum rows_of of, const struct diff *d)
{
	struct maker m = { .t = t, .d = d };

	if (of == ROWS_NODES) {
		list_nodes(&m);
	} else if (of != ROWS_EVENTS) {
		list_groups(&m, of);
	} else {
		for (size_t i = 0; i < d->stats.n; i++)
			if (d->stats.v[i].op != NONE)
				put_row(&m, of, &d->stats.v[i]);
	}
	buf_free(&m.text);
	vec_free(&m.nodes);
}
