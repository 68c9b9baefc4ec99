/* SPDX-License-Identifier: MIT */
/* What could be selected, for a selection that matched nothing. */
#include "trace/select-inside.h"

void
select_meet_time(struct select *s, int64_t t)
{
	if (!s->met.has_times || t < s->met.first_ns)
		s->met.first_ns = t;
	if (!s->met.has_times || t > s->met.last_ns)
		s->met.last_ns = t;
	s->met.has_times = true;
}

/* Words of those met, of which each is a bit. */
static void
put_words(const char *what, uint32_t met, const char *const words[], unsigned n,
    struct buf *b)
{
	const char *before = what;

	for (unsigned i = 0; i < n; i++)
		if ((met & UINT32_C(1) << i) != 0) {
			buf_printf(b, "%s%s", before, words[i]);
			before = ", ";
		}
}

static void
put_window(const struct select *s, struct buf *b)
{
	if (s->met.has_times) {
		buf_puts(b, "; it has events from ");
		time_put(b, s->met.first_ns);
		buf_puts(b, " to ");
		time_put(b, s->met.last_ns);
	} else if (s->phases != 0) {
		put_words("; it has phases ", s->met.phases, phase_words,
		    PHASE_COUNT, b);
	}
}

static void
put_event(const struct select *s, struct buf *b)
{
	there_put_keys(&s->gpu_streams_met, s->dict, "GPU stream", "s", b);
	if (b->len == 0)
		there_put_keys(&s->devs_met, s->dict, "device", "s", b);
	if (b->len == 0)
		there_put(&s->names_met, b);
	if (b->len == 0 && s->min_dur_ns > 0 && s->met.longest_ns >= 0) {
		buf_puts(b, "; the longest is ");
		time_put(b, s->met.longest_ns);
	}
	if (b->len == 0)
		put_words(
		    "; it has kinds ", s->met.kinds, kind_words, KIND_COUNT, b);
}

/* Of several options the one that excludes what all before it include. */
struct str
select_there(const struct select *s)
{
	struct buf b = { 0 };

	if (s->met.in_window)
		put_window(s, &b);
	else if (s->met.in_rank)
		there_put_keys(&s->ranks_met, s->dict, "rank", "s", &b);
	else
		put_event(s, &b);
	return buf_str(&b);
}
