/* SPDX-License-Identifier: MIT */
/* What --what-if gains, in words. */
#include "cmd/tl-critical/critical.h"

void
gain_add(struct gain *gain, uint32_t bound, uint32_t source, int64_t after_ns)
{
	bool is_new;
	uint64_t *at =
	    map_put(&gain->by_bound, (uint64_t)bound << 32 | source, &is_new);

	if (is_new)
		*at = 0;
	*at += (uint64_t)after_ns;
	if ((int64_t)*at > gain->bound_ns) {
		gain->bound_ns = (int64_t)*at;
		gain->bound = bound;
		gain->source = source;
	}
}

/* "communication on rank 3, 1.718 ms of 3.940 ms." */
static void
put_limit(const struct program *g, struct buf *b)
{
	const struct sink_sources *all = &g->sink.sources;
	const struct sink_source *s = &all->list.v[g->gain.source];
	bool by_rank = s->has_rank && sink_sources_lead(all) != SINK_LEAD_SRC;

	struct str bound = dict_get(g->sink.dict, g->gain.bound);

	buf_put(b, bound.p, bound.len);
	if (g->is_job)
		buf_printf(b, " on %s %" PRId64, by_rank ? "rank" : "source",
		    by_rank ? s->rank : (int64_t)s->no);
	buf_puts(b, ", ");
	put_time(b, g->gain.bound_ns);
	buf_puts(b, " of ");
	put_time(b, g->gain.after_ns);
	buf_putc(b, '.');
}

static void
put_change(const struct gain *gain, struct buf *b)
{
	int64_t gained = gain->before_ns - gain->after_ns;

	buf_puts(b, gained > 0 ? "saves " : "costs ");
	put_time(b, gained > 0 ? gained : -gained);
	buf_printf(b, " of the window (%.1f %%). The limit becomes ",
	    (double)(gained > 0 ? gained : -gained) / (double)gain->before_ns *
		100);
}

/*
 * "no gain: nothing of --what-if is on the critical path. The limit stays op on
 * rank 3, 56.432 ms of 140.805 ms."
 */
void
gain_note(const struct program *g, struct table *t)
{
	const struct gain *gain = &g->gain;
	bool is_used = false;
	struct buf b = { 0 };

	for (size_t i = 0; i < g->what_if.n; i++)
		is_used |= g->what_if.v[i].is_used;
	if (!is_used || g->no_gaps || g->npaths != 1 || gain->bound_ns == 0)
		return;
	if (gain->after_ns != gain->before_ns)
		put_change(gain, &b);
	else
		buf_printf(&b, "no gain: %s. The limit stays ",
		    gain->is_on_path
			? "its time on the critical path is waiting, or "
			  "another path takes as long"
			: "nothing of --what-if is on the critical path");
	put_limit(g, &b);
	table_note(t, "%.*s", (int)b.len, b.p);
	buf_free(&b);
}
