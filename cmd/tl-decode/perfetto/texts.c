/* SPDX-License-Identifier: MIT */
/*
 * Texts by number: names, keys, strings and lists of annotations. Writers need
 * not intern names, so texts may be ever new: when they take too much memory,
 * unused ones are dropped and the rest renumbered.
 */
#include "cmd/tl-decode/perfetto/chain.h"
#include "cmd/tl-decode/perfetto/perfetto.h"

/* Bytes of texts always kept. */
#define TEXTS_MIN (UINT64_C(16) << 20)

struct collection {
	const struct intern *from;
	struct intern *to;
	uint32_t *moved; /* new number by old one, or NO_NAME */
};

void
texts_start(struct perfetto *p)
{
	p->texts = intern_create();
	p->texts_max = TEXTS_MIN;
	for (int i = 0; i < KEYS_N; i++) /* fixed numbers */
		(void)intern_put(p->texts, perfetto_keys[i].text);
}

static void
keep(struct collection *c, uint32_t *text)
{
	if (*text == NO_NAME)
		return;
	if (c->moved[*text] == NO_NAME)
		c->moved[*text] = intern_put(c->to, intern_get(c->from, *text));
	*text = c->moved[*text];
}

/* Of values that are texts plus more. */
static void
keep_map(struct collection *c, struct map *m, uint32_t more)
{
	for (size_t i = 0; i < m->cap; i++) {
		uint32_t text = (uint32_t)m->vals[i] - more;

		if (!m->used[i])
			continue;
		keep(c, &text);
		m->vals[i] = (uint64_t)text + more;
	}
}

static void
keep_slice(struct collection *c, struct open_slice *o)
{
	keep(c, &o->name);
	keep(c, &o->category);
	for (size_t i = 0; i < o->args.list.n; i++) {
		struct arg *a = &o->args.list.v[i];
		uint32_t text = (uint32_t)a->i;

		keep(c, &a->key);
		if (!a->is_name)
			continue;
		keep(c, &text);
		a->i = text;
	}
}

static void
keep_lane(struct collection *c, struct lane *l)
{
	keep(c, &l->name);
	keep(c, &l->thread_name);
	keep(c, &l->process_name);
	for (size_t i = 0; i < l->open.n; i++)
		keep_slice(c, l->open.v[i]);
}

static void
keep_counters(struct collection *c, struct counter_sets *sets)
{
	for (size_t i = 0; i < sets->list.n; i++)
		keep_map(c, &sets->list.v[i].names, 0);
}

static void
keep_sequence(struct collection *c, struct sequence *q)
{
	for (int what = 0; what < NAMES_N; what++) {
		struct name_list *l = &q->names[what];

		for (size_t i = 0; i < l->near.n; i++)
			keep(c, &l->near.v[i]);
		keep_map(c, &l->far, 0);
	}
	keep_counters(c, &q->counters);
	for (size_t i = 0; i < q->ends.n; i++)
		if (q->ends.v[i].more != NULL)
			keep_slice(c, q->ends.v[i].more);
}

static void
collect(struct perfetto *p)
{
	struct intern *old = p->texts;
	struct collection c = { .from = old };

	chain_forget(p);
	texts_start(p);
	c.to = p->texts;
	c.moved = xmalloc(old->list.n * sizeof *c.moved);
	memset(c.moved, 0xff, old->list.n * sizeof *c.moved);
	for (size_t i = 0; i < p->sequences.n; i++)
		keep_sequence(&c, p->sequences.v[i]);
	for (size_t i = 0; i < p->lanes.n; i++)
		keep_lane(&c, &p->lanes.v[i]);
	keep_counters(&c, &p->counters);
	keep_map(&c, &p->process_names, 0);
	keep_map(&c, &p->thread_names, 0);
	keep_map(&c, &p->told_names, 1);
	vec_release(c.moved);
	intern_destroy(old);
	if (p->texts_max < 2 * intern_bytes(p->texts))
		p->texts_max = 2 * intern_bytes(p->texts);
	p->last_category = NO_NAME;
	p->dict_ids.n = 0;
	intern_clear(p->json);
	p->json_values.n = 0;
}

void
texts_trim(struct perfetto *p)
{
	if (intern_bytes(p->texts) > p->texts_max)
		collect(p);
	p->ntexts = p->texts->list.n;
}
