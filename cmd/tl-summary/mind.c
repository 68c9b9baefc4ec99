/* SPDX-License-Identifier: MIT */
/* The warnings: what to mind of a trace with GPU work. */
#include "table/table.h"

#include "cmd/tl-summary/summary.h"

/* One warning: before, a share, behind; from least percent on. */
static void
mind(struct figures *f, int64_t part, int64_t whole, double least,
    const char *before, const char *behind)
{
	struct buf b = { 0 };

	if (part <= 0 || share_of(part, whole) < least)
		return;
	buf_puts(&b, before);
	say_share(&b, part, whole);
	buf_puts(&b, behind);
	vec_push(&f->warnings, say_keep(f, &b));
	buf_free(&b);
}

/* Without its roofs nothing is said of what is lost: why there are none. */
static void
mind_roofs(struct figures *f)
{
	struct buf b = { 0 };

	if (f->roofless_ns <= 0 || f->modelled_ns > 0)
		return;
	buf_puts(&b, "no roofline: ");
	if (f->devices_differ) {
		buf_puts(&b, "the traces are of several kinds of GPU");
	} else if (f->device.len > 0) {
		buf_puts(&b, "there are no figures of ");
		table_fold_name(f->device, 0, &b);
	} else {
		buf_puts(&b, "the trace does not name its GPU");
	}
	buf_puts(&b, "; --arch says which it is, or what it can do");
	vec_push(&f->warnings, say_keep(f, &b));
	buf_free(&b);
}

/* Its name behind a warning, of several. */
static const char *
above_all(struct figures *f, const struct tallies *t, const char *before)
{
	const struct tally *top;
	struct buf b = { 0 };
	const char *said;

	if (tallies_best(t, &top, 1) == 0)
		return before;
	buf_puts(&b, before);
	buf_puts(&b, t->list.n > 1 ? ", above all " : ": ");
	table_fold_name(top->name, 60, &b);
	if (top->real > 0)
		buf_printf(&b, " at %.0f %%", top->real);
	buf_putc(&b, '\0');
	said = say_keep(f, &b).p;
	buf_free(&b);
	return said;
}

/* Why ops have no roofline; without shapes that was said. */
static void
mind_models(struct figures *f, bool has_shapes)
{
	int64_t lacking_ns = tallies_sum(&f->lacking);
	const struct tally *top;
	struct buf b = { 0 };

	mind(f, tallies_sum(&f->unknown), f->unified_ns, 10, "ops of ",
	    above_all(f, &f->unknown,
		" of the time have no roofline, as no model knows them"));
	if (has_shapes && tallies_best(&f->lacking, &top, 1) == 1) {
		buf_puts(&b,
		    above_all(f, &f->lacking,
			" of the time have no roofline, as the trace lacks "
			"what their models need"));
		buf_puts(&b, " (");
		buf_put(&b, top->what.p, top->what.len);
		buf_puts(&b, ")");
		buf_putc(&b, '\0');
		mind(f, lacking_ns, f->unified_ns, 10, "ops of ", b.p);
		buf_free(&b);
	}
	mind(f, f->over_ns, f->modelled_ns, 5, "ops of ",
	    above_all(f, &f->over,
		" of the time are faster than the roofline has it (another "
		"arithmetic such as TF32, data from caches, or not this GPU: "
		"see --arch)"));
}

/*
 * Without a launch, and so in no table of ops. Where the GPU was hardly busy
 * that is little of the time, but can be most of the work.
 */
static void
mind_unlinked(struct figures *f, bool has_tables)
{
	static const char *const of_time[] = {
		" of the time has no launch in the trace: there are no tables "
		"of ops",
		" of the time has no launch in the trace: tables of ops do not "
		"count it",
	};
	static const char *const of_busy[] = {
		" of the busy time has no launch in the trace: there are "
		"no tables of ops",
		" of the busy time has no launch in the trace: tables of "
		"ops do not count it",
	};
	const struct rank *all = &f->all;

	if (share_of(all->unlinked_ns, all->total_ns) >= 1)
		mind(f, all->unlinked_ns, all->total_ns, 1, "GPU work of ",
		    of_time[has_tables]);
	else
		mind(f, all->unlinked_ns, all->busy_ns, 10, "GPU work of ",
		    of_busy[has_tables]);
}

void
mind_all(struct figures *f)
{
	const struct rank *all = &f->all;
	bool all_unlinked =
	    all->busy_ns > 0 && all->unlinked_ns >= all->busy_ns;
	bool has_shapes = share_of(f->shapeless_ns, f->args_ns) < 5;

	if (share_of(all->busy_ns, all->total_ns) < 50)
		mind(f, all->busy_ns > 0 ? all->busy_ns : 1, all->total_ns, 0,
		    "the GPU was busy only ", " of the time");
	mind_unlinked(f, !all_unlinked || f->has_ops);
	if (!f->has_ops && !all_unlinked && !f->is_rocprof)
		vec_push(&f->warnings,
		    all->compute_ns == 0 && all->all_comm_ns > 0
			? STR("no op launched more than communication: there "
			      "are no tables of ops")
			: STR("the trace holds no ops of the host: there are "
			      "no tables of ops"));
	mind(f, f->graph_ns, f->ops_ns, 1, "graph launches hide the ops of ",
	    " of the time of ops: --capture shows them, see tl-record(7)");
	mind(f, f->opless_ns, f->unified_ns, 5, "kernels of ",
	    " of the time of ops were launched outside of any op, by calls of "
	    "the runtime");
	mind(f, f->shapeless_ns, f->args_ns, 5, "ops of ",
	    tallies_sum(&f->lacking) > 0
		? " of the time have no shapes, and so no roofline: "
		  "record_shapes was off, see tl-record(7)"
		: " of the time have no shapes: record_shapes was off, see "
		  "tl-record(7)");
	mind_roofs(f);
	mind_models(f, has_shapes);
}
