/* SPDX-License-Identifier: MIT */
/* The rows of a table: groups of calls, and the cells of each. */
#include <stdlib.h>

#include "cmd/tl-roofline/plan.h"
#include "table/details.h"

/* What the cells of a row are made of. */
struct row {
	struct table *table;
	const struct roof_state *g;
	const struct bunches *gs;
	const struct bunch *gr;
	const struct call *first; /* the earliest one */
	const struct call *told;  /* the first one whose model gave a result */
	struct stats host, kernel;
	struct stat_real tbs, tflops, pct, sim_tbs, sim_pct, over;
	struct versus_row versus;
	bool has_versus;
	double lost_ns, whole, cumulative;
	const struct str *roofs; /* their names, by enum roof */
	struct buf *text;
};

static const struct call *
call_at(const struct row *r, size_t i)
{
	return &r->g->calls.v[bunch_member(r->gs, r->gr, i)];
}

static struct cell
text_cell(const struct row *r, uint32_t id)
{
	return id == INTERN_NONE ? cell_none()
				 : cell_text(strings_get(r->g->strings, id));
}

static struct cell
str_cell(struct str s)
{
	return s.len == 0 ? cell_none() : cell_text(s);
}

/* JSON made now: the table keeps it. */
static struct cell
made_cell(const struct row *r, bool has)
{
	return has ? cell_text(table_row_text(r->table, buf_str(r->text)))
		   : cell_none();
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
	const struct work *w =
	    &r->g->works.v[r->g->lists.v[call_at(r, call)->first_kernel + i]];

	return (struct detail){ w->name, w->gpu_stream, w->dur_ns, NAN };
}

static size_t
nbeside_of(const void *arg, size_t call)
{
	return call_at(arg, call)->beside.n;
}

static struct detail
beside_at(const void *arg, size_t call, size_t i)
{
	const struct row *r = arg;
	const struct beside *k =
	    &r->g->besides.v[call_at(r, call)->beside.first + i];

	return (struct detail){ k->name, k->gpu_stream, k->dur_ns, k->pct };
}

/* An empty list is "[]"; the short form has none. */
static struct cell
details_cell(const struct row *r, enum field f)
{
	bool is_beside = f == F_BESIDE || f == F_BESIDE_TRUNC;
	enum detail_form form =
	    f == F_TRUNC || f == F_BESIDE_TRUNC ? DETAIL_TRUNC : DETAIL_FULL;
	const struct detail_lists lists = {
		.strings = r->g->strings,
		.arg = r,
		.n = r->gr->n,
		.length = is_beside ? nbeside_of : nkernels_of,
		.entry = is_beside ? beside_at : kernel_of,
		.with_names = !is_beside,
	};
	bool has;

	if (!r->g->set->details)
		return cell_none();
	r->text->len = 0;
	has = details_put(r->text, &lists, form);
	if (!has && form == DETAIL_FULL) {
		buf_puts(r->text, "[]");
		has = true;
	}
	return made_cell(r, has);
}

/* ---- cells of calls and groups ---- */

static struct cell
params_cell(const struct row *r)
{
	if (r->told == NULL)
		return cell_none();
	r->text->len = 0;
	model_params_json(r->text, r->told->res);
	return made_cell(r, true);
}

static struct cell
param_cell(const struct row *r, struct str name, enum col_type type)
{
	struct model_value v;

	if (r->first->res == NULL || !model_param(r->first->res, name, &v))
		return cell_none();
	switch (v.type) {
	case MODEL_NULL: return cell_none();
	case MODEL_BOOL:
		if (type == COL_BOOL)
			return cell_bool(v.yes);
		break;
	case MODEL_INT:
		if (type == COL_INT)
			return cell_int(v.i);
		if (type == COL_REAL)
			return cell_real((double)v.i);
		break;
	case MODEL_REAL:
		if (type == COL_REAL)
			return cell_real(v.real);
		break;
	case MODEL_TEXT:
		if (type == COL_TEXT)
			return cell_text(v.text);
		break;
	case MODEL_LIST: break;
	}
	r->text->len = 0;
	model_value_json(r->text, &v);
	return made_cell(r, true);
}

static struct cell
key_cell(const struct row *r, enum field f)
{
	const struct call *c = r->first;
	const struct recording *o = &r->g->origins.list.v[c->origin];
	struct track_names names = names_of(r->g->names, c->track);

	switch (f) {
	case F_RANK: return cell_int(o->rank);
	case F_SRC: return cell_int(o->no);
	case F_NAME: return text_cell(r, c->name);
	case F_BESIDE_NAMES: return text_cell(r, c->beside.names);
	case F_CATEGORY: return text_cell(r, c->category);
	case F_PROCESS: return text_cell(r, names.process);
	case F_LABEL: return text_cell(r, names.label);
	case F_THREAD: return text_cell(r, names.thread);
	case F_DIMS: return text_cell(r, c->args.dims);
	case F_TYPES: return text_cell(r, c->args.types);
	case F_STRIDES: return text_cell(r, c->args.strides);
	case F_CONCRETE: return text_cell(r, c->args.concrete);
	case F_NUM_KERNELS: return cell_int(c->nkernels);
	case F_RECOMPUTE: return cell_bool(c->is_recompute);
	default: return cell_uid(r->table, c->uid);
	}
}

static struct cell
real_stat(const struct stat_real *s, unsigned which)
{
	const double v[] = { s->mean, s->median, s->std, s->min, s->max };

	return s->n == 0 ? cell_none() : cell_real(v[which]);
}

/* Ops from a capture have no time of their own on the host. */
static struct cell
host_cell(const struct row *r, int64_t ns)
{
	return r->host.n == 0 ? cell_none() : cell_int(ns);
}

static struct cell
stat_cell(const struct row *r, enum field f)
{
	if (f >= F_TBS_MEAN && f <= F_TBS_MAX)
		return real_stat(&r->tbs, f - F_TBS_MEAN);
	if (f >= F_TFLOPS_MEAN && f <= F_TFLOPS_MAX)
		return real_stat(&r->tflops, f - F_TFLOPS_MEAN);
	if (f >= F_PCT_MEAN && f <= F_PCT_MAX)
		return real_stat(&r->pct, f - F_PCT_MEAN);
	if (f >= F_SIM_TBS_MEAN && f <= F_SIM_TBS_MAX)
		return real_stat(&r->sim_tbs, f - F_SIM_TBS_MEAN);
	if (f >= F_SIM_PCT_MEAN && f <= F_SIM_PCT_MAX)
		return real_stat(&r->sim_pct, f - F_SIM_PCT_MEAN);
	switch (f) {
	case F_HOST_SUM: return host_cell(r, r->host.sum);
	case F_HOST_MEAN: return cell_real(r->host.mean);
	case F_HOST_STD: return cell_real(r->host.std);
	case F_HOST_MEDIAN: return cell_real(r->host.median);
	case F_HOST_MIN: return host_cell(r, r->host.min);
	case F_HOST_MAX: return host_cell(r, r->host.max);
	case F_KERNEL_MEAN: return cell_real(r->kernel.mean);
	case F_KERNEL_MEDIAN: return cell_real(r->kernel.median);
	case F_KERNEL_STD: return cell_real(r->kernel.std);
	case F_KERNEL_MIN: return cell_int(r->kernel.min);
	case F_KERNEL_MAX: return cell_int(r->kernel.max);
	default: return cell_int(r->kernel.sum);
	}
}

/* The reference rounds these, and has a deviation of one. */
static struct cell
over_cell(const struct row *r, enum field f)
{
	const double v[] = { r->over.mean, r->over.median, r->over.std,
		r->over.min, r->over.max };

	if (r->over.n == 0)
		return cell_none();
	return cell_real(v[f - F_OVER_MEAN]);
}

static struct cell
model_cell(const struct row *r, enum field f)
{
	const struct call *c = r->told;
	struct roofline rf;

	if (c == NULL)
		return cell_none();
	rf = roofline_of(r->g->arch, r->g->set->roof, c->res);
	switch (f) {
	case F_GFLOPS: return cell_real(call_gflops(c));
	case F_MIB: return cell_real(call_mib(c));
	case F_INTENSITY: return cell_real(call_intensity(c));
	case F_SPEC: return str_cell(c->res->spec);
	case F_BOUND: return str_cell(str_of(bound_words[rf.bound]));
	case F_ROOF:
		return rf.bound == BOUND_NONE ? cell_none()
					      : str_cell(r->roofs[rf.roof]);
	case F_ROOF_US: return cell_real(rf.time_us * 1e3);
	case F_SIM: return cell_real(c->sim_us * 1e3);
	default: return cell_real(call_sim_tflops(c));
	}
}

static struct cell
diff_cell(const struct row *r, enum field f)
{
	const struct versus_row *v = &r->versus;

	if (!r->has_versus)
		return cell_none();
	switch (f) {
	case F_DIFF_RATIO:
		return v->before_ns == 0
		    ? cell_none()
		    : cell_real((double)v->after_ns / (double)v->before_ns);
	case F_DIFF: return cell_int(v->after_ns - r->kernel.sum);
	case F_DIFF_COUNT: return cell_int(v->nafter);
	case F_DIFF_BEFORE: return cell_int(v->before_ns);
	case F_DIFF_AFTER: return cell_int(v->after_ns);
	default: break;
	}
	r->text->len = 0;
	versus_list(r->g->versus, f == F_DIFF_NAMES, r->text);
	return made_cell(r, true);
}

static struct cell
cell_of(const struct row *r, const struct plan *p, size_t i)
{
	enum field f = p->fields[i];

	if (f <= F_EX_UID)
		return key_cell(r, f);
	if (f >= F_OVER_MEAN && f <= F_OVER_MAX)
		return over_cell(r, f);
	if (f >= F_DIFF_RATIO && f <= F_DIFF_AFTER)
		return diff_cell(r, f);
	switch (f) {
	case F_COUNT: return cell_int((int64_t)r->gr->n);
	case F_GFLOPS:
	case F_MIB:
	case F_INTENSITY:
	case F_SPEC:
	case F_BOUND:
	case F_ROOF:
	case F_ROOF_US:
	case F_SIM:
	case F_SIM_TFLOPS: return model_cell(r, f);
	case F_LOST: return cell_real(r->lost_ns);
	case F_DETAILS:
	case F_TRUNC:
	case F_BESIDE:
	case F_BESIDE_TRUNC: return details_cell(r, f);
	case F_PARAMS: return params_cell(r);
	case F_HAS_MODEL: return cell_bool(r->first->has_model);
	case F_REASON:
		return r->told != NULL ? cell_none()
				       : str_cell(call_reason(r->first));
	case F_ENTRY: return text_cell(r, r->first->entry_point);
	case F_STACK: return text_cell(r, r->first->stack);
	case F_SHARE:
		return cell_real(
		    (double)r->gr->sums[SUM_BUSY] / r->whole * 100);
	case F_CUMULATIVE: return cell_real(r->cumulative);
	case F_PARAM: return param_cell(r, p->params[i], p->columns[i].type);
	default: return stat_cell(r, f);
	}
}

/* ---- rows ---- */

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
	return c->beside.pct;
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
			versus_add(v, &r->g->origins,
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
	note_unlinked(t, &g->origins, "op");
	note_roofs(t, g);
}

/* What a share is a share of, by source. */
static double *
add_up(const struct roof_state *g, const struct bunches *gs)
{
	double *w = xcalloc(g->origins.list.n + 1, sizeof *w);

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
	struct bunches gs;
	double *wholes, sum = 0;
	uint64_t origin = 0;

	roof_group(&gs, g, &p->how);
	wholes = add_up(g, &gs);
	name_roofs(g, t, roofs);
	add_notes(t, g);
	table_stream(t, dest);
	if (p->how.with_diff)
		versus_table(g->versus);
	for (size_t i = 0; i < gs.list.n; i++) {
		const struct bunch *gr = &gs.list.v[i];
		struct row r = { .table = t,
			.g = g,
			.gs = &gs,
			.gr = gr,
			.first = &g->calls.v[bunch_member(&gs, gr, 0)],
			.whole = wholes[gr->key[0]],
			.roofs = roofs,
			.text = &text };
		struct cell *cells;

		sum = gr->key[0] == origin ? sum : 0;
		origin = gr->key[0];
		sum += (double)gr->sums[SUM_BUSY];
		r.cumulative = sum / r.whole * 100;
		take_stats(&r, &scratch);
		if (p->how.with_diff)
			take_versus(&r);
		cells = table_row(t);
		for (size_t k = 0; k < p->n; k++)
			if (table_keeps(t, k))
				cells[k] = cell_of(&r, p, k);
	}
	if (p->how.with_diff)
		note_shared(t, g->versus);
	table_print(t, dest);
	vec_free(&scratch.ns);
	vec_free(&scratch.real);
	free(wholes);
	bunches_free(&gs);
	buf_free(&text);
	table_destroy(t);
}
