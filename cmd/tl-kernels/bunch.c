/* SPDX-License-Identifier: MIT */
/* Bunches of kernels with equal words, the longest sum first. */
#include <stdlib.h>

#include "cmd/tl-kernels/kernels.h"

static uint64_t
word_of(struct key k)
{
	return k.type == KEY_NONE ? UINT64_MAX
				  : hash_mix((uint64_t)k.n ^ HASH_K0, k.type);
}

static void
key_of(uint64_t *key, enum by by, const struct kernel *one)
{
	size_t n = 0;

	memset(key, 0, KEY_WORDS * sizeof *key);
	key[n++] = one->recording;
	key[n++] = by == BY_CLASS ? one->class : one->name;
	switch (by) {
	case BY_CONFIG:
		key[n++] = one->grid;
		key[n++] = one->block;
		break;
	case BY_OP:
		key[n++] = one->op;
		key[n++] = one->category;
		key[n++] = (uint64_t)one->gpu_stream.n;
		key[n++] = one->gpu_stream.type;
		break;
	case BY_ARGS:
	case BY_SHORT:
		key[n++] = one->op;
		key[n++] = one->args.dims;
		key[n++] = one->args.strides;
		key[n++] = one->args.concrete;
		key[n++] = by == BY_ARGS ? one->args.types : 0;
		key[n++] = by == BY_ARGS ? one->category : 0;
		break;
	case BY_EVENT:
		key[n++] = one->uid.id;
		key[n++] = word_of((struct key){ one->uid.inst, KEY_INT });
		break;
	default: break;
	}
}

static size_t
find_bunch(struct bunches *bs, struct map *by_key, const uint64_t *key)
{
	uint64_t h = HASH_K0;

	for (size_t i = 0; i < KEY_WORDS; i++)
		h = hash_mix(h ^ key[i], HASH_K1 + i);
	/* the rare collision tries the next number */
	for (;; h++) {
		bool is_new;
		uint64_t *slot = map_put(by_key, h, &is_new);

		if (is_new) {
			struct bunch *b;

			*slot = bs->list.n;
			b = vec_add(&bs->list);
			*b = (struct bunch){ .n = 0 };
			memcpy(b->key, key, sizeof b->key);
			return *slot;
		}
		if (memcmp(bs->list.v[*slot].key, key,
			KEY_WORDS * sizeof *key) == 0)
			return *slot;
	}
}

/* qsort() hands nothing through. */
static const struct kernels *sorting;
static const uint32_t *sorting_members;
static enum by sorting_by;

static int
cmp_text(uint32_t a, uint32_t b)
{
	return a == b ? 0
		      : str_cmp(strings_get(sorting->strings, a),
			    strings_get(sorting->strings, b));
}

/* By the key's texts from the left, then by which came first. */
static int
cmp_keys(const struct bunch *a, const struct bunch *b)
{
	const struct kernel *x = &sorting->list.v[sorting_members[a->first]];
	const struct kernel *y = &sorting->list.v[sorting_members[b->first]];
	int c = 0;

	if (sorting_by == BY_OP)
		c = cmp_text(x->category, y->category);
	if (c == 0 && sorting_by != BY_NAME && sorting_by != BY_CLASS)
		c = cmp_text(x->op, y->op);
	if (c == 0)
		c = sorting_by == BY_CLASS ? cmp_text(x->class, y->class)
					   : cmp_text(x->name, y->name);
	if (c != 0)
		return c;
	return (a->first > b->first) - (a->first < b->first);
}

static int
by_rank(const void *x, const void *y)
{
	const struct bunch *a = x, *b = y;

	if (a->key[0] != b->key[0])
		return a->key[0] < b->key[0] ? -1 : 1;
	if (a->sum_ns != b->sum_ns)
		return a->sum_ns > b->sum_ns ? -1 : 1;
	/* of short kernels the fewer, then the shorter come first */
	if (sorting_by == BY_SHORT && a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return cmp_keys(a, b);
}

static int
by_start(const void *x, const void *y)
{
	const struct bunch *a = x, *b = y;
	const struct kernel *k = &sorting->list.v[sorting_members[a->first]];
	const struct kernel *l = &sorting->list.v[sorting_members[b->first]];

	if (a->key[0] != b->key[0])
		return a->key[0] < b->key[0] ? -1 : 1;
	if (k->ts_ns != l->ts_ns)
		return k->ts_ns < l->ts_ns ? -1 : 1;
	if (k->uid.id != l->uid.id)
		return k->uid.id < l->uid.id ? -1 : 1;
	return (k->uid.inst > l->uid.inst) - (k->uid.inst < l->uid.inst);
}

/* rocprofv3's report shows the longest dispatch first. */
static int
by_length(const void *x, const void *y)
{
	const struct bunch *a = x, *b = y;

	if (a->key[0] != b->key[0])
		return a->key[0] < b->key[0] ? -1 : 1;
	if (a->sum_ns != b->sum_ns)
		return a->sum_ns > b->sum_ns ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

static void
sort_bunches(struct bunches *bs, const struct kernels *k, enum by by)
{
	sorting = k;
	sorting_members = bs->members;
	sorting_by = by;
	if (bs->list.n == 0)
		return;
	qsort(bs->list.v, bs->list.n, sizeof *bs->list.v,
	    by != BY_EVENT       ? by_rank
		: k->all_rocprof ? by_length
				 : by_start);
}

void
bunches_of(
    struct bunches *bs, const struct kernels *k, enum by by, wanted_fn *wanted)
{
	struct map by_key = { 0 };
	uint32_t *of = xmalloc((k->list.n + 1) * sizeof *of);
	uint64_t key[KEY_WORDS];
	size_t at = 0;

	*bs = (struct bunches){ .members = NULL };
	for (size_t i = 0; i < k->list.n; i++) {
		const struct kernel *one = &k->list.v[i];
		struct bunch *b;

		of[i] = UINT32_MAX;
		if (wanted != NULL && !wanted(k, one))
			continue;
		key_of(key, by, one);
		of[i] = (uint32_t)find_bunch(bs, &by_key, key);
		b = &bs->list.v[of[i]];
		b->n++;
		stat_add(&b->sum_ns, one->dur_ns);
	}
	map_free(&by_key);
	bs->members = xmalloc((k->list.n + 1) * sizeof *bs->members);
	for (size_t i = 0; i < bs->list.n; i++) {
		bs->list.v[i].first = at;
		at += bs->list.v[i].n;
		bs->list.v[i].n = 0;
	}
	for (size_t i = 0; i < k->list.n; i++)
		if (of[i] != UINT32_MAX) {
			struct bunch *b = &bs->list.v[of[i]];

			bs->members[b->first + b->n++] = (uint32_t)i;
		}
	free(of);
	sort_bunches(bs, k, by);
}

const struct kernel *
bunch_kernel(const struct kernels *k, const struct bunches *bs,
    const struct bunch *b, size_t i)
{
	return &k->list.v[bs->members[b->first + i]];
}

void
bunches_free(struct bunches *bs)
{
	vec_free(&bs->list);
	free(bs->members);
}
