/* SPDX-License-Identifier: MIT */
/*
 * The usual packets, inline: begins and ends of slices on known clocks and
 * tracks.
 */
#ifndef TL_DECODE_PERFETTO_USUAL_H
#define TL_DECODE_PERFETTO_USUAL_H

#include "cmd/tl-decode/perfetto/perfetto.h"

/* ---- clocks ---- */

/* ts of a clock (0: default) in ns of the trace's clock. */
static inline bool
clock_ns(struct perfetto *p, struct sequence *q, uint64_t clock, uint64_t ts,
    int64_t *ns)
{
	struct clock *c;
	int64_t now;

	if (UNLIKELY(clock != 0 || q->usual_as_of != p->nsnapshots))
		return clock_ns_any(p, q, clock, ts, ns);
	c = &q->clocks.v[q->usual_clock];
	if (UNLIKELY(__builtin_add_overflow(c->last, (int64_t)ts, &now) ||
		!source_is_time(now) ||
		__builtin_add_overflow(now, c->offset, ns) ||
		!source_is_time(*ns)))
		return clock_ns_any(p, q, clock, ts, ns);
	c->last = now;
	return true;
}

/* ---- annotations ---- */

/* The cached value of JSON text; NULL: none, or new. */
static inline const struct arg *
args_json_known(struct perfetto *p, struct str bytes)
{
	uint32_t n = intern_put(p->json, bytes);

	if (LIKELY(n < p->json_values.n && p->json_values.v[n].is_name))
		return &p->json_values.v[n];
	return NULL;
}

/* ---- tracks ---- */

/* lane_of() with a cache. */
static inline __attribute__((always_inline)) uint32_t
lane_again(struct perfetto *p, uint64_t uuid)
{
	const size_t n = sizeof p->recent_lanes / sizeof *p->recent_lanes;
	struct recent_lane *r = &p->recent_lanes[uuid % n];

	if (UNLIKELY(r->lane == 0 || r->uuid != uuid))
		*r = (struct recent_lane){ uuid, lane_of(p, uuid) + 1 };
	return r->lane - 1;
}

static inline struct open_slice *
open_slice_new(struct perfetto *p)
{
	struct open_slice *o = LIKELY(p->spare.n > 0) ? p->spare.v[--p->spare.n]
						      : open_slice_make();

	o->name = o->category = NO_NAME;
	args_clear(&o->args);
	return o;
}

static inline void
open_slice_free(struct perfetto *p, struct open_slice *o)
{
	o->args.chain = NULL; /* it may be freed */
	vec_push(&p->spare, o);
}

/* Ends the run that another sequence left on the track. */
static inline void
lane_take_turn(struct perfetto *p, struct sequence *q, struct lane *l)
{
	if (UNLIKELY(l->writer != q)) {
		if (l->writer != NULL)
			lane_settle(p, l->writer);
		l->writer = q;
	}
}

/* Puts the slice on the lane, open until its end. */
static inline void
lane_begin(struct perfetto *p, struct sequence *q, struct open_slice *o)
{
	struct lane *l = &p->lanes.v[o->lane];

	lane_take_turn(p, q, l);
	if (q->ends.n > 0)
		lane_settle(p, q);
	p->nopen++;
	vec_push(&q->begins, o);
	vec_push(&l->open, o);
}

/* Ends the innermost slice; true: more arguments, if any, are kept. */
static inline __attribute__((always_inline)) bool
lane_end(struct perfetto *p, struct sequence *q, uint32_t lane, int64_t ts_ns,
    struct open_slice *more)
{
	struct lane *l = &p->lanes.v[lane];

	if (UNLIKELY(l->nended > 0)) {
		l->nended--;
		return false;
	}
	lane_take_turn(p, q, l);
	vec_push(&q->ends, ((struct slice_end){ lane, ts_ns, more }));
	return more != NULL;
}

/* ---- packets ---- */

/*
 * An end with nothing but its type, first, and its track; false: something
 * else.
 */
static inline __attribute__((always_inline)) bool
track_plain_end(
    struct perfetto *p, struct sequence *q, struct str bytes, int64_t ts_ns)
{
	const unsigned char *at = (const unsigned char *)bytes.p;
	const unsigned char *end = at + bytes.len;
	uint64_t uuid;

	if (at[0] != PROTO_TAG(9, PROTO_VARINT) || at[1] != TYPE_END ||
	    at[2] != PROTO_TAG(11, PROTO_VARINT))
		return false;
	at += 3;
	if (!varint_get_roomy(&at, &uuid) || at != end)
		return false;
	(void)lane_end(p, q, lane_again(p, uuid), ts_ns, NULL);
	return true;
}

/* A packet with a time and an event in a known frame. */
static inline __attribute__((always_inline)) bool
in_frame(
    const struct frame *f, struct str bytes, uint64_t *ts, struct str *event)
{
	const unsigned char *at = (const unsigned char *)bytes.p;
	const unsigned char *end = at + bytes.len;
	uint64_t len;

	if (*at++ != PROTO_TAG(8, PROTO_VARINT) || !varint_get_roomy(&at, ts) ||
	    (hash_load(at, FRAME_MAX) & f->front_mask) != f->front)
		return false;
	at += f->nfront;
	if (!varint_get_roomy(&at, &len) || len - 1 >= bytes.len ||
	    (uint64_t)(end - at) - f->nback != len ||
	    (hash_load(at + len, FRAME_MAX) & f->back_mask) != f->back)
		return false;
	*event = (struct str){ (const char *)at, (size_t)len };
	return true;
}

/* Any packet, or a nested one (depth). */
static inline __attribute__((always_inline)) bool
perfetto_packet(struct perfetto *p, struct str bytes, unsigned depth)
{
	const struct frame *f = &p->frame;
	struct str event;
	uint64_t ts;
	int64_t ns;

	if (UNLIKELY(p->texts->list.n != p->ntexts))
		texts_trim(p);
	if (!in_frame(f, bytes, &ts, &event))
		return perfetto_any_packet(p, bytes, depth);
	if (!clock_ns(p, f->q, 0, ts, &ns))
		return false;
	return track_plain_end(p, f->q, event, ns) ||
	    track_event(p, f->q, event, &ns);
}

#endif
