/* SPDX-License-Identifier: MIT */
/* Names of a list on the screen: distinct ones stay distinct when shortened. */
#include "table/table.h"

#include "cmd/tl-report/screen.h"

#define WHOLE 100000 /* columns: nothing is folded */
#define FOLD_TIMES 3 /* column widths: a milder folding, to compare */

static struct str
fold(struct figures *f, struct str name, size_t width)
{
	struct buf b = { 0 };
	struct str s;

	table_fold_name(name, width, &b);
	s = figures_keep(f, &b);
	buf_free(&b);
	return s;
}

/* Shapes without the empty lists at their end, which are scalars. */
static struct str
without_scalars(struct figures *f, struct str name)
{
	static const char end[] = ",[]]";
	size_t n = name.len;
	struct buf b = { 0 };
	struct str s;

	while (
	    n >= sizeof end && memcmp(name.p + n - sizeof end + 1, end, 3) == 0)
		n -= 3;
	if (n == name.len || name.p[name.len - 1] != ']')
		return name;
	buf_put(&b, name.p, n - 1);
	buf_putc(&b, ']');
	s = figures_keep(f, &b);
	buf_free(&b);
	return s;
}

size_t
names_most(const struct settings *s, size_t usual)
{
	int64_t n;

	if (s->top == NULL || !num_i64(str_of(s->top), &n))
		return usual;
	return n > 0 && n < NAMES_MAX ? (size_t)n : NAMES_MAX;
}

size_t
names_widest(const struct names_shown *n)
{
	size_t widest = 0;

	for (size_t i = 0; i < n->n; i++) {
		size_t w = text_width(n->shown[i]);

		widest = w > widest ? w : widest;
	}
	return widest;
}

/*
 * Names that fold to the same text show where they differ: in what a milder
 * folding keeps, or else anywhere.
 */
void
names_show(struct figures *f, struct names_shown *n, size_t width)
{
	struct str folded[NAMES_MAX], whole[NAMES_MAX];

	for (size_t i = 0; i < n->n; i++) {
		struct str name = without_scalars(f, n->name[i]);

		whole[i] = fold(f, n->name[i], WHOLE);
		folded[i] = fold(f, name, FOLD_TIMES * width);
		n->shown[i] = fold(f, name, width);
	}
	texts_distinct(folded, n->shown, n->n, width, f->text);
	texts_distinct(whole, n->shown, n->n, width, f->text);
}
