/* SPDX-License-Identifier: MIT */
/* hash: hashes, a map of integers, and interned strings. */
#ifndef TL_BASE_HASH_H
#define TL_BASE_HASH_H

#include "base/memory.h"

/*
 * Fast hashes. They differ between machines of different byte order, so nothing
 * printed may depend on them.
 */
static inline uint64_t
hash_mix(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

#define HASH_K0 UINT64_C(0x9e3779b97f4a7c15)
#define HASH_K1 UINT64_C(0xe7037ed1a0b428db)

static inline uint64_t
hash_load(const void *p, size_t n)
{
	uint64_t v = 0;

	memcpy(&v, p, n);
	return v;
}

static inline uint64_t
hash_with(const void *bytes, size_t n, uint64_t start, uint64_t factor)
{
	const unsigned char *p = bytes;
	uint64_t h = start ^ n;

	if (LIKELY(n >= 8)) {
		size_t last = n - 8, i;

		/* Overlapping loads: every byte counts, none behind is read. */
		for (i = 0; i < last; i += 16)
			h = hash_mix(h ^ hash_load(p + i, 8),
			    hash_load(p + (i + 8 < last ? i + 8 : last), 8) ^
				factor);
		return hash_mix(h ^ hash_load(p + last, 8), factor);
	}
	if (n >= 4)
		return hash_mix(
		    h ^ (hash_load(p, 4) << 32 | hash_load(p + n - 4, 4)),
		    factor);
	if (n > 0)
		h ^= (uint64_t)p[0] << 16 | (uint64_t)p[n / 2] << 8 | p[n - 1];
	return hash_mix(h, factor);
}

/* Random, per process, so that nobody can craft texts or ids that collide. */
extern uint64_t hash_seed[2];

/* For tables in memory: differs in every process. */
static inline uint64_t
hash_bytes(const void *bytes, size_t n)
{
	return hash_with(bytes, n, hash_seed[0], hash_seed[1]);
}

/* The same for a number, as a trace's author chooses ids, too. */
static inline uint64_t
hash_u64(uint64_t v)
{
	return hash_mix(v ^ hash_seed[0], hash_seed[1]);
}

/* The hash of what has the hash h, and one more number. */
static inline uint64_t
hash_more(uint64_t h, uint64_t v)
{
	return hash_mix(h ^ v, hash_seed[1]);
}

/* For output: the same in every process. */
static inline uint64_t
hash_same(struct str s)
{
	return hash_with(s.p, s.len, HASH_K0, HASH_K1);
}

/* A map from 64-bit keys to 64-bit values: open addressing, no deletion. */
struct map {
	uint64_t *keys;
	uint64_t *vals;
	uint8_t *used;
	size_t n, cap; /* cap is 0 or a power of two */
};

/*
 * The value's address until the next map_put(), inserted as 0 if missing
 * (*is_new says so, unless is_new is NULL).
 */
uint64_t *map_put(struct map *m, uint64_t key, bool *is_new);
/*
 * For a map filled by nothing else: numbers keys from 0 in order of appearance,
 * as an intern table does strings.
 */
uint32_t map_number(struct map *m, uint64_t key);
/* The value's address, or NULL. */
uint64_t *map_get(const struct map *m, uint64_t key);
void map_free(struct map *m);

/*
 * Strings to dense ids from 0 and back; equal bytes, equal id. Strings live as
 * long as the table. About 40 bytes an entry besides the text.
 *
 * A slot holds 32 bits of the hash above id + 1, so that probing and growing
 * touch no entry whose hash differs: a hit costs two cache misses, one for the
 * slot and one for the entry, besides the text.
 */
#define INTERN_NRECENT 1024

struct intern_entry {
	const char *p;
	uint32_t len;
	uint32_t hash;
};

struct intern {
	struct arena *text;
	VEC(struct intern_entry) list;
	uint64_t *slots;                 /* hash << 32 | id + 1, or 0 */
	size_t nslots;                   /* a power of two */
	uint32_t recent[INTERN_NRECENT]; /* id + 1, or 0: see intern_put() */
};

#define INTERN_NONE UINT32_MAX

struct intern *intern_create(void);
void intern_destroy(struct intern *t);
/* Forgets all strings, and frees their memory. */
void intern_clear(struct intern *t);
size_t intern_bytes(const struct intern *t);
/* With the hash of hash_bytes() known. */
uint32_t intern_put_hashed(struct intern *t, struct str s, uint64_t hash);
/* INTERN_NONE if absent. */
uint32_t intern_find(const struct intern *t, struct str s, uint64_t hash);

/* For strings of 8 bytes and more. */
uint32_t intern_put_long(struct intern *t, struct str s);

/* Names recur soon: recent ones are found without hashing all of them. */
static inline uint32_t
intern_put(struct intern *t, struct str s)
{
	return s.len >= 8 ? intern_put_long(t, s)
			  : intern_put_hashed(t, s, hash_bytes(s.p, s.len));
}

static inline struct str
intern_get(const struct intern *t, uint32_t id)
{
	return (struct str){ t->list.v[id].p, t->list.v[id].len };
}

#endif
