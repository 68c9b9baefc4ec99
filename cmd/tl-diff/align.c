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
 */
#include <stdlib.h>

#include "cmd/tl-diff/diff.h"

/* Symbols that stand often in a have a bit vector, the others are listed. */
#define DENSE_MAX 64

struct symbol {
	uint32_t first, n; /* in places */
	uint64_t *bits;    /* NULL: listed */
};

struct aligner {
	const uint32_t *b;
	size_t m, n;
	size_t words;      /* of a column */
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
step_words(struct aligner *al, const uint64_t *eq)
{
	uint64_t carry = 0, rise_in = 1, fall_in = 0;

	for (size_t w = 0; w < al->words; w++) {
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

static void
step_column(struct aligner *al, uint32_t symbol)
{
	const struct symbol *s = symbol_of(al, symbol);

	if (s == NULL) {
		step_words(al, al->eq);
	} else if (s->bits != NULL) {
		step_words(al, s->bits);
	} else {
		set_eq(al, s, true);
		step_words(al, al->eq);
		set_eq(al, s, false);
	}
}

static size_t
column_bytes(const struct aligner *al)
{
	return al->words * sizeof(uint64_t);
}

/* Works out the columns of a block and keeps their rises. */
static void
fill_block(struct aligner *al, size_t block)
{
	size_t from = block * al->block;
	size_t to = from + al->block < al->n ? from + al->block : al->n;
	const uint64_t *kept = al->kept + 2 * block * al->words;

	memcpy(al->rise, kept, column_bytes(al));
	memcpy(al->fall, kept + al->words, column_bytes(al));
	for (size_t j = from; j < to; j++) {
		step_column(al, al->b[j]);
		memcpy(al->rises + (j - from) * al->words, al->rise,
		    column_bytes(al));
	}
}

/* Goes through all columns once; the last block is left filled. */
static void
fill_kept(struct aligner *al)
{
	memset(al->rise, 0xff, column_bytes(al));
	memset(al->fall, 0, column_bytes(al));
	for (size_t j = 0; j < al->n; j++) {
		size_t block = j / al->block;

		if (j % al->block == 0) {
			uint64_t *kept = al->kept + 2 * block * al->words;

			memcpy(kept, al->rise, column_bytes(al));
			memcpy(kept + al->words, al->fall, column_bytes(al));
		}
		step_column(al, al->b[j]);
		memcpy(al->rises + (j % al->block) * al->words, al->rise,
		    column_bytes(al));
	}
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

static void
trace_back(struct aligner *al, const uint32_t *a, pairs *out)
{
	size_t i = al->m, j = al->n, first = out->n;
	size_t block = (al->n - 1) / al->block;

	while (i > 0 || j > 0) {
		bool is_rise = false;

		if (i > 0 && j > 0) {
			if (a[i - 1] == al->b[j - 1]) {
				i--;
				j--;
				vec_push(out,
				    ((struct pair){
					(uint32_t)i, (uint32_t)j }));
				continue;
			}
			if ((j - 1) / al->block != block) {
				block = (j - 1) / al->block;
				fill_block(al, block);
			}
			is_rise = (al->rises[((j - 1) % al->block) * al->words +
				       (i - 1) / 64] >>
					  ((i - 1) % 64) &
				      1) != 0;
		}
		if (i > 0 && (j == 0 || is_rise))
			vec_push(out, ((struct pair){ (uint32_t)--i, NONE }));
		else
			vec_push(out, ((struct pair){ NONE, (uint32_t)--j }));
	}
	reverse(out->v + first, out->n - first);
}

/* ---- the whole ---- */

/* All columns if they fit, else about as many as are kept between blocks. */
static size_t
choose_block(const struct aligner *al)
{
	size_t fit = ALIGN_BYTES / column_bytes(al);
	size_t root = 1;

	if (fit >= al->n)
		return al->n;
	while (root * root < 2 * al->n)
		root++;
	return fit / 2 > root ? fit / 2 : root;
}

static void
align_rest(const uint32_t *a, size_t m, const uint32_t *b, size_t n, pairs *out)
{
	struct aligner al = { .b = b, .m = m, .n = n };
	size_t nblocks;

	al.words = (m + 63) / 64;
	al.block = choose_block(&al);
	nblocks = (n + al.block - 1) / al.block;
	index_symbols(&al, a);
	al.eq = xcalloc(al.words, sizeof *al.eq);
	al.rise = xcalloc(al.words, sizeof *al.rise);
	al.fall = xcalloc(al.words, sizeof *al.fall);
	al.kept = xcalloc(2 * nblocks, column_bytes(&al));
	al.rises = xcalloc(al.block, column_bytes(&al));
	fill_kept(&al);
	trace_back(&al, a, out);
	free(al.symbols);
	free(al.places);
	free(al.dense);
	free(al.eq);
	free(al.rise);
	free(al.fall);
	free(al.kept);
	free(al.rises);
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
