/* SPDX-License-Identifier: MIT */
/*
 * Each iteration across ranks. That it is the same one must be proven: ranks
 * have equally many, and their phases change at the same places, twice or more;
 * loads may differ, as ranks have requests of their own. Else their names must
 * change so, and be equal.
 */
#include "cmd/tl-steps/steps.h"

#define CHANGES_MIN 2 /* one change may coincide: prompts, then tokens */

/* A process's iterations in order. */
struct sequence {
	size_t first, n; /* in ranks.records */
	uint32_t proof;  /* INTERN_NONE: none */
};

/* A text that sequences may share. */
struct proof {
	size_t nsequences;
	int64_t group; /* 0: none yet */
};

struct ranks {
	VEC(uint32_t) records; /* indexes of the sink's records */
	VEC(struct sequence) list;
	VEC(struct proof) proofs; /* in the order of texts */
	struct intern *texts;
	struct buf text;
};

static struct step_record *
record_of(const struct program *g, const struct ranks *k, size_t i)
{
	return sink_record(&g->sink, k->records.v[i]);
}

static void
find_sequences(const struct program *g, struct ranks *k)
{
	const struct step_record *last = NULL;

	for (size_t i = 0; i < g->sink.records.n; i++) {
		const struct step_record *r = sink_record(&g->sink, i);

		if (!r->is_iteration ||
		    !g->sink.sources.list.v[r->rec.source].is_asked)
			continue;
		if (last == NULL || r->rec.source != last->rec.source ||
		    !key_eq(r->pid, last->pid))
			vec_push(&k->list,
			    ((struct sequence){ .first = k->records.n }));
		k->list.v[k->list.n - 1].n++;
		vec_push(&k->records, (uint32_t)i);
		last = r;
	}
}

/* The words of a sequence as a text; false: too few changes. */
static bool
put_words(const struct program *g, struct ranks *k, const struct sequence *q,
    size_t field)
{
	uint32_t last = INTERN_NONE;
	size_t nchanges = 0;

	k->text.len = 0;
	for (size_t i = q->first; i < q->first + q->n; i++) {
		uint32_t word;

		memcpy(&word, (const char *)record_of(g, k, i) + field,
		    sizeof word);
		nchanges += i > q->first && word != last;
		buf_put(&k->text, (const char *)&word, sizeof word);
		last = word;
	}
	return nchanges >= CHANGES_MIN;
}

static void
find_proofs(const struct program *g, struct ranks *k)
{
	for (size_t i = 0; i < k->list.n; i++) {
		struct sequence *q = &k->list.v[i];

		q->proof = INTERN_NONE;
		if (!put_words(g, k, q, offsetof(struct step_record, phase)) &&
		    !put_words(g, k, q, offsetof(struct step_record, name)))
			continue;
		q->proof = intern_put(k->texts, buf_str(&k->text));
		if (q->proof == k->proofs.n)
			vec_push(&k->proofs, ((struct proof){ 0 }));
		k->proofs.v[q->proof].nsequences++;
	}
}

/* Sequences with the same proof are a group. */
static void
set_group(struct program *g, struct ranks *k, const struct sequence *q)
{
	struct proof *p = &k->proofs.v[q->proof];

	if (p->group == 0)
		p->group = ++g->ngroups;
	for (size_t i = 0; i < q->n; i++) {
		struct step_record *r = record_of(g, k, q->first + i);

		r->group = p->group;
		r->iteration = (int64_t)i + 1;
	}
}

void
ranks_match(struct program *g)
{
	struct ranks k = { .texts = intern_create() };

	if (!select_asks_steps(&g->asked))
		find_sequences(g, &k);
	find_proofs(g, &k);
	for (size_t i = 0; i < k.list.n; i++) {
		const struct sequence *q = &k.list.v[i];

		if (q->proof != INTERN_NONE &&
		    k.proofs.v[q->proof].nsequences > 1)
			set_group(g, &k, q);
	}
	vec_free(&k.records);
	vec_free(&k.list);
	vec_free(&k.proofs);
	intern_destroy(k.texts);
	buf_free(&k.text);
}

/* ---- cells ---- */

/*
 * The slowest rank, the first of equals, against the mean of all with a figure.
 */
struct cell
ranks_cell(const struct sink_row *row, unsigned number)
{
	const struct sink *s = row->sink;
	const struct step_record *slowest = NULL;
	enum sink_lead lead = sink_sources_lead(&s->sources);
	double sum = 0, n = 0;

	for (size_t i = 0; i < row->group->n; i++) {
		const struct step_record *r = sink_row_record(row, i);

		if (r->compute_ns == SINK_NONE)
			continue;
		sum += (double)r->compute_ns;
		n++;
		if (slowest == NULL || r->compute_ns > slowest->compute_ns)
			slowest = r;
	}
	if (slowest == NULL || sum <= 0 ||
	    (number == C_SLOWEST_RANK && lead == SINK_LEAD_NONE))
		return cell_none();
	return number == C_SLOWEST_RANK
	    ? sink_lead_cell(s, slowest->rec.source, SINK_LEADS + lead)
	    : cell_real(((double)slowest->compute_ns * n / sum - 1) * 100);
}
