/* SPDX-License-Identifier: MIT */
/*
 * Which ops are replayed: those of events or of a table's rows, else those with
 * most GPU time.
 */
#include <stdlib.h>

#include "cmd/tl-replay/compare.h"
#include "reader/reader.h"

/* ---- rows ---- */

/*
 * A row names its op by an event, in the column UID, or by the op's name and
 * those of four lists that it has.
 */
enum { NAME, DIMS, TYPES, STRIDES, CONCRETE, TEXTS, UID = TEXTS, COLUMNS };
static const char *const ids[COLUMNS][4] = {
	[NAME] = { "name", "op" },
	[DIMS] = { "input_dims", "Input Dims" },
	[TYPES] = { "input_types", "Input type" },
	[STRIDES] = { "input_strides", "Input Strides" },
	[CONCRETE] = { "concrete_inputs", "Concrete Inputs" },
	[UID] = { "uid", "first_uid", "ex_UID", "id" },
};

#define NO_COLUMN SIZE_MAX

struct rows {
	struct replay *g;
	size_t at[COLUMNS];
	struct buf text;
};

static bool
is_called(const struct head_column *c, int what)
{
	for (size_t i = 0; i < 4 && ids[what][i] != NULL; i++)
		if (str_eq(c->id, str_of(ids[what][i])) ||
		    str_eq(c->label, str_of(ids[what][i])))
			return true;
	return false;
}

static void
begin(void *ctx, const struct head *head)
{
	struct rows *rows = ctx;

	for (int c = 0; c < COLUMNS; c++) {
		rows->at[c] = NO_COLUMN;
		for (size_t i = head->ncolumns; i-- > 0;)
			if (is_called(&head->columns[i], c))
				rows->at[c] = i;
	}
	if (rows->at[UID] == NO_COLUMN &&
	    (rows->at[NAME] == NO_COLUMN || rows->at[DIMS] == NO_COLUMN))
		die("%s: no column uid, nor name and input_dims",
		    rows->g->rows);
}

/* Makes lists of Python and of JSON alike: no white space, no tuples. */
static void
put_alike(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (c == ' ' ||
		    (c == ',' && i + 1 < s.len && s.p[i + 1] == ')'))
			continue;
		buf_putc(out,
		    c == '\''      ? '"'
			: c == '(' ? '['
			: c == ')' ? ']'
				   : c);
	}
	buf_putc(out, '\0');
}

static void
take_text(struct rows *rows, const struct val *cells)
{
	struct replay *g = rows->g;
	unsigned lists = 0;

	rows->text.len = 0;
	for (int c = 0; c < TEXTS; c++) {
		if (rows->at[c] == NO_COLUMN)
			continue;
		lists |= 1U << c;
		put_alike(&rows->text,
		    cells[rows->at[c]].type == VAL_TEXT
			? cells[rows->at[c]].text
			: STR(""));
	}
	buf_putc(&rows->text, (char)lists);
	(void)intern_put(g->wanted, buf_str(&rows->text));
	g->wanted_lists |= 1U << lists;
}

static void
row(void *ctx, const struct val *cells)
{
	struct rows *rows = ctx;
	const struct val *v;
	struct uid_pick pick;
	char number[24];
	struct str text;

	if (rows->at[UID] == NO_COLUMN) {
		take_text(rows, cells);
		return;
	}
	v = &cells[rows->at[UID]];
	if (v->type == VAL_NONE)
		return;
	text = v->text;
	if (v->type == VAL_NUMBER && v->number >= 0 && v->number < 9e15)
		text = (struct str){ number,
			num_put_i64(number, (int64_t)v->number) };
	else if (v->type != VAL_TEXT && v->type != VAL_BIG)
		text = STR("");
	if (!uid_pick_read(text, &pick))
		die("%s: no event has the uid '%.*s'", rows->g->rows,
		    (int)(text.len < 40 ? text.len : 40), text.p);
	choose_uid(rows->g, &pick);
}

static void
end(void *ctx)
{
	(void)ctx;
}

void
choose_rows(struct replay *g)
{
	struct rows rows = { .g = g };
	struct table_sink sink = { begin, row, end, &rows };

	g->wanted = intern_create();
	table_read_all(in_open(g->rows), TABLE_UNKNOWN, &sink);
	buf_free(&rows.text);
}

/* Whether a row has the op's name and lists. */
static bool
is_wanted(struct replay *g, uint32_t name, const struct op_args *args)
{
	const uint32_t texts[TEXTS] = { name, args->dims, args->types,
		args->strides, args->concrete };
	struct buf key = { 0 };
	bool is_found = false;
	uint32_t id;

	for (unsigned lists = 0; lists < 1U << TEXTS && !is_found; lists++) {
		if ((g->wanted_lists >> lists & 1) == 0)
			continue;
		key.len = 0;
		for (int c = 0; c < TEXTS; c++)
			if (lists >> c & 1)
				put_alike(
				    &key, dict_get(g->sink.dict, texts[c]));
		buf_putc(&key, (char)lists);
		id = intern_find(
		    g->wanted, buf_str(&key), hash_bytes(key.p, key.len));
		is_found = id != INTERN_NONE;
		if (is_found)
			(void)map_put(&g->rows_found, id, NULL);
	}
	buf_free(&key);
	return is_found;
}

/* ---- events ---- */

#define ANY_SOURCE UINT16_MAX

uint64_t
choose_uid(struct replay *g, const struct uid_pick *p)
{
	uint64_t key = event_key(p->any_src ? ANY_SOURCE : p->src, p->uid);

	(void)map_put(&g->picked, key, NULL);
	return key;
}

const uint64_t *
choose_find(const struct map *m, uint32_t source, struct uid uid)
{
	const uint64_t *at = map_get(m, event_key(source, uid));

	return at != NULL ? at : map_get(m, event_key(ANY_SOURCE, uid));
}

/* Marks which of the picked events were found. */
static bool
is_picked_event(struct replay *g, uint32_t source, struct uid uid)
{
	const uint64_t keys[] = { event_key(source, uid),
		event_key(ANY_SOURCE, uid) };
	bool is_picked = false;

	for (int i = 0; i < 2; i++) {
		uint64_t *is_found = map_get(&g->picked, keys[i]);

		if (is_found == NULL)
			continue;
		is_picked = true;
		g->npicked_found += *is_found == 0;
		*is_found = 1;
	}
	return is_picked;
}

bool
choose_asks(struct replay *g, const struct launcher *o)
{
	bool is = is_picked_event(g, g->sink.source, o->uid);

	return is_wanted(g, o->name, &o->args) || is;
}

/* Picked by the op's event, its GPU work, or an op above. */
static bool
is_picked(struct replay *g, const struct run *r)
{
	bool is =
	    is_picked_event(g, r->rec.source, r->rec.uid) || r->is_below_asked;

	for (uint32_t k = 0; k < r->nkernels; k++)
		is |= is_picked_event(
		    g, r->rec.source, g->kernels.v[r->first_kernel + k].uid);
	return is;
}

/* ---- ops ---- */

static struct run *
member(const struct replay *g, const struct sink_groups *gs,
    const struct sink_group *gr, size_t i)
{
	return run_at(g, sink_group_member(gs, gr, i));
}

/* Whether events or rows choose the ops, and nothing else does. */
static bool
names_events(const struct replay *g)
{
	return g->picked.n > 0 || g->rows != NULL || g->compares.n > 0;
}

static bool
is_asked(
    struct replay *g, const struct sink_groups *gs, const struct sink_group *gr)
{
	const struct run *first = member(g, gs, gr, 0);
	bool is = false;

	if (!there_glob(&g->other_names, g->names.v, g->names.n, g->sink.dict,
		first->name))
		return false;
	if (!names_events(g))
		return true;
	for (size_t i = 0; i < gr->n; i++)
		is |= is_picked(g, member(g, gs, gr, i));
	return is_wanted(g, first->name, &first->args) || is;
}

static void
warn_not_found(const struct replay *g)
{
	size_t n = g->picked.n - g->npicked_found, total = g->picked.n;

	if (g->wanted != NULL) {
		n += g->wanted->list.n - g->rows_found.n;
		total += g->wanted->list.n;
	}
	if (n > 0)
		report(MSG_NOT_FOUND, g->sink.sources.path, n, total);
}

static void
add_op(
    struct replay *g, const struct sink_groups *gs, const struct sink_group *gr)
{
	struct op *op = vec_add(&g->ops);

	*op = (struct op){ .first = member(g, gs, gr, 0),
		.nruns = gr->n,
		.gpu_ns = gr->sums[M_GPU] };
	for (size_t i = 0; i < gr->n; i++) {
		struct run *r = member(g, gs, gr, i);

		r->op = (uint32_t)g->ops.n - 1;
		for (int c = 0; c < CACHES && g->results.n > 0; c++)
			if (op->results[c] == NULL)
				op->results[c] =
				    compare_result(g, r, (enum cache)c);
	}
	op_build(g, op);
}

/* ---- kernels ---- */

static int
by_op(const void *x, const void *y)
{
	const struct kernel_sum *a = x, *b = y;

	return (a->op > b->op) - (a->op < b->op);
}

static void
sum_kernels(struct replay *g, const struct run *r)
{
	for (uint32_t i = 0; i < r->nkernels; i++) {
		const struct kernel *k = &g->kernels.v[r->first_kernel + i];
		bool is_new;
		uint64_t *at =
		    map_put(&g->sum_of, name_key(r->op, k->name), &is_new);
		struct kernel_sum *sum;

		if (is_new) {
			*at = g->sums.n;
			vec_push(&g->sums,
			    ((struct kernel_sum){ r->op, k->name, 0, 0 }));
		}
		sum = &g->sums.v[*at];
		stat_add(&sum->dur_ns, k->dur_ns);
		sum->n++;
	}
}

/* Op by op, names in order of appearance. */
static void
sort_sums(struct replay *g)
{
	if (g->sums.n > 0)
		stable_sort(g->sums.v, g->sums.n, sizeof *g->sums.v, by_op);
	for (size_t i = 0; i < g->sums.n; i++) {
		struct op *op = &g->ops.v[g->sums.v[i].op];

		if (op->nsums++ == 0)
			op->first_sum = i;
		*map_get(&g->sum_of,
		    name_key(g->sums.v[i].op, g->sums.v[i].name)) = i;
	}
}

/* ---- segments ---- */

static int
by_time(const void *x, const void *y)
{
	return sink_record_order(*(void *const *)x, *(void *const *)y);
}

static void
order_runs(struct replay *g)
{
	VEC(const struct run *) runs = { 0 };

	for (size_t i = 0; i < g->sink.records.n; i++)
		if (run_at(g, i)->op != NO_OP)
			vec_push(&runs, run_at(g, i));
	if (runs.n > 0)
		qsort(runs.v, runs.n, sizeof *runs.v, by_time);
	for (size_t i = 0; i < runs.n; i++)
		vec_push(&g->order, runs.v[i]->op);
	vec_free(&runs);
}

void
choose_ops(struct replay *g, const struct sink_groups *gs)
{
	bool has_top = g->top > 0 && !g->segment && !names_events(g);

	for (size_t i = 0; i < gs->list.n; i++) {
		const struct sink_group *gr = &gs->list.v[i];

		stat_add(&g->gpu_ns, gr->sums[M_GPU]);
		if ((!has_top || g->ops.n < g->top) && is_asked(g, gs, gr))
			add_op(g, gs, gr);
	}
	g->is_chosen = true;
	if (g->ops.n == 0)
		die_nothing(MSG_NO_REPLAY, g->sink.sources.path, gs->list.n,
		    there_str(&g->other_names));
	warn_not_found(g);
	for (size_t i = 0; i < g->sink.records.n; i++)
		if (run_at(g, i)->op != NO_OP)
			sum_kernels(g, run_at(g, i));
	sort_sums(g);
	if (g->segment)
		order_runs(g);
}
