/* SPDX-License-Identifier: MIT */
/* Finds what repeats. causes.md and man/tl-steps.1 have the rules. */
#include "trace/repeat.h"

#define LEAST_TIMES 3
#define ANCHORS 8        /* names tried of those that come m times */
#define SAME_PERCENT 60  /* of all units */
#define FOREIGN_SHARE 50 /* 1/50 of all events may be of other names */

/* How often a name comes. */
struct times {
	uint32_t name, times;
};

/* Names that come equally often: by_times.v[first] .. [first + n - 1]. */
struct group {
	uint32_t times, first, n;
};

/* The events of one name, in order: at.v[first] .. [first + n - 1]. */
struct name {
	uint32_t first, n;
};

struct finder {
	const struct repeat_event *v;
	size_t n;
	VEC(struct name) names; /* by their first event */
	VEC(uint32_t) of;       /* of each event: its name */
	VEC(uint32_t) at;
	VEC(uint64_t) sums;         /* of the hashes of all names up to here */
	VEC(struct times) by_times; /* those that come most often first */
	VEC(struct group) groups;   /* likewise */
	VEC(int64_t) room;
	/* best so far: share of the names in percent, then length */
	int64_t share, length;
	uint32_t anchor;
};

/* Where most units begin and end, which have the same names. */
struct unit {
	uint64_t sum;
	size_t first, length;
};

static const uint32_t *
places_of(const struct finder *f, uint32_t name)
{
	return f->at.v + f->names.v[name].first;
}

/* ---- names ---- */

static int
by_start(const void *x, const void *y)
{
	const struct repeat_event *a = x, *b = y;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

void
repeat_events_sort(struct repeat_event *v, size_t n)
{
	stable_sort(v, n, sizeof *v, by_start);
}

static void
number_names(struct finder *f)
{
	struct map known = { 0 };
	uint32_t first = 0;
	uint64_t sum = 0;

	for (size_t i = 0; i < f->n; i++) {
		bool is_new;
		uint64_t *slot = map_put(&known, f->v[i].name, &is_new);

		if (is_new) {
			*slot = f->names.n;
			vec_push(&f->names, ((struct name){ 0 }));
		}
		f->names.v[*slot].n++;
		vec_push(&f->of, (uint32_t)*slot);
		vec_push(&f->at, 0);
		vec_push(&f->sums, sum);
		sum += hash_u64(*slot + 1);
	}
	vec_push(&f->sums, sum);
	map_free(&known);
	for (size_t k = 0; k < f->names.n; k++) {
		f->names.v[k].first = first;
		first += f->names.v[k].n;
		f->names.v[k].n = 0;
	}
	for (size_t i = 0; i < f->n; i++) {
		struct name *name = &f->names.v[f->of.v[i]];

		f->at.v[name->first + name->n++] = (uint32_t)i;
	}
}

static int
by_times(const void *x, const void *y)
{
	const struct times *a = x, *b = y;

	return (a->times < b->times) - (a->times > b->times);
}

static void
group_names(struct finder *f)
{
	for (uint32_t k = 0; k < f->names.n; k++)
		vec_push(&f->by_times, ((struct times){ k, f->names.v[k].n }));
	stable_sort(
	    f->by_times.v, f->by_times.n, sizeof *f->by_times.v, by_times);
	for (uint32_t i = 0; i < f->by_times.n; i++) {
		uint32_t times = f->by_times.v[i].times;

		if (i == 0 || f->groups.v[f->groups.n - 1].times != times)
			vec_push(&f->groups, ((struct group){ times, i, 0 }));
		f->groups.v[f->groups.n - 1].n++;
	}
}

/* ---- units ---- */

static int
by_sum(const void *x, const void *y)
{
	const struct unit *a = x, *b = y;

	if (a->sum != b->sum)
		return a->sum < b->sum ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

typedef VEC(struct unit) unit_list;

/* The upper median of the room; -1: empty. */
static int64_t
upper_median(struct finder *f)
{
	sort_i64(f->room.v, f->room.n);
	return f->room.n > 0 ? f->room.v[f->room.n / 2] : -1;
}

/*
 * The units that a name cuts events into: those with the names that most have,
 * in order; the median length of all.
 */
static int64_t
units_of(struct finder *f, uint32_t name, unit_list *units)
{
	const uint32_t *p = places_of(f, name);
	size_t n = f->names.v[name].n - 1, best = 0, most = 0;

	units->n = f->room.n = 0;
	for (size_t i = 0; i < n; i++) {
		vec_push(units,
		    ((struct unit){ f->sums.v[p[i + 1]] - f->sums.v[p[i]], p[i],
			p[i + 1] - p[i] }));
		vec_push(&f->room, p[i + 1] - p[i]);
	}
	stable_sort(units->v, units->n, sizeof *units->v, by_sum);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && units->v[k].sum == units->v[i].sum;)
			k++;
		if (k - i > most ||
		    (k - i == most &&
			units->v[i].first < units->v[best].first)) {
			most = k - i;
			best = i;
		}
	}
	memmove(units->v, units->v + best, most * sizeof *units->v);
	units->n = most;
	return upper_median(f);
}

/* The share of events whose names come a multiple of these times. */
static int64_t
share_of(const struct finder *f, uint32_t times)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < f->groups.n; i++) {
		const struct group *g = &f->groups.v[i];

		if (g->times % times == 0)
			sum += (uint64_t)g->times * g->n;
	}
	return (int64_t)((200 * sum + f->n) / (2 * f->n));
}

/* Tries the group's names; takes the first that cuts events into equal
 * units. */
static void
try_names(struct finder *f, const struct group *g, unit_list *units)
{
	for (uint32_t i = 0; i < g->n && i < ANCHORS; i++) {
		uint32_t name = f->by_times.v[g->first + i].name;
		const uint32_t *p = places_of(f, name);
		int64_t length = units_of(f, name, units);
		int64_t share;

		if (units->n * 100 < (size_t)(g->times - 1) * SAME_PERCENT ||
		    (size_t)(p[g->times - 1] - p[0]) * 2 < f->n)
			continue;
		share = share_of(f, g->times);
		if (share > f->share ||
		    (share == f->share && length > f->length)) {
			f->share = share;
			f->length = length;
			f->anchor = name;
		}
		return;
	}
}

static bool
find_anchor(struct finder *f, unit_list *units)
{
	f->share = -1;
	for (size_t i = 0; i < f->groups.n; i++)
		if (f->groups.v[i].times >= LEAST_TIMES)
			try_names(f, &f->groups.v[i], units);
	return f->share >= 0;
}

/* Events whose names the unit does not have. */
static size_t
foreign_events(const struct finder *f, const struct unit *u)
{
	struct map own = { 0 };
	size_t n = f->n;

	for (size_t i = u->first; i < u->first + u->length; i++) {
		bool is_new;

		(void)map_put(&own, f->of.v[i], &is_new);
		if (is_new)
			n -= f->names.v[f->of.v[i]].n;
	}
	map_free(&own);
	return n;
}

/* ---- where a repetition begins ---- */

/* How far into a unit: after the longest pause. */
static size_t
find_offset(struct finder *f, const unit_list *units)
{
	size_t length = units->v[0].length, best = 0;
	size_t lead = places_of(f, f->anchor)[0];
	size_t start = lead <= length ? (length - lead) % length : 0;
	int64_t most = -1, of_start = -1;

	for (size_t o = 0; o < length; o++) {
		int64_t gap;

		f->room.n = 0;
		for (size_t i = 0; i < units->n; i++) {
			size_t at = units->v[i].first + o;
			int64_t ns;

			if (at == 0)
				continue;
			ns = f->v[at].start_ns - f->v[at - 1].end_ns;
			vec_push(&f->room, ns > 0 ? ns : 0);
		}
		gap = upper_median(f);
		if (gap > most) {
			most = gap;
			best = o;
		}
		if (o == start)
			of_start = gap;
	}
	return lead <= length && of_start >= most / 2 ? start : best;
}

/* The nth of a name from an event on, or past the last event. */
static size_t
nth_from(const struct finder *f, uint32_t name, size_t from, size_t nth)
{
	const uint32_t *p = places_of(f, name);
	size_t n = f->names.v[name].n, at;

	bisect(at, n, mid, p[mid] < from);
	return at + nth < n ? p[at + nth] : f->n;
}

/*
 * The borders: each is the same one of the events of its name in its unit, so
 * that units that differ a little have one, too.
 */
static void
find_borders(
    struct finder *f, const struct unit *u, size_t offset, struct repeats *to)
{
	uint32_t name = f->of.v[u->first + offset];
	const uint32_t *p = places_of(f, f->anchor);
	size_t times = f->names.v[f->anchor].n, before = 0, behind = 0;
	const uint32_t *all = places_of(f, name);
	size_t lead, at;

	for (size_t i = 0; i < u->length; i++)
		if (f->of.v[u->first + i] == name)
			(*(i < offset ? &before : &behind))++;
	/* before the first unit, count from the end */
	bisect(lead, f->names.v[name].n, mid, all[mid] < p[0]);
	if (lead >= behind && offset > 0)
		vec_push(&to->at, all[lead - behind]);
	for (size_t i = 0; i < times; i++) {
		size_t end = i + 1 < times ? p[i + 1] : f->n;

		at = nth_from(f, name, p[i], before);
		if (at < end)
			vec_push(&to->at, (uint32_t)at);
	}
}

/* Behind the last border is a whole one, or what is left of one. */
static void
find_end(struct finder *f, const struct unit *u, struct repeats *to)
{
	size_t last = to->at.n > 0 ? to->at.v[to->at.n - 1] : f->n;

	if (last < f->n && f->sums.v[f->n] - f->sums.v[last] == u->sum)
		vec_push(&to->at, (uint32_t)f->n);
}

bool
repeats_find(struct repeats *to, const struct repeat_event *v, size_t n)
{
	struct finder f = { .v = v, .n = n };
	unit_list units = { 0 };
	bool found = false;

	to->at.n = to->length = 0;
	if (n < 2 * LEAST_TIMES || n >= UINT32_MAX)
		return false;
	number_names(&f);
	group_names(&f);
	if (find_anchor(&f, &units)) {
		(void)units_of(&f, f.anchor, &units);
		/* one event over and over has no beginning */
		found = units.v[0].length > 1 &&
		    foreign_events(&f, units.v) * FOREIGN_SHARE <= n;
	}
	if (found) {
		to->length = units.v[0].length;
		find_borders(&f, units.v, find_offset(&f, &units), to);
		find_end(&f, units.v, to);
		found = to->at.n > 1;
	}
	vec_free(&f.names);
	vec_free(&f.of);
	vec_free(&f.at);
	vec_free(&f.sums);
	vec_free(&f.by_times);
	vec_free(&f.groups);
	vec_free(&f.room);
	vec_free(&units);
	return found;
}

void
repeats_free(struct repeats *r)
{
	vec_free(&r->at);
}
