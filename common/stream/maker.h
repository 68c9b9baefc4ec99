/* SPDX-License-Identifier: MIT */
/*
 * maker: builds an event piece by piece, and a source's facts, for formats and
 * programs that add to a stream.
 *
 *	maker_begin(&m, KIND_KERNEL, STR("kernel_dispatch"));
 *	maker_name(&m, STR("gemm"));
 *	maker_track(&m, src, &pid, &tid);
 *	maker_time(&m, ts_ns, dur_ns);
 *	maker_int(&m, STR("correlation"), 17, ROLE_CORR);
 *	stream_write(out, maker_end(&m, (struct uid){ id, 0 }));
 *
 * Texts are copied. The strings may be cleared only between events.
 */
#ifndef TL_STREAM_MAKER_H
#define TL_STREAM_MAKER_H

#include "base/varint.h"
#include "stream/stream.h"

/* Start with zeroes and st. */
struct maker {
	struct dict *st;
	VEC(struct entry) entries; /* so far; at most SHAPE_MAX_ENTRIES */
	/* private */
	struct event ev;
	struct shape shape;
	struct buf vals;
};

/* Begins an event of phase X, without name, track, time or args. */
void maker_begin(struct maker *m, enum kind kind, struct str cat);
/* The same, with the category's number as text. */
void maker_begin_cat(struct maker *m, enum kind kind, uint32_t cat);
/* The same for another phase. */
void maker_begin_phase(
    struct maker *m, enum kind kind, struct str cat, char phase);
/* An event like ev, with all of its fields but none of its entries. */
void maker_begin_like(struct maker *m, const struct event *ev);
void maker_name(struct maker *m, struct str name);
/* The same by the text's number. */
static inline void
maker_name_id(struct maker *m, uint32_t name)
{
	m->ev.name = name;
	m->shape.has |= HAS_NAME;
}

/* Its phase in Chrome's traces, if not X. */
static inline void
maker_phase(struct maker *m, char ph)
{
	m->shape.ph = (uint8_t)ph;
}

/* Process and thread; NULL: none. Returns the track's number. */
uint32_t maker_track(
    struct maker *m, uint32_t src, const int64_t *pid, const int64_t *tid);
/* The track by its number. */
void maker_on_track(struct maker *m, uint32_t track);
/* Device and GPU stream if no args have them: before all args. */
void maker_gpu(struct maker *m, int64_t dev, int64_t gpu_stream);

/* A correlation id that no args have, likewise. */
void maker_corr(struct maker *m, int64_t corr);

/* The start, relative to the base of the source. */
static inline void
maker_start(struct maker *m, int64_t ts_ns)
{
	m->ev.ts_ns = ts_ns;
	m->shape.has |= HAS_TS;
}

/* The duration, 0 or more, with marks of the event (EV_*). */
static inline void
maker_dur(struct maker *m, int64_t dur_ns, unsigned flags)
{
	m->ev.dur_ns = dur_ns;
	m->ev.flags = flags;
	m->shape.has |= HAS_DUR;
	if (flags != 0)
		m->shape.has |= HAS_FLAGS;
}

static inline void
maker_time(struct maker *m, int64_t ts_ns, int64_t dur_ns)
{
	maker_start(m, ts_ns);
	maker_dur(m, dur_ns, 0);
}

/* A member of args; for types with text v->s is used, v->id ignored. Of
 * repeated keys the last counts. */
void maker_arg(
    struct maker *m, struct str key, const struct value *v, enum role role);
void maker_int(struct maker *m, struct str key, int64_t v, enum role role);
void maker_double(struct maker *m, struct str key, double v);
void maker_str(struct maker *m, struct str key, struct str v);
/* A list or object as minified text. */
void maker_json(struct maker *m, struct str key, struct str v);
/* A member beside args, without meaning to us. */
void maker_member(struct maker *m, struct str key, const struct value *v);
/* An entry of another event, unchanged, from the same dictionary. */
void maker_entry(
    struct maker *m, const struct entry *entry, const struct value *v);
/* A run of at most n entries whose values are encoded as numbers: zigzag() of
 * an integer, or the number of a text, as is key. Complete it before any other
 * call. */
struct maker_run {
	struct entry *next;
	unsigned char *vals;
	unsigned flags;
};
static inline struct maker_run
maker_run(struct maker *m, size_t n)
{
	(void)vec_reserve(&m->entries, m->entries.n + n);
	buf_room(&m->vals, n * VARINT_MAX);
	return (struct maker_run){ m->entries.v + m->entries.n,
		(unsigned char *)m->vals.p + m->vals.len, 0 };
}

static inline void
maker_run_put(struct maker_run *r, uint32_t key, enum value_type type,
    enum group group, enum role role, uint64_t encoded)
{
	*r->next++ = (struct entry){ key, (uint8_t)type, (uint8_t)group,
		(uint8_t)role, 0 };
	r->flags |= group == GROUP_ARGS ? SHAPE_ARGS : 0U;
	r->vals = varint_put(r->vals, encoded);
}

static inline void
maker_run_end(struct maker *m, const struct maker_run *r)
{
	m->entries.n = (size_t)(r->next - m->entries.v);
	m->vals.len = (size_t)(r->vals - (unsigned char *)m->vals.p);
	m->shape.flags |= (uint8_t)r->flags;
}

/* Appends one of them. */
static inline void
maker_entry_number(struct maker *m, uint32_t key, enum value_type type,
    enum group group, enum role role, uint64_t encoded)
{
	struct maker_run r = maker_run(m, 1);

	maker_run_put(&r, key, type, group, role, encoded);
	maker_run_end(m, &r);
}

/* The n entries of another event, with their encoded values. */
void maker_entries(
    struct maker *m, const struct entry *entries, size_t n, struct str vals);

/* The finished event, valid until the next begins. */
struct event *maker_end(struct maker *m, struct uid uid);
/* The same without event_set_keys(). */
struct event *maker_end_bare(struct maker *m, struct uid uid);
/*
 * The same, with the shape of an event made before and as many encoded values,
 * which must live as long. Saves time if all of it is known. The caller sets
 * the fields.
 */
static inline struct event *
maker_again(struct maker *m, uint32_t shape, uint32_t track, struct str vals)
{
	const struct track *t = &m->st->tracks.v[track];
	struct event *ev = &m->ev;

	ev->shape_id = shape;
	ev->shape = m->st->shapes.v[shape];
	ev->track = track;
	ev->src = t->src;
	ev->pid = t->pid;
	ev->tid = t->tid;
	ev->flags = 0;
	ev->vals = (const unsigned char *)vals.p;
	ev->vals_len = vals.len;
	ev->ids = NULL;
	return ev;
}
/* The event made last. */
static inline const struct event *
maker_last(const struct maker *m)
{
	return &m->ev;
}

void maker_free(struct maker *m);

/* Of entries with the same key and group, all but the last become
 * duplicates. */
void entries_demote_repeated(struct entry *entries, size_t n);

/* ---- facts of a source ---- */

/* Start with zeroes. */
struct facts {
	VEC(struct fact) list;
	struct arena *mem; /* for the texts; created when first needed */
};

/* Adds or replaces a fact; copies the value's text, not the key. */
void facts_set(struct facts *f, const char *key, struct value v);
void facts_int(struct facts *f, const char *key, int64_t v);
void facts_str(struct facts *f, const char *key, struct str v);
void facts_json(struct facts *f, const char *key, struct str v);
/* A time as decimal text, as many clocks exceed what jq and awk hold. */
void facts_ns(struct facts *f, const char *key, int64_t ns);
/* The source with these facts, valid until they change. */
struct source facts_source(const struct facts *f, uint32_t src, bool is_final);
void facts_free(struct facts *f);

#endif
