/* SPDX-License-Identifier: MIT */
/* base/intern.c, and the hash below it */
#include "base/base.h"
#include "tests/unit/tap.h"

#define MANY 100000

static struct str
name(char *room, unsigned i)
{
	return (struct str){ room, (size_t)sprintf(room, "kernel_%u", i) };
}

/* Every byte must count, but none past the end. */
static void
hash(void)
{
	char text[64] = { 0 };
	size_t n, i, same = 0, behind = 0;

	for (n = 0; n < sizeof text - 1; n++) {
		uint64_t h = hash_bytes(text, n);

		for (i = 0; i < n; i++) {
			text[i] = 1;
			same += hash_bytes(text, n) == h;
			text[i] = 0;
		}
		text[n] = 1;
		behind += hash_bytes(text, n) != h;
		text[n] = 0;
	}
	is_uint(same, 0, "each byte changes the hash");
	is_uint(behind, 0, "the byte behind does not");
	ok(hash_bytes("\0", 1) != hash_bytes("\0\0", 2), "the length counts");
}

/* Texts that collide if the seed is known, as it is in files. */
static void
flood(void)
{
	char text[24] = { 0 };
	uint64_t factor = HASH_K1, first = 0, first_same = 0, same[2] = { 0 };

	memcpy(text + 8, &factor, sizeof factor);
	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t h, h_same;

		memcpy(text, &i, sizeof i);
		h = hash_bytes(text, sizeof text);
		h_same = hash_same((struct str){ text, sizeof text });
		if (i == 0) {
			first = h;
			first_same = h_same;
		}
		same[0] += h == first;
		same[1] += h_same == first_same;
	}
	is_uint(same[0], 1, "texts made to collide do not in a table");
	is_uint(same[1], MANY, "they do where the seed is known");
}

static void
small(void)
{
	struct intern *t = intern_create();
	uint32_t a = intern_put(t, STR("a")), nul, empty;
	struct str s;
	size_t n;

	is_uint(a, 0, "ids start at 0");
	nul = intern_put(t, STR("a\0"));
	empty = intern_put(t, (struct str){ NULL, 0 });
	is_uint(nul, 1, "a NUL is a byte");
	is_uint(empty, 2, "the empty string has an id");
	is_uint(intern_put(t, STR("a")), a, "equal bytes, equal id");
	is_uint(intern_put(t, STR("")), empty, "empty is empty");
	s = intern_get(t, nul);
	is_mem(s.p, s.len, "a\0", 2, "and back");
	is_uint(intern_find(t, STR("a"), hash_bytes("a", 1)), a, "found");
	is_uint(intern_find(t, STR("b"), hash_bytes("b", 1)), INTERN_NONE,
	    "absent");
	/* All lengths, changed in one byte: the comparison sees each. */
	for (n = 1; n < 40; n++) {
		char x[40], y[40];
		size_t i;

		memset(x, 'x', sizeof x);
		a = intern_put_hashed(t, (struct str){ x, n }, 5);
		for (i = 0; i < n; i++) {
			memcpy(y, x, n);
			y[i] = 'y';
			if (intern_find(t, (struct str){ y, n }, 5) !=
			    INTERN_NONE)
				break;
		}
		if (i < n || intern_put_hashed(t, (struct str){ x, n }, 5) != a)
			break;
	}
	is_uint(n, 40, "one hash for all: bytes decide");
	intern_destroy(t);
	intern_destroy(NULL);
}

/* The last text is found by its ends and middle, but all bytes decide. */
static void
alike(void)
{
	struct intern *t = intern_create();
	char x[40], y[40];
	unsigned n = 0;

	memset(x, 'x', sizeof x);
	memcpy(y, x, sizeof y);
	y[10] = 'y';
	for (int round = 0; round < 3; round++) {
		n += intern_put(t, (struct str){ x, sizeof x }) == 0;
		n += intern_put(t, (struct str){ y, sizeof y }) == 1;
		n += intern_put(t, (struct str){ x, sizeof x - 1 }) == 2;
	}
	is_uint(n, 9, "ends, middle and hash may be alike");
	intern_clear(t);
	is_uint(intern_put(t, (struct str){ y, sizeof y }), 0,
	    "what was put before a clear is forgotten");
	intern_destroy(t);
}

static void
many(void)
{
	struct intern *t = intern_create();
	size_t bytes = intern_bytes(t);
	unsigned i, round;
	char room[32];

	for (round = 0; round < 2; round++) {
		for (i = 0; i < MANY; i++)
			if (intern_put(t, name(room, i)) != i)
				break;
		is_uint(i, MANY, "dense ids, round %u", round);
	}
	for (i = 0; i < MANY; i++)
		if (!str_eq(intern_get(t, i), name(room, i)))
			break;
	is_uint(i, MANY, "all come back");
	ok(t->list.n * 3 <= t->nslots * 2, "never more than 2/3 full");
	intern_clear(t);
	is_uint(t->list.n, 0, "cleared");
	ok(intern_bytes(t) < bytes + (2 << 20), "and the memory is back");
	is_uint(intern_put(t, STR("new")), 0, "ids start again");
	is_uint(intern_put(t, name(room, 7)), 1, "nothing is remembered");
	intern_destroy(t);
}

int
main(void)
{
	hash();
	flood();
	small();
	alike();
	many();
	done_testing();
}
