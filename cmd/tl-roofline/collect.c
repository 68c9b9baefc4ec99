/* SPDX-License-Identifier: MIT */
/*
 * Calls: which op owns each GPU event in the unified table, and which ops are
 * in the sheets.
 *
 * From a root down, the first op with a model of its own owns all GPU work
 * below it. An op without one owns it if no op below has a model, and it
 * launches GPU work itself or is the only backward op of a forward op with a
 * model. Other GPU events become synthetic ops, named OP->KERNEL. So each GPU
 * event counts once; collectives are left to tl-collective.
 */
#include <stdlib.h>

#include "cmd/tl-roofline/roof.h"
#include "trace/stat.h"
#include "json/json.h"

/* ---- lists of works ---- */

static const struct work *sorting; /* qsort() passes no context */

/* The file's order: by launch, then as recorded. */
static int
by_launch(const void *x, const void *y)
{
	const struct work *a = &sorting[*(const uint32_t *)x];
	const struct work *b = &sorting[*(const uint32_t *)y];

	if (a->launch != b->launch)
		return a->launch < b->launch ? -1 : 1;
	return (a->uid.id > b->uid.id) - (a->uid.id < b->uid.id);
}

int64_t
busy_of(const struct roof_state *g, uint32_t *list, size_t n)
{
	int64_t busy = 0, end = INT64_MIN;

	works_sort(g, list, n);
	for (size_t i = 0; i < n; i++) {
		const struct work *w = &g->works.v[list[i]];
		int64_t from = w->ts_ns > end ? w->ts_ns : end;
		int64_t to = num_add_max(w->ts_ns, w->dur_ns);

		if (to <= from)
			continue;
		stat_add(&busy, to - from);
		end = to;
	}
	return busy;
}

static size_t
list_range(struct roof_state *g, uint32_t first, uint32_t n)
{
	size_t at = g->lists.n;

	for (uint32_t i = 0; i < n; i++)
		vec_push(&g->lists, first + i);
	return at;
}

/* ---- one call ---- */

static uint32_t
category_of(struct roof_state *g, const struct node *n)
{
	uint32_t name =
	    model_number(g->models, g->sink.dict, n->name, &n->args);
	uint32_t kernel = n->first_own == NO_INDEX
	    ? INTERN_NONE
	    : g->works.v[n->first_own].name;

	return category_number(
	    &g->categories, g->models, g->sink.dict, name, kernel);
}

/* The index in forwards of the op whose model waits for the backward op. */
static uint32_t
awaited_of(const struct roof_state *g, const struct node *n)
{
	const uint64_t *at;

	if (n->res == NULL || n->bwd.inst == UID_NONE ||
	    (n->model->reads & MODEL_READS_BACKWARD) == 0)
		return NO_INDEX;
	at = map_get(&g->forward_of, uid_key(g->sink.source, n->uid));
	return at != NULL ? (uint32_t)*at : NO_INDEX;
}

/* Marks that this table has a call; false: its calls are not wanted. */
static bool
is_wanted(struct roof_state *g, uint32_t table)
{
	g->met |= (uint64_t)1 << (table < 63 ? table : 63);
	return g->wanted == TABLE_NONE || g->wanted == table;
}

static struct call *
new_call(struct roof_state *g, const struct node *n, uint32_t table)
{
	struct call *c = sink_add(&g->sink);

	*c = (struct call){
		.rec = { .uid = n->uid,
		    .source = g->sink.source,
		    .track = n->track },
		.seq = n->uid.id,
		.table = table,
		.name = n->name,
		.category = category_of(g, n),
		.args = n->args,
		.host_ns = (n->flags & EV_UNTIMED) != 0 ? SINK_NONE : n->dur_ns,
		.res = n->res,
		.is_recompute = (n->flags & EV_RECOMPUTE) != 0,
		.has_model = n->res != NULL && n->res->status != MODEL_NONE,
		.forward = NO_INDEX,
		.overlap = OVERLAP_NONE,
		.entry_point = INTERN_NONE,
		.stack = INTERN_NONE,
		.stands_for = INTERN_NONE,
		.awaited = awaited_of(g, n),
		.phase = intern_put(g->sink.dict->text,
		    str_of(phase_words[phases_at(
			&g->phases, g->sink.dict, n->track, n->ts_ns)])),
	};
	if (g->mfu.is_asked)
		mfu_place(g, c, n);
	if (c->res != NULL && c->res->status == MODEL_NONE)
		c->res = NULL;
	return c;
}

/* What overlaps refer to: GPU work the op launched itself, else all below. */
static void
list_own(struct roof_state *g, struct call *c, uint32_t node)
{
	const struct node *n = &g->nodes.v[node];

	c->first_own = g->lists.n;
	for (uint32_t w = n->work; w < n->work + n->nwork; w++) {
		uint32_t i = g->above.v[w - g->first_work];

		while (i != NO_INDEX &&
		    (g->nodes.v[i].kind != KIND_OP ||
			g->nodes.v[i].name == g->execute))
			i = g->nodes.v[i].up;
		if (i == node && !g->works.v[w].is_comm)
			vec_push(&g->lists, w);
	}
	if (g->lists.n == c->first_own)
		(void)list_range(g, n->work, n->nwork);
	c->nown = (uint32_t)(g->lists.n - c->first_own);
	works_sort(g, g->lists.v + c->first_own, c->nown);
}

static void
list_kernels(struct roof_state *g, struct call *c, uint32_t node)
{
	const struct node *n = &g->nodes.v[node];

	c->first_kernel = list_range(g, n->work, n->nwork);
	c->nkernels = n->nwork;
	c->busy_ns = busy_of(g, g->lists.v + c->first_kernel, n->nwork);
	sorting = g->works.v;
	if (c->table == TABLE_UNIFIED && c->nkernels > 1)
		qsort(g->lists.v + c->first_kernel, c->nkernels,
		    sizeof *g->lists.v, by_launch);
	if (g->overlap)
		list_own(g, c, node);
}

/* ---- the unified table ---- */

/* By --name. */
static bool
is_named(struct roof_state *g, uint32_t name)
{
	return there_glob(
	    &g->there, g->globs.v, g->globs.n, g->sink.dict, name);
}

static void
collect(struct roof_state *g, uint32_t node, uint32_t forward)
{
	const struct node *n = &g->nodes.v[node];
	struct call *c;

	memset(g->covered.v + (n->work - g->first_work), 1, n->nwork);
	if (!is_named(g, n->name) || !is_wanted(g, TABLE_UNIFIED))
		return;
	c = new_call(g, n, TABLE_UNIFIED);
	c->seq = ++g->seq;
	if (forward != NO_INDEX && !n->is_model) {
		c->forward = forward;
		c->res = g->forwards.v[forward].res;
		c->category = g->forwards.v[forward].category;
		c->has_model = true;
	}
	list_kernels(g, c, node);
	if (g->call_stack)
		stack_of(g, c, node);
}

static bool
has_comm(const struct roof_state *g, const struct node *n)
{
	for (uint32_t w = n->work; w < n->work + n->nwork; w++)
		if (g->works.v[w].is_comm)
			return true;
	return false;
}

/*
 * Whether an op's copies, sums and so on are part of it: its model covers them.
 */
static bool
is_whole(const struct node *n)
{
	return n->model != NULL && n->model->is_whole &&
	    n->res->status == MODEL_OK && !n->parts_below;
}

/* Returns the next node to visit. */
static uint32_t
visit(struct roof_state *g, uint32_t i)
{
	const struct node *n = &g->nodes.v[i];
	uint32_t forward;

	if (n->nwork == 0)
		return n->end;
	if (n->kind != KIND_OP)
		return i + 1;
	if (n->is_model) {
		collect(g, i, NO_INDEX);
		return n->end;
	}
	if (n->model_below && !is_whole(n))
		return i + 1;
	forward = subtree_sole(g, i);
	if (forward != NO_INDEX) {
		collect(g, i, forward);
		return n->end;
	}
	if (!n->is_leaf && !is_whole(n))
		return i + 1;
	if (!has_comm(g, n))
		collect(g, i, NO_INDEX);
	return n->end;
}

/* ---- left over ---- */

/* Counts, by op, GPU events that no op owns. */
static void
count_left(struct roof_state *g)
{
	for (uint32_t w = g->first_work; w < g->works.n; w++) {
		uint32_t at = g->above.v[w - g->first_work];
		uint32_t op = subtree_op(g, at);

		if (!g->covered.v[w - g->first_work] &&
		    !g->works.v[w].is_comm && op != NO_INDEX)
			g->nodes.v[op].nleft++;
	}
}

/*
 * An op that only we have a model of does not own what is below it; but if it
 * has a single kernel, the synthetic op gets the figures of its model.
 */
static void
synthesise(struct roof_state *g, uint32_t w)
{
	uint32_t at = g->above.v[w - g->first_work];
	uint32_t op = subtree_op(g, at);
	struct node n = g->nodes.v[op != NO_INDEX ? op : at];
	struct str kernel = dict_get(g->sink.dict, g->works.v[w].name);
	struct str above = dict_get(g->sink.dict, n.name);
	struct buf name = { 0 };
	struct call *c;
	uint32_t awaited;
	bool is_extra;

	buf_put(&name, above.p, above.len);
	buf_puts(&name, "->");
	buf_put(&name, kernel.p, kernel.len);
	buf_puts(&name, " (Synthetic Op)");
	n.name = intern_put(g->sink.dict->text, buf_str(&name));
	is_extra = n.model != NULL && n.model->is_extra && !n.model->is_alone &&
	    n.res->status != MODEL_NONE;
	if (!is_extra || n.nleft != 1)
		n.res = NULL;
	awaited = awaited_of(g, &n);
	n.uid = g->works.v[w].uid;
	if (is_named(g, n.name) && is_wanted(g, TABLE_UNIFIED)) {
		c = new_call(g, &n, TABLE_UNIFIED);
		/* after the others; without an op first */
		c->seq = (op != NO_INDEX ? UINT64_C(3) : UINT64_C(2)) << 61 |
		    n.uid.id;
		c->awaited = awaited;
		c->has_model = is_extra;
		c->first_kernel = c->first_own = list_range(g, w, 1);
		c->nkernels = c->nown = 1;
		c->busy_ns = g->works.v[w].dur_ns;
		if (g->call_stack)
			stack_of(g, c, at);
	}
	buf_free(&name);
}

/* ---- sheets ---- */

/* Ops that have no backward row: see spec 8.3. */
static bool
has_backward_row(const struct node *n)
{
	return n->model->has_backward && !n->model->is_extra &&
	    n->bwd.inst != UID_NONE && !str_eq(n->model->sheet, STR("CONV"));
}

static bool
is_in_sheet(const struct node *n)
{
	return n->model != NULL && n->model->sheet.len > 0 &&
	    n->res->status != MODEL_NONE &&
	    !(n->model->is_extra && n->nwork == 0) &&
	    !(n->model->is_alone && !n->is_model);
}

/* Whether two ops are in one table; equal names of sheets are one string. */
static bool
is_same_table(
    const struct roof_state *g, const struct node *a, const struct node *b)
{
	return a->model->sheet.p == b->model->sheet.p &&
	    is_backward_op(a->model, dict_get(g->sink.dict, a->name)) ==
	    is_backward_op(b->model, dict_get(g->sink.dict, b->name));
}

/*
 * Whether a row already counts the op's work: that of an op above in the same
 * table or, for a backward op, of its forward op.
 */
static bool
is_counted(struct roof_state *g, uint32_t node)
{
	const struct node *n = &g->nodes.v[node];
	uint32_t wrapper, f;

	for (uint32_t i = n->up; i != NO_INDEX; i = g->nodes.v[i].up)
		if (is_in_sheet(&g->nodes.v[i]) &&
		    is_same_table(g, &g->nodes.v[i], n))
			return true;
	if (!is_backward_op(n->model, dict_get(g->sink.dict, n->name)) ||
	    (f = subtree_forward(g, node, &wrapper)) == NO_INDEX ||
	    g->forwards.v[f].table !=
		table_of_sheet(g->models, n->model->sheet, SHEET_BWD))
		return false;
	g->forwards.v[f].stood_for = n->name;
	return true;
}

static uint32_t
list_of_names(struct roof_state *g, const uint32_t *names, size_t n)
{
	struct buf b = { 0 };
	uint32_t text;

	for (size_t i = 0; i < n; i++) {
		buf_putc(&b, i == 0 ? '[' : ',');
		json_put_string(&b, dict_get(g->sink.dict, names[i]));
	}
	buf_putc(&b, ']');
	text =
	    n > 0 ? intern_put(g->sink.dict->text, buf_str(&b)) : INTERN_NONE;
	buf_free(&b);
	return text;
}

/* The names of ops below that a row counts, as a JSON list. */
static uint32_t
stands_for(struct roof_state *g, uint32_t node)
{
	const struct node *n = &g->nodes.v[node];
	VEC(uint32_t) names = { 0 };
	uint32_t text;

	for (uint32_t i = node + 1; i < n->end; i++) {
		const struct node *m = &g->nodes.v[i];
		size_t k = 0;

		if ((m->nwork == 0 && n->nwork > 0) || m->name == n->name ||
		    !is_in_sheet(m) || !is_same_table(g, m, n))
			continue;
		while (k < names.n && names.v[k] != m->name)
			k++;
		if (k == names.n)
			vec_push(&names, m->name);
	}
	text = list_of_names(g, names.v, names.n);
	vec_free(&names);
	return text;
}

static void
add_to_sheets(struct roof_state *g, uint32_t i)
{
	const struct node *n = &g->nodes.v[i];
	struct str sheet, name = dict_get(g->sink.dict, n->name);
	struct call *c;
	uint32_t table, back;

	if (!is_in_sheet(n) || is_counted(g, i) || !is_named(g, n->name))
		return;
	sheet = n->model->sheet;
	table = table_of_sheet(g->models, sheet,
	    is_backward_op(n->model, name) ? SHEET_BWD : SHEET_FWD);
	if (is_wanted(g, table)) {
		c = new_call(g, n, table);
		c->stands_for = stands_for(g, i);
		list_kernels(g, c, i);
	}
	back = table_of_sheet(g->models, sheet, SHEET_BWD);
	if (!has_backward_row(n) || !is_wanted(g, back))
		return;
	c = new_call(g, n, back);
	c->forward =
	    (uint32_t)*map_get(&g->forward_of, uid_key(g->sink.source, n->uid));
	c->res = g->forwards.v[c->forward].res;
	g->forwards.v[c->forward].table = back;
}

void
collect_subtree(struct roof_state *g)
{
	size_t nworks = g->works.n - g->first_work;

	vec_reserve(&g->covered, nworks + 1);
	memset(g->covered.v, 0, nworks);
	for (uint32_t i = 0; i < g->nodes.n;)
		i = visit(g, i);
	count_left(g);
	for (uint32_t w = g->first_work; w < g->works.n; w++)
		if (!g->covered.v[w - g->first_work] &&
		    !g->works.v[w].is_comm &&
		    g->above.v[w - g->first_work] != NO_INDEX)
			synthesise(g, w);
	for (uint32_t i = 0; i < g->nodes.n; i++)
		add_to_sheets(g, i);
}

/* ---- after the last file ---- */

static int
by_table(const void *x, const void *y)
{
	const struct call *a = x, *b = y;

	if (a->rec.source != b->rec.source)
		return a->rec.source < b->rec.source ? -1 : 1;
	if (a->table != b->table)
		return a->table < b->table ? -1 : 1;
	if (a->seq != b->seq)
		return a->seq < b->seq ? -1 : 1;
	return (a->rec.uid.inst > b->rec.uid.inst) -
	    (a->rec.uid.inst < b->rec.uid.inst);
}

static void
find_extents(struct roof_state *g)
{
	for (size_t i = 0; i < g->sink.records.n; i++) {
		uint32_t table = call_number(g, i)->table;
		struct extent *e;

		while (g->extents.n <= table)
			vec_push(&g->extents, ((struct extent){ 0, 0 }));
		e = &g->extents.v[table];
		if (e->end == 0)
			e->first = i;
		e->end = i + 1;
	}
}

/* The time of a backward op: all GPU work below its wrappers. */
static void
take_backward(struct roof_state *g, struct call *c)
{
	const struct forward *f = &g->forwards.v[c->forward];
	size_t first = g->lists.n, n;

	for (size_t i = 0; i < f->nback; i++) {
		const uint64_t *at = map_get(&g->range_of,
		    uid_key(c->rec.source, g->backs.v[f->first_back + i]));

		if (at != NULL)
			(void)list_range(
			    g, g->ranges.v[*at].first, g->ranges.v[*at].n);
	}
	n = g->lists.n - first;
	c->busy_ns = busy_of(g, g->lists.v + first, n);
	if (c->table == TABLE_UNIFIED) {
		g->lists.n = first;
		return;
	}
	c->first_kernel = c->first_own = first;
	c->nkernels = c->nown = (uint32_t)n;
	c->stands_for =
	    list_of_names(g, &f->stood_for, f->stood_for != INTERN_NONE);
}

uint32_t
params_of(struct roof_state *g, const struct model_result *res)
{
	struct buf b = { 0 };
	uint32_t at;

	if (res == NULL)
		return INTERN_NONE;
	at = res->number;
	while (g->params.n <= at)
		vec_push(&g->params, INTERN_NONE);
	if (g->params.v[at] == INTERN_NONE) {
		model_params_json(&b, res);
		/* failures have a message of their own */
		if (res->status != MODEL_OK)
			buf_printf(&b, "%u", (unsigned)at);
		g->params.v[at] = intern_put(g->sink.dict->text, buf_str(&b));
		buf_free(&b);
	}
	return g->params.v[at];
}

/* In ns; no clock of a trace is coarser. */
#define TICK_MAX 1000

static void
find_ticks(struct roof_state *g)
{
	for (size_t i = 0; i < g->works.n; i++) {
		const struct work *w = &g->works.v[i];
		uint64_t *tick;

		while (g->ticks.n <= w->source)
			vec_push(&g->ticks, 0);
		tick = &g->ticks.v[w->source];
		if (*tick != 1)
			*tick = num_gcd(num_gcd(*tick, w->dur_ns), w->ts_ns);
	}
	for (size_t i = 0; i < g->ticks.n; i++)
		if (g->ticks.v[i] == 0 || g->ticks.v[i] > TICK_MAX)
			g->ticks.v[i] = TICK_MAX;
}

void
collect_finish(struct roof_state *g)
{
	size_t n = g->sink.records.n;

	find_ticks(g);
	for (size_t i = 0; i < n; i++) {
		struct call *c = call_number(g, i);

		if (c->forward != NO_INDEX)
			take_backward(g, c);
		if (c->awaited != NO_INDEX)
			c->res = subtree_eval_whole(g, c->awaited);
		c->params = params_of(g, c->res);
		call_set_link(g, c);
	}
	if (n > 0)
		qsort(g->sink.records.v, n, sizeof(struct call), by_table);
	find_extents(g);
	if (g->mfu.is_asked)
		mfu_finish(g);
}

struct extent
calls_of(const struct roof_state *g, uint32_t table)
{
	return table < g->extents.n ? g->extents.v[table]
				    : (struct extent){ 0, 0 };
}
