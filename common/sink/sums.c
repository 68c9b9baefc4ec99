/* SPDX-License-Identifier: MIT */
/* Checks of the rows of a table; see plan.h. */
#include "sink/plan.h"
#include "trace/laws.h"

/* The kept sum that orders the table. */
static const struct sink_measure *
measure_of(const struct sink *s, const struct sink_plan *p)
{
	unsigned m = p->table->measure;
	const struct sink_measure *of = &s->def->measures[m];

	return m < s->def->nmeasures && m < SINK_GROUP_SUMS &&
		of->real == NULL && !of->is_own
	    ? of
	    : NULL;
}

void
sink_total_add(struct sink *s, const struct sink_plan *p,
    struct sink_groups *gs, const void *record)
{
	const struct sink_measure *of = measure_of(s, p);
	uint32_t source = ((const struct sink_record *)record)->source;
	struct sink_total *total;
	int64_t v = 0;

	while (gs->totals.n <= source)
		vec_push(&gs->totals, ((struct sink_total){ 0, 0 }));
	total = &gs->totals.v[source];
	total->n++;
	if (of != NULL)
		memcpy(&v, (const char *)record + of->at, sizeof v);
	if (v != SINK_NONE)
		total->sum = num_add_max(total->sum, v);
}

/* Whether num_add_max() saturated: such a sum is not checked. */
static bool
is_full(int64_t sum)
{
	return sum == INT64_MAX;
}

static void
keep_once(const struct sink *s, const struct sink_plan *p,
    const struct sink_groups *gs)
{
	if ((s->def->once & 1U << p->table->measure) == 0)
		return;
	for (size_t i = 0; i < gs->totals.n; i++)
		law_most(p->name,
		    (struct law_part){
			"the rows' GPU time", gs->totals.v[i].sum },
		    (struct law_part){ "that of all GPU events",
			s->sources.list.v[i].work_ns });
}

void
sink_keep_laws(const struct sink *s, const struct sink_plan *p,
    const struct sink_groups *gs)
{
	struct sink_total rows = { 0, 0 }, records = { 0, 0 };
	bool has_measure = measure_of(s, p) != NULL;

	for (size_t i = 0; i < gs->list.n; i++) {
		rows.n += gs->list.v[i].n;
		if (has_measure)
			rows.sum = num_add_max(
			    rows.sum, gs->list.v[i].sums[p->table->measure]);
	}
	for (size_t i = 0; i < gs->totals.n; i++) {
		records.n += gs->totals.v[i].n;
		records.sum = num_add_max(records.sum, gs->totals.v[i].sum);
	}
	law_same(p->name,
	    (struct law_part){ "records in rows", (int64_t)rows.n },
	    (struct law_part){ "all records", (int64_t)records.n });
	if (has_measure && !is_full(rows.sum) && !is_full(records.sum))
		law_same(p->name,
		    (struct law_part){ "the rows' sum", rows.sum },
		    (struct law_part){ "the records'", records.sum });
	keep_once(s, p, gs);
}
