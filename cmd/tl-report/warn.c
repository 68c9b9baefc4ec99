/* SPDX-License-Identifier: MIT */
/* Warnings: what the figures lack. */
#include "table/table.h"

#include "cmd/tl-report/figures.h"

#define NAMES_SHOWN 3

/* "12.3 % of op time lacks ..."; false below least percent. */
static bool
put_lack(struct buf *b, int64_t part, int64_t whole, double least,
    const char *of_what, const char *lacks)
{
	if (part <= 0 || share_of(part, whole) < least)
		return false;
	put_part(b, part, whole);
	buf_printf(b, " of %s%s", of_what, lacks);
	return true;
}

static void
warn(struct figures *f, struct buf *b)
{
	vec_push(&f->warnings, figures_keep(f, b));
}

/* Whether the list of ops has less time for it: its own, without children. */
static bool
has_children(const struct figures *f, const struct tally *op)
{
	for (size_t i = 0; i < f->ops.list.n; i++)
		if (str_eq(f->ops.list.v[i].name, op->name))
			return f->ops.list.v[i].ns < op->ns;
	return false;
}

/* "(12.0 % with its children, no argument 1)"; the share if one of several. */
static void
put_detail(const struct figures *f, struct buf *b, const struct tally *op,
    int64_t whole, bool has_reason)
{
	size_t from = b->len;

	buf_puts(b, " (");
	if (whole > 0)
		put_part(b, op->ns, whole);
	if (has_children(f, op))
		buf_puts(
		    b, whole > 0 ? " with its children" : "with its children");
	if (has_reason) {
		buf_puts(b, b->len > from + 2 ? ", " : "");
		buf_put(b, op->what.p, op->what.len);
	}
	if (b->len > from + 2)
		buf_putc(b, ')');
	else
		b->len = from;
}

/* The largest with their shares: ": mm (12.0 %), conv (3.1 %), ...". */
static void
put_names(const struct figures *f, struct buf *b, const struct tallies *t,
    int64_t whole, bool has_reason)
{
	const struct tally *best[NAMES_SHOWN];
	size_t n = tallies_best(t, best, NAMES_SHOWN);

	for (size_t i = 0; i < n; i++) {
		buf_puts(b, i == 0 ? ": " : ", ");
		table_fold_name(best[i]->name, 60, b);
		if (best[i]->real > 0)
			buf_printf(b, " at %.0f %%", best[i]->real);
		put_detail(
		    f, b, best[i], t->list.n > 1 ? whole : 0, has_reason);
	}
	if (t->list.n > n)
		buf_puts(b, ", ...");
}

/* Why there are no losses to the roofline. */
static void
warn_roofs(struct figures *f, struct buf *b)
{
	const struct facts *facts = &f->set->facts;

	if (f->roofless_ns <= 0 || f->modelled_ns > 0)
		return;
	buf_puts(b, "no roofline: ");
	if (facts->devices_differ) {
		buf_puts(b, "the traces are from several kinds of GPU");
	} else if (facts->device.len > 0) {
		buf_puts(b, "no figures for ");
		table_fold_name(facts->device, 0, b);
	} else {
		buf_puts(b, "the trace does not name its GPU");
	}
	buf_puts(b, "; name the GPU with --arch");
	warn(f, b);
}

/* Why ops have no roofline; missing shapes have their own warning. */
static void
warn_models(struct figures *f, struct buf *b, bool has_shapes)
{
	int64_t whole = f->unified_ns;

	if (share_of(tallies_sum(&f->unknown), whole) >= 10) {
		buf_puts(b, "no performance model for ");
		(void)put_lack(b, tallies_sum(&f->unknown), whole, 0,
		    bound_op_time(f), "");
		put_names(f, b, &f->unknown, whole, false);
		warn(f, b);
	}
	if (has_shapes &&
	    put_lack(b, tallies_sum(&f->lacking), whole, 10, bound_op_time(f),
		" lacks what its performance model needs")) {
		put_names(f, b, &f->lacking, whole, true);
		warn(f, b);
	}
	if (put_lack(b, f->over_ns, f->modelled_ns, 5, "op time",
		" with a model exceeds the roofline (TF32? wrong "
		"--arch?)")) {
		put_names(f, b, &f->over, f->modelled_ns, false);
		warn(f, b);
	}
}

/*
 * Unlinked work is in no table of ops, except XLA's kernels, which name their
 * op. On an idle GPU it can be little of the time and most of the work.
 */
static void
warn_unlinked(struct figures *f, struct buf *b, bool is_all)
{
	const struct rank *all = &f->all;
	bool has_tables = !is_all || f->has_op_table;
	/* the bar may be of another window */
	const char *of = f->window.total_ns == all->total_ns ? "the time"
	    : select_is_of_steps(&f->set->select)
	    ? "the steps' wall time"
	    : "the time from first to last event";

	if (put_lack(b, all->unlinked_ns, all->total_ns, 1, of, " is "))
		buf_printf(b, "%s work without a launch in the trace", f->gpu);
	else if (!put_lack(b, all->unlinked_ns, all->busy_ns, 10, f->gpu,
		     " time has no launch in the trace"))
		return;
	if (f->set->is_xla && has_tables)
		buf_puts(b,
		    is_all ? ": no launch tables"
			   : ": not in the launch tables");
	else
		buf_puts(b,
		    has_tables ? ": not in the op tables" : ": no op tables");
	warn(f, b);
}

static void
warn_gpu(struct figures *f, struct buf *b)
{
	const struct rank *all = &f->all;
	bool all_unlinked =
	    all->busy_ns > 0 && all->unlinked_ns >= all->busy_ns;
	bool has_shapes = share_of(f->shapeless_ns, f->args_ns) < 5;

	warn_unlinked(f, b, all_unlinked);
	if (!f->has_op_table && !all_unlinked && !f->set->is_rocprof)
		vec_push(&f->warnings,
		    all->compute_ns == 0 && all->all_comm_ns > 0
			? STR("ops launched only communication: no op tables")
			: STR("no ops in the trace: no op tables"));
	if (put_lack(b, f->graph_ns, f->ops_ns, 1, bound_op_time(f),
		" is inside graph replays: pass their captures with "
		"--capture, see tl-record(7)"))
		warn(f, b);
	if (put_lack(b, f->opless_ns, f->unified_ns, 5, bound_op_time(f),
		" is kernels launched outside any op"))
		warn(f, b);
	if (put_lack(b, f->shapeless_ns, f->args_ns, 5, "op time",
		" has no recorded shapes")) {
		if (f->lacking.list.n > 0)
			buf_puts(b, ", and so no roofline");
		buf_puts(b,
		    f->set->is_xla ? ": the profile has no HLO for these ops"
				   : ": set record_shapes, see tl-record(7)");
		warn(f, b);
	}
	warn_roofs(f, b);
	warn_models(f, b, has_shapes);
}

/*
 * Messages that are not repeated: the screen has them with a share, or they
 * only point to other warnings of the same programs.
 */
static bool
is_said(const char *id)
{
	static const enum report_id said[] = { MSG_MODEL_LACKS, MSG_NO_LAUNCHES,
		MSG_NO_OP_OWNS, MSG_HELPER_WARNED, MSG_INPUT_WARNED,
		MSG_CLOCKS_WARNED };

	for (size_t i = 0; i < sizeof said / sizeof *said; i++)
		if (report_find(str_of(id)) == said[i])
			return true;
	return false;
}

/* Trust comes first: the first finding of the worst trace. */
static bool
take_health(struct figures *f, const struct told *told)
{
	enum report_id id = report_find(str_of(told->id));
	bool is_worse = id == MSG_HEALTH_MISLEADING;

	if (!is_worse && id != MSG_HEALTH_USABLE)
		return false;
	f->nunsound++;
	if (f->health.len == 0 || (is_worse && f->nmisleading == 0))
		f->health = str_of(told->sentence);
	f->nmisleading += is_worse;
	return true;
}

static void
finish_health(struct figures *f, struct buf *b)
{
	if (f->nunsound < 2)
		return;
	buf_printf(b, "%.*s; and %zu more: see tl-health", (int)f->health.len,
	    f->health.p, f->nunsound - 1);
	f->health = figures_keep(f, b);
}

/* In a comparison a warning names its side. */
static void
name_side(struct figures *f, struct str *s, struct buf *b)
{
	put_side(f, b);
	buf_put(b, s->p, s->len);
	*s = figures_keep(f, b);
}

/*
 * Warnings about both sides are among those of the first. Which step is
 * selected is none.
 */
static void
take_told(struct figures *f, const struct told *told, struct buf *b)
{
	unsigned own = 1u << f->set->side;
	bool is_own = (told->sides & own) != 0;

	if (!is_own && (told->sides != 0 || f->set->side > 0))
		return;
	if (take_health(f, told) || is_said(told->id) ||
	    (f->set->side > 0 && told->sides != own))
		return;
	if (report_find(str_of(told->id)) == MSG_SLOWEST_STEP) {
		vec_push(&f->notes, str_of(told->sentence));
		return;
	}
	vec_push(&f->warnings, str_of(told->sentence));
	if (told->sides == own)
		name_side(f, &f->warnings.v[f->warnings.n - 1], b);
}

void
warnings_make(struct figures *f, const struct jobs *j)
{
	struct buf b = { 0 };

	if (f->set->is_host)
		host_warnings(f);
	else
		warn_gpu(f, &b);
	for (size_t i = 0; i < f->warnings.n; i++)
		name_side(f, &f->warnings.v[i], &b);
	for (size_t i = 0; i < j->told.n; i++)
		take_told(f, &j->told.v[i], &b);
	finish_health(f, &b);
	buf_free(&b);
}
