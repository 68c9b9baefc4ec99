/* SPDX-License-Identifier: MIT */
/*
 * tl-diff's alignment against the plain table of distances: random lists, with
 * bands and blocks so small that every widening and refilling happens.
 */
#include "cmd/tl-diff/align.h"

#undef ALIGN_BYTES
#define ALIGN_BYTES UINT64_C(2048)
#define BAND_MIN 2
#define BAND_FIRST 1
/* NOLINTNEXTLINE(bugprone-suspicious-include): with limits of this test */
#include "cmd/tl-diff/align.c"
/* NOLINTNEXTLINE(bugprone-suspicious-include): with limits of this test */
#include "cmd/tl-diff/columns.c"
/* NOLINTNEXTLINE(bugprone-suspicious-include): a program's part */
#include "cmd/tl-diff/pairs.c"

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

/* b: a with some symbols changed, removed and inserted. */
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
are_equal(const pairs *x, const pairs *y)
{
	if (x->n != y->n)
		return false;
	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].a != y->v[i].a || x->v[i].b != y->v[i].b)
			return false;
	return true;
}

static void
copy_list(u32s *to, const uint32_t *v, size_t n)
{
	to->n = 0;
	for (size_t i = 0; i < n; i++)
		vec_push(to, v[i]);
}

/* As in the plain table; with sides swapped, and turned, the same pairs. */
static bool
same(const uint32_t *a, size_t m, const uint32_t *b, size_t n)
{
	u32s list[NSIDES] = { { 0 }, { 0 } };
	pairs got = { 0 }, want = { 0 };
	bool is_same;

	copy_list(&list[0], a, m);
	copy_list(&list[1], b, n);
	plain(a, m, b, n, &want);
	align_lists(list, false, &got);
	is_same = are_equal(&got, &want);
	copy_list(&list[0], b, n);
	copy_list(&list[1], a, m);
	for (size_t i = 0; i < want.n; i++)
		want.v[i] = (struct pair){ want.v[i].b, want.v[i].a };
	align_lists(list, true, &got);
	is_same = is_same && are_equal(&got, &want);
	vec_free(&got);
	vec_free(&want);
	vec_free(&list[0]);
	vec_free(&list[1]);
	return is_same;
}

/* What is between the same two matches, even when others cross them. */
static void
test_between(void)
{
	struct {
		const char *name;
		struct pair matches[4];
		size_t n, m[NSIDES];
		struct pair want[9];
		size_t nwant;
	} cases[] = {
		{ "as many of both", { { 0, 0 }, { 3, 3 } }, 2, { 4, 4 },
		    { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 3 } }, 4 },
		{ "one more of one", { { 0, 0 }, { 2, 3 } }, 2, { 3, 4 },
		    { { 0, 0 }, { 1, NONE }, { NONE, 1 }, { NONE, 2 },
			{ 2, 3 } },
		    5 },
		{ "both ends", { { 1, 1 } }, 1, { 3, 3 },
		    { { 0, 0 }, { 1, 1 }, { 2, 2 } }, 3 },
		{ "no match at all", { { 0, 0 } }, 0, { 2, 2 },
		    { { 0, 0 }, { 1, 1 } }, 2 },
		{ "crossing matches", { { 0, 2 }, { 2, 0 } }, 2, { 3, 3 },
		    { { NONE, 1 }, { 0, 2 }, { 1, NONE }, { 2, 0 } }, 4 },
	};

	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		pairs got = { 0 }, want = { 0 };

		for (size_t i = 0; i < cases[k].n; i++)
			vec_push(&got, cases[k].matches[i]);
		for (size_t i = 0; i < cases[k].nwant; i++)
			vec_push(&want, cases[k].want[i]);
		pairs_between(&got, cases[k].m[0], cases[k].m[1]);
		ok(are_equal(&got, &want), "between matches: %s",
		    cases[k].name);
		vec_free(&got);
		vec_free(&want);
	}
}

static void
test_turned(void)
{
	static const struct {
		const char *a, *b;
		bool turned;
	} cases[] = {
		{ "ab", "abc", false },
		{ "abc", "ab", true },
		{ "abd", "abc", true },
		{ "abc", "abd", false },
		{ "abc", "abc", false },
		{ "", "", false },
		{ "z", "ab", false },
	};
	struct dict *st = dict_create();

	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		const char *text[NSIDES] = { cases[k].a, cases[k].b };
		u32s list[NSIDES] = { { 0 }, { 0 } };

		/* numbers by order of appearance: they mean nothing */
		for (int s = NSIDES - 1; s >= 0; s--)
			for (const char *c = text[s]; *c != '\0'; c++)
				vec_push(&list[s],
				    intern_put(st->text, (struct str){ c, 1 }));
		ok(lists_turned(st, list) == cases[k].turned,
		    "'%s' and '%s': which comes first", cases[k].a, cases[k].b);
		vec_free(&list[0]);
		vec_free(&list[1]);
	}
	dict_destroy(st);
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
	bad = 0;
	for (int round = 0; round < 200; round++) {
		size_t m = below(60), n = below(60);

		for (size_t i = 0; i < m; i++)
			a[i] = below(5);
		for (size_t j = 0; j < n; j++)
			b[j] = 5 + below(5);
		bad += !same(a, m, b, n);
	}
	is_int(bad, 0, "without a symbol in common");
	ok(both > 1500, "lists that have something in them");
	test_between();
	test_turned();
	done_testing();
}
