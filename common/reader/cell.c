/* SPDX-License-Identifier: MIT */
/* The type of a cell, by its text. */
#include "reader/reader.h"

/* Beyond 2^53 doubles skip integers. */
#define INT_MAX_EXACT (INT64_C(1) << 53)

static size_t
digits(struct str s, size_t i)
{
	while (i < s.len && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return i;
}

/*
 * Whether s is a number as JSON writes it. "007", "+1", "1." and "nan" are not:
 * such texts are names more often than numbers.
 */
static bool
is_number(struct str s, bool *is_int)
{
	size_t i = s.len > 0 && s.p[0] == '-', from = i;

	i = digits(s, i);
	if (i == from || (s.p[from] == '0' && i > from + 1))
		return false;
	*is_int = i == s.len;
	if (i < s.len && s.p[i] == '.') {
		from = ++i;
		i = digits(s, i);
		if (i == from)
			return false;
	}
	if (i < s.len && (s.p[i] == 'e' || s.p[i] == 'E')) {
		i++;
		i += i < s.len && (s.p[i] == '+' || s.p[i] == '-');
		from = i;
		i = digits(s, i);
		if (i == from)
			return false;
	}
	return i == s.len;
}

struct val
val_of_number(struct str s)
{
	bool is_int;
	double real;
	int64_t i;

	if (!is_number(s, &is_int))
		return (struct val){ .type = VAL_TEXT, .text = s };
	if (is_int) {
		if (num_i64(s, &i) && i <= INT_MAX_EXACT && i >= -INT_MAX_EXACT)
			return (struct val){ .type = VAL_NUMBER,
				.is_int = true,
				.number = (double)i };
		return (struct val){ .type = VAL_BIG, .text = s };
	}
	if (!num_double(s, &real) || real - real != 0)
		return (struct val){ .type = VAL_TEXT, .text = s };
	return (struct val){ .type = VAL_NUMBER, .number = real };
}

struct val
val_of_text(struct str s)
{
	if (s.len == 0)
		return (struct val){ .type = VAL_NONE };
	if ((s.p[0] < '0' || s.p[0] > '9') && s.p[0] != '-')
		return (struct val){ .type = VAL_TEXT, .text = s };
	return val_of_number(s);
}
