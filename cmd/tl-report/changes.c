/* SPDX-License-Identifier: MIT */
/* What changed against another trace, from tl-diff's tables. */
#include <stdlib.h>

#include "cmd/tl-report/changes.h"

static int64_t
size_of(const struct change *c)
{
	int64_t ns = c->after_ns - c->before_ns;

	return ns < 0 ? -ns : ns;
}

static int
by_size(const void *x, const void *y)
{
	int64_t a = size_of(x), b = size_of(y);

	return (a < b) - (a > b);
}

void
changes_finish(struct figures *f)
{
	bool has_kernels = false;
	size_t n = 0;

	for (size_t i = 0; i < f->changes.n; i++)
		has_kernels |= f->changes.v[i].of == CHANGE_KERNEL;
	for (size_t i = 0; i < f->changes.n; i++)
		if (!has_kernels || f->changes.v[i].of != CHANGE_LAUNCH)
			f->changes.v[n++] = f->changes.v[i];
	f->changes.n = n;
	/* already sorted, so ties keep their order */
	if (has_kernels && f->compares_ops)
		qsort(f->changes.v, n, sizeof *f->changes.v, by_size);
	if (n > TOP_CHANGES)
		f->changes.n = TOP_CHANGES;
}

/* "the traces are identical" as a sentence. */
struct str
change_sentence(struct figures *f, struct str text)
{
	struct buf b = { 0 };
	struct str s;

	buf_put(&b, text.p, text.len);
	if (b.len > 0 && b.p[0] >= 'a' && b.p[0] <= 'z')
		b.p[0] = (char)(b.p[0] - 'a' + 'A');
	buf_putc(&b, '.');
	s = figures_keep(f, &b);
	buf_free(&b);
	return s;
}

/* Name, what it became, shapes. */
struct str
change_name(
    struct figures *f, struct str name, struct str after, struct str dims)
{
	struct buf b = { 0 };
	struct str s;

	buf_put(&b, name.p, name.len);
	if (after.len > 0 && name.len > 0)
		buf_puts(&b, " | ");
	buf_put(&b, after.p, after.len);
	if (dims.len > 0) {
		buf_putc(&b, ' ');
		buf_put(&b, dims.p, dims.len);
	}
	s = figures_keep(f, &b);
	buf_free(&b);
	return s;
}

void
put_ratio(struct buf *b, const struct change *c)
{
	if (c->before_ns == 0)
		buf_puts(b, "new");
	else if (c->after_ns == 0)
		buf_puts(b, "gone");
	else
		buf_printf(
		    b, "%.3f", (double)c->after_ns / (double)c->before_ns);
}
