/* SPDX-License-Identifier: MIT */
/* Cells that are no field, sum or statistic of calls. */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-ops/ops.h"
#include "json/json.h"

enum phase
ops_phase(const struct sink_table *t)
{
	return t->about < OF_PHASE ? PHASE_COUNT
				   : (enum phase)(t->about - OF_PHASE);
}

bool
ops_member(const struct sink *s, const struct sink_plan *p, const void *record)
{
	const struct call *c = record;

	if (ops_phase(p->table) < PHASE_COUNT)
		return c->nkernels > 0 &&
		    phases_of(&ops_of(s)->phases, c->mark).phase ==
		    ops_phase(p->table);
	switch (p->table->about) {
	case OF_ALL_OPS: return true;
	case OF_CPU: return c->is_op;
	default: return c->nkernels > 0;
	}
}

/*
 * The start of each source's first call, then relative to the first of a table.
 */
void
ops_planned(struct sink *s, struct sink_plan *p)
{
	struct ops *g = (struct ops *)s;

	g->first_ns.n = 0;
	while (g->first_occurrence && g->first_ns.n < s->sources.list.n)
		vec_push(&g->first_ns, INT64_MAX);
	for (size_t i = 0; g->first_ns.n > 0 && i < s->records.n; i++) {
		const struct sink_record *rec = sink_record(s, i);
		int64_t *first = &g->first_ns.v[rec->source];

		if (rec->ts_ns < *first && ops_member(s, p, rec))
			*first = rec->ts_ns;
	}
}

double
ops_whole(const struct sink *s, const struct sink_plan *p, uint32_t source)
{
	return p->table->about == OF_ALL_OPS
	    ? (double)spans_total(&ops_of(s)->busy.v[source])
	    : NAN;
}

/* Notes on GPU work that is in no row, such as collectives. */
void
ops_notes(struct sink *s, const struct sink_plan *p, struct table *t)
{
	const struct sink_source sum = sink_sources_sum(&s->sources);

	note_unlinked(t, &s->sources, "op");
	if (sum.ncomm > 0 && p->table->about != OF_CPU)
		table_note(t,
		    "%" PRIu64 " collectives, %.3f ms of GPU time, are not "
		    "counted: see --include-comm",
		    sum.ncomm, (double)sum.comm_ns / 1e6);
}

/* ---- lists ---- */

static struct cell
categories_cell(const struct sink_row *r)
{
	VEC(struct str) list = { 0 };
	uint32_t last = INTERN_NONE;

	r->text->len = 0;
	for (size_t i = 0; i < r->group->n; i++) {
		const struct call *c = sink_row_record(r, i);
		struct str s = dict_get(r->sink->dict, c->category);
		bool is_new = c->category != last;

		last = c->category;
		for (size_t k = 0; k < list.n && is_new; k++)
			is_new = !str_eq(list.v[k], s);
		if (is_new)
			vec_push(&list, s);
	}
	qsort(list.v, list.n, sizeof *list.v, str_order);
	for (size_t i = 0; i < list.n; i++) {
		buf_putc(r->text, i == 0 ? '[' : ',');
		json_put_string(r->text, list.v[i]);
	}
	buf_putc(r->text, ']');
	vec_free(&list);
	return sink_row_text(r);
}

/* Categories of the first call's kernels: "A, B". */
static struct cell
classes_cell(const struct sink_row *r)
{
	struct ops *g = (struct ops *)r->sink;
	const struct call *c = r->first;
	VEC(struct str) list = { 0 };

	if (g->classes.mem == NULL)
		rules_load(&g->classes, "inference");
	for (size_t i = 0; i < c->nkernels; i++)
		vec_push(&list,
		    dict_get(r->sink->dict,
			rules_category(r->sink, &g->classes,
			    g->kernels.v[c->first_kernel + i].name)));
	qsort(list.v, list.n, sizeof *list.v, str_order);
	r->text->len = 0;
	for (size_t i = 0; i < list.n; i++) {
		if (i > 0 && str_eq(list.v[i], list.v[i - 1]))
			continue;
		buf_puts(r->text, i > 0 ? ", " : "");
		buf_put(r->text, list.v[i].p, list.v[i].len);
	}
	vec_free(&list);
	return sink_row_text(r);
}

struct detail
ops_kernel(const struct sink *s, size_t number)
{
	const struct kernel *k = &ops_of(s)->kernels.v[number];

	return (struct detail){ k->name, k->gpu_stream, k->dur_ns, NAN };
}

/* ---- the others ---- */

static struct cell
since_cell(const struct sink_row *r)
{
	const struct sink_record *first = r->first;
	int64_t since;

	return __builtin_sub_overflow(first->ts_ns,
		   ops_of(r->sink)->first_ns.v[first->source], &since)
	    ? cell_none()
	    : cell_int(since);
}

static struct cell
launching_cell(const struct sink_row *r)
{
	int64_t n = 0;

	for (size_t i = 0; i < r->group->n; i++)
		n += ((const struct call *)sink_row_record(r, i))->nkernels > 0;
	return cell_int(n);
}

struct cell
ops_cell(const struct sink_row *r, unsigned number)
{
	switch (number) {
	case C_FIRST: return since_cell(r);
	case C_LAUNCHING: return launching_cell(r);
	case C_CLASSES: return classes_cell(r);
	case C_CATEGORIES: return categories_cell(r);
	case C_DIRECT_MS:
		return cell_real((double)r->group->sums[M_DIRECT] / 1e6);
	default: return cell_real((double)r->group->sums[M_SUBTREE] / 1e6);
	}
}
