/* SPDX-License-Identifier: MIT */
/* Tables of GPU events and of points: their fields, groups and rows. */
#include "cmd/tl-diff/fields.h"
#include "trace/stat.h"

static const uint8_t fields[NROWS_OF][ROWS_MAX_COLUMNS] = {
	[ROWS_EVENTS] = { F_RANK, F_SRC, F_KERNEL, F_OP, F_OP_UID, F_SOURCE,
	    F_DIMS, F_STRIDES, F_TYPES, F_CONCRETE, F_NS, F_BUSY, F_LCA_NAME,
	    F_LCA_ID, F_GPU_UID, F_MODULES, F_MODULE, F_CHILDREN_BEFORE,
	    F_CHILDREN_AFTER, F_ROOT, F_CALLSTACK },
	[ROWS_ALIKE] = { F_RANK, F_SRC, F_KERNEL, F_COUNT, F_OP, F_OP_UID,
	    F_SOURCE, F_DIMS, F_STRIDES, F_TYPES, F_CONCRETE, F_BUSY,
	    F_LCA_NAME, F_MODULES, F_MODULE, F_NS_MEAN, F_NS_SUM, F_COMMON },
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

	for (; fields[of][n] != F_END; n++)
		out[n] = field_columns[fields[of][n]];
	return n;
}

/* ---- groups ---- */

/* Names of points are equal where the reference writes them alike. */
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
	const struct node *op = node_of(d, s, s->op);
	const struct node *gpu = node_of(d, s, s->gpu);
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

/* The longest first, then as they come in the merged tree. */
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

void
rows_group(struct sink_groups *gs, enum rows_of of, const struct diff *d)
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

/* Of which run of before it is. */
static struct cell
run_cell(const struct maker *m, enum field f)
{
	const struct run *r = m->d->side[0];

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

/* The first event of the first side, else of the second, speaks for all. */
static const struct diff_row *
speaker(const struct maker *m)
{
	for (size_t i = 0; i < m->group->n; i++) {
		const struct diff_row *s =
		    &m->d->stats.v[sink_group_member(m->gs, m->group, i)];

		if (s->side == 0)
			return s;
	}
	return &m->d->stats.v[sink_group_member(m->gs, m->group, 0)];
}

static void
list_groups(struct maker *m, enum rows_of of)
{
	struct sink_groups gs = { 0 };

	rows_group(&gs, of, m->d);
	if (of == ROWS_ALIKE)
		opmap_names(m->d, &m->common);
	m->gs = &gs;
	for (size_t i = 0; i < gs.list.n && of == ROWS_POINTS; i++)
		for (int s = 0; s < NSIDES; s++)
			stat_add(
			    &m->total_ns[s], gs.list.v[i].sums[SUM_BUSY + s]);
	for (size_t i = 0; i < gs.list.n; i++) {
		m->group = &gs.list.v[i];
		stat_add(&m->so_far_ns, m->group->sums[SUM_BUSY]);
		put_row(m, of, speaker(m));
	}
	sink_groups_free(&gs);
	map_free(&m->common);
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
