/* SPDX-License-Identifier: MIT */
/* What of the table of rooflines counts: what is lost, and where none is. */
#include "cmd/tl-summary/take.h"

static void
take_loss(struct figures *f, const struct line *l, bool is_compute)
{
	struct buf key = { 0 };
	struct str name = line_text(f, l, "name");
	struct str dims = line_text(f, l, "input_dims");
	struct tally *loss;

	buf_put(&key, name.p, name.len);
	buf_putc(&key, ' ');
	buf_put(&key, dims.p, dims.len);
	loss = tally_of(f, &f->losses, buf_str(&key));
	buf_free(&key);
	take_add(&loss->ns, line_int(l, "lost_ns"));
	take_add(&loss->of_ns, line_int(l, "kernel_ns_sum"));
	loss->what = is_compute ? STR("compute") : STR("memory");
}

static void
take_intensity(struct figures *f, double v)
{
	if (!(v > 0))
		return;
	if (f->most_per_byte == 0 || v < f->least_per_byte)
		f->least_per_byte = v;
	if (v > f->most_per_byte)
		f->most_per_byte = v;
}

/* Where the roofs lie: of any op that they bound. */
static void
take_roof(struct figures *f, const struct line *l, bool is_compute)
{
	double limit_ns = line_real(l, "roofline_ns");
	struct tally *spec;

	if (!(limit_ns > 0))
		return;
	if (!is_compute) {
		f->tb_per_s =
		    line_real(l, "moved_mib") * 1048576 / limit_ns / 1000;
		return;
	}
	spec = tally_of(f, &f->specs, line_text(f, l, "compute_spec"));
	spec->real = line_real(l, "gflop") / limit_ns * 1e6;
	take_add(&spec->ns, line_int(l, "kernel_ns_sum"));
}

/* Of "launch->kernel": what owns the work. */
static struct str
owner_of(struct str name)
{
	ptrdiff_t arrow = str_find(name, STR("->"), false);

	if (arrow >= 0)
		name.len = (size_t)arrow;
	return name;
}

/* "gemm.lua:62: no argument 1": where in a model is nothing to a reader. */
static struct str
without_place(struct str reason)
{
	ptrdiff_t at = str_find(reason, STR(".lua:"), false);
	size_t i;

	if (at < 0)
		return reason;
	i = (size_t)at + 5;
	while (i < reason.len && reason.p[i] >= '0' && reason.p[i] <= '9')
		i++;
	if (i + 1 >= reason.len || reason.p[i] != ':' || reason.p[i + 1] != ' ')
		return reason;
	return (struct str){ reason.p + i + 2, reason.len - i - 2 };
}

/* Of a graph's launch nothing more: its ops are not in the trace. */
static void
take_unmodelled(struct figures *f, const struct line *l, int64_t spent)
{
	struct str owner = owner_of(line_text(f, l, "name"));
	const struct val *has = line_cell(l, "has_perf_model");
	bool lacks = has->type == VAL_BOOL && has->yes;
	struct tally *op;

	if (take_ends_with(owner, "GraphLaunch"))
		return;
	if (take_is_call(owner)) {
		take_add(&f->opless_ns, spent);
		return;
	}
	op = tally_of(f, lacks ? &f->lacking : &f->unknown, owner);
	take_add(&op->ns, spent);
	if (op->what.len == 0)
		op->what = figures_text(
		    f, without_place(line_text(f, l, "model_reason")));
}

/* Percent of the roofline beyond which it is not only a matter of rounding. */
#define OVER 110

/* It can't be, so some figure is not what it is taken for. */
static void
take_over(struct figures *f, const struct line *l, int64_t spent)
{
	double reached = 100 * (1 - line_real(l, "lost_ns") / (double)spent);
	struct tally *op;

	if (spent <= 0 || reached < OVER)
		return;
	op = tally_of(f, &f->over, line_text(f, l, "name"));
	take_add(&op->ns, spent);
	take_add(&f->over_ns, spent);
	op->real = op->real > reached ? op->real : reached;
}

void
take_roofline(struct figures *f, const struct line *l)
{
	struct str bound = line_text(f, l, "roofline_bound");
	int64_t spent = line_int(l, "kernel_ns_sum");
	bool is_compute = str_starts(bound, STR("COMPUTE"));

	take_add(&f->unified_ns, spent);
	if (line_lacks(l, "lost_ns") || bound.len == 0) {
		if (!line_lacks(l, "gflop") && line_text(f, l, "roof").len == 0)
			take_add(&f->roofless_ns, spent);
		else if (line_lacks(l, "gflop"))
			take_unmodelled(f, l, spent);
		return;
	}
	take_add(
	    is_compute ? &f->compute_bound_ns : &f->memory_bound_ns, spent);
	take_add(&f->modelled_ns, spent);
	take_add(&f->lost_ns, line_int(l, "lost_ns"));
	f->roof = figures_text(f, line_text(f, l, "roof"));
	take_over(f, l, spent);
	take_intensity(f, line_real(l, "flop_per_byte"));
	take_loss(f, l, is_compute);
	take_roof(f, l, is_compute);
}
