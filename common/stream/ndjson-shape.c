/* SPDX-License-Identifier: MIT */
/*
 * ndjson-shape: builds the shape from the members of an event line. Roles of
 * entries follow from their keys; dev, gpu_stream, corr and ext from roles;
 * anything else becomes an entry of its own.
 */
#include "stream/ndjson.h"

/* The role that "roles" gives an entry of a group. */
static bool
set_role(struct ndjson_dec *d, struct str key, const void *arg)
{
	const struct ndjson_group *g = arg;
	const void *where = ndjson_here(d);
	uint32_t id = intern_put(d->st->text, key);
	int role = ROLE_NONE;
	struct value v;

	if (!ndjson_get_value(d, false, &v))
		return false;
	if (v.type == VAL_STRX) {
		for (role = ROLE_COUNT - 1; role > ROLE_NONE; role--)
			if (str_eq(v.s, str_of(role_words[role])))
				break;
	}
	if (v.type != VAL_NULL && role == ROLE_NONE)
		return ndjson_fail(
		    d, where, "\"roles\" knows corr, ext, dev, gpu_stream");
	for (size_t i = 0; i < g->entries.n; i++)
		if (g->entries.v[i].key == id)
			g->entries.v[i].role = (uint8_t)role;
	return true;
}

static bool
get_group_roles(struct ndjson_dec *d, const char *member, void *to)
{
	(void)member;
	return ndjson_members(d, set_role, to);
}

static bool
said_roles(struct ndjson_dec *d)
{
	static const struct ndjson_field fields[] = {
		NDJSON_FIELD("args", get_group_roles, groups[GROUP_ARGS], 0),
		NDJSON_FIELD("top", get_group_roles, groups[GROUP_TOP], 0),
		NDJSON_FIELD("field", get_group_roles, groups[GROUP_FIELD], 0),
	};
	static const struct ndjson_fields roles = { "\"roles\"", fields, 3 };
	const unsigned char *p = d->j->p, *end = d->j->end;

	json_start(d->j, d->e.roles.p, d->e.roles.len);
	if (!ndjson_next(d) || !ndjson_members(d, ndjson_known, &roles))
		return false;
	d->j->p = p;
	d->j->end = end;
	return true;
}

static bool
set_roles(struct ndjson_dec *d)
{
	static const enum group groups[] = { GROUP_FIELD, GROUP_ARGS };

	for (size_t g = 0; g < 2; g++) {
		struct ndjson_group *group = &d->groups[groups[g]];

		for (size_t i = 0; i < group->entries.n; i++) {
			struct entry *e = &group->entries.v[i];

			e->role = (uint8_t)ndjson_default_role(groups[g],
			    dict_get(d->st, e->key), d->e.shape.kind);
		}
	}
	return d->e.roles.p == NULL || said_roles(d);
}

static void
append_group(struct ndjson_group *to, const struct ndjson_group *from)
{
	for (size_t i = 0; i < from->entries.n; i++)
		vec_push(&to->entries, from->entries.v[i]);
	buf_put(&to->vals, from->vals.p, from->vals.len);
}

/*
 * Entries are ordered by group, then as in the line; fields come first, so that
 * they win over args.
 */
static void
join_groups(struct ndjson_dec *d)
{
	append_group(&d->all, &d->groups[GROUP_FIELD]);
	for (unsigned i = 0; i < d->e.ngroups; i++)
		if (d->e.order[i] != GROUP_FIELD)
			append_group(&d->all, &d->groups[d->e.order[i]]);
}

/* The event's shape, not in the dictionary, with the keys it implies. */
static bool
conclude_keys(struct ndjson_dec *d)
{
	struct shape *s = &d->e.shape;

	s->entries = d->all.entries.v;
	s->nentries = (uint32_t)d->all.entries.n;
	s->last_role = 0;
	for (uint32_t i = 0; i < s->nentries; i++)
		if (s->entries[i].role != ROLE_NONE)
			s->last_role = (uint16_t)(i + 1);
	d->ev.shape = s;
	d->ev.vals = (const unsigned char *)d->all.vals.p;
	d->ev.vals_len = d->all.vals.len;
	return event_set_keys(d->st, &d->ev);
}

static struct key *
key_of_role(struct event *ev, enum role role)
{
	switch (role) {
	case ROLE_CORR: return &ev->corr;
	case ROLE_EXT: return &ev->ext;
	case ROLE_DEV: return &ev->dev;
	default: return &ev->gpu_stream;
	}
}

static bool
has_field(const struct ndjson_dec *d, uint32_t key)
{
	const struct ndjson_group *g = &d->groups[GROUP_FIELD];

	for (size_t i = 0; i < g->entries.n; i++)
		if (g->entries.v[i].key == key)
			return true;
	return false;
}

/*
 * Turns the members dev, gpu_stream, corr, ext that entries do not imply into
 * flags of the shape or entries of their own, in front.
 */
static bool
add_fields(struct ndjson_dec *d)
{
	static const enum role order[] = { ROLE_DEV, ROLE_GPU_STREAM, ROLE_CORR,
		ROLE_EXT };
	struct ndjson_group fields = { 0 };
	struct event *ev = &d->ev;
	bool changed = false;

	for (int i = 0; i < 4; i++) {
		enum role role = order[i];
		const struct value *v = &d->e.on_gpu[role];
		unsigned flag = role == ROLE_DEV ? SHAPE_DEV_PID
		    : role == ROLE_GPU_STREAM    ? SHAPE_STREAM_TID
						 : 0;
		struct key had = *key_of_role(ev, role), key;
		struct key own = role == ROLE_DEV ? ev->pid : ev->tid;
		uint32_t name;

		if ((d->e.has_role >> role & 1) == 0)
			continue;
		key = key_of_value(d->st, v);
		if (key.type != KEY_NONE && key_eq(key, had))
			continue;
		changed = true;
		if (flag != 0 && had.type == KEY_NONE && key_eq(key, own) &&
		    key.type != KEY_NONE &&
		    (KIND_BIT(d->e.shape.kind) & KINDS_ON_GPU) != 0) {
			d->e.shape.flags |= (uint8_t)flag;
			continue;
		}
		/* another one of the name would be written identically */
		name = intern_put(d->st->text, str_of(role_words[role]));
		if (has_field(d, name)) {
			vec_free(&fields.entries);
			buf_free(&fields.vals);
			return false;
		}
		vec_push(&fields.entries,
		    ((struct entry){
			.key = name,
			.type = (uint8_t)v->type,
			.group = GROUP_FIELD,
			.role = (uint8_t)role,
		    }));
		value_encode(&fields.vals, v);
	}
	if (!changed)
		return true;
	if (fields.entries.n > 0) {
		append_group(&fields, &d->all);
		d->all.entries.n = 0;
		d->all.vals.len = 0;
		append_group(&d->all, &fields);
		vec_free(&fields.entries);
		buf_free(&fields.vals);
	}
	return conclude_keys(d);
}

static bool
tree_broken(struct ndjson_dec *d)
{
	return ndjson_fail(d, d->line,
	    "tree order is broken at event %" PRIu64
	    ": its parent is not the event above it; tl-tree restores the "
	    "order",
	    d->ev.uid.id);
}

/* In a tree an event's parent is the last event one level higher. */
static bool
check_parent(struct ndjson_dec *d)
{
	struct event *ev = &d->ev;
	const struct uid *parent;

	if (ev->src != d->stack_src) {
		d->stack.n = 0;
		d->stack_src = ev->src;
	}
	if (ev->depth > d->stack.n)
		return tree_broken(d);
	d->stack.n = ev->depth;
	if (ev->depth > 0 || (ev->shape->has & HAS_PARENT) != 0) {
		if (ev->depth == 0 || (ev->shape->has & HAS_PARENT) == 0)
			return tree_broken(d);
		parent = &d->stack.v[ev->depth - 1];
		if (parent->id != ev->parent.id ||
		    parent->inst != ev->parent.inst)
			return tree_broken(d);
	}
	vec_push(&d->stack, ev->uid);
	return true;
}

bool
ndjson_finish_event(struct ndjson_dec *d)
{
	struct event *ev = &d->ev;
	struct ndjson_event *e = &d->e;
	const struct track *t;

	if (!e->has_id || !e->has_kind)
		return ndjson_fail(d, d->line, "an event needs \"%s\"",
		    e->has_id ? "kind" : "id");
	if (UNLIKELY(ev->ts_ns > INT64_MAX - ev->dur_ns))
		return ndjson_fail(d, d->line, WIRE_BAD_END);
	e->track.src = ev->src;
	if (!d->has_last_track || !track_same(&e->track, &d->last_track)) {
		d->last_track_no = dict_track(d->st, &e->track);
		d->last_track = d->st->tracks.v[d->last_track_no];
		d->has_last_track = true;
	}
	ev->track = d->last_track_no;
	t = &d->st->tracks.v[ev->track];
	ev->pid = t->pid;
	ev->tid = t->tid;
	e->shape.has |= HAS_TRACK;
	if (e->dev_pid)
		e->shape.flags |= SHAPE_DEV_PID;
	if (e->stream_tid)
		e->shape.flags |= SHAPE_STREAM_TID;
	if (!set_roles(d))
		return false;
	join_groups(d);
	/* those of dev, gpu_stream, corr and ext may be added */
	if (d->all.entries.n > SHAPE_MAX_ENTRIES - 4)
		return ndjson_fail(d, d->line, "an event has over %d members",
		    SHAPE_MAX_ENTRIES - 4);
	if (!conclude_keys(d) || (e->has_role != 0 && !add_fields(d)))
		return ndjson_fail(d, d->line, "the values are malformed");
	ev->shape_id = dict_shape(d->st, &e->shape);
	ev->shape = d->st->shapes.v[ev->shape_id];
	return !d->in_tree || !d->check_tree || check_parent(d);
}
