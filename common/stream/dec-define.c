/* SPDX-License-Identifier: MIT */
/* dec-define: records that define strings, shapes and tracks. */
#include "stream/wire.h"

/*
 * How many numbers precede the correlation of a call, if it has one; false:
 * other types precede it.
 */
static bool
find_corr(const struct shape *s, uint8_t *before)
{
	unsigned n =
	    (unsigned)__builtin_popcount(s->has & (HAS_NDESC | HAS_NGPU));
	bool is_plain = true;

	*before = WIRE_NO_CORR;
	for (uint32_t i = 0; i < s->nentries; i++) {
		const struct entry *e = &s->entries[i];

		if (e->role == ROLE_CORR) {
			*before = (uint8_t)n;
			return is_plain && e->type == VAL_INT &&
			    n < WIRE_NO_CORR;
		}
		is_plain &= e->type != VAL_STRX && e->type != VAL_JSONX;
		n += e->type == VAL_DEC ? 2u : e->type > VAL_TRUE;
	}
	return true;
}

static uint8_t
use_of(const struct decoder *d, const struct shape *s, uint8_t *before_corr)
{
	*before_corr = WIRE_NO_CORR;
	if (!dec_wants(d, s))
		return USE_NOTHING;
	if ((d->heads & KIND_BIT(s->kind)) == 0)
		return USE_ALL;
	if ((KIND_BIT(s->kind) & KINDS_LAUNCH) == 0)
		return USE_HEAD;
	return find_corr(s, before_corr) ? USE_CALL : USE_ALL;
}

void
dec_choose(struct decoder *d, uint32_t kinds, uint32_t heads, bool only_owners)
{
	d->kinds = kinds;
	d->heads = heads;
	d->only_owners = only_owners;
	for (size_t i = 0; i < d->shapes.n; i++) {
		struct wire_shape *w = &d->shapes.v[i];

		w->use = use_of(d, d->st->shapes.v[w->id], &w->before_corr);
	}
}

static void
rec_string(struct decoder *d, struct str s)
{
	uint32_t id = intern_put(d->st->text, s);

	if (id != d->strings.n)
		d->identity = false;
	vec_push(&d->strings, id);
}

/* Maps a string's number in the stream to its number in our table. */
static bool
get_string_id(struct decoder *d, const unsigned char **p,
    const unsigned char *end, uint32_t *id)
{
	uint32_t no;

	if (!dec_small(p, end, d->strings.n, &no))
		return false;
	*id = d->strings.v[no];
	return true;
}

static bool
get_entry(struct decoder *d, const unsigned char **p, const unsigned char *end,
    struct entry *e)
{
	uint32_t type, group, role;

	if (!get_string_id(d, p, end, &e->key) ||
	    !dec_small(p, end, VAL_COUNT, &type) ||
	    !dec_small(p, end, GROUP_DUPTOP + 1, &group) ||
	    !dec_small(p, end, UINT32_MAX, &role))
		return false;
	e->type = (uint8_t)type;
	e->group = (uint8_t)group;
	e->unused = 0;
	/* roles of newer writers are unknown here; repetitions have no
	 * meaning */
	e->role = role < ROLE_COUNT && group <= GROUP_FIELD ? (uint8_t)role : 0;
	return true;
}

static enum dec_status
rec_shape(struct decoder *d, const unsigned char *p, const unsigned char *end)
{
	struct shape s = { 0 };
	uint32_t kind, ph, has, flags, cat, n;
	size_t mark = arena_mark(d->mem);
	struct wire_shape w;

	if (!dec_small(&p, end, UINT32_MAX, &kind) ||
	    !dec_small(&p, end, 256, &ph) ||
	    !dec_small(&p, end, HAS_ALL + 1, &has) ||
	    !dec_small(&p, end, 256, &flags) ||
	    !dec_small(&p, end, d->strings.n + 1, &cat) ||
	    !dec_small(&p, end, SHAPE_MAX_ENTRIES + 1, &n))
		return dec_bad(d, "a shape record is malformed");
	if ((has & HAS_TRACK) == 0)
		return dec_bad(d, "a shape has no track");
	/* kinds of newer writers become KIND_OTHER */
	s.kind = kind < KIND_COUNT ? (uint8_t)kind : KIND_OTHER;
	s.ph = (uint8_t)ph;
	s.has = (uint16_t)has;
	s.flags = flags & SHAPE_FLAGS;
	s.cat = cat == 0 ? INTERN_NONE : d->strings.v[cat - 1];
	s.nentries = n;
	s.entries = arena_alloc(d->mem, n * sizeof *s.entries + 1);
	for (uint32_t i = 0; i < n; i++) {
		if (!get_entry(d, &p, end, &s.entries[i]))
			return dec_bad(d, "a shape record is malformed");
		if (s.entries[i].group == GROUP_ARGS)
			s.flags |= SHAPE_ARGS;
	}
	w = (struct wire_shape){ .has = s.has };
	w.id = dict_shape(d->st, &s);
	w.use = use_of(d, &s, &w.before_corr);
	vec_push(&d->shapes, w);
	arena_reset(d->mem, mark);
	return DEC_BLOCK_END;
}

static bool
get_track_part(struct decoder *d, const unsigned char **p,
    const unsigned char *end, bool *has, struct value *v)
{
	uint32_t type;

	if (!dec_small(p, end, VAL_COUNT + 1, &type))
		return false;
	*has = type > 0;
	v->type = VAL_NULL;
	if (type == 0)
		return true;
	if (!value_decode(p, end, type - 1, NULL, v))
		return false;
	if (v->type == VAL_STR || v->type == VAL_JSON || v->type == VAL_NUM) {
		if (v->id >= d->strings.n)
			return false;
		v->id = d->strings.v[v->id];
		v->s = intern_get(d->st->text, v->id);
	}
	return true;
}

static enum dec_status
rec_track(struct decoder *d, const unsigned char *p, const unsigned char *end)
{
	struct track t = { 0 };
	uint32_t no;

	if (!dec_small(&p, end, WIRE_MAX_SRC, &t.src) ||
	    !get_track_part(d, &p, end, &t.has_pid, &t.raw_pid) ||
	    !get_track_part(d, &p, end, &t.has_tid, &t.raw_tid))
		return dec_bad(d, "a track record is malformed");
	if (!wire_src_is_near(t.src, &d->nnamed))
		return dec_bad(d, WIRE_BAD_SRC);
	no = dict_track(d->st, &t);
	vec_push(&d->tracks, no);
	return DEC_BLOCK_END;
}

static void
rec_clear(struct decoder *d)
{
	d->strings.n = d->shapes.n = d->tracks.n = 0;
	/* numbers in our table go on, so they are no longer the same */
	d->identity = d->st->text->list.n == 0;
}

enum dec_status
dec_define(struct decoder *d, unsigned type, const unsigned char *p,
    const unsigned char *end)
{
	switch (type) {
	case REC_STRING:
		rec_string(
		    d, (struct str){ (const char *)p, (size_t)(end - p) });
		return DEC_BLOCK_END;
	case REC_SHAPE: return rec_shape(d, p, end);
	case REC_TRACK: return rec_track(d, p, end);
	default: rec_clear(d); return DEC_BLOCK_END;
	}
}
