/* SPDX-License-Identifier: MIT */
/*
 * tl-diff's alignment against the plain table of distances: random lists, with
 * bands and blocks so small that every widening and refilling happens.
 */
#include "cmd/tl-diff/diff.h"

#undef ALIGN_BYTES
#define ALIGN_BYTES UINT64_C(2048)
#define BAND_MIN 2
#define BAND_FIRST 1
/* NOLINTNEXTLINE(bugprone-suspicious-include): with limits of this test */
#include "cmd/tl-diff/align.c"

#include "tests/unit/tap.h"

#define LONGEST 900

static uint32_t table[LONGEST + 1][LONGEST + 1];
static uint64_t state = 1;

static uint32_t
below(uint32_t n)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((state >> 33) % n);
}

/* The trace-back as it is defined, over the whole table. */
static void
plain(const uint32_t *a, size_t m, const uint32_t *b, size_t n, pairs *out)
{
	size_t i, j;

	for (i = 0; i <= m; i++)
		for (j = 0; j <= n; j++) {
			uint32_t e = (uint32_t)(i + j);

			if (i > 0 && j > 0) {
				e = table[i - 1][j - 1] +
				    (a[i - 1] != b[j - 1]);
				if (table[i - 1][j] + 1 < e)
					e = table[i - 1][j] + 1;
				if (table[i][j - 1] + 1 < e)
					e = table[i][j - 1] + 1;
			}
			table[i][j] = e;
		}
	i = m;
	j = n;
	while (i > 0 || j > 0)
		if (i > 0 && j > 0 && a[i - 1] == b[j - 1]) {
			i--;
			j--;
			vec_push(
			    out, ((struct pair){ (uint32_t)i, (uint32_t)j }));
		} else if (i > 0 &&
		    (j == 0 || table[i][j] == table[i - 1][j] + 1)) {
			vec_push(out, ((struct pair){ (uint32_t)--i, NONE }));
		} else {
			vec_push(out, ((struct pair){ NONE, (uint32_t)--j }));
		}
	reverse(out->v, out->n);
}

/* b: a with some symbols changed, left out and put in. */
static size_t
edit(
    const uint32_t *a, size_t m, uint32_t nsymbols, uint32_t edits, uint32_t *b)
{
	size_t n = 0;

	for (size_t i = 0; i < m && n + 2 < LONGEST; i++) {
		uint32_t what = below(1000);

		if (what < edits)
			continue;
		b[n++] = what < 2 * edits ? below(nsymbols) : a[i];
		if (what >= 1000 - 3 * edits)
			b[n++] = below(nsymbols);
	}
	return n;
}

static bool
same(const uint32_t *a, size_t m, const uint32_t *b, size_t n)
{
	pairs got = { 0 }, want = { 0 };
	bool is_same;

	align_symbols(a, m, b, n, &got);
	plain(a, m, b, n, &want);
	is_same = got.n == want.n;
	for (size_t i = 0; is_same && i < got.n; i++)
		is_same =
		    got.v[i].a == want.v[i].a && got.v[i].b == want.v[i].b;
	vec_free(&got);
	vec_free(&want);
	return is_same;
}

int
main(void)
{
	static const uint32_t symbols[] = { 1, 2, 4, 30, 5000 };
	static const uint32_t edits[] = { 0, 5, 30, 150, 300 };
	static uint32_t a[LONGEST], b[LONGEST];
	uint32_t bad = 0, both = 0;

	for (int round = 0; round < 2000; round++) {
		uint32_t some = symbols[below(5)];
		size_t m = below(round % 20 == 0 ? LONGEST : 150), n;

		for (size_t i = 0; i < m; i++)
			a[i] = below(some);
		n = edit(a, m, some, edits[below(5)], b);
		bad += !same(a, m, b, n);
		bad += !same(b, n, a, m);
		both += m > 0 && n > 0;
	}
	is_int(bad, 0, "as by the plain table");
	ok(both > 1500, "lists that have something in them");
	done_testing();
}
