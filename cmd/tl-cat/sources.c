/* SPDX-License-Identifier: MIT */
/* sources: those of several inputs, kept apart, and what is known of them. */
#include "cat.h"

void
sources_start(struct sources *ss, struct dict *dict)
{
	*ss = (struct sources){ .numbers.dict = dict, .mem = arena_create() };
}

/* Keeps the current facts; strings are copied. */
static void
keep_facts(struct sources *ss, struct known *k, const struct source *s)
{
	k->nfacts = s->nfacts;
	k->facts = arena_alloc(ss->mem, s->nfacts * sizeof *s->facts + 1);
	for (size_t i = 0; i < s->nfacts; i++) {
		k->facts[i] = fact_keep(ss->mem, &s->facts[i]);
		if (str_eq(s->facts[i].key, STR("rank")))
			k->rank = k->facts[i].val;
	}
	k->has_base |= source_int(s, "base", &k->base_ns);
}

void
sources_tell(struct sources *ss, struct source *s)
{
	struct known *k;

	s->src = numbering_source(&ss->numbers, s->src);
	while (ss->known.n <= s->src)
		vec_push(&ss->known, ((struct known){ 0 }));
	k = &ss->known.v[s->src];
	k->is_told = true;
	k->is_final |= s->is_final;
	keep_facts(ss, k, s);
}

void
sources_meta(struct sources *ss, struct meta *m)
{
	m->src = numbering_source(&ss->numbers, m->src);
}

int64_t
sources_abs(const struct sources *ss, const struct stream_in *in,
    const struct event *ev)
{
	int64_t ts;

	if (ev->src >= ss->known.n || !ss->known.v[ev->src].has_base)
		die("%s: source %" PRIu32
		    " names its base only after its events; run tl-tree first",
		    in->name, ev->src);
	if (!num_add(ev->ts_ns, ss->known.v[ev->src].base_ns, &ts))
		die("%s: event %" PRIu64
		    ": its absolute time is beyond 64 bits",
		    in->name, ev->uid.id);
	return ts;
}
