/* SPDX-License-Identifier: MIT */
/* Gathers times of rows in samples, and sorts rows. */
#include <stdlib.h>

#include "cmd/tl-diff/judge.h"
#include "trace/stat.h"

void
changes_create(struct changes *c, struct settings *set, struct dict *st)
{
	static const char *const words[] = { "op", "launch", "none" };

	*c = (struct changes){ .set = set,
		.dict = st,
		.row_of = intern_create(),
		.sample_of = intern_create() };
	for (int i = 0; i < NLAUNCHED_BY; i++)
		c->launched_by[i] = intern_put(st->text, str_of(words[i]));
}

void
changes_free(struct changes *c)
{
	vec_free(&c->rows);
	intern_destroy(c->row_of);
	vec_free(&c->samples);
	intern_destroy(c->sample_of);
	vec_free(&c->strata);
	map_free(&c->stratum_of);
	vec_free(&c->times);
	vec_free(&c->first_times);
	for (int s = 0; s < NSIDES; s++) {
		vec_free(&c->unit[s].run_steps);
		vec_free(&c->unit[s].left_out);
	}
	map_free(&c->time_of);
	matches_free(&c->streams);
	matches_free(&c->calls);
	matches_free(&c->launches);
	terms_free(&c->clock);
	vec_free(&c->ranks.list);
}

uint32_t
changes_row(struct changes *c, const struct change_key *key,
    const uint32_t name[NSIDES])
{
	uint32_t row = intern_put(
	    c->row_of, (struct str){ (const char *)key, sizeof *key });

	if (row == c->rows.n)
		vec_push(&c->rows,
		    ((struct change){
			.key = *key, .name = { name[0], name[1] } }));
	return row;
}

/* The current run. */
static uint32_t
run_at(const struct changes *c, int side)
{
	return (uint32_t)c->unit[side].nruns - 1;
}

struct sample_key {
	int64_t no;
	uint32_t run, kind, side, zero;
};

/*
 * Steps form one stratum, and so do runs; sequences one per kind. Ranks differ
 * by nature: samples of one do not repeat another's.
 */
static uint32_t
sample_number(struct changes *c, uint32_t row, int side, int64_t no)
{
	const struct settings *set = c->set;
	bool is_sequence = set->by == BY_KERNEL && set->per != PER_STEP;
	const struct sample_key key = { no, run_at(c, side),
		is_sequence ? c->rows.v[row].key.kind : 0, (uint32_t)side, 0 };
	uint32_t at = intern_put(
	    c->sample_of, (struct str){ (const char *)&key, sizeof key });
	uint64_t rank = set->pair == PAIR_RANK ? key.run : 0;
	uint32_t stratum;

	if (at < c->samples.n)
		return at;
	stratum = map_number(&c->stratum_of, rank << 32 | key.kind);
	if (stratum == c->strata.n)
		vec_push(&c->strata, ((struct stratum){ { 0, 0 } }));
	c->strata.v[stratum].n[side] += no != WALK_NO_STEP;
	vec_push(&c->samples,
	    ((struct sample){ .no = no,
		.run = key.run,
		.stratum = stratum,
		.side = side,
		.phase = PHASE_COUNT }));
	return at;
}

/* The time of a row in a sample; usually that of the last call. */
static struct row_time *
time_of(struct changes *c, uint32_t row, int side, int64_t no)
{
	uint32_t *last = &c->rows.v[row].last[side], sample, at;

	if (*last > 0) {
		struct row_time *t = &c->times.v[*last - 1];
		const struct sample *s = &c->samples.v[t->sample];

		if (s->run == run_at(c, side) && s->no == no)
			return t;
	}
	sample = sample_number(c, row, side, no);
	at = map_number(&c->time_of, (uint64_t)row << 32 | sample);
	if (at == c->times.n)
		vec_push(&c->times, ((struct row_time){ row, sample, 0, 0 }));
	*last = at + 1;
	return &c->times.v[at];
}

void
changes_add(struct changes *c, uint32_t row, int side, int64_t no, int64_t ns,
    bool is_alone)
{
	struct row_time *t = time_of(c, row, side, no);
	struct change *r = &c->rows.v[row];

	r->kernels[side]++;
	stat_add(&r->ns[side], ns);
	if (is_alone) {
		r->alone[side]++;
		stat_add(&r->alone_ns[side], ns);
	}
	t->n++;
	stat_add(&t->ns, ns);
	c->has_fine = c->has_fine || ns % 1000 != 0;
}

void
changes_tell(struct changes *c, enum tally_of what, int side, int64_t ns)
{
	c->tallies[what].n[side]++;
	stat_add(&c->tallies[what].ns[side], ns);
}

/* Records the phase of the current run's steps, if any. */
static void
find_phases(struct changes *c, int side, const struct side *r)
{
	for (size_t i = 0; i < r->steps.list.n; i++) {
		const struct step_window *w = &r->steps.list.v[i];
		const struct iteration *it = steps_iteration(&r->steps, w);
		const struct sample_key key = { w->number, run_at(c, side), 0,
			(uint32_t)side, 0 };
		uint32_t at;

		if (w->what != STEP_IS_STEP || it == NULL ||
		    it->phase < PHASE_PREFILL)
			continue;
		at = intern_find(c->sample_of,
		    (struct str){ (const char *)&key, sizeof key },
		    hash_bytes(&key, sizeof key));
		if (at != INTERN_NONE)
			c->samples.v[at].phase = it->phase;
	}
}

/* Adds a run's events, GPU time, steps that launch something, step times. */
void
changes_end_run(struct changes *c, int side, const struct side *r)
{
	struct unit_times *u = &c->unit[side];
	struct map seen = { 0 };

	for (size_t i = 0; i < r->gpus.n; i++) {
		const struct gpu *g = &r->gpus.v[i];

		if (g->step != WALK_NO_STEP)
			(void)map_put(&seen, (uint64_t)g->step, NULL);
		if (!changes_want(c, g))
			continue;
		u->nevents++;
		stat_add(&u->run_ns, r->nodes.v[g->node].dur);
	}
	u->nsteps += seen.n;
	vec_push(&u->run_steps, seen.n);
	u->inferred |= steps_inferred_from(&r->steps);
	if (samples_are_steps(c->set))
		find_phases(c, side, r);
	ranks_add(c, side, r);
	step_times_add(&c->clock.side[side], &r->times, run_at(c, side), r->no);
	map_free(&seen);
}

/* ---- order ---- */

/* Rank of a row: differs, differs by chance, equal. */
static int
rank_of(const struct change *r)
{
	if (r->diff_ns == 0)
		return 2;
	return r->is_noise ? 1 : 0;
}

static int
by_text(const struct dict *st, uint32_t a, uint32_t b)
{
	return a == b ? 0 : str_cmp(dict_get(st, a), dict_get(st, b));
}

static int
by_weight(const void *x, const void *y, void *arg)
{
	const struct change *a = x, *b = y;
	const struct dict *st = arg;
	int order = 0;

	if (rank_of(a) != rank_of(b))
		return rank_of(a) < rank_of(b) ? -1 : 1;
	if (llabs(a->diff_ns) != llabs(b->diff_ns))
		return llabs(a->diff_ns) > llabs(b->diff_ns) ? -1 : 1;
	if (a->diff_ns != b->diff_ns)
		return a->diff_ns > b->diff_ns ? -1 : 1;
	for (int s = 0; s < NSIDES; s++)
		if (a->unit_ns[s] != b->unit_ns[s])
			return a->unit_ns[s] > b->unit_ns[s] ? -1 : 1;
	for (int s = 0; s < NSIDES && order == 0; s++) {
		const struct op_args *p = &a->key.args[s], *q = &b->key.args[s];

		order = by_text(st, a->name[s], b->name[s]);
		if (order == 0)
			order = by_text(st, p->dims, q->dims);
		if (order == 0)
			order = by_text(st, p->types, q->types);
		if (order == 0)
			order = by_text(st, p->strides, q->strides);
		if (order == 0)
			order = by_text(st, p->concrete, q->concrete);
	}
	return order != 0 ? order : by_text(st, a->key.kind, b->key.kind);
}

void
changes_finish(struct changes *c)
{
	unlike_find(c);
	standout_find(c);
	judge(c);
	ranks_find(c);
	terms_find(c);
	changes_keep_laws(c);
	if (c->rows.n > 1)
		qsort_r(c->rows.v, c->rows.n, sizeof *c->rows.v, by_weight,
		    c->dict);
}
