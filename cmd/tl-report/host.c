/* SPDX-License-Identifier: MIT */
/* A trace without GPU work: what the host did. */
#include <stdlib.h>

#include "table/table.h"

#include "cmd/tl-report/figures.h"

/* ---- its tables ---- */

/* A thread without a name is shown by number. */
void
host_take_thread(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct str name = line_text(l, "thread_name");
	struct thread t = { .total_ns = line_int(l, "total_ns"),
		.busy_ns = line_int(l, "busy_ns"),
		.op_ns = line_int(l, "op_ns") };
	struct buf b = { 0 };

	if (!line_lacks(l, "rank"))
		buf_printf(&b, "rank %" PRId64 " ", line_int(l, "rank"));
	if (!line_lacks(l, "src"))
		buf_printf(&b, "trace %" PRId64 " ", line_int(l, "src"));
	if (str_eq(name, STR("Unknown"))) {
		buf_puts(&b, "thread ");
		name = line_text(l, "tid");
	}
	buf_put(&b, name.p, name.len);
	t.label = figures_text(f, buf_str(&b));
	vec_push(&f->threads, t);
	buf_free(&b);
}

/* Only the category is needed. */
void
host_take_args(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct tally *op = tally_of(f, &f->ops, line_text(l, "name"));

	if (op->what.len == 0)
		op->what = figures_text(f, line_text(l, "op_category"));
}

/* ---- the verdict ---- */

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
put_busiest(const struct figures *f, struct buf *b)
{
	const struct thread *t = f->threads.v;

	if (f->threads.n == 1) {
		buf_puts(b, " Its only host thread is busy ");
	} else {
		buf_printf(
		    b, " The busiest of %zu host threads, ", f->threads.n);
		table_fold_name(t->label, 40, b);
		buf_puts(b, ", is busy ");
	}
	put_part(b, t->busy_ns, t->total_ns);
	buf_puts(b, " of ");
	put_time(b, t->total_ns);
	buf_putc(b, '.');
}

void
host_verdict(struct figures *f, struct buf *b)
{
	const struct tally *top;

	buf_puts(b,
	    f->ops.list.n > 0 ? "No GPU work in "
			      : "No GPU work and no known op in ");
	if (f->set->facts.is_lossy)
		buf_puts(b,
		    "what was salvaged; the rest of the file, which may hold "
		    "some, is missing.");
	else
		buf_puts(b,
		    f->set->facts.nsources > 1 ? "the traces." : "the trace.");
	if (f->threads.n > 0)
		put_busiest(f, b);
	if (f->ops_ns <= 0 || tallies_best(&f->ops, &top, 1) == 0)
		return;
	buf_puts(b, " Ops took ");
	put_time(b, f->ops_ns);
	buf_puts(b, " on the host; ");
	table_fold_name(top->name, 60, b);
	buf_puts(b, " is ");
	put_part(b, top->ns, f->ops_ns);
	buf_puts(b, " of that.");
}

void
host_warnings(struct figures *f)
{
	if (f->set->facts.is_lossy)
		return; /* the verdict says why */
	vec_push(&f->warnings,
	    f->set->is_xla
		? STR("no GPU work: JAX ran on the CPU, or the profiler did "
		      "not record the GPU")
		: f->ops.list.n == 0 /* other tools have other marks of it */
		? STR("no GPU work and no ops: only threads are read from "
		      "tools other than PyTorch's profiler and rocprofv3, see "
		      "tl-decode(1)")
		: STR("no GPU work: the profiler did not record the GPU (no "
		      "ProfilerActivity.CUDA, or CUPTI or roctracer failed), "
		      "or this process launched none: see tl-record(7)"));
}
