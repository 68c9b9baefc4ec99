/* SPDX-License-Identifier: MIT */
/* The rows of a table: groups of kernels, and the cells of each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/tl-kernels/plan.h"
#include "model/gemm.h"
#include "trace/stat.h"

/* What the cells of a row are made of. */
struct row {
	struct table *table;
	const struct kernels *k;
	const struct sink_groups *gs;
	const struct sink_group *gr;
	const struct kernel *one; /* the first */
	struct stats ns;
	double cumulative;
	/* of the op; NULL: unknown, or not of this kernel alone */
	const struct model_result *res;
	struct gemm_kernel gemm; /* zeroes: its name is none of a GEMM */
	bool is_gemm;
};

static const struct kernel *
kernel_at(const struct row *r, size_t i)
{
	return &r->k->list.v[sink_group_member(r->gs, r->gr, i)];
}

static struct cell
key_cell(const struct row *r, struct key key, bool as_text)
{
	char text[24];

	if (key.type == KEY_STR)
		return cell_string(r->k->strings, (uint32_t)key.n);
	if (key.type == KEY_NONE)
		return cell_none();
	if (!as_text)
		return cell_int(key.n);
	return cell_text(table_row_text(
	    r->table, (struct str){ text, num_put_i64(text, key.n) }));
}

/* Number i of a list of integers, "[512,1,1]". */
static struct cell
item_cell(const struct row *r, uint32_t list, unsigned i)
{
	struct str s = strings_get(r->k->strings, list);
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

static double
total_of(const struct row *r)
{
	const struct extent *x = &r->k->extents.v[r->one->recording];
	int64_t total;

	return x->end > x->start &&
		!__builtin_sub_overflow(x->end, x->start, &total)
	    ? (double)total
	    : 0;
}

/* ---- what the op models say ---- */

static struct cell
tile_cell(const struct row *r)
{
	const struct gemm_kernel *g = &r->gemm;
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

/* An integer parameter, or other. */
static int64_t
param_of(const struct model_result *res, const char *name, int64_t other)
{
	struct model_value v;

	return model_param(res, str_of(name), &v) && v.type == MODEL_INT
	    ? v.i
	    : other;
}

/* How much of the tiles, and of the last round of them, is of use. */
static struct cell
fit_cell(const struct row *r, enum field f)
{
	const struct arch *a = r->k->arch;
	bool has_cus = a != NULL && a->num_cus >= 1;
	struct gemm_fit fit;

	if (r->res == NULL || (f == F_PCT_WAVE && !has_cus) ||
	    !gemm_fit(&r->gemm, param_of(r->res, "B", 1),
		param_of(r->res, "M", 0), param_of(r->res, "N", 0),
		has_cus ? (int64_t)a->num_cus : 1, &fit))
		return cell_none();
	return cell_real((f == F_PCT_TILE ? fit.tile_eff : fit.wave_eff) * 100);
}

static struct cell
roof_cell(const struct row *r)
{
	struct roofline rf;

	if (r->res == NULL || r->k->arch == NULL || r->ns.mean <= 0)
		return cell_none();
	rf = roofline_of(r->k->arch, r->k->set->roof, r->res);
	return cell_real(rf.time_us * 1e3 / r->ns.mean * 100);
}

/* Of an op's FLOPs nothing is known about one of several kernels, unless its
 * name says that it is the one that multiplies. */
static bool
does_it_all(const struct row *r)
{
	for (size_t i = 0; i < r->gr->n; i++)
		if (kernel_at(r, i)->nkernels != 1)
			return r->is_gemm;
	return true;
}

/* What the op's model says, if the kernel does what it is about; or NULL. */
static const struct model_result *
result_of(const struct row *r)
{
	const struct kernel *one = r->one;
	const struct strings *st = r->k->strings;
	const struct model *m = NULL;
	const struct model_result *res;
	struct model_op op = { .name = strings_get(st, one->op) };

	if (one->has_op)
		m = model_find(r->k->models, op.name);
	if (m == NULL || !does_it_all(r))
		return NULL;
	op.dims = strings_get(st, one->args.dims);
	op.types = strings_get(st, one->args.types);
	op.strides = strings_get(st, one->args.strides);
	op.concrete = strings_get(st, one->args.concrete);
	res = model_eval(r->k->models, m, &op, MODEL_FWD);
	return res->status == MODEL_OK && res->flops > 0 ? res : NULL;
}

/* ---- cells ---- */

/* Of the call of a module that launched it; a sole kernel is all of it. */
static struct cell
module_cell(const struct row *r, enum field f)
{
	const struct module_call *call;

	if (r->one->module == 0)
		return cell_none();
	call = &r->k->calls.v[r->one->module - 1];
	switch (f) {
	case F_MODULE: return cell_string(r->k->strings, call->name);
	case F_MODULE_UID: return cell_uid(r->table, call->uid);
	case F_MODULE_KERNELS: return cell_int((int64_t)call->kernels);
	case F_MODULE_BUSY: return cell_int(call->busy_ns);
	default:
		return call->kernels == 1
		    ? cell_real(100)
		    : cell_share(r->one->dur_ns, (double)call->busy_ns);
	}
}

static struct cell
word_cell(const struct row *r, enum field f)
{
	const struct kernel *one = r->one;
	bool as_text = r->k->any_text_stream;

	switch (f) {
	case F_RANK:
		return cell_int(r->k->recordings.list.v[one->recording].rank);
	case F_SRC: return cell_int(one->recording);
	case F_UID: return cell_int((int64_t)one->uid.id);
	case F_CATEGORY: return cell_string(r->k->strings, one->category);
	case F_PARENT: return cell_string(r->k->strings, one->op);
	case F_KERNEL:
	case F_NAME: return cell_string(r->k->strings, one->name);
	case F_CLASS:
	case F_OP_CLASS: return cell_string(r->k->strings, one->class);
	case F_STREAM: return key_cell(r, one->gpu_stream, as_text);
	case F_DIMS: return cell_string(r->k->strings, one->args.dims);
	case F_TYPES: return cell_string(r->k->strings, one->args.types);
	case F_STRIDES: return cell_string(r->k->strings, one->args.strides);
	case F_CONCRETE: return cell_string(r->k->strings, one->args.concrete);
	case F_MODULE:
	case F_MODULE_UID:
	case F_MODULE_KERNELS:
	case F_MODULE_BUSY:
	case F_PCT_MODULE: return module_cell(r, f);
	case F_GRID: return cell_string(r->k->strings, one->grid);
	default: return cell_string(r->k->strings, one->block);
	}
}

static struct cell
event_cell(const struct row *r, enum field f)
{
	const struct kernel *one = r->one;

	switch (f) {
	case F_TS: return cell_int(one->ts_ns);
	case F_DUR: return cell_int(one->dur_ns);
	case F_DELAY:
		return one->has_delay ? cell_int(one->delay_ns) : cell_none();
	case F_DEV: return key_cell(r, one->dev, false);
	case F_CORR: return key_cell(r, one->corr, false);
	case F_DISPATCH:
		return one->dispatch < 0 ? cell_none()
					 : cell_int(one->dispatch);
	case F_AGENT:
		return one->agent < 0 ? cell_none() : cell_int(one->agent);
	case F_TID: return key_cell(r, one->tid, false);
	case F_GRID_X:
	case F_GRID_Y:
	case F_GRID_Z: return item_cell(r, one->grid, f - F_GRID_X);
	case F_BLOCK_X:
	case F_BLOCK_Y:
	case F_BLOCK_Z: return item_cell(r, one->block, f - F_BLOCK_X);
	default: return cell_none();
	}
}

static struct cell
cell_of(const struct row *r, enum field f)
{
	const struct extent *x = &r->k->extents.v[r->one->recording];

	if (f <= F_BLOCK)
		return word_cell(r, f);
	switch (f) {
	case F_COUNT: return cell_int((int64_t)r->gr->n);
	case F_SUM: return cell_int(r->gr->sums[SUM_NS]);
	case F_MEAN: return cell_real(r->ns.mean);
	case F_MEDIAN: return cell_real(r->ns.median);
	case F_STD: return cell_real(r->ns.std);
	case F_MIN: return cell_int(r->ns.min);
	case F_MAX: return cell_int(r->ns.max);
	case F_SHARE: return cell_share(r->gr->sums[SUM_NS], (double)x->sum_ns);
	case F_SHARE_TOTAL: return cell_share(r->gr->sums[SUM_NS], total_of(r));
	case F_CUMULATIVE: return cell_real(r->cumulative);
	case F_GFLOPS:
		return r->res != NULL ? cell_real(r->res->flops / 1e9)
				      : cell_none();
	case F_TFLOPS:
		/* a FLOP a ns is a thousandth of a TFLOP a second */
		return r->res != NULL && r->ns.mean > 0
		    ? cell_real(r->res->flops / 1e3 / r->ns.mean)
		    : cell_none();
	case F_TILE: return tile_cell(r);
	case F_PCT_TILE:
	case F_PCT_WAVE: return fit_cell(r, f);
	case F_PCT_ROOF: return roof_cell(r);
	default: return event_cell(r, f);
	}
}

/* ---- rows ---- */

/* Of a trace with ops: a row that can be attributed in all of its words. */
static bool
is_owned_short(const struct kernels *k, const struct kernel *one)
{
	if (!is_short(k, one))
		return false;
	if (k->set->keep_unowned || k->all_rocprof ||
	    !k->extents.v[one->recording].has_ops)
		return true;
	return one->has_op && one->args.dims != INTERN_NONE &&
	    one->args.strides != INTERN_NONE &&
	    one->args.concrete != INTERN_NONE;
}

static size_t
count_dropped(const struct kernels *k)
{
	size_t n = 0;

	for (size_t i = 0; i < k->list.n; i++)
		n += is_short(k, &k->list.v[i]) &&
		    !is_owned_short(k, &k->list.v[i]);
	return n;
}

static void
add_notes(struct table *t, const struct kernels *k, const struct plan *p)
{
	uint64_t n = 0;
	size_t dropped;

	for (size_t i = 0; i < k->recordings.list.n; i++) {
		const struct sink_source *r = &k->recordings.list.v[i];

		if (r->is_asked && !r->is_rocprof)
			n += r->nunlinked;
	}
	if (n > 0)
		table_note(t,
		    "%" PRIu64 " GPU events have no launch in the trace%s", n,
		    k->set->linked_only ? ": left out" : ", and no op");
	dropped = p->kind->about == OF_SHORT ? count_dropped(k) : 0;
	if (dropped > 0)
		table_note(t,
		    "%zu short kernels without an op, or whose op has no "
		    "arguments, are left out: see --keep-unowned",
		    dropped);
}

static bool
has_figure(const struct plan *p, enum field f)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->fields[i] == f)
			return true;
	return false;
}

static void
put_row(struct row *r, const struct plan *p, int64_t *ns)
{
	struct cell *cells;

	for (size_t i = 0; i < r->gr->n; i++)
		ns[i] = kernel_at(r, i)->dur_ns;
	stat_of(&r->ns, ns, r->gr->n);
	r->is_gemm = gemm_kernel_parse(
	    strings_get(r->k->strings, r->one->name), &r->gemm);
	if (!r->is_gemm)
		r->gemm = (struct gemm_kernel){ .tile_m = 0 };
	r->res = has_figure(p, F_GFLOPS) ? result_of(r) : NULL;
	cells = table_row(r->table);
	for (size_t i = 0; i < p->n; i++)
		cells[i] = cell_of(r, p->fields[i]);
}

void
rows_print(
    struct table_dest *dest, const struct kernels *k, const struct plan *p)
{
	struct table *t = table_create(p->kind->name, p->columns, p->n);
	int64_t *ns = xmalloc((k->list.n + 1) * sizeof *ns);
	struct sink_groups gs;
	int64_t sum = 0;
	uint32_t recording = 0;
	bool is_summary = p->kind->is_summary && k->set->table == NULL;

	kernels_group(&gs, k, p->kind->by,
	    p->kind->about == OF_SHORT ? is_owned_short : NULL);
	add_notes(t, k, p);
	if (!is_summary)
		table_stream(t, dest);
	for (size_t i = 0; i < gs.list.n; i++) {
		struct row r = {
			.table = t, .k = k, .gs = &gs, .gr = &gs.list.v[i]
		};
		double whole;

		r.one = kernel_at(&r, 0);
		if (r.one->recording != recording)
			sum = 0;
		recording = r.one->recording;
		sum += r.gr->sums[SUM_NS];
		whole = (double)k->extents.v[recording].sum_ns;
		r.cumulative = whole > 0 ? (double)sum / whole * 100 : NAN;
		put_row(&r, p, ns);
	}
	if (is_summary)
		table_print_summary(t, dest);
	else
		table_print(t, dest);
	sink_groups_free(&gs);
	free(ns);
	table_destroy(t);
}
