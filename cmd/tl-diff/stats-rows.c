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

/* ---- rows ---- */

struct str
source_word(int side)
{
	return side == 0 ? STR("trace1") : STR("trace2");
}

static void
put_row(struct table *t, const struct diff *d, const struct diff_row *s,
    struct buf *lca, struct buf *modules)
{
	const struct run *r = d->side[s->side];
	const struct node *gpu = &r->nodes.v[s->gpu], *op = &r->nodes.v[s->op];
	struct cell *row = table_row(t);

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
}

void
stats_print(const struct diff *d, struct table_dest *dest)
{
	struct table *t =
	    table_create("diff_stats", stats_columns, stats_ncolumns);
	struct buf lca = { 0 }, modules = { 0 };

	table_stream(t, dest);
	for (size_t i = 0; i < d->stats.n; i++)
		if (d->stats.v[i].op != NONE)
			put_row(t, d, &d->stats.v[i], &lca, &modules);
	table_print(t, dest);
	table_destroy(t);
	buf_free(&lca);
	buf_free(&modules);
}
