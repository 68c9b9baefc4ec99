/* SPDX-License-Identifier: MIT */
/* Sources, and the slices into which their GPU events are gathered. */
#include <stdlib.h>

#include "cmd/tl-timeline/timeline.h"

/* ---- sources ---- */

void
slices_next_file(struct slices *g)
{
	g->file_origins = g->origins.n;
}

struct origin *
slices_origin(struct slices *g, const char *path, uint32_t src)
{
	struct origin *o;

	/* a source's events stand together: the last one is the likely one */
	for (size_t i = g->origins.n; i-- > g->file_origins;)
		if (g->origins.v[i].src == src)
			return &g->origins.v[i];
	o = vec_add(&g->origins);
	*o = (struct origin){
		.path = path,
		.src = src,
		.no = (uint32_t)g->origins.n - 1,
		.is_asked = true,
	};
	return o;
}

/* A fact that is an integer, or its decimal text. */
static bool
int_fact(const struct source *s, const char *key, int64_t *v)
{
	const struct fact *f = source_fact(s, key);

	if (f == NULL)
		return false;
	switch (f->val.type) {
	case VAL_INT: *v = f->val.i; return true;
	case VAL_NUM:
	case VAL_STRX: return num_i64(f->val.s, v);
	default: return false;
	}
}

void
origin_facts(struct origin *o, const struct source *s)
{
	const struct fact *format = source_fact(s, "format");
	int64_t epoch;

	o->is_rocprof =
	    format != NULL && str_eq(format->val.s, STR("rocprofv3"));
	o->has_rank = int_fact(s, "rank", &o->rank);
	o->has_base = int_fact(s, "base", &o->base_ns);
	if (int_fact(s, "epoch", &epoch) &&
	    !num_add(o->base_ns, epoch, &o->base_ns))
		o->has_base = false;
	o->has_window = int_fact(s, "window_start", &o->window.start) &&
	    int_fact(s, "window_end", &o->window.end);
}

/* ---- slices ---- */

struct slice *
slices_find(struct slices *g, const struct origin *o, struct key key)
{
	size_t origin = (size_t)(o - g->origins.v);
	uint64_t h =
	    hash_mix(hash_u64((uint64_t)key.n) ^ origin, HASH_K0 ^ key.type);
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
		if (slice->origin == origin && key_eq(slice->key, key))
			return slice;
	}
	slice = vec_add(&g->list);
	*slice = (struct slice){
		.origin = origin,
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
shift_of(const struct origin *first, const struct origin *o)
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
shifted(const struct origin *o, struct span s, int64_t shift)
{
	if (!num_add(s.start, shift, &s.start) ||
	    !num_add(s.end, shift, &s.end))
		die("%s: a time is out of range when sources are joined",
		    o->path);
	return s;
}

static void
join_slice(
    struct slice *to, struct slice *from, const struct origin *o, int64_t shift)
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
join_window(struct origin *to, const struct origin *o, int64_t shift)
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
	struct slices joined = { .strings = g->strings };

	if (g->origins.n == 0)
		return;
	joined.origins = g->origins;
	for (size_t i = 1; i < g->origins.n; i++)
		join_window(&g->origins.v[0], &g->origins.v[i],
		    shift_of(&g->origins.v[0], &g->origins.v[i]));
	for (size_t i = 0; i < n; i++) {
		struct slice *from = &g->list.v[i];
		const struct origin *o = &g->origins.v[from->origin];

		join_slice(
		    slices_find(&joined, &joined.origins.v[0], from->key), from,
		    o, shift_of(&g->origins.v[0], o));
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
		return str_cmp(strings_get(sorting->strings, (uint32_t)a.n),
		    strings_get(sorting->strings, (uint32_t)b.n));
	return a.type == KEY_NONE ? 0 : cmp_i64(a.n, b.n);
}

static int
cmp_slice(const void *x, const void *y)
{
	const struct slice *a = x, *b = y;
	const struct origin *oa = &sorting->origins.v[a->origin];
	const struct origin *ob = &sorting->origins.v[b->origin];
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
	vec_free(&g->origins);
	map_free(&g->by_key);
}
