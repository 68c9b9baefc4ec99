/* SPDX-License-Identifier: MIT */
/* The rows of a table: groups of calls, and the figures of each. */
#include <stdlib.h>

#include "cmd/tl-roofline/row.h"

/* Rooms for the figures of one group. */
struct scratch {
	VEC(int64_t) ns;
	VEC(double) real;
};

typedef double figure_fn(const struct roof_state *g, const struct call *c);

static double
tbs_of(const struct roof_state *g, const struct call *c)
{
	(void)g;
	return call_tbs(c);
}

static double
tflops_of(const struct roof_state *g, const struct call *c)
{
	(void)g;
	return call_tflops(c);
}

static double
sim_tbs_of(const struct roof_state *g, const struct call *c)
{
	(void)g;
	return call_sim_tbs(c);
}

static double
sim_pct_of(const struct roof_state *g, const struct call *c)
{
	(void)g;
	return call_sim_pct(c);
}

static double
over_of(const struct roof_state *g, const struct call *c)
{
	(void)g;
	return c->overlap.pct;
}

static void
take_reals(
    struct row *r, struct scratch *s, figure_fn *of, struct stat_real *to)
{
	for (size_t i = 0; i < r->gr->n; i++)
		s->real.v[i] = of(r->g, call_at(r, i));
	stat_of_reals(to, s->real.v, r->gr->n);
}

/* The calls of a group have the same result, or a few. */
static void
take_roofs(struct row *r, struct scratch *s)
{
	const struct model_result *last = NULL;
	double roof_us = NAN;

	r->lost_ns = 0;
	for (size_t i = 0; i < r->gr->n; i++) {
		const struct call *c = call_at(r, i);

		if (i == 0 || c->res != last)
			roof_us = call_roof_us(r->g, c);
		last = c->res;
		if (r->told == NULL && c->res != NULL &&
		    c->res->status == MODEL_OK)
			r->told = c;
		r->lost_ns += (double)c->busy_ns - roof_us * 1e3;
		s->real.v[i] = call_roof_pct(c, roof_us);
	}
	stat_of_reals(&r->pct, s->real.v, r->gr->n);
}

static void
take_stats(struct row *r, struct scratch *s)
{
	size_t n = r->gr->n, nhost = 0;

	vec_reserve(&s->ns, n);
	vec_reserve(&s->real, n);
	for (size_t i = 0; i < n; i++)
		if (call_at(r, i)->host_ns >= 0)
			s->ns.v[nhost++] = call_at(r, i)->host_ns;
	stat_of(&r->host, s->ns.v, nhost);
	for (size_t i = 0; i < n; i++)
		s->ns.v[i] = call_at(r, i)->busy_ns;
	stat_of(&r->kernel, s->ns.v, n);
	take_reals(r, s, tbs_of, &r->tbs);
	take_reals(r, s, tflops_of, &r->tflops);
	take_roofs(r, s);
	take_reals(r, s, sim_tbs_of, &r->sim_tbs);
	take_reals(r, s, sim_pct_of, &r->sim_pct);
	take_reals(r, s, over_of, &r->over);
	if (r->over.n > 0) {
		double std = r->over.n > 1 ? r->over.std : 0;

		r->over.mean = stat_round2(r->over.mean);
		r->over.median = stat_round2(r->over.median);
		r->over.std = stat_round2(std);
	}
}

static void
take_versus(struct row *r)
{
	struct versus *v = r->g->versus;

	versus_row(v);
	for (size_t i = 0; i < r->gr->n; i++) {
		const struct call *c = call_at(r, i);

		for (uint32_t k = 0; k < c->nkernels; k++)
			versus_add(v, &r->g->sources,
			    &r->g->works.v[r->g->lists.v[c->first_kernel + k]]);
	}
	r->has_versus = versus_sum(v, &r->versus);
}

static void
note_shared(struct table *t, const struct versus *v)
{
	size_t n = versus_shared(v);

	if (n > 0)
		table_note(t,
		    "%zu LCAs have parts in several rows and count whole in "
		    "each: columns of them do not add up",
		    n);
}

static void
note_roofs(struct table *t, const struct roof_state *g)
{
	const struct arch *a = g->arch;
	struct str device = strings_get(g->strings, g->device);

	if (a == NULL && device.len > 0)
		table_note(t, "roofs: none, no figures of %.*s: see --arch",
		    (int)device.len, device.p);
	else if (a == NULL)
		table_note(t,
		    "roofs: none, the trace does not name its GPU: see --arch");
	else
		table_note(t, "roofs: %.*s, %s%s", (int)a->name.len, a->name.p,
		    roof_words[g->set->roof],
		    arch_has_gbps(a, g->set->roof)
			? ""
			: "; that of the memory: peak");
}

static void
add_notes(struct table *t, const struct roof_state *g)
{
	note_unlinked(t, &g->sources, "op");
	note_roofs(t, g);
}

/* What a share is a share of, by source. */
static double *
add_up(const struct roof_state *g, const struct sink_groups *gs)
{
	double *w = xcalloc(g->sources.list.n + 1, sizeof *w);

	for (size_t i = 0; i < gs->list.n; i++)
		w[gs->list.v[i].key[0]] += (double)gs->list.v[i].sums[SUM_BUSY];
	return w;
}

/* "MI300X peak"; the table keeps them. */
static void
name_roofs(const struct roof_state *g, struct table *t, struct str names[2])
{
	struct buf b = { 0 };

	for (int i = 0; i < 2; i++) {
		b.len = 0;
		if (g->arch != NULL)
			buf_printf(&b, "%.*s %s", (int)g->arch->name.len,
			    g->arch->name.p, roof_words[i]);
		names[i] = table_text(t, buf_str(&b));
	}
	buf_free(&b);
}

void
rows_print(struct table_dest *dest, struct roof_state *g, const struct plan *p)
{
	struct table *t = table_create(p->name.p, p->columns, p->n);
	struct buf text = { 0 };
	struct str roofs[2];
	struct scratch scratch = { 0 };
	struct sink_groups gs;
	double *wholes, sum = 0;
	uint64_t source = 0;

	roof_group(&gs, g, &p->how);
	wholes = add_up(g, &gs);
	name_roofs(g, t, roofs);
	add_notes(t, g);
	table_stream(t, dest);
	if (p->how.with_diff)
		versus_table(g->versus);
	for (size_t i = 0; i < gs.list.n; i++) {
		const struct sink_group *gr = &gs.list.v[i];
		struct row r = { .table = t,
			.g = g,
			.gs = &gs,
			.gr = gr,
			.first = &g->calls.v[sink_group_member(&gs, gr, 0)],
			.whole = wholes[gr->key[0]],
			.roofs = roofs,
			.text = &text };
		struct cell *cells;

		sum = gr->key[0] == source ? sum : 0;
		source = gr->key[0];
		sum += (double)gr->sums[SUM_BUSY];
		r.cumulative = sum / r.whole * 100;
		take_stats(&r, &scratch);
		if (p->how.with_diff)
			take_versus(&r);
		cells = table_row(t);
		for (size_t k = 0; k < p->n; k++)
			if (table_keeps(t, k))
				cells[k] = row_cell(&r, p, k);
	}
	if (p->how.with_diff)
		note_shared(t, g->versus);
	table_print(t, dest);
	vec_free(&scratch.ns);
	vec_free(&scratch.real);
	free(wholes);
	sink_groups_free(&gs);
	buf_free(&text);
	table_destroy(t);
}
