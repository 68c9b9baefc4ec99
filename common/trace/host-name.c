/* SPDX-License-Identifier: MIT */
/* Events of one name: the first of them, and their self times. */
#include <stdlib.h>

#include "trace/host.h"

static uint64_t
name_and_kind(const struct host_event *e)
{
	return (uint64_t)e->name << 8 | e->kind;
}

bool
host_is_first_of_name(struct host *h, uint32_t event)
{
	if (h->first_of.n == 0)
		for (size_t i = 0; i < h->events.n; i++) {
			const struct host_event *e = &h->events.v[i], *first;
			bool is_new;
			uint64_t *at =
			    map_put(&h->first_of, name_and_kind(e), &is_new);

			first = &h->events.v[*at];
			if (is_new || e->start_ns < first->start_ns ||
			    (e->start_ns == first->start_ns &&
				uid_cmp(e->uid, first->uid) < 0))
				*at = i;
		}
	return *map_get(&h->first_of, name_and_kind(&h->events.v[event])) ==
	    event;
}

/* By name: sorted on request. */
static void
sort_selfs(struct host *h, const int64_t *ns)
{
	uint32_t nnames = 0, sum = 0;

	for (size_t i = 0; i < h->events.n; i++)
		if (h->events.v[i].name >= nnames)
			nnames = h->events.v[i].name + 1;
	vec_reserve(&h->self_ends, nnames + 1);
	memset(h->self_ends.v, 0, (nnames + 1) * sizeof *h->self_ends.v);
	h->self_ends.n = nnames + 1;
	for (size_t i = 0; i < h->events.n; i++)
		h->self_ends.v[h->events.v[i].name + 1] += ns[i] > 0;
	for (size_t i = 0; i <= nnames; i++)
		h->self_ends.v[i] = sum += h->self_ends.v[i];
	vec_reserve(&h->selfs, sum);
	h->selfs.n = sum;
	for (size_t i = 0; i < h->events.n; i++)
		if (ns[i] > 0)
			h->selfs.v[h->self_ends.v[h->events.v[i].name]++] =
			    ns[i];
}

/* The self time of each event. */
static void
find_selfs(struct host *h)
{
	int64_t *ns = xcalloc(h->events.n + 1, sizeof *ns);

	for (size_t i = 0; i < h->events.n; i++) {
		const struct host_event *e = &h->events.v[i];

		if (!is_nested(e))
			continue;
		ns[i] += e->end_ns - e->start_ns;
		if (e->up != HOST_NONE)
			ns[e->up] -= e->end_ns - e->start_ns;
	}
	sort_selfs(h, ns);
	free(ns);
}

int64_t
host_median_of_name(struct host *h, uint32_t name)
{
	bool is_new;
	uint64_t *median = map_put(&h->median_of, name, &is_new);
	uint32_t from, n;

	if (!is_new)
		return (int64_t)*median;
	if (h->self_ends.n == 0)
		find_selfs(h);
	from = name > 0 ? h->self_ends.v[name - 1] : 0;
	n = h->self_ends.v[name] - from;
	sort_i64(h->selfs.v + from, n);
	*median = n < HOST_MEDIAN_EVENTS ? (uint64_t)-1
					 : (uint64_t)h->selfs.v[from + n / 2];
	return (int64_t)*median;
}

struct str
host_there(const struct host *h, struct str glob)
{
	struct there there = { 0 };

	for (size_t i = 0; i < h->annotations.n; i++) {
		const struct host_event *e = &h->events.v[h->annotations.v[i]];

		there_meet_annotation(
		    &there, glob, dict_get(h->dict, e->name), e->is_step);
	}
	return there_str(&there);
}
