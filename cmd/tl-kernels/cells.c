/* SPDX-License-Identifier: MIT */
/* Cells that are no field, sum or statistic of kernels. */
#include <math.h>
#include <stdio.h>

#include "cmd/tl-kernels/kernels.h"

/* Item i of a list of integers, "[512,1,1]". */
static struct cell
item_cell(const struct sink_row *r, uint32_t list, unsigned i)
{
	struct str s = dict_get(r->sink->dict, list);
	int64_t v;

	while (s.len > 0 && (*s.p == '[' || *s.p == ']' || *s.p == ','))
		s.p++, s.len--;
	for (; s.len > 0; i--) {
		size_t n = 0;

		while (n < s.len && s.p[n] != ',' && s.p[n] != ']')
			n++;
		if (i == 0)
			return num_i64((struct str){ s.p, n }, &v)
			    ? cell_int(v)
			    : cell_none();
		s.p += n < s.len ? n + 1 : n;
		s.len -= n < s.len ? n + 1 : n;
	}
	return cell_none();
}

/* From the first start to the last end of the source's GPU work. */
static double
total_of(const struct sink_row *r)
{
	const struct extent *x =
	    &kernels_of(r->sink)->extents.v[r->group->key[0]];
	int64_t total;

	return x->end > x->start &&
		!__builtin_sub_overflow(x->end, x->start, &total)
	    ? (double)total
	    : 0;
}

/* ---- what the op models say ---- */

static struct cell
tile_cell(const struct sink_row *r)
{
	const struct gemm_kernel *g = &kernels_of(r->sink)->row.gemm;
	char text[80];
	int n;

	if (g->tile_m == 0 || g->tile_n == 0)
		return cell_none();
	n = g->depth > 0
	    ? snprintf(text, sizeof text, "%" PRId64 "x%" PRId64 "x%" PRId64,
		  g->tile_m, g->tile_n, g->depth)
	    : snprintf(text, sizeof text, "%" PRId64 "x%" PRId64, g->tile_m,
		  g->tile_n);
	return cell_text(
	    table_row_text(r->table, (struct str){ text, (size_t)n }));
}

/* An integer parameter, else other. */
static int64_t
param_of(const struct model_result *res, const char *name, int64_t other)
{
	struct model_value v;

	return model_param(res, str_of(name), &v) && v.type == MODEL_INT
	    ? v.i
	    : other;
}

/* How much of the tiles, and of the last wave of them, is used. */
static struct cell
fit_cell(const struct sink_row *r, unsigned f)
{
	const struct model_row *row = &kernels_of(r->sink)->row;
	const struct arch *a = kernels_of(r->sink)->arch;
	bool has_cus = a != NULL && a->num_cus >= 1;
	struct gemm_fit fit;

	if (row->res == NULL || (f == C_PCT_WAVE && !has_cus) ||
	    !gemm_fit(&row->gemm, param_of(row->res, "B", 1),
		param_of(row->res, "M", 0), param_of(row->res, "N", 0),
		has_cus ? (int64_t)a->num_cus : 1, &fit))
		return cell_none();
	return cell_real((f == C_PCT_TILE ? fit.tile_eff : fit.wave_eff) * 100);
}

static struct cell
result_cell(const struct sink_row *r, unsigned f)
{
	const struct kernels *k = kernels_of(r->sink);
	const struct model_result *res = k->row.res;
	double mean = (double)r->group->sums[0] / (double)r->group->n;

	if (res == NULL)
		return cell_none();
	if (f == C_GFLOP)
		return cell_real(res->flops / 1e9);
	if (mean <= 0)
		return cell_none();
	/* 1 FLOP/ns is 0.001 TFLOP/s */
	if (f == C_TFLOP_S)
		return cell_real(res->flops / 1e3 / mean);
	return k->arch == NULL
	    ? cell_none()
	    : cell_real(roofline_of(k->arch, k->roof, res).time_us * 1e3 /
		  mean * 100);
}

/* 1 B/ns is 0.001 TB/s. */
static struct cell
bytes_cell(const struct sink_row *r, unsigned f)
{
	const struct model_result *res = kernels_of(r->sink)->row.res;
	double mean = (double)r->group->sums[0] / (double)r->group->n;

	if (res == NULL || isnan(res->bytes))
		return cell_none();
	if (f == C_BYTES)
		return cell_real(res->bytes / 1048576);
	return mean > 0 ? cell_real(res->bytes / 1e3 / mean) : cell_none();
}

/* From the start of the launch call. */
static struct cell
latency_cell(const struct kernel *one)
{
	int64_t ns;

	return one->delay_ns != SINK_NONE && one->launch_ns != SINK_NONE &&
		!__builtin_add_overflow(one->delay_ns, one->launch_ns, &ns)
	    ? cell_int(ns)
	    : cell_none();
}

/*
 * FLOPs of an op with several kernels are not known by kernel, unless the name
 * tells the one that multiplies.
 */
static bool
does_it_all(const struct sink_row *r, bool is_gemm)
{
	for (size_t i = 0; i < r->group->n; i++) {
		const struct kernel *one = sink_row_record(r, i);

		if (one->nkernels != 1)
			return is_gemm;
	}
	return true;
}

/* The model's result if this kernel does the op's work, or NULL. */
static const struct model_result *
result_of(const struct sink_row *r, bool is_gemm)
{
	const struct kernels *k = kernels_of(r->sink);
	const struct kernel *one = r->first;
	const struct dict *st = r->sink->dict;
	const struct model *m = NULL;
	const struct model_result *res;
	struct model_op op = model_op_of(st, one->op, one->args);

	if (one->has_op)
		m = model_find(
		    k->models, model_name(k->models, op.name, op.hlo));
	if (m == NULL || !does_it_all(r, is_gemm))
		return NULL;
	res = model_eval(k->models, m, &op, MODEL_FWD);
	return res->status == MODEL_OK && res->flops > 0 ? res : NULL;
}

void
kernels_row(struct sink_row *r)
{
	struct model_row *row = &((struct kernels *)r->sink)->row;
	const struct kernel *one = r->first;
	bool is_gemm;

	if ((r->plan->table->about & OF_MODELS) == 0)
		return;
	is_gemm =
	    gemm_kernel_parse(dict_get(r->sink->dict, one->name), &row->gemm);
	if (!is_gemm)
		row->gemm = (struct gemm_kernel){ .tile_m = 0 };
	row->res = result_of(r, is_gemm);
}

/* ---- cells ---- */

/* About the module's call that launched it; 100 % for the only kernel. */
static struct cell
module_cell(const struct sink_row *r, unsigned f)
{
	const struct kernels *k = kernels_of(r->sink);
	const struct kernel *one = r->first;
	const struct module_call *call;

	if (one->module == 0)
		return cell_none();
	call = &k->calls.v[one->module - 1];
	switch (f) {
	case C_MODULE: return cell_string(r->sink->dict, call->name);
	case C_MODULE_UID: return cell_uid(r->table, call->uid);
	case C_MODULE_KERNELS: return cell_int((int64_t)call->kernels);
	case C_MODULE_BUSY: return cell_int(call->busy_ns);
	default:
		return call->kernels == 1
		    ? cell_real(100)
		    : cell_share(one->dur_ns, (double)call->busy_ns);
	}
}

/* Of a sequence: what fusing may return besides the gaps. */
static struct cell
spared_cell(const struct sink_row *r)
{
	const int64_t *sums = r->group->sums;

	return spared_has_rate(kernels_of(r->sink)) &&
		(r->group->summed & 1U << M_BYTES) != 0
	    ? cell_int(sums[M_SAVED] - sums[M_GAP])
	    : cell_none();
}

struct cell
kernels_cell(const struct sink_row *r, unsigned f)
{
	const struct kernel *one = r->first;

	switch (f) {
	case C_MODULE:
	case C_MODULE_UID:
	case C_MODULE_KERNELS:
	case C_MODULE_BUSY:
	case C_PCT_MODULE: return module_cell(r, f);
	case C_SHARE_TOTAL: return cell_share(r->group->sums[0], total_of(r));
	case C_GFLOP:
	case C_TFLOP_S:
	case C_PCT_ROOF: return result_cell(r, f);
	case C_TILE: return tile_cell(r);
	case C_PCT_TILE:
	case C_PCT_WAVE: return fit_cell(r, f);
	case C_BYTES:
	case C_TB_S: return bytes_cell(r, f);
	case C_LATENCY: return latency_cell(one);
	case C_SPARED: return spared_cell(r);
	case C_SPARED_REASON: return sequences_reason(r);
	case C_PER_GPU:
		return cell_real((double)r->group->sums[0] /
		    (double)kernels_of(r->sink)->ngpus);
	case C_GRID_X:
	case C_GRID_Y:
	case C_GRID_Z: return item_cell(r, one->grid, f - C_GRID_X);
	case C_BLOCK_X:
	case C_BLOCK_Y:
	case C_BLOCK_Z: return item_cell(r, one->block, f - C_BLOCK_X);
	default: return item_cell(r, one->resources, f - C_RESOURCES);
	}
}

/* ---- tables ---- */

/* With ops: a row with all its attributes. */
static bool
is_owned_short(const struct kernels *k, const struct kernel *one)
{
	if (!is_short(k, one))
		return false;
	if (k->keep_unowned || k->all_rocprof ||
	    !k->extents.v[one->rec.source].has_ops)
		return true;
	return one->has_op && one->args.dims != INTERN_NONE &&
	    one->args.strides != INTERN_NONE &&
	    one->args.concrete != INTERN_NONE;
}

static bool
is_xla(struct kernels *k, const struct kernel *one)
{
	return str_eq(dict_get(k->sink.dict,
			  rules_category(&k->sink, &k->activities, one->name)),
	    STR("xla"));
}

enum phase
kernels_phase(const struct sink_table *t)
{
	return t->about < OF_PHASE ? PHASE_COUNT
				   : (enum phase)(t->about / OF_PHASE - 1);
}

bool
kernels_member(
    const struct sink *s, const struct sink_plan *p, const void *record)
{
	const struct kernel *one = record;

	if ((one->length > 0) != (p->table->by == BY_SEQUENCE))
		return false;
	if (kernels_phase(p->table) < PHASE_COUNT &&
	    phases_of(&kernels_of(s)->phases, one->mark).phase !=
		kernels_phase(p->table))
		return false;
	if ((p->table->about & OF_OTHERS) != 0)
		return str_eq(dict_get(s->dict, one->class), XLA_OTHER);
	if (p->table->by == BY_XLA)
		return is_xla((struct kernels *)s, one);
	return (p->table->about & OF_SHORT) == 0 ||
	    is_owned_short(kernels_of(s), one);
}

void
kernels_planned(struct sink *s, struct sink_plan *p)
{
	/* of the class, though TraceLens labels it so */
	for (size_t i = 0; i < p->columns.n; i++)
		if ((p->table->by == BY_CLASS ||
			(p->table->about & FOR_XLA) != 0) &&
		    strcmp(p->columns.v[i].id, "category") == 0)
			p->columns.v[i].id = "op_category";
		else if (strcmp(p->columns.v[i].id, "plain_name") == 0)
			p->columns.v[i].id = "name";
	if (p->table->by == BY_CONFIG)
		sink_plan_keys(s, p, "name,grid,block,resources");
	column_of_uids(
	    p->columns.v, p->columns.n, "module_uid", kernels_of(s)->any_inst);
}

double
kernels_whole(const struct sink *s, const struct sink_plan *p, uint32_t source)
{
	return p->table->by == BY_XLA || (p->table->about & OF_OTHERS) != 0 ||
		kernels_phase(p->table) < PHASE_COUNT
	    ? NAN
	    : (double)kernels_of(s)->extents.v[source].sum_ns;
}

static size_t
count_dropped(const struct kernels *k)
{
	size_t n = 0;

	for (size_t i = 0; i < k->sink.records.n; i++) {
		const struct kernel *one = sink_record(&k->sink, i);

		n += is_short(k, one) && !is_owned_short(k, one);
	}
	return n;
}

void
kernels_notes(struct sink *s, const struct sink_plan *p, struct table *t)
{
	const struct kernels *k = kernels_of(s);
	uint64_t n = 0;
	size_t dropped;

	for (size_t i = 0; i < s->sources.list.n; i++) {
		const struct sink_source *r = &s->sources.list.v[i];

		if (r->is_asked && !r->is_rocprof)
			n += r->nunlinked;
	}
	if (n > 0)
		table_note(t,
		    "%" PRIu64 " GPU event%s no launch in the trace%s", n,
		    n == 1 ? " has" : "s have",
		    s->linked_only ? ": left out" : ", and no op");
	if (p->table->by == BY_SEQUENCE && k->sequences.list.n == 0)
		table_note(t, "no sequence recurs");
	dropped = (p->table->about & OF_SHORT) != 0 ? count_dropped(k) : 0;
	if (dropped > 0)
		table_note(t,
		    "%zu short kernels without an op, or whose op has no "
		    "arguments, are skipped: see --keep-unowned",
		    dropped);
}
