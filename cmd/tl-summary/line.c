/* SPDX-License-Identifier: MIT */
/* Cells of a line of a report's table, by their columns' ids; and what is asked
 * of them in several tables. */
#include "cmd/tl-summary/take.h"

const struct val *
line_cell(const struct line *l, const char *id)
{
	static const struct val none = { .type = VAL_NONE };

	for (size_t i = 0; i < l->head->ncolumns; i++)
		if (str_eq(l->head->columns[i].id, str_of(id)))
			return &l->cells[i];
	return &none;
}

struct str
line_text(struct figures *f, const struct line *l, const char *id)
{
	const struct val *v = line_cell(l, id);
	char digits[32];

	if (v->type == VAL_TEXT || v->type == VAL_BIG)
		return v->text;
	if (v->type != VAL_NUMBER)
		return STR("");
	return figures_text(
	    f, (struct str){ digits, num_put_i64(digits, (int64_t)v->number) });
}

double
line_real(const struct line *l, const char *id)
{
	const struct val *v = line_cell(l, id);

	return v->type == VAL_NUMBER ? v->number : 0;
}

int64_t
line_int(const struct line *l, const char *id)
{
	const struct val *v = line_cell(l, id);
	int64_t n;

	if (v->type == VAL_BIG && num_i64(v->text, &n))
		return n;
	if (v->type != VAL_NUMBER || v->number >= 9e18 || v->number <= -9e18)
		return 0;
	return (int64_t)(v->number + (v->number < 0 ? -0.5 : 0.5));
}

bool
line_lacks(const struct line *l, const char *id)
{
	return line_cell(l, id)->type == VAL_NONE;
}

void
take_add(int64_t *sum, int64_t v)
{
	if (!num_add(*sum, v, sum))
		die("times add up to more than 292 years");
}

bool
take_ends_with(struct str s, const char *end)
{
	size_t n = strlen(end);

	return s.len >= n && memcmp(s.p + s.len - n, end, n) == 0;
}

bool
take_is_call(struct str name)
{
	return str_starts(name, STR("hip")) || str_starts(name, STR("cuda")) ||
	    (str_starts(name, STR("cu")) && name.len > 2 && name.p[2] >= 'A' &&
		name.p[2] <= 'Z');
}
