/* SPDX-License-Identifier: MIT */
/* Processes and threads by name, from the metadata events of the prologue. */
#include "trace/process.h"

#include <ctype.h>

enum { SLOT_PROCESS, SLOT_LABEL, SLOT_THREAD, SLOT_COUNT };

/* A process (tid KEY_NONE) or a thread, and what is said of it. */
struct place {
	uint64_t what, pid, types, tid;
};

struct names {
	struct dict *st;
	struct intern *places;
	VEC(uint32_t) texts;           /* by place */
	VEC(struct track_names) known; /* by track; of INTERN_NONE: not yet */
	uint32_t unknown;
};

struct names *
names_create(struct dict *st)
{
	struct names *n = xcalloc(1, sizeof *n);

	n->st = st;
	n->places = intern_create();
	n->unknown = intern_put(st->text, STR("Unknown"));
	return n;
}

void
names_destroy(struct names *n)
{
	if (n == NULL)
		return;
	intern_destroy(n->places);
	vec_free(&n->texts);
	vec_free(&n->known);
	vec_release(n);
}

/* What is said of a place: of a new one it is unknown. */
static uint32_t *
text_at(struct names *n, uint32_t src, unsigned slot, struct key pid,
    struct key tid)
{
	const struct place at = { (uint64_t)src << 2 | slot, (uint64_t)pid.n,
		(uint64_t)pid.type << 8 | tid.type, (uint64_t)tid.n };
	uint32_t no =
	    intern_put(n->places, (struct str){ (const char *)&at, sizeof at });

	if (no == n->texts.n)
		vec_push(&n->texts, n->unknown);
	return &n->texts.v[no];
}

/* What a metadata event says of its name and where; false: nothing to us. */
static bool
slot_of(struct str name, unsigned *slot, struct str *key)
{
	*key = STR("name");
	if (str_eq(name, STR("process_name"))) {
		*slot = SLOT_PROCESS;
	} else if (str_eq(name, STR("thread_name"))) {
		*slot = SLOT_THREAD;
	} else if (str_eq(name, STR("process_labels"))) {
		*slot = SLOT_LABEL;
		*key = STR("labels");
	} else {
		return false;
	}
	return true;
}

/* A number instead of a text is taken as it is written. */
static bool
text_of(struct names *n, const struct value *v, uint32_t *text)
{
	char digits[24];

	switch (v->type) {
	case VAL_STR: *text = v->id; return true;
	case VAL_STRX: *text = intern_put(n->st->text, v->s); return true;
	case VAL_INT:
		*text = intern_put(n->st->text,
		    (struct str){ digits, num_put_i64(digits, v->i) });
		return true;
	default: return false;
	}
}

static bool
is_zero(struct key tid)
{
	return tid.type == KEY_NONE || (tid.type == KEY_INT && tid.n == 0);
}

void
names_push(struct names *n, const struct event *ev)
{
	struct key tid = { 0, KEY_NONE };
	struct str key;
	struct value v;
	unsigned slot;
	uint32_t text;

	if (ev->shape->kind != KIND_META ||
	    !slot_of(dict_get(n->st, ev->name), &slot, &key) ||
	    !event_arg(n->st, ev, key, &v))
		return;
	if (slot == SLOT_THREAD)
		tid = ev->tid;
	else if (!is_zero(ev->tid))
		return;
	if (!text_of(n, &v, &text))
		return;
	n->known.n = 0;
	*text_at(n, ev->src, slot, ev->pid, tid) = text;
}

static struct track_names
look_up(struct names *n, uint32_t track)
{
	const struct track *t = &n->st->tracks.v[track];
	uint32_t text[SLOT_COUNT];

	for (unsigned slot = 0; slot < SLOT_COUNT; slot++)
		text[slot] = *text_at(n, t->src, slot, t->pid,
		    slot == SLOT_THREAD ? t->tid : (struct key){ 0, KEY_NONE });
	return (struct track_names){ .process = text[SLOT_PROCESS],
		.label = text[SLOT_LABEL],
		.thread = text[SLOT_THREAD] };
}

struct track_names
names_of(struct names *n, uint32_t track)
{
	static const struct track_names none = { INTERN_NONE, INTERN_NONE,
		INTERN_NONE };

	if (track >= n->st->tracks.n)
		return (
		    struct track_names){ n->unknown, n->unknown, n->unknown };
	while (n->known.n <= track)
		vec_push(&n->known, none);
	if (n->known.v[track].process == INTERN_NONE)
		n->known.v[track] = look_up(n, track);
	return n->known.v[track];
}

uint32_t
name_without_numbers(struct dict *st, struct str s)
{
	struct buf b = { 0 };
	uint32_t id;

	for (size_t i = 0; i < s.len; i++) {
		size_t k = i + 1;

		while (s.p[i] == '_' && k < s.len &&
		    isdigit((unsigned char)s.p[k]))
			k++;
		if (s.p[i] == '_' && k > i + 1)
			i = k - 1;
		else
			buf_putc(&b, s.p[i]);
	}
	id = intern_put(st->text, buf_str(&b));
	buf_free(&b);
	return id;
}
