/* SPDX-License-Identifier: MIT */
/* diff_stats: a row for each GPU event of both sides. */
#include "cmd/tl-diff/tables.h"

const struct column arg_columns[ARG_CELLS] = {
	{ "input_dims", "Input Dims", COL_JSON, UNIT_NONE, 0, 0 },
	{ "input_strides", "Input Strides", COL_JSON, UNIT_NONE, 0, 0 },
	{ "input_types", "Input type", COL_JSON, UNIT_NONE, 0, 0 },
	{ "concrete_inputs", "Concrete Inputs", COL_JSON, UNIT_NONE, 0, 0 },
};

const struct column stats_columns[] = {
	RUN_COLUMNS,
	{ "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "cpu_op_name", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "cpu_op_uid", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "source", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "input_dims", "Input Dims", COL_JSON, UNIT_NONE, 0, 0 },
	{ "input_strides", "Input Strides", COL_JSON, UNIT_NONE, 0, 0 },
	{ "input_types", "Input type", COL_JSON, UNIT_NONE, 0, 0 },
	{ "concrete_inputs", "Concrete Inputs", COL_JSON, UNIT_NONE, 0, 0 },
	{ "kernel_ns", "kernel_time", COL_INT, UNIT_NS, 0, 1e3 },
	{ "busy_ns", "busy_time", COL_INT, UNIT_NS, 0, 1e3 },
	{ "lca_name", "lowest_common_ancestor_name", COL_TEXT, UNIT_NONE,
	    COL_NAME, 0 },
	{ "lca_id", "lowest_common_ancestor_id", COL_INT, UNIT_NONE, 0, 0 },
	{ "gpu_op_uid", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "nn_module_stack", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "nn_module_parent", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "lca_children_before", "lca_children_t1", COL_JSON, UNIT_NONE,
	    COL_DETAIL, 0 },
	{ "lca_children_after", "lca_children_t2", COL_JSON, UNIT_NONE,
	    COL_DETAIL, 0 },
	{ "root_index", NULL, COL_INT, UNIT_NONE, COL_DETAIL, 0 },
	{ "callstack", NULL, COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
};
const size_t stats_ncolumns = sizeof stats_columns / sizeof *stats_columns;

static struct cell
json_cell(const struct strings *st, uint32_t id)
{
	return id == INTERN_NONE ? cell_none() : cell_text(strings_get(st, id));
}

void
cells_of_args(const struct strings *st, const struct op_args *a,
    struct cell cells[ARG_CELLS])
{
	cells[0] = json_cell(st, a->dims);
	cells[1] = json_cell(st, a->strides);
	cells[2] = json_cell(st, a->types);
	cells[3] = json_cell(st, a->concrete);
}

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

/* ---- modules ---- */

static uint32_t
chain_of(const struct diff *d, const struct diff_row *s)
{
	return s->op == NONE ? NONE : d->side[s->side]->nodes.v[s->op].chain;
}

void
put_modules(const struct diff *d, const struct diff_row *s, struct buf *b)
{
	const struct run *r = d->side[s->side];
	u32s up = { 0 };

	for (uint32_t c = chain_of(d, s); c != NONE; c = r->chains.v[c].up)
		vec_push(&up, r->chains.v[c].name);
	if (up.n == 0)
		buf_puts(b, "root");
	for (size_t i = up.n; i-- > 0;) {
		struct str name = strings_get(d->strings, up.v[i]);

		buf_put(b, name.p, name.len);
		if (i > 0)
			buf_putc(b, ';');
	}
	vec_free(&up);
}

struct str
module_parent(const struct diff *d, const struct diff_row *s)
{
	uint32_t c = chain_of(d, s);

	if (c == NONE)
		return STR("root");
	return strings_get(d->strings, d->side[s->side]->chains.v[c].name);
}

/* ---- where a row stands in the trees ---- */

enum {
	AT_CHILDREN = 15, /* before, and behind it after */
	AT_ROOT = AT_CHILDREN + NSIDES,
	AT_CALLSTACK,
};

/* What the row before has mostly holds: rows are in the merged tree's order. */
struct lister {
	struct listing *l;
	const struct diff *d;
	struct buf lca_name, modules, children[NSIDES], callstack;
	uint32_t lca; /* that children are of, NONE */
	uint32_t root;
	u32s nodes;
	bool wants_children, wants_callstack;
};

/* Names of nodes as a list; without a name it is the number in the trace. */
static void
put_names(struct buf *b, const struct diff *d, int side, const u32s *nodes)
{
	buf_putc(b, '[');
	for (size_t i = 0; i < nodes->n; i++) {
		const struct node *n = &d->side[side]->nodes.v[nodes->v[i]];

		if (i > 0)
			buf_putc(b, ',');
		if (n->name == INTERN_NONE)
			buf_printf(b, "\"%" PRIu32 "\"", n->id);
		else
			json_string(b, strings_get(d->strings, n->name));
	}
	buf_putc(b, ']');
}

static void
put_children(struct lister *t, const struct diff_row *s, struct cell *cells)
{
	const struct merged_node *m;

	if (!t->wants_children || s->lca == NONE)
		return;
	m = &t->d->merged.list.v[s->lca];
	for (int side = 0; side < NSIDES; side++) {
		struct buf *b = &t->children[side];

		if (s->lca != t->lca) {
			b->len = 0;
			forest_gpu_kids(
			    t->d->side[side], m->at[side], &t->nodes);
			put_names(b, t->d, side, &t->nodes);
		}
		cells[side] =
		    cell_text(table_row_text(t->l->table, buf_str(b)));
	}
	t->lca = s->lca;
}

/* From the root to the launch. */
static void
put_callstack(struct lister *t, const struct diff_row *s, struct cell *cell)
{
	const struct run *r = t->d->side[s->side];
	u32s *up = &t->nodes;

	if (!t->wants_callstack)
		return;
	up->n = 0;
	for (uint32_t at = r->nodes.v[s->gpu].parent; at != NONE;
	     at = r->nodes.v[at].parent)
		vec_push(up, at);
	for (size_t i = 0; i < up->n / 2; i++) {
		uint32_t swap = up->v[i];

		up->v[i] = up->v[up->n - 1 - i];
		up->v[up->n - 1 - i] = swap;
	}
	t->callstack.len = 0;
	put_names(&t->callstack, t->d, s->side, up);
	*cell = cell_text(table_row_text(t->l->table, buf_str(&t->callstack)));
}

/* Whether a row is below this root; one without an LCA has a root alone. */
static bool
is_below(const struct diff *d, uint32_t root, const struct diff_row *s)
{
	const struct merged_node *m = &d->merged.list.v[root];
	uint32_t at = m->at[s->side];

	if (s->lca != NONE)
		return s->lca < m->behind;
	return merged_type(m) != MERGED_BOTH && at != NONE && s->gpu >= at &&
	    s->gpu < d->side[s->side]->nodes.v[at].behind;
}

static struct cell
root_cell(struct lister *t, const struct diff_row *s)
{
	const struct merged *m = &t->d->merged;

	while (t->root < m->roots.n && !is_below(t->d, m->roots.v[t->root], s))
		t->root++;
	return cell_int(t->root);
}

/* ---- rows ---- */

struct str
source_word(int side)
{
	return side == 0 ? STR("trace1") : STR("trace2");
}

static void
put_row(struct lister *l, const struct diff_row *s)
{
	const struct diff *d = l->d;
	struct table *t = l->l->table;
	struct buf *lca = &l->lca_name, *modules = &l->modules;
	const struct run *r = d->side[s->side];
	const struct node *gpu = &r->nodes.v[s->gpu], *op = &r->nodes.v[s->op];
	struct cell *row = listing_row(l->l);

	lca->len = modules->len = 0;
	stats_lca_name(d, s, lca);
	put_modules(d, s, modules);
	row[0] = cell_text(strings_get(d->strings, gpu->name));
	row[1] = cell_text(strings_get(d->strings, op->name));
	row[2] = cell_int(op->id);
	row[3] = cell_text(source_word(s->side));
	cells_of_args(d->strings, args_of_node(r, s->op), &row[4]);
	row[8] = cell_int(gpu->dur);
	row[9] = cell_int(s->busy_ns);
	if (s->lca != NONE) {
		row[10] = cell_text(table_text(t, buf_str(lca)));
		row[11] = cell_int(s->lca);
	}
	row[12] = cell_int(gpu->id);
	row[13] = cell_text(table_text(t, buf_str(modules)));
	row[14] = cell_text(module_parent(d, s));
	put_children(l, s, &row[AT_CHILDREN]);
	row[AT_ROOT] = root_cell(l, s);
	put_callstack(l, s, &row[AT_CALLSTACK]);
}

void
stats_list(struct listing *l, const struct diff *d)
{
	struct lister t = { .l = l, .d = d, .lca = NONE };

	t.wants_callstack = table_keeps(l->table, NRUN_COLUMNS + AT_CALLSTACK);
	for (int side = 0; side < NSIDES; side++)
		t.wants_children = t.wants_children ||
		    table_keeps(
			l->table, NRUN_COLUMNS + AT_CHILDREN + (size_t)side);
	for (size_t i = 0; i < d->stats.n; i++)
		if (d->stats.v[i].op != NONE)
			put_row(&t, &d->stats.v[i]);
	buf_free(&t.lca_name);
	buf_free(&t.modules);
	buf_free(&t.callstack);
	for (int side = 0; side < NSIDES; side++)
		buf_free(&t.children[side]);
	vec_free(&t.nodes);
}
