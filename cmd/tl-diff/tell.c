/* SPDX-License-Identifier: MIT */
/* Messages that take the place of notes above a table for people. */
#include "cmd/tl-diff/notes.h"

void
tell_facts(const struct changes *c)
{
	static const char *const what[] = { [TALLY_OUTSIDE] =
						"launched outside of ops",
		[TALLY_UNLINKED] = "without a launch" };
	const struct settings *set = c->set;

	if (set->over.len > 0)
		note("%s", set->over.p);
	for (int s = 0; s < NSIDES && set->by == BY_OP; s++)
		for (int i = TALLY_UNLINKED; i >= TALLY_OUTSIDE; i--) {
			uint64_t n = c->tallies[i].n[s];

			if (n == 0)
				continue;
			note("%.*s: %" PRIu64
			     " GPU event%s %s (%.3f ms) %s in no tree",
			    (int)set->names[s].len, set->names[s].p, n,
			    n == 1 ? "" : "s", what[i],
			    (double)c->tallies[i].ns[s] / 1e6,
			    n == 1 ? "is" : "are");
		}
}

/* The first sentence, and what else a screen says of its numbers. */
static void
tell_first(const struct changes *c, const struct table *t)
{
	report(MSG_SIDES_COMPARED, table_note_at(t, 0));
	if (changes_unknown(c) != NULL)
		report(MSG_SIDES_COMPARED, changes_unknown(c));
}

void
tell_verdict(const struct changes *c)
{
	struct table *t = table_create("", NULL, 0);
	const char *same = c->set->by == BY_OP ? changes_sameness(c) : NULL;
	const struct term *step = terms_main(&c->clock, TERM_STEP);
	bool differs =
	    same == NULL || (step != NULL && term_twice_diff(step) != 0);

	if (same != NULL)
		report(MSG_SIDES_COMPARED, same);
	changes_whole(c, t, false);
	/* --fail-over says how it judges the times */
	if (table_notes(t) > 0 && differs && !c->set->fail_over.is_set)
		tell_first(c, t);
	table_destroy(t);
}
