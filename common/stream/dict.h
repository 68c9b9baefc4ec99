/* SPDX-License-Identifier: MIT */
/* dict: strings, shapes and tracks by number. */
#ifndef TL_STREAM_DICT_H
#define TL_STREAM_DICT_H

#include "stream/event.h"

struct dict {
	struct intern *text;
	VEC(struct shape *) shapes;
	VEC(struct track) tracks;
	/* private: by their bytes; the first track of each thread */
	struct intern *shape_ids, *track_ids, *thread_ids;
	VEC(uint32_t) threads;
	struct {
		uint64_t want; /* shape << 16 | fields, plus 1; 0: empty */
		uint32_t shape;
	} with_fields[512]; /* the latest requests, direct-mapped */
	/* shapes made last, plus 1, by a hash of their entries */
	uint32_t recent[256];
	struct buf bytes;
	struct arena *mem;
};

struct dict *dict_create(void);
void dict_destroy(struct dict *st);
/* Forgets everything; numbers start again. */
void dict_clear(struct dict *st);

static inline struct str
dict_get(const struct dict *st, uint32_t id)
{
	return id == INTERN_NONE ? (struct str){ "", 0 }
				 : intern_get(st->text, id);
}

/* The number of an equal shape; entries are copied. */
uint32_t dict_shape(struct dict *st, const struct shape *shape);
/* The same with these fixed fields instead. */
uint32_t dict_shape_with(struct dict *st, uint32_t shape, unsigned has);
/* Gives an event that shape. */
static inline void
event_set_fields(struct dict *st, struct event *ev, unsigned has)
{
	if (has == ev->shape->has)
		return;
	ev->shape_id = dict_shape_with(st, ev->shape_id, has);
	ev->shape = st->shapes.v[ev->shape_id];
}

/* The number of an equal track; keys are derived from the raw values. */
uint32_t dict_track(struct dict *st, const struct track *track);
/* The same for all tracks that differ in spelling only. */
static inline uint32_t
dict_thread(const struct dict *st, uint32_t track)
{
	return st->tracks.v[track].thread;
}
/* Whether an event with this head is of one of these kinds. */
static inline bool
head_is(const struct dict *st, const struct event_head *h, uint32_t kinds)
{
	return (KIND_BIT(st->shapes.v[h->shape]->kind) & kinds) != 0;
}
struct key key_of_value(const struct dict *st, const struct value *v);
/* The role of a key of args in events of this kind, mostly ROLE_NONE. */
enum role role_of_key(struct str key, enum kind kind);

#endif
