/* SPDX-License-Identifier: MIT */
/* base/map.c */
#include "base/base.h"
#include "tests/unit/tap.h"

#define MANY 50000

/* Keys that share their low bits, as addresses and counters do. */
static uint64_t
key(uint64_t i)
{
	return i << 40;
}

int
main(void)
{
	struct map m = { 0 };
	bool is_new;
	uint64_t i, *v;

	ok(map_get(&m, 0) == NULL, "an empty map has nothing");
	v = map_put(&m, 0, &is_new);
	ok(is_new && *v == 0, "key 0 is a key; its value starts at 0");
	*v = 5;
	v = map_put(&m, 0, &is_new);
	ok(!is_new && *v == 5, "the second time it is there");
	*map_put(&m, UINT64_MAX, NULL) = 6;
	is_uint(*map_get(&m, UINT64_MAX), 6, "is_new may be NULL");
	ok(map_get(&m, 1) == NULL, "absent");
	map_free(&m);
	ok(m.n == 0 && map_get(&m, 0) == NULL, "free and empty");

	for (i = 0; i < MANY; i++)
		*map_put(&m, key(i), NULL) = i;
	is_uint(m.n, MANY, "all counted");
	for (i = 0; i < MANY; i++) {
		v = map_get(&m, key(i));
		if (v == NULL || *v != i || map_get(&m, key(i) + 1) != NULL)
			break;
	}
	is_uint(i, MANY, "all found");
	ok(m.n * 8 <= m.cap * 5, "never more than 5/8 full");
	map_free(&m);

	is_uint(map_number(&m, 70), 0, "numbers of keys: from 0");
	is_uint(map_number(&m, 7), 1, "as they came");
	is_uint(map_number(&m, 70), 0, "and they stay");
	map_free(&m);
	done_testing();
}
