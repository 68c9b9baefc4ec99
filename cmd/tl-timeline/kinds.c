/* SPDX-License-Identifier: MIT */
/*
 * The kinds of work that run at once: busy time cut at each start and end, and
 * summed by which kinds are active. So the sums add up to the busy time.
 */
#include "cmd/tl-timeline/timeline.h"

enum { COMPUTATION, COMMUNICATION, MEMORY, NKINDS };

/* By which are active, as bits: fewer kinds first. */
static const struct {
	unsigned kinds;
	const char *text;
} combinations[] = {
	{ 1 << COMPUTATION, "computation" },
	{ 1 << COMMUNICATION, "communication" },
	{ 1 << MEMORY, "memory" },
	{ 1 << COMPUTATION | 1 << COMMUNICATION,
	    "computation + communication" },
	{ 1 << COMPUTATION | 1 << MEMORY, "computation + memory" },
	{ 1 << COMMUNICATION | 1 << MEMORY, "communication + memory" },
	{ 1 << COMPUTATION | 1 << COMMUNICATION | 1 << MEMORY,
	    "computation + communication + memory" },
};

/* Sets are normalised: of each at most one interval is open at a time. */
static void
sum_kinds(const struct spans sets[NKINDS], int64_t ns[1 << NKINDS])
{
	size_t at[NKINDS] = { 0 };
	unsigned open = 0;
	int64_t since = 0;

	for (;;) {
		int64_t next = INT64_MAX;
		bool is_end = true;

		for (unsigned i = 0; i < NKINDS; i++) {
			const struct span *s;
			int64_t border;

			if (at[i] == sets[i].n)
				continue;
			s = &sets[i].v[at[i]];
			border = open & 1U << i ? s->end : s->start;
			next = is_end || border < next ? border : next;
			is_end = false;
		}
		if (is_end)
			return;
		ns[open] += open != 0 ? next - since : 0;
		since = next;
		for (unsigned i = 0; i < NKINDS; i++) {
			if (at[i] == sets[i].n)
				continue;
			if (open & 1U << i && sets[i].v[at[i]].end == next) {
				open &= ~(1U << i);
				at[i]++;
			} else if (!(open & 1U << i) &&
			    sets[i].v[at[i]].start == next) {
				open |= 1U << i;
			}
		}
	}
}

static void
add_row(struct timeline *g, const struct slice *slice, const char *text,
    int64_t ns, int64_t busy)
{
	struct row *r = figures_row(g, slice, text);

	r->of = ROW_KINDS;
	r->flags = INTERN_NONE;
	r->ns = ns;
	r->percent = (double)ns / (double)busy * 100;
}

/* Those that there are; sets are normalised. */
void
kinds_add(struct timeline *g, const struct slice *slice)
{
	struct spans sets[NKINDS] = { 0 }, copies = { 0 };
	int64_t ns[1 << NKINDS] = { 0 }, busy = 0;

	spans_union(
	    &copies, &slice->sets[SET_MEMCPY], &slice->sets[SET_COPY_KERNELS]);
	spans_union(&sets[MEMORY], &copies, &slice->sets[SET_FILLS]);
	sets[COMPUTATION] = slice->sets[SET_COMPUTE];
	sets[COMMUNICATION] = slice->sets[SET_COMM];
	sum_kinds(sets, ns);
	for (unsigned i = 1; i < 1 << NKINDS; i++)
		busy += ns[i];
	for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++)
		if (ns[combinations[i].kinds] > 0)
			add_row(g, slice, combinations[i].text,
			    ns[combinations[i].kinds], busy);
	spans_free(&copies);
	spans_free(&sets[MEMORY]);
}
