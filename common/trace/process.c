/* SPDX-License-Identifier: MIT */
/* Processes and threads by name, from the metadata events of the prologue. */
#include "trace/process.h"

#include <ctype.h>

enum { SLOT_PROCESS, SLOT_LABEL, SLOT_THREAD, SLOT_COUNT };

/* What was said of a process (tid KEY_NONE) or of a thread. */
struct said {
	uint32_t src, slot, text;
	struct key pid, tid;
};

struct names {
	struct dict *st;
	VEC(struct said) said;
	struct map by_place;           /* hash to index */
	VEC(struct track_names) known; /* by track; of INTERN_NONE: not yet */
	uint32_t unknown;
};

struct names *
names_create(struct dict *st)
{
	struct names *n = xcalloc(1, sizeof *n);

	n->st = st;
	n->unknown = intern_put(st->text, STR("Unknown"));
	return n;
}

void
names_destroy(struct names *n)
{
	if (n == NULL)
		return;
	vec_free(&n->said);
	vec_free(&n->known);
	map_free(&n->by_place);
	vec_release(n);
}

static bool
same_place(const struct said *a, const struct said *b)
{
	return a->src == b->src && a->slot == b->slot &&
	    key_eq(a->pid, b->pid) && key_eq(a->tid, b->tid);
}

static uint64_t
hash_place(const struct said *s)
{
	uint64_t h = hash_u64((uint64_t)s->src << 2 | s->slot);

	h = hash_mix(h ^ (uint64_t)s->pid.n, HASH_K0 ^ s->pid.type);
	return hash_mix(h ^ (uint64_t)s->tid.n, HASH_K1 ^ s->tid.type);
}

/* What was said of that place, or NULL. */
static const struct said *
find_place(const struct names *n, const struct said *at)
{
	/* the rare collision tries the next number */
	for (uint64_t h = hash_place(at);; h++) {
		const uint64_t *slot = map_get(&n->by_place, h);

		if (slot == NULL)
			return NULL;
		if (same_place(&n->said.v[*slot], at))
			return &n->said.v[*slot];
	}
}

static void
put_place(struct names *n, const struct said *s)
{
	for (uint64_t h = hash_place(s);; h++) {
		bool is_new;
		uint64_t *slot = map_put(&n->by_place, h, &is_new);

		if (is_new) {
			*slot = n->said.n;
			vec_push(&n->said, *s);
			return;
		}
		if (same_place(&n->said.v[*slot], s)) {
			n->said.v[*slot] = *s;
			return;
		}
	}
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
	struct said new;
	struct str key;
	struct value v;
	unsigned slot;

	if (ev->shape->kind != KIND_META ||
	    !slot_of(dict_get(n->st, ev->name), &slot, &key) ||
	    !event_arg(n->st, ev, key, &v))
		return;
	new = (struct said){ .src = ev->src, .slot = slot, .pid = ev->pid };
	if (slot == SLOT_THREAD)
		new.tid = ev->tid;
	else if (!is_zero(ev->tid))
		return;
	if (!text_of(n, &v, &new.text))
		return;
	n->known.n = 0;
	put_place(n, &new);
}

static uint32_t
text_at(const struct names *n, const struct track *t, uint32_t slot)
{
	struct said at = { .src = t->src, .slot = slot, .pid = t->pid };
	const struct said *s;

	if (slot == SLOT_THREAD)
		at.tid = t->tid;
	s = find_place(n, &at);
	return s != NULL ? s->text : n->unknown;
}

static struct track_names
look_up(const struct names *n, uint32_t track)
{
	const struct track *t = &n->st->tracks.v[track];

	return (struct track_names){
		.process = text_at(n, t, SLOT_PROCESS),
		.label = text_at(n, t, SLOT_LABEL),
		.thread = text_at(n, t, SLOT_THREAD),
	};
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
