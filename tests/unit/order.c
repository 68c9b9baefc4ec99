/* SPDX-License-Identifier: MIT */
/* base/order.c: sorts, and keeps the order of equals */
#include "base/base.h"
#include "tests/unit/tap.h"

struct item {
	int64_t key;
	uint32_t no;
	char rest[52]; /* as long as an event */
};

static int
by_key(const void *x, const void *y)
{
	const struct item *a = x, *b = y;

	return (a->key > b->key) - (a->key < b->key);
}

static uint32_t
draw(uint32_t below)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return (state >> 8) % below;
}

enum shape { FEW_KEYS, RANDOM, STRAGGLERS, RUNS, ONE_AT_END, SHAPES };

static int64_t
key_of(enum shape shape, uint32_t i, uint32_t n)
{
	switch (shape) {
	case FEW_KEYS: return draw(3);
	case RANDOM: return draw(1u << 30);
	case STRAGGLERS: return draw(20) == 0 ? draw(n) : i;
	case RUNS: return i % 50;
	default: return i + 1 < n ? i / 2 : n / 4;
	}
}

static bool
is_sorted(enum shape shape, uint32_t n)
{
	VEC(struct item) v = { 0 };
	VEC(int64_t) keys = { 0 };
	bool is_good = true;

	for (uint32_t i = 0; i < n; i++) {
		int64_t key = key_of(shape, i, n);

		vec_push(&v, ((struct item){ .key = key, .no = i }));
		vec_push(&keys, key);
	}
	stable_sort(v.v, v.n, sizeof *v.v, by_key);
	sort_i64(keys.v, keys.n);
	for (uint32_t i = 0; i < n; i++)
		is_good = is_good && v.v[i].key == keys.v[i] &&
		    (i == 0 || by_key(&v.v[i - 1], &v.v[i]) < 0 ||
			v.v[i - 1].no < v.v[i].no);
	vec_free(&v);
	vec_free(&keys);
	return is_good;
}

int
main(void)
{
	static const char *const names[] = { "few keys", "random",
		"some out of place", "runs", "one at the end" };

	for (enum shape s = 0; s < SHAPES; s++) {
		bool is_good = true;

		for (uint32_t n = 0; n < 300; n++)
			is_good = is_good && is_sorted(s, n);
		ok(is_good && is_sorted(s, 20000), "%s", names[s]);
	}
	done_testing();
}
