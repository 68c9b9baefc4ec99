/* SPDX-License-Identifier: MIT */
/*
 * A column that a table does not have: which ones are meant is told, rather
 * than all, of which there can be sixty.
 */
#include "table/view.h"

#define NEAR_MAX 3  /* told as nearest */
#define ALL_MAX 10  /* of this many all are told */
#define WORD_MAX 64 /* longer words are near to nothing */

/*
 * How many letters must be put in, left out or changed to make one of the
 * other; neighbours that changed places count once.
 */
static size_t
distance(struct str a, struct str b)
{
	size_t rows[3][WORD_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];

	if (a.len > WORD_MAX || b.len > WORD_MAX)
		return SIZE_MAX;
	for (size_t k = 0; k <= b.len; k++)
		last[k] = k;
	for (size_t i = 1; i <= a.len; i++) {
		size_t *oldest = before;

		now[0] = i;
		for (size_t k = 1; k <= b.len; k++) {
			size_t d = last[k - 1] + (a.p[i - 1] != b.p[k - 1]);

			d = last[k] + 1 < d ? last[k] + 1 : d;
			d = now[k - 1] + 1 < d ? now[k - 1] + 1 : d;
			if (i > 1 && k > 1 && a.p[i - 1] == b.p[k - 2] &&
			    a.p[i - 2] == b.p[k - 1] && before[k - 2] + 1 < d)
				d = before[k - 2] + 1;
			now[k] = d;
		}
		before = last;
		last = now;
		now = oldest;
	}
	return last[b.len];
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
	/* a part of its name: the shorter the rest, the nearer */
	if (word.len < 3)
		return SIZE_MAX;
	if (str_find(id, word, true) >= 0)
		return WORD_MAX + id.len;
	return is_short_for(id, word) ? 1000 + id.len : SIZE_MAX;
}

/* The nearest of those that are not told yet; n: none. */
static size_t
next_near(const struct column *columns, size_t n, struct str word,
    const size_t *told, size_t ntold)
{
	size_t best = n, least = SIZE_MAX;

	for (size_t i = 0; i < n; i++) {
		size_t far = how_far(str_of(columns[i].id), word);
		bool is_told = false;

		for (size_t k = 0; k < ntold; k++)
			is_told |= told[k] == i;
		if (!is_told && far < least) {
			least = far;
			best = i;
		}
	}
	return best;
}

noreturn void
columns_refuse(const char *table, const struct column *columns, size_t n,
    const char *option, struct str word)
{
	struct buf b = { 0 };
	size_t told[NEAR_MAX], ntold = 0, at;

	while (ntold < NEAR_MAX &&
	    (at = next_near(columns, n, word, told, ntold)) < n) {
		buf_printf(&b, "%s %s", ntold == 0 ? ": is it" : " or",
		    columns[at].id);
		told[ntold++] = at;
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
