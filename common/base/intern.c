/* SPDX-License-Identifier: MIT */
/*
 * Interning: the hot path of decoding, one or more look-ups an event.
 *
 * slots: linear probing over hash << 32 | id + 1, at most 2/3 full. The upper
 * half of the 64-bit hash is the one kept; its low bits choose the slot and all
 * of it is compared before the entry is touched. Growing needs the slots alone.
 */
#include <stdlib.h>

#include "base/base.h"

#define SLOTS_MIN 256

static size_t
slot_home(uint64_t tag, size_t nslots)
{
	return (size_t)tag & (nslots - 1);
}

struct intern *
intern_create(void)
{
	struct intern *t = xcalloc(1, sizeof *t);

	t->text = arena_create();
	t->nslots = SLOTS_MIN;
	t->slots = xcalloc(t->nslots, sizeof *t->slots);
	return t;
}

void
intern_clear(struct intern *t)
{
	arena_reset(t->text, 0);
	vec_free(&t->list);
	free(t->slots);
	t->slots = NULL;
	t->nslots = SLOTS_MIN;
	t->slots = xcalloc(t->nslots, sizeof *t->slots);
	memset(t->recent, 0, sizeof t->recent);
}

void
intern_destroy(struct intern *t)
{
	if (t == NULL)
		return;
	arena_destroy(t->text);
	vec_free(&t->list);
	free(t->slots);
	free(t);
}

/* Memory that grows: decides when tables are cleared. */
size_t
intern_bytes(const struct intern *t)
{
	return sizeof *t - sizeof t->recent + arena_bytes(t->text) +
	    t->list.cap * sizeof *t->list.v + t->nslots * sizeof *t->slots;
}

static void
intern_grow(struct intern *t)
{
	size_t n = t->nslots * 2, i, k;
	uint64_t *slots = xcalloc(n, sizeof *slots);

	for (i = 0; i < t->nslots; i++) {
		if (t->slots[i] == 0)
			continue;
		k = slot_home(t->slots[i] >> 32, n);
		while (slots[k] != 0)
			k = (k + 1) & (n - 1);
		slots[k] = t->slots[i];
	}
	free(t->slots);
	t->slots = slots;
	t->nslots = n;
}

/* Most names are short: a few loads, the last one overlapping, beat a call of
 * memcmp(). */
static inline __attribute__((always_inline)) bool
same_bytes(const char *a, const char *b, size_t n)
{
	if (n > 16) {
		uint64_t differ = 0;
		size_t i = 0;

		if (n > 128)
			return memcmp(a, b, n) == 0;
		for (; i + 16 < n; i += 16)
			differ |= (hash_load(a + i, 8) ^ hash_load(b + i, 8)) |
			    (hash_load(a + i + 8, 8) ^ hash_load(b + i + 8, 8));
		a += n - 16;
		b += n - 16;
		return (differ | (hash_load(a, 8) ^ hash_load(b, 8)) |
			   (hash_load(a + 8, 8) ^ hash_load(b + 8, 8))) == 0;
	}
	if (n >= 8)
		return hash_load(a, 8) == hash_load(b, 8) &&
		    hash_load(a + n - 8, 8) == hash_load(b + n - 8, 8);
	if (n >= 4)
		return hash_load(a, 4) == hash_load(b, 4) &&
		    hash_load(a + n - 4, 4) == hash_load(b + n - 4, 4);
	return n == 0 ||
	    (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
}

/* The id of s, or INTERN_NONE, and then *slot is where it belongs. */
static inline uint32_t
probe(const struct intern *t, struct str s, uint64_t tag, size_t *slot)
{
	size_t i = slot_home(tag, t->nslots);
	uint64_t v;

	for (; (v = t->slots[i]) != 0; i = (i + 1) & (t->nslots - 1)) {
		uint32_t id = (uint32_t)v - 1;
		const struct intern_entry *e = &t->list.v[id];

		if (v >> 32 == tag && e->len == s.len &&
		    same_bytes(e->p, s.p, s.len))
			return id;
	}
	*slot = i;
	return INTERN_NONE;
}

uint32_t
intern_find(const struct intern *t, struct str s, uint64_t hash)
{
	size_t slot;

	return probe(t, s, hash >> 32, &slot);
}

static uint32_t
insert(struct intern *t, struct str s, uint64_t tag, size_t slot)
{
	size_t id = t->list.n;

	if (s.len >= UINT32_MAX)
		die("a string of %zu bytes is too long to intern", s.len);
	if (id >= INTERN_NONE)
		die("more than %" PRIu32 " different strings", INTERN_NONE);
	if (id >= t->nslots / 3 * 2) {
		intern_grow(t);
		probe(t, s, tag, &slot);
	}
	vec_push(&t->list,
	    ((struct intern_entry){ .p = arena_str(t->text, s).p,
		.len = (uint32_t)s.len,
		.hash = (uint32_t)tag }));
	t->slots[slot] = tag << 32 | (uint32_t)(id + 1);
	return (uint32_t)id;
}

uint32_t
intern_put_hashed(struct intern *t, struct str s, uint64_t hash)
{
	size_t slot = 0;
	uint32_t id = probe(t, s, hash >> 32, &slot);

	return LIKELY(id != INTERN_NONE) ? id : insert(t, s, hash >> 32, slot);
}

/* By both ends, the middle and the length. */
_Static_assert(INTERN_NRECENT == 1 << (64 - 54), "as many as places");
static inline size_t
recent_place(struct str s)
{
	uint64_t first = hash_load(s.p, 8),
		 last = hash_load(s.p + s.len - 8, 8);
	uint64_t middle = hash_load(s.p + s.len / 2 - 4, 8);

	last = last << 23 | last >> 41;
	middle = middle << 47 | middle >> 17;
	return ((first ^ last ^ middle) + s.len) * HASH_K0 >> 54;
}

/* Not inlined, so that the path of recent names saves no registers. */
static __attribute__((noinline)) uint32_t
put_recent(struct intern *t, struct str s, uint32_t *recent)
{
	*recent = intern_put_hashed(t, s, hash_bytes(s.p, s.len)) + 1;
	return *recent - 1;
}

uint32_t
intern_put_long(struct intern *t, struct str s)
{
	uint32_t *recent = &t->recent[recent_place(s)];

	if (LIKELY(*recent != 0)) {
		const struct intern_entry *e = &t->list.v[*recent - 1];

		if (LIKELY(e->len == s.len && same_bytes(e->p, s.p, s.len)))
			return *recent - 1;
	}
	return put_recent(t, s, recent);
}
