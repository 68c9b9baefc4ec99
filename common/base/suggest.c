/* SPDX-License-Identifier: MIT */
/* Suggests the known word nearest to a wrong one, if any is near. */
#include <stdlib.h>

#include "base/base.h"

#define NEAR_MAX 3  /* suggestions */
#define WORD_MAX 64 /* longer words get none */

static size_t
min_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * The edit distance: letters inserted, removed, changed, or swapped with the
 * next.
 */
static size_t
distance(struct str a, struct str b)
{
	size_t rows[3][WORD_MAX + 1];

	if (a.len > WORD_MAX || b.len > WORD_MAX)
		return SIZE_MAX;
	for (size_t k = 0; k <= b.len; k++)
		rows[0][k] = k;
	for (size_t i = 1; i <= a.len; i++) {
		size_t *row = rows[i % 3], *last = rows[(i + 2) % 3];
		const size_t *before = rows[(i + 1) % 3]; /* two rows back */

		row[0] = i;
		for (size_t k = 1; k <= b.len; k++) {
			bool differs = a.p[i - 1] != b.p[k - 1];

			row[k] = min_of(last[k - 1] + differs,
			    min_of(row[k - 1], last[k]) + 1);
			if (differs && i > 1 && k > 1 &&
			    a.p[i - 1] == b.p[k - 2] &&
			    a.p[i - 2] == b.p[k - 1])
				row[k] = min_of(row[k], before[k - 2] + 1);
		}
	}
	return rows[a.len % 3][b.len];
}

/* Whether all its letters occur in this order, as for dir_ns. */
static bool
is_short_for(struct str known, struct str word)
{
	size_t k = 0;

	for (size_t i = 0; i < known.len && k < word.len; i++)
		k += known.p[i] == word.p[k];
	return k == word.len && known.p[0] == word.p[0];
}

/* How a word may be meant: only the first rule that holds counts. */
enum {
	A_PART = 0, /* its beginning, then a part of it */
	MISSPELT = 1 << 20,
	SHORT = 2 << 20,
	FAR = SUGGEST_FAR,
};

size_t
suggest_distance(struct str known, struct str word)
{
	/* at most a third of its letters, or any short word would be near */
	size_t d, most = word.len <= 5 ? 1 : word.len / 3;
	ptrdiff_t at = word.len >= 3 ? str_find(known, word, true) : -1;

	if (at >= 0)
		return A_PART + min_of(known.len, MISSPELT / 2) +
		    (at > 0 ? WORD_MAX : 0);
	d = known.len <= word.len + most ? distance(known, word) : SIZE_MAX;
	if (d <= most && d < word.len)
		return MISSPELT + d;
	if (word.len >= 3 && known.len <= WORD_MAX && is_short_for(known, word))
		return SHORT + known.len;
	return FAR;
}

bool
suggest_put(struct buf *b, struct str word, const char *const known[], size_t n,
    const char *prefix)
{
	size_t *far = xcalloc(n + 1, sizeof *far), nput = 0, sort = FAR;

	for (size_t i = 0; i < n; i++)
		far[i] = suggest_distance(str_of(known[i]), word);
	far[n] = FAR;
	for (; nput < NEAR_MAX; nput++) {
		size_t best = n;

		for (size_t i = 0; i < n; i++)
			best = far[i] < far[best] ? i : best;
		if (nput == 0)
			sort = far[best] & FAR;
		if (best == n || (far[best] & FAR) != sort)
			break;
		buf_printf(b, "%s %s%s", nput == 0 ? ": is it" : " or", prefix,
		    known[best]);
		far[best] = FAR;
		/* in the other case: the word itself */
		if (sort == A_PART && strlen(known[best]) == word.len) {
			nput++;
			break;
		}
	}
	if (nput > 0)
		buf_putc(b, '?');
	free(far);
	return nput > 0;
}
