/* SPDX-License-Identifier: MIT */
/*
 * ndjson-event: the members of an event line. They may come in any order, so
 * what depends on others waits for the end of the line: see ndjson-shape.c.
 */
#include "stream/ndjson.h"

/* ---- entries ---- */

static void
add_entry(
    struct ndjson_dec *d, enum group group, uint32_t key, const struct value *v)
{
	struct ndjson_group *g = &d->groups[group];

	vec_push(&g->entries,
	    ((struct entry){
		.key = key,
		.type = (uint8_t)v->type,
		.group = (uint8_t)group,
	    }));
	value_encode(&g->vals, v);
}

/* Groups stay in the line's order. */
static void
note_group(struct ndjson_dec *d, enum group group)
{
	for (unsigned i = 0; i < d->e.ngroups; i++)
		if (d->e.order[i] == group)
			return;
	d->e.order[d->e.ngroups++] = (uint8_t)group;
}

/* The group of a field. */
static enum group
group_at(const struct ndjson_dec *d, const void *to)
{
	return (enum group)((const struct ndjson_group *)to - d->groups);
}

static bool
add_member(struct ndjson_dec *d, struct str key, const void *group)
{
	uint32_t id = intern_put(d->st->text, key);
	struct value v;

	if (!ndjson_get_value(d, true, &v))
		return false;
	add_entry(d, group_at(d, group), id, &v);
	return true;
}

static bool
get_object(struct ndjson_dec *d, const char *member, void *to)
{
	(void)member;
	note_group(d, group_at(d, to));
	if (group_at(d, to) == GROUP_ARGS)
		d->e.shape.flags |= SHAPE_ARGS;
	return ndjson_members(d, add_member, to);
}

static bool
no_pair(struct ndjson_dec *d)
{
	return ndjson_fail(
	    d, ndjson_here(d), "expected a pair of key and value");
}

/* ["key",value] */
static bool
get_pair(struct ndjson_dec *d, enum group group)
{
	struct value v;
	struct str key;
	uint32_t id;

	if (!ndjson_list(d) || !ndjson_next(d) || !ndjson_get_text(d, &key))
		return false;
	id = intern_put(d->st->text, key);
	if (!ndjson_next(d))
		return false;
	if (d->t == JSON_T_ARRAY_END)
		return no_pair(d);
	if (!ndjson_get_value(d, true, &v) || !ndjson_next(d))
		return false;
	add_entry(d, group, id, &v);
	return d->t == JSON_T_ARRAY_END || no_pair(d);
}

/* [["key",value],...] */
static bool
get_list(struct ndjson_dec *d, const char *member, void *to)
{
	enum group group = group_at(d, to);

	(void)member;
	note_group(d, group);
	if (!ndjson_list(d))
		return false;
	while (ndjson_element(d))
		if (!get_pair(d, group))
			return false;
	return d->error == NULL;
}

/* ---- members of an event ---- */

static bool
get_kind(struct ndjson_dec *d, const char *member, void *to)
{
	const void *start = ndjson_here(d);
	struct str s;
	int kind;

	(void)member;
	if (!ndjson_get_text(d, &s))
		return false;
	kind = kind_of_word(s);
	if (kind < 0)
		return ndjson_fail(d, start, "there is no kind \"%.*s\"",
		    (int)(s.len < 40 ? s.len : 40), s.p);
	*(uint8_t *)to = (uint8_t)kind;
	d->e.has_kind = true;
	return true;
}

static bool
get_phase(struct ndjson_dec *d, const char *member, void *to)
{
	const void *start = ndjson_here(d);
	const unsigned char *p;
	struct str s;

	(void)member;
	if (!ndjson_get_text(d, &s))
		return false;
	p = (const unsigned char *)s.p;
	if (s.len == 1 && p[0] != 0) {
		*(uint8_t *)to = p[0];
		return true;
	}
	if (s.len == 2 && p[0] >= 0xc2 && p[0] <= 0xc3) {
		*(uint8_t *)to = (uint8_t)((p[0] & 3) << 6 | (p[1] & 0x3f));
		return true;
	}
	return ndjson_fail(d, start, "\"ph\" needs one character");
}

static bool
get_interned(struct ndjson_dec *d, const char *member, void *to)
{
	struct str s;

	(void)member;
	if (!ndjson_get_text(d, &s))
		return false;
	*(uint32_t *)to = intern_put(d->st->text, s);
	return true;
}

static bool
get_id(struct ndjson_dec *d, const char *member, void *to)
{
	d->e.has_id = true;
	return ndjson_get_int(d, member, 0, (int64_t)(WIRE_MAX_ID - 1), to);
}

static bool
get_time(struct ndjson_dec *d, const char *member, void *to)
{
	return ndjson_get_int(d, member, INT64_MIN, INT64_MAX, to);
}

static bool
get_small(struct ndjson_dec *d, const char *member, void *to)
{
	int64_t i = 0;

	if (!ndjson_get_int(d, member, 0, UINT32_MAX - 1, &i))
		return false;
	*(uint32_t *)to = (uint32_t)i;
	return true;
}

static bool
get_flags(struct ndjson_dec *d, const char *member, void *to)
{
	return ndjson_get_bits(d, member, event_flag_words, to);
}

/* A value whose text must live until the line is complete. */
static bool
get_kept(struct ndjson_dec *d, struct value *v)
{
	if (!ndjson_get_value(d, true, v))
		return false;
	if (v->type == VAL_STRX || v->type == VAL_JSONX)
		v->s = arena_str(d->mem, v->s);
	return true;
}

static bool
get_track(struct ndjson_dec *d, const char *member, void *to)
{
	*(member[0] == 'p' ? &d->e.track.has_pid : &d->e.track.has_tid) = true;
	return get_kept(d, to);
}

static bool
get_role(struct ndjson_dec *d, const char *member, void *to)
{
	(void)member;
	d->e.has_role |= UINT32_C(1) << ((struct value *)to - d->e.on_gpu);
	return get_kept(d, to);
}

/* Roles of entries are set once the kind is known: see set_roles(). */
static bool
get_roles(struct ndjson_dec *d, const char *member, void *to)
{
	const char *start = ndjson_here(d);

	(void)member;
	if (!ndjson_skip(d))
		return false;
	*(struct str *)to =
	    (struct str){ start, (size_t)((const char *)d->j->p - start) };
	return true;
}

/* clang-format off */
/* In the order written; a process may be null. */
static const struct ndjson_field fields[] = {
	NDJSON_FIELD("id", get_id, ev.uid.id, 0),
	NDJSON_FIELD("inst", get_small, ev.uid.inst, HAS_INST),
	NDJSON_FIELD("src", ndjson_get_src, ev.src, 0),
	NDJSON_FIELD("kind", get_kind, e.shape.kind, 0),
	NDJSON_FIELD("cat", get_interned, e.shape.cat, 0),
	NDJSON_FIELD("name", get_interned, ev.name, HAS_NAME),
	NDJSON_FIELD("ts", get_time, ev.ts_ns, HAS_TS),
	NDJSON_FIELD("dur", ndjson_get_count, ev.dur_ns, HAS_DUR),
	NDJSON_FIELD_NULL("pid", get_track, e.track.raw_pid),
	NDJSON_FIELD_NULL("tid", get_track, e.track.raw_tid),
	NDJSON_FIELD("dev", get_role, e.on_gpu[ROLE_DEV], 0),
	NDJSON_FIELD("gpu_stream", get_role, e.on_gpu[ROLE_GPU_STREAM], 0),
	NDJSON_FIELD("corr", get_role, e.on_gpu[ROLE_CORR], 0),
	NDJSON_FIELD("ext", get_role, e.on_gpu[ROLE_EXT], 0),
	NDJSON_FIELD("launch", ndjson_get_uid, ev.launch, HAS_LAUNCH),
	NDJSON_FIELD("parent", ndjson_get_uid, ev.parent, HAS_PARENT),
	NDJSON_FIELD("fwd", ndjson_get_uid, ev.fwd, HAS_FWD),
	NDJSON_FIELD("bwd", ndjson_get_uid, ev.bwd, HAS_BWD),
	NDJSON_FIELD("depth", get_small, ev.depth, HAS_DEPTH),
	NDJSON_FIELD("ndesc", ndjson_get_count, ev.ndesc, HAS_NDESC),
	NDJSON_FIELD("ngpu", ndjson_get_count, ev.ngpu, HAS_NGPU),
	NDJSON_FIELD("flags", get_flags, ev.flags, HAS_FLAGS),
	NDJSON_FIELD("ph", get_phase, e.shape.ph, 0),
	NDJSON_FIELD("args", get_object, groups[GROUP_ARGS], 0),
	NDJSON_FIELD("top", get_object, groups[GROUP_TOP], 0),
	NDJSON_FIELD("dup", get_list, groups[GROUP_DUP], 0),
	NDJSON_FIELD("duptop", get_list, groups[GROUP_DUPTOP], 0),
	NDJSON_FIELD("field", get_object, groups[GROUP_FIELD], 0),
	NDJSON_FIELD("roles", get_roles, e.roles, 0),
	NDJSON_FIELD("dev_pid", ndjson_get_bool, e.dev_pid, 0),
	NDJSON_FIELD("stream_tid", ndjson_get_bool, e.stream_tid, 0),
};
/* clang-format on */

static void
begin_event(struct ndjson_dec *d)
{
	d->ev = (struct event){ .name = INTERN_NONE };
	d->e = (struct ndjson_event){
		.shape = { .cat = INTERN_NONE },
	};
	for (int g = 0; g <= GROUP_DUPTOP; g++) {
		d->groups[g].entries.n = 0;
		d->groups[g].vals.len = 0;
	}
	d->all.entries.n = 0;
	d->all.vals.len = 0;
	d->last_key = UINT32_MAX; /* lines start with the first key */
}

enum dec_status
ndjson_event(struct ndjson_dec *d)
{
	static const struct ndjson_fields event = { "an event", fields,
		sizeof fields / sizeof *fields };

	begin_event(d);
	if (!ndjson_members(d, ndjson_known, &event) || !ndjson_finish_event(d))
		return DEC_BAD;
	d->nevents++;
	return DEC_EVENT;
}
