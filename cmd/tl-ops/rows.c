/* SPDX-License-Identifier: MIT */
/* The rows of a table: groups of calls, and the cells of each. */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-ops/plan.h"
#include "sink/details.h"
#include "trace/stat.h"
#include "json/json.h"

/* ---- cells ---- */

/* What the cells of a row are made of. */
struct row {
	struct table *table;
	const struct ops *g;
	const struct sink_groups *gs;
	const struct sink_group *gr;
	const struct call *first; /* the earliest one */
	struct stats direct, subtree;
	struct stat_real pct;
	double whole, cumulative;
	int64_t source_first_ns;
	struct buf *text;
};

static const struct call *
call_at(const struct row *r, size_t i)
{
	return &r->g->calls.v[sink_group_member(r->gs, r->gr, i)];
}

/* JSON made now: the table keeps it. */
static struct cell
made_cell(const struct row *r, bool has)
{
	struct str s = buf_str(r->text);

	return has ? cell_text(table_row_text(r->table, s)) : cell_none();
}

static int
by_text(const void *x, const void *y)
{
	return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

static struct cell
categories_cell(const struct row *r)
{
	VEC(struct str) list = { 0 };
	uint32_t last = INTERN_NONE;

	r->text->len = 0;
	for (size_t i = 0; i < r->gr->n; i++) {
		uint32_t c = call_at(r, i)->category;
		struct str s = strings_get(r->g->strings, c);
		bool is_new = c != last;

		last = c;
		for (size_t k = 0; k < list.n && is_new; k++)
			is_new = !str_eq(list.v[k], s);
		if (is_new)
			vec_push(&list, s);
	}
	qsort(list.v, list.n, sizeof *list.v, by_text);
	for (size_t i = 0; i < list.n; i++) {
		buf_putc(r->text, i == 0 ? '[' : ',');
		json_put_string(r->text, list.v[i]);
	}
	buf_putc(r->text, ']');
	vec_free(&list);
	return made_cell(r, true);
}

/* ---- lists ---- */

static size_t
nkernels_of(const void *arg, size_t call)
{
	return call_at(arg, call)->nkernels;
}

static struct detail
kernel_of(const void *arg, size_t call, size_t i)
{
	const struct row *r = arg;
	const struct kernel *k =
	    &r->g->kernels.v[call_at(r, call)->first_kernel + i];

	return (struct detail){ k->name, k->gpu_stream, k->dur_ns, NAN };
}

static const struct op_overlap *
overlap_of(const void *arg, size_t call)
{
	return &call_at(arg, call)->overlap;
}

static struct cell
details_cell(const struct row *r, enum field f)
{
	bool is_overlap = f == F_OVERLAP || f == F_OVERLAP_TRUNC;
	enum detail_form form =
	    f == F_TRUNC || f == F_OVERLAP_TRUNC ? DETAIL_TRUNC : DETAIL_FULL;
	const struct overlap_lists overlap = { &r->g->overlap_list, r,
		overlap_of };
	const struct detail_lists lists = {
		.strings = r->g->strings,
		.arg = is_overlap ? (const void *)&overlap : r,
		.n = r->gr->n,
		.length = is_overlap ? overlap_length : nkernels_of,
		.entry = is_overlap ? overlap_entry : kernel_of,
		.with_names = !is_overlap,
	};

	if (!r->g->set->details)
		return cell_none();
	r->text->len = 0;
	return made_cell(r, details_put(r->text, &lists, form));
}

/* ---- cells of calls and groups ---- */

static struct cell
since_cell(const struct row *r)
{
	int64_t since;

	return __builtin_sub_overflow(
		   r->first->ts_ns, r->source_first_ns, &since)
	    ? cell_none()
	    : cell_int(since);
}

static int64_t
count_launching(const struct row *r)
{
	int64_t n = 0;

	for (size_t i = 0; i < r->gr->n; i++)
		n += call_at(r, i)->nkernels > 0;
	return n;
}

static struct cell
key_cell(const struct row *r, enum field f)
{
	const struct call *c = r->first;
	const struct sink_source *o = &r->g->sources.list.v[c->source];
	struct track_names names = names_of(r->g->names, c->track);

	switch (f) {
	case F_RANK: return cell_int(o->rank);
	case F_SRC: return cell_int(o->no);
	case F_NAME: return cell_string(r->g->strings, c->name);
	case F_OVERLAP_NAMES:
		return cell_string(r->g->strings, c->overlap.names);
	case F_CATEGORY: return cell_string(r->g->strings, c->category);
	case F_PARENT_MODULE:
		return cell_string(r->g->strings, c->parent_module);
	case F_PROCESS: return cell_string(r->g->strings, names.process);
	case F_LABEL: return cell_string(r->g->strings, names.label);
	case F_THREAD: return cell_string(r->g->strings, names.thread);
	case F_DIMS: return cell_string(r->g->strings, c->args.dims);
	case F_TYPES: return cell_string(r->g->strings, c->args.types);
	case F_STRIDES: return cell_string(r->g->strings, c->args.strides);
	case F_CONCRETE: return cell_string(r->g->strings, c->args.concrete);
	case F_NUM_KERNELS: return cell_int(c->nkernels);
	case F_MODULE: return cell_string(r->g->strings, c->module);
	case F_ANNOTATION: return cell_string(r->g->strings, c->annotation);
	case F_STEP:
		return c->step == WALK_NO_STEP ? cell_none()
					       : cell_int(c->step);
	default: return cell_bool(c->is_recompute);
	}
}

static struct cell
stat_cell(const struct row *r, enum field f)
{
	switch (f) {
	case F_DIRECT_MEAN: return cell_real(r->direct.mean);
	case F_SUBTREE_MEAN: return cell_real(r->subtree.mean);
	case F_DIRECT_MEDIAN: return cell_real(r->direct.median);
	case F_SUBTREE_MEDIAN: return cell_real(r->subtree.median);
	case F_DIRECT_STD: return cell_real(r->direct.std);
	case F_SUBTREE_STD: return cell_real(r->subtree.std);
	case F_DIRECT_MIN: return cell_int(r->direct.min);
	case F_SUBTREE_MIN: return cell_int(r->subtree.min);
	case F_DIRECT_MAX: return cell_int(r->direct.max);
	case F_SUBTREE_MAX: return cell_int(r->subtree.max);
	case F_PCT_MEAN: return cell_real(r->pct.mean);
	case F_PCT_MEDIAN: return cell_real(r->pct.median);
	case F_PCT_STD: return cell_real(r->pct.std);
	case F_PCT_MIN: return cell_real(r->pct.min);
	default: return cell_real(r->pct.max);
	}
}

static struct cell
cell_of(const struct row *r, enum field f)
{
	const struct sink_group *gr = r->gr;

	if (f <= F_RECOMPUTE)
		return key_cell(r, f);
	switch (f) {
	case F_COUNT:
	case F_OP_COUNT: return cell_int((int64_t)gr->n);
	case F_FIRST: return since_cell(r);
	case F_LAUNCHING: return cell_int(count_launching(r));
	case F_DIRECT:
	case F_DIRECT_SUM: return cell_int(gr->sums[SUM_DIRECT]);
	case F_SUBTREE_SUM: return cell_int(gr->sums[SUM_SUBTREE]);
	case F_SUBTREE_MEAN_ALL:
		return cell_real((double)gr->sums[SUM_SUBTREE] / (double)gr->n);
	case F_DIRECT_MS: return cell_real((double)gr->sums[SUM_DIRECT] / 1e6);
	case F_SUBTREE_MS:
		return cell_real((double)gr->sums[SUM_SUBTREE] / 1e6);
	case F_CATEGORIES: return categories_cell(r);
	case F_EX_UID: return cell_uid(r->table, r->first->uid);
	case F_STACK_FIRST:
	case F_STACK: return cell_string(r->g->strings, r->first->call_stack);
	case F_DETAILS:
	case F_TRUNC:
	case F_OVERLAP:
	case F_OVERLAP_TRUNC: return details_cell(r, f);
	case F_SELF: return cell_int(gr->sums[SUM_SELF]);
	case F_TOTAL: return cell_int(gr->sums[SUM_TOTAL]);
	case F_TOTAL_MEAN:
		return cell_real((double)gr->sums[SUM_TOTAL] / (double)gr->n);
	case F_SHARE_BUSY: return cell_share(gr->sums[SUM_SUBTREE], r->whole);
	case F_SHARE_SELF: return cell_share(gr->sums[SUM_SELF], r->whole);
	case F_SHARE: return cell_share(gr->sums[SUM_DIRECT], r->whole);
	case F_CUMULATIVE: return cell_real(r->cumulative);
	default: return stat_cell(r, f);
	}
}

/* ---- rows ---- */

/* Figures of one source, which shares are about. */
struct whole {
	int64_t direct_ns, self_ns, first_ns;
};

static struct whole *
add_up(const struct ops *g, const struct sink_groups *gs)
{
	size_t n = g->sources.list.n + 1;
	struct whole *w = xcalloc(n, sizeof *w);

	for (size_t i = 0; i < n; i++)
		w[i].first_ns = INT64_MAX;
	for (size_t i = 0; i < gs->list.n; i++) {
		const struct sink_group *gr = &gs->list.v[i];
		const struct call *c =
		    &g->calls.v[sink_group_member(gs, gr, 0)];

		stat_add(&w[c->source].direct_ns, gr->sums[SUM_DIRECT]);
		stat_add(&w[c->source].self_ns, gr->sums[SUM_SELF]);
		if (c->ts_ns < w[c->source].first_ns)
			w[c->source].first_ns = c->ts_ns;
	}
	return w;
}

/* What a share is a share of. */
static double
whole_of(const struct ops *g, const struct plan *p, const struct whole *w,
    uint32_t source)
{
	switch (p->kind->about) {
	case OF_CPU: return (double)w->self_ns;
	case OF_ALL_OPS: return (double)spans_total(&g->busy.v[source]);
	default: return (double)w->direct_ns;
	}
}

/* Rooms for the figures of one group. */
struct scratch {
	VEC(int64_t) ns;
	VEC(double) pct;
};

static void
take_stats(struct row *r, struct scratch *s)
{
	size_t n = r->gr->n;

	vec_reserve(&s->ns, n);
	vec_reserve(&s->pct, n);
	for (size_t i = 0; i < n; i++)
		s->ns.v[i] = call_at(r, i)->direct_ns;
	stat_of(&r->direct, s->ns.v, n);
	for (size_t i = 0; i < n; i++)
		s->ns.v[i] = call_at(r, i)->subtree_ns;
	stat_of(&r->subtree, s->ns.v, n);
	for (size_t i = 0; i < n; i++)
		s->pct.v[i] = call_at(r, i)->overlap.pct;
	stat_of_reals(&r->pct, s->pct.v, n);
}

static void
put_row(struct row *r, const struct plan *p)
{
	struct cell *cells = table_row(r->table);

	for (size_t i = 0; i < p->n; i++)
		cells[i] = cell_of(r, p->fields[i]);
}

/* What an op may do most is in no row unless it is asked for. */
static void
note_left_out(struct table *t, const struct ops *g)
{
	const struct sink_source sum = sink_sources_sum(&g->sources);

	if (sum.ncomm > 0)
		table_note(t,
		    "%" PRIu64 " collectives, %.3f ms of GPU time, are not "
		    "counted: --include-comm counts them",
		    sum.ncomm, (double)sum.comm_ns / 1e6);
}

void
rows_print(struct table_dest *dest, const struct ops *g, const struct plan *p)
{
	struct table *t = table_create(p->kind->name, p->columns, p->n);
	struct buf text = { 0 };
	struct scratch scratch = { 0 };
	struct sink_groups gs;
	struct whole *wholes;
	int64_t sum = 0;
	uint32_t source = 0;
	bool is_summary = p->kind->about == OF_LAUNCHERS &&
	    p->kind->by < BY_ARGS && g->set->table == NULL;

	ops_group(&gs, g, &p->how);
	wholes = add_up(g, &gs);
	note_unlinked(t, &g->sources, "op");
	if (p->kind->about != OF_CPU)
		note_left_out(t, g);
	if (!is_summary)
		table_stream(t, dest);
	for (size_t i = 0; i < gs.list.n; i++) {
		const struct sink_group *gr = &gs.list.v[i];
		struct row r = { .table = t,
			.g = g,
			.gs = &gs,
			.gr = gr,
			.first = &g->calls.v[sink_group_member(&gs, gr, 0)],
			.text = &text };
		const struct whole *w = &wholes[r.first->source];

		if (r.first->source != source)
			sum = 0;
		source = r.first->source;
		r.whole = whole_of(g, p, w, source);
		r.source_first_ns = w->first_ns;
		sum += p->kind->about == OF_CPU ? gr->sums[SUM_SELF]
						: gr->sums[SUM_DIRECT];
		r.cumulative = r.whole > 0 ? (double)sum / r.whole * 100 : NAN;
		if (p->how.by == BY_ARGS)
			take_stats(&r, &scratch);
		put_row(&r, p);
	}
	if (is_summary)
		table_print_summary(t, dest);
	else
		table_print(t, dest);
	vec_free(&scratch.ns);
	vec_free(&scratch.pct);
	free(wholes);
	sink_groups_free(&gs);
	buf_free(&text);
	table_destroy(t);
}
