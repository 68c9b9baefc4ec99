/* SPDX-License-Identifier: MIT */
/*
 * Alignment of two lists of symbols by edit distance, 64 cells a step.
 *
 * E[i][j] is the distance of the first i of a and the first j of b. Going down
 * a column E changes by -1, 0 or +1, so a column is two bit vectors, of its
 * rises and of its falls, and the next column follows from them and from where
 * b's symbol stands in a (Myers 1999; Hyyrö 2003). Tracing back only asks
 * whether E[i][j] = E[i-1][j] + 1, which is the bit of a rise: they are kept,
 * m n bits. Where that is too much, the vectors of some columns are kept, and
 * the columns between two of them are worked out again when they are needed.
 *
 * Of long lists only a band of rows about the diagonals of both ends is worked
 * out (Ukkonen 1985), as if E rose by 1 a step beyond it. Then E is too large
 * at most, and right where it is less than what leaving the band and coming
 * back costs: a step for each diagonal on the way. Tracing back keeps an upper
 * bound of E; when it leaves the band, or E may be no less than that, a wider
 * one is tried. So the result is that of the whole table.
 */
#include <stdlib.h>

#include "cmd/tl-diff/diff.h"

#ifndef BAND_MIN      /* a test has smaller ones */
#define BAND_MIN 4096 /* rows from which on a band is tried */
#define BAND_FIRST 512
#endif

/* Symbols that stand often in a have a bit vector, the others are listed. */
#define DENSE_MAX 64

struct symbol {
	uint32_t first, n; /* in places */
	uint64_t *bits;    /* NULL: listed */
};

struct aligner {
	const uint32_t *b;
	size_t m, n;
	size_t words;      /* of a whole column */
	size_t width;      /* half of the band's, SIZE_MAX: all rows */
	size_t stored;     /* words that are kept of a column */
	size_t top_word;   /* the band's first, of the column at hand */
	uint64_t top;      /* E above that word */
	struct map number; /* symbol to index in symbols */
	struct symbol *symbols;
	uint32_t *places; /* in a, symbol by symbol */
	uint64_t *dense;
	uint64_t *eq;          /* of a listed symbol: all zeroes between uses */
	uint64_t *rise, *fall; /* the column */
	size_t block;          /* columns between two that are kept */
	uint64_t *kept;        /* rise and fall before each block */
	uint64_t *rises; /* of the block at hand: of each of its columns */
};

/* ---- where a symbol stands ---- */

static void
index_symbols(struct aligner *al, const uint32_t *a)
{
	size_t nsymbols = 0, at = 0, ndense = 0;

	for (size_t i = 0; i < al->m; i++) {
		bool is_new;
		uint64_t *slot = map_put(&al->number, a[i], &is_new);

		if (is_new)
			*slot = nsymbols++;
	}
	al->symbols = xcalloc(nsymbols + 1, sizeof *al->symbols);
	al->places = xmalloc((al->m + 1) * sizeof *al->places);
	for (size_t i = 0; i < al->m; i++)
		al->symbols[*map_get(&al->number, a[i])].n++;
	for (size_t k = 0; k < nsymbols; k++) {
		struct symbol *s = &al->symbols[k];

		s->first = (uint32_t)at;
		at += s->n;
		if (s->n > al->words && ndense < DENSE_MAX)
			s->bits = (uint64_t *)(uintptr_t)++ndense;
		s->n = 0;
	}
	al->dense = xcalloc(ndense * al->words + 1, sizeof *al->dense);
	for (size_t k = 0; k < nsymbols; k++)
		if (al->symbols[k].bits != NULL)
			al->symbols[k].bits = al->dense +
			    ((uintptr_t)al->symbols[k].bits - 1) * al->words;
	for (size_t i = 0; i < al->m; i++) {
		struct symbol *s = &al->symbols[*map_get(&al->number, a[i])];

		al->places[s->first + s->n++] = (uint32_t)i;
		if (s->bits != NULL)
			s->bits[i / 64] |= UINT64_C(1) << (i % 64);
	}
}

static const struct symbol *
symbol_of(const struct aligner *al, uint32_t symbol)
{
	const uint64_t *slot = map_get(&al->number, symbol);

	return slot != NULL ? &al->symbols[*slot] : NULL;
}

static void
set_eq(struct aligner *al, const struct symbol *s, bool on)
{
	for (uint32_t k = 0; k < s->n; k++) {
		uint32_t i = al->places[s->first + k];
		uint64_t bit = UINT64_C(1) << (i % 64);

		if (on)
			al->eq[i / 64] |= bit;
		else
			al->eq[i / 64] &= ~bit;
	}
}

/* ---- columns ---- */

/*
 * The next column. E[0][j] = j: what comes in at the top is a rise of the row.
 */
static void
step_words(struct aligner *al, const uint64_t *eq, size_t first, size_t behind)
{
	uint64_t carry = 0, rise_in = 1, fall_in = 0;

	for (size_t w = first; w < behind; w++) {
		uint64_t up = al->rise[w], down = al->fall[w];
		uint64_t x = eq[w] | down;
		uint64_t sum, h_rise, h_fall, diagonal;
		bool over = __builtin_add_overflow(x & up, up, &sum);

		over |= __builtin_add_overflow(sum, carry, &sum);
		carry = over;
		diagonal = (sum ^ up) | x;
		h_rise = down | ~(diagonal | up);
		h_fall = up & diagonal;
		x = h_rise << 1 | rise_in;
		rise_in = h_rise >> 63;
		sum = h_fall << 1 | fall_in;
		fall_in = h_fall >> 63;
		al->rise[w] = sum | ~(diagonal | x);
		al->fall[w] = x & diagonal;
	}
}

/* The band's words in column j, counted from 1: the first, and behind it. */
static size_t
band_first(const struct aligner *al, size_t j)
{
	size_t back = al->width + (al->n > al->m ? al->n - al->m : 0);

	if (al->width == SIZE_MAX || j <= back)
		return 0;
	return (j - back) / 64 < al->words ? (j - back) / 64 : al->words - 1;
}

static size_t
band_behind(const struct aligner *al, size_t j)
{
	size_t row;

	if (al->width == SIZE_MAX)
		return al->words;
	row = j + al->width + (al->m > al->n ? al->m - al->n : 0);
	return row / 64 + 1 < al->words ? row / 64 + 1 : al->words;
}

/*
 * A way from the first cell to (i, j) or (i - 1, j) that leaves the band costs
 * more than this. The diagonals within it are those of j - i from -below to
 * above.
 */
static int64_t
cost_outside(const struct aligner *al, size_t i, size_t j)
{
	int64_t above = (int64_t)al->width, below = (int64_t)al->width;
	int64_t diagonal = (int64_t)j - (int64_t)i, over, under;

	if (al->width == SIZE_MAX)
		return INT64_MAX;
	if (al->n > al->m)
		above += (int64_t)(al->n - al->m);
	else
		below += (int64_t)(al->m - al->n);
	over = 2 * above - diagonal;
	under = 2 * below + diagonal;
	return over < under ? over : under;
}

/* How much E rises over words of the column at hand. */
static int64_t
rise_over(const struct aligner *al, size_t from, size_t to)
{
	int64_t sum = 0;

	for (size_t w = from; w < to; w++)
		sum += __builtin_popcountll(al->rise[w]) -
		    __builtin_popcountll(al->fall[w]);
	return sum;
}

/* From column j - 1 to column j, which is of b's symbol j - 1. */
static void
step_column(struct aligner *al, size_t j)
{
	const struct symbol *s = symbol_of(al, al->b[j - 1]);
	size_t first = band_first(al, j), behind = band_behind(al, j);

	al->top += 1 + (uint64_t)rise_over(al, al->top_word, first);
	al->top_word = first;
	if (s == NULL) {
		step_words(al, al->eq, first, behind);
	} else if (s->bits != NULL) {
		step_words(al, s->bits, first, behind);
	} else {
		set_eq(al, s, true);
		step_words(al, al->eq, first, behind);
		set_eq(al, s, false);
	}
}

static void
store_words(
    const struct aligner *al, uint64_t *to, const uint64_t *from, size_t j)
{
	size_t first = band_first(al, j), behind = band_behind(al, j);

	memcpy(to, from + first, (behind - first) * sizeof *to);
}

/* The column from which block `block` goes on. */
static uint64_t *
kept_of(const struct aligner *al, size_t block)
{
	return al->kept + 2 * block * al->stored;
}

/* Works out the columns of a block and keeps their rises. */
static void
fill_block(struct aligner *al, size_t block)
{
	size_t from = block * al->block;
	size_t to = from + al->block < al->n ? from + al->block : al->n;
	size_t first = band_first(al, from), behind = band_behind(al, from);
	const uint64_t *kept = kept_of(al, block);

	/* below the band E rises; words above it are not looked at */
	memset(al->rise, 0xff, al->words * sizeof *al->rise);
	memset(al->fall, 0, al->words * sizeof *al->fall);
	memcpy(al->rise + first, kept, (behind - first) * sizeof *kept);
	memcpy(al->fall + first, kept + al->stored,
	    (behind - first) * sizeof *kept);
	al->top_word = first;
	for (size_t j = from; j < to; j++) {
		step_column(al, j + 1);
		store_words(
		    al, al->rises + (j - from) * al->stored, al->rise, j + 1);
	}
}

/* Goes through all columns once; the last block is left filled. */
static void
fill_kept(struct aligner *al)
{
	memset(al->rise, 0xff, al->words * sizeof *al->rise);
	memset(al->fall, 0, al->words * sizeof *al->fall);
	al->top = al->top_word = 0;
	for (size_t j = 0; j < al->n; j++) {
		if (j % al->block == 0) {
			uint64_t *kept = kept_of(al, j / al->block);

			store_words(al, kept, al->rise, j);
			store_words(al, kept + al->stored, al->fall, j);
		}
		step_column(al, j + 1);
		store_words(al, al->rises + (j % al->block) * al->stored,
		    al->rise, j + 1);
	}
}

/* E[m][n], or more where the band is too narrow. */
static uint64_t
distance(const struct aligner *al)
{
	size_t last = al->words - 1;
	uint64_t mask =
	    al->m % 64 == 0 ? ~UINT64_C(0) : (UINT64_C(1) << al->m % 64) - 1;
	int64_t e = (int64_t)al->top + rise_over(al, al->top_word, last);

	e += __builtin_popcountll(al->rise[last] & mask) -
	    __builtin_popcountll(al->fall[last] & mask);
	return (uint64_t)e;
}

/* ---- tracing back ---- */

static void
reverse(struct pair *v, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct pair swap = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = swap;
	}
}

/* Whether E[i][j] = E[i-1][j] + 1. False in *is_known: outside of the band. */
static bool
is_rise(struct aligner *al, size_t i, size_t j, size_t *block, bool *is_known)
{
	size_t first = band_first(al, j), word = (i - 1) / 64;

	*is_known = word >= first && word < band_behind(al, j);
	if (!*is_known)
		return false;
	if ((j - 1) / al->block != *block) {
		*block = (j - 1) / al->block;
		fill_block(al, *block);
	}
	return (al->rises[((j - 1) % al->block) * al->stored + word - first] >>
		       ((i - 1) % 64) &
		   1) != 0;
}

/* False, and nothing in out, if the band is too narrow. */
static bool
trace_back(struct aligner *al, const uint32_t *a, uint64_t e, pairs *out)
{
	size_t i = al->m, j = al->n, first = out->n;
	size_t block = (al->n - 1) / al->block;

	while (i > 0 || j > 0) {
		bool rises = false, is_known = true;

		if (i > 0 && j > 0) {
			if (a[i - 1] == al->b[j - 1]) {
				i--;
				j--;
				vec_push(out,
				    ((struct pair){
					(uint32_t)i, (uint32_t)j }));
				continue;
			}
			rises = is_rise(al, i, j, &block, &is_known);
			if (!is_known || (int64_t)e >= cost_outside(al, i, j)) {
				out->n = first;
				return false;
			}
			e += rises ? (uint64_t)-1 : 1;
		}
		if (i > 0 && (j == 0 || rises))
			vec_push(out, ((struct pair){ (uint32_t)--i, NONE }));
		else
			vec_push(out, ((struct pair){ NONE, (uint32_t)--j }));
	}
	reverse(out->v + first, out->n - first);
	return true;
}

/* ---- the whole ---- */

/* All columns if they fit, else about as many as are kept between blocks. */
static size_t
choose_block(const struct aligner *al)
{
	size_t fit = ALIGN_BYTES / (al->stored * sizeof(uint64_t));
	size_t root = 1;

	if (fit >= al->n)
		return al->n;
	while (root * root < 2 * al->n)
		root++;
	return fit / 2 > root ? fit / 2 : root;
}

/* Within a band; false if it is too narrow. *e is the distance, or more. */
static bool
align_band(struct aligner *al, const uint32_t *a, size_t width, uint64_t *e,
    pairs *out)
{
	size_t nblocks, bytes;
	bool done = false;

	al->width = width;
	al->stored = al->words;
	if (width != SIZE_MAX) {
		size_t rows =
		    2 * width + (al->m > al->n ? al->m - al->n : al->n - al->m);

		if (rows / 64 + 3 < al->words)
			al->stored = rows / 64 + 3;
	}
	al->block = choose_block(al);
	nblocks = (al->n + al->block - 1) / al->block;
	bytes = al->stored * sizeof(uint64_t);
	al->kept = xmalloc(2 * nblocks * bytes);
	al->rises = xmalloc(al->block * bytes);
	fill_kept(al);
	*e = distance(al);
	if ((int64_t)*e < cost_outside(al, al->m, al->n))
		done = trace_back(al, a, *e, out);
	free(al->kept);
	free(al->rises);
	return done;
}

static void
align_rest(const uint32_t *a, size_t m, const uint32_t *b, size_t n, pairs *out)
{
	struct aligner al = { .b = b, .m = m, .n = n };
	size_t longer = m > n ? m : n, width = SIZE_MAX;
	uint64_t e;

	al.words = (m + 63) / 64;
	if (longer >= BAND_MIN)
		width = BAND_FIRST;
	index_symbols(&al, a);
	al.eq = xcalloc(al.words, sizeof *al.eq);
	al.rise = xcalloc(al.words, sizeof *al.rise);
	al.fall = xcalloc(al.words, sizeof *al.fall);
	while (!align_band(&al, a, width, &e, out)) {
		/* e is at least the distance: beyond 3 e all is known */
		width = e > width && 3 * e < 4 * width ? 3 * e : 4 * width;
		if (width > longer / 4)
			width = SIZE_MAX;
	}
	free(al.symbols);
	free(al.places);
	free(al.dense);
	free(al.eq);
	free(al.rise);
	free(al.fall);
	map_free(&al.number);
}

static void
push_side(pairs *out, size_t n, bool is_first)
{
	for (uint32_t i = 0; i < n; i++)
		vec_push(out,
		    is_first ? ((struct pair){ i, NONE })
			     : ((struct pair){ NONE, i }));
}

void
align_symbols(
    const uint32_t *a, size_t m, const uint32_t *b, size_t n, pairs *out)
{
	size_t same = 0;

	/* the end that is equal always matches; the beginning may not */
	while (same < m && same < n && a[m - 1 - same] == b[n - 1 - same])
		same++;
	m -= same;
	n -= same;
	if (m == 0 || n == 0)
		push_side(out, m + n, n == 0);
	else
		align_rest(a, m, b, n, out);
	for (size_t k = 0; k < same; k++)
		vec_push(out,
		    ((struct pair){ (uint32_t)(m + k), (uint32_t)(n + k) }));
}

void
pairs_between(pairs *ops)
{
	pairs out = { 0 };

	for (size_t i = 0, end; i < ops->n; i = end) {
		size_t na = 0, nb = 0, a = i, b = i;

		for (end = i; end < ops->n &&
		     (ops->v[end].a == NONE || ops->v[end].b == NONE);
		     end++) {
			na += ops->v[end].b == NONE;
			nb += ops->v[end].a == NONE;
		}
		if (na == 0 || na != nb) {
			end += end == i;
			for (; a < end; a++)
				vec_push(&out, ops->v[a]);
			continue;
		}
		for (size_t k = 0; k < na; k++) {
			while (ops->v[a].a == NONE)
				a++;
			while (ops->v[b].b == NONE)
				b++;
			vec_push(&out,
			    ((struct pair){ ops->v[a++].a, ops->v[b++].b }));
		}
	}
	vec_free(ops);
	*ops = out;
}
