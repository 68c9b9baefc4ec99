/* SPDX-License-Identifier: MIT */
/* The cells of a row. */
#include <math.h>

#include "cmd/tl-roofline/row.h"
#include "sink/details.h"

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

static const struct op_overlap *
overlap_of(const void *arg, size_t call)
{
	return &call_at(arg, call)->overlap;
}

/* An empty list is "[]"; the short form has none. */
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
	const struct sink_source *o = &r->g->sources.list.v[c->source];
	struct track_names names = names_of(r->g->names, c->track);

	switch (f) {
	case F_RANK: return cell_int(o->rank);
	case F_SRC: return cell_int(o->no);
	case F_NAME: return cell_string(r->g->strings, c->name);
	case F_OVERLAP_NAMES:
		return cell_string(r->g->strings, c->overlap.names);
	case F_CATEGORY: return cell_string(r->g->strings, c->category);
	case F_PROCESS: return cell_string(r->g->strings, names.process);
	case F_LABEL: return cell_string(r->g->strings, names.label);
	case F_THREAD: return cell_string(r->g->strings, names.thread);
	case F_DIMS: return cell_string(r->g->strings, c->args.dims);
	case F_TYPES: return cell_string(r->g->strings, c->args.types);
	case F_STRIDES: return cell_string(r->g->strings, c->args.strides);
	case F_CONCRETE: return cell_string(r->g->strings, c->args.concrete);
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

struct cell
row_cell(const struct row *r, const struct plan *p, size_t i)
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
	case F_OVERLAP:
	case F_OVERLAP_TRUNC: return details_cell(r, f);
	case F_PARAMS: return params_cell(r);
	case F_HAS_MODEL: return cell_bool(r->first->has_model);
	case F_REASON:
		return r->told != NULL ? cell_none()
				       : str_cell(call_reason(r->first));
	case F_ENTRY: return cell_string(r->g->strings, r->first->entry_point);
	case F_STACK: return cell_string(r->g->strings, r->first->stack);
	case F_SHARE:
		return cell_real(
		    (double)r->gr->sums[SUM_BUSY] / r->whole * 100);
	case F_CUMULATIVE: return cell_real(r->cumulative);
	case F_PARAM: return param_cell(r, p->params[i], p->columns[i].type);
	default: return stat_cell(r, f);
	}
}
