/* SPDX-License-Identifier: MIT */
/*
 * A column that a table does not have: which ones are meant is told, rather
 * than all, of which there can be sixty.
 */
#include "table/view.h"

#define NEAR_MAX 3  /* told as nearest */
#define ALL_MAX 10  /* of this many all are told */
#define WORD_MAX 64 /* longer words are near to nothing */

/* How many letters must be put in, left out or changed to make one the other.
 */
static size_t
distance(struct str a, struct str b)
{
	size_t row[WORD_MAX + 1];

	if (a.len > WORD_MAX || b.len > WORD_MAX)
		return SIZE_MAX;
	for (size_t k = 0; k <= b.len; k++)
		row[k] = k;
	for (size_t i = 1; i <= a.len; i++) {
		size_t changed = row[0];

		row[0] = i;
		for (size_t k = 1; k <= b.len; k++) {
			size_t d = changed + (a.p[i - 1] != b.p[k - 1]);

			changed = row[k];
			d = row[k - 1] + 1 < d ? row[k - 1] + 1 : d;
			row[k] = row[k] + 1 < d ? row[k] + 1 : d;
		}
	}
	return row[b.len];
}

/* Whether all its letters come in this order, as those of dir_ns do. */
static bool
is_short_for(struct str id, struct str word)
{
	size_t k = 0;

	for (size_t i = 0; i < id.len && k < word.len; i++)
		k += id.p[i] == word.p[k];
	return k == word.len;
}

/* The smaller, the nearer; SIZE_MAX: something else. */
static size_t
how_far(struct str id, struct str word)
{
	size_t d = distance(id, word);

	/* not all its letters: then any would be near */
	if (d <= 1 + word.len / 4 && d < word.len)
		return d;
	if (word.len < 3 || !is_short_for(id, word))
		return SIZE_MAX;
	/* a part of its name: the shorter the rest, the nearer */
	return id.len + (str_find(id, word, true) >= 0 ? WORD_MAX : 1000);
}

noreturn void
columns_refuse(const char *table, const struct column *columns, size_t n,
    const char *option, struct str word)
{
	size_t *far = xcalloc(n + 1, sizeof *far), ntold = 0;
	struct buf b = { 0 };

	for (size_t i = 0; i < n; i++)
		far[i] = how_far(str_of(columns[i].id), word);
	far[n] = SIZE_MAX;
	for (; ntold < NEAR_MAX; ntold++) {
		size_t best = n;

		for (size_t i = 0; i < n; i++)
			best = far[i] < far[best] ? i : best;
		if (best == n)
			break;
		buf_printf(&b, "%s %s", ntold == 0 ? ": is it" : " or",
		    columns[best].id);
		far[best] = SIZE_MAX;
	}
	if (ntold > 0)
		buf_putc(&b, '?');
	for (size_t i = 0; ntold == 0 && i < n && i < ALL_MAX; i++)
		buf_printf(
		    &b, "%s %s", i == 0 ? "; it has" : "", columns[i].id);
	if (ntold == 0 && n > ALL_MAX)
		buf_printf(&b, " and %zu more: see the page", n - ALL_MAX);
	die_usage("%s: %s has no column '%.*s'%.*s", option, table,
	    (int)word.len, word.p, (int)b.len, b.p);
}
