/* SPDX-License-Identifier: MIT */
/*
 * ndjson-event: the members of an event line.
 *
 * They may come in any order, so what one means for another waits for the end
 * of the line: see ndjson-shape.c.
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

/* Groups keep the order in which a line has them. */
static void
note_group(struct ndjson_dec *d, enum group group)
{
	for (unsigned i = 0; i < d->e.ngroups; i++)
		if (d->e.order[i] == group)
			return;
	d->e.order[d->e.ngroups++] = (uint8_t)group;
}

static bool
get_group_object(struct ndjson_dec *d, enum group group)
{
	struct value v;
	struct str key;
	bool done;

	note_group(d, group);
	for (bool first = true;; first = false) {
		uint32_t id;

		if (!ndjson_member(d, first, &key, &done))
			return false;
		if (done)
			return true;
		id = intern_put(d->st->text, key);
		if (!ndjson_get_value(d, true, &v))
			return false;
		add_entry(d, group, id, &v);
	}
}

/* To the next part of a pair, or its end. */
static bool
pair_part(struct ndjson_dec *d, bool first, bool at_end)
{
	bool done;

	if (!ndjson_element(d, first, &done))
		return false;
	return done == at_end ||
	    ndjson_fail(d, d->j->p, "expected a pair of key and value");
}

/* [["key",value],...] */
static bool
get_group_list(struct ndjson_dec *d, enum group group)
{
	struct value v;
	struct str key;
	bool done;

	note_group(d, group);
	for (bool first = true;; first = false) {
		uint32_t id;

		if (!ndjson_element(d, first, &done))
			return false;
		if (done)
			return true;
		if (!pair_part(d, true, false) || !ndjson_get_text(d, &key))
			return false;
		id = intern_put(d->st->text, key);
		if (!pair_part(d, false, false) ||
		    !ndjson_get_value(d, true, &v))
			return false;
		add_entry(d, group, id, &v);
		if (!pair_part(d, false, true))
			return false;
	}
}

/* ---- members of an event ---- */

enum member {
	M_ID,
	M_INST,
	M_SRC,
	M_KIND,
	M_CAT,
	M_NAME,
	M_TS,
	M_DUR,
	M_PID,
	M_TID,
	M_DEV,
	M_GPU_STREAM,
	M_CORR,
	M_EXT,
	M_LAUNCH,
	M_PARENT,
	M_FWD,
	M_BWD,
	M_DEPTH,
	M_NDESC,
	M_NGPU,
	M_FLAGS,
	M_PH,
	M_ARGS,
	M_TOP,
	M_DUP,
	M_DUPTOP,
	M_FIELD,
	M_ROLES,
	M_DEV_PID,
	M_STREAM_TID,
	M_COUNT
};

/* In the order in which they are written. */
static const struct str members[M_COUNT] = {
	[M_ID] = STR_INIT("id"),
	[M_INST] = STR_INIT("inst"),
	[M_SRC] = STR_INIT("src"),
	[M_KIND] = STR_INIT("kind"),
	[M_CAT] = STR_INIT("cat"),
	[M_NAME] = STR_INIT("name"),
	[M_TS] = STR_INIT("ts"),
	[M_DUR] = STR_INIT("dur"),
	[M_PID] = STR_INIT("pid"),
	[M_TID] = STR_INIT("tid"),
	[M_DEV] = STR_INIT("dev"),
	[M_GPU_STREAM] = STR_INIT("gpu_stream"),
	[M_CORR] = STR_INIT("corr"),
	[M_EXT] = STR_INIT("ext"),
	[M_LAUNCH] = STR_INIT("launch"),
	[M_PARENT] = STR_INIT("parent"),
	[M_FWD] = STR_INIT("fwd"),
	[M_BWD] = STR_INIT("bwd"),
	[M_DEPTH] = STR_INIT("depth"),
	[M_NDESC] = STR_INIT("ndesc"),
	[M_NGPU] = STR_INIT("ngpu"),
	[M_FLAGS] = STR_INIT("flags"),
	[M_PH] = STR_INIT("ph"),
	[M_ARGS] = STR_INIT("args"),
	[M_TOP] = STR_INIT("top"),
	[M_DUP] = STR_INIT("dup"),
	[M_DUPTOP] = STR_INIT("duptop"),
	[M_FIELD] = STR_INIT("field"),
	[M_ROLES] = STR_INIT("roles"),
	[M_DEV_PID] = STR_INIT("dev_pid"),
	[M_STREAM_TID] = STR_INIT("stream_tid"),
};

/* Members come in the same order line after line: look on from the last. */
static unsigned
find_member(struct ndjson_dec *d, struct str key)
{
	unsigned m = d->last_key;

	for (unsigned i = 0; i < M_COUNT; i++) {
		m = m + 1 < M_COUNT ? m + 1 : 0;
		if (str_eq(key, members[m])) {
			d->last_key = m;
			return m;
		}
	}
	return M_COUNT;
}

static bool
get_kind(struct ndjson_dec *d)
{
	const unsigned char *start = d->j->p;
	struct str s;
	int kind;

	if (!ndjson_get_text(d, &s))
		return false;
	kind = kind_of_word(s);
	if (kind < 0)
		return ndjson_fail(d, start, "there is no kind \"%.*s\"",
		    (int)(s.len < 40 ? s.len : 40), s.p);
	d->e.shape.kind = (uint8_t)kind;
	d->e.has_kind = true;
	return true;
}

static bool
get_phase(struct ndjson_dec *d)
{
	const unsigned char *start = d->j->p;
	const unsigned char *p;
	struct str s;

	if (!ndjson_get_text(d, &s))
		return false;
	p = (const unsigned char *)s.p;
	if (s.len == 1 && p[0] != 0) {
		d->e.shape.ph = p[0];
		return true;
	}
	if (s.len == 2 && p[0] >= 0xc2 && p[0] <= 0xc3) {
		d->e.shape.ph = (uint8_t)((p[0] & 3) << 6 | (p[1] & 0x3f));
		return true;
	}
	return ndjson_fail(d, start, "\"ph\" needs one character");
}

static bool
get_interned(struct ndjson_dec *d, uint32_t *id)
{
	struct str s;

	if (!ndjson_get_text(d, &s))
		return false;
	*id = intern_put(d->st->text, s);
	return true;
}

/* A value whose text must hold until the line is whole. */
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
get_count(struct ndjson_dec *d, const char *member, uint64_t *v)
{
	int64_t i = 0;

	if (!ndjson_get_int(d, member, 0, INT64_MAX, &i))
		return false;
	*v = (uint64_t)i;
	return true;
}

static bool
get_small(struct ndjson_dec *d, const char *member, int64_t max, uint32_t *v)
{
	int64_t i = 0;

	if (!ndjson_get_int(d, member, 0, max, &i))
		return false;
	*v = (uint32_t)i;
	return true;
}

static bool
get_role_member(struct ndjson_dec *d, enum role role)
{
	d->e.has_role |= UINT32_C(1) << role;
	return get_kept(d, &d->e.on_gpu[role]);
}

static bool
get_said(struct ndjson_dec *d, const char *member, int *said)
{
	bool yes;

	if (!ndjson_get_bool(d, member, &yes))
		return false;
	*said = yes;
	return true;
}

static bool
get_fixed_member(struct ndjson_dec *d, enum member m)
{
	struct event *ev = &d->ev;
	const char *word = members[m].p;
	int64_t id = 0;

	switch (m) {
	case M_ID:
		d->e.has_id = true;
		if (!ndjson_get_int(
			d, word, 0, (int64_t)(WIRE_MAX_ID - 1), &id))
			return false;
		ev->uid.id = (uint64_t)id;
		return true;
	case M_INST: return get_small(d, word, UINT32_MAX - 1, &ev->uid.inst);
	case M_SRC: return get_small(d, word, WIRE_MAX_SRC - 1, &ev->src);
	case M_KIND: return get_kind(d);
	case M_CAT: return get_interned(d, &d->e.shape.cat);
	case M_NAME: return get_interned(d, &ev->name);
	case M_TS:
		return ndjson_get_int(
		    d, word, INT64_MIN, INT64_MAX, &ev->ts_ns);
	case M_DUR: return ndjson_get_int(d, word, 0, INT64_MAX, &ev->dur_ns);
	case M_LAUNCH: return ndjson_get_uid(d, word, &ev->launch);
	case M_PARENT: return ndjson_get_uid(d, word, &ev->parent);
	case M_FWD: return ndjson_get_uid(d, word, &ev->fwd);
	case M_BWD: return ndjson_get_uid(d, word, &ev->bwd);
	case M_DEPTH: return get_small(d, word, UINT32_MAX - 1, &ev->depth);
	case M_NDESC: return get_count(d, word, &ev->ndesc);
	case M_NGPU: return get_count(d, word, &ev->ngpu);
	case M_FLAGS:
		return ndjson_get_bits(d, word, event_flag_words, &ev->flags);
	default: return false;
	}
}

static const uint16_t member_has[M_COUNT] = {
	[M_INST] = HAS_INST,
	[M_NAME] = HAS_NAME,
	[M_TS] = HAS_TS,
	[M_DUR] = HAS_DUR,
	[M_LAUNCH] = HAS_LAUNCH,
	[M_PARENT] = HAS_PARENT,
	[M_FWD] = HAS_FWD,
	[M_BWD] = HAS_BWD,
	[M_DEPTH] = HAS_DEPTH,
	[M_NDESC] = HAS_NDESC,
	[M_NGPU] = HAS_NGPU,
	[M_FLAGS] = HAS_FLAGS,
};

/* The roles of entries are set when the kind is known: see set_roles(). */
static bool
get_roles(struct ndjson_dec *d)
{
	const unsigned char *start = d->j->p;

	if (!ndjson_skip(d))
		return false;
	d->e.roles =
	    (struct str){ (const char *)start, (size_t)(d->j->p - start) };
	return true;
}

static bool
get_member(struct ndjson_dec *d, unsigned m)
{
	struct ndjson_event *e = &d->e;

	/* null is absence, but a process may be null in the source */
	if (*d->j->p == 'n' && m != M_PID && m != M_TID)
		return ndjson_skip(d);
	switch (m) {
	case M_PID:
		e->track.has_pid = true;
		return get_kept(d, &e->track.raw_pid);
	case M_TID:
		e->track.has_tid = true;
		return get_kept(d, &e->track.raw_tid);
	case M_DEV: return get_role_member(d, ROLE_DEV);
	case M_GPU_STREAM: return get_role_member(d, ROLE_GPU_STREAM);
	case M_CORR: return get_role_member(d, ROLE_CORR);
	case M_EXT: return get_role_member(d, ROLE_EXT);
	case M_PH: return get_phase(d);
	case M_ARGS:
		e->shape.flags |= SHAPE_ARGS;
		return get_group_object(d, GROUP_ARGS);
	case M_TOP: return get_group_object(d, GROUP_TOP);
	case M_FIELD: return get_group_object(d, GROUP_FIELD);
	case M_DUP: return get_group_list(d, GROUP_DUP);
	case M_DUPTOP: return get_group_list(d, GROUP_DUPTOP);
	case M_ROLES: return get_roles(d);
	case M_DEV_PID: return get_said(d, "dev_pid", &e->dev_pid);
	case M_STREAM_TID: return get_said(d, "stream_tid", &e->stream_tid);
	default: e->shape.has |= member_has[m]; return get_fixed_member(d, m);
	}
}

static void
begin_event(struct ndjson_dec *d)
{
	d->ev = (struct event){ .name = INTERN_NONE };
	d->e = (struct ndjson_event){
		.shape = { .cat = INTERN_NONE },
		.dev_pid = -1,
		.stream_tid = -1,
	};
	for (int g = 0; g <= GROUP_DUPTOP; g++) {
		d->groups[g].entries.n = 0;
		d->groups[g].vals.len = 0;
	}
	d->all.entries.n = 0;
	d->all.vals.len = 0;
}

/* The first key was read; the cursor is at its value. */
enum dec_status
ndjson_event(struct ndjson_dec *d, struct str key)
{
	bool done = false;

	begin_event(d);
	while (!done) {
		unsigned m = find_member(d, key);

		if (UNLIKELY(m == M_COUNT)) {
			if (!ndjson_unknown(d, key, "an event"))
				return DEC_BAD;
		} else if (!get_member(d, m)) {
			return DEC_BAD;
		}
		if (!ndjson_member(d, false, &key, &done))
			return DEC_BAD;
	}
	if (!ndjson_finish_event(d))
		return DEC_BAD;
	d->nevents++;
	return DEC_EVENT;
}
