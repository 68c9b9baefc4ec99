/* SPDX-License-Identifier: MIT */
/*
 * The table of edit distances, column by column, 64 cells a step.
 *
 * Down a column E changes by -1, 0 or +1, so a column is two bit vectors of
 * rises and falls; the next column follows from them and from the positions of
 * b's symbol in a (Myers 1999; Hyyrö 2003). The rises of all columns are kept,
 * m n bits. If that is too much, only some columns are kept, and those between
 * are computed again when needed.
 *
 * In a band of rows around the diagonals of both ends (Ukkonen 1985) E is
 * computed as if it rose by 1 a step outside. It is then at most too large, and
 * right where it is less than the cost of leaving the band and coming back: a
 * step for each diagonal on the way.
 */
#include <stdlib.h>

#include "cmd/tl-diff/align.h"

/* A symbol that occurs in a more than once in so many words has bit vectors. */
#define DENSE_WORDS 4

struct symbol {
	uint32_t first, n; /* range in places */
	uint64_t *bits;    /* NULL: listed */
};

struct columns {
	const uint32_t *b;
	size_t m, n;
	size_t words;      /* of a column */
	size_t width;      /* half the band's; SIZE_MAX: all rows */
	size_t limit;      /* words from here on are skipped */
	size_t stored;     /* words kept of a column */
	size_t top_word;   /* first word of the band in the current column */
	uint64_t top;      /* E above top_word */
	struct map number; /* symbol to index in symbols */
	struct symbol *symbols;
	uint32_t *places; /* positions in a, grouped by symbol */
	uint64_t *dense;
	uint64_t *eq;          /* of a listed symbol; zero between uses */
	uint64_t *rise, *fall; /* of the current column */
	size_t block;          /* number of columns between kept ones */
	uint64_t *kept;        /* rise and fall before each block */
	uint64_t *rises;       /* rises of each column of the current block */
	size_t at_block;       /* index of that block */
};

/* ---- positions of a symbol ---- */

static void
index_symbols(struct columns *c, const uint32_t *a)
{
	size_t nsymbols = 0, at = 0, ndense = 0;

	for (size_t i = 0; i < c->m; i++) {
		bool is_new;
		uint64_t *slot = map_put(&c->number, a[i], &is_new);

		if (is_new)
			*slot = nsymbols++;
	}
	c->symbols = xcalloc(nsymbols + 1, sizeof *c->symbols);
	c->places = xmalloc((c->m + 1) * sizeof *c->places);
	for (size_t i = 0; i < c->m; i++)
		c->symbols[*map_get(&c->number, a[i])].n++;
	for (size_t k = 0; k < nsymbols; k++) {
		struct symbol *s = &c->symbols[k];

		s->first = (uint32_t)at;
		at += s->n;
		if (s->n > c->words / DENSE_WORDS)
			s->bits = (uint64_t *)(uintptr_t)++ndense;
		s->n = 0;
	}
	c->dense = xcalloc(ndense * c->words + 1, sizeof *c->dense);
	for (size_t k = 0; k < nsymbols; k++)
		if (c->symbols[k].bits != NULL)
			c->symbols[k].bits = c->dense +
			    ((uintptr_t)c->symbols[k].bits - 1) * c->words;
	for (size_t i = 0; i < c->m; i++) {
		struct symbol *s = &c->symbols[*map_get(&c->number, a[i])];

		c->places[s->first + s->n++] = (uint32_t)i;
		if (s->bits != NULL)
			s->bits[i / 64] |= UINT64_C(1) << (i % 64);
	}
}

static const struct symbol *
symbol_of(const struct columns *c, uint32_t symbol)
{
	const uint64_t *slot = map_get(&c->number, symbol);

	return slot != NULL ? &c->symbols[*slot] : NULL;
}

/* A symbol's first position in this word or after it. */
static const uint32_t *
place_from(const struct columns *c, const struct symbol *s, size_t word)
{
	const uint32_t *v = c->places + s->first;
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (v[mid] / 64 < word)
			low = mid + 1;
		else
			high = mid;
	}
	return v + low;
}

static void
set_eq(struct columns *c, const uint32_t *from, const uint32_t *to)
{
	for (; from < to; from++)
		c->eq[*from / 64] |= UINT64_C(1) << (*from % 64);
}

static void
clear_eq(struct columns *c, const uint32_t *from, const uint32_t *to)
{
	for (; from < to; from++)
		c->eq[*from / 64] = 0;
}

/* ---- columns ---- */

/* The next column. E[0][j] = j, so the row enters at the top with a rise. */
static void
step_words(struct columns *c, const uint64_t *eq, size_t first, size_t behind)
{
	uint64_t carry = 0, rise_in = 1, fall_in = 0;

	for (size_t w = first; w < behind; w++) {
		uint64_t up = c->rise[w], down = c->fall[w];
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
		c->rise[w] = sum | ~(diagonal | x);
		c->fall[w] = x & diagonal;
	}
}

/* The next column for a symbol that a lacks: the same without eq. */
static void
step_absent(struct columns *c, size_t first, size_t behind)
{
	uint64_t above = 0; /* E rises by 1 above the first row */

	for (size_t w = first; w < behind; w++) {
		uint64_t up = c->rise[w], down = c->fall[w];
		uint64_t x = ~(up << 1 | above);

		above = up >> 63;
		c->rise[w] = ~(down | x);
		c->fall[w] = x & down;
	}
}

/* The band's words in column j, from 1: the first, and the end. */
static size_t
band_first(const struct columns *c, size_t j)
{
	size_t back = c->width + (c->n > c->m ? c->n - c->m : 0);

	if (c->width == SIZE_MAX || j <= back)
		return 0;
	return (j - back) / 64 < c->words ? (j - back) / 64 : c->words - 1;
}

static size_t
band_behind(const struct columns *c, size_t j)
{
	size_t row;

	if (c->width == SIZE_MAX)
		return c->limit;
	row = j + c->width + (c->m > c->n ? c->m - c->n : 0);
	return row / 64 + 1 < c->limit ? row / 64 + 1 : c->limit;
}

/* Rise of E over words of the current column. */
static int64_t
rise_over(const struct columns *c, size_t from, size_t to)
{
	int64_t sum = 0;

	for (size_t w = from; w < to; w++)
		sum += __builtin_popcountll(c->rise[w]) -
		    __builtin_popcountll(c->fall[w]);
	return sum;
}

/* From column j - 1 to column j, which has b's symbol j - 1. */
static void
step_column(struct columns *c, size_t j)
{
	const struct symbol *s = symbol_of(c, c->b[j - 1]);
	size_t first = band_first(c, j), behind = band_behind(c, j);

	c->top += 1 + (uint64_t)rise_over(c, c->top_word, first);
	c->top_word = first;
	if (s == NULL) {
		step_absent(c, first, behind);
	} else if (s->bits != NULL) {
		step_words(c, s->bits, first, behind);
	} else {
		const uint32_t *from = place_from(c, s, first);
		const uint32_t *to = place_from(c, s, behind);

		set_eq(c, from, to);
		step_words(c, c->eq, first, behind);
		clear_eq(c, from, to);
	}
}

static void
store_words(
    const struct columns *c, uint64_t *to, const uint64_t *from, size_t j)
{
	size_t first = band_first(c, j), behind = band_behind(c, j);

	memcpy(to, from + first, (behind - first) * sizeof *to);
}

/* The kept column before a block. */
static uint64_t *
kept_of(const struct columns *c, size_t block)
{
	return c->kept + 2 * block * c->stored;
}

/* Computes the columns of a block down to row m and keeps their rises. */
static void
fill_block(struct columns *c, size_t block, size_t m)
{
	size_t from = block * c->block;
	size_t to = from + c->block < c->n ? from + c->block : c->n;
	size_t first = band_first(c, from), behind;
	const uint64_t *kept = kept_of(c, block);

	c->at_block = block;
	c->limit = (m + 63) / 64;
	behind = band_behind(c, from);
	/* below the band E rises; words above it are not looked at */
	memset(c->rise, 0xff, c->words * sizeof *c->rise);
	memset(c->fall, 0, c->words * sizeof *c->fall);
	memcpy(c->rise + first, kept, (behind - first) * sizeof *kept);
	memcpy(
	    c->fall + first, kept + c->stored, (behind - first) * sizeof *kept);
	c->top_word = first;
	for (size_t j = from; j < to; j++) {
		step_column(c, j + 1);
		store_words(
		    c, c->rises + (j - from) * c->stored, c->rise, j + 1);
	}
}

/* Runs through all columns once; the last block stays filled. */
static void
fill_kept(struct columns *c)
{
	size_t last = (c->n - 1) / c->block * c->block;

	c->at_block = last / c->block;
	memset(c->rise, 0xff, c->words * sizeof *c->rise);
	memset(c->fall, 0, c->words * sizeof *c->fall);
	c->top = c->top_word = 0;
	c->limit = c->words;
	for (size_t j = 0; j < c->n; j++) {
		if (j % c->block == 0) {
			uint64_t *kept = kept_of(c, j / c->block);

			store_words(c, kept, c->rise, j);
			store_words(c, kept + c->stored, c->fall, j);
		}
		step_column(c, j + 1);
		if (j >= last)
			store_words(c, c->rises + (j - last) * c->stored,
			    c->rise, j + 1);
	}
}

/* E[m][n], too large if the band is too narrow. */
static uint64_t
distance(const struct columns *c)
{
	size_t last = c->words - 1;
	uint64_t mask =
	    c->m % 64 == 0 ? ~UINT64_C(0) : (UINT64_C(1) << c->m % 64) - 1;
	int64_t e = (int64_t)c->top + rise_over(c, c->top_word, last);

	e += __builtin_popcountll(c->rise[last] & mask) -
	    __builtin_popcountll(c->fall[last] & mask);
	return (uint64_t)e;
}

/* ---- the table ---- */

/* Block length: all columns if they fit, else about the square root. */
static size_t
choose_block(const struct columns *c)
{
	size_t fit = ALIGN_BYTES / (c->stored * sizeof(uint64_t));
	size_t root = 1;

	if (fit >= c->n)
		return c->n;
	while (root * root < 2 * c->n)
		root++;
	return fit / 2 > root ? fit / 2 : root;
}

static void
forget_band(struct columns *c)
{
	free(c->kept);
	free(c->rises);
	c->kept = c->rises = NULL;
}

uint64_t
columns_fill(struct columns *c, size_t width)
{
	size_t nblocks, bytes;

	forget_band(c);
	c->width = width;
	c->stored = c->words;
	if (width != SIZE_MAX) {
		size_t rows =
		    2 * width + (c->m > c->n ? c->m - c->n : c->n - c->m);

		if (rows / 64 + 3 < c->words)
			c->stored = rows / 64 + 3;
	}
	c->block = choose_block(c);
	nblocks = (c->n + c->block - 1) / c->block;
	bytes = c->stored * sizeof(uint64_t);
	c->kept = xmalloc(2 * nblocks * bytes);
	c->rises = xmalloc(c->block * bytes);
	fill_kept(c);
	return distance(c);
}

/*
 * Ways from the first cell to (i, j) or (i - 1, j) that leave the band cost
 * more than this. The band has diagonals j - i from -below to above.
 */
static int64_t
cost_outside(const struct columns *c, size_t i, size_t j)
{
	int64_t above = (int64_t)c->width, below = (int64_t)c->width;
	int64_t diagonal = (int64_t)j - (int64_t)i, over, under;

	if (c->width == SIZE_MAX)
		return INT64_MAX;
	if (c->n > c->m)
		above += (int64_t)(c->n - c->m);
	else
		below += (int64_t)(c->m - c->n);
	over = 2 * above - diagonal;
	under = 2 * below + diagonal;
	return over < under ? over : under;
}

bool
columns_are_right(const struct columns *c, size_t i, size_t j, uint64_t e)
{
	return (int64_t)e < cost_outside(c, i, j);
}

bool
columns_rise(struct columns *c, size_t i, size_t j, bool *rises)
{
	size_t first = band_first(c, j), word = (i - 1) / 64;
	const uint64_t *column;

	if (word < first || word >= band_behind(c, j))
		return false;
	if ((j - 1) / c->block != c->at_block)
		fill_block(c, (j - 1) / c->block, i);
	column = c->rises + (j - 1) % c->block * c->stored;
	*rises = (column[word - first] >> ((i - 1) % 64) & 1) != 0;
	return true;
}

struct columns *
columns_create(const uint32_t *a, size_t m, const uint32_t *b, size_t n)
{
	struct columns *c = xcalloc(1, sizeof *c);

	c->b = b;
	c->m = m;
	c->n = n;
	c->words = (m + 63) / 64;
	index_symbols(c, a);
	c->eq = xcalloc(c->words, sizeof *c->eq);
	c->rise = xcalloc(c->words, sizeof *c->rise);
	c->fall = xcalloc(c->words, sizeof *c->fall);
	return c;
}

void
columns_destroy(struct columns *c)
{
	forget_band(c);
	free(c->symbols);
	free(c->places);
	free(c->dense);
	free(c->eq);
	free(c->rise);
	free(c->fall);
	map_free(&c->number);
	free(c);
}
