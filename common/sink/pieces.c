/* SPDX-License-Identifier: MIT */
#include "sink/pieces.h"

#include "sink/plan.h"

void
sink_fold_start(struct sink_fold *f, struct sink *s, const struct sink_table *t)
{
	f->plan = (struct sink_plan){ .table = t, .name = t->name };
	sink_plan_keys(s, &f->plan, t->keys);
}

static size_t
place_of(const struct sink_fold *f, const uint64_t *words)
{
	uint64_t h = hash_more(hash_u64(words[0]), words[1]);

	return h % (sizeof f->known / sizeof *f->known);
}

void *
sink_fold_known(
    const struct sink_fold *f, const struct sink *s, const uint64_t *words)
{
	size_t i = place_of(f, words);

	return f->known[i].record > 0 && f->known[i].words[0] == words[0] &&
		f->known[i].words[1] == words[1]
	    ? sink_record(s, f->known[i].record - 1)
	    : NULL;
}

static void
remember(struct sink_fold *f, const uint64_t *words, size_t record)
{
	size_t i = place_of(f, words);

	memcpy(f->known[i].words, words, sizeof f->known[i].words);
	f->known[i].record = record + 1;
}

void *
sink_fold(struct sink_fold *f, struct sink *s, const void *piece,
    const uint64_t *words, bool *is_new)
{
	uint64_t key[SINK_GROUP_WORDS];
	struct sink_group *group;
	int64_t *record;

	f->groups.nwords = sink_key_of(s, &f->plan, piece, key);
	group = sink_groups_of_key(&f->groups, key);
	record = &group->sums[0];
	*is_new = group->n++ == 0;
	if (*is_new) {
		*record = (int64_t)s->records.n;
		memcpy(sink_add(s), piece, s->def->record_size);
	}
	if (words != NULL)
		remember(f, words, (size_t)*record);
	return sink_record(s, (size_t)*record);
}

void
sink_fold_clear(struct sink_fold *f)
{
	sink_groups_free(&f->groups);
	f->groups = (struct sink_groups){ 0 };
	memset(f->known, 0, sizeof f->known);
}
