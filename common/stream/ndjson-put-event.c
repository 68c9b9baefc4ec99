/* SPDX-License-Identifier: MIT */
/*
 * ndjson-put-event: events to lines.
 *
 * Lines are lossless. They omit what readers infer: roles of entries from keys,
 * fields from roles. Where a shape differs, the members "field", "roles",
 * "dev_pid", "stream_tid" say so.
 */
#include "stream/ndjson-put.h"

const char *const role_words[ROLE_COUNT] = {
	[ROLE_NONE] = NULL,
	[ROLE_CORR] = "corr",
	[ROLE_EXT] = "ext",
	[ROLE_DEV] = "dev",
	[ROLE_GPU_STREAM] = "gpu_stream",
};

enum role
ndjson_default_role(enum group group, struct str key, enum kind kind)
{
	if (group == GROUP_ARGS)
		return role_of_key(key, kind);
	if (group == GROUP_FIELD)
		for (int r = ROLE_NONE + 1; r < ROLE_COUNT; r++)
			if (str_eq(key, str_of(role_words[r])))
				return (enum role)r;
	return ROLE_NONE;
}

static void
put_key(struct buf *b, const struct dict *st, struct key key)
{
	struct value v = { .type = VAL_INT, .i = key.n };

	if (key.type == KEY_STR) {
		v.type = VAL_STR;
		v.s = dict_get(st, (uint32_t)key.n);
	}
	ndjson_put_value(b, &v);
}

static void
put_role(
    struct buf *b, const struct dict *st, const char *member, struct key key)
{
	if (key.type == KEY_NONE)
		return;
	buf_puts(b, member);
	put_key(b, st, key);
}

static void
put_uid(struct buf *b, struct uid uid)
{
	if (LIKELY(uid.inst == 0)) {
		put_uint(b, uid.id);
		return;
	}
	buf_room(b, UID_MAX + 2);
	buf_putc(b, '"');
	b->len += uid_put(b->p + b->len, uid);
	buf_putc(b, '"');
}

/* A phase is one character of Latin-1. */
static void
put_phase(struct buf *b, uint8_t ph)
{
	char text[2] = { (char)ph };
	size_t n = 1;

	if (ph >= 0x80) {
		text[0] = (char)(0xc0 | ph >> 6);
		text[1] = (char)(0x80 | (ph & 0x3f));
		n = 2;
	}
	PUT(b, ",\"ph\":");
	json_put_string(b, (struct str){ text, n });
}

static void
put_tree_fields(struct buf *b, const struct event *ev)
{
	static const struct {
		unsigned has;
		const char *member;
		size_t at;
	} refs[] = {
		{ HAS_LAUNCH, ",\"launch\":", offsetof(struct event, launch) },
		{ HAS_PARENT, ",\"parent\":", offsetof(struct event, parent) },
		{ HAS_FWD, ",\"fwd\":", offsetof(struct event, fwd) },
		{ HAS_BWD, ",\"bwd\":", offsetof(struct event, bwd) },
	};
	unsigned has = ev->shape->has;

	for (size_t i = 0; i < sizeof refs / sizeof *refs; i++) {
		struct uid uid;

		if ((has & refs[i].has) == 0)
			continue;
		memcpy(&uid, (const char *)ev + refs[i].at, sizeof uid);
		buf_puts(b, refs[i].member);
		put_uid(b, uid);
	}
	if (has & HAS_DEPTH) {
		PUT(b, ",\"depth\":");
		put_uint(b, ev->depth);
	}
	if (has & HAS_NDESC) {
		PUT(b, ",\"ndesc\":");
		put_uint(b, ev->ndesc);
	}
	if (has & HAS_NGPU) {
		PUT(b, ",\"ngpu\":");
		put_uint(b, ev->ngpu);
	}
}

static void
put_fixed(struct buf *b, const struct dict *st, const struct event *ev)
{
	const struct shape *s = ev->shape;

	PUT(b, "{\"id\":");
	put_uint(b, ev->uid.id);
	if (s->has & HAS_INST) {
		PUT(b, ",\"inst\":");
		put_uint(b, ev->uid.inst);
	}
	PUT(b, ",\"src\":");
	put_uint(b, ev->src);
	PUT(b, ",\"kind\":\"");
	buf_puts(b, kind_words[s->kind]);
	buf_putc(b, '"');
	if (s->cat != INTERN_NONE) {
		PUT(b, ",\"cat\":");
		json_put_string(b, dict_get(st, s->cat));
	}
	if (s->has & HAS_NAME) {
		PUT(b, ",\"name\":");
		json_put_string(b, dict_get(st, ev->name));
	}
	if (s->has & HAS_TS) {
		PUT(b, ",\"ts\":");
		put_int(b, ev->ts_ns);
	}
	if (s->has & HAS_DUR) {
		PUT(b, ",\"dur\":");
		put_int(b, ev->dur_ns);
	}
}

static void
put_track(struct buf *b, const struct track *t)
{
	if (t->has_pid) {
		PUT(b, ",\"pid\":");
		ndjson_put_value(b, &t->raw_pid);
	}
	if (t->has_tid) {
		PUT(b, ",\"tid\":");
		ndjson_put_value(b, &t->raw_tid);
	}
}

static void
put_group(struct buf *b, const struct dict *st, const struct event *ev,
    enum group group)
{
	bool is_list = group == GROUP_DUP || group == GROUP_DUPTOP;
	struct entries it = entries_of(st, ev);
	size_t start;

	buf_putc(b, is_list ? '[' : '{');
	start = b->len;
	while (entries_next(&it)) {
		if (it.entry->group != group)
			continue;
		if (b->len > start)
			buf_putc(b, ',');
		if (is_list)
			buf_putc(b, '[');
		json_put_string(b, dict_get(st, it.entry->key));
		buf_putc(b, is_list ? ',' : ':');
		ndjson_put_value(b, &it.val);
		if (is_list)
			buf_putc(b, ']');
	}
	buf_putc(b, is_list ? ']' : '}');
}

static const char *const group_members[GROUP_DUPTOP + 1] = {
	[GROUP_ARGS] = ",\"args\":",
	[GROUP_TOP] = ",\"top\":",
	[GROUP_FIELD] = ",\"field\":",
	[GROUP_DUP] = ",\"dup\":",
	[GROUP_DUPTOP] = ",\"duptop\":",
};

static bool
has_other_role(
    const struct dict *st, const struct shape *s, const struct entry *e)
{
	return e->role !=
	    ndjson_default_role(e->group, dict_get(st, e->key), s->kind);
}

/* "roles":{"args":{"queue":"gpu_stream"}}: roles that keys do not imply. */
static void
put_roles(struct buf *b, const struct dict *st, const struct shape *s)
{
	static const enum group groups[] = { GROUP_FIELD, GROUP_ARGS,
		GROUP_TOP };
	bool any = false;

	for (size_t g = 0; g < 3; g++) {
		bool in_group = false;

		for (uint32_t i = 0; i < s->nentries; i++) {
			const struct entry *e = &s->entries[i];

			if (e->group != groups[g] || !has_other_role(st, s, e))
				continue;
			if (!any)
				PUT(b, ",\"roles\":{");
			else if (!in_group)
				buf_puts(b, "},");
			if (!in_group) {
				/* the member without its comma */
				buf_puts(b, group_members[groups[g]] + 1);
				buf_putc(b, '{');
			} else {
				buf_putc(b, ',');
			}
			any = in_group = true;
			json_put_string(b, dict_get(st, e->key));
			buf_putc(b, ':');
			if (e->role == ROLE_NONE)
				PUT(b, "null");
			else
				buf_printf(b, "\"%s\"", role_words[e->role]);
		}
	}
	if (any)
		PUT(b, "}}");
}

/* Flags of the shape that a reader would not infer. */
static void
put_shape_flags(struct buf *b, const struct dict *st, const struct event *ev)
{
	struct event alone = *ev;
	struct shape bare = *ev->shape;
	unsigned flags = bare.flags & (SHAPE_DEV_PID | SHAPE_STREAM_TID);

	if (LIKELY(flags == 0))
		return;
	bare.flags = 0;
	alone.shape = &bare;
	if (!event_set_keys(st, &alone))
		return;
	if ((flags & SHAPE_DEV_PID) != 0 &&
	    (alone.dev.type != KEY_NONE || ev->dev.type == KEY_NONE ||
		!event_is(ev, KINDS_ON_GPU)))
		PUT(b, ",\"dev_pid\":true");
	if ((flags & SHAPE_STREAM_TID) != 0 &&
	    (alone.gpu_stream.type != KEY_NONE ||
		ev->gpu_stream.type == KEY_NONE || !event_is(ev, KINDS_ON_GPU)))
		PUT(b, ",\"stream_tid\":true");
}

/* Groups are in the order of their first entries. */
static void
put_entries(struct buf *b, const struct dict *st, const struct event *ev)
{
	const struct shape *s = ev->shape;
	uint32_t done = 0;
	bool other_roles = false;

	for (uint32_t i = 0; i < s->nentries; i++) {
		enum group group = s->entries[i].group;

		other_roles |= has_other_role(st, s, &s->entries[i]);
		if (done >> group & 1)
			continue;
		done |= UINT32_C(1) << group;
		buf_puts(b, group_members[group]);
		put_group(b, st, ev, group);
	}
	if ((s->flags & SHAPE_ARGS) != 0 && (done >> GROUP_ARGS & 1) == 0)
		PUT(b, ",\"args\":{}");
	if (other_roles)
		put_roles(b, st, s);
}

void
ndjson_put_event(struct buf *b, const struct dict *st, const struct event *ev)
{
	const struct shape *s = ev->shape;

	put_fixed(b, st, ev);
	put_track(b, &st->tracks.v[ev->track]);
	put_role(b, st, ",\"dev\":", ev->dev);
	put_role(b, st, ",\"gpu_stream\":", ev->gpu_stream);
	put_role(b, st, ",\"corr\":", ev->corr);
	put_role(b, st, ",\"ext\":", ev->ext);
	if ((s->has & HAS_TREE) != 0)
		put_tree_fields(b, ev);
	if (s->has & HAS_FLAGS) {
		PUT(b, ",\"flags\":");
		ndjson_put_bits(b, ev->flags, event_flag_words);
	}
	if (s->ph != 0)
		put_phase(b, s->ph);
	put_entries(b, st, ev);
	put_shape_flags(b, st, ev);
	PUT(b, "}\n");
}
