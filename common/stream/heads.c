/* SPDX-License-Identifier: MIT */
/*
 * heads: the heads of events, many at a time. Programs need no more of most
 * host events, Python frames and ops. Only well-formed events well within their
 * block are read here; dec.c does the rest.
 */
#include "stream/wire.h"

/* State between two events, in registers. */
struct cursor {
	const unsigned char *p, *end; /* in the event, and its end */
	uint64_t id;
	int64_t ts_ns;
};

/* A number below limit. */
static inline bool
get(struct cursor *c, uint64_t limit, uint64_t *v)
{
	return varint_get_roomy(&c->p, v) && *v < limit;
}

/* The shape of an event, nearly always three bytes in all; false: malformed. */
static inline bool
get_shape(struct cursor *c, size_t left, uint64_t *shape)
{
	uint32_t bytes = get_u32(c->p);
	uint64_t len;

	if (LIKELY((bytes & 0x8080ff) == REC_EVENT)) {
		c->p += 3;
		c->end = c->p - 1 + (bytes >> 8 & 0xff);
		*shape = bytes >> 16 & 0xff;
		return true;
	}
	c->p++;
	if ((bytes & 0xff) != REC_EVENT || !get(c, left - 2 * VARINT_MAX, &len))
		return false;
	c->end = c->p + len;
	return varint_get_roomy(&c->p, shape);
}

/* The id; the place in the block goes on from it. */
static inline bool
get_id(struct cursor *c)
{
	uint64_t v;

	if (!varint_get_roomy(&c->p, &v))
		return false;
	c->id += (uint64_t)unzigzag(v);
	return c->id < WIRE_MAX_ID;
}

static inline bool
get_time(struct cursor *c)
{
	uint64_t v;

	if (!varint_get_roomy(&c->p, &v))
		return false;
	c->ts_ns = (int64_t)((uint64_t)c->ts_ns + (uint64_t)unzigzag(v));
	return true;
}

/* What numbers of the stream mean. */
struct tables {
	const uint32_t *strings, *tracks;
	size_t nstrings, ntracks;
};

/* A head after its id; has: which fields a head can have and this one has. */
static inline __attribute__((always_inline)) bool
get_fields(const struct tables *t, struct cursor *c, unsigned has,
    struct event_head *h)
{
	uint64_t inst = 0, track, dur = 0, name = 0, flags = 0;

	if (((has & HAS_TS) != 0 && !get_time(c)) ||
	    ((has & HAS_INST) != 0 && !get(c, UINT32_MAX, &inst)) ||
	    !get(c, t->ntracks, &track) ||
	    ((has & HAS_DUR) != 0 && !get(c, (uint64_t)INT64_MAX + 1, &dur)) ||
	    ((has & HAS_NAME) != 0 && !get(c, t->nstrings, &name)) ||
	    ((has & HAS_FLAGS) != 0 && !get(c, UINT32_MAX, &flags)) ||
	    c->p > c->end)
		return false;
	h->ts_ns = (has & HAS_TS) != 0 ? c->ts_ns : 0;
	h->dur_ns = (int64_t)dur;
	h->uid.id = c->id;
	h->uid.inst = (uint32_t)inst;
	h->track = t->tracks[track];
	h->name = (has & HAS_NAME) != 0 ? t->strings[name] : INTERN_NONE;
	h->flags = (uint32_t)flags;
	return h->ts_ns <= INT64_MAX - h->dur_ns;
}

/* Nearly all heads have the same fields: a path without questions. */
static inline bool
get_head(const struct tables *t, struct cursor *c, struct wire_shape w,
    struct event_head *h)
{
	const unsigned usual = HAS_TRACK | HAS_TS | HAS_DUR | HAS_NAME;
	unsigned has = w.has & (usual | HAS_INST | HAS_FLAGS);

	h->shape = w.id;
	return LIKELY(has == usual) ? get_fields(t, c, usual, h)
				    : get_fields(t, c, has, h);
}

/* ---- calls ---- */

#define HAS_REFS (HAS_PARENT | HAS_LAUNCH | HAS_FWD | HAS_BWD)

/* How many bytes of a word have their highest bit set, and no other. */
static inline unsigned
count_bytes(uint64_t ends)
{
	return (unsigned)((ends >> 7) * UINT64_C(0x0101010101010101) >> 56);
}

/* Skips n numbers, several at a time. */
static inline bool
skip_numbers(const unsigned char **at, const unsigned char *end, unsigned n)
{
	const unsigned char *p = *at;

	while (n > 0 && end - p >= 8) {
		uint64_t ends = ~get_u64(p) & UINT64_C(0x8080808080808080);
		unsigned here = count_bytes(ends);

		if (here < n) {
			p += 8;
			n -= here;
			continue;
		}
		while (--n > 0)
			ends &= ends - 1;
		p += (unsigned)__builtin_ctzll(ends) / 8 + 1;
	}
	while (n > 0) {
		if (p >= end)
			return false;
		n -= *p++ < 0x80;
	}
	*at = p;
	return true;
}

static inline bool
skip_ref(const unsigned char **p, const unsigned char *end)
{
	uint64_t v;

	return varint_get(p, end, &v) &&
	    ((v & 1) == 0 || varint_get(p, end, &v));
}

bool
dec_call(const unsigned char *p, const unsigned char *end, struct wire_shape w,
    struct wire_call *call)
{
	uint64_t v = 0;

	if ((w.has & HAS_DEPTH) != 0 &&
	    (!varint_get(&p, end, &v) || v >= UINT32_MAX))
		return false;
	call->depth = (uint32_t)v;
	call->has_corr = w.before_corr != WIRE_NO_CORR;
	call->corr = 0;
	if (!call->has_corr)
		return true;
	for (unsigned refs = w.has & HAS_REFS; refs != 0; refs &= refs - 1)
		if (!skip_ref(&p, end))
			return false;
	if (!skip_numbers(&p, end, w.before_corr) || !varint_get(&p, end, &v))
		return false;
	call->corr = unzigzag(v);
	return true;
}

static inline bool
get_call(const struct cursor *c, struct wire_shape w, struct event_head *h)
{
	struct wire_call call;

	if (!dec_call(c->p, c->end, w, &call))
		return false;
	h->depth = call.depth;
	h->has_corr = call.has_corr;
	h->corr = call.corr;
	return true;
}

/* ---- all ---- */

static bool
is_same_source(const struct decoder *d, uint32_t a, uint32_t b)
{
	const struct track *v;

	if (a == b)
		return true;
	v = d->st->tracks.v;
	return v[a].src == v[b].src;
}

size_t
dec_heads(struct decoder *d, struct event_head *v, size_t n)
{
	const unsigned char *end = d->has_header ? d->end : d->p;
	const struct wire_shape *shapes = d->shapes.v;
	const size_t nshapes = d->shapes.n;
	const struct tables tables = { d->strings.v, d->tracks.v, d->strings.n,
		d->tracks.n };
	struct cursor at = { d->p, NULL, d->next_id, d->prev_ts };
	uint64_t nevents = 0;
	size_t got = 0;

	while (end - at.p >= WIRE_HEAD_MAX) {
		struct cursor c = at;
		struct wire_shape w;
		uint64_t shape;

		if (!get_shape(&c, (size_t)(end - at.p), &shape) ||
		    shape >= nshapes)
			break;
		w = shapes[shape];
		if (w.use == USE_ALL || !get_id(&c))
			break;
		if (w.use == USE_NOTHING) {
			if (((w.has & HAS_TS) != 0 && !get_time(&c)) ||
			    c.p > c.end)
				break;
		} else {
			if (got == n || !get_head(&tables, &c, w, &v[got]) ||
			    (w.use == USE_CALL && !get_call(&c, w, &v[got])) ||
			    !is_same_source(d, v->track, v[got].track))
				break;
			got++;
		}
		nevents++;
		at.p = c.end;
		at.id = c.id + 1;
		at.ts_ns = c.ts_ns;
	}
	d->p = at.p;
	d->next_id = at.id;
	d->prev_ts = at.ts_ns;
	d->nevents += nevents;
	return got;
}
