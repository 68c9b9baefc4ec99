/* SPDX-License-Identifier: MIT */
/* The sentences about a trace without GPU work: what the host did. */
#include <stdlib.h>

#include "table/table.h"

#include "cmd/tl-summary/summary.h"

static int
compare(const void *pa, const void *pb)
{
	const struct thread *a = pa, *b = pb;

	if (a->busy_ns != b->busy_ns)
		return a->busy_ns > b->busy_ns ? -1 : 1;
	return str_cmp(a->label, b->label);
}

void
host_sort(struct figures *f)
{
	if (f->threads.n > 0)
		qsort(
		    f->threads.v, f->threads.n, sizeof *f->threads.v, compare);
}

static void
say_busiest(const struct figures *f, struct buf *b)
{
	const struct thread *t = f->threads.v;

	buf_puts(b, ": in ");
	say_time(b, t->total_ns);
	if (f->threads.n == 1) {
		buf_puts(b, " the host's only thread worked ");
	} else {
		buf_printf(b, " the busiest of %zu threads of the host, ",
		    f->threads.n);
		table_fold_name(t->label, 40, b);
		buf_puts(b, ", worked ");
	}
	say_part(b, t->busy_ns, t->total_ns);
}

void
host_verdict(struct figures *f, struct buf *b)
{
	const struct tally *top;

	buf_puts(b,
	    f->ops.list.n > 0 ? "No GPU work is in the trace"
			      : "No GPU work and no op is known in the trace");
	if (f->nsources > 1)
		buf_putc(b, 's');
	if (f->threads.n > 0)
		say_busiest(f, b);
	if (f->ops_ns <= 0 || tallies_best(&f->ops, &top, 1) == 0)
		return;
	buf_puts(b, "; ops took ");
	say_time(b, f->ops_ns);
	if (top->ns == f->ops_ns) {
		buf_puts(b, ", all of it ");
		table_fold_name(top->name, 60, b);
		return;
	}
	buf_puts(b, ", ");
	say_most(b, top->ns, f->ops_ns);
	table_fold_name(top->name, 60, b);
	buf_puts(b, " (");
	say_part(b, top->ns, f->ops_ns);
	buf_puts(b, ")");
}

void
host_warnings(struct figures *f)
{
	if (f->ops.list.n == 0) { /* other tools have other marks of it */
		vec_push(&f->warnings,
		    STR("no GPU work and no ops: PyTorch's profiler and "
			"rocprofv3 mark them, other tools otherwise, of which "
			"only the threads are known here: see tl-decode(1)"));
		return;
	}
	vec_push(&f->warnings,
	    STR("no GPU work: the profiler did not record the GPU (no "
		"ProfilerActivity.CUDA, or CUPTI or roctracer failed), this "
		"process used none, or it launched nothing meanwhile: see "
		"tl-record(7)"));
}
