/* SPDX-License-Identifier: MIT */
/* sources: those of several inputs, kept apart, and what is known of them. */
#include "cat.h"

void
sources_start(struct sources *ss, struct dict *dict)
{
	*ss = (struct sources){ .numbers.dict = dict, .mem = arena_create() };
}

static bool
integer_of(const struct value *v, int64_t *out)
{
	if (v->type == VAL_INT) {
		*out = v->i;
		return true;
	}
	return (v->type == VAL_STR || v->type == VAL_STRX) &&
	    num_i64(v->s, out);
}

/* Facts as they are now; texts are copied. */
static void
keep_facts(struct sources *ss, struct known *k, const struct source *s)
{
	k->nfacts = s->nfacts;
	k->facts = arena_alloc(ss->mem, s->nfacts * sizeof *s->facts + 1);
	for (size_t i = 0; i < s->nfacts; i++) {
		struct fact f = s->facts[i];

		f.key = arena_str(ss->mem, f.key);
		if (f.val.type >= VAL_NUM)
			f.val.s = arena_str(ss->mem, f.val.s);
		k->facts[i] = f;
		if (str_eq(f.key, STR("base")))
			k->has_base = integer_of(&f.val, &k->base_ns);
		if (str_eq(f.key, STR("rank")))
			k->rank = f.val;
	}
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
		die("%s: source %" PRIu32 " does not tell its base before its "
		    "events; tl-tree puts it in front",
		    in->name, ev->src);
	if (!num_add(ev->ts_ns, ss->known.v[ev->src].base_ns, &ts))
		die("%s: event %" PRIu64
		    ": its absolute time is beyond 64 bits",
		    in->name, ev->uid.id);
	return ts;
}
