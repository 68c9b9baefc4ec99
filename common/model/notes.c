/* SPDX-License-Identifier: MIT */
/*
 * Annotations around ops: which step of a serving framework an op ran in.
 *
 * Steps nest in other annotations (ProfilerStep#3) and in each other. So the
 * innermost with the sums that models read counts, else the innermost that
 * names a step, else any. Names are those of iterations (trace/phase.h) and
 * user-defined ones.
 */
#include "model/facts.h"

/* Each name is examined once. */
static enum note_rank
rank_of(
    struct notes *n, struct models *ms, const struct dict *st, uint32_t name)
{
	bool is_new;
	uint64_t *rank = map_put(&n->ranks, name, &is_new);

	if (is_new)
		*rank = model_annotation(ms, dict_get(st, name));
	return (enum note_rank) * rank;
}

void
notes_add(struct notes *n, struct models *ms, const struct dict *st,
    const struct event *ev)
{
	int64_t end;

	if (ev->shape->is_inferred || (ev->shape->has & HAS_TS) == 0 ||
	    !num_add(ev->ts_ns, ev->dur_ns, &end))
		return;
	inner_add(
	    &n->around, rank_of(n, ms, st, ev->name), ev->ts_ns, end, ev->name);
	n->is_found = false;
}

struct str
notes_around(struct notes *n, const struct dict *st, int64_t ts_ns)
{
	if (!n->is_found)
		inner_find(&n->around);
	n->is_found = true;
	for (uint32_t rank = 0; rank <= NOTE_OTHER; rank++) {
		uint32_t name = inner_at(&n->around, rank, ts_ns);

		if (name != INNER_NONE)
			return dict_get(st, name);
	}
	return STR("NA");
}

void
notes_clear(struct notes *n)
{
	inner_clear(&n->around);
	n->is_found = false;
}

void
notes_free(struct notes *n)
{
	inner_free(&n->around);
	map_free(&n->ranks);
}
