/* SPDX-License-Identifier: MIT */
/* A store's contents as events. */
#include "trace/host.h"
#include "trace/store-inside.h"

/* The values of item i. */
static struct str
item_vals(const struct store *s, uint32_t i)
{
	const char *p = s->vals.p;
	size_t next = (size_t)i + 1, from, to;

	from = s->groups.v[i / ITEM_GROUP] + s->items.v[i].vals;
	to = next < s->items.n
	    ? s->groups.v[next / ITEM_GROUP] + s->items.v[next].vals
	    : s->vals.len;
	return (struct str){ p != NULL ? p + from : "", to - from };
}

struct uid
item_uid(const struct store *s, uint32_t i)
{
	struct uid uid = { s->items.v[i].id, 0 };

	if (UNLIKELY((s->items.v[i].state & IN_INST) != 0))
		uid.inst = (uint32_t)*map_get(&s->insts, i);
	return uid;
}

struct key
item_key(const struct store *s, uint32_t i, unsigned no)
{
	const struct shape *shape = s->st->shapes.v[s->items.v[i].shape];
	struct str vals = item_vals(s, i);
	const unsigned char *p = (const unsigned char *)vals.p;
	const unsigned char *end = p + vals.len;
	struct value v = { 0 };

	for (unsigned k = 0; k < no; k++)
		if (!value_decode(&p, end, shape->entries[k].type,
			k + 1 == no ? s->st : NULL, &v))
			return (struct key){ 0, KEY_NONE };
	return key_of_value(s->st, &v);
}

static inline void
set_fixed(const struct store *s, uint32_t i, struct event *ev)
{
	const struct held *it = &s->items.v[i];
	const struct track *t = &s->st->tracks.v[it->track];
	struct str vals = item_vals(s, i);

	ev->shape = s->st->shapes.v[it->shape];
	ev->shape_id = it->shape;
	ev->track = it->track;
	ev->src = t->src;
	ev->name = it->name;
	ev->uid = item_uid(s, i);
	ev->ts_ns = it->ts_ns;
	ev->dur_ns = it->dur_ns;
	ev->pid = t->pid;
	ev->tid = t->tid;
	ev->flags = it->flags;
	ev->vals = (const unsigned char *)vals.p;
	ev->vals_len = vals.len;
}

void
item_event(const struct store *s, uint32_t i, struct event *ev)
{
	*ev = (struct event){ 0 };
	set_fixed(s, i, ev);
	(void)!event_set_keys(s->st, ev);
}

/* The id of an arrow: a member of the event itself. */
struct key
item_arrow_id(const struct store *s, uint32_t i)
{
	struct entries it;
	struct event ev = { 0 };

	set_fixed(s, i, &ev);
	it = entries_of(s->st, &ev);
	while (entries_next(&it))
		if (it.entry->group == GROUP_TOP &&
		    str_eq(dict_get(s->st, it.entry->key), STR("id")))
			return key_of_value(s->st, &it.val);
	return (struct key){ 0, KEY_NONE };
}

static unsigned
fields_of(const struct store *s, const struct event *ev, const struct held *it)
{
	unsigned has = ev->shape->has & ~(unsigned)(HAS_TREE | HAS_FLAGS);

	if (it->flags != 0)
		has |= HAS_FLAGS;
	if ((it->flags & EV_PAIRED) != 0 && ev->shape->ph == 'B')
		has |= HAS_DUR;
	if (it->state & IN_OWNED)
		has |= HAS_LAUNCH;
	if (it->state & IN_FWD)
		has |= HAS_FWD;
	if (it->state & IN_BWD)
		has |= HAS_BWD;
	if (!s->is_built)
		return has;
	if (it->state & (IN_TREE | IN_OWNED))
		has |= HAS_DEPTH;
	if (it->parent != STORE_NONE)
		has |= HAS_PARENT;
	if (it->ndesc > 0)
		has |= HAS_NDESC;
	if (it->ngpu > 0)
		has |= HAS_NGPU;
	return has;
}

uint32_t
item_launch(const struct store *s, const struct held *it)
{
	uint32_t launch = it->parent;

	while (UNLIKELY((s->items.v[launch].state & IN_HLO) != 0) &&
	    s->items.v[launch].parent != STORE_NONE)
		launch = s->items.v[launch].parent;
	return launch;
}

bool
item_counts(const struct held *it)
{
	unsigned has = ((it->state & IN_TIME) != 0 ? HAS_TS : 0) |
	    (it->name != INTERN_NONE ? HAS_NAME : 0) | HAS_DUR;
	int64_t end;

	return host_counts(has, it->flags, it->ts_ns, it->dur_ns, &end);
}

const struct held *
item_launched_by(const struct store *s, const struct held *gpu)
{
	const struct held *launch;

	if ((gpu->state & IN_OWNED) == 0 || !item_counts(gpu))
		return NULL;
	launch = &s->items.v[item_launch(s, gpu)];
	return item_counts(launch) &&
		!track_is_nowhere(&s->st->tracks.v[launch->track])
	    ? launch
	    : NULL;
}

bool
store_was_shown(const struct store *s, uint32_t i)
{
	const struct held *it = &s->items.v[i];

	return item_is(it, s->shown) && (it->state & IN_HLO) == 0 &&
	    s->st->shapes.v[it->shape]->ph == 'X';
}

bool
store_has_shown_in_order(const struct store *s)
{
	return !s->is_shuffled;
}

struct uid
store_uid(const struct store *s, uint32_t i)
{
	return item_uid(s, i);
}

uint32_t
store_name(const struct store *s, uint32_t i)
{
	return s->items.v[i].name;
}

uint32_t
store_ngpu(const struct store *s, uint32_t i)
{
	return s->is_built ? s->items.v[i].ngpu : 0;
}

bool
store_is(const struct store *s, uint32_t i, uint32_t kinds)
{
	return item_is(&s->items.v[i], kinds);
}

void
store_event_fast(struct store *s, uint32_t i, struct event *ev)
{
	const struct held *it = &s->items.v[i];
	unsigned has;

	set_fixed(s, i, ev);
	has = fields_of(s, ev, it);
	event_set_fields(s->st, ev, has);
	if (has & HAS_PARENT)
		ev->parent = item_uid(s, it->parent);
	if (has & HAS_LAUNCH)
		ev->launch = item_uid(s, item_launch(s, it));
	if (has & HAS_FWD)
		ev->fwd = item_uid(s, (uint32_t)*map_get(&s->fwd, i));
	if (has & HAS_BWD)
		ev->bwd = item_uid(s, (uint32_t)*map_get(&s->bwd, i));
	if (has & HAS_NDESC)
		ev->ndesc = it->ndesc;
	if (has & HAS_NGPU)
		ev->ngpu = it->ngpu;
}

void
store_event_bare(struct store *s, uint32_t i, struct event *ev)
{
	*ev = (struct event){ 0 };
	store_event_fast(s, i, ev);
}

void
store_event(struct store *s, uint32_t i, struct event *ev)
{
	store_event_bare(s, i, ev);
	(void)!event_set_keys(s->st, ev);
}
