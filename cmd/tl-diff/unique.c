/* SPDX-License-Identifier: MIT */
/*
 * diff_stats_unique_args_summary: rows of diff_stats that differ only in
 * kernel, time and point, as one.
 *
 * Rows stand by their time, then by each column as the reference's text of it:
 * lists as Python's tuples, numbers as their digits.
 */
#include <stdlib.h>

#include "cmd/tl-diff/opmap.h"
#include "trace/stat.h"

/* Columns of diff_stats that a row is of, as numbers of texts. */
enum {
	K_NAME,
	K_OP,
	K_OP_UID,
	K_SOURCE,
	K_DIMS,
	K_STRIDES,
	K_TYPES,
	K_CONCRETE,
	K_BUSY,
	K_LCA,
	K_STACK,
	K_PARENT,
	K_COUNT
};

const struct column unique_columns[] = {
	RUN_COLUMNS,
	{ "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "operation_count", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "cpu_op_name", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "cpu_op_uid", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "source", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "input_dims", "Input Dims", COL_JSON, UNIT_NONE, 0, 0 },
	{ "input_strides", "Input Strides", COL_JSON, UNIT_NONE, 0, 0 },
	{ "input_types", "Input type", COL_JSON, UNIT_NONE, 0, 0 },
	{ "concrete_inputs", "Concrete Inputs", COL_JSON, UNIT_NONE, 0, 0 },
	{ "busy_ns", "busy_time", COL_INT, UNIT_NS, 0, 1e3 },
	{ "lca_name", "lowest_common_ancestor_name", COL_TEXT, UNIT_NONE,
	    COL_NAME, 0 },
	{ "nn_module_stack", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "nn_module_parent", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "kernel_ns_mean", "kernel_time_mean", COL_REAL, UNIT_NS, 0, 1e3 },
	{ "kernel_ns_sum", "kernel_time_sum", COL_INT, UNIT_NS, COL_SHARE,
	    1e3 },
	{ "cpu_op_common", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
};
const size_t unique_ncolumns = sizeof unique_columns / sizeof *unique_columns;

struct group_key {
	uint64_t v[K_COUNT];
};

/* ---- groups ---- */

static uint32_t
intern_lca(const struct diff *d, const struct diff_row *s)
{
	struct buf b = { 0 };
	uint32_t id = INTERN_NONE;

	stats_lca_name(d, s, &b);
	if (s->lca != NONE)
		id = intern_put(d->strings->text, buf_str(&b));
	buf_free(&b);
	return id;
}

static void
key_of(const struct diff *d, const struct diff_row *s, struct group_key *k)
{
	const struct run *r = d->side[s->side];
	const struct op_args *a = args_of_node(r, s->op);
	uint32_t chain = r->nodes.v[s->op].chain;

	*k = (struct group_key){ {
	    [K_NAME] = r->nodes.v[s->gpu].name,
	    [K_OP] = r->nodes.v[s->op].name,
	    [K_OP_UID] = s->op,
	    [K_SOURCE] = s->side,
	    [K_DIMS] = a->dims,
	    [K_STRIDES] = a->strides,
	    [K_TYPES] = a->types,
	    [K_CONCRETE] = a->concrete,
	    [K_BUSY] = (uint64_t)s->busy_ns,
	    [K_LCA] = intern_lca(d, s),
	    [K_STACK] = chain,
	} };
}

void
unique_find(const struct diff *d, struct unique *u)
{
	struct map groups = { 0 };
	VEC(struct group_key) keys = { 0 };

	for (uint32_t i = 0; i < d->stats.n; i++) {
		const struct diff_row *s = &d->stats.v[i];
		struct group_key k;
		uint64_t h;

		if (s->op == NONE)
			continue;
		key_of(d, s, &k);
		h = hash_bytes(&k, sizeof k);
		for (;; h++) {
			bool is_new;
			uint64_t *slot = map_put(&groups, h, &is_new);

			if (is_new) {
				*slot = keys.n;
				vec_push(&keys, k);
				vec_push(&u->rows,
				    ((struct unique_row){ .stat = i }));
			}
			if (memcmp(&keys.v[*slot], &k, sizeof k) != 0)
				continue;
			u->rows.v[*slot].n++;
			stat_add(&u->rows.v[*slot].sum_ns,
			    d->side[s->side]->nodes.v[s->gpu].dur);
			break;
		}
	}
	map_free(&groups);
	vec_free(&keys);
}

/* ---- the reference's texts, to sort by ---- */

/* A list in JSON as a tuple: "[[1,2],[]]" is "((1, 2), ())". */
static void
put_tuple(struct buf *b, struct str json)
{
	VEC(uint32_t) items = { 0 }; /* of the open lists */

	for (size_t i = 0; i < json.len; i++) {
		char c = json.p[i];

		if (c == '[') {
			buf_putc(b, '(');
			vec_push(
			    &items, i + 1 < json.len && json.p[i + 1] != ']');
		} else if (c == ']') {
			if (items.n > 0 && items.v[--items.n] == 1)
				buf_putc(b, ',');
			buf_putc(b, ')');
		} else if (c == ',') {
			buf_puts(b, ", ");
			if (items.n > 0)
				items.v[items.n - 1]++;
		} else if (c == '"') {
			buf_putc(b, '\'');
			for (i++; i < json.len && json.p[i] != '"'; i++) {
				if (json.p[i] == '\\' && i + 1 < json.len)
					i++;
				buf_putc(b, json.p[i]);
			}
			buf_putc(b, '\'');
		} else {
			buf_putc(b, c);
		}
	}
	vec_free(&items);
}

static void
put_args_text(struct buf *b, const struct strings *st, uint32_t id)
{
	if (id == INTERN_NONE)
		buf_puts(b, "nan");
	else
		put_tuple(b, strings_get(st, id));
}

static void
put_us(struct buf *b, int64_t ns)
{
	char text[NUM_DOUBLE_MAX];

	buf_put(b, text, num_put_double(text, (double)ns / 1e3));
}

/* A row's columns but the last, parted by NUL, which sorts first. */
static void
put_sort_text(struct buf *b, const struct diff *d, const struct unique_row *u)
{
	const struct diff_row *s = &d->stats.v[u->stat];
	const struct run *r = d->side[s->side];
	const struct op_args *a = args_of_node(r, s->op);
	struct str name = strings_get(d->strings, r->nodes.v[s->gpu].name);
	struct str op = strings_get(d->strings, r->nodes.v[s->op].name);
	struct str word = source_word(s->side), parent = module_parent(d, s);

	buf_put(b, name.p, name.len);
	buf_printf(b, "%c%" PRIu64 "%c", 0, u->n, 0);
	buf_put(b, op.p, op.len);
	buf_printf(b, "%c%" PRIu32 "%c", 0, r->nodes.v[s->op].id, 0);
	buf_put(b, word.p, word.len);
	buf_putc(b, 0);
	put_args_text(b, d->strings, a->dims);
	buf_putc(b, 0);
	put_args_text(b, d->strings, a->strides);
	buf_putc(b, 0);
	put_args_text(b, d->strings, a->types);
	buf_putc(b, 0);
	put_args_text(b, d->strings, a->concrete);
	buf_putc(b, 0);
	put_us(b, s->busy_ns);
	buf_putc(b, 0);
	if (s->lca == NONE)
		buf_puts(b, "None");
	stats_lca_name(d, s, b);
	buf_putc(b, 0);
	put_modules(d, s, b);
	buf_putc(b, 0);
	buf_put(b, parent.p, parent.len);
}

struct sorted {
	struct unique_row row;
	struct str text;
};

static int
by_time_and_text(const void *x, const void *y)
{
	const struct sorted *a = x, *b = y;
	int order;

	if (a->row.sum_ns != b->row.sum_ns)
		return a->row.sum_ns > b->row.sum_ns ? -1 : 1;
	order = str_cmp(a->text, b->text);
	if (order != 0)
		return order;
	return (a->row.stat > b->row.stat) - (a->row.stat < b->row.stat);
}

void
unique_sort(const struct diff *d, struct unique *u)
{
	struct arena *mem = arena_create();
	struct sorted *v = xmalloc((u->rows.n + 1) * sizeof *v);
	struct buf b = { 0 };

	for (size_t i = 0; i < u->rows.n; i++) {
		b.len = 0;
		put_sort_text(&b, d, &u->rows.v[i]);
		v[i] = (struct sorted){ u->rows.v[i],
			arena_str(mem, buf_str(&b)) };
	}
	if (u->rows.n > 1)
		qsort(v, u->rows.n, sizeof *v, by_time_and_text);
	for (size_t i = 0; i < u->rows.n; i++)
		u->rows.v[i] = v[i].row;
	free(v);
	buf_free(&b);
	arena_destroy(mem);
}

/* ---- the table ---- */

static void
put_row(struct listing *l, const struct diff *d, const struct unique_row *u,
    const struct map *common, struct buf *lca, struct buf *modules)
{
	struct table *t = l->table;
	const uint64_t *name;
	const struct diff_row *s = &d->stats.v[u->stat];
	const struct run *r = d->side[s->side];
	struct cell *row = listing_row(l);

	lca->len = modules->len = 0;
	stats_lca_name(d, s, lca);
	put_modules(d, s, modules);
	row[0] = cell_text(strings_get(d->strings, r->nodes.v[s->gpu].name));
	row[1] = cell_int((int64_t)u->n);
	row[2] = cell_text(strings_get(d->strings, r->nodes.v[s->op].name));
	row[3] = cell_int(r->nodes.v[s->op].id);
	row[4] = cell_text(source_word(s->side));
	cells_of_args(d->strings, args_of_node(r, s->op), &row[5]);
	row[9] = cell_int(s->busy_ns);
	if (s->lca != NONE)
		row[10] = cell_text(table_text(t, buf_str(lca)));
	row[11] = cell_text(table_text(t, buf_str(modules)));
	row[12] = cell_text(module_parent(d, s));
	row[13] = cell_real((double)u->sum_ns / (double)u->n);
	row[14] = cell_int(u->sum_ns);
	name = map_get(common, r->nodes.v[s->op].name);
	row[15] = name != NULL
	    ? cell_text(strings_get(d->strings, (uint32_t)*name))
	    : row[2];
}

void
unique_list(struct listing *l, const struct diff *d)
{
	struct buf lca = { 0 }, modules = { 0 };
	struct unique u = { { 0 } };
	struct map common = { 0 };

	unique_find(d, &u);
	unique_sort(d, &u);
	opmap_names(d, &u, &common);
	for (size_t i = 0; i < u.rows.n; i++)
		put_row(l, d, &u.rows.v[i], &common, &lca, &modules);
	vec_free(&u.rows);
	map_free(&common);
	buf_free(&lca);
	buf_free(&modules);
}
