/* SPDX-License-Identifier: MIT */
/* Strings, shapes and tracks by number; equal content, equal number. */
#include "stream/stream.h"

struct dict *
dict_create(void)
{
	struct dict *st = xcalloc(1, sizeof *st);

	st->text = intern_create();
	st->mem = arena_create();
	return st;
}

static void
forget(struct dict *st)
{
	st->shapes.n = 0;
	st->tracks.n = 0;
	map_free(&st->shape_map);
	map_free(&st->track_map);
	map_free(&st->thread_map);
}

void
dict_destroy(struct dict *st)
{
	if (st == NULL)
		return;
	forget(st);
	vec_free(&st->shapes);
	vec_free(&st->tracks);
	intern_destroy(st->text);
	arena_destroy(st->mem);
	vec_release(st);
}

void
dict_clear(struct dict *st)
{
	forget(st);
	intern_clear(st->text);
	arena_reset(st->mem, 0);
}

static uint64_t
shape_hash(const struct shape *s)
{
	uint64_t h = hash_u64((uint64_t)s->cat << 32 | s->has);

	h = hash_mix(
	    h ^ ((uint64_t)s->kind << 16 | (uint64_t)s->ph << 8 | s->flags),
	    HASH_K1);
	for (uint32_t i = 0; i < s->nentries; i++) {
		const struct entry *e = &s->entries[i];

		h = hash_mix(h ^
			((uint64_t)e->key << 24 | (uint64_t)e->type << 16 |
			    (uint64_t)e->group << 8 | e->role),
		    HASH_K1);
	}
	return h;
}

static bool
shape_eq(const struct shape *a, const struct shape *b)
{
	if (a->cat != b->cat || a->has != b->has || a->kind != b->kind ||
	    a->ph != b->ph || a->flags != b->flags ||
	    a->nentries != b->nentries)
		return false;
	for (uint32_t i = 0; i < a->nentries; i++) {
		const struct entry *x = &a->entries[i], *y = &b->entries[i];

		if (x->key != y->key || x->type != y->type ||
		    x->group != y->group || x->role != y->role)
			return false;
	}
	return true;
}

static void
count_roles(struct shape *s)
{
	s->nroles = 0;
	s->last_role = 0;
	for (uint32_t i = 0; i < s->nentries; i++) {
		if (s->entries[i].role == ROLE_NONE)
			continue;
		s->nroles = (uint8_t)(s->nroles + (s->nroles < UINT8_MAX));
		s->last_role = (uint16_t)(i + 1);
	}
}

/* Of a key that stands twice the last one counts. */
static void
find_lists(const struct dict *st, struct shape *s)
{
	static const struct str words[OP_LISTS] = {
		[LIST_DIMS] = STR_INIT("Input Dims"),
		[LIST_TYPES] = STR_INIT("Input type"),
		[LIST_STRIDES] = STR_INIT("Input Strides"),
		[LIST_CONCRETE] = STR_INIT("Concrete Inputs"),
	};

	memset(s->lists, 0, sizeof s->lists);
	s->last_list = 0;
	for (uint32_t i = 0; i < s->nentries; i++) {
		const struct entry *e = &s->entries[i];

		if (e->group != GROUP_ARGS ||
		    (e->type != VAL_JSON && e->type != VAL_JSONX))
			continue;
		for (int k = 0; k < OP_LISTS; k++)
			if (str_eq(dict_get(st, e->key), words[k]))
				s->lists[k] = s->last_list = (uint16_t)(i + 1);
	}
}

uint32_t
dict_shape(struct dict *st, const struct shape *shape)
{
	uint64_t h = shape_hash(shape);
	struct shape *s;
	size_t size = shape->nentries * sizeof *shape->entries;

	/* The rare collision tries the next key; values are number + 1. */
	for (;; h++) {
		bool is_new;
		uint64_t *slot = map_put(&st->shape_map, h, &is_new);

		if (is_new) {
			*slot = st->shapes.n;
			break;
		}
		if (shape_eq(st->shapes.v[*slot], shape))
			return (uint32_t)*slot;
	}
	s = arena_alloc(st->mem, sizeof *s);
	*s = *shape;
	s->entries = arena_alloc(st->mem, size > 0 ? size : 1);
	if (size > 0)
		memcpy(s->entries, shape->entries, size);
	count_roles(s);
	find_lists(st, s);
	vec_push(&st->shapes, s);
	return (uint32_t)(st->shapes.n - 1);
}

uint32_t
dict_shape_with(struct dict *st, uint32_t id, unsigned has)
{
	struct shape shape = *st->shapes.v[id];

	if (shape.has == has)
		return id;
	shape.has = (uint16_t)has;
	return dict_shape(st, &shape);
}

static bool
is_digits(struct str s)
{
	size_t i = s.len > 0 && s.p[0] == '-';

	if (i == s.len)
		return false;
	for (; i < s.len; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return true;
}

struct key
key_of_value(const struct dict *st, const struct value *v)
{
	struct key k = { 0, KEY_NONE };
	bool exact;

	switch (v->type) {
	case VAL_INT: k = (struct key){ v->i, KEY_INT }; break;
	case VAL_DEC:
		if (num_dec_scale(v->dec, 0, &k.n, &exact) && exact)
			k.type = KEY_INT;
		break;
	case VAL_UINT: {
		char text[24];

		/* beyond int64: told apart by its text */
		k.n = intern_put(
		    st->text, (struct str){ text, num_put_u64(text, v->u) });
		k.type = KEY_STR;
		break;
	}
	case VAL_NUM:
	case VAL_STR:
		if (is_digits(v->s) && num_i64(v->s, &k.n))
			k.type = KEY_INT;
		else
			k = (struct key){ v->id, KEY_STR };
		break;
	default: break;
	}
	return k;
}

static uint64_t
value_hash(uint64_t h, bool has, const struct value *v)
{
	h = hash_mix(h ^ ((uint64_t)has << 8 | (has ? v->type : 0)), HASH_K1);
	if (!has)
		return h;
	switch (v->type) {
	case VAL_INT: return hash_mix(h ^ (uint64_t)v->i, HASH_K0);
	case VAL_UINT: return hash_mix(h ^ v->u, HASH_K0);
	case VAL_DEC:
		return hash_mix(h ^ (uint64_t)v->dec.mant,
		    HASH_K0 ^ (unsigned)v->dec.exp10);
	case VAL_NUM:
	case VAL_STR:
	case VAL_JSON: return hash_mix(h ^ v->id, HASH_K0);
	default: return h;
	}
}

static bool
value_eq(const struct value *a, const struct value *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case VAL_INT: return a->i == b->i;
	case VAL_UINT: return a->u == b->u;
	case VAL_DEC:
		return a->dec.mant == b->dec.mant &&
		    a->dec.exp10 == b->dec.exp10;
	case VAL_NUM:
	case VAL_STR:
	case VAL_JSON: return a->id == b->id;
	case VAL_STRX:
	case VAL_JSONX: return str_eq(a->s, b->s);
	default: return true;
	}
}

static bool
track_eq(const struct track *a, const struct track *b)
{
	return a->src == b->src && a->has_pid == b->has_pid &&
	    a->has_tid == b->has_tid &&
	    (!a->has_pid || value_eq(&a->raw_pid, &b->raw_pid)) &&
	    (!a->has_tid || value_eq(&a->raw_tid, &b->raw_tid));
}

/* Inline text of a track lives with the strings. */
static void
own_text(struct dict *st, bool has, struct value *v)
{
	if (has && (v->type == VAL_STRX || v->type == VAL_JSONX))
		v->s = arena_str(st->mem, v->s);
}

static uint64_t
key_hash(uint64_t h, struct key k)
{
	return hash_mix(h ^ hash_u64((uint64_t)k.n), HASH_K0 ^ k.type);
}

static uint32_t
thread_of(struct dict *st, const struct track *t, uint32_t no)
{
	uint64_t h = key_hash(key_hash(hash_u64(t->src), t->pid), t->tid);

	for (;; h++) {
		bool is_new;
		uint64_t *slot = map_put(&st->thread_map, h, &is_new);
		const struct track *first;

		if (is_new) {
			*slot = no;
			return no;
		}
		first = &st->tracks.v[*slot];
		if (first->src == t->src && key_eq(first->pid, t->pid) &&
		    key_eq(first->tid, t->tid))
			return (uint32_t)*slot;
	}
}

uint32_t
dict_track(struct dict *st, const struct track *track)
{
	uint64_t h = hash_u64(track->src);

	h = value_hash(h, track->has_pid, &track->raw_pid);
	h = value_hash(h, track->has_tid, &track->raw_tid);
	for (;; h++) {
		bool is_new;
		uint64_t *slot = map_put(&st->track_map, h, &is_new);

		if (is_new) {
			*slot = st->tracks.n;
			break;
		}
		if (track_eq(&st->tracks.v[*slot], track))
			return (uint32_t)*slot;
	}

	struct track *t = vec_add(&st->tracks);

	*t = *track;
	own_text(st, t->has_pid, &t->raw_pid);
	own_text(st, t->has_tid, &t->raw_tid);
	t->pid = t->has_pid ? key_of_value(st, &t->raw_pid)
			    : (struct key){ 0, KEY_NONE };
	t->tid = t->has_tid ? key_of_value(st, &t->raw_tid)
			    : (struct key){ 0, KEY_NONE };
	t->thread = thread_of(st, t, (uint32_t)(st->tracks.n - 1));
	return (uint32_t)(st->tracks.n - 1);
}

enum role
role_of_key(struct str key, enum kind kind)
{
	static const struct {
		struct str key;
		enum role role;
		uint32_t kinds;
	} roles[] = {
		{ STR_INIT("correlation"), ROLE_CORR, KINDS_ALL },
		{ STR_INIT("External id"), ROLE_EXT, KINDS_ALL },
		{ STR_INIT("external id"), ROLE_EXT, KINDS_ALL },
		{ STR_INIT("device"), ROLE_DEV,
		    KINDS_GPU | KIND_BIT(KIND_GPU_ANNOTATION) |
			KIND_BIT(KIND_SYNC) | KIND_BIT(KIND_GPU_EVENT) },
		/* a Triton op on the host carries a stream, too */
		{ STR_INIT("stream"), ROLE_GPU_STREAM,
		    KINDS_GPU | KIND_BIT(KIND_GPU_ANNOTATION) |
			KIND_BIT(KIND_SYNC) | KIND_BIT(KIND_GPU_EVENT) },
		{ STR_INIT("sycl queue"), ROLE_GPU_STREAM, KINDS_GPU },
	};

	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		if ((roles[i].kinds & KIND_BIT(kind)) != 0 &&
		    str_eq(key, roles[i].key))
			return roles[i].role;
	return ROLE_NONE;
}
