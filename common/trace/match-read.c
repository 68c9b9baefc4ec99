/* SPDX-License-Identifier: MIT */
#include "trace/match-read.h"
#include "trace/steps.h"

/* ---- the iterations of a trace ---- */

/* A source while it is read. */
struct reader {
	struct match_trace *trace;
	struct stream_in *in;
	struct steps steps;
	VEC(uint32_t) names; /* by marker */
	uint64_t nothers;    /* processes with iterations besides the first */
};

/* Those of the first process that has any. */
static void
end_source(struct reader *r)
{
	const struct steps *s = &r->steps;

	steps_ready(&r->steps);
	for (size_t p = 0; p < s->processes.n; p++) {
		const struct step_process *own = &s->processes.v[p];

		if (r->trace->steps.n > 0 || p > 0) {
			r->nothers++;
			continue;
		}
		for (uint32_t i = own->first; i < own->first + own->n; i++) {
			const struct step_window *w = &s->list.v[i];
			uint32_t name = r->names.v[w->marker];

			if (w->what != STEP_IS_STEP)
				continue;
			vec_push(&r->trace->iterations, *steps_iteration(s, w));
			vec_push(&r->trace->steps,
			    ((struct match_step){ w->start_ns,
				w->end_ns - w->start_ns, w->number, name }));
		}
	}
	steps_clear(&r->steps);
	r->names.n = 0;
}

static void
read_trace(
    struct match_trace *t, const char *path, struct dict *st, bool is_told)
{
	struct reader r = { .trace = t, .steps.only_iterations = true };
	enum item item;

	t->path = path;
	r.in = stream_open(path, st, WANT_TREE);
	r.in->is_told = is_told;
	stream_only(r.in, KIND_BIT(KIND_ANNOTATION));
	steps_clear(&r.steps);
	while ((item = stream_next(r.in)) != ITEM_END) {
		if (item == ITEM_SOURCE)
			iteration_formats_of(&r.in->source);
		if (item == ITEM_SECTION && r.in->section == SECTION_TREE)
			end_source(&r);
		if (item != ITEM_EVENT || r.in->section != SECTION_PROLOGUE)
			continue;
		steps_add(&r.steps, st, &r.in->ev, (uint32_t)r.names.n);
		vec_push(&r.names, r.in->ev.name);
	}
	end_source(&r);
	stream_close(r.in);
	steps_free(&r.steps);
	vec_free(&r.names);
	if (t->steps.n == 0)
		die_nothing(MSG_NO_ITERATIONS, path);
	if (r.nothers > 0 && !is_told)
		report(MSG_ITERATIONS_UNUSED, path, r.nothers);
}

/* ---- what matches ---- */

void
match_opt(struct match_query *q, const struct optparse *op, bool may_approx)
{
	const char *list = op->arg;
	size_t n = 0;
	struct str word;

	while (str_next(&list, ',', &word)) {
		enum phase p = phase_of_word(word);

		if (may_approx && str_eq(word, STR("approx"))) {
			q->rules.is_approx = true;
			continue;
		}
		if (p < PHASE_PREFILL || p == PHASE_COUNT ||
		    memchr(q->phases, (int)p, n) != NULL)
			die_usage("option '%s' needs prefill, decode or "
				  "mixed%s, each once, not '%s'",
			    op->name, may_approx ? ", or approx" : "", op->arg);
		q->phases[n++] = (uint8_t)p;
	}
	q->nphases = n > 0 ? n : q->nphases;
}

const struct match_block *
match_block_of(const struct matches *m, const struct match *x, int side)
{
	return &m->side[side].blocks.v[x->block[side]];
}

void
match_put_steps(
    struct buf *b, const struct matches *m, const struct match *x, int side)
{
	const struct match_block *block = match_block_of(m, x, side);
	const struct match_step *v = m->trace[side].steps.v + block->first;

	buf_printf(b, "%" PRId64, v[0].number);
	if (block->n > 1)
		buf_printf(b, "-%" PRId64, v[block->n - 1].number);
}

bool
match_has_phase(const struct matches *m, uint8_t phase)
{
	for (size_t i = 0; i < m->list.n; i++)
		if (match_block_of(m, &m->list.v[i], 0)->phase == phase)
			return true;
	return false;
}

void
match_put_reason(struct buf *b, const struct match_tally *t)
{
	buf_printf(b,
	    "no eligible (A, B) pair found (A blocks of phase: %zu, with "
	    "same-size B candidate: %zu)",
	    t->blocks, t->with_candidate);
}

/* Names that tell no sums are the usual reason. */
static void
check_found(const struct matches *m, const struct match_query *q)
{
	uint64_t n[MATCH_SIDES] = { 0 }, nwithout = 0;

	if (m->list.n > 0)
		return;
	for (int s = 0; s < MATCH_SIDES; s++)
		for (size_t i = 0; i < m->side[s].blocks.n; i++) {
			const struct match_block *b = &m->side[s].blocks.v[i];

			if (memchr(q->phases, b->phase, q->nphases) == NULL)
				continue;
			n[s]++;
			nwithout += !b->has_sqsk;
		}
	if (nwithout > 0 && !q->rules.is_approx)
		die_nothing(MSG_NO_BLOCKS_WITH_SUMS, m->trace[0].path,
		    m->trace[1].path, nwithout, q->approx);
	die_nothing(MSG_NO_BLOCKS_MATCH, m->trace[0].path, m->trace[1].path,
	    n[0], n[1]);
}

void
match_traces(struct matches *m, const struct match_query *q,
    const char *const paths[MATCH_SIDES], struct dict *st)
{
	for (int s = 0; s < MATCH_SIDES; s++) {
		read_trace(&m->trace[s], paths[s], st, q->is_told);
		m->side[s].v = m->trace[s].iterations.v;
		m->side[s].n = m->trace[s].iterations.n;
		match_blocks_find(&m->side[s], q->num_steps);
	}
	for (size_t i = 0; i < q->nphases; i++)
		match_find(&m->list, m->side, (enum phase)q->phases[i],
		    &q->rules, &m->tallies[i]);
	check_found(m, q);
}

void
match_traces_free(struct matches *m)
{
	for (int s = 0; s < MATCH_SIDES; s++) {
		vec_free(&m->trace[s].iterations);
		vec_free(&m->trace[s].steps);
		vec_free(&m->side[s].blocks);
	}
	vec_free(&m->list);
}
