/* SPDX-License-Identifier: MIT */
/* Values in full precision, for the formats that programs read. */
#include "table/view.h"

struct str
value_head(const struct column *col, bool labels)
{
	return str_of(labels && col->label != NULL ? col->label : col->id);
}

/* v / div when that is an integer. */
static bool
divide_exactly(int64_t v, double div, int64_t *out)
{
	int64_t d;

	if (!(div >= 1 && div <= 9e18))
		return false;
	d = (int64_t)div;
	if ((double)d != div || v % d != 0)
		return false;
	*out = v / d;
	return true;
}

double
value_div(const struct column *col, bool labels)
{
	return labels && col->label != NULL && col->label_div != 0
	    ? col->label_div
	    : 1;
}

size_t
value_number(
    char *out, const struct cell *c, const struct column *col, bool labels)
{
	double div = value_div(col, labels), real;
	int64_t i;

	if (c->type == CELL_INT && divide_exactly(c->i, div, &i))
		return num_put_i64(out, i);
	real = c->type == CELL_INT ? (double)c->i : c->real;
	return num_put_double(out, div == 1 ? real : real / div);
}

void
value_put(struct buf *out, struct view *v, const struct cell *c,
    const struct column *col, bool labels)
{
	struct number_text *last = &v->last;
	double div = value_div(col, labels);
	char text[VALUE_MAX];
	uint64_t bits;

	if (c->type == CELL_INT) {
		buf_put(out, text, value_number(text, c, col, labels));
		return;
	}
	memcpy(&bits, &c->real, sizeof bits);
	if (last->len == 0 || last->div != div || last->bits != bits) {
		last->bits = bits;
		last->div = div;
		last->len = value_number(last->text, c, col, labels);
	}
	buf_put(out, last->text, last->len);
}
