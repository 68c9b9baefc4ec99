/* SPDX-License-Identifier: MIT */
/* Reads a report's tables, and rows of tables that rules name. */
#include <math.h>
#include <stdlib.h>

#include "trace/stat.h"

#include "cmd/tl-advise/advise.h"

struct taker {
	const char *table;
	void (*take)(struct advice *a, const struct line *l);
};

struct facts_reading {
	struct advice *advice;
	struct arena *text; /* of the current header */
	struct head head;
	const struct taker *taker; /* NULL: none */
	bool is_named;             /* in a rule */
	bool has_timeline;
};

/* ---- tables ---- */

static struct timeline *
timeline_of(struct advice *a, struct str label)
{
	for (size_t i = 0; i < a->timelines.n; i++)
		if (str_eq(a->timelines.v[i].label, label))
			return &a->timelines.v[i];
	vec_push(&a->timelines,
	    ((struct timeline){ .label = arena_str(a->mem, label) }));
	return &a->timelines.v[a->timelines.n - 1];
}

static void
take_timeline(struct advice *a, const struct line *l)
{
	static const struct {
		struct str type;
		size_t all, at;
	} types[] = {
#define AT(of) offsetof(struct advice, of), offsetof(struct timeline, of)
		{ STR_INIT("total_time"), AT(total_ns) },
		{ STR_INIT("busy_time"), AT(busy_ns) },
		{ STR_INIT("computation_time"), AT(compute_ns) },
		{ STR_INIT("kernel"), AT(compute_ns) },
		{ STR_INIT("exposed_comm_time"), AT(exposed_comm_ns) },
		{ STR_INIT("exposed_memcpy_time"), AT(exposed_copy_ns) },
		{ STR_INIT("total_comm_time"), AT(comm_ns) },
#undef AT
	};
	struct str type = line_text(l, "type");
	struct timeline *t = timeline_of(a, budget_label(l));
	int64_t ns = line_int(l, "time_ns");

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (!str_eq(type, types[i].type))
			continue;
		stat_add((int64_t *)(void *)((char *)a + types[i].all), ns);
		stat_add((int64_t *)(void *)((char *)t + types[i].at), ns);
	}
	a->nsources += str_eq(type, types[0].type);
	a->has_comm |= str_eq(type, STR("exposed_comm_time"));
}

/* By GPU, if a source has several. */
static void
take_gpu(struct advice *a, const struct line *l)
{
	struct str type = line_text(l, "type");
	double ns = (double)line_int(l, "time_ns");

	if (str_eq(type, STR("busy_time")))
		a->gpus_ns += ns;
	else if (str_eq(type, STR("exposed_comm_time")))
		a->gpus_ns -= ns;
	else if (str_eq(type, STR("total_comm_time")))
		a->gpus_comm_ns += ns;
}

static void
take_window(struct advice *a, const struct line *l)
{
	a->late.by_src |= !line_lacks(l, "src");
	budget_take(&a->budgets, l);
}

static void
take_idle(struct advice *a, const struct line *l)
{
	budget_take_part(&a->budgets, l);
}

static const struct taker takers[] = {
	{ "gpu_timeline", take_timeline },
	{ "gpu_timeline_by_agent", take_gpu },
	{ "idle_window", take_window },
	{ "idle", take_idle },
	{ "copies", system_take_copy },
	{ "kernel_summary", system_take_kernel },
	{ "short_kernel_histogram", system_take_bin },
	{ "short_kernels_summary", system_take_short },
	{ "launches_by_api", system_take_launches },
	{ "graph_estimate", system_take_graph },
	{ "ops_summary_by_category", compute_take_category },
	{ "unified_perf_summary", compute_take_op },
	{ "fusion_chains", fusion_take },
	{ "diff_ops_summary", change_take },
	{ "straggler_cause", late_take_rank },
	{ "straggler_summary", late_take_gain },
	{ "steps_summary", returns_take_pace },
	{ "what_if", returns_take },
	{ "nccl_groups", late_take_group },
	{ "nccl_verdict", late_take_verdict },
};

static const struct taker *
taker_of(struct str table)
{
	for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
		if (str_eq(table, str_of(takers[i].table)))
			return &takers[i];
	return NULL;
}

/* ---- rows for rules ---- */

static bool
is_named(const struct rules *r, struct str table)
{
	for (size_t i = 0; i < r->list.n; i++)
		if (str_eq(r->list.v[i].table, table))
			return true;
	return false;
}

static struct cell
cell_of(const struct val *v, enum col_type type)
{
	int64_t n;

	switch (v->type) {
	case VAL_NONE: return cell_none();
	case VAL_BOOL: return cell_bool(v->yes);
	case VAL_TEXT: return cell_text(v->text);
	case VAL_BIG:
	case VAL_NUMBER: break;
	}
	return type == COL_INT && val_int(v, &n) ? cell_int(n)
	    : v->type == VAL_BIG                 ? cell_text(v->text)
						 : cell_real(v->number);
}

static void
take_row(struct advice *a, const struct line *l)
{
	struct facts f = { .table = l->head->name };

	for (size_t i = 0; i < l->head->ncolumns; i++)
		vec_push(&f.list,
		    ((struct field){ l->head->columns[i].id,
			cell_of(&l->cells[i], l->head->columns[i].type) }));
	advice_take(a, &f, 1);
	vec_free(&f.list);
}

/* ---- reading ---- */

static void
begin(void *ctx, const struct head *head)
{
	struct facts_reading *r = ctx;

	arena_reset(r->text, 0);
	r->head = head_copy(head, r->text);
	r->is_named = is_named(&r->advice->rules, head->name);
	r->taker = taker_of(head->name);
}

bool
facts_want(const struct facts_reading *r, struct str table)
{
	return taker_of(table) != NULL || is_named(&r->advice->rules, table);
}

static void
row(void *ctx, const struct val *cells)
{
	struct facts_reading *r = ctx;
	const struct line l = { &r->head, cells };

	if (r->taker != NULL)
		r->taker->take(r->advice, &l);
	if (r->is_named)
		take_row(r->advice, &l);
}

static void
end(void *ctx)
{
	(void)ctx;
}

struct facts_reading *
facts_start(struct advice *a, struct table_sink *sink)
{
	struct facts_reading *r = xcalloc(1, sizeof *r);

	r->advice = a;
	r->text = arena_create();
	*sink = (struct table_sink){ begin, row, end, r };
	return r;
}

/* ---- at the end ---- */

#define SEAMS (1 + 1.0 / SEAM_PARTS)

/*
 * Sum over the events whose union is computation_time: kernels but collectives,
 * and memsets.
 */
static double
computing_ns(const struct advice *a)
{
	double ns = (double)a->amounts.kernels.ns -
	    fmax(a->gpus_comm_ns, (double)a->comm_ns);

	/* rocprofv3's timeline has kernels only */
	return a->has_comm ? ns + (double)a->amounts.memsets_ns : ns;
}

/*
 * From sums over all sources, before they become means: GPUs by their
 * timelines, GPU streams by their kernels.
 */
static void
find_at_once(struct advice *a)
{
	double busy_ns = (double)a->busy_ns - (double)a->exposed_comm_ns;
	double kernels_ns = computing_ns(a);

	a->any_ns = (double)a->compute_ns;
	a->at_once = busy_ns > 0 ? fmax(1, a->gpus_ns / busy_ns) : 1;
	if (a->any_ns > 0 && kernels_ns > SEAMS * a->any_ns)
		a->at_once = fmax(a->at_once, kernels_ns / a->any_ns);
}

/*
 * Which kernels overlap is unknown: low is what others cannot cover, mid as
 * much as kernels overlap in the mean, high all, up to the time in which any
 * kernel runs.
 */
void
facts_pass(struct facts *f, const struct advice *a, int64_t ns)
{
	/* of the sources of ns */
	double any_ns = a->any_ns * (double)late_sources(a) /
	    (double)(a->nsources > 0 ? a->nsources : 1);
	double all = (double)ns, covered_ns = (a->at_once - 1) * any_ns;
	double most =
	    any_ns > 0 && a->at_once > 1 && all > any_ns ? any_ns / all : 1;

	f->is_sum = true;
	f->passes[HIGH] = most;
	f->passes[MID] = fmin(most, 1 / a->at_once);
	f->passes[LOW] =
	    all > covered_ns ? fmin(f->passes[MID], 1 - covered_ns / all) : 0;
	f->is_bound = most > SEAMS * f->passes[LOW];
}

static void
find_bound(struct advice *a)
{
	a->window_ns = a->total_ns;
	budget_sum(&a->budgets, &a->sum);
	a->whole = a->budgets.list.n == 1 ? a->budgets.list.v : &a->sum;
	late_find(a);
	if (a->whole->n == 0)
		return;
	budget_decide(a->whole, &a->bound);
	a->window_ns = a->whole->window_ns / a->whole->n;
	a->missing_ns = a->sum.ns[GROUP_OF_MISSING] / a->sum.n;
}

static void
check_timeline(const struct timeline *t, const char *name)
{
	if (t->compute_ns < 0 || t->compute_ns > t->busy_ns ||
	    t->busy_ns > t->total_ns)
		die("%s: the parts of gpu_timeline are not within its total",
		    name);
}

void
facts_finish(struct facts_reading *r, const char *name)
{
	struct advice *a = r->advice;
	int64_t *const sums[] = { &a->total_ns, &a->busy_ns, &a->compute_ns,
		&a->exposed_comm_ns, &a->exposed_copy_ns, &a->comm_ns };

	if (a->nsources == 0)
		die_nothing(MSG_NO_GPU_EVENTS_TO_JUDGE, name);
	for (size_t i = 0; i < a->timelines.n; i++)
		check_timeline(&a->timelines.v[i], name);
	find_at_once(a);
	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
		*sums[i] /= a->nsources;
	a->idle_ns = a->total_ns - a->busy_ns;
	find_bound(a);
	system_advise(a);
	late_advise(a);
	compute_advise(a);
	details_advise(a);
	fusion_advise(a);
	change_advise(a);
	advice_finish(a);
	advice_keep_laws(a, name);
	arena_destroy(r->text);
	free(r);
}
