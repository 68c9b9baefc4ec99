/* SPDX-License-Identifier: MIT */
/* On which clock sources are, and their records on the first one's. */
#include "cmd/tl-merge/merge.h"
#include "stream/maker.h"
#include "trace/collective.h"

/* ---- clocks ---- */

/*
 * What to add to the source's base so that its times are those of the first
 * one's clock; in Unix time nothing changes but the offset.
 */
static int64_t
move_of(struct merge *m, const struct source *s)
{
	const struct input *input = m->input;
	const char *path = input->path;
	int64_t epoch = 0, rank, move = 0;
	bool has_epoch = source_int(s, "epoch", &epoch);
	bool has_rank = source_int(s, "rank", &rank);
	const uint64_t *offset;

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
	if (has_rank && (offset = map_get(&m->offsets, (uint64_t)rank)) != NULL)
		move -= (int64_t)*offset;
	return move;
}

void
clock_source(struct merge *m, const struct source *in)
{
	struct facts facts = { 0 };
	struct source s;
	int64_t move = move_of(m, in), base = 0;

	(void)source_int(in, "base", &base);
	if (!num_add(base, move, &base))
		die("%s: its clock is out of range", m->input->path);
	for (size_t i = 0; i < in->nfacts; i++)
		vec_push(&facts.list, in->facts[i]);
	/* for readers that name what they read before it ends */
	if (!in->is_final && in->src == 0 && m->input->has_rank &&
	    source_fact(in, "rank") == NULL)
		facts_int(&facts, "rank", m->input->rank);
	if (move != 0)
		facts_ns(&facts, "base", base);
	if (move != 0 && source_fact(in, "epoch") != NULL)
		facts_ns(&facts, "epoch", m->first_epoch);
	s = facts_source(
	    &facts, numbering_source(&m->nb, in->src), in->is_final);
	stream_write_source(m->out, &s);
	facts_free(&facts);
}

/* ---- --align collective: tl-collective knows the offsets ---- */

/* Without an offset the clock is not known; each GPU of a process has its. */
static void
take_offset(void *arg, struct str row)
{
	struct merge *m = arg;
	int64_t rank, offset;
	bool is_new;

	if (!num_i64(collective_cell(&row), &rank))
		die("tl-collective gave a line that is none");
	if (num_i64(row, &offset))
		*map_put(&m->offsets, (uint64_t)rank, NULL) = (uint64_t)offset;
	else if (map_put(&m->no_clocks, (uint64_t)rank, &is_new), is_new)
		report(MSG_RANK_NO_CLOCK, rank);
}

void
clock_offsets(struct merge *m)
{
	VEC(const char *) paths = { 0 };

	for (size_t i = 0; i < m->inputs.n; i++) {
		if (strcmp(m->inputs.v[i].path, "-") == 0)
			die_usage("--align collective reads its inputs twice: "
				  "it needs files");
		vec_push(&paths, m->inputs.v[i].path);
	}
	collective_rows("nccl_clocks", "process,offset_ns", paths.v, paths.n,
	    take_offset, m);
	map_free(&m->no_clocks);
	vec_free(&paths);
}

/* ---- before work begins ---- */

/*
 * Many sources tell their epoch and rank behind their events, when what was
 * made of these is gone. So files are looked into first, as far as need be.
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
		bool is_stdin = strcmp(m->inputs.v[i].path, "-") == 0;

		if (is_stdin && m->set->sort_rank)
			die_usage("--sort rank reads its inputs twice: it "
				  "needs files");
		if (!is_stdin)
			look_into(&m->inputs.v[i]);
	}
}
