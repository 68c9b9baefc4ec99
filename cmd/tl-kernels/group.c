/* SPDX-License-Identifier: MIT */
/* Groups of kernels with equal words, the longest sum first. */
#include "cmd/tl-kernels/kernels.h"
#include "trace/stat.h"

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

	memset(key, 0, SINK_GROUP_WORDS * sizeof *key);
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

struct order {
	const struct kernels *k;
	enum by by;
};

static const struct kernel *
first_of(const struct order *o, const struct sink_groups *gs,
    const struct sink_group *gr)
{
	return &o->k->list.v[sink_group_member(gs, gr, 0)];
}

static int
cmp_text(const struct kernels *k, uint32_t a, uint32_t b)
{
	return a == b
	    ? 0
	    : str_cmp(strings_get(k->strings, a), strings_get(k->strings, b));
}

/* By the key's texts from the left, then by which came first. */
static int
cmp_keys(const struct order *o, const struct sink_groups *gs,
    const struct sink_group *a, const struct sink_group *b)
{
	const struct kernel *x = first_of(o, gs, a), *y = first_of(o, gs, b);
	int c = 0;

	if (o->by == BY_OP)
		c = cmp_text(o->k, x->category, y->category);
	if (c == 0 && o->by != BY_NAME && o->by != BY_CLASS)
		c = cmp_text(o->k, x->op, y->op);
	if (c == 0)
		c = o->by == BY_CLASS ? cmp_text(o->k, x->class, y->class)
				      : cmp_text(o->k, x->name, y->name);
	if (c != 0)
		return c;
	return (a->first > b->first) - (a->first < b->first);
}

static int
by_rank(const void *arg, const struct sink_groups *gs,
    const struct sink_group *a, const struct sink_group *b)
{
	const struct order *o = arg;

	if (a->key[0] != b->key[0])
		return a->key[0] < b->key[0] ? -1 : 1;
	if (a->sums[SUM_NS] != b->sums[SUM_NS])
		return a->sums[SUM_NS] > b->sums[SUM_NS] ? -1 : 1;
	/* of short kernels the fewer, then the shorter come first */
	if (o->by == BY_SHORT && a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return cmp_keys(o, gs, a, b);
}

static int
by_start(const void *arg, const struct sink_groups *gs,
    const struct sink_group *a, const struct sink_group *b)
{
	const struct kernel *k = first_of(arg, gs, a);
	const struct kernel *l = first_of(arg, gs, b);

	if (a->key[0] != b->key[0])
		return a->key[0] < b->key[0] ? -1 : 1;
	if (k->ts_ns != l->ts_ns)
		return k->ts_ns < l->ts_ns ? -1 : 1;
	return uid_cmp(k->uid, l->uid);
}

/* rocprofv3's report shows the longest dispatch first. */
static int
by_length(const void *arg, const struct sink_groups *gs,
    const struct sink_group *a, const struct sink_group *b)
{
	if (a->key[0] != b->key[0])
		return a->key[0] < b->key[0] ? -1 : 1;
	if (a->sums[SUM_NS] != b->sums[SUM_NS])
		return a->sums[SUM_NS] > b->sums[SUM_NS] ? -1 : 1;
	return uid_cmp(first_of(arg, gs, a)->uid, first_of(arg, gs, b)->uid);
}

void
kernels_group(struct sink_groups *gs, const struct kernels *k, enum by by,
    wanted_fn *wanted)
{
	const struct order order = { k, by };
	uint64_t key[SINK_GROUP_WORDS];

	*gs = (struct sink_groups){ .members = NULL };
	for (size_t i = 0; i < k->list.n; i++) {
		const struct kernel *one = &k->list.v[i];

		if (wanted != NULL && !wanted(k, one)) {
			sink_groups_skip(gs);
			continue;
		}
		key_of(key, by, one);
		stat_add(&sink_groups_add(gs, key)->sums[SUM_NS], one->dur_ns);
	}
	sink_groups_finish(gs,
	    by != BY_EVENT       ? by_rank
		: k->all_rocprof ? by_length
				 : by_start,
	    &order);
}
