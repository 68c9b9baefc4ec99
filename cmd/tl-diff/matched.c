/* SPDX-License-Identifier: MIT */
/* --match: steps of both sides that did the same work. */
#include "cmd/tl-diff/changes.h"
#include "trace/match-read.h"

/* "decode steps 14-17 of before and 6-9 of after" */
static void
put_match(struct settings *set, const struct matches *m, const struct match *x,
    const struct dict *st)
{
	uint8_t phase = match_block_of(m, x, 0)->phase;

	buf_printf(&set->over, "%s%s step%s ",
	    set->over.len > 0 ? "; " : "over ", phase_words[phase],
	    x->n == 1 ? "" : "s");
	for (int s = 0; s < NSIDES; s++) {
		match_put_steps(&set->over, m, x, s, st);
		buf_printf(&set->over, " of %.*s%s", (int)set->names[s].len,
		    set->names[s].p, s == 0 ? " and " : "");
		buf_puts(&set->matched[s], set->matched[s].len > 0 ? "," : "");
		match_put_steps(&set->matched[s], m, x, s, st);
	}
}

void
matched_find(struct settings *set, struct dict *st)
{
	const char *const paths[NSIDES] = { set->paths[0].v[0],
		set->paths[1].v[0] };
	struct matches m = { 0 };

	match_traces(&m, set->match, paths, st);
	for (size_t i = 0; i < m.list.n; i++)
		put_match(set, &m, &m.list.v[i], st);
	buf_putc(&set->over, '\0');
	for (int s = 0; s < NSIDES; s++)
		buf_putc(&set->matched[s], '\0');
	set->is_selective = set->select.of_iterations = true;
	match_traces_free(&m);
}
