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
	uint32_t src;
	int64_t rank;
};

static void
take_source(struct reader *r, const struct source *source)
{
	const struct fact *rank = source_fact(source, "rank");

	iteration_formats_of(source);
	r->src = source->src;
	r->rank = rank != NULL && rank->val.type == VAL_INT ? rank->val.i
							    : MATCH_NO_RANK;
}

static void
add_process(struct reader *r, const struct step_process *own)
{
	struct match_trace *t = r->trace;
	size_t before = t->steps.n;

	for (uint32_t i = own->first; i < own->first + own->n; i++) {
		const struct step_window *w = &r->steps.list.v[i];

		if (w->what != STEP_IS_STEP)
			continue;
		vec_push(&t->iterations, *steps_iteration(&r->steps, w));
		vec_push(&t->steps,
		    ((struct match_step){ w->start_ns, w->end_ns - w->start_ns,
			w->number, r->names.v[w->marker] }));
		vec_push(&t->process_of, (uint32_t)t->processes.n);
	}
	if (t->steps.n > before)
		vec_push(&t->processes,
		    ((struct match_process){ own->pid, r->src, r->rank }));
}

static void
end_source(struct reader *r)
{
	steps_ready(&r->steps);
	for (size_t p = 0; p < r->steps.processes.n; p++)
		add_process(r, &r->steps.processes.v[p]);
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
			take_source(&r, &r.in->source);
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

const struct match_process *
match_process_of(const struct matches *m, const struct match *x, int side)
{
	return &m->trace[side].processes.v[match_block_of(m, x, side)->process];
}

/* A name is a pattern to --step, and a comma would end it. */
void
match_put_process(
    struct buf *b, const struct match_process *p, const struct dict *st)
{
	struct str name = STR("");

	buf_printf(b, "%" PRIu32 ":", p->src);
	if (p->pid.type == KEY_INT)
		buf_printf(b, "%" PRId64, p->pid.n);
	else if (p->pid.type == KEY_STR)
		name = dict_get(st, (uint32_t)p->pid.n);
	for (size_t i = 0; i < name.len; i++)
		buf_putc(b, name.p[i] == ',' ? '?' : name.p[i]);
}

void
match_put_steps(struct buf *b, const struct matches *m, const struct match *x,
    int side, const struct dict *st)
{
	const struct match_block *block = match_block_of(m, x, side);
	const struct match_trace *t = &m->trace[side];
	const struct match_step *v = t->steps.v + block->first;

	buf_printf(b, "%" PRId64, v[0].number);
	if (block->n > 1)
		buf_printf(b, "-%" PRId64, v[block->n - 1].number);
	if (t->processes.n > 1) {
		buf_putc(b, '@');
		match_put_process(b, match_process_of(m, x, side), st);
	}
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

/* Names without sums are the usual reason. */
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
		m->side[s].process = m->trace[s].process_of.v;
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
		vec_free(&m->trace[s].process_of);
		vec_free(&m->trace[s].processes);
		vec_free(&m->side[s].blocks);
	}
	vec_free(&m->list);
}
