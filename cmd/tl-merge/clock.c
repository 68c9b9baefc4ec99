/* SPDX-License-Identifier: MIT */
/* Which clock sources have; writes their records on the first one's. */
#include "cmd/tl-merge/merge.h"
#include "stream/maker.h"

static bool
is_stdin(const struct input *input)
{
	return strcmp(input->path, "-") == 0;
}

/* ---- clocks ---- */

/*
 * What to add to the source's base to move its times to the first one's clock;
 * with Unix time just the offset.
 */
static int64_t
move_of(struct merge *m, const struct source *s,
    const struct collective_clock **clock)
{
	const struct input *input = m->input;
	const char *path = input->path;
	int64_t epoch = 0, rank, move = 0;
	bool has_epoch = source_int(s, "epoch", &epoch);
	bool has_rank = source_int(s, "rank", &rank);

	if (m->set->align == ALIGN_NONE)
		return 0;
	if (s->src == 0 && !has_epoch && input->has_epoch) {
		has_epoch = true;
		epoch = input->epoch;
	}
	if (s->src == 0 && !has_rank && input->has_rank) {
		has_rank = true;
		rank = input->rank;
	}
	/* by order, as tl-collective numbers such inputs */
	if (s->src == 0 && input->is_rank_guess)
		rank = input - m->inputs.v;
	if (!m->has_first && (has_epoch || s->is_final)) {
		m->has_first = true;
		m->first_has_epoch = has_epoch;
		m->first_epoch = epoch;
	}
	if (s->is_final && has_epoch != m->first_has_epoch)
		report(MSG_EPOCH_MIXED, path);
	if (has_epoch && m->first_has_epoch &&
	    __builtin_sub_overflow(epoch, m->first_epoch, &move))
		die("%s: its clock is too far from the first one's", path);
	if (has_rank)
		*clock = collective_clock_of(&m->clocks, rank);
	if (*clock != NULL &&
	    __builtin_sub_overflow(move, (*clock)->offset_ns, &move))
		die("%s: its clock is too far from the first one's", path);
	return move;
}

/* Collectives have Unix time if each input has an epoch. */
static int64_t
epoch_of_collectives(const struct merge *m)
{
	for (size_t i = 0; i < m->inputs.n; i++)
		if (!m->inputs.v[i].has_epoch)
			return 0;
	return m->first_has_epoch ? m->first_epoch : 0;
}

/*
 * Keeps the drift, applied to each event, and the source's time at which it is
 * 0.
 */
static void
keep_drift(struct merge *m, uint32_t src, const struct collective_clock *c,
    int64_t base)
{
	struct drift d = { 0 };

	if (c != NULL && c->drift != 0) {
		d.drift = c->drift;
		if (__builtin_sub_overflow(c->middle_ns, base, &d.middle_ns) ||
		    __builtin_sub_overflow(
			d.middle_ns, epoch_of_collectives(m), &d.middle_ns))
			die("%s: its clock is out of range", m->input->path);
	}
	while (m->drifts.n <= src)
		vec_push(&m->drifts, ((struct drift){ 0 }));
	m->drifts.v[src] = d;
}

void
clock_event(const struct merge *m, struct event *ev)
{
	const struct drift *d =
	    ev->src < m->drifts.n ? &m->drifts.v[ev->src] : NULL;
	int64_t end;

	if (d == NULL || d->drift == 0 || (ev->shape->has & HAS_TS) == 0)
		return;
	if (num_add(ev->ts_ns, ev->dur_ns, &end))
		ev->dur_ns = clock_steady(end, d->middle_ns, d->drift) -
		    clock_steady(ev->ts_ns, d->middle_ns, d->drift);
	ev->ts_ns = clock_steady(ev->ts_ns, d->middle_ns, d->drift);
}

static void
put_fact(struct facts *facts, const struct collective_clock *c)
{
	struct buf b = { 0 };

	buf_printf(&b,
	    "{\"offset_ns\":%" PRId64 ",\"u_ns\":%" PRId64
	    ",\"drift\":%.17g,\"middle_ns\":\"%" PRId64
	    "\",\"collectives\":%" PRId64 ",\"island\":%" PRId64 "}",
	    c->offset_ns, c->u_ns, c->drift, c->middle_ns, c->nties, c->island);
	facts_json(facts, "clock", buf_str(&b));
	buf_free(&b);
}

void
clock_source(struct merge *m, const struct source *in)
{
	const struct collective_clock *clock = NULL;
	struct facts facts = { 0 };
	struct source s;
	int64_t move = move_of(m, in, &clock), base = 0;

	(void)source_int(in, "base", &base);
	if (!num_add(base, move, &base))
		die("%s: its clock is out of range", m->input->path);
	for (size_t i = 0; i < in->nfacts; i++)
		vec_push(&facts.list, in->facts[i]);
	/* for readers that need the rank before the end */
	if (!in->is_final && in->src == 0 && m->input->has_rank &&
	    source_fact(in, "rank") == NULL)
		facts_int(&facts, "rank", m->input->rank);
	if (move != 0)
		facts_ns(&facts, "base", base);
	if (move != 0 && source_fact(in, "epoch") != NULL)
		facts_ns(&facts, "epoch", m->first_epoch);
	if (clock != NULL)
		put_fact(&facts, clock);
	keep_drift(m, in->src, clock, base);
	s = facts_source(
	    &facts, numbering_source(&m->nb, in->src), in->is_final);
	stream_write_source(m->out, &s);
	facts_free(&facts);
}

/* ---- what tl-collective knows of the clocks ---- */

void
clock_offsets(struct merge *m)
{
	VEC(const char *) paths = { 0 };

	for (size_t i = 0; i < m->inputs.n; i++) {
		if (is_stdin(&m->inputs.v[i]))
			die_usage("--align collective reads its inputs twice: "
				  "it needs files");
		vec_push(&paths, m->inputs.v[i].path);
	}
	collective_clocks(&m->clocks, paths.v, paths.n);
	vec_free(&paths);
}

/* Makes it if missing. */
static struct joined *
joined_of(struct merge *m, uint32_t src)
{
	struct joined *o;

	for (size_t i = m->joined.n; i-- > m->njoined;)
		if (m->joined.v[i].src == src)
			return &m->joined.v[i];
	o = vec_add(&m->joined);
	*o = (struct joined){
		.path = m->input->path,
		.src = src,
		.is_stdin = is_stdin(m->input),
	};
	return o;
}

void
clock_note(struct merge *m, const struct source *s, bool is_asked)
{
	const struct fact *from = source_fact(s, "rank_from");
	struct joined *o = joined_of(m, s->src);

	o->is_in = is_asked;
	o->has_rank = source_int(s, "rank", &o->rank);
	o->is_rank_guess = from != NULL && str_eq(from->val.s, STR("order"));
	own_clock_take(&o->own, m->st, s);
}

/* ---- before work begins ---- */

/*
 * Many sources have their epoch and rank only after their events, too late for
 * the output. So files are read ahead, as far as needed.
 */
static void
look_into(struct input *input)
{
	struct stream_in *in =
	    stream_open_only(input->path, NULL, WANT_STREAM, 0);
	const struct fact *from;
	enum item item;

	while ((!input->has_epoch || !input->has_rank) &&
	    (item = stream_next(in)) != ITEM_END) {
		if (item != ITEM_SOURCE)
			continue;
		if (in->source.src > 0)
			break;
		input->has_rank = source_int(&in->source, "rank", &input->rank);
		input->has_epoch =
		    source_int(&in->source, "epoch", &input->epoch);
		from = source_fact(&in->source, "rank_from");
		input->is_rank_guess =
		    from != NULL && str_eq(from->val.s, STR("order"));
	}
	stream_close(in);
}

void
clock_look(struct merge *m)
{
	for (size_t i = 0; i < m->inputs.n; i++) {
		if (!is_stdin(&m->inputs.v[i]))
			look_into(&m->inputs.v[i]);
		else if (m->set->sort_rank)
			die_usage("--sort rank reads its inputs twice: it "
				  "needs files");
	}
}
