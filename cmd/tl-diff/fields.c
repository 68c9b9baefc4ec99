/* SPDX-License-Identifier: MIT */
/* Cells of events and of groups of them. */
#include "cmd/tl-diff/fields.h"

#include <stdlib.h>

#include "json/json.h"

#define TEXT(id, label, flags) id, label, COL_TEXT, UNIT_NONE, flags, 0
#define JSON(id, label, flags) id, label, COL_JSON, UNIT_NONE, flags, 0
#define NUMBER(id, label, flags) id, label, COL_INT, UNIT_NONE, flags, 0
#define COUNT(id, label) id, label, COL_INT, UNIT_COUNT, 0, 0
#define TIME(id, label) id, label, COL_INT, UNIT_NS, 0, 1e3
#define SHARE(id, label) id, label, COL_REAL, UNIT_PERCENT, 0, 0

const struct column field_columns[NFIELDS] = {
	[F_RANK] = { NUMBER("rank", NULL, COL_DETAIL) },
	[F_SRC] = { NUMBER("src", NULL, COL_DETAIL) },
	[F_KERNEL] = { TEXT("name", NULL, COL_NAME) },
	[F_OP] = { TEXT("cpu_op_name", NULL, 0) },
	[F_OP_UID] = { NUMBER("cpu_op_uid", NULL, 0) },
	[F_SOURCE] = { TEXT("source", NULL, 0) },
	[F_DIMS] = { JSON("input_dims", "Input Dims", 0) },
	[F_STRIDES] = { JSON("input_strides", "Input Strides", 0) },
	[F_TYPES] = { JSON("input_types", "Input type", 0) },
	[F_CONCRETE] = { JSON("concrete_inputs", "Concrete Inputs", 0) },
	[F_NS] = { TIME("kernel_ns", "kernel_time") },
	[F_BUSY] = { TIME("busy_ns", "busy_time") },
	[F_LCA_NAME] = { TEXT(
	    "lca_name", "lowest_common_ancestor_name", COL_NAME) },
	[F_LCA_ID] = { NUMBER("lca_id", "lowest_common_ancestor_id", 0) },
	[F_GPU_UID] = { NUMBER("gpu_op_uid", NULL, 0) },
	[F_MODULES] = { TEXT("nn_module_stack", NULL, 0) },
	[F_MODULE] = { TEXT("nn_module_parent", NULL, 0) },
	[F_CHILDREN_BEFORE] = { JSON(
	    "lca_children_before", "lca_children_t1", COL_DETAIL) },
	[F_CHILDREN_AFTER] = { JSON(
	    "lca_children_after", "lca_children_t2", COL_DETAIL) },
	[F_ROOT] = { NUMBER("root_index", NULL, COL_DETAIL) },
	[F_CALLSTACK] = { JSON("callstack", NULL, COL_DETAIL) },
	[F_COUNT] = { COUNT("operation_count", NULL) },
	[F_NS_MEAN] = { "kernel_ns_mean", "kernel_time_mean", COL_REAL, UNIT_NS,
	    0, 1e3 },
	[F_NS_SUM] = { "kernel_ns_sum", "kernel_time_sum", COL_INT, UNIT_NS,
	    COL_SHARE, 1e3 },
	[F_COMMON] = { TEXT("cpu_op_common", NULL, 0) },
	[F_OPS] = { TEXT("name", NULL, 0) },
	[F_BEFORE] = { TIME("before_ns", "kernel_time_trace1_us") },
	[F_AFTER] = { TIME("after_ns", "kernel_time_trace2_us") },
	[F_COUNT_BEFORE] = { COUNT("kernels_before", "num_kernels_trace1") },
	[F_COUNT_AFTER] = { COUNT("kernels_after", "num_kernels_trace2") },
	[F_NAMES_BEFORE] = { JSON(
	    "kernel_names_before", "kernel_names_trace1", 0) },
	[F_NAMES_AFTER] = { JSON(
	    "kernel_names_after", "kernel_names_trace2", 0) },
	[F_RATIO] = { "ratio", "speedup (trace2/trace1)", COL_REAL, UNIT_NONE,
	    0, 0 },
	[F_DIFF] = { TIME("diff_ns", "delta_us (trace2 - trace1)") },
	[F_PCT_BEFORE] = { SHARE("pct_of_before", "pct_of_trace1_total (%)") },
	[F_PCT_SO_FAR] = { SHARE(
	    "cumulative_pct", "cumulative_pct_trace1 (%)") },
	[F_PCT_AFTER] = { SHARE("pct_of_after", "pct_of_trace2_total (%)") },
	[F_UID1] = { NUMBER("uid1", NULL, 0) },
	[F_UID2] = { NUMBER("uid2", NULL, 0) },
	[F_TYPE] = { TEXT("type", NULL, 0) },
};

/* ---- texts ---- */

const struct op_args *
args_of_node(const struct run *r, uint32_t at)
{
	static const struct op_args none = { INTERN_NONE, INTERN_NONE,
		INTERN_NONE, INTERN_NONE };

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

static struct cell
string_cell(const struct maker *m, uint32_t id)
{
	return id == INTERN_NONE ? cell_none()
				 : cell_text(dict_get(m->d->dict, id));
}

static uint32_t
chain_of(const struct diff *d, const struct diff_row *s)
{
	return s->op == NONE ? NONE : node_of(d, s, s->op)->chain;
}

struct str
module_parent(const struct diff *d, const struct diff_row *s)
{
	uint32_t c = chain_of(d, s);

	if (c == NONE)
		return STR("root");
	return dict_get(d->dict, d->side[s->side]->chains.v[c].name);
}

/* The modules of an op, from the outermost in. */
static struct cell
modules_cell(struct maker *m, const struct diff_row *s)
{
	const struct run *r = m->d->side[s->side];

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

/* Names of nodes as a list; without a name it is the number in the trace. */
static struct cell
names_cell(struct maker *m, const struct run *r)
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

static struct cell
children_cell(struct maker *m, const struct diff_row *s, int side)
{
	if (s->lca == NONE)
		return cell_none();
	forest_gpu_kids(
	    m->d->side[side], m->d->merged.list.v[s->lca].at[side], &m->nodes);
	return names_cell(m, m->d->side[side]);
}

/* From the root to the launch. */
static struct cell
callstack_cell(struct maker *m, const struct diff_row *s)
{
	const struct run *r = m->d->side[s->side];
	uint32_t *v;
	size_t n;

	m->nodes.n = 0;
	for (uint32_t at = r->nodes.v[s->gpu].parent; at != NONE;
	     at = r->nodes.v[at].parent)
		vec_push(&m->nodes, at);
	v = m->nodes.v;
	n = m->nodes.n;
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t swap = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = swap;
	}
	return names_cell(m, r);
}

/* Whether a row is below this root; one without an LCA has a root alone. */
static bool
is_below(const struct diff *d, uint32_t root, const struct diff_row *s)
{
	const struct merged_node *n = &d->merged.list.v[root];
	uint32_t at = n->at[s->side];

	if (s->lca != NONE)
		return s->lca < n->behind;
	return merged_type(n) != MERGED_BOTH && at != NONE && s->gpu >= at &&
	    s->gpu < d->side[s->side]->nodes.v[at].behind;
}

/* Events come root by root. */
static struct cell
root_cell(struct maker *m, const struct diff_row *s)
{
	const struct merged *t = &m->d->merged;

	while (m->root < t->roots.n && !is_below(m->d, t->roots.v[m->root], s))
		m->root++;
	return cell_int(m->root);
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

static int
by_text(const void *x, const void *y)
{
	const struct str *a = x, *b = y;

	return str_cmp(*a, *b);
}

/* The ops of the first side, else of the second: sorted, each once. */
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
	if (names.n > 1)
		qsort(names.v, names.n, sizeof *names.v, by_text);
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

static struct cell
share_cell(int64_t part, int64_t whole)
{
	if (whole <= 0)
		return cell_none();
	return cell_real(100 * (double)part / (double)whole);
}

/* What a group has. */
static struct cell
group_cell(struct maker *m, enum field f, const struct diff_row *s)
{
	const struct sink_group *g = m->group;
	const int64_t *busy = &g->sums[SUM_BUSY];
	uint32_t op = node_of(m->d, s, s->op)->name;
	const uint64_t *common;

	switch (f) {
	case F_COUNT: return cell_int((int64_t)g->n);
	case F_NS_MEAN:
		return cell_real((double)g->sums[SUM_NS] / (double)g->n);
	case F_NS_SUM: return cell_int(g->sums[SUM_NS]);
	case F_COMMON:
		common = map_get(&m->common, op);
		return string_cell(m, common != NULL ? (uint32_t)*common : op);
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
	case F_PCT_BEFORE: return share_cell(busy[0], m->total_ns[0]);
	case F_PCT_SO_FAR: return share_cell(m->so_far_ns, m->total_ns[0]);
	case F_PCT_AFTER: return share_cell(busy[1], m->total_ns[1]);
	default: return cell_none();
	}
}

struct cell
field_cell(struct maker *m, enum field f, const struct diff_row *s)
{
	const struct run *r = m->d->side[s->side];
	const struct node *gpu = &r->nodes.v[s->gpu], *op = &r->nodes.v[s->op];
	const struct op_args *a = args_of_node(r, s->op);

	m->text.len = 0;
	switch (f) {
	case F_KERNEL: return string_cell(m, gpu->name);
	case F_OP: return string_cell(m, op->name);
	case F_OP_UID: return cell_int(op->id);
	case F_SOURCE: return cell_text(str_of(merged_words[s->side + 1]));
	case F_DIMS: return string_cell(m, a->dims);
	case F_STRIDES: return string_cell(m, a->strides);
	case F_TYPES: return string_cell(m, a->types);
	case F_CONCRETE: return string_cell(m, a->concrete);
	case F_NS: return cell_int(gpu->dur);
	case F_BUSY: return cell_int(s->busy_ns);
	case F_LCA_NAME:
		stats_lca_name(m->d, s, &m->text);
		return s->lca != NONE ? text_cell(m) : cell_none();
	case F_LCA_ID: return s->lca != NONE ? cell_int(s->lca) : cell_none();
	case F_GPU_UID: return cell_int(gpu->id);
	case F_MODULES: return modules_cell(m, s);
	case F_MODULE: return cell_text(module_parent(m->d, s));
	case F_CHILDREN_BEFORE: return children_cell(m, s, 0);
	case F_CHILDREN_AFTER: return children_cell(m, s, 1);
	case F_ROOT: return root_cell(m, s);
	case F_CALLSTACK: return callstack_cell(m, s);
	default: return group_cell(m, f, s);
	}
}
