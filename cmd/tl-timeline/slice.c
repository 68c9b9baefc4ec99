/* SPDX-License-Identifier: MIT */
/* The slices into which the GPU events of sources are gathered. */
#include <stdlib.h>

#include "cmd/tl-timeline/timeline.h"

struct slice *
slices_find(struct slices *g, const struct sink_source *o, struct key key)
{
	size_t source = (size_t)(o - g->sources.list.v);
	uint64_t h =
	    hash_mix(hash_u64((uint64_t)key.n) ^ source, HASH_K0 ^ key.type);
	struct slice *slice;

	/* The rare collision tries the next number. */
	for (;; h++) {
		bool is_new;
		uint64_t *slot = map_put(&g->by_key, h, &is_new);

		if (is_new) {
			*slot = g->list.n;
			break;
		}
		slice = &g->list.v[*slot];
		if (slice->source == source && key_eq(slice->key, key))
			return slice;
	}
	slice = vec_add(&g->list);
	*slice = (struct slice){
		.source = source,
		.key = key,
		.first_ns = INT64_MAX,
	};
	return slice;
}

void
slice_add(struct slice *slice, enum bucket bucket, const struct event *ev,
    int64_t end_ns)
{
	unsigned set = SET_COMPUTE;

	if (bucket == BUCKET_COMM)
		set = SET_COMM;
	else if (bucket == BUCKET_MEMCPY)
		set = ev->shape->kind == KIND_MEMCPY ? SET_MEMCPY
						     : SET_COPY_KERNELS;
	spans_add(&slice->sets[set], ev->ts_ns, end_ns);
	if (ev->flags & EV_UNLINKED) {
		spans_add(&slice->sets[SET_UNLINKED], ev->ts_ns, end_ns);
		slice->nunlinked++;
	}
	if (ev->ts_ns < slice->first_ns)
		slice->first_ns = ev->ts_ns;
	slice->nevents++;
}

/* ---- joining ---- */

static int64_t
shift_of(const struct sink_source *first, const struct sink_source *o)
{
	int64_t shift;

	if (first->has_base != o->has_base)
		die("%s: --join needs the base of each source's clock",
		    first->has_base ? o->path : first->path);
	if (first->is_rocprof != o->is_rocprof)
		die("%s: --join of rocprofv3's sources and others", o->path);
	if (!o->has_base)
		return 0;
	if (__builtin_sub_overflow(o->base_ns, first->base_ns, &shift))
		die("%s: its clock is too far from that of %s to join them",
		    o->path, first->path);
	return shift;
}

static struct span
shifted(const struct sink_source *o, struct span s, int64_t shift)
{
	if (!num_add(s.start, shift, &s.start) ||
	    !num_add(s.end, shift, &s.end))
		die("%s: a time is out of range when sources are joined",
		    o->path);
	return s;
}

static void
join_slice(struct slice *to, struct slice *from, const struct sink_source *o,
    int64_t shift)
{
	int64_t first =
	    shifted(o, (struct span){ from->first_ns, from->first_ns }, shift)
		.start;

	for (size_t i = 0; i < SET_COUNT; i++) {
		for (size_t k = 0; k < from->sets[i].n; k++) {
			struct span s = shifted(o, from->sets[i].v[k], shift);

			spans_add(&to->sets[i], s.start, s.end);
		}
		spans_free(&from->sets[i]);
	}
	to->nevents += from->nevents;
	to->nunlinked += from->nunlinked;
	if (first < to->first_ns)
		to->first_ns = first;
}

static void
join_window(struct sink_source *to, const struct sink_source *o, int64_t shift)
{
	struct span w = shifted(o, o->window, shift);

	to->has_window = to->has_window && o->has_window;
	if (w.start < to->window.start)
		to->window.start = w.start;
	if (w.end > to->window.end)
		to->window.end = w.end;
}

void
slices_join(struct slices *g)
{
	size_t n = g->list.n;
	struct slices joined = { .dict = g->dict };

	if (g->sources.list.n == 0)
		return;
	joined.sources = g->sources;
	for (size_t i = 1; i < g->sources.list.n; i++)
		join_window(&g->sources.list.v[0], &g->sources.list.v[i],
		    shift_of(&g->sources.list.v[0], &g->sources.list.v[i]));
	for (size_t i = 0; i < n; i++) {
		struct slice *from = &g->list.v[i];
		const struct sink_source *o = &g->sources.list.v[from->source];

		join_slice(
		    slices_find(&joined, &joined.sources.list.v[0], from->key),
		    from, o, shift_of(&g->sources.list.v[0], o));
	}
	vec_free(&g->list);
	map_free(&g->by_key);
	g->list = joined.list;
	g->by_key = joined.by_key;
}

/* ---- order ---- */

/* qsort() hands nothing through. */
static const struct slices *sorting;
static enum by sorting_by;
static bool sorting_by_rank;

static int
cmp_i64(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* Numbers, then texts, then those outside. */
static int
cmp_key(struct key a, struct key b)
{
	unsigned x = a.type == KEY_NONE ? 3 : a.type;
	unsigned y = b.type == KEY_NONE ? 3 : b.type;

	if (x != y)
		return x < y ? -1 : 1;
	if (a.type == KEY_STR)
		return str_cmp(dict_get(sorting->dict, (uint32_t)a.n),
		    dict_get(sorting->dict, (uint32_t)b.n));
	return a.type == KEY_NONE ? 0 : cmp_i64(a.n, b.n);
}

static int
cmp_slice(const void *x, const void *y)
{
	const struct slice *a = x, *b = y;
	const struct sink_source *oa = &sorting->sources.list.v[a->source];
	const struct sink_source *ob = &sorting->sources.list.v[b->source];
	int c = 0;

	if (sorting_by_rank && oa->has_rank != ob->has_rank)
		return oa->has_rank ? -1 : 1;
	if (sorting_by_rank && oa->has_rank)
		c = cmp_i64(oa->rank, ob->rank);
	if (c == 0)
		c = cmp_i64(oa->no, ob->no);
	/* annotations in the order of time, those outside last */
	if (c == 0 && sorting_by == BY_ANNOTATION && a->key.type == KEY_STR &&
	    b->key.type == KEY_STR)
		c = cmp_i64(a->first_ns, b->first_ns);
	return c != 0 ? c : cmp_key(a->key, b->key);
}

void
slices_sort(struct slices *g, enum by by, bool by_rank)
{
	sorting = g;
	sorting_by = by;
	sorting_by_rank = by_rank;
	if (g->list.n > 0)
		qsort(g->list.v, g->list.n, sizeof *g->list.v, cmp_slice);
}

void
slices_free(struct slices *g)
{
	for (size_t i = 0; i < g->list.n; i++)
		for (size_t k = 0; k < SET_COUNT; k++)
			spans_free(&g->list.v[i].sets[k]);
	vec_free(&g->list);
	sink_sources_free(&g->sources);
	map_free(&g->by_key);
}
