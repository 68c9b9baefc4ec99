/* SPDX-License-Identifier: MIT */
/* Slices: the groups into which events are gathered. */
#include <stdlib.h>

#include "cmd/tl-timeline/timeline.h"

static bool
is_slice(const struct slice *s, uint32_t source, struct key key)
{
	return s->source == source && key_eq(s->key, key);
}

struct slice *
slices_find(struct timeline *g, uint32_t source, struct key key)
{
	struct slice *slice;

	/* events of a slice tend to come together */
	if (g->last < g->slices.n &&
	    is_slice(&g->slices.v[g->last], source, key))
		return &g->slices.v[g->last];
	/* On a collision, try the next number. */
	for (uint64_t h = hash_more(
		 hash_u64((uint64_t)key.n), (uint64_t)source << 8 | key.type);
	     ; h++) {
		bool is_new;
		uint64_t *slot = map_put(&g->by_key, h, &is_new);

		if (is_new) {
			*slot = g->last = g->slices.n;
			break;
		}
		g->last = *slot;
		if (is_slice(&g->slices.v[g->last], source, key))
			return &g->slices.v[g->last];
	}
	slice = vec_add(&g->slices);
	*slice = (struct slice){
		.source = source,
		.key = key,
		.first_ns = INT64_MAX,
	};
	return slice;
}

static void
free_sets(struct slice *slice)
{
	for (size_t i = 0; i < SET_COUNT; i++)
		spans_free(&slice->sets[i]);
	map_free(&slice->windows);
}

/* ---- joining ---- */

/* From a source's time to the first one's. */
struct shift {
	const struct sink_source *of;
	int64_t ns, middle_ns;
	double drift;
};

static int64_t
less(const struct sink_source *o, int64_t ns, int64_t by)
{
	if (__builtin_sub_overflow(ns, by, &ns))
		die("%s: its clock is too far from that of the first source "
		    "to join them",
		    o->path);
	return ns;
}

static struct shift
shift_of(const struct timeline *g, const struct sink_source *o)
{
	const struct sink_source *first = g->sink.sources.list.v;
	const struct collective_clock *own = join_clock(g, o);
	const struct collective_clock *other = join_clock(g, first);
	struct shift s = { .of = o };
	int64_t zero = 0;

	if (first->has_base != o->has_base)
		die("%s: --join needs the base of each source's clock",
		    first->has_base ? o->path : first->path);
	if (first->has_epoch != o->has_epoch)
		die("%s: --join needs the epoch of each source's clock, or of "
		    "none",
		    first->has_epoch ? o->path : first->path);
	if (first->is_rocprof != o->is_rocprof)
		die("%s: --join of rocprofv3's sources and others", o->path);
	if (o->has_base) {
		zero = first->base_ns;
		s.ns = o->base_ns;
	}
	if (other != NULL)
		zero = less(o, zero, other->offset_ns);
	if (own != NULL) {
		s.ns = less(o, s.ns, own->offset_ns);
		s.middle_ns = less(o, own->middle_ns, zero);
		s.drift = own->drift;
	}
	s.ns = less(o, s.ns, zero);
	return s;
}

static struct span
shifted(const struct shift *by, struct span s)
{
	if (!num_add(s.start, by->ns, &s.start) ||
	    !num_add(s.end, by->ns, &s.end))
		die("%s: a time is out of range when sources are joined",
		    by->of->path);
	return (struct span){ clock_steady(s.start, by->middle_ns, by->drift),
		clock_steady(s.end, by->middle_ns, by->drift) };
}

static void
join_slice(struct slice *to, struct slice *from, const struct shift *by)
{
	int64_t first =
	    shifted(by, (struct span){ from->first_ns, from->first_ns }).start;

	for (size_t i = 0; i < SET_COUNT; i++) {
		for (size_t k = 0; k < from->sets[i].n; k++) {
			struct span s = shifted(by, from->sets[i].v[k]);

			spans_add(&to->sets[i], s.start, s.end);
		}
		spans_free(&from->sets[i]);
	}
	map_free(&from->windows);
	to->has_gpu |= from->has_gpu;
	to->nevents += from->nevents;
	to->nunlinked += from->nunlinked;
	if (first < to->first_ns)
		to->first_ns = first;
}

static void
join_window(struct sink_source *to, const struct shift *by)
{
	struct span w = shifted(by, by->of->window);

	to->has_window = to->has_window && by->of->has_window;
	if (w.start < to->window.start)
		to->window.start = w.start;
	if (w.end > to->window.end)
		to->window.end = w.end;
}

/* Merges slices of equal keys from all sources, on the first's time. */
static void
join(struct timeline *g)
{
	struct sink_source *first = g->sink.sources.list.v;
	struct timeline joined = { .sink = g->sink };

	join_find_clocks(g);
	for (size_t i = 0; i < g->sink.sources.list.n; i++) {
		struct shift by = shift_of(g, &first[i]);

		if (i == 0)
			first->window = shifted(&by, first->window);
		else
			join_window(first, &by);
	}
	for (size_t i = 0; i < g->slices.n; i++) {
		struct slice *from = &g->slices.v[i];
		struct shift by = shift_of(g, &first[from->source]);

		join_slice(slices_find(&joined, 0, from->key), from, &by);
	}
	vec_free(&g->slices);
	map_free(&g->by_key);
	g->slices.v = joined.slices.v;
	g->slices.n = joined.slices.n;
	g->slices.cap = joined.slices.cap;
	g->by_key = joined.by_key;
}

/* ---- order ---- */

/* qsort() takes no context. */
static const struct timeline *sorting;
static bool sorting_by_rank;

static int
cmp_i64(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* Numbers, then texts, then work outside. */
static int
cmp_key(struct key a, struct key b)
{
	unsigned x = a.type == KEY_NONE ? 3 : a.type;
	unsigned y = b.type == KEY_NONE ? 3 : b.type;

	if (x != y)
		return x < y ? -1 : 1;
	if (a.type == KEY_STR)
		return str_cmp(dict_get(sorting->sink.dict, (uint32_t)a.n),
		    dict_get(sorting->sink.dict, (uint32_t)b.n));
	return a.type == KEY_NONE ? 0 : cmp_i64(a.n, b.n);
}

static int
cmp_slice(const void *x, const void *y)
{
	const struct slice *a = x, *b = y;
	const struct sink_source *oa = &sorting->sink.sources.list.v[a->source];
	const struct sink_source *ob = &sorting->sink.sources.list.v[b->source];
	int c = 0;

	if (sorting_by_rank && oa->has_rank != ob->has_rank)
		return oa->has_rank ? -1 : 1;
	if (sorting_by_rank && oa->has_rank)
		c = cmp_i64(oa->rank, ob->rank);
	if (c == 0)
		c = cmp_i64(oa->no, ob->no);
	/* annotations by time, outside last */
	if (c == 0 && sorting->by == BY_ANNOTATION && a->key.type == KEY_STR &&
	    b->key.type == KEY_STR)
		c = cmp_i64(a->first_ns, b->first_ns);
	return c != 0 ? c : cmp_key(a->key, b->key);
}

/* Drops sources of ranks that are not selected, once all ranks are known. */
static void
drop_unasked(struct timeline *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->slices.n; i++) {
		struct slice *slice = &g->slices.v[i];

		if (g->sink.sources.list.v[slice->source].is_asked)
			g->slices.v[n++] = *slice;
		else
			free_sets(slice);
	}
	g->slices.n = n;
}

void
slices_finish(struct timeline *g)
{
	drop_unasked(g);
	g->all_rocprof = true;
	for (size_t i = 0; i < g->slices.n; i++) {
		const struct slice *slice = &g->slices.v[i];

		g->nevents += slice->nevents;
		g->nunlinked += slice->nunlinked;
		g->all_rocprof = g->all_rocprof &&
		    g->sink.sources.list.v[slice->source].is_rocprof;
	}
	if (g->join && g->slices.n > 0)
		join(g);
	sorting = g;
	sorting_by_rank = g->by == BY_RANK ||
	    sink_sources_lead(&g->sink.sources) == SINK_LEAD_RANK;
	if (g->slices.n > 0)
		qsort(g->slices.v, g->slices.n, sizeof *g->slices.v, cmp_slice);
}

void
slices_free(struct timeline *g)
{
	for (size_t i = 0; i < g->slices.n; i++)
		free_sets(&g->slices.v[i]);
	vec_free(&g->slices);
	map_free(&g->by_key);
}
