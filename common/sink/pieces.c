/* SPDX-License-Identifier: MIT */
#include "sink/pieces.h"

#include "sink/plan.h"

void
sink_fold_start(struct sink_fold *f, struct sink *s, const struct sink_table *t)
{
	f->plan = (struct sink_plan){ .table = t, .name = t->name };
	sink_plan_keys(s, &f->plan, t->keys);
}

void *
sink_fold(struct sink_fold *f, struct sink *s, const void *piece, bool *is_new)
{
	uint64_t key[SINK_GROUP_WORDS];
	struct sink_group *group;
	int64_t *record;

	f->groups.nwords = sink_key_of(s, &f->plan, piece, key);
	group = sink_groups_of_key(&f->groups, key);
	record = &group->sums[0];
	*is_new = group->n++ == 0;
	if (!*is_new)
		return sink_record(s, (size_t)*record);
	*record = (int64_t)s->records.n;
	return memcpy(sink_add(s), piece, s->def->record_size);
}

void
sink_fold_clear(struct sink_fold *f)
{
	sink_groups_free(&f->groups);
	f->groups = (struct sink_groups){ 0 };
}
