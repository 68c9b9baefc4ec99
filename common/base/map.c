/* SPDX-License-Identifier: MIT */
/*
 * The map: linear probing from the key's hash, at most 5/8 full. Nothing may
 * depend on the order of slots.
 */
#include <stdlib.h>
#include <sys/auxv.h>

#include "base/base.h"

#define MAP_MIN 16

uint64_t hash_seed[2] = { HASH_K0, HASH_K1 };

/* The auxiliary vector has 16 random bytes. */
__attribute__((constructor)) static void
seed(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);

	if (random != NULL)
		memcpy(hash_seed, random, sizeof hash_seed);
}

/* The key's slot, or the free one where it belongs. */
static size_t
map_slot(const struct map *m, uint64_t key)
{
	size_t i = (size_t)hash_mix(key ^ hash_seed[0], hash_seed[1] | 1) &
	    (m->cap - 1);

	while (m->used[i] && m->keys[i] != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

static void
map_grow(struct map *m)
{
	struct map old = *m;
	size_t i, slot;

	if (old.cap > SIZE_MAX / 32)
		die("out of memory");
	m->cap = old.cap > 0 ? old.cap * 2 : MAP_MIN;
	m->keys = xmalloc(m->cap * sizeof *m->keys);
	m->vals = xmalloc(m->cap * sizeof *m->vals);
	m->used = xcalloc(m->cap, 1);
	for (i = 0; i < old.cap; i++) {
		if (!old.used[i])
			continue;
		slot = map_slot(m, old.keys[i]);
		m->used[slot] = 1;
		m->keys[slot] = old.keys[i];
		m->vals[slot] = old.vals[i];
	}
	map_free(&old);
}

uint64_t *
map_put(struct map *m, uint64_t key, bool *is_new)
{
	size_t slot = m->cap > 0 ? map_slot(m, key) : 0;
	bool found = m->cap > 0 && m->used[slot];

	if (is_new != NULL)
		*is_new = !found;
	if (found)
		return &m->vals[slot];
	if (m->n >= m->cap / 8 * 5) {
		map_grow(m);
		slot = map_slot(m, key);
	}
	m->used[slot] = 1;
	m->keys[slot] = key;
	m->vals[slot] = 0;
	m->n++;
	return &m->vals[slot];
}

uint32_t
map_number(struct map *m, uint64_t key)
{
	bool is_new;
	uint64_t *number = map_put(m, key, &is_new);

	if (is_new)
		*number = m->n - 1;
	return (uint32_t)*number;
}

uint64_t *
map_get(const struct map *m, uint64_t key)
{
	size_t slot;

	if (m->n == 0)
		return NULL;
	slot = map_slot(m, key);
	return m->used[slot] ? &m->vals[slot] : NULL;
}

void
map_free(struct map *m)
{
	free(m->keys);
	free(m->vals);
	free(m->used);
	*m = (struct map){ 0 };
}
