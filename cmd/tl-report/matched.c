/* SPDX-License-Identifier: MIT */
/* --match: select the iterations that tl-diff compared. */
#include "cmd/tl-report/report.h"
#include "trace/match-read.h"

/* "--step=iteration:170-185,249-262" */
static const char *
steps_of(const struct matches *m, int side, const struct dict *st)
{
	struct buf b = { 0 };
	const char *word;

	for (size_t i = 0; i < m->list.n; i++) {
		buf_puts(&b, i > 0 ? "," : "--step=iteration:");
		match_put_steps(&b, m, &m->list.v[i], side, st);
	}
	word = text("%.*s", (int)b.len, b.p);
	buf_free(&b);
	return word;
}

/* The page draws both sides. Their iteration numbers differ: filter each. */
static void
filter(struct settings *s, struct jobs *j, int side, const char *steps)
{
	const char *from = side == 0 ? s->trees.v.v[0] : s->others.v.v[0];
	const char *to = text("%s/m%d.tl", s->tmp, side);
	struct args argv = { 0 };

	args_add(&argv, "tl-filter");
	args_add(&argv, "-o");
	args_add(&argv, to);
	args_all(&argv, &s->chosen);
	args_add(&argv, steps);
	args_add(&argv, "--");
	args_add(&argv, from);
	(void)job_start(j, &argv, &(struct job){ 0 });
	args_add(&s->matched[side], to);
}

static void
take_option(struct match_query *q, const char *word)
{
	const char *list = strchr(word, '=');
	struct optparse op = { .name = "--match" };

	if (list == NULL)
		return;
	op.arg = list + 1;
	match_opt(q, &op, true);
}

static void
choose(struct settings *s, const char *steps)
{
	struct optparse op = { .name = "--match",
		.arg = strchr(steps, '=') + 1 };

	args_add(&s->chosen, steps);
	(void)select_opt(&s->select, &op, OPT_SELECT_STEP);
	/* as in trees.c */
	s->is_apart = s->is_apart ||
	    (select_is_apart(&s->select) && !select_is_of_steps(&s->select));
}

void
matched_choose(struct settings *s, struct jobs *j)
{
	const char *const paths[MATCH_SIDES] = { s->trees.v.v[0],
		s->others.v.v[0] };
	struct match_query query = MATCH_QUERY("--match=approx");
	struct dict *st = dict_create();
	struct matches m = { 0 };
	const char *steps[MATCH_SIDES];

	query.is_told = true; /* tl-diff has reported it */
	take_option(&query, s->match);
	match_traces(&m, &query, paths, st);
	for (int side = 0; side < MATCH_SIDES; side++) {
		steps[side] = steps_of(&m, side, st);
		if (s->page != NULL)
			filter(s, j, side, steps[side]);
	}
	job_finish(j, s->dir != NULL);
	choose(s, steps[0]);
	choose(s->other, steps[1]);
	match_traces_free(&m);
	dict_destroy(st);
}
